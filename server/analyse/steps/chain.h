/* SPDX-License-Identifier: Apache-2.0 */
/* What a slice waited for, link by link to its left.
 *
 *   host     [ call            ]
 *             [ launch ]---.
 *   stream   [a      ]      `->[b    ][focus]     focus <- b <- launch <- call <- ...
 *
 * Of all that stands before a slice, the one that was ready last is what it waited for:
 *
 *   before   on its track, inside the same slice as it: ready when it ended
 *   flow     sent it by an arrow: ready when it ended, or, where it goes on, when the arrow left
 *   launch   the call that sent it to the device: the same
 *   inside   the slice around it: ready when it began
 *
 * Each link covers the time from its begin until it was ready; between that and the next begin lies
 * a gap. Covers and gaps add up to the time from the first link's begin to the focus. Only edges
 * that the file has are followed, none is guessed; all lie in one host's trace.
 */
#ifndef JVIEWD_ANALYSE_STEPS_CHAIN_H
#define JVIEWD_ANALYSE_STEPS_CHAIN_H

#include "trace/attribution.h"

enum chain_via { CHAIN_BEFORE, CHAIN_FLOW, CHAIN_LAUNCH, CHAIN_INSIDE };

struct chain_link {
    slice_id slice;
    enum chain_via via;
    int64_t covered_ps; /* from its begin until it was ready */
    int64_t gap_ps;     /* from then to the begin of what waited for it */
};

const char *chain_via_word(enum chain_via via);
/* The nearest first, at most `most`; returns how many. `attribution` may be NULL. `ret_more`: it
 * would go on. */
uint32_t chain_find(const struct trace *trace, const struct attribution *attribution,
                    slice_id focus, uint32_t most, struct chain_link *links, bool *ret_more);

#endif
