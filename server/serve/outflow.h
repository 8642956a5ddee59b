/* What a stream makes, ahead of a client that takes it slowly.
 *
 *   thread that makes ── put ──>  [ sent | waits .......... ]  ── send ──> the connection's own
 *                                 an unlinked file                         thread, at its speed
 *
 * A thread that computes is thereby free when it has computed, however slow the client is. It waits
 * only where OUTFLOW_AHEAD_BYTES_MAX wait already, and where the disk takes nothing: then pieces go
 * from hand to hand. One thread puts, one sends.
 */
#ifndef JVIEWD_SERVE_OUTFLOW_H
#define JVIEWD_SERVE_OUTFLOW_H

#include "base/pack.h"

#define OUTFLOW_AHEAD_BYTES_MAX (INT64_C(1) << 30)

struct outflow;
/* The file is made in `dir`, which is borrowed, where something waits; NULL: from hand to hand. */
struct outflow *outflow_create(const char *dir);
void outflow_destroy(struct outflow *outflow); /* when both threads are done */

/* A pack_write. ERR_CANCELLED once the client has gone. */
MUST_CHECK enum status outflow_put(void *outflow, struct bytes piece, struct error *err);
/* Nothing more comes; unless OK, what waits is not worth sending. */
void outflow_end(struct outflow *outflow, enum status status);
/* Hands on until the end, and returns after it: OK when all was made and sent. */
MUST_CHECK enum status outflow_send(struct outflow *outflow, pack_write *write, void *to,
                                    struct error *err);

#endif
