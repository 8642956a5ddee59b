/* SPDX-License-Identifier: Apache-2.0 */
/* Perfetto's protobuf trace: what the tracing service, the SDK and rocprofv3 write as *.pftrace and
 * *.perfetto-trace.
 *
 *   Trace        1 packets*
 *   TracePacket  8 timestamp  58 clock  10 sequence  13 flags  41 cleared  42 packets dropped
 *                12 interned texts  59 defaults, and one of
 *                11 track event  60 track descriptor  43, 44 old descriptors  6 clock snapshot
 *                2 process tree  50 packets packed by zlib  133 by zstd
 *                ... a hundred others, which are counted and told in one note
 *
 * The file is walked twice: descriptors and clock snapshots first, because both may stand behind
 * what needs them; then events, which wait as records until they can be put in the order of time.
 *
 * A file that is cut off keeps every packet that is whole.
 *
 * The messages are those of protos/perfetto/trace in the Perfetto project.
 */
#include "decode/perfetto/perfetto.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "decode/decode.h"
#include "decode/foreign.h"

enum {
    PACKET_PROCESS_TREE = 2,
    PACKET_CLOCKS = 6,
    PACKET_EVENT = 11,
    PACKET_OLD_PROCESS = 43,
    PACKET_OLD_THREAD = 44,
    PACKET_ZLIB = 50,
    PACKET_DESCRIPTOR = 60,
    PACKET_ZSTD = 133,
    PROGRESS_PACKETS = 1 << 16,
};

/* A bundle is half a megabyte at most where it is written; together no more than a file may be. */
static const struct unpack_budget bundle_budget = {.bytes_max = 64 << 20, .ratio_max = 2000};
static const uint64_t unpacked_bytes_max = UINT64_C(16) << 30;

static const struct {
    uint32_t number;
    const char *word;
} kind_words[] = {
    {1, "ftrace"},
    {4, "file map"},
    {5, "Chrome event"},
    {7, "system statistics"},
    {9, "process statistics"},
    {33, "trace configuration"},
    {34, "ftrace statistics"},
    {35, "trace statistics"},
    {36, "synchronisation marker"},
    {37, "heap profile"},
    {38, "battery"},
    {39, "Android log"},
    {40, "power rail"},
    {45, "system information"},
    {46, "trigger"},
    {47, "package list"},
    {49, "metatrace"},
    {51, "Chrome metadata"},
    {52, "GPU counter"},
    {53, "GPU render stage"},
    {54, "streaming profile"},
    {56, "heap graph"},
    {61, "symbol"},
    {62, "Vulkan memory"},
    {63, "GPU log"},
    {65, "Vulkan call"},
    {66, "CPU sample"},
    {67, "CPU information"},
    {68, "memory map"},
    {69, "tracing service"},
    {71, "GPU memory"},
    {72, "extension descriptor"},
    {73, "memory tracker"},
    {78, "UI state"},
    {82, "translation table"},
    {84, "statsd"},
    {89, "trace id"},
    {90, "range of interest"},
    {95, "Windows event"},
    {107, "remote clock"},
    {128, "GPU information"},
    {129, "GPU frequency"},
    {135, "stack sample"},
};

/* The writer of a sequence is told last in a packet: one that is cut off says nothing. */
static struct bytes whole_packets(struct bytes head)
{
    struct error broken = {0};
    struct pb pb = pb_open(head, &broken);
    const uint8_t *end = head.at;

    for (struct pb_field field; pb_next(&pb, &field);)
        end = pb.at;
    return end == head.at ? head : (struct bytes){.at = head.at, .count = (size_t)(end - head.at)};
}

