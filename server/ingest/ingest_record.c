/* SPDX-License-Identifier: Apache-2.0 */
/* How a run is now, as the catalog tells it.
 *
 * Hosts stand on one axis of time: run time 0 is the earliest event of all, floored to a whole
 * nanosecond.
 *
 *   host A   epoch_ns ----|==start====================end|
 *   host B   epoch_ns --|=start================end|
 *   run time              0
 *
 * A host whose file holds no wall clock, or one of another year, begins at 0 by itself.
 */
#include <stdlib.h>
#include <string.h>

#include "analyse/stats/stats.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "discover/session.h"
#include "ingest/ingest_parts.h"
#include "serve/bundle/bundled.h"
#include "store/user.h"

enum { PS_PER_NS = 1000, HOSTS_TOLD_MAX = 4096 };

/* Offsets in picoseconds stay far from overflow. */
#define SPREAD_NS_MAX (INT64_C(50) * 86400 * 1000000000)

struct member { /* a file that has a segment */
    const struct ingest_file *file;
    struct index_result result;
    const struct ingest_file *bundle; /* that brought it; NULL: it lies there itself */
};

struct members { /* hosts first: what lies beside them has no place on the timeline */
    struct member *at;
    uint32_t count, host_count;
};

static int64_t floor_ns(int64_t ps)
{
    return ps / PS_PER_NS - (ps % PS_PER_NS < 0);
}

/* The Unix time of a host's first event, floored; false where that is unknown or out of reason. */
static bool start_ns_of(const struct index_result *result, int64_t *ret)
{
    return result->has_epoch &&
           !__builtin_add_overflow(result->epoch_ns, floor_ns(result->start_ps), ret);
}

/* The run's zero as Unix time: of the earliest host, or of what there is where there is no host.
 * False when none knows the time. */
static bool zero_of(const struct members *members, int64_t *ret)
{
    uint32_t count = members->host_count > 0 ? members->host_count : members->count;
    bool known = false;

    for (uint32_t i = 0; i < count; i++) {
        int64_t start_ns;

        if (members->at[i].result.slice_count == 0 && members->host_count > 1)
            continue;
        if (start_ns_of(&members->at[i].result, &start_ns) && (!known || start_ns < *ret)) {
            *ret = start_ns;
            known = true;
        }
    }
    return known;
}

/* Run time of the host's file time 0. */
static int64_t offset_of(const struct index_result *result, bool has_zero, int64_t zero_ns)
{
    int64_t start_ns, distance;

    if (has_zero && start_ns_of(result, &start_ns) &&
        !__builtin_sub_overflow(result->epoch_ns, zero_ns, &distance) && distance < SPREAD_NS_MAX &&
        distance > -SPREAD_NS_MAX && start_ns - zero_ns < SPREAD_NS_MAX)
        return distance * PS_PER_NS;
    return -(floor_ns(result->start_ps) * PS_PER_NS);
}

static struct run_host host_of(const struct member *member, bool has_zero, int64_t zero_ns)
{
    struct run_host host = {
        .name = member->file->host,
        .hostname = member->result.hostname,
        .has_epoch = member->result.has_epoch,
        .epoch_ns = member->result.epoch_ns,
        .offset_ps = offset_of(&member->result, has_zero, zero_ns),
    };

    memcpy(host.content, member->file->content, sizeof host.content);
    return host;
}

static void put_hosts(struct run_record *record, const struct members *members, struct arena *arena)
{
    struct run_host *hosts = arena_array(arena, struct run_host, members->host_count + 1);
    int64_t first_ps = INT64_MAX, last_ps = INT64_MIN;

    record->has_epoch = zero_of(members, &record->epoch_ns);
    for (uint32_t i = 0; i < members->host_count; i++) {
        const struct index_result *result = &members->at[i].result;
        int64_t start_ps, end_ps;

        hosts[i] = host_of(&members->at[i], record->has_epoch, record->epoch_ns);
        if (__builtin_add_overflow(result->start_ps, hosts[i].offset_ps, &start_ps) ||
            __builtin_add_overflow(result->end_ps, hosts[i].offset_ps, &end_ps))
            continue;
        first_ps = start_ps < first_ps ? start_ps : first_ps;
        last_ps = end_ps > last_ps ? end_ps : last_ps;
    }
    record->hosts = hosts;
    record->host_count = members->host_count;
    if (last_ps >= first_ps && __builtin_sub_overflow(last_ps, first_ps, &record->duration_ps))
        record->duration_ps = 0;
}

