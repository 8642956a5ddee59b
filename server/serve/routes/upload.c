/* SPDX-License-Identifier: Apache-2.0 */
/* /api/upload: a profile file that a browser brings.
 *
 *   GET                             may it, and how much
 *   POST ?name=FILE&modified_ms=    the bytes as they are -> 201 {"run": ID, ...}, shown at once
 *        &batch=FOLDER&path=A/FILE  one of a folder's files, which become one run
 *   DELETE ?run=ID                  only what came this way
 *
 * The body is written to the cache as it comes, so its size costs no memory, and this handler stays
 * on the connection's thread. What the file holds is told by an indexing process, as for any other
 * stranger's file; what no decoder reads is not kept.
 */
#include "store/uploads.h"

#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "serve/access/gate.h"
#include "serve/answer/reply.h"
#include "serve/answer/request.h"
#include "serve/routes.h"
#include "serve/server.h"

enum {
    PIECE_BYTES = 4 << 10, /* read to its end: small, so that a slow one is noticed */
    UNDER_WAY_MAX = 4,
    SETTLED_MS = 3000,
    LOOK_MS = 20,
    LISTED_MS_MAX = 5000,
    PATIENCE_S = 60,            /* in which nothing is expected of a connection */
    SLOWEST_BYTES_PER_S = 4096, /* after it, on the whole: who sends less holds a place */
};

#define MS INT64_C(1000000)

static const struct param post_params[] = {
    {.name = "name", .kind = PARAM_TEXT, .required = true, .max = 1024},
    {.name = "modified_ms", .kind = PARAM_INTEGER, .min = 0, .max = INT64_MAX / MS},
    {.name = "batch", .kind = PARAM_TEXT, .max = UPLOAD_NAME_SIZE},
    {.name = "path", .kind = PARAM_TEXT, .max = UPLOAD_PLACE_SIZE},
    {.name = NULL},
};

static const struct param delete_params[] = {
    {.name = "run", .kind = PARAM_TEXT, .required = true, .max = 1024},
    {.name = NULL},
};

static const struct param no_params[] = {{.name = NULL}};

/* "" where files are taken. */
static struct str refusal(const struct request *req)
{
    const struct services *services = req->services;

    if (services->uploads == NULL || services->identify == NULL)
        return services->uploads_refusal != NULL ? str_of(services->uploads_refusal)
                                                 : STR("This server does not accept files.");
    return STR("");
}

static enum status get_upload(struct request *req, struct reply *reply, struct error *err)
{
    struct str reason = refusal(req);
    struct uploads *uploads = req->services->uploads;
    struct uploads_limits limits = {0};

    (void)err;
    if (reason.count == 0)
        limits = uploads_limits(uploads);
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_bool(&json, "allowed", reason.count == 0);
    json_put_text_or_null(&json, "reason", reason);
    json_put_unsigned(&json, "file_bytes_max", limits.file_bytes_max);
    json_put_unsigned(&json, "all_bytes_max", limits.all_bytes_max);
    json_put_unsigned(&json, "bytes", reason.count == 0 ? uploads_bytes(uploads) : 0);
    json_close(&json, '}');
    reply_header(reply, STR("Cache-Control"), STR("no-store"));
    return OK;
}

static bool is_stopping(const struct request *req)
{
    return req->server != NULL && atomic_load(&req->server->stopping);
}

static bool is_too_slow(uint64_t bytes, int64_t begin_ns)
{
    int64_t expected_s = PATIENCE_S + (int64_t)(bytes / SLOWEST_BYTES_PER_S);

    return clock_monotonic_ns() - begin_ns > expected_s * 1000 * MS;
}

/* Until all that was announced is there, or the end of chunks; what breaks off has no end. */
static enum status take_body(struct request *req, struct upload *upload, struct error *err)
{
    const struct coming *coming = req->coming;
    uint8_t *piece = arena_alloc(req->arena, PIECE_BYTES, 1);
    uint64_t announced = coming->bytes < 0 ? UINT64_MAX : (uint64_t)coming->bytes;
    int64_t begin_ns = clock_monotonic_ns();

