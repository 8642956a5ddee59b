/* SPDX-License-Identifier: Apache-2.0 */
/* What waited for what while a step ran: runs of slices, and the edges that let them begin or end.
 *
 *   python     |step |call |step |Await ............|step|      a node is the time in which one
 *                      `-launch-.       device-done ^           slice was innermost on its lane
 *   stream 7             |a    |b ..............|---'
 *                        stream order ^
 *
 * A lane is a thread with its lanes, a stream, a core, or a row of asynchronous work. Nodes of a
 * thread, stream or core do not overlap, but that an op which goes on elsewhere lasts on when its
 * thread is free again (`free_ps`).
 *
 * An edge says that a node could not begin (or, `to_end`, could not end) before a moment of another
 * one. Of those that lead to a begin the one that was ready last is what the node waited for; what
 * lies between is its delay. All edges lead forward in recorded time: one that would not, for its
 * clocks are wrong, is cut and counted. So there are no cycles, and the order of time is an order
 * of causes.
 *
 *   edge           from                                      likely where
 *   thread-order   what the thread did before                never
 *   stream-order   what the stream or core did before        never
 *   launch         the call that sent it                     never
 *   arrow          what the file's arrow comes from          never
 *   pool           an op that was over when its pool went on its `end:` is not there
 *   operand        an op whose result the HLO says it takes  never
 *   device-done    the last work of a device                 the wait's name does not say so
 *   queue          what a thread that loads data did         always
 *   handover       a thread that rests since it went on      always: by time
 *   created        the call that made the thread             always: by time
 *   caller         the slice that contains a driver's call   always: by time
 *   transfer       the asynchronous half that it awaits      names do not tell
 *   other-stream   what ended last on the device             always
 *   collective     the last that came to it                  always: by name, turn and overlap
 *   step           the step ends with its last work          never
 *
 * Nodes hold run time. Everything belongs to the graph, which serves one step after another.
 */
#ifndef JVIEWD_ANALYSE_CRITICAL_GRAPH_H
#define JVIEWD_ANALYSE_CRITICAL_GRAPH_H

#include "analyse/steps/steps.h"

#define NO_NODE UINT32_MAX

enum edge_kind {
    EDGE_NONE,
    EDGE_THREAD,
    EDGE_STREAM,
    EDGE_LAUNCH,
    EDGE_ARROW,
    EDGE_POOL,
    EDGE_OPERAND,
    EDGE_DEVICE,
    EDGE_QUEUE,
    EDGE_HANDOVER,
    EDGE_CREATED,
    EDGE_CALLER,
    EDGE_TRANSFER,
    EDGE_BESIDE,
    EDGE_COLLECTIVE,
    EDGE_STEP,
    EDGE_KINDS
};
const char *edge_word(enum edge_kind kind);     /* "thread-order"; "none" */
const char *edge_evidence(enum edge_kind kind); /* what tells it: a clause */

/* Between two ops of a stream that were both sent by then, or two calls of a thread: what it takes
 * to go from one to the next. Longer gaps are nobody's. Measured on GPUs: 0.6 to 3 us, on threads
 * of XLA and TensorFlow: 0.2 to 4 us. */
enum { NEXT_OP_PS = 10000000 };

enum lane_kind { LANE_THREAD, LANE_ORDER, LANE_ASYNC };

struct graph_lane {
    uint32_t host;
    track_id track; /* the thread's own, or the stream */
    int32_t device; /* -1: a thread */
    enum lane_kind kind;
    bool pool;                  /* a thread that mostly runs ops */
    uint32_t first_node, count; /* by start */
};

enum node_release { /* what of it an end edge may move */
                    RELEASE_NONE,
                    RELEASE_OP,   /* a collective, a done: its own time is from the release on */
                    RELEASE_WAIT, /* a thread that waits */
};

struct graph_node {
    int64_t start_ps, end_ps, free_ps;
    slice_id slice; /* NO_SLICE: the end of the step */
    uint32_t lane;
    uint32_t entry; /* of the host's attribution; NO_ENTRY */
    name_id name;
    double factor;                   /* by which changes scale its time; 1 */
    uint8_t kind;                    /* enum kind; KIND_IDLE: a wait */
    uint8_t release;                 /* enum node_release */
    uint8_t doing;                   /* enum host_doing, of a thread's */
    bool first : 1;                  /* of its slice: what lets the slice begin lets it begin */
    bool sync : 1;                   /* waits for devices, as its name says */
    bool may_wait : 1;               /* nothing says so, but times may */
    bool mark : 1;                   /* a step's own time: nothing inside of it is recorded */
    bool pool_op : 1;                /* an op on a thread of the host */
    bool done : 1;                   /* awaits its asynchronous half */
    bool container : 1;              /* a loop's own time */
    uint32_t first_edge, edge_count; /* that lead to it */
};

struct graph_edge {
    uint32_t from, to;
    int64_t at_ps;    /* of `from`, from its begin: when it was ready */
    int64_t delay_ps; /* from then to the begin or end of `to`, where it is what was waited for */
    uint8_t kind;     /* enum edge_kind */
    bool to_end, likely;
};

struct step_graph {
    const struct run_traces *run;
    const struct step *step; /* NULL: the whole window */
    uint32_t host;
    int64_t from_ps, to_ps; /* the step's time: run time */
    struct graph_lane *lanes;
    uint32_t lane_count, lane_capacity;
    struct graph_node *nodes; /* lane by lane; the last is the step's end */
    uint32_t node_count, node_capacity;
    struct graph_edge *edges; /* by `to` */
    uint32_t edge_count, edge_capacity;
    uint64_t cut_count;      /* edges that led back in time */
    uint64_t left_out_count; /* slices that were too many */
};

static inline int64_t edge_ready(const struct step_graph *graph, const struct graph_edge *edge)
{
    return graph->nodes[edge->from].start_ps + edge->at_ps;
}
/* What the node waited for to begin, and to end: NULL, nothing is known. */
const struct graph_edge *node_begun_by(const struct step_graph *graph, uint32_t node);
const struct graph_edge *node_ended_by(const struct step_graph *graph, uint32_t node);

/* Makes graphs of a run's steps, one after another, in memory that they share. */
struct graph_maker;
struct graph_maker *graph_maker_create(const struct run_traces *run, const struct steps *steps);
struct edits; /* analyse/critical/edits.h */
/* Nodes made from now on hold the factors of these; NULL: 1. */
void graph_maker_edit(struct graph_maker *maker, const struct edits *edits);
void graph_maker_free(struct graph_maker *maker); /* takes NULL */

/* Of one step; `step` NULL: of the whole run as seen by its first host. Valid until the next. */
const struct step_graph *graph_of_step(struct graph_maker *maker, const struct step *step);
/* Of several steps of a host as one, from the begin of the first to the end of the last. */
const struct step_graph *graph_of_steps(struct graph_maker *maker, const struct step *first,
                                        const struct step *last);

#endif