static void add_text(const struct str **list, uint32_t *count, struct str text, uint32_t max)
{
    for (uint32_t i = 0; i < *count; i++) {
        if (str_equal((*list)[i], text))
            return;
    }
    if (text.count > 0 && *count < max)
        ((struct str *)(uintptr_t)*list)[(*count)++] = text;
}

static void put_timeline_facts(struct run_record *record, const struct index_result *result)
{
    record->slice_count += result->slice_count;
    record->device_count += result->device_count;
    record->device_count_known |= result->device_count_known;
    if (result->step_count > record->step_count) {
        record->step_count = result->step_count;
        record->step_median_ps = result->step_median_ps;
    }
}

/* Of all hosts that have steps: the median over theirs together, as everywhere. Unknown where they
 * find steps by different rules, or one's are not listed. */
static int64_t median_of_hosts(const struct members *members, struct arena *arena)
{
    const struct index_result *first = NULL;
    uint32_t count = 0;

    for (uint32_t i = 0; i < members->host_count; i++) {
        const struct index_result *result = &members->at[i].result;

        if (result->step_count <= 0)
            continue;
        if (result->step_length_count == 0 ||
            (first != NULL && !str_equal(first->step_rule, result->step_rule)))
            return -1;
        first = result;
        count += result->step_length_count;
    }
    int64_t *lengths = arena_array(arena, int64_t, count);
    count = 0;
    for (uint32_t i = 0; i < members->host_count; i++) {
        const struct index_result *result = &members->at[i].result;

        for (uint32_t k = 0; result->step_count > 0 && k < result->step_length_count; k++)
            lengths[count++] = result->step_lengths[k];
    }
    return count > 0 ? median_of(lengths, count) : -1;
}

static void put_facts(struct run_record *record, const struct members *members, struct arena *arena)
{
    enum { LIST_MAX = 32 };

    record->formats = arena_array(arena, struct str, LIST_MAX);
    record->badges = arena_array(arena, struct str, LIST_MAX);
    record->step_count = record->step_median_ps = -1;
    for (uint32_t i = 0; i < members->count; i++) {
        const struct index_result *result = &members->at[i].result;

        if (i < members->host_count)
            put_timeline_facts(record, result);
        if (record->device_kind.count == 0)
            record->device_kind = result->device_kind;
        if (record->framework.count == 0)
            record->framework = result->framework;
        add_text(&record->formats, &record->format_count, result->format, LIST_MAX);
        for (uint32_t j = 0; j < result->badge_count; j++)
            add_text(&record->badges, &record->badge_count, result->badges[j], LIST_MAX);
    }
    if (members->host_count > 1)
        record->step_median_ps = median_of_hosts(members, arena);
}

