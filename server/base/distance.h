/* SPDX-License-Identifier: Apache-2.0 */
/* How alike two words are: for the name that a mistyped one was perhaps meant to be. */
#ifndef JVIEWD_BASE_DISTANCE_H
#define JVIEWD_BASE_DISTANCE_H

#include "base/bytes.h"

/* How many single-byte edits lead from one to the other, counted up to 255 bytes each. */
unsigned edit_distance(struct str a, struct str b);

#endif
