/* SPDX-License-Identifier: Apache-2.0 */
/* Expands the pattern of -o. */
#include "launch/options/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "{RANK}..." at *at: its value; *at moves behind it. */
static enum status value_of(const char **at, char ret[1024], struct error *err)
{
    const char *end = **at == '{' ? strchr(*at, '}') : NULL;
    char name[256];

    if (end == NULL || end - *at < 2 || end - *at > (long)sizeof name)
        return fail(err, ERR_INVALID, "-o: %%q needs a variable's name, as in %%q{RANK}");
    snprintf(name, sizeof name, "%.*s", (int)(end - *at - 1), *at + 1);
    const char *value = getenv(name);
    if (value == NULL || value[0] == '\0')
        return fail(err, ERR_INVALID, "-o: %%q{%s}: the variable is not set", name);
    if (strlen(value) >= 1024)
        return fail(err, ERR_INVALID, "-o: %%q{%s}: the variable is too long", name);
    strcpy(ret, value);
    *at = end + 1;
    return OK;
}

static enum status part_of(const char **at, char ret[1024], struct error *err)
{
    char kind = *(*at)++;

    if (kind == 'q')
        return value_of(at, ret, err);
    if (kind == 'p')
        snprintf(ret, 1024, "%ld", (long)getpid());
    else if (kind == 'h')
        gethostname(ret, 1024);
    else if (kind == '%')
        strcpy(ret, "%");
    else
        return fail(err, ERR_INVALID, "-o: %% must be followed by h, p, q{VAR} or %%");
    return OK;
}

enum status place_of(const char *pattern, char *ret, size_t ret_size, struct error *err)
{
    size_t used = 0;

    for (const char *at = pattern; *at != '\0';) {
        char part[1024] = {*at, '\0'};
        if (*at++ == '%')
            TRY(part_of(&at, part, err));
        size_t count = strlen(part);
        if (count >= ret_size - used)
            return fail(err, ERR_INVALID, "-o: the directory's name is too long");
        memcpy(ret + used, part, count);
        used += count;
    }
    ret[used] = '\0';
    return OK;
}
