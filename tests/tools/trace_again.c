/* SPDX-License-Identifier: Apache-2.0 */
/* trace_again FILE...: each file decoded, written as an XSpace, and that decoded again. Every slice
 * of the first is in the second, in its place: same name, same picoseconds, same args; and every
 * sample, arrow and program.
 *
 * What was an XSpace before is the same to the last flag. Of other formats args may be more, since
 * XSpaces tell by them what others tell otherwise, and types of args may be the next like it.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "decoded.h"
#include "export/row_merge.h"
#include "export/slice_rows.h"
#include "trace/events/counter.h"

enum { TOLD_MAX = 10 };

struct pair { /* of traces of one file */
    const char *path;
    struct export_run runs[2];
    struct export_host hosts[2];
    struct slice_args args[2];
    struct chunk *chunks[2];
    int64_t shift_ps; /* of the second */
    bool is_strict;
    uint64_t slices, differences;
};

static const struct trace *first_of(const struct pair *pair)
{
    return pair->hosts[0].trace;
}

static const struct trace *second_of(const struct pair *pair)
{
    return pair->hosts[1].trace;
}

static void __attribute__((format(printf, 2, 3))) differ(struct pair *pair, const char *format, ...)
{
    va_list args;

    if (pair->differences++ >= TOLD_MAX)
        return;
    printf("%s: ", pair->path);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
}

static enum status gather(void *to, struct bytes piece, struct error *err)
{
    (void)err;
    text_put(to, (const char *)piece.at, piece.count);
    return OK;
}

static bool has_text(enum arg_type type)
{
    return type == ARG_STRING || type == ARG_BYTES || type == ARG_JSON;
}

static struct str clean(struct str text, struct arena *arena)
{
    return str_utf8(arena, text);
}

static bool same_arg(const struct pair *pair, const struct arg *a, const struct arg *b,
                     struct arena *arena)
{
    bool types = pair->is_strict ? a->type == b->type : has_text(a->type) == has_text(b->type);

    if (!types || !str_equal(clean(trace_name(first_of(pair), a->key), arena),
                             trace_name(second_of(pair), b->key)))
        return false;
    if (!has_text(a->type))
        return a->bits == b->bits;
    struct str text = trace_name(first_of(pair), (name_id)a->bits);

    return str_equal(a->type == ARG_BYTES ? text : clean(text, arena),
                     trace_name(second_of(pair), (name_id)b->bits));
}

/* In order; args that only the second has are passed over where the first was no XSpace. */
static void compare_args(struct pair *pair, const struct merged_slice *slices[2],
                         struct arena *arena)
{
    const struct arg *args[2];
    type_id types[2];
    uint32_t counts[2], at = 0;

    for (int side = 0; side < 2; side++)
        counts[side] =
            slice_args_of(&pair->args[side], slices[side]->event, &args[side], &types[side]);
    for (uint32_t index = 0; index < counts[0]; index++, at++) {
        if (args[0][index].type == ARG_NONE)
            continue;
        if (at >= counts[1] || !same_arg(pair, &args[0][index], &args[1][at], arena)) {
            struct str key = trace_name(first_of(pair), args[0][index].key);

            differ(pair, "event %" PRIu32 ": arg %.*s differs", slices[0]->event, STR_ARG(key));
            return;
        }
    }
    if (pair->is_strict && at != counts[1])
        differ(pair, "event %" PRIu32 ": %" PRIu32 " args, not %" PRIu32, slices[0]->event,
               counts[1], counts[0]);
    if ((types[0] != 0) != (types[1] != 0) && first_of(pair)->types[types[0]].arg_count != 0)
        differ(pair, "event %" PRIu32 ": its type is lost", slices[0]->event);
}

static bool same_slice(struct pair *pair, const struct merged_slice *slices[2], struct arena *arena)
{
    const struct merged_slice *a = slices[0], *b = slices[1];
    struct str name = clean(trace_name(first_of(pair), a->name), arena);

    if (a->start_ps + pair->shift_ps == b->start_ps && a->dur_ps == b->dur_ps &&
        str_equal(name, trace_name(second_of(pair), b->name)) &&
        (!pair->is_strict || (a->flags & ~SLICE_CLAMPED) == b->flags))
        return true;
    differ(pair,
           "event %" PRIu32 ": %.*s at %" PRId64 " +%" PRId64 " flags %u became %.*s at %" PRId64
           " +%" PRId64 " flags %u",
           a->event, STR_ARG(name), a->start_ps, a->dur_ps, a->flags,
           STR_ARG(trace_name(second_of(pair), b->name)), b->start_ps - pair->shift_ps, b->dur_ps,
           b->flags);
    return false;
}