static int by_text(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

/* The hash of the profile file, wherever that is. */
static const char *origin_of(const struct member *member)
{
    return member->result.origin[0] != '\0' ? member->result.origin : member->file->content;
}

static const char *kept_of(const struct member *member)
{
    return member->file->content;
}

/* A line for each of hosts and contents, in order. */
static struct str lines_of(const struct members *members,
                           const char *(*content)(const struct member *), struct arena *arena)
{
    struct str *lines = arena_array(arena, struct str, members->count + 1);
    size_t count = 0;

    for (uint32_t i = 0; i < members->count; i++) {
        lines[i] = str_format(arena, "%.*s %s\n", STR_ARG(members->at[i].file->host),
                              content(&members->at[i]));
        count += lines[i].count;
    }
    qsort(lines, members->count, sizeof *lines, by_text);
    char *text = arena_array(arena, char, count + 1), *end = text;
    for (uint32_t i = 0; i < members->count; i++) {
        memcpy(end, lines[i].at, lines[i].count);
        end += lines[i].count;
    }
    return (struct str){.at = text, .count = count};
}

/* The same on every machine: of hosts and contents, and of nothing else. */
static struct str id_of(struct str lines, struct arena *arena)
{
    struct hasher *hasher = hasher_create();
    char hex[33];

    hasher_put(hasher, (struct bytes){.at = (const uint8_t *)lines.at, .count = lines.count});
    hash128_hex(hasher_end(hasher), hex);
    return str_format(arena, "c%s", hex);
}

static struct str take_line(struct str *lines)
{
    const char *end = memchr(lines->at, '\n', lines->count);
    struct str ret = *lines;

    ret.count = end == NULL ? ret.count : (size_t)(end + 1 - ret.at);
    *lines = str_skip(*lines, ret.count);
    return ret;
}

/* Every line of the one is among those of the other, which has more. */
static bool has_grown(struct str from, struct str to)
{
    if (from.count >= to.count)
        return false;
    while (from.count > 0) {
        struct str line = take_line(&from), other;

        do {
            if (to.count == 0)
                return false;
            other = take_line(&to);
        } while (!str_equal(line, other));
    }
    return true;
}

/* A file that could not be read before, or a host that came late: the content is another one, and
 * what people said of the run goes along. Not where it is still the content of another run. */
static enum status follow_content(struct ingest *ingest, const struct run_record *run,
                                  struct arena *arena, struct error *err)
{
    struct str before, members;

    if (ingest->options.user == NULL || run->content_id.count == 0)
        return OK;
    TRY(catalog_content(ingest->catalog, run->id, arena, &before, &members, err));
    if (before.count == 0 || str_equal(before, run->content_id) ||
        !has_grown(members, run->members) || catalog_has_other(ingest->catalog, before, run->id))
        return OK;
    return user_move(ingest->options.user, before, run->content_id, err);
}

/* A run without a trace fails with the reason of its most promising file. */
static struct str error_of(const struct ingest_run *run, enum run_state state, struct arena *arena)
{
    if (state != RUN_FAILED && state != RUN_PARTIAL)
        return STR("");
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < run->file_count; i++) {
            const struct ingest_file *file = &run->files[i];
            struct str base = path_base(file->path);

            if (file->state == (pass == 0 ? FILE_FAILED : FILE_IGNORED))
                return str_format(arena, "%.*s: %s", STR_ARG(base),
                                  file->error == NULL ? "it cannot be read" : file->error);
        }
    }
    return STR("no file of this run contains a trace");
}

static struct run_file file_of(const struct ingest_file *file, struct arena *arena)
{
    struct run_file ret = {
        .path = str_copy(arena, file->path),
        .host = str_copy(arena, file->host),
        .format = str_copy(arena, str_of(file->format)),
        .bytes = file->stamp.size,
        .state = file->state,
        .error = str_copy(arena, str_of(file->error)),
    };

    if (file->state != FILE_FAILED || !file->transient) /* else it was not looked at: try again */
        ret.stamp = file->stamp;

    memcpy(ret.content, file->content, sizeof ret.content);
    ret.part = file->part;
    ret.has_window = file->has_window;
    ret.start_ns = file->start_ns;
    ret.end_ns = file->end_ns;
    ret.group = str_copy(arena, str_of(file->group));
    ret.rank = file->job_rank;
    return ret;
}

static void put_files(struct run_record *record, const struct ingest_run *run, struct arena *arena)
{
    struct run_file *files = arena_array(arena, struct run_file, run->file_count + 1);

    for (uint32_t i = 0; i < run->file_count; i++) {
        files[i] = file_of(&run->files[i], arena);
        record->file_bytes += run->files[i].stamp.size;
    }
    record->files = files;
    record->run_file_count = run->file_count;
    record->file_count = run->file_count;
}

/* A copy of the run that needs no lock; files that have segments become members. Lock held. */
static struct run_record snapshot(const struct ingest_run *run, struct arena *arena,
                                  struct members *ret)
{
    struct str *dirs = arena_array(arena, struct str, run->dir_count + 1);
    struct ingest_file *files = arena_array(arena, struct ingest_file, run->file_count + 1);
    struct run_record record = {
        .id = str_copy(arena, str_of(run->id)),
        .root = str_copy(arena, run->root->given),
        .name = str_copy(arena, run->name),
        .dir = str_copy(arena, run->dir),
        .dirs = dirs,
        .dir_count = run->dir_count,
        .state = run_state_of(run),
        .progress = run_progress(run),
        .modified_ns = run->modified_ns,
        .about = {.stamp = run->about_stamp, .name = STR(""), .commit = STR("")},
    };

