/* SPDX-License-Identifier: Apache-2.0 */
/* Runs on their way: the state that follows from those of the files, when a file is read, and the
 * axis of time that hosts share. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "check.h"
#include "ingest/ingest_parts.h"

#define MS INT64_C(1000000)

enum { FILES_MAX = 4 };

struct place {
    const char *more[4]; /* members of a host's line; NULL: none */
    char dir[64];
    struct arena *arena;
    struct ingest ingest;
    struct ingest_root root;
    struct ingest_run run;
    struct ingest_run *runs[1];
    struct ingest_file files[FILES_MAX];
};

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    struct error err = {0};

    snprintf(place->dir, sizeof place->dir, "/tmp/jview-ingest-XXXXXX");
    assert_non_null(mkdtemp(place->dir));
    place->arena = arena_create();
    CHECK_OK("catalog", catalog_open(place->dir, &place->ingest.catalog, &err), &err);
    pthread_mutex_init(&place->ingest.lock, NULL);
    for (size_t i = 0; i < PUBLISHING_COUNT; i++)
        pthread_mutex_init(&place->ingest.publishing[i], NULL);
    place->ingest.options.root_count = 1;
    place->ingest.roots = &place->root;
    place->runs[0] = &place->run;
    place->root = (struct ingest_root){
        .ingest = &place->ingest, .given = STR("/p"), .runs = place->runs, .run_count = 1};
    place->run = (struct ingest_run){.id = "r1",
                                     .root = &place->root,
                                     .name = STR("step_1"),
                                     .dir = STR("step_1"),
                                     .files = place->files,
                                     .certain = true};
    *state = place;
    return 0;
}

static int leave_place(void **state)
{
    struct place *place = *state;
    char command[128];

    for (uint32_t i = 0; i < FILES_MAX; i++) {
        free(place->files[i].error);
        free(place->files[i].format);
    }
    catalog_close(place->ingest.catalog);
    snprintf(command, sizeof command, "rm -rf '%s'", place->dir);
    int ret = system(command);
    arena_destroy(place->arena);
    free(place);
    return ret;
}

static void states(void **state)
{
    struct place *place = *state;
    const struct {
        const char *what;
        enum file_state files[FILES_MAX];
        uint32_t count;
        enum run_state run;
    } rows[] = {
        {"all read", {FILE_READY, FILE_READY}, 2, RUN_READY},
        {"a copy is not counted", {FILE_READY, FILE_COVERED}, 2, RUN_READY},
        {"nor what is no profile", {FILE_READY, FILE_IGNORED}, 2, RUN_READY},
        {"cut off, and yet all there is", {FILE_PARTIAL}, 1, RUN_READY},
        {"one failed", {FILE_READY, FILE_FAILED}, 2, RUN_PARTIAL},
        {"all failed", {FILE_FAILED, FILE_FAILED}, 2, RUN_FAILED},
        {"nothing was a profile", {FILE_IGNORED}, 1, RUN_FAILED},
        {"one is read", {FILE_READY, FILE_INDEXING, FILE_QUEUED}, 3, RUN_INDEXING},
        {"one waits", {FILE_READY, FILE_QUEUED, FILE_WRITING}, 3, RUN_QUEUED},
        {"one is written", {FILE_READY, FILE_WRITING, FILE_FAILED}, 3, RUN_WRITING},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        for (uint32_t j = 0; j < rows[i].count; j++)
            place->files[j].state = rows[i].files[j];
        place->run.file_count = rows[i].count;
        CHECK_INT(rows[i].what, run_state_of(&place->run), rows[i].run);
    }
}

