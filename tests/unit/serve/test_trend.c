/* SPDX-License-Identifier: Apache-2.0 */
/* The trend over a catalog: its order, what it says of odd runs, and two thousand of them. */
#include "check.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "serve/answer/reply.h"
#include "serve/dispatch/dispatch.h"
#include "serve/route.h"

enum { CONTENTS = 250 }; /* of 2,000 runs; each is written by itself, which takes its time */

struct place {
    char dir[64];
    struct services services;
    struct arena *arena;
};

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    struct error err = {0};

    snprintf(place->dir, sizeof place->dir, "/tmp/jview-trend-XXXXXX");
    assert_non_null(mkdtemp(place->dir));
    CHECK_OK("open", catalog_open(place->dir, &place->services.catalog, &err), &err);
    place->arena = arena_create();
    place->services.routes = &routes;
    *state = place;
    return 0;
}

static int leave_place(void **state)
{
    struct place *place = *state;
    char command[128];

    catalog_close(place->services.catalog);
    arena_destroy(place->arena);
    snprintf(command, sizeof command, "rm -rf '%s'", place->dir);
    int ret = system(command);
    free(place);
    return ret;
}

static struct run_record run_named(struct arena *arena, const char *name, int64_t epoch_ns,
                                   int64_t step_ps)
{
    static const struct run_host host = {.name = {.at = "h", .count = 1}, .content = "c"};

    return (struct run_record){.id = str_format(arena, "r%s", name),
                               .root = STR("/profiles"),
                               .name = str_copy(arena, str_of(name)),
                               .dir = str_copy(arena, str_of(name)),
                               .state = RUN_READY,
                               .has_epoch = true,
                               .epoch_ns = epoch_ns,
                               .duration_ps = 5,
                               .modified_ns = 1,
                               .file_bytes = 100,
                               .step_count = step_ps < 0 ? 0 : 10,
                               .step_median_ps = step_ps,
                               .hosts = &host,
                               .host_count = 1};
}

static void put(struct place *place, const struct run_record *runs, uint32_t count)
{
    struct error err = {0};

    CHECK_OK("put", catalog_put_runs(place->services.catalog, runs, count, &err), &err);
}

static json_t *ask(struct place *place, const char *query)
{
    struct request request = {.method = STR("GET"),
                              .path = STR("/api/trend"),
                              .query = str_of(query),
                              .arena = place->arena,
                              .services = &place->services};
    struct reply reply;

    serve_request(&request, &reply);
    CHECK_INT(query, reply.status, 200);
    struct bytes body = reply_bytes(&reply);
    json_t *ret = json_loadb((const char *)body.at, body.count, 0, NULL);
    reply_free(&reply);
    return ret;
}

static void check_order(json_t *trend, const char *over, const char *names)
{
    struct text got = {0};
    size_t index;
    json_t *row;

    json_array_foreach(json_object_get(trend, "rows"), index, row)
        text_putf(&got, "%s ", json_string_value(json_object_get(row, "name")));
    CHECK_STR("over", str_of(json_string_value(json_object_get(trend, "over"))), over);
    CHECK_STR("order", text_str(&got), names);
    text_free(&got);
}

static bool has_note(json_t *trend, const char *kind, int64_t count)
{
    size_t index;
    json_t *note;

    json_array_foreach(json_object_get(trend, "notes"), index, note)
    {
        if (strcmp(json_string_value(json_object_get(note, "kind")), kind) == 0)
            return json_integer_value(json_object_get(note, "count")) == count;
    }
    return false;
}

static bool is_noted(json_t *trend, const char *words)
{
    size_t index;
    json_t *note;

    json_array_foreach(json_object_get(trend, "notes"), index, note)
    {
        if (strcmp(json_string_value(json_object_get(note, "message")), words) == 0)
            return true;
    }
    return false;
}

