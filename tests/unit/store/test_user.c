/* SPDX-License-Identifier: Apache-2.0 */
/* The user database: what is kept, who may write, and that no file is ever harmed. */
#include "store/user.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "check.h"

struct place {
    char dir[64], file[96];
    struct arena *arena;
    struct user *user;
};

static void reopen(struct place *place)
{
    user_close(place->user);
    user_open(place->dir, &place->user);
}

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof *place);

    snprintf(place->dir, sizeof place->dir, "/tmp/jview-user-XXXXXX");
    assert_non_null(mkdtemp(place->dir));
    snprintf(place->file, sizeof place->file, "%s/user.db", place->dir);
    place->arena = arena_create();
    reopen(place);
    *state = place;
    return 0;
}

static int leave_place(void **state)
{
    struct place *place = *state;
    char command[160];

    user_close(place->user);
    snprintf(command, sizeof command, "chmod -R u+rwX '%s'; rm -rf '%s'", place->dir, place->dir);
    int ret = system(command);
    arena_destroy(place->arena);
    free(place);
    return ret;
}

static enum status set_baseline(struct place *place, const char *name, const char *content,
                                struct error *err)
{
    const struct user_baseline baseline = {str_of(name), str_of(content), STR("step_500"), 7};

    return user_set_baseline(place->user, &baseline, err);
}

static void must_set(struct place *place, const char *name, const char *content)
{
    struct error err = {0};

    CHECK_OK(name, set_baseline(place, name, content, &err), &err);
}

/* "main=c1 nightly=c2 " */
static void check_baselines(const char *what, struct place *place, const char *want)
{
    struct user_baseline *rows;
    struct error err = {0};
    struct text got = {0};
    uint32_t count;

    CHECK_OK(what, user_baselines(place->user, place->arena, &rows, &count, &err), &err);
    for (uint32_t i = 0; i < count; i++)
        text_putf(&got, "%.*s=%.*s ", STR_ARG(rows[i].name), STR_ARG(rows[i].content_id));
    CHECK_STR(what, text_str(&got), want);
    text_free(&got);
}

static void baselines_are_kept(void **state)
{
    struct place *place = *state;
    struct user_baseline found;
    struct error err = {0};

    check_baselines("no file", place, "");
    CHECK("reading makes no file", access(place->file, F_OK) != 0);
    must_set(place, "nightly", "c2");
    must_set(place, "main", "c0");
    must_set(place, "main", "c1");
    reopen(place);
    check_baselines("after a restart", place, "main=c1 nightly=c2 ");
    CHECK("by name", user_baseline(place->user, STR("main"), place->arena, &found));
    CHECK_STR("its run", found.run_name, "step_500");
    CHECK("none of that name", !user_baseline(place->user, STR("mai"), place->arena, &found));
    CHECK_OK("remove", user_remove_baseline(place->user, STR("main"), &err), &err);
    CHECK_INT("once", user_remove_baseline(place->user, STR("main"), &err), ERR_NOT_FOUND);
    check_baselines("removed", place, "nightly=c2 ");
}

/* A home that is a link to another disk. */
static void a_directory_behind_a_link(void **state)
{
    struct place *place = *state;
    char command[200], dir[96];
    struct error err = {0};

    snprintf(command, sizeof command, "mkdir '%s/real'; ln -s real '%s/home'", place->dir,
             place->dir);
    CHECK_INT("link", system(command), 0);
    user_close(place->user);
    snprintf(dir, sizeof dir, "%s/home/data", place->dir);
    user_open(dir, &place->user);
    CHECK_OK("written", set_baseline(place, "main", "c1", &err), &err);
    check_baselines("read", place, "main=c1 ");
    CHECK_INT("no trouble", user_trouble(place->user, place->arena).count, 0);
}

static void names(void **state)
{
    const struct {
        const char *name;
        bool good;
    } rows[] = {{"main", true},      {"v1.2+cu12-x_y", true}, {"", false},       {"latest", false},
                {"latest-1", false}, {"a/b", false},          {"-x", false},     {"a b", false},
                {"a@step=1", false}, {"\xc3\xa9", false},     {"'; DROP", false}};

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_INT(rows[i].name, user_name_is_good(str_of(rows[i].name)), rows[i].good);
}

static int64_t add_note(struct place *place, const char *content, const char *text,
                        int64_t start_ps, int64_t end_ps)
{
    const struct user_note note = {.content_id = str_of(content),
                                   .run_name = STR("r"),
                                   .text = str_of(text),
                                   .track = STR("t.1"),
                                   .has_window = end_ps > 0,
                                   .start_ps = start_ps,
                                   .end_ps = end_ps};
    struct error err = {0};
    int64_t id = 0;

    CHECK_OK(text, user_put_note(place->user, &note, &id, &err), &err);
    return id;
}

