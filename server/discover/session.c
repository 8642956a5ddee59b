/* SPDX-License-Identifier: Apache-2.0 */
/* Tells by its path whether a directory is a session of jax.profiler, and reads the time in its
 * name. */
#include <time.h>

#include "discover/session.h"

struct str path_dir(struct str path)
{
    const char *slash = path.count > 0 ? memrchr(path.at, '/', path.count) : NULL;

    return (struct str){.at = path.at, .count = slash == NULL ? 0 : (size_t)(slash - path.at)};
}

/* Takes the last component off `*dir`, going on in `*root` above it; "" at the very top. */
static struct str take_last(struct str *root, struct str *dir)
{
    struct str *from = dir->count > 0 ? dir : root;
    struct str last = path_base(*from);

    *from = path_dir(*from);
    return last;
}

bool session_is_named(struct str root, struct str dir)
{
    struct str name = take_last(&root, &dir);
    struct str profile = take_last(&root, &dir);
    struct str plugins = take_last(&root, &dir);

    return name.count > 0 && str_equal(profile, STR("profile")) &&
           str_equal(plugins, STR("plugins"));
}

struct str session_log_directory(struct str root, struct str dir, struct arena *arena)
{
    for (unsigned level = 0; level < 3; level++)
        take_last(&root, &dir);
    if (dir.count == 0)
        return root;
    return str_format(arena, "%.*s/%.*s", STR_ARG(root), STR_ARG(dir));
}

bool session_time(struct str name, int64_t *ret)
{
    static const unsigned digits[] = {4, 2, 2, 2, 2, 2};
    int part[6] = {0};
    size_t at = 0;

    for (size_t i = 0; i < COUNT(digits); i++) {
        for (unsigned digit = 0; digit < digits[i]; digit++, at++) {
            if (at >= name.count || name.at[at] < '0' || name.at[at] > '9')
                return false;
            part[i] = part[i] * 10 + (name.at[at] - '0');
        }
        if (i + 1 < COUNT(digits) && at < name.count && (name.at[at] == '_' || name.at[at] == '-'))
            at++;
    }
    struct tm tm = {.tm_year = part[0] - 1900,
                    .tm_mon = part[1] - 1,
                    .tm_mday = part[2],
                    .tm_hour = part[3],
                    .tm_min = part[4],
                    .tm_sec = part[5]};

    if (at != name.count || part[0] < 1970 || part[1] < 1 || part[1] > 12 || part[2] < 1 ||
        part[2] > 31 || part[3] > 23 || part[4] > 59 || part[5] > 60)
        return false;
    *ret = timegm(&tm);
    return true;
}
