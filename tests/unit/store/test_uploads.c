/* SPDX-License-Identifier: Apache-2.0 */
/* Files that came from a browser: their names, their limits, and that none is seen half. */
#include "store/uploads.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static void names(void **state)
{
    (void)state;
    const struct {
        const char *what;
        struct str given;
        const char *file, *run;
    } rows[] = {
        {"plain", STR("host.xplane.pb"), "host.xplane.pb", "host"},
        {"packed", STR("step_7.trace.json.gz"), "step_7.trace.json.gz", "step_7"},
        {"no suffix", STR("profile_7"), "profile_7", "profile_7"},
        {"a dot that ends nothing", STR("v1.2.pb"), "v1.2.pb", "v1.2"},
        {"only a suffix", STR("pb"), "pb", "pb"},
        {"a path", STR("/home/me/a.pb"), "a.pb", "a"},
        {"a way up", STR("../../etc/passwd"), "passwd", "passwd"},
        {"a way up and nothing", STR("../.."), "profile", "profile"},
        {"backslashes", STR("C:\\temp\\a.pb"), "a.pb", "a"},
        {"hidden", STR("...hidden.pb"), "hidden.pb", "hidden"},
        {"empty", STR(""), "profile", "profile"},
        {"a slash at its end", STR("a/"), "profile", "profile"},
        {"control characters", STR("a\x01\n\x7f.pb"), "a___.pb", "a___"},
        {"a NUL", STR("a\0b.pb"), "a_b.pb", "a_b"},
        {"markup", STR("<b>\"&.pb"), "<b>\"&.pb", "<b>\"&"},
        {"no UTF-8", STR("a\xff.pb"), "a\xef\xbf\xbd.pb", "a\xef\xbf\xbd"},
        {"the name of a session's folder", STR("plugins.pb"), "plugins.pb", "plugins_"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char file[UPLOAD_NAME_SIZE], run[UPLOAD_NAME_SIZE];

        upload_names(rows[i].given, file, run);
        CHECK_STR(rows[i].what, str_of(file), rows[i].file);
        CHECK_STR(rows[i].what, str_of(run), rows[i].run);
    }
}

static void long_names(void **state)
{
    (void)state;
    char given[400], file[UPLOAD_NAME_SIZE], run[UPLOAD_NAME_SIZE];

    for (size_t i = 0; i < sizeof given - 2; i += 2)
        memcpy(given + i, "\xc3\xa4", 2);
    memcpy(given + 390, "x.xplane.pb", 10);
    upload_names((struct str){.at = given, .count = 400}, file, run);
    CHECK("cut", strlen(file) <= 120);
    CHECK("not within a letter", ((unsigned char)file[0] & 0xc0) != 0x80);
    CHECK("the end stays",
          str_ends(str_of(file), STR("x.xplane.p")) || str_ends(str_of(file), STR(".xplane.pb")));
}

struct place {
    char dir[64];
    struct arena *arena;
    struct cache *cache;
    struct uploads *uploads;
};

static void open_uploads(struct place *place, uint64_t file_bytes_max, uint64_t all_bytes_max)
{
    const struct uploads_limits limits = {.file_bytes_max = file_bytes_max,
                                          .all_bytes_max = all_bytes_max};
    struct error err = {0};

    uploads_close(place->uploads);
    CHECK_OK("open", uploads_open(place->cache, limits, place->arena, &place->uploads, &err), &err);
}

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    struct error err = {0};
    struct str reason;

    snprintf(place->dir, sizeof place->dir, "/tmp/jview-uploads-XXXXXX");
    assert_non_null(mkdtemp(place->dir));
    place->arena = arena_create();
    CHECK_OK("cache", cache_open(place->dir, 1 << 30, place->arena, &place->cache, &reason, &err),
             &err);
    open_uploads(place, 1000, 2500);
    *state = place;
    return 0;
}

static int leave_place(void **state)
{
    struct place *place = *state;

    uploads_close(place->uploads);
    cache_close(place->cache);
    arena_destroy(place->arena);
    cache_remove_dir(place->dir);
    free(place);
    return 0;
}

static enum status bring(struct place *place, const char *name, size_t count, int64_t announced,
                         char ret_dir[4096], struct error *err)
{
    struct upload upload;
    uint8_t bytes[4096] = {1, 2, 3};

    TRY(upload_begin(place->uploads, str_of(name), announced, &upload, err));
    enum status status = upload_put(&upload, (struct bytes){.at = bytes, .count = count}, err);
    if (status == OK)
        status = upload_finish(&upload, INT64_C(1600000000000000000), ret_dir, err);
    upload_abandon(&upload);
    return status;
}

static int entries_below(const struct place *place, const char *below)
{
    char path[4096];
    int count = 0;

    snprintf(path, sizeof path, "%s/%s", place->dir, below);
    DIR *names = opendir(path);
    for (struct dirent *one; names != NULL && (one = readdir(names)) != NULL;)
        count += one->d_name[0] != '.';
    if (names != NULL)
        closedir(names);
    return count;
}

