/* SPDX-License-Identifier: Apache-2.0 */
/* jview-collect: runs a program with the collector in it, and puts what was recorded where jviewd
 * and TensorBoard look. The exit code is the program's. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/record.h"
#include "base/memory.h"
#include "launch/capture/spools_place.h"
#include "launch/child/child.h"
#include "launch/child/jax.h"
#include "launch/ctl.h"
#include "launch/finalize.h"
#include "launch/options/condition.h"
#include "launch/options/place.h"
#include "launch/report.h"
#include "launch/spool/dump_mark.h"
#include "launch/spool/spools.h"

enum { EXIT_USAGE = 2, EXIT_CANNOT_START = 127 };

static int complain(const struct error *err, int code)
{
    fprintf(stderr, "jview-collect: %s\n", err->message);
    return code;
}

/* The program is over: an interrupt ends the waiting, and us. */
static void wait_for_all(const struct launched *session)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    spools_wait(session->directory);
}

/* Whoever finalizes, now or later, takes the modules from there. */
static enum status mark_dump(const struct options *options, const struct launched *session,
                             struct error *err)
{
    static char dump[JAX_PATH_BYTES];

    TRY(jax_dump_directory(options, session, dump, err));
    return dump[0] != '\0' ? dump_mark_put(session->directory, dump, err) : OK;
}

/* The program as it is: nothing of ours keeps it from running. */
static int run_unrecorded(const struct options *options)
{
    struct error err = {0};

    child_become(options);
    fail(&err, ERR_NOT_FOUND, "cannot run %s: %s", options->command[0], strerror(errno));
    return complain(&err, EXIT_CANNOT_START);
}

/* What was asked for wrongly is refused; what the machine refuses costs the recording alone. */
static int give_up(const struct options *options, const struct launched *session,
                   const struct error *err)
{
    if (err->code == ERR_INVALID || err->code == ERR_CONFLICT)
        return complain(err, EXIT_CANNOT_START);
    complain(err, EXIT_CANNOT_START);
    fprintf(stderr, "jview-collect: the program runs without being recorded\n");
    if (session->name[0] != '\0')
        spools_leave(session->directory);
    child_unset();
    return run_unrecorded(options);
}

static volatile sig_atomic_t program_code;

/* Memory that is refused ends us (base/arena.h), but the program has ended before, and its code is
 * what was asked for. */
static void end_as_the_program(int number)
{
    static const char words[] = "jview-collect: the recording stays a spool: out of memory\n";

    (void)number;
    (void)!write(STDERR_FILENO, words, sizeof words - 1);
    _exit(program_code);
}

static int record(const struct options *options)
{
    static struct launched session;
    static struct session_result result;
    static char out[4096];
    struct error err = {0}, at_end = {0};
    bool is_open = options->asked.range == CAPTURE_NONE && options->delay_ms == 0;

    if (place_of(options->out, out, sizeof out, &err) != OK)
        return err.code == ERR_INVALID ? complain(&err, EXIT_USAGE)
                                       : give_up(options, &session, &err);
    if (session_begin(out, &options->asked, is_open, &session, &err) != OK ||
        child_prepare(options, &session, &err) != OK || mark_dump(options, &session, &err) != OK)
        return give_up(options, &session, &err);
    int code = child_run(options, &session, &err);
    program_code = code;
    signal(SIGABRT, end_as_the_program);
    if (err.code != OK)
        complain(&err, code);
    if (options->waits_all)
        wait_for_all(&session);
    if (session_end(&session, &result, &at_end) != OK)
        complain(&at_end, code);
    else if (!options->is_quiet && err.code == OK)
        report_print(options, &session, &result);
    int64_t until_ms = options->finalize_ms;
    for (uint32_t index = 0; index < result.profile_count && options->finalize_ms > 0; index++)
        finalize_session(result.profiles[index], &until_ms);
    return code;
}

/* A spool, or all of a profile directory; nobody waits, so it may take as long as it does. */
static int finalize(const char *path)
{
    struct error err = {0};
    size_t count = strlen(path), suffix = strlen(SPOOL_SUFFIX);

    if (count > suffix && strcmp(path + count - suffix, SPOOL_SUFFIX) == 0)
        return finalize_spool(path, INT64_MAX, &err) == OK ? 0 : complain(&err, 1);
    if (spools_finalize(path, &err) != OK)
        return complain(&err, 1);
    return options_finalize_ms() > 0 && finalize_sessions(path, INT64_MAX) > 0;
}

int main(int argc, char **argv)
{
    static struct options options;
    struct error err = {0};
    bool is_asked = true;

    if (argc > 1 && strcmp(argv[1], "ctl") == 0)
        return ctl_run(argv + 2, &err) == OK ? 0 : complain(&err, err.code == ERR_INVALID ? 2 : 1);
    if (argc == 3 && strcmp(argv[1], "finalize") == 0)
        return finalize(argv[2]);
    if (options_parse(argv + 1, &options, &err) != OK)
        return complain(&err, EXIT_USAGE);
    if (options.shows_help || options.shows_version) {
        fputs(options.shows_help ? options_help : "jview-collect " JVIEWD_VERSION "\n", stdout);
        if (options.shows_help && !sampling_is_built)
            fputs("This one is built without samplers: --py-sample and --sample=cpu are refused.\n",
                  stdout);
        return 0;
    }
    if (options.condition != NULL && condition_holds(options.condition, &is_asked, &err) != OK)
        return complain(&err, EXIT_USAGE);
    if (!is_asked)
        return run_unrecorded(&options);
    memory_prepare();
    child_guard();
    return record(&options);
}
