/* SPDX-License-Identifier: Apache-2.0 */
/* What of a spool is missing, and why. */
#include <inttypes.h>

#include "base/human.h"
#include "decode/record/record_state.h"

void record_note_losses(struct record *record)
{
    static const char *const texts[LOST_CAUSES] = {
        [LOST_RING_FULL] = "ranges are missing: a thread recorded them faster than they could be "
                           "written. Use fewer ranges, or --nvtx-domain-exclude.",
        [LOST_TEXTS_FULL] =
            "ranges have no name: the program used more distinct strings than the collector keeps.",
        [LOST_TOO_DEEP] = "ranges are missing: more were open at once than the collector keeps.",
        [LOST_NO_PUSH] = "ends of ranges have no begin: they began before the recording, or the "
                         "program ends more ranges than it begins.",
        [LOST_DISK] = "ranges are missing: the disk was full, or writing failed.",
        [LOST_THREADS] = "ranges are missing: the program had more threads at once than the "
                         "collector keeps.",
        [LOST_POOL] =
            "records of CUDA activity are missing: they came faster than they could be written.",
        [LOST_CUPTI] = "records of CUDA activity are missing: CUPTI dropped them.",
        [LOST_PAYLOADS] = "ranges have no payload: the program used more distinct payloads than "
                          "the collector keeps.",
        [LOST_TORN] = "samples of Python stacks are missing: the stack changed while it was read.",
        [LOST_LATE] = "samples of threads are missing: the machine was too busy for this rate. "
                      "Lower it with --py-sample=HZ.",
        [LOST_STACKS] = "samples have no innermost frames: the program had more distinct stacks "
                        "than the collector keeps.",
        [LOST_SAMPLES] = "CPU samples are missing: the system dropped them, or their process had "
                         "just ended. A lower --sampling-frequency avoids the first cause.",
        [LOST_PROCESSORS] = "CPUs were not sampled, so what ran on them is missing: the system "
                            "refused their sample buffers.",
        [LOST_LIMIT] = "ranges are missing: the spool reached the limit of --max-spool.",
    };

    for (int cause = 0; cause < LOST_CAUSES; cause++)
        if (record->lost[cause] > 0)
            sink_note(record->sink, cause == LOST_NO_PUSH ? "unbalanced-ranges" : "events-dropped",
                      cause == LOST_NO_PUSH ? NOTE_INFO : NOTE_WARNING, record->lost[cause],
                      "%" PRIu64 " %s", record->lost[cause], texts[cause]);
}

void record_note_state(struct record *record)
{
    const struct record_file *file = &record->file;

    if (!file->has_end)
        sink_note(record->sink, "truncated", NOTE_WARNING, 1,
                  "The program was killed or is still running: up to the last quarter of a second "
                  "of its recording is missing.");
    if (file->bytes_skipped > 0 || file->frames_lost > 0 || record->broken_frames > 0)
        sink_note(record->sink, "damaged", NOTE_WARNING, file->frames_lost + record->broken_frames,
                  "The spool is damaged: %" PRIu64 " bytes belong to no frame, %" PRIu64
                  " frames are missing and %" PRIu64 " cannot be unpacked. Their ranges are lost.",
                  file->bytes_skipped, file->frames_lost, record->broken_frames);
    if (record->other_frames > 0)
        sink_note(record->sink, "unread", NOTE_INFO, record->other_frames,
                  "This version does not know the type of %" PRIu64 " frame%s.",
                  record->other_frames, plural_s(record->other_frames));
    if (record_clock_steps(&record->clock) > 0)
        sink_note(record->sink, "clock-set", NOTE_INFO, record_clock_steps(&record->clock),
                  "The system clock was changed %" PRIu32
                  " time%s during the recording: times follow the monotonic clock.",
                  record_clock_steps(&record->clock), plural_s(record_clock_steps(&record->clock)));
    if (record->without_time > 0)
        sink_note(record->sink, "no-clock", NOTE_WARNING, record->without_time,
                  "The spool ends before its clocks were synchronised: %" PRIu64
                  " range%s without a time.",
                  record->without_time, plural_s(record->without_time));
}
