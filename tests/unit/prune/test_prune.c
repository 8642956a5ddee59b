/* SPDX-License-Identifier: Apache-2.0 */
/* What may go: by number, age and size; and that removing a file leaves the root by no way. */
#include "prune/prune.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "check.h"

static const int64_t DAY_NS = INT64_C(86400000000000);

/* Runs a to f, newest first, a day apart from day 99 down; b is protected. Those that go:
 * "cdef". */
static void check_choice(const char *what, struct prune_wish wish, const char *want)
{
    struct prune_run runs[6] = {0};
    char got[7] = "";

    for (int i = 0; i < 6; i++)
        runs[i] = (struct prune_run){.modified_ns = (99 - i) * DAY_NS, .bytes = 10};
    runs[1].kept = "pinned";
    prune_choose(runs, COUNT(runs), &wish, 100 * DAY_NS);
    for (int i = 0; i < 6; i++) {
        if (runs[i].kept == NULL)
            snprintf(got + strlen(got), 2, "%c", 'a' + i);
    }
    CHECK_STR(what, str_of(got), want);
}

static void chooses(void **state)
{
    (void)state;
    check_choice("nothing asked", (struct prune_wish){0}, "");
    check_choice("keep 0", (struct prune_wish){.has_keep = true}, "acdef");
    check_choice("keep 2: the pinned one is among them",
                 (struct prune_wish){.has_keep = true, .keep = 2}, "cdef");
    check_choice("keep more than there are", (struct prune_wish){.has_keep = true, .keep = 9}, "");
    check_choice("older than 3 days", (struct prune_wish){.age_ns = 3 * DAY_NS}, "cdef");
    check_choice("older, but keep 4",
                 (struct prune_wish){.age_ns = 3 * DAY_NS, .has_keep = true, .keep = 4}, "ef");
    check_choice("60 bytes fit in 60", (struct prune_wish){.has_size = true, .size = 60}, "");
    check_choice("one too many: the oldest", (struct prune_wish){.has_size = true, .size = 59},
                 "f");
    check_choice("a pinned one counts and stays", (struct prune_wish){.has_size = true, .size = 15},
                 "acdef");
    check_choice("size, of the old ones only",
                 (struct prune_wish){.has_size = true, .size = 0, .age_ns = 5 * DAY_NS}, "ef");
}

static void words(void **state)
{
    const struct {
        const char *text;
        int64_t ns;
    } ages[] = {
        {"30d", 30 * DAY_NS}, {"12h", DAY_NS / 2}, {"90m", DAY_NS / 16}, {"30", 0}, {"d", 0},
        {"-1d", 0},           {"0d", 0},           {"99999999999d", 0},  {"", 0}};
    const struct {
        const char *text;
        uint64_t bytes;
    } sizes[] = {{"20G", UINT64_C(20) << 30}, {"500", 500},        {"1K", 1024},
                 {"G", UINT64_MAX},           {"-1G", UINT64_MAX}, {"", UINT64_MAX},
                 {"99999999999T", UINT64_MAX}};

    (void)state;
    for (size_t i = 0; i < COUNT(ages); i++) {
        int64_t ns = 0;

        CHECK_INT(ages[i].text, age_read(str_of(ages[i].text), &ns), ages[i].ns != 0);
        CHECK_INT(ages[i].text, ages[i].ns != 0 ? ns : 0, ages[i].ns);
    }
    for (size_t i = 0; i < COUNT(sizes); i++) {
        uint64_t bytes = 0;
        bool good = prune_size(str_of(sizes[i].text), &bytes);

        CHECK_INT(sizes[i].text, good, sizes[i].bytes != UINT64_MAX);
        CHECK(sizes[i].text, !good || bytes == sizes[i].bytes);
    }
}

static void touch(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    CHECK(path, fd >= 0);
    close(fd);
}

/* As it is now. */
static struct file_stamp stamp_of(const char *path)
{
    struct file_stamp stamp = {0};
    struct error err = {0};
    int fd;

    if (file_open(path, &fd, &stamp, &err) == OK)
        file_close(fd);
    return stamp;
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

static void removes_files_and_nothing_else(void **state)
{
    char dir[] = "/tmp/jview-prune-XXXXXX", command[80];
    struct error err = {0};
    (void)state;

    assert_non_null(mkdtemp(dir));
    CHECK_INT("chdir", chdir(dir), 0);
    CHECK_INT("mkdir",
              system("mkdir -p root/run/plugins/a root/other outside; ln -s ../outside root/link"),
              0);
    touch("root/run/plugins/a/h.xplane.pb");
    touch("root/run/keep");
    touch("outside/h.xplane.pb");
    struct file_stamp stamp = stamp_of("root/run/plugins/a/h.xplane.pb");
    CHECK_OK("file", prune_file("root", STR("run/plugins/a/h.xplane.pb"), &stamp, &err), &err);
    CHECK("gone", !is_there("root/run/plugins"));
    CHECK("what is not its own stays", is_there("root/run/keep") && is_there("root/other"));
    stamp = stamp_of("root/run/keep");
    CHECK_OK("its own", prune_file("root", STR("run/keep"), &stamp, &err), &err);
    CHECK("an empty run goes, the root stays", !is_there("root/run") && is_there("root"));
    const char *const bad[] = {"link/h.xplane.pb",
                               "../outside/h.xplane.pb",
                               "./../outside/h.xplane.pb",
                               "other/..",
                               "/etc/hostname",
                               "other",
                               "",
                               "other//x",
                               "nowhere/x"};
    stamp = stamp_of("outside/h.xplane.pb");
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct error refused = {0};

        CHECK(bad[i], prune_file("root", str_of(bad[i]), &stamp, &refused) != OK);
    }
    CHECK("outside stays", is_there("outside/h.xplane.pb") && is_there("root/other"));
    CHECK_INT("chdir", chdir("/"), 0);
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    CHECK_INT("rm", system(command), 0);
}

/* Between the look and the removal somebody records anew. */
static void what_changed_stays(void **state)
{
    char dir[] = "/tmp/jview-prune-XXXXXX", command[80];
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000}};
    struct error err = {0};
    (void)state;

    assert_non_null(mkdtemp(dir));
    CHECK_INT("chdir", chdir(dir), 0);
    touch("a");
    struct file_stamp judged = stamp_of("a");
    CHECK_INT("longer", truncate("a", 7), 0);
    CHECK_INT("longer", prune_file(".", STR("a"), &judged, &err), ERR_CONFLICT);
    judged = stamp_of("a");
    CHECK_INT("age", utimensat(AT_FDCWD, "a", times, 0), 0);
    err = (struct error){0};
    CHECK_INT("another time", prune_file(".", STR("a"), &judged, &err), ERR_CONFLICT);
    judged = stamp_of("a");
    judged.inode++;
    err = (struct error){0};
    CHECK_INT("another file", prune_file(".", STR("a"), &judged, &err), ERR_CONFLICT);
    CHECK("it stays", is_there("a"));
    judged = stamp_of("a");
    err = (struct error){0};
    CHECK_OK("as judged", prune_file(".", STR("a"), &judged, &err), &err);
    CHECK("it goes", !is_there("a"));
    CHECK_INT("chdir", chdir("/"), 0);
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    CHECK_INT("rm", system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(chooses), cmocka_unit_test(words),
                                       cmocka_unit_test(removes_files_and_nothing_else),
                                       cmocka_unit_test(what_changed_stays)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
