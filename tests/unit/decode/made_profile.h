/* SPDX-License-Identifier: Apache-2.0 */
/* Builds pprof profiles for tests, and decodes them in memory. */
#ifndef JVIEWD_TESTS_MADE_PROFILE_H
#define JVIEWD_TESTS_MADE_PROFILE_H

#include <stdarg.h>

#include "decode/decode.h"
#include "decoded.h"
#include "picture.h"
#include "proto.h"

struct made { /* fields of the file; strings stand behind all others, as writers put them */
    struct text file, strings, names; /* names: each with a NUL, to find its number */
    uint32_t string_count;
};

static inline void free_made(struct made *made)
{
    text_free(&made->file);
    text_free(&made->strings);
    text_free(&made->names);
}

/* The number of a text in the string table, where it is put if it is new. */
static inline int64_t string_of(struct made *made, const char *text)
{
    const char *at = made->names.at;
    int64_t number = 0;

    for (; number < made->string_count; number++, at += strlen(at) + 1)
        if (strcmp(at, text) == 0)
            return number;
    if (number == 0 && text[0] != '\0') {
        string_of(made, "");
        return string_of(made, text);
    }
    put_text(&made->strings, 6, text);
    text_put(&made->names, text, strlen(text) + 1);
    made->string_count++;
    return number;
}

static inline void put_type(struct made *made, uint32_t field, const char *type, const char *unit)
{
    struct text message = {0};

    put_number(&message, 1, string_of(made, type));
    put_number(&message, 2, string_of(made, unit));
    put_message(&made->file, field, &message);
    text_free(&message);
}

static inline void put_function(struct made *made, int64_t id, const char *name, const char *file)
{
    struct text message = {0};

    put_number(&message, 1, id);
    put_number(&message, 2, string_of(made, name));
    put_number(&message, 4, string_of(made, file));
    put_message(&made->file, 5, &message);
    text_free(&message);
}

struct made_line {
    int64_t function, line;
};

static inline void put_location(struct made *made, int64_t id, int64_t mapping, int64_t address,
                                const struct made_line *lines, size_t line_count)
{
    struct text message = {0}, line = {0};

    put_number(&message, 1, id);
    if (mapping != 0)
        put_number(&message, 2, mapping);
    if (address != 0)
        put_number(&message, 3, address);
    for (size_t i = 0; i < line_count; i++) {
        put_number(&line, 1, lines[i].function);
        put_number(&line, 2, lines[i].line);
        put_message(&message, 4, &line);
    }
    put_message(&made->file, 4, &message);
    text_free(&message);
    text_free(&line);
}

static inline void put_mapping(struct made *made, int64_t id, int64_t start, int64_t offset,
                               const char *file)
{
    struct text message = {0};

    put_number(&message, 1, id);
    put_number(&message, 2, start);
    put_number(&message, 3, start + 0x10000);
    put_number(&message, 4, offset);
    put_number(&message, 5, string_of(made, file));
    put_message(&made->file, 3, &message);
    text_free(&message);
}

/* A label into the sample's text that is being made. */
static inline void put_label(struct made *made, struct text *sample, const char *key,
                             const char *text, int64_t number, const char *unit)
{
    struct text message = {0};

    put_number(&message, 1, string_of(made, key));
    if (text != NULL)
        put_number(&message, 2, string_of(made, text));
    else
        put_number(&message, 3, number);
    if (unit != NULL)
        put_number(&message, 4, string_of(made, unit));
    put_message(sample, 3, &message);
    text_free(&message);
}

static inline void put_numbers(struct text *to, uint32_t field, bool packed, const int64_t *numbers,
                               size_t count)
{
    struct text list = {0};

    for (size_t i = 0; i < count; i++) {
        if (packed)
            put_varint(&list, (uint64_t)numbers[i]);
        else
            put_number(to, field, numbers[i]);
    }
    if (packed)
        put_message(to, field, &list);
    text_free(&list);
}

/* The whole file. */
static inline struct bytes made_bytes(struct made *made)
{
    text_put(&made->file, made->strings.at, made->strings.count);
    made->strings.count = 0;
    return proto_bytes(&made->file);
}

static inline const struct trace *trace_of(struct bytes bytes, struct arena *arena,
                                           struct error *err)
{
    return decoded(&decode_pprof, STR("memory.prof"), bytes, arena, err);
}

static inline const struct trace *made_trace(struct made *made, struct arena *arena)
{
    struct error err = {0};
    const struct trace *trace = trace_of(made_bytes(made), arena, &err);

    CHECK_OK("decode", err.code, &err);
    return trace;
}

#endif
