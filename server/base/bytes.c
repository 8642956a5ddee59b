/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing, parsing and growing texts, and the repair of bytes that are no UTF-8. */
#include "base/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct str str_of(const char *text)
{
    return text == NULL ? STR("") : (struct str){.at = text, .count = strlen(text)};
}

static bool same_bytes(const char *a, const char *b, size_t count)
{
    return count == 0 || memcmp(a, b, count) == 0;
}

bool str_equal(struct str a, struct str b)
{
    return a.count == b.count && same_bytes(a.at, b.at, a.count);
}

bool str_equal_fold(struct str a, struct str b)
{
    if (a.count != b.count)
        return false;
    for (size_t i = 0; i < a.count; i++) {
        if (ascii_lower(a.at[i]) != ascii_lower(b.at[i]))
            return false;
    }
    return true;
}

struct str path_base(struct str path)
{
    const char *slash = path.count > 0 ? memrchr(path.at, '/', path.count) : NULL;

    return slash == NULL ? path : str_skip(path, (size_t)(slash + 1 - path.at));
}

int str_compare(struct str a, struct str b)
{
    size_t shorter = a.count < b.count ? a.count : b.count;
    int order = shorter == 0 ? 0 : memcmp(a.at, b.at, shorter);

    return order != 0 ? order : (a.count > b.count) - (a.count < b.count);
}

bool str_starts(struct str text, struct str prefix)
{
    return text.count >= prefix.count && same_bytes(text.at, prefix.at, prefix.count);
}

bool str_ends(struct str text, struct str suffix)
{
    return text.count >= suffix.count &&
           (suffix.count == 0 ||
            same_bytes(text.at + (text.count - suffix.count), suffix.at, suffix.count));
}

bool str_contains(struct str text, struct str part)
{
    return part.count == 0 ||
           (text.count >= part.count && memmem(text.at, text.count, part.at, part.count) != NULL);
}

bool str_contains_fold(struct str text, struct str part)
{
    char first = part.count > 0 ? ascii_lower(part.at[0]) : '\0';
    char capital = (char)(first >= 'a' && first <= 'z' ? first - 'a' + 'A' : first);

    for (size_t at = 0; at + part.count <= text.count; at++) {
        if (part.count > 0 && text.at[at] != first && text.at[at] != capital)
            continue;
        if (str_equal_fold((struct str){.at = text.at + at, .count = part.count}, part))
            return true;
    }
    return false;
}

struct str str_skip(struct str text, size_t count)
{
    if (count >= text.count)
        return STR("");
    return (struct str){.at = text.at + count, .count = text.count - count};
}

char *str_c(struct arena *arena, struct str text)
{
    char *copy = arena_alloc(arena, text.count + 1, 1);

    if (text.count > 0)
        memcpy(copy, text.at, text.count);
    return copy;
}

struct str str_copy(struct arena *arena, struct str text)
{
    return (struct str){.at = str_c(arena, text), .count = text.count};
}

struct str str_format(struct arena *arena, const char *format, ...)
{
    va_list args, again;

    va_start(args, format);
    va_copy(again, args);
    int count = vsnprintf(NULL, 0, format, args);
    va_end(args);

    struct str ret = STR("");

    if (count > 0) {
        char *at = arena_alloc(arena, (size_t)count + 1, 1);

        vsnprintf(at, (size_t)count + 1, format, again);
        ret = (struct str){.at = at, .count = (size_t)count};
    }
    va_end(again);
    return ret;
}

bool str_to_u64(struct str text, uint64_t *ret)
{
    uint64_t value = 0;

    if (text.count == 0)
        return false;
    for (size_t i = 0; i < text.count; i++) {
        unsigned digit = (unsigned)(unsigned char)text.at[i] - '0';

        if (digit > 9 || __builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit, &value))
            return false;
    }
    *ret = value;
    return true;
}

