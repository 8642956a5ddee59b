/* SPDX-License-Identifier: Apache-2.0 */
/* api/openapi.yaml against the routes, both ways: paths, methods, parameters, their bounds.
 *
 *   /api/top:                                           a path, two spaces in
 *     get:
 *       parameters:
 *         - $ref: '#/components/parameters/limit'       one line a parameter
 *         - {name: depth, in: query, schema: {type: integer, minimum: 0, maximum: 64}}
 */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

#include "serve/answer/request.h"
#include "serve/dispatch/dispatch.h"
#include "serve/route.h"
#include "serve/routes/openapi.h"

enum { LINES_MAX = 4000, PARAMS_MAX = 64 };

static struct str lines[LINES_MAX];
static uint32_t line_count;

static int setup(void **state)
{
    struct str rest = {.at = (const char *)openapi_yaml, .count = openapi_yaml_count};

    (void)state;
    while (rest.count > 0) {
        const char *end = memchr(rest.at, '\n', rest.count);
        size_t length = end == NULL ? rest.count : (size_t)(end - rest.at);

        CHECK("lines", line_count < LINES_MAX);
        lines[line_count++] = (struct str){.at = rest.at, .count = length};
        rest = str_skip(rest, length + 1);
    }
    return 0;
}

static bool is_line(uint32_t at, const char *text)
{
    return at < line_count && str_equal(lines[at], str_of(text));
}

/* Index of the line that is the text; line_count when there is none. */
static uint32_t find_line(uint32_t from, const char *text)
{
    while (from < line_count && !is_line(from, text))
        from++;
    return from;
}

/* A path's line, or the end of the paths. */
static bool is_path(uint32_t at)
{
    return at < line_count && str_starts(lines[at], STR("  /")) && str_ends(lines[at], STR(":"));
}

/* The text between `before` and `after` in a line; "" when it is not there. */
static struct str between(struct str line, const char *before, const char *after)
{
    const char *at = memmem(line.at, line.count, before, strlen(before));

    if (at == NULL)
        return STR("");
    struct str rest = str_skip(line, (size_t)(at - line.at) + strlen(before));
    const char *end = memmem(rest.at, rest.count, after, strlen(after));
    return end == NULL ? STR("") : (struct str){.at = rest.at, .count = (size_t)(end - rest.at)};
}

/* The line that says what the parameter is: itself, or the one it refers to. */
static struct str declaration(struct str line)
{
    struct str name = between(line, "#/components/parameters/", "'");
    char start[128];

    if (name.count == 0)
        return line;
    snprintf(start, sizeof start, "    %.*s: {name: ", STR_ARG(name));
    for (uint32_t i = find_line(0, "  parameters:"); i < line_count; i++) {
        if (str_starts(lines[i], str_of(start)))
            return lines[i];
    }
    return STR("");
}

/* Lines of the parameters of a path's method. */
static uint32_t declared_params(uint32_t path, const char *method, struct str ret[PARAMS_MAX])
{
    uint32_t at = path + 1, count = 0;

    while (at < line_count && !is_path(at) && !is_line(at, method))
        at++;
    CHECK("method", is_line(at, method));
    for (at++; at < line_count && !is_path(at) && str_starts(lines[at], STR("      ")); at++) {
        if (str_starts(lines[at], STR("        - "))) {
            CHECK("params", count < PARAMS_MAX);
            ret[count++] = declaration(lines[at]);
        }
    }
    return count;
}

static void check_number(const char *what, struct str line, const char *key, int64_t want,
                         int64_t open)
{
    struct str text = between(line, key, "}");
    const char *comma = text.count == 0 ? NULL : memchr(text.at, ',', text.count);
    int64_t number;

    if (want == open && text.count == 0)
        return;
    if (comma != NULL)
        text.count = (size_t)(comma - text.at);
    CHECK(what, str_to_i64(text, &number));
    CHECK_INT(what, number, want);
}

