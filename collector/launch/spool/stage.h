/* SPDX-License-Identifier: Apache-2.0 */
/* A spool and what XLA compiled meanwhile, as one profile that jviewd reads together:
 *
 *   DIR/plugins/profile/recorded/host.jvs          the spool, by a second name
 *   DIR/modules/module_0003.jit_step....hlo.pb     copies of the dump's modules as they ran
 */
#ifndef JVIEWD_LAUNCH_STAGE_H
#define JVIEWD_LAUNCH_STAGE_H

#include <stdbool.h>

/* False where the dump has no module, or there is no room: the spool then stands for itself. */
bool stage_make(const char *directory, const char *spool, const char *dump);

#endif
