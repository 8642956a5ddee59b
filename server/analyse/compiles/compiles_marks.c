/* SPDX-License-Identifier: Apache-2.0 */
/* Slices that speak of compiling, found by their names: each name is looked at once. */
#include <stdlib.h>

#include "analyse/compiles/compiles_parts.h"
#include "base/bisect.h"
#include "trace/names/by_name.h"

void compile_marks_add(struct compile_marks *marks, const struct compile_mark *mark)
{
    if (marks->count == marks->capacity) {
        marks->capacity = marks->capacity == 0 ? 256 : 2 * marks->capacity;
        marks->items = memory_resize(marks->items, marks->capacity, sizeof(*marks->items));
    }
    marks->items[marks->count++] = *mark;
}

static int by_track_and_time(const void *left, const void *right)
{
    const struct compile_mark *a = left, *b = right;

    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps ? -1 : 1;
    if (a->end_ps != b->end_ps)
        return a->end_ps > b->end_ps ? -1 : 1;
    return (a->depth > b->depth) - (a->depth < b->depth);
}

void compile_marks_sort(struct compile_marks *marks)
{
    if (marks->count > 1)
        qsort(marks->items, marks->count, sizeof(*marks->items), by_track_and_time);
}

void compile_marks_free(struct compile_marks *marks)
{
    free(marks->items);
    *marks = (struct compile_marks){0};
}

static bool holds_marks(const struct track *track)
{
    return !track->derived && track->device < 0;
}

static struct compile_mark mark_of(const struct trace *trace, const struct row *row,
                                   const struct name_run *run, slice_id id,
                                   struct compile_word word)
{
    struct slice slice = trace_slice(trace, id);

    return (struct compile_mark){
        .track = row->track,
        .slice = id,
        .name = run->name,
        .depth = row->depth,
        .owner = NO_COMPILE,
        .start_ps = slice.start_ps,
        .end_ps = slice.start_ps + slice.dur_ps,
        .word = word,
    };
}

static void add_name(const struct trace *trace, name_id name, struct compile_word word,
                     struct compile_marks *ret)
{
    uint32_t run_count;
    const struct name_run *runs = trace_name_runs(trace, name, &run_count);

    for (uint32_t i = 0; i < run_count; i++) {
        const struct row *row = &trace->rows[runs[i].row];
        const slice_id *ids = trace_name_slices(trace, &runs[i]);

        if (ids == NULL || !holds_marks(&trace->tracks[row->track]))
            continue;
        for (uint32_t at = 0; at < runs[i].count; at++) {
            struct compile_mark mark = mark_of(trace, row, &runs[i], ids[at], word);

            if (mark.end_ps > mark.start_ps)
                compile_marks_add(ret, &mark);
        }
    }
}

void compile_marks_find(const struct trace *trace, unsigned roles, struct compile_marks *ret)
{
    const struct name_stats *stats;
    uint32_t count = trace_name_stats(trace, &stats);

    for (uint32_t i = 0; i < count; i++) {
        struct compile_word word = compile_word_of(trace_name(trace, stats[i].name));

        if (stats[i].count > 0 && (roles >> word.role & 1u) != 0)
            add_name(trace, stats[i].name, word, ret);
    }
    compile_marks_sort(ret);
}

/* The first of the run's slices that begins at or behind a time. */
static uint32_t first_from(const struct trace *trace, const slice_id *ids, uint32_t count,
                           int64_t at_ps)
{
    return BISECT(0, count, i, trace_slice(trace, ids[i]).start_ps < at_ps);
}

/* The first mark of the track. */
static uint32_t first_of_track(const struct compile_marks *marks, track_id track)
{
    return BISECT(0, marks->count, i, marks->items[i].track < track);
}

/* The first of those from `low` on that ends behind a time: marks of a track are apart. */
static uint32_t first_ending_behind(const struct compile_marks *marks, uint32_t low, uint32_t high,
                                    int64_t at_ps)
{
    return BISECT(low, high, i, marks->items[i].end_ps <= at_ps);
}

/* Both stand by time: neither a run of few slices nor one of many walks over all of the other. */
static void add_inside(const struct trace *trace, const struct name_run *run,
                       struct compile_word word, const struct compile_marks *inside,
                       struct compile_marks *ret)
{
    const struct row *row = &trace->rows[run->row];
    uint32_t i = first_of_track(inside, row->track), end = first_of_track(inside, row->track + 1);
    const slice_id *ids = i < end ? trace_name_slices(trace, run) : NULL;

    while (ids != NULL && i < end) { /* a damaged segment reads as empty */
        const struct compile_mark *around = &inside->items[i];
        int64_t next_ps = INT64_MAX;

        for (uint32_t at = first_from(trace, ids, run->count, around->start_ps); at < run->count;
             at++) {
            struct compile_mark mark = mark_of(trace, row, run, ids[at], word);

            if (mark.start_ps >= around->end_ps) {
                next_ps = mark.start_ps;
                break;
            }
            mark.owner = around->owner;
            if (mark.end_ps > around->end_ps)
                mark.end_ps = around->end_ps;
            if (mark.end_ps > mark.start_ps)
                compile_marks_add(ret, &mark);
        }
        i = first_ending_behind(inside, i + 1, end, next_ps);
    }
}

void compile_parts_find(const struct trace *trace, const struct compile_marks *inside,
                        struct compile_marks *ret)
{
    const struct name_stats *stats;
    uint32_t count = inside->count > 0 ? trace_name_stats(trace, &stats) : 0;

    for (uint32_t i = 0; i < count; i++) {
        struct compile_word word = compile_word_of(trace_name(trace, stats[i].name));
        uint32_t run_count;

        if (word.role != COMPILE_PART)
            continue;

        const struct name_run *runs = trace_name_runs(trace, stats[i].name, &run_count);

        for (uint32_t run = 0; run < run_count; run++)
            add_inside(trace, &runs[run], word, inside, ret);
    }
}
