/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks of slices come back as they were written, equal bytes for equal input, and damage is
 * found. */
#include <stdlib.h>

#include "check.h"
#include "trace/chunk.h"
#include "trace/writers.h"

struct open { /* columns of an open row, on the heap */
    int64_t start_ps[CHUNK_SLICES], dur_ps[CHUNK_SLICES], self_ps[CHUNK_SLICES];
    uint32_t named[CHUNK_SLICES], parent[CHUNK_SLICES], event[CHUNK_SLICES];
    uint16_t lift[CHUNK_SLICES];
    uint8_t flags[CHUNK_SLICES];
};

static struct open_columns columns_of(struct open *open)
{
    return (struct open_columns){open->start_ps, open->dur_ps, open->self_ps, open->named,
                                 open->parent,   open->event,  open->lift,    open->flags};
}

struct shape {
    const char *what;
    uint32_t count;
    int64_t start_ps, step_ps, dur_ps, dur_step_ps; /* dur of slice i: dur + i % 7 * step */
    uint32_t name_count, parent_step, event_step;
    bool leaf;
    uint8_t flags_every; /* 0: none */
    uint16_t lift;
    uint32_t bytes_max; /* of the data */
};

static void fill(const struct shape *shape, struct open *ret)
{
    for (uint32_t i = 0; i < shape->count; i++) {
        ret->start_ps[i] = shape->start_ps + i * shape->step_ps;
        ret->dur_ps[i] = shape->dur_ps + i % 7 * shape->dur_step_ps;
        ret->self_ps[i] = shape->leaf ? ret->dur_ps[i] : ret->dur_ps[i] / 2 - 3 * (i % 2);
        ret->named[i] = named_of(i * 7 % shape->name_count, KIND_COPY);
        ret->parent[i] = 100 + i * shape->parent_step;
        ret->event[i] = 1000 + i * shape->event_step;
        ret->lift[i] = (uint16_t)(shape->lift ? i % shape->lift : 1);
        ret->flags[i] = shape->flags_every && i % shape->flags_every == 0 ? SLICE_PARTIAL : 0;
    }
}

static void check_slice(const struct shape *shape, const struct open *open, uint32_t i,
                        const struct packed_slice *got)
{
    CHECK_INT(shape->what, got->start_ps, open->start_ps[i]);
    CHECK_INT(shape->what, got->dur_ps, open->dur_ps[i]);
    CHECK_INT(shape->what, got->self_ps, open->self_ps[i]);
    CHECK_INT(shape->what, got->named, open->named[i]);
    CHECK_INT(shape->what, got->parent, open->parent[i]);
    CHECK_INT(shape->what, got->event, open->event[i]);
    CHECK_INT(shape->what, got->lift, open->lift[i]);
    CHECK_INT(shape->what, got->flags, open->flags[i]);
}

static void comes_back(void **state)
{
    (void)state;
    const int64_t us = 1000000;
    const struct shape rows[] = {
        {"one slice", 1, 5, 0, 7, 0, 1, 0, 0, true, 0, 0, 16},
        {"all equal", 4096, -900, 0, 0, 0, 1, 0, 0, true, 0, 0, 16},
        {"nanoseconds", 4096, 17 * us, 4000, 3000, 1000, 3, 1, 1, true, 0, 0, 4096 * 8 + 64},
        {"picoseconds", 4096, 17 * us, 2001, 1001, 7, 3, 1, 1, true, 0, 0, 4096 * 8 + 1088},
        {"eights, no nanoseconds", 4096, 17 * us, 1008, 3008, 512, 3, 1, 1, true, 0, 0,
         4096 * 9 + 1088},
        {"far apart", 4000, -90 * us, 77 * us + 1, 5, 3, 300, 2, 9, false, 0, 0, 4096 * 14 + 2048},
        {"very far apart", 999, -TIME_PS_MAX, TIME_PS_MAX / 500, us * us, us, 9, 1, 70000, false, 3,
         0, 999 * 36},
        {"many names", 4096, 0, 10, 9, 0, 4096, 0, 3, true, 0, 0, 4096 * 12},
        {"257 names", 257, 0, 10, 9, 0, 257, 0, 3, true, 0, 0, 257 * 12},
        {"256 names", 256, 0, 10, 9, 0, 256, 0, 3, true, 0, 0, 256 * 11},
        {"lanes", 100, 0, 10, 9, 0, 2, 5, 3, false, 2, 700, 100 * 14},
    };
    struct chunk_encoder *encoder = chunk_encoder_create();
    struct open *open = calloc(1, sizeof(*open)), *back = calloc(1, sizeof(*back));

    assert_non_null(open);
    assert_non_null(back);
    for (size_t row = 0; row < COUNT(rows); row++) {
        const struct shape *shape = &rows[row];
        struct open_columns columns = columns_of(open), unpacked = columns_of(back);
        struct chunk_entry entry;
        struct packed_slice slice;

        fill(shape, open);
        struct bytes packed = chunk_encode(encoder, &columns, shape->count, &entry);
        CHECK_INT(shape->what, entry.size, packed.count);
        CHECK(shape->what, packed.count <= shape->bytes_max);
        CHECK(shape->what, chunk_entry_valid(&entry));
        CHECK(shape->what, chunk_data_valid(&entry, packed.at, 4096));
        CHECK(shape->what,
              !chunk_data_valid(&entry, packed.at, shape->name_count - 1)); /* one is missing */
        CHECK_INT(shape->what, entry.end_ps,
                  open->start_ps[shape->count - 1] + open->dur_ps[shape->count - 1]);
        chunk_decode(&entry, packed.at, &unpacked);
        for (uint32_t i = 0; i < shape->count; i++) {
            slice = (struct packed_slice){back->start_ps[i], back->dur_ps[i], back->self_ps[i],
                                          back->named[i],    back->parent[i], back->event[i],
                                          back->lift[i],     back->flags[i]};
            check_slice(shape, open, i, &slice);
            chunk_slice(&entry, packed.at, i, &slice);
            check_slice(shape, open, i, &slice);
        }
    }
    free(open);
    free(back);
    chunk_encoder_destroy(encoder);
}

