/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks. Profile times are int64_t picoseconds and never come from here.
 *
 * Every wait with an end is by the monotonic clock: setting the wall clock neither ends nor
 * stretches it. Deadlines are of clock_monotonic_ns.
 */
#ifndef JVIEWD_BASE_CLOCK_H
#define JVIEWD_BASE_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

int64_t clock_monotonic_ns(void);
int64_t clock_monotonic_ms(void);
int64_t clock_unix_ns(void);

/* That long from now: now where wait_ms is below 0. */
int64_t clock_deadline_ns(int64_t wait_ms);

/* False at the deadline. As with every condition, true says only that it is time to look. */
bool clock_wait(pthread_cond_t *changed, pthread_mutex_t *lock, int64_t deadline_ns);

/* Whether the thread ended before the deadline; where it did not it goes on. */
bool clock_join(pthread_t thread, int64_t deadline_ns);

#endif
