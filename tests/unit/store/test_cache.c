/* SPDX-License-Identifier: Apache-2.0 */
/* The cache: shared mappings, damage, eviction, a directory that is deleted or cannot be written,
 * and two processes on one directory. */
#include "store/cache.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "made_bound.h"
#include "picture.h"
#include "store/segment.h"

static const char first[33] = "11111111111111111111111111111111";
static const char second[33] = "22222222222222222222222222222222";
static const char third[33] = "33333333333333333333333333333333";

struct place {
    char dir[64];
    struct arena *arena;
    struct cache *cache;
    struct str reason;
};

static void open_cache(struct place *place, uint64_t bytes_max)
{
    struct error err = {0};

    CHECK_OK("open",
             cache_open(place->dir, bytes_max, place->arena, &place->cache, &place->reason, &err),
             &err);
}

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof *place);

    snprintf(place->dir, sizeof place->dir, "/tmp/jview-cache-XXXXXX");
    assert_non_null(mkdtemp(place->dir));
    place->arena = arena_create();
    open_cache(place, 1 << 30);
    *state = place;
    return 0;
}

static int leave_place(void **state)
{
    struct place *place = *state;
    char command[256];

    cache_close(place->cache);
    snprintf(command, sizeof command, "chmod -R u+w '%s'; rm -rf '%s'", place->dir, place->dir);
    int ret = system(command);
    arena_destroy(place->arena);
    free(place);
    return ret;
}

/* A small segment and an empty attribution of it, made in the temporary directory and adopted. */
static void put(struct cache *cache, const char content[33])
{
    static _Atomic unsigned number;
    char directory[4096], segment[4200], attribution[4200];
    struct error err = {0};
    struct segment_writer *writer;
    unsigned own = number++;

    CHECK_OK("place", cache_temporary_dir(cache, directory, &err), &err);
    snprintf(segment, sizeof segment, "%s/%u.seg", directory, own);
    snprintf(attribution, sizeof attribution, "%s/%u.attr", directory, own);
    CHECK_OK("writer", segment_writer_open(segment, &writer, &err), &err);
    struct sink *sink = sink_create(segment_writer_out(writer), &budget_default,
                                    (struct sink_hooks){0}, directory, &err);
    sink_format(sink, "drawn");
    picture_draw(sink, "host / python\n  0 +30 step 1\n    10 +5 fusion.3\n");
    CHECK_OK("finish", sink_finish(sink, &err), &err);
    sink_destroy(sink);
    CHECK_OK("commit", segment_writer_commit(writer, content, &err), &err);
    segment_writer_abandon(writer);
    CHECK_OK("attribution", attribution_write(attribution, content, &(struct attribution){0}, &err),
             &err);
    made_bound(segment, attribution);
    CHECK_OK("adopt", cache_adopt(cache, content, segment, attribution, &err), &err);
}

static bool is_there(struct cache *cache, const char content[33])
{
    struct cached cached;
    struct error err = {0};

    if (cache_acquire(cache, content, &cached, &err) != OK) {
        CHECK_INT("why", err.code, ERR_NOT_FOUND);
        return false;
    }
    cache_release(cache, cached);
    return true;
}

static void overwrite(const char *path, long at, const char *bytes, size_t count)
{
    int fd = open(path, O_WRONLY);

    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, count, at), (ssize_t)count);
    close(fd);
}

static void shares_one_mapping(void **state)
{
    struct place *place = *state;
    struct cached a, b;
    struct error err = {0};

    put(place->cache, first);
    CHECK("there", cache_has(place->cache, first));
    CHECK("another is not", !cache_has(place->cache, second));
    CHECK_OK("a", cache_acquire(place->cache, first, &a, &err), &err);
    CHECK_OK("b", cache_acquire(place->cache, first, &b, &err), &err);
    CHECK("one trace", a.trace == b.trace);
    CHECK("attributed", a.attribution != NULL);
    CHECK_INT("slices", a.trace->slice_count, 2);
    cache_release(place->cache, a);
    CHECK_INT("still readable", b.trace->slice_count, 2);
    cache_release(place->cache, b);
    CHECK("still there", is_there(place->cache, first));
}

