/* SPDX-License-Identifier: Apache-2.0 */
/* `jviewd doctor`: runs every examination, and prints its findings as a table or as JSON. */
#include "doctor/doctor.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/cli.h"
#include "remote/remote.h"

enum { FINDINGS_MAX = 1000, USUAL_PORT = 8080, PERFETTO_PORT = 9001 };

struct question { /* what was asked */
    const char *path, *cache_dir;
    int port;
    bool json, release, follow_symlinks, help;
};

static const char *const severity_words[] = {[FINDING_OK] = "ok",
                                             [FINDING_INFO] = "info",
                                             [FINDING_WARNING] = "warning",
                                             [FINDING_ERROR] = "error"};

void finding_add(struct findings *findings, struct finding finding)
{
    if (findings->count == FINDINGS_MAX) {
        findings->left_out++;
        return;
    }
    if (findings->count == findings->capacity) {
        uint32_t capacity = findings->capacity == 0 ? 32 : 2 * findings->capacity;
        struct finding *more = arena_array(findings->arena, struct finding, capacity);

        if (findings->count > 0)
            memcpy(more, findings->at, findings->count * sizeof *more);
        findings->at = more;
        findings->capacity = capacity;
    }
    findings->at[findings->count++] = finding;
}

static void put_member(json_t *object, const char *key, struct str text, struct arena *arena)
{
    struct str clean = str_utf8(arena, text);

    json_object_set_new(object, key,
                        clean.count > 0 ? json_stringn(clean.at, clean.count) : json_null());
}

