/* SPDX-License-Identifier: Apache-2.0 */
/* Where a file of a folder goes: below the folder's own directory, as it lay there.
 *
 *   step_7   plugins/profile/09_30/host.xplane.pb  ->  step_7/plugins/profile/09_30
 *   step_7   host.xplane.pb                        ->  step_7/plugins/profile/upload
 *   FOLDER   PATH                                      PLACE
 *
 * What lies at a folder's top stands in a session, so that any name will do. Each part of the path
 * is cleaned as a file's name is; a way up is refused, not cleaned.
 */
#include "store/uploads.h"

#include <stdio.h>

enum { DEPTH_MAX = 16 };

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

/* Of the path up to its next slash; *path goes on behind it. */
static struct str next_part(struct str *path)
{
    struct str part = *path;
    size_t count = 0;

    while (count < path->count && !is_slash(path->at[count]))
        count++;
    part.count = count;
    *path = str_skip(*path, count < path->count ? count + 1 : count);
    return part;
}

static bool has_slash(struct str path)
{
    for (size_t i = 0; i < path.count; i++) {
        if (is_slash(path.at[i]))
            return true;
    }
    return false;
}

static enum status add(struct upload *upload, const char *part, struct error *err)
{
    size_t count = strlen(upload->place);

    if (snprintf(upload->place + count, sizeof upload->place - count, "%s%s", count > 0 ? "/" : "",
                 part) >= (int)(sizeof upload->place - count))
        return fail(err, ERR_INVALID, "the file's path is too long");
    return OK;
}

enum status upload_place(struct upload *upload, struct str folder, struct str path,
                         struct error *err)
{
    char file[UPLOAD_NAME_SIZE], name[UPLOAD_NAME_SIZE];
    int depth = 0;

    upload->place[0] = '\0';
    upload_names(folder, file, name);
    if (strcmp(file, "plugins") == 0)
        snprintf(file, sizeof file, "plugins_");
    TRY(add(upload, file, err));
    while (has_slash(path)) {
        struct str part = next_part(&path);

        if (str_equal(part, STR("..")))
            return fail(err, ERR_INVALID, "the file's path leads outside its folder");
        if (part.count == 0 || str_equal(part, STR(".")))
            continue;
        if (++depth > DEPTH_MAX)
            return fail(err, ERR_INVALID, "the file lies more than %d folders deep", DEPTH_MAX);
        upload_names(part, file, name);
        TRY(add(upload, file, err));
    }
    if (depth == 0)
        return add(upload, UPLOAD_SESSION, err);
    return OK;
}
