/* SPDX-License-Identifier: Apache-2.0 */
/* Attributions on disk: what goes in comes out, equal bytes for equal input, nothing damaged. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "check.h"
#include "store/cache.h"

static const char content[33] = "00112233445566778899aabbccddeeff";

enum { ENTRIES = 5000 }; /* more than one buffer */

struct place {
    char dir[64], path[96];
    struct arena *arena;
    struct attribution sample;
};

static struct attribution make_sample(struct arena *arena)
{
    struct op *ops = arena_array(arena, struct op, 3);
    struct execution *executions = arena_array(arena, struct execution, 2);
    struct attributed *entries = arena_array(arena, struct attributed, ENTRIES);
    uint32_t *by_time = arena_array(arena, uint32_t, ENTRIES);
    struct op_total *totals = arena_array(arena, struct op_total, 3);
    struct device_total *devices = arena_array(arena, struct device_total, 2);
    struct op_spread *spreads = arena_array(arena, struct op_spread, 3);

    for (uint32_t i = 0; i < 3; i++) {
        totals[i] = (struct op_total){.event_count = 2 + i, .first = i, .self_ps = -(int64_t)i};
        spreads[i] = (struct op_spread){.by = i / 2, .op = 2 * i % 4, .p95_ps = 100 + i};
    }
    devices[1] = (struct device_total){.device = 1, .busy_ps = 12};
    memset(entries, 0xa5, sizeof *entries * ENTRIES); /* padding that must not reach the disk */
    for (uint32_t i = 0; i < 3; i++)
        ops[i] = (struct op){.program = NO_PROGRAM, .name = i, .scope = 9, .kind = KIND_COPY};
    for (uint32_t i = 0; i < 2; i++)
        executions[i] = (struct execution){.device = -1, .run_id = UINT64_MAX - i};
    for (uint32_t i = 0; i < ENTRIES; i++) {
        entries[i].slice = 3 * i;
        entries[i].op = i % 3;
        entries[i].execution = i % 2 == 0 ? NO_EXECUTION : 1;
        entries[i].device = (int32_t)i % 4 - 1;
        entries[i].first = i % 5 == 0;
        entries[i].start_ps = -(int64_t)i;
        entries[i].dur_ps = i;
        entries[i].self_ps = INT64_MAX - i;
        by_time[i] = ENTRIES - 1 - i;
    }
    struct kernel *kernels = arena_array(arena, struct kernel, 2);
    uint32_t *kernel_of = arena_array(arena, uint32_t, ENTRIES);
    struct kernel_total *kernel_totals = arena_array(arena, struct kernel_total, 2);
    struct kernel_total *kernel_by_name = arena_array(arena, struct kernel_total, 1);

    for (uint32_t i = 0; i < 2; i++) {
        kernels[i] = (struct kernel){.name = 5, .registers = NOT_RECORDED, .op = i};
        kernel_totals[i] = (struct kernel_total){.kernel = i, .count = 1 + i, .gap_p50_ps = -7};
    }
    kernel_by_name[0] = (struct kernel_total){.kernel = 0, .count = 3};
    for (uint32_t i = 0; i < ENTRIES; i++)
        kernel_of[i] = i % 3 == 2 ? NO_KERNEL : i % 3;
    return (struct attribution){.ops = ops,
                                .op_count = 3,
                                .executions = executions,
                                .execution_count = 2,
                                .entries = entries,
                                .entry_count = ENTRIES,
                                .by_device_time = by_time,
                                .totals = totals,
                                .devices = devices,
                                .device_count = 2,
                                .spreads = spreads,
                                .spread_count = 3,
                                .kernels = kernels,
                                .kernel_count = 2,
                                .kernel_of = kernel_of,
                                .kernel_totals = kernel_totals,
                                .kernel_by_name = kernel_by_name,
                                .kernel_name_count = 1};
}

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof *place);

    snprintf(place->dir, sizeof place->dir, "/tmp/jview-attribution-XXXXXX");
    assert_non_null(mkdtemp(place->dir));
    snprintf(place->path, sizeof place->path, "%s/a.attr", place->dir);
    place->arena = arena_create();
    place->sample = make_sample(place->arena);
    *state = place;
    return 0;
}

