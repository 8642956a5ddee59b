/* SPDX-License-Identifier: Apache-2.0 */
/* The catalog: what `run=` means, what lists hold, who writes, and what is done with a bad file. */
#include "store/catalog.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

struct place {
    char dir[64];
    struct arena *arena;
    struct catalog *catalog;
};

static void open_catalog(struct place *place)
{
    struct error err = {0};

    CHECK_OK("open", catalog_open(place->dir, &place->catalog, &err), &err);
}

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof *place);

    snprintf(place->dir, sizeof place->dir, "/tmp/jview-catalog-XXXXXX");
    assert_non_null(mkdtemp(place->dir));
    place->arena = arena_create();
    open_catalog(place);
    *state = place;
    return 0;
}

static int leave_place(void **state)
{
    struct place *place = *state;
    char command[128];

    catalog_close(place->catalog);
    snprintf(command, sizeof command, "rm -rf '%s'", place->dir);
    int ret = system(command);
    arena_destroy(place->arena);
    free(place);
    return ret;
}

/* A ready run; the later it is put, the newer it is. */
static void put_as(struct catalog *catalog, const char *id, const char *content, const char *kept,
                   const char *name, int64_t epoch_ns)
{
    struct error err = {0};
    struct run_record run = {
        .id = str_of(id),
        .content_id = str_of(content),
        .kept_id = str_of(kept),
        .root = STR("/profiles"),
        .name = str_of(name),
        .dir = str_of(name),
        .state = RUN_READY,
        .has_epoch = true,
        .epoch_ns = epoch_ns,
        .modified_ns = 1,
        .step_count = -1,
        .step_median_ps = -1,
    };

    CHECK_OK(name, catalog_put_runs(catalog, &run, 1, &err), &err);
}

static void put(struct catalog *catalog, const char *id, const char *content, const char *name,
                int64_t epoch_ns)
{
    put_as(catalog, id, content, content, name, epoch_ns);
}

static void put_tree(struct catalog *catalog)
{
    put(catalog, "r1", "c1", "step_500", 1000);
    put(catalog, "r2", "c2", "step_00001000", 2000);
    put(catalog, "r3", "c3", "exp1/step_2000", 3000);
    put(catalog, "r4", "c4", "exp2/step_2000", 4000);
    put(catalog, "r5", "c1", "copy/of_500", 5000);
    put(catalog, "r6", "", "exp2/baseline", 6000);
}

static void resolves(void **state)
{
    struct place *place = *state;
    const struct {
        const char *what, *asked, *id;
        enum status status;
        const char *first_near;
    } rows[] = {
        {"id", "r3", "r3", OK, NULL},
        {"content id of one", "c3", "r3", OK, NULL},
        {"content id of two: newest", "c1", "r5", OK, NULL},
        {"name", "exp1/step_2000", "r3", OK, NULL},
        {"tail of one", "baseline", "r6", OK, NULL},
        {"tail of two", "step_2000", NULL, ERR_AMBIGUOUS, "exp2/step_2000"},
        {"latest", "latest", "r6", OK, NULL},
        {"latest-2", "latest-2", "r4", OK, NULL},
        {"latest-6 is too far", "latest-6", NULL, ERR_NOT_FOUND, NULL},
        {"a number", "1000", "r2", OK, NULL},
        {"a step", "step_1000", "r2", OK, NULL},
        {"a step with other zeros", "step_01000", "r2", OK, NULL},
        {"a number that two steps have", "2000", NULL, ERR_AMBIGUOUS, "exp2/step_2000"},
        {"500 is step_500", "500", "r1", OK, NULL},
        {"an end of a name", "eline", "r6", OK, NULL},
        {"a typing error", "step_50", NULL, ERR_NOT_FOUND, "step_500"},
        {"nothing", "", NULL, ERR_NOT_FOUND, NULL},
        {"no step: too many digits", "99999999999999999999999", NULL, ERR_NOT_FOUND, NULL},
    };

    put_tree(place->catalog);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error err = {0};
        struct str id = STR("");
        struct run_candidates near;

        CHECK_INT(
            rows[i].what,
            catalog_resolve(place->catalog, str_of(rows[i].asked), place->arena, &id, &near, &err),
            rows[i].status);
        if (rows[i].id != NULL)
            CHECK_STR(rows[i].what, id, rows[i].id);
        if (rows[i].first_near != NULL)
            CHECK_STR(rows[i].what, near.names[0], rows[i].first_near);
        if (rows[i].status != OK)
            CHECK(rows[i].what, near.count > 0 && err.message[0] != '\0');
    }
}

