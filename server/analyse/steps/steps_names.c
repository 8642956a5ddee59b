/* SPDX-License-Identifier: Apache-2.0 */
/* Steps by the names of spans on a host's threads.
 *
 * First those that a program marks by a range's name alone: NVTX, PyTorch's record_function,
 * annotations without a number of their own.
 *
 *   |iteration 0 ..........|iteration 1 ..........|       a number at the end counts them
 *   |train_step ...|   |train_step ...|                    or the same name comes again, where the
 *                                                         file says that the program marked it
 *
 * A name tells of steps where all of its words do: "Optimizer.step#Adam.step" is a part of one,
 * "layer 3" of what is inside. Of a name that is asked for, any is taken.
 *
 * Where nothing marks steps and no device tells of them, from one update of PyTorch's optimizer to
 * the next:
 *
 *   |load| forward, backward |Optimizer.step|load| forward, backward |Optimizer.step|
 *                             step 0 begins ^              and ends, as step 1 begins ^
 *
 * Last, a span that comes again and again and covers most of its thread.
 */
#include <stdlib.h>

#include "analyse/steps/steps_parts.h"
#include "trace/args/args.h"
#include "trace/names/by_name.h"
#include "trace/ps.h"

enum { REPEATS_MIN = 3, WORD_MAX = 16 };

/* A thread's lanes hold what others noted of it: calls of a driver, turns on a CPU. The program
 * itself speaks in NVTX alone. */
static bool is_noted_by_others(const struct trace *trace, const struct track *track)
{
    return track->parent != NO_TRACK && trace->tracks[track->parent].kind == TRACK_THREAD &&
           track->kind == TRACK_THREAD && !str_starts(trace_name(trace, track->name), STR("NVTX"));
}

