/* SPDX-License-Identifier: Apache-2.0 */
/* What of a spool is missing, and why. */
#include <inttypes.h>

#include "base/human.h"
#include "decode/record/record_state.h"

void record_note_losses(struct record *record)
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
        [LOST_PAYLOADS] = "ranges stand without their payloads: the program made more different "
                          "ones than the collector keeps.",
        [LOST_TORN] = "looks at a thread's Python stack are missing: it changed while it was read.",
        [LOST_LATE] = "looks at threads are missing: the machine was too busy for so many a "
                      "second. Fewer (--py-sample=HZ) help.",
        [LOST_STACKS] = "samples stand without their innermost calls: the program had more "
                        "different stacks than the collector keeps.",
        [LOST_SAMPLES] = "samples of the processor are missing: the system dropped them, or their "
                         "process had just ended. A lower --sampling-frequency helps with the "
                         "former.",
        [LOST_PROCESSORS] = "processors were not sampled, so what ran on them is missing: the "
                            "system refused a ring of samples for each.",
        [LOST_LIMIT] = "ranges are missing: the spool had reached the size that --max-spool "
                       "allows.",
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
                  "The program did not come to its end, or still runs: what it did after the last "
                  "quarter of a second that is here is missing.");
    if (file->bytes_skipped > 0 || file->frames_lost > 0 || record->broken_frames > 0)
        sink_note(record->sink, "damaged", NOTE_WARNING, file->frames_lost + record->broken_frames,
                  "%" PRIu64 " bytes of the spool belong to no frame, %" PRIu64
                  " frames are missing and %" PRIu64 " do not unpack: their ranges are lost.",
                  file->bytes_skipped, file->frames_lost, record->broken_frames);
    if (record->other_frames > 0)
        sink_note(record->sink, "unread", NOTE_INFO, record->other_frames,
                  "This version does not know the kinds of %" PRIu64 " frame%s.",
                  record->other_frames, plural_s(record->other_frames));
    if (record_clock_steps(&record->clock) > 0)
        sink_note(record->sink, "clock-set", NOTE_INFO, record_clock_steps(&record->clock),
                  "The system's clock was set %" PRIu32 " time%s meanwhile: times follow the one "
                  "that never is.",
                  record_clock_steps(&record->clock), plural_s(record_clock_steps(&record->clock)));
    if (record->without_time > 0)
        sink_note(record->sink, "no-clock", NOTE_WARNING, record->without_time,
                  "The spool ends before its clocks were tied: %" PRIu64 " range%s without a time.",
                  record->without_time, plural_s(record->without_time));
}
