/* SPDX-License-Identifier: Apache-2.0 */
/* The spools of a session, from where they grow to where jviewd and TensorBoard look.
 *
 *   OUT/.jview-spool/SESSION/466-3444070.jvs  ->  OUT/plugins/profile/SESSION/host.jvs,
 *                                                 or host_p466.jvs of several
 *
 * Where a session has several captures, each becomes a session of its own, named by its beginning.
 * Spools of processes that still live stay.
 */
#ifndef JVIEWD_LAUNCH_SPOOLS_PLACE_H
#define JVIEWD_LAUNCH_SPOOLS_PLACE_H

#include "base/error.h"
#include "launch/spool/spools.h"

/* `ret` is to be freed in any case; `moved` counts processes, and each part that somebody left who
 * was killed before it was moved. */
MUST_CHECK enum status spools_place(const char *directory, const char *out, const char *session,
                                    struct spools *ret, struct error *err);
/* What else of a session stands there goes, where no spool does. */
void spools_leave(const char *directory);
/* All sessions below OUT/.jview-spool whose launcher is gone. */
MUST_CHECK enum status spools_finalize(const char *out, struct error *err);

#endif
