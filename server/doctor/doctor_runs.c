/* SPDX-License-Identifier: Apache-2.0 */
/* The runs below a directory: what is wrong with their files, and what they lack.
 *
 * What the catalog knows of all of them is told; the newest few are indexed first, so that what
 * was never looked at is known, too.
 */
#include <errno.h>
#include <sys/stat.h>

#include "base/shell.h"
#include "cli/wait.h"
#include "doctor/doctor.h"
#include "doctor/doctor_rights.h"
#include "ingest/ingest.h"
#include "remote/remote.h"

enum { RUNS_MAX = 10000, RUNS_READ = 20, WAIT_MS = 10000 };

static bool has_format(const struct run_record *run, struct str format)
{
    for (uint32_t i = 0; i < run->format_count; i++)
        if (str_equal(run->formats[i], format))
            return true;
    return false;
}

static bool is_directory(const char *path)
{
    struct stat seen;

    return stat(path, &seen) == 0 && S_ISDIR(seen.st_mode);
}

/* Where a file lies. What was asked for may be that file alone, whose path is its name then. */
static struct str place_of(const struct findings *findings, const struct app *app, struct str path)
{
    const char *root = app->services.profile_dir;

    return path.count > 0 && is_directory(root)
               ? str_format(findings->arena, "%s/%.*s", root, STR_ARG(path))
               : str_of(root);
}

static struct str directory_of(struct str path)
{
    const char *slash = memrchr(path.at, '/', path.count);

    return slash == NULL      ? STR(".")
           : slash == path.at ? STR("/")
                              : (struct str){.at = path.at, .count = (size_t)(slash - path.at)};
}

/* What stands between ` and ` in it; "" nothing. */
static struct str command_of(struct str reason)
{
    const char *open = reason.count == 0 ? NULL : memchr(reason.at, '`', reason.count);

    if (open == NULL)
        return STR("");
    struct str command = str_skip(reason, (size_t)(open + 1 - reason.at));
    const char *close = memchr(command.at, '`', command.count);
    command.count = close == NULL ? command.count : (size_t)(close - command.at);
    return command;
}

/* What a reason says to run; it names the file by its last name. */
static struct str command_in(struct findings *findings, const struct app *app, struct str path,
                             struct str reason)
{
    struct str command = command_of(reason);

    if (command.count == 0)
        return STR("");
    struct str place = shell_quoted(findings->arena, directory_of(place_of(findings, app, path)));
    return str_format(findings->arena, "cd %.*s && %.*s", STR_ARG(place), STR_ARG(command));
}

static void tell_file(struct findings *findings, const struct app *app, const struct run_file *file,
                      bool is_alone)
{
    struct finding finding = {.subject = str_copy(findings->arena, file->path),
                              .message = str_copy(findings->arena, file->error)};

    if (file->state == FILE_PARTIAL) {
        finding.kind = "cut-off";
        finding.severity = FINDING_WARNING;
        finding.message = STR("is truncated or damaged; the readable part is shown");
        finding.remedy = STR(
            "copy it again, or let the program finish: a profile is written when the trace stops");
    } else if (file->state == FILE_FAILED) {
        bool denied = str_contains(file->error, STR("permission"));

        finding.kind = denied ? "unreadable" : "broken";
        finding.severity = FINDING_ERROR;
        if (denied)
            finding.message = STR("cannot be opened: permission denied");
        struct str path = place_of(findings, app, file->path);
        finding.remedy = denied ? mend_access(findings->arena, str_c(findings->arena, path), "r")
                                : STR("copy it again, or capture again");
    } else if (file->state == FILE_IGNORED && (is_alone || str_contains(file->error, STR("`")))) {
        finding.kind = "not-read";
        finding.severity = FINDING_INFO;
        finding.remedy = command_in(findings, app, file->path, finding.message);
    } else {
        return;
    }
    finding_add(findings, finding);
}

static bool is_session(const struct run_record *run)
{
    return str_contains(run->dir, STR("plugins/profile/"));
}

/* True when a run of an accelerator's framework has no device. */
static bool tell_lacks(struct findings *findings, const struct run_record *run)
{
    struct finding finding = {.subject = str_copy(findings->arena, run->name)};

    if (run->host_count > 0 && is_session(run) && !has_format(run, STR("xplane"))) {
        finding.kind = "json-only";
        finding.severity = FINDING_WARNING;
        finding.message = STR("only the JSON copy of the profile exists: it ends after 1,000,000 "
                              "events and holds no HLO");
        finding.remedy = STR("copy *.xplane.pb of the session as well");
        finding_add(findings, finding);
    }
    if (!has_format(run, STR("xplane")) || run->slice_count == 0 || run->device_count_known)
        return false;
    finding.kind = "no-devices";
    finding.severity = FINDING_WARNING;
    finding.message = STR("the profile holds no device events: the program ran none during the "
                          "trace, or the profiler was not allowed to record them");
    finding.remedy =
        STR("call block_until_ready() inside the trace; then see the section about this machine");
    finding_add(findings, finding);
    return true;
}

