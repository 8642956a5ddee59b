/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/bundle?run=&raw=&html=: the run as one file that opens anywhere.
 *
 *   step_500.jvz   the segments, what people wrote of the run, jview.json, and with raw=yes the
 *                  profile files themselves (serve/bundle/bundle_manifest.h)
 *   step_500.html  with html=yes: a summary that any browser opens (serve/bundle/bundle_html.h)
 *
 * What a segment's attribution, tables and findings say is made again where it is opened: it is a
 * function of the segment.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>

#include "base/file.h"
#include "base/pack/pack_cold.h"
#include "export/bundle.h"
#include "serve/answer/file_name.h"
#include "serve/answer/reply.h"
#include "serve/bundle/about.h"
#include "serve/bundle/bundle_html.h"
#include "serve/bundle/bundled.h"
#include "serve/routes.h"
#include "serve/server.h"
#include "store/segment.h"

static const struct param params[] = {
    PARAMS_RUN,
    {.name = "raw", .kind = PARAM_WORD, .words = "no|yes"},
    {.name = "html", .kind = PARAM_WORD, .words = "no|yes"},
    {.name = NULL},
};

enum { PATH_SIZE = 4096 };

struct making { /* a bundle on its way */
    const struct services *services;
    struct server *server;
    struct arena *arena;
    struct str run_id;
    struct bundle_member *members;
    const struct run_file **files; /* of each member */
    uint32_t member_count;
    struct bundle_part *parts; /* segments, then raw files */
    uint32_t *member_of;       /* of each part */
    uint32_t part_count, segment_count;
    struct str manifest;
};

static enum status open_segment(const struct making *making, const char *content, int *ret_fd,
                                struct error *err)
{
    struct file_stamp stamp;
    char path[4096];

    cache_segment_path(making->services->cache, content, path);
    return file_open(path, ret_fd, &stamp, err);
}