static void check_notes(const char *what, struct place *place, const char *content,
                        const char *want)
{
    struct user_note *rows;
    struct error err = {0};
    struct text got = {0};
    uint32_t count;

    CHECK_OK(what, user_notes(place->user, str_of(content), place->arena, &rows, &count, &err),
             &err);
    for (uint32_t i = 0; i < count; i++) {
        text_putf(&got, "%.*s", STR_ARG(rows[i].text));
        if (rows[i].has_window)
            text_putf(&got, "@%lld-%lld", (long long)rows[i].start_ps, (long long)rows[i].end_ps);
        text_puts(&got, " ");
    }
    CHECK_STR(what, text_str(&got), want);
    text_free(&got);
}

static void notes_stand_in_time_order(void **state)
{
    struct place *place = *state;
    struct error err = {0};
    char longest[USER_TEXT_BYTES_MAX + 2];

    add_note(place, "c1", "late", 900, 1000);
    int64_t early = add_note(place, "c1", "early", 5, 6);
    add_note(place, "c1", "whole", 0, 0);
    add_note(place, "c2", "other", 0, 0);
    check_notes("of one", place, "c1", "whole early@5-6 late@900-1000 ");
    check_notes("of all", place, "", "whole early@5-6 late@900-1000 other ");

    struct user_note changed = {.id = early, .content_id = STR("c1"), .text = STR("a'b\"%s")};
    CHECK_OK("edit", user_put_note(place->user, &changed, &early, &err), &err);
    check_notes("edited", place, "c1", "a'b\"%s whole late@900-1000 ");
    changed.content_id = STR("c2");
    CHECK_INT("of another run", user_put_note(place->user, &changed, &early, &err), ERR_NOT_FOUND);
    err = (struct error){0};
    CHECK_OK("remove", user_remove_note(place->user, early, &err), &err);
    CHECK_INT("twice", user_remove_note(place->user, early, &err), ERR_NOT_FOUND);

    memset(longest, 'x', sizeof longest);
    changed =
        (struct user_note){.content_id = STR("c1"), .text = {longest, USER_TEXT_BYTES_MAX + 1}};
    err = (struct error){0};
    CHECK_INT("too long", user_put_note(place->user, &changed, &early, &err), ERR_INVALID);
}

static void tags_are_words(void **state)
{
    struct place *place = *state;
    struct user_tag *tags;
    struct error err = {0};
    uint32_t count;

    CHECK_OK("b", user_add_tag(place->user, STR("c1"), STR("b"), &err), &err);
    CHECK_OK("a", user_add_tag(place->user, STR("c1"), STR("a"), &err), &err);
    CHECK_OK("again", user_add_tag(place->user, STR("c1"), STR("a"), &err), &err);
    CHECK_OK("other", user_add_tag(place->user, STR("c0"), STR("z"), &err), &err);
    CHECK_OK("list", user_tags(place->user, STR(""), place->arena, &tags, &count, &err), &err);
    CHECK_INT("each once", count, 3);
    CHECK_STR("sorted", tags[1].tag, "a");
    CHECK_OK("drop", user_remove_tag(place->user, STR("c1"), STR("a"), &err), &err);
    CHECK_INT("once", user_remove_tag(place->user, STR("c1"), STR("a"), &err), ERR_NOT_FOUND);
    err = (struct error){0};
    CHECK_INT("two words", user_add_tag(place->user, STR("c1"), STR("a b"), &err), ERR_INVALID);
}

static void links_are_found(void **state)
{
    struct place *place = *state;
    char first[USER_LINK_ID_SIZE], again[USER_LINK_ID_SIZE], other[USER_LINK_ID_SIZE];
    struct error err = {0};

    CHECK_OK("a", user_add_link(place->user, STR("?run=a"), first, &err), &err);
    CHECK_OK("a again", user_add_link(place->user, STR("?run=a"), again, &err), &err);
    CHECK_OK("b", user_add_link(place->user, STR("?run=b"), other, &err), &err);
    CHECK_STR("the same for the same", str_of(again), first);
    CHECK("another for another", strcmp(first, other) != 0);
    CHECK_INT("length", strlen(first), USER_LINK_ID_SIZE - 1);
    CHECK_STR("leads there", user_link(place->user, str_of(first), place->arena), "?run=a");
    CHECK_STR("no such link",
              user_link(place->user, STR("00000000000000000000000000"), place->arena), "");
}

