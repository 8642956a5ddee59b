/* SPDX-License-Identifier: Apache-2.0 */
/* Which op of one run is which op of another, though fusions were renumbered and programs compiled
 * anew.
 *
 *   a   fusion.3   dot.7   fusion.9 ──┐          b   fusion.12  dot.7   fusion.4
 *         └────────────────────────── same work ─────────┘        ...
 *
 * Rules from the surest to the vaguest; each takes what no rule before it took. Ops that a rule
 * cannot tell apart are paired in program order where both runs have as many of them, else they are
 * compared as a group: a group is never wrong about its sum.
 *
 *   program    the same compiled module (fingerprint), the same instruction
 *   structure  module, scope, opcode, shape, source line, operands, and what a fusion computes
 *   shape      module, scope, opcode and shape; of fusions only after the next two
 *   content    module, and what it computes: the scopes and opcodes inside, whatever the shapes
 *   regrouped  shares half of what the smaller one computes: fusions that were split, merged or cut
 *              otherwise
 *   scope      module, scope and opcode
 *   source     module, source line, opcode and shape: where a scope was renamed
 *   place      module and the scope around it: another way to compute one layer's part
 *   name       the name: all that profiles without HLO have
 *   kernel     of those, the name without a template's arguments
 *   stem       module, opcode and the name without its number, where there is no scope
 *
 * What is left joins the match of its likes of the same run, by content or else by scope: a program
 * that was compiled once more for another shape is the same program.
 */
#ifndef JVIEWD_ANALYSE_COMPARE_MATCH_H
#define JVIEWD_ANALYSE_COMPARE_MATCH_H

#include "base/bytes.h"

struct match_op { /* of one run, over all its hosts; texts are "" and hashes 0 where unknown */
    struct str module, name, scope, source, opcode, shape;
    struct str called;      /* what tables call its module: "jit_f(6)"; no rule looks at it */
    uint64_t fingerprint;   /* of its program */
    uint64_t structure;     /* of its operands' opcodes and shapes */
    const uint64_t *leaves; /* ascending: each a hash of a scope and an opcode that it computes */
    uint32_t leaf_count;
};

enum match_how {
    MATCH_PROGRAM,
    MATCH_STRUCTURE,
    MATCH_SHAPE,
    MATCH_CONTENT,
    MATCH_REGROUPED,
    MATCH_SCOPE,
    MATCH_SOURCE,
    MATCH_PLACE,
    MATCH_NAME,
    MATCH_KERNEL,
    MATCH_STEM,
    MATCH_NONE, /* of ops of one run only: new, or gone */
    MATCH_HOWS
};
const char *match_how_word(enum match_how how);

struct match {                 /* ops of a that are ops of b */
    const uint32_t *a, *b;     /* ordinals, ascending */
    uint32_t a_count, b_count; /* one of them is 0: gone, or new */
    enum match_how how;
    double confidence; /* 0..1: how often this rule is right, by kind of rule; MATCH_NONE: 1 */
};

/* Each op of either run stands in exactly one match. By the first op of a, then of b; lives in the
 * arena. The order of the ops in is their order in their programs. */
uint32_t match_ops(const struct match_op *a, uint32_t a_count, const struct match_op *b,
                   uint32_t b_count, struct arena *arena, struct match **ret);

/* A kernel's name without return type, namespaces' template arguments and parameters:
 * "void cutlass::gemm<float, 3>(Params)" is "cutlass::gemm". */
struct str kernel_stem(struct str name, struct arena *arena);

#endif
