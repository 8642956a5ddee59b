/* SPDX-License-Identifier: Apache-2.0 */
/* How much of what its devices can do a program used.
 *
 *   MFU        seconds that the devices' peaks need for the FLOPs of the model, over their time
 *   roofline   seconds that each op needs at the roof that holds for it, over the time it took
 *
 * Each op is held against the peak of its own type (analyse/device/device_spec.h). FLOPs of the
 * forward pass that are done once more for the backward one are not the model's. What is not known
 * is left out, so a share of which `known_ps` is not all of `compute_ps` is a least.
 */
#ifndef JVIEWD_ANALYSE_OPS_EFFICIENCY_H
#define JVIEWD_ANALYSE_OPS_EFFICIENCY_H

#include "analyse/analyse.h"

struct efficiency {
    double flops;            /* of the model, as far as known */
    double recomputed_flops; /* those done once more */
    double model_s;          /* what the peaks need for the model's; NAN: a peak is unknown */
    int64_t compute_ps;      /* self time of ops that compute */
    int64_t known_ps;        /* of those whose FLOPs are known */
    double roof_s;           /* of ops that have FLOPs, bytes and both roofs */
    int64_t roof_ps;         /* their self time */
    struct str peak;         /* whose type most of model_s is: "bf16"; "" none */
    struct str reason;       /* why a peak is unknown; "" none is */
};

MUST_CHECK enum status efficiency_find(const struct run_traces *run,
                                       const struct restriction *restriction, struct arena *arena,
                                       struct efficiency *ret, struct error *err);

#endif