bool str_to_i64(struct str text, int64_t *ret)
{
    bool negative = str_starts(text, STR("-"));
    uint64_t value;

    if (!str_to_u64(negative ? str_skip(text, 1) : text, &value) ||
        value > (uint64_t)INT64_MAX + (negative ? 1 : 0))
        return false;
    *ret = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

/* How many bytes the UTF-8 character at `at` has; 0 when it is none (overlong, surrogate, cut). */
static size_t utf8_length(const unsigned char *at, size_t count)
{
    unsigned char lead = at[0];

    if (lead < 0x80)
        return 1;

    size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                    : lead >= 0xE0 && lead <= 0xEF ? 3
                    : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                   : 0;

    if (length == 0 || length > count)
        return 0;
    /* The second byte's range shuts out overlong forms, surrogates and what is beyond U+10FFFF. */
    unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;

    if (at[1] < low || at[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++) {
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    }
    return length;
}

/* The first byte that is no UTF-8, or the text's end. */
static size_t utf8_clean(struct str text, size_t from)
{
    while (from < text.count) {
        size_t length = utf8_length((const unsigned char *)text.at + from, text.count - from);

        if (length == 0)
            break;
        from += length;
    }
    return from;
}

struct str str_utf8(struct arena *arena, struct str text)
{
    size_t clean = utf8_clean(text, 0);

    if (clean == text.count)
        return text;

    char *to = arena_alloc(arena, text.count + 1, 3);
    size_t count = 0;

    for (size_t from = 0; from < text.count;) {
        memcpy(to + count, text.at + from, clean - from);
        count += clean - from;
        if (clean < text.count) {
            memcpy(to + count, "\xEF\xBF\xBD", 3);
            count += 3;
            clean++;
        }
        from = clean;
        clean = utf8_clean(text, from);
    }
    return (struct str){.at = to, .count = count};
}

struct str str_both_ends(struct arena *arena, struct str text, size_t bytes_max)
{
    text = str_utf8(arena, text);
    if (text.count <= bytes_max)
        return text;

    size_t head = bytes_max / 2, tail = text.count - bytes_max / 2;

    while (head > 0 && ((unsigned char)text.at[head] & 0xc0) == 0x80)
        head--;
    while (tail < text.count && ((unsigned char)text.at[tail] & 0xc0) == 0x80)
        tail++;
    return str_format(arena, "%.*s…%.*s", (int)head, text.at, (int)(text.count - tail),
                      text.at + tail);
}

/* Room for `more` bytes and a NUL. What no memory holds is asked for as what it is, and ends the
 * process; a sum that wraps would be granted. */
static void text_reserve(struct text *text, size_t more)
{
    size_t need;

    if (__builtin_add_overflow(text->count, more, &need) || need >= SIZE_MAX / 2)
        need = SIZE_MAX / 2;
    need++;
    if (need <= text->capacity)
        return;

    size_t capacity = text->capacity < 256 ? 256 : text->capacity;

    while (capacity < need)
        capacity += capacity / 2;
    text->at = memory_resize(text->at, capacity, 1);
    text->capacity = capacity;
}

void text_put(struct text *text, const char *at, size_t count)
{
    text_reserve(text, count);
    if (count > 0)
        memcpy(text->at + text->count, at, count);
    text->count += count;
    text->at[text->count] = '\0';
}

void text_puts(struct text *text, const char *nul_terminated)
{
    text_put(text, nul_terminated, strlen(nul_terminated));
}

void text_putf(struct text *text, const char *format, ...)
{
    va_list args, again;

    text_reserve(text, 0);
    va_start(args, format);
    va_copy(again, args);

    size_t room = text->capacity - text->count;
    int count = vsnprintf(text->at + text->count, room, format, args);

    if (count > 0 && (size_t)count >= room) {
        text_reserve(text, (size_t)count);
        vsnprintf(text->at + text->count, (size_t)count + 1, format, again);
    }
    if (count > 0)
        text->count += (size_t)count;
    text->at[text->count] = '\0';
    va_end(again);
    va_end(args);
}

void text_free(struct text *text)
{
    free(text->at);
    *text = (struct text){0};
}
