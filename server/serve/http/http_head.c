/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the status line and headers of a reply, the security policy with them. */
#include "serve/http/http_head.h"

#include <time.h>

#include "serve/access/gate.h"
#include "serve/answer/reply.h"

/* Nothing but our own files runs in the page; it is framed by nobody who was not named, and
 * other origins read nothing. Opener policy is not "same-origin": that would cut the window in
 * which Perfetto opens. */
static const char common_headers[] =
    "X-Content-Type-Options: nosniff\r\n"
    "Cross-Origin-Opener-Policy: same-origin-allow-popups\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Permissions-Policy: camera=(), geolocation=(), microphone=(), payment=(), usb=()\r\n";

static void put_policy(struct text *out, struct str frame_ancestors)
{
    struct str who = frame_ancestors.count > 0 ? frame_ancestors : STR("'none'");

    text_putf(out,
              "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
              "img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; worker-src 'self'; "
              "frame-ancestors %.*s; base-uri 'none'; form-action 'none'; "
              "require-trusted-types-for 'script'\r\n",
              STR_ARG(who));
}

static void put_date(struct text *out)
{
    time_t now = time(NULL);
    struct tm utc;
    char date[64];

    gmtime_r(&now, &utc);
    size_t count = strftime(date, sizeof date, "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &utc);
    text_put(out, date, count);
}

/* A header of ours never carries bytes that end it: names from files may stand in file names. */
static void put_header(struct text *out, struct header header)
{
    text_put(out, header.name.at, header.name.count);
    text_put(out, ": ", 2);
    for (size_t i = 0; i < header.value.count; i++) {
        char c = header.value.at[i];

        text_put(out, (unsigned char)c < ' ' || c == 127 ? "_" : &c, 1);
    }
    text_put(out, "\r\n", 2);
}

static void put_length(struct text *out, const struct reply *reply, int64_t body_bytes)
{
    bool bodiless = reply->status == 204 || reply->status == 304;

    if (body_bytes >= 0 && !bodiless)
        text_putf(out, "Content-Length: %lld\r\n", (long long)body_bytes);
    if (body_bytes == -1)
        text_puts(out, "Transfer-Encoding: chunked\r\n");
}

void http_head(struct text *out, const struct reply *reply, struct head_options options)
{
    text_putf(out, "HTTP/1.1 %d %s\r\n", reply->status, http_reason(reply->status));
    put_date(out);
    if (reply->type != NULL)
        text_putf(out, "Content-Type: %s\r\n", reply->type);
    put_length(out, reply, options.body_bytes);
    text_puts(out, options.close ? "Connection: close\r\n" : "Connection: keep-alive\r\n");
    if (reply_header_get(reply, STR("Cache-Control")).count == 0)
        text_puts(out, "Cache-Control: no-cache\r\n");
    put_policy(out, reply->frame_ancestors);
    text_put(out, common_headers, sizeof common_headers - 1);
    if (options.cors)
        text_puts(out, "Access-Control-Allow-Origin: " GATE_PERFETTO_ORIGIN "\r\nVary: Origin\r\n");
    for (uint32_t i = 0; i < reply->header_count; i++)
        put_header(out, reply->headers[i]);
    text_put(out, "\r\n", 2);
}
