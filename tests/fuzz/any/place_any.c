/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the directory, the segment in it, and the run that has it. */
#include "place_any.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyse/attribute/attribute.h"
#include "base/file.h"
#include "serve/answer/reply.h"
#include "serve/dispatch/dispatch.h"
#include "serve/route.h"
#include "store/segment.h"

enum { PATH_BYTES = 4096, FILE_BYTES_MAX = 1 << 24, ROUTES_MAX = 128, DEPTH_MAX = 32 };

const char place_any_content[33] = "0123456789abcdef0123456789abcdef";

static char directory[64];

static void must(enum status status, const struct error *err)
{
    if (status == OK)
        return;
    fprintf(stderr, "%s\n", err->message);
    abort();
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)type;
    (void)at;
    return remove(path);
}

void place_any_remove(const char *path)
{
    nftw(path, remove_one, DEPTH_MAX, FTW_DEPTH | FTW_PHYS);
}

static void leave(void)
{
    place_any_remove(directory);
}

const char *place_any(void)
{
    if (directory[0] != '\0')
        return directory;
    /* In memory, where that is: what is synced need not reach a disk. */
    snprintf(directory, sizeof directory, "%s/jviewd-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (mkdtemp(directory) == NULL || atexit(leave) != 0)
        abort();
    return directory;
}

void place_any_put(const char *path, struct bytes bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, bytes.at, bytes.count) != (ssize_t)bytes.count)
        abort();
    close(fd);
}

const char *place_any_path(const char *name)
{
    static char path[PATH_BYTES];

    snprintf(path, sizeof path, "%s/%s", place_any(), name);
    return path;
}

struct bytes place_any_read(const char *path, struct arena *arena)
{
    struct error err = {0};
    struct bytes ret;

    must(file_read(path, arena, FILE_BYTES_MAX, &ret, &err), &err);
    return ret;
}

static void write_segment(const struct decoder *decoder, struct bytes file, const char *path,
                          struct arena *arena)
{
    struct error err = {0};
    struct segment_writer *writer;
    struct input input;

    must(input_open(STR("fuzz"), file, NULL, arena, &input, &err), &err);
    decode_identify(&input);
    must(segment_writer_open(path, &writer, &err), &err);
    struct sink *sink = sink_create(segment_writer_out(writer), &budget_default,
                                    (struct sink_hooks){0}, place_any(), &err);
    sink_format(sink, decoder->name);
    must(decoder->decode(&input, sink, &err), &err);
    must(sink_finish(sink, &err), &err);
    sink_destroy(sink);
    must(segment_writer_commit(writer, place_any_content, &err), &err);
    segment_writer_abandon(writer);
    input_close(&input);
}

void place_any_index(const struct decoder *decoder, struct bytes file, const char *segment_path,
                     const char *attribution_path)
{
    struct arena *arena = arena_create();
    struct scratch *scratch = scratch_create(place_any());
    struct attribution attribution;
    struct segment *segment;
    struct error err = {0};

    write_segment(decoder, file, segment_path, arena);
    must(segment_open(segment_path, &segment, &err), &err);
    must(
        attribute(segment_trace(segment), scratch, (struct attribute_hooks){0}, &attribution, &err),
        &err);
    must(attribution_write(attribution_path, place_any_content, &attribution, &err), &err);
    must(attribution_bind(attribution_path, segment_trace(segment)->sum, &err), &err);
    segment_close(segment);
    scratch_destroy(scratch);
    arena_destroy(arena);
}

static void put_run(struct catalog *catalog)
{
    struct run_host host = {.name = STR("h")};
    struct run_file file = {.path = STR("step_1/h.xplane.pb"),
                            .host = STR("h"),
                            .format = STR("xplane"),
                            .state = FILE_READY};
    struct run_record run = {.id = STR("r1"),
                             .content_id = STR("c1"),
                             .kept_id = STR("c1"),
                             .root = STR("/profiles"),
                             .name = STR("step_1"),
                             .dir = STR("step_1"),
                             .state = RUN_READY,
                             .duration_ps = 1000,
                             .slice_count = 9,
                             .files = &file,
                             .run_file_count = 1,
                             .file_count = 1,
                             .hosts = &host,
                             .host_count = 1};
    struct error err = {0};

    memcpy(host.content, place_any_content, sizeof host.content);
    memcpy(file.content, place_any_content, sizeof file.content);
    must(catalog_put_runs(catalog, &run, 1, &err), &err);
}

static const struct route_table *routes_alone(void)
{
    static const struct route *items[ROUTES_MAX];
    static struct route_table table = {.items = items};

    for (uint32_t i = 0; i < routes.count && table.count < ROUTES_MAX; i++)
        if (strcmp(routes.items[i]->path, "/api/sql") != 0)
            items[table.count++] = routes.items[i];
    return &table;
}

struct arena *place_any_arena(void)
{
    static struct arena *arena;

    if (arena == NULL)
        arena = arena_create();
    return arena;
}

void place_any_forget(struct services *services)
{
    static struct arena *arena; /* of the cache that is open */
    struct str reason;
    struct error err = {0};

    if (arena == NULL)
        arena = arena_create();
    cache_close(services->cache);
    arena_reset(arena);
    must(cache_open(place_any(), 1 << 30, arena, &services->cache, &reason, &err), &err);
}

struct services *place_any_services(const struct decoder *decoder, const char *seed)
{
    static struct services services;
    char segment[PATH_BYTES], attribution[PATH_BYTES];
    struct error err = {0};

    place_any_forget(&services);
    must(catalog_open("/proc/no-place-to-write", &services.catalog, &err), &err);
    snprintf(segment, sizeof segment, "%s/1.seg", place_any());
    snprintf(attribution, sizeof attribution, "%s/1.attr", place_any());
    place_any_index(decoder, place_any_read(seed, place_any_arena()), segment, attribution);
    must(cache_adopt(services.cache, place_any_content, segment, attribution, &err), &err);
    put_run(services.catalog);
    services.routes = routes_alone();
    services.profile_dir = "/profiles";
    services.base_path = "";
    return &services;
}

int place_any_ask(const struct services *services, struct str path, struct str query)
{
    struct arena *arena = arena_create();
    struct request req = {
        .method = STR("GET"), .path = path, .query = query, .arena = arena, .services = services};
    struct reply reply = {0};

    serve_request(&req, &reply);
    if (reply.status >= 400 && reply_bytes(&reply).count == 0)
        abort();
    int status = reply.status;
    reply_free(&reply);
    arena_destroy(arena);
    return status;
}
