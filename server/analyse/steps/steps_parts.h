/* SPDX-License-Identifier: Apache-2.0 */
/* Inside steps*.c: one finder a rule, each for one host.
 *
 *   steps_annotated.c    marks of the program; and what all rules write into
 *   steps_family.c       which of several kinds of marks
 *   steps_lines.c        lines of devices, lines that a tool derived
 *   steps_executions.c   the program that takes most of the devices' time
 *   steps_names.c        ranges whose names tell that they are steps; updates of an optimizer; a
 *                        span that comes again
 *   steps_regex.c        slices that an expression names
 *   steps_work.c         what each step's calls launched
 *   steps_time.c         how long each took, by that
 *   steps_apart.c        what is called between them now and then, and is no part of any
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
    struct arena *arena;      /* of names that no trace holds */
    bool unsure;              /* nothing but what repeats tells where they end */
    struct str apart, beside; /* as those of steps */
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

/* An owner until times are known: no step's, and called on a step's own thread behind the step of
 * the number that is left without this bit. */
#define OWNER_BEHIND UINT32_C(0x80000000)

/* Whose work each entry of the host's attribution is, as indexes of `list`; NULL: the host has no
 * ops. */
uint32_t *steps_own(const struct host_trace *host, uint32_t index, const struct step_list *list,
                    struct arena *arena);
/* Work and time of the host's steps, whose spans are marked. By device of its attribution: does it
 * work for them? NULL where that is not told. What was called behind steps has no owner then. */
const bool *steps_time(const struct host_trace *host, uint32_t index, uint32_t *owners,
                       struct step_list *list, struct arena *arena);

struct other_op { /* that no step called: file time */
    int64_t start_ps, end_ps, self_ps;
    program_id program;
    uint32_t behind; /* the step before its call */
    bool gives_back; /* its program may be an update, which is a part of steps */
};

struct other_work {
    struct other_op *items;
    uint32_t count, capacity;
};

struct apart_step { /* with work, in the order of their times: file time */
    struct step *step;
    int64_t start_ps, end_ps; /* where its own work ends */
};

void others_add(struct other_work *of, const struct attributed *entry, program_id program,
                uint32_t behind);
/* Does the program give back two fifths of what it takes or more, as an update does? */
bool program_gives_back(const struct trace *trace, program_id program);
/* Takes from the steps of a thread, so many of which were called, what is behind few of them; sets
 * their `apart_ps`, `beside_ps` and `followed`, this by the places of `steps`. The program that
 * takes most of it, and of what stays; NO_PROGRAM: nothing. */
program_id steps_part(const struct trace *trace, struct other_work *of,
                      const struct apart_step *line, uint32_t count, uint32_t called,
                      struct step *steps, program_id *ret_beside);

/* The host's warm-ups and outliers. */
void steps_mark(const struct run_traces *run, enum step_rule rule, struct step_list *list,
                uint32_t host);

/* How sure it is that these are the steps, and why; `ret_contradicted`: what was inferred is not
 * even regular enough to be said. */
enum step_trust steps_trust(const struct run_traces *run, enum step_rule rule, bool derived,
                            const struct step_list *list, struct arena *arena, struct str *ret_why,
                            bool *ret_contradicted);

/* Less sure where others' work that no line parts from the steps' own is a part of their times. */
void steps_trust_beside(const struct step_list *list, struct arena *arena,
                        enum step_trust *ret_trust, struct str *ret_why);

/* Notes and words of a table: by which rule, how sure, and what is left out. */
void steps_say_rule(const struct run_traces *run, const struct steps *steps, struct arena *arena,
                    struct table *ret);

#endif
