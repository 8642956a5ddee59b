/* SPDX-License-Identifier: Apache-2.0 */
/* What a Chrome JSON file tells beside its events: what was odd or left out, how many events of
 * each phase there were, and what its clock counts from. */
#include <inttypes.h>

#include "decode/chrome/trace_json.h"

/* JAX's exporter stops at a million events, since June 2026 at five: a round number of them is cut
 * off, whatever the number will be. */
enum { JAX_CAP_STEP = 1000000 };

static void note(struct trace_json *json, const char *kind, enum note_severity severity,
                 uint64_t count, const char *message)
{
    if (count > 0)
        sink_note(json->sink, kind, severity, count, "%s", message);
}

static void note_odd(struct trace_json *json)
{
    const struct odd *odd = &json->odd;

    note(json, "without-time", NOTE_WARNING, odd->without_time,
         "Events without a readable time (ts) are left out.");
    note(json, "unfinished", NOTE_WARNING, odd->without_duration,
         "Slices without a duration (dur) are shown as instants.");
    note(json, "negative-duration", NOTE_WARNING, odd->negative,
         "Slices that end before they begin are shown as instants.");
    note(json, "stray-times", NOTE_WARNING, odd->strays,
         "Events more than an hour away from all others are left out: their clock was probably not "
         "set.");
    note(json, "stray-times", NOTE_WARNING, odd->beyond,
         "Events more than 53 days away from all others are left out.");
    note(json, "stray-times", NOTE_WARNING, odd->too_long,
         "Slices longer than 53 days are left out: their end was probably not recorded.");
    note(json, "left-out", NOTE_WARNING, odd->not_events,
         "Items of the event list that are not objects are left out.");
    note(json, "damaged", NOTE_INFO, odd->no_comma, "A comma is missing between two events.");
    note(json, "unbalanced", NOTE_WARNING, odd->ends_alone,
         "Ends of slices whose begin is not in the file are left out.");
    note(json, "unbalanced", NOTE_WARNING, odd->ends_other,
         "Ends that name a slice that is not open end the innermost open slice.");
    note(json, "unfinished", NOTE_WARNING, odd->cut,
         "Slices whose end is not in the file end with the slice around them.");
    note(json, "left-out", NOTE_WARNING, odd->too_many_open,
         "Slices beyond a million open at the same time are left out.");
    note(json, "args-left-out", NOTE_WARNING, odd->args_left_out,
         "Args beyond 4,096 of an event are left out.");
    note(json, "left-out", NOTE_WARNING, odd->not_numbers,
         "Counter values that are not numbers are left out.");
    note(json, "left-out", NOTE_INFO, odd->snapshots,
         "Snapshots of objects and memory beyond 64 KiB, or 16 MiB together, are left out.");
    note(
        json, "left-out", NOTE_WARNING, odd->samples_beyond,
        "Samples of call stacks beyond two millions, and all beyond 4,096 profiles, are left out.");
    note(json, "left-out", NOTE_WARNING, odd->frames_beyond,
         "Frames of call stacks beyond a million are left out.");
    note(json, "unknown-frame", NOTE_WARNING, odd->frames_missing,
         "Samples name a stack frame that is not in the file.");
    note(json, "left-out", NOTE_WARNING, odd->stacks_cut,
         "Call stacks deeper than 1,024 frames keep the innermost.");
    if (json->is_jax)
        note(json, "tiny", NOTE_INFO, odd->tiny,
             "Slices of exactly 1 ps: JAX's exporter writes events without a duration that way.");
    if (json->is_jax && json->phase_counts['X'] > 0 && json->phase_counts['X'] % JAX_CAP_STEP == 0)
        sink_note(json->sink, "capped", NOTE_WARNING, json->phase_counts['X'],
                  "The file holds exactly %" PRIu64
                  " million events, the limit of JAX's exporter: the rest of the capture is only "
                  "in its *.xplane.pb.",
                  json->phase_counts['X'] / JAX_CAP_STEP);
}

static void note_phases(struct trace_json *json)
{
    struct sink *sink = json->sink;

    for (unsigned phase = 0; phase < 256; phase++) {
        if (json->odd.not_shown[phase] == 0)
            continue;
        if (phase > 0x20 && phase < 0x7f)
            sink_note(sink, "not-shown", NOTE_INFO, json->odd.not_shown[phase],
                      "Events of the unknown phase \"%c\" are not shown.", (int)phase);
        else
            sink_note(sink, "not-shown", NOTE_INFO, json->odd.not_shown[phase],
                      "Events without a known phase are not shown.");
    }
}

static void put_count(struct trace_json *json, const char *key, uint64_t count)
{
    sink_property(
        json->sink, NO_TRACK,
        (struct arg){.key = sink_name(json->sink, str_of(key)), .type = ARG_INT64, .bits = count});
}

static void put_counts(struct trace_json *json)
{
    put_count(json, "events", json->event_count);
    for (unsigned phase = 0; phase < 256; phase++) {
        char key[] = "events of phase ?";

        if (json->phase_counts[phase] == 0 || (phase > 0 && (phase <= 0x20 || phase >= 0x7f)))
            continue;
        key[sizeof key - 2] = (char)phase;
        put_count(json, phase == 0 ? "events without phase" : key, json->phase_counts[phase]);
    }
}

/* Who the events are of, and how precise their times can be. */
static void put_census(struct trace_json *json)
{
    static const char *const keys[] = {[SPELLED_INTEGER] = "times that are whole microseconds",
                                       [SPELLED_DECIMAL] = "times with decimals",
                                       [SPELLED_TEXT] = "times that are texts"};
    uint64_t processes = 0, threads = 0;

    for (uint32_t i = 0; i < json->tracks.process_count; i++)
        processes += json->tracks.processes[i].has_events;
    for (uint32_t i = 0; i < json->tracks.thread_count; i++)
        threads += json->tracks.threads[i].has_events;
    put_count(json, "processes", processes);
    put_count(json, "threads", threads);
    for (int spelling = 0; spelling < SPELLINGS; spelling++)
        if (json->spelled[spelling] > 0)
            put_count(json, keys[spelling], json->spelled[spelling]);
}

/* Kineto of before 2024 counts from 1970, later ones from a base that they name. */
static void put_epoch(struct trace_json *json)
{
    int64_t zero_ns;
    const int64_t unix_2001_us = INT64_C(1000000000000000);
    bool known =
        json->has_unix_base || (json->is_kineto && json->has_base && json->base_us > unix_2001_us);

    if (known && !__builtin_mul_overflow(json->base_us, INT64_C(1000), &zero_ns) &&
        !__builtin_add_overflow(zero_ns, json->unix_base_ns, &zero_ns))
        sink_epoch(json->sink, zero_ns);
    else
        sink_no_epoch(json->sink, json->is_jax
                                      ? STR("JAX's JSON counts time from the start of the capture, "
                                            "whose date it does not record")
                                      : STR("the JSON does not record the origin of its clock"));
}

void about_finish(struct trace_json *json)
{
    note_odd(json);
    note_phases(json);
    put_counts(json);
    put_census(json);
    put_epoch(json);
}