static void appears_whole(void **state)
{
    struct place *place = *state;
    struct upload upload;
    struct error err = {0};
    char dir[4096], path[8192];
    struct stat seen;

    CHECK_OK("begin", upload_begin(place->uploads, STR("a.pb"), -1, &upload, &err), &err);
    CHECK_OK("put", upload_put(&upload, BYTES("first"), &err), &err);
    CHECK_OK("put", upload_put(&upload, BYTES(" second"), &err), &err);
    CHECK_INT("nothing is seen", entries_below(place, "uploads"), 0);
    CHECK_OK("finish", upload_finish(&upload, INT64_C(1600000000000000000), dir, &err), &err);
    upload_abandon(&upload);
    CHECK_STR("where", str_of(dir), "a/plugins/profile/upload");
    snprintf(path, sizeof path, "%s/%s/a.pb", uploads_dir(place->uploads), dir);
    CHECK_INT("there", stat(path, &seen), 0);
    CHECK_INT("whole", seen.st_size, 12);
    CHECK_INT("as old as was told", seen.st_mtime, 1600000000);
    CHECK_INT("ours alone", seen.st_mode & 0777, 0600);
    CHECK_INT("counted", uploads_bytes(place->uploads), 12);
    open_uploads(place, 1000, 2500);
    CHECK_INT("counted by who comes later", uploads_bytes(place->uploads), 12);
}

static void given_up(void **state)
{
    struct place *place = *state;
    struct upload upload;
    struct error err = {0};

    CHECK_OK("begin", upload_begin(place->uploads, STR("a.pb"), 500, &upload, &err), &err);
    CHECK_OK("put", upload_put(&upload, BYTES("first"), &err), &err);
    upload_abandon(&upload);
    CHECK_INT("nothing is seen", entries_below(place, "uploads"), 0);
    CHECK_INT("nothing counts", uploads_bytes(place->uploads), 0);
    CHECK("nothing is left", access(upload.job, F_OK) != 0);
}

static void limits(void **state)
{
    struct place *place = *state;
    const struct {
        const char *what;
        size_t count;
        int64_t announced;
        enum status status;
        const char *message;
    } rows[] = {
        {"announced too large", 1, 1001, ERR_LIMIT, "--upload-max"},
        {"too large, unannounced", 1001, -1, ERR_LIMIT, "--upload-max"},
        {"larger than announced", 1001, 10, ERR_LIMIT, "--upload-max"},
        {"the largest", 1000, 1000, OK, ""},
        {"as large again", 1000, -1, OK, ""},
        {"over the quota, announced", 1, 501, ERR_IO, "--upload-quota"},
        {"over the quota, unannounced", 501, -1, ERR_IO, "--upload-quota"},
        {"up to the quota", 500, 500, OK, ""},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error err = {0};
        char dir[4096];

        CHECK_INT(rows[i].what, bring(place, "a.pb", rows[i].count, rows[i].announced, dir, &err),
                  rows[i].status);
        if (rows[i].status != OK)
            CHECK_HAS(rows[i].what, err.message, rows[i].message);
    }
    CHECK_INT("what was refused does not count", uploads_bytes(place->uploads), 2500);
    CHECK_INT("a, a-2, a-3", entries_below(place, "uploads"), 3);
}

/* A file system that has no room says so in the middle of a write. */
static void disk_full(void **state)
{
    struct place *place = *state;
    struct rlimit before, little = {.rlim_cur = 100};
    struct error err = {0};
    char dir[4096];

    signal(SIGXFSZ, SIG_IGN);
    CHECK_INT("limit", getrlimit(RLIMIT_FSIZE, &before), 0);
    little.rlim_max = before.rlim_max;
    CHECK_INT("limit", setrlimit(RLIMIT_FSIZE, &little), 0);
    enum status status = bring(place, "a.pb", 500, 500, dir, &err);
    CHECK_INT("limit", setrlimit(RLIMIT_FSIZE, &before), 0);
    CHECK_INT("refused", status, ERR_IO);
    CHECK_INT("nothing is seen", entries_below(place, "uploads"), 0);
    CHECK_INT("nothing counts", uploads_bytes(place->uploads), 0);
    err = (struct error){0};
    CHECK_OK("room again", bring(place, "a.pb", 500, 500, dir, &err), &err);
}

