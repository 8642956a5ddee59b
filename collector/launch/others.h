/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles that somebody else wrote below -o while we recorded: mostly the JAX profiler, in the
 * same program. Of two in one process only one gets CUDA activity. */
#ifndef JVIEWD_LAUNCH_OTHERS_H
#define JVIEWD_LAUNCH_OTHERS_H

#include "launch/child/session.h"

/* Each on stderr; those of other jview-collects are none. */
void others_tell(const struct launched *session);

#endif
