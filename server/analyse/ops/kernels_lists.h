/* SPDX-License-Identifier: Apache-2.0 */
/* Inside kernels*.c: tables with a row for each thing that happened, not for each name. */
#ifndef JVIEWD_ANALYSE_OPS_KERNELS_LISTS_H
#define JVIEWD_ANALYSE_OPS_KERNELS_LISTS_H

#include <stdlib.h>

#include "analyse/ops/kernels_parts.h"

/* Of the work: run, selections, names, inside, arena. */
MUST_CHECK enum status kernel_activities(const struct kernels_work *work, const struct page *page,
                                         struct table *ret, struct error *err);
MUST_CHECK enum status kernel_ranges(const struct kernels_work *work, const struct page *page,
                                     struct table *ret, struct error *err);
MUST_CHECK enum status kernel_pairs(const struct kernels_work *work, const struct page *page,
                                    struct table *ret, struct error *err);

#endif
