/* SPDX-License-Identifier: Apache-2.0 */
/* Who does the work, as tracks.
 *
 *   globalTid = host 16 bits . pid 24 bits . tid 24 bits        globalPid: the tid's bits are 0
 *
 *   /device:GPU:0                           a device, by its CUDA ordinal
 *     Stream #7                             a stream of a context of a process; the latter two are
 *     Stream #7 (python 466, context 2)     in the name where the device has several
 *     Waits, Memory, NVTX: python (466)     lanes, see the tables' own files
 *   python (466)                            a process with events
 *     python (468)                          a thread with events
 *       NVTX, CUDA API, OS runtime          lanes
 *
 * A process counts its devices from 0 whichever it may see, so the same ordinal of two processes
 * can be two devices: TARGET_INFO_CUDA_DEVICE tells which. An export names every process of the
 * machine; only those with events are read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "decode/nsys/nsys.h"

enum { ORDINAL_MAX = 100000, DEVICES_MAX = 4096 };

static int64_t pid_of(int64_t id)
{
    return id >> 24 & 0xffffff;
}

static void read_process_names(struct nsys *nsys)
{
    struct nsys_table *table = nsys_table_find(&nsys->db, STR("PROCESSES"));
    int64_t row, process;
    bool is_new;

    if (table == NULL || !nsys_table_has(table, STR("name")) ||
        !nsys_table_has(table, STR("globalPid")))
        return;
    struct nsys_rows rows = nsys_rows_open(&nsys->db, table, "rowid, \"globalPid\"", "");
    rows.counts = true;
    while (nsys_rows_next(&rows))
        if (nsys_integer(&rows, 0, &row) && nsys_integer(&rows, 1, &process) && row > 0 &&
            row < UINT32_MAX)
            id_map_add(&nsys->tracks.process_names, (uint64_t)process, (uint32_t)row, &is_new);
    nsys_rows_close(&rows);
    nsys->tracks.process_row = nsys_rows_open(&nsys->db, table, "\"name\"", "WHERE rowid = ?");
}

static void read_thread_names(struct nsys *nsys)
{
    static const char *const columns[] = {"globalTid", "nameId"};
    struct nsys_rows rows = nsys_rows_of(&nsys->db, "ThreadNames", columns, 2, "");
    int64_t thread, name;
    bool is_new;

    rows.counts = true;
    while (nsys_rows_next(&rows))
        if (nsys_integer(&rows, 0, &thread) && nsys_integer(&rows, 1, &name) && name >= 0 &&
            name <= UINT32_MAX)
            id_map_add(&nsys->tracks.thread_names, (uint64_t)thread, (uint32_t)name, &is_new);
    nsys_rows_close(&rows);
}

/* Which device a process means by an ordinal. */
static void read_devices(struct nsys *nsys)
{
    static const char *const columns[] = {"pid", "cudaId", "gpuId"};
    struct nsys_rows rows = nsys_rows_of(&nsys->db, "TARGET_INFO_CUDA_DEVICE", columns, 3, "");
    int64_t pid, ordinal, gpu;

    rows.counts = true;
    while (nsys_rows_next(&rows))
        if (nsys_integer(&rows, 0, &pid) && nsys_integer(&rows, 1, &ordinal) &&
            nsys_integer(&rows, 2, &gpu) && gpu >= 0 && gpu < ORDINAL_MAX)
            *pair_table_at(&nsys->tracks.gpu_of, (uint64_t)pid, (uint64_t)ordinal) = (uint32_t)gpu;
    nsys_rows_close(&rows);
}

void nsys_tracks_open(struct nsys *nsys)
{
    read_process_names(nsys);
    read_thread_names(nsys);
    read_devices(nsys);
}

void nsys_tracks_close(struct nsys *nsys)
{
    struct nsys_tracks *tracks = &nsys->tracks;

    nsys_rows_close(&tracks->process_row);
    id_map_free(&tracks->process_names);
    id_map_free(&tracks->thread_names);
    id_map_free(&tracks->named_threads);
    id_map_free(&tracks->processes);
    id_map_free(&tracks->threads);
    pair_table_free(&tracks->lanes);
    pair_table_free(&tracks->gpu_of);
    pair_table_free(&tracks->devices);
    pair_table_free(&tracks->contexts);
    pair_table_free(&tracks->streams);
    free(tracks->device);
    free(tracks->ordinal_is_taken);
    free(tracks->stream);
}

/* A program is told by its file, not by where that lies: there stand names of users. */
static struct str file_of(struct str path)
{
    const char *slash = path.count > 0 ? memrchr(path.at, '/', path.count) : NULL;

