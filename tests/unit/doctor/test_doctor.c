/* SPDX-License-Identifier: Apache-2.0 */
/* What `jviewd doctor` says of a machine that is drawn as a directory, and of a waiting port. */
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "doctor/doctor.h"
#include "doctor/doctor_rights.h"

static void make_file(const char *root, const char *path, const char *text)
{
    char command[600];

    snprintf(command, sizeof command,
             "mkdir -p \"$(dirname '%s%s')\" && printf '%%s' '%s' > '%s%s'", root, path, text, root,
             path);
    assert_int_equal(system(command), 0);
}

static struct str kinds_of(const struct findings *findings)
{
    struct str ret = STR("");

    for (uint32_t i = 0; i < findings->count; i++)
        ret = str_format(findings->arena, "%.*s%s%s", STR_ARG(ret), i > 0 ? " " : "",
                         findings->at[i].kind);
    return ret;
}

static void machines(void **state)
{
    (void)state;
    static const char wsl[] = "5.15.167.4-microsoft-standard-WSL2", linux_[] = "6.8.0-generic";
    const struct {
        const char *what, *release;
        const char *files[3]; /* "path=content" */
        bool lacks_devices;
        const char *kinds;
    } rows[] = {
        {"nothing to say", linux_, {NULL}, false, ""},
        {"no driver, and no device in a profile", linux_, {NULL}, true, "no-driver"},
        {"a driver is there", linux_, {"/dev/nvidia0=", "/proc/driver/nvidia/version=1"}, true, ""},
        {"WSL2 without a GPU", wsl, {NULL}, false, "wsl wsl-gpu"},
        {"... without libcuda", wsl, {"/dev/dxg="}, false, "wsl wsl-libcuda"},
        {"... with both",
         wsl,
         {"/dev/dxg=", "/usr/lib/wsl/lib/libcuda.so.1="},
         false,
         "wsl wsl-cupti"},
        {"another profiler", linux_, {"/proc/4711/comm=nsys\n"}, false, "two-profilers"},
        {"another program", linux_, {"/proc/4711/comm=nsysx\n"}, false, ""},
        {"profiling is the administrator's",
         linux_,
         {"/proc/driver/nvidia/params=X: 0\nRmProfilingAdminOnly: 1\n", "/dev/kfd="},
         false,
         "cupti-permission"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct findings findings = {.arena = arena_create()};
        char root[] = "/tmp/jview-doctor-XXXXXX", command[64];

        assert_non_null(mkdtemp(root));
        make_file(root, "/proc/sys/kernel/osrelease", rows[i].release);
        for (size_t k = 0; k < COUNT(rows[i].files) && rows[i].files[k] != NULL; k++) {
            struct str file = str_of(rows[i].files[k]);
            const char *equals = memchr(file.at, '=', file.count);

            make_file(root,
                      str_c(findings.arena,
                            (struct str){.at = file.at, .count = (size_t)(equals - file.at)}),
                      equals + 1);
        }
        doctor_machine(&findings, root, rows[i].lacks_devices);
        /* The administrator is kept from nothing. */
        bool allowed = geteuid() == 0 && strcmp(rows[i].kinds, "cupti-permission") == 0;
        CHECK_STR(rows[i].what, kinds_of(&findings), allowed ? "" : rows[i].kinds);
        snprintf(command, sizeof command, "rm -rf '%s'", root);
        assert_int_equal(system(command), 0);
        arena_destroy(findings.arena);
    }
}

static void missing_directory(void **state)
{
    (void)state;
    struct findings findings = {.arena = arena_create()};

    CHECK_INT("it is not there", doctor_place(&findings, "/tmp/jview-no/such/place"), false);
    CHECK_INT("one finding", findings.count, 1);
    CHECK_STR("the line that makes it", findings.at[0].remedy,
              "mkdir -p '/tmp/jview-no/such/place'");
    arena_destroy(findings.arena);
}

static void file_systems(void **state)
{
    (void)state;
    const struct {
        unsigned long magic; /* as linux/magic.h and GNU stat have it */
        const char *name, *says;
    } rows[] = {
        {0x01021997, "9p", "WSL2"},
        {0x53464846, "drvfs", "WSL1"},
        {0x6969, "nfs", "NFS"},
        {0xff534d42, "cifs", "does not report changes"},
        {0x65735546, "fuse", "sshfs"},
        {0x00c36400, "ceph", "does not report changes"},
        {0x794c7630, "overlayfs", "container"},
        {0x01021994, "tmpfs", "memory"},
        {0xef53, "local", "a local file system"},     /* ext4 */
        {0x9123683e, "local", "a local file system"}, /* btrfs */
        {0, "local", "a local file system"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct file_system *kind = file_system_of(rows[i].magic);

        CHECK_STR(rows[i].says, str_of(kind->name), rows[i].name);
        CHECK_HAS(rows[i].name, kind->message, rows[i].says);
    }
    CHECK_HAS("9p", file_system_of(0x01021997)->remedy, "not below /mnt/c");
    CHECK_HAS("drvfs", file_system_of(0x53464846)->remedy, "not below /mnt/c");
}

/* The one line that lets a user in, by who the user is to the file. */
static void rights(void **state)
{
    (void)state;
    enum who { OTHER, OWNER, MEMBER, LISTED, ROOT };
    const struct {
        const char *what, *rights, *line;
        unsigned mode;
        enum who who;
        const char *group, *user;
    } rows[] = {
        {"the owner's", "rx", "chmod u+rx '/p'", 0055, OWNER, "video", "eve"},
        {"the owner's to write", "rwx", "chmod u+rwx '/p'", 0555, OWNER, "video", "eve"},
        {"a group reads", "rx", "sudo usermod -aG video eve   # then log in again", 0750, OTHER,
         "video", "eve"},
        {"a group writes", "rwx", "sudo usermod -aG video eve   # then log in again", 0775, OTHER,
         "video", "eve"},
        {"... and others nothing", "rwx", "sudo usermod -aG video eve   # then log in again", 0770,
         OTHER, "video", "eve"},
        {"a group reads, to write", "rwx", "sudo chmod o+rwx '/p'", 0755, OTHER, "video", "eve"},
        {"a GPU", "rw", "sudo usermod -aG render eve   # then log in again", 0660, OTHER, "render",
         "eve"},
        {"a file of root", "r", "sudo chmod o+r '/p'", 0600, OTHER, "root", "eve"},
        {"group root", "rx", "sudo chmod o+rx '/p'", 0750, OTHER, "root", "eve"},
        {"group sudo", "rx", "sudo chmod o+rx '/p'", 0750, OTHER, "sudo", "eve"},
        {"group docker", "rx", "sudo chmod o+rx '/p'", 0750, OTHER, "docker", "eve"},
        {"a group without a name", "rx", "sudo chmod o+rx '/p'", 0750, OTHER, "", "eve"},
        {"a user without a name", "rx", "sudo chmod o+rx '/p'", 0750, OTHER, "video", ""},
        {"of the group, which may not", "rwx", "sudo chmod g+rwx '/p'", 0757, MEMBER, "video",
         "eve"},
        {"of the group since", "rx", "newgrp video   # or log in again", 0750, LISTED, "video",
         "eve"},
        {"a group with a blank", "rx", "sudo usermod -aG 'domain users' eve   # then log in again",
         0750, OTHER, "domain users", "eve"},
        {"its mode allows it", "rx",
         "getfacl '/p'   # the mode allows it, but the file system does not", 0755, OTHER, "root",
         "eve"},
        {"the administrator", "r",
         "getfacl '/p'   # the mode allows it, but the file system does not", 0600, ROOT, "root",
         "root"},
    };
    struct arena *arena = arena_create();

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct barred barred = {
            .path = "/p",
            .mode = rows[i].mode,
            .is_root = rows[i].who == ROOT,
            .is_owner = rows[i].who == OWNER,
            .is_member = rows[i].who == MEMBER,
            .is_listed = rows[i].who == LISTED,
            .group = str_of(rows[i].group),
            .user = str_of(rows[i].user),
        };
        CHECK_STR(rows[i].what, rights_line(arena, &barred, rows[i].rights), rows[i].line);
    }
    struct barred barred = {.path = "/x/it's p", .is_owner = true};
    CHECK_STR("a quote", rights_line(arena, &barred, "rx"), "chmod u+rx '/x/it'\\''s p'");
    arena_destroy(arena);
}

/* The lines of this kind, as an unprivileged user of no group reads them. */
static void lines_of_nobody(const char *root, const char *kind, char *ret, size_t size)
{
    int ends[2], left;

    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        struct findings findings = {.arena = arena_create()};

        if (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0)
            _exit(1);
        doctor_machine(&findings, root, false);
        for (uint32_t i = 0; i < findings.count; i++)
            if (strcmp(findings.at[i].kind, kind) == 0)
                dprintf(ends[1], "%.*s\n", STR_ARG(findings.at[i].remedy));
        arena_destroy(findings.arena);
        _exit(0);
    }
    close(ends[1]);
    size_t kept = 0;
    for (ssize_t count; (count = read(ends[0], ret + kept, size - 1 - kept)) > 0;)
        kept += (size_t)count;
    ret[kept] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &left, 0), child);
    assert_int_equal(left, 0);
}

