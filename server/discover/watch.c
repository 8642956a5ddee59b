/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for inotify, gathers bursts, and looks from time to time where inotify is silent. Facts:
 * inotify(7). */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "discover/hint.h"
#include "discover/session.h"
#include "discover/watch.h"
#include "discover/watched.h"

enum { WATCHES_MAX = 8192, POLL_MS = 5000, QUIET_MS = 200, DEPTH_MAX = 12, BURST_PAUSES = 10 };

struct watch {
    struct watch_options options;
    char *root;
    int wake_fd;
    struct watched watched; /* inotify_fd -1 while there is none */
    const char *reason;     /* why it polls */
    int64_t polled_ns;      /* when the last poll was told */
};

struct burst { /* what is gathered before it is told */
    bool any;
    bool rearm; /* paths of descriptors are no longer true */
    struct text *dir;
};

static void disarm(struct watch *watch)
{
    file_close(watch->watched.inotify_fd);
    watch->watched.inotify_fd = -1;
    watched_free(&watch->watched);
}

/* Watches everything anew; leaves a reason where that is not possible. */
static void arm(struct watch *watch)
{
    struct watched *watched = &watch->watched;
    struct stat stat_of;

    disarm(watch);
    watch->reason = NULL;
    watched->lost = NULL;
    if (watch->options.poll_only)
        watch->reason = "asked to";
    else if (stat(watch->root, &stat_of) != 0 || !S_ISDIR(stat_of.st_mode))
        watch->reason = "the directory does not exist";
    else if (!watched_tells_changes(watch->root))
        watch->reason = "its file system does not report changes";
    if (watch->reason != NULL)
        return;
    watched->inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watched->inotify_fd < 0)
        watch->reason = "the system has no inotify instance left";
    else
        watched_add(watched, "", 0);
    if (watched->lost != NULL)
        watch->reason = watched->lost;
}

/* Widens what is told to the common directory of what was gathered and `dir`. */
static void gather(struct burst *burst, const char *dir)
{
    struct str new = str_of(dir);

    if (!burst->any) {
        burst->any = true;
        burst->dir->count = 0;
        text_put(burst->dir, new.at, new.count);
        return;
    }
    size_t common = 0, end = 0;
    struct str old = text_str(burst->dir);

    while (common < old.count && common < new.count &&old.at[common] == new.at[common]) {
        if (old.at[common] == '/')
            end = common;
        common++;
    }
    bool old_ends = common == old.count && (common == new.count || new.at[common] == '/');
    bool new_ends = common == new.count && (common == old.count || old.at[common] == '/');

    burst->dir->count = old_ends || new_ends ? common : end;
}

static bool matters(const struct watch *watch, const char *dir, const struct inotify_event *event)
{
    if (event->len == 0)
        return true;
    return event->mask & IN_ISDIR ? !hint_skips_directory(str_of(event->name))
                                  : watched_wants(&watch->watched, dir, event->name);
}

/* A link to a directory is told of as a file: it came when it leads to one, it went when what it
 * led to is watched. One that leads to a file, or nowhere yet, ends watching alone. */
static bool is_linked_directory(struct watched *watched, const char *dir,
                                const struct inotify_event *event)
{
    struct text below = {0}, whole = {0};
    struct stat stat_of;
    bool is_one = false;

    if (!watched->follow_symlinks || event->len == 0 || hint_skips_directory(str_of(event->name)) ||
        !(event->mask & (IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM)))
        return false;
    text_putf(&below, dir[0] != '\0' ? "%s/%s" : "%s%s", dir, event->name);
    text_putf(&whole, "%s/%s", watched->root, below.at);
    if (event->mask & (IN_DELETE | IN_MOVED_FROM)) {
        is_one = watched_knows(watched, below.at);
    } else if (lstat(whole.at, &stat_of) == 0 && S_ISLNK(stat_of.st_mode)) {
        is_one = stat(whole.at, &stat_of) == 0 && S_ISDIR(stat_of.st_mode);
        if (!is_one && watched_wants(watched, dir, event->name))
            watched_lose_linked_file(watched);
    }
    text_free(&below);
    text_free(&whole);
    return is_one;
}

static unsigned depth_of(const char *path)
{
    unsigned depth = path[0] != '\0';

    for (; *path != '\0'; path++)
        depth += *path == '/';
    return depth;
}

static void take_event(struct watch *watch, const struct inotify_event *event, struct burst *burst)
{
    struct watched *watched = &watch->watched;

    if (event->mask & IN_Q_OVERFLOW) {
        gather(burst, "");
        burst->rearm = true;
        return;
    }
    const char *dir = watched_path(watched, event->wd);

    if (dir == NULL)
        return;
    if (event->mask & IN_IGNORED) {
        burst->rearm |= dir[0] == '\0'; /* the root is gone */
        watched_forget(watched, event->wd);
        return;
    }
    bool is_link = is_linked_directory(watched, dir, event);
    if (!is_link && !matters(watch, dir, event))
        return;
    gather(burst, dir);
    burst->rearm |= is_link;
    /* Paths are others, or rights: then what lies below may be looked at now. */
    if ((event->mask & IN_ISDIR) && (event->mask & (IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB)))
        burst->rearm = true;
    if ((event->mask & IN_ISDIR) && (event->mask & IN_CREATE)) {
        struct text below = {0};

        text_putf(&below, dir[0] != '\0' ? "%s/%s" : "%s%s", dir, event->name);
        watched_add(watched, below.at, depth_of(below.at));
        text_free(&below);
    }
    if (watched->lost != NULL)
        watch->reason = watched->lost;
}

