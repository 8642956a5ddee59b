/* SPDX-License-Identifier: Apache-2.0 */
/* JSON, token by token, over a window that slides through a file of any size.
 *
 *   file     ....................................................
 *   pieces   |---------|---------|---------|---  as input_next yields them
 *   window             [ rest | piece ] 0 0 0 ...
 *                      mark ^   ^ at
 *
 * The window holds one event whole: where a token runs out of it, the scanner says JSON_MORE, the
 * window is filled behind what stands from the mark on, and reading starts again at the mark. So
 * nothing is ever half read, and a string is a span that is valid until the next fill.
 *
 * Behind the window stand JSON_PADDING zeros. A zero is no byte of JSON, so it ends every loop,
 * and vectors may be read without asking for the end.
 */
#ifndef JVIEWD_DECODE_JSON_JSON_SCAN_H
#define JVIEWD_DECODE_JSON_JSON_SCAN_H

#include "decode/decode.h"

enum { JSON_PADDING = 64, JSON_DEPTH_MAX = 512, JSON_WINDOW_MAX = 64 << 20 };

enum json_state {
    JSON_OK,
    JSON_MORE, /* the window ends inside a token */
    JSON_BAD,  /* no JSON; `what` says what was expected */
};

struct json {
    const char *at, *end;
    enum json_state state; /* sticky: after a failure nothing is read */
    const char *what;
};

enum json_kind {
    JSON_NOTHING, /* see state */
    JSON_STRING,
    JSON_NUMBER,
    JSON_NAMED, /* true, false, null, NaN, Infinity: by its text */
    JSON_OBJECT,
    JSON_ARRAY,
};

struct json_value {
    enum json_kind kind;
    bool escaped;    /* a string with backslashes: json_unescape */
    struct str text; /* raw; a string without its quotes, an object or array with its brackets */
};

/* The next byte that is no blank, not taken; 0 at the end of the window (state JSON_MORE). */
char json_peek(struct json *json);
/* Takes `wanted`, or fails saying `what`. */
bool json_take(struct json *json, char wanted, const char *what);
/* A whole value, however deep; what is inside an object or array is told by brackets and strings
 * alone. */
struct json_value json_value(struct json *json);
/* The next key of an object and its colon; false at its end or after a failure. `*first` is true
 * before the first. A comma before the closing brace is taken. */
bool json_next_key(struct json *json, bool *first, struct str *ret);

/* The next item of an array, not taken; false at its end or after a failure. */
bool json_next_item(struct json *json, bool *first);
/* Behind the bracket that opens an object or array read before; an empty one for all else. */
struct json json_inside(struct json_value value, char bracket);
/* A member of an object read before; JSON_NOTHING where there is none. */
struct json_value json_member(struct json_value object, struct str key);

/* Writes what a raw string means: at most raw.count bytes. \u of surrogate pairs becomes one
 * character, of a lone one U+FFFD; an unknown escape stays as it is. */
size_t json_unescape(struct str raw, char *to);

/* A scanner over a text that stands alone, copied to where zeros may follow; free *ret_room. */
struct json json_over(struct str text, char **ret_room);

struct json_stream {
    struct json json;
    const char *mark; /* what stands from here on is kept by a fill */
    struct input *input;
    struct error input_err; /* why the pieces ended, if not by the end of the file */
    char *window;
    size_t capacity;
    uint64_t before; /* bytes of the content before the window */
    bool ended, too_long;
};

void json_stream_open(struct json_stream *stream, struct input *input);
void json_stream_close(struct json_stream *stream);
/* More content behind what stands from the mark on, and back to the mark; false at the end, and
 * when what stands there is longer than any event may be (too_long). */
bool json_stream_fill(struct json_stream *stream);
uint64_t json_stream_offset(const struct json_stream *stream);

#endif
