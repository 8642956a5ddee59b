/* SPDX-License-Identifier: Apache-2.0 */
/* Inside steps*.c: one finder a rule, each for one host.
 *
 *   steps_annotated.c    marks of the program
 *   steps_family.c       which of several kinds of marks
 *   steps_lines.c        lines of devices, lines that a tool derived
 *   steps_executions.c   the program that takes most of the devices' time
 *   steps_names.c        ranges whose names tell that they are steps; updates of an optimizer; a
 *                        span that comes again
 *   steps_regex.c        slices that an expression names
 *   steps_list.c         what they all write into
 *   steps_work.c         what each step's calls launched
 *   steps_time.c         how long each took, by that
 *   steps_warmup.c       which of them are left out of the figures, which stand out
 *   steps_trust.c        how sure that is
 */
#ifndef JVIEWD_ANALYSE_STEPS_STEPS_PARTS_H
#define JVIEWD_ANALYSE_STEPS_STEPS_PARTS_H

#include "analyse/steps/steps.h"

/* What repeats more often than this is a call inside a step, not a step. */
enum { STEPS_MAX = 100000 };

struct step_list {
    struct step *items;
    uint32_t count, capacity;
    struct arena *arena; /* of names that no trace holds */
    bool unsure;         /* nothing but what repeats tells where they end */
};

/* "ProfilerStep#12" -> "ProfilerStep" */
struct str step_stem(struct str name);
/* Of the marks of all hosts those of one family, `asked` or "" for the one that trains; those
 * beside it stay as foreign. ERR_NOT_FOUND where nothing is called so. */
MUST_CHECK enum status steps_choose_family(struct str asked, struct step_list *list,
                                           struct arena *arena, struct str *ret_name,
                                           struct str *ret_others, struct error *err);
void step_list_add(struct step_list *list, struct step step);
/* From `from` on: steps inside another one of the host go; those without a number get their
 * ordinal. */
void step_list_settle(struct step_list *list, uint32_t from);
struct step step_of(const struct host_trace *host, uint32_t index, const struct slice *slice);
int step_by_start(const void *left, const void *right); /* longest first */
/* Digits at the end of a name: "ProfilerStep#12", "train 36", "7". */
bool step_number_at_end(struct str name, int64_t *ret);

void find_annotated(const struct host_trace *host, uint32_t index, struct step_list *list);
void find_iterations(const struct host_trace *host, uint32_t index, struct step_list *list);
/* Spans of the host's threads that are called so, a number at the end aside. */
void find_called(const struct host_trace *host, uint32_t index, struct str asked,
                 struct step_list *list);
void find_named_roots(const struct host_trace *host, uint32_t index, struct step_list *list);
void find_on_lines(const struct host_trace *host, uint32_t index, struct step_list *list);
void find_on_derived_lines(const struct host_trace *host, uint32_t index, struct step_list *list);
void find_executions(const struct host_trace *host, uint32_t index, struct step_list *list);
void find_updates(const struct host_trace *host, uint32_t index, struct step_list *list);
void find_repeated(const struct host_trace *host, uint32_t index, struct step_list *list);

/* Steps named by an expression (POSIX extended): slices of the hosts' threads whose names it
 * matches; a number at the name's end is the step's. ERR_INVALID for one that is none. */
MUST_CHECK enum status find_by_expression(const struct run_traces *run, struct str expression,
                                          struct step_list *list, struct error *err);

enum { BESIDE_SHARE = 10 };
/* Does a tenth of its span lie before what was open on its thread ended? */
static inline bool steps_are_beside(int64_t open_until_ps, const struct step *step)
{
    return open_until_ps > step->host_start_ps + step->host_dur_ps / BESIDE_SHARE;
}

/* Whose work each entry of the host's attribution is, as indexes of `list`; NULL: the host has no
 * ops. */
uint32_t *steps_own(const struct host_trace *host, uint32_t index, const struct step_list *list,
                    struct arena *arena);
/* Work and time of the host's steps, whose spans are marked. By device of its attribution: does it
 * work for them? NULL where that is not told. */
const bool *steps_time(const struct host_trace *host, uint32_t index, const uint32_t *owners,
                       struct step_list *list, struct arena *arena);

/* The host's warm-ups and outliers. */
void steps_mark(const struct run_traces *run, enum step_rule rule, struct step_list *list,
                uint32_t host);

/* How sure it is that these are the steps, and why; `ret_contradicted`: what was inferred is not
 * even regular enough to be said. */
enum step_trust steps_trust(const struct run_traces *run, enum step_rule rule, bool derived,
                            const struct step_list *list, struct arena *arena, struct str *ret_why,
                            bool *ret_contradicted);

/* Notes and words of a table: by which rule, how sure, and what is left out. */
void steps_say_rule(const struct run_traces *run, const struct steps *steps, struct arena *arena,
                    struct table *ret);

#endif
