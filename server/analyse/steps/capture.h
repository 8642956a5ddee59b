/* SPDX-License-Identifier: Apache-2.0 */
/* When a host's program ran within the capture: what the profiler took for itself is neither idle
 * nor work. */
#ifndef JVIEWD_ANALYSE_STEPS_CAPTURE_H
#define JVIEWD_ANALYSE_STEPS_CAPTURE_H

#include "analyse/scan/selection.h"

/* The trace's hull, without what starts the recording at its begin and ends it at its end. */
struct window capture_window(const struct trace *trace);

#endif
