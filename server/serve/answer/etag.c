/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes all that an answer depends on: run, files, parameters, program, catalog. */
#include "serve/answer/etag.h"

#include <pthread.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/hash.h"
#include "store/user.h"

/* This very program file, and this start of it: the catalog's generation begins anew with it. */
static struct {
    struct {
        uint64_t inode, size, modified_ns;
    } program;
    int64_t started_ns;
} build;
static pthread_once_t build_once = PTHREAD_ONCE_INIT;

static void build_read(void)
{
    struct stat info;

    build.started_ns = clock_unix_ns();
    if (stat("/proc/self/exe", &info) != 0)
        return;
    build.program.inode = (uint64_t)info.st_ino;
    build.program.size = (uint64_t)info.st_size;
    build.program.modified_ns =
        (uint64_t)info.st_mtim.tv_sec * 1000000000u + (uint64_t)info.st_mtim.tv_nsec;
}

static void put_str(struct hasher *hasher, struct str text)
{
    uint64_t count = text.count;

    hasher_put(hasher, (struct bytes){.at = (const uint8_t *)&count, .count = sizeof count});
    hasher_put(hasher, (struct bytes){.at = (const uint8_t *)text.at, .count = text.count});
}

static void put_number(struct hasher *hasher, uint64_t number)
{
    hasher_put(hasher, (struct bytes){.at = (const uint8_t *)&number, .count = sizeof number});
}

static struct hasher *begin(const struct request *req)
{
    struct hasher *hasher = hasher_create();

    pthread_once(&build_once, build_read);
    hasher_put(hasher, (struct bytes){.at = (const uint8_t *)&build.program,
                                      .count = sizeof build.program});
    put_str(hasher, req->path);
    put_str(hasher, req->query);
    return hasher;
}

static struct str end(const struct request *req, struct hasher *hasher)
{
    char hex[33];

    hash128_hex(hasher_end(hasher), hex);
    return str_format(req->arena, "W/\"%s\"", hex);
}

static void put_run(struct hasher *hasher, const struct run_record *run)
{
    put_str(hasher, run->id);
    put_str(hasher, run->name);
    put_str(hasher, run->content_id);
    put_str(hasher, run->error);
    put_number(hasher, run->state);
    put_number(hasher, (uint64_t)(run->progress * 1e6));
    for (uint32_t i = 0; i < run->run_file_count; i++) {
        put_str(hasher, run->files[i].path);
        put_number(hasher, run->files[i].state);
        put_str(hasher, str_of(run->files[i].content));
        put_str(hasher, run->files[i].error);
    }
    for (uint32_t i = 0; i < run->host_count; i++) {
        put_str(hasher, str_of(run->hosts[i].content));
        put_number(hasher, (uint64_t)run->hosts[i].offset_ps);
    }
}

struct str etag_of_run(const struct request *req, const struct run_record *run)
{
    struct hasher *hasher = begin(req);

    put_run(hasher, run);
    put_number(hasher, run->about.stamp);
    return end(req, hasher);
}

/* How a run was named, how long one waits, and what part of a kept table one reads, and how. */
static bool is_of_reader(const struct route *route, const struct param *param)
{
    static const char *const always[] = {"run", "wait_ms"};
    static const char *const of_tables[] = {"limit", "cursor", "sort", "format"};

    for (size_t i = 0; i < COUNT(always); i++) {
        if (strcmp(param->name, always[i]) == 0)
            return true;
    }
    for (size_t i = 0; i < COUNT(of_tables) && route->is_table; i++) {
        if (strcmp(param->name, of_tables[i]) == 0)
            return true;
    }
    return false;
}

/* Of the words that tell a table's rows apart the first is meant where none is given. */
static struct str given_or_meant(const struct request *req, const struct param *param)
{
    struct str given = request_text(req, param->name);
    const char *end = param->words == NULL ? NULL : strchr(param->words, '|');

    if (given.count > 0 || end == NULL || strcmp(param->name, "by") != 0 ||
        !request_route(req)->is_table)
        return given;
    return (struct str){.at = param->words, .count = (size_t)(end - param->words)};
}

static struct hasher *begin_key(struct str what)
{
    struct hasher *hasher = hasher_create();

    pthread_once(&build_once, build_read);
    hasher_put(hasher, (struct bytes){.at = (const uint8_t *)&build.program,
                                      .count = sizeof build.program});
    put_str(hasher, what);
    return hasher;
}

static bool end_key(struct hasher *hasher, const struct run_record *run, struct hash128 *ret)
{
    put_run(hasher, run);
    put_number(hasher, run->has_epoch);
    put_number(hasher, (uint64_t)run->epoch_ns);
    for (uint32_t i = 0; i < run->host_count; i++)
        put_str(hasher, run->hosts[i].name);
    *ret = hasher_end(hasher);
    return build.program.inode != 0;
}

bool answer_key_of(struct str what, const struct run_record *run, struct hash128 *ret)
{
    return end_key(begin_key(what), run, ret);
}

bool answer_key(const struct request *req, const struct run_record *run, struct hash128 *ret)
{
    struct hasher *hasher = begin_key(req->path);

    for (const struct param *param = request_route(req)->params; param->name != NULL; param++) {
        if (!is_of_reader(request_route(req), param))
            put_str(hasher, given_or_meant(req, param));
    }
    return end_key(hasher, run, ret);
}

struct str etag_of_catalog(const struct request *req)
{
    struct hasher *hasher = begin(req);
    struct scan_state scan = catalog_scan(req->services->catalog);

    put_number(hasher, (uint64_t)build.started_ns);
    put_number(hasher, catalog_generation(req->services->catalog));
    put_number(hasher, user_generation(req->services->user));
    put_number(hasher, scan.active);
    put_number(hasher, scan.directories);
    put_number(hasher, scan.files);
    return end(req, hasher);
}

struct str etag_of_build(const struct request *req)
{
    return end(req, begin(req));
}

bool etag_matches(struct str if_none_match, struct str etag)
{
    if (str_equal(if_none_match, STR("*")))
        return true;
    struct str strong = str_skip(etag, 2); /* without W/ */
    return etag.count > 2 && str_contains(if_none_match, strong);
}
