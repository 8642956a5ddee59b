/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the readers of groups: a cursor over their grammar, and numbered arrays.
 *
 *   replica_groups.c   lists, numbered groups, pairs
 *   replica_mesh.c     meshes: groups along axes, and the names of groups
 */
#ifndef JVIEWD_ANALYSE_HLO_REPLICA_PARTS_H
#define JVIEWD_ANALYSE_HLO_REPLICA_PARTS_H

#include "analyse/hlo/replica_groups.h"

/* More devices, or members of all groups together, than any program runs on. */
enum { REPLICA_IDS_MAX = 1 << 20, REPLICA_RANK_MAX = 16 };

struct replica_cursor { /* sticky: what does not fit the grammar ends it */
    struct str left;
    bool failed;
};

void replica_skip_blanks(struct replica_cursor *cursor);
/* Is the word next, and is it taken? */
bool replica_sees(struct replica_cursor *cursor, struct str word);
bool replica_take(struct replica_cursor *cursor, struct str word);
void replica_expect(struct replica_cursor *cursor, struct str word);
/* A whole number below REPLICA_IDS_MAX. */
uint32_t replica_take_number(struct replica_cursor *cursor);

/* Of dimensions; false for none, and for more than REPLICA_IDS_MAX. */
bool replica_product(const uint32_t *sizes, uint32_t count, uint32_t *ret);
/* 0, 1, 2 ... as an array of `sizes`, its dimensions in another order. */
void replica_number_turned(const uint32_t *sizes, const uint32_t *order, uint32_t rank,
                           uint32_t count, uint32_t *ret);
/* "[4,2]T(1,0)": 0, 1, 2 ... as that array; NULL where it is none. */
uint32_t *replica_take_array(struct replica_cursor *cursor, struct arena *arena,
                             uint32_t *ret_count);
/* Takes the ids over, and puts each group's in order. */
struct replica_groups replica_cut_into_rows(uint32_t *ids, uint32_t rows, uint32_t columns,
                                            enum groups_form form, struct arena *arena);
/* What stands behind "mesh[". */
struct replica_groups replica_read_mesh(struct replica_cursor *cursor, struct arena *arena);

#endif
