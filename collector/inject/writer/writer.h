/* SPDX-License-Identifier: Apache-2.0 */
/* The one thread of the library: empties the rings, and appends frames to the process's spool.
 *
 * It wakes when a ring is a quarter full, else every 50 ms; a frame is closed when it is full or
 * 250 ms old, so that a killed process loses no more than that. The file is made when there is
 * something to write: a process that records nothing leaves nothing behind.
 */
#ifndef JVIEWD_INJECT_WRITER_H
#define JVIEWD_INJECT_WRITER_H

struct control_asked;

/* Once a process; what fails is told on stderr, once, and the program goes on unrecorded. */
void writer_start(void);
const struct control_asked *writer_asked(void);
/* At the process's end: all that is there goes out, within `budget_ms`; nothing is taken after. */
void writer_stop(int budget_ms);

/* In a forked child. */
void writer_forget(void);

#endif
