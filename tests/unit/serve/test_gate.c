/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that the gate lets in, and the refusal of each that it does not. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

#include "serve/access/gate.h"

enum { HEADERS_MAX = 70 };

/* "Host: a|Origin: b" */
static uint32_t headers_of(const char *text, struct header *ret)
{
    struct str rest = str_of(text);
    uint32_t count = 0;

    while (rest.count > 0) {
        const char *end = memchr(rest.at, '|', rest.count);
        size_t length = end == NULL ? rest.count : (size_t)(end - rest.at);
        const char *colon = memchr(rest.at, ':', length);
        size_t name = (size_t)(colon - rest.at);

        ret[count++] = (struct header){.name = {.at = rest.at, .count = name},
                                       .value = {.at = colon + 2, .count = length - name - 2}};
        rest = str_skip(rest, length + 1);
    }
    return count;
}

static const struct str allowed_names[] = {{.at = "gpu-box", .count = 7}};

static bool embeds;

static struct gate gate_of_tests(void)
{
    return (struct gate){.bind = STR("10.1.2.3"),
                         .allowed = allowed_names,
                         .allowed_count = 1,
                         .public_url = STR("https://profiles.example.org/jview"),
                         .base_path = STR("/proxy/8080"),
                         .perfetto_cors = true,
                         .embeds = embeds};
}

static struct verdict ask(struct arena *arena, const char *method, const char *target,
                          const char *headers)
{
    struct header list[HEADERS_MAX];
    struct gate gate = gate_of_tests();
    struct wire wire = {.method = str_of(method),
                        .target = str_of(target),
                        .version = STR("1.1"),
                        .headers = list,
                        .header_count = headers_of(headers, list)};
    struct verdict verdict;

    gate_check(&gate, &wire, arena, &verdict);
    return verdict;
}

#define OURS "Host: localhost:8080"
#define JSON OURS "|Content-Type: application/json|"
#define FILE_BODY OURS "|Content-Type: application/octet-stream|"

