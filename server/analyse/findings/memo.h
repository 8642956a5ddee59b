/* SPDX-License-Identifier: Apache-2.0 */
/* What rules ask: every analysis of one run under one restriction, each made at most once, when the
 * first rule asks for it.
 *
 *   rule a --memo_steps--> not made yet: steps_find, steps_breakdown     kept, also a failure
 *   rule b --memo_steps--> the same steps
 *
 * An analysis that several rules share is offered by whoever owns it, next to its rules:
 *
 *   static enum status make_kernels(struct memo *memo, const void **ret, struct error *err);
 *   ...
 *   const void *made;
 *   TRY(memo_once(memo, make_kernels, &made, err));
 *
 * Everything lives in the arena of the request. One thread asks a memo at a time.
 */
#ifndef JVIEWD_ANALYSE_FINDINGS_MEMO_H
#define JVIEWD_ANALYSE_FINDINGS_MEMO_H

#include "analyse/steps/restrict.h"
#include "analyse/steps/steps.h"

enum { FACTS_MAX = 64 }; /* analyses, not rows */

struct memo;
typedef enum status memo_make(struct memo *memo, const void **ret, struct error *err);

struct fact {
    memo_make *make;
    const void *value;
    enum status status;
    struct error err;
};

/* All steps of the run, maybe without `owners`, as steps_find finds them where nothing is asked. */
typedef enum status memo_find_steps(void *data, const struct run_traces *run, struct arena *arena,
                                    struct steps *ret, struct error *err);

struct memo {
    const struct run_traces *run;
    const struct restriction *restriction;
    struct arena *arena;
    memo_find_steps *find_steps; /* NULL: they are found here */
    void *find_steps_data;
    struct fact made[FACTS_MAX];
    uint32_t made_count;
};

struct memo *memo_create(const struct run_traces *run, const struct restriction *restriction,
                         struct arena *arena);
/* What `make` made, now or before; a failure stays one. */
MUST_CHECK enum status memo_once(struct memo *memo, memo_make *make, const void **ret,
                                 struct error *err);

/* Two halves of what will be asked, each on a thread of its own. The second asks a memo that knows
 * what was made before, and lives as long; what it made is then known to the first. What fails is
 * kept as a failure. */
typedef void memo_half(struct memo *memo);
void memo_side_by_side(struct memo *memo, memo_half *const halves[2]);

struct selections {
    struct selection *items; /* hosts with something left in time */
    uint32_t count;
};
MUST_CHECK enum status memo_selections(struct memo *memo, const struct selections **ret,
                                       struct error *err);

/* Of the whole run, whatever is asked, maybe without `owners`; none is withdrawn. */
MUST_CHECK enum status memo_all_steps(struct memo *memo, const struct steps **ret,
                                      struct error *err);
/* With their breakdowns, maybe without `owners`. */
MUST_CHECK enum status memo_steps(struct memo *memo, const struct steps **ret, struct error *err);

/* What every win is measured against. */
struct counted {
    bool of_steps;       /* else there are none, and the whole capture counts */
    uint32_t step_count; /* of all hosts; warm-up left out where any other step is left */
    int64_t total_ps;    /* durations of the counted steps of all hosts, else of the captures */
    const struct window *const *windows; /* [host]: disjoint, ascending, in run time */
    const uint32_t *window_counts;       /* [host] */
};
MUST_CHECK enum status memo_counted(struct memo *memo, const struct counted **ret,
                                    struct error *err);
/* Does this step count? */
bool counted_step(const struct steps *steps, const struct step *step);
/* How much of [start, end) of a host (run time) lies in counted steps. */
int64_t counted_inside_ps(const struct counted *counted, uint32_t host, int64_t start_ps,
                          int64_t end_ps);

struct note_list {
    const struct answer_note *items; /* equal ones of several hosts once */
    uint32_t count;
};
MUST_CHECK enum status memo_notes(struct memo *memo, const struct note_list **ret,
                                  struct error *err);

/* top by op, "-self_ps,name", the first 10,000 rows. Of `by` "op" falls to kernel, then name. */
MUST_CHECK enum status memo_ops(struct memo *memo, const struct table **ret, struct error *err);

/* A cell of any table by its column's key; NULL where the table has no such column. */
const struct cell *table_cell_at(const struct table *table, uint32_t row, const char *column);
/* The same as numbers: false where it is null, or no number. */
bool table_integer_at(const struct table *table, uint32_t row, const char *column, int64_t *ret);
bool table_real_at(const struct table *table, uint32_t row, const char *column, double *ret);
struct str table_text_at(const struct table *table, uint32_t row, const char *column);

#endif
