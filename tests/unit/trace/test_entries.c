/* SPDX-License-Identifier: Apache-2.0 */
/* Packed entries come back as they were, however wide their columns, one by one and many at once;
 * what is not sound is told. */
#include <stdlib.h>

#include "check.h"
#include "trace/attribution.h"

enum { MOST = 3 * ENTRY_BLOCK };

struct shape {
    const char *what;
    uint32_t count, slice_step, op_count, execution_step, launch_step, kernel_count;
    uint32_t lacks_every; /* 0: none lacks anything; 1: all do */
    int64_t start_ps, step_ps, dur_ps, dur_step_ps, covered_ps;
    uint32_t rows; /* that take turns in the order of time */
    uint32_t bytes_max;
};

static const struct shape shapes[] = {
    {"one entry", 1, 1, 1, 0, 0, 1, 0, 5, 0, 7, 0, 0, 1, 0},
    {"all equal", ENTRY_BLOCK, 1, 1, 0, 0, 1, 0, 0, 0, 3, 0, 0, 1, 0},
    {"a pace", ENTRY_BLOCK, 1, 1, 0, 0, 1, 1, 7, 20000001, 3, 0, 0, 1, 0},
    {"nothing but ops", ENTRY_BLOCK, 1, 1, 0, 0, 1, 1, 0, 0, 3, 0, 0, 1, 0},
    {"bytes", ENTRY_BLOCK, 1, 200, 0, 0, 100, 0, -9, 0, 100, 30, 0, 1, ENTRY_BLOCK * 3},
    {"nanoseconds", 3 * ENTRY_BLOCK, 1, 7, 0, 3, 5, 0, 8000, 8000000, 1000, 99000, 1000, 1,
     3 * ENTRY_BLOCK * 12},
    {"picoseconds", 2 * ENTRY_BLOCK + 9, 3, 300, 1, 2, 300, 5, 1, 999999, 100, 70001, 77, 3,
     ENTRY_BLOCK * 54},
    {"whole numbers", MOST, 100000, UINT32_MAX, 100000, 100000, UINT32_MAX, 7, INT64_MIN / 2,
     INT64_MAX / MOST, 0, INT64_MAX / 8, INT64_MAX / 3, 2, MOST * 52},
    {"nanoseconds that stray", 2 * ENTRY_BLOCK + 9, 1, 7, 0, 3, 5, 0, 8000, 8000000, 1000, 99000,
     1000, 2, ENTRY_BLOCK * 54},
};

struct made {
    struct attributed entries[MOST];
    struct entry_arrays unpacked;
    uint32_t kernel_of[MOST], by_time[MOST];
    struct entry_columns blocks[MOST / ENTRY_BLOCK];
    uint8_t data[MOST / ENTRY_BLOCK * ENTRY_BLOCK_BYTES_MAX];
    struct attribution packed;
};

static bool lacks(const struct shape *shape, uint32_t i)
{
    return shape->lacks_every != 0 && i % shape->lacks_every == 0;
}

static void fill(const struct shape *shape, struct made *ret)
{
    for (uint32_t i = 0; i < shape->count; i++) {
        ret->entries[i] = (struct attributed){
            .slice = 4 + i * shape->slice_step,
            .op = (uint32_t)((uint64_t)i * 2654435761u % shape->op_count),
            .execution = lacks(shape, i) ? NO_EXECUTION : i * shape->execution_step,
            .device = (int32_t)(i / 600) - 1,
            .first = i % 3 == 0 && shape->slice_step > 1,
            .graph = shape->rows > 1 ? (uint8_t)(i % 3) : GRAPH_NONE,
            .launch = lacks(shape, i + 1) ? NO_SLICE : i * shape->launch_step,
            .start_ps = shape->start_ps + i * shape->step_ps +
                        (shape->rows > 1 ? i % 5 * (shape->step_ps / 8) : 0),
            .dur_ps = shape->dur_ps + i % 7 * shape->dur_step_ps,
        };
        ret->entries[i].self_ps = ret->entries[i].dur_ps - i % 3 * shape->covered_ps;
        ret->kernel_of[i] = lacks(shape, i + 2)
                                ? NO_KERNEL
                                : (uint32_t)((uint64_t)i * 40503u % shape->kernel_count);
        ret->by_time[i] = i;
    }
    for (uint32_t i = 0; i + shape->rows <= shape->count; i += shape->rows)
        for (uint32_t row = 0; row < shape->rows; row++)
            ret->by_time[i + row] = i + shape->rows - 1 - row;
}

