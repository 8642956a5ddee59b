/* SPDX-License-Identifier: Apache-2.0 */
/* Which dump of XLA's modules belongs to spools: its path, in a hidden file beside them.
 *
 *   OUT/.jview-spool/SESSION/.jview-dump      from the start
 *   OUT/plugins/profile/SESSION/.jview-dump   of each capture, until its spools are XPlane
 */
#ifndef JVIEWD_LAUNCH_DUMP_MARK_H
#define JVIEWD_LAUNCH_DUMP_MARK_H

#include <stdbool.h>

#include "base/error.h"

enum { DUMP_PATH_BYTES = 4096 };

/* One that is there stays. */
MUST_CHECK enum status dump_mark_put(const char *directory, const char *dump, struct error *err);
bool dump_mark_get(const char *directory, char ret[DUMP_PATH_BYTES]);
/* The same in another directory, where there is one. */
MUST_CHECK enum status dump_mark_copy(const char *from, const char *to, struct error *err);
void dump_mark_remove(const char *directory);

#endif
