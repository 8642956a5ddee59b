/* SPDX-License-Identifier: Apache-2.0 */
/* What a connection may send: heads, and the bodies behind them, one request after another, as
 * they are read before anybody else sees them.
 *
 * Read at once or byte by byte they are the same requests; and what passes is held against a
 * second reading, simple and strict, of what a head may be (RFC 9112).
 */
#include <ctype.h>
#include <stdlib.h>

#include "any/place_any.h"
#include "serve/http/chunks.h"
#include "serve/http/request_head.h"

enum { REQUESTS_MAX = 8 };

static struct bytes from(struct bytes bytes, size_t at)
{
    return (struct bytes){.at = bytes.at + at, .count = bytes.count - at};
}

static bool is_token(struct str text)
{
    for (size_t i = 0; i < text.count; i++)
        if (!isalnum((unsigned char)text.at[i]) &&
            (text.at[i] == '\0' || strchr("!#$%&'*+-.^_`|~", text.at[i]) == NULL))
            return false;
    return text.count > 0;
}

/* Until the next CR LF, which must be there. */
static struct str next_line(struct str *rest)
{
    for (size_t i = 0; i + 1 < rest->count; i++) {
        if (rest->at[i] == '\r' && rest->at[i + 1] == '\n') {
            struct str line = {.at = rest->at, .count = i};

            *rest = str_skip(*rest, i + 2);
            return line;
        }
        if (rest->at[i] == '\r' || rest->at[i] == '\n' || rest->at[i] == '\0')
            abort();
    }
    abort();
}

static struct str value_of(struct str line, size_t colon)
{
    struct str value = str_skip(line, colon + 1);

    while (value.count > 0 && strchr(" \t", value.at[0]) != NULL)
        value = str_skip(value, 1);
    while (value.count > 0 && strchr(" \t", value.at[value.count - 1]) != NULL)
        value.count--;
    return value;
}

static int64_t length_of(struct str value)
{
    int64_t length = 0;

    if (value.count == 0)
        abort();
    for (size_t i = 0; i < value.count; i++)
        if (!isdigit((unsigned char)value.at[i]) || __builtin_mul_overflow(length, 10, &length) ||
            __builtin_add_overflow(length, value.at[i] - '0', &length))
            abort();
    return length;
}

/* -1: chunked. */
static int64_t body_of(struct str head)
{
    bool framed = false;
    int64_t body = 0;
    struct str line = next_line(&head);

    while ((line = next_line(&head)).count > 0) {
        const char *colon = memchr(line.at, ':', line.count);
        struct str name = {.at = line.at, .count = colon == NULL ? 0 : (size_t)(colon - line.at)};

        if (!is_token(name))
            abort();
        bool length = str_equal_fold(name, STR("content-length"));
        if (!length && !str_equal_fold(name, STR("transfer-encoding")))
            continue;
        if (framed)
            abort();
        framed = true;
        body = length ? length_of(value_of(line, name.count)) : -1;
        if (!length && !str_equal_fold(value_of(line, name.count), STR("chunked")))
            abort();
    }
    if (head.count > 0)
        abort();
    return body;
}

static void check_whole(const struct request_head *head, struct bytes got)
{
    struct str whole = {.at = (const char *)got.at, .count = head->bytes}, rest = whole;
    struct str line = next_line(&rest);

    if (head->bytes > REQUEST_HEAD_BYTES_MAX || head->line_bytes != line.count + 2 ||
        head->method.at != line.at || head->target.at != line.at + head->method.count + 1 ||
        line.count != head->method.count + head->target.count + 10 || !is_token(head->method) ||
        memchr(head->target.at, ' ', head->target.count) != NULL)
        abort();
    if (body_of(whole) != head->body_bytes)
        abort();
}

static enum request_head_state piecewise(struct bytes got, struct request_head *ret)
{
    enum request_head_state state = REQUEST_HEAD_PARTIAL;

    *ret = (struct request_head){0};
    for (size_t count = 1; count <= got.count && state == REQUEST_HEAD_PARTIAL; count++)
        state = request_head_read(ret, (struct bytes){.at = got.at, .count = count});
    return state;
}

static size_t take_chunks(struct bytes got)
{
    struct chunks whole = {0}, pieces = {0};
    size_t taken = 0, count = chunks_take(&whole, got);

    for (size_t i = 0; i < got.count; i++)
        taken += chunks_take(&pieces, (struct bytes){.at = got.at + i, .count = 1});
    if (taken != count || whole.state != pieces.state || whole.bytes != pieces.bytes ||
        whole.bytes > count)
        abort();
    return whole.state == CHUNKS_ENDED ? count : got.count;
}

/* How many bytes are one request; 0: it is refused, or not whole. */
static size_t take_request(struct bytes got)
{
    struct request_head head = {0}, pieces;
    enum request_head_state state = request_head_read(&head, got);

    if (got.count > 0 && state != piecewise(got, &pieces))
        abort();
    if (state == REQUEST_HEAD_REFUSED &&
        (head.status < 400 || head.detail == NULL || pieces.status < 400))
        abort();
    if (state != REQUEST_HEAD_WHOLE)
        return 0;
    if (head.bytes != pieces.bytes || head.body_bytes != pieces.body_bytes ||
        head.expects_continue != pieces.expects_continue)
        abort();
    check_whole(&head, got);
    struct bytes body = from(got, head.bytes);

    if (head.body_bytes < 0)
        return head.bytes + take_chunks(body);
    return (uint64_t)head.body_bytes < body.count ? head.bytes + (size_t)head.body_bytes
                                                  : got.count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes rest = {.at = data, .count = size};

    for (int i = 0; i < REQUESTS_MAX && rest.count > 0; i++) {
        size_t taken = take_request(rest);

        if (taken == 0)
            break;
        rest = from(rest, taken);
    }
    return 0;
}
