/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces control characters of texts from profiles by blanks before a terminal sees them. */
#include "cli/plain.h"

#include <jansson.h>
#include <stdlib.h>

/* C0, DEL, and C1, which UTF-8 writes as c2 80 ... c2 9f. */
static bool make_plain(char *text, size_t count)
{
    bool changed = false;

    for (size_t i = 0; i < count; i++) {
        unsigned char c = (unsigned char)text[i];
        unsigned char next = i + 1 < count ? (unsigned char)text[i + 1] : 0;

        if (c >= ' ' && c != 127 && !(c == 0xc2 && next >= 0x80 && next < 0xa0))
            continue;
        text[i] = ' ';
        if (c == 0xc2)
            text[i + 1] = ' ';
        changed = true;
    }
    return changed;
}

static void plain_text(json_t *value)
{
    size_t count = json_string_length(value);
    char *text = memory_resize(NULL, count + 1, 1);

    memcpy(text, json_string_value(value), count);
    if (make_plain(text, count))
        json_string_setn(value, text, count);
    free(text);
}

/* As deep as jansson reads, which has a bound. */
static void plain_value(json_t *value)
{
    const char *key;
    json_t *part;
    size_t index;

    if (json_is_string(value))
        plain_text(value);
    json_array_foreach(value, index, part)
    {
        plain_value(part);
    }
    json_object_foreach(value, key, part)
    {
        plain_value(part);
    }
}

json_t *json_plain(struct bytes body)
{
    json_t *value = json_loadb((const char *)body.at, body.count, JSON_ALLOW_NUL, NULL);

    plain_value(value);
    return value;
}

struct str str_plain(struct arena *arena, struct str text)
{
    char *copy = arena_alloc(arena, text.count + 1, 1);

    memcpy(copy, text.at, text.count);
    copy[text.count] = '\0';
    make_plain(copy, text.count);
    return (struct str){copy, text.count};
}
