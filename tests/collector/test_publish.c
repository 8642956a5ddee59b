/* SPDX-License-Identifier: Apache-2.0 */
/* A name is taken once, on whatever file system: the calls that some do not know fail here as they
 * do there. */
#include "launch/spool/publish.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

int __real_renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags);
int __wrap_renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags);
int __real_link(const char *from, const char *to);
int __wrap_link(const char *from, const char *to);
int __real_fsync(int fd);
int __wrap_fsync(int fd);

static int rename_error, link_error, sync_error; /* 0: as the file system does */

static int failed(int error)
{
    errno = error;
    return -1;
}

int __wrap_renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags)
{
    return rename_error != 0 ? failed(rename_error)
                             : __real_renameat2(from_at, from, to_at, to, flags);
}

int __wrap_link(const char *from, const char *to)
{
    return link_error != 0 ? failed(link_error) : __real_link(from, to);
}

int __wrap_fsync(int fd)
{
    return sync_error != 0 ? failed(sync_error) : __real_fsync(fd);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* "" where there is none. */
static struct str text_of(const char *path, char ret[64])
{
    FILE *file = fopen(path, "r");
    size_t count = file != NULL ? fread(ret, 1, 64, file) : 0;

    if (file != NULL)
        fclose(file);
    return (struct str){.at = ret, .count = count};
}

static const struct {
    const char *what;
    int rename_error, link_error, sync_error;
    const char *before; /* NULL: none is there */
    enum status want;
    const char *after;
} rows[] = {
    {"a rename", 0, 0, 0, NULL, OK, "made"},
    {"a link", EINVAL, 0, 0, NULL, OK, "made"},
    {"an old kernel", ENOSYS, 0, 0, NULL, OK, "made"},
    {"neither", EINVAL, EPERM, 0, NULL, OK, "made"},
    {"neither, told otherwise", EINVAL, ENOTSUP, 0, NULL, OK, "made"},
    {"another's", 0, 0, 0, "mine", ERR_CONFLICT, "mine"},
    {"another's, a link", EINVAL, 0, 0, "mine", ERR_CONFLICT, "mine"},
    {"another's, neither", EINVAL, EPERM, 0, "mine", ERR_CONFLICT, "mine"},
    {"another's, longer", 0, 0, 0, "made it", ERR_CONFLICT, "made it"},
    {"another's, empty", 0, 0, 0, "", ERR_CONFLICT, ""},
    {"ended half way", 0, 0, 0, "made", OK, "made"},
    {"ended half way, a link", EINVAL, 0, 0, "made", OK, "made"},
    {"no room", ENOSPC, 0, 0, NULL, ERR_IO, ""},
    {"no room, a link", EINVAL, ENOSPC, 0, NULL, ERR_IO, ""},
    {"the disk fails", 0, 0, EIO, NULL, ERR_IO, ""},
    {"it syncs no directories", 0, 0, EINVAL, NULL, OK, "made"},
    {"it syncs no directories, told otherwise", 0, 0, ENOTSUP, NULL, OK, "made"},
};

static void test_publish(void **state)
{
    char directory[] = "/tmp/jview-publish-XXXXXX", made[64], target[64], text[64];

    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(made, sizeof made, "%s/made", directory);
    snprintf(target, sizeof target, "%s/target", directory);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error err = {0};

        write_text(made, "made");
        unlink(target);
        if (rows[i].before != NULL)
            write_text(target, rows[i].before);
        rename_error = rows[i].rename_error;
        link_error = rows[i].link_error;
        sync_error = rows[i].sync_error;
        CHECK_INT(rows[i].what, publish_file(made, target, directory, &err), rows[i].want);
        CHECK_STR(rows[i].what, text_of(target, text), rows[i].after);
    }
    unlink(made);
    unlink(target);
    rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_publish)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
