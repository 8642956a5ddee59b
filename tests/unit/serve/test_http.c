/* SPDX-License-Identifier: Apache-2.0 */
/* The server on a socket: what only the wire shows. */
#include "check.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "serve/dispatch/dispatch.h"
#include "serve/http/http.h"
#include "serve/route.h"
#include "serve/routes.h"

/* Tests of the wire need no UI. */
struct fixture {
    char dir[64];
    struct catalog *catalog;
    struct services services;
    struct http *http;
};

static void start(struct fixture *fixture, enum auth_mode auth)
{
    struct error err = {0};
    const struct http_options options = {
        .bind = "localhost", .auth = auth, .runtime_dir = fixture->dir};

    strcpy(fixture->dir, "/tmp/jviewd-test-XXXXXX");
    CHECK("directory", mkdtemp(fixture->dir) != NULL);
    CHECK_OK("catalog", catalog_open(fixture->dir, &fixture->catalog, &err), &err);
    fixture->services = (struct services){.catalog = fixture->catalog,
                                          .routes = &routes,
                                          .profile_dir = "profiles",
                                          .base_path = "/proxy/8080",
                                          .perfetto_cors = true};
    CHECK_OK("start", http_start(&options, &fixture->services, &fixture->http, &err), &err);
}

static void stop(struct fixture *fixture)
{
    char command[128];

    http_stop(fixture->http);
    catalog_close(fixture->catalog);
    snprintf(command, sizeof command, "rm -rf %s", fixture->dir);
    CHECK("clean", system(command) == 0);
}

static int connect_to(const struct http *http)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)http_port(http))};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    inet_pton(AF_INET, "127.0.0.1", &at.sin_addr);
    CHECK("connect", connect(fd, (struct sockaddr *)&at, sizeof at) == 0);
    return fd;
}

/* Sends, then reads until the server closes or says nothing for a while. */
static void talk(const struct http *http, const char *request, size_t count, struct text *ret)
{
    int fd = connect_to(http);

    ret->count = 0;
    text_put(ret, "", 0);
    CHECK("send", send(fd, request, count, MSG_NOSIGNAL) == (ssize_t)count);
    for (;;) {
        struct pollfd waits = {.fd = fd, .events = POLLIN};
        char piece[4096];

        if (poll(&waits, 1, 1500) != 1)
            break;
        ssize_t got = recv(fd, piece, sizeof piece, 0);
        if (got <= 0)
            break;
        text_put(ret, piece, (size_t)got);
    }
    close(fd);
}

static uint32_t replies_in(struct str text)
{
    uint32_t count = 0;

    for (const char *at = text.at; at != NULL && text.count > 0;) {
        at = memmem(text.at, text.count, "HTTP/1.1 ", 9);
        if (at == NULL)
            break;
        count++;
        text = str_skip(text, (size_t)(at - text.at) + 9);
    }
    return count;
}

#define HOST "Host: localhost\r\n"
#define LAST "Connection: close\r\n\r\n"

