/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules about compiling tell, for rules about what compiling explains. */
#ifndef JVIEWD_ANALYSE_FINDINGS_RULES_COMPILE_H
#define JVIEWD_ANALYSE_FINDINGS_RULES_COMPILE_H

#include "analyse/compiles/compiles.h"
#include "analyse/findings/memo.h"

MUST_CHECK enum status memo_compiles(struct memo *memo, const struct compiles **ret,
                                     struct error *err);

/* The compilations of a step that "compile-in-steps" or "recompiles" tells, summed. */
int64_t told_compiles_ps(const struct compiles *compiles, const struct counted *counted,
                         const struct step *step);

#endif
