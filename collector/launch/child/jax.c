/* SPDX-License-Identifier: Apache-2.0 */
/* Sets XLA_FLAGS and JAX's variables for --hlo-dump and --py-locations, beside what the user
 * set. */
#include "launch/child/jax.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/options/place.h"

#define DUMP_TO "--xla_dump_to="
#define AS_PROTO "--xla_dump_hlo_as_proto"
#define BLANKS " \t\r\n"

enum { PATH_BYTES = 4096 };

static enum status set(const char *name, const char *value, bool replaces, struct error *err)
{
    if (setenv(name, value, replaces) != 0)
        return fail(err, ERR_IO, "cannot set %s: %s", name, strerror(errno));
    return OK;
}

/* Beside plugins/, where jviewd takes it for the session's; a given one from where we stand, for
 * the program may go elsewhere. */
enum status jax_dump_directory(const struct options *options, const struct launched *session,
                               char ret[JAX_PATH_BYTES], struct error *err)
{
    char given[PATH_BYTES], here[PATH_BYTES];

    ret[0] = '\0';
    if (options->hlo_dump == NULL)
        return OK;
    if (options->hlo_dump[0] == '\0') {
        snprintf(ret, JAX_PATH_BYTES, "%s/hlo-%s", session->out, session->name);
        return OK;
    }
    TRY(place_of(options->hlo_dump, given, sizeof given, err));
    if (given[0] != '/' && getcwd(here, sizeof here) == NULL)
        return fail(err, ERR_IO, "no directory for --hlo-dump: %s", strerror(errno));
    snprintf(ret, JAX_PATH_BYTES, "%s%s%s", given[0] != '/' ? here : "", given[0] != '/' ? "/" : "",
             given);
    return OK;
}

/* In quotes, as XLA reads a value that may hold blanks. Returns the end. */
static char *put_quoted(char *at, const char *text)
{
    *at++ = '"';
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            *at++ = '\\';
        *at++ = *text;
    }
    *at++ = '"';
    *at = '\0';
    return at;
}

static enum status append_flags(const char *flags, const char *directory, struct error *err)
{
    size_t count = strlen(flags) + 2 * strlen(directory) + sizeof DUMP_TO AS_PROTO + 8;
    char *all = malloc(count);

    if (all == NULL)
        return fail(err, ERR_IO, "no memory for XLA_FLAGS");
    char *at = stpcpy(all, flags);
    at = put_quoted(stpcpy(stpcpy(at, flags[0] != '\0' ? " " : ""), DUMP_TO), directory);
    if (strstr(flags, AS_PROTO) == NULL)
        stpcpy(at, " " AS_PROTO);
    enum status status = set("XLA_FLAGS", all, true, err);
    free(all);
    return status;
}

/* A word that does not begin with a dash is, to XLA, a file that holds the flags. */
static enum status set_dump(const struct options *options, const struct launched *session,
                            struct error *err)
{
    char directory[JAX_PATH_BYTES];
    const char *flags = getenv("XLA_FLAGS");

    if (flags == NULL)
        flags = "";
    const char *first = flags + strspn(flags, BLANKS);
    if (*first != '\0' && *first != '-') {
        fprintf(stderr,
                "jview-collect: XLA_FLAGS names a file of flags, %s, so --hlo-dump cannot add its "
                "own: put --xla_dump_to there\n",
                first);
        return OK;
    }
    if (strstr(flags, DUMP_TO) != NULL) {
        fprintf(stderr, "jview-collect: XLA_FLAGS already sets a dump directory, so --hlo-dump "
                        "adds nothing; jviewd finds a dump that is beside plugins/\n");
        return OK;
    }
    TRY(jax_dump_directory(options, session, directory, err));
    return append_flags(*first == '\0' ? "" : flags, directory, err);
}

enum status jax_prepare(const struct options *options, const struct launched *session,
                        struct error *err)
{
    if (options->has_py_locations) {
        TRY(set("JAX_INCLUDE_FULL_TRACEBACKS_IN_LOCATIONS", "1", false, err));
        TRY(set("JAX_TRACEBACK_IN_LOCATIONS_LIMIT", "-1", false, err));
    }
    return options->hlo_dump != NULL ? set_dump(options, session, err) : OK;
}