static void who(void **state)
{
    (void)state;
    const struct {
        const char *what;
        int status;
        const char *method, *target, *headers;
    } rows[] = {
        {"loopback name", 0, "GET", "/api/runs", OURS},
        {"no port", 0, "GET", "/", "Host: localhost"},
        {"name in capitals", 0, "GET", "/", "Host: LOCALHOST:1"},
        {"another port (ssh -L)", 0, "GET", "/", "Host: 127.0.0.1:9999"},
        {"IPv6 loopback", 0, "GET", "/", "Host: [::1]:8080"},
        {"IPv6 without port", 0, "GET", "/", "Host: [::1]"},
        {"bind address", 0, "GET", "/", "Host: 10.1.2.3:8080"},
        {"--allowed-host", 0, "GET", "/", "Host: GPU-box:80"},
        {"--public-url", 0, "GET", "/", "Host: profiles.example.org"},
        {"no Host", 403, "GET", "/", "Accept: a"},
        {"empty Host", 403, "GET", "/", "Host: "},
        {"two Hosts", 403, "GET", "/", OURS "|Host: localhost"},
        {"a rebound name", 403, "GET", "/", "Host: evil.example:8080"},
        {"our name as prefix", 403, "GET", "/", "Host: localhost.evil.example"},
        {"our name as suffix", 403, "GET", "/", "Host: evil-localhost"},
        {"port is no number", 403, "GET", "/", "Host: localhost:80x"},
        {"port 0", 403, "GET", "/", "Host: localhost:0"},
        {"two ports", 403, "GET", "/", "Host: localhost:80:80"},
        {"user in Host", 403, "GET", "/", "Host: a@localhost"},
        {"wildcard bind is no name", 403, "GET", "/", "Host: 0.0.0.0"},
        {"our Origin", 0, "GET", "/api/runs", OURS "|Origin: http://localhost:8080"},
        {"public Origin", 0, "GET", "/",
         "Host: profiles.example.org|Origin: "
         "https://profiles.example.org"},
        {"Origin of another port", 403, "GET", "/api/runs", OURS "|Origin: http://localhost:3000"},
        {"Origin of another name", 403, "GET", "/api/runs", OURS "|Origin: http://evil.example"},
        {"Origin null", 403, "GET", "/api/runs", OURS "|Origin: null"},
        {"Origin by TLS", 403, "GET", "/api/runs", OURS "|Origin: https://localhost:8080"},
        {"two Origins", 400, "GET", "/api/runs",
         OURS "|Origin: http://localhost:8080"
              "|Origin: http://localhost:8080"},
        {"Perfetto on its path", 0, "GET", "/perfetto/a.json.gz",
         OURS "|Origin: https://ui.perfetto.dev"
              "|Sec-Fetch-Site: cross-site"},
        {"Perfetto elsewhere", 403, "GET", "/api/runs", OURS "|Origin: https://ui.perfetto.dev"},
        {"Perfetto by http", 403, "GET", "/perfetto/a.json.gz",
         OURS "|Origin: http://ui.perfetto.dev"},
        {"Perfetto asks before", 0, "OPTIONS", "/perfetto/a.json.gz",
         OURS "|Origin: https://ui.perfetto.dev"},
        {"others ask before", 403, "OPTIONS", "/perfetto/a.json.gz",
         OURS "|Origin: http://evil.example"},
        {"OPTIONS by nobody", 403, "OPTIONS", "/perfetto/a.json.gz", OURS},
        {"OPTIONS elsewhere", 405, "OPTIONS", "/api/runs", OURS},
        {"another site asks before it brings a file", 405, "OPTIONS", GATE_UPLOAD_PATH,
         OURS "|Origin: http://evil.example"},
        {"another site brings a file", 403, "POST", GATE_UPLOAD_PATH,
         OURS "|Origin: http://evil.example|Content-Type: application/octet-stream"},
        {"another site's form brings a file", 403, "POST", GATE_UPLOAD_PATH,
         OURS "|Sec-Fetch-Site: cross-site|Content-Type: application/octet-stream"},
        {"another site deletes", 403, "DELETE", GATE_UPLOAD_PATH,
         OURS "|Origin: http://evil.example"},
        {"same origin", 0, "GET", "/api/runs", OURS "|Sec-Fetch-Site: same-origin"},
        {"typed by the user", 0, "GET", "/api/runs", OURS "|Sec-Fetch-Site: none"},
        {"image on another site", 403, "GET", "/api/runs", OURS "|Sec-Fetch-Site: cross-site"},
        {"same site, other port", 403, "GET", "/api/runs", OURS "|Sec-Fetch-Site: same-site"},
        {"link to the page", 0, "GET", "/?run=a",
         OURS "|Sec-Fetch-Site: cross-site|Sec-Fetch-"
              "Mode: navigate|Sec-Fetch-Dest: document"},
        {"short link", 0, "GET", "/l/4f2k",
         OURS "|Sec-Fetch-Site: cross-site|Sec-Fetch-"
              "Mode: navigate|Sec-Fetch-Dest: document"},
        {"frame of the page", 403, "GET", "/",
         OURS "|Sec-Fetch-Site: cross-site|Sec-Fetch-"
              "Mode: navigate|Sec-Fetch-Dest: iframe"},
        {"link to the API", 403, "GET", "/api/runs",
         OURS "|Sec-Fetch-Site: cross-site|Sec-Fetch-"
              "Mode: navigate|Sec-Fetch-Dest: document"},
        {"two Sec-Fetch-Sites", 400, "GET", "/", OURS "|Sec-Fetch-Site: none|Sec-Fetch-Site: none"},
    };
    struct arena *arena = arena_create();

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_INT(rows[i].what, ask(arena, rows[i].method, rows[i].target, rows[i].headers).status,
                  rows[i].status);
    arena_destroy(arena);
}

