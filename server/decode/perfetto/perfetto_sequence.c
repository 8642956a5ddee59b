/* SPDX-License-Identifier: Apache-2.0 */
/* What the packets of one writer share.
 *
 *   packet 1   cleared; names 1 "f", 2 "g"; default track 7
 *   packet 2   event of name 2, on track 7
 *   packet 9   dropped: packets were lost before it, and with them perhaps names
 *   packet 12  cleared; names 1 "h"
 *
 *   InternedData  1 categories*  2 event names*  3 annotation names*  4 source locations*
 *                 20 log messages*  29 texts of annotations*
 *   entry         1 iid  2 text                SourceLocation  1 iid  2 file  3 function  4 line
 */
#include "decode/perfetto/perfetto.h"

#include <inttypes.h>
#include <stdlib.h>

enum { SEQUENCES_MAX = 1 << 16 };

static void forget_texts(struct sequence *sequence)
{
    for (int kind = 0; kind < INTERNED_KINDS; kind++)
        id_map_free(&sequence->interned[kind]);
}

void perfetto_sequences_free(struct perfetto *trace)
{
    struct sequence *sequences = trace->sequences.at;

    for (uint32_t i = 0; i < trace->sequences.count; i++)
        forget_texts(&sequences[i]);
    free(sequences);
    id_map_free(&trace->sequence_of);
}

void perfetto_source_location(struct perfetto *trace, const struct pb *outer, struct bytes message,
                              uint64_t *ret_iid, name_id *ret_place, name_id *ret_function)
{
    struct error broken = {0};
    struct pb pb = pb_inside(outer, message, &broken);
    struct str file = STR(""), function = STR("");
    struct text place = {0};
    uint64_t line = 0;

    *ret_iid = 0;
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number == 1)
            *ret_iid = field.varint;
        else if (field.number == 2)
            file = pb_text(&field);
        else if (field.number == 3)
            function = pb_text(&field);
        else if (field.number == 4)
            line = field.varint;
    }
    text_put(&place, file.at, file.count);
    if (file.count > 0 && line > 0)
        text_putf(&place, ":%" PRIu64, line);
    *ret_place = place.count > 0 ? sink_name(trace->sink, text_str(&place)) : 0;
    *ret_function = sink_name(trace->sink, function);
    text_free(&place);
}

static void intern_location(struct perfetto *trace, struct sequence *sequence,
                            const struct pb *outer, struct bytes message)
{
    name_id place, function;
    uint64_t iid;
    bool is_new;

    perfetto_source_location(trace, outer, message, &iid, &place, &function);
    id_map_add(&sequence->interned[INTERNED_LOCATION], iid, place, &is_new);
    id_map_add(&sequence->interned[INTERNED_FUNCTION], iid, function, &is_new);
}

static void intern_text(struct perfetto *trace, struct sequence *sequence, enum interned_kind kind,
                        const struct pb *outer, struct bytes message)
{
    struct error broken = {0};
    struct pb pb = pb_inside(outer, message, &broken);
    uint64_t iid = 0;
    struct str text = STR("");
    bool is_new;

    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number == 1)
            iid = field.varint;
        else if (field.number == 2 && field.wire == PB_BYTES)
            text = pb_text(&field);
    }
    if (broken.code == OK && iid != 0)
        id_map_add(&sequence->interned[kind], iid, sink_name(trace->sink, text), &is_new);
}

static void take_interned(struct perfetto *trace, struct sequence *sequence,
                          const struct packet *packet)
{
    static const uint8_t kinds[] = {
        [1] = INTERNED_CATEGORY + 1, [2] = INTERNED_NAME + 1,  [3] = INTERNED_ANNOTATION + 1,
        [20] = INTERNED_LOG + 1,     [29] = INTERNED_TEXT + 1,
    };
    struct error broken = {0};
    struct pb pb = pb_inside(packet->pb, packet->interned, &broken);

    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.wire != PB_BYTES)
            continue;
        if (field.number == 4)
            intern_location(trace, sequence, &pb, field.bytes);
        else if (field.number < COUNT(kinds) && kinds[field.number] != 0)
            intern_text(trace, sequence, (enum interned_kind)(kinds[field.number] - 1), &pb,
                        field.bytes);
    }
    if (broken.code != OK)
        perfetto_damaged(trace, packet->pb, packet->interned);
}

