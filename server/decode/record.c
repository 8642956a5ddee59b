/* Spools of jview-collect: what a program said of itself while it ran, see api/record.h.
 *
 *   python (466)                a process
 *     main loop (468)           a thread: its ranges, nested as they were pushed
 *     captures                  where it was recorded in parts, see record_gate.h
 *     NVTX start/end            ranges that may end on another thread
 *   /device:GPU:0 ...           CUDA activity: record_cuda.h
 *
 * The file is walked twice, since clocks and names may stand behind what they are of. Ranges that
 * were open at the last look and ended in no frame behind it are shown up to the last time, as cut.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "decode/decode.h"
#include "decode/id_map.h"
#include "decode/pair_table.h"
#include "decode/record_clock.h"
#include "decode/record_cuda.h"
#include "decode/record_gate.h"
#include "decode/record_read.h"
#include "trace/kind.h"

enum {
    TEXTS_MAX = 1 << 20,
    NAMES_MAX = 1 << 20,
    ABOUTS_MAX = 16,
    PAIRS_MAX = 100,
    ENDED_MAX = 1 << 22,
    VALUE_MAX = 4096
};

struct record {
    struct record_file file;
    struct sink *sink;
    struct arena *arena;
    struct record_clock clock;
    struct record_gate gate;
    name_id *texts; /* by id - 1 */
    uint32_t text_count, text_capacity;
    struct id_map thread_names, threads;
    struct pair_table categories; /* domain, number -> name */
    struct id_map ended;          /* thread and start of ranges behind the last look */
    size_t last_look;             /* where the frame of what was open then ends; 0: none */
    int64_t last_end;             /* in ticks, of all ranges */
    struct str program;
    uint32_t about_count;
    struct record_cuda cuda;
    track_id process, free_ranges; /* NO_TRACK until there is one */
    uint64_t lost[LOST_CAUSES], broken_frames, other_frames, without_time, cut;
};

static void take_text(struct record *record, uint64_t id, struct str text)
{
    if (id == 0 || id > TEXTS_MAX)
        return;
    while (id > record->text_capacity) {
        uint32_t capacity = record->text_capacity == 0 ? 1024 : record->text_capacity * 2;
        record->texts = reallocarray(record->texts, capacity, sizeof *record->texts);
        if (record->texts == NULL)
            abort();
        memset(record->texts + record->text_capacity, 0,
               (capacity - record->text_capacity) * sizeof *record->texts);
        record->text_capacity = capacity;
    }
    record->texts[id - 1] = sink_name(record->sink, str_utf8(record->arena, text));
}

name_id record_text_of(const struct record *record, int64_t id)
{
    return id > 0 && id <= record->text_capacity ? record->texts[id - 1] : 0;
}

static void read_texts(struct record *record, const struct record_frame *frame)
{
    struct record_texts texts;
    struct str text;

    if (!record_texts(&record->file, frame, &texts))
        record->broken_frames++;
    else
        while (texts.id <= TEXTS_MAX && record_text(&texts, &text))
            take_text(record, texts.id - 1, text);
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
                         record_at(columns, CLOCK_REALTIME_NS, row));
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

static void read_gate(struct record *record, const struct record_columns *columns)
{
    record_gate_rows(&record->gate, columns);
}

/* What the ranges need to be told: clocks, texts, names. */
static void read_around(struct record *record, const struct record_frame *frame)
{
    static void (*const readers[])(struct record *, const struct record_columns *) = {
        [SPOOL_CLOCK] = read_clocks,        [SPOOL_THREAD] = read_threads,
        [SPOOL_CATEGORY] = read_categories, [SPOOL_GATE] = read_gate,
        [SPOOL_LOSS] = read_losses,
    };
    struct record_columns columns;

    if (frame->head.type == SPOOL_TEXT)
        read_texts(record, frame);
    else if (frame->head.type == SPOOL_ABOUT && record->about_count++ < ABOUTS_MAX)
        read_about(record, frame);
    else if (frame->head.type == SPOOL_OPEN)
        record->last_look = record->file.at;
    else if (frame->head.type >= SPOOL_TYPE_COUNT || frame->head.type == 0)
        record->other_frames++;
    else if (frame->head.type < COUNT(readers) && readers[frame->head.type] != NULL) {
        if (record_columns(&record->file, frame, &columns))
            readers[frame->head.type](record, &columns);
        else
            record->broken_frames++;
    }
}

