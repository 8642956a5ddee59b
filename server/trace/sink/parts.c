/* SPDX-License-Identifier: Apache-2.0 */
/* What is made of slices beside the slices themselves: one line each. */
#include "trace/writers.h"

const struct part *const trace_parts_made[] = {
    &part_by_name,
    &part_pyramid,
    &part_summary,
    NULL,
};