    while (upload->bytes < announced) {
        uint64_t left = announced - upload->bytes;
        int got = coming->read(coming->data, piece, left < PIECE_BYTES ? left : PIECE_BYTES);

        if (got < 0)
            return fail(err, ERR_INVALID, "the body is incomplete");
        if (got == 0)
            break;
        if (is_stopping(req))
            return fail(err, ERR_CANCELLED, "the server is stopping");
        if (is_too_slow(upload->bytes + (uint64_t)got, begin_ns))
            return fail(err, ERR_INVALID, "the file arrives at less than %d bytes per second",
                        SLOWEST_BYTES_PER_S);
        TRY(upload_put(upload, (struct bytes){.at = piece, .count = (size_t)got}, err));
    }
    if (coming->bytes >= 0 && upload->bytes < announced)
        return fail(err, ERR_INVALID, "the body is shorter than its Content-Length");
    return OK;
}

static enum status identify(struct request *req, const struct upload *upload, struct str *ret,
                            struct error *err)
{
    char path[4096];

    if (upload->bytes == 0)
        return fail(err, ERR_UNSUPPORTED, "the file is empty");
    upload_path(upload, path);
    return req->services->identify(req->services->ingest, path, req->arena, ret, err);
}

/* What a client says about its file's age holds as far as it can be. A file that is here whole has
 * no writer to wait for. */
static int64_t modified_ns(const struct request *req)
{
    int64_t latest_ns = clock_unix_ns() - SETTLED_MS * MS;
    int64_t told_ns = request_integer(req, "modified_ms", 0) * MS;

    return told_ns > 0 && told_ns < latest_ns ? told_ns : latest_ns;
}

/* The ingest finds the file as it finds every other; whoever brought it hears of it once it is
 * listed, or after a while in any case. */
static void until_listed(struct request *req, const char *id)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS * MS};

    for (int i = 0; i < LISTED_MS_MAX / LOOK_MS && !is_stopping(req); i++) {
        struct run_record run;
        struct error unlisted = {0};

        if (catalog_run(req->services->catalog, str_of(id), req->arena, &run, &unlisted) == OK)
            return;
        nanosleep(&pause, NULL);
    }
}

static void put_taken(struct request *req, struct reply *reply, const struct upload *upload,
                      struct str format, const char *dir)
{
    char id[RUN_ID_SIZE];

    run_id_of(str_of(uploads_dir(upload->uploads)), str_of(dir), id);
    if (upload->place[0] == '\0') /* others of its folder follow: who brings them waits for all */
        until_listed(req, id);
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_text(&json, "run", str_copy(req->arena, str_of(id)));
    json_put_text(&json, "name", str_of(upload->run));
    json_put_text(&json, "dir", str_copy(req->arena, str_of(dir)));
    json_put_text(&json, "file", str_of(upload->file));
    json_put_text(&json, "format", format);
    json_put_unsigned(&json, "bytes", upload->bytes);
    json_close(&json, '}');
    reply->status = 201;
    log_info("uploaded %s: %llu bytes", upload->file, (unsigned long long)upload->bytes);
}

static enum status take_file(struct request *req, struct reply *reply, struct upload *upload,
                             struct error *err)
{
    char dir[4096];
    struct str format;
    struct str folder = request_text(req, "batch");

    if (folder.count > 0)
        TRY(upload_place(upload, folder, request_text(req, "path"), err));
    TRY(take_body(req, upload, err));
    TRY(identify(req, upload, &format, err));
    TRY(upload_finish(upload, modified_ns(req), dir, err));
    put_taken(req, reply, upload, format, dir);
    return OK;
}

