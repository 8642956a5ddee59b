/* SPDX-License-Identifier: Apache-2.0 */
/* Where indexed profiles are kept: whether that is where it was asked for, and what is in the way.
 *
 * Nobody is let into another user's cache by its rights: who writes there says what is shown. What
 * root left in a cache of this user (sudo, a container) is given to this user.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/shell.h"
#include "discover/session.h"
#include "doctor/doctor.h"
#include "doctor/doctor_rights.h"

enum { PLACE_SIZE = 3072 };

/* The cache, or what in it belongs to somebody else. */
static bool find_owner(const char *cache, uid_t *ret)
{
    static const char *const parts[] = {"", "/tmp", "/catalog.sqlite"};
    bool found = false;

    for (size_t i = 0; i < COUNT(parts); i++) {
        char path[PLACE_SIZE + 32];
        struct stat info;

        snprintf(path, sizeof path, "%s%s", cache, parts[i]);
        if (stat(path, &info) != 0 || (found && *ret != geteuid()))
            continue;
        *ret = info.st_uid;
        found = true;
    }
    return found;
}

/* By its name, or by what is seen in it: /var/cache is nobody's to be given. */
static bool is_cache(struct str dir)
{
    char path[PLACE_SIZE + 32];
    struct stat info;

    snprintf(path, sizeof path, "%.*s/catalog.sqlite", STR_ARG(dir));
    return str_starts(path_base(dir), STR("jviewd")) || stat(path, &info) == 0;
}

static struct str mend_cache(struct arena *arena, const char *cache)
{
    struct str path = shell_quoted(arena, str_of(cache));
    struct stat info;
    uid_t owner;

    if (stat(cache, &info) != 0)
        return errno == EACCES ? mend_entry(arena, cache) : mend_missing(arena, cache);
    if (!S_ISDIR(info.st_mode))
        return str_format(arena, "another --cache-dir: %.*s is a file", STR_ARG(path));
    if (access(cache, W_OK | X_OK) != 0 && errno != EACCES)
        return STR("another --cache-dir: nothing can be written there");
    if (!find_owner(cache, &owner))
        return STR("");
    if (owner == geteuid())
        return str_format(arena, "chmod -R u+rwX %.*s", STR_ARG(path));
    if (owner == 0 && !is_cache(str_of(cache)))
        return STR("another --cache-dir: this directory belongs to root");
    if (owner == 0)
        return str_format(arena, "sudo chown -R %.*s %.*s",
                          STR_ARG(shell_word(arena, user_name(arena))), STR_ARG(path));
    return STR("a --cache-dir of your own: this one belongs to another user");
}

static void tell_lost(struct findings *findings, const struct app *app)
{
    struct finding finding = {.kind = "cache",
                              .severity = FINDING_ERROR,
                              .subject = STR("the cache"),
                              .message = app->cache_trouble,
                              .remedy = STR("--cache-dir DIR")};
    struct error err = {0};
    char place[PLACE_SIZE];

    if (cache_place(app->options.cache_dir, place, &err) == OK) {
        finding.subject = str_copy(findings->arena, str_of(place));
        finding.remedy = mend_cache(findings->arena, place);
    }
    finding_add(findings, finding);
}

void doctor_cache(struct findings *findings, const struct app *app)
{
    struct arena *arena = findings->arena;
    struct str place = str_copy(arena, str_of(cache_dir(app->cache)));
    struct str note = catalog_note(app->catalog, arena);

    if (app->cache_trouble.count > 0) {
        tell_lost(findings, app);
        return;
    }
    finding_add(findings,
                (struct finding){
                    .kind = "cache",
                    .severity = FINDING_OK,
                    .subject = place,
                    .message = str_format(arena, "%.*s of at most %.*s",
                                          STR_ARG(size_text(cache_bytes(app->cache), arena)),
                                          STR_ARG(size_text(cache_bytes_max(app->cache), arena)))});
    bool is_kept_out = str_contains(note, STR("cannot be written"));

    if (note.count > 0)
        finding_add(findings,
                    (struct finding){.kind = "catalog",
                                     .severity = FINDING_WARNING,
                                     .subject = place,
                                     .message = note,
                                     .remedy = is_kept_out ? mend_cache(arena, str_c(arena, place))
                                                           : STR("")});
    doctor_room(findings, "cache-room", str_c(arena, place));
}
