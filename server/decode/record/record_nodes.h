/* SPDX-License-Identifier: Apache-2.0 */
/* Which op a kernel of a CUDA graph is of: of the ranges that were open when its node was made.
 *
 *   node 17   made within    Thunk:#hlo_op=fusion.3#      stack "9.12.0 9.31.0"
 *   node 40   copied from 17                              (the graph is instantiated)
 *   kernel    of node 40     hlo_op "fusion.3", built_in "Thunk:#hlo_op=fusion.3#"
 *
 * The launch of a graph is one call for all its kernels; what it says fills what the node does not.
 */
#ifndef JVIEWD_DECODE_RECORD_RECORD_NODES_H
#define JVIEWD_DECODE_RECORD_RECORD_NODES_H

#include "decode/id_map.h"
#include "decode/record/record_hlo.h"
#include "decode/record/record_read.h"
#include "trace/sink.h"

struct record;

struct record_nodes {
    struct id_map nodes;  /* node -> stack */
    struct id_map stacks; /* its text -> index */
    struct node_stack {
        uint32_t words;    /* of record_hlo; PAIR_NONE: it says none */
        name_id innermost; /* range; 0 none was open */
    } * at;
    uint32_t count, capacity;
    uint64_t refused;
};

/* Rows of SPOOL_NODE, after all texts. */
void record_nodes_read(struct record *record, const struct record_columns *columns);
/* The args of work that a call started, maybe as a node: how many. */
uint32_t record_nodes_args(struct record *record, int64_t node, int64_t correlation,
                           struct arg ret[RECORD_HLO_ARGS_MAX]);
void record_nodes_note(struct record *record);
void record_nodes_free(struct record_nodes *nodes);

#endif
