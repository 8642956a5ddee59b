/* SPDX-License-Identifier: Apache-2.0 */
/* What stands before CivetWeb: one thread that accepts connections, reads requests until they are
 * whole, and only then takes a thread of CivetWeb for each.
 *
 *   waiting   idle, in its head or body, sending what is left   costs memory only; has a deadline
 *   queued    whole, no thread is free                          first come, first served
 *   busy      a thread answers; what it writes is passed on     a client that takes nothing is cut
 *
 *   client ==TCP== [ front: one epoll ] ==unix== CivetWeb: gate, auth, routes, on threads
 *
 * A thread is never the price of a slow sender. Uploads alone are passed on as they come: the
 * handler bounds how many there are and how slow they may be. Where too many wait, the one that
 * has waited longest goes: of the same peer where that has too many, else of all. Every request
 * carries a ticket as its first header, by which the thread says how it ended.
 */
#ifndef JVIEWD_SERVE_HTTP_FRONT_H
#define JVIEWD_SERVE_HTTP_FRONT_H

#include "serve/http/doorway.h"
#include "serve/server.h"

#define FRONT_TICKET "X-Jviewd-Ticket"

enum { FRONT_THREADS = 256 }; /* tickets are below this number */

struct front;
/* Listens already; nothing is accepted before front_run. `base_path` is borrowed. */
struct front *front_create(int listener, const struct doorway *doorway, struct server *server,
                           struct str base_path);
MUST_CHECK enum status front_run(struct front *front, struct error *err);
/* Accepts no more, passes on what is under way for a moment, and ends. */
void front_stop(struct front *front);
void front_destroy(struct front *front); /* once no thread answers any more; takes NULL */

/* From the thread that answers: */
bool front_client_gone(struct front *front, unsigned ticket);
/* Before anything is written: the answer to a wrong token waits, longer each time. */
void front_wrong_token(struct front *front, unsigned ticket);
/* After everything was: may the connection take another request? */
void front_answered(struct front *front, unsigned ticket, bool keep);

#endif
