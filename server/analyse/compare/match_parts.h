/* SPDX-License-Identifier: Apache-2.0 */
/* Inside match*.c. */
#ifndef JVIEWD_ANALYSE_COMPARE_MATCH_PARTS_H
#define JVIEWD_ANALYSE_COMPARE_MATCH_PARTS_H

#include "analyse/compare/match.h"

/* What each rule looks at: equal keys are not told apart; 0: it says nothing of this op. */
typedef uint64_t match_key(const struct match_op *op, struct arena *arena);

match_key match_by_program, match_by_scope, match_by_shape, match_by_plain_shape,
    match_by_structure, match_by_content, match_by_source, match_by_place, match_by_stem,
    match_by_name, match_by_kernel;

uint64_t match_mix_text(uint64_t hash, struct str text);

#endif
