/* SPDX-License-Identifier: Apache-2.0 */
/* The ops of a run as they are matched with another run's: equal ones of several hosts are one. */
#ifndef JVIEWD_ANALYSE_COMPARE_MATCH_RUN_H
#define JVIEWD_ANALYSE_COMPARE_MATCH_RUN_H

#include "analyse/analyse.h"
#include "analyse/compare/match.h"

struct match_run {
    struct match_op *items;          /* in program order, hosts one after another */
    const struct host_trace **hosts; /* of each item: where it was seen first, */
    uint32_t *ops;                   /* and its op there */
    uint32_t count;
    uint32_t **item_of; /* [host][op]: its item; UINT32_MAX: an op that never ran */
};

/* Reads the HLO of every program that ran, where the profile holds it. Lives in the arena. */
void match_run(const struct run_traces *run, struct arena *arena, struct match_run *ret);

#endif
