/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of stacks: where threads were when jview-collect looked, on the tracks of these threads.
 *
 *   SPOOL_STACK    1 main (train.py)  <-  2 step (train.py)  <-  3 matmul (layers.py)
 *   SPOOL_SAMPLE   at 10 ms thread 468 in 3, for 10 ms, of them 9 ms on a processor
 *
 * Types of samples: "Python time" (all of a thread's, waiting or not), "Python CPU time" (where the
 * system told it), and "CPU time" of native stacks. A sample is of one sampler: of the other's
 * types it has 0, so that a flame graph of one type holds that sampler's stacks alone.
 */
#ifndef JVIEWD_DECODE_RECORD_RECORD_SAMPLE_H
#define JVIEWD_DECODE_RECORD_RECORD_SAMPLE_H

#include "decode/record/record_read.h"
#include "decode/record/record_tracks.h"

enum { RECORD_SAMPLE_TYPES_MAX = 3 };

struct record_samples {
    struct record *record;
    struct record_names texts;
    stack_id *stacks; /* by id - 1; NO_STACK: not told */
    uint32_t stack_capacity;
    bool has[SAMPLERS];
    uint32_t type_of[SAMPLERS], type_count;
    int64_t hz[SAMPLERS];
    uint64_t counts[SAMPLERS], no_caller, unread;
};

void record_samples_samplers(struct record_samples *samples, const struct record_columns *columns);
void record_samples_stacks(struct record_samples *samples, const struct record_columns *columns);
void record_samples_tasks(struct record_samples *samples, const struct record_columns *columns);
/* When all of these were told, in front of the first sample. */
void record_samples_begin(struct record_samples *samples);
void record_samples_read(struct record_samples *samples, const struct record_columns *columns);
void record_samples_note(const struct record_samples *samples);
void record_samples_free(struct record_samples *samples);

#endif
