/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings that are refused before anything is made, and what removing one touches. */
#include "capture/capture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

/* Files are named by the first 200 bytes of a host. */
static void one_file_each(void **state)
{
    char first[256], second[256];
    struct error err = {0};
    struct capture *capture = NULL;

    (void)state;
    snprintf(first, sizeof first, "%0210d:9012", 1);
    snprintf(second, sizeof second, "%0210d:9012", 2);
    const struct str targets[] = {str_of(first), str_of(second)};
    const struct capture_wish wish = {.profile_dir = "/nowhere/at/all",
                                      .targets = targets,
                                      .target_count = COUNT(targets),
                                      .duration_ms = 1};

    CHECK_INT("refused", capture_start(&wish, &capture, &err), ERR_INVALID);
    CHECK("says so", strstr(err.message, "is given twice") != NULL);
}

static void removing(void **state)
{
    char directory[] = "/tmp/capture-XXXXXX", path[64];

    (void)state;
    CHECK("a directory", mkdtemp(directory) != NULL);
    snprintf(path, sizeof path, "%s/plugins/profile/2026", directory);
    capture_remove(directory, path);
    CHECK_INT("nothing is made", rmdir(directory), 0);

    const char *const parts[] = {"", "/plugins", "/plugins/profile", "/plugins/profile/2026"};
    for (size_t i = 0; i < COUNT(parts); i++) {
        snprintf(path, sizeof path, "%s%s", directory, parts[i]);
        CHECK_INT(path, mkdir(path, 0700), 0);
    }
    capture_remove(directory, path);
    CHECK_INT("it is gone", access(path, F_OK), -1);
    for (size_t i = COUNT(parts) - 1; i-- > 0;) {
        snprintf(path, sizeof path, "%s%s", directory, parts[i]);
        CHECK_INT(path, rmdir(path), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_file_each), cmocka_unit_test(removing)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
