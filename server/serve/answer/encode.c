/* SPDX-License-Identifier: Apache-2.0 */
/* Content-Encoding: the smaller of what the client takes, for bodies worth it. */
#include "serve/answer/reply.h"

enum { ENCODE_BYTES_MIN = 16384 };

static struct str trim(struct str text)
{
    while (text.count > 0 && (text.at[0] == ' ' || text.at[0] == '\t'))
        text = str_skip(text, 1);
    while (text.count > 0 && (text.at[text.count - 1] == ' ' || text.at[text.count - 1] == '\t'))
        text.count--;
    return text;
}

/* "q=0", "q=0.000" */
static bool is_zero(struct str weight)
{
    if (!str_starts(weight, STR("q=0")))
        return false;
    for (size_t i = 3; i < weight.count; i++) {
        if (weight.at[i] != '.' && weight.at[i] != '0')
            return false;
    }
    return true;
}

/* "gzip;q=0" takes none; "gzip", "gzip;q=0.5" do. */
bool encoding_accepted(const struct request *req, struct str coding)
{
    struct str accept = request_header(req, STR("accept-encoding")), part;

    while (list_next(&accept, &part)) {
        const char *semicolon = memchr(part.at, ';', part.count);
        size_t length = semicolon == NULL ? part.count : (size_t)(semicolon - part.at);
        struct str name = trim((struct str){.at = part.at, .count = length});
        struct str weight = trim(str_skip(part, length + 1));

        if (!str_equal_fold(name, coding))
            continue;
        return !is_zero(weight);
    }
    return false;
}

static bool worth_it(const struct reply *reply)
{
    return reply->stream == NULL && reply_bytes(reply).count >= ENCODE_BYTES_MIN &&
           reply_header_get(reply, STR("Vary")).count == 0 &&
           !str_starts(str_of(reply->type), STR("application/gzip")) &&
           !str_starts(str_of(reply->type), STR("application/octet-stream"));
}

void reply_encode(const struct request *req, struct reply *reply)
{
    if (reply->type == NULL || !worth_it(reply))
        return;
    reply_header(reply, STR("Vary"), STR("Accept-Encoding"));
    if (encoding_accepted(req, STR("zstd"))) {
        reply->borrowed = pack_zstd(req->arena, reply_bytes(reply));
        reply_header(reply, STR("Content-Encoding"), STR("zstd"));
    } else if (encoding_accepted(req, STR("gzip"))) {
        reply->borrowed = pack_gzip(req->arena, reply_bytes(reply));
        reply_header(reply, STR("Content-Encoding"), STR("gzip"));
    }
}
