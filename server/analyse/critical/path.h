/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path of a step: from its end back to what it waited for, and so on to its begin.
 *
 *   python     |step |call |         |Await......|step|
 *   stream 7               | launch  |b ..|
 *   pieces     |step |call | launch  |b ..|wait..|step|     sum to the step, to the picosecond
 *
 * What lies between the moment that a piece waited for and its begin is a piece of its own: of the
 * kind of what explains it, or "unexplained", for no edge does.
 *
 * Slack of a node: by how much it may end later before the step ends later, as long as all else
 * takes the time that it took.
 */
#ifndef JVIEWD_ANALYSE_CRITICAL_PATH_H
#define JVIEWD_ANALYSE_CRITICAL_PATH_H

#include "analyse/critical/graph.h"

enum piece_kind {                          /* beside the kinds of work, which come first */
                  PIECE_WAIT = KIND_COUNT, /* from the release of a wait to its end, or a wait for
                                              what nobody knows */
                  PIECE_LAUNCH,            /* from a call to what it launched */
                  PIECE_SCHEDULING,        /* between a task and its pool, two ops of a stream */
                  PIECE_UNEXPLAINED,
                  PIECE_KINDS
};
const char *piece_word(enum piece_kind kind); /* "compute" ... "unexplained" */

/* What a gap is, by the edge that it lies behind. */
enum piece_kind gap_kind(enum edge_kind edge, int64_t gap_ps);

struct path_piece {
    uint32_t node; /* whose time it is; of a gap, whose begin it delays */
    bool gap;
    enum piece_kind kind;
    int64_t start_ps, dur_ps; /* run time */
    uint32_t waits_for;       /* the node that it waited for; NO_NODE: none is known */
    enum edge_kind edge;      /* how that is known */
    bool likely;
};

struct path { /* in order of time; memory of the path, which serves one step after another */
    struct path_piece *pieces;
    uint32_t count, capacity;
    int64_t kinds_ps[PIECE_KINDS];
    int64_t likely_ps; /* of pieces behind edges that are only likely */
};

void path_find(const struct step_graph *graph, struct path *path);
void path_free(struct path *path);
/* The name of a piece: of its slice, or of what the gap is. */
struct str piece_name(const struct step_graph *graph, const struct path_piece *piece);

/* By node; `ret` has room for all. */
void slack_find(const struct step_graph *graph, int64_t *ret);

/* Begins and ends of all nodes but the step's end in the order of causes: index * 2, + 1 for an
 * end. `ret` has room for 2 * node_count. */
void graph_order(const struct step_graph *graph, uint32_t *ret);

#endif
