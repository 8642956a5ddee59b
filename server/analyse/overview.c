#include "analyse/overview.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/quantile.h"
#include "analyse/restrict.h"
#include "analyse/top.h"

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

static struct str device_name(const struct trace *trace, int32_t device, struct arena *arena)
{
    for (track_id id = 0; id < trace->track_count; id++) {
        struct str name = trace_name(trace, trace->tracks[id].name);

        if (trace->tracks[id].device == device && trace->tracks[id].kind == TRACK_DEVICE &&
            (str_starts(name, STR("/device:")) || str_contains(name, STR("GPU"))))
            return name;
    }
    return str_format(arena, "device %d", device);
}

enum { DEVICES_MAX = 4096 }; /* ordinals come from the file and may be any number */

/* Busy times of one host's devices over the whole trace, as they are stored. */
static uint32_t host_devices(const struct selection *selection, struct arena *arena,
                             struct device_busy **devices, uint32_t count, uint32_t *capacity)
{
    const struct attribution *attribution = selection->host->attribution;

    for (uint32_t i = 0; attribution != NULL && i < attribution->device_count; i++) {
        const struct device_total *total = &attribution->devices[i];
        int64_t hull_ps = total->end_ps - total->start_ps;

        if (!selection_has_device(selection, total->device))
            continue;
        if (count == DEVICES_MAX)
            break;
        if (count == *capacity) {
            *capacity = *capacity == 0 ? 16 : 2 * *capacity;
            *devices = memory_resize(*devices, *capacity, sizeof(**devices));
        }
        (*devices)[count++] = (struct device_busy){
            .name = device_name(selection->host->trace, total->device, arena),
            .host = selection->index,
            .device = total->device,
            .busy_ps = total->busy_ps,
            .idle_ps = hull_ps - total->busy_ps,
            .busy_share = hull_ps > 0 ? (double)total->busy_ps / (double)hull_ps : 0,
        };
    }
    return count;
}

static void fill_devices(const struct selection *selections, uint32_t count, struct arena *arena,
                         struct overview *ret)
{
    struct device_busy *devices = NULL, *kept;
    uint32_t capacity = 0, device_count = 0;

    for (uint32_t i = 0; i < count; i++)
        device_count = host_devices(&selections[i], arena, &devices, device_count, &capacity);
    kept = arena_array(arena, struct device_busy, device_count);
    if (device_count > 0)
        memcpy(kept, devices, device_count * sizeof(*kept));
    free(devices);
    ret->devices = kept;
    ret->device_count = device_count;
}

/* What the devices are called: the first property that says it. */
static struct str device_kind(const struct trace *trace)
{
    static const char *const keys[] = {"gpu_device_name", "device_type_string", "device_name"};

    for (size_t key = 0; key < COUNT(keys); key++) {
        name_id id;

        if (!trace_find_name(trace, str_of(keys[key]), &id))
            continue;
        for (uint32_t i = 0; i < trace->property_count; i++) {
            if (trace->properties[i].arg.key == id && trace->properties[i].arg.type == ARG_STRING)
                return trace_name(trace, (name_id)trace->properties[i].arg.bits);
        }
    }
    return STR("");
}

static bool has_device_track(const struct trace *trace)
{
    for (track_id id = 0; id < trace->track_count; id++) {
        if (trace->tracks[id].device >= 0)
            return true;
    }
    return false;
}

static struct str basis_of(const struct run_traces *run, const struct overview *overview,
                           struct arena *arena)
{
    uint32_t count = overview->device_count;
    const char *many = count == 1 ? "" : "s";

    if (run->host_count == 0)
        return STR("no timeline");
    if (count == 0)
        return str_format(arena, "%u host%s without devices", run->host_count,
                          run->host_count == 1 ? "" : "s");

    const struct trace *trace = run->hosts[overview->devices[0].host].trace;

    if (!has_device_track(trace))
        return str_format(arena, "%u XLA:CPU device%s on host threads", count, many);

    struct str kind = device_kind(trace);

