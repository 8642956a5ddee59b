/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/trace?run=&format=: the run, or a window of it, as a file of another format.
 *
 *   perfetto   Chrome JSON, gzipped: for ui.perfetto.dev
 *   chrome     the same, plain
 *   csv        a line a slice
 *   xplane     what the JAX profiler writes and XProf reads, of one host
 *   raw        the profile file itself, of one host
 *
 * GET /perfetto/RUN.json.gz is the first of them under a path without a query, because that is all
 * that Perfetto's page may fetch.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "export/export.h"
#include "serve/answer/file_name.h"
#include "serve/answer/reply.h"
#include "serve/routes.h"
#include "serve/server.h"

enum { PIECE_BYTES = 1 << 20 };

static const struct param params[] = {
    PARAMS_RUN,
    PARAMS_WINDOW,
    {.name = "format", .kind = PARAM_WORD, .words = "perfetto|chrome|csv|xplane|raw"},
    {.name = "host", .kind = PARAM_TEXTS},
    {.name = NULL},
};

typedef enum status exporter(const struct export_run *run, pack_write *write, void *to,
                             struct error *err);

struct transfer { /* what a stream still needs */
    struct export_run run;
    exporter *export;
    bool gzip;
    const struct services *services;
};

static bool is_stopping(void *data)
{
    struct server *server = data;

    return server != NULL && atomic_load(&server->stopping);
}

static enum status gzip_put(void *to, struct bytes piece, struct error *err)
{
    return gzip_out_put(to, piece, err);
}

static enum status stream_export(void *data, pack_write *write, void *to, struct error *err)
{
    struct transfer *transfer = data;

    if (!transfer->gzip)
        return transfer->export(&transfer->run, write, to, err);
    struct gzip_out *out = gzip_out_open(write, to);
    enum status status = transfer->export(&transfer->run, gzip_put, out, err);
    enum status closed = gzip_out_close(out, err);
    return status != OK ? status : closed;
}

static enum status begin_export(struct request *req, struct transfer *transfer, struct error *err)
{
    const struct run_traces *run;

    TRY(transfer->export == export_xspace ? request_all_traces(req, &run, err)
                                          : request_traces(req, &run, err));
    struct restriction asked;
    TRY(request_restriction(req, &asked, err));
    struct export_host *hosts = arena_array(req->arena, struct export_host, run->host_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < run->host_count; i++) {
        if (host_is_asked(&asked, run->hosts[i].name))
            hosts[count++] = (struct export_host){.trace = run->hosts[i].trace,
                                                  .name = run->hosts[i].name,
                                                  .offset_ps = run->hosts[i].offset_ps};
    }
    const struct trace **others = arena_array(req->arena, const struct trace *, run->other_count);

    for (uint32_t i = 0; i < run->other_count; i++)
        others[i] = run->others[i].trace;
    transfer->run = (struct export_run){.hosts = hosts,
                                        .host_count = count,
                                        .others = others,
                                        .other_count = run->other_count,
                                        .name = run->name,
                                        .has_epoch = run->has_epoch,
                                        .epoch_ns = run->epoch_ns,
                                        .cancelled = is_stopping,
                                        .data = req->server};
    transfer->run.has_window = request_has(req, "start_ps") || request_has(req, "end_ps");
    return request_window(req, &transfer->run.start_ps, &transfer->run.end_ps, err);
}

static enum status send_export(struct request *req, struct reply *reply, exporter *export,
                               bool gzip, const char *type, const char *suffix, struct error *err)
{
    struct transfer *transfer = arena_new(req->arena, struct transfer);

    transfer->export = export;
    TRY(begin_export(req, transfer, err));
    transfer->services = req->services;
    transfer->gzip = gzip;
    reply->status = 200;
    reply->type = type;
    reply->stream = stream_export;
    reply->stream_data = transfer;
    reply_header(reply, STR("Content-Disposition"),
                 attachment(req->arena, transfer->run.name, suffix));
    return OK;
}

struct raw { /* a profile file, opened when its turn comes */
    const struct services *services;
    struct str run_id, path;
};

static enum status raw_open(const struct raw *raw, int *ret_fd, struct error *err)
{
    uint64_t bytes;

    if (raw->services->open_file == NULL)
        return fail(err, ERR_UNSUPPORTED, "only a server hands out profile files");
    return raw->services->open_file(raw->services->ingest, raw->run_id, raw->path, ret_fd, &bytes,
                                    err);
}

static enum status copy(int fd, pack_write *write, void *to, struct error *err)
{
    uint8_t *piece = memory_resize(NULL, PIECE_BYTES, 1);
    enum status status = OK;

    while (status == OK) {
        ssize_t got = read(fd, piece, PIECE_BYTES);

        if (got < 0)
            status = fail(err, ERR_IO, "the file cannot be read");
        if (got <= 0)
            break;
        status = write(to, (struct bytes){.at = piece, .count = (size_t)got}, err);
    }
    free(piece);
    return status;
}

