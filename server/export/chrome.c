/* SPDX-License-Identifier: Apache-2.0 */
/* Chrome JSON out.
 *
 *   {"displayTimeUnit": "ns", "otherData": {run, epoch_ns}, "traceEvents": [
 *   M  names and order of processes and threads
 *   X  slices, row by row from the top: a parent stands before its children
 *   i  instants     C  counters
 *   s f  flows, each with an id of its own
 *   ]}
 *
 *   pid   a host's outermost track      tid   track + 1, and a million more for each lane
 */
#include <inttypes.h>
#include <stdlib.h>

#include "export/export.h"
#include "export/lanes.h"
#include "export/slice_rows.h"
#include "export/text_out.h"
#include "trace/events/counter.h"

enum { LANE_TIDS = 1000000, TYPE_TEXT_MAX = 512, PS_PER_NS = 1000 };

struct chrome { /* one export */
    const struct export_run *run;
    struct text_out out;
    struct chunk *chunk;
    bool any;
    uint64_t flow_count;

    /* Of the host at hand. */
    const struct export_host *host;
    uint32_t pid_base; /* pid = base + root track + 1 */
    struct slice_args args;
    name_id key_cat;
    bool has_cat;

    /* Of the track at hand. */
    track_id track;
    struct lanes lanes;
    uint8_t *lane_named; /* by lane */
};

/* Run time rounded down to whole nanoseconds: in order stays in order. */
static int64_t to_ns(const struct chrome *chrome, int64_t file_ps)
{
    int64_t ps;

    if (__builtin_add_overflow(file_ps, chrome->host->offset_ps, &ps))
        ps = file_ps < 0 ? INT64_MIN : INT64_MAX;
    return ps / PS_PER_NS - (ps % PS_PER_NS < 0);
}

static track_id root_of(const struct trace *trace, track_id track)
{
    while (trace->tracks[track].parent != NO_TRACK)
        track = trace->tracks[track].parent;
    return track;
}

static void begin_event(struct chrome *chrome, const char *phase, track_id track, uint32_t lane)
{
    struct text_out *out = &chrome->out;

    text_out_put(out, chrome->any ? STR(",\n{\"ph\":\"") : STR("\n{\"ph\":\""));
    chrome->any = true;
    text_out_put(out, str_of(phase));
    text_out_puts(out, "\",\"pid\":");
    text_out_uint(out, chrome->pid_base + root_of(chrome->host->trace, track) + 1);
    text_out_puts(out, ",\"tid\":");
    text_out_uint(out, (uint64_t)lane * LANE_TIDS + track + 1);
}

static void put_time(struct chrome *chrome, int64_t ns)
{
    text_out_puts(&chrome->out, ",\"ts\":");
    text_out_micros(&chrome->out, ns);
}

static void put_metadata(struct chrome *chrome, const char *what, track_id track, uint32_t lane,
                         struct str name)
{
    begin_event(chrome, "M", track, lane);
    text_out_puts(&chrome->out, ",\"name\":\"");
    text_out_put(&chrome->out, str_of(what));
    text_out_puts(&chrome->out, "\",\"args\":{\"name\":");
    text_out_json(&chrome->out, name);
    text_out_puts(&chrome->out, "}}");
}

static void put_sort_index(struct chrome *chrome, const char *what, track_id track, uint32_t lane,
                           uint64_t index)
{
    begin_event(chrome, "M", track, lane);
    text_out_puts(&chrome->out, ",\"name\":\"");
    text_out_put(&chrome->out, str_of(what));
    text_out_puts(&chrome->out, "\",\"args\":{\"sort_index\":");
    text_out_uint(&chrome->out, index);
    text_out_puts(&chrome->out, "}}");
}

static void name_process(struct chrome *chrome, track_id root)
{
    struct str name = trace_name(chrome->host->trace, chrome->host->trace->tracks[root].name);
    struct text whole = {0};

    if (chrome->run->host_count > 1)
        text_putf(&whole, "%.*s ", STR_ARG(chrome->host->name));
    text_put(&whole, name.at, name.count);
    put_metadata(chrome, "process_name", root, 0, text_str(&whole));
    put_sort_index(chrome, "process_sort_index", root, 0, chrome->pid_base + root);
    text_free(&whole);
}