    for (uint32_t i = 0; i < run->dir_count; i++)
        dirs[i] = str_copy(arena, run->dirs[i]);
    record.error = error_of(run, record.state, arena);
    put_files(&record, run, arena);
    ret->at = arena_array(arena, struct member, run->file_count + 1);
    for (uint32_t i = 0; i < run->file_count && ret->count < HOSTS_TOLD_MAX; i++) {
        if (run->files[i].content[0] == '\0')
            continue;
        files[i] = run->files[i];
        files[i].host = str_copy(arena, run->files[i].host);
        ret->at[ret->count++].file = &files[i];
    }
    return record;
}

/* Hosts before the others; each in the order they came. */
static void part_hosts(struct members *members, struct arena *arena)
{
    struct member *ordered = arena_array(arena, struct member, members->count + 1);
    uint32_t count = 0;

    for (uint32_t i = 0; i < members->count; i++)
        members->host_count += members->at[i].result.part == PART_TIMELINE;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < members->count; i++) {
            if ((members->at[i].result.part == PART_TIMELINE) == (pass == 0))
                ordered[count++] = members->at[i];
        }
    }
    members->at = ordered;
}

static bool read_line(struct ingest *ingest, const char content[33], struct arena *arena,
                      struct index_result *ret)
{
    struct error err = {0};
    struct str line;

    return catalog_facts(ingest->catalog, content, arena, &line, &err) == OK &&
           index_result_parse(line, arena, ret, &err) == OK;
}

/* A member of a bundle stands for a file where the bundle was made. */
static void add_bundled(struct members *members, const struct ingest_file *bundle,
                        const struct index_result *result, struct arena *arena)
{
    struct ingest_file *file = arena_new(arena, struct ingest_file);
    bool is_first = strcmp(bundle->content, result->content) == 0;

    *file = *bundle;
    file->host = result->host;
    file->part = result->part;
    if (!is_first)
        file->path = str_format(arena, "%.*s/%.*s", STR_ARG(bundle->path), STR_ARG(result->host));
    memcpy(file->content, result->content, sizeof file->content);
    members->at[members->count++] =
        (struct member){.file = file, .result = *result, .bundle = bundle};
}

static void add_members(struct members *members, const struct member *read, struct arena *arena)
{
    if (read->result.said.count == 0) {
        members->at[members->count++] = *read;
        return;
    }
    add_bundled(members, read->file, &read->result, arena);
    for (uint32_t i = 0; i < read->result.member_count; i++) {
        struct error err = {0};
        struct index_result result;

        if (index_result_parse(read->result.members[i], arena, &result, &err) == OK)
            add_bundled(members, read->file, &result, arena);
    }
}

/* Members whose result are known; without them nothing can be said of a segment. */
static void read_facts(struct ingest *ingest, struct members *members, struct arena *arena)
{
    const struct members found = *members;
    uint32_t read = 0, all = 0;

    for (uint32_t i = 0; i < found.count; i++) {
        struct member member = found.at[i];

        if (!read_line(ingest, member.file->content, arena, &member.result))
            continue;
        found.at[read++] = member;
        all += 1 + member.result.member_count;
    }
    *members = (struct members){.at = arena_array(arena, struct member, all + 1)};
    for (uint32_t i = 0; i < read; i++)
        add_members(members, &found.at[i], arena);
    part_hosts(members, arena);
}

static struct run_file bundled_row(const struct member *member, const struct run_file *bundle)
{
    struct run_file row = *bundle;

    row.path = member->file->path;
    row.host = member->file->host;
    row.format = member->result.format;
    row.bytes = member->result.bytes;
    row.part = member->result.part;
    memcpy(row.content, member->file->content, sizeof row.content);
    return row;
}

/* A bundle's file is told as its first member, the others as files in it. */
static void put_bundled(struct run_record *record, const struct members *members,
                        struct arena *arena)
{
    const struct run_file *found = record->files;
    struct run_file *files =
        arena_array(arena, struct run_file, (size_t)record->run_file_count + members->count + 1);
    uint32_t count = 0;

    for (uint32_t i = 0; i < record->run_file_count; i++) {
        struct run_file *told = &files[count++];

        *told = found[i];
        for (uint32_t k = 0; k < members->count; k++) {
            const struct member *member = &members->at[k];

            if (member->bundle == NULL || !str_equal(member->bundle->path, found[i].path))
                continue;
            if (strcmp(member->file->content, found[i].content) == 0)
                told->host = member->file->host;
            else
                files[count++] = bundled_row(member, &found[i]);
        }
    }
    record->files = files;
    record->run_file_count = count;
}

