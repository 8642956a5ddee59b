/* Answers over large runs are read again where they were kept, and only for the run as it was. */
#include "serve/stored.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "picture.h"
#include "serve/reply.h"
#include "store/segment.h"

static const char content[33] = "0123456789abcdef0123456789abcdef";

struct place {
    char dir[64];
    struct services services;
    struct arena *arena;
};

static void put_segment(struct place *place)
{
    struct cache *cache = place->services.cache;
    char directory[4096], segment[4200], attribution[4200];
    struct error err = {0};
    struct segment_writer *writer;

    CHECK_OK("place", cache_temporary_dir(cache, directory, &err), &err);
    snprintf(segment, sizeof segment, "%s/1.seg", directory);
    snprintf(attribution, sizeof attribution, "%s/1.attr", directory);
    CHECK_OK("writer", segment_writer_open(segment, &writer, &err), &err);
    struct sink *sink = sink_create(segment_writer_out(writer), &budget_default,
                                    (struct sink_hooks){0}, directory, &err);
    sink_format(sink, "drawn");
    picture_draw(sink, "host / python\n  0 +30 step 1\n    10 +5 fusion.3\n");
    CHECK_OK("finish", sink_finish(sink, &err), &err);
    sink_destroy(sink);
    CHECK_OK("commit", segment_writer_commit(writer, content, &err), &err);
    segment_writer_abandon(writer);
    CHECK_OK("attribution", attribution_write(attribution, content, &(struct attribution){0}, &err),
             &err);
    CHECK_OK("adopt", cache_adopt(cache, content, segment, attribution, &err), &err);
}

static void put_run(struct place *place, uint64_t slice_count, const char *name)
{
    struct run_host host = {.name = STR("h")};
    struct run_record run = {.id = STR("r1"),
                             .content_id = STR("c1"),
                             .root = STR("/profiles"),
                             .name = str_of(name),
                             .dir = STR("one"),
                             .state = RUN_READY,
                             .duration_ps = 30,
                             .slice_count = slice_count,
                             .hosts = &host,
                             .host_count = 1};
    struct error err = {0};

    memcpy(host.content, content, sizeof host.content);
    CHECK_OK("put", catalog_put_runs(place->services.catalog, &run, 1, &err), &err);
}

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    struct str reason;
    struct error err = {0};

    snprintf(place->dir, sizeof place->dir, "/tmp/jview-stored-XXXXXX");
    assert_non_null(mkdtemp(place->dir));
    place->arena = arena_create();
    CHECK_OK("cache",
             cache_open(place->dir, 1 << 30, place->arena, &place->services.cache, &reason, &err),
             &err);
    CHECK_OK("catalog", catalog_open(place->dir, &place->services.catalog, &err), &err);
    put_segment(place);
    *state = place;
    return 0;
}

static int leave_place(void **state)
{
    struct place *place = *state;
    char command[128];

    catalog_close(place->services.catalog);
    cache_close(place->services.cache);
    arena_destroy(place->arena);
    snprintf(command, sizeof command, "rm -rf '%s'", place->dir);
    int ret = system(command);
    free(place);
    return ret;
}

/* Status and body. */
static int ask(struct place *place, const char *path, const char *query, struct str *ret)
{
    struct request request = {.method = STR("GET"),
                              .path = str_of(path),
                              .query = str_of(query),
                              .arena = place->arena,
                              .services = &place->services};
    struct reply reply;

    serve_request(&request, &reply);

    int status = reply.status;
    struct bytes body = reply_bytes(&reply);

    *ret = str_copy(place->arena, (struct str){.at = (const char *)body.at, .count = body.count});
    reply_free(&reply);
    return status;
}

/* What is asked now can only be read where it was kept. */
static void lose_segment(struct place *place)
{
    char path[4096];
    struct str reason;
    struct error err = {0};

    cache_segment_path(place->services.cache, content, path);
    assert_int_equal(unlink(path), 0);
    cache_close(place->services.cache);
    CHECK_OK("cache",
             cache_open(place->dir, 1 << 30, place->arena, &place->services.cache, &reason, &err),
             &err);
}

static void reads_what_was_kept(void **state)
{
    struct place *place = *state;
    struct str first, again;

    put_run(place, STORED_SLICES_MIN, "one");
    CHECK_INT("made", ask(place, "/api/overview", "run=r1", &first), 200);
    CHECK("of the run", str_contains(first, STR("\"one\"")));
    lose_segment(place);
    CHECK_INT("read", ask(place, "/api/overview", "wait_ms=5&run=one", &again), 200);
    CHECK("the same", str_equal(first, again));
    CHECK_INT("of another window",
              ask(place, "/api/overview", "run=r1&start_ps=1&end_ps=9", &again), 503);
    CHECK_INT("another question", ask(place, "/api/findings", "run=r1", &again), 503);
    CHECK_INT("that is not kept", ask(place, "/api/tracks", "run=r1", &again), 503);
    put_run(place, STORED_SLICES_MIN, "renamed");
    CHECK_INT("the run is another", ask(place, "/api/overview", "run=r1", &again), 503);
}

static void keeps_nothing_of_small_runs(void **state)
{
    struct place *place = *state;
    struct str body;

    put_run(place, STORED_SLICES_MIN - 1, "one");
    CHECK_INT("made", ask(place, "/api/overview", "run=r1", &body), 200);
    lose_segment(place);
    CHECK_INT("not read", ask(place, "/api/overview", "run=r1", &body), 503);
}

static void keeps_no_failure(void **state)
{
    struct place *place = *state;
    struct str body;

    put_run(place, STORED_SLICES_MIN, "one");
    CHECK_INT("refused", ask(place, "/api/overview", "run=r1&step=99", &body), 404);
    CHECK_INT("again", ask(place, "/api/overview", "run=r1&step=99", &body), 404);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_what_was_kept, make_place, leave_place),
        cmocka_unit_test_setup_teardown(keeps_nothing_of_small_runs, make_place, leave_place),
        cmocka_unit_test_setup_teardown(keeps_no_failure, make_place, leave_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
