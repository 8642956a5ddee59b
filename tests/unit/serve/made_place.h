/* SPDX-License-Identifier: Apache-2.0 */
/* A cache with one segment, and a catalog in which runs may have it. */
#ifndef JVIEWD_TESTS_MADE_PLACE_H
#define JVIEWD_TESTS_MADE_PLACE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "made_bound.h"
#include "picture.h"
#include "serve/dispatch/dispatch.h"
#include "serve/route.h"
#include "serve/serve.h"
#include "store/segment.h"

static const char made_content[33] = "0123456789abcdef0123456789abcdef";

struct place {
    char dir[64];
    struct services services;
    struct arena *arena;
};

static inline void put_segment(struct place *place, const char content[33])
{
    struct cache *cache = place->services.cache;
    char directory[4096], segment[4200], attribution[4200];
    struct error err = {0};
    struct segment_writer *writer;

    CHECK_OK("place", cache_temporary_dir(cache, directory, &err), &err);
    snprintf(segment, sizeof segment, "%s/1.seg", directory);
    snprintf(attribution, sizeof attribution, "%s/1.attr", directory);
    CHECK_OK("writer", segment_writer_open(segment, &writer, &err), &err);
    struct sink *sink = sink_create(segment_writer_out(writer), &budget_default,
                                    (struct sink_hooks){0}, directory, &err);
    sink_format(sink, "drawn");
    picture_draw(sink, "host / python\n  0 +30 step 1\n    10 +5 fusion.3\n");
    CHECK_OK("finish", sink_finish(sink, &err), &err);
    sink_destroy(sink);
    CHECK_OK("commit", segment_writer_commit(writer, content, &err), &err);
    segment_writer_abandon(writer);
    CHECK_OK("attribution", attribution_write(attribution, content, &(struct attribution){0}, &err),
             &err);
    made_bound(segment, attribution);
    CHECK_OK("adopt", cache_adopt(cache, content, segment, attribution, &err), &err);
}

/* With the segment of this content as its only host's. */
static inline void put_run_of(struct place *place, const char content[33], const char *id,
                              const char *content_id, const char *name, uint64_t slice_count)
{
    struct run_host host = {.name = STR("h")};
    struct run_record run = {.id = str_of(id),
                             .content_id = str_of(content_id),
                             .kept_id = str_of(content_id),
                             .root = STR("/profiles"),
                             .name = str_of(name),
                             .dir = str_of(id),
                             .state = RUN_READY,
                             .duration_ps = 30,
                             .slice_count = slice_count,
                             .hosts = &host,
                             .host_count = 1};
    struct error err = {0};

    memcpy(host.content, content, sizeof host.content);
    CHECK_OK("put", catalog_put_runs(place->services.catalog, &run, 1, &err), &err);
}

static inline void put_run(struct place *place, const char *id, const char *content_id,
                           const char *name, uint64_t slice_count)
{
    put_run_of(place, made_content, id, content_id, name, slice_count);
}

static inline int make_place(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    struct str reason;
    struct error err = {0};

    snprintf(place->dir, sizeof place->dir, "/tmp/jview-place-XXXXXX");
    assert_non_null(mkdtemp(place->dir));
    place->arena = arena_create();
    place->services.routes = &routes;
    CHECK_OK("cache",
             cache_open(place->dir, 1 << 30, place->arena, &place->services.cache, &reason, &err),
             &err);
    CHECK_OK("catalog", catalog_open(place->dir, &place->services.catalog, &err), &err);
    put_segment(place, made_content);
    *state = place;
    return 0;
}

static inline int leave_place(void **state)
{
    struct place *place = *state;
    char command[128];

    catalog_close(place->services.catalog);
    cache_close(place->services.cache);
    arena_destroy(place->arena);
    snprintf(command, sizeof command, "rm -rf '%s'", place->dir);
    int ret = system(command);
    free(place);
    return ret;
}

#endif
