/* SPDX-License-Identifier: Apache-2.0 */
/* A TrackEvent, as a record that waits to be put in order, or as samples of counters.
 *
 *   TrackEvent   9 type  11 track  10 name iid | 23 name  3 category iids*  22 categories*
 *                4 annotations*  47 | 36 flows*  48 | 42 flows that end here*
 *                30 | 44 counter value  31, 12 and 45, 46 counters beside it
 *                33 | 34 source  21 log message  5 task  52, 53 | 54 correlation  6 legacy event
 *                1 | 16 time in us, relative to the thread's old descriptor
 *   LegacyEvent  1 name iid  2 phase  3 duration_us  6 | 10 | 11 id  7 its scope
 *                8 flow id  13 its direction
 *
 * Names are looked up while the writer's state is at hand; the rest waits for the order of time.
 */
#include "decode/perfetto/perfetto_told.h"

#include <inttypes.h>

enum { CATEGORY_BYTES_MAX = 1 << 12 };

static void put_arg(struct perfetto *trace, struct told *told, struct arg arg)
{
    struct arg *kept;

    if (told->arg_count == EVENT_ARGS_MAX) {
        trace->left_out_count++;
        return;
    }
    kept = perfetto_add(trace, &trace->args, sizeof *kept, MARKS_MAX);
    if (kept != NULL) {
        *kept = arg;
        told->arg_count++;
    }
}

static void put_text(struct perfetto *trace, struct told *told, name_id key, name_id text)
{
    if (text != 0)
        put_arg(trace, told, (struct arg){.key = key, .type = ARG_STRING, .bits = text});
}

void perfetto_put_flow(struct perfetto *trace, struct told *told, uint64_t id, bool ends)
{
    struct flow_mark *mark;

    if (told->flow_count == EVENT_ARGS_MAX) {
        trace->left_out_count++;
        return;
    }
    mark = perfetto_add(trace, &trace->flows, sizeof *mark, MARKS_MAX);
    if (mark != NULL) {
        *mark = (struct flow_mark){.id = id, .ends = ends};
        told->flow_count++;
    }
}

/* Values of a repeated number: one, or many packed into bytes. */
static void each_number(const struct pb_field *field, size_t width, void *data,
                        void (*take)(void *data, uint64_t value))
{
    const uint8_t *at = field->bytes.at, *end = at + field->bytes.count;

    if (field->wire != PB_BYTES) {
        take(data, field->varint);
        return;
    }
    while (at != NULL && at < end) {
        uint64_t value = 0;

        if (width == 0) {
            at = pb_read_varint(at, end, &value);
        } else if ((size_t)(end - at) >= width) {
            memcpy(&value, at, width);
            at += width;
        } else {
            return;
        }
        if (at != NULL)
            take(data, value);
    }
}

struct marking { /* flows, categories, counters: where their numbers go */
    struct perfetto *trace;
    const struct sequence *sequence;
    struct told *told;
};

static void take_flow(void *data, uint64_t value)
{
    struct marking *marking = data;

    perfetto_put_flow(marking->trace, marking->told, value, false);
}

static void take_last_flow(void *data, uint64_t value)
{
    struct marking *marking = data;

    perfetto_put_flow(marking->trace, marking->told, value, true);
}

static void put_category(struct marking *marking, struct str text)
{
    struct told *told = marking->told;

    if (text.count == 0)
        return;
    if (told->categories.count > CATEGORY_BYTES_MAX) {
        marking->trace->left_out_count++;
        return;
    }
    if (told->categories.count > 0)
        text_puts(&told->categories, ",");
    text_put(&told->categories, text.at, text.count);
}

static void take_category(void *data, uint64_t iid)
{
    struct marking *marking = data;
    name_id name =
        perfetto_sequence_text(marking->trace, marking->sequence, INTERNED_CATEGORY, iid);

    put_category(marking, sink_text(marking->trace->sink, name));
}

