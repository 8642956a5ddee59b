/* SPDX-License-Identifier: Apache-2.0 */
/* Drafts of one capture become one run.
 *
 *   log/plugins/profile/10_41_47/hostA      one log directory, or log directories of workers side
 *   log/plugins/profile/10_41_49/hostB      by side (w/worker0, w/worker1): different hosts, and
 *                                           recorded at the same time
 *   tb/worker0.1.pt.trace.json              files that say they are ranks of one job, recorded at
 *   tb/worker1.1.pt.trace.json              the same time; of equal names (rank0/step_10.json,
 *                                           rank1/step_10.json) their directories name the hosts
 *
 * "At the same time" is what the files say once they were read; until then a session's name, which
 * is the second of its export, says it to within two minutes. So what was joined by name may part
 * when more is known, and the other way round.
 */
#include <stdlib.h>

#include "discover/run_builder.h"
#include "discover/session.h"

enum {
    EXPORT_SPREAD_S = 120,  /* hosts of one capture name their sessions within it */
    EXPORT_LATEST_S = 3600, /* ... and within this where their recordings are known to overlap */
    LOOK_BACK_MAX = 512,    /* sessions of one neighbourhood that one is compared with */
};

struct window { /* Unix time */
    bool known;
    int64_t start_ns, end_ns;
};

struct candidate { /* a builder among those it may be joined with */
    struct run_builder *builder;
    struct str hood; /* builders of other neighbourhoods are never of the same capture */
    struct window window;
    struct candidate *into; /* what it was joined into; NULL itself */
};

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool is_separator(char byte)
{
    return byte == '-' || byte == '_' || byte == '.' || byte == ' ';
}

/* Without the bytes of a kind at its end. */
static struct str cut_end(struct str text, bool (*is)(char byte))
{
    while (text.count > 0 && is(text.at[text.count - 1]))
        text.count--;
    return text;
}

/* Without a last word that names one process of many, as "rank" of "sampled_rank". */
static bool cut_place_word(struct str *text)
{
    static const char *const words[] = {"worker", "host",    "rank", "process", "proc", "node",
                                        "task",   "replica", "pod",  "machine", "vm",   "client"};
    struct str before = cut_end(*text, is_letter);
    struct str word = str_skip(*text, before.count);

    for (size_t i = 0; i < COUNT(words); i++) {
        if (!str_equal(word, str_of(words[i])))
            continue;
        *text = before;
        return true;
    }
    return false;
}

bool names_a_place(struct str name)
{
    struct str word = cut_end(name, is_digit);
    bool is_numbered = word.count < name.count;

    word = cut_end(word, is_separator);
    return is_numbered && cut_place_word(&word);
}

static bool is_host_of(const struct run_builder *builder, struct str host)
{
    for (uint32_t i = 0; i < builder->run.file_count; i++)
        if (builder->files[i].role == SCAN_TRACE && str_equal(builder->files[i].host, host))
            return true;
    return false;
}

/* The directory of a file: "rank0" of "traces/rank0/step_10.json". */
static struct str place_of(const struct group *group, const struct scan_run_file *file)
{
    return path_base(path_dir(group->files[file->file].path));
}

static bool hosts_differ(const struct run_builder *a, const struct run_builder *b)
{
    for (uint32_t i = 0; i < b->run.file_count; i++)
        if (b->files[i].role == SCAN_TRACE && is_host_of(a, b->files[i].host))
            return false;
    return a->run.file_count > 0;
}

/* Does each of its traces lie in a directory of one process, which is its host's name or may be? */
static bool is_of_places(const struct group *group, const struct run_builder *builder)
{
    for (uint32_t i = 0; i < builder->run.file_count; i++) {
        struct str place = place_of(group, &builder->files[i]);

        if (builder->files[i].role != SCAN_TRACE || !names_a_place(place))
            return false;
        if (i > 0 && !str_equal(builder->files[i].host, place))
            return false;
    }
    return true;
}

static bool places_differ(const struct group *group, const struct run_builder *a,
                          const struct run_builder *b)
{
    if (!is_of_places(group, a) || !is_of_places(group, b))
        return false;
    for (uint32_t i = 0; i < a->run.file_count; i++)
        for (uint32_t j = 0; j < b->run.file_count; j++)
            if (str_equal(place_of(group, &a->files[i]), place_of(group, &b->files[j])))
                return false;
    return true;
}

static void call_hosts_by_place(const struct group *group, struct run_builder *builder)
{
    for (uint32_t i = 0; i < builder->run.file_count; i++)
        builder->files[i].host = place_of(group, &builder->files[i]);
}

