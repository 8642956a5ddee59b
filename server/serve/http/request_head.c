/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a request's head strictly, and says where its body ends. Facts: RFC 9112. */
#include "serve/http/request_head.h"

#include "serve/access/gate.h"
#include "serve/answer/header.h"

static enum request_head_state refuse(struct request_head *head, int status, const char *detail)
{
    head->status = status;
    head->detail = detail;
    return REQUEST_HEAD_REFUSED;
}

/* Lines end in CR LF and hold no other control character but a tab; where the first empty line
 * ends stands in head->bytes, 0: it has not come. */
static const char *look(struct request_head *head, struct bytes got)
{
    for (; head->searched < got.count && head->bytes == 0; head->searched++) {
        size_t i = head->searched;
        uint8_t c = got.at[i], before = i > 0 ? got.at[i - 1] : 0;

        if ((c == '\n') != (before == '\r'))
            return "Header lines must end in CR LF; neither may stand alone.";
        if (c < ' ' && c != '\t' && c != '\r' && c != '\n')
            return "The header section contains a control character.";
        if (i == 1 && c == '\n')
            return "A request must begin with its method.";
        if (c == '\n' && i >= 3 && got.at[i - 2] == '\n')
            head->bytes = i + 1;
    }
    return NULL;
}

static struct str cut(struct str *rest, char at)
{
    const char *found = rest->count == 0 ? NULL : memchr(rest->at, at, rest->count);
    struct str part = {.at = rest->at,
                       .count = found == NULL ? rest->count : (size_t)(found - rest->at)};

    *rest = str_skip(*rest, part.count + (found != NULL));
    return part;
}

static struct str trim(struct str text)
{
    while (text.count > 0 && (text.at[0] == ' ' || text.at[0] == '\t'))
        text = str_skip(text, 1);
    while (text.count > 0 && (text.at[text.count - 1] == ' ' || text.at[text.count - 1] == '\t'))
        text.count--;
    return text;
}

static enum request_head_state read_line(struct request_head *head, struct str line)
{
    head->method = cut(&line, ' ');
    head->target = cut(&line, ' ');
    if (!header_is_token(head->method))
        return refuse(head, 400, "A request must begin with its method.");
    for (size_t i = 0; i < head->target.count; i++) {
        uint8_t c = (uint8_t)head->target.at[i];

        if (c <= ' ' || c >= 127)
            return refuse(head, 400, "An address must be ASCII; encode other bytes as %XX.");
    }
    if (head->target.count == 0 ||
        (head->target.at[0] != '/' && !str_equal(head->target, STR("*"))))
        return refuse(head, 400, "The address of a request must begin with a slash.");
    if (line.count != 8 || !str_starts(line, STR("HTTP/")) || line.at[6] != '.')
        return refuse(head, 400, "A request line must be method, address and version.");
    if (!str_equal(line, STR("HTTP/1.1")) && !str_equal(line, STR("HTTP/1.0")))
        return refuse(head, 505, "This server speaks HTTP/1.0 and HTTP/1.1.");
    return REQUEST_HEAD_WHOLE;
}

static enum request_head_state read_length(struct request_head *head, struct str value)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < value.count; i++) {
        if (value.at[i] < '0' || value.at[i] > '9')
            return refuse(head, 400, "Content-Length must be a whole number.");
    }
    if (!str_to_u64(value, &bytes) || bytes > INT64_MAX)
        return refuse(head, 400, "Content-Length must be a whole number.");
    head->body_bytes = (int64_t)bytes;
    return REQUEST_HEAD_WHOLE;
}

/* `frames` counts what tells a body's length. */
static enum request_head_state read_header(struct request_head *head, struct str line,
                                           unsigned *frames)
{
    bool colon = memchr(line.at, ':', line.count) != NULL;
    struct str name = cut(&line, ':'), value = trim(line);

    if (!colon || !header_is_token(name))
        return refuse(head, 400, "A header must be a name, a colon and a value on one line.");
    bool length = str_equal_fold(name, STR("content-length"));
    bool encoding = str_equal_fold(name, STR("transfer-encoding"));
    *frames += length + encoding;
    if (*frames > 1)
        return refuse(
            head, 400,
            "A request with a body needs exactly one Content-Length or Transfer-Encoding header.");
    if (length)
        return read_length(head, value);
    if (encoding && !str_equal_fold(value, STR("chunked")))
        return refuse(head, 400, "The only Transfer-Encoding supported is chunked.");
    if (encoding)
        head->body_bytes = -1;
    if (str_equal_fold(name, STR("expect")) && str_equal_fold(value, STR("100-continue")))
        head->expects_continue = true;
    return REQUEST_HEAD_WHOLE;
}

static enum request_head_state read_whole(struct request_head *head, struct bytes got)
{
    struct str rest = {.at = (const char *)got.at, .count = head->bytes - 2};
    struct str line = cut(&rest, '\n');
    unsigned frames = 0, headers = 0;

    head->line_bytes = line.count + 1;
    line.count--;
    enum request_head_state state = read_line(head, line);
    while (rest.count > 0 && state == REQUEST_HEAD_WHOLE) {
        line = cut(&rest, '\n');
        line.count--;
        state = read_header(head, line, &frames);
        if (++headers >= GATE_HEADERS_MAX && state == REQUEST_HEAD_WHOLE)
            return refuse(head, 431, "A request may have at most 63 headers.");
    }
    if (state == REQUEST_HEAD_WHOLE && head->body_bytes == -1 &&
        got.at[head->line_bytes - 3] == '0')
        return refuse(head, 400, "HTTP/1.0 has no Transfer-Encoding.");
    return state;
}

enum request_head_state request_head_read(struct request_head *head, struct bytes got)
{
    const char *fault = look(head, got);

    if (fault != NULL)
        return refuse(head, 400, fault);
    if (head->bytes == 0)
        return got.count < REQUEST_HEAD_BYTES_MAX
                   ? REQUEST_HEAD_PARTIAL
                   : refuse(head, 431, "The header section may have at most 16 KiB.");
    if (head->bytes > REQUEST_HEAD_BYTES_MAX)
        return refuse(head, 431, "The header section may have at most 16 KiB.");
    return read_whole(head, got);
}
