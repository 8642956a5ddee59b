/* SPDX-License-Identifier: Apache-2.0 */
/* A session: the directory of its spools while the program runs, and where they go at the end.
 *
 *   OUT/.jview-spool/2026_11_21_22_04_05/   control, 466-3444070.jvs, ...
 *   OUT/plugins/profile/2026_11_21_22_04_05/   host.jvs, or host_p466.jvs of several; one such
 *                                              directory for each capture
 */
#ifndef JVIEWD_LAUNCH_SESSION_H
#define JVIEWD_LAUNCH_SESSION_H

#include <stdint.h>

#include "base/error.h"
#include "collector/control.h"

struct launched {
    char out[4096], directory[4096]; /* absolute */
    char name[32];
    struct control *control;
    int control_fd; /* locked while the launcher lives */
};

MUST_CHECK enum status session_begin(const char *out, const struct control_asked *asked,
                                     bool is_open, struct launched *ret, struct error *err);

struct session_result {
    uint32_t spools; /* processes that recorded something */
    uint32_t busy;   /* of them those that still do: their spools stay */
    uint64_t records, activity, lost, bytes;
    char complaint[COMPLAINT_MAX]; /* what could not be recorded, "" nothing */
    char **profiles;               /* where they lie now: several of several captures */
    uint32_t profile_count;
};
/* Moves the spools of processes that have ended; those of others stay, and are told. */
MUST_CHECK enum status session_end(struct launched *session, struct session_result *ret,
                                   struct error *err);

#endif
