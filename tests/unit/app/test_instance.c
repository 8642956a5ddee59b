/* SPDX-License-Identifier: Apache-2.0 */
/* A server's announcement is found, and one whose process is gone is not. */
#include "app/instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static void found(void **state)
{
    (void)state;
    char cache[] = "/tmp/jviewd-instance-XXXXXX";
    struct arena *arena = arena_create();

    assert_non_null(mkdtemp(cache));
    CHECK_STR("none yet", instance_find(cache, "/profiles", arena), "");
    instance_announce(cache, 8080, "http://localhost:8080/",
                      (struct str[]){STR("/profiles"), STR("/more")}, 2);
    CHECK_STR("of that root", instance_find(cache, "/profiles", arena), "http://localhost:8080/");
    CHECK_STR("of its second", instance_find(cache, "/more", arena), "http://localhost:8080/");
    CHECK_STR("of another root", instance_find(cache, "/other", arena), "");
    instance_withdraw(cache, 8080);
    CHECK_STR("withdrawn", instance_find(cache, "/profiles", arena), "");
    arena_destroy(arena);
}

static void dead(void **state)
{
    (void)state;
    char cache[] = "/tmp/jviewd-instance-XXXXXX";
    struct arena *arena = arena_create();
    int status;

    assert_non_null(mkdtemp(cache));
    pid_t child = fork();
    if (child == 0) {
        instance_announce(cache, 8081, "http://localhost:8081/", &STR("/profiles"), 1);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    CHECK_STR("its process is gone", instance_find(cache, "/profiles", arena), "");
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(found), cmocka_unit_test(dead)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