/* Threads are named when something lies in them. */
static void name_lane(struct chrome *chrome, uint32_t lane)
{
    struct str name =
        trace_name(chrome->host->trace, chrome->host->trace->tracks[chrome->track].name);
    struct text whole = {0};

    if (chrome->lane_named[lane])
        return;
    chrome->lane_named[lane] = true;
    text_put(&whole, name.at, name.count);
    if (lane > 0)
        text_putf(&whole, " (lane %u)", lane + 1);
    put_metadata(chrome, "thread_name", chrome->track, lane, text_str(&whole));
    put_sort_index(chrome, "thread_sort_index", chrome->track, lane,
                   (uint64_t)chrome->track * 4096 + lane);
    text_free(&whole);
}

static void put_arg_value(struct chrome *chrome, struct arg arg)
{
    struct text_out *out = &chrome->out;
    double real;
    struct str text = arg.type == ARG_STRING || arg.type == ARG_BYTES || arg.type == ARG_JSON
                          ? trace_name(chrome->host->trace, (name_id)arg.bits)
                          : STR("");

    switch (arg.type) {
    case ARG_INT64:
        text_out_int(out, (int64_t)arg.bits);
        break;
    case ARG_UINT64:
        text_out_uint(out, arg.bits);
        break;
    case ARG_DIGITS:
        text_out_puts(out, "\"");
        text_out_uint(out, arg.bits);
        text_out_puts(out, "\"");
        break;
    case ARG_DOUBLE:
        memcpy(&real, &arg.bits, sizeof real);
        text_out_double(out, real);
        break;
    case ARG_BOOL:
        text_out_put(out, arg.bits ? STR("true") : STR("false"));
        break;
    case ARG_JSON:
        if (text_is_json(text))
            text_out_put(out, text);
        else
            text_out_json(out, text);
        break;
    case ARG_STRING:
    case ARG_BYTES:
        text_out_json(out, text);
        break;
    default:
        text_out_puts(out, "null");
    }
}

static void put_arg(struct chrome *chrome, struct arg arg, bool *first)
{
    text_out_put(&chrome->out, *first ? STR(",\"args\":{") : STR(","));
    *first = false;
    text_out_json(&chrome->out, trace_name(chrome->host->trace, arg.key));
    text_out_puts(&chrome->out, ":");
    put_arg_value(chrome, arg);
}

/* Long texts that all events of a type share would stand in each of them. */
static bool is_long(const struct trace *trace, struct arg arg)
{
    return (arg.type == ARG_STRING || arg.type == ARG_BYTES || arg.type == ARG_JSON) &&
           trace_name(trace, (name_id)arg.bits).count > TYPE_TEXT_MAX;
}

static void put_args(struct chrome *chrome, const struct type *type, const struct arg *args,
                     uint32_t count)
{
    const struct trace *trace = chrome->host->trace;
    bool first = true;

    for (uint32_t i = 0; i < type->arg_count; i++) {
        struct arg arg = trace->type_args[type->first_arg + i];
        bool is_cat = chrome->has_cat && arg.key == chrome->key_cat;

        if (!is_cat && !is_long(trace, arg))
            put_arg(chrome, arg, &first);
    }
    for (uint32_t i = 0; i < count; i++)
        put_arg(chrome, args[i], &first);
    if (!first)
        text_out_puts(&chrome->out, "}");
}

/* The category the file gave, else the kind of work. */
static struct str category_of(const struct chrome *chrome, const struct type *type, uint8_t kind)
{
    const struct trace *trace = chrome->host->trace;

    for (uint32_t i = 0; chrome->has_cat && i < type->arg_count; i++) {
        struct arg arg = trace->type_args[type->first_arg + i];

        if (arg.key == chrome->key_cat && arg.type == ARG_STRING)
            return trace_name(trace, (name_id)arg.bits);
    }
    return str_of(kind_word(kind));
}

