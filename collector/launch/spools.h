/* The spools of a session, from where they grow to where jviewd and TensorBoard look.
 *
 *   OUT/.jview-spool/SESSION/466-3444070.jvs  ->  OUT/plugins/profile/SESSION/host.jvs,
 *                                                 or host_p466.jvs of several
 *
 * Where a session has several captures, each becomes a session of its own, named by its beginning.
 *
 * A process holds a lock (flock) on its own as long as it lives; such ones stay.
 */
#ifndef JVIEWD_LAUNCH_SPOOLS_H
#define JVIEWD_LAUNCH_SPOOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/file.h"

struct spools {
    uint32_t moved, busy;
    char **profiles; /* the directories that they lie in now */
    uint32_t profile_count;
};

bool spools_is_one(const char *name);                         /* by its ending */
bool spools_is_held(const char *directory, const char *name); /* someone holds its lock */
void spools_count(const char *directory, struct spools *ret); /* as they would be */
/* One of them, whatever it holds; to be given to file_unmap. */
bool spools_map(const char *path, struct file_map *ret);
/* `ret` is to be freed in any case; `moved` counts processes, and each part that somebody left who
 * was killed before it was moved. */
MUST_CHECK enum status spools_place(const char *directory, const char *out, const char *session,
                                    struct spools *ret, struct error *err);
void spools_free(struct spools *spools);
/* What else of a session stands there goes, where no spool does. */
void spools_leave(const char *directory);
/* Waits until none is busy. */
void spools_wait(const char *directory);

/* All sessions below OUT/.jview-spool whose launcher is gone. */
MUST_CHECK enum status spools_finalize(const char *out, struct error *err);

#endif
