/* SPDX-License-Identifier: Apache-2.0 */
/* Turns of a spool's switch become slices of captures. Facts: api/record.h. */
#include "decode/record/record_switch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/human.h"

enum { TURNS_MAX = 1 << 20 };

static void keep(struct record_switch *recording, struct record_turn turn)
{
    if (recording->count == TURNS_MAX) {
        recording->refused++;
        return;
    }
    if (recording->count == recording->capacity) {
        recording->capacity = recording->capacity == 0 ? 64 : recording->capacity * 2;
        recording->turns =
            memory_resize(recording->turns, recording->capacity, sizeof *recording->turns);
    }
    recording->turns[recording->count++] = turn;
}

void record_switch_rows(struct record_switch *recording, const struct record_columns *columns)
{
    for (uint32_t row = 0; row < columns->count; row++)
        keep(recording,
             (struct record_turn){.at = record_at(columns, SWITCH_AT, row),
                                  .capture = record_at(columns, SWITCH_CAPTURE, row),
                                  .is_open = record_at(columns, SWITCH_IS_OPEN, row) != 0});
}

bool record_switch_has_captures(const struct record_switch *recording)
{
    for (uint32_t turn = 0; turn < recording->count; turn++)
        if (!recording->turns[turn].is_open || recording->turns[turn].capture > 1)
            return true;
    return false;
}

static bool put_capture(struct sink *sink, struct record_clock *clock, track_id track,
                        const struct record_turn *open, int64_t end)
{
    struct sink_slice slice = {.track = track, .kind = KIND_OTHER};
    char name[48];
    int64_t end_ps;

    if (!record_clock_ps(clock, open->at, &slice.start_ps) ||
        !record_clock_ps(clock, end, &end_ps) || end_ps < slice.start_ps)
        return false;
    snprintf(name, sizeof name, "capture %" PRId64, open->capture);
    slice.name = sink_name(sink, str_of(name));
    slice.dur_ps = end_ps - slice.start_ps;
    sink_slice(sink, slice);
    return true;
}

void record_switch_put(const struct record_switch *recording, struct sink *sink,
                       struct record_clock *clock, track_id process, int64_t last_at)
{
    track_id track = sink_track(sink, (struct sink_track){.parent = process,
                                                          .kind = TRACK_THREAD,
                                                          .role = ROLE_HOST,
                                                          .name = STR("captures"),
                                                          .device = -1});
    uint64_t count = 0;

    for (uint32_t turn = 0; turn < recording->count && !sink_failed(sink); turn++) {
        const struct record_turn *open = &recording->turns[turn];
        if (open->is_open)
            count +=
                put_capture(sink, clock, track, open,
                            turn + 1 < recording->count ? recording->turns[turn + 1].at : last_at);
    }
    sink_note(sink, "captures", NOTE_INFO, count,
              "%" PRIu64 " capture%s recorded, drawn as a track; nothing was recorded outside.",
              count, plural_s(count));
    if (recording->refused > 0)
        sink_note(sink, "unread", NOTE_INFO, recording->refused,
                  "Not shown: %" PRIu64 " turn%s of the recording.", recording->refused,
                  plural_s(recording->refused));
}

void record_switch_free(struct record_switch *recording)
{
    free(recording->turns);
}
