/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA activity: kernels, copies, sets and calls, as libcupti tells them.
 *
 *   CUPTI's threads --> pool of buffers --> writer: rows of SPOOL_KERNEL, _COPY, _SET, _CALL
 *
 * Begins when the program initialises CUDA. Where CUPTI refuses, a sentence says why, in the
 * profile's notes and on the launcher's page; ranges are recorded all the same.
 */
#ifndef JVIEWD_INJECT_CUPTI_H
#define JVIEWD_INJECT_CUPTI_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/cupti/cupti_library.h"
#include "inject/spool/batch.h"

struct control_asked;
void cupti_start(
    const struct control_asked *asked); /* once a process, on the thread that initialises CUDA */

/* For the writer. */
typedef void cupti_put(struct batch *batch); /* takes the rows out */
void cupti_drain(cupti_put *put);            /* what came back by now */
void cupti_close_frames(cupti_put *put);     /* rows that wait, and sentences */
void cupti_flush(void);                      /* asks CUPTI for what it has; waits for nothing */
/* For all there is; waits so long as that may take, and calls `meanwhile` again and again. */
void cupti_flush_whole(void (*meanwhile)(void));
uint64_t cupti_lost_in_pool(void);  /* records that found no buffer to be read from */
uint64_t cupti_lost_in_cupti(void); /* records that CUPTI itself dropped */
void cupti_forget(void);            /* in a forked child */

/* Between its own files: NULL until CUPTI records. */
const struct cupti *cupti_library(void);

#endif
