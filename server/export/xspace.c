/* SPDX-License-Identifier: Apache-2.0 */
/* XSpace out: one host's trace, as the JAX profiler would have written it. The format stands in
 * decode/xspace/xspace.c.
 *
 *   outermost track   a plane: its name where it has a plane's; the process that did most is
 *                     /host:CPU; a device /device:GPU:N
 *   track             a line, named with what stands between it and the outermost one
 *   counter           events of the line _counters_
 *   properties        stats of their plane, the file's in "Task Environment"
 *   programs          /host:metadata: an event metadata entry each, with the whole HloProto; also
 *                     those of modules that lie beside the profile
 *   notes             errors and warnings
 *
 *   samples of stacks  a line of events beside their thread's: xspace_samples.c; those without a
 *                      time or a thread have no place, and a warning counts them
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/human.h"
#include "export/export.h"
#include "export/xspace_out.h"

enum { PS_PER_NS = 1000 };

static bool is_format(const struct trace *trace, const char *format)
{
    return trace->format != NULL && strcmp(trace->format, format) == 0;
}

/* The outermost track above each, and a list of those below each outermost one. */
static void find_roots(struct xspace_out *space)
{
    const struct trace *trace = space->trace;
    size_t count = (size_t)trace->track_count + 1;
    track_id *last = memory_resize(NULL, count, sizeof *last);

    space->roots = memory_resize(NULL, count, sizeof *space->roots);
    space->next = memory_resize(NULL, count, sizeof *space->next);
    for (track_id track = 0; track < trace->track_count; track++) {
        track_id parent = trace->tracks[track].parent;
        track_id root = parent == NO_TRACK ? track : space->roots[parent];

        space->roots[track] = root;
        space->next[track] = NO_TRACK;
        if (root != track)
            space->next[last[root]] = track;
        last[root] = track;
    }
    free(last);
}

static bool is_named(const struct trace *trace, struct str name)
{
    for (track_id track = 0; track < trace->track_count; track++)
        if (trace->tracks[track].parent == NO_TRACK &&
            str_equal(trace_name(trace, trace->tracks[track].name), name))
            return true;
    return false;
}

/* The process with most slices and samples, of several the first; NO_TRACK: none has any. */
static track_id main_process(const struct xspace_out *space)
{
    const struct trace *trace = space->trace;
    uint64_t *counts = memory_resize(NULL, (size_t)trace->track_count + 1, sizeof *counts);
    track_id most = NO_TRACK;

    memset(counts, 0, ((size_t)trace->track_count + 1) * sizeof *counts);
    for (track_id track = 0; track < trace->track_count; track++)
        counts[space->roots[track]] += trace->tracks[track].slice_count + lines_count(space, track);
    for (uint32_t index = 0; index < space->sample_count; index++)
        counts[space->roots[trace->samples[space->samples[index]].track]]++;
    for (track_id track = 0; track < trace->track_count; track++)
        if (trace->tracks[track].parent == NO_TRACK && trace->tracks[track].kind != TRACK_DEVICE &&
            counts[track] > 0 && (most == NO_TRACK || counts[track] > counts[most]))
            most = track;
    free(counts);
    return most;
}

static struct str plane_name(const struct xspace_out *space, track_id root, track_id main)
{
    const struct trace *trace = space->trace;
    const struct track *track = &trace->tracks[root];
    struct str name = trace_name(trace, track->name);

    if (space->is_xplane || str_starts(name, STR("/")))
        return name;
    if (root == main && !is_named(trace, STR("/host:CPU")))
        return STR("/host:CPU");
    if (track->kind != TRACK_DEVICE)
        return name;
    struct str gpu = str_format(space->arena, "/device:GPU:%" PRId32, track->device);
    bool is_first = track->device >= 0 && !is_named(trace, gpu);

    for (track_id other = 0; other < root && is_first; other++)
        is_first = trace->tracks[other].parent != NO_TRACK ||
                   trace->tracks[other].kind != TRACK_DEVICE ||
                   trace->tracks[other].device != track->device;
    return is_first ? gpu : str_format(space->arena, "/device:CUSTOM:%.*s", STR_ARG(name));
}

/* The reader of XSpaces counts these itself. */
static bool is_counted(const struct xspace_out *space, const struct property *property)
{
    return space->is_xplane && property_is_count(space->trace, property);
}

static void put_properties(struct plane_out *plane, track_id root)
{
    const struct xspace_out *space = plane->space;
    const struct trace *trace = space->trace;

    for (uint32_t index = 0; index < trace->property_count; index++) {
        const struct property *property = &trace->properties[index];

        if (property->track >= trace->track_count || space->roots[property->track] != root ||
            trace->tracks[property->track].kind == TRACK_COUNTER || is_counted(space, property))
            continue;
        stat_put(plane, &plane->about, XPLANE_STATS, property->arg);
    }
}

