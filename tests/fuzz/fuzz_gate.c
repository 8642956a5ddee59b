/* SPDX-License-Identifier: Apache-2.0 */
/* The gate and the query strings, on any request.
 *
 *   GET /api/top?run=a HTTP/1.1      method, target, version
 *   Host: localhost                  a header a line
 *
 * What comes in must be canonical: that is checked here, whatever the gate thought.
 */
#include <stdint.h>
#include <stdlib.h>

#include "serve/access/gate.h"
#include "serve/answer/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADERS_MAX = 100 };

static const struct param params[] = {
    {.name = "run", .kind = PARAM_TEXT, .required = true, .max = 1024},
    {.name = "limit", .kind = PARAM_INTEGER, .min = 1, .max = 10000},
    {.name = "start_ps", .kind = PARAM_INTEGER, .min = INT64_MIN, .max = INT64_MAX},
    {.name = "device", .kind = PARAM_INTEGERS, .min = 0, .max = INT32_MAX},
    {.name = "step", .kind = PARAM_RANGES},
    {.name = "host", .kind = PARAM_TEXTS},
    {.name = "by", .kind = PARAM_WORD, .words = "op|name|scope"},
    {.name = NULL},
};

static struct str cut(struct str *rest, char at)
{
    const char *end = rest->count == 0 ? NULL : memchr(rest->at, at, rest->count);
    struct str part = *rest;

    if (end != NULL)
        part.count = (size_t)(end - rest->at);
    *rest = str_skip(*rest, part.count + 1);
    return part;
}

static void check_path(struct str path)
{
    if (path.count == 0 || path.at[0] != '/' || str_contains(path, STR("//")) ||
        str_contains(path, STR("/../")) || str_ends(path, STR("/..")) ||
        memchr(path.at, '\0', path.count) != NULL || memchr(path.at, '\\', path.count) != NULL)
        abort();
}

static void check_query(struct str raw, struct arena *arena)
{
    struct error err = {0};
    struct query query;

    if (query_parse(raw, arena, &query, &err) == OK && query_check(&query, params, &err) == OK &&
        query_find(&query, "run") == NULL)
        abort();
    if (err.code != OK && err.message[0] == '\0')
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct str allowed[] = {{.at = "gpu-box", .count = 7}};
    const struct gate gate = {.bind = STR("127.0.0.1"),
                              .allowed = allowed,
                              .allowed_count = 1,
                              .public_url = STR("https://profiles.example.org/jview"),
                              .base_path = STR("/proxy/8080"),
                              .perfetto_cors = true};
    struct str rest = {.at = (const char *)data, .count = size};
    struct str line = cut(&rest, '\n');
    struct header headers[HEADERS_MAX];
    struct wire wire = {.headers = headers};
    struct arena *arena = arena_create();
    struct verdict verdict;

    wire.method = cut(&line, ' ');
    wire.target = cut(&line, ' ');
    cut(&line, '/');
    wire.version = line;
    while (rest.count > 0 && wire.header_count < HEADERS_MAX) {
        struct str value = cut(&rest, '\n');
        struct str name = cut(&value, ':');

        headers[wire.header_count++] = (struct header){.name = name, .value = str_skip(value, 1)};
    }
    gate_check(&gate, &wire, arena, &verdict);
    if (verdict.status == 0) {
        check_path(verdict.path);
        check_query(verdict.query, arena);
    } else if (verdict.detail.count == 0 || verdict.type == NULL) {
        abort();
    }
    arena_destroy(arena);
    return 0;
}