/* A GPU's files and the groups that they belong to. */
static void devices(void **state)
{
    (void)state;
    const struct group *video = getgrnam("video");
    const struct passwd *nobody = getpwuid(65534);
    char root[] = "/tmp/jview-doctor-XXXXXX", path[64], lines[1000], want[200], command[64];
    static const char *const nodes[] = {"/dev/nvidia0", "/dev/nvidiactl", "/dev/kfd"};

    if (geteuid() != 0 || video == NULL || nobody == NULL) {
        print_message("skipped: needs root, a group video and a user 65534\n");
        skip();
    }
    snprintf(want, sizeof want,
             "sudo usermod -aG video %s   # then log in again\nsudo chmod o+rw '/dev/kfd'\n",
             nobody->pw_name);
    gid_t group = video->gr_gid;
    assert_non_null(mkdtemp(root));
    assert_int_equal(chmod(root, 0755), 0);
    for (size_t i = 0; i < COUNT(nodes); i++) {
        make_file(root, nodes[i], "");
        snprintf(path, sizeof path, "%s%s", root, nodes[i]);
        assert_int_equal(chown(path, 0, i < 2 ? group : 0), 0);
        assert_int_equal(chmod(path, 0660), 0);
    }
    lines_of_nobody(root, "device-permission", lines, sizeof lines);
    CHECK_STR("one line for each group or right", str_of(lines), want);
    snprintf(command, sizeof command, "chmod 666 '%s'/dev/*", root);
    assert_int_equal(system(command), 0);
    lines_of_nobody(root, "device-permission", lines, sizeof lines);
    CHECK_STR("open to all", str_of(lines), "");
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    assert_int_equal(system(command), 0);
}