static void check_words(const char *what, struct str line, const char *words)
{
    struct str text = between(line, "enum: [", "]");
    struct text joined = {0};

    for (size_t i = 0; i < text.count; i++) {
        if (text.at[i] == ',')
            text_puts(&joined, "|");
        else if (text.at[i] != ' ' && text.at[i] != '\'') /* 'no', which unquoted is false */
            text_put(&joined, &text.at[i], 1);
    }
    CHECK_STR(what, text_str(&joined), words);
    text_free(&joined);
}

static void check_param(const char *path, const struct param *param, struct str line)
{
    char what[256];

    snprintf(what, sizeof what, "%s %s", path, param->name);
    CHECK(what, str_contains(line, STR("in: query")));
    CHECK_INT(what, str_contains(line, STR("required: true")), param->required);
    if (param->kind == PARAM_INTEGER) {
        CHECK(what, str_contains(line, STR("type: integer")));
        check_number(what, line, "minimum: ", param->min, INT64_MIN);
        check_number(what, line, "maximum: ", param->max, INT64_MAX);
        return;
    }
    CHECK(what, str_contains(line, STR("type: string")));
    if (param->kind == PARAM_WORD)
        check_words(what, line, param->words);
    if (param->kind == PARAM_TEXT)
        check_number(what, line, "maxLength: ", param->max, 0);
}

static void check_route(const struct route *route)
{
    struct str declared[PARAMS_MAX];
    char path[128], method[32];
    uint32_t known = 0;

    snprintf(path, sizeof path, "  %s:", route->path);
    snprintf(method, sizeof method, "    %s:", route->method);
    for (char *at = method; *at != '\0'; at++)
        *at = *at >= 'A' && *at <= 'Z' ? (char)(*at + 32) : *at;
    uint32_t at = find_line(0, path);
    CHECK(route->path, at < line_count);
    uint32_t count = declared_params(at, method, declared);
    for (const struct param *param = route->params; param != NULL && param->name != NULL; param++) {
        struct str line = STR("");

        known++;
        for (uint32_t i = 0; i < count; i++) {
            if (str_equal(between(declared[i], "{name: ", ","), str_of(param->name)))
                line = declared[i];
        }
        check_param(route->path, param, line);
    }
    CHECK_INT(route->path, count, known);
}

static void every_route_is_documented(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < routes.count; i++)
        check_route(routes.items[i]);
}

/* A path has a route for each of its methods. */
static uint32_t paths_routed(void)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < routes.count; i++) {
        bool is_first = true;

        for (uint32_t k = 0; k < i; k++)
            is_first = is_first && strcmp(routes.items[k]->path, routes.items[i]->path) != 0;
        count += is_first;
    }
    return count;
}

static void every_path_is_routed(void **state)
{
    (void)state;
    uint32_t paths = 0;

    for (uint32_t i = 0; i < line_count; i++) {
        bool found = false;

        if (!is_path(i))
            continue;
        paths++;
        struct str path = {.at = lines[i].at + 2, .count = lines[i].count - 3};
        for (uint32_t k = 0; k < routes.count && !found; k++)
            found = str_equal(str_of(routes.items[k]->path), path);
        char what[128];
        snprintf(what, sizeof what, "%.*s", STR_ARG(path));
        CHECK(what, found);
    }
    CHECK_INT("as many", paths, paths_routed());
}

static void every_path_has_an_example(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < line_count; i++) {
        struct str name = between(lines[i], "externalValue: examples/", "}");
        char path[512];

        if (name.count == 0)
            continue;
        snprintf(path, sizeof path, "%s/../api/examples/%.*s", TESTS_DIR, STR_ARG(name));
        FILE *file = fopen(path, "r");
        CHECK(path, file != NULL);
        fclose(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route_is_documented),
        cmocka_unit_test(every_path_is_routed),
        cmocka_unit_test(every_path_has_an_example),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
