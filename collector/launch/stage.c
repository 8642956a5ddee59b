#include "launch/stage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

enum { PATH_BYTES = 4400, MODULES_MAX = 1 << 14, PIECE = 1 << 24 };

static bool copy(const char *from, const char *to)
{
    int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), out = -1;
    ssize_t got = -1;

    if (in >= 0)
        out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    while (out >= 0 && (got = copy_file_range(in, NULL, out, NULL, PIECE, 0)) > 0)
        ;
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    return got == 0;
}

/* By a second name; where the file lies on another disk, a copy. */
static bool put(const char *from, const char *to)
{
    return link(from, to) == 0 || (errno == EXDEV && copy(from, to));
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

static uint32_t put_modules(const char *directory, const char *dump)
{
    char from[PATH_BYTES], to[PATH_BYTES];
    uint32_t count = 0;
    DIR *open = opendir(dump);

    for (struct dirent *entry;
         open != NULL && count < MODULES_MAX && (entry = readdir(open)) != NULL;) {
        if (!is_module(entry->d_name))
            continue;
        snprintf(from, sizeof from, "%.4000s/%.255s", dump, entry->d_name);
        snprintf(to, sizeof to, "%.4000s/modules/%.255s", directory, entry->d_name);
        if (!put(from, to))
            continue;
        mark_settled(to);
        count++;
    }
    if (open != NULL)
        closedir(open);
    return count;
}

bool stage_make(const char *directory, const char *spool, const char *dump)
{
    const char *slash = strrchr(spool, '/');
    char path[PATH_BYTES];
    struct error ignored = {0};

    snprintf(path, sizeof path, "%.4000s/modules", directory);
    if (directory_make(path, &ignored) != OK || put_modules(directory, dump) == 0)
        return false;
    snprintf(path, sizeof path, "%.4000s/plugins/profile/recorded", directory);
    if (directory_make(path, &ignored) != OK)
        return false;
    snprintf(path, sizeof path, "%.4000s/plugins/profile/recorded/%.255s", directory,
             slash != NULL ? slash + 1 : spool);
    return put(spool, path);
}