static void removing(void **state)
{
    struct place *place = *state;
    struct error err = {0};
    char dir[4096], secret[128];
    const char *const others[] = {"", "..", "../secret", ".", "nothing", "b/plugins"};

    snprintf(secret, sizeof secret, "%s/secret", place->dir);
    CHECK_INT("secret", mkdir(secret, 0700), 0);
    CHECK_OK("bring", bring(place, "a.pb", 500, 500, dir, &err), &err);
    for (size_t i = 0; i < COUNT(others); i++) {
        struct error why = {0};

        CHECK_INT(others[i], uploads_remove(place->uploads, str_of(others[i]), &why),
                  ERR_NOT_FOUND);
    }
    CHECK_INT("nothing else is gone", access(secret, F_OK), 0);
    CHECK_OK("remove", uploads_remove(place->uploads, str_of(dir), &err), &err);
    CHECK_INT("gone", entries_below(place, "uploads"), 0);
    CHECK_INT("nothing counts", uploads_bytes(place->uploads), 0);
}

static void places(void **state)
{
    (void)state;
    static const char deep[] = "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/file";
    char wide[1100];
    const struct {
        const char *what;
        struct str folder, path;
        const char *place; /* NULL: refused */
    } rows[] = {
        {"at the top", STR("step_7"), STR("a.pb"), "step_7/plugins/profile/upload"},
        {"a session", STR("s"), STR("plugins/profile/1/a.pb"), "s/plugins/profile/1"},
        {"nothing between", STR("s"), STR("x//./y/a.pb"), "s/x/y"},
        {"a slash in front", STR("s"), STR("/x/a.pb"), "s/x"},
        {"backslashes", STR("s"), STR("x\\y\\a.pb"), "s/x/y"},
        {"hidden", STR(".s"), STR(".x/a.pb"), "s/x"},
        {"control characters", STR("s\n"), STR("x\x01/a.pb"), "s_/x_"},
        {"a path for a folder", STR("/etc/s"), STR("x/a.pb"), "s/x"},
        {"a way up for a folder", STR(".."), STR("x/a.pb"), "profile/x"},
        {"a session's folder", STR("plugins"), STR("x/a.pb"), "plugins_/x"},
        {"a way up", STR("s"), STR("../a.pb"), NULL},
        {"a way up inside", STR("s"), STR("x/../../a.pb"), NULL},
        {"a way up by backslashes", STR("s"), STR("x\\..\\a.pb"), NULL},
        {"too deep", STR("s"), STR(deep), NULL},
        {"too long", STR("s"), {.at = wide, .count = sizeof wide}, NULL},
    };

    memset(wide, 'w', sizeof wide);
    for (size_t at = 99; at < sizeof wide; at += 100)
        wide[at] = '/';
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct upload upload = {.fd = -1};
        struct error err = {0};
        enum status status = upload_place(&upload, rows[i].folder, rows[i].path, &err);

        CHECK_INT(rows[i].what, status, rows[i].place == NULL ? ERR_INVALID : OK);
        if (rows[i].place != NULL)
            CHECK_STR(rows[i].what, str_of(upload.place), rows[i].place);
    }
}

static enum status bring_placed(struct place *place, const char *name, const char *path,
                                char ret_dir[4096], struct error *err)
{
    struct upload upload;

    TRY(upload_begin(place->uploads, str_of(name), -1, &upload, err));
    enum status status = upload_place(&upload, STR("step_7"), str_of(path), err);
    if (status == OK)
        status = upload_put(&upload, BYTES("bytes"), err);
    if (status == OK)
        status = upload_finish(&upload, INT64_C(1600000000000000000), ret_dir, err);
    upload_abandon(&upload);
    return status;
}

static void a_folder(void **state)
{
    struct place *place = *state;
    struct error err = {0}, why = {0};
    char dir[4096];

    CHECK_OK("one", bring_placed(place, "a.pb", "plugins/profile/1/a.pb", dir, &err), &err);
    CHECK_STR("where", str_of(dir), "step_7/plugins/profile/1");
    CHECK_OK("beside it", bring_placed(place, "b.pb", "plugins/profile/1/b.pb", dir, &err), &err);
    CHECK_INT("both", entries_below(place, "uploads/step_7/plugins/profile/1"), 2);
    CHECK_INT("again", bring_placed(place, "b.pb", "plugins/profile/1/b.pb", dir, &why),
              ERR_CONFLICT);
    CHECK_INT("counted", uploads_bytes(place->uploads), 10);
    open_uploads(place, 1000, 2500);
    CHECK_INT("counted by who comes later", uploads_bytes(place->uploads), 10);
    CHECK_OK("remove", uploads_remove(place->uploads, str_of(dir), &err), &err);
    CHECK_INT("all of it", entries_below(place, "uploads"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(long_names),
        cmocka_unit_test(places),
        cmocka_unit_test_setup_teardown(a_folder, make_place, leave_place),
        cmocka_unit_test_setup_teardown(appears_whole, make_place, leave_place),
        cmocka_unit_test_setup_teardown(given_up, make_place, leave_place),
        cmocka_unit_test_setup_teardown(limits, make_place, leave_place),
        cmocka_unit_test_setup_teardown(disk_full, make_place, leave_place),
        cmocka_unit_test_setup_teardown(removing, make_place, leave_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
