/* A run while it is put together. */
#ifndef JVIEWD_DISCOVER_DRAFT_H
#define JVIEWD_DISCOVER_DRAFT_H

#include "discover/hint.h"
#include "discover/scan.h"

struct group { /* one grouping: what all its steps see */
    struct str root;
    const struct scan_file *files;
    struct arena *arena;
};

struct place { /* the files of one directory: order[first ... first + count) */
    struct str dir;
    const uint32_t *order; /* file indexes, by name */
    uint32_t count;
};

/* The roles of the files of one session, in the place's order. */
void roles_of_session(const struct group *group, const struct place *place,
                      struct scan_run_file *ret);

/* The name of what lies at `path` below the root: without plugins/profile; with `fold` a repeated
 * last component once; the root's own base name for "". */
struct str run_name(const struct group *group, struct str path, bool fold);

#endif
