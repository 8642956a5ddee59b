/* SPDX-License-Identifier: Apache-2.0 */
/* Inside trend*.c.
 *
 *   catalog's records ──trend_points.c──> points by step or time ──trend.c──> levels, table, jumps
 */
#ifndef JVIEWD_SERVE_ROUTES_TREND_TREND_H
#define JVIEWD_SERVE_ROUTES_TREND_TREND_H

#include "analyse/stats/changes.h"
#include "serve/answer/reply.h"

enum { TREND_NOTES_MAX = 8 };

struct trend_metric {
    struct str word;
    enum unit unit;
    /* Of what the run's record holds: false, and why: the run has none. NULL: it was measured. */
    bool (*value)(const struct run_record *run, int64_t *ret, const char **ret_reason);
};
/* "": the first; "op:NAME": that of the op. False: there is no such metric. */
bool trend_metric_of(struct str word, struct trend_metric *ret);
/* Those that every run has, known or not; false: that was the last. */
bool trend_metric_at(size_t index, struct trend_metric *ret);

struct str trend_unit_word(enum unit unit); /* "ps", "bytes", "share"; "count" of all others */
enum unit trend_unit_of(struct str word);

enum trend_over { OVER_TIME, OVER_STEP, OVER_COMMIT };
const char *trend_over_word(enum trend_over over);

struct trend_point {
    const struct run_record *run;
    bool has_step, has_value;
    bool is_measured; /* or needs not be */
    uint64_t step;
    int64_t at_ns; /* of the capture: run_captured_ns */
    int64_t value;
    struct str reason; /* of no value */
};

struct trend {
    struct trend_metric metric;
    enum trend_over over;
    struct trend_point *points;
    uint32_t count;
    const struct level *levels; /* over the points that have a value, in their order */
    uint32_t level_count;
    uint32_t *level_of; /* [point]; UINT32_MAX: no value */
    struct answer_note notes[TREND_NOTES_MAX];
    uint32_t note_count;
};

/* `over`: "step", "time", "commit". "": by step where every run with a value has one; else by
 * commit where every one says when that was made and some run's files hold no wall clock; else by
 * time. */
MUST_CHECK enum status trend_points(struct request *req, struct trend *ret, struct error *err);

/* "metrics": [{"metric", "value", "value_exact", "unit"}]: those that the run's record holds, and
 * those that were measured. A share has no exact value. */
void trend_put_metrics(struct json *json, struct request *req, const struct run_record *run);

#endif
