/* SPDX-License-Identifier: Apache-2.0 */
/* The one reading of a head: what is whole, what is refused, and that pieces change nothing. */
#include "check.h"

#include "serve/http/request_head.h"

#define LINE "GET / HTTP/1.1\r\n"
#define HOST "Host: localhost\r\n"

struct row {
    const char *what;
    const char *head; /* its bytes; a NUL may be among them */
    size_t count;
    enum request_head_state state;
    int status;
    int64_t body_bytes;
};

#define TEXT(literal) (literal), sizeof(literal) - 1

static const struct row rows[] = {
    {"plain", TEXT(LINE HOST "\r\n"), REQUEST_HEAD_WHOLE, 0, 0},
    {"no header", TEXT(LINE "\r\n"), REQUEST_HEAD_WHOLE, 0, 0},
    {"no end yet", TEXT(LINE HOST "\r"), REQUEST_HEAD_PARTIAL, 0, 0},
    {"a length", TEXT(LINE "Content-Length: 12\r\n\r\n"), REQUEST_HEAD_WHOLE, 0, 12},
    {"chunked", TEXT(LINE "Transfer-Encoding: Chunked\r\n\r\n"), REQUEST_HEAD_WHOLE, 0, -1},
    {"blanks around a value", TEXT(LINE "Content-Length: \t12 \r\n\r\n"), REQUEST_HEAD_WHOLE, 0,
     12},
    {"bytes of UTF-8 in a value", TEXT(LINE "X: \xc3\xa4\r\n\r\n"), REQUEST_HEAD_WHOLE, 0, 0},
    {"folded", TEXT(LINE "X: a\r\n b\r\n\r\n"), REQUEST_HEAD_REFUSED, 400, 0},
    {"folded with a tab", TEXT(LINE "X: a\r\n\tb: c\r\n\r\n"), REQUEST_HEAD_REFUSED, 400, 0},
    {"folded first", TEXT(LINE " X: a\r\n\r\n"), REQUEST_HEAD_REFUSED, 400, 0},
    {"no name", TEXT(LINE ": x\r\n\r\n"), REQUEST_HEAD_REFUSED, 400, 0},
    {"no colon", TEXT(LINE "X\r\n\r\n"), REQUEST_HEAD_REFUSED, 400, 0},
    {"a blank before the colon", TEXT(LINE "X : y\r\n\r\n"), REQUEST_HEAD_REFUSED, 400, 0},
    {"a high byte in a name", TEXT(LINE "\x80: x\r\n\r\n"), REQUEST_HEAD_REFUSED, 400, 0},
    {"a control character in a name", TEXT(LINE "\x01: x\r\n\r\n"), REQUEST_HEAD_REFUSED, 400, 0},
    {"DEL in a name", TEXT(LINE "\x7f: x\r\n\r\n"), REQUEST_HEAD_REFUSED, 400, 0},
    {"NUL in a value", TEXT(LINE "X: \0\r\n\r\n"), REQUEST_HEAD_REFUSED, 400, 0},
    {"LF alone", TEXT("GET / HTTP/1.1\n"), REQUEST_HEAD_REFUSED, 400, 0},
    {"LF alone in headers", TEXT(LINE "X: y\n"), REQUEST_HEAD_REFUSED, 400, 0},
    {"CR alone", TEXT(LINE "X: a\rY: b\r\n\r\n"), REQUEST_HEAD_REFUSED, 400, 0},
    {"an empty line first", TEXT("\r\n"), REQUEST_HEAD_REFUSED, 400, 0},
    {"two lengths", TEXT(LINE "Content-Length: 1\r\nContent-Length: 1\r\n\r\n"),
     REQUEST_HEAD_REFUSED, 400, 0},
    {"both", TEXT(LINE "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
     REQUEST_HEAD_REFUSED, 400, 0},
    {"a signed length", TEXT(LINE "Content-Length: +1\r\n\r\n"), REQUEST_HEAD_REFUSED, 400, 0},
    {"no length", TEXT(LINE "Content-Length:\r\n\r\n"), REQUEST_HEAD_REFUSED, 400, 0},
    {"a length beyond 2^63", TEXT(LINE "Content-Length: 9223372036854775808\r\n\r\n"),
     REQUEST_HEAD_REFUSED, 400, 0},
    {"another coding", TEXT(LINE "Transfer-Encoding: gzip, chunked\r\n\r\n"), REQUEST_HEAD_REFUSED,
     400, 0},
    {"chunked in 1.0", TEXT("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"),
     REQUEST_HEAD_REFUSED, 400, 0},
    {"absolute", TEXT("GET http://localhost/ HTTP/1.1\r\n\r\n"), REQUEST_HEAD_REFUSED, 400, 0},
    {"two blanks", TEXT("GET  / HTTP/1.1\r\n\r\n"), REQUEST_HEAD_REFUSED, 400, 0},
    {"a high byte in an address", TEXT("GET /\xc3\xa4 HTTP/1.1\r\n\r\n"), REQUEST_HEAD_REFUSED, 400,
     0},
    {"no version", TEXT("GET /\r\n\r\n"), REQUEST_HEAD_REFUSED, 400, 0},
    {"more behind the version", TEXT("GET / HTTP/1.1 \r\n\r\n"), REQUEST_HEAD_REFUSED, 400, 0},
    {"2.0", TEXT("GET / HTTP/2.0\r\n\r\n"), REQUEST_HEAD_REFUSED, 505, 0},
};

static void heads(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct bytes whole = {.at = (const uint8_t *)rows[i].head, .count = rows[i].count};
        struct request_head head = {0};

        CHECK_INT(rows[i].what, request_head_read(&head, whole), rows[i].state);
        CHECK_INT(rows[i].what, head.status, rows[i].status);
        if (rows[i].state != REQUEST_HEAD_WHOLE)
            continue;
        CHECK_INT(rows[i].what, head.body_bytes, rows[i].body_bytes);
        CHECK_INT(rows[i].what, head.bytes, whole.count);
    }
}

