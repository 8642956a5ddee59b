/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/source?file=&line=: some lines of a source file around one that a profile names.
 *
 *   profile    /home/user/project/model/layers.py:41          a path of the machine it ran on
 *   roots      --source-root ~/project
 *   tried      model/layers.py, layers.py below each root     the longest end that is there
 *
 * Only below those roots: no link, no "..", nothing hidden, regular files of text only. Without a
 * root there is nothing to read here.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/file.h"
#include "serve/answer/reply.h"
#include "serve/routes.h"

enum {
    SOURCE_BYTES_MAX = 4 << 20,
    LINE_BYTES_MAX = 2000,
    AROUND_DEFAULT = 20,
    AROUND_MAX = 200,
    ENDS_MAX = 32, /* of one path */
};

static const struct param params[] = {
    {.name = "file", .kind = PARAM_TEXT, .required = true, .min = 1, .max = 4096},
    {.name = "line", .kind = PARAM_INTEGER, .min = 1, .max = INT32_MAX},
    {.name = "around", .kind = PARAM_INTEGER, .min = 0, .max = AROUND_MAX},
    {.name = NULL},
};

/* Every element an ordinary name: not empty but for the first, not hidden, neither "." nor "..". */
static bool is_plain_path(struct str path)
{
    size_t begin = 0;

    for (size_t i = 0; i <= path.count; i++) {
        if (i < path.count && ((unsigned char)path.at[i] < ' ' || path.at[i] == '\\'))
            return false;
        if (i < path.count && path.at[i] != '/')
            continue;
        if ((i == begin && i > 0) || (i > begin && path.at[begin] == '.'))
            return false;
        begin = i + 1;
    }
    return path.count > 0;
}

static enum status open_below(struct str root, struct str path, struct arena *arena, int *ret_fd,
                              struct file_stamp *ret, struct error *err)
{
    int root_fd = open(str_c(arena, root), O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (root_fd < 0)
        return fail(err, ERR_NOT_FOUND, "a --source-root does not exist: %s", strerror(errno));

    enum status status = file_open_beneath(root_fd, str_c(arena, path), false, ret_fd, ret, err);

    file_close(root_fd);
    return status;
}

/* The longest end of the path that stands below a root. */
static enum status open_source(const struct services *services, struct str file,
                               struct arena *arena, struct str *ret_root, struct str *ret_path,
                               int *ret_fd, struct file_stamp *ret, struct error *err)
{
    struct str end = file;

    for (int i = 0; i < ENDS_MAX && end.count > 0; i++) {
        while (end.count > 0 && end.at[0] == '/')
            end = str_skip(end, 1);
        for (uint32_t root = 0; root < services->source_root_count && end.count > 0; root++) {
            struct error ignored = {0};

            if (open_below(services->source_roots[root], end, arena, ret_fd, ret, &ignored) == OK) {
                *ret_root = services->source_roots[root];
                *ret_path = end;
                return OK;
            }
        }
        while (end.count > 0 && end.at[0] != '/')
            end = str_skip(end, 1);
    }
    return fail(err, ERR_NOT_FOUND, "no --source-root contains a file whose path ends in %.*s",
                STR_ARG(file));
}

static enum status read_text(int fd, const struct file_stamp *stamp, struct str file,
                             struct arena *arena, struct str *ret, struct error *err)
{
    size_t count = 0;

    if (stamp->size > SOURCE_BYTES_MAX)
        return fail(err, ERR_LIMIT, "%.*s has %" PRIu64 " bytes; sources of up to %d are shown",
                    STR_ARG(file), stamp->size, (int)SOURCE_BYTES_MAX);

    char *text = arena_alloc(arena, stamp->size + 1, 1);

    while (count < stamp->size) {
        ssize_t got = pread(fd, text + count, stamp->size - count, (off_t)count);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail(err, ERR_IO, "%.*s: %s", STR_ARG(file), strerror(errno));
        if (got == 0)
            break; /* shorter by now */
        count += (size_t)got;
    }
    if (memchr(text, '\0', count) != NULL)
        return fail(err, ERR_UNSUPPORTED, "%.*s is not a text", STR_ARG(file));
    *ret = (struct str){.at = text, .count = count};
    return OK;
}

static bool next_line(struct str *rest, struct str *ret)
{
    const char *end;

    if (rest->count == 0)
        return false;
    end = memchr(rest->at, '\n', rest->count);
    *ret =
        (struct str){.at = rest->at, .count = end == NULL ? rest->count : (size_t)(end - rest->at)};
    *rest = str_skip(*rest, ret->count + 1);
    if (ret->count > 0 && ret->at[ret->count - 1] == '\r')
        ret->count--;
    if (ret->count > LINE_BYTES_MAX)
        ret->count = LINE_BYTES_MAX;
    return true;
}

static void put_lines(struct json *json, struct str text, int64_t first, int64_t last)
{
    struct str line;
    int64_t number = 0;

    json_key(json, "lines");
    json_open(json, '[');
    while (next_line(&text, &line)) {
        if (++number >= first && number <= last)
            json_add_text(json, line);
    }
    json_close(json, ']');
    json_put_integer(json, "line_count", number);
}

static enum status get_source(struct request *req, struct reply *reply, struct error *err)
{
    const struct services *services = req->services;
    struct str file = request_text(req, "file"), root, path, text = {0};
    int64_t line = request_integer(req, "line", 1);
    int64_t around = request_integer(req, "around", AROUND_DEFAULT);
    struct file_stamp stamp;
    int fd = -1;

    if (services->source_root_count == 0)
        return fail(err, ERR_NOT_FOUND,
                    "this server shows no sources: start it with --source-root DIR");
    if (!is_plain_path(file))
        return fail(err, ERR_INVALID, "file= is no path of a source file");
    TRY(open_source(services, file, req->arena, &root, &path, &fd, &stamp, err));

    enum status status = read_text(fd, &stamp, path, req->arena, &text, err);

    file_close(fd);
    TRY(status);

    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_text(&json, "file", file);
    json_put_text(&json, "root", root);
    json_put_text(&json, "path", path);
    json_put_integer(&json, "modified_ns", stamp.modified_ns);
    json_put_integer(&json, "line", line);
    json_put_integer(&json, "first_line", line > around ? line - around : 1);
    put_lines(&json, text, line - around, line + around);
    json_close(&json, '}');
    reply_header(reply, STR("Cache-Control"), STR("no-store"));
    return OK;
}

const struct route route_source = {
    .method = "GET", .path = "/api/source", .handle = get_source, .params = params};
