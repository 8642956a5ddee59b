/* SPDX-License-Identifier: Apache-2.0 */
/* S3, and whatever speaks it: where a bucket is asked, how a request is signed, another region.
 *
 *   https://bucket.s3.REGION.amazonaws.com/key      where no endpoint was given
 *   ENDPOINT/bucket/key                             where one was: every such store knows this form
 */
#include <stdio.h>

#include "remote/digest_parts.h"
#include "remote/remote_parts.h"

static bool is_no_address_part(struct str bucket)
{
    return memchr(bucket.at, '.', bucket.count) != NULL ||
           memchr(bucket.at, '_', bucket.count) != NULL;
}

/* Lock held, or nobody else there yet. */
static void set_amazon(struct remote *remote)
{
    bool is_chinese = str_starts(str_of(remote->region), STR("cn-"));

    snprintf(remote->endpoint, sizeof remote->endpoint, "https://s3.%s.amazonaws.com%s",
             remote->region, is_chinese ? ".cn" : "");
}

/* "HTTP://h:9000/" is kept without the slash; only http and https will do. */
static enum status take_endpoint(struct remote *remote, struct str given, struct error *err)
{
    while (given.count > 0 && given.at[given.count - 1] == '/')
        given.count--;
    bool good = (str_starts(given, STR("http://")) || str_starts(given, STR("https://"))) &&
                memchr(given.at, '?', given.count) == NULL &&
                memchr(given.at, '@', given.count) == NULL;

    if (!good || given.count >= sizeof remote->endpoint)
        return fail(err, ERR_INVALID,
                    "AWS_ENDPOINT_URL must be an address such as http://localhost:9000 or "
                    "https://minio.example.org");
    snprintf(remote->endpoint, sizeof remote->endpoint, "%.*s", STR_ARG(given));
    remote->is_given = true;
    return OK;
}

static struct str first_of(struct str a, struct str b)
{
    return a.count > 0 ? a : b;
}

static enum status begin(struct remote *remote, struct error *err)
{
    struct aws_profile profile;

    aws_profile_read(aws_profile_name(), remote->arena, &profile);
    struct str region = first_of(
        first_of(environment("AWS_REGION"), environment("AWS_DEFAULT_REGION")), profile.region);
    struct str endpoint =
        first_of(first_of(environment("AWS_ENDPOINT_URL_S3"), environment("AWS_ENDPOINT_URL")),
                 profile.endpoint);
    struct str style = environment("AWS_VIRTUAL_HOSTED_STYLE_REQUEST");

    if (region.count == 0 || region.count >= sizeof remote->region ||
        str_equal(region, STR("aws-global")))
        region = STR("us-east-1");
    for (size_t i = 0; i < region.count; i++)
        if (!((region.at[i] >= 'a' && region.at[i] <= 'z') || region.at[i] == '-' ||
              (region.at[i] >= '0' && region.at[i] <= '9')))
            return fail(err, ERR_INVALID,
                        "the region \"%.*s\" is not a region such as eu-west-1: check AWS_REGION "
                        "and ~/.aws/config",
                        STR_ARG(region));
    snprintf(remote->region, sizeof remote->region, "%.*s", STR_ARG(region));
    wire_trust(remote->wire,
               str_c(remote->arena, first_of(environment("AWS_CA_BUNDLE"), profile.ca_bundle)));
    if (endpoint.count > 0)
        TRY(take_endpoint(remote, endpoint, err));
    else
        set_amazon(remote);
    remote->is_path_style = (remote->is_given && !str_equal(style, STR("true")) &&
                             !str_equal(profile.addressing, STR("virtual"))) ||
                            is_no_address_part(remote->address.bucket);
    return OK;
}

struct target {      /* of one request */
    struct str base; /* "https://host" */
    struct str host, path;
};

/* Of "https://host:9000/base" the host, and "/base". */
static struct target find_target(struct remote *remote, struct str key, struct arena *arena)
{
    pthread_mutex_lock(&remote->lock);
    struct str endpoint = str_copy(arena, str_of(remote->endpoint));
    pthread_mutex_unlock(&remote->lock);
    const char *colon = memmem(endpoint.at, endpoint.count, "://", 3);
    struct str scheme = {endpoint.at, (size_t)(colon - endpoint.at) + 3};
    struct str host = str_skip(endpoint, scheme.count), within = STR("");
    const char *slash = memchr(host.at, '/', host.count);
    struct str encoded = percent_encoded(key, true, arena), bucket = remote->address.bucket;

    if (slash != NULL) {
        within = str_skip(host, (size_t)(slash - host.at));
        host.count = (size_t)(slash - host.at);
    }
    if (!remote->is_path_style)
        host = str_format(arena, "%.*s.%.*s", STR_ARG(bucket), STR_ARG(host));
    return (struct target){
        .base = str_format(arena, "%.*s%.*s", STR_ARG(scheme), STR_ARG(host)),
        .host = host,
        .path = remote->is_path_style
                    ? str_format(arena, "%.*s/%.*s%s%.*s", STR_ARG(within), STR_ARG(bucket),
                                 key.count > 0 ? "/" : "", STR_ARG(encoded))
                    : str_format(arena, "%.*s/%.*s", STR_ARG(within), STR_ARG(encoded)),
    };
}