static void a_part_leads_to_the_whole(void **state)
{
    struct place *place = *state;
    const struct str dirs[] = {STR("a/plugins/profile/1"), STR("a/plugins/profile/2")};
    struct run_record run = {.id = STR("r9"),
                             .root = STR("/profiles"),
                             .name = STR("a"),
                             .dir = dirs[0],
                             .dirs = dirs,
                             .dir_count = COUNT(dirs),
                             .step_count = -1,
                             .step_median_ps = -1};
    struct error err = {0};
    char former[RUN_ID_SIZE];
    struct str id;

    CHECK_OK("put", catalog_put_runs(place->catalog, &run, 1, &err), &err);
    run_id_of(STR("/profiles"), dirs[1], former);
    CHECK_OK("the second's",
             catalog_resolve(place->catalog, str_of(former), place->arena, &id, NULL, &err), &err);
    CHECK_STR("is the first's", id, "r9");
    run_id_of(STR("/elsewhere"), dirs[1], former);
    CHECK_INT("not below another root",
              catalog_resolve(place->catalog, str_of(former), place->arena, &id, NULL, &err),
              ERR_NOT_FOUND);
}

static void gone_runs_step_back(void **state)
{
    struct place *place = *state;
    struct error err = {0};
    struct str id;

    put_tree(place->catalog);
    put(place->catalog, "r7", "c7", "exp1/baseline", 7000);
    CHECK_OK(
        "gone",
        catalog_set_state(place->catalog, STR("r7"), RUN_GONE, 0, STR("no longer on disk"), &err),
        &err);
    CHECK_OK("tail",
             catalog_resolve(place->catalog, STR("baseline"), place->arena, &id, NULL, &err), &err);
    CHECK_STR("the one that is there", id, "r6");
    CHECK_OK("latest",
             catalog_resolve(place->catalog, STR("latest"), place->arena, &id, NULL, &err), &err);
    CHECK_STR("latest is not gone", id, "r6");
    CHECK_OK("by its own name",
             catalog_resolve(place->catalog, STR("exp1/baseline"), place->arena, &id, NULL, &err),
             &err);
    CHECK_STR("a run that is gone keeps its name", id, "r7");
}

static void a_bundle_steps_back(void **state)
{
    struct place *place = *state;
    struct error err = {0};
    struct str id = STR("");

    put(place->catalog, "own", "c1", "step_500", 1000);
    put_as(place->catalog, "claims", "c1", "b1", "brought", 9000);
    CHECK_OK("content", catalog_resolve(place->catalog, STR("c1"), place->arena, &id, NULL, &err),
             &err);
    CHECK_STR("what was read here, though older", id, "own");
    CHECK_OK("forget", catalog_forget(place->catalog, STR("own"), &err), &err);
    CHECK_OK("content", catalog_resolve(place->catalog, STR("c1"), place->arena, &id, NULL, &err),
             &err);
    CHECK_STR("the bundle where nothing else is", id, "claims");
}

