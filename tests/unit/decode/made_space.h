/* SPDX-License-Identifier: Apache-2.0 */
/* Builds XSpace files for tests, and decodes them in memory. */
#ifndef JVIEWD_TESTS_MADE_SPACE_H
#define JVIEWD_TESTS_MADE_SPACE_H

#include <dirent.h>
#include <stdio.h>

#include "base/file.h"
#include "decode/decode.h"
#include "decoded.h"
#include "picture.h"
#include "proto.h"

/* A space under construction: fields are put into `line`, lines into `plane`, planes into `file`.
 * Names go behind the lines, as writers put them. */
struct made {
    struct text file, plane, line, event, stat, names;
};

static inline void free_made(struct made *made)
{
    text_free(&made->file);
    text_free(&made->plane);
    text_free(&made->line);
    text_free(&made->event);
    text_free(&made->stat);
    text_free(&made->names);
}

static inline void line_head(struct made *made, int64_t id, const char *name, int64_t timestamp_ns)
{
    put_number(&made->line, 1, id);
    put_text(&made->line, 2, name);
    if (timestamp_ns != 0)
        put_number(&made->line, 3, timestamp_ns);
}

/* Stats that were put into made->event before are the event's. */
static inline void put_event(struct made *made, int64_t id, int64_t offset_ps, int64_t dur_ps)
{
    struct text event = {0};

    put_number(&event, 1, id);
    put_number(&event, 2, offset_ps);
    put_number(&event, 3, dur_ps);
    text_put(&event, made->event.at, made->event.count);
    made->event.count = 0;
    put_message(&made->line, 4, &event);
    text_free(&event);
}

static inline void put_stat(struct made *made, int64_t id, uint32_t number, int64_t value)
{
    put_number(&made->stat, 1, id);
    put_number(&made->stat, number, value);
    put_message(&made->event, 4, &made->stat);
}

static inline void end_line(struct made *made)
{
    put_message(&made->plane, 3, &made->line);
}

static inline void name_event(struct made *made, int64_t id, const char *name)
{
    put_named(&made->names, 4, id, name, NULL);
}

static inline void name_stat(struct made *made, int64_t id, const char *name)
{
    put_named(&made->names, 5, id, name, NULL);
}

static inline void end_plane(struct made *made, const char *name)
{
    struct text plane = {0};

    put_text(&plane, 2, name);
    text_put(&plane, made->plane.at, made->plane.count);
    text_put(&plane, made->names.at, made->names.count);
    made->plane.count = made->names.count = 0;
    put_message(&made->file, 1, &plane);
    text_free(&plane);
}

static inline const struct trace *trace_of(struct bytes bytes, struct arena *arena,
                                           struct error *err)
{
    return decoded(&decode_xspace, STR("a.xplane.pb"), bytes, arena, err);
}

static inline const struct trace *made_trace(const struct made *made, struct arena *arena)
{
    struct error err = {0};
    const struct trace *trace = trace_of(proto_bytes(&made->file), arena, &err);

    CHECK_OK("decode", err.code, &err);
    return trace;
}

static inline void one_event_line(struct made *made, int64_t id, const char *name,
                                  int64_t offset_ps)
{
    line_head(made, id, name, 0);
    put_event(made, 1, offset_ps, 5);
    end_line(made);
}

static inline struct bytes read_sample(const char *step, struct arena *arena)
{
    char path[4096];
    struct error err = {0};
    struct bytes bytes = {0};
    snprintf(path, sizeof path, "%s/samples/%s/plugins/profile", TESTS_DIR, step);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        struct str file = str_format(arena, "%s/%s/trainer-0.xplane.pb", path, entry->d_name);
        CHECK_OK(file.at, file_read(file.at, arena, 64 << 20, &bytes, &err), &err);
    }
    closedir(dir);
    return bytes;
}

#endif
