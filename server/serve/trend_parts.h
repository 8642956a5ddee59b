/* Inside trend*.c.
 *
 *   catalog's records ──trend_points.c──> points by step or time ──trend.c──> levels, table, jumps
 */
#ifndef JVIEWD_SERVE_TREND_PARTS_H
#define JVIEWD_SERVE_TREND_PARTS_H

#include "analyse/changes.h"
#include "serve/reply.h"

enum { TREND_NOTES_MAX = 8 };

struct trend_metric {
    const char *word;
    enum unit unit;
    /* False, and why: the run has none. */
    bool (*value)(const struct run_record *run, int64_t *ret, const char **ret_reason);
};
const struct trend_metric *trend_metric_of(struct str word); /* "": the first */
const struct trend_metric *trend_metric_at(size_t index);    /* NULL: that was the last */

struct trend_point {
    const struct run_record *run;
    bool has_step, has_value;
    uint64_t step;
    int64_t at_ns; /* of the capture; where the files hold no wall clock, of the newest file */
    int64_t value;
    const char *reason; /* of no value */
};

struct trend {
    const struct trend_metric *metric;
    bool by_step; /* else by time */
    struct trend_point *points;
    uint32_t count;
    const struct level *levels; /* over the points that have a value, in their order */
    uint32_t level_count;
    uint32_t *level_of; /* [point]; UINT32_MAX: no value */
    struct answer_note notes[TREND_NOTES_MAX];
    uint32_t note_count;
};

/* `over`: "step", "time", "": by step where every run with a value has one. */
MUST_CHECK enum status trend_points(struct request *req, struct trend *ret, struct error *err);

#endif
