/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over real directories: what is found, what is passed, what cannot harm. */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "discover/scan.h"

static char top[64];
static struct arena *arena;

static void put(const char *path)
{
    struct str whole = str_format(arena, "%s/%s", top, path);

    for (char *at = (char *)(uintptr_t)whole.at + strlen(top) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(whole.at, 0755);
        *at = '/';
    }
    FILE *file = fopen(whole.at, "w");

    assert_non_null(file);
    fputs("x", file);
    fclose(file);
}

static const char *at(const char *path)
{
    return str_format(arena, "%s/%s", top, path).at;
}

static int setup(void **state)
{
    (void)state;
    arena = arena_create();
    snprintf(top, sizeof top, "/tmp/test_walk_XXXXXX");
    return mkdtemp(top) == NULL;
}

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *where)
{
    (void)stat, (void)type, (void)where;
    return remove(path);
}

static int teardown(void **state)
{
    (void)state;
    arena_destroy(arena);
    return nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static struct scan walk(const char *what, const char *root, struct scan_options options)
{
    struct scan scan;
    struct error err = {0};

    CHECK_OK(what, scan_walk(root, &options, arena, &scan, &err), &err);
    return scan;
}

static void names(void **state)
{
    (void)state;
    put("step_1/plugins/profile/S/vm.xplane.pb");
    put("step_1/plugins/profile/S/SSTABLE");
    put("step_1/plugins/profile/S/.vm.xplane.pb.tmp");
    put("a.trace.json.gz");
    put("notes.txt");
    put(".git/x.trace.json");
    put("node_modules/m/x.json");
    struct scan scan = walk("walk", top, (struct scan_options){0});

    CHECK_INT("files", scan.file_count, 3);
    CHECK_STR("first", scan.files[0].path, "a.trace.json.gz");
    CHECK_STR("a session is listed whole", scan.files[1].path, "step_1/plugins/profile/S/SSTABLE");
    CHECK_STR("last", scan.files[2].path, "step_1/plugins/profile/S/vm.xplane.pb");
    CHECK_INT("size", scan.files[2].bytes, 1);
    CHECK_INT("directories", scan.directories, 5);
    CHECK_INT("passed", scan.passed, 2);
    CHECK_INT("notes", scan.note_count, 0);
}

/* Directories are opened from the one they lie in, so one too many or too few shows here. */
static void neighbours(void **state)
{
    (void)state;
    static const char *const files[] = {"a/b/c/d.trace.json",  "a/b/e.trace.json",
                                        "a/b2/c/f.trace.json", "a/g.trace.json",
                                        "h/b/c/i.trace.json",  "j.trace.json"};

    for (size_t i = 0; i < COUNT(files); i++)
        put(files[i]);
    put("outside/b/c/k.trace.json");
    put("outside/b/l.trace.json");
    assert_int_equal(symlink("../../outside/b", at("a/b/n")), 0);
    struct scan scan = walk("as they lie", at("a"), (struct scan_options){0});

    CHECK_INT("below one of them", scan.file_count, 4);
    scan = walk("from above", top, (struct scan_options){0});
    CHECK_INT("all", scan.file_count, COUNT(files) + 2);
    for (uint32_t i = 0; i < COUNT(files); i++)
        CHECK_STR(files[i], scan.files[i].path, files[i]);
    CHECK_INT("each directory", scan.directories, 12);
    scan = walk("by a link deep below", at("a"), (struct scan_options){.follow_symlinks = true});
    CHECK_INT("and what is linked", scan.file_count, 6);
    CHECK_STR("below the link", scan.files[2].path, "b/n/c/k.trace.json");
}

/* Where nothing says a word of a run, nobody looks for it again. */
static void sayings(void **state)
{
    (void)state;
    put("r/a/plugins/profile/S/vm.xplane.pb");
    put("r/a/jview.json.txt");
    CHECK("nobody says a word", !walk("none", at("r"), (struct scan_options){0}).may_say);
    put("r/a/jview.json");
    CHECK("beside plugins", walk("one", at("r"), (struct scan_options){0}).may_say);
    CHECK("not scanned", walk("few", at("r"), (struct scan_options){.entries_max = 1}).may_say);
    unlink(at("r/a/jview.json"));
    put("r/a/plugins/profile/S/jview.json");
    CHECK("in the session", walk("one", at("r"), (struct scan_options){0}).may_say);
}

static void one_file(void **state)
{
    (void)state;
    put("d/vm.xplane.pb");
    put("d/other.xplane.pb");
    struct scan scan = walk("one file", at("d/vm.xplane.pb"), (struct scan_options){0});

    CHECK_INT("files", scan.file_count, 1);
    CHECK_STR("its name", scan.files[0].path, "vm.xplane.pb");
    CHECK("its directory is the root", str_ends(scan.root, STR("/d")));
}

static void links_and_odd_files(void **state)
{
    (void)state;
    put("r/real/a.trace.json");
    put("outside/b.trace.json");
    assert_int_equal(symlink("..", at("r/real/loop")), 0);
    assert_int_equal(symlink("real", at("r/again")), 0);
    assert_int_equal(symlink("real/a.trace.json", at("r/link.trace.json")), 0);
    assert_int_equal(symlink("../outside", at("r/away")), 0);
    assert_int_equal(symlink("../outside", at("r/away_again")), 0);
    assert_int_equal(symlink("broken symbolic link", at("r/dead.trace.json")), 0);
    assert_int_equal(symlink("me@vm.17", at("r/real/.#notes.txt")), 0); /* an editor's lock */
    put("outside/scalars/events.out.tfevents.1.vm");
    assert_int_equal(symlink("../../r", at("outside/scalars/back")), 0);
    assert_int_equal(mkfifo(at("r/pipe.trace.json"), 0600), 0);

    struct scan scan = walk("not followed", at("r"), (struct scan_options){0});

    CHECK_INT("links are left alone", scan.file_count, 1);
    CHECK_STR("the real one", scan.files[0].path, "real/a.trace.json");
    CHECK_INT("and counted", scan.links_left, 6);
    CHECK("one of them is told", scan.first_link.count > 0);

    assert_int_equal(symlink("broken symbolic link", at("r/current")), 0);
    scan = walk("followed", at("r"), (struct scan_options){.follow_symlinks = true});
    CHECK_INT("each directory once, by its own name or its first", scan.directories, 4);
    CHECK_INT("a file, a link to it, and one outside", scan.file_count, 3);
    CHECK_STR("outside", scan.files[0].path, "away/b.trace.json");
    CHECK_STR("the link to a file", scan.files[1].path, "link.trace.json");
    CHECK_STR("the real one", scan.files[2].path, "real/a.trace.json");
    CHECK("one file by two names", scan.files[1].inode == scan.files[2].inode);
    CHECK_INT("TensorBoard's", scan.event_files, 1);
    CHECK_INT("none is left", scan.links_left, 0);
    CHECK_INT("notes", scan.note_count, 2);
    for (uint32_t i = 0; i < scan.note_count; i++)
        CHECK_HAS("why not", scan.notes[i].reason.at,
                  str_ends(scan.notes[i].path, STR("pipe.trace.json")) ? "a pipe"
                                                                       : "broken symbolic link");
}

static void limits(void **state)
{
    (void)state;
    put("1/2/3/deep.trace.json");
    put("1/flat.trace.json");
    struct scan scan = walk("shallow", top, (struct scan_options){.depth_max = 2});

    CHECK_INT("above the depth", scan.file_count, 1);
    CHECK_INT("the depth is noted", scan.note_count, 1);
    CHECK_HAS("the depth", scan.notes[0].reason.at, "too deep");

    for (int i = 0; i < 50; i++)
        put(str_format(arena, "many/%d.trace.json", i).at);
    scan = walk("few entries", top, (struct scan_options){.entries_max = 10});
    CHECK("ends", scan.file_count <= 10);
    CHECK_HAS("the number", scan.notes[0].reason.at, "too many");
}

static void refusals(void **state)
{
    (void)state;
    struct scan scan;
    struct error err = {0};
    struct scan_options options = {0};

    CHECK_INT("missing", scan_walk(at("missing"), &options, arena, &scan, &err), ERR_NOT_FOUND);
    err = (struct error){0};
    CHECK_INT("a device", scan_walk("/dev/null", &options, arena, &scan, &err), ERR_INVALID);

    put("shut/a.trace.json");
    assert_int_equal(chmod(at("shut"), 0), 0);
    if (geteuid() == 0) /* root reads everything */
        return;
    scan = walk("unreadable", top, options);
    CHECK_INT("noted", scan.note_count, 1);
    CHECK_STR("where", scan.notes[0].path, "shut");
    chmod(at("shut"), 0755);
}

static void real_directories(void **state)
{
    (void)state;
    const char *corpus = getenv("JVIEW_CORPUS");

    if (corpus == NULL) {
        print_message("JVIEW_CORPUS is not set: no real directories\n");
        return;
    }
    struct scan scan = walk("corpus", corpus, (struct scan_options){0});
    struct scan_run *runs;
    uint32_t run_count, certain = 0;

    scan_group(scan.root, scan.files, scan.file_count, arena, &runs, &run_count);
    for (uint32_t i = 0; i < run_count; i++)
        certain += runs[i].certain;
    print_message("%u runs, %u certain, of %u files\n", run_count, certain, scan.file_count);
    CHECK("runs", run_count > 40 && certain > 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names, setup, teardown),
        cmocka_unit_test_setup_teardown(neighbours, setup, teardown),
        cmocka_unit_test_setup_teardown(sayings, setup, teardown),
        cmocka_unit_test_setup_teardown(one_file, setup, teardown),
        cmocka_unit_test_setup_teardown(links_and_odd_files, setup, teardown),
        cmocka_unit_test_setup_teardown(limits, setup, teardown),
        cmocka_unit_test_setup_teardown(refusals, setup, teardown),
        cmocka_unit_test_setup_teardown(real_directories, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
