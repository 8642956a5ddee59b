/* SPDX-License-Identifier: Apache-2.0 */
/* Control characters never reach a terminal. */
#include <jansson.h>

#include "check.h"

#include "cli/plain.h"

static void signs_of_control(void **state)
{
    (void)state;
    const struct {
        const char *what, *json, *wanted;
    } rows[] = {
        {"plain", "{\"name\": \"dot.3 → é\"}", "dot.3 → é"},
        {"escape", "{\"name\": \"a\\u001b]0;x\\u0007b\"}", "a ]0;x b"},
        {"new lines", "{\"name\": \"a\\nb\\tc\"}", "a b c"},
        {"nothing at all", "{\"name\": \"a\\u0000b\"}", "a b"},
        {"delete", "{\"name\": \"a\\u007fb\"}", "a b"},
        {"eight bits", "{\"name\": \"a\\u009b2Jb\"}", "a  2Jb"},
        {"not by half", "{\"name\": \"a\xc2\xa9\"}", "a\xc2\xa9"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        json_t *object =
            json_plain((struct bytes){(const uint8_t *)rows[i].json, strlen(rows[i].json)});

        CHECK_STR(rows[i].what, str_of(json_string_value(json_object_get(object, "name"))),
                  rows[i].wanted);
        json_decref(object);
    }
}

static void inside(void **state)
{
    (void)state;
    const char *deep = "{\"rows\": [{\"names\": [\"\\u001bc\", 1, null]}]}";
    json_t *object = json_plain((struct bytes){(const uint8_t *)deep, strlen(deep)});
    json_t *row = json_array_get(json_object_get(object, "rows"), 0);

    CHECK_STR("everywhere",
              str_of(json_string_value(json_array_get(json_object_get(row, "names"), 0))), " c");
    json_decref(object);
    assert_null(json_plain((struct bytes){(const uint8_t *)"{", 1}));
}

static void a_name(void **state)
{
    (void)state;
    struct arena *arena = arena_create();

    CHECK_STR("of a file", str_plain(arena, STR("a\x1b]0;x\x07.pb")), "a ]0;x .pb");
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signs_of_control),
        cmocka_unit_test(inside),
        cmocka_unit_test(a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
