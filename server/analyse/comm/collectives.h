/* SPDX-License-Identifier: Apache-2.0 */
/* What devices say to each other: every execution of a collective on every device, how much of it
 * compute hid, and who waited for whom.
 *
 *   device 0   [ all-reduce        ]      0 came first and waits for 1, the last
 *   device 1         [ all-reduce  ]      its own collective is the shortest: all of it moved data
 *              |wait |
 *
 *   device 0   [start]  [fusion]  [done ]     an asynchronous one counts once, from its start's
 *              |------ total ----------|      begin to its done's end; what compute of the same
 *              |exp.| |  hidden | |exp.|      device covers is hidden, the rest exposed
 *
 * Sizes and rates are those of nccl-tests: the size S is an all-reduce's buffer, an all-gather's
 * result, a reduce-scatter's or all-to-all's input; algorithm bandwidth is S / time, bus bandwidth
 * that times 2 (n - 1) / n (all-reduce), (n - 1) / n (all-gather, reduce-scatter, all-to-all) or 1
 * (permute, broadcast, send, receive), n devices a group.
 */
#ifndef JVIEWD_ANALYSE_COMM_COLLECTIVES_H
#define JVIEWD_ANALYSE_COMM_COLLECTIVES_H

#include "analyse/hlo/replica_groups.h"
#include "analyse/steps/align.h"

enum collective_kind {
    COLLECTIVE_ALL_REDUCE,
    COLLECTIVE_ALL_GATHER,
    COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_ALL_TO_ALL,
    COLLECTIVE_PERMUTE,
    COLLECTIVE_BROADCAST,
    COLLECTIVE_REDUCE,
    COLLECTIVE_SEND,
    COLLECTIVE_RECV,
    COLLECTIVE_SEND_RECV, /* NCCL's kernel for either, and for all-to-all */
    COLLECTIVE_OTHER,
    COLLECTIVE_KINDS
};
const char *collective_kind_word(enum collective_kind kind); /* "all-reduce" ... */

struct collective {    /* one instruction, or what kernels of one name, size and group do */
    uint64_t identity; /* equal on all hosts */
    enum collective_kind kind;
    struct str name, module, scope, opcode, dtype; /* "" unknown */
    struct str module_bare;                        /* without the number that tells it apart */
    uint64_t module_number;                        /* of its program; 0 unknown */
    struct str algorithm, protocol;                /* "ring", "LL128": of NCCL; "" unknown */
    bool is_async;
    bool has_bytes;
    uint64_t bytes;     /* S, above */
    const char *reason; /* why bytes are not known */
    struct replica_groups groups;
    uint32_t size;   /* of a group; 0 unknown */
    struct str axis; /* "data", "4 devices, stride 2"; "" unknown */
};

struct collective_run { /* one execution on one device */
    uint32_t collective, host;
    int32_t device;
    slice_id slice;
    uint64_t turn;            /* which execution of the program, and of the collective in it */
    int64_t start_ps, dur_ps; /* run time, whole */
    int64_t inside_ps;        /* in the windows asked for; */
    int64_t hidden_ps;        /* of that; the rest is exposed */
    int64_t blocked_ps;       /* of an asynchronous one: in its done */
    int64_t wait_ps, late_ps; /* for the last to come; behind the first to come; -1 unknown */
    uint32_t group;           /* REPLICA_NO_GROUP: not known */
    bool has_done;            /* else nobody knows how long it was blocked */
    bool is_last;
};

struct collectives {
    struct collective *items;
    uint32_t count;
    struct collective_run *runs; /* by collective, turn, group, host, device */
    uint32_t run_count;
    const struct alignment *alignments; /* one a host */
    const char *wait_reason;            /* why no wait is known at all; NULL: some are */
    uint64_t by_length_count; /* runs whose wait is by their length: clocks are not known */
    uint64_t unmatched_count; /* runs whose mates could not be told */
};

/* Of the hosts, devices, steps and windows asked for. */
MUST_CHECK enum status collectives_find(const struct run_traces *run,
                                        const struct restriction *restriction, struct arena *arena,
                                        struct collectives *ret, struct error *err);

struct steps; /* analyse/steps/steps.h */

/* For tables of hosts and devices: who waited, and who let wait. */
struct device_waits {
    uint32_t host;
    int32_t device;
    uint64_t count, known_count; /* collectives; with known waits */
    uint64_t last_count;         /* as the last to come */
    int64_t total_ps, exposed_ps, hidden_ps;
    int64_t wait_ps; /* for others, summed; only with known_count > 0 */
    int64_t late_ps; /* behind the first of each group, summed: what its lateness adds up to */
};
struct collective_waits {
    struct device_waits *items; /* by host, then device */
    uint32_t count;
    const char *reason; /* why no wait is known; NULL: some are */
};
void collectives_waits(const struct collectives *collectives, struct arena *arena,
                       struct collective_waits *ret);

/* Columns: see collectives_table.c. `by`: op, kind, axis, size, group, device, host. */
MUST_CHECK enum status collectives_table(const struct run_traces *run,
                                         const struct restriction *restriction, struct str by,
                                         const struct page *page, struct arena *arena,
                                         struct table *ret, struct error *err);
/* Each execution of what is asked for (name=): who came when. `all_steps` of the run, or NULL where
 * they are not found yet. */
MUST_CHECK enum status collectives_arrivals(const struct run_traces *run,
                                            const struct restriction *restriction,
                                            const struct steps *all_steps, const struct page *page,
                                            struct arena *arena, struct table *ret,
                                            struct error *err);
/* The same of collectives that were found; and those of all that rules are asked about. */
MUST_CHECK enum status collectives_of(const struct run_traces *run, const struct collectives *found,
                                      const struct steps *all_steps, struct str by,
                                      const struct page *page, struct arena *arena,
                                      struct table *ret, struct error *err);
struct memo;
MUST_CHECK enum status memo_collectives(struct memo *memo, const struct collectives **ret,
                                        struct error *err);

#endif
