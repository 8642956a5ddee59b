/* SPDX-License-Identifier: Apache-2.0 */
/* jviewd extract RUN: the run in another format, to a file.
 *
 *   chrome     Chrome JSON; gzipped where the file's name ends in .gz
 *   perfetto   the same, always gzipped: what ui.perfetto.dev opens
 *   csv        every slice, RFC 4180
 *   folded     stacks with their time, as flame graph programs read them
 *   xplane     what XProf reads: a file a host, in a directory where -o names one
 *   files      one clean decompressed JSON a host, in a directory
 *
 * Nothing is ever written beside the profile: without -o a file goes to stdout when that is no
 * terminal, files go to a new temporary directory, whose name is printed.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/ask.h"
#include "cli/plain.h"
#include "cli/verbs.h"
#include "remote/remote.h"
#include "serve/answer/reply.h"

static const struct {
    const char *format, *path, *parameter;
} sources[] = {
    {"chrome", "/api/trace", "chrome"}, {"perfetto", "/api/trace", "perfetto"},
    {"csv", "/api/trace", "csv"},       {"xplane", "/api/trace", "xplane"},
    {"folded", "/api/flame", "folded"},
};

static int tell(const char *text, struct str detail)
{
    fprintf(stderr, "jviewd: %s%.*s\n", text, STR_ARG(detail));
    return EXIT_USAGE;
}

int write_answer(const struct cli_call *call, const struct services *services, const char *path,
                 struct str format, int fd)
{
    struct cli_call asked = *call;
    struct answer answer;

    asked.path = path;
    ask(&asked, services, format, &answer);
    int code = answer.exit_code == EXIT_OK ? answer_write(&answer, fd) : answer.exit_code;
    answer_free(&answer);
    return code;
}

/* What the user makes has the user's usual rights, not those of our cache. */
static void usual_rights(int fd)
{
    mode_t mask = umask(0);

    umask(mask);
    if (fchmod(fd, 0666 & ~mask) != 0)
        fprintf(stderr, "jviewd: the file stays readable by its owner only: %s\n", strerror(errno));
}

int write_file(const struct cli_call *call, const struct services *services, const char *path,
               struct str format, const char *target)
{
    struct file_out out;
    struct error err = {0};

    if (remote_is_place(str_of(target)))
        return write_place(call, services, path, format, target);
    if (file_out_open(&out, target, &err) != OK) {
        fprintf(stderr, "jviewd: %s\n", err.message);
        return EXIT_IO;
    }
    int code = write_answer(call, services, path, format, out.fd);
    if (code != EXIT_OK) {
        file_out_abandon(&out);
        return code;
    }
    usual_rights(out.fd);
    if (file_out_commit(&out, &err) != OK) {
        fprintf(stderr, "jviewd: %s\n", err.message);
        return EXIT_IO;
    }
    fprintf(stderr, "%s\n", target);
    return EXIT_OK;
}

/* The hosts of the run; freed by the caller. */
static int ask_hosts(const struct cli_call *call, const struct services *services, json_t **ret)
{
    json_t *run;
    int code = ask_read_run(call, services, &run);

    *ret = json_incref(json_object_get(run, "hosts"));
    json_decref(run);
    if (code == EXIT_OK && json_array_size(*ret) == 0) {
        fprintf(stderr, "jviewd: no host of this run has a timeline: there is nothing to write\n");
        code = EXIT_NOT_FOUND;
    }
    return code;
}

/* The directory to write to; NULL when none can be made. */
static const char *target_directory(const struct cli_call *call)
{
    struct error err = {0};

    if (remote_is_place(call->output)) {
        tell("a file for each host is written to a directory, not to ", call->output);
        return NULL;
    }
    if (call->output.count > 0) {
        const char *directory = str_c(call->arena, call->output);

        if (directory_make(directory, &err) == OK)
            return directory;
        fprintf(stderr, "jviewd: %s\n", err.message);
        return NULL;
    }
    const char *base = getenv("TMPDIR");
    struct str template = str_format(call->arena, "%s/jviewd-XXXXXX", base != NULL ? base : "/tmp");
    char *made = mkdtemp(str_c(call->arena, template));
    if (made == NULL)
        fprintf(stderr, "jviewd: no temporary directory can be made: %s\n", strerror(errno));
    return made;
}

/* A file of its host's name, and of no other directory: the name may be the profile's own. */
static const char *target_in(const struct cli_call *call, const char *directory, const char *name,
                             const char *suffix)
{
    char *target = str_c(call->arena, str_format(call->arena, "%s/%s%s", directory, name, suffix));

    for (char *at = target + strlen(directory) + 1; *at != '\0'; at++) {
        if (*at == '/')
            *at = '_';
    }
    return target;
}

static int write_files(const struct cli_call *call, const struct services *services,
                       struct str format, const char *suffix)
{
    json_t *hosts = NULL, *host;
    size_t index;
    int code = ask_hosts(call, services, &hosts);
    const char *directory = code == EXIT_OK ? target_directory(call) : NULL;

    if (code == EXIT_OK && directory == NULL)
        code = EXIT_IO;
    json_array_foreach(hosts, index, host)
    {
        const char *name = json_string_value(json_object_get(host, "name"));
        struct cli_call one = *call;
        struct text query = {0};

        if (code != EXIT_OK)
            break;
        text_puts(&query, "host=");
        for (const char *at = name; *at != '\0'; at++)
            text_putf(&query, "%%%02X", (unsigned char)*at);
        one.query = str_copy(call->arena, text_str(&query));
        text_free(&query);
        code = write_file(&one, services, "/api/trace", format,
                          target_in(call, directory, name, suffix));
    }
    json_decref(hosts);
    return code;
}

static bool is_directory(const struct cli_call *call)
{
    struct stat about;

    return (!remote_is_place(call->output) && str_ends(call->output, STR("/"))) ||
           (call->output.count > 0 && stat(str_c(call->arena, call->output), &about) == 0 &&
            S_ISDIR(about.st_mode));
}

int write_extract(const struct cli_call *call, const struct services *services)
{
    struct str format = call->format.count > 0 ? call->format : STR("chrome");

    if (str_equal(format, STR("files")))
        return write_files(call, services, STR("chrome"), ".trace.json");
    if (str_equal(format, STR("xplane")) && is_directory(call))
        return write_files(call, services, format, ".xplane.pb");
    for (size_t i = 0; i < COUNT(sources); i++) {
        if (!str_equal(format, str_of(sources[i].format)))
            continue;
        struct str parameter = str_of(sources[i].parameter);
        if (str_equal(format, STR("chrome")) && str_ends(call->output, STR(".gz")))
            parameter = STR("perfetto");
        if (call->output.count > 0)
            return write_file(call, services, sources[i].path, parameter,
                              str_c(call->arena, call->output));
        bool is_text = !str_equal(parameter, STR("perfetto")) && !str_equal(format, STR("xplane"));
        if (isatty(STDOUT_FILENO) && !is_text)
            return tell("the output is binary: name a file with -o FILE", STR(""));
        return write_answer(call, services, sources[i].path, parameter, STDOUT_FILENO);
    }
    return tell("extract makes chrome, perfetto, csv, folded, xplane or files, not ", format);
}
