/* SPDX-License-Identifier: Apache-2.0 */
/* What rules about faults of modules ask: the faults of the programs that take most time, with the
 * time that the ops concerned took.
 *
 *   faults of a module (analyse/hlo/fault.h) + time of ops (compute_facts.h) ──> told faults
 */
#ifndef JVIEWD_ANALYSE_FINDINGS_FAULT_FACTS_H
#define JVIEWD_ANALYSE_FINDINGS_FAULT_FACTS_H

#include "analyse/findings/compute_facts.h"
#include "analyse/hlo/fault.h"

struct told_fault {
    enum fault_kind kind;
    uint32_t host;
    const struct op_facts *op; /* whose time it is; NULL: data, or an op that was not seen */
    struct str name;           /* of the instruction */
    struct str module;
    struct str source; /* "model.py:33"; "" unknown */
    struct str beside; /* name of the other instruction; "" none */
    double won;        /* part of the op's time; NAN: not known */
    double bytes;
};

struct fault_facts {
    struct told_fault *items; /* by host, program, kind */
    uint32_t count;
};

MUST_CHECK enum status memo_faults(struct memo *memo, const struct fault_facts **ret,
                                   struct error *err);

#endif