static bool take_snapshot(struct ingest *ingest, const char *id, struct arena *arena,
                          struct run_record *ret, struct members *ret_members, bool *ret_listed)
{
    pthread_mutex_lock(&ingest->lock);
    struct ingest_run *run = run_find(ingest, str_of(id));
    bool shown = run != NULL && run_is_shown(run);

    *ret_listed = run != NULL && run->listed;
    if (run != NULL)
        *ret = snapshot(run, arena, ret_members);
    if (run != NULL && !shown)
        run->listed = false;
    pthread_mutex_unlock(&ingest->lock);
    return shown;
}

/* The catalog has them: only now nobody need wait for that any more. */
static void mark_listed(struct ingest *ingest, const struct run_record *records, uint32_t count)
{
    pthread_mutex_lock(&ingest->lock);
    for (uint32_t i = 0; i < count; i++) {
        struct ingest_run *run = run_find(ingest, records[i].id);

        if (run != NULL)
            run->listed = true;
    }
    pthread_cond_broadcast(&ingest->changed);
    pthread_mutex_unlock(&ingest->lock);
}

static void publish(struct ingest *ingest, struct run_record *records, uint32_t count,
                    struct arena *arena)
{
    struct error err = {0};

    for (uint32_t i = 0; i < count; i++) {
        struct error kept = {0};

        if (follow_content(ingest, &records[i], arena, &kept) == OK)
            continue;
        log_error("run %.*s: its notes are not shown until it is read again: %s",
                  STR_ARG(records[i].name), kept.message);
        records[i].members = STR(""); /* and what it was is not forgotten */
    }
    if (catalog_put_runs(ingest->catalog, records, count, &err) != OK)
        log_error("run %.*s: %s", STR_ARG(records->name), err.message);
    mark_listed(ingest, records, count);
}

static size_t stripe_of(const char *id)
{
    return hash64((struct bytes){.at = (const uint8_t *)id, .count = strlen(id)}) %
           PUBLISHING_COUNT;
}

/* What the program says of its run. */
static void put_about(const struct ingest *ingest, struct run_record *record, struct arena *arena)
{
    struct about *about = arena_new(arena, struct about);

    if (record->about.stamp == 0 && !run_is_bundle(record))
        return; /* the scan saw no jview.json */
    bundled_about(ingest->catalog, record, arena, about);
    if (about->is_there)
        record->about = (struct run_about){.stamp = record->about.stamp,
                                           .name = about->name,
                                           .commit = about->commit,
                                           .has_step = about->has_step,
                                           .step = about->step,
                                           .has_commit_time = about->has_commit_time,
                                           .commit_ns = about->commit_ns};
}

/* When its first session began, as that is called: in the time of the machine that named it, which
 * may be up to 14 hours from Unix time. */
static bool session_ns(const struct run_record *run, int64_t *ret)
{
    int64_t seconds;

    for (uint32_t i = 0; i < run->dir_count; i++) {
        if (!session_time(path_base(run->dirs[i]), &seconds) || seconds > INT64_MAX / 2000000000)
            continue;
        *ret = seconds * 1000000000;
        return true;
    }
    return false;
}

/* When it was captured: its clock says so, else its session's name, else its files' time. Of a run
 * that was not read yet it is not known whether it has a clock: `latest_ns` is as late as that may
 * be, for whoever wants the newest of several. */
static void put_capture_time(struct run_record *run)
{
    const int64_t zones_ns = INT64_C(14) * 3600 * 1000000000;
    bool was_read = run->host_count > 0 || run->state == RUN_READY || run->state == RUN_PARTIAL ||
                    run->state == RUN_FAILED;
    int64_t named_ns;
    bool is_named = session_ns(run, &named_ns);

    run->captured_ns = run->has_epoch && run->epoch_ns > 0 ? run->epoch_ns
                       : is_named                          ? named_ns
                                                           : run->modified_ns;
    run->latest_ns = run->captured_ns;
    if (was_read)
        return;
    run->latest_ns = run->modified_ns > run->captured_ns ? run->modified_ns : run->captured_ns;
    if (is_named && named_ns + zones_ns < run->latest_ns)
        run->latest_ns = named_ns + zones_ns;
    run->is_unread = true;
}

