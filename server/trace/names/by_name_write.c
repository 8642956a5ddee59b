/* SPDX-License-Identifier: Apache-2.0 */
/* Slices by name, written at the finish in few passes over the columns.
 *
 *   count    names only: how many slices each name has, and in which rows
 *   place    names, dur, self: ids into (name, row, time) order; totals; durations for quantiles
 *
 * A name with at most EXACT_MAX slices has its durations gathered, as
 * many names at once as fit GATHERED_MAX, further ones in further passes; one with more has a
 * histogram of 64 steps an octave, which is off by less than 0.8 %.
 */
#include <stdlib.h>

#include "base/sort.h"
#include "trace/names/by_name.h"
#include "trace/names/name_totals.h"
#include "trace/names/quantile.h"
#include "trace/readers.h"
#include "trace/writers.h"

enum {
    EXACT_MAX = 65536,
    GATHERED_MAX = 1 << 22, /* durations: 32 MiB */
    READ_RUNS = 4096,
};

struct entry { /* one name that has slices */
    name_id name;
    uint32_t slice_count, run_count; /* in all rows */
    uint32_t count;                  /* on tracks that are not derived */
    uint32_t next_id, next_run;      /* where the next one goes */
    struct name_totals totals;
    uint32_t *buckets; /* of a name above EXACT_MAX, or NULL */
};

struct hot { /* what every slice touches of its entry */
    uint32_t next_id;
    uint32_t gathered;  /* durations of this pass so far */
    int64_t covered_ps; /* by children: total without self */
    int64_t *durations; /* of this pass, or NULL */
};

struct row_run { /* as it waits, row by row */
    uint32_t entry, row, count;
};

struct chunk_view { /* the chunk at hand */
    const struct chunk_entry *entry;
    const uint8_t *data;
    struct chunk_names names;
};

struct work {
    const struct part_tools *tools;
    const struct trace *trace;
    struct error *err;
    struct chunk_view view;
    struct chunk *chunk; /* for its durations */
    struct entry *entries;
    struct hot *hot;      /* of each entry, once they are counted */
    uint32_t *row_counts; /* of each entry: slices in the row at hand */
    uint32_t entry_count, entry_capacity;
    uint32_t *touched; /* entries in the row at hand */
    uint32_t touched_count, touched_capacity;
    uint32_t *entry_of; /* by name; entry + 1, 0 is none */
    struct spill *runs;
    uint64_t run_count;
    slice_id *ids;
    int64_t *gathered;
};

static inline uint32_t entry_of(struct work *work, name_id name)
{
    if (work->entry_of[name] == 0) {
        if (work->entry_count == work->entry_capacity) {
            work->entry_capacity = work->entry_capacity == 0 ? 256 : work->entry_capacity * 2;
            work->entries =
                memory_resize(work->entries, work->entry_capacity, sizeof(*work->entries));
            work->row_counts =
                memory_resize(work->row_counts, work->entry_capacity, sizeof(*work->row_counts));
        }
        work->row_counts[work->entry_count] = 0;
        work->entries[work->entry_count++] = (struct entry){.name = name};
        work->entry_of[name] = work->entry_count;
    }
    return work->entry_of[name] - 1;
}

/* What one row holds of each name, in order of appearance. */
static enum status put_row_runs(struct work *work, row_id row, bool derived)
{
    for (uint32_t i = 0; i < work->touched_count; i++) {
        uint32_t touched = work->touched[i];
        struct entry *entry = &work->entries[touched];
        struct row_run run = {.entry = touched, .row = row, .count = work->row_counts[touched]};
        uint64_t offset;

        entry->slice_count += run.count;
        entry->count += derived ? 0 : run.count;
        entry->run_count++;
        work->row_counts[touched] = 0;
        TRY(spill_append(work->runs, (struct bytes){(const uint8_t *)&run, sizeof(run)}, &offset,
                         work->err));
    }
    work->run_count += work->touched_count;
    return OK;
}