/* What it was before it was put away packed, in a nameless file. */
static enum status unpack_raw(const struct making *making, const struct cold *cold, int packed,
                              int *ret_fd, struct error *err)
{
    char *dir = arena_alloc(making->arena, PATH_SIZE, 1);

    TRY(cache_temporary_dir(making->services->cache, dir, err));
    int fd = open(dir, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail(err, ERR_IO, "no temporary file can be written to the cache: %s",
                    strerror(errno));
    enum status status = cold_unpack(packed, cold, fd, err);
    if (status != OK)
        file_close(fd);
    else
        *ret_fd = fd;
    return status;
}

/* ret_cold->bytes is 0 where it lies there as it was. */
static enum status open_raw(const struct making *making, const struct run_file *file, int *ret_fd,
                            struct cold *ret_cold, struct error *err)
{
    uint64_t bytes;

    TRY(making->services->open_file(making->services->ingest, making->run_id, file->path, ret_fd,
                                    &bytes, err));
    if (!str_ends(file->path, STR(COLD_SUFFIX)) || !cold_of(*ret_fd, ret_cold))
        *ret_cold = (struct cold){0};
    return OK;
}

static enum status open_raw_part(const struct making *making, const struct run_file *file,
                                 int *ret_fd, struct error *err)
{
    struct cold cold;
    int fd;

    TRY(open_raw(making, file, &fd, &cold, err));
    *ret_fd = fd;
    if (cold.bytes == 0)
        return OK;
    enum status status = unpack_raw(making, &cold, fd, ret_fd, err);
    file_close(fd);
    return status;
}

static enum status open_part(const void *data, uint32_t part, int *ret_fd, struct error *err)
{
    const struct making *making = data;
    const struct run_file *file = making->files[making->member_of[part]];

    return part < making->segment_count ? open_segment(making, file->content, ret_fd, err)
                                        : open_raw_part(making, file, ret_fd, err);
}

static bool is_stopping(void *data)
{
    struct server *server = data;

    return server != NULL && atomic_load(&server->stopping);
}

static struct bundle_parts parts_of(const struct making *making)
{
    return (struct bundle_parts){.manifest_name = STR(BUNDLE_MANIFEST),
                                 .manifest = making->manifest,
                                 .parts = making->parts,
                                 .count = making->part_count,
                                 .open = open_part,
                                 .cancelled = is_stopping,
                                 .cancelled_data = making->server,
                                 .data = making};
}

static enum status stream_bundle(void *data, pack_write *write, void *to, struct error *err)
{
    const struct bundle_parts parts = parts_of(data);

    return export_bundle(&parts, write, to, err);
}

static struct bundle_blob blob_of(const struct bundle_part *part)
{
    struct bundle_blob blob = {.name = part->name, .bytes = part->bytes};

    memcpy(blob.hash, part->hash, sizeof blob.hash);
    return blob;
}

static struct bundle_part *add_part(struct making *making, uint32_t member, struct str name)
{
    making->member_of[making->part_count] = member;
    making->parts[making->part_count].name = name;
    return &making->parts[making->part_count++];
}

/* Of a run that came as a bundle, the members are those of that bundle. */
static enum status add_member(struct making *making, const struct run_file *file, struct error *err)
{
    struct bundle_member *member = &making->members[making->member_count];
    struct bundled_file known;

    TRY(bundled_file(making->services->catalog, file->content, making->arena, &known, err));
    *member = (struct bundle_member){
        .host = known.host.count > 0 ? known.host : file->host,
        .path = path_base(file->path),
        .part = file->part,
        .bytes = known.bytes,
        .segment.name = STR(""),
        .raw.name = STR(""),
    };
    memcpy(member->content, known.origin, sizeof member->content);
    making->files[making->member_count++] = file;
    return OK;
}

static enum status add_segments(struct making *making, struct error *err)
{
    const struct bundle_parts parts = parts_of(making);

    for (uint32_t i = 0; i < making->member_count; i++) {
        struct str name = str_format(making->arena, "segments/%u", i);
        struct bundle_part *part = add_part(making, i, name);
        int fd;

        TRY(open_segment(making, making->files[i]->content, &fd, err));
        enum status status = bundle_measure(fd, &parts, part, err);
        file_close(fd);
        TRY(status);
        making->members[i].segment = blob_of(part);
    }
    making->segment_count = making->part_count;
    return OK;
}

/* Their hashes are known: they are what the index calls them by. */
static enum status add_raw_files(struct making *making, struct error *err)
{
    if (making->services->open_file == NULL)
        return fail(err, ERR_UNSUPPORTED, "only a server hands out profile files");
    for (uint32_t i = 0; i < making->member_count; i++) {
        const struct run_file *file = making->files[i];
        struct bundle_member *member = &making->members[i];
        struct cold cold;
        int fd;

        TRY(open_raw(making, file, &fd, &cold, err));
        file_close(fd);
        if (cold.bytes > 0)
            member->path.count -= sizeof COLD_SUFFIX - 1;
        struct str name = str_format(making->arena, "raw/%u/%.*s", i, STR_ARG(member->path));
        struct bundle_part *part = add_part(making, i, str_utf8(making->arena, name));

        part->bytes = cold.bytes > 0 ? cold.bytes : file->bytes;
        memcpy(part->hash, file->content, sizeof part->hash);
        making->members[i].raw = blob_of(part);
    }
    return OK;
}

static enum status add_members(struct making *making, const struct run_record *run,
                               struct error *err)
{
    const uint32_t count = run->run_file_count;

    making->members = arena_array(making->arena, struct bundle_member, count + 1);
    making->files = arena_array(making->arena, const struct run_file *, count + 1);
    making->parts = arena_array(making->arena, struct bundle_part, 2 * (size_t)count + 1);
    making->member_of = arena_array(making->arena, uint32_t, 2 * (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++) {
        if (run->files[i].content[0] == '\0')
            continue;
        if (making->member_count == BUNDLE_MEMBERS_MAX)
            return fail(err, ERR_LIMIT, "the run has more files than the %d that a bundle can hold",
                        BUNDLE_MEMBERS_MAX);
        TRY(add_member(making, &run->files[i], err));
    }
    return add_segments(making, err);
}

static enum status write_said(struct request *req, const struct run_record *run, struct str *ret,
                              struct error *err)
{
    struct bundle_said said = {
        .run = run->name, .content_id = run->content_id, .program = STR("jviewd " JVIEWD_VERSION)};
    struct user_note *notes;
    struct user_tag *tags;

    TRY(user_notes(req->services->user, run->content_id, req->arena, &notes, &said.note_count,
                   err));
    TRY(user_tags(req->services->user, run->content_id, req->arena, &tags, &said.tag_count, err));
    struct str *words = arena_array(req->arena, struct str, said.tag_count + 1);
    for (uint32_t i = 0; i < said.tag_count; i++)
        words[i] = tags[i].tag;
    said.notes = notes;
    said.tags = words;
    said.about =
        run_is_bundle(run) ? STR("") : bundled_about_text(req->services->catalog, run, req->arena);
    bundled_add(req->services->catalog, run, req->arena, &said);
    return bundle_said_write(&said, req->arena, ret, err);
}

static enum status make(struct request *req, const struct run_record *run, struct making *making,
                        struct error *err)
{
    struct bundle bundle = {.program = STR("jviewd " JVIEWD_VERSION),
                            .segment_version = SEGMENT_VERSION,
                            .kind_rules_version = KIND_RULES_VERSION};

    TRY(add_members(making, run, err));
    if (request_is(req, "raw", "yes")) {
        if (run_is_bundle(run))
            return fail(
                err, ERR_INVALID,
                "run \"%.*s\" came as a bundle: its profile files, if any, are in that file",
                STR_ARG(run->name));
        TRY(add_raw_files(making, err));
    }
    TRY(write_said(req, run, &bundle.said, err));
    bundle.members = making->members;
    bundle.member_count = making->member_count;
    making->manifest = bundle_write(&bundle, req->arena);
    return OK;
}

static enum status get_bundle(struct request *req, struct reply *reply, struct error *err)
{
    struct making *making = arena_new(req->arena, struct making);
    const struct run_traces *traces;
    const struct run_record *run;

    reply_header(reply, STR("Cache-Control"), STR("no-store"));
    TRY(request_all_traces(req, &traces, err));
    TRY(request_run(req, &run, err));
    if (run->content_id.count == 0)
        return fail(err, ERR_NOT_READY, "run \"%.*s\" has files that have not been read yet",
                    STR_ARG(run->name));
    if (request_is(req, "html", "yes"))
        return request_is(req, "raw", "yes")
                   ? fail(err, ERR_INVALID,
                          "a page cannot hold profile files: choose either raw or html")
                   : bundle_html(req, run, traces, reply, err);
    *making = (struct making){
        .services = req->services, .server = req->server, .arena = req->arena, .run_id = run->id};
    TRY(make(req, run, making, err));
    reply->status = 200;
    reply->type = "application/vnd.jviewd.bundle+zip";
    reply->stream = stream_bundle;
    reply->stream_data = making;
    reply_header(reply, STR("Content-Disposition"), attachment(req->arena, run->name, ".jvz"));
    return OK;
}

/* What people write of a run goes into it, which no tag of a run tells. */
static const struct verb verb = {.name = "bundle",
                                 .summary = "the run as one file that opens on any machine",
                                 .operands = "RUN"};

const struct route route_bundle = {.method = "GET",
                                   .path = "/api/bundle",
                                   .handle = get_bundle,
                                   .params = params,
                                   .heavy = true,
                                   .age = AGE_NONE,
                                   .verb = &verb};