    return slash == NULL || slash + 1 == path.at + path.count
               ? path
               : str_skip(path, (size_t)(slash + 1 - path.at));
}

/* "python (466)", or "process 466" where its name is not known. */
static struct str process_name(struct nsys *nsys, int64_t process)
{
    struct str name = {0};
    uint32_t row;

    if (id_map_find(&nsys->tracks.process_names, (uint64_t)process, &row) &&
        nsys_rows_seek(&nsys->tracks.process_row, row))
        name = file_of(nsys_text(&nsys->tracks.process_row, 0));
    if (name.count == 0)
        return str_format(nsys->arena, "process %" PRId64, pid_of(process));
    return str_format(nsys->arena, "%.*s (%" PRId64 ")", STR_ARG(name), pid_of(process));
}

track_id nsys_process_track(struct nsys *nsys, int64_t process)
{
    bool is_new;
    uint32_t track;

    if (id_map_find(&nsys->tracks.processes, (uint64_t)process, &track))
        return track;
    track = sink_track(nsys->sink, (struct sink_track){
                                       .parent = NO_TRACK,
                                       .kind = TRACK_PROCESS,
                                       .name = process_name(nsys, process),
                                       .source_id = pid_of(process),
                                       .device = -1,
                                   });
    return id_map_add(&nsys->tracks.processes, (uint64_t)process, track, &is_new);
}

void nsys_name_thread(struct nsys *nsys, int64_t thread, name_id name)
{
    bool is_new;

    id_map_add(&nsys->tracks.named_threads, (uint64_t)thread, name, &is_new);
}

/* The program's name for it, else the system's. */
struct str nsys_thread_label(struct nsys *nsys, int64_t thread)
{
    uint32_t name = 0, id;

    if (!id_map_find(&nsys->tracks.named_threads, (uint64_t)thread, &name) &&
        id_map_find(&nsys->tracks.thread_names, (uint64_t)thread, &id))
        name = nsys_word(nsys, id);
    struct str text = name != 0 ? sink_text(nsys->sink, name) : STR("thread");
    return str_format(nsys->arena, "%.*s (%" PRId64 ")", STR_ARG(text), thread & 0xffffff);
}

track_id nsys_thread_track(struct nsys *nsys, int64_t thread)
{
    uint32_t track;
    bool is_new;

    if (id_map_find(&nsys->tracks.threads, (uint64_t)thread, &track))
        return track;
    track_id process = nsys_process_track(nsys, process_of(thread));
    track = sink_track(nsys->sink, (struct sink_track){
                                       .parent = process,
                                       .kind = TRACK_THREAD,
                                       .role = ROLE_HOST,
                                       .name = nsys_thread_label(nsys, thread),
                                       .source_id = thread & 0xffffff,
                                       .device = -1,
                                   });
    return id_map_add(&nsys->tracks.threads, (uint64_t)thread, track, &is_new);
}

track_id nsys_lane_track(struct nsys *nsys, track_id parent, enum track_kind kind, struct str name,
                         int64_t source_id, int32_t device)
{
    name_id key = sink_name(nsys->sink, name);
    uint32_t *track =
        pair_table_at(&nsys->tracks.lanes, (uint64_t)parent << 32 | key, (uint64_t)kind);

    if (*track == PAIR_NONE)
        *track = sink_track(nsys->sink, (struct sink_track){
                                            .parent = parent,
                                            .kind = kind,
                                            .role = kind == TRACK_THREAD ? ROLE_HOST : ROLE_NONE,
                                            .name = name,
                                            .source_id = source_id,
                                            .device = device,
                                        });
    return *track;
}

/* The CUDA ordinal where no other device has it already, else the next free number. */
static int32_t take_ordinal(struct nsys_tracks *tracks, int64_t wanted)
{
    if (tracks->ordinal_is_taken == NULL) {
        size_t count = ORDINAL_MAX + DEVICES_MAX + 1;

        tracks->ordinal_is_taken = memory_resize(NULL, count, sizeof *tracks->ordinal_is_taken);
        memset(tracks->ordinal_is_taken, 0, count * sizeof *tracks->ordinal_is_taken);
    }
    while (tracks->ordinal_is_taken[wanted])
        wanted++;
    tracks->ordinal_is_taken[wanted] = true;
    return (int32_t)wanted;
}

