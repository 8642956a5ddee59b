/* SPDX-License-Identifier: Apache-2.0 */
/* Texts in which PyTorch's profiler tells of tensors and groups: lists inside of args.
 *
 *   Input Dims            [[4, 8], [2], []]
 *   Input type            ["float", "Scalar"]
 *   Process Group Ranks   [0, 1, 2]            "..." where it was cut
 */
#ifndef JVIEWD_ANALYSE_COMM_COLLECTIVE_TORCH_H
#define JVIEWD_ANALYSE_COMM_COLLECTIVE_TORCH_H

#include "analyse/hlo/replica_groups.h"

/* Bytes of an element, 0 unknown: C++'s words, and PyTorch's. */
uint64_t torch_element_bytes(struct str dtype);
/* The product of the `index`-th list; false where it is empty, or holds anything but whole
 * numbers. */
bool torch_elements(struct str lists, unsigned index, uint64_t *ret);
/* The first text of a list; "". */
struct str torch_first(struct str list);
/* Ranks as one group; a list that was cut has none. */
struct replica_groups torch_ranks(struct str ranks, struct arena *arena);

#endif
