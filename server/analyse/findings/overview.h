/* SPDX-License-Identifier: Apache-2.0 */
/* The first answer: how long a step takes and how sure that is, where it goes, how busy the devices
 * are, what took most, how much memory it needed, and what to do first.
 *
 * What is not known is not there: reasons stand beside it, and no zero stands for it.
 */
#ifndef JVIEWD_ANALYSE_FINDINGS_OVERVIEW_H
#define JVIEWD_ANALYSE_FINDINGS_OVERVIEW_H

#include "analyse/critical/critical.h"
#include "analyse/findings/findings.h"
#include "analyse/memory/memory.h"
#include "analyse/memory/snapshot.h"
#include "analyse/ops/op_placement.h"

struct device_busy {
    struct str name; /* "/device:GPU:0", or "device 0" for ordinals on host threads */
    uint32_t host;
    int32_t device;
    int64_t busy_ps;   /* union of its intervals */
    int64_t idle_ps;   /* hull less the union */
    bool has_share;    /* the hull is not empty */
    double busy_share; /* of the hull */
};

struct most_of_time {   /* how few rows of the op table make 80 % of its self time */
    bool known;         /* else there is nothing to share */
    uint64_t count, of; /* the first so many of all rows */
    struct str first;   /* the name of the first */
};

struct snapshot_owner {
    struct str name;
    int64_t bytes;
};
enum { SNAPSHOT_OWNERS = 3 };

struct overview_efficiency { /* of the devices, in the counted steps; analyse/ops/efficiency.h */
    bool has_mfu, is_least;  /* is_least: FLOPs of some of the time are unknown */
    double mfu;
    bool has_roof_share;
    double roof_share; /* of the roofline, while ops run */
    double flops, recomputed_flops, known_share;
    bool has_flops;
    struct str peak;                    /* "bf16" */
    struct str mfu_reason, roof_reason; /* where there is none */
};

struct overview {
    struct str sentence; /* to be read aloud */
    enum step_rule rule;
    struct str rule_text;
    struct str doubt;           /* why no step time is stated though steps were recognised; "" */
    enum step_trust confidence; /* of the steps; where there are any */
    struct str confidence_text;
    uint32_t step_count;   /* all; the figures are over the counted ones */
    uint32_t warmup_count; /* left out where any other step is left, ... */
    uint32_t cut_count;    /* as are those that the end of the recording cuts */
    enum step_time time_rule;
    struct str others; /* what else the program marks; "": nothing */
    struct str apart;  /* the program that the loop calls after few of them; "": none */
    struct str beside; /* such a program that is still in their times */
    uint32_t apart_count, apart_every; /* after so many; after every so many, 0: not regular */
    int64_t apart_ps;                  /* the mean of what it takes then: no part of any step */
    int64_t beside_ps;   /* the mean of what it takes in a step beside the step's own work */
    uint32_t ahead_max;  /* how many steps the host was ahead of the devices at most */
    int64_t host_ps;     /* spans of the counted steps: what the host took for them; -1: no spans */
    uint32_t counted;    /* 0: no steps; the breakdown is over the capture */
    uint32_t step_hosts; /* that counted steps are of */
    bool even_hosts;     /* as many on each of them */
    struct str numbers;  /* of the counted ones, as `step` takes them: "2-11"; "": no steps */
    int64_t total_ps, median_ps, mean_ps, stdev_ps, min_ps, max_ps, p95_ps; /* counted > 0 */
    struct device_time time; /* means over devices, summed: kinds_ps sums to time_total_ps */
    int64_t time_total_ps;   /* of the counted steps; without them of the capture */
    struct str thread;       /* whose record tells what the host did; "": each host has its own, or
                              * has no device, so that all of its threads tell */
    uint32_t other_threads;  /* of hosts with devices, that recorded slices in that time as well */
    const struct device_busy *devices;
    uint32_t device_count;
    struct str basis;        /* "8 x NVIDIA H100", "2 device ordinals on host threads" */
    int64_t duration_ps;     /* of the capture: hull over the hosts */
    int64_t profiler_ps;     /* what of it the profiler took for its begin and end; 0 with steps */
    const struct table *ops; /* all of them: up to 10,000 rows by op */
    struct table top;        /* the first ten of them */
    struct most_of_time most;
    struct path_places path; /* where the critical path of the typical step lies */
    struct str path_sentence;
    struct op_placement places;
    struct overview_efficiency efficiency;
    struct memory_summary memory;
    bool has_snapshot; /* of memory, in bytes: the newest, by owner */
    struct snapshot_table snapshot;
    struct snapshot_owner owners[SNAPSHOT_OWNERS]; /* over devices and kinds; the most first */
    uint32_t owner_count;
    struct findings findings;        /* all; the first five are shown */
    const struct answer_note *notes; /* of the traces, equal ones of several hosts once */
    uint32_t note_count;
};

enum { OVERVIEW_TOP = 10, OVERVIEW_FINDINGS = 5 };

MUST_CHECK enum status overview(struct memo *memo, struct overview *ret, struct error *err);

/* The traces' notes as replies say them. */
uint32_t run_notes(const struct run_traces *run, struct arena *arena,
                   const struct answer_note **ret);

/* Busy times of the devices; overview_devices.c. */
void overview_devices(const struct selections *selections, struct arena *arena,
                      struct overview *ret);
/* Whose record told of hosts, and who else recorded; overview_threads.c. */
void overview_threads(const struct run_traces *run, const struct steps *steps,
                      const struct counted *counted, struct arena *arena, struct overview *ret);
/* In the counted steps; NULL: none counts, or a window cuts them. */
struct efficiency;
MUST_CHECK enum status memo_efficiency(struct memo *memo, const struct efficiency **ret,
                                       struct error *err);
/* MFU and the share of the roofline; overview_efficiency.c. */
MUST_CHECK enum status overview_efficiency(struct memo *memo, const struct steps *steps,
                                           struct overview *ret, struct error *err);
/* What it was measured on: "8 x NVIDIA H100". */
struct str overview_basis(const struct run_traces *run, const struct overview *overview,
                          struct arena *arena);
/* Is what counts as idle mostly time of which nothing was recorded? */
bool overview_is_unrecorded(const struct overview *overview);
/* From the figures alone; overview_sentence.c. */
struct str overview_sentence(const struct overview *overview, struct arena *arena);

#endif
