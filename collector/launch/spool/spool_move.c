/* SPDX-License-Identifier: Apache-2.0 */
/* Names each spool of a directory by the host that it tells, and moves it into the profile. */
#include "launch/spool/spool_move.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/record.h"
#include "base/arena.h"
#include "base/file.h"
#include "decode/record/record_read.h"
#include "launch/spool/dump_mark.h"

enum { NAME_MAX_BYTES = 256, PATH_BYTES = 4096 };

/* The machine that the process ran on, which need not be ours: as the spool tells, cut to what a
 * file may be called. */
static void host_of(const char *path, char ret[NAME_MAX_BYTES])
{
    struct record_file file = {0};
    struct record_frame frame;
    struct record_texts texts;
    struct file_map map;
    struct error err = {0};
    struct str key, value = {0};
    bool is_found = false;

    snprintf(ret, NAME_MAX_BYTES, "host");
    if (!spools_map(path, &map))
        return;
    if (record_open(map.bytes, &file, &err) == OK && record_next(&file, &frame) &&
        frame.head.type == SPOOL_ABOUT && record_texts(&file, &frame, &texts))
        while (!is_found && record_text(&texts, &key) && record_text(&texts, &value))
            is_found = str_equal(key, STR("host")) && value.count > 0 && value.count < 128;
    if (is_found)
        snprintf(ret, NAME_MAX_BYTES, "%.*s", STR_ARG(value));
    for (char *at = ret; *at != '\0'; at++)
        if (*at == '/' || (unsigned char)*at < ' ')
            *at = '_';
    record_close(&file);
    file_unmap(&map);
}

/* False with EEXIST where the name is taken, or was by what has become XPlane since. */
static bool move_to(const char *from, const char *to)
{
    char space[2 * PATH_BYTES];

    snprintf(space, sizeof space, "%.*s.xplane.pb", (int)(strlen(to) - strlen(SPOOL_SUFFIX)), to);
    errno = EEXIST;
    if (access(space, F_OK) == 0)
        return false;
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    errno = EEXIST; /* a file system that does not know how: by a look before */
    return access(to, F_OK) != 0 && rename(from, to) == 0;
}

static enum status move_one(const char *directory, const char *profile, const char *name,
                            bool is_only, struct error *err)
{
    char from[2 * PATH_BYTES], to[2 * PATH_BYTES], host[NAME_MAX_BYTES];

    snprintf(from, sizeof from, "%s/%s", directory, name);
    host_of(from, host);
    for (int tried = is_only ? 0 : 1; tried < 3; tried++) {
        size_t count = tried == 1 ? strcspn(name, "-") : strlen(name) - strlen(SPOOL_SUFFIX);

        snprintf(to, sizeof to, "%s/%s%s%.*s" SPOOL_SUFFIX, profile, host, tried > 0 ? "_p" : "",
                 tried > 0 ? (int)count : 0, name);
        if (move_to(from, to))
            return OK;
        if (errno != EEXIST)
            break;
    }
    return fail(err, ERR_IO, "cannot move %s to %s: %s", from, to, strerror(errno));
}

enum status spools_move(const char *directory, const char *session, const char *profile,
                        struct spools *sum, struct error *err)
{
    enum status status = OK;
    struct spools here;

    spools_count(directory, &here);
    if (here.moved == 0)
        return OK;
    TRY(directory_make(profile, err));
    TRY(dump_mark_copy(session, profile, err));
    DIR *open = opendir(directory);
    for (struct dirent *entry; status == OK && open != NULL && (entry = readdir(open)) != NULL;)
        if (spools_is_one(entry->d_name) && !spools_is_held(directory, entry->d_name))
            status = move_one(directory, profile, entry->d_name, here.moved + here.busy == 1, err);
    if (open != NULL)
        closedir(open);
    sum->profiles = memory_resize(sum->profiles, sum->profile_count + 1, sizeof *sum->profiles);
    size_t bytes = strlen(profile) + 1;
    char *copy = memory_resize(NULL, bytes, 1);
    sum->profiles[sum->profile_count++] = memcpy(copy, profile, bytes);
    return status;
}