static void print_json(const struct findings *findings, const char *path)
{
    json_t *list = json_array(), *whole = json_object();

    for (uint32_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->at[i];
        json_t *object = json_object();

        put_member(object, "kind", str_of(finding->kind), findings->arena);
        put_member(object, "severity", str_of(severity_words[finding->severity]), findings->arena);
        put_member(object, "subject", finding->subject, findings->arena);
        put_member(object, "message", finding->message, findings->arena);
        put_member(object, "remedy", finding->remedy, findings->arena);
        json_array_append_new(list, object);
    }
    put_member(whole, "directory", str_of(path), findings->arena);
    json_object_set_new(whole, "left_out", json_integer(findings->left_out));
    json_object_set_new(whole, "findings", list);
    json_dumpf(whole, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(whole);
}

static void print_table(const struct findings *findings)
{
    for (uint32_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->at[i];

        printf("%-8s %.*s: %.*s\n", severity_words[finding->severity], STR_ARG(finding->subject),
               STR_ARG(finding->message));
        if (finding->remedy.count > 0)
            printf("         -> %.*s\n", STR_ARG(finding->remedy));
    }
    if (findings->left_out > 0)
        printf("         ... and %u more\n", findings->left_out);
}

static int exit_code(const struct findings *findings, bool is_there)
{
    if (fflush(stdout) != 0)
        return EXIT_IO;
    if (!is_there)
        return EXIT_NOT_FOUND;
    for (uint32_t i = 0; i < findings->count; i++) {
        if (findings->at[i].severity == FINDING_ERROR)
            return EXIT_IO;
    }
    return EXIT_OK;
}

static void tell_system(struct findings *findings)
{
    struct utsname machine;

    if (uname(&machine) != 0)
        return;
    finding_add(findings, (struct finding){.kind = "version",
                                           .severity = FINDING_OK,
                                           .subject = STR("jviewd " JVIEWD_VERSION),
                                           .message = str_format(findings->arena, "%s %s, %s",
                                                                 machine.sysname, machine.release,
                                                                 machine.machine)});
}

struct examination {
    struct findings *findings;
    bool lacks_devices;
};

static int examine_store(struct app *app, const void *data)
{
    struct examination *examination = (struct examination *)(uintptr_t)data;

    tell_system(examination->findings);
    doctor_cache(examination->findings, app);
    examination->lacks_devices = doctor_runs(examination->findings, app);
    return EXIT_OK;
}

/* The runs, through the same rooms as every reader. */
static int examine_runs(struct findings *findings, const struct question *question,
                        bool *ret_lacks_devices)
{
    struct app app = {.arena = findings->arena};
    struct examination examination = {.findings = findings};
    char *words[] = {"doctor", NULL};
    struct str root = str_of(question->path);
    struct error err = {0};

    if (options_read(1, words, app.arena, &app.options, &err) != OK)
        return app_failed(&err);
    app.options.roots = (struct texts){.at = &root, .count = 1};
    if (question->cache_dir != NULL)
        app.options.cache_dir = question->cache_dir;
    app.options.follow_symlinks |= question->follow_symlinks;
    int code = app_with_store(&app, true, examine_store, &examination);
    *ret_lacks_devices = examination.lacks_devices;
    return code;
}

static int examine(const struct question *question)
{
    struct findings findings = {.arena = arena_create()};
    bool is_remote = remote_is_place(str_of(question->path)), lacks_devices = false;
    bool is_there = is_remote ? doctor_remote(&findings, question->path)
                              : doctor_place(&findings, question->path);
    int code = EXIT_OK;

    if (is_there)
        code = examine_runs(&findings, question, &lacks_devices);
    if (code == EXIT_OK) {
        doctor_machine(&findings, "", lacks_devices);
        doctor_sandbox(&findings);
        doctor_waiting(&findings, PERFETTO_PORT, question->release);
        doctor_port(&findings, question->port);
        if (question->json)
            print_json(&findings, is_remote
                                      ? remote_place(str_of(question->path), findings.arena).at
                                      : question->path);
        else
            print_table(&findings);
        code = exit_code(&findings, is_there);
    }
    arena_destroy(findings.arena);
    return code;
}

static enum status read_question(int argc, char **argv, struct question *ret, struct error *err)
{
    const char *rule;

    *ret = (struct question){.port = USUAL_PORT};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        int64_t port;

        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            ret->help = true;
        else if (strcmp(argv[i], "--release") == 0)
            ret->release = true;
        else if (strcmp(argv[i], "--follow-symlinks") == 0)
            ret->follow_symlinks = true;
        else if (strcmp(argv[i], "--format") == 0 && value != NULL &&
                 (strcmp(value, "json") == 0 || strcmp(value, "table") == 0))
            ret->json = strcmp(argv[++i], "json") == 0;
        else if (strcmp(argv[i], "--cache-dir") == 0 && value != NULL)
            ret->cache_dir = argv[++i];
        else if (strcmp(argv[i], "--port") == 0 && value != NULL &&
                 str_to_i64(str_of(value), &port) && port > 0 && port < 65536) {
            ret->port = (int)port;
            i++;
        } else if ((strcmp(argv[i], "--profile-dir") == 0 || strcmp(argv[i], "--logdir") == 0) &&
                   value != NULL)
            ret->path = argv[++i];
        else if (argv[i][0] == '-' || ret->path != NULL)
            return fail(err, ERR_INVALID,
                        "doctor does not understand %s: jviewd doctor [DIR] [--release] [--port N] "
                        "[--cache-dir DIR] [--follow-symlinks] [--format table|json]",
                        argv[i]);
        else
            ret->path = argv[i];
    }
    if (ret->path == NULL)
        ret->path = options_default_root(&rule);
    if (ret->path == NULL)
        ret->path = "profiles";
    return OK;
}

static void help(void)
{
    printf(
        "jviewd doctor [DIR]\n\n"
        "Reports what keeps you from seeing your profiles, each problem with the command that\n"
        "solves it: the file system, permissions and free space of DIR; files that cannot be\n"
        "read or are truncated; runs that hold only copies; runs without devices, and what on\n"
        "this machine may cause that; a JAX program that waits for its trace to be fetched;\n"
        "the port and the cache.\n\n"
        "  --release         fetch the trace that a JAX program waits for, so that it continues\n"
        "  --port N          the port to check (8080)\n"
        "  --cache-dir DIR   the cache to check\n"
        "  --follow-symlinks follow symbolic links, wherever they lead\n"
        "  --format json     for programs\n\n"
        "Exit codes: 0 no problem, 2 usage, 3 no such directory, 4 a problem was found.\n");
}

int doctor_main(int argc, char **argv)
{
    struct question question;
    struct error err = {0};

    if (read_question(argc, argv, &question, &err) != OK)
        return app_failed(&err);
    log_set_level(LOG_ERROR);
    if (!question.help)
        return examine(&question);
    help();
    return fflush(stdout) == 0 ? EXIT_OK : EXIT_IO;
}
