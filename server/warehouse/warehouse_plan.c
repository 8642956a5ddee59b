/* SPDX-License-Identifier: Apache-2.0 */
/* Which runs there are, and who takes which: the largest first, each to whoever has least. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "warehouse/warehouse_parts.h"

enum { CHUNK_RUNS = 10000 };

static int by_bytes(const void *a, const void *b)
{
    const struct planned *left = a, *right = b;

    if (left->bytes != right->bytes)
        return left->bytes > right->bytes ? -1 : 1;
    return str_compare(left->id, right->id);
}

/* Parts as a heap: the one that has least stands first, of equal ones the first. */
struct loads {
    uint64_t *bytes;
    uint32_t *part;
    uint32_t count;
};

static bool is_less(const struct loads *loads, uint32_t a, uint32_t b)
{
    return loads->bytes[a] != loads->bytes[b] ? loads->bytes[a] < loads->bytes[b]
                                              : loads->part[a] < loads->part[b];
}

static void sift(struct loads *loads)
{
    for (uint32_t at = 0, child; (child = 2 * at + 1) < loads->count; at = child) {
        if (child + 1 < loads->count && is_less(loads, child + 1, child))
            child++;
        if (!is_less(loads, child, at))
            return;
        uint64_t bytes = loads->bytes[at];
        uint32_t part = loads->part[at];
        loads->bytes[at] = loads->bytes[child];
        loads->part[at] = loads->part[child];
        loads->bytes[child] = bytes;
        loads->part[child] = part;
    }
}

/* A run costs something beside its bytes: a process, some twenty files. */
static void divide(struct planned *runs, uint32_t count, uint32_t parts, struct arena *arena)
{
    const uint64_t each = 1 << 20;
    struct loads loads = {arena_array(arena, uint64_t, parts), arena_array(arena, uint32_t, parts),
                          parts};

    for (uint32_t i = 0; i < parts; i++)
        loads.part[i] = i;
    for (uint32_t i = 0; i < count; i++) {
        runs[i].part = loads.part[0];
        loads.bytes[0] += runs[i].bytes + each;
        sift(&loads);
    }
}

enum status plan_runs(struct app *app, uint32_t parts, struct arena *arena, struct planned **ret,
                      uint32_t *ret_count, struct error *err)
{
    struct run_query query = {.limit = CHUNK_RUNS};
    struct planned *runs = NULL;
    uint32_t count = 0;
    uint64_t all = 0;

    do {
        struct arena *chunk = arena_create();
        struct run_record *records;
        uint32_t some = 0;
        enum status status = catalog_runs(app->catalog, &query, chunk, &records, &some, &all, err);

        if (status != OK) {
            arena_destroy(chunk);
            free(runs);
            return status;
        }
        runs = memory_resize(runs, (size_t)count + some + 1, sizeof *runs);
        for (uint32_t i = 0; i < some; i++) {
            if (records[i].state != RUN_GONE)
                runs[count++] = (struct planned){.id = str_copy(arena, records[i].id),
                                                 .name = str_copy(arena, records[i].name),
                                                 .bytes = records[i].file_bytes};
        }
        arena_destroy(chunk);
        query.offset += CHUNK_RUNS;
    } while (query.offset < all);
    if (count > 1)
        qsort(runs, count, sizeof *runs, by_bytes);
    divide(runs, count, parts == 0 ? 1 : parts, arena);
    *ret = arena_array(arena, struct planned, count + 1);
    if (count > 0)
        memcpy(*ret, runs, count * sizeof *runs);
    *ret_count = count;
    free(runs);
    return OK;
}

bool plan_part_read(struct str text, struct wishes *ret)
{
    const char *slash = text.count == 0 ? NULL : memchr(text.at, '/', text.count);
    struct str part = text;

    if (slash != NULL) {
        part.count = (size_t)(slash - text.at);
        if (!str_to_i64(str_skip(text, part.count + 1), &ret->parts))
            return false;
    }
    if (!str_to_i64(part, &ret->part) || ret->part < 1)
        return false;
    ret->part--;
    return true;
}

/* A line stays one, whatever the run's name holds. */
static void print_run(const struct planned *run)
{
    printf("%u\t%.*s\t%llu\t", run->part + 1, STR_ARG(run->id), (unsigned long long)run->bytes);
    for (size_t i = 0; i < run->name.count; i++)
        putchar((unsigned char)run->name.at[i] < ' ' ? '?' : run->name.at[i]);
    putchar('\n');
}

int print_plan(struct app *app, const void *data)
{
    const struct wishes *wishes = data;
    struct planned *runs;
    struct error err = {0};
    uint32_t count;

    if (plan_runs(app, (uint32_t)wishes->parts, app->arena, &runs, &count, &err) != OK)
        return app_failed(&err);
    for (uint32_t i = 0; i < count; i++) {
        if (wishes->part < 0 || runs[i].part == wishes->part)
            print_run(&runs[i]);
    }
    if (count == 0)
        fprintf(stderr, "jviewd: no profile below %s\n", app->services.profile_dir);
    return fflush(stdout) != 0 ? EXIT_IO : count == 0 ? EXIT_NOT_FOUND : EXIT_OK;
}