static void write_file(const char *path, const char *text, size_t count)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    CHECK("open", fd >= 0);
    CHECK_INT("write", write(fd, text, count), count);
    close(fd);
}

static struct bytes bytes_of(struct place *place)
{
    struct bytes bytes = {0};
    struct error err = {0};

    CHECK_OK("read", file_read(place->file, place->arena, 1 << 24, &bytes, &err), &err);
    return bytes;
}

/* What is wrong is told, writing fails, and every byte stays. */
static void check_untouched(const char *what, struct place *place, const char *word,
                            const char *baselines)
{
    struct error err = {0};
    struct bytes before = bytes_of(place);

    reopen(place);
    check_baselines(what, place, baselines);
    CHECK(what, str_contains(user_trouble(place->user, place->arena), str_of(word)));
    CHECK_INT(what, set_baseline(place, "new", "c9", &err), ERR_PERMISSION);
    CHECK(what, strstr(err.message, word) != NULL);
    user_close(place->user);
    place->user = NULL;
    struct bytes after = bytes_of(place);
    CHECK_INT(what, after.count, before.count);
    CHECK(what, memcmp(before.at, after.at, before.count) == 0);
}

static void sql(struct place *place, const char *statement)
{
    char command[512];

    snprintf(command, sizeof command,
             "python3 -c \"import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); "
             "c.executescript(sys.argv[2]); c.commit()\" '%s' '%s'",
             place->file, statement);
    CHECK_INT(statement, system(command), 0);
}

static void bad_files_stay_as_they_are(void **state)
{
    struct place *place = *state;
    static const char text[] = "This is a letter, and it is longer than the header of a database "
                               "is, which has one hundred bytes. No SQLite here.";

    write_file(place->file, text, sizeof text);
    check_untouched("a letter", place, "damaged", "");
    unlink(place->file);

    sql(place, "CREATE TABLE accounts(x)");
    check_untouched("another program", place, "another program", "");
    unlink(place->file);

    reopen(place);
    must_set(place, "main", "c1");
    user_close(place->user);
    place->user = NULL;
    sql(place, "PRAGMA user_version=99; ALTER TABLE baselines ADD COLUMN colour TEXT");
    check_untouched("a newer version", place, "newer", "main=c1 ");
}

/* What stands on whole pages is read, and no question fails. */
static void check_read_in_part(const char *what, struct place *place, uint32_t least, uint32_t most)
{
    struct error err = {0};
    struct user_note *notes;
    struct user_tag *tags;
    uint32_t count, tag_count;

    reopen(place);
    CHECK_OK(what, user_notes(place->user, STR(""), place->arena, &notes, &count, &err), &err);
    CHECK(what, count >= least && count <= most);
    CHECK_OK(what, user_notes(place->user, STR("c1"), place->arena, &notes, &count, &err), &err);
    CHECK_OK(what, user_tags(place->user, STR(""), place->arena, &tags, &tag_count, &err), &err);
    CHECK(what, str_contains(user_trouble(place->user, place->arena), STR("damaged")));
    user_close(place->user);
    place->user = NULL;
}

static void damage_is_told(void **state)
{
    struct place *place = *state;

    for (int i = 0; i < 60; i++)
        add_note(place, "c1", "a note that fills pages with its words, again and again", i, i + 1);
    must_set(place, "main", "c1");
    user_close(place->user);
    place->user = NULL;
    struct bytes whole = bytes_of(place);
    uint8_t *bad = arena_array(place->arena, uint8_t, whole.count);

    /* Every page but the first and the one of baselines. */
    memcpy(bad, whole.at, whole.count);
    for (size_t at = 2 * 4096; at + 4096 <= whole.count; at += 4096)
        memset(bad + at, 0xa5, 4096);
    write_file(place->file, (const char *)bad, whole.count);
    check_untouched("pages", place, "damaged", "main=c1 ");
    check_read_in_part("all pages of notes", place, 0, 0);
    for (size_t page = 2; page < whole.count / 4096; page++) {
        memcpy(bad, whole.at, whole.count);
        memset(bad + page * 4096, 0xa5, 4096);
        write_file(place->file, (const char *)bad, whole.count);
        check_read_in_part("a page", place, 0, 60);
    }
    for (size_t cut = 1; cut < whole.count; cut += 1000) {
        struct error err = {0};

        write_file(place->file, (const char *)whole.at, cut);
        reopen(place);
        CHECK("a cut file", set_baseline(place, "new", "c9", &err) != OK);
        user_close(place->user);
        place->user = NULL;
        CHECK_INT("is not touched", bytes_of(place).count, cut);
    }
}