/* The bytes of all columns. */
static size_t pack(const struct shape *shape, struct made *made)
{
    size_t offset = 0;

    for (uint32_t first = 0; first < shape->count; first += ENTRY_BLOCK) {
        struct entry_columns *block = &made->blocks[first / ENTRY_BLOCK];
        uint32_t rest = shape->count - first;

        entries_pack(made->entries, made->kernel_of, made->by_time, first,
                     rest < ENTRY_BLOCK ? rest : ENTRY_BLOCK, made->data + offset, block);
        block->offset = offset;
        offset += (size_t)8 * block->words;
    }
    made->packed = (struct attribution){.entry_count = shape->count,
                                        .entry_columns = made->blocks,
                                        .entry_data = made->data,
                                        .kernel_count = shape->kernel_count};
    return offset;
}

static void check_entry(const struct shape *shape, const struct attributed *got,
                        const struct attributed *want)
{
    CHECK_INT(shape->what, got->slice, want->slice);
    CHECK_INT(shape->what, got->op, want->op);
    CHECK_INT(shape->what, got->execution, want->execution);
    CHECK_INT(shape->what, got->device, want->device);
    CHECK_INT(shape->what, got->first, want->first);
    CHECK_INT(shape->what, got->graph, want->graph);
    CHECK_INT(shape->what, got->launch, want->launch);
    CHECK_INT(shape->what, got->start_ps, want->start_ps);
    CHECK_INT(shape->what, got->dur_ps, want->dur_ps);
    CHECK_INT(shape->what, got->self_ps, want->self_ps);
}

static void come_back(void **state)
{
    struct made *made = malloc(sizeof *made);

    (void)state;
    assert_non_null(made);
    for (size_t row = 0; row < COUNT(shapes); row++) {
        const struct shape *shape = &shapes[row];

        fill(shape, made);
        size_t bytes = pack(shape, made);
        CHECK(shape->what, bytes <= shape->bytes_max);
        for (uint32_t i = 0; i < shape->count; i++) {
            check_entry(shape, ENTRY_AT(&made->packed, i), &made->entries[i]);
            CHECK_INT(shape->what, entry_slice(&made->packed, i), made->entries[i].slice);
            CHECK_INT(shape->what, entry_op(&made->packed, i), made->entries[i].op);
            CHECK_INT(shape->what, entry_kernel(&made->packed, i), made->kernel_of[i]);
            CHECK_INT(shape->what, entry_in_time(&made->packed, i), made->by_time[i]);
            CHECK_INT(shape->what, attribution_find(&made->packed, made->entries[i].slice), i);
        }
    }
    free(made);
}

static void come_back_by_block(void **state)
{
    struct made *made = malloc(sizeof *made);

    (void)state;
    assert_non_null(made);
    for (size_t row = 0; row < COUNT(shapes); row++) {
        const struct shape *shape = &shapes[row];

        fill(shape, made);
        (void)pack(shape, made);
        for (uint32_t i = 0; i < shape->count; i++) {
            if (i % ENTRY_BLOCK == 0)
                entries_in_block(&made->packed, ENTRY_ALL, i / ENTRY_BLOCK, &made->unpacked);
            check_entry(shape, &(struct attributed[]){entry_in(&made->unpacked, i)}[0],
                        &made->entries[i]);
        }
        made->packed.entries = made->entries; /* as they are while they are made */
        for (uint32_t i = 0; i < shape->count; i++) {
            if (i % ENTRY_BLOCK == 0)
                entries_in_block(&made->packed, ENTRY_ALL, i / ENTRY_BLOCK, &made->unpacked);
            check_entry(shape, &(struct attributed[]){entry_in(&made->unpacked, i)}[0],
                        &made->entries[i]);
        }
    }
    free(made);
}