/* What the encoder remembers of one chunk never shows in the next. */
static void equal_input_equal_bytes(void **state)
{
    (void)state;
    const struct shape big = {"big", 4096, 3, 77777, 11, 5, 400, 3, 11, false, 5, 3, 0};
    const struct shape small = {"small", 5, 3, 1001, 11, 5, 3, 1, 1, false, 2, 2, 0};
    struct chunk_encoder *used = chunk_encoder_create(), *fresh = chunk_encoder_create();
    struct open *open = calloc(1, sizeof(*open));
    struct open_columns columns = columns_of(open);
    struct chunk_entry one, other;

    assert_non_null(open);
    fill(&big, open);
    chunk_encode(used, &columns, big.count, &one);
    fill(&small, open);
    struct bytes first = chunk_encode(used, &columns, small.count, &one);
    struct bytes second = chunk_encode(fresh, &columns, small.count, &other);
    CHECK("entry", memcmp(&one, &other, sizeof(one)) == 0);
    CHECK("data", first.count == second.count && memcmp(first.at, second.at, first.count) == 0);
    free(open);
    chunk_encoder_destroy(used);
    chunk_encoder_destroy(fresh);
}

/* A name that is not in the chunk's dictionary. */
static void broken_data(void **state)
{
    (void)state;
    const struct shape shape = {"names", 100, 3, 7777, 11, 5, 40, 3, 11, false, 5, 3, 0};
    struct chunk_encoder *encoder = chunk_encoder_create();
    struct open *open = calloc(1, sizeof(*open));
    struct open_columns columns = columns_of(open);
    uint32_t offset[PACKED_COUNT + 1];
    struct chunk_entry entry;

    assert_non_null(open);
    fill(&shape, open);
    struct bytes packed = chunk_encode(encoder, &columns, shape.count, &entry);
    uint8_t *at = (uint8_t *)(uintptr_t)packed.at;
    chunk_layout(&entry, offset);
    CHECK("whole", chunk_data_valid(&entry, at, 40));
    at[offset[PACKED_NAME] + 99] = 40;
    CHECK("no such name", !chunk_data_valid(&entry, at, 40));
    at[offset[PACKED_NAME] + 99] = 39;
    at[offset[PACKED_DICTIONARY] + 3] = 0xf0;
    CHECK("no such kind", !chunk_data_valid(&entry, at, 40));
    free(open);
    chunk_encoder_destroy(encoder);
}

static void broken_entries(void **state)
{
    (void)state;
    const struct shape shape = {"valid", 100, 3, 7777, 11, 5, 40, 3, 11, false, 5, 3, 0};
    struct chunk_encoder *encoder = chunk_encoder_create();
    struct open *open = calloc(1, sizeof(*open));
    struct open_columns columns = columns_of(open);
    struct chunk_entry valid;

    assert_non_null(open);
    fill(&shape, open);
    chunk_encode(encoder, &columns, shape.count, &valid);
    CHECK("valid", chunk_entry_valid(&valid));
    struct chunk_entry rows[10];
    for (size_t i = 0; i < COUNT(rows); i++)
        rows[i] = valid;
    rows[0].count = 0;
    rows[1].count = CHUNK_SLICES + 1;
    rows[2].dictionary_count = 101;
    rows[3].width[PACKED_START] = 3;
    rows[4].width[PACKED_FLAGS] = 2;
    rows[5].size += 8;
    rows[6].end_ps = valid.start_ps - 1;
    rows[7].dur_base = -1;
    rows[8].event_max = valid.event_base - 1;
    rows[9].forms ^= CHUNK_START_GROUPED;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char what[16] = "broken 0";
        what[7] = (char)('0' + i);
        CHECK(what, !chunk_entry_valid(&rows[i]));
    }
    free(open);
    chunk_encoder_destroy(encoder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back),
        cmocka_unit_test(equal_input_equal_bytes),
        cmocka_unit_test(broken_data),
        cmocka_unit_test(broken_entries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
