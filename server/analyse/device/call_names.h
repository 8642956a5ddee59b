/* SPDX-License-Identifier: Apache-2.0 */
/* What the names of a host's calls say: which function was called, and which program that runs. */
#ifndef JVIEWD_ANALYSE_DEVICE_CALL_NAMES_H
#define JVIEWD_ANALYSE_DEVICE_CALL_NAMES_H

#include "base/bytes.h"

/* "PjitFunction(f)" -> "f". */
bool call_function(struct str name, struct str *ret);
/* Is "jit_f" the program of f? */
bool call_runs_program(struct str program, struct str function);
/* A runtime's own call that gives a program to its devices:
 * "CommonPjRtLoadedExecutable::Execute (jit_f)"; `ret_program` "" where it names none. */
bool call_executes(struct str name, struct str *ret_program);

#endif
