/* SPDX-License-Identifier: Apache-2.0 */
/* Back along arrows: from what ran on a thread or device to who asked for it. */
#ifndef JVIEWD_ANALYSE_DEVICE_LAUNCHED_FROM_H
#define JVIEWD_ANALYSE_DEVICE_LAUNCHED_FROM_H

#include "analyse/device/launch.h"

/* Where the innermost arrow comes from that ends at the slice or at one around it, or at the mark
 * of a pool where the task began that it ran in. NO_SLICE: none. */
slice_id launched_from(const struct trace *trace, struct launch_reader *reader, slice_id slice);

#endif
