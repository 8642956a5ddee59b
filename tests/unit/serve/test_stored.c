/* SPDX-License-Identifier: Apache-2.0 */
/* Answers over large runs are read again where they were kept, and only for the run as it was. */
#include "serve/kept/stored.h"

#include <pthread.h>

#include "serve/answer/reply.h"
#include "serve/routes.h"
#include "unit/serve/made_place.h"

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

    cache_segment_path(place->services.cache, made_content, path);
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

    put_run(place, "r1", "c1", "one", STORED_SLICES_MIN);
    CHECK_INT("made", ask(place, "/api/overview", "run=r1", &first), 200);
    CHECK("of the run", str_contains(first, STR("\"one\"")));
    lose_segment(place);
    CHECK_INT("read", ask(place, "/api/overview", "wait_ms=5&run=one", &again), 200);
    CHECK("the same", str_equal(first, again));
    CHECK_INT("of another window",
              ask(place, "/api/overview", "run=r1&start_ps=1&end_ps=9", &again), 503);
    CHECK_INT("another question", ask(place, "/api/findings", "run=r1", &again), 503);
    CHECK_INT("that is not kept", ask(place, "/api/tracks", "run=r1", &again), 503);
    put_run(place, "r1", "c1", "renamed", STORED_SLICES_MIN);
    CHECK_INT("the run is another", ask(place, "/api/overview", "run=r1", &again), 503);
}

/* Orders, pages and forms of a table are read of the one that was kept. */
static void reads_tables_of_what_was_kept(void **state)
{
    static const struct {
        const char *what, *query;
        int status;
        const char *part;
    } rows[] = {
        {"another page", "run=r1&by=name&limit=1", 200, "\"next\":\"n1\""},
        {"the next one", "run=r1&by=name&limit=1&cursor=n1", 200, "\"next\":null"},
        {"another order", "run=r1&by=name&limit=1&sort=self_ps", 200, "fusion.3"},
        {"back to front", "run=r1&by=name&limit=1&sort=-self_ps", 200, "step 1"},
        {"no order", "run=r1&by=name&sort=sel", 400, "no column"},
        {"CSV", "run=r1&by=name&format=csv", 200, "fusion.3,"},
        {"Markdown", "run=r1&by=name&format=md", 200, "| fusion.3 |"},
        {"another table", "run=r1&by=track", 503, ""},
    };
    struct place *place = *state;
    struct str body;

    put_run(place, "r1", "c1", "one", STORED_SLICES_MIN);
    CHECK_INT("made", ask(place, "/api/top", "run=r1&by=name&sort=name&limit=1", &body), 200);
    lose_segment(place);
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_INT(rows[i].what, ask(place, "/api/top", rows[i].query, &body), rows[i].status);
        CHECK(rows[i].what, str_contains(body, str_of(rows[i].part)));
    }
}

/* What is too large leaves a mark, and its handler is asked from then on. */
static void marks_what_cannot_be_kept(void **state)
{
    enum { PACKED_MAX = 9 << 20 };
    struct place *place = *state;
    struct request request = {.method = STR("GET"),
                              .path = STR("/api/top"),
                              .query = STR("run=r1&by=name"),
                              .arena = place->arena,
                              .services = &place->services};
    uint8_t *noise = arena_alloc(place->arena, PACKED_MAX, 1);
    const struct bytes rows[] = {{.at = noise, .count = PACKED_MAX},
                                 {.at = noise, .count = (size_t)1 << 30}}; /* not even read */
    const struct run_record *run;
    struct error err = {0};
    struct str body;
    uint32_t state32 = 1;

    for (size_t i = 0; i < PACKED_MAX; i++) {
        state32 = state32 * 1664525 + 1013904223;
        noise[i] = (uint8_t)(state32 >> 24);
    }
    put_run(place, "r1", "c1", "one", STORED_SLICES_MIN);
    CHECK_OK("opened", request_open(&request, &route_top, &err), &err);
    CHECK_OK("run", request_run(&request, &run, &err), &err);
    for (size_t i = 0; i < COUNT(rows); i++) {
        stored_put_bytes(&request, run, BYTES("small"));
        CHECK("kept", !stored_is_refused(&request, run));
        stored_put_bytes(&request, run, rows[i]);
        CHECK("marked", stored_is_refused(&request, run));
        CHECK_INT("made", ask(place, "/api/top", "run=r1&by=name&limit=1", &body), 200);
        CHECK("its page", str_contains(body, STR("\"next\":\"n1\"")));
        CHECK("and not for keeping", stored_is_refused(&request, run));
    }
    request_release(request.state);
}

