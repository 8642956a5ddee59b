/* SPDX-License-Identifier: Apache-2.0 */
/* What a stream makes, ahead of a client that takes it slowly.
 *
 *   thread that makes ── put ──>  [ sent | waits .......... ]  ── send ──> the connection's own
 *                                 an unlinked file                         thread, at its speed
 *
 * A thread that computes is thereby free when it has computed, however slow the client is. It waits
 * only where OUTFLOW_AHEAD_BYTES_MAX wait already; where the room of all connections is taken, or
 * the disk takes nothing, pieces go from hand to hand. One thread puts, one sends.
 */
#ifndef JVIEWD_SERVE_HTTP_OUTFLOW_H
#define JVIEWD_SERVE_HTTP_OUTFLOW_H

#include <stdatomic.h>

#include "base/pack/pack.h"

#define OUTFLOW_AHEAD_BYTES_MAX (INT64_C(1) << 30)
#define OUTFLOW_ROOM_BYTES (INT64_C(4) << 30)

/* What may wait of all together, by at most a piece each more. */
struct outflow_room {
    int64_t bytes_max;
    atomic_int_fast64_t waiting;
};

struct outflow;
/* The file is made in `dir`, where something waits; NULL: from hand to hand. Both are borrowed. */
struct outflow *outflow_create(const char *dir, struct outflow_room *room);
void outflow_destroy(struct outflow *outflow); /* when both threads are done */

/* A pack_write. ERR_CANCELLED once the client has gone. */
MUST_CHECK enum status outflow_put(void *outflow, struct bytes piece, struct error *err);
/* Nothing more comes; unless OK, what waits is not worth sending. */
void outflow_end(struct outflow *outflow, enum status status);
/* Hands on until the end, and returns after it: OK when all was made and sent. */
MUST_CHECK enum status outflow_send(struct outflow *outflow, pack_write *write, void *to,
                                    struct error *err);

#endif
