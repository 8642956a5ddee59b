/* SPDX-License-Identifier: Apache-2.0 */
/* Who may use a file, and the line that lets this user.
 *
 *   the owner's          chmod u+rwx PATH
 *   a group's that may   sudo usermod -aG GROUP USER      not into a group that is as good as root
 *   ... USER is in it    sudo chmod g+rwx PATH            the rights of others do not count for it
 *   another's            sudo chmod o+rwx PATH
 *
 * Where PATH cannot even be looked at, a directory above it is the one that is closed.
 */
#include "doctor/doctor_rights.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/shell.h"

/* Who is in one of these is root a command later, or reads what only root may. */
static bool is_joinable(struct str group)
{
    static const char *const powerful[] = {"",     "root", "sudo",   "wheel",  "adm",
                                           "disk", "lxd",  "shadow", "docker", "libvirt"};

    for (size_t i = 0; i < COUNT(powerful); i++)
        if (str_equal(group, str_of(powerful[i])))
            return false;
    return true;
}

static unsigned bits_of(const char *rights)
{
    return (strchr(rights, 'r') != NULL ? 4U : 0) | (strchr(rights, 'w') != NULL ? 2U : 0) |
           (strchr(rights, 'x') != NULL ? 1U : 0);
}

struct str rights_line(struct arena *arena, const struct barred *barred, const char *rights)
{
    unsigned wanted = bits_of(rights), shift = barred->is_owner ? 6 : barred->is_member ? 3 : 0;
    bool group_may = (barred->mode >> 3 & wanted) == wanted;
    struct str path = shell_quoted(arena, str_of(barred->path));

    if (barred->is_root || (barred->mode >> shift & wanted) == wanted)
        return str_format(arena,
                          "getfacl %.*s   # the mode allows it, but the file system does not",
                          STR_ARG(path));
    if (barred->is_owner)
        return str_format(arena, "chmod u+%s %.*s", rights, STR_ARG(path));
    if (barred->is_member)
        return str_format(arena, "sudo chmod g+%s %.*s", rights, STR_ARG(path));
    if (!group_may || barred->user.count == 0 || !is_joinable(barred->group))
        return str_format(arena, "sudo chmod o+%s %.*s", rights, STR_ARG(path));
    struct str group = shell_word(arena, barred->group);
    if (barred->is_listed)
        return str_format(arena, "newgrp %.*s   # or log in again", STR_ARG(group));
    return str_format(arena, "sudo usermod -aG %.*s %.*s   # then log in again", STR_ARG(group),
                      STR_ARG(shell_word(arena, barred->user)));
}

bool may_look(const char *path, const struct stat *info)
{
    return access(path, S_ISDIR(info->st_mode) ? R_OK | X_OK : R_OK) == 0;
}

struct str user_name(struct arena *arena)
{
    const struct passwd *user = getpwuid(geteuid());

    return user != NULL ? str_copy(arena, str_of(user->pw_name))
                        : str_format(arena, "%u", (unsigned)geteuid());
}

static bool process_is_of(gid_t group, struct arena *arena)
{
    int count = getgroups(0, NULL);
    gid_t *groups = arena_array(arena, gid_t, count > 0 ? (size_t)count : 1);

    count = getgroups(count, groups);
    for (int i = 0; i < count; i++)
        if (groups[i] == group)
            return true;
    return getegid() == group;
}

/* The group's file names this user: a login later it is true. */
static bool names_user(const struct group *group, struct str user)
{
    for (char **member = group->gr_mem; *member != NULL; member++)
        if (str_equal(str_of(*member), user))
            return true;
    return false;
}

struct str mend_rights(struct arena *arena, const char *path, const struct stat *info,
                       const char *rights)
{
    const struct group *group = getgrgid(info->st_gid);
    bool is_known = getpwuid(geteuid()) != NULL;
    struct barred barred = {
        .path = path,
        .mode = info->st_mode & 0777,
        .is_root = geteuid() == 0,
        .is_owner = info->st_uid == geteuid(),
        .is_member = process_is_of(info->st_gid, arena),
        .group = STR(""),
        .user = is_known ? user_name(arena) : STR(""),
    };

    if (group != NULL && info->st_gid != 0) {
        barred.group = str_copy(arena, str_of(group->gr_name));
        barred.is_listed = names_user(group, barred.user);
    }
    return rights_line(arena, &barred, rights);
}

void nearest_above(const char *path, struct stat *ret_info, char ret[PATH_MAX])
{
    snprintf(ret, PATH_MAX, "%s", path);
    while (stat(ret, ret_info) != 0) {
        char *slash = strrchr(ret, '/');

        if (slash == NULL)
            snprintf(ret, PATH_MAX, ".");
        else
            slash[slash == ret] = '\0'; /* of "/x", "/" stays */
        if ((slash == NULL || slash == ret) && stat(ret, ret_info) != 0) {
            *ret_info = (struct stat){0};
            return;
        }
    }
}

struct str mend_entry(struct arena *arena, const char *path)
{
    struct stat info;
    char above[PATH_MAX];

    nearest_above(path, &info, above);
    if (S_ISDIR(info.st_mode) && access(above, X_OK) != 0)
        return mend_rights(arena, above, &info, "x");
    return str_format(arena, "namei -l %.*s   # shows which directory does not let you through",
                      STR_ARG(shell_quoted(arena, str_of(path))));
}

struct str mend_access(struct arena *arena, const char *path, const char *rights)
{
    struct stat info;

    if (stat(path, &info) == 0)
        return mend_rights(arena, path, &info, rights);
    return errno == EACCES ? mend_entry(arena, path) : STR("");
}

struct str mend_missing(struct arena *arena, const char *path)
{
    struct stat info;
    char above[PATH_MAX];
    struct str word = shell_quoted(arena, str_of(path));

    if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode)) /* to what is not there */
        return str_format(arena, "mkdir -p \"$(readlink -m %.*s)\"", STR_ARG(word));
    nearest_above(path, &info, above);
    if (!S_ISDIR(info.st_mode))
        return str_format(arena, "another directory: %s is a file", above);
    if (access(above, W_OK | X_OK) == 0)
        return str_format(arena, "mkdir -p %.*s", STR_ARG(word));
    if (errno == EROFS)
        return STR("another directory: this one is mounted for reading only");
    if (info.st_uid == geteuid())
        return str_format(arena, "%.*s && mkdir -p %.*s",
                          STR_ARG(mend_rights(arena, above, &info, "rwx")), STR_ARG(word));
    return str_format(arena, "sudo mkdir -p %.*s && sudo chown %.*s %.*s", STR_ARG(word),
                      STR_ARG(shell_word(arena, user_name(arena))), STR_ARG(word));
}
