/* SPDX-License-Identifier: Apache-2.0 */
/* Spools become XPlane files, which XProf reads too, by the jviewd beside us.
 *
 *   host.jvs  ->  jviewd extract host.jvs --format xplane  ->  host.xplane.pb, and host.jvs goes
 *
 * A spool that cannot be written so stays as it is, and opens in jviewd as it is.
 */
#ifndef JVIEWD_LAUNCH_FINALIZE_H
#define JVIEWD_LAUNCH_FINALIZE_H

#include <stdint.h>

#include "base/error.h"

/* With the modules of its dump in it (dump_mark.h), without a mark of the one where --hlo-dump puts
 * it. In at most so long; what is not whole by then goes, and the spool stays. */
MUST_CHECK enum status finalize_spool(const char *spool, int64_t most_ms, struct error *err);
/* All spools of a session's directory whose processes have ended, in at most so long together,
 * which it takes from *most_ms. Each that stays is told on stderr, with the reason; how many do. */
uint32_t finalize_session(const char *profile, int64_t *most_ms);
/* Of every session below OUT/plugins/profile. */
uint32_t finalize_sessions(const char *out, int64_t most_ms);

#endif
