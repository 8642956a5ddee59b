/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a session (capture_split.h), from its directory to where jviewd and TensorBoard
 * look; each capture becomes a session of its own.
 *
 *   DIR/capture-2/466-3444070.jvs  ->  OUT/plugins/profile/2026_11_22_09_41_07/host.jvs
 *   DIR/capture-2.session          ->  2026_11_22_09_41_07
 *
 * The latter, a link, stands once the capture has a name: parts of processes that end later, and
 * those left by somebody who was killed meanwhile, go to the same session.
 */
#ifndef JVIEWD_LAUNCH_CAPTURE_PLACE_H
#define JVIEWD_LAUNCH_CAPTURE_PLACE_H

#include "launch/capture/capture_list.h"
#include "launch/spool/spools.h"

/* Parts that somebody left who was killed. A spool that still stands whole is split anew, so what
 * there is of its parts goes. Returns how many stay. */
uint32_t captures_adopt(const char *directory);
/* False where all that is recorded, and was before, is one capture with the session's own name. */
bool captures_are_apart(const char *directory, const char *session,
                        const struct capture_list *captures);
/* The session of a capture, from here on. */
void captures_name(const char *directory, int64_t number, const char *session);
/* All parts that there are. */
MUST_CHECK enum status captures_move(const char *directory, const char *out,
                                     const struct capture_list *captures, struct spools *sum,
                                     struct error *err);
void captures_forget(const char *directory); /* the links */

#endif
