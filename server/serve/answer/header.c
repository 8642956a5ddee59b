/* SPDX-License-Identifier: Apache-2.0 */
/* Headers by name, in the order they came. */
#include "serve/answer/header.h"

struct str header_get(const struct header *headers, uint32_t count, struct str name)
{
    struct str value = STR("");

    for (uint32_t i = 0; i < count; i++) {
        if (str_equal_fold(headers[i].name, name))
            value = headers[i].value;
    }
    return value;
}

bool header_is_token(struct str text)
{
    for (size_t i = 0; i < text.count; i++) {
        uint8_t c = (uint8_t)text.at[i];

        if (c <= ' ' || c >= 127 || strchr("()<>@,;:\\\"/[]?={}", c) != NULL)
            return false;
    }
    return text.count > 0;
}