static void odd_runs(void **state)
{
    struct place *place = *state;
    struct run_record runs[] = {run_named(place->arena, "a/step_200", 900, 20),
                                run_named(place->arena, "a/step_30", 800, 10),
                                run_named(place->arena, "b/step_200", 700, 21),
                                run_named(place->arena, "a/step_100", 100, 12),
                                run_named(place->arena, "a/step_50", 200, -1)};

    const struct str cut_off = STR("truncated");

    runs[3].state = RUN_GONE;
    runs[1].badges = &cut_off;
    runs[1].badge_count = 1;
    put(place, runs, COUNT(runs));
    json_t *trend = ask(place, "");
    check_order(trend, "step", "a/step_30 a/step_50 a/step_100 b/step_200 a/step_200 ");
    CHECK("of one step", has_note(trend, "same-step", 1));
    CHECK("gone", has_note(trend, "gone", 1));
    CHECK("one in words",
          is_noted(trend, "No longer on disk: 1 run; the values from its index are kept"));
    CHECK("cut off", has_note(trend, "cut-off", 1));
    CHECK("without steps", has_note(trend, "no-value", 1));
    const json_t *row = json_array_get(json_object_get(trend, "rows"), 1);
    CHECK("null", json_is_null(json_object_get(row, "value")));
    CHECK_STR("with its reason",
              str_of(json_string_value(json_object_get(json_object_get(row, "reasons"), "value"))),
              "the run has no steps");
    row = json_array_get(json_object_get(trend, "rows"), 2);
    CHECK_INT("what was read of one gone stands", json_integer_value(json_object_get(row, "value")),
              12);
    json_decref(trend);

    trend = ask(place, "over=time&path=a");
    check_order(trend, "time", "a/step_100 a/step_50 a/step_30 a/step_200 ");
    json_decref(trend);

    struct run_record last = run_named(place->arena, "a/final", 1000, 20);
    put(place, &last, 1);
    trend = ask(place, "path=a");
    check_order(trend, "time", "a/step_100 a/step_50 a/step_30 a/step_200 a/final ");
    CHECK("says why", has_note(trend, "no-step-number", 1));
    json_decref(trend);
    trend = ask(place, "path=a&over=step");
    check_order(trend, "step", "a/step_30 a/step_50 a/step_100 a/step_200 a/final ");
    json_decref(trend);
    trend = ask(place, "path=nowhere");
    check_order(trend, "time", "");
    json_decref(trend);
}

/* A level over other programs' runs would be one of nothing. */
static void one_series(void **state)
{
    struct place *place = *state;
    struct run_record runs[] = {
        run_named(place->arena, "step_100", 100, 10),  run_named(place->arena, "step_20", 200, 10),
        run_named(place->arena, "a/step_100", 300, 9), run_named(place->arena, "step_", 400, 8),
        run_named(place->arena, "step_7x", 500, 7),    run_named(place->arena, "step_7/b", 600, 6),
        run_named(place->arena, "step_8/b", 600, 6)};
    const struct {
        const char *query, *over, *names;
    } rows[] = {
        {"like=step_*", "step", "step_20 step_100 "},
        {"like=step_*/b", "step", "step_7/b step_8/b "},
        {"like=a/step_100", "step", "a/step_100 "},
        {"like=step_1*", "time", ""},
        {"like=*", "time", ""},
        {"like=%25*", "time", ""},
    };

    put(place, runs, COUNT(runs));
    for (size_t i = 0; i < COUNT(rows); i++) {
        json_t *trend = ask(place, rows[i].query);
        check_order(trend, rows[i].over, rows[i].names);
        CHECK("they are no rest", !has_note(trend, "left-out", 0));
        json_decref(trend);
    }
}

static void check_noise(json_t *trend, size_t at, bool is_known)
{
    const json_t *row = json_array_get(json_object_get(trend, "rows"), at);
    const char *reason = json_string_value(json_object_get(json_object_get(row, "reasons"), "low"));

    CHECK("the level", json_is_integer(json_object_get(row, "level")));
    CHECK("from", json_is_integer(json_object_get(row, "low")) == is_known);
    CHECK("to", json_is_integer(json_object_get(row, "high")) == is_known);
    CHECK_STR("why", str_of(reason != NULL ? reason : ""),
              is_known ? "" : "fewer than three runs show no noise level");
}

static void few_runs_tell_no_noise(void **state)
{
    struct place *place = *state;
    struct run_record runs[] = {run_named(place->arena, "a/step_1", 100, 22),
                                run_named(place->arena, "a/step_2", 200, 91),
                                run_named(place->arena, "a/step_3", 300, 23)};

    for (uint32_t count = 1; count <= COUNT(runs); count++) {
        put(place, runs, count);
        json_t *trend = ask(place, "");
        check_noise(trend, 0, count == COUNT(runs));
        check_noise(trend, count - 1, count == COUNT(runs));
        json_decref(trend);
    }
    runs[1].step_median_ps = 70;
    runs[2].step_median_ps = 200;
    put(place, runs, COUNT(runs));
    json_t *trend = ask(place, "");
    const json_t *row = json_array_get(json_object_get(trend, "rows"), 0);
    CHECK("no zero stands for a bound below it", json_is_null(json_object_get(row, "low")));
    CHECK_STR("why",
              str_of(json_string_value(json_object_get(json_object_get(row, "reasons"), "low"))),
              "the noise is larger than the level");
    CHECK("to", json_is_integer(json_object_get(row, "high")));
    json_decref(trend);
}

