/* SPDX-License-Identifier: Apache-2.0 */
/* Which step of a host a moment lies in, for tables whose rows are single events. */
#ifndef JVIEWD_ANALYSE_STEPS_STEP_OF_H
#define JVIEWD_ANALYSE_STEPS_STEP_OF_H

#include "analyse/steps/steps.h"

struct step_places {
    const struct step **items; /* of all hosts, by (host, start) */
    uint32_t count;
    const struct steps *steps; /* the same, with their rule */
};

/* All steps of the run: `all`, or where it is NULL as steps_find finds them. */
MUST_CHECK enum status step_places_find(const struct run_traces *run, const struct steps *all,
                                        struct arena *arena, struct step_places *ret,
                                        struct error *err);
/* NULL: between steps, or there are none. Run time. */
const struct step *step_at(const struct step_places *places, uint32_t host, int64_t at_ps);

/* "0-4,7": numbers of steps, in the order in which they are added. Zeroed is empty. */
struct step_numbers {
    struct text text;
    bool any;
    int64_t first, last;
};
void step_numbers_add(struct step_numbers *numbers, int64_t step);
/* Frees what it grew in. */
struct str step_numbers_end(struct step_numbers *numbers, struct arena *arena);

#endif
