/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX ranges of a spool: on their threads, nested as they were pushed; those that may end
 * elsewhere on a track of their own. Ranges that were open at the last look and ended in no frame
 * behind it are shown up to the last time, as cut. */
#include <inttypes.h>
#include <stdlib.h>

#include "decode/record/record_state.h"
#include "decode/xla_range.h"
#include "trace/kind.h"

enum { ENDED_MAX = 1 << 22, FIELDS_MAX = 64 };

static void put_arg(struct record *record, const char *key, enum arg_type type, uint64_t bits)
{
    sink_arg(record->sink,
             (struct arg){.key = sink_name(record->sink, str_of(key)), .type = type, .bits = bits});
}

static void put_category(struct record *record, int64_t domain, int64_t number)
{
    uint32_t name = pair_table_find(&record->categories, (uint64_t)domain, (uint64_t)number);

    if (name != PAIR_NONE && name != 0)
        put_arg(record, "category", ARG_STRING, name);
    else
        put_arg(record, "category", ARG_INT64, (uint64_t)number);
}

struct str record_key_of_field(struct str key)
{
    static const struct {
        const char *part, *key;
    } known[] = {
        {"Message size", "bytes"},     {"communicator", "communicator"},
        {"Reduction op", "reduction"}, {"Program ID", "program_id"},
        {"Program id", "program_id"},  {"Unique ID", "program_id"},
        {"HLO Module", "hlo_module"},  {"HLO Op", "hlo_op"},
    };

    for (size_t index = 0; index < COUNT(known); index++)
        if (str_contains(key, str_of(known[index].part)))
            return str_of(known[index].key);
    return key;
}

static bool to_double(struct str text, double *ret)
{
    char digits[48] = "", *end;

    if (text.count == 0 || text.count >= sizeof digits)
        return false;
    memcpy(digits, text.at, text.count);
    *ret = strtod(digits, &end);
    return end == digits + text.count;
}

bool record_split_field(struct str field, struct str *ret_key, struct str *ret_value)
{
    const char *equals = field.count > 2 ? memchr(field.at + 1, '=', field.count - 1) : NULL;

    if (equals == NULL || equals == field.at + 1)
        return false;
    *ret_key = (struct str){field.at + 1, (size_t)(equals - field.at - 1)};
    *ret_value = str_skip(field, ret_key->count + 2);
    return true;
}

static void put_field(struct record *record, struct str field)
{
    struct str key, value;
    uint64_t bits;
    double number;

    if (!record_split_field(field, &key, &value))
        return;
    struct arg arg = {.key = sink_name(record->sink, record_key_of_field(key))};
    bool is_minus = field.at[0] == 'i' && str_starts(value, STR("-"));
    if ((field.at[0] == 'i' || field.at[0] == 'u') &&
        str_to_u64(is_minus ? str_skip(value, 1) : value, &bits)) {
        arg.type = field.at[0] == 'i' ? ARG_INT64 : ARG_UINT64;
        arg.bits = is_minus ? -bits : bits;
    } else if (field.at[0] == 'd' && to_double(value, &number)) {
        arg.type = ARG_DOUBLE;
        memcpy(&arg.bits, &number, sizeof number);
    } else {
        arg.type = ARG_STRING;
        arg.bits = sink_name(record->sink, value);
    }
    sink_arg(record->sink, arg);
}

bool record_next_field(struct str *rest, struct str *ret)
{
    const char *end = rest->count > 0 ? memchr(rest->at, '\x1f', rest->count) : NULL;
    size_t count = end != NULL ? (size_t)(end - rest->at) : rest->count;

    *ret = (struct str){rest->at, count};
    if (rest->count == 0)
        return false;
    *rest = str_skip(*rest, end != NULL ? count + 1 : count);
    return true;
}

static void put_fields(struct record *record, name_id text)
{
    struct str rest = sink_text(record->sink, text), field;

    /* Copied: names move when one is added. */
    rest = str_format(record->arena, "%.*s", STR_ARG(rest));
    for (int count = 0; count < FIELDS_MAX && record_next_field(&rest, &field); count++)
        put_field(record, field);
}

/* What XLA and NCCL say in the name itself. */
static void put_name_fields(struct record *record, struct str domain, struct str name)
{
    static const char *const keys[] = {"hlo_op", "hlo_module"};
    uint64_t program;

    if (!record_hlo_is_name(domain, name) && !str_starts(name, STR("nccl")))
        return;
    name = str_format(record->arena, "%.*s", STR_ARG(name));
    if (str_starts(name, STR("nccl")))
        put_arg(record, "collective", ARG_STRING, sink_name(record->sink, str_skip(name, 4)));
    for (size_t index = 0; index < COUNT(keys); index++) {
        struct str value = xla_range_value(name, str_of(keys[index]));
        if (value.count > 0)
            put_arg(record, keys[index], ARG_STRING, sink_name(record->sink, value));
    }
    if (str_to_u64(xla_range_value(name, STR("program_id")), &program))
        put_arg(record, "program_id", ARG_UINT64, program);
}