static track_id process_track(struct record *record)
{
    uint32_t id = record->file.head.process;
    struct str program = record->program.count > 0 ? record->program : STR("process");

    if (record->process == NO_TRACK)
        record->process =
            sink_track(record->sink,
                       (struct sink_track){.parent = NO_TRACK,
                                           .kind = TRACK_PROCESS,
                                           .name = str_format(record->arena, "%.*s (%" PRIu32 ")",
                                                              STR_ARG(program), id),
                                           .source_id = id,
                                           .device = -1});
    return record->process;
}

static struct str thread_label(struct record *record, int64_t thread)
{
    struct str name = thread == record->file.head.process ? STR("main thread") : STR("thread");
    uint32_t said;

    if (id_map_find(&record->thread_names, (uint64_t)thread, &said))
        name = sink_text(record->sink, said);
    return str_format(record->arena, "%.*s (%" PRId64 ")", STR_ARG(name), thread);
}

track_id record_thread_track(struct record *record, int64_t thread)
{
    uint32_t track;
    bool is_new;

    if (id_map_find(&record->threads, (uint64_t)thread, &track))
        return track;
    track = sink_track(record->sink, (struct sink_track){.parent = process_track(record),
                                                         .kind = TRACK_THREAD,
                                                         .role = ROLE_HOST,
                                                         .name = thread_label(record, thread),
                                                         .source_id = thread,
                                                         .device = -1});
    return id_map_add(&record->threads, (uint64_t)thread, track, &is_new);
}

static track_id free_track(struct record *record)
{
    if (record->free_ranges == NO_TRACK)
        record->free_ranges =
            sink_track(record->sink, (struct sink_track){.parent = process_track(record),
                                                         .kind = TRACK_ASYNC,
                                                         .name = STR("NVTX start/end"),
                                                         .device = -1});
    return record->free_ranges;
}

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
    slice.track = form == FORM_FREE ? free_track(record) : record_thread_track(record, thread);
    slice.kind = kind_of(&(struct kind_facts){.plane = STR("/host:CPU"),
                                              .name = sink_text(record->sink, slice.name)});
    sink_slice(record->sink, slice);
    put_args(record, columns, row);
}

static bool is_event(uint16_t type)
{
    return type == SPOOL_RANGE || record_cuda_is(type);
}

static void read_events(struct record *record, const struct record_frame *frame)
{
    struct record_columns columns;
    bool is_new, is_behind = record->last_look != 0 && record->file.at > record->last_look;

    if (!record_columns(&record->file, frame, &columns)) {
        record->broken_frames++;
        return;
    }
    if (frame->head.type != SPOOL_RANGE) {
        record_cuda_read(&record->cuda, (enum spool_type)frame->head.type, &columns);
        columns.count = 0;
    }
    for (uint32_t row = 0; row < columns.count && !sink_failed(record->sink); row++) {
        put_range(record, &columns, row, 0);
        if (is_behind && record->ended.count < ENDED_MAX)
            id_map_add(&record->ended, key_of(&columns, row), 1, &is_new);
    }
    arena_reset(record->arena);
}

/* The last look at what was open, less what ended behind it. */
static void read_open(struct record *record)
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