static void push(struct marking *marking, uint64_t *values, uint32_t *count, uint64_t value)
{
    if (*count < EXTRA_COUNTERS_MAX)
        values[(*count)++] = value;
    else
        marking->trace->left_out_count++;
}

static void take_extra_uuid(void *data, uint64_t value)
{
    struct told *told = ((struct marking *)data)->told;

    push(data, told->extra_uuids, &told->extra_uuid_count, value);
}

static void take_extra_value(void *data, uint64_t value)
{
    struct told *told = ((struct marking *)data)->told;

    push(data, told->extra_values, &told->extra_value_count, value);
}

static void take_extra_real_uuid(void *data, uint64_t value)
{
    struct told *told = ((struct marking *)data)->told;

    push(data, told->extra_real_uuids, &told->extra_real_uuid_count, value);
}

static void take_extra_real(void *data, uint64_t value)
{
    struct told *told = ((struct marking *)data)->told;

    push(data, told->extra_reals, &told->extra_real_count, value);
}

static void put_location(struct marking *marking, uint64_t iid)
{
    struct perfetto *trace = marking->trace;

    put_text(trace, marking->told, trace->key_source,
             perfetto_sequence_text(trace, marking->sequence, INTERNED_LOCATION, iid));
    put_text(trace, marking->told, trace->key_function,
             perfetto_sequence_text(trace, marking->sequence, INTERNED_FUNCTION, iid));
}

static void put_inline_location(struct marking *marking, const struct pb *outer,
                                struct bytes message)
{
    name_id place, function;
    uint64_t iid;

    perfetto_source_location(marking->trace, outer, message, &iid, &place, &function);
    put_text(marking->trace, marking->told, marking->trace->key_source, place);
    put_text(marking->trace, marking->told, marking->trace->key_function, function);
}

/* LogMessage { 1 source iid  2 body iid }, TaskExecution { 1 source iid }. */
static bool read_message_of(struct marking *marking, const struct pb *outer,
                            const struct pb_field *whole)
{
    struct error broken = {0};
    struct pb pb = pb_inside(outer, whole->bytes, &broken);
    struct perfetto *trace = marking->trace;

    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number == 1) {
            put_location(marking, field.varint);
        } else if (field.number == 2 && whole->number == 21) {
            name_id body =
                perfetto_sequence_text(trace, marking->sequence, INTERNED_LOG, field.varint);
            put_text(trace, marking->told, trace->key_log, body);
            if (marking->told->name == 0)
                marking->told->name = body;
        }
    }
    return broken.code == OK;
}

static bool read_legacy(struct marking *marking, const struct pb *outer, struct bytes message)
{
    struct error broken = {0};
    struct pb pb = pb_inside(outer, message, &broken);
    struct told *told = marking->told;

    for (struct pb_field field; pb_next(&pb, &field);) {
        switch (field.number) {
        case 1:
            told->name = perfetto_sequence_text(marking->trace, marking->sequence, INTERNED_NAME,
                                                field.varint);
            break;
        case 2:
            told->has_phase = true;
            told->phase = (int)(field.varint & 0x7f);
            break;
        case 3:
            told->duration_us = (int64_t)field.varint;
            break;
        case 6:
        case 10:
        case 11:
            told->has_id = true;
            told->is_local_id = field.number == 10;
            told->id = field.varint;
            break;
        case 7:
            told->scope = pb_text(&field);
            break;
        case 8:
            told->has_bind_id = true;
            told->bind_id = field.varint;
            break;
        case 13:
            told->direction = field.varint;
            break;
        }
    }
    return broken.code == OK;
}

static bool read_annotation(struct marking *marking, const struct pb *outer, struct bytes message)
{
    struct arg arg;

    if (!perfetto_annotation_read(marking->trace, marking->sequence, outer, message, &arg))
        return false;
    put_arg(marking->trace, marking->told, arg);
    return true;
}

