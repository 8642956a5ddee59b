/* SPDX-License-Identifier: Apache-2.0 */
/* Runs `nsys export` on a report, into a file without a name. */
#include "index/index_convert.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/pack/pack_cold.h"
#include "decode/decode.h"
#include "index/index_guard.h"

enum { SECONDS_MAX = 1800, PATH_MAX_BYTES = 4096, IS_REPORT = 10 };

struct place { /* a directory of our own: the program wants names with its suffixes */
    char directory[PATH_MAX_BYTES], report[PATH_MAX_BYTES + 32], export[PATH_MAX_BYTES + 32];
};

bool convert_knows(const char *format)
{
    const char *path = getenv("PATH");

    if (strcmp(format, "nsys-rep") != 0 || path == NULL)
        return false;
    for (const char *next; *path != '\0'; path = next) {
        char program[PATH_MAX_BYTES];
        size_t count = strcspn(path, ":");

        next = path + count + (path[count] == ':');
        int size = snprintf(program, sizeof program, "%.*s/nsys", (int)count, path);
        if (count > 0 && size > 0 && (size_t)size < sizeof program && access(program, X_OK) == 0)
            return true;
    }
    return false;
}

static bool is_report(struct bytes bytes, const char *directory, struct arena *arena)
{
    struct error ignored = {0};
    struct input input;

    if (input_open(STR("report"), bytes, directory, arena, &input, &ignored) != OK)
        return false;
    const struct identity identity = decode_identify(&input);
    return identity.decoder == NULL && convert_knows(identity.format);
}

/* In a process of its own. What is wrong with the file is told when it is read. */
static bool look_at(int fd, struct bytes bytes, const struct cold *cold, int unpacked,
                    const char *directory)
{
    struct error ignored = {0};
    struct file_map map;

    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || guard_confine(directory, &ignored) != OK)
        return false;
    if (cold == NULL)
        return is_report(bytes, directory, arena_create());
    return cold_unpack(fd, cold, unpacked, &ignored) == OK &&
           file_map(unpacked, cold->bytes, &map, &ignored) == OK &&
           is_report(map.bytes, directory, arena_create());
}

enum status convert_find(int fd, struct bytes bytes, const char *directory, int *ret,
                         struct error *err)
{
    struct cold cold;
    bool is_cold = cold_of(fd, &cold);
    int found = is_cold ? open(directory, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600)
                        : fcntl(fd, F_DUPFD_CLOEXEC, 0);
    int outcome = 0;

    *ret = -1;
    if (found < 0)
        return fail(err, ERR_IO, "%s takes no temporary file: %s", directory, strerror(errno));
    pid_t child = fork();
    if (child == 0)
        _exit(look_at(fd, bytes, is_cold ? &cold : NULL, found, directory) ? IS_REPORT : 0);
    while (child > 0 && waitpid(child, &outcome, 0) < 0 && errno == EINTR) {
    }
    if (child > 0 && WIFEXITED(outcome) && WEXITSTATUS(outcome) == IS_REPORT)
        *ret = found;
    else
        close(found);
    if (child < 0)
        return fail(err, ERR_IO, "no process can be started to read the file: %s", strerror(errno));
    return OK;
}

/* The limits are ours, for reading hostile bytes; another program has its own needs. */
static void lift_limits(void)
{
    static const int limits[] = {RLIMIT_AS, RLIMIT_DATA, RLIMIT_CPU, RLIMIT_NOFILE, RLIMIT_FSIZE};

    for (size_t at = 0; at < sizeof limits / sizeof limits[0]; at++) {
        struct rlimit limit;

        if (getrlimit((__rlimit_resource_t)limits[at], &limit) == 0) {
            limit.rlim_cur = limit.rlim_max;
            setrlimit((__rlimit_resource_t)limits[at], &limit);
        }
    }
}

static void become_nsys(const struct place *place)
{
    int nowhere = open("/dev/null", O_RDWR);

    dup2(nowhere, STDIN_FILENO);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    lift_limits();
    signal(SIGPIPE, SIG_DFL);
    alarm(SECONDS_MAX);
    execlp("nsys", "nsys", "export", "--type", "sqlite", "--force-overwrite", "true", "-o",
           place->export, place->report, (char *)NULL);
    _exit(127);
}

static enum status run_nsys(const struct place *place, struct error *err)
{
    pid_t child = fork();
    int outcome;

    if (child == 0)
        become_nsys(place);
    if (child < 0)
        return fail(err, ERR_IO, "nsys cannot be started: %s", strerror(errno));
    while (waitpid(child, &outcome, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0)
        return OK;
    return fail(
        err, ERR_UNSUPPORTED,
        "`nsys export --type sqlite` failed on the report (%s %d); run it yourself to see why",
        WIFEXITED(outcome) ? "exit" : "signal",
        WIFEXITED(outcome) ? WEXITSTATUS(outcome) : WTERMSIG(outcome));
}

static enum status make_place(const char *directory, int fd, struct place *ret, struct error *err)
{
    char open_file[64];
    int size = snprintf(ret->directory, sizeof ret->directory, "%s/convert-XXXXXX", directory);

    if (size < 0 || (size_t)size >= sizeof ret->directory || mkdtemp(ret->directory) == NULL)
        return fail(err, ERR_IO, "no directory for the converted report can be made in %s: %s",
                    directory, strerror(errno));
    snprintf(ret->report, sizeof ret->report, "%s/report.nsys-rep", ret->directory);
    snprintf(ret->export, sizeof ret->export, "%s/report.sqlite", ret->directory);
    /* The very file that was opened, whatever its path has become. */
    snprintf(open_file, sizeof open_file, "/proc/%d/fd/%d", (int)getpid(), fd);
    if (symlink(open_file, ret->report) != 0)
        return fail(err, ERR_IO, "the report cannot be named in %s: %s", ret->directory,
                    strerror(errno));
    return OK;
}

static void remove_place(const struct place *place)
{
    unlink(place->report);
    unlink(place->export);
    rmdir(place->directory);
}

enum status convert_file(int fd, const char *directory, int *ret_fd, struct file_stamp *ret,
                         struct error *err)
{
    struct place place = {0};
    enum status status = make_place(directory, fd, &place, err);

    if (status == OK)
        status = run_nsys(&place, err);
    if (status == OK)
        status = file_open(place.export, ret_fd, ret, err);
    remove_place(&place);
    return status;
}