static void lists(void **state)
{
    struct place *place = *state;
    const struct {
        const char *what;
        struct run_query query;
        enum status status;
        const char *names; /* joined */
        uint64_t all;
    } rows[] = {
        {"newest first, bounded", {.limit = 2}, OK, "exp2/baseline copy/of_500 ", 6},
        {"second page", {.limit = 2, .offset = 4}, OK, "step_00001000 step_500 ", 6},
        {"by name", {.limit = 1, .sort = STR("name")}, OK, "copy/of_500 ", 6},
        {"by name, largest first", {.limit = 1, .sort = STR("-name")}, OK, "step_500 ", 6},
        {"below a path", {.limit = 9, .path = STR("exp2")}, OK, "exp2/baseline exp2/step_2000 ", 2},
        {"a path with a slash", {.limit = 9, .path = STR("exp1/")}, OK, "exp1/step_2000 ", 1},
        {"a half component is no path", {.limit = 9, .path = STR("ex")}, OK, "", 0},
        {"a part, case aside", {.limit = 9, .q = STR("BASE")}, OK, "exp2/baseline ", 1},
        {"a part with a percent sign", {.limit = 9, .q = STR("%")}, OK, "", 0},
        {"a part with a low line", {.limit = 9, .q = STR("exp_/")}, OK, "", 0},
        {"a low line is itself", {.limit = 9, .q = STR("STEP_5")}, OK, "step_500 ", 1},
        {"a state", {.limit = 9, .state = STR("failed")}, OK, "", 0},
        {"no such state", {.limit = 9, .state = STR("fine")}, ERR_INVALID, NULL, 0},
        {"no such order", {.limit = 9, .sort = STR("id; --")}, ERR_INVALID, NULL, 0},
    };

    put_tree(place->catalog);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error err = {0};
        struct run_record *runs = NULL;
        struct text names = {0};
        uint32_t count = 0;
        uint64_t all = 0;

        CHECK_INT(
            rows[i].what,
            catalog_runs(place->catalog, &rows[i].query, place->arena, &runs, &count, &all, &err),
            rows[i].status);
        for (uint32_t j = 0; j < count; j++)
            text_putf(&names, "%.*s ", STR_ARG(runs[j].name));
        if (rows[i].status == OK) {
            CHECK_STR(rows[i].what, text_str(&names), rows[i].names);
            CHECK_INT(rows[i].what, all, rows[i].all);
        }
        text_free(&names);
    }
}

static void shows_only_its_roots(void **state)
{
    struct place *place = *state;
    struct error err = {0};
    struct run_record *runs;
    struct str id;
    uint32_t count;
    uint64_t all;
    const struct str other = STR("/elsewhere");

    put_tree(place->catalog);
    CHECK_OK("roots", catalog_show_roots(place->catalog, &other, 1, &err), &err);
    CHECK_OK("list",
             catalog_runs(place->catalog, &(struct run_query){.limit = 9}, place->arena, &runs,
                          &count, &all, &err),
             &err);
    CHECK_INT("nothing of another directory is listed", all, 0);
    CHECK_INT("or resolved",
              catalog_resolve(place->catalog, STR("r1"), place->arena, &id, NULL, &err),
              ERR_NOT_FOUND);
}

