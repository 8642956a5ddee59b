/* SPDX-License-Identifier: Apache-2.0 */
/* Whether this process records: asked by each thread that tells something, without a lock.
 *
 *   awake   the writer's thread runs, and the process is the one that it was started in
 *   switch  what happens now is to be recorded: a word of the session's page, turned by
 *           recording_switch.h
 */
#ifndef JVIEWD_INJECT_RECORDER_H
#define JVIEWD_INJECT_RECORDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

extern _Atomic uint32_t *recorder_switch_word; /* a closed one until the session's is known */
static inline bool recorder_is_on(void)
{
    return atomic_load_explicit(recorder_switch_word, memory_order_relaxed) != 0;
}

bool recorder_is_awake(void);
/* The writer's thread is to look at the rings before its nap is over. */
void recorder_wake(void);

/* For the writer. */
void recorder_begin(void);
void recorder_nap(void); /* until somebody wakes it, at most 50 ms */
bool recorder_is_ending(void);
/* From here on nothing is taken; false where nothing was. */
bool recorder_end(void);
void recorder_forget(void); /* in a forked child */

#endif
