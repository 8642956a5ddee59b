/* SPDX-License-Identifier: Apache-2.0 */
/* Kept answers: found by their key alone, and only whole. */
#include "store/answers.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

struct place {
    char dir[64];
    struct arena *arena;
    struct cache *cache;
};

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    struct str reason;
    struct error err = {0};

    snprintf(place->dir, sizeof place->dir, "/tmp/jview-answers-XXXXXX");
    assert_non_null(mkdtemp(place->dir));
    place->arena = arena_create();
    CHECK_OK("open", cache_open(place->dir, 1 << 30, place->arena, &place->cache, &reason, &err),
             &err);
    *state = place;
    return 0;
}

static int leave_place(void **state)
{
    struct place *place = *state;
    char command[128];

    cache_close(place->cache);
    snprintf(command, sizeof command, "rm -rf '%s'", place->dir);
    int ret = system(command);
    arena_destroy(place->arena);
    free(place);
    return ret;
}

static const char content[33] = "00112233445566778899aabbccddeeff";
static const struct hash128 key = {.high = 7, .low = 0x1c3};

static const char *kept(struct place *place, struct hash128 of)
{
    struct bytes body;

    if (!answers_get(place->cache, of, place->arena, &body))
        return "(none)";
    return str_c(place->arena, (struct str){.at = (const char *)body.at, .count = body.count});
}

static void finds_by_key(void **state)
{
    struct place *place = *state;
    const struct hash128 same_slot = {.high = 8, .low = key.low};

    CHECK_STR("before", str_of(kept(place, key)), "(none)");
    answers_put(place->cache, key, content, BYTES("{\"a\": 1}"));
    CHECK_STR("after", str_of(kept(place, key)), "{\"a\": 1}");
    CHECK_STR("another key of the slot", str_of(kept(place, same_slot)), "(none)");
    answers_put(place->cache, same_slot, content, BYTES("{}"));
    CHECK_STR("the newer takes the place", str_of(kept(place, key)), "(none)");
    CHECK_STR("and is found", str_of(kept(place, same_slot)), "{}");
}

static void leaves_out_what_is_large(void **state)
{
    struct place *place = *state;
    uint8_t *large = calloc(1, ANSWER_BYTES_MAX + 1);
    struct bytes body;

    answers_put(place->cache, key, content,
                (struct bytes){.at = large, .count = ANSWER_BYTES_MAX + 1});
    CHECK("too large", !answers_get(place->cache, key, place->arena, &body));
    answers_put(place->cache, key, content, (struct bytes){.at = large, .count = ANSWER_BYTES_MAX});
    CHECK("as large as may be", answers_get(place->cache, key, place->arena, &body));
    CHECK_INT("whole", body.count, ANSWER_BYTES_MAX);
    free(large);
}

/* Every byte of the file matters, and every one that is missing. */
static void trusts_nothing_damaged(void **state)
{
    struct place *place = *state;
    char path[128];
    uint8_t bytes[128];

    answers_put(place->cache, key, content, BYTES("{\"a\": 1}"));
    snprintf(path, sizeof path, "%s/answers/1c3", place->dir);
    int fd = open(path, O_RDWR);
    ssize_t count = read(fd, bytes, sizeof bytes);
    assert_int_equal(count, 80 + 8);
    for (ssize_t at = 0; at < count; at++) {
        uint8_t flipped = bytes[at] ^ 4;

        if (at >= 40 && at < 80)
            continue; /* whose it is: it says only when the answer goes */

        assert_int_equal(pwrite(fd, &flipped, 1, at), 1);
        CHECK_STR("flipped", str_of(kept(place, key)), "(none)");
        assert_int_equal(pwrite(fd, &bytes[at], 1, at), 1);
    }
    CHECK_STR("mended", str_of(kept(place, key)), "{\"a\": 1}");
    while (count-- > 0) {
        assert_int_equal(ftruncate(fd, count), 0);
        CHECK_STR("cut", str_of(kept(place, key)), "(none)");
    }
    close(fd);
}

static void put_segment(struct place *place, const char *of, int64_t bytes)
{
    char path[4096], directory[4096];
    FILE *file;

    cache_segment_path(place->cache, of, path);
    snprintf(directory, sizeof directory, "mkdir -p '%.*s'", (int)(strrchr(path, '/') - path),
             path);
    assert_int_equal(system(directory), 0);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), bytes), 0);
    fclose(file);
}

/* An answer lives as long as its segment, and counts as the segment does. */
static void goes_with_its_segment(void **state)
{
    static const char other[33] = "ffeeddccbbaa99887766554433221100";
    struct place *place = *state;
    const struct hash128 unbound = {.high = 9, .low = 0x101}, of_other = {.high = 9, .low = 0x102};
    char path[4096];

    put_segment(place, content, 1000);
    answers_put(place->cache, key, content, BYTES("{}"));
    answers_put(place->cache, unbound, "", BYTES("{}"));
    answers_put(place->cache, of_other, other, BYTES("{}"));
    cache_evict(place->cache);
    CHECK_STR("its segment is there", str_of(kept(place, key)), "{}");
    CHECK_STR("of no segment", str_of(kept(place, unbound)), "{}");
    CHECK_STR("its segment is gone", str_of(kept(place, of_other)), "(none)");
    CHECK_INT("counted", cache_bytes(place->cache), 1000 + 2 * (80 + 2));
    cache_segment_path(place->cache, content, path);
    assert_int_equal(unlink(path), 0);
    cache_evict(place->cache);
    CHECK_STR("went with it", str_of(kept(place, key)), "(none)");
    CHECK_INT("counted again", cache_bytes(place->cache), 80 + 2);
}

/* The oldest first, whatever it is; the newest segment stays. */
static void goes_when_the_cache_is_full(void **state)
{
    struct place *place = *state;
    struct str reason;
    struct error err = {0};
    const struct hash128 old = {.high = 9, .low = 0x101};
    char path[4096];

    cache_close(place->cache);
    CHECK_OK("small", cache_open(place->dir, 1100, place->arena, &place->cache, &reason, &err),
             &err);
    answers_put(place->cache, old, "", BYTES("{\"old\": 1}"));
    snprintf(path, sizeof path, "touch -d '1 hour ago' '%s/answers/101'", place->dir);
    assert_int_equal(system(path), 0);
    put_segment(place, content, 850);
    answers_put(place->cache, key, content, BYTES("{}"));
    cache_evict(place->cache);
    CHECK_STR("fits", str_of(kept(place, old)), "{\"old\": 1}");
    assert_int_equal(system(path), 0);
    put_segment(place, content, 950);
    cache_evict(place->cache);
    CHECK_STR("the oldest", str_of(kept(place, old)), "(none)");
    cache_segment_path(place->cache, content, path);
    CHECK_INT("the newest segment", access(path, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(finds_by_key, make_place, leave_place),
        cmocka_unit_test_setup_teardown(leaves_out_what_is_large, make_place, leave_place),
        cmocka_unit_test_setup_teardown(trusts_nothing_damaged, make_place, leave_place),
        cmocka_unit_test_setup_teardown(goes_with_its_segment, make_place, leave_place),
        cmocka_unit_test_setup_teardown(goes_when_the_cache_is_full, make_place, leave_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
