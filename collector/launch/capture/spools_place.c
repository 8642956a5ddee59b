/* SPDX-License-Identifier: Apache-2.0 */
/* What is left of a session becomes profiles: each capture one, and all spools of it together. */
#include "launch/capture/spools_place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "collector/control.h"
#include "launch/capture/capture_list.h"
#include "launch/capture/capture_place.h"
#include "launch/capture/capture_split.h"
#include "launch/spool/dump_mark.h"
#include "launch/spool/sample_join.h"
#include "launch/spool/spool_move.h"

enum { NAME_MAX_BYTES = 256, PATH_BYTES = 4096 };

/* Each that can be; the others stay one profile, with the reason told. */
static void split_all(const char *directory, const struct capture_list *captures)
{
    DIR *open = captures->count <= CAPTURES_SPLIT_MAX ? opendir(directory) : NULL;

    if (captures->count > CAPTURES_SPLIT_MAX)
        fprintf(stderr,
                "jview-collect: %" PRIu32
                " captures stay in one profile: %d become sessions at most\n",
                captures->count, CAPTURES_SPLIT_MAX);
    for (struct dirent *entry; open != NULL && (entry = readdir(open)) != NULL;) {
        struct error err = {0};

        if (spools_is_one(entry->d_name) && !spools_is_held(directory, entry->d_name) &&
            capture_split(directory, entry->d_name, captures, &err) != OK)
            fprintf(stderr, "jview-collect: the captures of %s stay in one profile: %s\n",
                    entry->d_name, err.message);
    }
    if (open != NULL)
        closedir(open);
}

enum status spools_place(const char *directory, const char *out, const char *session,
                         struct spools *ret, struct error *err)
{
    struct capture_list captures;
    char profile[PATH_BYTES];

    spools_count(directory, ret);
    ret->moved += captures_adopt(directory);
    captures_read(directory, &captures);
    if (captures_are_apart(directory, session, &captures))
        split_all(directory, &captures);
    else if (captures.count == 1 && ret->busy > 0)
        captures_name(directory, captures.at[0].number, session);
    snprintf(profile, sizeof profile, "%.3500s/plugins/profile/%.255s", out, session);
    enum status status = spools_move(directory, directory, profile, ret, err);
    if (status == OK)
        status = captures_move(directory, out, &captures, ret, err);
    captures_free(&captures);
    return status;
}

void spools_leave(const char *directory)
{
    char control[2 * PATH_BYTES];

    captures_forget(directory);
    dump_mark_remove(directory);
    snprintf(control, sizeof control, "%s/%s", directory, CONTROL_FILE);
    unlink(control);
    rmdir(directory);
}

/* A session without a launcher is named by its process: it gets the time of its last change. */
static void name_of(const char *directory, const char *session, char ret[NAME_MAX_BYTES])
{
    struct stat about;
    struct tm at;

    snprintf(ret, NAME_MAX_BYTES, "%s", session);
    if (session[strspn(session, "0123456789")] == '\0' && stat(directory, &about) == 0 &&
        localtime_r(&about.st_mtime, &at) != NULL)
        strftime(ret, NAME_MAX_BYTES, "%Y_%m_%d_%H_%M_%S", &at);
}

/* Who puts a session's spools into their places holds this, as its launcher does. False where
 * somebody does; -1 where there is no such file any more. */
static bool take_control(const char *directory, int *ret)
{
    char path[2 * PATH_BYTES];

    snprintf(path, sizeof path, "%s/%s", directory, CONTROL_FILE);
    *ret = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (*ret < 0 || flock(*ret, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return true;
    close(*ret);
    return false;
}

static enum status place_one(const char *out, const char *session, const char *directory,
                             struct spools *sum, struct error *err)
{
    char name[NAME_MAX_BYTES];
    struct spools spools;

    name_of(directory, session, name);
    samples_join(directory);
    enum status status = spools_place(directory, out, name, &spools, err);
    for (uint32_t index = 0; index < spools.profile_count; index++)
        printf("profile    %s\n", spools.profiles[index]);
    spools_free(&spools);
    TRY(status);
    if (spools.busy > 0)
        printf("session    %s: %u processes still record\n", session, spools.busy);
    sum->moved += spools.moved;
    sum->busy += spools.busy;
    if (spools.busy == 0)
        spools_leave(directory);
    return OK;
}

static enum status finalize_one(const char *out, const char *session, struct spools *sum,
                                struct error *err)
{
    char directory[PATH_BYTES];
    int control;

    snprintf(directory, sizeof directory, "%.3500s/.jview-spool/%.255s", out, session);
    if (!take_control(directory, &control)) {
        printf("session    %s is still being recorded\n", session);
        return OK;
    }
    enum status status = place_one(out, session, directory, sum, err);
    if (control >= 0)
        close(control);
    return status;
}

enum status spools_finalize(const char *out, struct error *err)
{
    char path[PATH_BYTES];
    enum status status = OK;
    struct spools sum = {0};

    snprintf(path, sizeof path, "%.3500s/.jview-spool", out);
    DIR *open = opendir(path);
    if (open == NULL)
        return fail(err, ERR_NOT_FOUND, "no spools in %s: %s", path, strerror(errno));
    for (struct dirent *entry; status == OK && (entry = readdir(open)) != NULL;)
        if (entry->d_name[0] != '.')
            status = finalize_one(out, entry->d_name, &sum, err);
    closedir(open);
    if (status == OK)
        printf("moved      %u spools\n", sum.moved);
    return status;
}