static void put_many(struct place *place, uint32_t count, uint32_t jump_at)
{
    struct run_record *runs = arena_array(place->arena, struct run_record, count);

    for (uint32_t i = 0; i < count; i++) {
        char name[64];

        snprintf(name, sizeof name, "many/step_%u", 10 * i);
        runs[i] = run_named(place->arena, name, i,
                            (i < jump_at ? 1000000 : 1200000) + (int64_t)(i * 7919 % 1000) * 50);
        runs[i].kept_id = str_format(place->arena, "k%u", i % CONTENTS);
    }
    put(place, runs, count);
}

static void a_jump_has_two_sides(void **state)
{
    struct place *place = *state;

    put_many(place, 60, 40);
    json_t *trend = ask(place, "");
    const json_t *jumps = json_object_get(trend, "jumps"), *jump = json_array_get(jumps, 0);
    CHECK_INT("one", json_array_size(jumps), 1);
    CHECK_STR("before",
              str_of(json_string_value(json_object_get(json_object_get(jump, "before"), "name"))),
              "many/step_390");
    CHECK_STR("after",
              str_of(json_string_value(json_object_get(json_object_get(jump, "run"), "name"))),
              "many/step_400");
    CHECK("sure", json_number_value(json_object_get(jump, "p")) < 1e-6);
    CHECK("by a fifth", json_number_value(json_object_get(jump, "share")) > 0.15);
    json_decref(trend);
    trend = ask(place, "metric=file_bytes");
    CHECK_INT("sizes are alike", json_array_size(json_object_get(trend, "jumps")), 0);
    json_decref(trend);
}

/* As many as a server keeps: a dozen figures and 32 ops of each run. */
static void put_measured(struct place *place, uint32_t count)
{
    enum { FIGURES = 12, OPS = 32 };
    struct run_metric metrics[FIGURES + OPS];
    struct error err = {0};

    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < COUNT(metrics); k++)
            metrics[k] = (struct run_metric){.name = k == 0 ? STR("step_p95")
                                                     : k < FIGURES
                                                         ? str_format(place->arena, "figure_%u", k)
                                                         : str_format(place->arena, "op:dot.%u", k),
                                             .unit = STR("ps"),
                                             .known = true,
                                             .value = 1000000 + (int64_t)(i * 7919 % 1000) * 50,
                                             .reason = STR("")};
        CHECK_OK("metrics",
                 catalog_put_metrics(place->services.catalog, str_format(place->arena, "k%u", i),
                                     metrics, COUNT(metrics), &err),
                 &err);
    }
}

static void time_question(struct place *place, const char *query, json_t **ret)
{
    struct timespec before, after;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    *ret = ask(place, query);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    double ms = (double)(after.tv_sec - before.tv_sec) * 1e3 +
                (double)(after.tv_nsec - before.tv_nsec) / 1e6;
    print_message("2,000 runs, %s: %.0f ms\n", query, ms);
    CHECK_INT("all", json_array_size(json_object_get(*ret, "rows")), 2000);
}

/* All of them stand in one answer; how long that took is printed. */
static void two_thousand_runs(void **state)
{
    struct place *place = *state;
    json_t *trend;

    put_many(place, 2000, 1200);
    time_question(place, "metric=step_time", &trend);
    CHECK_INT("one jump", json_array_size(json_object_get(trend, "jumps")), 1);
    json_decref(trend);
    put_measured(place, CONTENTS);
    time_question(place, "metric=step_p95", &trend);
    CHECK_INT("each has one",
              json_integer_value(
                  json_object_get(json_array_get(json_object_get(trend, "rows"), 1999), "value")),
              1000000 + 1999 % CONTENTS * 7919 % 1000 * 50);
    json_decref(trend);
    time_question(place, "metric=op:dot.40&names=all", &trend);
    const json_t *names = json_object_get(trend, "names");
    const json_t *last = json_array_get(names, json_array_size(names) - 1);
    CHECK_INT("of all contents", json_integer_value(json_object_get(last, "runs")), CONTENTS);
    json_decref(trend);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(odd_runs, make_place, leave_place),
        cmocka_unit_test_setup_teardown(one_series, make_place, leave_place),
        cmocka_unit_test_setup_teardown(few_runs_tell_no_noise, make_place, leave_place),
        cmocka_unit_test_setup_teardown(a_jump_has_two_sides, make_place, leave_place),
        cmocka_unit_test_setup_teardown(two_thousand_runs, make_place, leave_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
