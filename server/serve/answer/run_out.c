/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the members of a run as JSON. */
#include "serve/answer/run_out.h"

#include <time.h>

struct str unix_ns_iso(struct arena *arena, int64_t unix_ns)
{
    time_t seconds = (time_t)(unix_ns / INT64_C(1000000000) - (unix_ns % 1000000000 < 0));
    struct tm utc;
    char text[64];

    if (gmtime_r(&seconds, &utc) == NULL)
        return STR("");
    size_t count = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return str_copy(arena, (struct str){.at = text, .count = count});
}

struct str run_started_at(struct arena *arena, const struct run_record *run)
{
    return run->has_epoch ? unix_ns_iso(arena, run->epoch_ns) : STR("");
}

bool run_was_read(const struct run_record *run)
{
    return run->host_count > 0 || run->slice_count > 0 || run->state == RUN_READY ||
           run->state == RUN_PARTIAL;
}

void json_put_host_names(struct json *json, const struct run_record *run)
{
    json_key(json, "hosts");
    json_open(json, '[');
    for (uint32_t i = 0; i < run->host_count; i++)
        json_add_text(json, run->hosts[i].name);
    json_close(json, ']');
}

void json_put_run_file(struct json *json, const struct run_file *file)
{
    json_put_text(json, "path", file->path);
    json_put_text_or_null(json, "host", file->host);
    json_put_text_or_null(json, "format", file->format);
    json_put_unsigned(json, "bytes", file->bytes);
    json_put_text(json, "state", str_of(file_state_word(file->state)));
    json_put_text_or_null(
        json, "part", file->content[0] == '\0' ? STR("") : str_of(decode_part_word(file->part)));
    json_put_text_or_null(json, "error", file->error);
}

static void put_known(struct json *json, const char *key, bool known, int64_t value)
{
    if (known)
        json_put_integer(json, key, value);
    else
        json_put_null(json, key);
}

/* A run of programs and snapshots alone has no time that passes in it. */
static bool has_timeline(const struct run_record *run)
{
    return run_was_read(run) && run->host_count > 0;
}

static void put_reason(struct json *json, const char *key, bool known, bool read,
                       const char *reason)
{
    if (!known)
        json_put_text(json, key, str_of(read ? reason : "the run is not indexed yet"));
}

static void put_reasons(struct json *json, const struct run_record *run)
{
    bool read = run_was_read(run);

    json_key(json, "reasons");
    json_open(json, '{');
    put_reason(json, "started_at", run->has_epoch, read, "the files hold no wall clock");
    put_reason(json, "epoch_ns", run->has_epoch, read, "the files hold no wall clock");
    put_reason(json, "duration_ps", has_timeline(run), read, "the run holds no timeline");
    put_reason(json, "slice_count", has_timeline(run), read, "the run holds no timeline");
    put_reason(json, "device_count", read && run->device_count_known, read,
               "the files name no devices");
    put_reason(json, "device_kind", run->device_kind.count > 0, read,
               "the files do not say what the devices are");
    put_reason(json, "framework", run->framework.count > 0, read,
               "the files do not say what wrote them");
    put_reason(json, "step_count", run->step_count >= 0, read, "no steps were found");
    put_reason(json, "step_median_ps", run->step_median_ps >= 0, read,
               run->step_count >= 0 ? "the step time is not stated: see the overview"
                                    : "no steps were found");
    json_close(json, '}');
}

static void put_times(struct json *json, struct arena *arena, const struct run_record *run)
{
    json_put_text_or_null(json, "started_at", run_started_at(arena, run));
    json_put_text_or_null(json, "epoch_ns",
                          run->has_epoch ? str_format(arena, "%lld", (long long)run->epoch_ns)
                                         : STR(""));
    json_put_text(json, "modified_at", unix_ns_iso(arena, run->modified_ns));
    put_known(json, "duration_ps", has_timeline(run), run->duration_ps);
}

static bool is_uploaded(const struct request *req, const struct run_record *run)
{
    const struct uploads *uploads = req->services->uploads;

    return uploads != NULL && str_equal(run->root, str_of(uploads_dir(uploads)));
}

void json_put_run_members(struct json *json, struct request *req, const struct run_record *run)
{
    struct arena *arena = req->arena;
    bool read = run_was_read(run);

    json_put_text(json, "id", run->id);
    json_put_text_or_null(json, "content_id", run->content_id);
    json_put_text(json, "name", run->name);
    json_put_text_or_null(json, "title", run->about.name);
    json_put_text(json, "dir", run->dir);
    json_put_texts(json, "dirs", run->dirs, run->dir_count);
    json_put_text(json, "state", str_of(run_state_word(run->state)));
    json_key(json, "progress");
    if (run->state == RUN_INDEXING)
        json_add_real(json, run->progress);
    else
        json_add_null(json);
    json_put_text_or_null(json, "error", run->error);
    put_times(json, arena, run);
    put_known(json, "device_count", read && run->device_count_known, run->device_count);
    json_put_text_or_null(json, "device_kind", run->device_kind);
    json_put_text_or_null(json, "framework", run->framework);
    json_put_texts(json, "formats", run->formats, run->format_count);
    json_put_unsigned(json, "file_count", run->file_count);
    json_put_unsigned(json, "file_bytes", run->file_bytes);
    put_known(json, "slice_count", has_timeline(run), (int64_t)run->slice_count);
    put_known(json, "step_count", run->step_count >= 0, run->step_count);
    put_known(json, "step_median_ps", run->step_median_ps >= 0, run->step_median_ps);
    json_put_bool(json, "uploaded", is_uploaded(req, run));
    json_put_texts(json, "badges", run->badges, run->badge_count);
    put_reasons(json, run);
}