/* XProf asks whose the device is; formats that know CUDA alone do not say. */
static void put_vendor(struct plane_out *plane)
{
    const struct xspace_out *space = plane->space;
    bool is_cuda = is_format(space->trace, "jview-spool") || is_format(space->trace, "nsys-sqlite");

    if (is_cuda && str_starts(plane->name, STR("/device:GPU:")))
        stat_put_text(plane, &plane->about, XPLANE_STATS, space->words[WORD_VENDOR], STR("Nvidia"));
}

static enum status put_tracks(struct plane_out *plane, track_id root, struct error *err)
{
    const struct xspace_out *space = plane->space;

    for (track_id id = root; id != NO_TRACK; id = space->next[id]) {
        const struct track *track = &space->trace->tracks[id];

        if (track->kind != TRACK_COUNTER &&
            (id != root || track->slice_count + lines_count(space, id) > 0))
            TRY(plane_put_track(plane, id, err));
    }
    TRY(plane_put_samples(plane, root, err));
    return plane_put_counters(plane, root, err);
}

static enum status put_root(struct xspace_out *space, track_id root, track_id main,
                            struct error *err)
{
    struct plane_out plane;
    struct arena *names = arena_create(); /* lives as long as the plane */
    struct str name = str_copy(names, plane_name(space, root, main));
    struct str own = trace_name(space->trace, space->trace->tracks[root].name);

    if (!lines_take_plane(space, root, name, &plane))
        plane_open(&plane, space, name);
    put_properties(&plane, root);
    put_vendor(&plane);
    if (!str_equal(name, own))
        stat_put_text(&plane, &plane.about, XPLANE_STATS, space->words[WORD_PROCESS], own);
    enum status status = plane_close(&plane, put_tracks(&plane, root, err), err);

    arena_destroy(names);
    return status;
}

/* One entry: "module(program id)" with the proto as a stat of bytes. A module that stands alone
 * gets the message around it that readers expect. */
static enum status put_program(struct plane_out *plane, const struct trace *trace,
                               const struct program *program, struct error *err)
{
    struct xspace_out *space = plane->space;
    struct arena *arena = arena_create();
    struct text proto = {0}, name = {0}, *entry = &plane->event;
    struct bytes blob;

    if (trace_program_blob(trace, program, arena, &blob, err) != OK) {
        arena_destroy(arena);
        return err->code;
    }
    bool is_bare = hlo_parts_of(blob).module.at == blob.at;
    struct str module = str_utf8(arena, trace_name(trace, program->name));

    text_put(&name, module.at, module.count);
    text_putf(&name, "(%" PRIu64 ")", program->id);
    pb_put_number(&plane->stat, XSTAT_ID, names_stat_id(plane, space->words[WORD_PROTO]));
    if (is_bare)
        pb_put_bytes(&proto, 1, blob.at, blob.count);
    pb_put_bytes(&plane->stat, XSTAT_BYTES, is_bare ? (const void *)proto.at : blob.at,
                 is_bare ? proto.count : blob.count);
    pb_put_number(entry, 1, program->id);
    pb_put_text(entry, METADATA_NAME, text_str(&name));
    pb_put_message(entry, METADATA_STATS, &plane->stat);
    pb_put_number(&plane->stat, ENTRY_KEY, program->id);
    pb_put_message(&plane->stat, ENTRY_VALUE, entry);
    pb_put_message(&plane->events, XPLANE_EVENT_METADATA, &plane->stat);
    text_free(&proto);
    text_free(&name);
    arena_destroy(arena);
    return plane_keep(plane, &plane->events, err);
}

struct programs_out { /* the plane, once there is one to put */
    struct xspace_out *space;
    struct plane_out plane;
    struct id_map put; /* by program id: the first of several stands */
    bool any;
};

static enum status put_programs_of(struct programs_out *out, const struct trace *trace,
                                   struct error *err)
{
    enum status status = OK;
    bool is_new = true;

    for (uint32_t index = 0; index < trace->program_count && status == OK; index++) {
        const struct program *program = &trace->programs[index];
        bool is_final = program->stage == STAGE_AFTER || program->stage == STAGE_UNKNOWN;

        if (program->form != PROGRAM_PROTO || program->blob_bytes == 0 || !is_final)
            continue;
        if (trace != out->space->trace)
            id_map_add(&out->put, program->id, index, &is_new);
        if (!is_new)
            continue;
        if (!out->any)
            plane_open(&out->plane, out->space, STR("/host:metadata"));
        out->any = true;
        status = put_program(&out->plane, trace, program, err);
    }
    return status;
}

/* Modules beside a profile that has some of its own are those again. */
static enum status put_programs(struct xspace_out *space, struct error *err)
{
    struct programs_out out = {.space = space};
    enum status status = put_programs_of(&out, space->trace, err);
    bool is_borrowed = !out.any;

    for (uint32_t index = 0; index < space->run->other_count && status == OK && is_borrowed;
         index++)
        status = put_programs_of(&out, space->run->others[index], err);
    id_map_free(&out.put);
    return out.any ? plane_close(&out.plane, status, err) : status;
}

