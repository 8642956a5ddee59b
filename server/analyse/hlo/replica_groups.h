/* SPDX-License-Identifier: Apache-2.0 */
/* Who takes part in a collective, as HLO writes it.
 *
 *   replica_groups={{0,1},{2,3}}                 groups one by one
 *   replica_groups={}                            one group of everybody
 *   replica_groups=[2,4]<=[4,2]T(1,0)            0 ... 7 as an array of 4 x 2, turned, then cut
 *                                                into 2 groups of 4: {0,2,4,6} {1,3,5,7}
 *   replica_groups=mesh['data'=4,'model'=2] {'data'}      along axes of a mesh
 *   source_target_pairs={{0,1},{1,2},{2,0}}      who sends to whom: a ring of three
 *
 * Grammar: the HLO text that XLA prints; checked on the modules of real captures and dumps. Text
 * comes from files: what is not one of these, or is larger than anyone's cluster, is unknown.
 */
#ifndef JVIEWD_ANALYSE_HLO_REPLICA_GROUPS_H
#define JVIEWD_ANALYSE_HLO_REPLICA_GROUPS_H

#include "base/bytes.h"

enum groups_form {
    GROUPS_UNKNOWN,   /* it says nothing, or nothing that can be read */
    GROUPS_EVERYBODY, /* one group, of whoever runs the program */
    GROUPS_LISTED,
    GROUPS_IOTA,
    GROUPS_MESH, /* along axes */
    GROUPS_PAIRS,
};

struct replica_groups {
    enum groups_form form;
    uint32_t group_count;
    uint32_t size;         /* of the largest group; 0 unknown */
    const uint32_t *first; /* group_count + 1, into ids; NULL: ids are not known */
    const uint32_t *ids;   /* group after group, each ascending; of pairs: who is connected */
    uint32_t id_count;
    struct str axes; /* "data": the axes of a mesh by name, "+" between them; "" unknown */
};

struct mesh { /* whose axes have names: the last one's neighbours are next to each other */
    struct mesh_axis {
        struct str name;
        uint32_t size;
    } axes[8];
    uint32_t axis_count;
};

#define REPLICA_NO_GROUP UINT32_MAX

/* What stands behind "replica_groups=" (and further: it ends where its grammar does). */
struct replica_groups replica_groups_read(struct str text, struct arena *arena);
/* What stands behind "source_target_pairs=". */
struct replica_groups replica_pairs_read(struct str text, struct arena *arena);
/* The group of an id; REPLICA_NO_GROUP. */
uint32_t replica_group_of(const struct replica_groups *groups, uint64_t id);

/* The mesh that a module says it was partitioned for: #sdy.mesh<["data"=4, "model"=2]> anywhere in
 * its bytes; false without exactly one. */
bool mesh_read(struct bytes module, struct mesh *ret);
/* Axes along which these groups lie, by name; "" where they lie along none. */
struct str mesh_axes_of(const struct mesh *mesh, const struct replica_groups *groups,
                        struct arena *arena);

/* "data", "4 devices, stride 2", "all 8 devices", "3 groups of up to 4", "" unknown. */
struct str replica_groups_name(const struct replica_groups *groups, struct arena *arena);
/* "{0,2,4,6} {1,3,5,7}", cut after some hundred letters. */
struct str replica_groups_members(const struct replica_groups *groups, struct arena *arena);

#endif
