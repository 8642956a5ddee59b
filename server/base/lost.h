/* SPDX-License-Identifier: Apache-2.0 */
/* Maps of our own files whose pages may be gone when they are read: the file was cut, or its disk
 * fails. The kernel says so by SIGBUS, which ends a process that has not thought of it.
 *
 *   lost_guard { ... a page is read ... }   -> its map is marked, and the rest is left
 *
 * Whoever answers runs what reads maps inside of a guard; whoever owns the map asks lost_marked.
 * What the left part took by malloc stays taken, so nothing that is guarded holds a lock or a turn
 * while it reads a map. Without a guard the process ends, as it does for maps that nobody watches.
 */
#ifndef JVIEWD_BASE_LOST_H
#define JVIEWD_BASE_LOST_H

#include <stdbool.h>
#include <stddef.h>

/* Takes over SIGBUS, for the whole process. */
void lost_prepare(void);

struct lost_watch;
struct lost_watch *lost_watch(const void *at, size_t count);
bool lost_marked(const struct lost_watch *watch); /* takes NULL */
void lost_unwatch(struct lost_watch *watch);      /* before the map goes; takes NULL */

/* False: a page was lost, and `run` was left where it stood. Guards nest; the innermost is left. */
bool lost_guard(void (*run)(void *data), void *data);
/* Leaves the innermost guard as if a page had been lost here: for what other threads met. */
void lost_leave(void);

#endif
