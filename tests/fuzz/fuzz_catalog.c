/* SPDX-License-Identifier: Apache-2.0 */
/* A damaged catalog: made anew, or read as it is; a run that is put into it is read again.
 *
 *   input   edits of 12 bytes { width u8, zero u8, offset u16, page u16, value u48 } over a sound
 *           one; a width of 0 cuts the file off before that page
 *
 * The sums of its pages are made anew behind the edits: they are what a checksum cannot catch.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "any/place_any.h"
#include "base/hash.h"
#include "store/catalog.h"

enum { EDIT_SIZE = 12, EDITS_MAX = 16, PAGE_BYTES = 4096, SUM_BYTES = 8, RUNS = 3 };

static struct bytes sound;

static void put(struct catalog *catalog, const char *id)
{
    const struct str dirs[] = {STR("a"), STR("b/plugins/profile/1")};
    const struct str badges[] = {STR("truncated")};
    const struct run_host host = {.name = STR("h"), .hostname = STR("machine")};
    const struct run_file file = {
        .path = STR("a/h.xplane.pb"), .host = STR("h"), .format = STR("xplane"), .rank = -1};
    const struct run_record run = {.id = str_of(id),
                                   .content_id = STR("c1"),
                                   .kept_id = STR("c1"),
                                   .root = STR("/profiles"),
                                   .name = STR("a/step_00001000"),
                                   .dir = str_of(id),
                                   .dirs = dirs,
                                   .dir_count = COUNT(dirs),
                                   .state = RUN_READY,
                                   .device_kind = STR("a device"),
                                   .badges = badges,
                                   .badge_count = COUNT(badges),
                                   .file_count = 1,
                                   .files = &file,
                                   .run_file_count = 1,
                                   .hosts = &host,
                                   .host_count = 1};
    struct arena *arena = arena_create();
    struct run_record read;
    struct error err = {0};

    if (catalog_put_runs(catalog, &run, 1, &err) != OK ||
        catalog_run(catalog, run.id, arena, &read, &err) != OK || !str_equal(read.name, run.name) ||
        read.run_file_count != 1 || read.host_count != 1 || read.dir_count != COUNT(dirs) ||
        !str_equal(read.dirs[1], dirs[1]) || read.badge_count != 1)
        abort();
    arena_destroy(arena);
}

static void make_sound(void)
{
    const struct run_metric metric = {.name = STR("step_p95"), .unit = STR("ps"), .value = 7};
    struct catalog *catalog;
    struct error err = {0};

    if (catalog_open(place_any(), &catalog, &err) != OK)
        abort();
    put(catalog, "r1");
    put(catalog, "r2");
    if (catalog_put_facts(catalog, place_any_content, STR("{\"a\":1}"), &err) != OK ||
        catalog_put_metrics(catalog, STR("c1"), &metric, 1, &err) != OK)
        abort();
    catalog_close(catalog);
    sound = place_any_read(place_any_path("catalog.sqlite"), place_any_arena());
}

static size_t edit(uint8_t *at, size_t count, const uint8_t *told)
{
    size_t width = told[0] % 7, offset = ((size_t)told[2] | (size_t)told[3] << 8) % PAGE_BYTES;
    size_t page = ((size_t)told[4] | (size_t)told[5] << 8) % (count / PAGE_BYTES);

    if (width == 0)
        return page == 0 ? count : page * PAGE_BYTES;
    if (width <= PAGE_BYTES - SUM_BYTES && offset <= PAGE_BYTES - SUM_BYTES - width)
        memcpy(at + page * PAGE_BYTES + offset, told + 6, width);
    return count;
}

static void sum_anew(uint8_t *at, size_t count)
{
    for (size_t page = 0; page < count; page += PAGE_BYTES) {
        uint64_t sum = hash64((struct bytes){at + page, PAGE_BYTES - SUM_BYTES});

        memcpy(at + page + PAGE_BYTES - SUM_BYTES, &sum, sizeof sum);
    }
}

static void must_say(enum status status, struct error *err)
{
    if (status != OK && err->message[0] == '\0')
        abort();
    *err = (struct error){0};
}

static void read_run(struct catalog *catalog, struct str id, struct arena *arena)
{
    struct run_record run;
    struct error err = {0};

    if (catalog_run(catalog, id, arena, &run, &err) != OK) {
        must_say(ERR_FORMAT, &err);
        return;
    }
    (void)run_state_word(run.state);
    (void)run_captured_ns(&run);
    for (uint32_t i = 0; i < run.run_file_count; i++)
        if (file_state_word(run.files[i].state) == NULL)
            abort();
}

static void read_runs(struct catalog *catalog, struct arena *arena)
{
    static const char *const sorts[] = {"", "name", "-duration_ps", "step_median_ps"};
    struct run_record *runs;
    uint32_t count;
    uint64_t all;
    struct error err = {0};

    for (size_t i = 0; i < COUNT(sorts); i++) {
        const struct run_query query = {.sort = str_of(sorts[i]), .limit = 10};
        enum status status = catalog_runs(catalog, &query, arena, &runs, &count, &all, &err);

        must_say(status, &err);
        for (uint32_t run = 0; status == OK && run < count; run++)
            read_run(catalog, runs[run].id, arena);
    }
}

static void read_all(struct catalog *catalog, struct arena *arena)
{
    static const char *const words[] = {"latest", "latest-1", "1000", "a", "c1", "r1", "step_1000"};
    struct run_candidates near;
    struct run_file *files;
    struct metric_of *metrics;
    struct str text, ids[4];
    struct unmeasured walk = {0};
    uint32_t count;
    struct error err = {0};

    read_runs(catalog, arena);
    for (size_t i = 0; i < COUNT(words); i++)
        must_say(catalog_resolve(catalog, str_of(words[i]), arena, &text, &near, &err), &err);
    must_say(catalog_files(catalog, STR("/profiles"), arena, &files, &count, &err), &err);
    must_say(catalog_facts(catalog, place_any_content, arena, &text, &err), &err);
    must_say(catalog_metrics(catalog, arena, &metrics, &count, &err), &err);
    for (int i = 0; i < RUNS; i++)
        must_say(catalog_unmeasured(catalog, &walk, arena, ids, COUNT(ids), &count, &err), &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (sound.at == NULL)
        make_sound();
    struct arena *arena = arena_create();
    uint8_t *edited = arena_alloc(arena, sound.count, 1);
    size_t count = sound.count;
    struct catalog *catalog;
    struct error err = {0};

    memcpy(edited, sound.at, sound.count);
    for (size_t i = 0; i + EDIT_SIZE <= size && i < EDIT_SIZE * EDITS_MAX; i += EDIT_SIZE)
        count = edit(edited, count, data + i);
    sum_anew(edited, count);
    unlink(place_any_path("catalog.sqlite-wal"));
    unlink(place_any_path("catalog.sqlite-shm"));
    place_any_put(place_any_path("catalog.sqlite"), (struct bytes){edited, count});
    if (catalog_open(place_any(), &catalog, &err) != OK)
        abort();
    read_all(catalog, arena);
    put(catalog, "r3");
    catalog_close(catalog);
    arena_destroy(arena);
    return 0;
}
