/* Profiles that are put away packed: they come back as they were, and whatever goes wrong, one
 * whole file is left. */
#include "prune_cold.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/pack_cold.h"
#include "check.h"

enum { BYTES = 300000, DIR_SIZE = 32 };

#define FILE_PATH "run/h.xplane.pb"
#define PART_PATH "run/.h.xplane.pb.zst.part"

static uint8_t content_bytes[BYTES];

struct place {
    char dir[DIR_SIZE];
    struct run_file file;
};

static void write_file(const char *path, const void *at, size_t count)
{
    struct error err = {0};
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);

    CHECK(path, fd >= 0);
    CHECK_OK(path, file_write_all(fd, at, count, 0, &err), &err);
    close(fd);
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* As it is now. */
static void judge(struct place *place)
{
    struct error err = {0};
    int fd;

    CHECK_OK("judge", file_open(FILE_PATH, &fd, &place->file.stamp, &err), &err);
    file_close(fd);
    place->file.bytes = place->file.stamp.size;
}

static int make_place(void **state)
{
    const struct timespec times[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000, .tv_nsec = 7}};
    struct place *place = calloc(1, sizeof *place);

    strcpy(place->dir, "/tmp/jview-cold-XXXXXX");
    assert_non_null(mkdtemp(place->dir));
    CHECK_INT("chdir", chdir(place->dir), 0);
    CHECK_INT("mkdir", mkdir("run", 0700), 0);
    for (size_t i = 0; i < BYTES; i++)
        content_bytes[i] = (uint8_t)(i / 100 * 7 ^ (i % 17 == 0 ? i : 0));
    write_file(FILE_PATH, content_bytes, BYTES);
    CHECK_INT("age", utimensat(AT_FDCWD, FILE_PATH, times, 0), 0);
    place->file = (struct run_file){.path = STR(FILE_PATH), .state = FILE_READY};
    hash128_hex(hash128((struct bytes){.at = content_bytes, .count = BYTES}), place->file.content);
    judge(place);
    *state = place;
    return 0;
}

static int leave_place(void **state)
{
    struct place *place = *state;
    char command[64];

    CHECK_INT("chdir", chdir("/"), 0);
    snprintf(command, sizeof command, "rm -rf '%s'", place->dir);
    int ret = system(command);
    free(place);
    return ret;
}

/* The packed file unpacks to what the file was; its time and mode are those of the file. */
static void check_packed(const char *what)
{
    struct error err = {0};
    struct cold cold;
    struct stat info;
    uint8_t *back = malloc(BYTES);
    int fd = open(FILE_PATH ".zst", O_RDONLY | O_CLOEXEC),
        out = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    CHECK(what, cold_of(fd, &cold) && cold.bytes == BYTES);
    CHECK_OK(what, cold_unpack(fd, &cold, out, &err), &err);
    CHECK_INT(what, pread(out, back, BYTES, 0), BYTES);
    CHECK(what, memcmp(back, content_bytes, BYTES) == 0);
    CHECK_INT(what, fstat(fd, &info), 0);
    CHECK_INT(what, info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec, 1000000000000007);
    CHECK_INT(what, info.st_mode & 0777, 0640);
    CHECK(what, info.st_size < BYTES / 2);
    CHECK(what, !is_there(FILE_PATH) && !is_there(PART_PATH));
    free(back);
    close(out);
    close(fd);
}

static void check_stays(struct place *place, const char *what, enum status status,
                        const char *reason)
{
    struct error err = {0};
    uint64_t bytes = 0;

    CHECK_INT(what, prune_cold_pack(".", &place->file, &bytes, &err), status);
    CHECK_HAS(what, err.message, reason);
    CHECK(what, is_there(FILE_PATH) && !is_there(PART_PATH));
}

static void packs(void **state)
{
    struct place *place = *state;
    struct error err = {0};
    uint64_t guess = 0, bytes = 0;

    CHECK_OK("guess", prune_cold_guess(".", &place->file, &guess, &err), &err);
    CHECK("nothing was touched", is_there(FILE_PATH) && !is_there(FILE_PATH ".zst"));
    CHECK_OK("pack", prune_cold_pack(".", &place->file, &bytes, &err), &err);
    CHECK("about what it was said to become", guess > bytes / 2 && guess < bytes * 2);
    check_packed("packed");
}

/* Each of them as somebody left it who was stopped. */
static void goes_on_where_it_was_stopped(void **state)
{
    struct place *place = *state;
    struct error err = {0};
    uint64_t bytes = 0;

    write_file(PART_PATH, "half of it", 10);
    CHECK_OK("before the rename", prune_cold_pack(".", &place->file, &bytes, &err), &err);
    check_packed("before the rename");
    write_file(FILE_PATH, content_bytes, BYTES);
    judge(place);
    CHECK_OK("before the removal", prune_cold_pack(".", &place->file, &bytes, &err), &err);
    check_packed("before the removal");
}