static void put_args(struct record *record, const struct record_columns *columns, uint32_t row,
                     name_id name)
{
    static const enum arg_type types[] = {
        [PAYLOAD_UINT64] = ARG_UINT64, [PAYLOAD_INT64] = ARG_INT64, [PAYLOAD_DOUBLE] = ARG_DOUBLE};
    int64_t domain = record_at(columns, RANGE_DOMAIN, row);
    int64_t category = record_at(columns, RANGE_CATEGORY, row);
    int64_t color = record_at(columns, RANGE_COLOR, row);
    int64_t payload = record_at(columns, RANGE_PAYLOAD_KIND, row);

    if (record_text_of(record, domain) != 0)
        put_arg(record, "domain", ARG_STRING, record_text_of(record, domain));
    if (category != 0)
        put_category(record, domain, category);
    if (color != 0)
        put_arg(record, "color", ARG_STRING,
                sink_name(record->sink, str_format(record->arena, "#%08" PRIx32, (uint32_t)color)));
    put_name_fields(record, sink_text(record->sink, record_text_of(record, domain)),
                    sink_text(record->sink, name));
    if (payload == PAYLOAD_FIELDS)
        put_fields(record, record_text_of(record, record_at(columns, RANGE_PAYLOAD, row)));
    else if (payload > PAYLOAD_NONE && payload < (int64_t)COUNT(types))
        put_arg(record, "payload", types[payload],
                (uint64_t)record_at(columns, RANGE_PAYLOAD, row));
}

/* The key of a range of a thread that is open: none other begins there at that tick. */
static uint64_t key_of(const struct record_columns *columns, uint32_t row)
{
    return (uint64_t)record_at(columns, RANGE_START, row) * UINT64_C(0x9e3779b97f4a7c15) ^
           (uint64_t)record_at(columns, RANGE_THREAD, row);
}

/* One that nothing ended lasts as long as anything else. */
static int64_t end_of(struct record *record, const struct record_columns *columns, uint32_t row,
                      uint8_t flags)
{
    int64_t end = record_at(columns, RANGE_END, row);

    if (end > record->last_end)
        record->last_end = end;
    return (flags & SLICE_CUT) != 0 ? record->last_end : end;
}

static void put_range(struct record *record, const struct record_columns *columns, uint32_t row,
                      uint8_t flags)
{
    int64_t form = record_at(columns, RANGE_FORM, row), end_ps;
    int64_t thread = record_at(columns, RANGE_THREAD, row);
    struct sink_slice slice = {.name = record_text_of(record, record_at(columns, RANGE_NAME, row)),
                               .flags = flags};

    if (!record_clock_ps(&record->clock, record_at(columns, RANGE_START, row), &slice.start_ps) ||
        !record_clock_ps(&record->clock, end_of(record, columns, row, flags), &end_ps)) {
        record->without_time++;
        return;
    }
    if (slice.name == 0)
        slice.name = sink_name(record->sink, STR("(no name)"));
    slice.dur_ps = end_ps > slice.start_ps ? end_ps - slice.start_ps : 0;
    if (end_ps < slice.start_ps)
        slice.flags |= SLICE_CLAMPED;
    if (form == FORM_MARK)
        slice.flags |= SLICE_INSTANT;
    if (form == FORM_FREE)
        slice.flags |= SLICE_ASYNC;
    slice.track =
        form == FORM_FREE ? record_free_track(record) : record_thread_track(record, thread);
    slice.kind = kind_of(&(struct kind_facts){.plane = STR("/host:CPU"),
                                              .name = sink_text(record->sink, slice.name)});
    sink_slice(record->sink, slice);
    put_args(record, columns, row, slice.name);
}

void record_ranges_read(struct record *record, const struct record_columns *columns)
{
    bool is_new, is_behind = record->last_look != 0 && record->file.at > record->last_look;

    for (uint32_t row = 0; row < columns->count && !sink_failed(record->sink); row++) {
        put_range(record, columns, row, 0);
        if (is_behind && record->ended.count < ENDED_MAX)
            id_map_add(&record->ended, key_of(columns, row), 1, &is_new);
    }
}

/* The last look at what was open, less what ended behind it. */
void record_ranges_open(struct record *record)
{
    struct record_frame frame;
    struct record_columns columns;
    uint32_t ignored;

    record_rewind(&record->file);
    while (record->file.at < record->last_look && record_next(&record->file, &frame))
        ;
    if (record->last_look == 0 || frame.head.type != SPOOL_OPEN ||
        !record_columns(&record->file, &frame, &columns))
        return;
    for (uint32_t row = 0; row < columns.count && !sink_failed(record->sink); row++) {
        if (id_map_find(&record->ended, key_of(&columns, row), &ignored))
            continue;
        put_range(record, &columns, row, SLICE_CUT);
        record->cut++;
    }
}
