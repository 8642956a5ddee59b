/* SPDX-License-Identifier: Apache-2.0 */
/* The compiled modules of a run: which there are, what stands in one, and what of it took time.
 *
 *   traces of hosts and of HLO files --hlo_modules--> modules, each with all its copies
 *   one module --hlo_open--> decoded from its best copy (decode/hlo/hlo_module.h)
 *   attribution --hlo_measure--> executions and self time per instruction
 *
 * Copies of one module (of two hosts, or in a profile and in a dump beside it) have one number,
 * name and stage, and where they are of one form one fingerprint. Its key is what run links hold:
 * "jit_step(36)" as it ran, "jit_step(36).before_optimizations" as another stage.
 */
#ifndef JVIEWD_ANALYSE_HLO_HLO_H
#define JVIEWD_ANALYSE_HLO_HLO_H

#include "analyse/analyse.h"
#include "analyse/stats/map64.h"
#include "decode/hlo/hlo_module.h"

struct hlo_copy {
    uint32_t trace; /* of run_trace */
    const struct program *program;
};

struct hlo_listed { /* one module */
    struct str key, name, stage_name;
    uint64_t program_id, fingerprint;
    enum program_form form;
    enum program_stage stage;
    uint32_t computation_count, instruction_count, fusion_count;
    bool has_buffers;
    const struct hlo_copy *copies; /* the best first: a proto with buffers, a proto, a text */
    uint32_t copy_count;
    uint32_t pair; /* before to after and back; HLO_NONE */
    bool is_measured;
    bool by_name; /* measured by its name alone: the profile that it lies beside holds no HLO */
    uint64_t execution_count;
    int64_t self_ps;
    struct str reason; /* why it is not measured */
};

struct hlo_document {
    struct str key; /* "jit_step(36)/thunk_sequence" */
    struct str module, kind;
    uint64_t program_id, line_count, bytes;
    uint32_t trace;
    const struct document *document;
};

struct hlo_modules {
    struct hlo_listed *items; /* by number, then name; the stages in their order */
    uint32_t count;
    struct hlo_document *documents;
    uint32_t document_count;
};

/* Lists; measures where ops are attributed. */
void hlo_modules(const struct run_traces *run, struct arena *arena, struct hlo_modules *ret);
/* By key, number, fingerprint or name; of several of a name the one that ran longest, and
 * *ret_others counts the rest. ERR_NOT_FOUND names what there is. */
MUST_CHECK enum status hlo_pick(const struct hlo_modules *modules, struct str asked,
                                struct arena *arena, const struct hlo_listed **ret,
                                uint32_t *ret_others, struct error *err);
MUST_CHECK enum status hlo_pick_document(const struct hlo_modules *modules, struct str key,
                                         const struct hlo_document **ret, struct error *err);
MUST_CHECK enum status hlo_open(const struct run_traces *run, const struct hlo_listed *listed,
                                struct arena *arena, struct hlo_module *ret, struct error *err);

struct hlo_cost { /* of one instruction, over all hosts */
    struct str name;
    uint64_t execution_count;
    int64_t self_ps;
};

struct hlo_measure {
    struct map64 by_name; /* hash of the name, to be compared */
    struct hlo_cost *costs;
    uint32_t cost_count, cost_capacity;
};

/* hlo_measure_free gives it back. */
void hlo_measure(const struct run_traces *run, const struct hlo_listed *listed,
                 struct hlo_measure *ret);
/* NULL: it was not seen to run. */
const struct hlo_cost *hlo_cost_of(const struct hlo_measure *measure, struct str name);
void hlo_measure_free(struct hlo_measure *measure);

struct hlo_neighbour {
    uint32_t instruction;
    int distance; /* -1 an operand, 1 a user, at most HLO_HOPS either way */
};
enum { HLO_HOPS = 2, HLO_NEIGHBOURS_MAX = 200 };
/* Operands before, users behind, the nearest first; *ret_left_out counts what is beyond `most`. */
uint32_t hlo_around(const struct hlo_module *module, uint32_t instruction, int hops, uint32_t most,
                    struct arena *arena, struct hlo_neighbour **ret, uint32_t *ret_left_out);

struct hlo_graph_question {
    uint32_t instruction; /* what is around it; HLO_NONE: a computation */
    int hops;
    uint32_t computation;
    const uint32_t *open; /* computations whose instructions are nodes as well */
    uint32_t open_count, most;
};
struct hlo_graph_node {
    uint32_t instruction, cluster;
};
struct hlo_graph_edge { /* places among the nodes: who gives, who takes, as which operand */
    uint32_t from, to, operand;
};
struct hlo_graph_cluster {
    uint32_t computation, caller; /* the first node that calls it; HLO_NONE */
};
struct hlo_graph {
    struct hlo_graph_node *nodes; /* the one that is asked for first */
    struct hlo_graph_edge *edges; /* by who takes, then by operand: all between nodes */
    struct hlo_graph_cluster *clusters;
    uint32_t node_count, edge_count, cluster_count;
    uint32_t left_out; /* instructions: a computation is there as a whole or not at all */
};
void hlo_graph(const struct hlo_module *module, const struct hlo_graph_question *question,
               struct arena *arena, struct hlo_graph *ret);

/* Does an op of this host belong to a module that is measured by its name? */
bool hlo_is_op_of(const struct host_trace *host, const struct op *op,
                  const struct hlo_listed *listed);

/* Tables of one module. `measure` may be empty. */
struct hlo_shown {
    const struct run_traces *run;
    const struct hlo_listed *listed;
    const struct hlo_module *module;
    const struct hlo_measure *measure;
    struct arena *arena;
};
void hlo_lines(const struct hlo_shown *shown, const struct page *page, struct table *ret);
void hlo_computations(const struct hlo_shown *shown, const struct page *page, struct table *ret);
void hlo_allocations(const struct hlo_shown *shown, const struct page *page, struct table *ret);
/* Instructions whose name, opcode, scope or source holds the text; "" all of the computation, or of
 * the module where that is HLO_NONE. */
void hlo_instructions(const struct hlo_shown *shown, struct str q, uint32_t computation,
                      const struct page *page, struct table *ret);

#endif