static void shapes(void **state)
{
    (void)state;
    const struct {
        const char *what, *request, *want;
        uint32_t replies;
    } rows[] = {
        {"plain", "GET /healthz HTTP/1.1\r\n" HOST LAST, "HTTP/1.1 200 OK", 1},
        {"two on one connection",
         "GET /healthz HTTP/1.1\r\n" HOST "\r\nGET /healthz HTTP/1.1\r\n" HOST LAST, "200 OK", 2},
        {"HTTP/1.0 closes", "GET /healthz HTTP/1.0\r\n" HOST "\r\n", "Connection: close", 1},
        {"base path", "GET /proxy/8080/healthz HTTP/1.1\r\n" HOST LAST, "200 OK", 1},
        {"base path alone", "GET /proxy/8080 HTTP/1.1\r\n" HOST LAST, "Location: /proxy/8080/", 1},
        {"no Host", "GET /healthz HTTP/1.1\r\n" LAST, "HTTP/1.1 403", 1},
        {"two Hosts", "GET /healthz HTTP/1.1\r\n" HOST HOST LAST, "HTTP/1.1 403", 1},
        {"a rebound name", "GET /healthz HTTP/1.1\r\nHost: evil.example\r\n" LAST, "HTTP/1.1 403",
         1},
        {"absolute form", "GET http://localhost/healthz HTTP/1.1\r\n" HOST LAST, "HTTP/1.1 400", 1},
        {"folded: nothing is smuggled",
         "GET /healthz HTTP/1.1\r\n" HOST "X: a\r\n b\r\nContent-Length: 50\r\n\r\n"
         "GET /healthz HTTP/1.1\r\n" HOST LAST,
         "HTTP/1.1 400", 1},
        {"an empty name: nothing is smuggled",
         "GET /healthz HTTP/1.1\r\n" HOST ": a\r\nContent-Length: 50\r\n\r\n"
         "GET /healthz HTTP/1.1\r\n" HOST LAST,
         "HTTP/1.1 400", 1},
        {"a refusal ends the pipe, and what came before it is answered",
         "GET /healthz HTTP/1.1\r\n" HOST "\r\nGET /healthz HTTP/1.1\n" HOST
         "\r\nGET /healthz HTTP/1.1\r\n" HOST "\r\n",
         "HTTP/1.1 400", 2},
        {"encoded dots", "GET /%2e%2e/healthz HTTP/1.1\r\n" HOST LAST, "HTTP/1.1 400", 1},
        {"dots", "GET /../healthz HTTP/1.1\r\n" HOST LAST, "HTTP/1.1 400", 1},
        {"trailing dot", "GET /healthz. HTTP/1.1\r\n" HOST LAST, "HTTP/1.1 404", 1},
        {"two slashes", "GET //healthz HTTP/1.1\r\n" HOST LAST, "HTTP/1.1 400", 1},
        {"encoded NUL", "GET /healthz%00x HTTP/1.1\r\n" HOST LAST, "HTTP/1.1 400", 1},
        {"encoded slash", "GET /api%2fruns HTTP/1.1\r\n" HOST LAST, "HTTP/1.1 400", 1},
        {"length and chunked: nothing is smuggled",
         "POST /api/launch HTTP/1.1\r\n" HOST
         "Content-Type: application/json\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
         "0\r\n\r\nGET /healthz HTTP/1.1\r\n" HOST "\r\n",
         "HTTP/1.1 400", 1},
        {"two lengths: nothing is smuggled",
         "POST /api/launch HTTP/1.1\r\n" HOST
         "Content-Type: application/json\r\nContent-Length: 0\r\nContent-Length: 41\r\n\r\n"
         "GET /healthz HTTP/1.1\r\n" HOST "\r\n",
         "HTTP/1.1 400", 1},
        {"GET with a body: nothing is smuggled",
         "GET /healthz HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello"
         "GET /healthz HTTP/1.1\r\n" HOST "\r\n",
         "HTTP/1.1 400", 1},
        {"space before the colon: nothing is smuggled",
         "POST /api/launch HTTP/1.1\r\n" HOST
         "Content-Type: application/json\r\nContent-Length : 30\r\n\r\n"
         "GET /healthz HTTP/1.1\r\n" HOST "\r\n",
         "HTTP/1.1 400", 1},
        {"no HTTP", "hello\r\n\r\n", "HTTP/1.1 400", 1},
        {"BREW", "BREW /healthz HTTP/1.1\r\n" HOST LAST, "HTTP/1.1 405", 1},
        {"PATCH", "PATCH /healthz HTTP/1.1\r\n" HOST LAST, "HTTP/1.1 405", 1},
        {"POST where GET is",
         "POST /healthz HTTP/1.1\r\n" HOST "Content-Type: application/json\r\nContent-Length: 2\r\n"
         "Connection: close\r\n\r\n{}",
         "Allow: GET, HEAD", 1},
        {"OPTIONS", "OPTIONS /api/runs HTTP/1.1\r\n" HOST LAST, "HTTP/1.1 405", 1},
        {"Perfetto asks before",
         "OPTIONS /perfetto/a.json.gz HTTP/1.1\r\n" HOST "Origin: https://ui.perfetto.dev\r\n" LAST,
         "Access-Control-Allow-Private-Network: true", 1},
        {"unknown path", "GET /api/tops HTTP/1.1\r\n" HOST LAST, "/api/top", 1},
        {"unknown parameter", "GET /api/runs?limt=1 HTTP/1.1\r\n" HOST LAST,
         "the nearest is \\\"limit\\\"", 1},
        {"a run that may yet be found", "GET /api/top?run=nothing HTTP/1.1\r\n" HOST LAST,
         "the first scan is under way", 1},
        {"runs", "GET /api/runs HTTP/1.1\r\n" HOST LAST, "\"row_count\":0", 1},
        {"not scanned yet", "GET /readyz HTTP/1.1\r\n" HOST LAST, "HTTP/1.1 503", 1},
    };
    struct fixture fixture;
    struct text reply = {0};

    start(&fixture, AUTH_NONE);
    for (size_t i = 0; i < COUNT(rows); i++) {
        talk(fixture.http, rows[i].request, strlen(rows[i].request), &reply);
        CHECK_HAS(rows[i].what, reply.at, rows[i].want);
        CHECK_INT(rows[i].what, replies_in(text_str(&reply)), rows[i].replies);
        if (rows[i].replies == 0)
            continue;
        CHECK_HAS(rows[i].what, reply.at, "Content-Security-Policy: default-src 'none'");
        CHECK_HAS(rows[i].what, reply.at, "X-Content-Type-Options: nosniff");
    }
    text_free(&reply);
    stop(&fixture);
}