/* Root writes what nobody may, so it is asked as nobody; true when that one found all as it should
 * be. */
static bool as_nobody(struct place *place, void (*look)(struct place *))
{
    enum { NOBODY = 65534 };
    int code = -1;

    if (geteuid() != 0) {
        look(place);
        return true;
    }
    pid_t child = fork();
    if (child == 0) {
        if (setegid(NOBODY) != 0 || seteuid(NOBODY) != 0)
            _exit(2);
        look(place);
        _exit(0);
    }
    CHECK_INT("wait", waitpid(child, &code, 0), child);
    return WIFEXITED(code) && WEXITSTATUS(code) == 0;
}

static void look_read_only(struct place *place)
{
    check_untouched("read-only", place, "not write", "main=c1 ");
}

static void read_only_is_told(void **state)
{
    struct place *place = *state;

    must_set(place, "main", "c1");
    user_close(place->user);
    place->user = NULL;
    CHECK_INT("file", chmod(place->dir, 0777) | chmod(place->file, 0444), 0);
    CHECK("a read-only file", as_nobody(place, look_read_only));
    CHECK_INT("directory", chmod(place->dir, 0555), 0);
    CHECK("and directory", as_nobody(place, look_read_only));
    reopen(place);
    check_baselines("nothing was lost", place, "main=c1 ");
}

/* Many processes write at once, and each write stands. */
static void writers_take_turns(void **state)
{
    enum { WRITERS = 4, EACH = 12 };
    struct place *place = *state;
    struct error err = {0};
    struct user_note *notes;
    uint32_t count;

    for (int i = 0; i < WRITERS; i++) {
        if (fork() == 0) {
            struct user *own;

            user_open(place->dir, &own);
            for (int k = 0; k < EACH; k++) {
                const struct user_note note = {
                    .content_id = STR("c1"), .run_name = STR("r"), .text = STR("x")};
                struct error failed = {0};
                int64_t id;

                if (user_put_note(own, &note, &id, &failed) != OK)
                    _exit(1);
            }
            _exit(0);
        }
    }
    for (int i = 0; i < WRITERS; i++) {
        int code;

        CHECK("a writer", wait(&code) > 0);
        CHECK_INT("a writer", code, 0);
    }
    CHECK_OK("list", user_notes(place->user, STR("c1"), place->arena, &notes, &count, &err), &err);
    CHECK_INT("all notes", count, WRITERS * EACH);
}

/* Another process's change is seen, and so is another file in its place. */
static void generation_tells_changes(void **state)
{
    struct place *place = *state;
    struct user *other;
    struct error err = {0};
    const struct user_baseline baseline = {STR("main"), STR("c1"), STR("r"), 1};
    uint64_t before = user_generation(place->user);

    user_open(place->dir, &other);
    CHECK_OK("set", user_set_baseline(other, &baseline, &err), &err);
    uint64_t made = user_generation(place->user);
    CHECK("made", made != before);
    CHECK("quiet", user_generation(place->user) == made);
    CHECK_OK("remove", user_remove_baseline(other, STR("main"), &err), &err);
    uint64_t removed = user_generation(place->user);
    CHECK("changed", removed != made);
    user_close(other);
    unlink(place->file);
    CHECK("gone", user_generation(place->user) != removed);
    check_baselines("gone", place, "");
    must_set(place, "again", "c2");
    check_baselines("made anew", place, "again=c2 ");
}

static void nobody_waits_for_ever(void **state)
{
    struct place *place = *state;
    char command[300];
    struct error err = {0};

    must_set(place, "main", "c1");
    snprintf(command, sizeof command,
             "python3 -c \"import sqlite3,sys,time; c=sqlite3.connect(sys.argv[1]); "
             "c.execute('BEGIN EXCLUSIVE'); open(sys.argv[1]+'.held','w'); time.sleep(7)\" '%s' &",
             place->file);
    CHECK_INT("holder", system(command), 0);
    char held[128];
    snprintf(held, sizeof held, "%s.held", place->file);
    for (int i = 0; i < 500 && access(held, F_OK) != 0; i++)
        usleep(10000);
    CHECK_INT("held", set_baseline(place, "new", "c9", &err), ERR_IO);
    CHECK("says so", strstr(err.message, "another program has locked") != NULL);
    err = (struct error){0};
    for (int i = 0; i < 40 && set_baseline(place, "new", "c9", &err) != OK; i++) {
        err = (struct error){0};
        usleep(100000);
    }
    check_baselines("then it goes on", place, "main=c1 new=c9 ");
}

