/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the figures of the overview: steps, kinds, busy shares, top ops, memory and notes. */
#include "analyse/findings/overview.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/comm/collectives.h"
#include "analyse/comm/transfers.h"
#include "analyse/findings/rules_idle.h"
#include "analyse/scan/split.h"
#include "analyse/stats/quantile.h"
#include "analyse/stats/stats.h"
#include "analyse/steps/capture.h"
#include "trace/ps.h"

uint32_t run_notes(const struct run_traces *run, struct arena *arena,
                   const struct answer_note **ret)
{
    uint32_t all = 0, count = 0, trace_count = run->host_count + run->other_count;

    for (uint32_t i = 0; i < trace_count; i++)
        all += run_trace(run, i)->trace->note_count;

    struct answer_note *notes = arena_array(arena, struct answer_note, all);
    struct names *seen =
        names_create(); /* kind and message: the note's ordinal is the id less one */

    for (uint32_t at = 0; at < trace_count; at++) {
        const struct host_trace *host = run_trace(run, at);
        const struct trace *trace = host->trace;

        for (uint32_t i = 0; i < trace->note_count; i++) {
            const struct note *note = &trace->notes[i];
            struct str kind = trace_name(trace, note->kind);
            struct str message = trace_name(trace, note->message);
            uint32_t same =
                names_add(seen, str_format(arena, "%.*s %.*s", STR_ARG(kind), STR_ARG(message))) -
                1;

            if (same < count) {
                notes[same].host = STR(""); /* of several hosts */
                notes[same].count += note->count;
                continue;
            }
            notes[count++] = (struct answer_note){
                .kind = str_c(arena, kind),
                .severity = note->severity,
                .message = message,
                .host = host->name,
                .count = note->count,
            };
        }
    }
    names_destroy(seen);
    *ret = notes;
    return count;
}

static void add_time(struct device_time *sum, const struct device_time *time)
{
    for (int kind = 0; kind <= KIND_COUNT; kind++)
        ps_add(&sum->kinds_ps[kind], time->kinds_ps[kind]);
    for (int doing = 0; doing < DOING_COUNT; doing++)
        ps_add(&sum->doing_ps[doing], time->doing_ps[doing]);
    ps_add(&sum->busy_ps, time->busy_ps);
    ps_add(&sum->hidden_ps, time->hidden_ps);
    ps_add(&sum->wait_ps, time->wait_ps);
}

/* From the first to the last of those that count: warm-up lies before, what is cut behind. */
static struct str numbers_of(const struct steps *steps, struct arena *arena)
{
    int64_t first = INT64_MAX, last = INT64_MIN;

    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];

        if (!counted_step(steps, step))
            continue;
        first = step->number < first ? step->number : first;
        last = step->number > last ? step->number : last;
    }
    if (first > last || first < 0)
        return STR("");
    return str_format(arena, "%" PRId64 "-%" PRId64, first, last);
}

/* A step of several hosts is one on each of them. */
static void count_hosts(const struct run_traces *run, const struct steps *steps,
                        struct arena *arena, struct overview *ret)
{
    uint32_t *counts = arena_array(arena, uint32_t, (size_t)run->host_count + 1);
    uint32_t most = 0, least = UINT32_MAX;

    for (uint32_t i = 0; i < steps->count; i++)
        counts[steps->items[i].host] += counted_step(steps, &steps->items[i]);
    for (uint32_t host = 0; host < run->host_count; host++) {
        if (counts[host] == 0)
            continue;
        ret->step_hosts++;
        most = counts[host] > most ? counts[host] : most;
        least = counts[host] < least ? counts[host] : least;
    }
    ret->even_hosts = most == least;
}

/* After which of the counted steps the loop calls something else. */
static void fill_apart(const struct steps *steps, struct overview *ret)
{
    int64_t sum_ps = 0, beside_ps = 0, last = 0, every = 0;
    uint32_t followed = 0;
    bool regular = ret->step_hosts == 1;

    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];

        if (!counted_step(steps, step))
            continue;
        ps_add(&beside_ps, step->beside_ps);
        ps_add(&sum_ps, step->apart_ps);
        ret->apart_count += step->apart_ps > 0;
        if (!step->followed)
            continue;
        regular &= followed < 2 || step->number - last == every;
        every = followed > 0 ? step->number - last : 0;
        last = step->number;
        followed++;
    }
    ret->apart = steps->apart;
    ret->beside = steps->beside;
    ret->apart_every =
        regular && every > 1 && every <= INT32_MAX && followed > 2 ? (uint32_t)every : 0;
    ret->apart_ps = ps_mean(sum_ps, ret->apart_count);
    ret->beside_ps = ps_mean(beside_ps, ret->counted);
}

