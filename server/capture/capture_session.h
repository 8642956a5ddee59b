/* SPDX-License-Identifier: Apache-2.0 */
/* The one recording that a server has under way, or had last, for many who ask at once. */
#ifndef JVIEWD_CAPTURE_CAPTURE_SESSION_H
#define JVIEWD_CAPTURE_CAPTURE_SESSION_H

#include "capture/capture.h"

struct capture_report { /* of an arena */
    bool any;           /* something was recorded since the start */
    bool is_done;
    int64_t duration_ms;
    double seconds; /* since it was asked for; of what is done until it was seen so */
    struct str directory;
    struct capture_view *targets;
    uint32_t target_count;
};

struct capture_session;

/* Into this directory, and from there where the delivery says; the rule's texts must outlive the
 * session. */
struct capture_session *capture_session_open(const char *profile_dir, struct capture_rule rule,
                                             struct capture_delivery delivery);
/* Whom it may record. */
const struct capture_rule *capture_session_rule(const struct capture_session *session);
/* ERR_CONFLICT: one is under way. */
MUST_CHECK enum status capture_session_start(struct capture_session *session,
                                             struct capture_wish *wish, struct error *err);
void capture_session_look(struct capture_session *session, struct arena *arena,
                          struct capture_report *ret);
void capture_session_cancel(struct capture_session *session);
/* Cancels, and waits for what is under way. */
void capture_session_close(struct capture_session *session);

#endif
