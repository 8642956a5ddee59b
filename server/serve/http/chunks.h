/* SPDX-License-Identifier: Apache-2.0 */
/* Where a chunked body ends. No extensions, no trailers: nothing here needs them, and readers
 * differ about both. */
#ifndef JVIEWD_SERVE_HTTP_CHUNKS_H
#define JVIEWD_SERVE_HTTP_CHUNKS_H

#include "base/bytes.h"

struct chunks { /* zero: at the beginning */
    enum {
        CHUNKS_SIZE,
        CHUNKS_SIZE_LF,
        CHUNKS_DATA,
        CHUNKS_DATA_CR,
        CHUNKS_DATA_LF,
        CHUNKS_LAST_CR,
        CHUNKS_LAST_LF,
        CHUNKS_ENDED,
        CHUNKS_REFUSED,
    } state;
    unsigned digits;
    uint64_t left;  /* of this chunk */
    uint64_t bytes; /* of the body, so far */
};

/* How many bytes of `got` belong to the body; all of them until it has ended or is refused. */
size_t chunks_take(struct chunks *chunks, struct bytes got);

#endif