static bool is_letter(char letter)
{
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

static bool is_one_of(struct str word, const char *const *words, size_t count)
{
    char text[WORD_MAX];

    if (word.count > sizeof text)
        return false;
    for (size_t i = 0; i < word.count; i++)
        text[i] = ascii_lower(word.at[i]);
    for (size_t i = 0; i < count; i++) {
        if (str_equal((struct str){text, word.count}, str_of(words[i])))
            return true;
    }
    return false;
}

/* Do all words speak of steps, and one of a single step, or is it numbered? */
static bool tells_of_steps(struct str name, bool numbered)
{
    static const char *const steps[] = {"step", "iter", "iteration", "batch", "minibatch"};
    static const char *const beside[] = {"train", "training",   "eval", "evaluation", "valid",
                                         "val",   "validation", "test", "infer",      "inference",
                                         "run",   "predict",    "one",  "epoch",      "global"};
    bool any = false, one = false;

    for (size_t at = 0, end; at < name.count; at = end) {
        for (end = at; end < name.count && is_letter(name.at[end]);)
            end++;
        if (end == at) {
            end++;
            continue;
        }

        struct str word = {name.at + at, end - at};
        bool step = is_one_of(word, steps, COUNT(steps));

        if (!step && !is_one_of(word, beside, COUNT(beside)))
            return false;
        any = true;
        one |= step;
    }
    return one || (any && numbered);
}

static bool is_called(struct str name, struct str asked)
{
    return str_equal(name, asked) || str_equal(step_stem(name), asked);
}

/* NVTX's lanes hold nothing but what programs mark; of Kineto's events the category says so. */
static bool is_mark(const struct trace *trace, const struct track *track, event_id event)
{
    type_id type = trace_type(trace, event);
    name_id cat, annotation;

    if (str_starts(trace_name(trace, track->name), STR("NVTX")))
        return true;
    if (type >= trace->type_count || !trace_find_name(trace, STR("cat"), &cat) ||
        !trace_find_name(trace, STR("user_annotation"), &annotation))
        return false;
    for (uint32_t i = 0; i < trace->types[type].arg_count; i++) {
        const struct arg *arg = &trace->type_args[trace->types[type].first_arg + i];

        if (arg->key == cat && arg->bits == annotation)
            return true;
    }
    return false;
}

/* `any`: also what is no mark as far as the file says. */
static void add_run(const struct host_trace *host, uint32_t index, const struct name_run *run,
                    bool any, struct step_list *list)
{
    const struct trace *trace = host->trace;
    const struct track *track = &trace->tracks[trace->rows[run->row].track];
    const slice_id *slices = NULL;

    if (track->device < 0 && !track->derived && !is_noted_by_others(trace, track))
        slices = trace_name_slices(trace, run);
    for (uint32_t at = 0; slices != NULL && at < run->count; at++) {
        struct slice slice = trace_slice(trace, slices[at]);
        struct step step = step_of(host, index, &slice);

        step.numbered = step_number_at_end(step.name, &step.number);
        if (slice.dur_ps > 0 && (any || step.numbered || is_mark(trace, track, slice.event)))
            step_list_add(list, step);
    }
}

/* `asked`: "" for names that tell of steps. */
static void find_names(const struct host_trace *host, uint32_t index, struct str asked,
                       struct step_list *list)
{
    const struct name_stats *stats;
    uint32_t count = trace_name_stats(host->trace, &stats), from = list->count;

    for (uint32_t i = 0; i < count; i++) {
        struct str name = trace_name(host->trace, stats[i].name);
        uint32_t run_count;
        int64_t number;

        if (stats[i].count > STEPS_MAX ||
            !(asked.count > 0 ? is_called(name, asked)
                              : tells_of_steps(name, step_number_at_end(name, &number))))
            continue;

        const struct name_run *runs = trace_name_runs(host->trace, stats[i].name, &run_count);

        for (uint32_t run = 0; run < run_count; run++)
            add_run(host, index, &runs[run], asked.count > 0, list);
    }
    if (asked.count == 0 && list->count - from < REPEATS_MIN)
        list->count = from;
}

void find_iterations(const struct host_trace *host, uint32_t index, struct step_list *list)
{
    find_names(host, index, STR(""), list);
}

void find_called(const struct host_trace *host, uint32_t index, struct str asked,
                 struct step_list *list)
{
    find_names(host, index, asked, list);
}

static bool is_upper(char letter)
{
    return letter >= 'A' && letter <= 'Z';
}

/* cuStreamSynchronize, cudaLaunchKernel, hipMemcpyAsync, ncclAllReduce: a driver's or a library's
 * call. */
static bool is_call(struct str name)
{
    static const char *const libraries[] = {"cu", "cuda", "hip", "hsa_", "nccl", "nvtx"};

    for (size_t i = 0; i < COUNT(libraries); i++) {
        size_t length = strlen(libraries[i]);

        if (str_starts(name, str_of(libraries[i])) && name.count > length &&
            (libraries[i][length - 1] == '_' || is_upper(name.at[length])))
            return true;
    }
    return false;
}

/* Can a name of a top-level slice stand for steps? Python frames, pool marks and calls of a driver
 * cannot. */
static bool may_repeat(struct str name)
{
    return name.count > 0 && !str_starts(name, STR("$")) && !str_starts(name, STR("end: ")) &&
           !str_contains(name, STR("::")) && !is_call(name);
}

struct update { /* of an optimizer, on one thread */
    struct slice slice;
    int64_t end_ps;
    name_id name;
    uint32_t inside; /* slices: another model's optimizer has others */
    bool ends;       /* a step */
};

struct updates { /* by begin */
    struct update *items;
    uint32_t count;
};

static int update_by_start(const void *left, const void *right)
{
    const struct update *a = left, *b = right;

    return (a->slice.start_ps > b->slice.start_ps) - (a->slice.start_ps < b->slice.start_ps);
}

/* Slices of the track that touch [from, to). */
static uint32_t slices_between(const struct trace *trace, const struct track *track,
                               int64_t from_ps, int64_t to_ps)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < track->row_count; i++) {
        const struct row *row = &trace->rows[track->first_row + i];
        uint32_t first, end;

        row_window(trace, row, from_ps, to_ps, &first, &end);
        sum += end - first;
    }
    return sum;
}

/* Slices of all names that begin so, on the host's track that has most of them. */
static struct updates slices_called(const struct trace *trace, struct str begin)
{
    struct updates ret = {0};
    const struct name_stats *stats;
    uint32_t count = trace_name_stats(trace, &stats), all = 0, most = 0;
    uint32_t *by_track = memory_zeroed((size_t)trace->track_count + 1, sizeof *by_track);

