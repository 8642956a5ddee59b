/* SPDX-License-Identifier: Apache-2.0 */
/* Runs jviewd beside us over a spool and its modules, within a budget of time, and replaces the
 * spool by its XPlane. */
#include "launch/finalize.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "api/record.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/sandbox/sandbox.h"
#include "launch/child/child.h"
#include "launch/spool/dump_mark.h"
#include "launch/spool/publish.h"
#include "launch/spool/spools.h"
#include "launch/spool/stage.h"

enum { PATH_BYTES = 4096, REASON_BYTES = 512, LOOK_MS = 5, EXIT_NO_PROGRAM = 127 };

static enum status find_jviewd(char ret[PATH_BYTES], struct error *err)
{
    char own[PATH_BYTES - 16];
    ssize_t count = readlink("/proc/self/exe", own, sizeof own);
    const char *slash = count > 0 ? memrchr(own, '/', (size_t)count) : NULL;

    if (slash != NULL) {
        snprintf(ret, PATH_BYTES, "%.*s/jviewd", (int)(slash - own), own);
        if (access(ret, X_OK) == 0)
            return OK;
    }
    return fail(err, ERR_NOT_FOUND, "jviewd is not beside jview-collect");
}

/* "host.jvs" -> "host.xplane.pb". */
static enum status target_of(const char *spool, char ret[PATH_BYTES], struct error *err)
{
    size_t count = strlen(spool), suffix = strlen(SPOOL_SUFFIX);

    if (count <= suffix || strcmp(spool + count - suffix, SPOOL_SUFFIX) != 0 ||
        count > PATH_BYTES - 64)
        return fail(err, ERR_INVALID,
                    "%s is not a spool: the name of a spool ends in " SPOOL_SUFFIX, spool);
    snprintf(ret, PATH_BYTES, "%.*s.xplane.pb", (int)(count - suffix), spool);
    return OK;
}

/* Who recorded has ended, so nothing is waited for: readers leave files alone that changed within
 * the last seconds. */
static void mark_settled(const char *spool)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}};

    clock_gettime(CLOCK_REALTIME, &times[1]);
    times[1].tv_sec -= 10;
    utimensat(AT_FDCWD, spool, times, 0);
}

struct work {                   /* for jviewd */
    const char *spool, *staged; /* the latter: with modules, in this directory; NULL alone */
    const char *cache, *made;   /* what is temporary; in it, what becomes the target */
};

/* A spool is what a program wrote: whoever reads it may read that, and write beside it. */
static bool confine(const char *program, const struct work *work)
{
    const char *const reads[] = {work->spool};
    const struct sandbox_finalizer finalizer = {
        .program = program, .reads = reads, .read_count = COUNT(reads), .writes = work->cache};
    struct error err = {0};

    if (sandbox_finalizer(&finalizer, &err) != OK)
        fprintf(stderr, "%s\n", err.message);
    return err.code == OK;
}

/* In the child: ends with us, and is nobody's subject. It says on stderr why it failed; what it
 * tells programs of a file that it indexed, on stdout, nobody reads. */
static void become(const char *program, const struct work *work, int messages, pid_t parent)
{
    const char *alone[] = {"jviewd",   "index", "--xplane",  "--out",
                           work->made, "--",    work->spool, NULL};
    const char *staged[] = {"jviewd",     "extract",     "latest",    "--profile-dir",
                            work->staged, "--cache-dir", work->cache, "--format",
                            "xplane",     "-o",          work->made,  NULL};
    sigset_t none;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_NO_PROGRAM);
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (nowhere < 0)
        _exit(EXIT_NO_PROGRAM);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    child_unset();
    dup2(messages, STDERR_FILENO);
    dup2(nowhere, STDOUT_FILENO);
    if (!confine(program, work))
        _exit(EXIT_NO_PROGRAM);
    execv(program, (char *const *)(uintptr_t)(work->staged != NULL ? staged : alone));
    _exit(EXIT_NO_PROGRAM);
}

/* How it ended; -1 where it took too long, and was ended. */
static int wait_for(pid_t pid, int64_t until_ms)
{
    const struct timespec nap = {.tv_nsec = LOOK_MS * 1000000};
    int status = 0;

    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (clock_monotonic_ms() >= until_ms) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            return -1;
        }
        nanosleep(&nap, NULL);
    }
    return status;
}

/* The last line that it said. */
static void last_line(int messages, char ret[REASON_BYTES])
{
    off_t size = lseek(messages, 0, SEEK_END);
    ssize_t count = pread(messages, ret, REASON_BYTES - 1,
                          size > REASON_BYTES - 1 ? size - (REASON_BYTES - 1) : 0);

    ret[count > 0 ? count : 0] = '\0';
    while (count > 0 && ret[count - 1] == '\n')
        ret[--count] = '\0';
    char *line = strrchr(ret, '\n');

    if (line != NULL)
        memmove(ret, line + 1, strlen(line + 1) + 1);
}

static enum status run_jviewd(const struct work *work, int64_t most_ms, struct error *err)
{
    char program[PATH_BYTES], reason[REASON_BYTES];
    int64_t began = clock_monotonic_ms();
    pid_t parent = getpid();

    TRY(find_jviewd(program, err));
    int messages = memfd_create("jview-messages", MFD_CLOEXEC);

    if (messages < 0)
        return fail(err, ERR_IO, "no memory for messages: %s", strerror(errno));
    fflush(NULL);
    pid_t pid = fork();