/* A child that holds the file as SQLite does it, until it is killed: the byte behind which readers
 * wait. */
static pid_t hold(struct place *place)
{
    enum { PENDING_BYTE = 0x40000000 };
    int ends[2];
    char held = 'n';

    CHECK_INT("pipe", pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        struct flock lock = {
            .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = PENDING_BYTE, .l_len = 512};
        int fd = open(place->file, O_RDWR | O_CLOEXEC);

        if (write(ends[1], fcntl(fd, F_SETLK, &lock) == 0 ? "y" : "n", 1) == 1)
            pause();
        _exit(0);
    }
    CHECK_INT("read", read(ends[0], &held, 1), 1);
    CHECK_INT("held", held, 'y');
    close(ends[0]);
    close(ends[1]);
    return child;
}

/* What is read as far as it goes may be held as well, and then it is not empty. On a machine that
 * is slow the connection is looked at anew, so there are some tries. */
static void held_is_not_empty(void **state)
{
    struct place *place = *state;
    struct user_baseline *rows;
    uint32_t count;
    struct error err = {0};

    must_set(place, "main", "c1");
    sql(place, "PRAGMA user_version=99");
    for (int i = 0; i < 50 && err.code == OK; i++) {
        reopen(place);
        check_baselines("free", place, "main=c1 ");
        pid_t holder = hold(place);
        if (user_baselines(place->user, place->arena, &rows, &count, &err) == OK)
            CHECK_INT("nothing", count, 0);
        kill(holder, SIGKILL);
        waitpid(holder, NULL, 0);
    }
    CHECK_INT("told", err.code, ERR_IO);
    CHECK_HAS("told", err.message, "another program has locked");
}

/* A full table takes what replaces a row, and nothing more. */
static void a_full_table_still_takes_what_is_there(void **state)
{
    struct place *place = *state;
    struct error err = {0};
    char command[512];

    must_set(place, "main", "c1");
    CHECK_OK("a tag", user_add_tag(place->user, STR("c1"), STR("pinned"), &err), &err);
    snprintf(command, sizeof command,
             "python3 -c \"import sqlite3;c=sqlite3.connect('%s');"
             "c.executemany('INSERT INTO baselines VALUES(?,?,?,?)',"
             "[('b%%d'%%i,'c','r',1) for i in range(%d)]);"
             "c.executemany('INSERT INTO tags VALUES(?,?,?)',"
             "[('c','t%%d'%%i,1) for i in range(%d)]);c.commit()\"",
             place->file, USER_ROWS_MAX - 1, USER_ROWS_MAX - 1);
    assert_int_equal(system(command), 0);
    CHECK_OK("the same name", set_baseline(place, "main", "c2", &err), &err);
    CHECK_OK("the same tag", user_add_tag(place->user, STR("c1"), STR("pinned"), &err), &err);
    CHECK_INT("one more name", set_baseline(place, "more", "c2", &err), ERR_LIMIT);
    err = (struct error){0};
    CHECK_INT("one more tag", user_add_tag(place->user, STR("c1"), STR("more"), &err), ERR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(baselines_are_kept, make_place, leave_place),
        cmocka_unit_test_setup_teardown(a_directory_behind_a_link, make_place, leave_place),
        cmocka_unit_test_setup_teardown(held_is_not_empty, make_place, leave_place),
        cmocka_unit_test(names),
        cmocka_unit_test_setup_teardown(notes_stand_in_time_order, make_place, leave_place),
        cmocka_unit_test_setup_teardown(tags_are_words, make_place, leave_place),
        cmocka_unit_test_setup_teardown(links_are_found, make_place, leave_place),
        cmocka_unit_test_setup_teardown(bad_files_stay_as_they_are, make_place, leave_place),
        cmocka_unit_test_setup_teardown(damage_is_told, make_place, leave_place),
        cmocka_unit_test_setup_teardown(read_only_is_told, make_place, leave_place),
        cmocka_unit_test_setup_teardown(writers_take_turns, make_place, leave_place),
        cmocka_unit_test_setup_teardown(generation_tells_changes, make_place, leave_place),
        cmocka_unit_test_setup_teardown(a_full_table_still_takes_what_is_there, make_place,
                                        leave_place),
        cmocka_unit_test_setup_teardown(nobody_waits_for_ever, make_place, leave_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