static void keeps_everything(void **state)
{
    struct place *place = *state;
    struct error err = {0};
    const struct str words[] = {STR("xplane"), STR("a\nb"), STR("")};
    const struct run_file file = {
        .path = STR("a/host.xplane.pb"),
        .host = STR("host"),
        .format = STR("xplane"),
        .bytes = 77,
        .state = FILE_PARTIAL,
        .error = STR("cut off"),
        .content = "0123456789abcdef0123456789abcdef",
        .stamp = {.device = UINT64_MAX, .inode = 2, .size = 77, .modified_ns = -3, .changed_ns = 4},
    };
    const struct run_host host = {.name = STR("host"),
                                  .hostname = STR("node7"),
                                  .has_epoch = true,
                                  .epoch_ns = INT64_MIN,
                                  .offset_ps = INT64_MAX,
                                  .content = "0123456789abcdef0123456789abcdef"};
    const struct run_record run = {
        .id = STR("r"),
        .root = STR("/p"),
        .name = STR("n"),
        .dir = STR("d"),
        .state = RUN_PARTIAL,
        .progress = 0.5,
        .error = STR("why"),
        .duration_ps = INT64_MAX,
        .device_kind = STR("TPU v5"),
        .framework = STR("jax"),
        .device_count = 8,
        .device_count_known = true,
        .slice_count = 9,
        .step_count = 0,
        .step_median_ps = -1,
        .formats = words,
        .format_count = 3,
        .files = &file,
        .run_file_count = 1,
        .hosts = &host,
        .host_count = 1,
    };
    struct run_record got;

    CHECK_OK("put", catalog_put_runs(place->catalog, &run, 1, &err), &err);
    CHECK_OK("put again", catalog_put_runs(place->catalog, &run, 1, &err), &err);
    CHECK_OK("facts", catalog_put_facts(place->catalog, file.content, STR("{}"), &err), &err);
    catalog_close(place->catalog);
    open_catalog(place);
    CHECK_OK("get", catalog_run(place->catalog, STR("r"), place->arena, &got, &err), &err);
    CHECK_STR("root", got.root, "/p");
    CHECK_INT("state", got.state, RUN_PARTIAL);
    CHECK_INT("no epoch", got.has_epoch, false);
    CHECK_INT("duration", got.duration_ps, INT64_MAX);
    CHECK_INT("zero steps are known", got.step_count, 0);
    CHECK_INT("median is not", got.step_median_ps, -1);
    CHECK_INT("formats", got.format_count, 3);
    CHECK_STR("a text with a line in it", got.formats[1], "a\nb");
    CHECK_INT("files", got.run_file_count, 1);
    CHECK("stamp", file_stamp_equal(&got.files[0].stamp, &file.stamp));
    CHECK_STR("content", str_of(got.files[0].content), file.content);
    CHECK_INT("hosts", got.host_count, 1);
    CHECK_INT("epoch", got.hosts[0].epoch_ns, INT64_MIN);
    CHECK_INT("offset", got.hosts[0].offset_ps, INT64_MAX);
    struct str facts;
    CHECK_OK("ask facts", catalog_facts(place->catalog, file.content, place->arena, &facts, &err),
             &err);
    CHECK_STR("facts", facts, "{}");
    CHECK_OK("forget", catalog_forget(place->catalog, STR("r"), &err), &err);
    CHECK_INT("forgotten", catalog_run(place->catalog, STR("r"), place->arena, &got, &err),
              ERR_NOT_FOUND);
}

static void one_writes_others_remember(void **state)
{
    struct place *place = *state;
    struct error err = {0};
    struct catalog *second;
    struct run_record run;

    put_tree(place->catalog);
    CHECK_OK("second", catalog_open(place->dir, &second, &err), &err);
    CHECK("the first writes", catalog_writable(place->catalog));
    CHECK("the second does not", !catalog_writable(second));
    CHECK_OK("sees what was there", catalog_run(second, STR("r1"), place->arena, &run, &err), &err);
    put(second, "own", "c9", "only_here", 9);
    CHECK_OK("remembers", catalog_run(second, STR("own"), place->arena, &run, &err), &err);
    CHECK_INT("tells nobody",
              catalog_run(place->catalog, STR("own"), place->arena, &run, &(struct error){0}),
              ERR_NOT_FOUND);
    catalog_close(place->catalog);
    catalog_close(second);
    open_catalog(place);
    CHECK("the lock is free again", catalog_writable(place->catalog));
    CHECK_OK("kept", catalog_run(place->catalog, STR("r6"), place->arena, &run, &err), &err);
}

static void what_was_remembered_is_written(void **state)
{
    struct place *place = *state;
    struct error err = {0};
    struct catalog *second;
    struct run_record run;
    struct run_candidates near;
    struct str id;

    put_tree(place->catalog);
    CHECK_OK("second", catalog_open(place->dir, &second, &err), &err);
    put(second, "own", "c9", "only_here", 9);
    put(second, "r1", "c7", "renamed", 9);
    put(place->catalog, "later", "c8", "of_the_first", 9);
    CHECK("not while another writes", !catalog_promote(second));
    catalog_close(place->catalog);
    CHECK("once it may", catalog_promote(second));
    CHECK("only once", !catalog_promote(second));
    CHECK("writes", catalog_writable(second));
    CHECK_OK("what the first wrote later",
             catalog_run(second, STR("later"), place->arena, &run, &err), &err);
    put(second, "more", "c6", "afterwards", 9);
    catalog_close(second);
    open_catalog(place);
    CHECK_OK("kept",
             catalog_resolve(place->catalog, STR("only_here"), place->arena, &id, &near, &err),
             &err);
    CHECK_OK("changed", catalog_run(place->catalog, STR("r1"), place->arena, &run, &err), &err);
    CHECK_STR("name", run.name, "renamed");
    CHECK_OK("after", catalog_run(place->catalog, STR("more"), place->arena, &run, &err), &err);
}

