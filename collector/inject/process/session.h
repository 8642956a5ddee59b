/* SPDX-License-Identifier: Apache-2.0 */
/* Where this process writes, and whether it is to record now. */
#ifndef JVIEWD_INJECT_SESSION_H
#define JVIEWD_INJECT_SESSION_H

#include <stdbool.h>

#include "collector/control.h"

struct session {
    char directory[4096];    /* of the spools */
    struct control *control; /* the launcher's page; our own where there is no launcher */
    bool is_launched;
};

/* From JVIEW_SESSION, else JVIEW_OUT (then <out>/plugins/profile/<time>, made when it is needed).
 * False where neither is set: the library sleeps. */
bool session_open(struct session *session);
/* Makes the directory of one that was not launched. */
bool session_make(const struct session *session);

/* How old a frame may become. */
static inline int64_t session_flush_ms(const struct session *session)
{
    uint32_t asked = session->control->asked.flush_ms;

    return asked != 0 ? asked : 250;
}

/* The spool has grown to what was asked for at most. */
static inline bool session_is_full(const struct session *session, uint64_t spool_bytes)
{
    uint64_t most = session->control->asked.spool_bytes_max;

    return most != 0 && spool_bytes >= most;
}

#endif