static void bodies(void **state)
{
    (void)state;
    const struct {
        const char *what;
        int status;
        int64_t body_bytes;
        const char *method, *headers;
    } rows[] = {
        {"none", 0, 0, "GET", OURS},
        {"HEAD", 0, 0, "HEAD", OURS},
        {"JSON", 0, 5, "POST", JSON "Content-Length: 5"},
        {"JSON with charset", 0, 5, "POST",
         OURS "|Content-Type: application/json ; charset=utf-8|Content-Length: 5"},
        {"chunked", 0, -1, "POST", JSON "Transfer-Encoding: chunked"},
        {"the most", 0, 1 << 20, "POST", JSON "Content-Length: 1048576"},
        {"a byte more", 413, 0, "POST", JSON "Content-Length: 1048577"},
        {"2^64", 400, 0, "POST", JSON "Content-Length: 18446744073709551616"},
        {"negative", 400, 0, "POST", JSON "Content-Length: -1"},
        {"plus", 400, 0, "POST", JSON "Content-Length: +5"},
        {"hexadecimal", 400, 0, "POST", JSON "Content-Length: 0x5"},
        {"two numbers", 400, 0, "POST", JSON "Content-Length: 5, 5"},
        {"empty length", 400, 0, "POST", JSON "Content-Length: "},
        {"length twice", 400, 0, "POST", JSON "Content-Length: 5|Content-Length: 5"},
        {"length and chunked", 400, 0, "POST", JSON "Content-Length: 5|Transfer-Encoding: chunked"},
        {"chunked twice", 400, 0, "POST",
         JSON "Transfer-Encoding: chunked|Transfer-Encoding: chunked"},
        {"chunked, in capitals", 0, -1, "POST", JSON "Transfer-Encoding: Chunked"},
        {"another encoding", 400, 0, "POST", JSON "Transfer-Encoding: gzip, chunked"},
        {"identity", 400, 0, "POST", JSON "Transfer-Encoding: identity"},
        {"GET with a body", 400, 0, "GET", OURS "|Content-Length: 5"},
        {"GET with length 0", 0, 0, "GET", OURS "|Content-Length: 0"},
        {"GET chunked", 400, 0, "GET", OURS "|Transfer-Encoding: chunked"},
        {"form", 415, 0, "POST",
         OURS "|Content-Type: application/x-www-form-urlencoded|Content-Length: 5"},
        {"plain text", 415, 0, "POST", OURS "|Content-Type: text/plain|Content-Length: 5"},
        {"no type", 415, 0, "POST", OURS "|Content-Length: 5"},
        {"type twice", 415, 0, "POST", JSON "Content-Type: application/json|Content-Length: 5"},
        {"PUT", 405, 0, "PUT", JSON "Content-Length: 5"},
        {"DELETE", 0, 0, "DELETE", OURS},
        {"DELETE with a body", 400, 0, "DELETE", JSON "Content-Length: 5"},
        {"TRACE", 405, 0, "TRACE", OURS},
        {"CONNECT", 405, 0, "CONNECT", OURS},
        {"get in small letters", 405, 0, "get", OURS},
        {"space in a name", 400, 0, "GET", OURS "|Content-Length : 5"},
        {"control in a value", 400, 0, "GET", OURS "|Accept: a\x01"},
        {"empty name", 400, 0, "GET", OURS "|: 5"},
    };
    struct arena *arena = arena_create();

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct verdict verdict = ask(arena, rows[i].method, "/api/launch", rows[i].headers);

        CHECK_INT(rows[i].what, verdict.status, rows[i].status);
        if (rows[i].status == 0)
            CHECK_INT(rows[i].what, verdict.body_bytes, rows[i].body_bytes);
    }
    arena_destroy(arena);
}

