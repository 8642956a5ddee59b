/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the directory in which a spool and copies of the dumped modules lie as one profile. */
#include "launch/spool/stage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

enum { PATH_BYTES = 4400, MODULES_MAX = 1 << 14, PIECE = 1 << 14 };

static enum status write_all(int in, int out, const char *from, const char *to, struct error *err)
{
    uint8_t piece[PIECE];
    uint64_t at = 0;
    ssize_t got;

    while ((got = read(in, piece, sizeof piece)) != 0) {
        if (got < 0 && errno != EINTR)
            return fail(err, ERR_IO, "cannot read %s: %s", from, strerror(errno));
        if (got > 0 && file_write_all(out, piece, (size_t)got, at, err) != OK)
            return fail(err, ERR_IO, "cannot write %s", to);
        at += got > 0 ? (uint64_t)got : 0;
    }
    return OK;
}

/* Whole, or not at all; what is read stays as it is, its time too. */
static enum status copy(const char *from, const char *to, struct error *err)
{
    struct file_stamp stamp;
    int in, out;

    TRY(file_open(from, &in, &stamp, err));
    out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    enum status status = out >= 0 ? write_all(in, out, from, to, err)
                                  : fail(err, ERR_IO, "cannot make %s: %s", to, strerror(errno));
    file_close(in);
    if (out >= 0) {
        close(out);
        if (status != OK)
            unlink(to);
    }
    return status;
}

/* Readers leave files alone that changed just now. */
static void mark_settled(const char *path)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}};

    clock_gettime(CLOCK_REALTIME, &times[1]);
    times[1].tv_sec -= 10;
    utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
}

/* "module_0003.jit_step.sm_9.0_gpu_after_optimizations.hlo.pb" */
static bool is_module(const char *name)
{
    size_t count = strlen(name);

    return count > 3 && strcmp(name + count - 3, ".pb") == 0 &&
           strstr(name, "after_optimizations") != NULL;
}

static enum status put_module(const char *directory, const char *dump, const char *name,
                              struct error *err)
{
    char from[PATH_BYTES], to[PATH_BYTES];

    snprintf(from, sizeof from, "%.4000s/%.255s", dump, name);
    snprintf(to, sizeof to, "%.4000s/modules/%.255s", directory, name);
    TRY(copy(from, to, err));
    mark_settled(to);
    return OK;
}

/* Those that cannot be taken are told, with the first reason. */
static uint32_t put_modules(const char *directory, const char *dump)
{
    uint32_t count = 0, missing = 0;
    struct error first = {0};
    DIR *open = opendir(dump);

    for (struct dirent *entry;
         open != NULL && count < MODULES_MAX && (entry = readdir(open)) != NULL;) {
        if (!is_module(entry->d_name))
            continue;
        if (put_module(directory, dump, entry->d_name, &first) == OK)
            count++;
        else
            missing++;
    }
    if (open != NULL)
        closedir(open);
    if (missing > 0)
        fprintf(stderr, "jview-collect: %" PRIu32 " modules of %s are not in the XPlane: %s\n",
                missing, dump, first.message);
    return count;
}

static enum status put_spool(const char *directory, const char *spool, struct error *err)
{
    const char *slash = strrchr(spool, '/');
    char path[PATH_BYTES];

    snprintf(path, sizeof path, "%.4000s/plugins/profile/recorded", directory);
    TRY(directory_make(path, err));
    snprintf(path, sizeof path, "%.4000s/plugins/profile/recorded/%.255s", directory,
             slash != NULL ? slash + 1 : spool);
    if (link(spool, path) == 0)
        return OK;
    TRY(copy(spool, path, err)); /* a file system without second names */
    mark_settled(path);
    return OK;
}

bool stage_make(const char *directory, const char *spool, const char *dump)
{
    char path[PATH_BYTES];
    struct error err = {0};

    snprintf(path, sizeof path, "%.4000s/modules", directory);
    if (directory_make(path, &err) == OK) {
        if (put_modules(directory, dump) == 0)
            return false;
        if (put_spool(directory, spool, &err) == OK)
            return true;
    }
    fprintf(stderr, "jview-collect: the modules of %s are not in the XPlane: %s\n", dump,
            err.message);
    return false;
}
