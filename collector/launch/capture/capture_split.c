/* SPDX-License-Identifier: Apache-2.0 */
/* Copies each row of a spool into the spools of the captures that it belongs to. */
#include "launch/capture/capture_split.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/bisect.h"
#include "inject/spool/frame.h"
#include "launch/spool/sync.h"

enum { PATH_BYTES = 4400, COPIED_MAX = 256 << 20, COPIED_TIMES = 4, PS_PER_NS = 1000 };

enum clock { NO_CLOCK, BY_TICKS, BY_REALTIME, BY_MONOTONIC };

/* When what a row tells happened; frames of other types stand in every part. */
static const struct placed {
    enum clock clock;
    uint8_t at;     /* the column */
    bool is_work;   /* of a GPU: WORK_CORRELATION says who launched it */
    bool is_beside; /* alone it makes no part */
} placed[SPOOL_TYPE_COUNT] = {
    [SPOOL_RANGE] = {BY_TICKS, RANGE_START, false, false},
    [SPOOL_OPEN] = {BY_TICKS, RANGE_START, false, false},
    [SPOOL_LOSS] = {BY_TICKS, LOSS_LAST, false, true},
    [SPOOL_KERNEL] = {BY_REALTIME, WORK_START, true, false},
    [SPOOL_COPY] = {BY_REALTIME, WORK_START, true, false},
    [SPOOL_SET] = {BY_REALTIME, WORK_START, true, false},
    [SPOOL_GRAPH] = {BY_REALTIME, WORK_START, true, false},
    [SPOOL_CALL] = {BY_REALTIME, CALL_START, false, false},
    [SPOOL_OVERHEAD] = {BY_REALTIME, OVERHEAD_START, false, true},
    [SPOOL_COUNTER] = {BY_MONOTONIC, COUNTER_AT_NS, false, true},
    [SPOOL_SAMPLE] = {BY_MONOTONIC, SAMPLE_AT_NS, false, false},
    [SPOOL_SWITCH] = {BY_TICKS, SWITCH_AT, false, true},
};

struct part {
    bool has_rows;
    bool is_cut;                   /* the next opened before this was seen closed */
    int64_t end_at;                /* ... then, in ticks */
    int64_t first_call, last_call; /* correlations of its calls; none where first > last */
};

struct split {
    struct spool_open spool;
    const struct capture_list *captures;
    struct part *parts;
    struct indexed { /* a frame, and whose rows it has */
        size_t at;
        uint32_t first, last;
    } * frames;
    size_t frame_count, frame_capacity, last_open; /* the last look at what was open, + 1 */
    uint64_t copied_bytes;
    uint64_t broken_frames; /* that do not unpack */
    struct part *open;      /* by the turns so far; NULL: none */
    int64_t *rows;
    size_t row_capacity;
};

void capture_directory(const char *directory, int64_t number, char ret[PATH_BYTES])
{
    snprintf(ret, PATH_BYTES, "%.4000s/capture-%" PRId64, directory, number);
}

/* Between two captures the second begins where the first was closed; by clocks that agree to some
 * microseconds only, halfway to where it was opened. */
static bool ends_by(const struct capture_list *list, uint32_t at, int64_t at_ns, bool is_exact)
{
    int64_t end_ns = list->at[at].close_ns, next_ns = list->at[at + 1].open_ns;

    if (!is_exact && next_ns > end_ns)
        end_ns += (next_ns - end_ns) / 2;
    return end_ns <= at_ns;
}

/* The capture of a moment. */
static uint32_t capture_at(const struct split *split, int64_t at_ns, bool is_exact)
{
    const struct capture_list *list = split->captures;

    return BISECT(0, list->count - 1, i, ends_by(list, i, at_ns, is_exact));
}