/* The statuses that say what a client can do about it. */
static enum status told(struct request *req, struct reply *reply, struct error *err)
{
    static const struct {
        enum status code;
        int status;
        const char *type;
    } rows[] = {
        {ERR_LIMIT, 413, "too-large"},           {ERR_IO, 507, "no-room"},
        {ERR_UNSUPPORTED, 415, "not-a-profile"}, {ERR_FORMAT, 415, "not-a-profile"},
        {ERR_TRUNCATED, 415, "not-a-profile"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        if (rows[i].code == err->code) {
            reply_problem(reply, rows[i].status, rows[i].type,
                          str_copy(req->arena, str_of(err->message)));
            return OK;
        }
    }
    return err->code;
}

static bool enter(struct server *server)
{
    if (atomic_fetch_add(&server->uploads_under_way, 1) < UNDER_WAY_MAX)
        return true;
    atomic_fetch_sub(&server->uploads_under_way, 1);
    return false;
}

static enum status post_upload(struct request *req, struct reply *reply, struct error *err)
{
    struct str reason = refusal(req);
    struct upload upload;

    if ((request_text(req, "batch").count == 0) != (request_text(req, "path").count == 0))
        return fail(err, ERR_INVALID, "batch and path must be given together");
    if (reason.count > 0 || req->coming == NULL || req->server == NULL) {
        reply_problem(reply, 403, "uploads-off",
                      reason.count > 0 ? reason : STR("Only a server accepts files."));
        return OK;
    }
    if (!enter(req->server)) {
        reply_problem(reply, 503, "busy", STR("Four uploads are in progress; try again later."));
        reply_header(reply, STR("Retry-After"), STR("5"));
        return OK;
    }
    enum status status = upload_begin(req->services->uploads, request_text(req, "name"),
                                      req->coming->bytes, &upload, err);
    if (status == OK) {
        status = take_file(req, reply, &upload, err);
        upload_abandon(&upload);
    }
    atomic_fetch_sub(&req->server->uploads_under_way, 1);
    return status == OK ? OK : told(req, reply, err);
}

/* What was computed from it goes, too; where another run holds the same bytes it is made again. */
static void forget_contents(const struct services *services, const struct run_record *run)
{
    for (uint32_t i = 0; i < run->run_file_count; i++) {
        const char *content = run->files[i].content;
        char path[4096];

        if (content[0] == '\0')
            continue;
        cache_segment_path(services->cache, content, path);
        unlink(path);
        cache_attribution_path(services->cache, content, path);
        unlink(path);
    }
}

static enum status delete_upload(struct request *req, struct reply *reply, struct error *err)
{
    const struct services *services = req->services;
    const struct run_record *run;
    struct str reason = refusal(req);

    if (reason.count > 0) {
        reply_problem(reply, 403, "uploads-off", reason);
        return OK;
    }
    TRY(request_run(req, &run, err));
    if (!str_equal(run->root, str_of(uploads_dir(services->uploads)))) {
        reply_problem(
            reply, 403, "not-uploaded",
            STR("This run is in a profile directory; only uploaded runs can be deleted here."));
        return OK;
    }
    TRY(uploads_remove(services->uploads, run->dir, err));
    forget_contents(services, run);
    TRY(catalog_forget(services->catalog, run->id, err));
    reply->status = 204;
    return OK;
}

const struct route route_upload_ask = {.method = "GET",
                                       .path = GATE_UPLOAD_PATH,
                                       .handle = get_upload,
                                       .params = no_params,
                                       .light = true};
const struct route route_upload = {.method = "POST",
                                   .path = GATE_UPLOAD_PATH,
                                   .handle = post_upload,
                                   .params = post_params,
                                   .light = true,
                                   .takes_file = true};
const struct route route_upload_delete = {.method = "DELETE",
                                          .path = GATE_UPLOAD_PATH,
                                          .handle = delete_upload,
                                          .params = delete_params,
                                          .age = AGE_CATALOG};
