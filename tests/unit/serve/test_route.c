/* SPDX-License-Identifier: Apache-2.0 */
/* What endpoints declare besides their paths: each name once, each question one that its endpoint
 * takes. */
#include "check.h"

#include "serve/answer/request.h"
#include "serve/answer/route_table.h"
#include "serve/dispatch/dispatch.h"
#include "serve/route.h"
#include "serve/tool.h"

enum { NAMES_MAX = 64 };

struct names {
    const char *items[NAMES_MAX];
    uint32_t count;
};

static void add_once(struct names *names, const char *name)
{
    for (uint32_t i = 0; i < names->count; i++)
        CHECK(name, strcmp(names->items[i], name) != 0);
    CHECK(name, names->count < NAMES_MAX);
    names->items[names->count++] = name;
}

/* Does the endpoint take run= and these? */
static void check_taken(const struct route *route, const char *params)
{
    static const struct services services = {.routes = &routes};
    struct arena *arena = arena_create();
    struct request req = {.method = STR("GET"),
                          .query =
                              str_format(arena, "run=-%s%s", params[0] != '\0' ? "&" : "", params),
                          .arena = arena,
                          .services = &services};
    struct error err = {0};

    CHECK_OK(route->path, request_open(&req, route, &err), &err);
    arena_destroy(arena);
}

static void views(void **state)
{
    struct names names = {0};
    struct offers offers;

    (void)state;
    route_views(&routes, &offers);
    CHECK("there are some", offers.count > 10);
    for (uint32_t i = 0; i < offers.count; i++) {
        const struct view *view = offers.items[i].what;

        add_once(&names, view->name);
        CHECK(view->name, view->make != NULL && view->columns != NULL);
        CHECK(view->name, i == 0 || offers.items[i].rank >= offers.items[i - 1].rank);
        if (view->kept != NULL) {
            CHECK(view->name, offers.items[i].route->is_table);
            check_taken(offers.items[i].route, view->kept);
        }
    }
}

/* The first tells whether a run can be asked at all. */
static void questions_ahead(void **state)
{
    struct offers offers;

    (void)state;
    route_ahead(&routes, &offers);
    CHECK("there are some", offers.count > 20);
    CHECK("the first", strcmp(offers.items[0].route->path, "/api/overview") == 0);
    for (uint32_t i = 0; i < offers.count; i++)
        check_taken(offers.items[i].route, ((const struct ahead *)offers.items[i].what)->params);
}

static void bundles(void **state)
{
    struct offers offers;

    (void)state;
    route_in_bundle(&routes, &offers);
    CHECK("there are some", offers.count > 15);
    for (uint32_t i = 0; i < offers.count; i++) {
        const struct in_bundle *item = offers.items[i].what;
        const struct route *route = offers.items[i].route;

        CHECK(item->what, strcmp(route->method, "GET") == 0);
        CHECK(item->what, i == 0 || offers.items[i].rank > offers.items[i - 1].rank);
        check_taken(route, item->params);
        if (item->limit > 0)
            check_taken(route, "limit=1");
    }
}

static void verbs(void **state)
{
    struct names names = {0};

    (void)state;
    for (uint32_t i = 0; i < routes.count; i++) {
        const struct verb *verb = routes.items[i]->verb;

        if (verb == NULL)
            continue;
        add_once(&names, verb->name);
        CHECK(verb->name, verb->summary != NULL && verb->operands != NULL);
    }
    CHECK("there are some", names.count > 20);
}

/* A part asks an endpoint that is there, with what it takes. */
static void check_part(struct arena *arena, const struct tool_part *part)
{
    struct str allow;
    const struct route *route = route_find(&routes, STR("GET"), str_of(part->path), &allow, arena);

    CHECK(part->path, route != NULL);
    check_taken(route, part->fixed);
}

static void tools(void **state)
{
    struct arena *arena = arena_create();
    struct names names = {0};
    struct offers offers;

    (void)state;
    route_tools(&routes, &offers);
    for (uint32_t i = 0; i < offers.count; i++) {
        const struct tool *tool = offers.items[i].what;
        const struct tool_part *part = tool->parts;

        add_once(&names, tool->name);
        for (; part != NULL && part->path != NULL; part++)
            check_part(arena, part);
    }
    CHECK("there are some", names.count > 8);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views), cmocka_unit_test(questions_ahead), cmocka_unit_test(bundles),
        cmocka_unit_test(verbs), cmocka_unit_test(tools),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