static int64_t monotonic_of(struct split *split, enum clock clock, int64_t at)
{
    struct spool_open *spool = &split->spool;
    int64_t ns;

    if (clock == BY_MONOTONIC)
        return at;
    if (clock == BY_TICKS)
        return spool_monotonic_ns(spool, at, &ns) ? ns : INT64_MAX;
    ns = record_clock_ps_of_realtime(&spool->clock, at) / PS_PER_NS;
    return __builtin_add_overflow(ns, spool->file.head.monotonic_ns, &ns) ? INT64_MAX : ns;
}

/* Calls and their captures ascend together. */
static bool find_launch(const struct split *split, int64_t correlation, uint32_t *ret)
{
    uint32_t low =
        BISECT(0, split->captures->count - 1, i, split->parts[i].last_call < correlation);

    *ret = low;
    return correlation >= split->parts[low].first_call &&
           correlation <= split->parts[low].last_call;
}

static uint32_t owner_of(struct split *split, uint16_t type, const struct record_columns *columns,
                         uint32_t row)
{
    const struct placed *place = &placed[type];
    int64_t number = record_at(columns, SWITCH_CAPTURE, row);
    uint32_t owner = 0;

    if (type == SPOOL_SWITCH) {
        while (owner + 1 < split->captures->count && split->captures->at[owner].number < number)
            owner++;
        return owner;
    }
    if (place->is_work && find_launch(split, record_at(columns, WORK_CORRELATION, row), &owner))
        return owner;
    int64_t at_ns = monotonic_of(split, place->clock, record_at(columns, place->at, row));

    return capture_at(split, at_ns, place->clock == BY_TICKS);
}

static bool is_placed(const struct record_frame *frame)
{
    return frame->head.type < SPOOL_TYPE_COUNT && placed[frame->head.type].clock != NO_CLOCK;
}

static void take_turn(struct split *split, const struct record_columns *columns, uint32_t row,
                      struct part *part)
{
    bool is_open = record_at(columns, SWITCH_IS_OPEN, row) != 0;

    if (is_open && split->open != NULL && split->open != part) {
        split->open->is_cut = true;
        split->open->end_at = record_at(columns, SWITCH_AT, row);
    }
    split->open = is_open ? part : NULL;
}

static void index_frame(struct split *split, const struct record_frame *frame,
                        struct indexed *indexed)
{
    struct record_columns columns;
    uint16_t type = frame->head.type;

    if (!record_columns(&split->spool.file, frame, &columns)) {
        split->broken_frames++;
        return;
    }
    for (uint32_t row = 0; row < columns.count; row++) {
        uint32_t owner = owner_of(split, type, &columns, row);

        indexed->first = owner < indexed->first ? owner : indexed->first;
        indexed->last = owner > indexed->last ? owner : indexed->last;
        split->parts[owner].has_rows |= !placed[type].is_beside;
        if (type == SPOOL_SWITCH)
            take_turn(split, &columns, row, &split->parts[owner]);
    }
}

static void add_frame(struct split *split, struct indexed indexed)
{
    if (split->frame_count == split->frame_capacity) {
        split->frame_capacity = split->frame_capacity == 0 ? 1024 : 2 * split->frame_capacity;
        split->frames = memory_resize(split->frames, split->frame_capacity, sizeof *split->frames);
    }
    split->frames[split->frame_count++] = indexed;
}

static void index_frames(struct split *split)
{
    struct record_file *file = &split->spool.file;
    uint32_t count = split->captures->count;
    struct record_frame frame;

    record_rewind(file);
    for (size_t at = file->at; record_next(file, &frame); at = file->at) {
        struct indexed indexed = {.at = at, .last = count - 1};

        if (is_placed(&frame)) {
            indexed = (struct indexed){.at = at, .first = count};
            index_frame(split, &frame, &indexed);
        } else if (frame.head.type != SPOOL_END) {
            split->copied_bytes += frame.packed.count;
        }
        add_frame(split, indexed);
        if (frame.head.type == SPOOL_OPEN)
            split->last_open = split->frame_count;
    }
}