static void overwrite(const char *path, long at, const void *bytes, size_t count)
{
    FILE *file = fopen(path, at < 0 ? "wb" : "r+b");

    assert_non_null(file);
    fseek(file, at < 0 ? 0 : at, SEEK_SET);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
}

static void bad_files_are_made_anew(void **state)
{
    struct place *place = *state;
    char path[96], zeros[4096], sql[256];
    const struct {
        const char *what;
        long at; /* -1: the whole file is this */
        const char *bytes, *sql;
        bool rebuilt;
    } rows[] = {
        {"untouched", 0, NULL, NULL, false},
        {"text", -1, "this is no database", NULL, true},
        {"another program's", 0, NULL, "PRAGMA application_id=7", true},
        {"another version's", 0, NULL, "PRAGMA user_version=7", true},
        {"with a trigger", 0, NULL,
         "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END", true},
        {"without a table", 0, NULL, "DROP TABLE facts", true},
        {"a damaged page", 4096, "", NULL, true},
    };

    memset(zeros, 0x5a, sizeof zeros);
    snprintf(path, sizeof path, "%s/catalog.sqlite", place->dir);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error err = {0};
        struct run_record run;

        put(place->catalog, "r1", "c1", "one", 1);
        catalog_close(place->catalog);
        if (rows[i].sql != NULL) {
            snprintf(sql, sizeof sql, "sqlite3 '%s' '%s'", path, rows[i].sql);
            if (system("command -v sqlite3 >/dev/null") != 0)
                snprintf(sql, sizeof sql,
                         "python3 -c \"import sqlite3; c = sqlite3.connect('%s');"
                         " c.execute('%s'); c.commit()\"",
                         path, rows[i].sql);
            CHECK_INT(rows[i].what, system(sql), 0);
        } else if (rows[i].bytes != NULL && rows[i].at < 0) {
            overwrite(path, -1, rows[i].bytes, strlen(rows[i].bytes));
        } else if (rows[i].bytes != NULL) {
            overwrite(path, rows[i].at, zeros, sizeof zeros);
        }
        open_catalog(place);
        CHECK_INT(rows[i].what, catalog_run(place->catalog, STR("r1"), place->arena, &run, &err),
                  rows[i].rebuilt ? ERR_NOT_FOUND : OK);
        CHECK_INT(rows[i].what, catalog_note(place->catalog, place->arena).count > 0,
                  rows[i].rebuilt);
        CHECK(rows[i].what, catalog_writable(place->catalog));
    }
}

static void a_file_that_goes_bad_moves_into_memory(void **state)
{
    struct place *place = *state;
    struct error err = {0};
    char path[96];
    struct run_record run;

    put(place->catalog, "r1", "c1", "one", 1);
    snprintf(path, sizeof path, "%s/catalog.sqlite-wal", place->dir);
    CHECK_INT("cut off under us", truncate(path, 100), 0);
    snprintf(path, sizeof path, "%s/catalog.sqlite-shm", place->dir);
    put(place->catalog, "r2", "c2", "two", 2);
    CHECK_OK("goes on", catalog_run(place->catalog, STR("r2"), place->arena, &run, &err), &err);
}

static void no_directory(void **state)
{
    struct place *place = *state;
    struct error err = {0};
    struct catalog *catalog;
    struct run_record run;

    CHECK_OK("open", catalog_open("/nonexistent/place", &catalog, &err), &err);
    CHECK("not writable", !catalog_writable(catalog));
    put(catalog, "r1", "c1", "one", 1);
    CHECK_OK("kept in memory", catalog_run(catalog, STR("r1"), place->arena, &run, &err), &err);
    catalog_close(catalog);
}