/* Each row takes the next file and has read it. */
static void what_is_read_next(void **state)
{
    struct place *place = *state;
    struct ingest_file odd[] = {{.path = STR("odd"), .state = FILE_QUEUED}},
                       session[] = {{.path = STR("trace"), .state = FILE_QUEUED},
                                    {.path = STR("cache"), .role = SCAN_OTHER}},
                       older[] = {{.path = STR("older"), .state = FILE_QUEUED}},
                       asked[] = {{.path = STR("asked's trace"), .state = FILE_QUEUED},
                                  {.path = STR("asked's cache"), .role = SCAN_OTHER}};
    struct ingest_run runs[] = {
        {.files = odd, .file_count = 1, .modified_ns = 9},
        {.files = session, .file_count = 2, .modified_ns = 8, .certain = true},
        {.files = older, .file_count = 1, .modified_ns = 7, .certain = true},
        {.files = asked, .file_count = 2, .modified_ns = 1, .certain = true, .urgency = 1},
    };
    struct ingest_run *list[] = {&runs[0], &runs[1], &runs[2], &runs[3]}, *run;
    static const char *const order[] = {"asked's trace", "asked's cache", "trace",
                                        "older",         "odd",           "cache"};

    session[1].state = asked[1].state = FILE_QUEUED;
    place->root.runs = list;
    place->root.run_count = COUNT(list);
    for (size_t i = 0; i < COUNT(order); i++) {
        /* Who takes only what is asked for finds the same two first, and then nothing. */
        struct ingest_file *file = ingest_next(&place->ingest, i < 2, &run);

        assert_non_null(file);
        CHECK_STR(order[i], file->path, order[i]);
        file->state = FILE_READY;
        CHECK_INT("asked ones are left", ingest_next(&place->ingest, true, &run) != NULL, i == 0);
    }
    CHECK("nothing is left", ingest_next(&place->ingest, false, &run) == NULL && run == NULL);
}

static void when_a_file_is_read(void **state)
{
    struct place *place = *state;
    struct ingest_file *file = &place->files[0];
    const int64_t now_ns = 100000 * MS;
    const struct {
        const char *what;
        int64_t age_ms, seen_ms, grows_ms; /* ago: modified, stamp first seen, growth first seen */
        int64_t took_ms, ended_ms;         /* the last reading; it ended that long ago */
        uint64_t size;
        enum file_state state;
        bool growing;
    } rows[] = {
        {"old", 60000, 0, 0, 0, 0, 9, FILE_QUEUED, false},
        {"just written", 100, 0, 0, 0, 0, 9, FILE_WRITING, false},
        {"rests for two seconds", 2000, 1500, 1500, 0, 0, 9, FILE_QUEUED, false},
        {"a clock ahead of ours, yet it rests", -60000, 2000, 2000, 0, 0, 9, FILE_QUEUED, false},
        {"grows for nine seconds", 100, 100, 9000, 0, 0, 9, FILE_WRITING, false},
        {"grows for ten", 100, 100, 10000, 0, 0, 9, FILE_QUEUED, true},
        {"read nine seconds ago", 100, 100, 60000, 20, 9000, 9, FILE_WRITING, false},
        {"read ten seconds ago", 100, 100, 60000, 20, 10000, 9, FILE_QUEUED, true},
        {"reading it takes two seconds", 100, 100, 60000, 2000, 19000, 9, FILE_WRITING, false},
        {"ten times that is over", 100, 100, 60000, 2000, 20000, 9, FILE_QUEUED, true},
        {"rests, but was read just now", 3000, 3000, 60000, 20, 4000, 9, FILE_WRITING, false},
        {"empty and old", 60000, 0, 0, 0, 0, 0, FILE_FAILED, false},
        {"empty and new", 100, 0, 0, 0, 0, 0, FILE_WRITING, false},
    };

    place->run.file_count = 1;
    for (size_t i = 0; i < COUNT(rows); i++) {
        free(file->error);
        *file = (struct ingest_file){
            .state = FILE_QUEUED,
            .stamp = {.size = rows[i].size, .modified_ns = clock_unix_ns() - rows[i].age_ms * MS},
            .seen_ns = now_ns - rows[i].seen_ms * MS,
            .first_seen_ns = now_ns - rows[i].grows_ms * MS,
            .took_ns = rows[i].took_ms * MS,
            .ended_ns = now_ns - rows[i].ended_ms * MS,
        };
        run_plan(&place->run, now_ns);
        CHECK_INT(rows[i].what, file->state, rows[i].state);
        CHECK_INT(rows[i].what, file->growing, rows[i].growing);
        CHECK_INT(rows[i].what, file->error != NULL, rows[i].state != FILE_QUEUED);
    }
}