static void note_losses(struct record *record)
{
    static const char *const texts[LOST_CAUSES] = {
        [LOST_RING_FULL] = "ranges are missing: a thread told them faster than they were written "
                           "down. Fewer ranges, or --nvtx-domain-exclude, help.",
        [LOST_TEXTS_FULL] = "ranges stand without their names: the program made more different "
                            "texts than the collector keeps.",
        [LOST_TOO_DEEP] = "ranges are missing: more were open at once than the collector keeps.",
        [LOST_NO_PUSH] = "ends of ranges had no beginning: they began before the recording, or "
                         "the program ends more than it begins.",
        [LOST_DISK] = "ranges are missing: the disk was full, or refused to write.",
        [LOST_THREADS] = "ranges are missing: the program had more threads at once than the "
                         "collector keeps.",
        [LOST_POOL] = "records of CUDA activity are missing: they came faster than they were "
                      "written down.",
        [LOST_CUPTI] = "records of CUDA activity are missing: CUPTI dropped them.",
        [LOST_LIMIT] = "ranges are missing: the spool had reached the size that --max-spool "
                       "allows.",
    };

    for (int cause = 0; cause < LOST_CAUSES; cause++)
        if (record->lost[cause] > 0)
            sink_note(record->sink, cause == LOST_NO_PUSH ? "unbalanced-ranges" : "events-dropped",
                      cause == LOST_NO_PUSH ? NOTE_INFO : NOTE_WARNING, record->lost[cause],
                      "%" PRIu64 " %s", record->lost[cause], texts[cause]);
}

static void note_state(struct record *record)
{
    const struct record_file *file = &record->file;

    if (!file->has_end)
        sink_note(record->sink, "truncated", NOTE_WARNING, 1,
                  "The program did not come to its end, or still runs: what it did after the last "
                  "quarter of a second that is here is missing.");
    if (file->bytes_skipped > 0 || file->frames_lost > 0 || record->broken_frames > 0)
        sink_note(record->sink, "damaged", NOTE_WARNING, file->frames_lost + record->broken_frames,
                  "%" PRIu64 " bytes of the spool belong to no frame, %" PRIu64
                  " frames are missing and %" PRIu64 " do not unpack: their ranges are lost.",
                  file->bytes_skipped, file->frames_lost, record->broken_frames);
    if (record->other_frames > 0)
        sink_note(record->sink, "unread", NOTE_INFO, record->other_frames,
                  "%" PRIu64 " frames are of kinds that this version does not know.",
                  record->other_frames);
    if (record->without_time > 0)
        sink_note(record->sink, "no-clock", NOTE_WARNING, record->without_time,
                  "%" PRIu64 " ranges have no time: the spool ends before its clocks were tied.",
                  record->without_time);
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
    }
}

static void read_all(struct record *record)
{
    sink_format(record->sink, decode_record.name);
    sink_epoch(record->sink, record->file.head.realtime_ns);
    record->clock.epoch_ns = record->file.head.realtime_ns;
    record->cuda = (struct record_cuda){.record = record,
                                        .sink = record->sink,
                                        .arena = record->arena,
                                        .epoch_ns = record->file.head.realtime_ns,
                                        .process = record->file.head.process};
    walk(record, read_around, false);
    walk(record, read_events, true);
    record_cuda_note(&record->cuda);
    note_state(record);
    read_open(record);
    if (record_gate_has_captures(&record->gate))
        record_gate_put(&record->gate, record->sink, &record->clock, process_track(record),
                        record->last_end);
    if (record->cut > 0)
        sink_note(record->sink, "open-ranges", NOTE_INFO, record->cut,
                  "Ranges that nothing ended are shown until the end of the recording.");
    note_losses(record);
}

static void free_all(struct record *record)
{
    record_close(&record->file);
    record_clock_free(&record->clock);
    record_gate_free(&record->gate);
    free(record->texts);
    id_map_free(&record->thread_names);
    id_map_free(&record->threads);
    id_map_free(&record->ended);
    pair_table_free(&record->categories);
    record_cuda_free(&record->cuda);
    arena_destroy(record->arena);
}

static enum status decode(struct input *input, struct sink *sink, struct error *err)
{
    struct record record = {.sink = sink, .process = NO_TRACK, .free_ranges = NO_TRACK};
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
