/* SPDX-License-Identifier: Apache-2.0 */
/* Query strings: split, decoded, and checked against what a route declares, before it runs.
 *
 *   limit=50&sort=-self_ps   ->   {limit, 50} {sort, -self_ps}
 *
 * What is not declared is refused with the nearest name that is; a number out of its bounds, a
 * word that is none of the list, a parameter given twice: each has a sentence of its own.
 */
#ifndef JVIEWD_SERVE_ANSWER_QUERY_H
#define JVIEWD_SERVE_ANSWER_QUERY_H

#include "base/bytes.h"
#include "base/error.h"

enum param_kind {
    PARAM_TEXT,     /* min ... max bytes; max 0: 4,096. An empty text is as none */
    PARAM_INTEGER,  /* min ... max */
    PARAM_WORD,     /* one of `words` */
    PARAM_INTEGERS, /* comma list of integers, at most 256 */
    PARAM_RANGES,   /* comma list of N or FIRST-LAST, at most 256; "counted"; "last" */
    PARAM_TEXTS,    /* comma list, at most 256 */
};

struct param {
    const char *name; /* NULL ends a list */
    enum param_kind kind;
    bool required;
    int64_t min, max;
    const char *words; /* "json|csv|md" */
};

struct pair { /* decoded */
    struct str name, value;
};

struct query {
    const struct pair *pairs;
    uint32_t count;
};

MUST_CHECK enum status query_parse(struct str raw, struct arena *arena, struct query *ret,
                                   struct error *err);
/* Names, bounds and words; also that nothing required is missing. */
MUST_CHECK enum status query_check(const struct query *query, const struct param *params,
                                   struct error *err);
/* NULL: not given. */
const struct str *query_find(const struct query *query, const char *name);
/* The comma list's next part; false at its end. */
bool list_next(struct str *list, struct str *ret);
/* "N" or "FIRST-LAST", FIRST <= LAST. */
bool range_parse(struct str text, int64_t ret[2]);

#endif