static uint32_t add_device(struct nsys *nsys, int64_t gpu, int64_t ordinal)
{
    struct nsys_tracks *tracks = &nsys->tracks;
    char name[32];

    if (tracks->device_count == tracks->device_capacity) {
        tracks->device_capacity = tracks->device_capacity == 0 ? 8 : tracks->device_capacity * 2;
        tracks->device =
            memory_resize(tracks->device, tracks->device_capacity, sizeof *tracks->device);
    }
    struct nsys_device device = {.gpu = gpu, .ordinal = take_ordinal(tracks, ordinal)};
    snprintf(name, sizeof name, "/device:GPU:%" PRId32, device.ordinal);
    device.track = sink_track(nsys->sink, (struct sink_track){
                                              .parent = NO_TRACK,
                                              .kind = TRACK_DEVICE,
                                              .name = str_of(name),
                                              .source_id = ordinal,
                                              .device = device.ordinal,
                                          });
    tracks->device[tracks->device_count] = device;
    return tracks->device_count++;
}

uint32_t nsys_device_of(struct nsys *nsys, int64_t process, int64_t ordinal)
{
    struct nsys_tracks *tracks = &nsys->tracks;

    if (ordinal < 0 || ordinal > ORDINAL_MAX || tracks->device_count == DEVICES_MAX)
        return UINT32_MAX;
    uint32_t *known = pair_table_at(&tracks->devices, (uint64_t)process, (uint64_t)ordinal);
    if (*known != PAIR_NONE)
        return *known;

    uint32_t gpu = pair_table_find(&tracks->gpu_of, (uint64_t)pid_of(process), (uint64_t)ordinal);
    int64_t identity = gpu != PAIR_NONE ? (int64_t)gpu : -1 - ordinal;
    uint32_t index = 0;
    while (index < tracks->device_count && tracks->device[index].gpu != identity)
        index++;
    return *known = index < tracks->device_count ? index : add_device(nsys, identity, ordinal);
}

static uint32_t context_number(struct nsys_tracks *tracks, int64_t process, int64_t context)
{
    uint32_t *number = pair_table_at(&tracks->contexts, (uint64_t)process, (uint64_t)context);

    if (*number == PAIR_NONE)
        *number = tracks->context_count++;
    return *number;
}

static uint32_t add_stream(struct nsys *nsys, struct nsys_stream stream)
{
    struct nsys_tracks *tracks = &nsys->tracks;
    struct nsys_device *device = &tracks->device[stream.device];
    char name[32];

    if (tracks->stream_count == tracks->stream_capacity) {
        tracks->stream_capacity = tracks->stream_capacity == 0 ? 32 : tracks->stream_capacity * 2;
        tracks->stream =
            memory_resize(tracks->stream, tracks->stream_capacity, sizeof *tracks->stream);
    }
    snprintf(name, sizeof name, "Stream #%" PRId64, stream.stream);
    stream.track = sink_track(nsys->sink, (struct sink_track){
                                              .parent = device->track,
                                              .kind = TRACK_STREAM,
                                              .role = ROLE_OPS,
                                              .name = str_of(name),
                                              .source_id = stream.stream,
                                              .device = device->ordinal,
                                          });
    if (device->process == 0) {
        device->process = stream.process;
        device->context = stream.context;
    }
    device->has_contexts |= device->process != stream.process || device->context != stream.context;
    tracks->stream[tracks->stream_count] = stream;
    return tracks->stream_count++;
}

track_id nsys_stream_track(struct nsys *nsys, int64_t process, int64_t ordinal, int64_t context,
                           int64_t stream)
{
    struct nsys_tracks *tracks = &nsys->tracks;
    uint32_t device = nsys_device_of(nsys, process, ordinal);

    if (device == UINT32_MAX)
        return NO_TRACK;
    uint64_t number = context_number(tracks, process, context);
    uint32_t *known =
        pair_table_at(&tracks->streams, (uint64_t)device << 32 | number, (uint64_t)stream);
    if (*known == PAIR_NONE)
        *known = add_stream(
            nsys, (struct nsys_stream){
                      .device = device, .process = process, .context = context, .stream = stream});
    return tracks->stream[*known].track;
}

/* Only now is it known which devices have several contexts. */
void nsys_tracks_finish(struct nsys *nsys)
{
    struct nsys_tracks *tracks = &nsys->tracks;

    for (uint32_t index = 0; index < tracks->stream_count; index++) {
        const struct nsys_stream *stream = &tracks->stream[index];

        if (!tracks->device[stream->device].has_contexts)
            continue;
        struct str process = process_name(nsys, stream->process);
        sink_track_rename(nsys->sink, stream->track,
                          str_format(nsys->arena, "Stream #%" PRId64 " (%.*s, context %" PRId64 ")",
                                     stream->stream, STR_ARG(process), stream->context));
    }
}
