/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the tracks of processes and threads, and looks up texts, for readers of a spool's
 * frames. */
#include <inttypes.h>

#include "decode/record/record_state.h"

name_id record_name_of(const struct record_names *names, int64_t id)
{
    return id > 0 && id <= names->capacity ? names->at[id - 1] : 0;
}

name_id record_text_of(const struct record *record, int64_t id)
{
    return record_name_of(&record->texts, id);
}

track_id record_process_track(struct record *record)
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
    track = sink_track(record->sink, (struct sink_track){.parent = record_process_track(record),
                                                         .kind = TRACK_THREAD,
                                                         .role = ROLE_HOST,
                                                         .name = thread_label(record, thread),
                                                         .source_id = thread,
                                                         .device = -1});
    return id_map_add(&record->threads, (uint64_t)thread, track, &is_new);
}

track_id record_free_track(struct record *record)
{
    if (record->free_ranges == NO_TRACK)
        record->free_ranges =
            sink_track(record->sink, (struct sink_track){.parent = record_process_track(record),
                                                         .kind = TRACK_ASYNC,
                                                         .name = STR("NVTX start/end"),
                                                         .device = -1});
    return record->free_ranges;
}
