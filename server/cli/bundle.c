/* SPDX-License-Identifier: Apache-2.0 */
/* jviewd bundle RUN: the run as one file to hand on.
 *
 *   step_500.jvz, step_500.html    by default, in the working directory
 *
 * A file that is there is never written over, unless -o names it.
 */
#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/ask.h"
#include "cli/plain.h"
#include "cli/verbs.h"
#include "serve/answer/file_name.h"
#include "serve/answer/reply.h"

/* The last part of the run's name. */
static int ask_name(const struct cli_call *call, const struct services *services, struct str *ret)
{
    struct cli_call asked = *call;
    struct answer answer;

    asked.path = "/api/run";
    asked.query = STR("");
    ask(&asked, services, STR(""), &answer);
    int code = answer.exit_code;
    if (code == EXIT_OK) {
        json_t *run = json_plain(reply_bytes(&answer.reply));
        struct str name = str_of(json_string_value(json_object_get(run, "name")));

        *ret = str_copy(call->arena, path_base(name));
        json_decref(run);
    }
    answer_free(&answer);
    return code;
}

int write_bundle(const struct cli_call *call, const struct services *services)
{
    struct str name = STR("");

    if (call->output.count > 0)
        return write_file(call, services, call->path, STR(""), str_c(call->arena, call->output));
    int code = ask_name(call, services, &name);
    if (code != EXIT_OK)
        return code;
    const char *suffix = str_contains(call->query, STR("html=yes")) ? "html" : "jvz";
    const char *target =
        str_format(call->arena, "%.*s.%s", STR_ARG(file_name_safe(call->arena, name)), suffix).at;
    if (access(target, F_OK) == 0) {
        fprintf(stderr,
                "jviewd: %s exists already; name another file, or this one to overwrite it, with "
                "-o FILE\n",
                target);
        return EXIT_USAGE;
    }
    return write_file(call, services, call->path, STR(""), target);
}
