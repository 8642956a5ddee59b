/* SPDX-License-Identifier: Apache-2.0 */
/* Planes and lines as tracks.
 *
 *   "/host:CPU"             process    "python", "tf_XLAEigen/17"      threads
 *   "/device:GPU:0"         device 0   "Stream #7(Kernel)"             streams, ops
 *   "/device:TPU:0"         device 0   "XLA Ops", "XLA Modules", ...   streams
 *   any of them                        "_counters_"                    a counter track a name
 *
 * Planes of one name are one track, and so are lines of one id in it, unless their names differ.
 * Lines that a viewer derived and wrote back have ids from 0xdeadbeef on, or names that no
 * collector gives.
 */
#include "decode/xspace/xspace.h"

#include <stdlib.h>

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* "/device:TPU:3 SparseCore 1" is on device 3, whatever the kind; a plug-in's
 * "/device:CUSTOM:Megascale" on none. */
static int32_t device_of(struct str plane_name)
{
    struct str rest = plane_name;
    int32_t ordinal = -1;

    if (!str_starts(rest, STR("/device:")))
        return -1;
    rest = str_skip(rest, STR("/device:").count);
    while (rest.count > 0 && rest.at[0] != ':')
        rest = str_skip(rest, 1);
    for (size_t index = 1; index < rest.count && is_digit(rest.at[index]); index++) {
        if (ordinal > 100000)
            return -1;
        ordinal = (ordinal < 0 ? 0 : ordinal * 10) + (rest.at[index] - '0');
    }
    return ordinal;
}

track_id track_of_plane(struct plane *plane)
{
    struct xspace *space = plane->space;
    struct str name = plane->scan->name;
    bool is_new;

    plane->is_device = str_starts(name, STR("/device:")) || str_starts(name, STR("#Chip"));
    plane->is_gpu = str_starts(name, STR("/device:GPU:"));
    plane->device = device_of(name);
    if (plane->scan->line_count == 0 && plane->device < 0)
        return NO_TRACK; /* carries metadata, no time */

    uint32_t track;
    name_id key = sink_name(space->sink, name);
    if (id_map_find(&space->plane_tracks, key, &track))
        return track;
    track = sink_track(space->sink, (struct sink_track){
                                        .parent = NO_TRACK,
                                        .kind = plane->is_device ? TRACK_DEVICE : TRACK_PROCESS,
                                        .role = ROLE_NONE,
                                        .name = name,
                                        .device = plane->device,
                                    });
    return id_map_add(&space->plane_tracks, key, track, &is_new);
}

static bool is_any(struct str name, const char *const *names, size_t count)
{
    for (size_t index = 0; index < count; index++)
        if (str_equal(name, str_of(names[index])))
            return true;
    return false;
}

static enum track_role role_on_device(struct str name)
{
    static const char *const steps[] = {"Steps", "Sparse Core Steps"};
    static const char *const modules[] = {"XLA Modules", "Sparse Core Modules"};
    static const char *const ops[] = {"XLA Ops", "Sparse Core Ops"};
    static const char *const scopes[] = {"Framework Name Scope",  "Framework Ops",
                                         "XLA TraceMe",           "Source code",
                                         "TensorFlow Name Scope", "TensorFlow Ops"};

    if (is_any(name, steps, COUNT(steps)))
        return ROLE_STEPS;
    if (is_any(name, modules, COUNT(modules)))
        return ROLE_MODULES;
    if (is_any(name, ops, COUNT(ops)) || str_starts(name, STR("Stream #")))
        return ROLE_OPS;
    if (str_equal(name, STR("Async XLA Ops")))
        return ROLE_ASYNC_OPS;
    return is_any(name, scopes, COUNT(scopes)) ? ROLE_SCOPES : ROLE_NONE;
}

/* XProf numbers its lines from 0xdeadbeef, in 64 bits or, of old, sign-extended from 32. */
static bool is_derived_id(int64_t id)
{
    const int64_t base = 0xdeadbeef, count = 400, wrap = INT64_C(1) << 32;

    return (id >= base && id < base + count) || (id >= base - wrap && id < base - wrap + count);
}

static bool is_derived_name(const struct plane *plane, struct str name)
{
    static const char *const always[] = {
        "Framework Name Scope", "Framework Ops",  "Source code",           "Launch Stats",
        "Host Offload Ops",     "TensorFlow Ops", "TensorFlow Name Scope",
    };
    static const char *const on_gpus[] = {"Steps", "XLA Modules", "XLA Ops"};

    return plane->is_device && (is_any(name, always, COUNT(always)) ||
                                (plane->is_gpu && is_any(name, on_gpus, COUNT(on_gpus))));
}

static track_id make_track(struct line *line)
{
    const struct plane *plane = line->plane;
    enum track_kind kind = line->is_async     ? TRACK_ASYNC
                           : plane->is_device ? TRACK_STREAM
                                              : TRACK_THREAD;

    return sink_track(plane->space->sink, (struct sink_track){
                                              .parent = plane->track,
                                              .kind = kind,
                                              .role = line->role,
                                              .name = line->name,
                                              .source_id = line->id,
                                              .device = plane->device,
                                              .derived = line->is_derived,
                                          });
}

static uint64_t line_key(track_id plane, int64_t id)
{
    return ((uint64_t)id ^ (uint64_t)plane << 40) * UINT64_C(0xff51afd7ed558ccd);
}

/* Lines of equal key are chained: the key is mixed, and names may differ. */
static struct line_track *find_line(struct xspace *space, const struct line *line, name_id name,
                                    uint32_t first)
{
    for (uint32_t next = first + 1; next != 0; next = space->line_tracks[next - 1].next) {
        struct line_track *known = &space->line_tracks[next - 1];
        bool same_name = known->name == name || known->name == 0 || name == 0;
        if (known->plane == line->plane->track && known->id == line->id && same_name)
            return known;
    }
    return NULL;
}

void track_of_line(struct line *line)
{
    struct plane *plane = line->plane;
    struct xspace *space = plane->space;
    name_id name = sink_name(space->sink, line->name);
    bool is_new;

    line->role = plane->is_device ? role_on_device(line->name) : ROLE_HOST;
    line->is_derived = is_derived_id(line->id) || is_derived_name(plane, line->name);
    line->is_async = line->role == ROLE_ASYNC_OPS;
    line->is_counters = str_equal(line->name, STR("_counters_"));
    if (line->is_counters) {
        line->track = plane->track; /* its counters lie directly below the plane */
        return;
    }
    uint32_t first = id_map_add(&space->line_keys, line_key(plane->track, line->id),
                                space->line_track_count, &is_new);
    struct line_track *known = is_new ? NULL : find_line(space, line, name, first);
    if (known != NULL) {
        line->track = known->track;
        return;
    }
    if (space->line_track_count == space->line_track_capacity) {
        space->line_track_capacity =
            space->line_track_capacity == 0 ? 64 : space->line_track_capacity * 2;
        space->line_tracks = memory_resize(space->line_tracks, space->line_track_capacity,
                                           sizeof *space->line_tracks);
    }
    line->track = make_track(line);
    uint32_t own = space->line_track_count++;
    space->line_tracks[own] = (struct line_track){
        .plane = plane->track,
        .track = line->track,
        .id = line->id,
        .name = name,
    };
    if (!is_new) {
        space->line_tracks[own].next = space->line_tracks[first].next;
        space->line_tracks[first].next = own + 1;
    }
}