static void ten_thousand_runs(void **state)
{
    struct place *place = *state;
    struct error err = {0};
    struct run_record *runs;
    uint32_t count;
    uint64_t all;
    char id[32], name[64];
    const struct run_file files[] = {{.path = STR("a.xplane.pb")}, {.path = STR("b.xplane.pb")}};

    for (int i = 0; i < 10000; i++) {
        snprintf(id, sizeof id, "r%d", i);
        snprintf(name, sizeof name, "experiment_%d/step_%08d", i % 7, i);
        struct run_record run = {
            .id = str_of(id), .name = str_of(name), .files = files, .run_file_count = 2};
        CHECK_OK(id, catalog_put_runs(place->catalog, &run, 1, &err), &err);
    }
    catalog_close(place->catalog);
    clock_t start = clock(); /* of this process: a busy machine is not our slowness */
    open_catalog(place);
    CHECK_OK("list",
             catalog_runs(place->catalog, &(struct run_query){.limit = 50}, place->arena, &runs,
                          &count, &all, &err),
             &err);
    int64_t took_ms = (int64_t)(clock() - start) * 1000 / CLOCKS_PER_SEC;
    CHECK_INT("all", all, 10000);
    if (took_ms >= 1000)
        check_failed(__FILE__, __LINE__, "start with 10,000 runs", "%d ms", (int)took_ms);
    print_message("start with 10,000 runs and the first list: %d ms\n", (int)took_ms);
}

static void put_measured(struct place *place, const char *kept_id, int64_t value)
{
    const struct run_metric metric = {.name = STR("step_p95"),
                                      .unit = STR("ps"),
                                      .known = true,
                                      .value = value,
                                      .reason = STR("")};
    struct error err = {0};

    CHECK_OK(kept_id, catalog_put_metrics(place->catalog, str_of(kept_id), &metric, 1, &err), &err);
}

static void check_unmeasured(struct place *place, const char *what, const char *want)
{
    struct unmeasured walk = {0};
    struct error err = {0};
    struct str ids[2];
    char got[64] = "";

    for (uint32_t count = 1; count > 0;) {
        CHECK_OK(
            what,
            catalog_unmeasured(place->catalog, &walk, place->arena, ids, COUNT(ids), &count, &err),
            &err);
        for (uint32_t i = 0; i < count; i++)
            snprintf(got + strlen(got), sizeof got - strlen(got), "%.*s ", STR_ARG(ids[i]));
    }
    CHECK_STR(what, str_of(got), want);
}

static void what_is_not_measured(void **state)
{
    struct place *place = *state;
    struct str root = STR("/elsewhere");
    struct metric_of *metrics;
    struct error err = {0};
    uint32_t count;

    put_tree(place->catalog);
    check_unmeasured(place, "newest first, two at a time; r6 is not ready", "r5 r4 r3 r2 r1 ");
    put_measured(place, "c1", 7);
    put_measured(place, "c3", 8);
    check_unmeasured(place, "a copy is measured with its run", "r4 r2 ");
    put_as(place->catalog, "r3", "c3", "b3", "exp1/step_2000", 3000);
    check_unmeasured(place, "what is kept is another", "r4 r3 r2 ");
    put_measured(place, "c1", 9);
    CHECK_OK("one",
             catalog_metric(place->catalog, STR("step_p95"), place->arena, &metrics, &count, &err),
             &err);
    CHECK_INT("replaced", count, 2);
    CHECK_INT("replaced", metrics[0].metric.value, 9);
    CHECK_OK("roots", catalog_show_roots(place->catalog, &root, 1, &err), &err);
    check_unmeasured(place, "of other directories", "");
}

int main(void)
{
#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, leave_place)
    const struct CMUnitTest tests[] = {
        IN_PLACE(resolves),
        IN_PLACE(a_part_leads_to_the_whole),
        IN_PLACE(gone_runs_step_back),
        IN_PLACE(a_bundle_steps_back),
        IN_PLACE(lists),
        IN_PLACE(shows_only_its_roots),
        IN_PLACE(keeps_everything),
        IN_PLACE(what_is_not_measured),
        IN_PLACE(one_writes_others_remember),
        IN_PLACE(what_was_remembered_is_written),
        IN_PLACE(bad_files_are_made_anew),
        IN_PLACE(a_file_that_goes_bad_moves_into_memory),
        IN_PLACE(no_directory),
        IN_PLACE(ten_thousand_runs),
    };

    return cmocka_run_group_tests_name("store/catalog", tests, NULL, NULL);
}