/* What keeps a missing directory from being made, and what a closed one hides. */
static void missing_lines(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    char root[] = "/tmp/jview-doctor-XXXXXX", command[64];

    assert_non_null(mkdtemp(root));
    make_file(root, "/file", "x");
    const char *below_file = str_c(arena, str_format(arena, "%s/file/p", root));
    const char *link = str_c(arena, str_format(arena, "%s/link", root));
    const char *quote = str_c(arena, str_format(arena, "%s/it's p", root));
    assert_int_equal(symlink("nowhere", link), 0);
    CHECK_STR("below a file", mend_missing(arena, below_file),
              str_c(arena, str_format(arena, "another directory: %s/file is a file", root)));
    CHECK_STR("behind a link", mend_missing(arena, link),
              str_c(arena, str_format(arena, "mkdir -p \"$(readlink -m '%s')\"", link)));
    CHECK_STR("a quote", mend_missing(arena, quote),
              str_c(arena, str_format(arena, "mkdir -p '%s/it'\\''s p'", root)));
    CHECK_STR("nothing is there", mend_access(arena, quote, "r"), "");
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    assert_int_equal(system(command), 0);
    arena_destroy(arena);
}

/* Who answers HEAD on port 9001. */
static void waiting(void **state)
{
    (void)state;
#define PYTHON "Server: SimpleHTTP/0.6 Python/3.12.3\r\nContent-Length: 7\r\n"
#define ANY "Access-Control-Allow-Origin: *\r\n\r\n"
    const struct {
        const char *what;
        struct str head;
        bool waits;
    } rows[] = {
        {"JAX", STR("HTTP/1.0 200 OK\r\n" PYTHON ANY), true},
        {"the file is not there", STR("HTTP/1.0 404 File not found\r\n" PYTHON ANY), false},
        {"python -m http.server", STR("HTTP/1.0 200 OK\r\n" PYTHON "\r\n"), false},
        {"Perfetto's open_trace_in_ui",
         STR("HTTP/1.0 200 OK\r\n" PYTHON
             "Access-Control-Allow-Origin: https://ui.perfetto.dev\r\n\r\n"),
         false},
        {"another server", STR("HTTP/1.1 200 OK\r\nServer: nginx\r\n" ANY), false},
        {"no HTTP", STR("\r\n" PYTHON ANY " 200 "), false},
        {"nothing", STR(""), false},
    };
#undef PYTHON
#undef ANY

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_INT(rows[i].what, doctor_is_waiting_jax(rows[i].head), rows[i].waits);
}

static void many(void **state)
{
    (void)state;
    struct findings findings = {.arena = arena_create()};

    for (int i = 0; i < 1200; i++)
        finding_add(&findings, (struct finding){.kind = "x"});
    CHECK_INT("kept", findings.count, 1000);
    CHECK_INT("counted", findings.left_out, 200);
    arena_destroy(findings.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines),     cmocka_unit_test(missing_directory),
        cmocka_unit_test(file_systems), cmocka_unit_test(rights),
        cmocka_unit_test(devices),      cmocka_unit_test(missing_lines),
        cmocka_unit_test(waiting),      cmocka_unit_test(many),
    };

    return cmocka_run_group_tests_name("doctor", tests, NULL, NULL);
}
