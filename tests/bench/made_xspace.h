/* SPDX-License-Identifier: Apache-2.0 */
/* Large XSpaces of two shapes, made in memory for measuring.
 *
 *   cpu    6 lines; ops with nine stats and their `end:` partners, annotations, Python frames, in
 *          whole nanoseconds: about 37 bytes and 2.8 stats an event, as JAX writes on CPU
 *   gpu    20 lines; kernels and launches with six stats, nested Python, in picoseconds: about 49
 *          bytes and 4.7 stats an event
 *
 * The same count and shape is always the same bytes.
 */
#ifndef JVIEWD_BENCH_MADE_XSPACE_H
#define JVIEWD_BENCH_MADE_XSPACE_H

#include "base/bytes.h"

enum made_shape { MADE_CPU, MADE_GPU };
/* The bytes are freed with free(). */
struct bytes made_xspace(enum made_shape shape, uint32_t event_count);

#endif
