/* SPDX-License-Identifier: Apache-2.0 */
/* Changes in a real directory, and what is told of them. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "discover/watch.h"

static char top[64];

static const char *at(const char *path)
{
    static char whole[2][256]; /* both are good at a time: for rename */
    static unsigned turn;
    char *next = whole[turn++ % 2];

    snprintf(next, sizeof whole[0], "%s/%s", top, path);
    return next;
}

static void put(const char *path)
{
    FILE *file = fopen(at(path), "a");

    assert_non_null(file);
    fputs("x", file);
    fclose(file);
}

static void make(const char *path)
{
    assert_int_equal(mkdir(at(path), 0755), 0);
}

static int setup(void **state)
{
    (void)state;
    snprintf(top, sizeof top, "/tmp/test_watch_XXXXXX");
    return mkdtemp(top) == NULL;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];

    snprintf(command, sizeof command, "rm -rf '%s'", top);
    return system(command);
}

static struct watch *open_watch(const char *root, struct watch_options options)
{
    struct watch *watch;
    struct error err = {0};

    if (options.quiet_ms == 0)
        options.quiet_ms = 30;
    CHECK_OK("open", watch_open(root, &options, &watch, &err), &err);
    return watch;
}

static void expect(const char *what, struct watch *watch, enum watch_news news, const char *dir)
{
    struct text told = {0};
    int timeout_ms = news == WATCH_NOTHING ? 150 : 5000;

    CHECK_INT(what, watch_wait(watch, timeout_ms, &told), news);
    if (dir != NULL)
        CHECK_STR(what, text_str(&told), dir);
    text_free(&told);
}

static void kernel_tells(void **state)
{
    (void)state;
    make("a");
    make("a/b");
    assert_int_equal(symlink(top, at("link")), 0); /* a root may be reached by a link */
    struct watch *watch = open_watch(at("link"), (struct watch_options){0});

    if (watch_poll_reason(watch) != NULL) {
        print_message("no inotify here: %s\n", watch_poll_reason(watch));
        watch_close(watch);
        return;
    }
    expect("quiet", watch, WATCH_NOTHING, NULL);
    put("a/b/x.trace.json");
    expect("a file", watch, WATCH_CHANGED, "a/b");
    expect("told once", watch, WATCH_NOTHING, NULL);
    put("a/train.log");
    put("a/b/.hidden.json");
    make("a/.cache");
    expect("a log is no news, nor a hidden directory", watch, WATCH_NOTHING, NULL);
    put("a/b/x.trace.json");
    put("a/y.trace.json");
    expect("two: their common directory", watch, WATCH_CHANGED, "a");
    make("c");
    expect("a new directory", watch, WATCH_CHANGED, "");
    make("c/plugins");
    expect("below it", watch, WATCH_CHANGED, "c");
    make("c/plugins/profile");
    make("c/plugins/profile/S");
    expect("deeper", watch, WATCH_CHANGED, NULL);
    put("c/plugins/profile/S/SSTABLE");
    expect("anything in a session", watch, WATCH_CHANGED, "c/plugins/profile/S");
    assert_int_equal(rename(at("c"), at("d")), 0);
    expect("a directory renamed", watch, WATCH_CHANGED, "");
    put("d/plugins/profile/S/vm.xplane.pb");
    expect("is watched under its new name", watch, WATCH_CHANGED, "d/plugins/profile/S");
    assert_int_equal(unlink(at("a/y.trace.json")), 0);
    expect("removed", watch, WATCH_CHANGED, "a");
    watch_close(watch);
}

static void linked_directories(void **state)
{
    (void)state;
    make("root");
    make("out");
    make("out/S");
    struct watch *watch = open_watch(at("root"), (struct watch_options){.follow_symlinks = true});

    if (watch_poll_reason(watch) != NULL) {
        watch_close(watch);
        return;
    }
    assert_int_equal(symlink(at("out"), at("root/link")), 0);
    expect("a link to a directory", watch, WATCH_CHANGED, "");
    put("out/S/x.trace.json");
    expect("behind it", watch, WATCH_CHANGED, "link/S");
    assert_int_equal(symlink("/nonexistent", at("root/dead")), 0);
    expect("one that leads nowhere", watch, WATCH_NOTHING, NULL);
    assert_int_equal(unlink(at("root/link")), 0);
    expect("it is gone", watch, WATCH_CHANGED, "");
    put("out/S/x.trace.json");
    expect("and what is behind it is no news", watch, WATCH_NOTHING, NULL);
    watch_close(watch);
}

