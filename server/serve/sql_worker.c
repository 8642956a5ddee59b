#include "serve/sql_worker.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "analyse/hlo.h"
#include "analyse/lend.h"
#include "serve/sql_parts.h"
#include "store/cache.h"
#include "store/segment.h"

#define MIB (UINT64_C(1) << 20)

/* Sanitizers reserve terabytes of addresses for themselves. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMITS_MEMORY false
#else
#define LIMITS_MEMORY true
#endif

enum { DESCRIPTORS_MAX = 64, JOB_BYTES_MAX = 256 << 20, HEAP_MIB = 512, PRIVATE_MIB = 2048 };

static void limit(int what, uint64_t most)
{
    const struct rlimit both = {.rlim_cur = most, .rlim_max = most};

    setrlimit(what, &both);
}

/* What a query may cost at most, whatever it finds to do: the system ends the process. */
static void guard(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0); /* pipes are no files: nothing can be written */
    limit(RLIMIT_NOFILE, DESCRIPTORS_MAX);
    if (LIMITS_MEMORY)
        limit(RLIMIT_DATA, PRIVATE_MIB * MIB);
    sql_guard_process(HEAP_MIB * MIB);
}

static struct str text_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return (struct str){.at = json_string_value(value), .count = json_string_length(value)};
}

/* One host's files, held until the process ends. */
static bool open_host(const json_t *told, struct arena *arena, struct host_trace *ret)
{
    struct segment *segment;
    struct attribution_file *attribution = NULL;
    struct error ignored = {0};
    struct str path = text_of(told, "attribution");
    const char *segment_path = str_c(arena, text_of(told, "segment"));
    bool is_checked = json_is_true(json_object_get(told, "checked"));
    enum status status = is_checked ? segment_open_checked(segment_path, &segment, &ignored)
                                    : segment_open(segment_path, &segment, &ignored);

    if (status != OK)
        return false;
    ignored = (struct error){0};
    if (path.count > 0 && is_checked)
        status = attribution_open_checked(str_c(arena, path), &attribution, &ignored);
    else if (path.count > 0)
        status = attribution_open(str_c(arena, path), &attribution, &ignored);
    if (status != OK)
        attribution = NULL;
    *ret = (struct host_trace){.trace = segment_trace(segment),
                               .attribution =
                                   attribution == NULL ? NULL : attribution_of_file(attribution),
                               .name = text_of(told, "name"),
                               .key = text_of(told, "key"),
                               .offset_ps = json_integer_value(json_object_get(told, "offset_ps"))};
    return true;
}

/* Two descriptors a host would be too many: maps stay when their files are closed. */
static uint32_t open_hosts(const json_t *list, struct arena *arena, struct host_trace *ret)
{
    uint32_t count = 0;
    const json_t *told;
    size_t i;

    json_array_foreach(list, i, told)
    {
        if (open_host(told, arena, &ret[count]))
            count++;
    }
    return count;
}

static void keep_notes(struct sql_work *work, const struct lent *sum)
{
    struct answer_note *notes = arena_array(work->arena, struct answer_note, LEND_NOTES_MAX);
    uint32_t count = lend_notes(sum, work->arena, notes);

    for (uint32_t i = 0; i < count && work->note_count < COUNT(work->notes); i++)
        work->notes[work->note_count++] = &notes[i];
}

/* Where a profile holds no HLO, modules beside it tell scopes and sources of its ops: as every
 * other request has it (request.c). */
static void borrow(struct sql_work *work, struct sql_run *run, struct host_trace *hosts)
{
    const json_t *beside = json_object_get(run->told, "beside");
    struct run_traces bare = run->traces; /* modules are listed, and not measured */
    struct host_trace *unmeasured =
        arena_array(work->arena, struct host_trace, bare.host_count + 1);
    struct host_trace *others =
        arena_array(work->arena, struct host_trace, json_array_size(beside) + 1);
    struct hlo_modules modules = {0};
    struct lent sum = {0};
    uint32_t wanted = 0;

    for (uint32_t i = 0; i < bare.host_count; i++) {
        unmeasured[i] = hosts[i];
        unmeasured[i].attribution = NULL;
        wanted += lend_is_wanted(&hosts[i]);
    }
    if (wanted == 0 || json_array_size(beside) == 0)
        return;
    bare.hosts = unmeasured;
    bare.others = others;
    bare.other_count = open_hosts(beside, work->arena, others);
    hlo_modules(&bare, work->arena, &modules);
    for (uint32_t i = 0; i < bare.host_count; i++) {
        if (lend_is_wanted(&hosts[i]))
            lend_scopes(&bare, &modules, &hosts[i], work->arena, &sum);
    }
    keep_notes(work, &sum);
}

const struct run_traces *sql_traces(struct sql_work *work, uint32_t index)
{
    struct sql_run *run = &work->runs[index];

    if (run->was_opened)
        return &run->traces;
    const json_t *hosts = json_object_get(run->told, "open");
    size_t count = json_array_size(hosts);
    struct host_trace *traces = arena_array(work->arena, struct host_trace, count + 1);
    uint32_t opened = open_hosts(hosts, work->arena, traces);

    run->was_opened = true;
    run->traces = (struct run_traces){
        .hosts = traces,
        .host_count = opened == count ? opened : 0, /* half a run would be wrong sums */
        .id = text_of(run->told, "id"),
        .name = run->name,
        .has_epoch = json_is_string(json_object_get(run->told, "epoch_ns"))};
    if (run->traces.has_epoch)
        str_to_i64(text_of(run->told, "epoch_ns"), &run->traces.epoch_ns);
    work->lost_count += run->traces.host_count == 0;
    borrow(work, run, traces);
    return &run->traces;
}

