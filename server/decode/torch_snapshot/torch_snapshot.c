/* SPDX-License-Identifier: Apache-2.0 */
/* Memory snapshots of PyTorch: what torch.cuda.memory._dump_snapshot writes.
 *
 *   pickle    {segments, device_traces, allocator_settings}
 *     read -> records -> pair -> tell -> sink
 *
 * The file is a pickle, which Python would run: here it is read as data, and one that asks for
 * anything but plain values is refused. Segments are what the allocator holds when the snapshot is
 * taken, traces what it did before; the first is exact, the second a ring that may have lost its
 * beginning. What was there before the history is found from both.
 *
 * A file that is cut off keeps the events that are whole; segments stand before them.
 */
#include "decode/torch_snapshot/torch_snapshot.h"

#include <inttypes.h>
#include <stdlib.h>

static struct str head_text(const struct input *input)
{
    return (struct str){.at = (const char *)input->head.at, .count = input->head.count};
}

/* A pickle that begins with the key of a snapshot, holds one near its beginning, or is called so:
 * who names a file "snapshot.pickle" wants to know why it is not read. */
static bool sniff(const struct input *input)
{
    return pickle_begins(input->head) &&
           (str_contains(head_text(input), STR("segments")) ||
            str_contains(head_text(input), STR("device_traces")) ||
            (str_contains(input->name, STR("snapshot")) &&
             (str_ends(input->name, STR(".pickle")) || str_ends(input->name, STR(".pkl")))));
}

static void find_hull(struct torch_snapshot *snapshot)
{
    snapshot->start_us = INT64_MAX;
    for (uint32_t i = 0; i < snapshot->events.count; i++) {
        int64_t time_us = torch_event_at(snapshot, i)->time_us;

        if (time_us >= 0 && time_us < snapshot->start_us)
            snapshot->start_us = time_us;
        if (time_us > snapshot->end_us)
            snapshot->end_us = time_us;
    }
    if (snapshot->start_us > snapshot->end_us)
        snapshot->start_us = snapshot->end_us = 0;
}

/* Writers before PyTorch 2.2 tell no times: then events stand a microsecond apart. */
static void number_events(struct torch_snapshot *snapshot)
{
    if (snapshot->events.count == 0 || snapshot->no_time_count < snapshot->events.count)
        return;
    for (uint32_t i = 0; i < snapshot->events.count; i++)
        torch_event_at(snapshot, i)->time_us = i;
    sink_note(snapshot->sink, "no-times", NOTE_WARNING, snapshot->events.count,
              "The events have no times; they are shown one microsecond apart, in order. PyTorch "
              "writes times since version 2.2.");
}

static void say_epoch(struct torch_snapshot *snapshot)
{
    const int64_t year_2000_us = INT64_C(946684800000000), year_2200_us = INT64_C(7258118400000000);

    if (snapshot->start_us > year_2000_us && snapshot->start_us < year_2200_us)
        sink_epoch(snapshot->sink, snapshot->start_us * 1000);
    else
        sink_no_epoch(snapshot->sink, STR("the events of the snapshot have no time of day"));
}

static uint32_t count_devices(const struct torch_snapshot *snapshot)
{
    const struct torch_segment *segments = snapshot->segments.at;
    uint32_t count = 0;

    for (uint32_t i = 0; i < snapshot->device_count; i++)
        if (snapshot->devices[i].count > 0)
            count = i + 1;
    for (uint32_t i = 0; i < snapshot->segments.count; i++)
        if (segments[i].device >= count)
            count = segments[i].device + 1;
    return count;
}

static bool has_anything(const struct torch_snapshot *snapshot, uint32_t number)
{
    const struct torch_segment *segments = snapshot->segments.at;

    if (snapshot->devices[number].count > 0)
        return true;
    for (uint32_t i = 0; i < snapshot->segments.count; i++)
        if (segments[i].device == number)
            return true;
    return false;
}

static void say_device(const struct torch_snapshot *snapshot, const struct torch_device *device)
{
    uint32_t unknown = 0;
    const struct torch_before *before = device->before.at;

    for (uint32_t i = 0; i < device->before.count; i++)
        unknown += before[i].stack == NO_STACK;
    if (unknown > 0)
        sink_note(snapshot->sink, "before-history", NOTE_INFO, unknown,
                  "Some allocations were made before the history begins, so their stacks are not "
                  "known; record earlier, or with a larger max_entries in "
                  "torch.cuda.memory._record_memory_history.");
    if (device->lost_count > 0)
        sink_note(snapshot->sink, "lost-frees", NOTE_WARNING, device->lost_count,
                  "Some allocations of the history are neither freed nor in use at the end: the "
                  "file does not contain their frees.");
    if (device->reserved_start < 0 && device->events.count > 0 && !snapshot->is_cut)
        sink_note(snapshot->sink, "odd-segments", NOTE_WARNING, 1,
                  "The history releases more segments than can have existed: reserved memory over "
                  "time is left out.");
}