static void another_beside_it_stays(void **state)
{
    struct place *place = *state;
    struct error err = {0};
    uint64_t bytes = 0;

    write_file(FILE_PATH ".zst", "something", 9);
    check_stays(place, "no packing of ours", ERR_CONFLICT, "another");
    CHECK_INT("unlink", unlink(FILE_PATH ".zst"), 0);
    CHECK_OK("pack", prune_cold_pack(".", &place->file, &bytes, &err), &err);
    CHECK_INT("cut", truncate(FILE_PATH ".zst", (off_t)bytes - 1), 0);
    write_file(FILE_PATH, content_bytes, BYTES);
    judge(place);
    check_stays(place, "a packing that was cut off", ERR_CONFLICT, "another");
    CHECK_INT("unlink", unlink(FILE_PATH ".zst"), 0);
    CHECK_INT("link", symlink("/etc/hostname", FILE_PATH ".zst"), 0);
    check_stays(place, "a link", ERR_IO, "cannot be opened");
}

static void what_stays(void **state)
{
    struct place *place = *state;
    const struct place judged = *place;

    CHECK_INT("link", link(FILE_PATH, "run/again"), 0);
    check_stays(place, "another name", ERR_UNSUPPORTED, "further names");
    CHECK_INT("unlink", unlink("run/again"), 0);
    place->file.stamp.modified_ns++;
    check_stays(place, "another time", ERR_CONFLICT, "changed");
    *place = judged;
    place->file.content[0] ^= 1;
    check_stays(place, "another content", ERR_CONFLICT, "changed since it was read");
    *place = judged;
    place->file.state = FILE_FAILED;
    check_stays(place, "not read", ERR_UNSUPPORTED, "not read");
    *place = judged;
    CHECK_INT("link", symlink("run", "link"), 0);
    place->file.path = STR("link/h.xplane.pb");
    check_stays(place, "through a link", ERR_IO, "stays");
    place->file.path = STR("run/../run/h.xplane.pb");
    check_stays(place, "a way up", ERR_INVALID, "no path below");
    *place = judged;
    CHECK_INT("truncate", truncate(FILE_PATH, 1000), 0);
    judge(place);
    check_stays(place, "small", ERR_UNSUPPORTED, "small");
    for (size_t i = 0; i < BYTES; i++)
        content_bytes[i] = (uint8_t)rand();
    memcpy(content_bytes, "\x28\xB5\x2F\xFD", 4);
    write_file(FILE_PATH, content_bytes, BYTES);
    judge(place);
    check_stays(place, "packed", ERR_UNSUPPORTED, "packed already");
    content_bytes[0] = 'x';
    write_file(FILE_PATH, content_bytes, BYTES);
    judge(place);
    hash128_hex(hash128((struct bytes){.at = content_bytes, .count = BYTES}), place->file.content);
    check_stays(place, "noise", ERR_UNSUPPORTED, "hardly become smaller");
}

static void a_full_disk(void **state)
{
    struct place *place = *state;
    struct rlimit was, little;

    signal(SIGXFSZ, SIG_IGN);
    CHECK_INT("limit", getrlimit(RLIMIT_FSIZE, &was), 0);
    little = (struct rlimit){.rlim_cur = 1000, .rlim_max = was.rlim_max};
    CHECK_INT("limit", setrlimit(RLIMIT_FSIZE, &little), 0);
    check_stays(place, "full", ERR_IO, "cannot be written");
    CHECK_INT("limit", setrlimit(RLIMIT_FSIZE, &was), 0);
    CHECK("nothing beside it", !is_there(FILE_PATH ".zst"));
}

/* No damage of a packed file is taken for the file. */
static void damage_is_seen(void **state)
{
    struct place *place = *state;
    struct error err = {0};
    struct cold cold, seen;
    uint64_t bytes = 0;

    CHECK_OK("pack", prune_cold_pack(".", &place->file, &bytes, &err), &err);
    int fd = open(FILE_PATH ".zst", O_RDWR | O_CLOEXEC);
    CHECK("whole", cold_of(fd, &cold));
    for (uint64_t at = 0; at < bytes; at += 1 + bytes / 200) {
        struct error refused = {0};
        uint8_t byte = 0;

        CHECK_INT("read", pread(fd, &byte, 1, (off_t)at), 1);
        byte ^= 0x10;
        CHECK_INT("flip", pwrite(fd, &byte, 1, (off_t)at), 1);
        CHECK("flipped", !cold_of(fd, &seen) || cold_unpack(fd, &seen, -1, &refused) != OK);
        byte ^= 0x10;
        CHECK_INT("back", pwrite(fd, &byte, 1, (off_t)at), 1);
    }
    for (uint64_t end = bytes; end-- > 0;) {
        CHECK_INT("cut", ftruncate(fd, (off_t)end), 0);
        CHECK("cut", !cold_of(fd, &seen));
        end -= end < 200 ? 0 : end / 50;
    }
    struct error cut = {0};
    CHECK("nothing of it", cold_unpack(fd, &cold, -1, &cut) != OK);
    close(fd);
}

int main(void)
{
#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, leave_place)
    const struct CMUnitTest tests[] = {
        IN_PLACE(packs),       IN_PLACE(goes_on_where_it_was_stopped),
        IN_PLACE(what_stays),  IN_PLACE(another_beside_it_stays),
        IN_PLACE(a_full_disk), IN_PLACE(damage_is_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
