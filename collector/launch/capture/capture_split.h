/* SPDX-License-Identifier: Apache-2.0 */
/* A spool of several captures becomes a spool of each.
 *
 *   466-3444070.jvs            | texts names | 1 1 1 | 1 2 2 | 2 2 3 | names | 3 | END
 *   capture-1/466-3444070.jvs  | texts names | 1 1 1 | 1 |             names       | END
 *   capture-2/466-3444070.jvs  | texts names |         2 2 | 2 2 |     names       | END
 *
 * What happened is of the capture in which it began, work of a GPU of the one in which it was
 * launched. What things are called, which stacks and nodes there are, stands in each.
 */
#ifndef JVIEWD_LAUNCH_CAPTURE_SPLIT_H
#define JVIEWD_LAUNCH_CAPTURE_SPLIT_H

#include "base/error.h"
#include "launch/capture/capture_list.h"

enum { CAPTURES_SPLIT_MAX = 1000 };

/* "<directory>/<name>" into "<directory>/capture-N/<name>" of those captures in which something
 * happened, of at most CAPTURES_SPLIT_MAX; after a failure it is as it was. One that is damaged is
 * not split. */
MUST_CHECK enum status capture_split(const char *directory, const char *name,
                                     const struct capture_list *captures, struct error *err);
/* "<directory>/capture-N" */
void capture_directory(const char *directory, int64_t number, char ret[4400]);

#endif