static void attributions_open_when_asked_for(void **state)
{
    struct place *place = *state;
    struct cached alone, whole, later;
    struct error err = {0};
    char path[4096];

    put(place->cache, first);
    CHECK_OK("trace", cache_acquire_trace(place->cache, first, &alone, &err), &err);
    CHECK("closed", alone.attribution == NULL);
    CHECK_OK("both", cache_acquire(place->cache, first, &whole, &err), &err);
    CHECK("open", whole.attribution != NULL);
    CHECK("one mapping", whole.trace == alone.trace);
    CHECK_OK("trace again", cache_acquire_trace(place->cache, first, &later, &err), &err);
    CHECK("as it is by now", later.attribution == whole.attribution);
    cache_release(place->cache, later);
    cache_release(place->cache, whole);
    cache_release(place->cache, alone);

    /* Damage that is seen after the trace was mapped: what is held stays, the next one is told. */
    put(place->cache, second);
    CHECK_OK("second", cache_acquire_trace(place->cache, second, &alone, &err), &err);
    cache_attribution_path(place->cache, second, path);
    overwrite(path, 20, "damage", 6);
    CHECK_INT("damaged", cache_acquire(place->cache, second, &whole, &(struct error){0}),
              ERR_NOT_FOUND);
    CHECK_INT("still readable", alone.trace->slice_count, 2);
    CHECK("removed", access(path, F_OK) != 0);
    CHECK_INT("not found again",
              cache_acquire_trace(place->cache, second, &whole, &(struct error){0}), ERR_NOT_FOUND);
    cache_release(place->cache, alone);
    put(place->cache, second);
    CHECK("made again", is_there(place->cache, second));
}

/* What cannot be opened this time is no attribution that was never made, and nothing is
 * forgotten. */
static void an_attribution_that_cannot_be_opened(void **state)
{
    struct place *place = *state;
    struct cached cached;
    struct error err = {0};
    char path[4096], aside[4200];

    put(place->cache, first);
    cache_attribution_path(place->cache, first, path);
    snprintf(aside, sizeof aside, "%s.aside", path);
    CHECK_INT("aside", rename(path, aside), 0);
    CHECK_INT("in its way", mkdir(path, 0700), 0);
    CHECK_INT("refused", cache_acquire(place->cache, first, &cached, &err), ERR_UNSUPPORTED);
    CHECK_HAS("with its reason", err.message, path);
    CHECK_INT("out of its way", rmdir(path), 0);
    CHECK_INT("back", rename(aside, path), 0);
    err = (struct error){0};
    CHECK_OK("opened", cache_acquire(place->cache, first, &cached, &err), &err);
    CHECK("attributed", cached.attribution != NULL);
    cache_release(place->cache, cached);
}

/* They are adopted together: a run whose attribution is gone would seem to have no ops. */
static void a_segment_without_its_attribution_is_none(void **state)
{
    struct place *place = *state;
    struct cached cached;
    char path[4096];

    put(place->cache, first);
    cache_attribution_path(place->cache, first, path);
    CHECK_INT("gone", unlink(path), 0);
    CHECK_INT("is none", cache_acquire(place->cache, first, &cached, &(struct error){0}),
              ERR_NOT_FOUND);
    CHECK("nor is the segment", !cache_has(place->cache, first));
    put(place->cache, first);
    CHECK_OK("made again", cache_acquire(place->cache, first, &cached, &(struct error){0}),
             &(struct error){0});
    CHECK("attributed", cached.attribution != NULL);
    cache_release(place->cache, cached);
}

static void names_that_are_no_content(void **state)
{
    struct place *place = *state;
    static const char bad[][33] = {"", "../../../../../../etc/passwd", "1111",
                                   "1111111111111111111111111111111G"};
    struct cached cached;

    for (size_t i = 0; i < COUNT(bad); i++) {
        CHECK_INT(bad[i], cache_acquire(place->cache, bad[i], &cached, &(struct error){0}),
                  ERR_NOT_FOUND);
        CHECK(bad[i], !cache_has(place->cache, bad[i]));
    }
}