static void which_copy_is_read(void **state)
{
    struct place *place = *state;
    const struct {
        const char *what;
        enum file_state trace, first, second; /* before */
        const char *first_host;
        enum file_state then_first, then_second;
    } rows[] = {
        {"none beside a trace", FILE_READY, FILE_QUEUED, FILE_QUEUED, "h", FILE_COVERED,
         FILE_COVERED},
        {"none while the trace waits", FILE_QUEUED, FILE_QUEUED, FILE_QUEUED, "h", FILE_COVERED,
         FILE_COVERED},
        {"the first where the trace failed", FILE_FAILED, FILE_COVERED, FILE_COVERED, "h",
         FILE_QUEUED, FILE_COVERED},
        {"the second where that failed, too", FILE_FAILED, FILE_FAILED, FILE_COVERED, "h",
         FILE_FAILED, FILE_QUEUED},
        {"another host's own", FILE_READY, FILE_QUEUED, FILE_QUEUED, "other", FILE_QUEUED,
         FILE_COVERED},
    };

    place->run.file_count = 3;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (uint32_t j = 0; j < 3; j++)
            free(place->files[j].error);
        place->files[0] = (struct ingest_file){
            .host = STR("h"), .role = SCAN_TRACE, .state = rows[i].trace, .stamp.size = 1};
        place->files[1] = (struct ingest_file){.host = str_of(rows[i].first_host),
                                               .role = SCAN_COPY,
                                               .state = rows[i].first,
                                               .stamp.size = 1};
        place->files[2] = (struct ingest_file){
            .host = STR("h"), .role = SCAN_COPY, .state = rows[i].second, .stamp.size = 1};
        run_plan(&place->run, clock_monotonic_ns());
        CHECK_INT(rows[i].what, place->files[1].state, rows[i].then_first);
        CHECK_INT(rows[i].what, place->files[2].state, rows[i].then_second);
    }
}

struct host_result {
    const char *epoch_ns; /* NULL: unknown */
    int64_t start_ps, end_ps;
};

/* Files hostA, hostB, ... of these result, and the record that the catalog then holds. */
static struct run_record publish_parts(struct place *place, const struct host_result *result,
                                       const enum decode_part *parts, uint32_t count)
{
    static const char *const hosts[] = {"hostA", "hostB", "hostC", "hostD"};
    struct run_record record = {0};
    struct error err = {0};

    place->run.file_count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct ingest_file *file = &place->files[i];
        struct str line;

        *file = (struct ingest_file){.path = str_of(hosts[i]),
                                     .host = str_of(hosts[i]),
                                     .state = FILE_READY,
                                     .part = parts[i],
                                     .stamp.size = 100};
        snprintf(file->content, sizeof file->content, "%032u", i + 1);
        line = str_format(
            place->arena,
            "{\"outcome\":\"indexed\",\"content\":\"%s\",\"format\":\"%s\","
            "\"part\":\"%s\",%s%s%s\"start_ps\":%lld,\"end_ps\":%lld,\"slice_count\":10,"
            "\"device_count\":2,\"step_count\":%u,\"step_median_ps\":7,%s"
            "\"badges\":[\"truncated\"]}",
            file->content, parts[i] == PART_TIMELINE ? "xplane" : "pprof",
            decode_part_word(parts[i]), result[i].epoch_ns == NULL ? "" : "\"epoch_ns\":",
            result[i].epoch_ns == NULL ? "" : result[i].epoch_ns,
            result[i].epoch_ns == NULL ? "" : ",", (long long)result[i].start_ps,
            (long long)result[i].end_ps, i, place->more[i] == NULL ? "" : place->more[i]);
        CHECK_OK("result", catalog_put_facts(place->ingest.catalog, file->content, line, &err),
                 &err);
    }
    run_publish(&place->ingest, place->run.id);
    CHECK_OK("run", catalog_run(place->ingest.catalog, STR("r1"), place->arena, &record, &err),
             &err);
    return record;
}