static void compare_tracks(struct pair *pair, track_id first, track_id second)
{
    struct row_merge *merges[2];
    const struct merged_slice *slices[2];
    struct arena *arena = arena_create();
    const track_id tracks[2] = {first, second};

    for (int side = 0; side < 2; side++) {
        const struct trace *trace = pair->hosts[side].trace;

        merges[side] = row_merge_open(&pair->runs[side], &pair->hosts[side],
                                      &trace->tracks[tracks[side]], pair->chunks[side]);
        slices[side] = row_merge_next(merges[side]);
    }
    while (slices[0] != NULL && slices[1] != NULL && pair->differences < TOLD_MAX) {
        pair->slices++;
        if (same_slice(pair, slices, arena))
            compare_args(pair, slices, arena);
        for (int side = 0; side < 2; side++)
            slices[side] = row_merge_next(merges[side]);
        arena_reset(arena);
    }
    if (pair->differences < TOLD_MAX && (slices[0] != NULL) != (slices[1] != NULL))
        differ(pair, "track %" PRIu32 " has %" PRIu64 " slices, not %" PRIu64, first,
               second_of(pair)->tracks[second].slice_count,
               first_of(pair)->tracks[first].slice_count);
    for (int side = 0; side < 2; side++)
        row_merge_close(merges[side]);
    arena_destroy(arena);
}

static void compare_samples(struct pair *pair, track_id first, track_id second)
{
    uint64_t counts[2];
    const struct counter_sample *a = trace_samples(first_of(pair), first, &counts[0]);
    const struct counter_sample *b = trace_samples(second_of(pair), second, &counts[1]);

    if (counts[0] != counts[1])
        differ(pair, "counter %" PRIu32 ": %" PRIu64 " samples, not %" PRIu64, first, counts[1],
               counts[0]);
    for (uint64_t index = 0; index < counts[0] && counts[0] == counts[1]; index++)
        if (a[index].at_ps + pair->shift_ps != b[index].at_ps ||
            memcmp(&a[index].value, &b[index].value, sizeof a->value) != 0) {
            differ(pair, "counter %" PRIu32 ": sample %" PRIu64 " differs", first, index);
            return;
        }
}

static track_id root_of(const struct trace *trace, track_id track)
{
    while (trace->tracks[track].parent != NO_TRACK)
        track = trace->tracks[track].parent;
    return track;
}

/* Samples of stacks come again as lines of events: they are the samples' own tests' matter. */
static bool is_of_stacks(const struct trace *trace, track_id track)
{
    return trace->tracks[track].source_id >= INT64_C(1) << 50;
}

static uint64_t own_slices(const struct trace *trace)
{
    uint64_t count = trace->slice_count;

    for (track_id track = 0; track < trace->track_count; track++)
        count -= is_of_stacks(trace, track) ? trace->tracks[track].slice_count : 0;
    return count;
}

static bool holds(const struct trace *trace, track_id track, bool is_counter)
{
    uint64_t samples = 0;

    if (is_of_stacks(trace, track))
        return false;

    trace_samples(trace, track, &samples);
    return is_counter ? samples > 0 : trace->tracks[track].slice_count > 0;
}

/* Tracks that hold anything of a kind, in the order in which they are written: by plane. */
static uint32_t list_tracks(const struct trace *trace, bool is_counter, track_id *ret)
{
    uint32_t count = 0;

    for (track_id root = 0; root < trace->track_count; root++)
        for (track_id track = root;
             trace->tracks[root].parent == NO_TRACK && track < trace->track_count; track++)
            if (root_of(trace, track) == root && holds(trace, track, is_counter))
                ret[count++] = track;
    return count;
}