static void read_runs(struct sql_work *work, const json_t *list)
{
    const json_t *told;
    size_t i;

    work->run_count = (uint32_t)json_array_size(list);
    work->runs = arena_array(work->arena, struct sql_run, (size_t)work->run_count + 1);
    json_array_foreach(list, i, told)
    {
        work->runs[i] = (struct sql_run){.name = text_of(told, "name"), .told = told};
        work->slice_count += (uint64_t)json_integer_value(json_object_get(told, "slice_count"));
    }
}

static const char *type_of(struct str format)
{
    if (str_equal(format, STR("csv")))
        return "text/csv; charset=utf-8; header=present";
    return str_equal(format, STR("md")) ? "text/markdown; charset=utf-8" : TYPE_JSON;
}

static void answer(struct sql_work *work, const json_t *job, int *ret_status, const char **ret_type,
                   struct text *out)
{
    struct sql_table tables[SQL_TABLES_MAX];
    uint32_t table_count = 0;
    struct sql_result *result = arena_new(work->arena, struct sql_result);
    struct sql_sink sink = sql_result_sink(result);
    struct sql_outcome outcome;
    struct error err = {0};
    struct str query = text_of(job, "query");
    const struct sql_limits limits = {
        .rows_max = (uint64_t)json_integer_value(json_object_get(job, "rows_max")),
        .bytes_max = (uint64_t)json_integer_value(json_object_get(job, "bytes_max")),
        .run_ms = json_integer_value(json_object_get(job, "run_ms"))};

    result->arena = work->arena;
    sql_add_runs(work, tables, &table_count);
    sql_add_slices(work, tables, &table_count);
    sql_add_views(work, tables, &table_count);
    sql_add_columns(work, tables, &table_count);
    if (sql_run(tables, table_count, query, &limits, &sink, &outcome, &err) == OK) {
        *ret_status = 200;
        *ret_type = type_of(text_of(job, "format"));
        sql_put_answer(work, result, &outcome, text_of(job, "format"), text_of(job, "run"), out);
    } else {
        *ret_type = TYPE_PROBLEM;
        sql_put_problem(work, tables, table_count, query, &outcome, &err, ret_status, out);
    }
    sql_result_free(result);
}

static bool read_all(int fd, struct text *ret)
{
    char buffer[32768];

    for (;;) {
        ssize_t count = read(fd, buffer, sizeof buffer);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return count == 0;
        if (ret->count + (size_t)count > JOB_BYTES_MAX)
            return false;
        text_put(ret, buffer, (size_t)count);
    }
}

static bool write_all(int fd, struct str text)
{
    while (text.count > 0) {
        ssize_t count = write(fd, text.at, text.count);

        if (count < 0 && errno != EINTR)
            return false;
        text = str_skip(text, count > 0 ? (size_t)count : 0);
    }
    return true;
}

static void make_answer(const json_t *job, struct text *ret_head, struct text *ret_body)
{
    struct sql_work work = {.arena = arena_create()};
    const char *type = TYPE_PROBLEM;
    int status = 500;

    read_runs(&work, json_object_get(job, "runs"));
    answer(&work, job, &status, &type, ret_body);
    text_putf(ret_head, "{\"status\":%d,\"type\":\"%s\"}\n", status, type);
    arena_destroy(work.arena);
}

/* Who stands ready has met what a query meets: SQLite is set up, and its pages are in memory. */
static void rehearse(void)
{
    static const char words[] =
        "{\"query\":\"select name,count(*),sum(self_ps) from ops group by name order by 2 limit "
        "1\","
        "\"rows_max\":1,\"bytes_max\":1000,\"run_ms\":1000,\"runs\":[],\"run\":\"null\"}";
    json_t *job = json_loadb(words, sizeof words - 1, 0, NULL);
    struct text head = {0}, body = {0};

    make_answer(job, &head, &body);
    text_free(&head);
    text_free(&body);
    json_decref(job);
}

static bool nobody_asks(int in)
{
    struct pollfd polled = {.fd = in, .events = POLLIN};

    return poll(&polled, 1, 0) == 0;
}

static bool answer_job(const struct text *text, int out)
{
    json_t *job = json_loadb(text->at, text->count, JSON_ALLOW_NUL, NULL);
    struct text head = {0}, body = {0};

    if (job == NULL)
        return false;
    limit(RLIMIT_CPU, (uint64_t)(json_integer_value(json_object_get(job, "run_ms")) / 1000 + 3));
    make_answer(job, &head, &body);
    bool told = write_all(out, text_str(&head)) && write_all(out, text_str(&body));
    text_free(&head);
    text_free(&body);
    json_decref(job);
    return told;
}

int sql_worker(int in, int out)
{
    struct text text = {0};

    guard();
    if (nobody_asks(in))
        rehearse();
    bool told = read_all(in, &text) && text.count > 0 && answer_job(&text, out);
    text_free(&text);
    return told ? 0 : 1;
}
