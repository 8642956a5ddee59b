/* SPDX-License-Identifier: Apache-2.0 */
/* What an op's profile does not say of it, said by the modules that lie beside the profile.
 *
 *   profile without HLO        op    module jit_f, program 7, fusion.3     scope ?  source ?
 *   dump beside it             7     module jit_f            fusion.3     scope f/mlp/dot
 *
 * A module lends to ops of its name and of its number; where an op's program has no number, the
 * modules of that name must agree. Only modules as they run are asked: before the optimisations
 * instructions have other names. What the profile says itself stays, and times, programs and costs
 * are not touched. A trace that borrows is a copy with further names behind its own.
 */
#ifndef JVIEWD_ANALYSE_HLO_HLO_BACKFILL_H
#define JVIEWD_ANALYSE_HLO_HLO_BACKFILL_H

#include "analyse/analyse.h"

struct hlo_modules; /* analyse/hlo/hlo.h */

/* Has the host ops of modules that its file does not hold? */
bool hlo_backfill_is_wanted(const struct host_trace *host);

struct hlo_backfilled {
    uint32_t op_count;     /* ops that got a scope, source or category */
    uint32_t unlike_count; /* ops whose module lies there by name only, with another number */
    struct str file;       /* that lent first */
    uint32_t file_count;
};
/* Exchanges the host's trace and attribution for copies in the arena, where anything is lent by
 * `modules` of the run, whose others are there; the run's own stay needed as long. Adds to *sum. */
void hlo_backfill_scopes(const struct run_traces *run, const struct hlo_modules *modules,
                         struct host_trace *host, struct arena *arena, struct hlo_backfilled *sum);

enum { LEND_NOTES_MAX = 2 };
/* What a reader is told of it; how many notes. */
uint32_t hlo_backfill_notes(const struct hlo_backfilled *sum, struct arena *arena,
                            struct answer_note ret[LEND_NOTES_MAX]);

#endif