static void take_calls(struct split *split, const struct record_columns *columns)
{
    for (uint32_t row = 0; row < columns->count; row++) {
        struct part *part = &split->parts[owner_of(split, SPOOL_CALL, columns, row)];
        int64_t correlation = record_at(columns, CALL_CORRELATION, row);

        if (correlation <= 0)
            continue;
        part->first_call = correlation < part->first_call ? correlation : part->first_call;
        part->last_call = correlation > part->last_call ? correlation : part->last_call;
    }
}

static void read_calls(struct split *split)
{
    struct record_file *file = &split->spool.file;
    struct record_frame frame;
    struct record_columns columns;

    for (uint32_t index = 0; index < split->captures->count; index++)
        split->parts[index] = (struct part){.first_call = INT64_MAX};
    record_rewind(file);
    while (record_next(file, &frame))
        if (frame.head.type == SPOOL_CALL && record_columns(file, &frame, &columns))
            take_calls(split, &columns);
    for (uint32_t index = 1; index < split->captures->count; index++)
        if (split->parts[index].last_call < split->parts[index - 1].last_call)
            split->parts[index].last_call = split->parts[index - 1].last_call;
}

static int64_t *room_for(struct split *split, size_t count)
{
    if (count > split->row_capacity) {
        split->row_capacity = count;
        split->rows = memory_resize(split->rows, count, sizeof *split->rows);
    }
    return split->rows;
}

/* Of a frame the rows of one capture. */
static bool put_rows(struct split *split, struct spool *to, const struct record_frame *frame,
                     uint32_t capture)
{
    struct record_columns columns;
    uint32_t width = 0, kept = 0;

    if (!record_columns(&split->spool.file, frame, &columns))
        return false;
    while (width < SPOOL_COLUMNS_MAX && columns.column[width] != NULL)
        width++;
    int64_t *rows = room_for(split, (size_t)columns.count * width + 1);

    for (uint32_t row = 0; row < columns.count; row++) {
        if (owner_of(split, frame->head.type, &columns, row) != capture)
            continue;
        for (uint32_t column = 0; column < width; column++)
            rows[(size_t)kept * width + column] = columns.column[column][row];
        kept++;
    }
    return kept == 0 || spool_rows(to, (enum spool_type)frame->head.type, rows, kept, width);
}

static bool put_frames(struct split *split, struct spool *to, uint32_t capture)
{
    struct record_file *file = &split->spool.file;
    struct record_frame frame;
    bool is_written = true;

    for (size_t index = 0; index < split->frame_count && is_written; index++) {
        const struct indexed *indexed = &split->frames[index];

        file->at = indexed->at;
        if (capture < indexed->first || capture > indexed->last || !record_next(file, &frame) ||
            frame.head.type == SPOOL_END ||
            (frame.head.type == SPOOL_OPEN && index + 1 != split->last_open))
            continue;
        if (is_placed(&frame)) {
            is_written = put_rows(split, to, &frame, capture);
        } else {
            struct bytes raw = record_payload(file, &frame);
            is_written = spool_bytes(to, (enum spool_type)frame.head.type, raw.at, raw.count,
                                     frame.head.records);
        }
    }
    return is_written;
}

/* It ends where the next begins, where no turn says so. */
static bool put_end(const struct split *split, struct spool *to, uint32_t capture)
{
    const struct part *part = &split->parts[capture];
    const int64_t turn[SWITCH_COLUMNS] = {
        [SWITCH_AT] = part->end_at, [SWITCH_CAPTURE] = split->captures->at[capture].number};

    return !part->is_cut || spool_rows(to, SPOOL_SWITCH, turn, 1, SWITCH_COLUMNS);
}

/* It begins where its capture does. */
static struct spool_head head_of(const struct split *split, uint32_t capture)
{
    struct spool_head head = split->spool.file.head;
    int64_t later_ns = split->captures->at[capture].open_ns - head.monotonic_ns;

    if (split->captures->at[capture].open_ns != INT64_MAX && later_ns > 0) {
        head.realtime_ns += later_ns;
        head.monotonic_ns += later_ns;
    }
    return head;
}

