/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the limits of an indexing process, and handles SIGBUS of a file that shrinks. */
#include "index/index_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/sandbox/sandbox.h"
#include "cli/cli.h"

#define GIB (UINT64_C(1) << 30)

/* Sanitizers reserve terabytes of addresses for themselves. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMITS_MEMORY false
#else
#define LIMITS_MEMORY true
#endif

enum { SECONDS_MIN = 300, DESCRIPTORS_MAX = 64 };

/* The file is mapped once, its unpacked form and the sort file once more (at most 16 GiB each),
 * and later the arrays of the attribution; the rest is ours. Private memory grows with names, not
 * with events. */
#define ADDRESS_BYTES (64 * GIB)
#define PRIVATE_BYTES (6 * GIB)
#define OUTPUT_BYTES (64 * GIB)

enum { MAPPED_MAX = 4 };

static struct bytes mapped[MAPPED_MAX];
static uint32_t mapped_count;

static enum status limit(int what, const char *name, uint64_t value, struct error *err)
{
    struct rlimit now;

    if (getrlimit(what, &now) != 0)
        return fail(err, ERR_IO, "the limit of %s cannot be read: %s", name, strerror(errno));
    if (now.rlim_cur == RLIM_INFINITY || now.rlim_cur > value)
        now.rlim_cur = value;
    if (setrlimit(what, &now) != 0)
        return fail(err, ERR_IO, "the limit of %s cannot be set: %s", name, strerror(errno));
    return OK;
}

/* When memory runs out, the system shall end this process and not the server. */
static void offer_first(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    ssize_t ignored = write(fd, "1000", 4);
    (void)ignored;
    close(fd);
}

enum status guard_process(uint64_t file_bytes, uint64_t data_bytes, bool of_server,
                          struct error *err)
{
    pid_t parent = getppid();

    if (of_server && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent))
        return fail(err, ERR_CANCELLED, "the server that started this process no longer runs");
    if (of_server)
        offer_first();
    TRY(limit(RLIMIT_CORE, "core dumps", 0, err));
    TRY(limit(RLIMIT_NOFILE, "open files", DESCRIPTORS_MAX, err));
    TRY(limit(RLIMIT_FSIZE, "file sizes", OUTPUT_BYTES, err));
    TRY(limit(RLIMIT_CPU, "CPU time", SECONDS_MIN + data_bytes / (1 << 20), err));
    if (LIMITS_MEMORY) {
        TRY(limit(RLIMIT_AS, "addresses", ADDRESS_BYTES + file_bytes, err));
        TRY(limit(RLIMIT_DATA, "memory", PRIVATE_BYTES, err));
    }
    signal(SIGXFSZ, SIG_IGN); /* the write that is too much fails instead */
    signal(SIGPIPE, SIG_IGN);
    return OK;
}

enum status guard_confine(const char *directory, struct error *err)
{
    return sandbox_decoder(directory, err);
}

static void say(int fd, struct str text)
{
    ssize_t ignored = write(fd, text.at, text.count);

    (void)ignored;
}

static void on_bus_error(int signal_number, siginfo_t *info, void *context)
{
    const uint8_t *at = info->si_addr;
    bool is_ours = false;
    (void)context;

    for (uint32_t i = 0; i < mapped_count; i++)
        is_ours |= at >= mapped[i].at && at < mapped[i].at + mapped[i].count;
    if (is_ours) {
        say(STDOUT_FILENO, STR("{\"outcome\":\"changed\",\"error\":\"the file changed while it was "
                               "read\"}\n"));
        say(STDERR_FILENO, STR("jviewd: the file changed while it was read\n"));
        _exit(EXIT_IO);
    }
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void guard_map(struct bytes file)
{
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};

    if (mapped_count < MAPPED_MAX)
        mapped[mapped_count++] = file;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}