/* A packet of packets, which needs no writer. */
static bool is_bundle(const struct pb *outer, const struct pb_field *packet)
{
    struct error broken = {0};
    struct pb pb = pb_inside(outer, packet->bytes, &broken);

    for (struct pb_field field; pb_next(&pb, &field);) {
        struct bytes data = field.bytes;
        bool is_zlib =
            data.count > 2 && data.at[0] == 0x78 && (data.at[0] << 8 | data.at[1]) % 31 == 0;
        bool is_zstd = data.count > 4 && memcmp(data.at, "\x28\xb5\x2f\xfd", 4) == 0;

        if (field.wire == PB_BYTES &&
            ((field.number == PACKET_ZLIB && is_zlib) || (field.number == PACKET_ZSTD && is_zstd)))
            return true;
    }
    return false;
}

/* Bundles, and packets that say who wrote them. */
static bool holds_bundles(struct bytes head)
{
    struct error broken = {0};
    struct pb pb = pb_open(head, &broken);
    const uint8_t *start = pb.at;
    bool found = false;

    for (struct pb_field field; pb_next(&pb, &field); start = pb.at) {
        struct bytes whole = {.at = start, .count = (size_t)(pb.at - start)};

        if (field.number != 1 || field.wire != PB_BYTES)
            return false;
        if (is_bundle(&pb, &field))
            found = true;
        else if (!field.cut && !shape_fits(whole, &shape_perfetto))
            return false;
    }
    return found;
}

/* Results of TensorFlow's profiler are lists of messages, too, and say more of their shape. */
static bool sniff(const struct input *input)
{
    static const struct shape *const others[] = {&shape_kernel_stats, &shape_overview,
                                                 &shape_input_pipeline, &shape_tensorflow_stats};

    if (holds_bundles(input->head))
        return true;
    if (!shape_fits(whole_packets(input->head), &shape_perfetto))
        return false;
    for (size_t i = 0; i < COUNT(others); i++)
        if (shape_fits(input->head, others[i]))
            return false;
    return true;
}

void *perfetto_add(struct perfetto *trace, struct list *list, size_t size, uint32_t max)
{
    if (list->count == max) {
        fail(sink_error(trace->sink), ERR_LIMIT, "the trace has more than %" PRIu32 " records",
             max);
        return NULL;
    }
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 256 : list->capacity * 2;
        list->at = scratch_resize(trace->scratch, list->at, list->capacity, size);
    }
    return (char *)list->at + size * list->count++;
}

void perfetto_damaged(struct perfetto *trace, const struct pb *pb, struct bytes part)
{
    if (trace->damage_count++ == 0)
        trace->damage_first = pb_position(pb, part.at);
}

/* What a packet says around its data. */
static void take_around(struct packet *packet, const struct pb_field *field)
{
    switch (field->number) {
    case 8:
        packet->timestamp = field->varint;
        packet->has_timestamp = true;
        break;
    case 10:
        packet->sequence = (uint32_t)field->varint;
        break;
    case 13:
        packet->cleared |= (field->varint & 1) != 0;
        packet->needs_state = (field->varint & 2) != 0;
        break;
    case 41:
        packet->cleared |= field->varint != 0;
        break;
    case 42:
        packet->dropped = field->varint != 0;
        break;
    case 58:
        packet->clock = (uint32_t)field->varint;
        break;
    case 12:
        packet->interned = field->bytes;
        break;
    case 59:
        packet->defaults = field->bytes;
        break;
    case 3:  /* trusted user */
    case 79: /* trusted process */
    case 87: /* first of its sequence */
    case 98: /* machine */
        break;
    default:
        if (field->wire == PB_BYTES) {
            packet->kind = field->number;
            packet->data = field->bytes;
        }
    }
}

static bool read_packet(const struct pb *outer, struct bytes message, struct packet *ret)
{
    struct error broken = {0};
    struct pb pb = pb_inside(outer, message, &broken);

    *ret = (struct packet){.pb = outer};
    for (struct pb_field field; pb_next(&pb, &field);)
        take_around(ret, &field);
    return broken.code == OK;
}

typedef void packet_visit(struct perfetto *trace, const struct packet *packet);

static void walk(struct perfetto *trace, struct pb *pb, packet_visit *visit, bool may_unpack);