    for (int round = 0; round < 2; round++) {
        if (round == 1)
            ret.items = memory_resize(NULL, (size_t)by_track[most] + 1, sizeof *ret.items);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t run_count;

            if (!str_starts(trace_name(trace, stats[i].name), begin) || stats[i].count > STEPS_MAX)
                continue;

            const struct name_run *runs = trace_name_runs(trace, stats[i].name, &run_count);

            for (uint32_t run = 0; run < run_count; run++) {
                track_id track = trace->rows[runs[run].row].track;
                const slice_id *slices = trace_name_slices(trace, &runs[run]);

                if (trace->tracks[track].device >= 0 || trace->tracks[track].derived ||
                    slices == NULL)
                    continue;
                by_track[track] += round == 0 ? runs[run].count : 0;
                for (uint32_t at = 0; round == 1 && track == most && at < runs[run].count; at++) {
                    struct slice slice = trace_slice(trace, slices[at]);

                    ret.items[ret.count++] =
                        (struct update){.slice = slice,
                                        .end_ps = slice.start_ps + slice.dur_ps,
                                        .name = slice.name,
                                        .ends = true};
                }
            }
        }
        for (track_id id = 0; round == 0 && id < trace->track_count; id++) {
            most = by_track[id] > by_track[most] ? id : most;
            all += by_track[id];
        }
        if (all == 0)
            break;
    }
    free(by_track);
    if (ret.count > 0)
        qsort(ret.items, ret.count, sizeof *ret.items, update_by_start);
    return ret;
}

/* One that calls another one is one update. */
static void drop_inner(struct updates *updates)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < updates->count; i++) {
        if (kept == 0 || updates->items[i].slice.start_ps >= updates->items[kept - 1].end_ps)
            updates->items[kept++] = updates->items[i];
    }
    updates->count = kept;
}

static bool is_alike(const struct update *a, const struct update *b)
{
    return a->name == b->name && a->inside == b->inside;
}

static bool is_namesake(const struct update *a, const struct update *b)
{
    return a->name == b->name;
}

/* The most seldom kind of `kinds` ends a turn of the loop. */
static void end_with_seldom(struct updates *updates, const struct update *kinds,
                            const uint32_t *counts, uint32_t count,
                            bool (*alike)(const struct update *a, const struct update *b))
{
    uint32_t seldom = 0;

    for (uint32_t i = 1; i < count; i++)
        seldom = counts[i] <= counts[seldom] ? i : seldom;
    for (uint32_t i = 0; i < updates->count; i++)
        updates->items[i].ends = alike(&updates->items[i], &kinds[seldom]);
}

/* Several optimizers take turns where nearly all updates are of kinds that come again, or where
 * they have several names. Updates of one name of which each does other things are one's. */
static void find_turns(struct updates *updates, uint32_t times_min,
                       bool (*alike)(const struct update *a, const struct update *b))
{
    enum { AGAIN_PERCENT = 80, KINDS_MAX = 8, RARE_MAX = 1000 };
    struct update kinds[KINDS_MAX];
    uint32_t counts[KINDS_MAX], count = 0, again = 0, rare = 0;

    for (uint32_t i = 0; i < updates->count; i++) {
        uint32_t times = 0, known = 0;

        while (known < count && !alike(&kinds[known], &updates->items[i]))
            known++;
        for (uint32_t at = 0; known == count && at < updates->count; at++)
            times += alike(&updates->items[at], &updates->items[i]);
        rare += known == count && times < times_min;
        if (rare > RARE_MAX || (known == count && times >= times_min && count == KINDS_MAX))
            return;
        if (known < count || times < times_min)
            continue;
        kinds[count] = updates->items[i];
        counts[count++] = times;
        again += times;
    }
    if (count > 1 && again * 100 >= updates->count * AGAIN_PERCENT)
        end_with_seldom(updates, kinds, counts, count, alike);
}

/* Between two loads of data of a loop with several updates a turn: the last one ends it. Does each
 * turn hold as many loads, or each load as many updates? */
static bool agree_with_loads(const struct trace *trace, struct updates *updates)
{
    enum { AGREE_PERCENT = 80 };
    struct updates loads = slices_called(trace, STR("enumerate(DataLoader)#"));
    uint32_t between = 0, alike = 0, pairs = 0, turns = 0, last = UINT32_MAX, load = 0;

    if (loads.count < REPEATS_MIN || updates->count == 0) {
        free(loads.items);
        return false;
    }
    for (uint32_t i = 0; i < updates->count; i++)
        turns += updates->items[i].ends;
    for (uint32_t i = 0; loads.count * 3 <= turns * 2 && i < updates->count; i++) {
        while (load < loads.count && loads.items[load].slice.start_ps < updates->items[i].end_ps)
            load++;
        updates->items[i].ends = i + 1 == updates->count ||
                                 (load < loads.count && loads.items[load].slice.start_ps <
                                                            updates->items[i + 1].slice.start_ps);
    }
    load = 0;
    for (uint32_t i = 0; i < updates->count; i++) {
        if (!updates->items[i].ends)
            continue;
        for (between = 0;
             load < loads.count && loads.items[load].slice.start_ps < updates->items[i].end_ps;
             load++)
            between++;
        if (last != UINT32_MAX) {
            pairs++;
            alike += between > 0 && between == last;
        }
        last = between;
    }
    free(loads.items);
    return pairs > 0 && alike * 100 >= pairs * AGREE_PERCENT;
}

