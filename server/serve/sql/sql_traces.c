/* SPDX-License-Identifier: Apache-2.0 */
/* The traces of a run that a query comes to: opened once, held until the process ends. */
#include <jansson.h>

#include "analyse/hlo/hlo.h"
#include "analyse/hlo/hlo_backfill.h"
#include "base/sandbox/sandbox.h"
#include "serve/sql/sql_parts.h"
#include "store/cache.h"
#include "store/segment.h"

struct str sql_told(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return (struct str){.at = json_string_value(value), .count = json_string_length(value)};
}

struct directories {
    struct arena *arena;
    const char **at;
    size_t count, capacity;
};

static void add_directory(struct directories *directories, struct str path)
{
    const char *slash = path.count == 0 ? NULL : memrchr(path.at, '/', path.count);

    if (slash == NULL)
        return;
    path.count = (size_t)(slash - path.at);
    for (size_t i = 0; i < directories->count; i++) {
        if (str_equal(str_of(directories->at[i]), path))
            return;
    }
    if (directories->count == directories->capacity) {
        size_t capacity = directories->capacity * 2 + 16;
        const char **more = arena_array(directories->arena, const char *, capacity);

        if (directories->count > 0)
            memcpy(more, directories->at, directories->count * sizeof *more);
        directories->at = more;
        directories->capacity = capacity;
    }
    directories->at[directories->count++] = str_c(directories->arena, path);
}

/* Of what is told of a run: "open", "beside", "kept". */
static void add_directories(struct directories *directories, const json_t *list)
{
    const json_t *told;
    size_t i;

    json_array_foreach(list, i, told)
    {
        add_directory(directories, sql_told(told, "segment"));
        add_directory(directories, sql_told(told, "attribution"));
        add_directory(directories, sql_told(told, "path"));
    }
}

/* By directory: an index that is made anew meanwhile is another file of the same one. */
enum status sql_confine(struct sql_work *work, struct error *err)
{
    struct directories directories = {.arena = work->arena};

    for (uint32_t i = 0; i < work->run_count; i++) {
        add_directories(&directories, json_object_get(work->runs[i].told, "open"));
        add_directories(&directories, json_object_get(work->runs[i].told, "beside"));
        add_directories(&directories, json_object_get(work->runs[i].told, "kept"));
    }
    return sandbox_query_files(directories.at, directories.count, err);
}

/* One host's files, held until the process ends. */
static bool open_host(struct sql_work *work, const json_t *told, struct host_trace *ret)
{
    struct arena *arena = work->arena;
    struct segment *segment;
    struct attribution_file *attribution = NULL;
    struct error ignored = {0};
    struct str path = sql_told(told, "attribution");
    const char *segment_path = str_c(arena, sql_told(told, "segment"));
    bool is_checked = json_is_true(json_object_get(told, "checked"));
    enum status status = is_checked ? segment_open_checked(segment_path, &segment, &ignored)
                                    : segment_open(segment_path, &segment, &ignored);

    if (status != OK) {
        work->damaged |= status == ERR_FORMAT || status == ERR_TRUNCATED;
        return false;
    }
    ignored = (struct error){0};
    if (path.count > 0 && is_checked)
        status = attribution_open_checked(str_c(arena, path), &attribution, &ignored);
    else if (path.count > 0)
        status = attribution_open(str_c(arena, path), &attribution, &ignored);
    if (status != OK) {
        work->damaged |= status == ERR_FORMAT || status == ERR_TRUNCATED || status == ERR_NOT_FOUND;
        return false;
    }
    if (attribution != NULL && attribution_segment(attribution) != segment_trace(segment)->sum)
        return false; /* it was made anew in between */
    *ret = (struct host_trace){.trace = segment_trace(segment),
                               .attribution =
                                   attribution == NULL ? NULL : attribution_of_file(attribution),
                               .name = sql_told(told, "name"),
                               .key = sql_told(told, "key"),
                               .offset_ps = json_integer_value(json_object_get(told, "offset_ps"))};
    return true;
}

/* Two descriptors a host would be too many: maps stay when their files are closed. */
static uint32_t open_hosts(struct sql_work *work, const json_t *list, struct host_trace *ret)
{
    uint32_t count = 0;
    const json_t *told;
    size_t i;

    json_array_foreach(list, i, told)
    {
        if (open_host(work, told, &ret[count]))
            count++;
    }
    return count;
}

