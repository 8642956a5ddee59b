/* SPDX-License-Identifier: Apache-2.0 */
/* Writes protobuf messages for tests: fields are put into a text, messages into one another. */
#ifndef JVIEWD_TESTS_PROTO_H
#define JVIEWD_TESTS_PROTO_H

#include "base/bytes.h"

static inline void put_varint(struct text *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        text_put(to, &(char){(char)(value | 0x80)}, 1);
    text_put(to, &(char){(char)value}, 1);
}

static inline void put_number(struct text *to, uint32_t number, int64_t value)
{
    put_varint(to, (uint64_t)number << 3);
    put_varint(to, (uint64_t)value);
}

static inline void put_double(struct text *to, uint32_t number, double value)
{
    put_varint(to, (uint64_t)number << 3 | 1);
    text_put(to, (const char *)&value, sizeof value);
}

static inline void put_bytes(struct text *to, uint32_t number, struct str bytes)
{
    put_varint(to, (uint64_t)number << 3 | 2);
    put_varint(to, bytes.count);
    text_put(to, bytes.at, bytes.count);
}

static inline void put_text(struct text *to, uint32_t number, const char *text)
{
    put_bytes(to, number, str_of(text));
}

/* Puts a message, and empties it for the next. */
static inline void put_message(struct text *to, uint32_t number, struct text *message)
{
    put_bytes(to, number, text_str(message));
    message->count = 0;
}

/* An entry of a map: id -> { 1 id  2 name  rest }. */
static inline void put_named(struct text *to, uint32_t number, int64_t id, const char *name,
                             struct text *rest)
{
    struct text value = {0}, entry = {0};

    put_number(&value, 1, id);
    put_text(&value, 2, name);
    if (rest != NULL) {
        text_put(&value, rest->at, rest->count);
        rest->count = 0;
    }
    put_number(&entry, 1, id);
    put_message(&entry, 2, &value);
    put_message(to, number, &entry);
    text_free(&value);
    text_free(&entry);
}

static inline struct bytes proto_bytes(const struct text *text)
{
    return (struct bytes){.at = (const uint8_t *)text->at, .count = text->count};
}

#endif
