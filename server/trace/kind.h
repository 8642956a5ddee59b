/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of work, and the one table that tells them.
 *
 * A kind is decided once, when a slice is decoded, from the facts a format offers; tiles, tables
 * and the command line only carry it. Raising KIND_RULES_VERSION makes every segment be rebuilt.
 */
#ifndef JVIEWD_TRACE_KIND_H
#define JVIEWD_TRACE_KIND_H

#include "base/bytes.h"

enum kind { /* in the order of bars and legends; fits four bits */
            KIND_COMPUTE,
            KIND_COMMUNICATION,
            KIND_COPY,
            KIND_HOST,
            KIND_INPUT,
            KIND_COMPILE,
            KIND_OTHER,
            KIND_COUNT,             /* of work */
            KIND_IDLE = KIND_COUNT, /* nothing ran: only in breakdowns */
};

enum { KIND_RULES_VERSION = 10 };

struct kind_facts {      /* "" where unknown */
    struct str plane;    /* "/device:GPU:0", "/host:CPU", a process name */
    struct str line;     /* "Stream #7(MemcpyH2D)", "python", a thread name */
    struct str name;     /* of the event */
    struct str opcode;   /* HLO: "dot", "all-reduce" */
    struct str category; /* hlo_category, or the "cat" of Chrome JSON */
    bool is_op;          /* an HLO op or kernel, whatever thread it ran on */
};

enum kind kind_of(const struct kind_facts *facts);
const char *kind_word(enum kind kind); /* "compute" ... "idle" */

#endif
