/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that the server keeps for its own answers, lent to queries about the same run.
 *
 *   server   run as it is -> key of /api/top?by=op, ... -> {"view", "path", key} in the job
 *   worker   view -> what lies at its path, if that is its key -> struct table
 *
 * So a view over a large run costs what its endpoint does: see kept.h. What is not kept, or was
 * damaged, is made from the segments as that of any other run.
 */
#include <jansson.h>
#include <stdlib.h>

#include "serve/answer/etag.h"
#include "serve/answer/request.h"
#include "serve/answer/route_table.h"
#include "serve/kept/kept_table.h"
#include "serve/kept/stored.h"
#include "serve/sql/sql_parts.h"
#include "store/answers.h"

static bool find_kept(const struct request *req, const struct route *route, const char *params,
                      const struct run_record *run, struct hash128 *ret)
{
    struct request asked = {
        .method = STR("GET"),
        .path = str_of(route->path),
        .query = str_format(req->arena, "run=-%s%s", params[0] != '\0' ? "&" : "", params),
        .arena = req->arena,
        .services = req->services};
    struct error ignored = {0};

    return request_open(&asked, route, &ignored) == OK && stored_may(&asked, run) &&
           answer_key(&asked, run, ret);
}

void sql_put_kept(struct json *json, const struct request *req, const struct run_record *run)
{
    struct offers views;
    struct hash128 key;
    char path[4096];

    route_views(req->services->routes, &views);
    json_key(json, "kept");
    json_open(json, '[');
    for (uint32_t i = 0; i < views.count && stored_is_large(run); i++) {
        const struct view *view = views.items[i].what;

        if (view->kept == NULL || !find_kept(req, views.items[i].route, view->kept, run, &key))
            continue;
        answers_path(req->services->cache, key, path);
        json_open(json, '{');
        json_put_text(json, "view", str_of(view->name));
        json_put_text(json, "path", str_of(path));
        json_put_integer(json, "key_high", (int64_t)key.high);
        json_put_integer(json, "key_low", (int64_t)key.low);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static bool read_kept(const struct json_t *told, struct arena *arena, struct kept_table *ret)
{
    const struct hash128 key = {
        .high = (uint64_t)json_integer_value(json_object_get(told, "key_high")),
        .low = (uint64_t)json_integer_value(json_object_get(told, "key_low"))};
    struct bytes bytes;

    return answers_read(str_c(arena, sql_told(told, "path")), key, arena, &bytes) &&
           stored_unpack(arena, bytes, &bytes) && kept_table_open(bytes, arena, ret);
}

bool sql_kept_table(const struct sql_work *work, uint32_t run, const char *view, struct table *ret)
{
    const struct page all = {.limit = UINT32_MAX};
    const json_t *list = json_object_get(work->runs[run].told, "kept"), *told;
    struct kept_table kept;
    struct error ignored = {0};
    size_t i;

    json_array_foreach(list, i, told)
    {
        if (!str_equal(sql_told(told, "view"), str_of(view)) ||
            !read_kept(told, work->arena, &kept) || !kept_table_has(&kept, &all) ||
            kept_table_page(&kept, &all, work->arena, ret, &ignored) != OK)
            continue;

        uint32_t count = kept.note_counts[0] + kept.note_counts[1];
        struct answer_note *notes = arena_array(work->arena, struct answer_note, count);

        for (uint32_t k = 0; k < count; k++)
            notes[k] =
                k < kept.note_counts[0] ? kept.notes[0][k] : kept.notes[1][k - kept.note_counts[0]];
        ret->notes = notes;
        ret->note_count = count;
        return true;
    }
    return false;
}
