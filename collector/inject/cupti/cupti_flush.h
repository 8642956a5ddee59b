/* SPDX-License-Identifier: Apache-2.0 */
/* Asks CUPTI for what it has, on a thread of its own: a flush waits for locks of the driver, and
 * may take long or never come back, while ranges go on and are written down.
 *
 *   writer   ask -----------> ask -- (still at it: nothing)       last ask, waits so long
 *   flusher       [ flush ]       [ flush ---------------- 5 s: it is told ...
 */
#ifndef JVIEWD_INJECT_CUPTI_FLUSH_H
#define JVIEWD_INJECT_CUPTI_FLUSH_H

#include <stdbool.h>
#include <stdint.h>

typedef int cupti_flush_all(uint32_t flags);

/* False where there is no thread for it. */
bool cupti_flush_open(cupti_flush_all *flush_all);
/* Whole: with what is not complete, for nothing comes behind it. */
void cupti_flush_ask(bool is_whole);
/* False where the last one that was asked for did not come back within that time. */
bool cupti_flush_wait(int most_ms);

#endif
