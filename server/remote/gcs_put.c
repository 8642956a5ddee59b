/* SPDX-License-Identifier: Apache-2.0 */
/* Google's resumable upload: one address for all parts, which follow one another.
 *
 *   POST .../o?uploadType=resumable&name=      -> Location
 *   PUT Location, Content-Range: bytes 0-8388607/20000000      -> 308, and 200 for the last one
 *   DELETE Location                            nothing is kept
 */
#include "remote/digest_parts.h"
#include "remote/remote_parts.h"

static struct str query_of(const struct put *put, const char *type, struct arena *arena)
{
    return query_put(query_put(STR(""), "name", put->key, arena), "uploadType", str_of(type),
                     arena);
}

struct str gcs_put_query(const struct put *put, struct arena *arena)
{
    return query_of(put, "media", arena);
}

/* The token goes along: to the same host alone. */
static bool is_same_host(const struct remote *remote, struct str url)
{
    struct str endpoint = str_of(remote->endpoint);

    return str_starts(url, endpoint) && url.count > endpoint.count && url.at[endpoint.count] == '/';
}

static enum status begin(struct put *put, struct error *err)
{
    struct ask ask = {.method = "POST",
                      .key = put->key,
                      .version = STR(""),
                      .query = query_of(put, "resumable", put->arena),
                      .is_new = put->is_new};
    struct wire_said said;
    enum status status = remote_ask(put->remote, &ask, NULL, NULL, &said, err);

    if (status == OK)
        put->begun = str_copy(put->arena, wire_said_header(&said, "location"));
    wire_said_free(&said);
    if (status == OK && !is_same_host(put->remote, put->begun))
        status = fail(err, ERR_PERMISSION,
                      "%.*s: the upload is to go to another host, which is not followed",
                      STR_ARG(put->remote->name));
    return status;
}

/* "bytes=0-8388607": how many bytes the store has. */
static bool has_until(struct str range, uint64_t end)
{
    const char *dash = range.count == 0 ? NULL : memrchr(range.at, '-', range.count);
    uint64_t last;

    return dash != NULL && str_to_u64(str_skip(range, (size_t)(dash - range.at) + 1), &last) &&
           last + 1 >= end;
}

static enum status part(struct put *put, uint32_t index, struct arena *arena, struct error *err)
{
    struct ask ask = {.method = "PUT",
                      .key = put->key,
                      .version = STR(""),
                      .query = STR(""),
                      .session = put->begun,
                      .session_bytes = put->total};
    struct wire_said said;
    (void)arena;

    ask.body = put_part_bytes(put, index, &ask.start);
    ask.count = ask.body.count;
    enum status status = remote_ask(put->remote, &ask, NULL, NULL, &said, err);
    bool is_end = index + 1 == put->part_count;

    if (status == OK && is_end != (said.status != 308))
        status = fail(err, ERR_IO,
                      "%.*s: the store ends the upload before its last part, or not "
                      "after it (%ld)",
                      STR_ARG(put->remote->name), said.status);
    if (status == OK && !is_end &&
        !has_until(wire_said_header(&said, "range"), ask.start + ask.count))
        status = fail(err, ERR_IO, "%.*s: the store did not keep all of a part",
                      STR_ARG(put->remote->name));
    wire_said_free(&said);
    return status;
}

static enum status end(struct put *put, struct error *err)
{
    (void)put;
    (void)err;
    return OK;
}

static void give_up(struct put *put)
{
    struct ask ask = {.method = "DELETE",
                      .key = put->key,
                      .version = STR(""),
                      .query = STR(""),
                      .session = put->begun,
                      .is_last = true};
    struct wire_said said;

    if (is_same_host(put->remote, put->begun))
        (void)!remote_ask(put->remote, &ask, NULL, NULL, &said, &(struct error){0});
    else
        said = (struct wire_said){0};
    wire_said_free(&said);
}

const struct put_way put_way_gcs = {
    .is_in_order = true, .begin = begin, .part = part, .end = end, .give_up = give_up};
