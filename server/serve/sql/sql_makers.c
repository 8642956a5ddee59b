/* Makes the tables behind the SQL views that stand on analyses of a whole run. */
#include "serve/sql/sql_makers.h"

#include "analyse/comm/collectives.h"
#include "analyse/ops/kernels.h"
#include "analyse/ops/roofline.h"
#include "analyse/ops/top.h"
#include "analyse/steps/align.h"
#include "analyse/steps/hosts.h"
#include "analyse/steps/idle.h"
#include "serve/answer/slice_out.h"
#include "serve/answer/track_words.h"
#include "serve/routes/memory/memory.h"

static const struct restriction whole = {0};

static enum status make_top(const struct run_traces *run, const char *by, const struct page *page,
                            struct arena *arena, struct table *ret, struct error *err)
{
    const struct top_question question = {.by = str_of(by)};

    return top(run, &whole, &question, page, arena, ret, err);
}

enum status sql_make_ops(const struct run_traces *run, const struct page *page, struct arena *arena,
                         struct table *ret, struct error *err)
{
    return make_top(run, "op", page, arena, ret, err);
}

enum status sql_make_names(const struct run_traces *run, const struct page *page,
                           struct arena *arena, struct table *ret, struct error *err)
{
    return make_top(run, "name", page, arena, ret, err);
}

enum status sql_make_scopes(const struct run_traces *run, const struct page *page,
                            struct arena *arena, struct table *ret, struct error *err)
{
    return make_top(run, "scope", page, arena, ret, err);
}

enum status sql_make_modules(const struct run_traces *run, const struct page *page,
                             struct arena *arena, struct table *ret, struct error *err)
{
    return make_top(run, "module", page, arena, ret, err);
}

enum status sql_make_steps(const struct run_traces *run, const struct page *page,
                           struct arena *arena, struct table *ret, struct error *err)
{
    struct steps steps;

    return steps_table(run, &whole, page, arena, &steps, ret, err);
}

enum status sql_make_gaps(const struct run_traces *run, const struct page *page,
                          struct arena *arena, struct table *ret, struct error *err)
{
    return gaps_table(run, &whole, page, arena, ret, err);
}

enum status sql_make_hosts(const struct run_traces *run, const struct page *page,
                           struct arena *arena, struct table *ret, struct error *err)
{
    struct steps steps;
    struct lanes lanes;

    TRY(steps_find(run, &whole, arena, &steps, err));
    lanes_find(run, &steps, LANES_BY_HOST, arena, &lanes);
    return lanes_table(run, &lanes, align_hosts(run, arena), page, arena, ret, err);
}

enum status sql_make_kernels(const struct run_traces *run, const struct page *page,
                             struct arena *arena, struct table *ret, struct error *err)
{
    const struct kernels_question question = {.by = STR("")};
    struct kernels_summary summary;

    return kernels(run, &whole, &question, page, arena, ret, &summary, err);
}

enum status sql_make_roofline(const struct run_traces *run, const struct page *page,
                              struct arena *arena, struct table *ret, struct error *err)
{
    struct roofline summary;

    return roofline(run, &whole, page, arena, ret, &summary, err);
}

enum status sql_make_collectives(const struct run_traces *run, const struct page *page,
                                 struct arena *arena, struct table *ret, struct error *err)
{
    return collectives_table(run, &whole, STR(""), page, arena, ret, err);
}

enum status sql_make_memory(const struct run_traces *run, const struct page *page,
                            struct arena *arena, struct table *ret, struct error *err)
{
    struct memory_timeline timeline;

    (void)page;
    TRY(memory_timeline(run, &whole, arena, &timeline, err));
    *ret = memory_allocators_table(arena, &timeline);
    return OK;
}

static struct cell text_or_null(struct str text)
{
    return (struct cell){.kind = text.count > 0 ? CELL_TEXT : CELL_NULL, .of.text = text};
}

static struct cell integer_if(bool known, int64_t value)
{
    return (struct cell){.kind = known ? CELL_INTEGER : CELL_NULL, .of.integer = known ? value : 0};
}

static const struct column track_columns[] = {
    {"id", "", UNIT_TEXT, true},
    {"parent", "", UNIT_TEXT, true},
    {"host", "", UNIT_TEXT, true},
    {"name", "", UNIT_TEXT, true},
    {"kind", "", UNIT_TEXT, true},
    {"role", "", UNIT_TEXT, true},
    {"device", "", UNIT_NONE, true},
    {"derived", "", UNIT_NONE, true},
    {"depth_count", "", UNIT_COUNT, true},
    {"slice_count", "", UNIT_COUNT, true},
    {"duration_sum_ps", "", UNIT_PS, true},
    {"start_ps", "", UNIT_PS, true},
    {"end_ps", "", UNIT_PS, true},
};

static void fill_track(struct cell *ret, const struct host_trace *host, track_id id,
                       struct arena *arena)
{
    const struct track *track = &host->trace->tracks[id];
    bool timed = track->slice_count > 0;
    const struct cell cells[COUNT(track_columns)] = {
        text_or_null(track_text(arena, host, id)),
        text_or_null(track->parent == NO_TRACK ? STR("") : track_text(arena, host, track->parent)),
        text_or_null(host->name),
        {.kind = CELL_TEXT, .of.text = trace_name(host->trace, track->name)},
        text_or_null(str_of(track_kind_word(track->kind))),
        text_or_null(str_of(track_role_word(track->role))),
        integer_if(track->device >= 0, track->device),
        {.kind = CELL_BOOL, .of.boolean = track->derived},
        integer_if(true, track->row_count),
        integer_if(true, (int64_t)track->slice_count),
        integer_if(true, track->duration_sum_ps),
        integer_if(timed, run_time(host, track->start_ps)),
        integer_if(timed, run_time(host, track->end_ps)),
    };

    memcpy(ret, cells, sizeof cells);
}

enum status sql_make_tracks(const struct run_traces *run, const struct page *page,
                            struct arena *arena, struct table *ret, struct error *err)
{
    uint32_t count = 0;

    (void)page;
    (void)err;
    for (uint32_t i = 0; i < run->host_count; i++)
        count += run->hosts[i].trace->track_count;
    struct cell *cells = arena_array(arena, struct cell, (size_t)count * COUNT(track_columns));
    *ret = (struct table){.columns = track_columns,
                          .column_count = COUNT(track_columns),
                          .cells = cells,
                          .row_count = count,
                          .row_count_all = count};
    for (uint32_t i = 0; i < run->host_count; i++) {
        for (track_id id = 0; id < run->hosts[i].trace->track_count; id++) {
            fill_track(cells, &run->hosts[i], id, arena);
            cells += COUNT(track_columns);
        }
    }
    return OK;
}