/* A bundle of packets, in memory for the walk. */
static void walk_bundle(struct perfetto *trace, const struct packet *packet, packet_visit *visit)
{
    struct error broken = {0};
    struct unpack *unpack =
        unpack_open(packet->data, packet->kind == PACKET_ZLIB ? PACKING_ZLIB : PACKING_ZSTD,
                    bundle_budget, &broken);
    struct text content = {0};

    for (struct bytes piece; (piece = unpack_next(unpack)).count > 0;)
        text_put(&content, (const char *)piece.at, piece.count);
    unpack_close(unpack);
    trace->packed_failure_count += broken.code != OK;
    trace->unpacked_bytes += content.count;
    if (trace->unpacked_bytes > unpacked_bytes_max) {
        fail(sink_error(trace->sink), ERR_LIMIT, "the packed packets unpack to more than 16 GiB");
    } else {
        struct bytes bytes = {.at = (const uint8_t *)content.at, .count = content.count};
        struct error cut = {0};
        struct pb pb = pb_open(bytes, &cut);
        walk(trace, &pb, visit, false);
        trace->packed_failure_count += cut.code != OK;
    }
    text_free(&content);
}

static void walk(struct perfetto *trace, struct pb *pb, packet_visit *visit, bool may_unpack)
{
    struct packet packet;

    for (struct pb_field field; !sink_failed(trace->sink) && pb_next(pb, &field);) {
        if (field.number != 1 || field.wire != PB_BYTES)
            continue;
        if (!read_packet(pb, field.bytes, &packet))
            perfetto_damaged(trace, pb, field.bytes);
        else if (may_unpack && (packet.kind == PACKET_ZLIB || packet.kind == PACKET_ZSTD))
            walk_bundle(trace, &packet, visit);
        else
            visit(trace, &packet);
    }
}

static void gather(struct perfetto *trace, const struct packet *packet)
{
    struct descriptor old = {0};
    int64_t reference_us;
    bool is_whole = true;

    switch (packet->kind) {
    case PACKET_CLOCKS:
        is_whole = perfetto_clocks_gather(trace, packet);
        break;
    case PACKET_DESCRIPTOR:
        is_whole = perfetto_track_read_descriptor(trace, packet->pb, packet->data);
        break;
    case PACKET_PROCESS_TREE:
        is_whole = perfetto_track_read_process_tree(trace, packet->pb, packet->data);
        break;
    case PACKET_OLD_PROCESS:
        is_whole = perfetto_track_read_process(trace, packet->pb, packet->data, &old);
        break;
    case PACKET_OLD_THREAD:
        is_whole = perfetto_track_read_thread(trace, packet->pb, packet->data, &old, &reference_us);
        break;
    case PACKET_EVENT:
        if (!trace->has_first_event && packet->has_timestamp) {
            trace->has_first_event = true;
            trace->first_event_time = packet->timestamp;
        }
        break;
    }
    if (!is_whole)
        perfetto_damaged(trace, packet->pb, packet->data);
}

static void old_thread(struct perfetto *trace, const struct packet *packet,
                       struct sequence *sequence)
{
    struct descriptor thread = {0};

    sequence->reference_us = 0;
    if (!perfetto_track_read_thread(trace, packet->pb, packet->data, &thread,
                                    &sequence->reference_us))
        return; /* told by the first walk */
    sequence->has_thread = true;
    sequence->thread = perfetto_track_of_thread(trace, thread.pid, thread.tid);
}

static void read(struct perfetto *trace, const struct packet *packet)
{
    struct sequence *sequence = perfetto_sequence(trace, packet);

    if (++trace->packet_count % PROGRESS_PACKETS == 0)
        sink_progress(trace->sink, pb_position(packet->pb, packet->data.at), trace->file.count);
    if (sequence == NULL)
        return;
    switch (packet->kind) {
    case 0:
    case PACKET_DESCRIPTOR:
    case PACKET_PROCESS_TREE:
    case PACKET_OLD_PROCESS:
        break;
    case PACKET_CLOCKS:
        perfetto_clocks_reset(trace, packet);
        break;
    case PACKET_OLD_THREAD:
        old_thread(trace, packet, sequence);
        break;
    case PACKET_EVENT:
        trace->has_events = true;
        perfetto_event_read(trace, packet, sequence);
        break;
    default:
        if (packet->kind < KINDS_COUNTED)
            trace->kind_counts[packet->kind]++;
        else
            trace->other_kind_count++;
    }
}

