/* SPDX-License-Identifier: Apache-2.0 */
/* Chrome JSON -> pictures, for the tests of its decoder: each file tests one side of it. */
#ifndef JVIEWD_TESTS_JSON_FEED_H
#define JVIEWD_TESTS_JSON_FEED_H

#include <stdlib.h>

#include "decode/decode.h"
#include "picture.h"

struct feed {
    struct str text;
    enum status status;
    struct error err;
};

struct json_row { /* times are microseconds in the text, picoseconds in the picture */
    const char *what, *text;
    unsigned with; /* enum picture_with */
    const char *want;
};

static void feed_json(struct sink *sink, void *data)
{
    struct feed *feed = data;
    struct arena *arena = arena_create();
    struct input input;
    struct bytes bytes = {(const uint8_t *)feed->text.at, feed->text.count};

    CHECK_OK("open", input_open(STR("x.json"), bytes, NULL, arena, &input, &feed->err), &feed->err);
    feed->status = decode_trace_json.decode(&input, sink, &feed->err);
    input_close(&input);
    arena_destroy(arena);
}

static const struct trace *decode(struct feed *feed, struct arena *arena)
{
    return picture_fed(feed_json, feed, arena);
}

static void check_rows(const struct json_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct arena *arena = arena_create();
        struct feed feed = {.text = str_of(rows[i].text)};
        const struct trace *trace = decode(&feed, arena);

        CHECK_OK(rows[i].what, feed.status, &feed.err);
        CHECK_PICTURE(rows[i].what, trace, rows[i].with, rows[i].want);
        arena_destroy(arena);
    }
}

/* A trace, or a sentence that says why not. */
static void check_bearable(const char *what, const char *text, size_t count)
{
    struct arena *arena = arena_create();
    struct feed feed = {.text = {text, count}};

    decode(&feed, arena);
    if (feed.status != OK)
        CHECK(what, feed.err.message[0] != '\0');
    arena_destroy(arena);
}

/* Every prefix, and every byte with a bit turned. */
static void check_damaged(const struct json_row *rows, size_t row_count)
{
    for (size_t i = 0; i < row_count; i++) {
        size_t count = strlen(rows[i].text);

        for (size_t at = 0; at < 2 * count; at++) {
            size_t kept = at < count ? at : count;
            char *copy = memory_resize(NULL, kept + 1, 1); /* exact: a read beyond is seen */

            memcpy(copy, rows[i].text, kept);
            if (at >= count)
                copy[at - count] ^= (char)(1 << (at % 7));
            check_bearable(rows[i].what, copy, kept);
            free(copy);
        }
    }
}

#endif