/* A byte more each time tells the same in the end, and nothing before the end but a refusal. */
static void in_pieces(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct bytes whole = {.at = (const uint8_t *)rows[i].head, .count = rows[i].count};
        struct request_head head = {0};
        enum request_head_state told = REQUEST_HEAD_PARTIAL;

        for (size_t k = 1; k <= whole.count && told == REQUEST_HEAD_PARTIAL; k++)
            told = request_head_read(&head, (struct bytes){.at = whole.at, .count = k});
        CHECK_INT(rows[i].what, told, rows[i].state);
        CHECK_INT(rows[i].what, head.status, rows[i].status);
    }
}

static void sizes(void **state)
{
    (void)state;
    const struct {
        const char *what;
        unsigned headers, value_bytes;
        int status;
    } sized[] = {
        {"63 headers", 63, 1, 0},
        {"64 headers", 64, 1, 431},
        {"16,000 bytes", 1, 16000, 0},
        {"17,000 bytes", 1, 17000, 431},
    };

    for (size_t i = 0; i < COUNT(sized); i++) {
        struct request_head head = {0};
        struct text text = {0};

        text_puts(&text, LINE);
        for (unsigned k = 0; k < sized[i].headers; k++)
            text_putf(&text, "X-%u: %0*d\r\n", k, (int)sized[i].value_bytes, 0);
        text_puts(&text, "\r\n");
        request_head_read(&head,
                          (struct bytes){.at = (const uint8_t *)text.at, .count = text.count});
        CHECK_INT(sized[i].what, head.status, sized[i].status);
        text_free(&text);
    }
}

static void what_follows_is_left(void **state)
{
    (void)state;
    const struct bytes two = BYTES(LINE "Expect: 100-continue\r\n\r\n" LINE "\r\n");
    struct request_head head = {0};

    CHECK_INT("first", request_head_read(&head, two), REQUEST_HEAD_WHOLE);
    CHECK_INT("its bytes", head.bytes, two.count - sizeof(LINE "\r\n") + 1);
    CHECK_INT("its line", head.line_bytes, sizeof(LINE) - 1);
    CHECK("waits", head.expects_continue);
    CHECK("method", str_equal(head.method, STR("GET")));
    CHECK("target", str_equal(head.target, STR("/")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads),
        cmocka_unit_test(in_pieces),
        cmocka_unit_test(sizes),
        cmocka_unit_test(what_follows_is_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
