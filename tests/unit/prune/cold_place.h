/* SPDX-License-Identifier: Apache-2.0 */
/* One profile, old enough to be packed, in a directory of its own that is the working directory:
 * for tests of packing. */
#ifndef JVIEWD_TESTS_COLD_PLACE_H
#define JVIEWD_TESTS_COLD_PLACE_H

#include "prune/prune_cold.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/pack/pack_cold.h"
#include "check.h"

enum { COLD_BYTES = 300000, COLD_DIR_SIZE = 32 };

#define COLD_PATH "run/h.xplane.pb"
#define COLD_PART_PATH "run/.h.xplane.pb.zst.part"

static uint8_t cold_content[COLD_BYTES];

struct cold_place {
    char dir[COLD_DIR_SIZE];
    struct run_file file;
};

static inline void cold_write(const char *path, const void *at, size_t count)
{
    struct error err = {0};
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);

    CHECK(path, fd >= 0);
    CHECK_OK(path, file_write_all(fd, at, count, 0, &err), &err);
    close(fd);
}

static inline bool cold_is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* As it is now. */
static inline void cold_judge(struct cold_place *place)
{
    struct error err = {0};
    int fd;

    CHECK_OK("judge", file_open(COLD_PATH, &fd, &place->file.stamp, &err), &err);
    file_close(fd);
    place->file.bytes = place->file.stamp.size;
}

/* The profile as it is at first. */
static inline void cold_place_fill(struct cold_place *place)
{
    const struct timespec times[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000, .tv_nsec = 7}};

    for (size_t i = 0; i < COLD_BYTES; i++)
        cold_content[i] = (uint8_t)(i / 100 * 7 ^ (i % 17 == 0 ? i : 0));
    cold_write(COLD_PATH, cold_content, COLD_BYTES);
    CHECK_INT("age", utimensat(AT_FDCWD, COLD_PATH, times, 0), 0);
    place->file = (struct run_file){.path = STR(COLD_PATH), .state = FILE_READY};
    hash128_hex(hash128((struct bytes){.at = cold_content, .count = COLD_BYTES}),
                place->file.content);
    cold_judge(place);
}

static inline int cold_place_make(void **state)
{
    struct cold_place *place = calloc(1, sizeof *place);

    strcpy(place->dir, "/tmp/jview-cold-XXXXXX");
    assert_non_null(mkdtemp(place->dir));
    CHECK_INT("chdir", chdir(place->dir), 0);
    CHECK_INT("mkdir", mkdir("run", 0700), 0);
    cold_place_fill(place);
    *state = place;
    return 0;
}

static inline int cold_place_leave(void **state)
{
    struct cold_place *place = *state;
    char command[64];

    CHECK_INT("chdir", chdir("/"), 0);
    snprintf(command, sizeof command, "rm -rf '%s'", place->dir);
    int ret = system(command);
    free(place);
    return ret;
}

/* The packed file unpacks to what the file was; its time and mode are those of the file. */
static inline void cold_check_packed(const char *what)
{
    struct error err = {0};
    struct cold cold;
    struct stat info;
    uint8_t *back = malloc(COLD_BYTES);
    int fd = open(COLD_PATH ".zst", O_RDONLY | O_CLOEXEC),
        out = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    CHECK(what, cold_of(fd, &cold) && cold.bytes == COLD_BYTES);
    CHECK_OK(what, cold_unpack(fd, &cold, out, &err), &err);
    CHECK_INT(what, pread(out, back, COLD_BYTES, 0), COLD_BYTES);
    CHECK(what, memcmp(back, cold_content, COLD_BYTES) == 0);
    CHECK_INT(what, fstat(fd, &info), 0);
    CHECK_INT(what, info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec, 1000000000000007);
    CHECK_INT(what, info.st_mode & 0777, 0640);
    CHECK(what, info.st_size < COLD_BYTES / 2);
    CHECK(what, !cold_is_there(COLD_PATH) && !cold_is_there(COLD_PART_PATH));
    free(back);
    close(out);
    close(fd);
}

#endif