static int leave_place(void **state)
{
    struct place *place = *state;

    unlink(place->path);
    int ret = rmdir(place->dir);
    arena_destroy(place->arena);
    free(place);
    return ret;
}

static struct bytes bytes_of(struct place *place)
{
    struct error err = {0};
    struct bytes bytes;

    CHECK_OK("read", file_read(place->path, place->arena, 1 << 24, &bytes, &err), &err);
    return bytes;
}

static void write_sample(struct place *place)
{
    struct error err = {0};

    CHECK_OK("write", attribution_write(place->path, content, &place->sample, &err), &err);
}

static void write_bytes(struct place *place, const uint8_t *at, size_t count)
{
    FILE *file = fopen(place->path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(at, 1, count, file), count);
    fclose(file);
}

static void comes_back(void **state)
{
    struct place *place = *state;
    struct error err = {0};
    struct attribution_file *file;

    write_sample(place);
    CHECK_OK("open", attribution_open(place->path, &file, &err), &err);
    const struct attribution *got = attribution_of_file(file);
    CHECK_INT("ops", got->op_count, 3);
    CHECK_INT("executions", got->execution_count, 2);
    CHECK_INT("entries", got->entry_count, ENTRIES);
    CHECK_INT("kind", got->ops[2].kind, KIND_COPY);
    CHECK_INT("run id", got->executions[1].run_id, UINT64_MAX - 1);
    for (uint32_t i = 0; i < ENTRIES; i++) {
        const struct attributed *entry = ENTRY_AT(got, i);

        CHECK_INT("slice", entry->slice, 3 * i);
        CHECK_INT("device", entry->device, (int32_t)i % 4 - 1);
        CHECK_INT("first", entry->first, i % 5 == 0);
        CHECK_INT("start", entry->start_ps, -(int64_t)i);
        CHECK_INT("self", entry->self_ps, INT64_MAX - i);
        CHECK_INT("by time", entry_in_time(got, i), ENTRIES - 1 - i);
    }
    CHECK_INT("total", got->totals[2].event_count, 4);
    CHECK_INT("devices", got->device_count, 2);
    CHECK_INT("busy", got->devices[1].busy_ps, 12);
    CHECK_INT("spreads", got->spread_count, 3);
    CHECK_INT("spread", got->spreads[2].p95_ps, 102);
    CHECK_INT("kernels", got->kernel_count, 2);
    CHECK_INT("not recorded", got->kernels[1].registers, NOT_RECORDED);
    CHECK_INT("which each is", entry_kernel(got, 4), 1);
    CHECK_INT("their totals", got->kernel_totals[1].gap_p50_ps, -7);
    CHECK_INT("by name", got->kernel_by_name[0].count, 3);
    attribution_close(file);
}

static void equal_bytes(void **state)
{
    struct place *place = *state;

    write_sample(place);
    struct bytes first = bytes_of(place);
    memset((void *)(uintptr_t)place->sample.entries, 0, sizeof(struct attributed) * ENTRIES);
    place->sample = make_sample(place->arena);
    write_sample(place);
    struct bytes second = bytes_of(place);
    CHECK_INT("size", first.count, second.count);
    CHECK_INT("bytes", memcmp(first.at, second.at, first.count), 0);
}

static void empty(void **state)
{
    struct place *place = *state;
    struct error err = {0};
    struct attribution_file *file;

    CHECK_OK("write", attribution_write(place->path, content, &(struct attribution){0}, &err),
             &err);
    CHECK_OK("open", attribution_open(place->path, &file, &err), &err);
    CHECK_INT("entries", attribution_of_file(file)->entry_count, 0);
    CHECK("no totals", attribution_of_file(file)->totals == NULL);
    attribution_close(file);
}

/* What the head says alone. */
static void ops_by_head(void **state)
{
    struct place *place = *state;
    struct error err = {0};
    bool has_ops;

    write_sample(place);
    CHECK_OK("read", attribution_has_ops(place->path, &has_ops, &err), &err);
    CHECK("it has", has_ops);
    struct bytes whole = bytes_of(place);
    write_bytes(place, whole.at, 100);
    CHECK_INT("a cut head", attribution_has_ops(place->path, &has_ops, &err), ERR_TRUNCATED);
    CHECK_OK("write", attribution_write(place->path, content, &(struct attribution){0}, &err),
             &err);
    CHECK_OK("read", attribution_has_ops(place->path, &has_ops, &err), &err);
    CHECK("it has none", !has_ops);
}