static enum status prepare(struct remote *remote, const struct ask *ask,
                           const struct credentials *credentials, struct arena *arena,
                           struct wire_ask *ret, struct error *err)
{
    struct target target = find_target(remote, ask->key, arena);
    struct str headers[3], region;
    uint32_t count = 0;

    if (ask->version.count > 0)
        headers[count++] = str_format(arena, "if-match:%.*s", STR_ARG(ask->version));
    if (ask->is_new)
        headers[count++] = STR("if-none-match:*");
    if (ask->has_range)
        headers[count++] =
            str_format(arena, "range:bytes=%llu-%llu", (unsigned long long)ask->start,
                       (unsigned long long)(ask->start + ask->count - 1));
    ret->url = str_format(arena, "%.*s%.*s%s%.*s", STR_ARG(target.base), STR_ARG(target.path),
                          ask->query.count > 0 ? "?" : "", STR_ARG(ask->query));
    ret->body = ask->body;
    if (strcmp(ask->method, "PUT") == 0 || strcmp(ask->method, "POST") == 0)
        wire_header(ret, STR("Content-Type: application/octet-stream"));
    pthread_mutex_lock(&remote->lock);
    region = str_copy(arena, str_of(remote->region));
    pthread_mutex_unlock(&remote->lock);
    if (credentials->is_nobody) {
        for (uint32_t i = 0; i < count; i++)
            wire_header(ret, headers[i]);
        return OK;
    }
    const struct sigv4_ask signature = {.method = ask->method,
                                        .host = target.host,
                                        .path = target.path,
                                        .query = ask->query,
                                        .region = region,
                                        .service = STR("s3"),
                                        .body = ask->body,
                                        .headers = headers,
                                        .header_count = count,
                                        .time_s = remote_now_s(remote)};

    return sigv4_sign(&signature, &credentials->key, arena, ret, err);
}

static struct str list_query(struct str prefix, struct str next, unsigned count,
                             struct arena *arena)
{
    struct str query = STR("");

    if (next.count > 0)
        query = query_put(query, "continuation-token", next, arena);
    query = query_put(query, "encoding-type", STR("url"), arena);
    query = query_put(query, "list-type", STR("2"), arena);
    query = query_put(query, "max-keys", str_format(arena, "%u", count), arena);
    return query_put(query, "prefix", prefix, arena);
}

/* Amazon tells a bucket's region in a header, whatever else it answers. */
static bool moved(struct remote *remote, const struct wire_said *said)
{
    struct arena *arena = arena_create();
    struct str region = wire_said_header(said, "x-amz-bucket-region");
    struct store_error told;
    bool taken = false;

    document_error(bytes_of(text_str(&said->body)), arena, &told);
    if (region.count == 0)
        region = told.region;
    bool is_name = region.count > 0 && region.count < sizeof remote->region;
    for (size_t i = 0; i < region.count; i++)
        is_name = is_name && ((region.at[i] >= 'a' && region.at[i] <= 'z') || region.at[i] == '-' ||
                              (region.at[i] >= '0' && region.at[i] <= '9'));
    pthread_mutex_lock(&remote->lock);
    if (is_name && !str_equal(region, str_of(remote->region))) {
        snprintf(remote->region, sizeof remote->region, "%.*s", STR_ARG(region));
        if (!remote->is_given)
            set_amazon(remote);
        taken = true;
    }
    pthread_mutex_unlock(&remote->lock);
    arena_destroy(arena);
    return taken;
}

/* Google's XML interface takes S3's requests, signed by its HMAC keys. */
static enum status begin_google(struct remote *remote, struct error *err)
{
    TRY(gcs_begin(remote, err));
    snprintf(remote->region, sizeof remote->region, "auto");
    remote->is_given = remote->is_path_style = true;
    return OK;
}

const struct provider provider_gcs_keys = {
    .title = "Google Cloud Storage",
    .begin = begin_google,
    .find = google_find_keys,
    .prepare = prepare,
    .list_query = list_query,
    .read_list = document_s3_list,
    .remedy = "give the account of the HMAC key the role Storage Object Viewer on the bucket, or "
              "unset GS_ACCESS_KEY_ID to use another identity",
};

const struct provider provider_s3 = {
    .title = "S3",
    .begin = begin,
    .find = aws_find,
    .prepare = prepare,
    .list_query = list_query,
    .read_list = document_s3_list,
    .moved = moved,
    .remedy = "grant it s3:ListBucket and s3:GetObject there, or use other credentials "
              "(AWS_PROFILE=NAME, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)",
    .write_remedy =
        "grant it s3:PutObject, s3:AbortMultipartUpload and, for prune, s3:DeleteObject "
        "there, or use other credentials (AWS_PROFILE=NAME)",
    .put_way = &put_way_s3,
    .put_method = "PUT",
    .removes_any = true,
};