static enum status stream_raw(void *data, pack_write *write, void *to, struct error *err)
{
    int fd;

    TRY(raw_open(data, &fd, err));
    enum status status = copy(fd, write, to, err);
    file_close(fd);
    return status;
}

static bool is_read(const struct run_file *file)
{
    return file->state == FILE_READY || file->state == FILE_PARTIAL;
}

/* The file that stands for a host; of several hosts one must be named. */
static enum status find_file(struct request *req, const struct run_record *run, struct str *ret,
                             struct error *err)
{
    struct str host = request_text(req, "host");
    const struct run_file *found = NULL;
    uint32_t count = 0;

    for (uint32_t i = 0; i < run->run_file_count; i++) {
        if (is_read(&run->files[i]) && (host.count == 0 || str_equal(run->files[i].host, host))) {
            found = &run->files[i];
            count++;
        }
    }
    if (found == NULL)
        return fail(err, ERR_NOT_FOUND, "run \"%.*s\" has no profile file that could be read%s",
                    STR_ARG(run->name), host.count > 0 ? " of that host" : "");
    if (count > 1)
        return fail(err, ERR_INVALID, "run \"%.*s\" has %u files: say which with host=%.*s",
                    STR_ARG(run->name), count, STR_ARG(found->host));
    *ret = found->path;
    return OK;
}

static enum status send_raw(struct request *req, struct reply *reply, struct error *err)
{
    struct raw *raw = arena_new(req->arena, struct raw);
    const struct run_record *run;
    int fd;

    TRY(request_run(req, &run, err));
    *raw = (struct raw){.services = req->services, .run_id = run->id};
    TRY(find_file(req, run, &raw->path, err));
    TRY(raw_open(raw, &fd, err));
    file_close(fd);
    struct str base = path_base(raw->path);
    reply->status = 200;
    reply->type = "application/octet-stream";
    reply->stream = stream_raw;
    reply->stream_copies = true;
    reply->stream_data = raw;
    reply_header(reply, STR("Content-Disposition"), attachment(req->arena, base, ""));
    return OK;
}

/* A file of this format is one host's: of several one must be named. */
static enum status send_xplane(struct request *req, struct reply *reply, struct error *err)
{
    TRY(send_export(req, reply, export_xspace, false, "application/octet-stream", ".xplane.pb",
                    err));
    const struct export_run *run = &((struct transfer *)reply->stream_data)->run;

    if (run->host_count == 1)
        return OK;
    if (run->host_count == 0)
        return fail(err, ERR_NOT_FOUND, "run \"%.*s\" has no timeline of that host",
                    STR_ARG(run->name));
    return fail(err, ERR_INVALID, "run \"%.*s\" has %u hosts: say which with host=%.*s",
                STR_ARG(run->name), run->host_count, STR_ARG(run->hosts[0].name));
}

static enum status get_trace(struct request *req, struct reply *reply, struct error *err)
{
    if (request_is(req, "format", "raw"))
        return send_raw(req, reply, err);
    if (request_is(req, "format", "csv"))
        return send_export(req, reply, export_csv, false, "text/csv; charset=utf-8", ".csv", err);
    if (request_is(req, "format", "xplane"))
        return send_xplane(req, reply, err);
    if (request_is(req, "format", "chrome"))
        return send_export(req, reply, export_chrome, false, TYPE_JSON, ".json", err);
    return send_export(req, reply, export_chrome, true, "application/gzip", ".json.gz", err);
}

static void tell_fetched(void *data)
{
    const struct transfer *transfer = data;

    transfer->services->perfetto_fetched(transfer->services->ingest);
}

static enum status get_perfetto(struct request *req, struct reply *reply, struct error *err)
{
    struct str name = str_skip(req->path, sizeof "/perfetto/" - 1);
    const struct str suffix = STR(".json.gz");

    if (!req->services->perfetto_cors)
        return fail(err, ERR_NOT_FOUND,
                    "traces are handed to ui.perfetto.dev where the server was started with "
                    "--perfetto-cors; /api/trace gives the same file");
    if (!str_ends(name, suffix))
        return fail(err, ERR_NOT_FOUND, "the address is /perfetto/RUN.json.gz");
    name.count -= suffix.count;
    request_name_run(req, name);
    TRY(send_export(req, reply, export_chrome, true, "application/gzip", ".json.gz", err));
    if (req->services->perfetto_fetched != NULL)
        reply->stream_sent = tell_fetched;
    return OK;
}

static const struct verb verb = {
    .name = "extract", .summary = "the run as a file of another format", .operands = "RUN"};

const struct route route_trace = {.method = "GET",
                                  .path = "/api/trace",
                                  .handle = get_trace,
                                  .params = params,
                                  .heavy = true,
                                  .verb = &verb};
const struct route route_perfetto = {
    .method = "GET", .path = "/perfetto/*", .handle = get_perfetto, .heavy = true};