void sql_keep_notes(struct sql_work *work, const struct answer_note *notes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = 0;

        while (at < work->note_count && strcmp(work->notes[at]->kind, notes[i].kind) != 0)
            at++;
        if (at == work->note_count && at < COUNT(work->notes))
            work->notes[work->note_count++] = &notes[i];
    }
}

static void open_others(struct sql_work *work, struct sql_run *run)
{
    const json_t *beside = json_object_get(run->told, "beside");
    struct host_trace *others;

    if (run->has_others)
        return;
    run->has_others = true;
    others = arena_array(work->arena, struct host_trace, json_array_size(beside) + 1);
    run->other_count = open_hosts(work, beside, others);
    run->others = others;
}

/* Where a profile holds no HLO, modules beside it tell scopes and sources of its ops: as every
 * other request has it (request.c). */
static void borrow(struct sql_work *work, struct sql_run *run, struct host_trace *hosts)
{
    const json_t *beside = json_object_get(run->told, "beside");
    struct run_traces bare = run->traces; /* modules are listed, and not measured */
    struct host_trace *unmeasured =
        arena_array(work->arena, struct host_trace, bare.host_count + 1);
    struct hlo_modules modules = {0};
    struct hlo_backfilled sum = {0};
    uint32_t wanted = 0;

    for (uint32_t i = 0; i < bare.host_count; i++) {
        unmeasured[i] = hosts[i];
        unmeasured[i].attribution = NULL;
        wanted += hlo_backfill_is_wanted(&hosts[i]);
    }
    if (wanted == 0 || json_array_size(beside) == 0)
        return;
    bare.hosts = unmeasured;
    open_others(work, run);
    bare.others = run->others;
    bare.other_count = run->other_count;
    hlo_modules(&bare, work->arena, &modules);
    for (uint32_t i = 0; i < bare.host_count; i++) {
        if (hlo_backfill_is_wanted(&hosts[i]))
            hlo_backfill_scopes(&bare, &modules, &hosts[i], work->arena, &sum);
    }
    struct answer_note *notes = arena_array(work->arena, struct answer_note, LEND_NOTES_MAX);
    run->lent_count = hlo_backfill_notes(&sum, work->arena, notes);
    run->lent = notes;
}

static void open_run(struct sql_work *work, struct sql_run *run)
{
    const json_t *hosts = json_object_get(run->told, "open");
    size_t count = json_array_size(hosts);
    struct host_trace *traces = arena_array(work->arena, struct host_trace, count + 1);
    uint32_t opened = open_hosts(work, hosts, traces);

    run->was_opened = true;
    run->traces = (struct run_traces){
        .hosts = traces,
        .host_count = opened == count ? opened : 0, /* half a run would be wrong sums */
        .id = sql_told(run->told, "id"),
        .name = run->name,
        .has_epoch = json_is_string(json_object_get(run->told, "epoch_ns"))};
    if (run->traces.has_epoch)
        str_to_i64(sql_told(run->told, "epoch_ns"), &run->traces.epoch_ns);
    borrow(work, run, traces);
}

bool sql_damaged(const struct sql_work *work)
{
    if (work->damaged)
        return true;
    for (uint32_t i = 0; i < work->run_count; i++) {
        const struct run_traces *traces = &work->runs[i].traces;

        for (uint32_t host = 0; host < traces->host_count; host++) {
            if (trace_damaged(traces->hosts[host].trace))
                return true;
        }
        for (uint32_t other = 0; other < traces->other_count; other++) {
            if (trace_damaged(traces->others[other].trace))
                return true;
        }
    }
    return false;
}

const struct run_traces *sql_traces(struct sql_work *work, uint32_t index)
{
    struct sql_run *run = &work->runs[index];

    if (!run->was_opened)
        open_run(work, run);
    if (!run->was_asked) {
        run->was_asked = true;
        work->lost_count += run->traces.host_count == 0;
        sql_keep_notes(work, run->lent, run->lent_count);
    }
    return &run->traces;
}

const struct run_traces *sql_all_traces(struct sql_work *work, uint32_t index)
{
    struct sql_run *run = &work->runs[index];
    struct run_traces *ret = arena_new(work->arena, struct run_traces);

    *ret = *sql_traces(work, index);
    open_others(work, run);
    ret->others = run->others;
    ret->other_count = run->other_count;
    return ret;
}
