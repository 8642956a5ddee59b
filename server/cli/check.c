/* SPDX-License-Identifier: Apache-2.0 */
/* jviewd check RUN --baseline B: the answer, and as exit code what it means. */
#include <unistd.h>

#include "cli/ask.h"
#include "cli/verbs.h"
#include "serve/answer/reply.h"

int print_check(const struct cli_call *call, const struct services *services)
{
    bool as_text = call->format.count == 0 || str_equal(call->format, STR("table"));
    struct answer answer;

    ask(call, services, as_text ? STR("text") : call->format, &answer);
    int code = answer.exit_code;
    if (code == EXIT_OK)
        code = answer_write(&answer, STDOUT_FILENO);
    struct str said = reply_header_get(&answer.reply, STR("X-Jviewd-Answer"));
    if (code == EXIT_OK && str_equal(said, STR("regressed")))
        code = EXIT_REGRESSION;
    else if (code == EXIT_OK && str_equal(said, STR("maybe")))
        code = call->maybe_exit;
    else if (code == EXIT_OK && !str_equal(said, STR("ok")))
        code = EXIT_UNKNOWN;
    answer_free(&answer);
    return code;
}