static void fill_steps(const struct steps *steps, struct arena *arena, struct overview *ret)
{
    int64_t *durs_ps = memory_resize(NULL, steps->count, sizeof(*durs_ps));
    struct quantiles *spread = quantiles_create(steps->count, 0);

    ret->rule = steps->rule;
    ret->rule_text = steps->rule_text;
    ret->doubt = steps->doubt;
    ret->confidence = steps->confidence;
    ret->confidence_text = steps->confidence_text;
    ret->step_count = steps->count;
    ret->warmup_count = steps->warmup_count;
    ret->cut_count = steps->cut_count;
    ret->time_rule = steps->time_rule;
    ret->others = steps->others;
    ret->ahead_max = steps->ahead_max;
    ret->host_ps = steps->count > 0 && steps->items[0].host_dur_ps >= 0 ? 0 : -1;
    ret->min_ps = INT64_MAX;
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];

        if (!counted_step(steps, step))
            continue;
        durs_ps[ret->counted++] = step->dur_ps;
        quantiles_add(spread, step->dur_ps);
        ps_add(&ret->total_ps, step->dur_ps);
        if (step->dur_ps < ret->min_ps)
            ret->min_ps = step->dur_ps;
        if (step->dur_ps > ret->max_ps)
            ret->max_ps = step->dur_ps;
        if (ret->host_ps >= 0 && step->host_dur_ps >= 0)
            ps_add(&ret->host_ps, step->host_dur_ps);
        add_time(&ret->time, &step->time);
    }
    if (ret->counted > 0) {
        ret->mean_ps = (ret->total_ps + ret->counted / 2) / ret->counted;
        ret->median_ps = median_of(durs_ps, ret->counted);
        ret->p95_ps = quantile_of(durs_ps, ret->counted, 95);
        ret->stdev_ps = quantiles_stdev(spread);
    } else {
        ret->min_ps = 0;
    }
    ret->numbers = numbers_of(steps, arena);
    ret->time_total_ps = ret->total_ps;
    quantiles_free(spread);
    free(durs_ps);
}

/* Where the devices of a host were walked for their idle time, that tells this too. */
static bool told_by_idle(const struct run_traces *run, uint32_t host, const struct window *window,
                         const struct idle *idle, struct arena *arena, struct device_time *ret)
{
    struct host_devices devices = host_devices_of(&run->hosts[host], arena);
    struct device_time *lanes = arena_array(arena, struct device_time, devices.count);
    uint32_t count = 0;

    for (uint32_t i = 0; i < idle->device_count; i++) {
        const struct idle_device *device = &idle->devices[i];

        if (device->host == host && device->start_ps == window->from_ps &&
            device->window_ps == window->to_ps - window->from_ps && count < devices.count)
            lanes[count++] = device->time;
    }
    if (count == 0 || count < devices.count)
        return false;
    *ret = breakdown_mean(&devices, lanes);
    return true;
}

/* Without steps: the whole capture of each host, or the window asked for. */
static enum status fill_capture(struct memo *memo, const struct counted *counted,
                                struct overview *ret, struct error *err)
{
    const struct run_traces *run = memo->run;
    const struct idle *idle;

    TRY(memo_idle(memo, &idle, err));
    for (uint32_t host = 0; host < run->host_count; host++) {
        for (uint32_t at = 0; at < counted->window_counts[host]; at++) {
            const struct window *window = &counted->windows[host][at];
            struct device_time time;

            if (idle->of_steps || !told_by_idle(run, host, window, idle, memo->arena, &time))
                time = breakdown_of(&run->hosts[host], window->from_ps, window->to_ps);
            add_time(&ret->time, &time);
        }
    }
    ret->time_total_ps = counted->total_ps;
    return OK;
}

/* Of hosts that began together; each takes it for itself. */
static int64_t profiler_of(const struct selections *selections, bool whole)
{
    int64_t most_ps = 0;

    for (uint32_t i = 0; i < selections->count && whole; i++) {
        const struct trace *trace = selections->items[i].host->trace;
        struct window window = capture_window(trace);
        int64_t own_ps = trace->end_ps - trace->start_ps - (window.to_ps - window.from_ps);

        most_ps = own_ps > most_ps ? own_ps : most_ps;
    }
    return most_ps;
}