static enum status write_part(struct split *split, const char *directory, const char *name,
                              uint32_t capture, struct error *err)
{
    const struct capture *about = &split->captures->at[capture];
    struct spool_head head = head_of(split, capture);
    bool is_whole = about->close_ns != INT64_MAX || split->spool.file.has_end;
    char path[PATH_BYTES + 256];

    capture_directory(directory, about->number, path);
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return fail(err, ERR_IO, "cannot make %s: %s", path, strerror(errno));
    size_t count = strlen(path);

    snprintf(path + count, sizeof path - count, "/%.255s", name);
    struct spool *to = spool_open_as(path, &head);
    if (to == NULL)
        return fail(err, ERR_IO, "cannot make %s: %s", path, strerror(errno));
    bool is_written = put_frames(split, to, capture) && put_end(split, to, capture) &&
                      (!is_whole || spool_rows(to, SPOOL_END, (const int64_t[]){0}, 0, 0)) &&
                      spool_sync(to);
    int why = errno;

    spool_close(to);
    if (!is_written)
        return fail(err, ERR_IO, "cannot write %s: %s", path, strerror(why));
    path[count] = '\0';
    return sync_directory(path, err);
}

static void remove_parts(const struct split *split, const char *directory, const char *name)
{
    char path[PATH_BYTES], part[PATH_BYTES + 256];

    for (uint32_t capture = 0; capture < split->captures->count; capture++) {
        capture_directory(directory, split->captures->at[capture].number, path);
        snprintf(part, sizeof part, "%s/%.255s", path, name);
        unlink(part);
        rmdir(path);
    }
}

/* What is missing stands between frames, which no part would tell. */
static enum status check_whole(const struct split *split, struct error *err)
{
    const struct record_file *file = &split->spool.file;

    if (file->bytes_skipped == 0 && file->frames_lost == 0 && split->broken_frames == 0)
        return OK;
    return fail(err, ERR_FORMAT,
                "it is damaged, %" PRIu64 " bytes belong to no frame, %" PRIu64
                " frames are missing and %" PRIu64 " do not unpack",
                file->bytes_skipped, file->frames_lost, split->broken_frames);
}

static enum status write_parts(struct split *split, const char *directory, const char *name,
                               struct error *err)
{
    uint32_t parts = 0;
    enum status status = OK;

    TRY(check_whole(split, err));
    for (uint32_t capture = 0; capture < split->captures->count; capture++)
        parts += split->parts[capture].has_rows;
    if (parts == 0) /* figures alone: of the last */
        split->parts[split->captures->count - 1].has_rows = true;
    if (split->copied_bytes * parts > COPIED_MAX + COPIED_TIMES * split->spool.mapped.count)
        return fail(err, ERR_LIMIT, "names and stacks of %u captures would take too much room",
                    parts);
    for (uint32_t capture = 0; capture < split->captures->count && status == OK; capture++)
        if (split->parts[capture].has_rows)
            status = write_part(split, directory, name, capture, err);
    if (status == OK)
        status = sync_directory(directory, err);
    if (status != OK)
        remove_parts(split, directory, name);
    return status;
}

enum status capture_split(const char *directory, const char *name,
                          const struct capture_list *captures, struct error *err)
{
    struct split split = {.captures = captures};
    char path[PATH_BYTES];

    snprintf(path, sizeof path, "%.4000s/%.255s", directory, name);
    if (!spool_read_open(path, &split.spool))
        return fail(err, ERR_FORMAT, "%s cannot be read", path);
    split.parts = memory_resize(NULL, captures->count, sizeof *split.parts);
    read_calls(&split);
    index_frames(&split);
    enum status status = write_parts(&split, directory, name, err);

    if (status == OK && unlink(path) != 0) {
        status = fail(err, ERR_IO, "cannot remove %s: %s", path, strerror(errno));
        remove_parts(&split, directory, name);
    }
    free(split.parts);
    free(split.frames);
    free(split.rows);
    spool_read_close(&split.spool);
    return status;
}
