/* SPDX-License-Identifier: Apache-2.0 */
/* The program that is watched: started with our library in its environment, waited for. */
#ifndef JVIEWD_LAUNCH_CHILD_H
#define JVIEWD_LAUNCH_CHILD_H

#include "launch/child/session.h"
#include "launch/options/options.h"

/* Sets what the program inherits. */
MUST_CHECK enum status child_prepare(const struct options *options, const struct launched *session,
                                     struct error *err);
/* Runs it to its end, turning the switch on and off on the way; signals go on to it. Its exit code,
 * or 128 and the signal that ended it; 127 and `err` where it could not be started. Where no
 * process is to be had this one becomes the program, unrecorded. */
int child_run(const struct options *options, struct launched *session, struct error *err);

/* From here on a write of ours beyond the limit of a file's size (RLIMIT_FSIZE) fails, and ends
 * nobody. */
void child_guard(void);
/* Becomes the program, with the signals as they were before child_guard; returns where that
 * fails, with errno. */
void child_become(const struct options *options);

/* Takes what the program inherits from the environment again: for programs of our own. */
void child_unset(void);

#endif