static struct run_record publish(struct place *place, const struct host_result *result,
                                 uint32_t count)
{
    static const enum decode_part timelines[FILES_MAX] = {PART_TIMELINE};

    return publish_parts(place, result, timelines, count);
}

/* The list's step time of several hosts is that of all their steps, as the overview's is. */
static void median_of_all_hosts(void **state)
{
    struct place *place = *state;
    const struct {
        const char *what, *b, *c;
        int64_t median_ps;
    } rows[] = {
        {"of all steps", "\"step_rule\":\"a\",\"step_lengths_ps\":[10,20],",
         "\"step_rule\":\"a\",\"step_lengths_ps\":[30,40,50],", 30},
        {"other rules", "\"step_rule\":\"a\",\"step_lengths_ps\":[10],",
         "\"step_rule\":\"b\",\"step_lengths_ps\":[30],", -1},
        {"one's are not listed", "\"step_rule\":\"a\",\"step_lengths_ps\":[10],", "", -1},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct host_result results[3] = {
            {"1000", 0, 9000}, {"1001", 0, 9000}, {"1002", 0, 9000}};

        place->more[1] = rows[i].b;
        place->more[2] = rows[i].c;
        struct run_record run = publish(place, results, 3);
        CHECK_INT(rows[i].what, run.step_median_ps, rows[i].median_ps);
    }
}

static void one_axis_of_time(void **state)
{
    struct place *place = *state;
    const struct {
        const char *what;
        struct host_result result[2];
        uint32_t count;
        bool has_epoch;
        int64_t epoch_ns, offset_ps[2], duration_ps;
    } rows[] = {
        {"zero is floored to a nanosecond", {{"1000", 5999, 8000}}, 1, true, 1005, {-5000}, 2001},
        {"also below zero", {{"1000", -5999, 0}}, 1, true, 994, {6000}, 5999},
        {"without a clock", {{NULL, 5999, 8000}}, 1, false, 0, {-5000}, 2001},
        {"two hosts", {{"1000", 0, 9000}, {"1004", 2500, 3000}}, 2, true, 1000, {0, 4000}, 9000},
        {"the second is earlier",
         {{"1010", 0, 9000}, {"1000", 3000, 3500}},
         2,
         true,
         1003,
         {7000, -3000},
         16000},
        {"one knows no time",
         {{"1000", 2000, 9000}, {NULL, 70000, 71000}},
         2,
         true,
         1002,
         {-2000, -70000},
         7000},
        {"years apart",
         {{"1000", 0, 9000}, {"1700000000000000000", 500, 1500}},
         2,
         true,
         1000,
         {0, 0},
         9000},
        {"the end of time",
         {{"9223372036854775807", 9000000, 9000001}},
         1,
         false,
         0,
         {-9000000},
         1},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct run_record run = publish(place, rows[i].result, rows[i].count);

        CHECK_INT(rows[i].what, run.host_count, rows[i].count);
        CHECK_INT(rows[i].what, run.has_epoch, rows[i].has_epoch);
        if (rows[i].has_epoch)
            CHECK_INT(rows[i].what, run.epoch_ns, rows[i].epoch_ns);
        for (uint32_t j = 0; j < rows[i].count; j++)
            CHECK_INT(rows[i].what, run.hosts[j].offset_ps, rows[i].offset_ps[j]);
        CHECK_INT(rows[i].what, run.duration_ps, rows[i].duration_ps);
    }
}