static bool is_derived(const struct trace *trace, const struct row *row)
{
    return trace->tracks[row->track].derived;
}

/* A chunk by its own columns: names are local ids there, few of them. False: damaged. */
static bool look_at_chunk(struct work *work, uint32_t chunk)
{
    struct chunk_view *view = &work->view;
    uint32_t offset[PACKED_COUNT + 1];

    view->entry = &work->trace->parts->chunks[chunk];
    view->data = chunk_bytes(work->trace, chunk);
    if (view->data == NULL)
        return false;
    chunk_layout(view->entry, offset);
    view->names = chunk_names_at(view->entry, view->data, offset);
    return true;
}

static void touch_entry(struct work *work, name_id name, uint32_t count)
{
    uint32_t entry = entry_of(work, name);

    if (work->row_counts[entry] == 0) {
        if (work->touched_count == work->touched_capacity) {
            work->touched_capacity = work->touched_capacity == 0 ? 256 : work->touched_capacity * 2;
            work->touched =
                memory_resize(work->touched, work->touched_capacity, sizeof(*work->touched));
        }
        work->touched[work->touched_count++] = entry;
    }
    work->row_counts[entry] += count;
}

static enum status count_row(struct work *work, row_id row_index)
{
    const struct row *row = &work->trace->rows[row_index];
    const struct chunk_view *view = &work->view;

    work->touched_count = 0;
    for (uint32_t i = 0; i < row->chunk_count; i++) {
        uint32_t counts[CHUNK_SLICES];

        if (!look_at_chunk(work, row->first_chunk + i))
            continue;
        memset(counts, 0, view->entry->dictionary_count * sizeof(*counts));
        for (uint32_t j = 0; j < view->entry->count; j++)
            counts[chunk_local_name(&view->names, j)]++;
        for (uint32_t j = 0; j < view->entry->dictionary_count; j++)
            if (counts[j] > 0)
                touch_entry(work, named_name(view->names.dictionary[j]), counts[j]);
    }
    return put_row_runs(work, row_index, is_derived(work->trace, row));
}

static enum status count_names(struct work *work)
{
    for (row_id row = 0; row < work->trace->row_count; row++)
        TRY(count_row(work, row));
    return OK;
}

static bool by_name(const struct entry *a, const struct entry *b)
{
    return a->name < b->name;
}
SORT_DEFINE(sort_entries, struct entry, by_name)

/* Deals the waiting runs out to their names: rows ascend, so each name's runs do. `place` is where
 * entries went when they were sorted. */
static enum status fill_runs(struct work *work, const uint32_t *place, struct name_run *runs)
{
    struct row_run *room = memory_resize(NULL, READ_RUNS, sizeof(*room));
    enum status status = OK;

    for (uint64_t i = 0; i < work->run_count && status == OK; i += READ_RUNS) {
        uint64_t left = work->run_count - i, count = left < READ_RUNS ? left : READ_RUNS;

        status = spill_read(work->runs, i * sizeof(*room), room, count * sizeof(*room), work->err);
        for (uint64_t j = 0; j < count && status == OK; j++) {
            struct entry *entry = &work->entries[place[room[j].entry]];

            runs[entry->next_run++] = (struct name_run){.name = entry->name,
                                                        .row = room[j].row,
                                                        .first = entry->next_id,
                                                        .count = room[j].count};
            entry->next_id += room[j].count;
        }
    }
    free(room);
    return status;
}

/* Sorts the entries by name, gives each its place among ids and runs, writes the runs. */
static enum status write_runs(struct work *work)
{
    struct block_out out = work->tools->out;
    uint32_t *place = memory_resize(NULL, work->entry_count + 1, sizeof(*place));
    name_id *names = memory_resize(NULL, work->entry_count + 1, sizeof(*names));
    uint32_t next_id = 0, next_run = 0;
    uint8_t *table;