static void keeps_nothing_of_small_runs(void **state)
{
    struct place *place = *state;
    struct str body;

    put_run(place, "r1", "c1", "one", STORED_SLICES_MIN - 1);
    CHECK_INT("made", ask(place, "/api/overview", "run=r1", &body), 200);
    lose_segment(place);
    CHECK_INT("not read", ask(place, "/api/overview", "run=r1", &body), 503);
}

static void keeps_no_failure(void **state)
{
    struct place *place = *state;
    struct str body;

    put_run(place, "r1", "c1", "one", STORED_SLICES_MIN);
    CHECK_INT("refused", ask(place, "/api/overview", "run=r1&step=99", &body), 404);
    CHECK_INT("again", ask(place, "/api/overview", "run=r1&step=99", &body), 404);
}

struct asker {
    struct place place; /* with an arena of its own */
    struct str body;
};

static void *ask_overview(void *data)
{
    struct asker *asker = data;

    CHECK_INT("asked", ask(&asker->place, "/api/overview", "run=r1", &asker->body), 200);
    return NULL;
}

/* Whenever the other comes: it finds what is being made here. */
static void waits_for_who_makes_it(void **state)
{
    struct place *place = *state;
    struct asker asker = {.place = *place};
    struct request request = {.method = STR("GET"),
                              .path = STR("/api/overview"),
                              .query = STR("run=r1"),
                              .arena = place->arena,
                              .services = &place->services};
    struct reply made = {
        .status = 200, .type = TYPE_JSON, .borrowed = BYTES("{\"made\":\"here\"}")};
    const struct run_record *run;
    struct error err = {0};
    pthread_t thread;

    put_run(place, "r1", "c1", "one", STORED_SLICES_MIN);
    CHECK_OK("opened", request_open(&request, &route_overview, &err), &err);
    CHECK_OK("run", request_run(&request, &run, &err), &err);
    assert_true(stored_take(&request, run));
    asker.place.arena = arena_create();
    assert_int_equal(pthread_create(&thread, NULL, ask_overview, &asker), 0);
    stored_put(&request, run, &made);
    stored_leave(&request, run);
    pthread_join(thread, NULL);
    CHECK("what was made here", str_equal(asker.body, STR("{\"made\":\"here\"}")));
    arena_destroy(asker.place.arena);
    request_release(request.state);
}

/* A run of many files is long to open, however few slices it has. */
static void large_is_by_slices_or_hosts(void **state)
{
    static const struct {
        const char *what;
        uint64_t slices;
        uint32_t hosts;
        bool large;
    } rows[] = {{"small", STORED_SLICES_MIN - 1, STORED_HOSTS_MIN - 1, false},
                {"slices", STORED_SLICES_MIN, 1, true},
                {"hosts", 1, STORED_HOSTS_MIN, true}};

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct run_record run = {.slice_count = rows[i].slices, .host_count = rows[i].hosts};

        CHECK_INT(rows[i].what, stored_is_large(&run), rows[i].large);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_what_was_kept, make_place, leave_place),
        cmocka_unit_test_setup_teardown(reads_tables_of_what_was_kept, make_place, leave_place),
        cmocka_unit_test_setup_teardown(marks_what_cannot_be_kept, make_place, leave_place),
        cmocka_unit_test_setup_teardown(keeps_nothing_of_small_runs, make_place, leave_place),
        cmocka_unit_test(large_is_by_slices_or_hosts),
        cmocka_unit_test_setup_teardown(keeps_no_failure, make_place, leave_place),
        cmocka_unit_test_setup_teardown(waits_for_who_makes_it, make_place, leave_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
