/* SPDX-License-Identifier: Apache-2.0 */
/* Files below a root, with and without openat2: links, devices, missing rights, full disks. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

/*  DIR/root/  a.pb "hello"   sub/b.pb "below"   fifo   socket   link -> a.pb   out -> ../secret
 *             linkdir -> sub   absolute -> /etc/passwd   loop -> loop   closed (mode 0)
 *  DIR/secret                                                                              */
static char dir[] = "/tmp/jviewd-test-file-XXXXXX";
static char root[64];

static const char *below(const char *name)
{
    static char path[8][512];
    static size_t next;
    char *ret = path[next++ % COUNT(path)];

    snprintf(ret, sizeof(path[0]), "%s/%s", root, name);
    return ret;
}

static void put_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int make_tree(void **state)
{
    (void)state;
    char path[128];

    if (mkdtemp(dir) == NULL)
        return -1;
    snprintf(root, sizeof(root), "%s/root", dir);
    snprintf(path, sizeof(path), "%s/secret", dir);
    mkdir(root, 0755);
    mkdir(below("sub"), 0755);
    put_file(path, "secret");
    put_file(below("a.pb"), "hello");
    put_file(below("empty"), "");
    put_file(below("sub/b.pb"), "below");
    put_file(below("closed"), "closed");
    chmod(below("closed"), 0);

    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", root);

    bool made =
        mkfifo(below("fifo"), 0644) == 0 &&
        bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
        symlink("a.pb", below("link")) == 0 && symlink("../secret", below("out")) == 0 &&
        symlink("sub", below("linkdir")) == 0 && symlink("/etc/passwd", below("absolute")) == 0 &&
        symlink("/dev/zero", below("device")) == 0 && symlink("closed", below("to_closed")) == 0 &&
        symlink("loop", below("loop")) == 0 && chmod(dir, 0755) == 0;

    close(fd);
    return made ? 0 : -1;
}

static int remove_tree(void **state)
{
    (void)state;
    char command[128];

    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command);
}

static void opens(void **state)
{
    (void)state;
    const struct {
        const char *name;
        enum status status;
        const char *says;
    } rows[] = {
        {"a.pb", OK, ""},
        {"empty", OK, ""},
        {"link", OK, ""},
        {"sub", ERR_UNSUPPORTED, "is a directory, not a regular file"},
        {"fifo", ERR_UNSUPPORTED, "fifo is a FIFO, not a regular file"},
        {"socket", ERR_UNSUPPORTED, "is a socket, not a regular file"},
        {"none", ERR_NOT_FOUND, "none does not exist"},
        {"a.pb/x", ERR_NOT_FOUND, "does not exist"},
        {"loop", ERR_UNSUPPORTED, "symbolic link"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error err = {0};
        struct file_stamp stamp;
        int fd = -1;

        CHECK_INT(rows[i].name, file_open(below(rows[i].name), &fd, &stamp, &err), rows[i].status);
        CHECK_HAS(rows[i].name, err.message, rows[i].says);
        file_close(fd);
    }

    struct error err = {0};
    struct file_stamp stamp;
    int fd;

    CHECK_INT("a device", file_open("/dev/zero", &fd, &stamp, &err), ERR_UNSUPPORTED);
    CHECK_HAS("a device", err.message, "a device");
}

struct beneath {
    const char *path;
    enum status kept, followed; /* links kept as links, or followed; with openat2 and without */
};

static const struct beneath beneath_rows[] = {
    {"a.pb", OK, OK},
    {"sub/b.pb", OK, OK},
    {"sub//b.pb", OK, OK},
    {"./a.pb", OK, OK},
    {"link", ERR_UNSUPPORTED, OK},
    {"linkdir/b.pb", ERR_UNSUPPORTED, OK},
    {"out", ERR_UNSUPPORTED, OK},
    {"absolute", ERR_UNSUPPORTED, OK},
    {"device", ERR_UNSUPPORTED, ERR_UNSUPPORTED},
    {"loop", ERR_UNSUPPORTED, ERR_UNSUPPORTED},
    {"../secret", ERR_PERMISSION, ERR_PERMISSION},
    {"sub/../../secret", ERR_PERMISSION, ERR_PERMISSION},
    {"/etc/passwd", ERR_PERMISSION, ERR_PERMISSION},
    {"fifo", ERR_UNSUPPORTED, ERR_UNSUPPORTED},
    {"socket", ERR_UNSUPPORTED, ERR_UNSUPPORTED},
    {"sub", ERR_UNSUPPORTED, ERR_UNSUPPORTED},
    {"none", ERR_NOT_FOUND, ERR_NOT_FOUND},
    {"a.pb/x", ERR_NOT_FOUND, ERR_NOT_FOUND},
    {"", ERR_NOT_FOUND, ERR_NOT_FOUND},
};

static enum status open_below(const char *path, bool follow, struct error *err)
{
    struct file_stamp stamp;
    int fd = -1, root_fd = open(root, O_PATH | O_DIRECTORY);
    enum status status = file_open_beneath(root_fd, path, follow, &fd, &stamp, err);

    file_close(fd);
    close(root_fd);
    return status;
}

static void opens_beneath(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(beneath_rows); i++) {
        struct error err = {0}, followed = {0};

        CHECK_INT(beneath_rows[i].path, open_below(beneath_rows[i].path, false, &err),
                  beneath_rows[i].kept);
        CHECK_INT(beneath_rows[i].path, open_below(beneath_rows[i].path, true, &followed),
                  beneath_rows[i].followed);
    }
}