static int64_t hull_of(const struct selections *selections)
{
    int64_t from_ps = INT64_MAX, to_ps = INT64_MIN;

    for (uint32_t i = 0; i < selections->count; i++) {
        const struct host_trace *host = selections->items[i].host;

        if (host->trace->start_ps + host->offset_ps < from_ps)
            from_ps = host->trace->start_ps + host->offset_ps;
        if (host->trace->end_ps + host->offset_ps > to_ps)
            to_ps = host->trace->end_ps + host->offset_ps;
    }
    return from_ps < to_ps ? to_ps - from_ps : 0;
}

/* Rows stand by self time. Beyond the table's page there may be more; then it is not known. */
static struct most_of_time most_of(const struct table *ops)
{
    struct most_of_time ret = {.of = ops->row_count_all};
    int64_t sum_ps = 0, wanted_ps = ops->total_self_ps / 5 * 4;

    if (ops->total_self_ps <= 0 || ops->row_count == 0)
        return ret;
    ret.first = table_text_at(ops, 0, "name");
    while (!ret.known && ret.count < ops->row_count) {
        int64_t self_ps = 0;

        table_integer_at(ops, (uint32_t)ret.count++, "self_ps", &self_ps);
        ps_add(&sum_ps, self_ps);
        ret.known = sum_ps >= wanted_ps;
    }
    return ret;
}

static void fill_ops(const struct table *ops, struct overview *ret)
{
    ret->ops = ops;
    ret->top = *ops;
    if (ret->top.row_count > OVERVIEW_TOP) {
        ret->top.row_count = OVERVIEW_TOP;
        ret->top.next = OVERVIEW_TOP;
    }
    ret->most = most_of(ops);
}

static void fill_notes(const struct run_traces *run, const struct steps *steps,
                       const struct note_list *notes, struct arena *arena, struct overview *ret)
{
    struct answer_note *all =
        arena_array(arena, struct answer_note, notes->count + LEFT_OUT_NOTES + 1);

    if (notes->count > 0)
        memcpy(all, notes->items, notes->count * sizeof(*all));
    ret->notes = all;
    ret->note_count = notes->count + steps_left_out(run, steps, arena, &all[notes->count]);
    if (steps->doubt.count > 0)
        all[ret->note_count++] = (struct answer_note){
            .kind = "steps-doubted",
            .severity = NOTE_WARNING,
            .message = str_format(arena,
                                  "Steps were found, but their times do not agree with the rest of "
                                  "the profile: %.*s.",
                                  STR_ARG(steps->doubt)),
            .count = 1,
        };
}

enum { SNAPSHOT_ROWS = 10000 };

/* Who owns most, over devices and kinds: rows part them. */
static void fill_owners(const struct table *rows, struct arena *arena, struct overview *ret)
{
    struct names *seen = names_create(); /* the owner's ordinal is the id less one */
    struct snapshot_owner *all = arena_array(arena, struct snapshot_owner, rows->row_count);
    uint32_t count = 0;

    for (uint32_t row = 0; row < rows->row_count; row++) {
        struct str name = table_text_at(rows, row, "name");
        int64_t bytes;

        if (!table_integer_at(rows, row, "value", &bytes) || bytes <= 0)
            continue;

        uint32_t at = names_add(seen, name) - 1;

        if (at == count)
            all[count++] = (struct snapshot_owner){.name = name};
        ps_add(&all[at].bytes, bytes);
    }
    names_destroy(seen);
    for (ret->owner_count = 0; ret->owner_count < SNAPSHOT_OWNERS; ret->owner_count++) {
        uint32_t most = 0;

        for (uint32_t i = 1; i < count; i++)
            most = all[i].bytes > all[most].bytes ? i : most;
        if (count == 0 || all[most].bytes <= 0)
            break;
        ret->owners[ret->owner_count] = all[most];
        all[most].bytes = 0;
    }
}

static enum status find_snapshot(struct memo *memo, struct overview *ret, struct error *err)
{
    const struct page page = {.limit = SNAPSHOT_ROWS};
    const struct snapshot_question newest = {.snapshot = STR("")};

