/* SPDX-License-Identifier: Apache-2.0 */
/* Inside check*.c.
 *
 *   query ──check_args.c──> struct asked_check ──check.c──> struct checked ──> JSON
 *                                                              └──check_out.c──> text, md, JUnit
 */
#ifndef JVIEWD_SERVE_ROUTES_CHECK_CHECK_H
#define JVIEWD_SERVE_ROUTES_CHECK_CHECK_H

#include "analyse/compare/check.h"
#include "serve/answer/query.h"
#include "serve/answer/reply.h"

enum { CHECKS_MAX = 64, CHECK_OPS_MAX = 5 };

struct asked_check {
    struct judge_rule rule;
    struct check_question questions[CHECKS_MAX]; /* against the baseline, then against limits */
    uint32_t count;
};

/* max_regress, confidence, min_effect, must_see. */
MUST_CHECK enum status check_rule(const struct query *query, struct judge_rule *ret,
                                  struct error *err);
/* The same, and metric, max. */
MUST_CHECK enum status check_args(struct request *req, bool has_baseline, struct asked_check *ret,
                                  struct error *err);

struct checked {
    struct str run, baseline; /* names, of several by comma; "" none */
    enum judged answer;       /* the worst */
    const struct check *checks;
    const struct str *sentences; /* of each check */
    uint32_t count;
    double confidence;
    struct table ops; /* that became slower, the most first; no rows where all is ok */
};

/* "step_time regressed: 10.4 ms → 34.8 ms, +235 % (...); allowed: +3 %" */
struct str check_sentence(const struct check *check, double confidence, struct arena *arena);
/* "runs/step_1000 against runs/step_500: regressed" */
struct str check_headline(const struct checked *checked, struct arena *arena);
/* "dot.43: +4.05 ms a step (jit(f)/mlp)" */
struct str check_op_sentence(const struct checked *checked, uint32_t row, struct arena *arena);

/* "answer", "sentence", "confidence", "checks": inside of an open object. */
void check_put_members(struct json *json, const struct checked *checked, struct arena *arena);
void check_put_text(struct text *out, const struct checked *checked, struct arena *arena);
void check_put_markdown(struct text *out, const struct checked *checked, struct arena *arena);
void check_put_junit(struct text *out, const struct checked *checked, struct arena *arena);

#endif
