/* SPDX-License-Identifier: Apache-2.0 */
/* A line a slice (RFC 4180). */
#include <stdlib.h>

#include "export/export.h"
#include "export/slice_rows.h"
#include "export/text_out.h"

struct csv {
    const struct export_run *run;
    struct text_out out;
    const struct export_host *host;
    const struct track *track;
};

static const struct {
    uint8_t flag;
    const char *word;
} flag_words[] = {
    {SLICE_INSTANT, "instant"}, {SLICE_PARTIAL, "partial"}, {SLICE_CUT, "cut"},
    {SLICE_DERIVED, "derived"}, {SLICE_ASYNC, "async"},     {SLICE_CLAMPED, "clamped"},
};

/* Quoted where it must be; never a formula. */
static void put_cell(struct text_out *out, struct str text)
{
    bool formula = text.count > 0 && memchr("=+-@\t\r", text.at[0], 6) != NULL;
    bool quoted = formula;

    for (size_t i = 0; i < text.count && !quoted; i++)
        quoted = text.at[i] == '"' || text.at[i] == ',' || text.at[i] == '\n' || text.at[i] == '\r';
    if (!quoted) {
        text_out_put(out, text);
        return;
    }
    text_out_put(out, formula ? STR("\"'") : STR("\""));
    while (text.count > 0) {
        const char *quote = memchr(text.at, '"', text.count);
        size_t count = quote != NULL ? (size_t)(quote - text.at) + 1 : text.count;

        text_out_put(out, (struct str){text.at, count});
        if (quote != NULL)
            text_out_puts(out, "\"");
        text = str_skip(text, count);
    }
    text_out_puts(out, "\"");
}

static void put_flags(struct text_out *out, uint8_t flags)
{
    bool first = true;

    for (size_t i = 0; i < COUNT(flag_words); i++) {
        if (!(flags & flag_words[i].flag))
            continue;
        if (!first)
            text_out_puts(out, " ");
        text_out_put(out, str_of(flag_words[i].word));
        first = false;
    }
}

static void put_slice(struct csv *csv, uint32_t depth, const struct chunk *chunk, uint32_t index)
{
    const struct trace *trace = csv->host->trace;
    struct text_out *out = &csv->out;
    track_id parent = csv->track->parent;

    put_cell(out, csv->host->name);
    text_out_puts(out, ",");
    put_cell(out, parent == NO_TRACK ? STR("") : trace_name(trace, trace->tracks[parent].name));
    text_out_puts(out, ",");
    put_cell(out, trace_name(trace, csv->track->name));
    text_out_puts(out, ",");
    text_out_uint(out, depth);
    text_out_puts(out, ",");
    text_out_int(out, chunk->start_ps[index] + csv->host->offset_ps);
    text_out_puts(out, ",");
    text_out_int(out, chunk->dur_ps[index]);
    text_out_puts(out, ",");
    text_out_int(out, chunk->self_ps[index]);
    text_out_puts(out, ",");
    put_cell(out, trace_name(trace, chunk->name[index]));
    text_out_puts(out, ",");
    text_out_put(out, str_of(kind_word(chunk->kind[index])));
    text_out_puts(out, ",");
    put_flags(out, chunk->flags[index]);
    text_out_puts(out, "\r\n");
}

static enum status visit_chunk(void *data, const struct row *row, const struct chunk *chunk,
                               uint32_t first, uint32_t end, struct error *err)
{
    struct csv *csv = data;

    for (uint32_t index = first; index < end && !csv->out.failed; index++)
        put_slice(csv, row->depth, chunk, index);
    return csv->out.failed ? fail(err, ERR_IO, "the client disconnected") : OK;
}

static enum status put_host(struct csv *csv, struct chunk *chunk, struct error *err)
{
    const struct trace *trace = csv->host->trace;

    for (row_id row = 0; row < trace->row_count; row++) {
        csv->track = &trace->tracks[trace->rows[row].track];
        TRY(slice_rows_walk(csv->run, csv->host, &trace->rows[row], chunk, visit_chunk, csv, err));
    }
    return OK;
}

enum status export_csv(const struct export_run *run, pack_write *write, void *to, struct error *err)
{
    struct csv csv = {.run = run};
    struct chunk *chunk = memory_resize(NULL, 1, sizeof *chunk);
    enum status status = OK;

    text_out_open(&csv.out, write, to, err);
    text_out_puts(&csv.out, "host,process,track,depth,start_ps,dur_ps,self_ps,name,kind,flags\r\n");
    for (uint32_t host = 0; host < run->host_count && status == OK; host++) {
        csv.host = &run->hosts[host];
        status = put_host(&csv, chunk, err);
    }
    enum status closed = text_out_close(&csv.out);

    free(chunk);
    return status != OK ? status : closed;
}
