/* SPDX-License-Identifier: Apache-2.0 */
/* What is said at the end: what was recorded, what was lost and why, what took longest, how to look
 * at it; and where nothing was recorded, what that may be due to. */
#ifndef JVIEWD_LAUNCH_REPORT_H
#define JVIEWD_LAUNCH_REPORT_H

#include "launch/child/session.h"
#include "launch/options/options.h"

void report_print(const struct options *options, const struct launched *session,
                  const struct session_result *result);

#endif
