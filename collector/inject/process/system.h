/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of the machine and of this process, as rows of SPOOL_COUNTER: those of the machine and
 * its GPUs come from the launcher's page, the process's own from /proc/self. For the writer. */
#ifndef JVIEWD_INJECT_SYSTEM_H
#define JVIEWD_INJECT_SYSTEM_H

#include "inject/process/session.h"
#include "inject/spool/batch.h"

typedef void system_put(struct batch *batch); /* takes the rows out */

/* Takes what was seen since the last look; what lies outside of a recording is passed over. */
void system_look(const struct session *session, bool is_kept);
/* Rows that wait, GPUs that nobody told yet, and why there are none. */
void system_close_frames(const struct session *session, system_put *put);

#endif
