/* SPDX-License-Identifier: Apache-2.0 */
/* Ends the sleep of CivetWeb's thread that accepts.
 *
 * It looks every 2 s whether it is to end, and mg_stop() waits for that look. A connection wakes
 * it:
 *
 *   mg_stop()   set stop ........ join
 *   accepts     poll, up to 2 s ..x  ends, closes its sockets
 *   wake           connect, close ^
 */
#ifndef JVIEWD_SERVE_HTTP_WAKE_H
#define JVIEWD_SERVE_HTTP_WAKE_H

#include "serve/http/doorway.h"

struct wake;
/* Connects to the doorway again and again, until it is refused or wake_end. NULL where no thread
 * can be had: then the end takes its 2 s. */
struct wake *wake_begin(const struct doorway *doorway);
void wake_end(struct wake *wake); /* takes NULL */

#endif
