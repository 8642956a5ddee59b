/* NVTX ranges of a spool: on their threads, nested as they were pushed; those that may end
 * elsewhere on a track of their own. Ranges that were open at the last look and ended in no frame
 * behind it are shown up to the last time, as cut. */
#include <inttypes.h>

#include "decode/record_state.h"
#include "trace/kind.h"

enum { ENDED_MAX = 1 << 22 };

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

static void put_args(struct record *record, const struct record_columns *columns, uint32_t row)
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
    if (payload > PAYLOAD_NONE && payload < (int64_t)COUNT(types))
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
    put_args(record, columns, row);
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
