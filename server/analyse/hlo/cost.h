/* SPDX-License-Identifier: Apache-2.0 */
/* What an op costs: arithmetic and bytes of one execution, and how often it ran.
 *
 *   HLO of the program ──> cost of the instruction   a fusion is the sum of what it fuses, its
 *                                                    bytes are what it reads and writes
 *   event of the op    ──> the compiler's own figure (TPU), where the module is not in the file
 *   PyTorch's op       ──> its shapes (analyse/torch/torch_cost.h), before this
 *   kernel's name      ──> what family it is of ("by name"), never a cost
 *
 * Counted as XLA's HloCostAnalysis counts, with what it leaves open filled in: custom calls by what
 * their target computes, results that are tuples with all their parts, both halves of an
 * asynchronous pair once. docs/costs.md says what differs, opcode by opcode.
 */
#ifndef JVIEWD_ANALYSE_HLO_COST_H
#define JVIEWD_ANALYSE_HLO_COST_H

#include "base/scratch.h"
#include "decode/hlo/hlo_module.h"
#include "trace/attribution.h"

/* Of every op of an attribution with totals; they stand in the scratch. Those that `of` has already
 * are taken for ops that nothing else counts. */
/* And which ops need the results of which, of those modules. */
void costs_make(const struct trace *trace, struct scratch *scratch, struct attribution *of);

/* One instruction alone; run_count is 0. For `with_events`, by computation: events show what runs
 * in it; NULL: in none. */
struct cost_work;
struct cost_work *cost_work_create(const struct hlo_module *module, const bool *with_events);
void cost_work_free(struct cost_work *work);
void cost_of_instruction(struct cost_work *work, uint32_t instruction, struct op_cost *ret);
/* All instructions of a computation, and of those it calls, once each. */
void cost_of_computation(struct cost_work *work, uint32_t computation, struct op_cost *ret);

/* "counted from HLO"; why a cost is not known. */
struct str cost_rule_words(enum cost_rule rule);
bool cost_is_known(enum cost_rule rule);

/* What a kernel is for by its name; 0 nothing, "" its words. */
uint32_t cost_family_of(struct str name);
struct str cost_family_words(uint32_t family);

#endif
