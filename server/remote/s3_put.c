/* SPDX-License-Identifier: Apache-2.0 */
/* S3's multipart upload:
 *
 *   POST key?uploads=                     -> UploadId
 *   PUT key?partNumber=1&uploadId=        -> ETag, of each part
 *   POST key?uploadId=                    the numbers and ETags: the object is there
 *   DELETE key?uploadId=                  nothing is kept
 */
#include <stdlib.h>

#include "remote/digest_parts.h"
#include "remote/remote_parts.h"

enum { END_TRIES = 4 };

static struct str upload_query(struct str query, const struct put *put, struct arena *arena)
{
    return query_put(query, "uploadId", put->begun, arena);
}

static enum status begin(struct put *put, struct error *err)
{
    struct ask ask = {
        .method = "POST", .key = put->key, .version = STR(""), .query = STR("uploads=")};
    struct wire_said said;
    enum status status = remote_ask(put->remote, &ask, NULL, NULL, &said, err);

    if (status == OK)
        status = document_upload(bytes_of(text_str(&said.body)), put->arena, &put->begun, err);
    wire_said_free(&said);
    return status;
}

/* It stands in XML. */
static bool is_plain(struct str tag)
{
    for (size_t i = 0; i < tag.count; i++)
        if (tag.at[i] == '<' || tag.at[i] == '&' || (unsigned char)tag.at[i] < ' ')
            return false;
    return tag.count > 0 && tag.count < 200;
}

static enum status part(struct put *put, uint32_t index, struct arena *arena, struct error *err)
{
    uint64_t start;
    struct str query = query_put(STR(""), "partNumber", str_format(arena, "%u", index + 1), arena);
    struct ask ask = {.method = "PUT",
                      .key = put->key,
                      .version = STR(""),
                      .query = upload_query(query, put, arena),
                      .body = put_part_bytes(put, index, &start)};
    struct wire_said said;
    enum status status = remote_ask(put->remote, &ask, NULL, NULL, &said, err);
    struct str tag = wire_said_header(&said, "etag");

    if (status == OK && !is_plain(tag))
        status = fail(err, ERR_FORMAT, "%.*s: the store took a part and does not say its ETag",
                      STR_ARG(put->remote->name));
    if (status == OK) { /* threads share no arena */
        put->tags[index].at = strndup(tag.at, tag.count);
        put->tags[index].count = tag.count;
    }
    wire_said_free(&said);
    return status;
}

static struct str list_of_parts(const struct put *put)
{
    struct text text = {0};

    text_puts(&text, "<CompleteMultipartUpload "
                     "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">");
    for (uint32_t i = 0; i < put->part_count; i++)
        text_putf(&text, "<Part><PartNumber>%u</PartNumber><ETag>%.*s</ETag></Part>", i + 1,
                  STR_ARG(put->tags[i]));
    text_puts(&text, "</CompleteMultipartUpload>");
    struct str ret = str_copy(put->arena, text_str(&text));
    text_free(&text);
    return ret;
}

static void forget_tags(struct put *put)
{
    for (uint32_t i = 0; i < put->part_count; i++) {
        free((char *)(uintptr_t)put->tags[i].at);
        put->tags[i] = STR("");
        put->tags[i].at = NULL;
    }
}

/* A failure may come as a 200: the status is sent before the parts are put together. */
static enum status end_once(struct put *put, const struct ask *ask, bool *ret_again,
                            struct error *err)
{
    struct wire_said said;
    struct store_error told = {STR(""), STR(""), STR("")};
    enum status status = remote_ask(put->remote, ask, NULL, NULL, &said, err);

    *ret_again = false;
    if (status == OK)
        document_error(bytes_of(text_str(&said.body)), put->arena, &told);
    if (told.code.count > 0) {
        *ret_again = true;
        status = fail(err, ERR_IO, "%.*s: the store does not put the parts together: %.*s %.*s",
                      STR_ARG(put->remote->name), STR_ARG(told.code), STR_ARG(told.message));
    }
    wire_said_free(&said);
    return status;
}

static enum status end(struct put *put, struct error *err)
{
    struct ask ask = {.method = "POST",
                      .key = put->key,
                      .version = STR(""),
                      .query = upload_query(STR(""), put, put->arena),
                      .body = bytes_of(list_of_parts(put)),
                      .is_new = put->is_new};
    struct error why = {0};
    enum status status = OK;
    bool again = true;

    for (unsigned attempt = 0; again && attempt < END_TRIES; attempt++) {
        why = (struct error){0};
        if (attempt > 0 && !remote_pause(put->remote, attempt, NULL))
            break;
        status = end_once(put, &ask, &again, &why);
    }
    if (status == OK)
        forget_tags(put);
    return status == OK ? OK : fail(err, status, "%s", why.message);
}

static void give_up(struct put *put)
{
    struct ask ask = {.method = "DELETE",
                      .key = put->key,
                      .version = STR(""),
                      .query = upload_query(STR(""), put, put->arena),
                      .is_last = true};
    struct wire_said said;

    (void)!remote_ask(put->remote, &ask, NULL, NULL, &said, &(struct error){0});
    wire_said_free(&said);
    forget_tags(put);
}

const struct put_way put_way_s3 = {.begin = begin, .part = part, .end = end, .give_up = give_up};