/* The run as the catalog is to tell it; false when it is not to be listed, and then forgotten. */
static bool make_record(struct ingest *ingest, const char *id, struct arena *arena,
                        struct run_record *ret)
{
    struct members members = {0};
    struct error err = {0};
    bool listed;

    if (!take_snapshot(ingest, id, arena, ret, &members, &listed)) {
        if (listed && catalog_forget(ingest->catalog, str_of(id), &err) != OK)
            log_error("run %s: %s", id, err.message);
        return false;
    }
    read_facts(ingest, &members, arena);
    put_bundled(ret, &members, arena);
    put_hosts(ret, &members, arena);
    put_facts(ret, &members, arena);
    put_about(ingest, ret, arena);
    put_capture_time(ret);
    if (ret->state == RUN_READY || ret->state == RUN_PARTIAL) {
        ret->members = lines_of(&members, origin_of, arena);
        ret->content_id = id_of(ret->members, arena);
        ret->kept_id = id_of(lines_of(&members, kept_of, arena), arena);
    }
    return true;
}

static void note_publish(struct ingest *ingest, const char *id, int64_t began_ns)
{
    pthread_mutex_lock(&ingest->lock);
    struct ingest_run *run = run_find(ingest, str_of(id));
    if (run != NULL) {
        run->published_ns = clock_monotonic_ns();
        run->publish_ns = run->published_ns - began_ns;
    }
    pthread_mutex_unlock(&ingest->lock);
}

void run_publish(struct ingest *ingest, const char *id)
{
    struct arena *arena = arena_create();
    struct run_record record;
    const int64_t began_ns = clock_monotonic_ns();

    pthread_mutex_t *publishing = &ingest->publishing[stripe_of(id)];
    pthread_mutex_lock(publishing);
    if (make_record(ingest, id, arena, &record))
        publish(ingest, &record, 1, arena);
    pthread_mutex_unlock(publishing);
    arena_destroy(arena);
    note_publish(ingest, id, began_ns);
}

enum { FEW_FILES = 16, PAUSE_MS = 250, PAUSES = 10 }; /* or so many times what telling it took */

static bool is_told_later(const struct ingest_run *run, int64_t now_ns)
{
    int64_t pause_ns = PAUSES * run->publish_ns;
    bool more = false;

    for (uint32_t i = 0; i < run->file_count && !more; i++)
        more = run->files[i].state == FILE_QUEUED || run->files[i].state == FILE_INDEXING;
    if (pause_ns < PAUSE_MS * INT64_C(1000000))
        pause_ns = PAUSE_MS * INT64_C(1000000);
    return run->file_count > FEW_FILES && more && run->published_ns != 0 &&
           now_ns - run->published_ns < pause_ns;
}

bool run_publish_at_times(struct ingest *ingest, const char *id)
{
    pthread_mutex_lock(&ingest->lock);
    const struct ingest_run *run = run_find(ingest, str_of(id));
    bool later = run != NULL && is_told_later(run, clock_monotonic_ns());
    pthread_mutex_unlock(&ingest->lock);
    if (!later)
        run_publish(ingest, id);
    return !later;
}

/* One transaction; nobody else publishes meanwhile. */
static void publish_batch(struct ingest *ingest, char (*ids)[RUN_ID_SIZE], uint32_t count)
{
    struct arena *arena = arena_create();
    struct run_record *records = arena_array(arena, struct run_record, count);
    uint32_t made = 0;

    for (size_t i = 0; i < PUBLISHING_COUNT; i++)
        pthread_mutex_lock(&ingest->publishing[i]);
    for (uint32_t i = 0; i < count; i++)
        made += make_record(ingest, ids[i], arena, &records[made]);
    if (made > 0)
        publish(ingest, records, made, arena);
    for (size_t i = 0; i < PUBLISHING_COUNT; i++)
        pthread_mutex_unlock(&ingest->publishing[i]);
    arena_destroy(arena);
}

static int by_run_id(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* By id, as the catalog keeps them: each batch then writes pages of its own. */
void runs_publish(struct ingest *ingest, char (*ids)[RUN_ID_SIZE], uint32_t count)
{
    enum { BATCH = 1024 }; /* workers wait for so many at most: some 50 ms */

    if (count > 1)
        qsort(ids, count, sizeof *ids, by_run_id);
    for (uint32_t i = 0; i < count; i += BATCH)
        publish_batch(ingest, ids + i, count - i < BATCH ? count - i : BATCH);
}