static void raw_nul(void **state)
{
    (void)state;
    static const char request[] = "GET /heal\0thz HTTP/1.1\r\n" HOST LAST;
    struct fixture fixture;
    struct text reply = {0};

    start(&fixture, AUTH_NONE);
    talk(fixture.http, request, sizeof request - 1, &reply);
    CHECK_HAS("NUL in the path", reply.at, "HTTP/1.1 400");
    text_free(&reply);
    stop(&fixture);
}

static void head_has_no_body(void **state)
{
    (void)state;
    static const char request[] = "HEAD /healthz HTTP/1.1\r\n" HOST LAST;
    struct fixture fixture;
    struct text reply = {0};

    start(&fixture, AUTH_NONE);
    talk(fixture.http, request, sizeof request - 1, &reply);
    CHECK_HAS("length", reply.at, "Content-Length: 3\r\n");
    CHECK("ends with the head", str_ends(text_str(&reply), STR("\r\n\r\n")));
    text_free(&reply);
    stop(&fixture);
}

static void body_sizes(void **state)
{
    (void)state;
    static char body[(1 << 20) + 1];
    const struct {
        const char *what;
        size_t count;
        bool chunked;
        const char *want;
    } rows[] = {
        {"small", 2, false, "HTTP/1.1 404"},
        {"the most", 1 << 20, false, "HTTP/1.1 404"},
        {"a byte more", (1 << 20) + 1, false, "HTTP/1.1 413"},
        {"chunked", 2, true, "HTTP/1.1 404"},
        {"chunked, a byte more", (1 << 20) + 1, true, "HTTP/1.1 413"},
    };
    struct fixture fixture;

    memset(body, ' ', sizeof body);
    start(&fixture, AUTH_NONE);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct text request = {0}, reply = {0};

        text_puts(&request, "POST /api/launch HTTP/1.1\r\n" HOST
                            "Content-Type: application/json\r\nConnection: close\r\n");
        if (rows[i].chunked)
            text_putf(&request, "Transfer-Encoding: chunked\r\n\r\n%zx\r\n", rows[i].count);
        else
            text_putf(&request, "Content-Length: %zu\r\n\r\n", rows[i].count);
        text_put(&request, body, rows[i].count);
        text_puts(&request, rows[i].chunked ? "\r\n0\r\n\r\n" : "");
        talk(fixture.http, request.at, request.count, &reply);
        CHECK_HAS(rows[i].what, reply.at, rows[i].want);
        text_free(&request);
        text_free(&reply);
    }
    stop(&fixture);
}

static void ask_with(const struct http *http, const char *line, const char *header,
                     struct text *reply)
{
    struct text request = {0};

    text_putf(&request, "%s HTTP/1.1\r\n" HOST "%s%s" LAST, line, header,
              header[0] != '\0' ? "\r\n" : "");
    talk(http, request.at, request.count, reply);
    text_free(&request);
}

