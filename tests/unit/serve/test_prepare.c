/* SPDX-License-Identifier: Apache-2.0 */
/* A large run's first questions are asked once, and again when it is another run. */
#include "serve/prepare/prepare.h"

#include <dirent.h>
#include <time.h>

#include "serve/kept/stored.h"
#include "unit/serve/made_place.h"

enum { KEPT_MAX = 33, LOOKS_MAX = 1200 }; /* 32 answers, and what was measured for differences */

static struct prepare *prepare; /* of the test at hand */

static void rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
}

static void path_of_answer(const struct place *place, const char *name, char ret[512])
{
    snprintf(ret, 512, "%s/answers/%s", cache_dir(place->services.cache), name);
}

/* Answers kept; two of them may share a slot. */
static uint32_t kept_count(const struct place *place, bool forget)
{
    char path[512];
    uint32_t count = 0;

    path_of_answer(place, "", path);
    DIR *dir = opendir(path);

    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        count++;
        path_of_answer(place, entry->d_name, path);
        if (forget)
            CHECK_INT("forgotten", unlink(path), 0);
    }
    if (dir != NULL)
        closedir(dir);
    return count;
}

/* But for so many. Runs are measured behind the questions of the same look. */
static void wait_until_left(struct place *place, uint32_t left)
{
    uint32_t missing = left + 1;

    for (int look = 0; look < LOOKS_MAX && missing > left; look++) {
        struct unmeasured walk = {0};
        struct error err = {0};
        struct str ids[2];

        rest();
        CHECK_OK("walk",
                 catalog_unmeasured(place->services.catalog, &walk, place->arena, ids, COUNT(ids),
                                    &missing, &err),
                 &err);
    }
    CHECK_INT("measured", missing, left);
}

static void wait_until_measured(struct place *place)
{
    wait_until_left(place, 0);
}

static void wait_until_kept(struct place *place, const char *what)
{
    for (int look = 0; look < LOOKS_MAX && kept_count(place, false) == 0; look++)
        rest();
    CHECK(what, kept_count(place, false) > 0);
}

static int start(void **state)
{
    make_place(state);
    struct place *place = *state;

    prepare = prepare_start(&place->services, NULL);
    return prepare == NULL;
}

static int stop(void **state)
{
    prepare_stop(prepare);
    return leave_place(state);
}

static void asks_once(void **state)
{
    struct place *place = *state;

    put_run(place, "r1", "c1", "one", STORED_SLICES_MIN);
    wait_until_measured(place);
    CHECK("asked", kept_count(place, true) > 0);
    put_run(place, "r1", "c1", "one", STORED_SLICES_MIN);
    put_run(place, "small", "c2", "small", STORED_SLICES_MIN - 1);
    wait_until_measured(place);
    CHECK_INT("as it was, and a small one", kept_count(place, true), 0);
    put_run(place, "r3", "c3", "three", STORED_SLICES_MIN);
    wait_until_measured(place);
    uint32_t kept = kept_count(place, true);
    CHECK("the new one alone", kept > 0 && kept <= KEPT_MAX);
}

static void asks_again(void **state)
{
    struct place *place = *state;
    static const struct {
        const char *what, *id, *content_id, *name;
    } rows[] = {
        {"first", "r1", "c1", "one"},
        {"renamed", "r1", "c1", "two"},
        {"of another content", "r1", "c2", "two"},
        {"at another place", "r2", "c2", "two"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        put_run(place, rows[i].id, rows[i].content_id, rows[i].name, STORED_SLICES_MIN);
        wait_until_kept(place, rows[i].what);
        /* The look goes on to its second question; what is forgotten before is no sign of the
         * next. */
        put_run(place, "small", rows[i].what, "small", 1);
        wait_until_measured(place);
        kept_count(place, true);
    }
}

/* A run whose segment is made late is no run that was asked. */
static void asks_what_could_not_be_opened(void **state)
{
    static const char late[33] = "fedcba9876543210fedcba9876543210";
    struct place *place = *state;

    put_run_of(place, late, "late", "c1", "late", STORED_SLICES_MIN);
    put_run(place, "r2", "c2", "two", STORED_SLICES_MIN);
    wait_until_kept(place, "a look that saw both");
    put_run(place, "small", "c3", "small", 1);
    wait_until_left(place, 1);
    kept_count(place, true);
    put_segment(place, late);
    put_run(place, "small", "c4", "small", 1);
    wait_until_measured(place);
    CHECK("asked by then", kept_count(place, false) > 0);
}

static void waits_for_who_looks(void **state)
{
    struct pace pace = {0};
    uint64_t replies = 7;
    unsigned looks = 0;
    (void)state;

    CHECK("answers went out", !pace_is_due(&pace, replies, false));
    CHECK("and no more", pace_is_due(&pace, replies, false));
    CHECK("again", !pace_is_due(&pace, ++replies, false));
    CHECK("none again", pace_is_due(&pace, replies, false));
    while (!pace_is_due(&pace, ++replies, false) && looks < 100)
        looks++;
    CHECK_INT("a server that never rests", looks, 8);
    CHECK("waits anew", !pace_is_due(&pace, ++replies, false));
    CHECK("an answer is being made", !pace_is_due(&pace, replies, true));
    CHECK("it is there, and none other", pace_is_due(&pace, replies, false));
    for (looks = 0; !pace_is_due(&pace, replies, true) && looks < 100;)
        looks++;
    CHECK_INT("one that never ends", looks, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_for_who_looks),
        cmocka_unit_test_setup_teardown(asks_once, start, stop),
        cmocka_unit_test_setup_teardown(asks_again, start, stop),
        cmocka_unit_test_setup_teardown(asks_what_could_not_be_opened, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
