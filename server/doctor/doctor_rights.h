/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that let this user use a path; each stands for a shell as it is. */
#ifndef JVIEWD_DOCTOR_DOCTOR_RIGHTS_H
#define JVIEWD_DOCTOR_DOCTOR_RIGHTS_H

#include <limits.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/bytes.h"

struct barred { /* a path, and who this user is to it */
    const char *path;
    unsigned mode; /* 0777 at most */
    bool is_root, is_owner;
    bool is_member;         /* this process is of its group */
    bool is_listed;         /* the user is named in the group, and this login does not know yet */
    struct str group, user; /* their names; "" has none */
};
/* `rights` are some of "rwx". */
struct str rights_line(struct arena *arena, const struct barred *barred, const char *rights);

/* A directory can be listed and entered, anything else be read; else errno says why not. */
bool may_look(const char *path, const struct stat *info);
/* The line for a path that is there, and the user who asks. */
struct str mend_rights(struct arena *arena, const char *path, const struct stat *info,
                       const char *rights);
/* ... or of the directory above that is closed; "" it is not there. */
struct str mend_access(struct arena *arena, const char *path, const char *rights);
/* The line that opens the directory behind which the path cannot be looked at. */
struct str mend_entry(struct arena *arena, const char *path);
/* The line that makes a directory. */
struct str mend_missing(struct arena *arena, const char *path);
/* The nearest directory above, or the path itself, that can be looked at. */
void nearest_above(const char *path, struct stat *ret_info, char ret[PATH_MAX]);
/* Or its number. */
struct str user_name(struct arena *arena);

#endif