/* "31 ftrace, 2 process statistics, 1 of kind 104" */
static uint64_t list_unread(const struct perfetto *trace, struct text *ret)
{
    uint64_t total = trace->other_kind_count;

    for (uint32_t kind = 0; kind < KINDS_COUNTED; kind++) {
        const char *word = NULL;

        if (trace->kind_counts[kind] == 0)
            continue;
        for (size_t i = 0; i < COUNT(kind_words); i++)
            if (kind_words[i].number == kind)
                word = kind_words[i].word;
        text_putf(ret, "%s%" PRIu64, ret->count > 0 ? ", " : "", trace->kind_counts[kind]);
        if (word != NULL)
            text_putf(ret, " %s", word);
        else
            text_putf(ret, " of kind %" PRIu32, kind);
        total += trace->kind_counts[kind];
    }
    if (trace->other_kind_count > 0)
        text_putf(ret, "%s%" PRIu64 " of other kinds", ret->count > 0 ? ", " : "",
                  trace->other_kind_count);
    return total;
}

static void say(struct perfetto *trace, const char *kind, enum note_severity severity,
                uint64_t count, const char *message)
{
    if (count > 0)
        sink_note(trace->sink, kind, severity, count, "%s", message);
}

static void say_what_was_odd(struct perfetto *trace)
{
    struct text unread = {0};
    uint64_t unread_count = list_unread(trace, &unread);

    if (unread_count > 0)
        sink_note(trace->sink, "not-read", NOTE_INFO, unread_count,
                  "Packets of these kinds are not read: %.*s.", STR_ARG(text_str(&unread)));
    text_free(&unread);
    say(trace, "no-events", NOTE_WARNING, trace->packet_count > 0 && !trace->has_events,
        "The trace holds no track events; what it recorded is of kinds that jviewd does not read.");
    if (trace->damage_count > 0)
        sink_note(trace->sink, "corrupt", NOTE_ERROR, trace->damage_count,
                  "Parts of the file could not be read and are left out, the first at byte %" PRIu64
                  "; copy the file again if the original is intact.",
                  trace->damage_first);
    say(trace, "corrupt", NOTE_ERROR, trace->packed_failure_count,
        "Some compressed packets could not be unpacked completely.");
    say(trace, "lost-packets", NOTE_WARNING, trace->lost_packet_count,
        "The recorder lost packets, because its buffer was full; record with a larger one.");
    say(trace, "lost-state", NOTE_WARNING, trace->lost_state_count,
        "Some packets come before the packets that they depend on, as in a ring buffer, and are "
        "left out.");
    say(trace, "lost-names", NOTE_WARNING, trace->lost_text_count,
        "Some names are not in the file.");
    say(trace, "no-time", NOTE_WARNING, trace->timeless_count,
        "Some events have no time and are left out.");
    say(trace, "clocks", NOTE_WARNING, trace->unresolved_count,
        "Some times are on a clock that no snapshot relates to the others; they are shown "
        "unchanged.");
    say(trace, "clocks", NOTE_WARNING, trace->crowded_count,
        "Some times are on clocks beyond the limit of 1,024 pairs; they are shown unchanged.");
    say(trace, "unmatched-ends", NOTE_WARNING, trace->unmatched_end_count,
        "Some ends have no begin: their slices began before the trace and are left out.");
    say(trace, "too-deep", NOTE_WARNING, trace->too_deep_count,
        "Some slices are nested too deeply and appear never to end.");
    say(trace, "orphan-counters", NOTE_WARNING, trace->orphan_counter_count,
        "Some counter values name a track that is not a counter, and are left out.");
    say(trace, "args-left-out", NOTE_WARNING, trace->left_out_count,
        "Some events have too many arguments, flow arrows, categories or counters; the last ones "
        "are left out.");
    say(trace, "phases", NOTE_INFO, trace->phase_count,
        "Some events are of types that are not read.");
    say(trace, "not-read", NOTE_INFO, trace->extension_count,
        "Some events hold arguments of types that are not read.");
}

