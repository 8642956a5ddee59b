/* SPDX-License-Identifier: Apache-2.0 */
/* Google Cloud Storage, by its JSON interface, and by its XML one where a name's headers are asked:
 *
 *   /storage/v1/b/BUCKET/o?prefix=&pageToken=            a page of a list
 *   /storage/v1/b/BUCKET/o/NAME?alt=media&generation=    bytes of one version
 *   /upload/storage/v1/b/BUCKET/o?uploadType=&name=      an object that is written
 *   /BUCKET/NAME                                         HEAD
 */
#include <stdio.h>

#include "remote/digest_parts.h"
#include "remote/remote_parts.h"

enum status gcs_begin(struct remote *remote, struct error *err)
{
    struct str host = environment("STORAGE_EMULATOR_HOST");

    snprintf(remote->endpoint, sizeof remote->endpoint, "https://storage.googleapis.com");
    if (host.count == 0)
        return OK;
    while (host.count > 0 && host.at[host.count - 1] == '/')
        host.count--;
    bool is_url = str_starts(host, STR("http://")) || str_starts(host, STR("https://"));

    if (host.count + 8 > sizeof remote->endpoint || memchr(host.at, '@', host.count) != NULL ||
        memchr(host.at, '?', host.count) != NULL)
        return fail(err, ERR_INVALID,
                    "STORAGE_EMULATOR_HOST must be an address such as localhost:9023 or "
                    "http://localhost:9023");
    snprintf(remote->endpoint, sizeof remote->endpoint, "%s%.*s", is_url ? "" : "http://",
             STR_ARG(host));
    remote->is_given = true;
    return OK;
}

static enum status find(struct remote *remote, struct credentials *ret, struct error *err)
{
    if (!remote->is_given)
        return google_find(remote, ret, err);
    /* as Google's own clients ask an emulator */
    credentials_none(ret, STR("STORAGE_EMULATOR_HOST in the environment"),
                     STR("STORAGE_EMULATOR_HOST in the environment"));
    return OK;
}

/* A generation is a number; HEAD says it as an ETag. */
static bool is_generation(struct str version)
{
    uint64_t number;

    return str_to_u64(version, &number);
}

static struct str url_of(const struct remote *remote, const struct ask *ask, struct arena *arena)
{
    struct str bucket = remote->address.bucket;
    struct str name = percent_encoded(ask->key, false, arena);

    if (ask->session.count > 0)
        return ask->session;
    if (strcmp(ask->method, "POST") == 0)
        return str_format(arena, "%s/upload/storage/v1/b/%.*s/o?%.*s%s", remote->endpoint,
                          STR_ARG(bucket), STR_ARG(ask->query),
                          ask->is_new ? "&ifGenerationMatch=0" : "");
    if (strcmp(ask->method, "DELETE") == 0)
        return str_format(
            arena, "%s/storage/v1/b/%.*s/o/%.*s%s%.*s", remote->endpoint, STR_ARG(bucket),
            STR_ARG(name), is_generation(ask->version) ? "?ifGenerationMatch=" : "",
            is_generation(ask->version) ? (int)ask->version.count : 0, ask->version.at);
    if (strcmp(ask->method, "HEAD") == 0)
        return str_format(arena, "%s/%.*s/%.*s", remote->endpoint, STR_ARG(bucket),
                          STR_ARG(percent_encoded(ask->key, true, arena)));
    if (ask->key.count == 0)
        return str_format(arena, "%s/storage/v1/b/%.*s/o?%.*s", remote->endpoint, STR_ARG(bucket),
                          STR_ARG(ask->query));
    return str_format(arena, "%s/storage/v1/b/%.*s/o/%.*s?alt=media%s%.*s", remote->endpoint,
                      STR_ARG(bucket), STR_ARG(name),
                      is_generation(ask->version) ? "&generation=" : "",
                      is_generation(ask->version) ? (int)ask->version.count : 0, ask->version.at);
}

static enum status prepare(struct remote *remote, const struct ask *ask,
                           const struct credentials *credentials, struct arena *arena,
                           struct wire_ask *ret, struct error *err)
{
    (void)err;
    ret->url = url_of(remote, ask, arena);
    if (credentials->token.text.count > 0)
        wire_header(
            ret, str_format(arena, "Authorization: Bearer %.*s", STR_ARG(credentials->token.text)));
    ret->body = ask->body;
    if (strcmp(ask->method, "PUT") == 0 || strcmp(ask->method, "POST") == 0)
        wire_header(ret, STR("Content-Type: application/octet-stream"));
    if (ask->session.count > 0 && ask->count > 0)
        wire_header(ret, str_format(arena, "Content-Range: bytes %llu-%llu/%llu",
                                    (unsigned long long)ask->start,
                                    (unsigned long long)(ask->start + ask->count - 1),
                                    (unsigned long long)ask->session_bytes));
    if (ask->has_range)
        wire_header(ret, str_format(arena, "Range: bytes=%llu-%llu", (unsigned long long)ask->start,
                                    (unsigned long long)(ask->start + ask->count - 1)));
    if (ask->version.count > 0 && !is_generation(ask->version))
        wire_header(ret, str_format(arena, "If-Match: %.*s", STR_ARG(ask->version)));
    return OK;
}

static struct str list_query(struct str prefix, struct str next, unsigned count,
                             struct arena *arena)
{
    struct str query = query_put(STR(""), "fields",
                                 STR("items(name,size,updated,generation),nextPageToken"), arena);

    query = query_put(query, "maxResults", str_format(arena, "%u", count), arena);
    if (next.count > 0)
        query = query_put(query, "pageToken", next, arena);
    return query_put(query, "prefix", prefix, arena);
}

const struct provider provider_gcs = {
    .title = "Google Cloud Storage",
    .begin = gcs_begin,
    .find = find,
    .prepare = prepare,
    .list_query = list_query,
    .read_list = document_google_list,
    .version_header = "x-goog-generation",
    .remedy = "give it the role Storage Object Viewer on the bucket, or use another identity "
              "(`gcloud auth application-default login`, or GOOGLE_APPLICATION_CREDENTIALS=FILE)",
    .write_remedy = "give it the role Storage Object User on the bucket, or use another identity "
                    "(`gcloud auth application-default login`, or "
                    "GOOGLE_APPLICATION_CREDENTIALS=FILE)",
    .put_way = &put_way_gcs,
    .put_query = gcs_put_query,
    .put_method = "POST",
};