static void put_times(struct plane_out *plane)
{
    const struct xspace_out *space = plane->space;
    const struct trace *trace = space->trace;
    int64_t start_ns, end_ns;

    if (!trace->has_epoch ||
        __builtin_sub_overflow(trace->epoch_ns, space->shift_ps / PS_PER_NS, &start_ns) ||
        __builtin_add_overflow(trace->epoch_ns, trace->end_ps / PS_PER_NS, &end_ns))
        return;
    stat_put_number(plane, &plane->about, XPLANE_STATS, WORD_START, (uint64_t)start_ns);
    for (uint32_t index = 0; index < trace->property_count; index++)
        if (trace->properties[index].track == NO_TRACK &&
            trace->properties[index].arg.key == space->words[WORD_STOP])
            return;
    stat_put_number(plane, &plane->about, XPLANE_STATS, WORD_STOP, (uint64_t)end_ns);
}

static enum status put_environment(struct xspace_out *space, struct error *err)
{
    const struct trace *trace = space->trace;
    struct plane_out plane;

    plane_open(&plane, space, STR("Task Environment"));
    put_times(&plane);
    for (uint32_t index = 0; index < trace->property_count; index++) {
        const struct property *property = &trace->properties[index];

        if (property->track == NO_TRACK &&
            !(trace->has_epoch && property->arg.key == space->words[WORD_START]))
            stat_put(&plane, &plane.about, XPLANE_STATS, property->arg);
    }
    return plane_close(&plane, OK, err);
}

/* What a collector said, without what the reader of XSpaces put before it. */
static struct str said(struct str message)
{
    static const char *const before[] = {"The collector reported: ", "The collector warned: "};

    for (size_t index = 0; index < COUNT(before); index++)
        if (str_starts(message, str_of(before[index]))) {
            message = str_skip(message, strlen(before[index]));
            if (message.count > 0 && message.at[message.count - 1] == '.')
                message.count--;
        }
    return message;
}

static uint32_t count_timeless(const struct trace *trace)
{
    uint32_t count = 0;

    for (uint32_t index = 0; index < trace->stack_sample_count; index++) {
        const struct sample *sample = &trace->samples[index];

        count += sample->at_ps == SAMPLE_NO_TIME || sample->track >= trace->track_count ||
                 sample->stack == NO_STACK;
    }
    return count;
}

static enum status put_notes(struct xspace_out *space, struct error *err)
{
    const struct trace *trace = space->trace;
    struct text text = {0};
    struct str host = trace->hostname.count > 0 ? trace->hostname : space->host->name;

    for (uint32_t index = 0; index < trace->note_count; index++) {
        const struct note *note = &trace->notes[index];

        if (note->severity != NOTE_INFO)
            pb_put_text(&text, note->severity == NOTE_ERROR ? XSPACE_ERRORS : XSPACE_WARNINGS,
                        str_utf8(space->arena, said(trace_name(trace, note->message))));
    }
    uint32_t without_place = count_timeless(trace);

    if (without_place > 0)
        pb_put_text(&text, XSPACE_WARNINGS,
                    str_format(space->arena,
                               "%" PRIu32 " stack sample%s left out: this format cannot hold them",
                               without_place, plural_s(without_place)));
    if (host.count > 0)
        pb_put_text(&text, XSPACE_HOSTNAMES, str_utf8(space->arena, host));
    enum status status =
        text.count == 0
            ? OK
            : space->write(space->to,
                           (struct bytes){.at = (const uint8_t *)text.at, .count = text.count},
                           err);

    text_free(&text);
    return status;
}

static enum status put_space(struct xspace_out *space, struct error *err)
{
    track_id main = main_process(space);

    for (track_id track = 0; track < space->trace->track_count; track++)
        if (space->trace->tracks[track].parent == NO_TRACK)
            TRY(put_root(space, track, main, err));
    TRY(put_programs(space, err));
    TRY(put_environment(space, err));
    TRY(put_notes(space, err));
    return trace_damaged(space->trace) ? fail(err, ERR_FORMAT,
                                              "the index of this run is damaged: jviewd rebuilds "
                                              "it when the run is opened again")
                                       : OK;
}

enum status export_xspace(const struct export_run *run, pack_write *write, void *to,
                          struct error *err)
{
    if (run->host_count != 1)
        return fail(err, ERR_INVALID, "an XSpace holds one host: this run has %u", run->host_count);
    struct xspace_out space = {
        .run = run,
        .host = &run->hosts[0],
        .trace = run->hosts[0].trace,
        .write = write,
        .to = to,
        .arena = arena_create(),
    };
    const struct trace *trace = space.trace;

    space.is_xplane = is_format(trace, "xplane");
    space.has_told_arrows = trace->flow_count == 0 || is_format(trace, "jview-spool");
    if (trace->start_ps < 0)
        space.shift_ps = -(trace->start_ps / PS_PER_NS - 1) * PS_PER_NS;
    space.chunk = memory_resize(NULL, 1, sizeof *space.chunk);
    slice_args_open(&space.args, trace);
    names_open_words(&space);
    find_roots(&space);
    samples_sort(&space);
    enum status status = put_space(&space, err);

    free(space.roots);
    free(space.next);
    free(space.samples);
    slice_args_close(&space.args);
    free(space.chunk);
    arena_destroy(space.arena);
    return status;
}