/* Fields that are messages; false when one is damaged. */
static bool take_message(struct marking *marking, const struct pb *pb, const struct pb_field *field)
{
    switch (field->number) {
    case 4:
        return read_annotation(marking, pb, field->bytes);
    case 5:
    case 21:
        return read_message_of(marking, pb, field);
    case 6:
        return read_legacy(marking, pb, field->bytes);
    case 22:
        put_category(marking, pb_text(field));
        return true;
    case 23:
        marking->told->name = sink_name(marking->trace->sink, pb_text(field));
        return true;
    case 33:
        put_inline_location(marking, pb, field->bytes);
        return true;
    case 53:
        put_text(marking->trace, marking->told, marking->trace->key_correlation,
                 sink_name(marking->trace->sink, pb_text(field)));
        return true;
    default:
        marking->trace->extension_count++;
        return true;
    }
}

/* Fields that are repeated numbers; false for all others. */
static bool take_numbers(struct marking *marking, const struct pb_field *field)
{
    switch (field->number) {
    case 3:
        each_number(field, 0, marking, take_category);
        return true;
    case 12:
        each_number(field, 0, marking, take_extra_value);
        return true;
    case 31:
        each_number(field, 0, marking, take_extra_uuid);
        return true;
    case 36:
        each_number(field, 0, marking, take_flow);
        return true;
    case 42:
        each_number(field, 0, marking, take_last_flow);
        return true;
    case 45:
        each_number(field, 0, marking, take_extra_real_uuid);
        return true;
    case 46:
        each_number(field, sizeof(double), marking, take_extra_real);
        return true;
    case 47:
        each_number(field, sizeof(uint64_t), marking, take_flow);
        return true;
    case 48:
        each_number(field, sizeof(uint64_t), marking, take_last_flow);
        return true;
    }
    return false;
}

static void take_number(struct marking *marking, const struct pb_field *field)
{
    struct told *told = marking->told;

    switch (field->number) {
    case 1:
        told->has_delta = true;
        told->delta_us = (int64_t)field->varint;
        break;
    case 9:
        told->type = field->varint;
        break;
    case 10:
        told->name =
            perfetto_sequence_text(marking->trace, marking->sequence, INTERNED_NAME, field->varint);
        break;
    case 11:
        told->has_uuid = true;
        told->uuid = field->varint;
        break;
    case 16:
        told->has_absolute = true;
        told->absolute_us = (int64_t)field->varint;
        break;
    case 30:
    case 44:
        told->has_value = true;
        told->is_real = field->number == 44;
        told->value = field->varint;
        break;
    case 34:
        put_location(marking, field->varint);
        break;
    case 52:
        put_arg(marking->trace, told,
                (struct arg){marking->trace->key_correlation, ARG_UINT64, field->varint});
        break;
    case 54:
        put_text(marking->trace, told, marking->trace->key_correlation,
                 perfetto_sequence_text(marking->trace, marking->sequence, INTERNED_TEXT,
                                        field->varint));
        break;
    }
}

static bool read_fields(struct marking *marking, const struct packet *packet)
{
    struct error broken = {0};
    struct pb pb = pb_inside(packet->pb, packet->data, &broken);
    bool is_whole = true;

    for (struct pb_field field; is_whole && pb_next(&pb, &field);) {
        if (take_numbers(marking, &field))
            continue;
        if (field.wire == PB_BYTES)
            is_whole = take_message(marking, &pb, &field);
        else
            take_number(marking, &field);
    }
    return is_whole && broken.code == OK;
}

void perfetto_event_read(struct perfetto *trace, const struct packet *packet,
                         struct sequence *sequence)
{
    struct told told = {0};
    struct marking marking = {.trace = trace, .sequence = sequence, .told = &told};
    const uint32_t args = trace->args.count, flows = trace->flows.count;
    bool is_kept = false;

    if (read_fields(&marking, packet))
        is_kept = perfetto_keep(trace, packet, sequence, &told);
    else
        perfetto_damaged(trace, packet->pb, packet->data);
    if (!is_kept) { /* nothing points at them */
        trace->args.count = args;
        trace->flows.count = flows;
    }
    text_free(&told.categories);
}
