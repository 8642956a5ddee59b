/* SPDX-License-Identifier: Apache-2.0 */
/* One whole JSON value, or not: a machine with a stack of brackets. */
#include "export/text_out.h"

enum { DEPTH_MAX = 512 };

struct reader {
    const char *at, *end;
};

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static char next(struct reader *reader)
{
    while (reader->at < reader->end && memchr(" \t\r\n", *reader->at, 4) != NULL)
        reader->at++;
    return reader->at < reader->end ? *reader->at : 0;
}

static bool read_word(struct reader *reader, struct str word)
{
    struct str rest = {reader->at, (size_t)(reader->end - reader->at)};

    if (!str_starts(rest, word))
        return false;
    reader->at += word.count;
    return true;
}

static bool read_digits(struct reader *reader)
{
    const char *start = reader->at;

    while (reader->at < reader->end && is_digit(*reader->at))
        reader->at++;
    return reader->at > start;
}

static bool read_number(struct reader *reader)
{
    read_word(reader, STR("-"));
    bool zero = reader->at < reader->end && *reader->at == '0';
    const char *start = reader->at;

    if (!read_digits(reader) || (zero && reader->at > start + 1))
        return false;
    if (read_word(reader, STR(".")) && !read_digits(reader))
        return false;
    if (read_word(reader, STR("e")) || read_word(reader, STR("E"))) {
        if (!read_word(reader, STR("+")))
            read_word(reader, STR("-"));
        return read_digits(reader);
    }
    return true;
}

static bool read_escape(struct reader *reader)
{
    if (reader->at == reader->end)
        return false;
    if (*reader->at != 'u')
        return memchr("\"\\/bfnrt", *reader->at++, 8) != NULL;
    for (unsigned i = 0; i < 5; i++, reader->at++) {
        if (reader->at == reader->end)
            return false;
        char byte = (char)(*reader->at | 0x20);

        if (i > 0 && !is_digit(*reader->at) && !(byte >= 'a' && byte <= 'f'))
            return false;
    }
    return true;
}

/* Bytes above 127 are no business of brackets; they must be UTF-8 all the same. */
static bool read_string(struct reader *reader)
{
    for (reader->at++; reader->at < reader->end;) {
        char byte = *reader->at++;

        if (byte == '"')
            return true;
        if ((unsigned char)byte < 0x20 || (byte == '\\' && !read_escape(reader)))
            return false;
    }
    return false;
}

static bool read_scalar(struct reader *reader, char first)
{
    if (first == '"')
        return read_string(reader);
    if (first == 't')
        return read_word(reader, STR("true"));
    if (first == 'f')
        return read_word(reader, STR("false"));
    if (first == 'n')
        return read_word(reader, STR("null"));
    return read_number(reader);
}

static bool read_key(struct reader *reader)
{
    if (next(reader) != '"' || !read_string(reader) || next(reader) != ':')
        return false;
    reader->at++;
    return true;
}

/* Behind a value: commas and closing brackets, up to where the next value is due. */
static bool read_between(struct reader *reader, const char *brackets, unsigned *depth)
{
    while (*depth > 0) {
        char byte = next(reader), open = brackets[*depth - 1];

        reader->at += byte != 0;
        if (byte == ',')
            return open == '[' || read_key(reader);
        if (byte != (open == '[' ? ']' : '}'))
            return false;
        --*depth;
    }
    return true;
}

bool text_is_json(struct str text)
{
    struct reader reader = {.at = text.at, .end = text.at + text.count};
    char brackets[DEPTH_MAX];
    unsigned depth = 0;

    do {
        char first = next(&reader);

        if (first == '[' || first == '{') {
            if (depth == DEPTH_MAX)
                return false;
            brackets[depth++] = first;
            reader.at++;
            if (next(&reader) != (first == '[' ? ']' : '}')) {
                if (first == '{' && !read_key(&reader))
                    return false;
                continue;
            }
        } else if (!read_scalar(&reader, first)) {
            return false;
        }
        if (!read_between(&reader, brackets, &depth))
            return false;
        if (depth == 0)
            break;
    } while (true);
    return next(&reader) == 0 && reader.at == reader.end;
}