static void read_events(struct watch *watch, struct burst *burst)
{
    _Alignas(struct inotify_event) char buffer[16384];
    ssize_t count;

    while ((count = read(watch->watched.inotify_fd, buffer, sizeof buffer)) > 0) {
        for (char *at = buffer; at < buffer + count;) {
            const struct inotify_event *event = (const struct inotify_event *)(const void *)at;

            take_event(watch, event, burst);
            at += sizeof *event + event->len;
        }
    }
    if (count == 0 || errno == EAGAIN || errno == EINTR)
        return;
    /* What happened is not known, and the next read may fail as well. */
    disarm(watch);
    watch->reason = "changes that inotify has cannot be read";
    gather(burst, "");
}

enum woken { WOKEN_TIME, WOKEN_EVENTS, WOKEN_CALL };

static enum woken wait_once(struct watch *watch, int64_t timeout_ms)
{
    struct pollfd fds[2] = {
        {.fd = watch->wake_fd, .events = POLLIN},
        {.fd = watch->watched.inotify_fd, .events = POLLIN}, /* -1 is skipped by poll */
    };
    int timeout = timeout_ms > INT_MAX ? INT_MAX : (int)timeout_ms;
    uint64_t calls;

    if (poll(fds, COUNT(fds), timeout) <= 0)
        return WOKEN_TIME;
    if (fds[0].revents == 0)
        return WOKEN_EVENTS;
    ssize_t count = read(watch->wake_fd, &calls, sizeof calls);

    (void)count; /* called it is, read or not */
    return WOKEN_CALL;
}

/* A burst ends with a pause; an endless one is told all the same. */
static bool gather_burst(struct watch *watch, struct burst *burst)
{
    int64_t quiet_ms = watch->options.quiet_ms,
            end = clock_monotonic_ms() + quiet_ms * BURST_PAUSES;

    read_events(watch, burst);
    while (burst->any && clock_monotonic_ms() < end && wait_once(watch, quiet_ms) == WOKEN_EVENTS)
        read_events(watch, burst);
    if (burst->rearm)
        arm(watch);
    return burst->any;
}

static int64_t poll_due_ms(const struct watch *watch)
{
    int64_t due = watch->polled_ns / 1000000 + watch->options.poll_ms - clock_monotonic_ms();

    return due > 0 ? due : 0;
}

/* The poll's turn; also the moment to try watching again. */
static enum watch_news tell_poll(struct watch *watch, struct text *ret_dir)
{
    watch->polled_ns = clock_monotonic_ns();
    ret_dir->count = 0;
    if (watch->watched.inotify_fd < 0 && !watch->options.poll_only)
        arm(watch);
    return WATCH_POLL;
}

enum watch_news watch_wait(struct watch *watch, int timeout_ms, struct text *ret_dir)
{
    int64_t end = timeout_ms < 0 ? INT64_MAX : clock_monotonic_ms() + timeout_ms;

    for (;;) {
        int64_t left = end == INT64_MAX ? INT_MAX : end - clock_monotonic_ms();
        bool polls = watch->reason != NULL;
        int64_t due = polls ? poll_due_ms(watch) : INT_MAX;
        struct burst burst = {.dir = ret_dir};

        if (left < 0)
            left = 0;
        switch (wait_once(watch, due < left ? due : left)) {
        case WOKEN_CALL:
            return WATCH_NOTHING;
        case WOKEN_EVENTS:
            if (gather_burst(watch, &burst))
                return WATCH_CHANGED;
            break;
        case WOKEN_TIME:
            if (polls && poll_due_ms(watch) == 0)
                return tell_poll(watch, ret_dir);
            if (clock_monotonic_ms() >= end)
                return WATCH_NOTHING;
            break;
        }
    }
}

void watch_wake(struct watch *watch)
{
    uint64_t one = 1;
    ssize_t written = write(watch->wake_fd, &one, sizeof one);

    (void)written; /* a full counter wakes as well */
}

const char *watch_poll_reason(const struct watch *watch)
{
    return watch->reason;
}

enum status watch_open(const char *root, const struct watch_options *options, struct watch **ret,
                       struct error *err)
{
    int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    *ret = NULL;
    if (wake_fd < 0)
        return fail(err, ERR_IO, "cannot watch %s: %s", root, strerror(errno));
    struct watch *watch = memory_resize(NULL, 1, sizeof *watch);
    size_t size = strlen(root) + 1;

    *watch = (struct watch){.options = *options, .wake_fd = wake_fd};
    watch->root = memory_resize(NULL, size, 1);
    memcpy(watch->root, root, size);
    if (watch->options.poll_ms == 0)
        watch->options.poll_ms = POLL_MS;
    if (watch->options.quiet_ms == 0)
        watch->options.quiet_ms = QUIET_MS;
    watch->watched = (struct watched){
        .inotify_fd = -1,
        .root = watch->root,
        .follow_symlinks = options->follow_symlinks,
        .count_max = options->watches_max > 0 ? options->watches_max : WATCHES_MAX,
        .depth_max = DEPTH_MAX,
    };
    watch->polled_ns = clock_monotonic_ns();
    arm(watch);
    *ret = watch;
    return OK;
}

void watch_close(struct watch *watch)
{
    if (watch == NULL)
        return;
    disarm(watch);
    file_close(watch->wake_fd);
    free(watch->root);
    free(watch);
}
