/* SPDX-License-Identifier: Apache-2.0 */
/* Runs are read: indexed here, or taken out of the store that others fill. */
#include <stdio.h>

#include "cli/ask.h"
#include "cli/verbs.h"
#include "warehouse/warehouse_parts.h"

enum {
    AHEAD = 8, /* runs that are read while something is made of another one */
    WAIT_MS = 600000,
    WAIT_MAX_MS = 24 * 3600 * 1000,
};

bool run_was_indexed(const struct run_record *run)
{
    return run->state == RUN_READY || run->state == RUN_PARTIAL;
}

bool list_names(struct str id, const char *list)
{
    struct str left = str_of(list);

    while (left.count > 0) {
        const char *comma = memchr(left.at, ',', left.count);
        size_t count = comma == NULL ? left.count : (size_t)(comma - left.at);

        if (str_equal((struct str){left.at, count}, id))
            return true;
        left = str_skip(left, comma == NULL ? count : count + 1);
    }
    return false;
}

bool plan_is_mine(const struct wishes *wishes, const struct planned *run)
{
    if (wishes->runs != NULL)
        return list_names(run->id, wishes->runs);
    return wishes->part < 0 || run->part == wishes->part;
}

void runs_read_ahead(struct app *app, const struct planned *runs, uint32_t count)
{
    for (uint32_t i = 0; i < count && i < AHEAD; i++) {
        struct error ignored = {0};

        (void)(app->services.wait(app->ingest, runs[i].id, 0, &ignored) == OK);
    }
}

/* Is each of its indexes in the store? What is in the cache alone goes there: somebody indexed it
 * before there was a store, or the store did not take it then. */
static bool share(struct app *app, const struct run_record *run, struct arena *arena)
{
    bool ret = true;

    for (uint32_t i = 0; app->store != NULL && i < run->run_file_count; i++) {
        const char *content = run->files[i].content;
        char segment[4096], attribution[4096];
        struct error err = {0};
        struct str known;

        if (content[0] == '\0' || index_store_has(app->store, content))
            continue;
        ret = false;
        if (!cache_has(app->cache, content) ||
            catalog_facts(app->catalog, content, arena, &known, &err) != OK || known.count == 0)
            continue;
        cache_segment_path(app->cache, content, segment);
        cache_attribution_path(app->cache, content, attribution);
        enum status status =
            index_store_put(app->store, content, segment, attribution, known, &err);
        ret = status == OK;
        if (status != OK && status != ERR_NOT_READY)
            fprintf(stderr, "jviewd: %s\n", err.message);
    }
    return ret;
}

enum status run_read(struct app *app, struct str id, struct arena *arena, struct run_record *ret,
                     bool *ret_shared, struct error *err)
{
    struct error ignored = {0};

    TRY(catalog_run(app->catalog, id, arena, ret, err));
    for (int64_t waited = 0; !run_was_indexed(ret) && waited < WAIT_MAX_MS; waited += WAIT_MS) {
        if (app->services.wait(app->ingest, id, WAIT_MS, &ignored) != ERR_NOT_READY)
            break;
        ignored = (struct error){0};
    }
    TRY(catalog_run(app->catalog, id, arena, ret, err));
    bool shared = share(app, ret, arena);
    if (ret_shared != NULL)
        *ret_shared = shared;
    return OK;
}

struct indexed { /* runs; unshared: read, and the store did not take them */
    uint32_t shared, unshared, failed;
};

/* One that became part of others when it was read is no run any more. */
static enum status read_one(struct app *app, struct str id, struct indexed *all, struct error *err)
{
    struct arena *arena = arena_create();
    struct run_record record;
    struct error why = {0};
    bool shared = false;
    enum status status = run_read(app, id, arena, &record, &shared, &why);

    if (status == OK && record.state != RUN_GONE) {
        bool read = run_was_indexed(&record);

        all->failed += !read;
        all->shared += read && shared;
        all->unshared += read && !shared;
    } else if (status != OK && status != ERR_NOT_FOUND) {
        *err = why;
    }
    arena_destroy(arena);
    return err->code;
}

int index_runs(struct app *app, const void *data)
{
    const struct wishes *wishes = data;
    struct planned *runs;
    struct error err = {0};
    struct indexed all = {0};
    uint32_t count, mine = 0;

    wait_for_jobs(&app->services);
    if (plan_runs(app, (uint32_t)wishes->parts, app->arena, &runs, &count, &err) != OK)
        return app_failed(&err);
    for (uint32_t i = 0; i < count; i++) {
        if (plan_is_mine(wishes, &runs[i]))
            runs[mine++] = runs[i];
    }
    for (uint32_t i = 0; i < mine; i++) {
        runs_read_ahead(app, &runs[i], mine - i);
        progress_show("Indexing", (double)i / mine);
        if (read_one(app, runs[i].id, &all, &err) != OK)
            return app_failed(&err);
    }
    wait_for_jobs(&app->services);
    progress_clear();
    fprintf(stderr, "jviewd: %u run%s indexed in %s", all.shared, all.shared == 1 ? " is" : "s are",
            wishes->index_store);
    if (all.failed > 0)
        fprintf(stderr, "; %u could not be read: `jviewd list` says why", all.failed);
    if (all.unshared > 0)
        fprintf(stderr, "; the index%s of %u could not be written there",
                all.unshared == 1 ? "" : "es", all.unshared);
    fputs("\n", stderr);
    return all.unshared > 0 ? EXIT_IO : EXIT_OK;
}
