/* SPDX-License-Identifier: Apache-2.0 */
/* One HTTP request, through libcurl. Connections are kept for the next request. Nothing is tried
 * again here and no redirect is followed: what comes back is what the host said. */
#ifndef JVIEWD_REMOTE_WIRE_PARTS_H
#define JVIEWD_REMOTE_WIRE_PARTS_H

#include "base/bytes.h"
#include "base/error.h"

enum { WIRE_BODY_MAX = 32 << 20, WIRE_HEADERS_MAX = 64 << 10, WIRE_ASK_HEADERS_MAX = 24 };

struct wire;
MUST_CHECK enum status wire_open(struct wire **ret, struct error *err);
void wire_close(struct wire *wire);
void wire_cancel(struct wire *wire);
bool wire_is_cancelled(const struct wire *wire);
uint64_t wire_requests(const struct wire *wire);
/* The file of certificates to trust instead of the system's; NULL or "" the system's. */
void wire_trust(struct wire *wire, const char *ca_file);

struct wire_said;
struct wire_ask {
    const char *method; /* "GET" */
    struct str url;
    struct str headers[WIRE_ASK_HEADERS_MAX]; /* "Name: value" */
    uint32_t header_count;
    struct bytes body;
    /* Takes the body of a 200 or 206 instead of the answer; false ends the transfer. */
    bool (*take)(void *data, const struct wire_said *said, struct bytes part);
    void *data;
    bool is_near;         /* the metadata of this machine: no proxy, and at once or not at all */
    bool refuses_private; /* a public host sent us here: no address of a private network will do */
    bool refuses_local;   /* some host sent us here: no link-local address will do */
    bool is_last;         /* goes although the wire is cancelled, for a few seconds: it tidies up */
};

struct wire_said {
    long status;
    struct text headers; /* a line each, as sent */
    struct text body;
    bool was_cut;      /* the transfer broke: another try may do */
    bool is_absent;    /* no such host, or nobody listens there */
    bool was_repeated; /* another request of the same broke before this one */
    bool is_private;   /* it was an address of a private network that answered */
};

void wire_header(struct wire_ask *ask, struct str header);
/* OK: there is an answer, of whatever status. Else ERR_IO or ERR_CANCELLED; `said` is to be freed
 * either way. */
MUST_CHECK enum status wire_exchange(struct wire *wire, const struct wire_ask *ask,
                                     struct wire_said *ret, struct error *err);
/* The value of a header of the answer; "" none. */
struct str wire_said_header(const struct wire_said *said, const char *name);
void wire_said_free(struct wire_said *said);

#endif
