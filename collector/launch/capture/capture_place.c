/* SPDX-License-Identifier: Apache-2.0 */
/* Moves the parts of split spools into a session of each capture. */
#include "launch/capture/capture_place.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "launch/capture/capture_split.h"
#include "launch/spool/spool_move.h"

#define PART "capture-"
#define LINK ".session"

enum { NAME_MAX_BYTES = 256, PATH_BYTES = 4400, NS_PER_SECOND = 1000000000 };

struct numbers {
    int64_t *at;
    uint32_t count, capacity;
};

/* Of "capture-2", with LINK of "capture-2.session". */
static bool number_of(const char *name, const char *ending, int64_t *ret)
{
    const char *digits = name + sizeof PART - 1;
    char *end;

    if (strncmp(name, PART, sizeof PART - 1) != 0 || *digits < '1' || *digits > '9')
        return false;
    errno = 0;
    *ret = strtoll(digits, &end, 10);
    return errno == 0 && strcmp(end, ending) == 0;
}

static int by_number(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

/* Ascending; to be freed. */
static struct numbers find_numbers(const char *directory, const char *ending)
{
    struct numbers found = {0};
    DIR *open = opendir(directory);
    int64_t number;

    for (struct dirent *entry; open != NULL && (entry = readdir(open)) != NULL;) {
        if (!number_of(entry->d_name, ending, &number))
            continue;
        if (found.count == found.capacity) {
            found.capacity = found.capacity == 0 ? 16 : 2 * found.capacity;
            found.at = memory_resize(found.at, found.capacity, sizeof *found.at);
        }
        found.at[found.count++] = number;
    }
    if (open != NULL)
        closedir(open);
    if (found.count > 0)
        qsort(found.at, found.count, sizeof *found.at, by_number);
    return found;
}

static uint32_t adopt_part(const char *directory, const char *part)
{
    char whole[PATH_BYTES], path[PATH_BYTES + NAME_MAX_BYTES];
    uint32_t count = 0;
    DIR *open = opendir(part);

    for (struct dirent *entry; open != NULL && (entry = readdir(open)) != NULL;) {
        if (!spools_is_one(entry->d_name))
            continue;
        snprintf(whole, sizeof whole, "%.4000s/%.255s", directory, entry->d_name);
        snprintf(path, sizeof path, "%s/%.255s", part, entry->d_name);
        if (access(whole, F_OK) != 0 || unlink(path) != 0)
            count++;
    }
    if (open != NULL)
        closedir(open);
    rmdir(part);
    return count;
}

uint32_t captures_adopt(const char *directory)
{
    struct numbers parts = find_numbers(directory, "");
    char part[PATH_BYTES];
    uint32_t count = 0;

    for (uint32_t index = 0; index < parts.count; index++) {
        capture_directory(directory, parts.at[index], part);
        count += adopt_part(directory, part);
    }
    free(parts.at);
    return count;
}

static void link_path(const char *directory, int64_t number, char ret[PATH_BYTES])
{
    snprintf(ret, PATH_BYTES, "%.4000s/" PART "%" PRId64 LINK, directory, number);
}

/* False where it has none yet. */
static bool read_name(const char *directory, int64_t number, char ret[NAME_MAX_BYTES])
{
    char path[PATH_BYTES];

    link_path(directory, number, path);
    ssize_t count = readlink(path, ret, NAME_MAX_BYTES - 1);
    if (count <= 0)
        return false;
    ret[count] = '\0';
    return strchr(ret, '/') == NULL;
}

void captures_name(const char *directory, int64_t number, const char *session)
{
    char path[PATH_BYTES];

    link_path(directory, number, path);
    if (symlink(session, path) != 0 && errno != EEXIST)
        fprintf(stderr, "jview-collect: cannot make %s: %s\n", path, strerror(errno));
}

bool captures_are_apart(const char *directory, const char *session,
                        const struct capture_list *captures)
{
    struct numbers named = find_numbers(directory, LINK);
    char name[NAME_MAX_BYTES];
    bool are_apart = captures->count > 1;

    for (uint32_t index = 0; index < named.count; index++)
        are_apart |= captures->count == 0 || named.at[index] != captures->at[0].number ||
                     !read_name(directory, named.at[index], name) || strcmp(name, session) != 0;
    free(named.at);
    return are_apart && captures->count > 0;
}

/* As the session's spools tell it; those that are there no more leave it to the part's. */
static int64_t begin_of(const char *part, int64_t number, const struct capture_list *captures)
{
    char path[PATH_BYTES + NAME_MAX_BYTES];
    struct spool_open spool;
    struct stat about;

    for (uint32_t index = 0; index < captures->count; index++)
        if (captures->at[index].number == number && captures->at[index].open_ns != INT64_MAX)
            return captures->at[index].realtime_ns;
    int64_t begin_ns =
        stat(part, &about) == 0 ? (int64_t)about.st_mtime * NS_PER_SECOND : INT64_MAX;
    DIR *open = opendir(part);

    for (struct dirent *entry; open != NULL && (entry = readdir(open)) != NULL;) {
        snprintf(path, sizeof path, "%s/%.255s", part, entry->d_name);
        if (!spools_is_one(entry->d_name) || !spool_read_open(path, &spool))
            continue;
        if (spool.file.head.realtime_ns < begin_ns)
            begin_ns = spool.file.head.realtime_ns;
        spool_read_close(&spool);
    }
    if (open != NULL)
        closedir(open);
    return begin_ns;
}

/* One that records now will have its name as a profile. */
static bool is_another(const char *directory, const char *out, const char *name)
{
    const char *slash = strrchr(directory, '/');
    char path[PATH_BYTES];

    snprintf(path, sizeof path, "%.3500s/.jview-spool/%.255s", out, name);
    return (slash == NULL || strcmp(slash + 1, name) != 0) && access(path, F_OK) == 0;
}

/* As the JAX profiler names its sessions: by the second of the beginning, the next where that is
 * taken. Who makes the directory has the name. */
static enum status take_name(const char *directory, const char *out, int64_t begin_ns,
                             char ret[NAME_MAX_BYTES], struct error *err)
{
    time_t at = (time_t)(begin_ns / NS_PER_SECOND);
    char profile[PATH_BYTES];
    struct tm parts;

    snprintf(profile, sizeof profile, "%.3500s/plugins/profile", out);
    TRY(directory_make(profile, err));
    for (;; at++) {
        localtime_r(&at, &parts);
        strftime(ret, NAME_MAX_BYTES, "%Y_%m_%d_%H_%M_%S", &parts);
        if (is_another(directory, out, ret))
            continue;
        snprintf(profile, sizeof profile, "%.3500s/plugins/profile/%.255s", out, ret);
        if (mkdir(profile, 0700) == 0)
            return OK;
        if (errno != EEXIST)
            return fail(err, ERR_IO, "cannot make %s: %s", profile, strerror(errno));
    }
}

static enum status move_part(const char *directory, const char *out, int64_t number,
                             const struct capture_list *captures, struct spools *sum,
                             struct error *err)
{
    char part[PATH_BYTES], profile[PATH_BYTES], name[NAME_MAX_BYTES];
    struct spools here;

    capture_directory(directory, number, part);
    spools_count(part, &here);
    if (here.moved == 0)
        return OK;
    if (!read_name(directory, number, name)) {
        TRY(take_name(directory, out, begin_of(part, number, captures), name, err));
        captures_name(directory, number, name);
    }
    snprintf(profile, sizeof profile, "%.3500s/plugins/profile/%.255s", out, name);
    TRY(spools_move(part, directory, profile, sum, err));
    rmdir(part);
    return OK;
}

enum status captures_move(const char *directory, const char *out,
                          const struct capture_list *captures, struct spools *sum,
                          struct error *err)
{
    struct numbers parts = find_numbers(directory, "");
    enum status status = OK;

    for (uint32_t index = 0; index < parts.count && status == OK; index++)
        status = move_part(directory, out, parts.at[index], captures, sum, err);
    free(parts.at);
    return status;
}

void captures_forget(const char *directory)
{
    struct numbers named = find_numbers(directory, LINK);
    char path[PATH_BYTES];

    for (uint32_t index = 0; index < named.count; index++) {
        link_path(directory, named.at[index], path);
        unlink(path);
    }
    free(named.at);
}
