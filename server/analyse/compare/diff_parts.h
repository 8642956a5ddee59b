/* SPDX-License-Identifier: Apache-2.0 */
/* Inside diff*.c.
 *
 *   steps ─> windows ─> ops inside ─> sums by item ─┐
 *                                                   ├─> rows ─> cells
 *   the same of the other run ──────────────────────┘      diff_rows.c, diff.c
 *              diff_side.c, what is kept of it: diff_kept.c
 */
#ifndef JVIEWD_ANALYSE_COMPARE_DIFF_PARTS_H
#define JVIEWD_ANALYSE_COMPARE_DIFF_PARTS_H

#include "analyse/compare/diff.h"
#include "analyse/compare/match_run.h"
#include "analyse/steps/steps.h"

struct diff_sums { /* of one item: all its steps together, the mean of each host's devices */
    int64_t self_ps;
    double count;
};

struct measured { /* a side */
    struct match_run ops;
    struct diff_sums *sums; /* by item of `ops` */
    int64_t *series;        /* [item * step_count + step]: self time; NULL: too many */
    int64_t *events;        /* likewise, of all devices together: how often it ran */
    int64_t *durs_ps;       /* of the steps */
    int64_t *numbers;       /* of the steps: of several hosts, each */
    uint32_t step_count;    /* at least 1: a capture is one, of each host */
    bool by_steps;
    struct diff_measured told;
    const int64_t *on_path_ps; /* by item, over path_steps steps; NULL: not found; see diff_paths */
    uint32_t path_steps;
};

enum diff_wanted { /* beside the steps themselves */
                   DIFF_STEPS = 0,
                   DIFF_OPS = 1, /* `ops`, `sums`, `series` */
                   DIFF_TIME =
                       2, /* `told`: kinds and what the host did: each device's line is swept */
                   DIFF_ALL = DIFF_OPS | DIFF_TIME,
};

/* `by_steps` false: the captures, whatever steps there are. */
MUST_CHECK enum status diff_measure(const struct diff_side *side, bool by_steps, unsigned wanted,
                                    struct arena *arena, struct measured *ret, struct error *err);
/* As bytes, and back: into one with the run's `ops`. False: they are cut, or of another run. */
void diff_pack(const struct measured *measured, struct text *text);
bool diff_unpack(struct bytes bytes, struct arena *arena, struct measured *ret);
/* Are there steps whose time may be stated? If not, `ret_why` is a clause that says what speaks
 * against those that were found, or "". */
MUST_CHECK enum status diff_has_steps(const struct diff_side *side, struct arena *arena, bool *ret,
                                      struct str *ret_why, struct error *err);

/* By item of each side: the text of its module's row, which is one for modules of both sides that
 * are the same by what they compute. */
void diff_module_texts(const struct measured sides[2], struct arena *arena, struct str *ret[2]);

enum diff_by { DIFF_OP, DIFF_SCOPE, DIFF_MODULE, DIFF_CATEGORY, DIFF_SOURCE, DIFF_KIND, DIFF_BYS };

struct diff_row {
    struct str key, name;    /* of b, where b has it */
    struct str side_name[2]; /* "fusion.3", "fusion.3 + 2"; "" not there */
    struct str shape[2];     /* of ops: what they make, where all of a group make the same */
    uint32_t first[2];       /* an item of each side; UINT32_MAX */
    struct diff_sums sums[2];
    int64_t on_path_ps[2]; /* over the steps whose paths were found */
    enum match_how how;
    double confidence;
    double p;
    bool p_known;
    bool is_rest;   /* no op: what the host did meanwhile, idle, other */
    enum kind kind; /* of the rest */
};

struct diff_rows {
    struct diff_row *items;
    uint32_t count;
    double matched_share, sure_share;
};
/* How much of each op lies on critical paths, where the run is small enough. */
MUST_CHECK enum status diff_paths(const struct diff_side *side, struct measured *measured,
                                  struct arena *arena, struct error *err);
void diff_join(const struct measured sides[2], enum diff_by by, struct arena *arena,
               struct diff_rows *ret);

#endif