static void say_counts(struct perfetto *trace)
{
    static const char *const words[EVENT_TYPES] = {
        "track events UNSPECIFIED", "track events SLICE_BEGIN", "track events SLICE_END",
        "track events INSTANT",     "track events COUNTER",
    };

    for (int type = 0; type <= EVENT_TYPES; type++) {
        const char *word = type < EVENT_TYPES ? words[type] : "packets";
        uint64_t count = type < EVENT_TYPES ? trace->event_counts[type] : trace->packet_count;

        if (count > 0)
            sink_property(trace->sink, NO_TRACK,
                          (struct arg){.key = sink_name(trace->sink, str_of(word)),
                                       .type = ARG_INT64,
                                       .bits = count});
    }
}

/* The file's top level ended early. Bearable when a packet before that was whole. */
static enum status end_early(struct perfetto *trace, const struct error *broken, struct error *err)
{
    bool is_cut = broken->code == ERR_TRUNCATED;

    if (trace->packet_count == 0)
        return fail(err, broken->code,
                    is_cut ? "%s; the file was probably truncated while copied: copy it again"
                           : "%s; the file is damaged: copy it again",
                    broken->message);
    sink_note(trace->sink, is_cut ? "truncated" : "corrupt", NOTE_ERROR, 1,
              "The file ends early, at byte %zu: %s. Later packets are missing; the file was "
              "probably truncated while copied: copy it again.",
              trace->file.count, broken->message);
    return OK;
}

static enum status decode_trace(struct perfetto *trace, struct error *err)
{
    struct error ignored = {0}, broken = {0};
    struct pb first = pb_open(trace->file, &ignored), second = pb_open(trace->file, &broken);

    walk(trace, &first, gather, true);
    perfetto_clocks_settle(trace);
    trace->damage_count = trace->packed_failure_count = trace->unpacked_bytes = 0;
    walk(trace, &second, read, true);
    perfetto_slices_make(trace);
    perfetto_clocks_say_epoch(trace);
    say_counts(trace);
    say_what_was_odd(trace);
    if (broken.code != OK)
        TRY(end_early(trace, &broken, err));
    if (sink_failed(trace->sink))
        return fail(err, sink_error(trace->sink)->code, "%s", sink_error(trace->sink)->message);
    return OK;
}

static enum status decode(struct input *input, struct sink *sink, struct error *err)
{
    struct perfetto trace = {
        .sink = sink,
        .key_category = sink_name(sink, STR("cat")),
        .key_source = sink_name(sink, STR("source")),
        .key_function = sink_name(sink, STR("function")),
        .key_log = sink_name(sink, STR("log_message")),
        .key_correlation = sink_name(sink, STR("correlation_id")),
    };
    bool packing_cut;

    TRY(input_whole(input, &trace.file, &packing_cut, err));
    if (trace.file.count == 0)
        return fail(err, ERR_TRUNCATED, "the file is empty");
    sink_format(sink, decode_perfetto.name);
    if (packing_cut)
        sink_note(sink, "truncated", NOTE_ERROR, 1,
                  "The compressed file is truncated or damaged; the part that could be unpacked is "
                  "shown. Copy it again.");
    trace.scratch = scratch_create(input_temporary_dir(input));
    trace.clocks = perfetto_clocks_create(trace.scratch);
    enum status status = decode_trace(&trace, err);
    perfetto_clocks_destroy(trace.clocks);
    perfetto_sequences_free(&trace);
    perfetto_tracks_free(&trace);
    pair_table_free(&trace.kinds);
    scratch_destroy(trace.scratch);
    return status;
}

const struct decoder decode_perfetto = {
    .name = "perfetto", .part = PART_TIMELINE, .sniff = sniff, .decode = decode};
