/* SPDX-License-Identifier: Apache-2.0 */
/* What rules about arithmetic ask of each op: what it costs, how long it took in the counted steps,
 * and, of the heaviest, what its shapes say.
 *
 *   ops of a host ──> self time inside counted steps, a device's mean
 *   the heaviest  ──> their instructions: sizes of products, whether inputs are constants
 */
#ifndef JVIEWD_ANALYSE_FINDINGS_COMPUTE_FACTS_H
#define JVIEWD_ANALYSE_FINDINGS_COMPUTE_FACTS_H

#include "analyse/device/device_spec.h"
#include "analyse/findings/memo.h"
#include "analyse/hlo/cost.h"

struct op_shapes { /* of the heaviest ops only */
    bool known;
    bool is_of_constants; /* every input is a constant: the result is the same each time */
    bool is_scores;       /* a product with a square of S x S much wider than it is deep */
    uint64_t side;        /* that S */
    double wasted;        /* part of a product's tiles that holds nothing; 0 none or no product */
};

struct op_facts {
    struct str name, category, scope;
    const struct op_cost *cost;
    const struct op_total *total;
    int64_t self_ps; /* in counted steps, of one device on average */
    double seconds;  /* of all its events in the whole trace, all devices */
    struct op_shapes shapes;
};

struct compute_host {
    struct device_spec spec;
    struct op_facts *ops; /* by op */
    uint32_t op_count;
    int64_t self_ps; /* of all */
};

struct compute_facts {
    struct compute_host *hosts; /* as in the run; op_count 0 where there are none */
};

MUST_CHECK enum status memo_compute(struct memo *memo, const struct compute_facts **ret,
                                    struct error *err);
/* Seconds that a device at its best would need for all runs of the op; NAN unknown. */
double op_compute_s(const struct compute_host *host, const struct op_facts *op);
double op_memory_s(const struct compute_host *host, const struct op_facts *op);

#endif