static void damaged_is_refused(void **state)
{
    struct place *place = *state;
    struct attribution_file *file;

    write_sample(place);
    struct bytes whole = bytes_of(place);
    uint8_t *copy = arena_array(place->arena, uint8_t, whole.count);

    for (size_t at = 0; at < whole.count; at += at < 300 ? 1 : 4099) {
        memcpy(copy, whole.at, whole.count);
        copy[at] ^= 0x10;
        write_bytes(place, copy, whole.count);
        if (attribution_open(place->path, &file, &(struct error){0}) == OK)
            check_failed(__FILE__, __LINE__, "a flipped bit", "byte %zu was not seen", at);
    }
    for (size_t count = 0; count < whole.count; count += count < 300 ? 1 : 4099) {
        write_bytes(place, whole.at, count);
        if (attribution_open(place->path, &file, &(struct error){0}) == OK)
            check_failed(__FILE__, __LINE__, "a cut", "%zu bytes were enough", count);
    }
}

static void lies_are_refused(void **state)
{
    struct place *place = *state;
    struct attribution_file *file;
    struct attributed *entries = (void *)(uintptr_t)place->sample.entries;
    const struct {
        const char *what;
        struct attributed entry;
        uint32_t by_time;
    } rows[] = {
        {"an op that is not there", {.slice = 6, .op = 3, .execution = 1}, 0},
        {"an execution that is not there", {.slice = 6, .op = 0, .execution = 2}, 0},
        {"slices out of order", {.slice = 2, .op = 0, .execution = 1}, 0},
        {"an entry that is not there", {.slice = 6, .op = 0, .execution = 1}, ENTRIES},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error err = {0};

        entries[2] = rows[i].entry;
        ((uint32_t *)(uintptr_t)place->sample.by_device_time)[2] = rows[i].by_time;
        write_sample(place);
        CHECK_INT(rows[i].what, attribution_open(place->path, &file, &err), ERR_FORMAT);
    }
    place->sample = make_sample(place->arena);
    ((struct op_total *)(uintptr_t)place->sample.totals)[1].first = 3 * ENTRIES;
    write_sample(place);
    CHECK_INT("a total's slice", attribution_open(place->path, &file, &(struct error){0}),
              ERR_FORMAT);
    place->sample = make_sample(place->arena);
    ((struct op_spread *)(uintptr_t)place->sample.spreads)[1].op = 0;
    write_sample(place);
    CHECK_INT("spreads out of order", attribution_open(place->path, &file, &(struct error){0}),
              ERR_FORMAT);
    place->sample = make_sample(place->arena);
    ((uint32_t *)(uintptr_t)place->sample.kernel_of)[7] = 2;
    write_sample(place);
    CHECK_INT("a kernel that is not there",
              attribution_open(place->path, &file, &(struct error){0}), ERR_FORMAT);
    place->sample = make_sample(place->arena);
    ((struct kernel *)(uintptr_t)place->sample.kernels)[1].op = 3;
    write_sample(place);
    CHECK_INT("a kernel of no op", attribution_open(place->path, &file, &(struct error){0}),
              ERR_FORMAT);
    place->sample = make_sample(place->arena);
    ((struct kernel_total *)(uintptr_t)place->sample.kernel_by_name)[0].kernel = 2;
    write_sample(place);
    CHECK_INT("a total of no kernel", attribution_open(place->path, &file, &(struct error){0}),
              ERR_FORMAT);
    CHECK_INT("no file", attribution_open("/nonexistent/a.attr", &file, &(struct error){0}),
              ERR_NOT_FOUND);
}

int main(void)
{
#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, leave_place)
    const struct CMUnitTest tests[] = {
        IN_PLACE(comes_back),         IN_PLACE(equal_bytes),      IN_PLACE(empty),
        IN_PLACE(damaged_is_refused), IN_PLACE(lies_are_refused), IN_PLACE(ops_by_head),
    };

    return cmocka_run_group_tests_name("store/attribution", tests, NULL, NULL);
}
