/* SPDX-License-Identifier: Apache-2.0 */
/* A spool of two captures becomes two. Whoever pulls the plug finds the whole one or both parts:
 * the whole one goes when the disk has the parts and their names, and stays where it refuses. */
#include "launch/capture/capture_split.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "made_spool.h"

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_unlink(const char *path);
int __wrap_unlink(const char *path);

static char place[PATH_MAX], calls[8 * PATH_MAX];
static int refused; /* the fsync that fails, from 1; 0 none */
static int sync_count;

static void note(const char *what, const char *path)
{
    size_t at = strlen(calls), below = strlen(place);

    if (strncmp(path, place, below) == 0)
        snprintf(calls + at, sizeof calls - at, "%s %s\n", what,
                 path[below] == '\0' ? "." : path + below + 1);
}

int __wrap_fsync(int fd)
{
    char link[64], path[PATH_MAX] = {0};

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (readlink(link, path, sizeof path - 1) > 0)
        note("sync", path);
    if (++sync_count == refused) {
        errno = EIO;
        return -1;
    }
    return __real_fsync(fd);
}

int __wrap_unlink(const char *path)
{
    note("unlink", path);
    return __real_unlink(path);
}

/* Opened from 5,000 to 200,000 ns of the clock and from 500,000 on, a range in each; at the last
 * look none was open any more, which a frame of no rows says. */
static void make_spool(const char *path)
{
    const int64_t turns[] = {1000, 1, 1, 200000, 0, 1, 500000, 1, 2};
    struct made_spool made = {0};
    int64_t rows[2 * RANGE_COLUMNS] = {0};

    for (int row = 0; row < 2; row++) {
        rows[row * RANGE_COLUMNS + RANGE_THREAD] = 466;
        rows[row * RANGE_COLUMNS + RANGE_START] = row == 0 ? 20000 : 600000;
        rows[row * RANGE_COLUMNS + RANGE_END] = row == 0 ? 30000 : 700000;
    }
    spool_begin(&made);
    spool_ties(&made);
    spool_rows(&made, SPOOL_SWITCH, turns, 3, SWITCH_COLUMNS);
    spool_rows(&made, SPOOL_RANGE, rows, 2, RANGE_COLUMNS);
    spool_rows(&made, SPOOL_OPEN, rows, 0, RANGE_COLUMNS);
    FILE *file = fopen(path, "wb");
    CHECK("the spool", file != NULL && fwrite(made.file.at, made.file.count, 1, file) == 1);
    CHECK("the spool's end", fclose(file) == 0);
    text_free(&made.file);
}

static enum status split(struct error *err)
{
    struct capture_list captures;
    char path[PATH_MAX + 16];

    snprintf(path, sizeof path, "%s/466-1.jvs", place);
    make_spool(path);
    captures_read(place, &captures);
    CHECK_INT("captures", captures.count, 2);
    calls[0] = '\0';
    sync_count = 0;
    enum status status = capture_split(place, "466-1.jvs", &captures, err);
    captures_free(&captures);
    return status;
}

static bool is_there(const char *name)
{
    char path[PATH_MAX + 64];

    snprintf(path, sizeof path, "%s/%s", place, name);
    return access(path, F_OK) == 0;
}

static void synced_before_it_goes(void **state)
{
    struct error err = {0};
    (void)state;

    refused = 0;
    CHECK_OK("split", split(&err), &err);
    CHECK_STR("calls", str_of(calls),
              "sync capture-1/466-1.jvs\nsync capture-1\n"
              "sync capture-2/466-1.jvs\nsync capture-2\n"
              "sync .\nunlink 466-1.jvs\n");
    CHECK("the first part", is_there("capture-1/466-1.jvs"));
    CHECK("the second part", is_there("capture-2/466-1.jvs"));
    CHECK("no whole one", !is_there("466-1.jvs"));
    char path[PATH_MAX + 64];
    for (int part = 1; part <= 2; part++) {
        snprintf(path, sizeof path, "%s/capture-%d/466-1.jvs", place, part);
        __real_unlink(path);
        snprintf(path, sizeof path, "%s/capture-%d", place, part);
        rmdir(path);
    }
}

static void stays_where_the_disk_refuses(void **state)
{
    (void)state;
    for (refused = 1; refused <= 5; refused++) {
        struct error err = {0};
        char what[32], path[PATH_MAX + 16];

        snprintf(what, sizeof what, "sync %d of 5", refused);
        CHECK_INT(what, split(&err), ERR_IO);
        CHECK_HAS(what, err.message, "Input/output error");
        CHECK(what, is_there("466-1.jvs"));
        CHECK(what, !is_there("capture-1") && !is_there("capture-2"));
        snprintf(path, sizeof path, "%s/466-1.jvs", place);
        __real_unlink(path);
    }
}

int main(void)
{
    char made[] = "/tmp/jview-split-XXXXXX";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(synced_before_it_goes),
        cmocka_unit_test(stays_where_the_disk_refuses),
    };

    if (mkdtemp(made) == NULL || realpath(made, place) == NULL)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    rmdir(place);
    return failed;
}
