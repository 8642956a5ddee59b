/* jview-collect: runs a program with the collector in it, and puts what was recorded where jviewd
 * and TensorBoard look. The exit code is the program's. */
#include <inttypes.h>
#include <stdio.h>

#include "launch/child.h"

enum { EXIT_USAGE = 2, EXIT_CANNOT_START = 127 };

static void report(const struct launched *session, const struct session_result *result)
{
    if (result->spools == 0) {
        fprintf(
            stderr,
            "jview-collect: nothing was recorded: no NVTX range was met while recording was on.\n"
            "  A Python program tells ranges with `pip install nvtx`; JAX on a GPU tells its own "
            "modules and ops.\n");
        return;
    }
    fprintf(stderr, "jview-collect: %" PRIu64 " ranges of %" PRIu32 " %s", result->records,
            result->spools, result->spools == 1 ? "process" : "processes");
    if (result->lost > 0)
        fprintf(stderr, ", %" PRIu64 " lost (the profile's notes say why)", result->lost);
    fprintf(stderr, "\n  profile  %s\n  open     jviewd --profile-dir %s\n", result->profile,
            session->out);
}

static int complain(const struct error *err, int code)
{
    fprintf(stderr, "jview-collect: %s\n", err->message);
    return code;
}

int main(int argc, char **argv)
{
    struct options options;
    struct launched session;
    struct session_result result;
    struct error err = {0};

    (void)argc;
    if (options_parse(argv + 1, &options, &err) != OK)
        return complain(&err, EXIT_USAGE);
    if (options.shows_help || options.shows_version) {
        fputs(options.shows_help ? options_help : "jview-collect " JVIEWD_VERSION "\n", stdout);
        return 0;
    }
    if (session_begin(options.out, options.delay_ms == 0, &session, &err) != OK ||
        child_prepare(&options, &session, &err) != OK)
        return complain(&err, EXIT_CANNOT_START);
    int code = child_run(&options, &session, &err);
    if (err.code != OK)
        complain(&err, code);
    struct error at_end = {0};
    if (session_end(&session, &result, &at_end) != OK)
        complain(&at_end, code);
    else if (!options.is_quiet && err.code == OK)
        report(&session, &result);
    return code;
}
