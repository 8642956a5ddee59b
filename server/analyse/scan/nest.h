/* SPDX-License-Identifier: Apache-2.0 */
/* Who is inside whom, for intervals that come by start, longest first.
 *
 *   a  |-----------------|         a is the parent of b and c
 *   b    |----|                    b and c overlap without nesting: siblings; once c has come,
 *   c       |------|               nothing later can be inside b and not inside c
 *
 * Intervals of several groups may be interleaved; only those of one group nest.
 */
#ifndef JVIEWD_ANALYSE_SCAN_NEST_H
#define JVIEWD_ANALYSE_SCAN_NEST_H

#include <stdbool.h>
#include <stdint.h>

struct nest_item {
    uint32_t index;
    int64_t end_ps, covered_to_ps;
};

struct nest_stack {
    struct nest_item *items;
    uint32_t count, capacity;
};

struct nest {
    struct nest_stack *groups;
    uint32_t group_count;
};

struct nest nest_create(uint32_t group_count);
void nest_free(struct nest *nest);
/* Adds an interval; `from_ps` and `to_ps` are the part of it that counts. True when it has a
 * parent; *ret_covered_ps is how much of the parent it covers that no earlier child did. */
bool nest_push(struct nest *nest, uint32_t group, uint32_t index, int64_t end_ps, int64_t from_ps,
               int64_t to_ps, uint32_t *ret_parent, int64_t *ret_covered_ps);

#endif
