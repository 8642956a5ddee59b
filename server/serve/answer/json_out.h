/* SPDX-License-Identifier: Apache-2.0 */
/* JSON, written front to back into a text.
 *
 * Integers are exact, doubles the shortest text that reads back as the same value, NaN and
 * infinities null, texts repaired to UTF-8. Commas set themselves.
 */
#ifndef JVIEWD_SERVE_ANSWER_JSON_OUT_H
#define JVIEWD_SERVE_ANSWER_JSON_OUT_H

#include "base/bytes.h"

struct json {
    struct text *out;
    bool after_value; /* the next value or key needs a comma */
};

static inline struct json json_into(struct text *out)
{
    return (struct json){.out = out};
}

void json_open(struct json *json, char bracket);  /* '{' or '[' */
void json_close(struct json *json, char bracket); /* '}' or ']' */
void json_key(struct json *json, const char *key);
void json_key_text(struct json *json, struct str key); /* a key that needs escaping */
void json_add_integer(struct json *json, int64_t value);
void json_add_unsigned(struct json *json, uint64_t value);
void json_add_real(struct json *json, double value);
void json_add_text(struct json *json, struct str value);
void json_add_bool(struct json *json, bool value);
void json_add_null(struct json *json);
void json_add_raw(struct json *json, struct str value); /* is JSON already */

/* Members, for readability at the callers. */
void json_put_integer(struct json *json, const char *key, int64_t value);
void json_put_unsigned(struct json *json, const char *key, uint64_t value);
void json_put_real(struct json *json, const char *key, double value);
void json_put_text(struct json *json, const char *key, struct str value);
void json_put_text_or_null(struct json *json, const char *key, struct str value); /* "": null */
void json_put_texts(struct json *json, const char *key, const struct str *texts, uint32_t count);
void json_put_bool(struct json *json, const char *key, bool value);
void json_put_null(struct json *json, const char *key);

/* The shortest of %.15g, %.16g, %.17g that reads back; ret holds at least 32. */
size_t real_shortest(double value, char *ret);
size_t integer_digits(int64_t value, char *ret);
size_t unsigned_digits(uint64_t value, char *ret);

#endif
