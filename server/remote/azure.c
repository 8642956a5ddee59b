/* SPDX-License-Identifier: Apache-2.0 */
/* Azure Blob Storage: requests signed by the account's key, by a query that was signed before
 * (SAS), or with a bearer token.
 *
 *   https://ACCOUNT.blob.core.windows.net/CONTAINER/NAME
 *
 * https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "remote/azure_parts.h"
#include "remote/digest_parts.h"

#define VERSION "2021-08-06"

enum { PARAMETERS_MAX = 16 };

static enum status begin(struct remote *remote, struct error *err)
{
    struct azure_account account;

    TRY(azure_account_read(&remote->address, remote->arena, &account, err));
    if (account.endpoint.count >= sizeof remote->endpoint)
        return fail(err, ERR_INVALID, "the endpoint of the account is too long");
    snprintf(remote->endpoint, sizeof remote->endpoint, "%.*s", STR_ARG(account.endpoint));
    snprintf(remote->region, sizeof remote->region, "%.*s", STR_ARG(account.name));
    return OK;
}

/* "/base" of "http://127.0.0.1:10000/base". */
static struct str path_of(struct str endpoint)
{
    const char *at = memmem(endpoint.at, endpoint.count, "://", 3);
    struct str host = at == NULL ? endpoint : str_skip(endpoint, (size_t)(at - endpoint.at) + 3);
    const char *slash = memchr(host.at, '/', host.count);

    return slash == NULL ? STR("") : str_skip(host, (size_t)(slash - host.at));
}