static void put_slice(struct chrome *chrome, const struct row *row, const struct chunk *chunk,
                      uint32_t index)
{
    static const struct type no_type;
    const struct trace *trace = chrome->host->trace;
    bool instant = (chunk->flags[index] & SLICE_INSTANT) != 0;
    int64_t start_ns = to_ns(chrome, chunk->start_ps[index]);
    int64_t end_ns = to_ns(chrome, chunk->start_ps[index] + chunk->dur_ps[index]);
    uint32_t lane = lane_of(&chrome->lanes, chunk->first_slice + index, row->depth);
    const struct arg *args;
    type_id of_type;
    uint32_t count = slice_args_of(&chrome->args, chunk->event[index], &args, &of_type);
    const struct type *type = of_type < trace->type_count ? &trace->types[of_type] : &no_type;

    name_lane(chrome, lane);
    begin_event(chrome, instant ? "i" : "X", chrome->track, lane);
    put_time(chrome, start_ns);
    if (instant) {
        text_out_puts(&chrome->out, ",\"s\":\"t\"");
    } else {
        text_out_puts(&chrome->out, ",\"dur\":");
        text_out_micros(&chrome->out, end_ns - start_ns);
    }
    text_out_puts(&chrome->out, ",\"name\":");
    text_out_json(&chrome->out, trace_name(trace, chunk->name[index]));
    text_out_puts(&chrome->out, ",\"cat\":");
    text_out_json(&chrome->out, category_of(chrome, type, chunk->kind[index]));
    put_args(chrome, type, args, count);
    text_out_puts(&chrome->out, "}");
}

static enum status visit_chunk(void *data, const struct row *row, const struct chunk *chunk,
                               uint32_t first, uint32_t end, struct error *err)
{
    struct chrome *chrome = data;

    for (uint32_t index = first; index < end && !chrome->out.failed; index++)
        put_slice(chrome, row, chunk, index);
    return chrome->out.failed ? fail(err, ERR_IO, "the client disconnected") : OK;
}

static void put_counter(struct chrome *chrome, track_id track)
{
    const struct trace *trace = chrome->host->trace;
    uint64_t count = 0;
    const struct counter_sample *samples = trace_samples(trace, track, &count);
    int64_t start_ns = chrome->run->start_ps / PS_PER_NS, end_ns = chrome->run->end_ps / PS_PER_NS;

    for (uint64_t i = 0; i < count && !chrome->out.failed; i++) {
        int64_t at_ns = to_ns(chrome, samples[i].at_ps);

        if (chrome->run->has_window && (at_ns < start_ns || at_ns > end_ns))
            continue;
        begin_event(chrome, "C", track, 0);
        put_time(chrome, at_ns);
        text_out_puts(&chrome->out, ",\"name\":");
        text_out_json(&chrome->out, trace_name(trace, trace->tracks[track].name));
        text_out_puts(&chrome->out, ",\"args\":{\"value\":");
        text_out_double(&chrome->out, samples[i].value);
        text_out_puts(&chrome->out, "}}");
    }
}

static enum status put_track(struct chrome *chrome, track_id id, struct error *err)
{
    const struct trace *trace = chrome->host->trace;
    const struct track *track = &trace->tracks[id];
    enum status status = OK;

    chrome->track = id;
    if (track->parent == NO_TRACK)
        name_process(chrome, id);
    put_counter(chrome, id);
    if (track->row_count == 0)
        return OK;
    lanes_open(&chrome->lanes, trace, track, chrome->chunk);
    chrome->lane_named = memory_zeroed(track->row_count + 1, 1);
    for (uint32_t row = 0; row < track->row_count && status == OK; row++)
        status = slice_rows_walk(chrome->run, chrome->host, &trace->rows[track->first_row + row],
                                 chrome->chunk, visit_chunk, chrome, err);
    free(chrome->lane_named);
    lanes_close(&chrome->lanes);
    return status;
}

static bool in_window(const struct chrome *chrome, const struct slice *slice)
{
    const struct export_run *run = chrome->run;
    int64_t offset_ps = chrome->host->offset_ps;

    return !run->has_window || (slice->start_ps + offset_ps < run->end_ps &&
                                slice->start_ps + slice->dur_ps + offset_ps >= run->start_ps);
}

