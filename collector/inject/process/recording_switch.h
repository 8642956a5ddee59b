/* SPDX-License-Identifier: Apache-2.0 */
/* When what happens is recorded: the switch of the session's page, and the ranges that turn it.
 *
 *   push "epoch" -> is it the range of the capture? -> it turns on, the turn is kept
 *   pop  "epoch" -> is it the one that opened it?   -> it turns off
 *   writer, each round: did another turn it? -> the turn is kept
 *   cuProfilerStart, Stop        -> the same
 *   turns kept -> rows of SPOOL_SWITCH; spans of CLOCK_REALTIME, for records that come late
 */
#ifndef JVIEWD_INJECT_GATE_H
#define JVIEWD_INJECT_GATE_H

#include "inject/process/session.h"
#include "inject/process/threads.h"

/* Once, before any range. */
void switch_watch(const struct session *session);

extern bool switch_has_range; /* a range may turn it: set once by switch_watch */
bool switch_looks_at(
    const char *name); /* may a range that begins so be one of those? NULL: unknown */
void switch_range_begins(const struct range *range);
void switch_range_ends(const struct range *range);

bool switch_has_calls(void); /* cuProfilerStart and Stop turn it */
void switch_turn_by_call(bool opens);

/* For the writer: sees what the launcher or another process turned. */
void switch_follow(void);
/* Rows of SPOOL_SWITCH that wait, at most `max`; they go with switch_told. */
uint32_t switch_turns(int64_t *rows, uint32_t max);
void switch_told(uint32_t count);

enum { SWITCH_SPANS_MAX = 64 }; /* the last ones: records come within seconds */
struct switch_spans {
    struct switch_span {
        int64_t from_ns, to_ns;
    } spans[SWITCH_SPANS_MAX];
    uint64_t count; /* ever; the n-th stands at n % SWITCH_SPANS_MAX */
    bool is_open;
};
void switch_spans(struct switch_spans *ret);

/* Ranges of a domain that was not asked for are not even looked at. */
bool switch_takes_domain(const char *name); /* NULL: the default one */

#endif