static void widen(struct window *window, struct window by, bool first)
{
    if (!by.known || (!first && !window->known)) {
        window->known = false;
        return;
    }
    if (first)
        *window = by;
    window->start_ns = by.start_ns < window->start_ns ? by.start_ns : window->start_ns;
    window->end_ns = by.end_ns > window->end_ns ? by.end_ns : window->end_ns;
}

/* From the first to the last event of all its hosts; unknown while one was not read. */
static struct window window_of(const struct group *group, const struct run_builder *builder)
{
    struct window window = {0};
    bool first = true;

    for (uint32_t i = 0; i < builder->run.file_count; i++) {
        const struct scan_known *known = &group->files[builder->files[i].file].known;
        struct window one = {known->has_window, known->start_ns, known->end_ns};

        if (builder->files[i].role != SCAN_TRACE)
            continue;
        widen(&window, one, first);
        first = false;
    }
    return window;
}

static bool overlap(struct window a, struct window b)
{
    return a.start_ns <= b.end_ns && b.start_ns <= a.end_ns;
}

static bool may_be_one(const struct run_builder *a, const struct run_builder *b)
{
    if (a->has_time != b->has_time)
        return false;
    return !a->has_time || llabs(a->time - b->time) <= EXPORT_LATEST_S;
}

static bool are_one(const struct candidate *a, const struct candidate *b)
{
    if (a->window.known && b->window.known)
        return overlap(a->window, b->window);
    return a->builder->has_time && b->builder->has_time &&
           llabs(a->builder->time - b->builder->time) <= EXPORT_SPREAD_S;
}

static int64_t distance_ns(const struct candidate *a, const struct candidate *b)
{
    if (a->window.known && b->window.known)
        return llabs(a->window.start_ns / 2 - b->window.start_ns / 2) * 2;
    return llabs(a->builder->time - b->builder->time) * 1000000000;
}

static struct candidate *whole(struct candidate *candidate)
{
    return candidate->into == NULL ? candidate : candidate->into;
}

/* Log directories of workers, or called as their one host is, lie in one neighbourhood. */
static struct str hood_of_session(const struct run_builder *builder)
{
    struct str base = path_base(builder->log);

    return names_a_place(base) || is_host_of(builder, base) ? path_dir(builder->log) : builder->log;
}

static int by_hood_and_time(const void *a, const void *b)
{
    const struct candidate *left = a, *right = b;
    int order = str_compare(left->hood, right->hood);

    if (order == 0 && left->builder->has_time != right->builder->has_time)
        order = left->builder->has_time ? -1 : 1;
    if (order == 0 && left->builder->time != right->builder->time)
        order = left->builder->time < right->builder->time ? -1 : 1;
    return order != 0 ? order : str_compare(left->builder->run.dir, right->builder->run.dir);
}

/* The run that the session at `index` continues: the nearest in time. */
static struct candidate *find_partner(struct candidate *candidates, size_t index)
{
    struct candidate *session = &candidates[index], *best = NULL;
    size_t first = index > LOOK_BACK_MAX ? index - LOOK_BACK_MAX : 0;

    for (size_t i = index; i-- > first;) {
        struct candidate *other = &candidates[i];

        if (!str_equal(other->hood, session->hood) || !may_be_one(other->builder, session->builder))
            break; /* they come by time: those before are further away */
        other = whole(other);
        if (!hosts_differ(other->builder, session->builder))
            continue;
        other->builder->run.joinable = session->builder->run.joinable = true;
        if (are_one(other, session) &&
            (best == NULL || distance_ns(other, session) < distance_ns(best, session)))
            best = other;
    }
    return best;
}

void join_sessions(struct run_builders *builders)
{
    const struct group *group = builders->group;
    struct candidate *candidates = arena_array(group->arena, struct candidate, builders->count);
    size_t count = 0;

    for (size_t i = 0; i < builders->count; i++) {
        struct run_builder *builder = &builders->items[i];

        if (builder->session.count > 0)
            candidates[count++] = (struct candidate){.builder = builder,
                                                     .hood = hood_of_session(builder),
                                                     .window = window_of(group, builder)};
    }
    qsort(candidates, count, sizeof *candidates, by_hood_and_time);
    for (size_t i = 0; i < count; i++) {
        struct candidate *partner = find_partner(candidates, i);

        if (partner == NULL)
            continue;
        if (!str_equal(partner->builder->log, candidates[i].builder->log)) {
            partner->builder->log = partner->hood;
            partner->builder->is_wide = true;
        }
        run_builder_join(group, partner->builder, candidates[i].builder);
        widen(&partner->window, candidates[i].window, false);
        candidates[i].into = partner;
    }
    run_builders_pack(builders, 0);
}

/* What its one trace, or the first of several, turned out to be. */
static const struct scan_known *known_of(const struct group *group,
                                         const struct run_builder *builder)
{
    uint32_t file = 0;

    while (file + 1 < builder->run.file_count && builder->files[file].role != SCAN_TRACE)
        file++;
    return &group->files[builder->files[file].file].known;
}

