#include "launch/spools.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "api/record.h"
#include "base/arena.h"
#include "base/file.h"
#include "collector/control.h"
#include "decode/record_read.h"
#include "launch/capture_list.h"
#include "launch/capture_split.h"
#include "launch/sample_join.h"

enum { NAME_MAX_BYTES = 256, PATH_BYTES = 4096, WAIT_MS = 100 };

bool spools_is_one(const char *name)
{
    size_t count = strlen(name), suffix = strlen(SPOOL_SUFFIX);

    return count > suffix && strcmp(name + count - suffix, SPOOL_SUFFIX) == 0;
}

bool spools_is_held(const char *directory, const char *name)
{
    char path[2 * PATH_BYTES];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    bool held = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return held;
}

void spools_count(const char *directory, struct spools *ret)
{
    DIR *open = opendir(directory);

    *ret = (struct spools){0};
    for (struct dirent *entry; open != NULL && (entry = readdir(open)) != NULL;) {
        if (!spools_is_one(entry->d_name))
            continue;
        if (spools_is_held(directory, entry->d_name))
            ret->busy++;
        else
            ret->moved++;
    }
    if (open != NULL)
        closedir(open);
}

void spools_wait(const char *directory)
{
    const struct timespec nap = {.tv_nsec = WAIT_MS * 1000000};
    struct spools now;

    for (spools_count(directory, &now); now.busy > 0; spools_count(directory, &now))
        nanosleep(&nap, NULL);
}

/* The machine that the process ran on, which need not be ours: as the spool tells, cut to what a
 * file may be called. */
static void host_of(const char *path, char ret[NAME_MAX_BYTES])
{
    struct record_file file = {0};
    struct record_frame frame;
    struct record_texts texts;
    struct file_stamp stamp;
    struct file_map map;
    struct error err = {0};
    struct str key, value = {0};
    bool is_found = false;
    int fd;

    snprintf(ret, NAME_MAX_BYTES, "host");
    if (file_open(path, &fd, &stamp, &err) != OK)
        return;
    enum status status = file_map(fd, stamp.size, &map, &err);
    file_close(fd);
    if (status != OK)
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

/* A name that is taken already is not written over. */
static enum status move_one(const char *directory, const char *profile, const char *name,
                            bool is_only, struct error *err)
{
    char from[2 * PATH_BYTES], to[2 * PATH_BYTES], host[NAME_MAX_BYTES];

    snprintf(from, sizeof from, "%s/%s", directory, name);
    host_of(from, host);
    snprintf(to, sizeof to, "%s/%s%s", profile, host, SPOOL_SUFFIX);
    if (!is_only || access(to, F_OK) == 0)
        snprintf(to, sizeof to, "%s/%s_p%.*s%s", profile, host, (int)strcspn(name, "-"), name,
                 SPOOL_SUFFIX);
    if (access(to, F_OK) == 0)
        snprintf(to, sizeof to, "%s/%s_p%s", profile, host, name);
    if (rename(from, to) != 0)
        return fail(err, ERR_IO, "cannot move %s to %s: %s", from, to, strerror(errno));
    return OK;
}

static enum status move_all(const char *directory, const char *profile, struct spools *sum,
                            struct error *err)
{
    enum status status = OK;
    struct spools here;

    spools_count(directory, &here);
    if (here.moved == 0)
        return OK;
    TRY(directory_make(profile, err));
    DIR *open = opendir(directory);
    for (struct dirent *entry; status == OK && open != NULL && (entry = readdir(open)) != NULL;)
        if (spools_is_one(entry->d_name) && !spools_is_held(directory, entry->d_name))
            status = move_one(directory, profile, entry->d_name, here.moved + here.busy == 1, err);
    if (open != NULL)
        closedir(open);
    sum->profiles = memory_resize(sum->profiles, sum->profile_count + 1, sizeof *sum->profiles);
    sum->profiles[sum->profile_count] = strdup(profile);
    if (sum->profiles[sum->profile_count++] == NULL)
        abort();
    return status;
}

/* Each that can be; the others stay one profile, with the reason told. */
static void split_all(const char *directory, const struct capture_list *captures)
{
    DIR *open = opendir(directory);
    struct error err = {0};

    for (struct dirent *entry; open != NULL && (entry = readdir(open)) != NULL;) {
        if (!spools_is_one(entry->d_name) || spools_is_held(directory, entry->d_name))
            continue;
        if (capture_split(directory, entry->d_name, captures, &err) != OK) {
            fprintf(stderr, "jview-collect: all captures stay in one profile: %s\n", err.message);
            break;
        }
    }
    if (open != NULL)
        closedir(open);
}

/* As the JAX profiler names its sessions: by the second of the beginning, the next where that is
 * taken. */
static void name_capture(const char *out, int64_t realtime_ns, char ret[PATH_BYTES])
{
    time_t at = (time_t)(realtime_ns / 1000000000);
    char name[NAME_MAX_BYTES];
    struct tm parts;

    do {
        localtime_r(&at, &parts);
        strftime(name, sizeof name, "%Y_%m_%d_%H_%M_%S", &parts);
        snprintf(ret, PATH_BYTES, "%.3500s/plugins/profile/%.255s", out, name);
        at++;
    } while (access(ret, F_OK) == 0);
}

static enum status move_captures(const char *directory, const char *out,
                                 const struct capture_list *captures, struct spools *sum,
                                 struct error *err)
{
    char part[4400], profile[PATH_BYTES];

    for (uint32_t index = 0; index < captures->count; index++) {
        const struct capture *capture = &captures->at[index];
        struct spools here;

        capture_directory(directory, capture->number, part);
        spools_count(part, &here);
        if (here.moved == 0)
            continue;
        name_capture(out, capture->realtime_ns, profile);
        TRY(move_all(part, profile, sum, err));
        rmdir(part);
    }
    return OK;
}

enum status spools_place(const char *directory, const char *out, const char *session,
                         struct spools *ret, struct error *err)
{
    struct capture_list captures;
    char profile[PATH_BYTES];

    spools_count(directory, ret);
    captures_read(directory, &captures);
    if (captures.count > 1)
        split_all(directory, &captures);
    snprintf(profile, sizeof profile, "%.3500s/plugins/profile/%.255s", out, session);
    enum status status = move_all(directory, profile, ret, err);
    if (status == OK && captures.count > 1)
        status = move_captures(directory, out, &captures, ret, err);
    captures_free(&captures);
    return status;
}

void spools_free(struct spools *spools)
{
    for (uint32_t index = 0; index < spools->profile_count; index++)
        free(spools->profiles[index]);
    free(spools->profiles);
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

static enum status finalize_one(const char *out, const char *session, struct spools *sum,
                                struct error *err)
{
    char directory[PATH_BYTES], control[2 * PATH_BYTES], name[NAME_MAX_BYTES];
    struct spools spools;

    snprintf(directory, sizeof directory, "%.3500s/.jview-spool/%.255s", out, session);
    if (spools_is_held(directory, CONTROL_FILE)) {
        printf("session    %s is still being recorded\n", session);
        return OK;
    }
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
    if (spools.busy > 0)
        return OK;
    snprintf(control, sizeof control, "%s/%s", directory, CONTROL_FILE);
    unlink(control);
    rmdir(directory);
    return OK;
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