/* Forwards, backwards, and of the columns that were asked for alone. */
static void are_read_one_by_one(void **state)
{
    struct made *made = malloc(sizeof *made);

    (void)state;
    assert_non_null(made);
    for (size_t row = 0; row < COUNT(shapes); row++) {
        const struct shape *shape = &shapes[row];
        struct entry_reader all, some;

        fill(shape, made);
        (void)pack(shape, made);
        entry_reader_open(&all, &made->packed, ENTRY_ALL);
        entry_reader_open(&some, &made->packed, ENTRY_BIT(ENTRY_OP) | ENTRY_BIT(ENTRY_COVERED));
        for (uint32_t i = 0; i < shape->count; i++) {
            uint32_t back = shape->count - 1 - i;

            check_entry(shape, ENTRY_READ(&all, i), &made->entries[i]);
            check_entry(shape, ENTRY_READ(&all, back), &made->entries[back]);
            CHECK_INT(shape->what, entry_read(&some, i).op, made->entries[i].op);
            CHECK_INT(shape->what, entry_read(&some, i).self_ps, made->entries[i].self_ps);
            CHECK_INT("not asked for", entry_read(&some, i).launch, 0);
        }
    }
    free(made);
}

static void are_found_by_slice(void **state)
{
    struct made *made = malloc(sizeof *made);
    const struct shape *shape = &shapes[6]; /* each third slice is an op */

    (void)state;
    assert_non_null(made);
    fill(shape, made);
    (void)pack(shape, made);
    for (slice_id slice = 0; slice < 4 + 3 * shape->count; slice++) {
        uint32_t want = slice < 4 ? 0 : (slice - 4 + 2) / 3;

        CHECK_INT("from", attribution_from(&made->packed, slice), want);
        CHECK_INT("find", attribution_find(&made->packed, slice),
                  slice >= 4 && (slice - 4) % 3 == 0 ? want : NO_ENTRY);
    }
    free(made);
}

static void unsound_is_told(void **state)
{
    struct made *made = malloc(sizeof *made);
    const struct shape *shape = &shapes[6];
    const struct entry_limits fits = {shape->count, 300, shape->count, 300};
    const struct {
        const char *what;
        struct entry_limits limits;
        int64_t last;
        bool sound;
    } rows[] = {
        {"as it is", fits, -1, true},
        {"an entry that is not there", {400, 300, shape->count, 300}, -1, false},
        {"an op that is not there", {shape->count, 200, shape->count, 300}, -1, false},
        {"an execution that is not there", {shape->count, 300, 200, 300}, -1, false},
        {"a kernel that is not there", {shape->count, 300, shape->count, 200}, -1, false},
        {"a slice that came before", fits, 4, false},
    };

    (void)state;
    assert_non_null(made);
    fill(shape, made);
    (void)pack(shape, made);
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t last = rows[i].last;

        CHECK_INT(
            rows[i].what,
            entry_values_sound(&made->blocks[0], made->data, ENTRY_BLOCK, &rows[i].limits, &last),
            rows[i].sound);
    }
    CHECK("columns", entry_columns_sound(&made->blocks[0], ENTRY_BLOCK));
    CHECK("of fewer entries", !entry_columns_sound(&made->blocks[0], ENTRY_BLOCK / 2));
    for (int column = 0; column < ENTRY_COLUMN_COUNT; column++) {
        struct entry_columns block = made->blocks[0];

        block.width[column] = 3;
        CHECK("a width of 3", !entry_columns_sound(&block, ENTRY_BLOCK));
        block = made->blocks[0];
        block.place[column]++;
        CHECK("another place", !entry_columns_sound(&block, ENTRY_BLOCK));
    }
    free(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(come_back),           cmocka_unit_test(come_back_by_block),
        cmocka_unit_test(are_read_one_by_one), cmocka_unit_test(are_found_by_slice),
        cmocka_unit_test(unsound_is_told),
    };

    return cmocka_run_group_tests_name("trace/entries", tests, NULL, NULL);
}
