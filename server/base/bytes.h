/* SPDX-License-Identifier: Apache-2.0 */
/* Borrowed spans of bytes and text. */
#ifndef JVIEWD_BASE_BYTES_H
#define JVIEWD_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"

struct bytes { /* borrowed, always */
    const uint8_t *at;
    size_t count;
};

struct str { /* borrowed, any bytes, meant as UTF-8, not NUL-terminated */
    const char *at;
    size_t count;
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define STR(literal) ((struct str){.at = (literal), .count = sizeof(literal) - 1})
#define BYTES(literal)                                                                             \
    ((struct bytes){.at = (const uint8_t *)(literal), .count = sizeof(literal) - 1})
/* For printf: "%.*s" with STR_ARG(text). */
#define STR_ARG(text) (int)(text).count, (text).at

struct str str_of(const char *text); /* NULL reads as "" */
bool str_equal(struct str a, struct str b);
/* ASCII case aside. */
bool str_equal_fold(struct str a, struct str b);
static inline char ascii_lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}
/* What stands behind the last "/". */
struct str path_base(struct str path);
int str_compare(struct str a, struct str b); /* by bytes */
bool str_starts(struct str text, struct str prefix);
bool str_ends(struct str text, struct str suffix);
bool str_contains(struct str text, struct str part);
bool str_contains_fold(struct str text, struct str part); /* ASCII case aside */
struct str str_skip(struct str text, size_t count);       /* without the first count bytes */
struct str str_copy(struct arena *arena, struct str text);
/* NUL-terminated copy. */
char *str_c(struct arena *arena, struct str text);
/* printf into an arena; NUL-terminated behind .count. */
struct str str_format(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Whole text as a decimal integer; false when it is anything else or does not fit. */
bool str_to_i64(struct str text, int64_t *ret);
bool str_to_u64(struct str text, uint64_t *ret);
/* The text with every byte that is no UTF-8 replaced by U+FFFD; `text` itself where it is clean. */
struct str str_utf8(struct arena *arena, struct str text);
/* The same, and of more than `bytes_max` bytes both ends around an ellipsis: names of kernels may
 * be a page long. */
struct str str_both_ends(struct arena *arena, struct str text, size_t bytes_max);

/* Text that grows; owned by whoever declared it, freed by text_free. */
struct text {
    char *at; /* NUL-terminated once anything was put; else NULL */
    size_t count, capacity;
};

void text_put(struct text *text, const char *at, size_t count);
void text_puts(struct text *text, const char *nul_terminated);
void text_putf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_free(struct text *text);
static inline struct str text_str(const struct text *text)
{
    return (struct str){.at = text->at, .count = text->count};
}

#endif