static void damage_is_removed(void **state)
{
    struct place *place = *state;
    const struct {
        const char *what;
        bool attribution;
        long at;
        const char *bytes;
        bool cut;
    } rows[] = {
        {"a foreign head", false, 0, "PK\x03\x04zip?", false},
        {"a cut segment", false, 16, NULL, true},
        {"a damaged attribution", true, 0, "????????", false},
        {"a cut attribution", true, 8, NULL, true},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char path[4096], seg[4096];

        put(place->cache, first);
        if (rows[i].attribution)
            cache_attribution_path(place->cache, first, path);
        else
            cache_segment_path(place->cache, first, path);
        if (rows[i].cut)
            CHECK_INT(rows[i].what, truncate(path, rows[i].at), 0);
        else
            overwrite(path, rows[i].at, rows[i].bytes, 8);
        bool there = is_there(place->cache, first);
        cache_segment_path(place->cache, first, seg);
        CHECK_INT(rows[i].what, access(path, F_OK), -1);
        CHECK_INT(rows[i].what, there, false);
        CHECK_INT(rows[i].what, access(seg, F_OK), -1);
        cache_close(place->cache);
        open_cache(place, 1 << 30);
    }
}

static void a_segment_of_another_file(void **state)
{
    struct place *place = *state;
    char from[4096], to[4096];

    put(place->cache, first);
    put(place->cache, second);
    cache_segment_path(place->cache, first, from);
    cache_segment_path(place->cache, second, to);
    CHECK_INT("swap", rename(from, to), 0);
    CHECK("is not believed", !is_there(place->cache, second));
}

static void set_age(struct cache *cache, const char content[33], time_t seconds)
{
    char path[4096];
    struct timespec times[2] = {{.tv_sec = 1000000000 - seconds}, {.tv_sec = 1000000000 - seconds}};

    cache_segment_path(cache, content, path);
    CHECK_INT("age", utimensat(AT_FDCWD, path, times, 0), 0);
}

static void the_oldest_goes_first(void **state)
{
    struct place *place = *state;
    struct cached held;
    struct error err = {0};

    put(place->cache, first);
    put(place->cache, second);
    put(place->cache, third);
    uint64_t all = cache_bytes(place->cache);
    cache_close(place->cache);
    open_cache(place, all - 1);
    set_age(place->cache, first, 30);
    set_age(place->cache, second, 20);
    set_age(place->cache, third, 10);
    CHECK_OK("use the oldest", cache_acquire(place->cache, first, &held, &err), &err);
    cache_release(place->cache, held);
    cache_evict(place->cache);
    CHECK("used just now", cache_has(place->cache, first));
    CHECK("oldest", !cache_has(place->cache, second));
    CHECK("younger", cache_has(place->cache, third));
    CHECK("fewer bytes", cache_bytes(place->cache) < all);
}

static void what_is_held_or_newest_stays(void **state)
{
    struct place *place = *state;
    struct cached held;
    struct error err = {0};

    put(place->cache, first);
    put(place->cache, second);
    put(place->cache, third);
    cache_close(place->cache);
    open_cache(place, 1);
    CHECK_OK("hold", cache_acquire(place->cache, first, &held, &err), &err);
    set_age(place->cache, first, 30);
    set_age(place->cache, second, 20);
    set_age(place->cache, third, 10);
    cache_evict(place->cache);
    CHECK("held", cache_has(place->cache, first));
    CHECK("neither", !cache_has(place->cache, second));
    CHECK("newest", cache_has(place->cache, third));
    CHECK_INT("readable", held.trace->slice_count, 2);
    cache_release(place->cache, held);
}

static void one_that_another_evicts_stays_readable(void **state)
{
    struct place *place = *state;
    struct cached held;
    struct error err = {0};
    char path[4096];

    put(place->cache, first);
    CHECK_OK("hold", cache_acquire(place->cache, first, &held, &err), &err);
    cache_segment_path(place->cache, first, path);
    CHECK_INT("another process", unlink(path), 0);
    CHECK_INT("readable", trace_slice(held.trace, 1).dur_ps, 5);
    CHECK("has not", !cache_has(place->cache, first));
    put(place->cache, first);
    CHECK("made again", cache_has(place->cache, first));
    cache_release(place->cache, held);
}

static void a_deleted_directory_is_made_again(void **state)
{
    struct place *place = *state;
    char command[256];

    put(place->cache, first);
    snprintf(command, sizeof command, "rm -rf '%s'", place->dir);
    CHECK_INT("rm", system(command), 0);
    CHECK("gone", !cache_has(place->cache, first));
    put(place->cache, second);
    CHECK("goes on", is_there(place->cache, second));
}