    return kind.count > 0 ? str_format(arena, "%u \u00D7 %.*s", count, STR_ARG(kind))
                          : str_format(arena, "%u device%s", count, many);
}

static void fill_steps(const struct steps *steps, struct overview *ret)
{
    int64_t *durs_ps = memory_resize(NULL, steps->count, sizeof(*durs_ps));
    struct quantiles *spread = quantiles_create(steps->count, 0);

    ret->rule = steps->rule;
    ret->rule_text = steps->rule_text;
    ret->step_count = steps->count;
    ret->warmup_count = steps->warmup_count;
    ret->min_ps = INT64_MAX;
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];

        if (step->warmup && steps->warmup_count < steps->count)
            continue;
        durs_ps[ret->counted++] = step->dur_ps;
        quantiles_add(spread, step->dur_ps);
        ret->total_ps += step->dur_ps;
        if (step->dur_ps < ret->min_ps)
            ret->min_ps = step->dur_ps;
        if (step->dur_ps > ret->max_ps)
            ret->max_ps = step->dur_ps;
        for (int kind = 0; kind <= KIND_COUNT; kind++)
            ret->breakdown_ps[kind] += step->time.kinds_ps[kind];
    }
    if (ret->counted > 0) {
        ret->mean_ps = (ret->total_ps + ret->counted / 2) / ret->counted;
        ret->median_ps = quantile_of(durs_ps, ret->counted, 50);
        ret->p95_ps = quantile_of(durs_ps, ret->counted, 95);
        ret->stdev_ps = quantiles_stdev(spread);
    } else {
        ret->min_ps = 0;
    }
    ret->breakdown_total_ps = ret->total_ps;
    quantiles_free(spread);
    free(durs_ps);
}

/* Without steps: the whole capture of each host, or the window asked for. */
static void fill_capture(const struct selection *selections, uint32_t count, struct overview *ret)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct host_trace *host = selections[i].host;

        for (uint32_t at = 0; at < selections[i].window_count; at++) {
            struct window window = selections[i].windows[at];

            if (window.from_ps < host->trace->start_ps)
                window.from_ps = host->trace->start_ps;
            if (window.to_ps > host->trace->end_ps)
                window.to_ps = host->trace->end_ps;
            if (window.from_ps >= window.to_ps)
                continue;

            struct device_time time = breakdown_of(host, window.from_ps + host->offset_ps,
                                                   window.to_ps + host->offset_ps);

            for (int kind = 0; kind <= KIND_COUNT; kind++)
                ret->breakdown_ps[kind] += time.kinds_ps[kind];
            ret->breakdown_total_ps += window.to_ps - window.from_ps;
        }
    }
}

static int64_t hull_of(const struct selection *selections, uint32_t count)
{
    int64_t from_ps = INT64_MAX, to_ps = INT64_MIN;

    for (uint32_t i = 0; i < count; i++) {
        const struct host_trace *host = selections[i].host;

        if (host->trace->start_ps + host->offset_ps < from_ps)
            from_ps = host->trace->start_ps + host->offset_ps;
        if (host->trace->end_ps + host->offset_ps > to_ps)
            to_ps = host->trace->end_ps + host->offset_ps;
    }
    return from_ps < to_ps ? to_ps - from_ps : 0;
}

enum status overview(const struct run_traces *run, const struct restriction *restriction,
                     struct arena *arena, struct overview *ret, struct error *err)
{
    const struct page page = {.limit = 10};
    const struct top_question question = {0};
    struct steps steps;
    struct selection *selections;
    uint32_t count;

    *ret = (struct overview){0};
    TRY(restrict_run(run, restriction, arena, &selections, &count, err));
    TRY(steps_find(run, restriction, arena, &steps, err));
    steps_breakdown(run, &steps);
    fill_steps(&steps, ret);
    if (ret->counted == 0)
        fill_capture(selections, count, ret);
    fill_devices(selections, count, arena, ret);
    ret->basis = basis_of(run, ret, arena);
    ret->duration_ps = hull_of(selections, count);
    ret->note_count = run_notes(run, arena, &ret->notes);
    return top(run, restriction, &question, &page, arena, &ret->top, err);
}
