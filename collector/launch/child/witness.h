/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a signal was meant for us alone, or for the whole group of processes, the program with
 * it.
 *
 *                      launcher   witness   program
 *   kill LAUNCHER      [TERM]     [ ]       [ ]       -> goes on to the program
 *   timeout, kill 0    [TERM]     [TERM]    [TERM]    -> the program has it
 *
 * The witness is a process that does nothing and takes no signal: what waits for it tells what its
 * group was sent. It ends with the launcher.
 */
#ifndef JVIEWD_LAUNCH_WITNESS_H
#define JVIEWD_LAUNCH_WITNESS_H

#include <stdbool.h>

/* Before the program is started. Without one every signal is taken for ours alone. */
void witness_start(void);
/* Was the signal, which has just come, sent to our group? Asked once for each. */
bool witness_saw(int number);
void witness_stop(void);

#endif
