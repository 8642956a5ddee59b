/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for files that were written just now.
 *
 *   written ──two seconds without a change──> read ──> a run, or part of one
 *
 * A capture that ended a moment ago is not read yet, and one whose name does not say profile (a
 * .zip) is no run before it was. Commands wait for both: as long as something is being read; for a
 * file that does not come to rest, half a minute. What is waited for is said on stderr after a
 * second.
 */
#ifndef JVIEWD_CLI_WAIT_H
#define JVIEWD_CLI_WAIT_H

#include "serve/serve.h"

struct waiting {
    int64_t started_ns;
    bool told;
};
struct waiting wait_begin(void);
/* A moment; false: long enough for what is still being written. */
bool wait_on(struct waiting *waiting, const struct services *services);

/* May a file that is not read yet turn out to be a run that is not listed? */
bool wait_may_bring(const struct services *services);
/* ... and a newer one than all that are listed? */
bool wait_may_bring_newer(const struct services *services);

#endif
