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

/* From JVIEW_SESSION, else JVIEW_OUT (then <out>/.jview-spool/<process> is made when it is needed).
 * False where neither is set: the library sleeps. */
bool session_open(struct session *session);
/* Makes the directory of one that was not launched. */
bool session_make(const struct session *session);

static inline bool session_gate(const struct session *session)
{
    return atomic_load_explicit(&session->control->gate, memory_order_relaxed) != 0;
}

#endif