    for (uint32_t i = 0; i < work->entry_count; i++)
        names[i] = work->entries[i].name;
    sort_entries(work->entries, work->entry_count);
    for (uint32_t i = 0; i < work->entry_count; i++) {
        work->entry_of[work->entries[i].name] = i + 1;
        work->entries[i].next_id = next_id;
        work->entries[i].next_run = next_run;
        next_id += work->entries[i].slice_count;
        next_run += work->entries[i].run_count;
    }
    for (uint32_t i = 0; i < work->entry_count; i++)
        place[i] = work->entry_of[names[i]] - 1;

    enum status status = out.table_reserve(
        out.to, TABLE_BY_NAME_RUNS, work->run_count * sizeof(struct name_run), &table, work->err);

    if (status == OK)
        status = fill_runs(work, place, (struct name_run *)(void *)table);
    for (uint32_t i = 0; i < work->entry_count; i++)
        work->entries[i].next_id -= work->entries[i].slice_count;
    free(place);
    free(names);
    return status;
}

/* The first pass places ids; every pass gathers durations. */
static void pass_over_chunk(struct work *work, slice_id first_slice, bool derived, bool first_pass)
{
    const struct chunk_view *view = &work->view;
    const int64_t *dur_ps = work->chunk->dur_ps, *self_ps = work->chunk->self_ps;
    bool covered = !derived && first_pass && !(view->entry->forms & CHUNK_SELF_IS_DUR);
    uint32_t entries[CHUNK_SLICES]; /* by local name */

    if (!derived)
        chunk_durs(view->entry, view->data, work->chunk->dur_ps);
    if (covered)
        chunk_selfs(view->entry, view->data, work->chunk->self_ps);
    for (uint32_t i = 0; i < view->entry->dictionary_count; i++)
        entries[i] = work->entry_of[named_name(view->names.dictionary[i])] - 1;
    for (uint32_t i = 0; i < view->entry->count; i++) {
        uint32_t index = entries[chunk_local_name(&view->names, i)];
        struct hot *hot = &work->hot[index];

        if (first_pass)
            work->ids[hot->next_id++] = first_slice + i;
        if (derived)
            continue;
        if (hot->durations != NULL) {
            hot->durations[hot->gathered++] = dur_ps[i];
        } else if (first_pass && work->entries[index].buckets != NULL) {
            name_totals_add(&work->entries[index].totals, dur_ps[i]);
            work->entries[index].buckets[quantile_bucket(dur_ps[i])]++;
        }
        if (covered && self_ps[i] != dur_ps[i])
            hot->covered_ps = name_total_add(hot->covered_ps, dur_ps[i] - self_ps[i]);
    }
}

static void pass_over_rows(struct work *work, bool first_pass)
{
    for (row_id i = 0; i < work->trace->row_count; i++) {
        const struct row *row = &work->trace->rows[i];
        bool derived = is_derived(work->trace, row);

        for (uint32_t j = 0; j < row->chunk_count && (first_pass || !derived); j++)
            if (look_at_chunk(work, row->first_chunk + j))
                pass_over_chunk(work, row->first_slice + j * CHUNK_SLICES, derived, first_pass);
    }
}

/* Entries [from, ret) get room for their durations. */
static uint32_t open_pass(struct work *work, uint32_t from)
{
    uint32_t used = 0;

    for (; from < work->entry_count; from++) {
        uint32_t count = work->entries[from].count;

        if (count == 0 || count > EXACT_MAX)
            continue;
        if (count > GATHERED_MAX - used)
            break;
        work->hot[from].durations = work->gathered + used;
        used += count;
    }
    return from;
}

/* A damaged chunk gives fewer durations than were counted. */
static void close_pass(struct work *work, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        struct hot *hot = &work->hot[i];

        if (hot->durations != NULL && hot->gathered > 0)
            name_totals_of(&work->entries[i].totals, hot->durations, hot->gathered);
        hot->durations = NULL;
    }
}

