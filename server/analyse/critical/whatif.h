/* SPDX-License-Identifier: Apache-2.0 */
/* How long steps would have taken, had some of what ran in them taken another time. Each step that
 * counts is replayed as it was, and with the changes: see analyse/critical/replay.h. */
#ifndef JVIEWD_ANALYSE_CRITICAL_WHATIF_H
#define JVIEWD_ANALYSE_CRITICAL_WHATIF_H

#include "analyse/critical/replay.h"

/* Of more slices a replay takes over a tenth of a second: then every n-th step is replayed. */
enum { WHATIF_SLICES = 150000 };

struct whatif_step {
    const struct step *step; /* NULL: the whole run, which has no steps */
    uint32_t host;
    int64_t recorded_ps, replayed_ps, predicted_ps;
    enum piece_kind bound_by;
};

struct whatif {
    struct whatif_step *steps; /* by start */
    uint32_t count, count_all;
    int64_t recorded_ps, replayed_ps, predicted_ps; /* the medians of the steps */
    enum piece_kind bound_by;                       /* of most steps */
    int64_t changed_ps, lost_ps; /* recorded time of what changes; of it nobody knows who waits */
    uint64_t cut_count, left_out_count;
    struct answer_note *notes;
    uint32_t note_count;
};

/* The changes are found in the run first: see edits_find. */
MUST_CHECK enum status whatif_find(const struct run_traces *run, const struct steps *steps,
                                   struct edits *edits, struct arena *arena, struct whatif *ret,
                                   struct error *err);

#endif
