/* The first answer: how long a step takes, where it goes, how busy the devices are, what took most.
 */
#ifndef JVIEWD_ANALYSE_OVERVIEW_H
#define JVIEWD_ANALYSE_OVERVIEW_H

#include "analyse/steps.h"

struct device_busy {
    struct str name; /* "/device:GPU:0", or "device 0" for ordinals on host threads */
    uint32_t host;
    int32_t device;
    int64_t busy_ps;   /* union of its intervals */
    int64_t idle_ps;   /* hull less the union */
    double busy_share; /* of the hull; 0 when that is empty */
};

struct overview {
    enum step_rule rule;
    struct str rule_text;
    uint32_t step_count;   /* all; the figures are over the counted ones */
    uint32_t warmup_count; /* left out where any other step is left */
    uint32_t counted;      /* 0: no steps; the breakdown is over the capture */
    int64_t total_ps, median_ps, mean_ps, stdev_ps, min_ps, max_ps, p95_ps; /* counted > 0 */
    int64_t breakdown_ps[KIND_COUNT + 1]; /* sums to total_ps; of the capture without steps */
    int64_t breakdown_total_ps;           /* what it sums to */
    const struct device_busy *devices;
    uint32_t device_count;
    struct str basis;                /* "8 x NVIDIA H100", "2 device ordinals on host threads" */
    int64_t duration_ps;             /* of the capture: hull over the hosts */
    struct table top;                /* ten rows by op */
    const struct answer_note *notes; /* of the traces, equal ones of several hosts once */
    uint32_t note_count;
};

MUST_CHECK enum status overview(const struct run_traces *run, const struct restriction *restriction,
                                struct arena *arena, struct overview *ret, struct error *err);

/* The traces' notes as replies say them. */
uint32_t run_notes(const struct run_traces *run, struct arena *arena,
                   const struct answer_note **ret);

#endif
