/* SPDX-License-Identifier: Apache-2.0 */
/* Records in the order of time, paired, into the sink.
 *
 *   track 7    BEGIN a 10   BEGIN b 20   END 30   INSTANT 35   END 40   BEGIN c 50   (end of trace)
 *   slices     a 10 +30 { b 20 +10   35 }                              c 50 cut
 *
 * Writers hand over their packets in bundles, so that a track with several writers is not in order
 * in the file. Records are sorted (most traces need none), begins meet their ends on a stack of
 * their track, and then each slice is given when it begins: parents before children.
 */
#include "decode/perfetto/perfetto.h"

#include <stdlib.h>

#include "base/sort.h"

enum { OPEN_MAX = 1 << 16 }; /* slices of one track inside each other */

static bool is_earlier(const struct record *a, const struct record *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->ordinal < b->ordinal;
}

SORT_DEFINE(sort_records, struct record, is_earlier)

static void put_in_order(struct perfetto *trace)
{
    struct record *records = trace->records.at;

    for (uint32_t i = 1; i < trace->records.count; i++) {
        if (!is_earlier(&records[i], &records[i - 1]))
            continue;
        sort_records(records, trace->records.count);
        return;
    }
}

static void begin(struct perfetto *trace, struct descriptor *track, uint32_t index)
{
    if (track->open_count == OPEN_MAX) {
        trace->too_deep_count++;
        return;
    }
    if (track->open_count == track->open_capacity) {
        track->open_capacity = track->open_capacity == 0 ? 16 : track->open_capacity * 2;
        track->open = memory_resize(track->open, track->open_capacity, sizeof *track->open);
    }
    track->open[track->open_count++] = index;
}

/* Returns where time ends. */
static int64_t pair_up(struct perfetto *trace)
{
    struct record *records = trace->records.at;
    int64_t last_ns = INT64_MIN;

    for (uint32_t i = 0; i < trace->records.count; i++) {
        struct descriptor *track = perfetto_track_at(trace, records[i].track);
        int64_t end_ns = records[i].at_ns + records[i].dur_ns;

        last_ns = end_ns > last_ns ? end_ns : last_ns;
        if (records[i].type == RECORD_BEGIN)
            begin(trace, track, i);
        else if (records[i].type == RECORD_END && track->open_count > 0)
            records[track->open[--track->open_count]].mate = i;
        else if (records[i].type == RECORD_END)
            trace->unmatched_end_count++;
    }
    return last_ns;
}

static enum kind kind_of_record(struct perfetto *trace, const struct record *record)
{
    uint32_t *known = pair_table_at(&trace->kinds, (uint64_t)record->track << 32 | record->name,
                                    record->category);
    const struct descriptor *track = perfetto_track_at(trace, record->track);

    if (*known == PAIR_NONE) {
        struct kind_facts facts = {
            .plane = track->agent != 0                ? STR("/device:GPU")
                     : track->kind == TRACK_OF_THREAD ? STR("process")
                                                      : STR(""),
            .line = sink_text(trace->sink, track->name),
            .name = sink_text(trace->sink, record->name),
            .category = sink_text(trace->sink, record->category),
        };
        *known = (uint32_t)kind_of(&facts);
    }
    return (enum kind) * known;
}

static void give_args(struct perfetto *trace, const struct record *record)
{
    const struct arg *args = trace->args.at;

    for (uint32_t i = 0; i < record->arg_count; i++)
        sink_arg(trace->sink, args[record->first_arg + i]);
}

/* The first event of an id starts the arrow; an id may be used again after its end. */
static void give_flows(struct perfetto *trace, const struct record *record, name_id kind,
                       struct id_map *started)
{
    const struct flow_mark *flows = trace->flows.at;

    for (uint32_t i = 0; i < record->flow_count; i++) {
        const struct flow_mark *flow = &flows[record->first_flow + i];
        bool is_first;

        id_map_add(started, flow->id, 0, &is_first);
        sink_flow(trace->sink,
                  is_first     ? FLOW_FROM
                  : flow->ends ? FLOW_TO
                               : FLOW_STEP,
                  kind, flow->id);
    }
}

static int64_t scaled(int64_t ns)
{
    int64_t ps;

    return __builtin_mul_overflow(ns, INT64_C(1000), &ps) ? (ns < 0 ? INT64_MIN : INT64_MAX) : ps;
}

static void give_slice(struct perfetto *trace, const struct record *record, int64_t last_ns,
                       name_id flow_kind, struct id_map *started)
{
    const struct record *records = trace->records.at;
    const struct record *mate = record->mate == NO_RECORD ? NULL : &records[record->mate];
    struct sink_slice slice = {
        .track = perfetto_track_make(trace, record->track, record->name),
        .start_ps = scaled(record->at_ns - trace->zero_ns),
        .name = record->name,
        .kind = kind_of_record(trace, record),
    };

    if (record->type == RECORD_INSTANT)
        slice.flags = SLICE_INSTANT;
    else if (record->type == RECORD_COMPLETE)
        slice.dur_ps = scaled(record->dur_ns);
    else if (mate != NULL)
        slice.dur_ps = scaled(mate->at_ns - record->at_ns);
    else
        slice.dur_ps = scaled(last_ns - record->at_ns), slice.flags = SLICE_CUT;
    sink_slice(trace->sink, slice);
    if (record->category != 0)
        sink_arg(
            trace->sink,
            (struct arg){.key = trace->key_category, .type = ARG_STRING, .bits = record->category});
    give_args(trace, record);
    give_flows(trace, record, flow_kind, started);
    if (mate != NULL) {
        give_args(trace, mate);
        give_flows(trace, mate, flow_kind, started);
    }
}

void perfetto_slices_make(struct perfetto *trace)
{
    const struct record *records = trace->records.at;
    name_id flow_kind = sink_name(trace->sink, STR("flow"));
    struct id_map started = {0};

    put_in_order(trace);
    perfetto_devices_find(trace);
    int64_t last_ns = pair_up(trace);
    for (uint32_t i = 0; i < trace->records.count && !sink_failed(trace->sink); i++)
        if (records[i].type != RECORD_END)
            give_slice(trace, &records[i], last_ns, flow_kind, &started);
    id_map_free(&started);
}
