/* SPDX-License-Identifier: Apache-2.0 */
/* What was made takes its name, and keeps it when the machine loses power. */
#ifndef JVIEWD_LAUNCH_PUBLISH_H
#define JVIEWD_LAUNCH_PUBLISH_H

#include "base/error.h"

/* Moves `made` to `target`, of the same file system; `directory` is the target's. A file that is
 * there is somebody's and stays: ERR_CONFLICT, unless its bytes are those of `made`, as whoever was
 * ended half way left them. Where this fails otherwise nothing is there. */
MUST_CHECK enum status publish_file(const char *made, const char *target, const char *directory,
                                    struct error *err);

#endif