static void add_uuid(uint64_t *uuids, uint32_t *count, uint64_t uuid)
{
    if (*count < EXTRA_COUNTERS_MAX)
        uuids[(*count)++] = uuid;
}

static void take_event_defaults(struct sequence *sequence, const struct pb *outer,
                                struct bytes message)
{
    struct error broken = {0};
    struct pb pb = pb_inside(outer, message, &broken);

    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.wire != PB_VARINT)
            continue;
        if (field.number == 11) {
            sequence->has_track = true;
            sequence->track_uuid = field.varint;
        } else if (field.number == 31) {
            add_uuid(sequence->extra_uuids, &sequence->extra_count, field.varint);
        } else if (field.number == 45) {
            add_uuid(sequence->extra_real_uuids, &sequence->extra_real_count, field.varint);
        }
    }
}

/* Defaults replace all that were given before. */
static void take_defaults(struct perfetto *trace, struct sequence *sequence,
                          const struct packet *packet)
{
    struct error broken = {0};
    struct pb pb = pb_inside(packet->pb, packet->defaults, &broken);

    sequence->default_clock = 0;
    sequence->has_track = false;
    sequence->extra_count = sequence->extra_real_count = 0;
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number == 58)
            sequence->default_clock = (uint32_t)field.varint;
        else if (field.number == 11 && field.wire == PB_BYTES)
            take_event_defaults(sequence, &pb, field.bytes);
    }
    if (broken.code != OK)
        perfetto_damaged(trace, packet->pb, packet->defaults);
}

static struct sequence *find(struct perfetto *trace, uint32_t id)
{
    bool is_new;
    uint32_t index = id_map_add(&trace->sequence_of, id, trace->sequences.count, &is_new);

    if (is_new && trace->sequences.count == SEQUENCES_MAX) {
        fail(sink_error(trace->sink), ERR_LIMIT, "the trace has more than %d writers",
             SEQUENCES_MAX);
        return NULL;
    }
    if (is_new && trace->sequences.count == trace->sequences.capacity) {
        trace->sequences.capacity = trace->sequences.capacity ? trace->sequences.capacity * 2 : 8;
        trace->sequences.at =
            memory_resize(trace->sequences.at, trace->sequences.capacity, sizeof(struct sequence));
    }
    struct sequence *sequence = (struct sequence *)trace->sequences.at + index;
    if (is_new) {
        *sequence = (struct sequence){0};
        trace->sequences.count++;
    }
    return sequence;
}

struct sequence *perfetto_sequence(struct perfetto *trace, const struct packet *packet)
{
    struct sequence *sequence = find(trace, packet->sequence);

    if (sequence == NULL)
        return NULL;
    if (packet->dropped) {
        /* The first packet of a writer says so too: nothing is known before it. */
        trace->lost_packet_count += sequence->is_known;
        sequence->is_valid = false;
    }
    sequence->is_known = true;
    if (packet->cleared) {
        forget_texts(sequence);
        sequence->default_clock = 0;
        sequence->has_track = sequence->has_thread = false;
        sequence->extra_count = sequence->extra_real_count = 0;
        sequence->is_valid = true;
        sequence->generation++;
    }
    if (packet->needs_state && !sequence->is_valid) {
        trace->lost_state_count++;
        return NULL;
    }
    if (packet->interned.count > 0)
        take_interned(trace, sequence, packet);
    if (packet->defaults.count > 0)
        take_defaults(trace, sequence, packet);
    return sequence;
}

name_id perfetto_sequence_text(struct perfetto *trace, const struct sequence *sequence,
                               enum interned_kind kind, uint64_t iid)
{
    uint32_t name;

    if (iid == 0)
        return 0;
    if (id_map_find(&sequence->interned[kind], iid, &name))
        return name;
    trace->lost_text_count++;
    return 0;
}
