/* SPDX-License-Identifier: Apache-2.0 */
/* Files from browsers and pages that frame ours: what a server offers by itself, and what it must
 * be told to.
 *
 *   on this machine alone          files up to 2 GiB
 *   reached by others              none, unless --upload-max says so
 *   another process has the cache  none: it keeps the catalog
 */
#include <ctype.h>

#include "app/rooms.h"
#include "base/log.h"
#include "serve/access/gate.h"
#include "store/catalog.h"
#include "store/uploads.h"

static const uint64_t usual_bytes_max = UINT64_C(2) << 30;

static uint64_t file_bytes_max(const struct options *options)
{
    bool alone = address_is_loopback(str_of(options->bind)) && options->public_url[0] == '\0';

    if (options->upload_bytes_max != UINT64_MAX)
        return options->upload_bytes_max;
    return alone ? usual_bytes_max : 0;
}

void app_open_uploads(struct app *app)
{
    struct uploads_limits limits = {.file_bytes_max = file_bytes_max(&app->options),
                                    .all_bytes_max = app->options.upload_quota};
    struct error err = {0};

    if (limits.file_bytes_max == 0) {
        app->uploads_refusal =
            app->options.upload_bytes_max == 0
                ? "This server was started with --upload-max 0: it accepts no files."
                : "Other machines can reach this server, so it accepts files only if started with "
                  "--upload-max BYTES.";
    } else if (!catalog_writable(app->catalog)) {
        app->uploads_refusal =
            "Another jviewd uses this cache, or it cannot be written to: upload files there.";
    } else if (uploads_open(app->cache, limits, app->arena, &app->uploads, &err) != OK) {
        app->uploads = NULL;
        app->uploads_refusal = "The cache has no room for files.";
        log_warning("%s", err.message);
    }
    if (app->uploads == NULL)
        return;
    struct str *roots = arena_array(app->arena, struct str, app->roots.count + 1);
    for (uint32_t i = 0; i < app->roots.count; i++)
        roots[i] = app->roots.at[i];
    roots[app->roots.count] = str_copy(app->arena, str_of(uploads_dir(app->uploads)));
    app->roots.at = roots;
    app->roots.count++;
}

/* "http://localhost:8888": a scheme, a host and perhaps a port, for it stands in a header. */
static bool is_origin(struct str text)
{
    const char *mark = text.count == 0 ? NULL : memmem(text.at, text.count, "://", 3);
    size_t scheme = mark == NULL ? 0 : (size_t)(mark - text.at);

    if (scheme == 0 || !isalpha((unsigned char)text.at[0]) || text.count == scheme + 3)
        return false;
    for (size_t i = 0; i < text.count; i++) {
        char c = text.at[i];
        bool in_mark = i >= scheme && i < scheme + 3;

        if (!in_mark && !isalnum((unsigned char)c) && memchr("-.:[]+_", c, 7) == NULL)
            return false;
    }
    return true;
}

enum status app_check_embed(const struct texts *origins, struct error *err)
{
    for (uint32_t i = 0; i < origins->count; i++) {
        if (!is_origin(origins->at[i]))
            return fail(err, ERR_INVALID,
                        "--embed-origin %.*s: an origin is a scheme, a host and an optional port, "
                        "such as http://localhost:8888",
                        STR_ARG(origins->at[i]));
    }
    return OK;
}