/* What happens to a file behind a link is told where that file lies. */
static void linked_files(void **state)
{
    (void)state;
    make("root");
    make("out");
    put("out/x.trace.json");
    assert_int_equal(symlink(at("out/x.trace.json"), at("root/notes.txt")), 0);
    struct watch_options options = {.follow_symlinks = true, .poll_ms = 40};
    struct watch *watch = open_watch(at("root"), options);

    if (watch_poll_reason(watch) != NULL) {
        CHECK("a name that promises nothing", strstr(watch_poll_reason(watch), "link") == NULL);
        watch_close(watch);
        return;
    }
    assert_int_equal(symlink(at("out/x.trace.json"), at("root/x.trace.json")), 0);
    expect("one came", watch, WATCH_CHANGED, "");
    CHECK_HAS("and is looked at by time", watch_poll_reason(watch), "leads to a file");
    put("out/x.trace.json");
    expect("what it leads to grew", watch, WATCH_POLL, "");
    watch_close(watch);
    watch = open_watch(at("root"), options);
    CHECK_HAS("one that was there", watch_poll_reason(watch), "leads to a file");
    watch_close(watch);
    watch = open_watch(at("root"), (struct watch_options){0});
    CHECK("not followed", watch_poll_reason(watch) == NULL);
    watch_close(watch);
}

static void time_tells(void **state)
{
    (void)state;
    make("a");
    struct watch *watch = open_watch(top, (struct watch_options){.poll_only = true, .poll_ms = 40});

    CHECK("says why", watch_poll_reason(watch) != NULL);
    expect("a turn", watch, WATCH_POLL, "");
    expect("another", watch, WATCH_POLL, "");
    watch_close(watch);

    make("b");
    make("c");
    watch = open_watch(top, (struct watch_options){.watches_max = 2, .poll_ms = 40});
    CHECK("too many directories", watch_poll_reason(watch) != NULL);
    expect("polled", watch, WATCH_POLL, "");
    watch_close(watch);
}

static void root_comes_later(void **state)
{
    (void)state;
    char root[128];

    snprintf(root, sizeof root, "%s", at("later"));
    struct watch *watch = open_watch(root, (struct watch_options){.poll_ms = 40});

    CHECK_HAS("missing", watch_poll_reason(watch), "does not exist");
    make("later");
    expect("looked for", watch, WATCH_POLL, "");
    if (watch_poll_reason(watch) == NULL) {
        put("later/x.trace.json");
        expect("from then on watched", watch, WATCH_CHANGED, "");
        assert_int_equal(unlink(at("later/x.trace.json")), 0);
        assert_int_equal(rmdir(root), 0);
        expect("gone", watch, WATCH_CHANGED, "");
        CHECK("polls again", watch_poll_reason(watch) != NULL);
    }
    watch_close(watch);
}

static void woken(void **state)
{
    (void)state;
    struct watch *watch = open_watch(top, (struct watch_options){0});
    struct text told = {0};

    watch_wake(watch);
    CHECK_INT("a call ends the wait", watch_wait(watch, -1, &told), WATCH_NOTHING);
    text_free(&told);
    watch_close(watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(kernel_tells, setup, teardown),
        cmocka_unit_test_setup_teardown(linked_directories, setup, teardown),
        cmocka_unit_test_setup_teardown(linked_files, setup, teardown),
        cmocka_unit_test_setup_teardown(time_tells, setup, teardown),
        cmocka_unit_test_setup_teardown(root_comes_later, setup, teardown),
        cmocka_unit_test_setup_teardown(woken, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
