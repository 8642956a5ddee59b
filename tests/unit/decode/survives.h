/* SPDX-License-Identifier: Apache-2.0 */
/* What every decoder does with damaged files. */
#ifndef JVIEWD_TESTS_SURVIVES_H
#define JVIEWD_TESTS_SURVIVES_H

#include "check.h"
#include "decoded.h"

/* Bytes of which nobody knows what they yield: a trace, or an error with a sentence. */
static inline void survives(const struct trace *(*decode)(struct bytes, struct arena *,
                                                          struct error *),
                            const char *what, struct bytes bytes)
{
    struct arena *arena = arena_create();
    struct error err = {0};

    if (decode(bytes, arena, &err) == NULL)
        CHECK(what, err.code != OK && err.message[0] != '\0');
    arena_destroy(arena);
}

#endif
