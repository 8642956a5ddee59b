/* SPDX-License-Identifier: Apache-2.0 */
/* A spool made in memory, decoded: what a test hands to CHECK_PICTURE and its like. */
#ifndef JVIEWD_TESTS_FED_SPOOL_H
#define JVIEWD_TESTS_FED_SPOOL_H

#include "decode/decode.h"
#include "made_spool.h"
#include "picture.h"

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

/* Every third prefix of what `put_all` makes, and each bit of its frames turned, where checksums do
 * not tell: nothing but a trace or none. */
static inline void spool_feed_damaged(void (*put_all)(struct made_spool *made))
{
    struct made_spool whole = {0};

    put_all(&whole);
    for (size_t count = 0; count < whole.file.count; count += 3) {
        struct arena *arena = arena_create();
        struct text prefix = {.at = whole.file.at, .count = count};
        picture_fed(spool_feed, &prefix, arena);
        arena_destroy(arena);
    }
    for (size_t bit = 1; bit <= whole.raw_bits; bit++) {
        struct arena *arena = arena_create();
        struct made_spool bent = {.turned_bit = bit};
        put_all(&bent);
        picture_fed(spool_feed, &bent.file, arena);
        text_free(&bent.file);
        arena_destroy(arena);
    }
    text_free(&whole.file);
}

#endif