static void token_and_launch(void **state)
{
    (void)state;
    struct fixture fixture;
    struct text reply = {0};
    struct arena *arena = arena_create();
    struct error err = {0};
    struct bytes token;
    char path[128], line[160];

    start(&fixture, AUTH_TOKEN);
    ask_with(fixture.http, "GET /api/runs", "", &reply);
    CHECK_HAS("nobody", reply.at, "HTTP/1.1 401");
    ask_with(fixture.http, "GET /healthz", "", &reply);
    CHECK_HAS("health is open", reply.at, "HTTP/1.1 200");
    ask_with(fixture.http, "GET /api/nothing", "", &reply);
    CHECK_HAS("nobody learns which paths there are", reply.at, "HTTP/1.1 401");

    CHECK_OK("token file",
             file_read(str_format(arena, "%s/token-%d", fixture.dir, http_port(fixture.http)).at,
                       arena, 100, &token, &err),
             &err);
    CHECK_INT("token length", token.count, AUTH_SECRET_SIZE - 1);
    ask_with(fixture.http, "GET /api/runs",
             str_format(arena, "Authorization: Bearer %.*s", (int)token.count, token.at).at,
             &reply);
    CHECK_HAS("bearer", reply.at, "HTTP/1.1 200");

    http_launch_path(fixture.http, path);
    snprintf(line, sizeof line, "GET /%s", path);
    ask_with(fixture.http, line, "", &reply);
    CHECK_HAS("launch", reply.at, "HTTP/1.1 303");
    CHECK_HAS("launch", reply.at, "HttpOnly; SameSite=Strict");
    const char *cookie = strstr(reply.at, "Set-Cookie: ") + strlen("Set-Cookie: ");
    struct str value = {.at = cookie, .count = strcspn(cookie, ";")};
    struct str header = str_format(arena, "Cookie: other=1; %.*s", STR_ARG(value));
    ask_with(fixture.http, line, "", &reply);
    CHECK_HAS("a link is good once", reply.at, "HTTP/1.1 403");
    ask_with(fixture.http, "GET /api/runs", header.at, &reply);
    CHECK_HAS("cookie", reply.at, "HTTP/1.1 200");
    text_free(&reply);
    arena_destroy(arena);
    stop(&fixture);
}

static void refused_to_start(void **state)
{
    (void)state;
    const struct {
        const char *what;
        struct http_options options;
        enum status status;
        const char *message;
    } rows[] = {
        {"beyond loopback", {.bind = "0.0.0.0"}, ERR_INVALID, "--auth token"},
        {"an address", {.bind = "192.0.2.1"}, ERR_INVALID, "--auth token"},
        {"IPv6", {.bind = "::1"}, ERR_INVALID, "IPv4"},
        {"a port too high", {.bind = "127.0.0.1", .port = 70000}, ERR_INVALID, "65535"},
    };
    const struct services services = {.base_path = ""};

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error err = {0};
        struct http *http = NULL;

        CHECK_INT(rows[i].what, http_start(&rows[i].options, &services, &http, &err),
                  rows[i].status);
        CHECK_HAS(rows[i].what, err.message, rows[i].message);
    }
}

static void port_in_use(void **state)
{
    (void)state;
    struct fixture fixture;
    struct error err = {0};
    struct http *second = NULL;
    char holder[64];

    start(&fixture, AUTH_NONE);
    struct http_options options = {.bind = "127.0.0.1", .port = http_port(fixture.http)};
    CHECK_INT("taken", http_start(&options, &fixture.services, &second, &err), ERR_CONFLICT);
    snprintf(holder, sizeof holder, "(pid %d)", (int)getpid());
    CHECK_HAS("says by whom", err.message, holder);

    struct error again = {0};
    options.port_tries = 20;
    CHECK_OK("the next one", http_start(&options, &fixture.services, &second, &again), &again);
    CHECK("another", http_port(second) > http_port(fixture.http));
    http_stop(second);
    stop(&fixture);
}

static void event_streams(void **state)
{
    (void)state;
    static const char request[] = "GET /api/events HTTP/1.1\r\n" HOST "\r\n";
    struct fixture fixture;
    struct text reply = {0};
    int fds[32];

    start(&fixture, AUTH_NONE);
    for (size_t i = 0; i < COUNT(fds); i++) {
        char first[2048];

        fds[i] = connect_to(fixture.http);
        CHECK("ask", send(fds[i], request, sizeof request - 1, 0) > 0);
        CHECK("head", recv(fds[i], first, sizeof first, 0) > 0);
    }
    talk(fixture.http, request, sizeof request - 1, &reply);
    CHECK_HAS("the 33rd", reply.at, "HTTP/1.1 503");
    talk(fixture.http, "GET /healthz HTTP/1.1\r\n" HOST LAST,
         strlen("GET /healthz HTTP/1.1\r\n" HOST LAST), &reply);
    CHECK_HAS("others are served", reply.at, "HTTP/1.1 200");
    text_free(&reply);
    stop(&fixture); /* ends the streams */
    for (size_t i = 0; i < COUNT(fds); i++)
        close(fds[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes),           cmocka_unit_test(raw_nul),
        cmocka_unit_test(head_has_no_body), cmocka_unit_test(body_sizes),
        cmocka_unit_test(token_and_launch), cmocka_unit_test(refused_to_start),
        cmocka_unit_test(port_in_use),      cmocka_unit_test(event_streams),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
