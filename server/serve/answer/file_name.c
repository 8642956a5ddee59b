/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the names of files that are handed out from names of runs. */
#include "serve/answer/file_name.h"

struct str file_name_safe(struct arena *arena, struct str name)
{
    char *safe = str_c(arena, name);

    for (size_t i = 0; i < name.count; i++) {
        char c = safe[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        if (!plain && c != '.' && c != '-' && c != '_')
            safe[i] = '_';
    }
    return (struct str){.at = safe, .count = name.count};
}

struct str attachment(struct arena *arena, struct str name, const char *suffix)
{
    struct str whole = str_format(arena, "%.*s%s", STR_ARG(name), suffix);

    return str_format(arena, "attachment; filename=\"%.*s\"",
                      STR_ARG(file_name_safe(arena, whole)));
}
