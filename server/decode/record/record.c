/* SPDX-License-Identifier: Apache-2.0 */
/* Spools of jview-collect: what a program said of itself while it ran, see api/record.h.
 *
 *   python (466)                a process
 *     main loop (468)           a thread: its ranges, nested as they were pushed
 *     captures                  where it was recorded in parts, see record_switch.h
 *     NVTX start/end            ranges that may end on another thread
 *   /device:GPU:0 ...           CUDA activity: record_cuda.h
 *   samples of stacks           where threads were: record_sample.h
 *
 * The file is walked twice, since clocks and names may stand behind what they are of; what XLA said
 * of its launches is looked up between: record_hlo.h.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "decode/decode.h"
#include "decode/record/record_state.h"

enum {
    TEXTS_MAX = 1 << 20,
    NAMES_MAX = 1 << 20,
    ABOUTS_MAX = 16,
    PAIRS_MAX = 100,
    PASS_BYTES = 8 << 20,
    VALUE_MAX = 4096
};

void record_names_put(struct record *record, struct record_names *names, uint64_t id,
                      struct str text)
{
    if (id == 0 || id > TEXTS_MAX)
        return;
    while (id > names->capacity) {
        uint32_t capacity = names->capacity == 0 ? 1024 : names->capacity * 2;
        names->at = memory_resize(names->at, capacity, sizeof *names->at);
        memset(names->at + names->capacity, 0, (capacity - names->capacity) * sizeof *names->at);
        names->capacity = capacity;
    }
    names->at[id - 1] = sink_name(record->sink, str_utf8(record->arena, text));
}

static void read_texts(struct record *record, const struct record_frame *frame,
                       struct record_names *names)
{
    struct record_texts texts;
    struct str text;

    if (!record_texts(&record->file, frame, &texts))
        record->broken_frames++;
    else
        while (texts.id <= TEXTS_MAX && record_text(&texts, &text))
            record_names_put(record, names, texts.id - 1, text);
    arena_reset(record->arena);
}

static void take_about(struct record *record, struct str key, struct str value)
{
    if (key.count > VALUE_MAX || value.count > VALUE_MAX || value.count == 0)
        return;
    if (str_equal(key, STR("host")))
        sink_hostname(record->sink, value);
    else if (str_equal(key, STR("program")))
        record->program =
            sink_text(record->sink, sink_name(record->sink, str_utf8(record->arena, value)));
    if (str_starts(key, STR("env ")))
        key = str_skip(key, 4);
    else if (!str_equal(key, STR("version")))
        return;
    else
        key = STR("jview_collect_version");
    sink_property(record->sink, NO_TRACK,
                  (struct arg){.key = sink_name(record->sink, key),
                               .type = ARG_STRING,
                               .bits = sink_name(record->sink, str_utf8(record->arena, value))});
}

static void read_about(struct record *record, const struct record_frame *frame)
{
    struct record_texts texts;
    struct str key, value;

    if (!record_texts(&record->file, frame, &texts))
        record->broken_frames++;
    else
        for (int pair = 0;
             pair < PAIRS_MAX && record_text(&texts, &key) && record_text(&texts, &value); pair++)
            take_about(record, key, value);
}

static void read_clocks(struct record *record, const struct record_columns *columns)
{
    for (uint32_t row = 0; row < columns->count; row++)
        record_clock_tie(&record->clock, record_at(columns, CLOCK_TICKS, row),
                         record_at(columns, CLOCK_REALTIME_NS, row),
                         record_at(columns, CLOCK_MONOTONIC_NS, row));
}

static void read_threads(struct record *record, const struct record_columns *columns)
{
    bool is_new;

    for (uint32_t row = 0; row < columns->count; row++) {
        name_id name = record_text_of(record, record_at(columns, THREAD_NAME, row));
        if (name != 0 && record->thread_names.count < NAMES_MAX)
            id_map_add(&record->thread_names, (uint64_t)record_at(columns, THREAD_ID, row), name,
                       &is_new);
    }
}

static void read_categories(struct record *record, const struct record_columns *columns)
{
    for (uint32_t row = 0; row < columns->count && record->categories.count < NAMES_MAX; row++)
        *pair_table_at(&record->categories, (uint64_t)record_at(columns, CATEGORY_DOMAIN, row),
                       (uint64_t)record_at(columns, CATEGORY_NUMBER, row)) =
            record_text_of(record, record_at(columns, CATEGORY_NAME, row));
}

static void read_losses(struct record *record, const struct record_columns *columns)
{
    for (uint32_t row = 0; row < columns->count; row++) {
        int64_t cause = record_at(columns, LOSS_CAUSE, row);
        int64_t count = record_at(columns, LOSS_COUNT, row);
        if (cause >= 0 && cause < LOST_CAUSES && count > 0 && record->lost[cause] < UINT64_MAX / 2)
            record->lost[cause] += (uint64_t)count;
    }
}

static void read_devices(struct record *record, const struct record_columns *columns)
{
    record_system_devices(&record->system, columns);
}

static void read_switch(struct record *record, const struct record_columns *columns)
{
    record_switch_rows(&record->recording, columns);
}

static void read_streams(struct record *record, const struct record_columns *columns)
{
    record_cuda_streams(&record->cuda, columns);
}

static void read_samplers(struct record *record, const struct record_columns *columns)
{
    record_samples_samplers(&record->samples, columns);
}

static void read_stacks(struct record *record, const struct record_columns *columns)
{
    record_samples_stacks(&record->samples, columns);
}

static void read_tasks(struct record *record, const struct record_columns *columns)
{
    record_samples_tasks(&record->samples, columns);
}

/* What the ranges need to be told: clocks, texts, names. */
static void read_around(struct record *record, const struct record_frame *frame)
{
    static void (*const readers[])(struct record *, const struct record_columns *) = {
        [SPOOL_CLOCK] = read_clocks,        [SPOOL_THREAD] = read_threads,
        [SPOOL_CATEGORY] = read_categories, [SPOOL_SWITCH] = read_switch,
        [SPOOL_LOSS] = read_losses,         [SPOOL_DEVICE] = read_devices,
        [SPOOL_SAMPLER] = read_samplers,    [SPOOL_STACK] = read_stacks,
        [SPOOL_TASK] = read_tasks,          [SPOOL_STREAM] = read_streams,
    };
    struct record_columns columns;

    if (frame->head.type == SPOOL_TEXT)
        read_texts(record, frame, &record->texts);
    else if (frame->head.type == SPOOL_STACK_TEXT)
        read_texts(record, frame, &record->samples.texts);
    else if (frame->head.type == SPOOL_ABOUT && record->about_count++ < ABOUTS_MAX)
        read_about(record, frame);
    else if (frame->head.type == SPOOL_OPEN)
        record->last_look = record->file.at;
    else if (frame->head.type == SPOOL_KERNEL || frame->head.type == SPOOL_COPY ||
             frame->head.type == SPOOL_SET || frame->head.type == SPOOL_GRAPH)
        record->has_work = true;
    else if (frame->head.type >= SPOOL_TYPE_COUNT || frame->head.type == 0)
        record->other_frames++;
    else if (frame->head.type < COUNT(readers) && readers[frame->head.type] != NULL) {
        if (record_columns(&record->file, frame, &columns))
            readers[frame->head.type](record, &columns);
        else
            record->broken_frames++;
    }
}

