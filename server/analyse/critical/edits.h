/* SPDX-License-Identifier: Apache-2.0 */
/* What would be different: read from words, and found in a run.
 *
 *   scope:layer_1/mlp=0.5   ops whose scope holds these elements, one after another
 *   scope:data_loading=0    slices of threads that are called so, and what lies inside
 *   op:dot.63=0             ops, or slices of threads, of this name; name: is the same
 *   kind:input=0            all of this kind
 *   overlap communication   or copy, or input: nothing on its lane waits for it; the step does
 *   fuse launches           of calls that launch the first of each step remains
 *   devices even            each device works as long as their mean
 *
 * What JAX wraps around an element, as in "jvp(layer_1)", need not be said.
 */
#ifndef JVIEWD_ANALYSE_CRITICAL_EDITS_H
#define JVIEWD_ANALYSE_CRITICAL_EDITS_H

#include "analyse/analyse.h"

enum { EDITS_MAX = 64 };

enum edit_of { EDIT_SCOPE, EDIT_OP, EDIT_KIND };

struct edit {
    enum edit_of of;
    struct str name;   /* what is scaled */
    double factor;     /* 0 ... 1000 */
    uint64_t op_count; /* ops and names of slices that it fits; once edits_find has looked */
};

struct edits {
    struct edit items[EDITS_MAX];
    uint32_t count;
    bool overlap[KIND_COUNT];
    bool fuse_launches, devices_even;
    double **ops, **names; /* [host][op or name id]: factors; NULL: 1 */
    double kinds[KIND_COUNT];
    bool late; /* graphs are made without them: the replay looks up what of them is of ops */
};
/* Changes nothing. */
void edits_none(struct edits *ret);

/* Adds "scope:NAME=FACTOR,...". A comma in a name parts nothing where what follows has no '='.
 * ERR_INVALID says which word is wrong and what it may be. */
MUST_CHECK enum status edits_read(struct str text, struct edits *ret, struct error *err);
/* "communication", "copy" or "input", by comma. */
MUST_CHECK enum status edits_overlap(struct str text, struct edits *ret, struct error *err);
/* Finds what the names mean; ERR_NOT_FOUND with the nearest names where one means nothing. */
MUST_CHECK enum status edits_find(const struct run_traces *run, struct arena *arena,
                                  struct edits *edits, struct error *err);

#endif