static void what_hosts_sum_to(void **state)
{
    struct place *place = *state;
    const struct host_result result[] = {{"1000", 0, 9}, {"1000", 0, 9}, {"1000", 0, 9}};
    struct run_record run = publish(place, result, 3);

    CHECK_INT("slices", run.slice_count, 30);
    CHECK_INT("devices", run.device_count, 6);
    CHECK_INT("bytes", run.file_bytes, 300);
    CHECK_INT("steps of the host with the most", run.step_count, 2);
    CHECK_INT("one format", run.format_count, 1);
    CHECK_INT("one badge", run.badge_count, 1);
    struct str before = run.content_id;
    CHECK_INT("content id", before.count, 33);
    struct ingest_file swapped = place->files[0];
    place->files[0] = place->files[2];
    place->files[2] = swapped;
    run_publish(&place->ingest, "r1");
    struct error err = {0};
    CHECK_OK("run", catalog_run(place->ingest.catalog, STR("r1"), place->arena, &run, &err), &err);
    CHECK("the order of files is nothing", str_equal(run.content_id, before));
    place->files[0].host = STR("hostX");
    run_publish(&place->ingest, "r1");
    CHECK_OK("run", catalog_run(place->ingest.catalog, STR("r1"), place->arena, &run, &err), &err);
    CHECK("the name of a host is something", !str_equal(run.content_id, before));
    place->files[1].state = FILE_QUEUED;
    run_publish(&place->ingest, "r1");
    CHECK_OK("run", catalog_run(place->ingest.catalog, STR("r1"), place->arena, &run, &err), &err);
    CHECK_INT("none until all is read", run.content_id.count, 0);
}

