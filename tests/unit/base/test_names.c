/* SPDX-License-Identifier: Apache-2.0 */
/* Each text has one id, whatever their number. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/names.h"

enum { MANY = 200000 };

static void each_once(void **state)
{
    (void)state;
    struct names *names = names_create();
    name_id id = 99;

    CHECK_INT("nothing is 0", names_add(names, STR("")), 0);
    CHECK_INT("one", names_count(names), 1);
    CHECK_INT("first", names_add(names, STR("fusion")), 1);
    CHECK_INT("longer", names_add(names, STR("fusion.1")), 2);
    CHECK_INT("with a NUL", names_add(names, STR("fusion\0x")), 3);
    CHECK_INT("broken UTF-8", names_add(names, STR("\xFF\xFE")), 4);
    CHECK_INT("again", names_add(names, STR("fusion")), 1);
    CHECK_INT("bytes", names_bytes(names), 6 + 8 + 8 + 2);
    CHECK("found", names_find(names, STR("fusion.1"), &id));
    CHECK_INT("found", id, 2);
    CHECK("not there", !names_find(names, STR("fusion.2"), &id));
    CHECK_INT("finding adds nothing", names_count(names), 5);
    CHECK("text", str_equal(names_get(names, 3), STR("fusion\0x")));
    names_destroy(names);
    names_destroy(NULL);
}

static void many(void **state)
{
    (void)state;
    struct names *names = names_create();
    char text[64];

    for (unsigned i = 0; i < MANY; i++) {
        int count = snprintf(text, sizeof(text), "op.%u.%u", i, i * 2654435761u);
        struct str name = {.at = text, .count = (size_t)count};

        if (names_add(names, name) != i + 1)
            CHECK_INT("dense", i, -1);
    }
    for (unsigned i = 0; i < MANY; i++) {
        int count = snprintf(text, sizeof(text), "op.%u.%u", i, i * 2654435761u);
        struct str name = {.at = text, .count = (size_t)count};

        if (names_add(names, name) != i + 1 || !str_equal(names_get(names, i + 1), name))
            CHECK_INT("kept", i, -1);
    }
    CHECK_INT("count", names_count(names), MANY + 1);

    char *large = memory_resize(NULL, 1 << 20, 1);

    memset(large, 'x', 1 << 20);
    for (size_t size = (1 << 20) - 3; size <= 1 << 20; size++)
        names_add(names, (struct str){.at = large, .count = size});
    CHECK_INT("large ones", names_count(names), MANY + 5);
    CHECK_INT("large one", names_get(names, MANY + 4).count, 1 << 20);
    free(large);
    names_destroy(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_once),
        cmocka_unit_test(many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
