/* SPDX-License-Identifier: Apache-2.0 */
/* How a recording goes, for who sits before a terminal; nobody else is told.
 * A line when the recording begins or ends, and none between: the terminal is the program's, too,
 * and a line that is renewed would wipe what it says. */
#ifndef JVIEWD_LAUNCH_PROGRESS_H
#define JVIEWD_LAUNCH_PROGRESS_H

#include "launch/child/session.h"
#include "launch/options/options.h"

void progress_begin(const struct options *options, const struct launched *session);
/* Tells what is due; in how many milliseconds to call it again, INT64_MAX: never. */
int64_t progress_look(const struct control *control);
void progress_end(void);

/* "recording", "waiting" for its beginning, or "stopped". */
const char *progress_state(const struct control *control);

#endif