static void what_is_no_host(void **state)
{
    struct place *place = *state;
    const struct {
        const char *what;
        struct host_result result[3];
        enum decode_part parts[3];
        uint32_t count, host_count, device_count, format_count;
        bool has_epoch;
        int64_t epoch_ns, slice_count, duration_ps;
    } rows[] = {
        {"a snapshot beside a host",
         {{"900", 0, 5000}, {"1000", 0, 9000}},
         {PART_SNAPSHOT, PART_TIMELINE},
         2,
         1,
         2,
         2,
         true,
         1000,
         10,
         9000},
        {"programs beside hosts",
         {{"1000", 0, 9000}, {NULL, 0, 0}, {"1004", 0, 9000}},
         {PART_TIMELINE, PART_PROGRAMS, PART_TIMELINE},
         3,
         2,
         4,
         2,
         true,
         1000,
         20,
         13000},
        {"snapshots alone",
         {{"2000", 0, 0}, {"1500", 0, 0}},
         {PART_SNAPSHOT, PART_SNAPSHOT},
         2,
         0,
         0,
         1,
         true,
         1500,
         0,
         0},
        {"programs alone", {{NULL, 0, 0}}, {PART_PROGRAMS}, 1, 0, 0, 1, false, 0, 0, 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct run_record run = publish_parts(place, rows[i].result, rows[i].parts, rows[i].count);

        CHECK_INT(rows[i].what, run.state, RUN_READY);
        CHECK_INT(rows[i].what, run.host_count, rows[i].host_count);
        CHECK_INT(rows[i].what, run.device_count, rows[i].device_count);
        CHECK_INT(rows[i].what, run.format_count, rows[i].format_count);
        CHECK_INT(rows[i].what, run.has_epoch, rows[i].has_epoch);
        CHECK_INT(rows[i].what, run.epoch_ns, rows[i].epoch_ns);
        CHECK_INT(rows[i].what, (int64_t)run.slice_count, rows[i].slice_count);
        CHECK_INT(rows[i].what, run.duration_ps, rows[i].duration_ps);
        CHECK_INT(rows[i].what, run.content_id.count, 33);
        for (uint32_t j = 0; j < rows[i].count; j++)
            CHECK_INT(rows[i].what, run.files[j].part, rows[i].parts[j]);
    }
}

static void uncertain_runs_are_shown_when_they_are_runs(void **state)
{
    struct place *place = *state;
    const struct host_result result[] = {{"1000", 0, 9}};
    struct error none = {0};
    struct run_record run;

    place->run.certain = false;
    publish(place, result, 1);
    place->files[0].content[0] = '\0';
    file_set_state(&place->files[0], FILE_IGNORED, STR("a letter"));
    run_publish(&place->ingest, "r1");
    CHECK_INT("no profile",
              catalog_run(place->ingest.catalog, STR("r1"), place->arena, &run, &none),
              ERR_NOT_FOUND);
    place->run.certain = true;
    run_publish(&place->ingest, "r1");
    CHECK_OK("one by its name",
             catalog_run(place->ingest.catalog, STR("r1"), place->arena, &run, &(struct error){0}),
             &none);
    CHECK_INT("failed", run.state, RUN_FAILED);
    CHECK_STR("with its reason", run.error, "hostA: a letter");
}

static void ids(void **state)
{
    (void)state;
    char a[RUN_ID_SIZE], b[RUN_ID_SIZE];

    run_id_of(STR("/p"), STR("q"), a);
    run_id_of(STR("/p"), STR("q"), b);
    CHECK_STR("the same", str_of(a), b);
    run_id_of(STR("/"), STR("pq"), b);
    CHECK("root and directory are apart", strcmp(a, b) != 0);
    CHECK("begins with r", a[0] == 'r');
}

static void answers_of_the_indexer(void **state)
{
    struct place *place = *state;
    const struct {
        const char *what, *line;
        enum status status;
    } rows[] = {
        {"nothing", "", ERR_FORMAT},
        {"words", "Segmentation fault", ERR_FORMAT},
        {"half a line", "{\"outcome\":\"indexed\",", ERR_FORMAT},
        {"a list", "[1]", ERR_FORMAT},
        {"an unknown outcome", "{\"outcome\":\"fine\"}", ERR_FORMAT},
        {"indexed without content", "{\"outcome\":\"indexed\",\"part\":\"timeline\"}", ERR_FORMAT},
        {"an unknown part",
         "{\"outcome\":\"indexed\",\"content\":\"0123456789abcdef0123456789abcdef\","
         "\"part\":\"moon\"}",
         ERR_FORMAT},
        {"wrong types", "{\"outcome\":\"failed\",\"error\":7,\"badges\":{},\"epoch_ns\":\"x\"}",
         OK},
        {"failed", "{\"outcome\":\"failed\",\"error\":\"why\"}", OK},
        {"too many devices", "{\"outcome\":\"ignored\",\"device_count\":99999999999}", OK},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error err = {0};
        struct index_result result = {0};

        CHECK_INT(rows[i].what,
                  index_result_parse(str_of(rows[i].line), place->arena, &result, &err),
                  rows[i].status);
        CHECK_INT(rows[i].what, result.has_epoch, false);
        CHECK_INT(rows[i].what, result.device_count_known, false);
    }
}

int main(void)
{
#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, leave_place)
    const struct CMUnitTest tests[] = {
        IN_PLACE(states),
        IN_PLACE(what_is_read_next),
        IN_PLACE(when_a_file_is_read),
        IN_PLACE(which_copy_is_read),
        IN_PLACE(one_axis_of_time),
        IN_PLACE(median_of_all_hosts),
        IN_PLACE(what_hosts_sum_to),
        IN_PLACE(what_is_no_host),
        IN_PLACE(uncertain_runs_are_shown_when_they_are_runs),
        IN_PLACE(ids),
        IN_PLACE(answers_of_the_indexer),
    };

    return cmocka_run_group_tests_name("ingest", tests, NULL, NULL);
}
