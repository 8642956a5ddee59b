/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions: the directories that jax.profiler makes, `<log directory>/plugins/profile/<session>/`,
 * and the times their names tell. */
#ifndef JVIEWD_DISCOVER_SESSION_H
#define JVIEWD_DISCOVER_SESSION_H

#include "base/bytes.h"

struct str path_dir(struct str path); /* "a/b" of "a/b/c"; "" without a slash */

/* Is `dir`, below `root`, a session by its place? The root itself may lie anywhere in there. */
bool session_is_named(struct str root, struct str dir);
/* The absolute log directory of a session found by its place. */
struct str session_log_directory(struct str root, struct str dir, struct arena *arena);
/* "2026_11_21_09_30_00" -> seconds since 1970 as if it were UTC; false for other names. */
bool session_time(struct str name, int64_t *ret);

#endif