/* From here on this process's kernel knows no openat2. */
static bool forget_openat2(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = COUNT(filter), .filter = filter};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

enum { NO_SECCOMP = 255 };

static int walk_all(void)
{
    if (!forget_openat2())
        return NO_SECCOMP;
    for (size_t i = 0; i < COUNT(beneath_rows); i++) {
        for (int follow = 0; follow < 2; follow++) {
            struct error err = {0};

            if (open_below(beneath_rows[i].path, follow, &err) !=
                (follow ? beneath_rows[i].followed : beneath_rows[i].kept))
                return (int)i + 1;
        }
    }
    return 0;
}

/* As a user who is not root: what mode 0 means. */
static int open_closed(void)
{
    struct error err = {0};

    if (geteuid() == 0 && setuid(65534) != 0)
        return NO_SECCOMP;
    enum status status = open_below("closed", false, &err);
    struct error followed = {0};

    return (int)(open_below("to_closed", true, &followed) == status ? status : ERR_IO);
}

static int in_child(int (*call)(void))
{
    pid_t child = fork();
    int status = 0;

    if (child == 0)
        _exit(call());
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void without_openat2(void **state)
{
    (void)state;
    int row = in_child(walk_all);

    if (row == NO_SECCOMP)
        skip();
    CHECK(row == 0 ? "all" : beneath_rows[row - 1].path, row == 0);
}

static void unreadable(void **state)
{
    (void)state;
    int status = in_child(open_closed);

    if (status == NO_SECCOMP)
        skip();
    CHECK_INT("mode 0", status, ERR_PERMISSION);
}

static void reads(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct error err = {0};
    struct bytes bytes;

    CHECK_OK("whole", file_read(below("a.pb"), arena, 5, &bytes, &err), &err);
    CHECK("whole", bytes.count == 5 && memcmp(bytes.at, "hello", 5) == 0);
    CHECK_OK("empty", file_read(below("empty"), arena, 5, &bytes, &err), &err);
    CHECK_INT("empty", bytes.count, 0);
    CHECK_INT("limit", file_read(below("a.pb"), arena, 4, &bytes, &err), ERR_LIMIT);
    CHECK_HAS("limit", err.message, "5 bytes");
    arena_destroy(arena);
}

static void maps_and_stamps(void **state)
{
    (void)state;
    struct error err = {0};
    struct file_stamp before, after;
    struct file_map map;
    int fd;

    CHECK_OK("open", file_open(below("a.pb"), &fd, &before, &err), &err);
    CHECK_OK("map", file_map(fd, before.size, &map, &err), &err);
    CHECK("mapped", map.bytes.count == 5 && memcmp(map.bytes.at, "hello", 5) == 0);
    file_will_need(map.bytes.at, map.bytes.count);
    file_unmap(&map);
    CHECK_INT("unmapped", map.bytes.count, 0);
    CHECK_OK("map nothing", file_map(fd, 0, &map, &err), &err);
    CHECK_INT("map nothing", map.bytes.count, 0);
    file_unmap(&map);

    CHECK_OK("stamp", file_stamp_of(fd, &after, &err), &err);
    CHECK("unchanged", file_stamp_equal(&before, &after));
    put_file(below("a.pb"), "hello!");
    CHECK_OK("stamp", file_stamp_of(fd, &after, &err), &err);
    CHECK("changed", !file_stamp_equal(&before, &after));
    put_file(below("a.pb"), "hello");
    file_close(fd);
}

static bool has_file(const char *path)
{
    return access(path, F_OK) == 0;
}

static void written_whole(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct error err = {0};
    struct file_out out;
    struct bytes bytes;
    struct stat seen;

    CHECK_OK("open", file_out_open(&out, below("made"), &err), &err);
    CHECK("not there yet", !has_file(below("made")) && has_file(out.temporary));
    CHECK_OK("second part", file_write_all(out.fd, "lo", 2, 3, &err), &err);
    CHECK_OK("first part", file_write_all(out.fd, "hel", 3, 0, &err), &err);
    CHECK_OK("commit", file_out_commit(&out, &err), &err);
    CHECK("temporary is gone", !has_file(out.temporary));
    CHECK_OK("read", file_read(below("made"), arena, 100, &bytes, &err), &err);
    CHECK("whole", bytes.count == 5 && memcmp(bytes.at, "hello", 5) == 0);
    CHECK("ours alone", stat(below("made"), &seen) == 0 && (seen.st_mode & 0777) == 0600);

    CHECK_OK("open", file_out_open(&out, below("made"), &err), &err);
    CHECK_OK("write", file_write_all(out.fd, "half", 4, 0, &err), &err);
    file_out_abandon(&out);
    file_out_abandon(&out);
    CHECK("temporary is gone", !has_file(out.temporary));
    CHECK_OK("read", file_read(below("made"), arena, 100, &bytes, &err), &err);
    CHECK("the old one", bytes.count == 5);

    CHECK_INT("no directory", file_out_open(&out, below("nowhere/made"), &err), ERR_IO);
    err = (struct error){0};
    CHECK_OK("open", file_out_open(&out, below("sub"), &err), &err);
    CHECK_INT("onto a directory", file_out_commit(&out, &err), ERR_IO);
    CHECK("temporary is gone", !has_file(out.temporary));
    arena_destroy(arena);
}

static void full_disk(void **state)
{
    (void)state;
    struct error err = {0};
    int fd = open("/dev/full", O_RDWR);

    if (fd < 0)
        skip();
    CHECK_INT("full", file_write_all(fd, "x", 1, 0, &err), ERR_IO);
    CHECK_HAS("full", err.message, "disk is full");
    close(fd);
}

static void makes_directories(void **state)
{
    (void)state;
    struct error err = {0};
    struct stat seen;

    CHECK_OK("deep", directory_make(below("x/y/z"), &err), &err);
    CHECK("mode", stat(below("x/y"), &seen) == 0 && (seen.st_mode & 0777) == 0700);
    CHECK_OK("again", directory_make(below("x/y/z/"), &err), &err);
    CHECK_INT("over a file", directory_make(below("a.pb/x"), &err), ERR_IO);
    err = (struct error){0};
    CHECK_INT("a file", directory_make(below("a.pb"), &err), ERR_IO);
    err = (struct error){0};
    CHECK_INT("nothing", directory_make("", &err), ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens),
        cmocka_unit_test(opens_beneath),
        cmocka_unit_test(without_openat2),
        cmocka_unit_test(unreadable),
        cmocka_unit_test(reads),
        cmocka_unit_test(maps_and_stamps),
        cmocka_unit_test(written_whole),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(makes_directories),
    };

    return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
