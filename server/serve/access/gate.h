/* SPDX-License-Identifier: Apache-2.0 */
/* Who may ask, decided before anything is routed: pure, so that tests and the fuzzer own it.
 *
 *   GET /proxy/8080/api/top?run=latest HTTP/1.1      one request target, canonical, <= 8 KiB
 *   Host: localhost:9000                             exactly one, its *name* ours, any port
 *   Origin: http://localhost:9000                    if there, scheme + Host
 *   Sec-Fetch-Site: same-origin                      else only a navigation to a page
 *
 * A web page elsewhere can make a browser send requests to localhost, and DNS can make any name
 * mean 127.0.0.1: the name in Host and the Origin are what tells them apart. Everything that two
 * HTTP parsers could read in two ways is refused, and the connection closed.
 */
#ifndef JVIEWD_SERVE_ACCESS_GATE_H
#define JVIEWD_SERVE_ACCESS_GATE_H

#include "serve/answer/header.h"

enum {
    GATE_TARGET_BYTES_MAX = 8192,
    GATE_PARAMS_MAX = 64,
    GATE_HEADERS_MAX = 64, /* CivetWeb drops what comes after 64: so 64 is too many */
    GATE_BODY_BYTES_MAX = 1 << 20,
};

struct gate {
    struct str bind;           /* address that is listened on */
    const struct str *allowed; /* further names of ours: --allowed-host */
    uint32_t allowed_count;
    struct str public_url; /* "" or "https://profiles.example.org/jview" */
    struct str base_path;  /* "" or "/proxy/8080" */
    bool perfetto_cors;
    bool embeds; /* pages of other origins may frame the embedded view */
};

struct wire { /* a request as it came, nothing decoded */
    struct str method, target, version;
    const struct header *headers;
    uint32_t header_count;
};

struct verdict {
    int status;         /* 0: come in */
    const char *type;   /* problem type, a word */
    struct str detail;  /* what was wrong and what to do */
    struct str path;    /* decoded, below the base path, begins with "/" */
    struct str query;   /* raw, without "?" */
    int64_t body_bytes; /* as announced; -1: chunked */
    bool cors;          /* a fetch by ui.perfetto.dev: answer with its origin */
    bool preflight;     /* answered by http.c at once */
    bool to_directory;  /* the base path without its last slash: redirect to `path` */
};

/* The one place that takes more than a question: a profile file. */
#define GATE_METHODS "Methods are GET, HEAD, POST and DELETE."
#define GATE_UPLOAD_PATH "/api/upload"
#define GATE_PERFETTO_ORIGIN "https://ui.perfetto.dev"

void gate_check(const struct gate *gate, const struct wire *wire, struct arena *arena,
                struct verdict *ret);
/* Is it the page as others may frame it: "/" with embed=1? */
bool gate_is_embedded(struct str path, struct str query);
/* "127.0.0.1", "127.x.y.z", "localhost", "::1". */
bool address_is_loopback(struct str address);

#endif