static void open_entries(struct work *work)
{
    uint64_t exact = 0;

    work->hot = memory_resize(NULL, work->entry_count + 1, sizeof(*work->hot));
    for (uint32_t i = 0; i < work->entry_count; i++) {
        struct entry *entry = &work->entries[i];

        work->hot[i] = (struct hot){.next_id = entry->next_id};
        exact += entry->count > EXACT_MAX ? 0 : entry->count;
        if (entry->count <= EXACT_MAX)
            continue;
        entry->buckets = memory_zeroed(QUANTILE_BUCKETS, sizeof(*entry->buckets));
    }
    work->gathered = memory_resize(NULL, (exact < GATHERED_MAX ? exact : GATHERED_MAX) + 1,
                                   sizeof(*work->gathered));
}

static enum status place_ids(struct work *work)
{
    struct block_out out = work->tools->out;
    uint8_t *table;
    bool first_pass = true;

    TRY(out.table_reserve(out.to, TABLE_BY_NAME, work->trace->slice_count * sizeof(slice_id),
                          &table, work->err));
    work->ids = (slice_id *)(void *)table;
    open_entries(work);
    for (uint32_t from = 0, to; from < work->entry_count; from = to) {
        to = open_pass(work, from);
        pass_over_rows(work, first_pass);
        close_pass(work, from, to);
        first_pass = false;
    }
    for (uint32_t i = 0; i < work->entry_count; i++) {
        struct entry *entry = &work->entries[i];

        if (entry->buckets != NULL)
            name_totals_of_buckets(&entry->totals, entry->buckets);
        free(entry->buckets);
        entry->buckets = NULL;
    }
    return OK;
}

static enum status write_stats(struct work *work)
{
    struct block_out out = work->tools->out;
    uint32_t first_run = 0;
    uint8_t *table;

    TRY(out.table_reserve(out.to, TABLE_NAME_STATS, work->entry_count * sizeof(struct name_stats),
                          &table, work->err));
    for (uint32_t i = 0; i < work->entry_count; i++) {
        struct name_stats *stats = (struct name_stats *)(void *)table + i;
        const struct entry *entry = &work->entries[i];

        stats->name = entry->name;
        stats->count = entry->count;
        stats->total_ps = entry->totals.total_ps;
        stats->self_ps = entry->totals.total_ps - work->hot[i].covered_ps;
        stats->min_ps = entry->totals.min_ps;
        stats->max_ps = entry->totals.max_ps;
        stats->p50_ps = entry->totals.p50_ps;
        stats->p95_ps = entry->totals.p95_ps;
        stats->stdev_ps = name_totals_deviation(&entry->totals);
        stats->quantiles_approximate = entry->count > EXACT_MAX && stats->min_ps != stats->max_ps;
        stats->first_run = first_run;
        stats->run_count = entry->run_count;
        first_run += entry->run_count;
    }
    return OK;
}

static enum status make_tables(struct work *work)
{
    TRY(count_names(work));
    if (work->run_count >= UINT32_MAX)
        return fail(work->err, ERR_LIMIT, "%llu pairs of a name and a row",
                    (unsigned long long)work->run_count);
    TRY(write_runs(work));
    TRY(place_ids(work));
    return write_stats(work);
}

static enum status finish(void *state, const struct trace *trace, struct error *err)
{
    const struct part_tools *tools = state;
    struct arena *arena = arena_create();
    struct work work = {
        .tools = tools,
        .trace = trace,
        .err = err,
        .chunk = arena_new(arena, struct chunk),
        .entry_of = arena_array(arena, uint32_t, trace->name_count),
        .runs = spill_create(tools->temporary_dir, tools->budget->spill_bytes_max),
    };
    enum status status = make_tables(&work);

    spill_destroy(work.runs);
    free(work.gathered);
    free(work.entries);
    free(work.row_counts);
    free(work.touched);
    free(work.hot);
    arena_destroy(arena);
    return status;
}

const struct part part_by_name = {.name = "by name",
                                  .create = part_tools_keep,
                                  .finish = finish,
                                  .destroy = free,
                                  .open = by_name_open};
