/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings of programs that run a profiler server, several at once, as one session.
 *
 *   DIR/plugins/profile/2026_11_22_09_30_00/trainer-0_9999.xplane.pb      a file a program
 *                                           trainer-1_9999.xplane.pb
 *
 * Each program is asked by a thread of its own, all at the same moment. A file appears by its name
 * when it is whole; of a transfer that broke off what came is kept, and the failure says so.
 */
#ifndef JVIEWD_CAPTURE_CAPTURE_H
#define JVIEWD_CAPTURE_CAPTURE_H

#include "base/bytes.h"
#include "base/error.h"

enum { CAPTURE_TARGETS_MAX = 256, CAPTURE_MS_MAX = 3600 * 1000 };

/* Whom others may have recorded: those, or, where there are none, whoever has a public address. */
struct capture_rule {
    const struct str *targets;
    uint32_t count;
};

/* Where each file goes when it has come, instead of staying in profile_dir. */
struct capture_delivery {
    const char *place; /* "s3://bucket/runs", for people */
    enum status (*take)(void *data, const char *session, const char *name, int fd, uint64_t bytes,
                        struct error *err); /* from any thread; NULL: files stay */
    void *data;
};

struct capture_wish {
    const char *profile_dir;
    const struct str *targets; /* "HOST:PORT", "[::1]:PORT" */
    uint32_t target_count;
    int64_t duration_ms;
    int host_level, device_level, python_level;
    const struct capture_rule *rule; /* NULL: whomever the wish names */
    struct capture_delivery delivery;
};

enum capture_state { CAPTURE_RECORDING, CAPTURE_RECEIVING, CAPTURE_DONE, CAPTURE_FAILED };

struct capture_view { /* of one program */
    const char *target;
    enum capture_state state;
    uint64_t bytes;
    char problem[512]; /* "" none */
};

struct capture;

/* "HOST:PORT" */
bool capture_is_target(struct str text);
/* ERR_INVALID: a target that is none, a duration out of bounds. ERR_UNSUPPORTED: one that the rule
 * does not name. ERR_IO, ERR_PERMISSION: the
 * directory cannot be written; then nothing was asked of anybody. */
MUST_CHECK enum status capture_start(const struct capture_wish *wish, struct capture **ret,
                                     struct error *err);
/* A session without files is removed once it is done. */
bool capture_is_done(struct capture *capture);
bool capture_is_kept(const struct capture *capture); /* of what is done: is there any file? */
void capture_look(struct capture *capture, uint32_t target, struct capture_view *ret);
uint32_t capture_target_count(const struct capture *capture);
const char *capture_directory(const struct capture *capture); /* of the session */
double capture_seconds(const struct capture *capture);        /* since it was asked for */
void capture_cancel(struct capture *capture);
/* A session that capture_directory told, with the files in it. */
void capture_remove(const char *profile_dir, const char *directory);
/* Waits for its threads. How many came whole. */
uint32_t capture_close(struct capture *capture);

#endif