    TRY(snapshot_table(memo->run, &newest, &page, memo->arena, &ret->snapshot, err));
    ret->has_snapshot =
        ret->snapshot.snapshot != NULL && str_equal(ret->snapshot.unit, STR("bytes"));
    if (ret->has_snapshot)
        fill_owners(&ret->snapshot.table, memo->arena, ret);
    if (ret->snapshot.table.row_count > SNAPSHOT_OWNERS) {
        ret->snapshot.table.row_count = SNAPSHOT_OWNERS;
        ret->snapshot.table.next = SNAPSHOT_OWNERS;
    }
    return OK;
}

/* A window alone has no path: it cuts what waits for what. */
static void fill_path(struct memo *memo, const struct steps *steps, struct overview *ret)
{
    if (ret->counted == 0 && memo->restriction->has_window) {
        ret->path.reason = STR("the window holds no step");
        return;
    }
    critical_places(memo->run, steps, memo->arena, &ret->path);
    ret->path_sentence = critical_sentence(&ret->path, memo->arena);
}

static void look_for_steps(struct memo *memo)
{
    const struct counted *counted;
    struct error unseen = {0};

    (void)!memo_counted(memo, &counted, &unseen);
}

static void look_for_collectives(struct memo *memo)
{
    const struct collectives *collectives;
    struct error unseen = {0};

    (void)!memo_collectives(memo, &collectives, &unseen);
}

static void look_for_idle_time(struct memo *memo)
{
    const struct idle *idle;
    struct error unseen = {0};

    (void)!memo_kept_waiting(memo, &idle, &unseen);
}

static void look_for_copies(struct memo *memo)
{
    const struct transfers *transfers;
    const struct efficiency *efficiency;
    struct error unseen = {0};

    (void)!memo_transfers(memo, &transfers, &unseen);
    (void)!memo_efficiency(memo, &efficiency, &unseen);
}

/* What takes longest of what every overview and its rules ask, on two threads where the run is
 * large; who needs what failed sees it fail.
 *
 *   this thread   |- steps -------|- idle time ----------|  the rest
 *   another       |- collectives -|- copies, efficiency -|
 */
static void look_ahead(struct memo *memo)
{
    static memo_half *const first[2] = {look_for_steps, look_for_collectives};
    static memo_half *const then[2] = {look_for_idle_time, look_for_copies};
    uint64_t entries = 0;

    for (uint32_t i = 0; i < memo->run->host_count; i++)
        if (memo->run->hosts[i].attribution != NULL)
            entries += memo->run->hosts[i].attribution->entry_count;
    if (split_count(entries) < 2)
        return;
    memo_side_by_side(memo, first);
    memo_side_by_side(memo, then);
}

enum status overview(struct memo *memo, struct overview *ret, struct error *err)
{
    const struct selections *selections;
    const struct counted *counted;
    const struct steps *steps;
    const struct note_list *notes;
    const struct table *ops;

    *ret = (struct overview){0};
    look_ahead(memo);
    TRY(memo_selections(memo, &selections, err));
    TRY(memo_steps(memo, &steps, err));
    TRY(memo_counted(memo, &counted, err));
    TRY(memo_ops(memo, &ops, err));
    TRY(memo_notes(memo, &notes, err));
    TRY(memory_summary(memo->run, memo->restriction, memo->arena, &ret->memory, err));
    TRY(find_snapshot(memo, ret, err));
    fill_steps(steps, memo->arena, ret);
    count_hosts(memo->run, steps, memo->arena, ret);
    fill_apart(steps, ret);
    if (ret->counted == 0)
        TRY(fill_capture(memo, counted, ret, err));
    overview_threads(memo->run, steps, counted, memo->arena, ret);
    overview_devices(selections, memo->arena, ret);
    ret->basis = overview_basis(memo->run, ret, memo->arena);
    ret->duration_ps = hull_of(selections);
    ret->profiler_ps = profiler_of(selections, ret->counted == 0 && !memo->restriction->has_window);
    fill_ops(ops, ret);
    op_placement_find(selections->items, selections->count, memo->arena, &ret->places);
    fill_notes(memo->run, steps, notes, memo->arena, ret);
    TRY(overview_efficiency(memo, steps, ret, err));
    ret->sentence = overview_sentence(ret, memo->arena);
    fill_path(memo, steps, ret);
    findings_find(memo, &ret->findings);
    return OK;
}
