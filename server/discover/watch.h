/* SPDX-License-Identifier: Apache-2.0 */
/* "Something below DIR changed."
 *
 * Where the kernel tells (inotify), directories are watched, at most `watches_max` of them, and
 * bursts are gathered until they pause. Where it does not (network and user-space file systems, no
 * watches left, files behind links, a root that is not there yet), time is the news: every
 * `poll_ms` the whole root may have changed. Either way the answer to news is a scan; a watch knows
 * nothing of runs.
 *
 * One thread waits; any thread, or a signal handler, may wake it.
 */
#ifndef JVIEWD_DISCOVER_WATCH_H
#define JVIEWD_DISCOVER_WATCH_H

#include "base/bytes.h"
#include "base/error.h"

struct watch_options { /* 0: the default */
    bool follow_symlinks;
    bool poll_only;
    unsigned watches_max; /* 8,192: a tenth of what systems of 2023 allow a user */
    unsigned poll_ms;     /* 5,000 */
    unsigned quiet_ms;    /* 200: a burst ends when it pauses that long, or after ten such */
};

struct watch;
MUST_CHECK enum status watch_open(const char *root, const struct watch_options *options,
                                  struct watch **ret, struct error *err);
void watch_close(struct watch *watch); /* takes NULL */

enum watch_news {
    WATCH_NOTHING, /* the time is over, or somebody woke us */
    WATCH_CHANGED, /* something in or below `ret_dir`, a path below the root ("" the root) */
    WATCH_POLL,    /* nobody knows: look */
};

/* Waits for news; timeout_ms < 0 waits without end. `ret_dir` is replaced. */
enum watch_news watch_wait(struct watch *watch, int timeout_ms, struct text *ret_dir);
void watch_wake(struct watch *watch);

/* Why the watch polls, for the log and /readyz; NULL while the kernel tells everything. */
const char *watch_poll_reason(const struct watch *watch);

#endif
