/* SPDX-License-Identifier: Apache-2.0 */
/* Signature Version 4: what is signed, and by which key. */
#include "remote/sigv4_parts.h"

#include <stdlib.h>
#include <time.h>

#include "remote/digest_parts.h"

enum { HEADERS_MAX = 12 };

struct signing {
    struct arena *arena;
    const struct sigv4_ask *ask;
    char time[20], day[12]; /* 20130524T000000Z */
    struct str hash;        /* of the body */
    struct str headers[HEADERS_MAX];
    uint32_t count;
};

static int by_text(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

static void add(struct signing *signing, struct str header)
{
    if (signing->count < HEADERS_MAX)
        signing->headers[signing->count++] = header;
}

static enum status begin(struct signing *signing, const struct sigv4_key *key, struct error *err)
{
    const struct sigv4_ask *ask = signing->ask;
    time_t seconds = (time_t)ask->time_s;
    struct digest digest;
    struct tm parts;

    gmtime_r(&seconds, &parts);
    strftime(signing->time, sizeof signing->time, "%Y%m%dT%H%M%SZ", &parts);
    strftime(signing->day, sizeof signing->day, "%Y%m%d", &parts);
    TRY(digest_sha256(ask->body, &digest, err));
    signing->hash = hex_of((struct bytes){digest.at, DIGEST_BYTES}, signing->arena);
    add(signing, str_format(signing->arena, "host:%.*s", STR_ARG(ask->host)));
    add(signing, str_format(signing->arena, "x-amz-content-sha256:%.*s", STR_ARG(signing->hash)));
    add(signing, str_format(signing->arena, "x-amz-date:%s", signing->time));
    if (key->token.count > 0)
        add(signing, str_format(signing->arena, "x-amz-security-token:%.*s", STR_ARG(key->token)));
    for (uint32_t i = 0; i < ask->header_count; i++)
        add(signing, ask->headers[i]);
    qsort(signing->headers, signing->count, sizeof *signing->headers, by_text);
    return OK;
}

static struct str name_of(struct str header)
{
    const char *colon = memchr(header.at, ':', header.count);

    return (struct str){header.at, colon == NULL ? header.count : (size_t)(colon - header.at)};
}

/* "host;x-amz-date" */
static struct str signed_names(const struct signing *signing)
{
    struct text text = {0};

    for (uint32_t i = 0; i < signing->count; i++)
        text_putf(&text, "%s%.*s", i > 0 ? ";" : "", STR_ARG(name_of(signing->headers[i])));
    struct str ret = str_copy(signing->arena, text_str(&text));
    text_free(&text);
    return ret;
}

static struct str canonical(const struct signing *signing)
{
    const struct sigv4_ask *ask = signing->ask;
    struct text text = {0};

    text_putf(&text, "%s\n%.*s\n%.*s\n", ask->method, STR_ARG(ask->path), STR_ARG(ask->query));
    for (uint32_t i = 0; i < signing->count; i++)
        text_putf(&text, "%.*s\n", STR_ARG(signing->headers[i]));
    text_putf(&text, "\n%.*s\n%.*s", STR_ARG(signed_names(signing)), STR_ARG(signing->hash));
    struct str ret = str_copy(signing->arena, text_str(&text));
    text_free(&text);
    return ret;
}

static enum status sign(const struct signing *signing, struct str text, struct str secret,
                        struct digest *ret, struct error *err)
{
    const struct str parts[] = {str_of(signing->day), signing->ask->region, signing->ask->service,
                                STR("aws4_request"), text};
    struct bytes key = bytes_of(str_format(signing->arena, "AWS4%.*s", STR_ARG(secret)));
    struct digest last;

    for (size_t i = 0; i < COUNT(parts); i++) {
        TRY(digest_hmac(key, bytes_of(parts[i]), ret, err));
        last = *ret;
        key = (struct bytes){last.at, DIGEST_BYTES};
    }
    return OK;
}

enum status sigv4_sign(const struct sigv4_ask *ask, const struct sigv4_key *key,
                       struct arena *arena, struct wire_ask *ret, struct error *err)
{
    struct signing signing = {.arena = arena, .ask = ask};
    struct digest digest;

    TRY(begin(&signing, key, err));
    TRY(digest_sha256(bytes_of(canonical(&signing)), &digest, err));
    struct str scope = str_format(arena, "%s/%.*s/%.*s/aws4_request", signing.day,
                                  STR_ARG(ask->region), STR_ARG(ask->service));
    struct str text =
        str_format(arena, "AWS4-HMAC-SHA256\n%s\n%.*s\n%.*s", signing.time, STR_ARG(scope),
                   STR_ARG(hex_of((struct bytes){digest.at, DIGEST_BYTES}, arena)));

    TRY(sign(&signing, text, key->secret, &digest, err));
    for (uint32_t i = 0; i < signing.count; i++)
        if (!str_starts(signing.headers[i], STR("host:")))
            wire_header(ret, signing.headers[i]);
    wire_header(ret, str_format(arena,
                                "Authorization: AWS4-HMAC-SHA256 Credential=%.*s/%.*s,"
                                "SignedHeaders=%.*s,Signature=%.*s",
                                STR_ARG(key->id), STR_ARG(scope), STR_ARG(signed_names(&signing)),
                                STR_ARG(hex_of((struct bytes){digest.at, DIGEST_BYTES}, arena))));
    return OK;
}
