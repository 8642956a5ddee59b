/* SPDX-License-Identifier: Apache-2.0 */
/* Inside graph*.c: how a graph is made.
 *
 *   graph_lanes.c        which lanes a host has
 *   graph_names.c        what names mean here
 *   graph_nodes.c        slices of a lane laid over each other: nodes
 *   graph_overs.c        when ops of pools were over
 *   graph_ends.c         nodes of each device by their end
 *   graph_arrows.c       which nodes arrows lead to
 *   graph_edges.c        begins
 *   graph_waits.c        ends of threads' waits, and of dones
 *   graph_threads.c      begins of threads, by others
 *   graph_needs.c        ops whose results an op takes
 *   graph_collectives.c  ends of collectives
 *   graph.c              all of it, step by step
 */
#ifndef JVIEWD_ANALYSE_CRITICAL_GRAPH_PARTS_H
#define JVIEWD_ANALYSE_CRITICAL_GRAPH_PARTS_H

#include "analyse/critical/edits.h"
#include "analyse/critical/graph.h"
#include "analyse/device/launch.h"
#include "analyse/steps/device_line.h"

/* Of a step more slices than that are left out, the deepest first, and a note says so. */
enum { GRAPH_SLICES_MAX = 4000000, GRAPH_HOSTS_MAX = 16 };

enum name_class { /* beside what the thread does, in the low four bits */
                  NAME_KNOWN = 16,
                  NAME_END = 32,   /* "end: dot.3": a mark of XLA, no work */
                  NAME_SLEEP = 64, /* waits for the clock */
                  NAME_SYNC = 128, /* waits for devices, by its name */
};

struct maker_lane { /* a lane of a host: tracks of one thread, or one track */
    track_id track;
    int32_t device;
    enum lane_kind kind;
    uint32_t first_track, track_count; /* of `tracks` */
};

struct maker_host {
    const struct host_trace *host;
    struct op_roles roles;
    struct launch_reader *reader;
    uint8_t *names; /* by name: enum name_class */
    struct maker_lane *lanes;
    uint32_t lane_count;
    track_id *tracks;    /* lane by lane */
    uint32_t *lane_of;   /* by track: lane of the graph at hand + 1; 0 none */
    uint32_t first_lane; /* in the graph at hand */
    bool has_devices;    /* whose work is on tracks of their own */
    bool opened;
    slice_id *marks; /* slices that are steps, ascending */
    uint32_t mark_count;
};

struct drawn { /* a slice of a lane before it is laid over others */
    int64_t start_ps, end_ps;
    slice_id slice;
    uint32_t entry;
    name_id name;
    uint8_t kind;
};

struct arrival { /* the end of an arrow on a lane: first by time, then by node */
    int64_t at_ps;
    const struct flow *flow;
    uint32_t node;
    bool mark; /* at an instant, not at a slice's begin */
};

struct over { /* a mark of the end of an op that went on elsewhere */
    int64_t at_ps;
    const struct flow *flow; /* from the op */
    uint32_t lane;           /* of the mark */
    uint32_t op, node;       /* the nodes of the op and of the call that went on when it was over */
};

struct by_end { /* a node of a device */
    int64_t end_ps;
    uint32_t node;
    uint32_t host;
    int32_t device;
    uint32_t lane;
};

struct op_run { /* a node of an op in an execution: by host, execution, op, end */
    uint32_t host, execution, op, node;
    int64_t end_ps;
};

struct met { /* a collective and those that it met, itself too: `count` of `meeting` from `first` */
    uint32_t node, first, count;
};
enum { MEETING_MAX = 65536, ALL_MEET_MAX = 16 };

struct device_of {
    uint32_t host;
    int32_t device;
    uint32_t first, end; /* of the ends */
};

struct graph_maker {
    const struct run_traces *run;
    const struct steps *steps;
    const struct edits *edits;
    struct maker_host *hosts;
    struct step_graph graph;
    struct drawn *drawn;
    uint32_t drawn_count, drawn_capacity;
    struct arrival *arrivals; /* by node */
    uint32_t arrival_count, arrival_capacity;
    struct over *overs; /* by node, once they are settled */
    uint32_t over_count, over_capacity, over_at;
    uint32_t arrival_at; /* of the node whose edges are added */
    struct by_end *ends; /* by host, device, end */
    uint32_t end_count, end_capacity;
    struct device_of *devices; /* that any node is of */
    uint32_t device_count, device_capacity;
    struct op_run *op_runs; /* none where no op is known to need another */
    uint32_t op_run_count, op_run_capacity;
    struct met *met; /* by node */
    uint32_t *meeting;
    uint32_t met_count, met_at;
};

bool is_mark(const struct maker_host *host, slice_id slice);
struct maker_host *maker_host_open(struct graph_maker *maker, uint32_t index);
void maker_host_close(struct maker_host *host);

/* What a slice's name says; the kind tells first. */
uint8_t name_class_of(struct maker_host *host, enum kind kind, name_id name);

/* Lanes and nodes of what touches the window (run time). */
void graph_add_host(struct graph_maker *maker, uint32_t index, int64_t from_ps, int64_t to_ps);
/* Gives the arrivals from `first` on, which are of one lane, the nodes that begin with them. */
void graph_place_arrivals(struct graph_maker *maker, uint32_t lane, uint32_t first);
/* When ops were over whose end is marked on a thread, and who went on then. */
void graph_settle_overs(struct graph_maker *maker);
/* Fills maker->ends. */
void graph_order_ends(struct graph_maker *maker);
/* The place in ends of the last node of the device that ended at or before a moment; UINT32_MAX:
 * none. */
uint32_t ends_before(const struct graph_maker *maker, uint32_t host, int32_t device, int64_t at_ps);

/* Fills maker->op_runs. */
void graph_order_runs(struct graph_maker *maker);
/* From the ops whose results it takes; when the last of those on other lanes was over, INT64_MIN:
 * none is known. */
int64_t graph_add_needs(struct graph_maker *maker, uint32_t node);
/* Does the op take the result of one that is called so? */
bool graph_needs_name(const struct graph_maker *maker, uint32_t node, name_id name);

/* The last node of a lane that began at or before a moment; before it. */
uint32_t lane_node_at(const struct step_graph *graph, uint32_t lane, int64_t at_ps);
uint32_t lane_node_before(const struct step_graph *graph, uint32_t lane, int64_t at_ps);
/* The lane of a slice in the graph at hand; UINT32_MAX: none. */
uint32_t lane_of_slice(const struct graph_maker *maker, uint32_t host, slice_id slice);

/* Nodes' edges are added node by node, in their order. Cut where they lead back in time. */
void graph_add_edge(struct step_graph *graph, struct graph_edge edge, int64_t ready_ps);
void graph_add_begins(struct graph_maker *maker, uint32_t node);
/* The edges of one that begins after a rest, for nothing that is recorded; of its own rest. */
void graph_guess_rest(struct graph_maker *maker, uint32_t node, int64_t free_ps);
/* What another thread had to do with the begin of a thread's node, after all that is told. */
void graph_add_sender(struct graph_maker *maker, uint32_t node, int64_t free_ps);
/* What began an asynchronous node. */
void graph_add_started(struct graph_maker *maker, uint32_t node);
void graph_add_waits(struct graph_maker *maker, uint32_t node);
void graph_find_collectives(struct graph_maker *maker);
void graph_add_meeting(struct graph_maker *maker, uint32_t node);

#endif