void find_updates(const struct host_trace *host, uint32_t index, struct step_list *list)
{
    const struct trace *trace = host->trace;
    struct updates updates = slices_called(trace, STR("Optimizer.step#"));
    const struct update *last = NULL;
    uint32_t from = list->count;

    drop_inner(&updates);
    for (uint32_t i = 0; i < updates.count; i++) {
        struct update *update = &updates.items[i];

        update->inside = slices_between(trace, &trace->tracks[trace->rows[update->slice.row].track],
                                        update->slice.start_ps, update->end_ps);
    }
    find_turns(&updates, 1, is_namesake);
    find_turns(&updates, REPEATS_MIN, is_alike);
    bool agree = agree_with_loads(trace, &updates);

    for (uint32_t i = 0; i < updates.count; i++) {
        if (!updates.items[i].ends)
            continue;
        if (last != NULL) {
            struct step step = step_of(host, index, &updates.items[i].slice);

            step.start_ps = last->end_ps + host->offset_ps;
            step.dur_ps = updates.items[i].end_ps - last->end_ps;
            step_list_add(list, step);
        }
        last = &updates.items[i];
    }
    free(updates.items);
    if (list->count - from < REPEATS_MIN)
        list->count = from;
    list->unsure |= list->count > from && !agree;
    step_list_settle(list, from);
}

static int64_t total_of(const struct trace *trace, const struct name_run *run)
{
    const slice_id *slices = trace_name_slices(trace, run);
    int64_t total_ps = 0;

    for (uint32_t at = 0; at < run->count; at++)
        ps_add(&total_ps, trace_slice(trace, slices[at]).dur_ps);
    return total_ps;
}

/* A top-level slice of a host's thread that comes at least three times, covers at least half of the
 * time from its first to its last, and that time a quarter of the trace. */
void find_repeated(const struct host_trace *host, uint32_t index, struct step_list *list)
{
    const struct trace *trace = host->trace;
    const struct name_run *best = NULL;
    const struct name_stats *stats;
    uint32_t count = trace_name_stats(trace, &stats), from = list->count;
    int64_t best_ps = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t run_count;
        const struct name_run *runs = trace_name_runs(trace, stats[i].name, &run_count);

        if (stats[i].count < 3 || stats[i].count > STEPS_MAX || stats[i].total_ps <= best_ps ||
            !may_repeat(trace_name(trace, stats[i].name)))
            continue;
        for (uint32_t run = 0; run < run_count; run++) {
            const struct row *row = &trace->rows[runs[run].row];
            const slice_id *slices = trace_name_slices(trace, &runs[run]);
            int64_t total_ps;

            if (slices == NULL || runs[run].count < 3 || runs[run].count > STEPS_MAX ||
                row->depth != 0 || trace->tracks[row->track].device >= 0 ||
                trace->tracks[row->track].derived ||
                is_noted_by_others(trace, &trace->tracks[row->track]))
                continue;

            struct slice first = trace_slice(trace, slices[0]);
            struct slice last = trace_slice(trace, slices[runs[run].count - 1]);

            int64_t extent_ps = last.start_ps + last.dur_ps - first.start_ps;

            /* What all slices of the name take, those of one run cannot exceed. */
            if (extent_ps < (trace->end_ps - trace->start_ps) / 4 ||
                stats[i].total_ps < extent_ps / 2)
                continue;
            total_ps = run_count == 1 ? stats[i].total_ps : total_of(trace, &runs[run]);
            if (total_ps > best_ps && total_ps >= extent_ps / 2) {
                best = &runs[run];
                best_ps = total_ps;
            }
        }
    }
    for (uint32_t at = 0; best != NULL && at < best->count; at++) {
        struct slice slice = trace_slice(trace, trace_name_slices(trace, best)[at]);

        step_list_add(list, step_of(host, index, &slice));
    }
    step_list_settle(list, from);
}