static bool is_event(uint16_t type)
{
    return type == SPOOL_RANGE || type == SPOOL_COUNTER || type == SPOOL_SAMPLE ||
           record_cuda_is(type);
}

static void read_events(struct record *record, const struct record_frame *frame)
{
    struct record_columns columns;

    if (!record_columns(&record->file, frame, &columns))
        record->broken_frames++;
    else if (frame->head.type == SPOOL_RANGE)
        record_ranges_read(record, &columns);
    else if (frame->head.type == SPOOL_COUNTER)
        record_system_figures(&record->system, &columns);
    else if (frame->head.type == SPOOL_SAMPLE)
        record_samples_read(&record->samples, &columns);
    else
        record_cuda_read(&record->cuda, (enum spool_type)frame->head.type, &columns);
    arena_reset(record->arena);
}

/* Whoever walks a large spool does not hold it. */
static void pass(struct record *record, bool is_end)
{
    struct record_file *file = &record->file;

    if (is_end || file->at - record->passed >= PASS_BYTES) {
        input_pass(record->input, file->bytes, file->at);
        record->passed = is_end ? 0 : file->at;
    }
}

static void walk(struct record *record, void (*read)(struct record *, const struct record_frame *),
                 bool is_second)
{
    struct record_frame frame;

    record_rewind(&record->file);
    while (!sink_failed(record->sink) && record_next(&record->file, &frame)) {
        if (!is_second || is_event(frame.head.type))
            read(record, &frame);
        if (is_second)
            sink_progress(record->sink, record->file.at, record->file.bytes.count);
        pass(record, false);
    }
    pass(record, true);
}

