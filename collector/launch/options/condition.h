/* SPDX-License-Identifier: Apache-2.0 */
/* --if 'RANK==0 && HOST!="login"': a small expression over environment variables, no shell.
 *
 *   or      and { || and }
 *   and     not { && not }
 *   not     ! not | ( or ) | value [ == value | != value ]
 *   value   NAME | "text" | 'text' | number
 *
 * A variable that is not set is the empty text; alone, a value holds unless it is empty or 0.
 * Numbers are compared as numbers where both sides are such, else as texts.
 */
#ifndef JVIEWD_LAUNCH_CONDITION_H
#define JVIEWD_LAUNCH_CONDITION_H

#include "base/error.h"

MUST_CHECK enum status condition_holds(const char *text, bool *ret, struct error *err);

#endif
