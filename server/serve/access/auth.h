/* SPDX-License-Identifier: Apache-2.0 */
/* Who is asking, where a token is needed.
 *
 *   token    256 bits, in a file that only this user reads: Authorization: Bearer
 *   launch   a code of 256 bits in a link: /launch/CODE, good once, within 10 minutes -> the cookie
 *   cookie   jviewd_PORT, HttpOnly, SameSite=Strict; a POST also shows X-Jviewd-CSRF,
 *            a header that no form and no other origin can send
 *
 * Every comparison of a secret takes the same time wherever the first difference is.
 */
#ifndef JVIEWD_SERVE_ACCESS_AUTH_H
#define JVIEWD_SERVE_ACCESS_AUTH_H

#include "serve/serve.h"

enum auth_mode { AUTH_NONE, AUTH_TOKEN };

enum credential {
    CREDENTIAL_NONE,
    CREDENTIAL_WRONG,
    CREDENTIAL_COOKIE,
    CREDENTIAL_COOKIE_CSRF,
    CREDENTIAL_BEARER,
};

enum { AUTH_SECRET_SIZE = 65 }; /* 64 hex digits and a NUL */
#define AUTH_LAUNCH_NS (INT64_C(600) * 1000000000)

struct auth;
/* Where the token file may lie. */
struct auth_place {
    const char *dir;   /* this alone; NULL or "": $XDG_RUNTIME_DIR/jviewd, else `<cache>/run`, else
                          /tmp/jviewd-<uid> */
    const char *cache; /* NULL or "": there is none */
};
/* With AUTH_TOKEN makes the token file `token-<port>`. */
MUST_CHECK enum status auth_create(enum auth_mode mode, const struct auth_place *place, int port,
                                   struct auth **ret, struct error *err);
void auth_destroy(struct auth *auth); /* removes the token file; takes NULL */
enum auth_mode auth_mode(const struct auth *auth);

/* A fresh one-time code. At most 16 are open at a time: then the oldest is forgotten. */
void auth_launch(struct auth *auth, char ret[AUTH_SECRET_SIZE]);
/* True once for each code, AUTH_LAUNCH_NS long; `now_ns` is of clock_monotonic_ns. */
bool auth_redeem(struct auth *auth, struct str code, int64_t now_ns);
/* The Set-Cookie value that a redeemed code earns. */
struct str auth_cookie(const struct auth *auth, struct arena *arena);

enum credential auth_credential(const struct auth *auth, const struct header *headers,
                                uint32_t count);
/* 0: may ask; else 401 or 403. The whole rule: mode x route x credential. */
int auth_decide(enum auth_mode mode, const struct route *route, enum credential credential);

#endif
