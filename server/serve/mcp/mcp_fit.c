/* SPDX-License-Identifier: Apache-2.0 */
/* An answer that fits: the longest list loses its second half, again and again.
 *
 *   {"rows": [50 of them]}   ->   {"rows": [12], "next": "n12", "truncated": [{"list": "rows",
 *                                  "shown": 12, "of": 50}], "rest": "how to ask for it"}
 */
#include "serve/mcp/mcp_parts.h"

enum { TEXT_BYTES = 200, LISTS_MAX = 64, ROUNDS_MAX = 400 };

static size_t size_of(const json_t *value)
{
    return json_dumpb(value, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY);
}

struct longest {
    json_t *list;
    const char *name;
    size_t size;
};

static void find_longest(json_t *value, const char *name, struct longest *ret)
{
    const char *key;
    json_t *part;
    size_t i;

    if (json_is_array(value) && json_array_size(value) > 1) {
        size_t size = size_of(value);

        if (size > ret->size)
            *ret = (struct longest){.list = value, .name = name, .size = size};
    }
    json_array_foreach(value, i, part)
    {
        find_longest(part, name, ret);
    }
    json_object_foreach(value, key, part)
    {
        find_longest(part, key, ret);
    }
}

/* Cuts at the begin of a character. */
static void shorten_texts(json_t *value)
{
    const char *key;
    json_t *part;
    size_t i;

    if (json_string_length(value) > TEXT_BYTES) {
        size_t end = TEXT_BYTES;
        const char *text = json_string_value(value);

        while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
            end--;
        json_t *cut = json_sprintf("%.*s…", (int)end, text);
        if (cut != NULL)
            json_string_set(value, json_string_value(cut));
        json_decref(cut);
    }
    json_array_foreach(value, i, part)
    {
        shorten_texts(part);
    }
    json_object_foreach(value, key, part)
    {
        shorten_texts(part);
    }
}

static void note_cut(json_t *truncated, const struct longest *cut, size_t before)
{
    json_t *note;
    size_t i;

    json_array_foreach(truncated, i, note)
    {
        if (strcmp(json_string_value(json_object_get(note, "list")), cut->name) == 0) {
            json_object_set_new(note, "shown",
                                json_integer((json_int_t)json_array_size(cut->list)));
            return;
        }
    }
    if (json_array_size(truncated) < LISTS_MAX)
        json_array_append_new(truncated, json_pack("{s:s, s:I, s:I}", "list", cut->name, "shown",
                                                   (json_int_t)json_array_size(cut->list), "of",
                                                   (json_int_t)before));
}

/* The cursor behind the rows that are left, so that nothing is skipped. */
static void mend_next(json_t *value, struct str cursor)
{
    const json_t *rows = json_object_get(value, "rows");
    uint64_t from = 0;

    if (rows == NULL)
        rows = json_object_get(value, "runs");
    if (!json_is_array(rows) || json_object_get(value, "next") == NULL)
        return;
    if (cursor.count > 1 && !str_to_u64(str_skip(cursor, 1), &from))
        return;
    json_object_set_new(value, "next",
                        json_sprintf("n%llu", (unsigned long long)(from + json_array_size(rows))));
}

void mcp_fit(json_t *value, size_t bytes_max, struct str cursor)
{
    json_t *truncated = json_array();
    const size_t told = 300; /* what "truncated" and "rest" take themselves */
    bool rows_cut = false;

    if (size_of(value) <= bytes_max) {
        json_decref(truncated);
        return;
    }
    shorten_texts(value);
    for (int round = 0; round < ROUNDS_MAX && size_of(value) + told > bytes_max; round++) {
        struct longest longest = {0};

        find_longest(value, "answer", &longest);
        if (longest.list == NULL)
            break;
        size_t before = json_array_size(longest.list);
        size_t left = before - (before + 3) / 4;
        while (json_array_size(longest.list) > (left > 0 ? left : 1))
            json_array_remove(longest.list, json_array_size(longest.list) - 1);
        rows_cut |= longest.list == json_object_get(value, "rows") ||
                    longest.list == json_object_get(value, "runs");
        note_cut(truncated, &longest, before);
    }
    if (rows_cut)
        mend_next(value, cursor);
    json_object_set_new(value, "truncated", truncated);
    json_object_set_new(
        value, "rest",
        json_string(rows_cut && json_is_string(json_object_get(value, "next"))
                        ? "call again with cursor = next, or with more max_tokens"
                        : "call again with more max_tokens, or ask for fewer rows"));
}