static void tell_devices(struct torch_snapshot *snapshot)
{
    struct sink *sink = snapshot->sink;
    const uint32_t count = count_devices(snapshot);
    const name_id bytes = sink_name(sink, STR("bytes")), objects = sink_name(sink, STR("count"));

    sink_sample_type(sink, sink_name(sink, STR("space")), bytes);
    sink_sample_type(sink, sink_name(sink, STR("objects")), objects);
    sink_sample_type(sink, sink_name(sink, STR("peak_space")), bytes);
    sink_sample_type(sink, sink_name(sink, STR("peak_objects")), objects);
    sink_property(sink, NO_TRACK,
                  (struct arg){.key = sink_name(sink, STR("default_sample_type")),
                               .type = ARG_STRING,
                               .bits = sink_name(sink, STR("peak_space"))});
    for (uint32_t i = 0; i < count && !sink_failed(sink); i++) {
        struct torch_device device = {.number = i, .events = snapshot->devices[i]};

        if (!has_anything(snapshot, i))
            continue;
        torch_pair(snapshot, &device);
        torch_tell(snapshot, &device);
        torch_tell_samples(snapshot, &device);
        say_device(snapshot, &device);
        scratch_free(snapshot->scratch, device.before.at);
    }
}

static void say_odd(const struct torch_snapshot *snapshot)
{
    if (snapshot->odd_count > 0)
        sink_note(snapshot->sink, "corrupt", NOTE_ERROR, snapshot->odd_count,
                  "Some records have no valid size or address, the first at byte %" PRIu64
                  " of the unpacked file; they are left out.",
                  snapshot->odd_first);
    if (snapshot->unknown_action_count > 0)
        sink_note(snapshot->sink, "unknown-actions", NOTE_INFO, snapshot->unknown_action_count,
                  "Some events have an unknown action and are left out.");
}

/* Bearable when segments or events before that were whole. */
static enum status end_early(struct torch_snapshot *snapshot, const struct pickle *pickle,
                             const struct error *broken, struct error *err)
{
    if (snapshot->segments.count == 0 && snapshot->events.count == 0)
        return fail(err, ERR_TRUNCATED,
                    "%s; the file was probably truncated while copied, or its writer stopped: copy "
                    "it again",
                    broken->message);
    if (!snapshot->has_top)
        torch_keep_cut(snapshot, pickle);
    snapshot->is_cut = true;
    sink_note(snapshot->sink, "truncated", NOTE_ERROR, 1,
              "The file ends early, at byte %zu. Later events are missing, and of the allocations "
              "before the history only those that it frees are known; the file was probably "
              "truncated while copied, or its writer stopped: copy it again.",
              snapshot->file.count);
    return OK;
}

static enum status read_pickle(struct torch_snapshot *snapshot, struct error *err)
{
    const struct pickle_taker taker = {.append = torch_taker.append,
                                       .set = torch_taker.set,
                                       .progress = torch_taker.progress,
                                       .to = snapshot};
    struct pickle *pickle = pickle_create(snapshot->file, snapshot->scratch, &taker);
    struct error broken = {0};
    struct pickle_value value;
    enum status status = pickle_read(pickle, &value, &broken);

    if (status == ERR_TRUNCATED)
        status = end_early(snapshot, pickle, &broken, err);
    else if (status != OK)
        status = fail(err, status, "%s", broken.message);
    else if (!snapshot->has_top)
        status =
            fail(err, ERR_FORMAT,
                 "a pickle without the \"segments\" and \"device_traces\" of a memory snapshot "
                 "of PyTorch; write one with torch.cuda.memory._dump_snapshot(\"FILE\")");
    pickle_destroy(pickle);
    return status;
}

static void make_names(struct torch_snapshot *snapshot)
{
    struct sink *sink = snapshot->sink;

    snapshot->key_address = sink_name(sink, STR("addr"));
    snapshot->key_bytes = sink_name(sink, STR("bytes"));
    snapshot->key_stack = sink_name(sink, STR("stack"));
    snapshot->key_stream = sink_name(sink, STR("stream"));
    snapshot->key_context = sink_name(sink, STR("compile_context"));
    snapshot->key_metadata = sink_name(sink, STR("user_metadata"));
}

static enum status decode_snapshot(struct torch_snapshot *snapshot, struct error *err)
{
    make_names(snapshot);
    TRY(read_pickle(snapshot, err));
    number_events(snapshot);
    find_hull(snapshot);
    say_epoch(snapshot);
    tell_devices(snapshot);
    say_odd(snapshot);
    if (sink_failed(snapshot->sink))
        return fail(err, sink_error(snapshot->sink)->code, "%s",
                    sink_error(snapshot->sink)->message);
    return OK;
}

static enum status decode(struct input *input, struct sink *sink, struct error *err)
{
    struct torch_snapshot *snapshot = memory_zeroed(1, sizeof *snapshot);
    bool packing_cut = false;
    enum status status = input_whole(input, &snapshot->file, &packing_cut, err);

    if (status == OK) {
        snapshot->input = input;
        snapshot->sink = sink;
        snapshot->scratch = scratch_create(input_temporary_dir(input));
        sink_format(sink, decode_torch_snapshot.name);
        if (packing_cut)
            sink_note(sink, "truncated", NOTE_ERROR, 1,
                      "The compressed file is truncated or damaged; the part that could be "
                      "unpacked is shown. Copy it again.");
        status = decode_snapshot(snapshot, err);
        scratch_destroy(snapshot->scratch);
    }
    free(snapshot);
    return status;
}

const struct decoder decode_torch_snapshot = {
    .name = "torch-snapshot", .part = PART_TIMELINE, .sniff = sniff, .decode = decode};