static void compare_all_tracks(struct pair *pair, bool is_counter, struct arena *arena)
{
    track_id *tracks[2];
    uint32_t counts[2];

    for (int side = 0; side < 2; side++) {
        const struct trace *trace = pair->hosts[side].trace;

        tracks[side] = arena_array(arena, track_id, trace->track_count + 1);
        counts[side] = list_tracks(trace, is_counter, tracks[side]);
    }
    if (counts[0] != counts[1])
        differ(pair, "%" PRIu32 " tracks, not %" PRIu32, counts[1], counts[0]);
    for (uint32_t index = 0; index < counts[0] && index < counts[1]; index++) {
        track_id first = tracks[0][index], second = tracks[1][index];
        struct str wanted =
            clean(trace_name(first_of(pair), first_of(pair)->tracks[first].name), arena);
        struct str name = trace_name(second_of(pair), second_of(pair)->tracks[second].name);

        if (pair->is_strict ? !str_equal(name, wanted) : !str_ends(name, wanted))
            differ(pair, "track %.*s became %.*s", STR_ARG(wanted), STR_ARG(name));
        if (is_counter)
            compare_samples(pair, first, second);
        else
            compare_tracks(pair, first, second);
    }
}

static void compare_number(struct pair *pair, const char *what, uint64_t first, uint64_t second)
{
    if (first != second)
        differ(pair, "%s: %" PRIu64 ", not %" PRIu64, what, second, first);
}

static uint32_t protos(const struct trace *trace)
{
    uint32_t count = 0;

    for (uint32_t index = 0; index < trace->program_count; index++)
        count += trace->programs[index].form == PROGRAM_PROTO &&
                 (trace->programs[index].stage == STAGE_AFTER ||
                  trace->programs[index].stage == STAGE_UNKNOWN);
    return count;
}

static void compare(struct pair *pair, struct arena *arena)
{
    const struct trace *first = first_of(pair), *second = second_of(pair);

    pair->is_strict = strcmp(first->format, "xplane") == 0;
    pair->shift_ps = first->has_epoch && second->has_epoch
                         ? (first->epoch_ns - second->epoch_ns) * 1000
                         : second->start_ps - first->start_ps;
    compare_all_tracks(pair, false, arena);
    compare_all_tracks(pair, true, arena);
    compare_number(pair, "slices", own_slices(first), own_slices(second));
    compare_number(pair, "samples", first->sample_count, second->sample_count);
    compare_number(pair, "programs", protos(first), second->program_count);
    compare_number(pair, "epoch", first->has_epoch, second->has_epoch);
    if (!pair->is_strict)
        return;
    compare_number(pair, "arrows", first->flow_count, second->flow_count);
    compare_number(pair, "memory events", first->memory_event_count, second->memory_event_count);
    compare_number(pair, "instructions", first->instruction_count, second->instruction_count);
}

static bool again(const char *path, struct arena *arena, struct pair *pair, struct error *err)
{
    struct bytes bytes;
    struct text out = {0};

    *pair = (struct pair){.path = path, .chunks = {pair->chunks[0], pair->chunks[1]}};
    if (file_read(path, arena, (size_t)2 << 30, &bytes, err) != OK)
        return false;
    pair->hosts[0].trace = decoded(NULL, str_of(path), bytes, arena, err);
    if (pair->hosts[0].trace == NULL)
        return false;
    for (int side = 0; side < 2; side++)
        pair->runs[side] = (struct export_run){.hosts = &pair->hosts[side], .host_count = 1};
    if (export_xspace(&pair->runs[0], gather, &out, err) == OK)
        pair->hosts[1].trace =
            decoded(NULL, STR("again.xplane.pb"),
                    (struct bytes){.at = (const uint8_t *)out.at, .count = out.count}, arena, err);
    if (pair->hosts[1].trace != NULL) {
        for (int side = 0; side < 2; side++)
            slice_args_open(&pair->args[side], pair->hosts[side].trace);
        compare(pair, arena);
        for (int side = 0; side < 2; side++)
            slice_args_close(&pair->args[side]);
    }
    text_free(&out);
    return pair->hosts[1].trace != NULL;
}

int main(int argument_count, char **arguments)
{
    struct pair pair = {0};
    uint64_t slices = 0, differences = 0;

    for (int side = 0; side < 2; side++)
        pair.chunks[side] = memory_resize(NULL, 1, sizeof *pair.chunks[side]);
    for (int index = 1; index < argument_count; index++) {
        struct arena *arena = arena_create();
        struct error err = {0};

        if (!again(arguments[index], arena, &pair, &err))
            differ(&pair, "%s", err.message);
        slices += pair.slices;
        differences += pair.differences;
        arena_destroy(arena);
    }
    printf("%d files, %" PRIu64 " slices, %" PRIu64 " differences\n", argument_count - 1, slices,
           differences);
    for (int side = 0; side < 2; side++)
        free(pair.chunks[side]);
    return differences == 0 ? 0 : 1;
}
