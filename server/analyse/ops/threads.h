/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of hosts: how long each had something open, and what lasted longest on it.
 *
 *   python   step ........   step ....     busy: when any slice was open, each moment once
 *              a ...  b ..     a .
 *   lane            |-----|                counts to its thread, as CUDA's calls do
 *
 * A thread is busy while it waits, too, where the profile records the wait: the table says when a
 * thread was recorded at something, and the names say at what.
 */
#ifndef JVIEWD_ANALYSE_OPS_THREADS_H
#define JVIEWD_ANALYSE_OPS_THREADS_H

#include "analyse/analyse.h"

/* Threads with a slice in what the restriction lets through: hosts, tracks, window, steps. Columns
 * track host process name tid slice_count busy_ps share start_ps end_ps longest longest_ps slice;
 * times are cut at the window, but longest_ps, which is of the whole slice. share: of the run's
 * span, where a window or steps are asked for of their part of it. Default sort:
 * "-busy_ps,start_ps". */
MUST_CHECK enum status threads_table(const struct run_traces *run,
                                     const struct restriction *restriction, const struct page *page,
                                     struct arena *arena, struct table *ret, struct error *err);

#endif