    if (pid == 0)
        become(program, work, messages, parent);
    int status =
        pid > 0 ? wait_for(pid, most_ms > INT64_MAX - began ? INT64_MAX : began + most_ms) : 0;

    last_line(messages, reason);
    close(messages);
    if (pid < 0)
        return fail(err, ERR_IO, "no process: %s", strerror(errno));
    if (status == -1)
        return fail(err, ERR_LIMIT, "it took more than the %.1f s of --finalize",
                    (double)most_ms / 1000);
    if (WIFSIGNALED(status))
        return fail(err, ERR_IO, "jviewd was ended by signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) != 0)
        return fail(err, ERR_FORMAT, "%s", reason[0] != '\0' ? reason : "jviewd failed");
    return OK;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)place;
    return kind == FTW_DP ? rmdir(path) : unlink(path);
}

/* Where --hlo-dump puts it unless it is told where: OUT/plugins/profile/SESSION/host.jvs ->
 * OUT/hlo-SESSION. */
static void usual_dump(const char *spool, char ret[PATH_BYTES])
{
    static const char above[] = "/plugins/profile";
    const size_t above_count = sizeof above - 1;
    const char *file = strrchr(spool, '/');
    const char *session = file != NULL ? memrchr(spool, '/', (size_t)(file - spool)) : NULL;
    size_t count = session != NULL ? (size_t)(session - spool) : 0;

    ret[0] = '\0';
    if (count >= above_count && memcmp(session - above_count, above, above_count) == 0)
        snprintf(ret, PATH_BYTES, "%.*s/hlo-%.*s", (int)(count - above_count), spool,
                 (int)(file - session - 1), session + 1);
}

/* As the mark in the spool's directory says, else where it usually is. */
static void find_dump(const char *spool, const char *directory, char ret[PATH_BYTES])
{
    if (!dump_mark_get(directory, ret) || access(ret, F_OK) != 0)
        usual_dump(spool, ret);
}

/* Nobody asks for the dump any more where the last spool is gone. */
static enum status take_away(const char *spool, const char *directory, struct error *err)
{
    struct spools left;

    if (unlink(spool) != 0)
        return fail(err, ERR_IO, "it cannot be removed: %s", strerror(errno));
    spools_count(directory, &left);
    if (left.moved + left.busy == 0)
        dump_mark_remove(directory);
    return OK;
}

enum status finalize_spool(const char *spool, int64_t most_ms, struct error *err)
{
    const char *slash = strrchr(spool, '/');
    char directory[PATH_BYTES], cache[PATH_BYTES + 64], staged[PATH_BYTES + 80];
    char target[PATH_BYTES], made[PATH_BYTES + 80], dump[PATH_BYTES];

    TRY(target_of(spool, target, err));
    snprintf(directory, sizeof directory, "%.*s", slash != NULL ? (int)(slash - spool) : 1,
             slash != NULL ? spool : ".");
    /* Beside it: there is room for a spool, so mostly for its index. */
    snprintf(cache, sizeof cache, "%s/.jview-index-XXXXXX", directory);
    if (mkdtemp(cache) == NULL)
        return fail(err, ERR_IO, "cannot write beside %s: %s", spool, strerror(errno));
    mark_settled(spool);
    find_dump(spool, directory, dump);
    snprintf(staged, sizeof staged, "%s/staged", cache);
    snprintf(made, sizeof made, "%s/made.xplane.pb", cache);
    const struct work work = {.spool = spool,
                              .staged = stage_make(staged, spool, dump) ? staged : NULL,
                              .cache = cache,
                              .made = made};
    enum status status = run_jviewd(&work, most_ms, err);

    if (status == OK)
        status = publish_file(made, target, directory, err);
    nftw(cache, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return status == OK ? take_away(spool, directory, err) : status;
}

uint32_t finalize_session(const char *profile, int64_t *most_ms)
{
    int64_t began = clock_monotonic_ms();
    uint32_t stay = 0;
    DIR *open = opendir(profile);

    for (struct dirent *entry; open != NULL && (entry = readdir(open)) != NULL;) {
        char path[PATH_BYTES + NAME_MAX];
        struct error err = {0};
        int64_t left = *most_ms - (clock_monotonic_ms() - began);

        if (!spools_is_one(entry->d_name) || spools_is_held(profile, entry->d_name))
            continue;
        snprintf(path, sizeof path, "%.4000s/%s", profile, entry->d_name);
        if (finalize_spool(path, left > 0 ? left : 0, &err) == OK)
            continue;
        stay++;
        fprintf(stderr,
                "jview-collect: %s stays a spool, which jviewd can open: %s\n  jview-collect "
                "finalize %s   tries again\n",
                entry->d_name, err.message, path);
    }
    if (open != NULL)
        closedir(open);
    *most_ms -= clock_monotonic_ms() - began;
    return stay;
}

uint32_t finalize_sessions(const char *out, int64_t most_ms)
{
    char path[PATH_BYTES];
    uint32_t stay = 0;

    snprintf(path, sizeof path, "%.3500s/plugins/profile", out);
    DIR *open = opendir(path);

    for (struct dirent *entry; open != NULL && (entry = readdir(open)) != NULL;) {
        char session[PATH_BYTES + NAME_MAX];

        snprintf(session, sizeof session, "%.4000s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.')
            stay += finalize_session(session, &most_ms);
    }
    if (open != NULL)
        closedir(open);
    return stay;
}