static bool has_rank(const struct group *group, const struct run_builder *builder, int64_t rank)
{
    for (uint32_t i = 0; i < builder->run.file_count; i++) {
        const struct scan_known *known = &group->files[builder->files[i].file].known;

        if (builder->files[i].role == SCAN_TRACE && known->rank >= 0 && known->rank == rank)
            return true;
    }
    return false;
}

/* Ranks come by start, so a run's first is the one to be compared with. */
static struct candidate *find_job(const struct group *group, struct candidate *candidates,
                                  size_t index)
{
    struct candidate *rank = &candidates[index];
    struct str job = known_of(group, rank->builder)->group;
    size_t first = index > LOOK_BACK_MAX ? index - LOOK_BACK_MAX : 0;

    for (size_t i = index; i-- > first;) {
        struct candidate *other = whole(&candidates[i]);

        if (!str_equal(candidates[i].hood, rank->hood) ||
            !str_equal(known_of(group, candidates[i].builder)->group, job))
            return NULL;
        if (!has_rank(group, other->builder, known_of(group, rank->builder)->rank) &&
            overlap(other->window, rank->window) &&
            (hosts_differ(other->builder, rank->builder) ||
             places_differ(group, other->builder, rank->builder)))
            return other;
    }
    return NULL;
}

static int by_job_and_start(const void *a, const void *b, void *data)
{
    const struct candidate *left = a, *right = b;
    const struct group *group = data;
    int order = str_compare(left->hood, right->hood);

    if (order == 0)
        order = str_compare(known_of(group, left->builder)->group,
                            known_of(group, right->builder)->group);
    if (order == 0 && left->window.start_ns != right->window.start_ns)
        order = left->window.start_ns < right->window.start_ns ? -1 : 1;
    return order != 0 ? order : str_compare(left->builder->run.dir, right->builder->run.dir);
}

struct str scan_neighbourhood(struct str path)
{
    struct str dir = path_dir(path);

    return names_a_place(path_base(dir)) ? path_dir(dir) : dir;
}

static struct str hood_of_file(const struct group *group, const struct run_builder *builder)
{
    return scan_neighbourhood(group->files[builder->files[0].file].path);
}

/* What the keys of two ranks begin with, without the word that counts them: "k/sampled" of
 * "k/sampled_rank-0" and "k/sampled_rank-1". */
static struct str common_start(struct str a, struct str b)
{
    struct str ret = {.at = a.at};

    while (ret.count < a.count && ret.count < b.count && a.at[ret.count] == b.at[ret.count])
        ret.count++;
    ret = cut_end(cut_end(ret, is_digit), is_separator);
    cut_place_word(&ret);
    ret = cut_end(ret, is_separator);
    return str_ends(ret, STR("/")) ? path_dir(ret) : ret;
}

/* One capture of both, under what their names have in common: "traces/step_10" of
 * "traces/rank0/step_10" and "traces/rank1/step_10". */
static void join_rank(const struct group *group, struct run_builder *job, struct run_builder *rank)
{
    struct str base = path_base(rank->key), hood = path_dir(path_dir(rank->key));

    if (job->own_key.count == 0)
        job->own_key = job->key;
    if (str_equal(path_base(job->own_key), base) && places_differ(group, job, rank)) {
        call_hosts_by_place(group, job);
        call_hosts_by_place(group, rank);
        job->key = hood.count == 0
                       ? base
                       : str_format(group->arena, "%.*s/%.*s", STR_ARG(hood), STR_ARG(base));
    } else {
        job->key = common_start(job->key, rank->key);
    }
    run_builder_join(group, job, rank);
}

void join_ranks(struct run_builders *builders, size_t first)
{
    const struct group *group = builders->group;
    struct candidate *candidates =
        arena_array(group->arena, struct candidate, builders->count - first);
    size_t count = 0;

    for (size_t i = first; i < builders->count; i++) {
        struct run_builder *builder = &builders->items[i];
        struct window window = window_of(group, builder);

        if (builder->run.file_count > 0 && known_of(group, builder)->group.count > 0 &&
            window.known)
            candidates[count++] = (struct candidate){
                .builder = builder, .hood = hood_of_file(group, builder), .window = window};
    }
    qsort_r(candidates, count, sizeof *candidates, by_job_and_start, (void *)(uintptr_t)group);
    for (size_t i = 0; i < count; i++) {
        struct candidate *job = find_job(group, candidates, i);

        if (job == NULL)
            continue;
        join_rank(group, job->builder, candidates[i].builder);
        widen(&job->window, candidates[i].window, false);
        candidates[i].into = job;
    }
    run_builders_pack(builders, first);
}
