/* SPDX-License-Identifier: Apache-2.0 */
/* The spools of one directory into a profile, each by its host; a name that is taken is not written
 * over.
 *
 *   466-3444070.jvs  ->  host.jvs, else host_p466.jvs, else host_p466-3444070.jvs
 */
#ifndef JVIEWD_LAUNCH_SPOOL_MOVE_H
#define JVIEWD_LAUNCH_SPOOL_MOVE_H

#include "launch/spool/spools.h"

/* Those that nobody writes any more. The profile is made, with the mark of the session's dump, and
 * told in sum->profiles, where there is such a one. */
MUST_CHECK enum status spools_move(const char *directory, const char *session, const char *profile,
                                   struct spools *sum, struct error *err);

#endif