/* In the one place that takes them. */
static void files(void **state)
{
    (void)state;
    const struct {
        const char *what;
        int status;
        int64_t body_bytes;
        const char *headers;
    } rows[] = {
        {"a file", 0, 3000000000, FILE_BODY "Content-Length: 3000000000"},
        {"in chunks", 0, -1, FILE_BODY "Transfer-Encoding: chunked"},
        {"beyond 2^63", 413, 0, FILE_BODY "Content-Length: 9223372036854775808"},
        {"length and chunks", 400, 0, FILE_BODY "Content-Length: 5|Transfer-Encoding: chunked"},
        {"as JSON", 415, 0, JSON "Content-Length: 5"},
        {"as a form", 415, 0, OURS "|Content-Type: multipart/form-data|Content-Length: 5"},
        {"as text", 415, 0, OURS "|Content-Type: text/plain|Content-Length: 5"},
        {"of no type", 415, 0, OURS "|Content-Length: 5"},
    };
    struct arena *arena = arena_create();

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct verdict verdict = ask(arena, "POST", GATE_UPLOAD_PATH, rows[i].headers);

        CHECK_INT(rows[i].what, verdict.status, rows[i].status);
        if (rows[i].status == 0)
            CHECK_INT(rows[i].what, verdict.body_bytes, rows[i].body_bytes);
    }
    CHECK_INT("a file elsewhere",
              ask(arena, "POST", "/api/launch", FILE_BODY "Content-Length: 5").status, 415);
    arena_destroy(arena);
}

#define FRAMED OURS "|Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: iframe"

/* A page of another origin frames the one view, where the server was told of such pages. */
static void frames(void **state)
{
    (void)state;
    const struct {
        const char *what, *target, *headers;
        int told, untold;
    } rows[] = {
        {"the view", "/?run=a&embed=1", FRAMED, 0, 403},
        {"the whole page", "/?run=a", FRAMED, 403, 403},
        {"a key that ends alike", "/?unembed=1", FRAMED, 403, 403},
        {"a value that begins alike", "/?embed=10", FRAMED, 403, 403},
        {"the data", "/api/runs?embed=1", FRAMED, 403, 403},
        {"a script asks for the view", "/?embed=1",
         OURS "|Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: script", 403,
         403},
        {"a link to the view", "/?embed=1",
         OURS "|Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: document", 0,
         0},
    };
    struct arena *arena = arena_create();

    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_INT(rows[i].what, ask(arena, "GET", rows[i].target, rows[i].headers).status,
                  rows[i].untold);
        embeds = true;
        CHECK_INT(rows[i].what, ask(arena, "GET", rows[i].target, rows[i].headers).status,
                  rows[i].told);
        embeds = false;
    }
    arena_destroy(arena);
}

static void paths(void **state)
{
    (void)state;
    const struct {
        const char *what, *target;
        int status;
        const char *path;
    } rows[] = {
        {"plain", "/api/top", 0, "/api/top"},
        {"the base path kept", "/proxy/8080/api/top", 0, "/api/top"},
        {"the base path alone", "/proxy/8080/", 0, "/"},
        {"the base path, no slash", "/proxy/8080", 0, "/"},
        {"a longer name", "/proxy/80801/api", 0, "/proxy/80801/api"},
        {"space", "/perfetto/a%20b.json.gz", 0, "/perfetto/a b.json.gz"},
        {"UTF-8", "/perfetto/%c3%a4", 0, "/perfetto/\xc3\xa4"},
        {"slash at the end", "/api/", 0, "/api/"},
        {"dots in a name", "/a..b/...", 0, "/a..b/..."},
        {"empty", "", 400, "/"},
        {"absolute", "http://localhost/api", 400, "/"},
        {"star", "*", 400, "/"},
        {"no slash", "api/top", 400, "/"},
        {"dot", "/./api", 400, "/"},
        {"dot at the end", "/api/.", 400, "/"},
        {"dots", "/../etc/passwd", 400, "/"},
        {"dots at the end", "/api/..", 400, "/"},
        {"dots inside", "/api/../api/top", 400, "/"},
        {"encoded dots", "/%2e%2e/etc", 400, "/"},
        {"encoded dot in capitals", "/api/top%2E", 400, "/"},
        {"encoded slash", "/api%2ftop", 400, "/"},
        {"encoded backslash", "/api%5ctop", 400, "/"},
        {"encoded percent", "/api%252ftop", 400, "/"},
        {"NUL", "/api/top%00", 400, "/"},
        {"line end", "/api%0d%0aSet-Cookie:a", 400, "/"},
        {"DEL", "/api%7f", 400, "/"},
        {"backslash", "/api\\top", 400, "/"},
        {"two slashes", "//api/top", 400, "/"},
        {"two slashes inside", "/api//top", 400, "/"},
        {"half an escape", "/api/%2", 400, "/"},
        {"no escape", "/api/%zz", 400, "/"},
        {"an escape, cut", "/api/%", 400, "/"},
        {"raw UTF-8", "/\xc3\xa4", 400, "/"},
        {"fragment", "/api#a", 400, "/"},
        {"raw control in the query", "/api?a=\x01", 400, "/"},
        {"raw UTF-8 in the query", "/api?a=\xc3\xa4", 400, "/"},
        {"fragment in the query", "/api?a=b#c", 400, "/"},
    };
    struct arena *arena = arena_create();

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct verdict verdict = ask(arena, "GET", rows[i].target, OURS);

        CHECK_INT(rows[i].what, verdict.status, rows[i].status);
        if (rows[i].status == 0)
            CHECK_STR(rows[i].what, verdict.path, rows[i].path);
    }
    CHECK_STR("query", ask(arena, "GET", "/api/top?run=a&b?=c", OURS).query, "run=a&b?=c");
    CHECK("redirect", ask(arena, "GET", "/proxy/8080", OURS).to_directory);
    CHECK("no redirect", !ask(arena, "GET", "/proxy/8080/", OURS).to_directory);
    arena_destroy(arena);
}

