/* SPDX-License-Identifier: Apache-2.0 */
/* `jviewd prune DIR --index-store STORE`: which indexes that many machines share no run below DIR
 * needs any more. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "prune/prune.h"

struct contents { /* that runs need, sorted */
    char (*at)[33];
    size_t count;
    uint32_t unread; /* files of which it is not known */
};

static int by_content(const void *a, const void *b)
{
    return strcmp(a, b);
}

static bool may_become_one(const struct run_file *file)
{
    return file->state == FILE_QUEUED || file->state == FILE_INDEXING ||
           file->state == FILE_WRITING;
}

static enum status read_contents(struct app *app, struct contents *ret, struct error *err)
{
    for (uint32_t i = 0; i < app->roots.count; i++) {
        struct run_file *files;
        uint32_t count;

        TRY(catalog_files(app->catalog, app->roots.at[i], app->arena, &files, &count, err));
        ret->at = memory_resize(ret->at, ret->count + count + 1, sizeof *ret->at);
        for (uint32_t k = 0; k < count; k++) {
            if (files[k].run_is_gone || files[k].state == FILE_GONE)
                continue;
            if (files[k].content[0] != '\0')
                memcpy(ret->at[ret->count++], files[k].content, sizeof *ret->at);
            ret->unread += may_become_one(&files[k]);
        }
    }
    if (ret->count > 1)
        qsort(ret->at, ret->count, sizeof *ret->at, by_content);
    return OK;
}

static bool is_needed(const struct contents *contents, const struct index_stored *stored)
{
    return !stored->is_old && contents->count > 0 &&
           bsearch(stored->content, contents->at, contents->count, sizeof *contents->at,
                   by_content) != NULL;
}

struct tally { /* notes count no index */
    uint32_t count, old;
    uint64_t bytes;
};

static enum status remove_all(struct app *app, const struct contents *contents,
                              const struct index_stored *stored, uint32_t count, bool delete,
                              struct tally *ret, struct error *err)
{
    *ret = (struct tally){0};
    for (uint32_t i = 0; i < count; i++) {
        if (is_needed(contents, &stored[i]))
            continue;
        if (delete)
            TRY(index_store_remove(app->store, &stored[i], err));
        ret->count += !stored[i].is_note;
        ret->old += stored[i].is_old;
        ret->bytes += stored[i].bytes;
    }
    return OK;
}

static int refuse(const struct app *app, uint32_t unread)
{
    fprintf(stderr,
            "jviewd: %u file%s below %s %s not read yet: what they need is not known, so nothing "
            "was deleted; `jviewd index %s --index-store %s` reads all\n",
            unread, unread == 1 ? "" : "s", app->services.profile_dir, unread == 1 ? "is" : "are",
            app->services.profile_dir, index_store_place(app->store));
    return EXIT_IO;
}

int prune_store(struct app *app, bool delete)
{
    struct contents contents = {0};
    struct index_stored *stored;
    struct tally tally = {0};
    struct error err = {0};
    uint32_t count = 0;

    enum status status = read_contents(app, &contents, &err);
    if (status == OK)
        status = index_store_list(app->store, app->arena, &stored, &count, &err);
    uint32_t notes = 0;
    for (uint32_t i = 0; status == OK && i < count; i++)
        notes += stored[i].is_note;
    bool refused = delete &&contents.unread > 0;
    if (status == OK)
        status = remove_all(app, &contents, stored, count, delete &&!refused, &tally, &err);
    free(contents.at);
    if (status != OK)
        return app_failed(&err);
    if (refused)
        return refuse(app, contents.unread);
    printf("%u of %u indexes, %.*s, %s of no run below %s", tally.count, count - notes,
           STR_ARG(size_text(tally.bytes, app->arena)), delete ? "were" : "are",
           app->services.profile_dir);
    if (tally.old > 0)
        printf("; %u of other versions of jviewd", tally.old);
    puts(delete ? ": deleted." : tally.count > 0 ? ": --delete removes them." : ".");
    if (contents.unread > 0)
        printf("%u files were not read yet: what they need counts as not needed.\n",
               contents.unread);
    return fflush(stdout) == 0 ? EXIT_OK : EXIT_IO;
}