static bool tell_run(struct findings *findings, struct app *app, struct str id, bool read)
{
    struct arena *arena = arena_create();
    struct run_record run;
    struct error err = {0};
    bool lacks = false;

    if (read && ingest_wait(app->ingest, id, WAIT_MS, &err) != OK)
        err = (struct error){0}; /* what is known so far is told all the same */
    if (catalog_run(app->catalog, id, arena, &run, &err) == OK && run.state != RUN_GONE) {
        for (uint32_t i = 0; i < run.run_file_count; i++)
            tell_file(findings, app, &run.files[i], run.run_file_count == 1);
        lacks = tell_lacks(findings, &run);
    }
    arena_destroy(arena);
    return lacks;
}

/* What was said of the directory itself (doctor_place.c) is not said again. */
static void tell_troubles(struct findings *findings, struct app *app, bool is_closed)
{
    struct scan_trouble *troubles;
    uint32_t count;

    catalog_troubles(app->catalog, findings->arena, &troubles, &count);
    for (uint32_t i = 0; i < count; i++) {
        bool denied = str_equal(troubles[i].reason, str_of(strerror(EACCES)));
        bool is_root = troubles[i].path.count == 0;
        struct str path = place_of(findings, app, troubles[i].path);

        if (is_root && is_closed)
            continue;
        finding_add(findings, (struct finding){
                                  .kind = troubles[i].is_remark ? "no-profile" : "not-looked-at",
                                  .severity = denied                  ? FINDING_ERROR
                                              : troubles[i].is_remark ? FINDING_INFO
                                                                      : FINDING_WARNING,
                                  .subject = is_root ? path : troubles[i].path,
                                  .message = troubles[i].reason,
                                  .remedy = denied ? mend_access(findings->arena,
                                                                 str_c(findings->arena, path), "rx")
                                                   : command_of(troubles[i].reason)});
    }
}

/* Of a directory that nobody could look into it is not known that it holds none. */
static void tell_count(struct findings *findings, const struct app *app, uint64_t count)
{
    uint64_t places = catalog_scan(app->catalog).directories;

    finding_add(
        findings,
        (struct finding){
            .kind = "runs",
            .severity = count > 0 ? FINDING_OK : FINDING_INFO,
            .subject = str_of(app->services.profile_dir),
            .message = count > 0
                           ? str_format(findings->arena, "%llu run%s", (unsigned long long)count,
                                        count == 1 ? "" : "s")
                           : str_format(findings->arena, "0 runs in %llu director%s",
                                        (unsigned long long)places, places == 1 ? "y" : "ies"),
            .remedy =
                count > 0
                    ? STR("")
                    : STR("jax.profiler.trace(DIR) writes one; it is shown as soon as it exists")});
}

/* What is a run only if its content says so is looked at first. */
static void wait_for_unlisted(const struct app *app)
{
    struct waiting waiting = wait_begin();

    while (wait_may_bring(&app->services) && wait_on(&waiting, &app->services))
        ;
}

bool doctor_runs(struct findings *findings, struct app *app)
{
    struct run_query query = {.limit = RUNS_MAX};
    struct run_record *runs = NULL;
    struct error err = {0};
    uint32_t count = 0;
    uint64_t all = 0;
    struct stat info;
    bool is_closed = !remote_is_place(str_of(app->services.profile_dir)) &&
                     (stat(app->services.profile_dir, &info) != 0 ||
                      !may_look(app->services.profile_dir, &info));
    bool lacks = false;

    wait_for_unlisted(app);
    tell_troubles(findings, app, is_closed);
    if (catalog_runs(app->catalog, &query, findings->arena, &runs, &count, &all, &err) != OK) {
        finding_add(
            findings,
            (struct finding){.kind = "catalog",
                             .severity = FINDING_ERROR,
                             .subject = str_copy(findings->arena, str_of(cache_dir(app->cache))),
                             .message = str_copy(findings->arena, str_of(err.message))});
        return false;
    }
    for (uint32_t i = 0; i < count; i++)
        all -= runs[i].state == RUN_GONE;
    if (all > 0 || !is_closed)
        tell_count(findings, app, all);
    for (uint32_t i = 0; i < count; i++)
        lacks |= tell_run(findings, app, runs[i].id, i < RUNS_READ);
    return lacks;
}
