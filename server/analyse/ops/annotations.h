/* SPDX-License-Identifier: Apache-2.0 */
/* What the program marked on the host, and the work of devices that was launched inside.
 *
 *   thread    |---- train ---------------------------|         which spans are the program's:
 *               |-- load --|  |- forward -|                    analyse/device/annotation_names.h
 *                             c1  c2        c3                 calls
 *   stream                       |k1| |k2|     |k3|
 *
 *                total   self        device: launched inside, and innermost
 *   train        40      40-10-11    k1+k2+k3, of them k3 as the innermost
 *   forward      11      11          k1+k2,    both
 *   (no annotation)  the rest        what no span launched
 *
 * A host's time belongs to the innermost span around it, whatever the runtime recorded inside of
 * that: so self is when a span was the innermost, and (no annotation) has what the
 * program's threads recorded outside of all. Self times add up to all that these recorded.
 * A device's op belongs to the innermost span in which its call lies, on the same thread; of an
 * execution that another thread launched, to the span from which arrows lead there. So self times
 * of devices add up to all they did. `projected` is from the first op of a span to its
 * last, of each span that launched any: what Nsight Systems calls nvtx_gpu_proj_sum.
 */
#ifndef JVIEWD_ANALYSE_OPS_ANNOTATIONS_H
#define JVIEWD_ANALYSE_OPS_ANNOTATIONS_H

#include "analyse/analyse.h"

/* Columns: key name count total_ps self_ps device_ps device_self_ps device_share launch_count
 * projected_ps projected_count projected_mean_ps projected_min_ps projected_p50_ps projected_max_ps
 * projected_stdev_ps mean_ps min_ps p50_ps p95_ps max_ps stdev_ps. Default sort:
 * "-device_ps,-total_ps". */
MUST_CHECK enum status annotations(const struct run_traces *run,
                                   const struct restriction *restriction, const struct page *page,
                                   struct arena *arena, struct table *ret, struct error *err);

#endif
