/* SPDX-License-Identifier: Apache-2.0 */
/* What a file is that somebody brought: told by an indexing process that reads no further, for a
 * stranger's bytes are opened nowhere else. */
#include <string.h>

#include "ingest/ingest_parts.h"

static void on_start(void *data, pid_t pid)
{
    (void)data;
    (void)pid;
}

static void on_progress(void *data, double share)
{
    (void)data;
    (void)share;
}

enum status ingest_identify(void *data, const char *path, struct arena *arena,
                            struct str *ret_format, struct error *err)
{
    const struct ingest *ingest = data;
    const char *slash = strrchr(path, '/');
    struct index_result result;
    bool transient;

    if (slash == NULL)
        return fail(err, ERR_INVALID, "%s is not an absolute path", path);
    struct str directory = {.at = path, .count = (size_t)(slash - path)};
    const struct child_job job = {
        .root = directory,
        .path = str_of(slash + 1),
        .segment = str_format(arena, "%.*s/identify.seg", STR_ARG(directory)).at,
        .identify = true,
        .convert = ingest->options.convert,
        .on_start = on_start,
        .on_progress = on_progress,
    };
    TRY(child_index(&job, arena, &result, &transient, err));
    if (result.outcome != OUTCOME_SAME)
        return fail(err, transient ? ERR_IO : ERR_UNSUPPORTED, "%.*s", STR_ARG(result.error));
    *ret_format = result.format;
    return OK;
}
