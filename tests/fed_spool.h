/* A spool made in memory, decoded: what a test hands to CHECK_PICTURE and its like. */
#ifndef JVIEWD_TESTS_FED_SPOOL_H
#define JVIEWD_TESTS_FED_SPOOL_H

#include "decode/decode.h"

/* `data` is the spool's bytes as a struct text; what the reader refuses leaves nothing. */
static inline void spool_feed(struct sink *sink, void *data)
{
    const struct text *file = data;
    struct bytes bytes = {.at = (const uint8_t *)file->at, .count = file->count};
    struct arena *arena = arena_create();
    struct error err = {0};
    struct input input;

    if (input_open(STR("1-2.jvs"), bytes, NULL, arena, &input, &err) == OK) {
        (void)decode_record.decode(&input, sink, &err);
        input_close(&input);
    }
    arena_destroy(arena);
}

#endif