/* An end lies inside its slice, or readers bind it to another. */
static void put_flow_end(struct chrome *chrome, const char *phase, const struct flow *flow,
                         const struct slice *slice, uint32_t lane, int64_t at_ps)
{
    int64_t start_ns = to_ns(chrome, slice->start_ps);
    int64_t end_ns = to_ns(chrome, slice->start_ps + slice->dur_ps), at_ns = to_ns(chrome, at_ps);
    struct str kind = trace_name(chrome->host->trace, flow->kind);

    at_ns = at_ns > end_ns ? end_ns : at_ns < start_ns ? start_ns : at_ns;
    begin_event(chrome, phase, chrome->host->trace->rows[slice->row].track, lane);
    put_time(chrome, at_ns);
    text_out_puts(&chrome->out, ",\"id\":");
    text_out_uint(&chrome->out, chrome->flow_count);
    text_out_puts(&chrome->out, ",\"name\":");
    text_out_json(&chrome->out, kind.count > 0 ? kind : STR("flow"));
    text_out_puts(&chrome->out, ",\"cat\":\"flow\",\"bp\":\"e\"}");
}

static enum status put_flows(struct chrome *chrome, const struct lanes *lanes, struct error *err)
{
    const struct trace *trace = chrome->host->trace;

    for (uint64_t i = 0; i < trace->flow_count; i++) {
        const struct flow *flow = &trace->flows[i];
        struct slice from = trace_slice(trace, flow->from), to = trace_slice(trace, flow->to);
        const struct row *from_row = &trace->rows[from.row], *to_row = &trace->rows[to.row];

        if (i % 4096 == 0 && chrome->run->cancelled != NULL &&
            chrome->run->cancelled(chrome->run->data))
            return fail(err, ERR_CANCELLED, "the export was stopped");
        if (!in_window(chrome, &from) || !in_window(chrome, &to))
            continue;
        chrome->flow_count++;
        put_flow_end(chrome, "s", flow, &from,
                     lane_of(&lanes[from_row->track], flow->from, from_row->depth), flow->from_ps);
        put_flow_end(chrome, "f", flow, &to,
                     lane_of(&lanes[to_row->track], flow->to, to_row->depth), flow->to_ps);
    }
    return OK;
}

static enum status put_host_flows(struct chrome *chrome, struct error *err)
{
    const struct trace *trace = chrome->host->trace;

    if (trace->flow_count == 0)
        return OK;
    struct lanes *lanes = memory_resize(NULL, trace->track_count, sizeof *lanes);

    for (track_id track = 0; track < trace->track_count; track++)
        lanes_open(&lanes[track], trace, &trace->tracks[track], chrome->chunk);
    enum status status = put_flows(chrome, lanes, err);

    for (track_id track = 0; track < trace->track_count; track++)
        lanes_close(&lanes[track]);
    free(lanes);
    return status;
}

static enum status put_host(struct chrome *chrome, const struct export_host *host,
                            struct error *err)
{
    enum status status = OK;

    chrome->host = host;
    chrome->has_cat = trace_find_name(host->trace, STR("cat"), &chrome->key_cat);
    slice_args_open(&chrome->args, host->trace);
    for (track_id track = 0; track < host->trace->track_count && status == OK; track++)
        status = put_track(chrome, track, err);
    if (status == OK)
        status = put_host_flows(chrome, err);
    slice_args_close(&chrome->args);
    chrome->pid_base += host->trace->track_count;
    return status;
}

static void put_head(struct chrome *chrome)
{
    struct text_out *out = &chrome->out;

    text_out_puts(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"run\":");
    text_out_json(out, chrome->run->name);
    if (chrome->run->has_epoch) {
        text_out_puts(out, ",\"epoch_ns\":\"");
        text_out_int(out, chrome->run->epoch_ns);
        text_out_puts(out, "\"");
    }
    text_out_puts(out, "},\"traceEvents\":[");
}

enum status export_chrome(const struct export_run *run, pack_write *write, void *to,
                          struct error *err)
{
    struct chrome chrome = {.run = run};
    enum status status = OK;

    chrome.chunk = memory_resize(NULL, 1, sizeof *chrome.chunk);
    text_out_open(&chrome.out, write, to, err);
    put_head(&chrome);
    for (uint32_t host = 0; host < run->host_count && status == OK; host++)
        status = put_host(&chrome, &run->hosts[host], err);
    text_out_puts(&chrome.out, "\n]}\n");
    enum status closed = text_out_close(&chrome.out);

    free(chrome.chunk);
    return status != OK ? status : closed;
}