/* Repeats a text. */
static char *many(struct arena *arena, const char *first, const char *again, unsigned count)
{
    struct text text = {0};

    text_puts(&text, first);
    for (unsigned i = 0; i < count; i++)
        text_puts(&text, again);
    char *ret = str_c(arena, text_str(&text));
    text_free(&text);
    return ret;
}

static void sizes(void **state)
{
    (void)state;
    struct arena *arena = arena_create();

    CHECK_INT("8 KiB", ask(arena, "GET", many(arena, "/", "a", 8191), OURS).status, 0);
    CHECK_INT("a byte more", ask(arena, "GET", many(arena, "/", "a", 8192), OURS).status, 414);
    CHECK_INT("64 parameters", ask(arena, "GET", many(arena, "/?a", "&a", 63), OURS).status, 0);
    CHECK_INT("65 parameters", ask(arena, "GET", many(arena, "/?a", "&a", 64), OURS).status, 400);
    CHECK_INT("63 headers", ask(arena, "GET", "/", many(arena, OURS, "|A: b", 62)).status, 0);
    CHECK_INT("64 headers", ask(arena, "GET", "/", many(arena, OURS, "|A: b", 63)).status, 431);
    arena_destroy(arena);
}

static void versions(void **state)
{
    (void)state;
    const struct {
        const char *version;
        int status;
    } rows[] = {
        {"1.0", 0}, {"1.1", 0}, {"2.0", 505}, {"0.9", 505}, {"", 505},
    };
    struct arena *arena = arena_create();
    const struct header host = {.name = STR("Host"), .value = STR("localhost")};
    struct gate gate = gate_of_tests();

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct wire wire = {.method = STR("GET"),
                            .target = STR("/"),
                            .version = str_of(rows[i].version),
                            .headers = &host,
                            .header_count = 1};
        struct verdict verdict;

        gate_check(&gate, &wire, arena, &verdict);
        CHECK_INT(rows[i].version, verdict.status, rows[i].status);
    }
    arena_destroy(arena);
}

static void wildcards(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    const struct header host = {.name = STR("Host"), .value = STR("0.0.0.0:8080")};
    const struct gate gate = {.bind = STR("0.0.0.0")};
    const struct wire wire = {.method = STR("GET"),
                              .target = STR("/"),
                              .version = STR("1.1"),
                              .headers = &host,
                              .header_count = 1};
    struct verdict verdict;

    gate_check(&gate, &wire, arena, &verdict);
    CHECK_INT("what all addresses are bound to is no name of ours", verdict.status, 403);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who),      cmocka_unit_test(bodies),    cmocka_unit_test(files),
        cmocka_unit_test(frames),   cmocka_unit_test(paths),     cmocka_unit_test(sizes),
        cmocka_unit_test(versions), cmocka_unit_test(wildcards),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