static void read_hlo(struct record *record, const struct record_frame *frame)
{
    struct record_columns columns;
    bool is_last_look = frame->head.type == SPOOL_OPEN && record->file.at == record->last_look;

    if ((frame->head.type == SPOOL_RANGE || is_last_look) &&
        record_columns(&record->file, frame, &columns))
        record_hlo_ranges(record, &columns, is_last_look);
    else if (frame->head.type == SPOOL_NODE && record_columns(&record->file, frame, &columns))
        record_nodes_read(record, &columns);
    arena_reset(record->arena);
}

static void read_calls(struct record *record, const struct record_frame *frame)
{
    struct record_columns columns;

    if (frame->head.type == SPOOL_CALL && record_columns(&record->file, frame, &columns))
        record_hlo_calls(record, &columns);
}

static void find_hlo(struct record *record)
{
    if (!record->has_work)
        return;
    walk(record, read_hlo, false);
    if (record->hlo.range_count == 0)
        return;
    record_hlo_join(record);
    walk(record, read_calls, false);
}

static void read_all(struct record *record)
{
    sink_format(record->sink, decode_record.name);
    sink_epoch(record->sink, record->file.head.realtime_ns);
    record->clock.epoch_ns = record->file.head.realtime_ns;
    record->clock.epoch_monotonic_ns = record->file.head.monotonic_ns;
    record->cuda = (struct record_cuda){.record = record,
                                        .sink = record->sink,
                                        .arena = record->arena,
                                        .clock = &record->clock,
                                        .process = record->file.head.process,
                                        .overhead = NO_TRACK};
    record->system = (struct record_system){
        .record = record, .sink = record->sink, .arena = record->arena, .clock = &record->clock};
    record_system_begin(&record->system);
    record->samples.record = record;
    walk(record, read_around, false);
    record_samples_begin(&record->samples);
    find_hlo(record);
    walk(record, read_events, true);
    record_cuda_note(&record->cuda);
    record_hlo_note(record);
    record_nodes_note(record);
    record_system_end(&record->system);
    record_samples_note(&record->samples);
    record_note_state(record);
    record_ranges_open(record);
    if (record_switch_has_captures(&record->recording))
        record_switch_put(&record->recording, record->sink, &record->clock,
                          record_process_track(record), record->last_end);
    if (record->cut > 0)
        sink_note(record->sink, "open-ranges", NOTE_INFO, record->cut,
                  "Ranges without an end are shown until the end of the recording.");
    record_note_losses(record);
}

static void free_all(struct record *record)
{
    record_close(&record->file);
    record_clock_free(&record->clock);
    record_switch_free(&record->recording);
    free(record->texts.at);
    record_samples_free(&record->samples);
    id_map_free(&record->thread_names);
    id_map_free(&record->threads);
    id_map_free(&record->ended);
    pair_table_free(&record->categories);
    record_hlo_free(&record->hlo);
    record_nodes_free(&record->nodes);
    record_cuda_free(&record->cuda);
    arena_destroy(record->arena);
}

static enum status decode(struct input *input, struct sink *sink, struct error *err)
{
    struct record record = {
        .sink = sink, .input = input, .process = NO_TRACK, .free_ranges = NO_TRACK};
    struct bytes bytes;
    bool is_cut;

    TRY(input_whole(input, &bytes, &is_cut, err));
    TRY(record_open(bytes, &record.file, err));
    record.arena = arena_create();
    read_all(&record);
    free_all(&record);
    if (sink_failed(sink))
        return fail(err, sink_error(sink)->code, "%s", sink_error(sink)->message);
    return OK;
}

static bool sniff(const struct input *input)
{
    return record_is(input->head);
}

const struct decoder decode_record = {
    .name = "jview-spool", .part = PART_TIMELINE, .sniff = sniff, .decode = decode};
