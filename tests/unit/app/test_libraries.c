/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of libraries compared, and known faults told. */
#include "app/libraries.h"

#include <string.h>

#include "check.h"

static void faults(void **state)
{
    (void)state;
    const struct {
        const char *what;
        struct library library;
        bool bad;
    } rows[] = {
        {"the first with the back door", {"liblzma", "5.6.0"}, true},
        {"the last with it", {"liblzma", "5.6.1"}, true},
        {"an alpha of the next", {"liblzma", "5.6.2alpha"}, false},
        {"numbers, no letters", {"liblzma", "5.10.0"}, false},
        {"before it", {"liblzma", "5.4.1"}, false},
        {"an old SQLite", {"SQLite", "3.40.1"}, true},
        {"the mended one", {"SQLite", "3.51.3"}, false},
        {"a shorter number", {"SQLite", "4"}, false},
        {"1.16 of CivetWeb", {"CivetWeb", "1.16"}, true},
        {"1.14 of CivetWeb", {"CivetWeb", "1.14"}, true},
        {"1.13 of CivetWeb", {"CivetWeb", "1.13"}, false},
        {"another library", {"zlib", "5.6.0"}, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_INT(rows[i].what, library_fault(rows[i].library) != NULL, rows[i].bad);
}

static void versions(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < library_count; i++) {
        struct library library = library_at(i);

        CHECK_INT(library.name, strspn(library.version, "0123456789.") > 2, true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(faults), cmocka_unit_test(versions)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