static void a_place_that_cannot_be_written(void **state)
{
    struct place *place = *state;
    char private_dir[4096];
    struct arena *arena = place->arena;
    struct error err = {0};
    struct cache *cache;
    struct str reason;

    CHECK_OK("fallback", cache_open("/proc/nonexistent/cache", 1, arena, &cache, &reason, &err),
             &err);
    CHECK_HAS("says so", str_c(arena, reason), "/proc/nonexistent");
    CHECK_HAS("and where", str_c(arena, reason), cache_dir(cache));
    snprintf(private_dir, sizeof private_dir, "%s", cache_dir(cache));
    put(cache, first);
    CHECK("works", is_there(cache, first));
    cache_close(cache);
    CHECK_INT("goes with us", access(private_dir, F_OK), -1);
}

static void leftovers_go(void **state)
{
    struct place *place = *state;
    char ours[4096], theirs[4200], file[4300];
    struct error err = {0};

    CHECK_OK("ours", cache_temporary_dir(place->cache, ours, &err), &err);
    snprintf(theirs, sizeof theirs, "%s/tmp/4711-abcdef", place->dir);
    CHECK_INT("left by a dead process", mkdir(theirs, 0700), 0);
    snprintf(file, sizeof file, "%s/1.seg.0011223344556677.tmp", theirs);
    close(open(file, O_CREAT | O_WRONLY, 0600));

    struct place other = *place;
    open_cache(&other, 1 << 30);
    CHECK_INT("theirs is gone", access(theirs, F_OK), -1);
    CHECK_INT("ours is not", access(ours, F_OK), 0);
    cache_close(other.cache);
    CHECK_INT("ours still is not", access(ours, F_OK), 0);
}

enum { ROUNDS = 200 };

static void *churn(void *data)
{
    struct cache *cache = data;
    static const char *const contents[] = {first, second, third};

    for (int i = 0; i < ROUNDS; i++) {
        const char *content = contents[i % 3];
        struct cached cached;
        struct error err = {0};

        if (cache_acquire(cache, content, &cached, &err) == OK) {
            if (cached.trace->slice_count != 2 || trace_slice(cached.trace, 1).dur_ps != 5)
                return (void *)"a trace is not what it was";
            cache_release(cache, cached);
        } else if (err.code != ERR_NOT_FOUND) {
            return (void *)"acquire failed";
        } else {
            put(cache, content);
        }
        if (i % 7 == 0)
            cache_evict(cache);
    }
    return NULL;
}

/* Two processes with two threads each make, use and evict the same contents. */
static void several_on_one_cache(void **state)
{
    struct place *place = *state;
    pid_t child = fork();
    pthread_t thread;
    void *ours, *theirs;
    int ended;
    struct place own = *place;

    open_cache(&own, 3000);
    assert_int_equal(pthread_create(&thread, NULL, churn, own.cache), 0);
    ours = churn(own.cache);
    pthread_join(thread, &theirs);
    cache_close(own.cache);
    if (child == 0)
        _exit(ours == NULL && theirs == NULL ? 0 : 1);
    CHECK_INT("the other process", waitpid(child, &ended, 0), child);
    CHECK_INT("ended well", ended, 0);
    CHECK("this one", ours == NULL && theirs == NULL);
}

int main(void)
{
#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, leave_place)
    const struct CMUnitTest tests[] = {
        IN_PLACE(shares_one_mapping),
        IN_PLACE(attributions_open_when_asked_for),
        IN_PLACE(an_attribution_that_cannot_be_opened),
        IN_PLACE(a_segment_without_its_attribution_is_none),
        IN_PLACE(names_that_are_no_content),
        IN_PLACE(damage_is_removed),
        IN_PLACE(a_segment_of_another_file),
        IN_PLACE(the_oldest_goes_first),
        IN_PLACE(what_is_held_or_newest_stays),
        IN_PLACE(one_that_another_evicts_stays_readable),
        IN_PLACE(a_deleted_directory_is_made_again),
        IN_PLACE(a_place_that_cannot_be_written),
        IN_PLACE(leftovers_go),
        IN_PLACE(several_on_one_cache),
    };

    return cmocka_run_group_tests_name("store/cache", tests, NULL, NULL);
}