static int by_text(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

/* "/account/path\ncomp:list\nprefix:a b", values as they were before they were encoded. */
static struct str canonical_resource(const struct remote *remote, struct str path, struct str query,
                                     struct arena *arena)
{
    struct str parameters[PARAMETERS_MAX];
    struct text text = {0};
    uint32_t count = 0;

    text_putf(&text, "/%s%.*s", remote->region, STR_ARG(path));
    while (query.count > 0 && count < PARAMETERS_MAX) {
        const char *end = memchr(query.at, '&', query.count);
        size_t length = end == NULL ? query.count : (size_t)(end - query.at);
        const char *equals = memchr(query.at, '=', length);
        size_t name = equals == NULL ? length : (size_t)(equals - query.at);
        struct str value = {query.at + name + (equals != NULL), length - name - (equals != NULL)};

        parameters[count++] = str_format(arena, "\n%.*s:%.*s", (int)name, query.at,
                                         STR_ARG(percent_decoded(value, arena)));
        query = str_skip(query, end == NULL ? length : length + 1);
    }
    qsort(parameters, count, sizeof *parameters, by_text);
    for (uint32_t i = 0; i < count; i++)
        text_put(&text, parameters[i].at, parameters[i].count);
    struct str ret = str_copy(arena, text_str(&text));
    text_free(&text);
    return ret;
}

struct azure_headers {
    char date[40];
    struct str range, match, type; /* values; "" none */
    bool is_block;                 /* a blob is written whole */
    bool is_new;
};

static enum status sign(const struct remote *remote, const struct ask *ask, struct str path,
                        const struct azure_headers *headers, struct str key, struct arena *arena,
                        struct str *ret, struct error *err)
{
    struct str length = ask->body.count > 0 ? str_format(arena, "%zu", ask->body.count) : STR("");
    struct str text = str_format(
        arena,
        "%s\n\n\n%.*s\n\n%.*s\n\n\n%.*s\n%s\n\n%.*s\n%sx-ms-date:%s\nx-ms-version:" VERSION
        "\n%.*s",
        ask->method, STR_ARG(length), STR_ARG(headers->type), STR_ARG(headers->match),
        headers->is_new ? "*" : "", STR_ARG(headers->range),
        headers->is_block ? "x-ms-blob-type:BlockBlob\n" : "", headers->date,
        STR_ARG(canonical_resource(remote, path, ask->query, arena)));
    struct bytes secret;
    struct digest digest;

    if (!base64_read(key, arena, &secret))
        return fail(err, ERR_INVALID,
                    "the account key is not valid Base64: check AZURE_STORAGE_KEY or the "
                    "connection string");
    TRY(digest_hmac(secret, bytes_of(text), &digest, err));
    *ret = str_format(arena, "Authorization: SharedKey %s:%.*s", remote->region,
                      STR_ARG(base64_of((struct bytes){digest.at, DIGEST_BYTES}, arena)));
    return OK;
}

static void put_headers(const struct azure_headers *headers, struct arena *arena,
                        struct wire_ask *ret)
{
    wire_header(ret, str_format(arena, "x-ms-date: %s", headers->date));
    wire_header(ret, STR("x-ms-version: " VERSION));
    if (headers->is_block)
        wire_header(ret, STR("x-ms-blob-type: BlockBlob"));
    if (headers->range.count > 0)
        wire_header(ret, str_format(arena, "Range: %.*s", STR_ARG(headers->range)));
    if (headers->match.count > 0)
        wire_header(ret, str_format(arena, "If-Match: %.*s", STR_ARG(headers->match)));
    if (headers->is_new)
        wire_header(ret, STR("If-None-Match: *"));
    if (headers->type.count > 0)
        wire_header(ret, str_format(arena, "Content-Type: %.*s", STR_ARG(headers->type)));
}

/* Lists say "0x8D...", conditions want "\"0x8D...\"". */
static struct str quoted(struct str version, struct arena *arena)
{
    bool bare = version.count > 0 && version.at[0] != '"' && !str_starts(version, STR("W/"));

    return bare ? str_format(arena, "\"%.*s\"", STR_ARG(version)) : version;
}

static void set_date(const struct remote *remote, struct azure_headers *headers)
{
    time_t seconds = (time_t)remote_now_s(remote);
    struct tm parts;

    gmtime_r(&seconds, &parts);
    strftime(headers->date, sizeof headers->date, "%a, %d %b %Y %H:%M:%S GMT", &parts);
}

static enum status prepare(struct remote *remote, const struct ask *ask,
                           const struct credentials *credentials, struct arena *arena,
                           struct wire_ask *ret, struct error *err)
{
    bool is_put = strcmp(ask->method, "PUT") == 0;
    struct azure_headers headers = {.range = STR(""),
                                    .match = quoted(ask->version, arena),
                                    .type = is_put ? STR("application/octet-stream") : STR(""),
                                    .is_block = is_put && ask->query.count == 0,
                                    .is_new = ask->is_new};
    struct str endpoint = str_of(remote->endpoint);
    struct str path = str_format(arena, "%.*s/%.*s%s%.*s", STR_ARG(path_of(endpoint)),
                                 STR_ARG(remote->address.bucket), ask->key.count > 0 ? "/" : "",
                                 STR_ARG(percent_encoded(ask->key, true, arena)));
    struct str query = ask->query, authorization;

    endpoint.count -= path_of(endpoint).count;
    set_date(remote, &headers);
    if (ask->has_range)
        headers.range = str_format(arena, "bytes=%llu-%llu", (unsigned long long)ask->start,
                                   (unsigned long long)(ask->start + ask->count - 1));
    put_headers(&headers, arena, ret);
    ret->body = ask->body;
    if (credentials->account_key.count > 0) {
        TRY(sign(remote, ask, path, &headers, credentials->account_key, arena, &authorization,
                 err));
        wire_header(ret, authorization);
    } else if (credentials->token.text.count > 0) {
        if (!str_starts(endpoint, STR("https://")))
            return fail(err, ERR_PERMISSION, "a bearer token is sent over https only");
        wire_header(
            ret, str_format(arena, "Authorization: Bearer %.*s", STR_ARG(credentials->token.text)));
    } else if (credentials->sas.count > 0) {
        query = str_format(arena, "%.*s%s%.*s", STR_ARG(query), query.count > 0 ? "&" : "",
                           STR_ARG(credentials->sas));
    }
    ret->url = str_format(arena, "%.*s%.*s%s%.*s", STR_ARG(endpoint), STR_ARG(path),
                          query.count > 0 ? "?" : "", STR_ARG(query));
    return OK;
}

static struct str list_query(struct str prefix, struct str next, unsigned count,
                             struct arena *arena)
{
    struct str query = query_put(STR(""), "comp", STR("list"), arena);

    if (next.count > 0)
        query = query_put(query, "marker", next, arena);
    query = query_put(query, "maxresults", str_format(arena, "%u", count), arena);
    query = query_put(query, "prefix", prefix, arena);
    return query_put(query, "restype", STR("container"), arena);
}

const struct provider provider_azure = {
    .title = "Azure Blob Storage",
    .begin = begin,
    .find = azure_find,
    .prepare = prepare,
    .list_query = list_query,
    .read_list = document_azure_list,
    .remedy = "give it the role Storage Blob Data Reader on the container, or use other "
              "credentials (AZURE_STORAGE_CONNECTION_STRING, AZURE_STORAGE_ACCOUNT with "
              "AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN)",
    .write_remedy = "give it the role Storage Blob Data Contributor on the container, or use other "
                    "credentials (AZURE_STORAGE_CONNECTION_STRING)",
    .put_way = &put_way_azure,
    .put_method = "PUT",
};
