/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles that are put away packed: they come back as they were, and whatever goes wrong, one
 * whole file is left. */
#include "cold_place.h"

#include <signal.h>
#include <sys/resource.h>

static void check_stays(struct cold_place *place, const char *what, enum status status,
                        const char *reason)
{
    struct error err = {0};
    uint64_t bytes = 0;

    CHECK_INT(what, prune_cold_pack(".", &place->file, &bytes, &err), status);
    CHECK_HAS(what, err.message, reason);
    CHECK(what, cold_is_there(COLD_PATH) && !cold_is_there(COLD_PART_PATH));
}

static void packs(void **state)
{
    struct cold_place *place = *state;
    struct error err = {0};
    uint64_t guess = 0, bytes = 0;

    CHECK_OK("guess", prune_cold_guess(".", &place->file, &guess, &err), &err);
    CHECK("nothing was touched", cold_is_there(COLD_PATH) && !cold_is_there(COLD_PATH ".zst"));
    CHECK_OK("pack", prune_cold_pack(".", &place->file, &bytes, &err), &err);
    CHECK("about what it was said to become", guess > bytes / 2 && guess < bytes * 2);
    cold_check_packed("packed");
}

/* Each of them as somebody left it who was stopped. */
static void goes_on_where_it_was_stopped(void **state)
{
    struct cold_place *place = *state;
    struct error err = {0};
    uint64_t bytes = 0;

    cold_write(COLD_PART_PATH, "half of it", 10);
    CHECK_OK("before the rename", prune_cold_pack(".", &place->file, &bytes, &err), &err);
    cold_check_packed("before the rename");
    cold_write(COLD_PATH, cold_content, COLD_BYTES);
    cold_judge(place);
    CHECK_OK("before the removal", prune_cold_pack(".", &place->file, &bytes, &err), &err);
    cold_check_packed("before the removal");
}

static void another_beside_it_stays(void **state)
{
    struct cold_place *place = *state;
    struct error err = {0};
    uint64_t bytes = 0;

    cold_write(COLD_PATH ".zst", "something", 9);
    check_stays(place, "no packing of ours", ERR_CONFLICT, "another");
    CHECK_INT("unlink", unlink(COLD_PATH ".zst"), 0);
    CHECK_OK("pack", prune_cold_pack(".", &place->file, &bytes, &err), &err);
    CHECK_INT("cut", truncate(COLD_PATH ".zst", (off_t)bytes - 1), 0);
    cold_write(COLD_PATH, cold_content, COLD_BYTES);
    cold_judge(place);
    check_stays(place, "a packing that was cut off", ERR_CONFLICT, "another");
    CHECK_INT("unlink", unlink(COLD_PATH ".zst"), 0);
    CHECK_INT("link", symlink("/etc/hostname", COLD_PATH ".zst"), 0);
    check_stays(place, "a link", ERR_IO, "cannot be opened");
}

static void what_stays(void **state)
{
    struct cold_place *place = *state;
    const struct cold_place judged = *place;

    CHECK_INT("link", link(COLD_PATH, "run/again"), 0);
    check_stays(place, "another name", ERR_UNSUPPORTED, "other hard links");
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
    check_stays(place, "a way up", ERR_INVALID, "not a path below");
    *place = judged;
    CHECK_INT("truncate", truncate(COLD_PATH, 1000), 0);
    cold_judge(place);
    check_stays(place, "small", ERR_UNSUPPORTED, "small");
    for (size_t i = 0; i < COLD_BYTES; i++)
        cold_content[i] = (uint8_t)rand();
    memcpy(cold_content, "\x28\xB5\x2F\xFD", 4);
    cold_write(COLD_PATH, cold_content, COLD_BYTES);
    cold_judge(place);
    check_stays(place, "packed", ERR_UNSUPPORTED, "packed already");
    cold_content[0] = 'x';
    cold_write(COLD_PATH, cold_content, COLD_BYTES);
    cold_judge(place);
    hash128_hex(hash128((struct bytes){.at = cold_content, .count = COLD_BYTES}),
                place->file.content);
    check_stays(place, "noise", ERR_UNSUPPORTED, "compressing it would save little");
}

static void a_full_disk(void **state)
{
    struct cold_place *place = *state;
    struct rlimit was, little;

    signal(SIGXFSZ, SIG_IGN);
    CHECK_INT("limit", getrlimit(RLIMIT_FSIZE, &was), 0);
    little = (struct rlimit){.rlim_cur = 1000, .rlim_max = was.rlim_max};
    CHECK_INT("limit", setrlimit(RLIMIT_FSIZE, &little), 0);
    check_stays(place, "full", ERR_IO, "cannot be written");
    CHECK_INT("limit", setrlimit(RLIMIT_FSIZE, &was), 0);
    CHECK("nothing beside it", !cold_is_there(COLD_PATH ".zst"));
}

/* No damage of a packed file is taken for the file. */
static void damage_is_seen(void **state)
{
    struct cold_place *place = *state;
    struct error err = {0};
    struct cold cold, seen;
    uint64_t bytes = 0;

    CHECK_OK("pack", prune_cold_pack(".", &place->file, &bytes, &err), &err);
    int fd = open(COLD_PATH ".zst", O_RDWR | O_CLOEXEC);
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
#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, cold_place_make, cold_place_leave)
    const struct CMUnitTest tests[] = {
        IN_PLACE(packs),       IN_PLACE(goes_on_where_it_was_stopped),
        IN_PLACE(what_stays),  IN_PLACE(another_beside_it_stays),
        IN_PLACE(a_full_disk), IN_PLACE(damage_is_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
