/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the members of a slice as JSON. */
#include "serve/answer/slice_out.h"

static const struct {
    unsigned flag;
    const char *word;
} flag_words[] = {
    {SLICE_INSTANT, "instant"}, {SLICE_PARTIAL, "partial"}, {SLICE_CUT, "cut"},
    {SLICE_DERIVED, "derived"}, {SLICE_ASYNC, "async"},     {SLICE_CLAMPED, "clamped"},
};

static void put_flags(struct json *json, unsigned flags)
{
    json_key(json, "flags");
    json_open(json, '[');
    for (size_t i = 0; i < COUNT(flag_words); i++) {
        if (flags & flag_words[i].flag)
            json_add_text(json, str_of(flag_words[i].word));
    }
    json_close(json, ']');
}

void json_put_slice_members(struct json *json, struct arena *arena, const struct host_trace *host,
                            const struct slice *slice)
{
    const struct row *row = &host->trace->rows[slice->row];

    json_put_text(json, "id", slice_text(arena, host, slice->id));
    json_put_text(json, "track", track_text(arena, host, row->track));
    json_put_unsigned(json, "depth", row->depth);
    json_put_integer(json, "start_ps", run_time(host, slice->start_ps));
    json_put_integer(json, "dur_ps", slice->dur_ps);
    json_put_integer(json, "self_ps", slice->self_ps);
    json_put_text(json, "name", trace_name(host->trace, slice->name));
    json_put_text(json, "kind", str_of(kind_word(slice->kind)));
    put_flags(json, slice->flags);
}

static const struct column columns[] = {
    {"id", "id", UNIT_TEXT, false},        {"track", "track", UNIT_TEXT, true},
    {"depth", "depth", UNIT_COUNT, true},  {"start_ps", "start", UNIT_PS, true},
    {"dur_ps", "duration", UNIT_PS, true}, {"self_ps", "self", UNIT_PS, true},
    {"name", "name", UNIT_TEXT, true},     {"kind", "kind", UNIT_TEXT, true},
    {"flags", "flags", UNIT_TEXT, true},
};

struct str slice_flags_text(struct arena *arena, unsigned flags)
{
    struct str ret = STR("");

    for (size_t i = 0; i < COUNT(flag_words); i++) {
        if (flags & flag_words[i].flag)
            ret = str_format(arena, "%.*s%s%s", STR_ARG(ret), ret.count > 0 ? " " : "",
                             flag_words[i].word);
    }
    return ret;
}

static struct cell text_cell(struct str text)
{
    return (struct cell){.kind = CELL_TEXT, .of.text = text};
}

static struct cell integer_cell(int64_t value)
{
    return (struct cell){.kind = CELL_INTEGER, .of.integer = value};
}

struct table slice_table(struct arena *arena, const struct run_traces *run,
                         const struct slice_place *places, uint32_t count)
{
    struct cell *cells = arena_array(arena, struct cell, (size_t)count * COUNT(columns));

    for (uint32_t i = 0; i < count; i++) {
        const struct host_trace *host = &run->hosts[places[i].host];
        struct slice slice = trace_slice(host->trace, places[i].slice);
        const struct row *row = &host->trace->rows[slice.row];
        const struct cell line[COUNT(columns)] = {
            text_cell(slice_text(arena, host, slice.id)),
            text_cell(track_text(arena, host, row->track)),
            integer_cell(row->depth),
            integer_cell(run_time(host, slice.start_ps)),
            integer_cell(slice.dur_ps),
            integer_cell(slice.self_ps),
            text_cell(trace_name(host->trace, slice.name)),
            text_cell(str_of(kind_word(slice.kind))),
            text_cell(slice_flags_text(arena, slice.flags)),
        };

        memcpy(&cells[(size_t)i * COUNT(columns)], line, sizeof line);
    }
    return (struct table){.columns = columns,
                          .column_count = COUNT(columns),
                          .cells = cells,
                          .row_count = count,
                          .row_count_all = count};
}
