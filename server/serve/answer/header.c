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
