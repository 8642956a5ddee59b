/* Slices by name, written at the finish in few passes over the columns.
 *
 *   count    names only: how many slices each name has, and in which rows
 *   place    names, dur, self: ids into (name, row, time) order; totals; durations for quantiles
 *
 * Quantiles are nearest rank. A name with at most EXACT_MAX slices has its durations gathered, as
 * many names at once as fit GATHERED_MAX, further ones in further passes; one with more has a
 * histogram of 64 steps an octave, which is off by less than 0.8 %.
 */
#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "trace/by_name.h"
#include "trace/quantile.h"
#include "trace/sink_parts.h"
#include "trace/trace_parts.h"

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
    uint32_t row_slice_count;        /* of the row at hand */
    uint32_t gathered;               /* durations of this pass so far */
    int64_t total_ps, self_ps, min_ps, max_ps, p50_ps, p95_ps;
    int64_t first_ps;         /* distances from the first duration keep more digits */
    double distance, squares; /* sums of them */
    int64_t *durations;       /* of this pass, or NULL */
    uint32_t *buckets;        /* of a name above EXACT_MAX, or NULL */
};

struct row_run { /* as it waits, row by row */
    uint32_t entry, row, count;
};

struct work {
    const struct part_tools *tools;
    const struct trace *trace;
    struct error *err;
    struct chunk *chunk;
    struct entry *entries;
    uint32_t entry_count, entry_capacity;
    uint32_t *entry_of; /* by name; entry + 1, 0 is none */
    struct spill *runs;
    uint64_t run_count;
    slice_id *ids;
    int64_t *gathered;
};

static struct entry *entry_of(struct work *work, name_id name)
{
    if (work->entry_of[name] == 0) {
        if (work->entry_count == work->entry_capacity) {
            work->entry_capacity = work->entry_capacity == 0 ? 256 : work->entry_capacity * 2;
            work->entries =
                memory_resize(work->entries, work->entry_capacity, sizeof(*work->entries));
        }
        work->entries[work->entry_count++] = (struct entry){.name = name};
        work->entry_of[name] = work->entry_count;
    }
    return &work->entries[work->entry_of[name] - 1];
}

/* What one row holds of each name, in order of appearance. */
static enum status put_row_runs(struct work *work, row_id row, const uint32_t *touched,
                                uint32_t count, bool derived)
{
    for (uint32_t i = 0; i < count; i++) {
        struct entry *entry = &work->entries[touched[i]];
        struct row_run run = {.entry = touched[i], .row = row, .count = entry->row_slice_count};
        uint64_t offset;

        entry->slice_count += run.count;
        entry->count += derived ? 0 : run.count;
        entry->run_count++;
        entry->row_slice_count = 0;
        TRY(spill_append(work->runs, (struct bytes){(const uint8_t *)&run, sizeof(run)}, &offset,
                         work->err));
    }
    work->run_count += count;
    return OK;
}

static bool is_derived(const struct trace *trace, const struct row *row)
{
    return trace->tracks[row->track].derived;
}

static enum status count_row(struct work *work, row_id row_index, uint32_t **touched,
                             uint32_t *touched_capacity)
{
    const struct row *row = &work->trace->rows[row_index];
    uint32_t count = 0;

    for (uint32_t i = 0; i < row->chunk_count; i++) {
        chunk_unpack(work->trace, row->first_chunk + i, COLUMN_NAME, work->chunk);
        for (uint32_t j = 0; j < work->chunk->count; j++) {
            struct entry *entry = entry_of(work, work->chunk->name[j]);

            if (entry->row_slice_count++ > 0)
                continue;
            if (count == *touched_capacity) {
                *touched_capacity = *touched_capacity == 0 ? 256 : *touched_capacity * 2;
                *touched = memory_resize(*touched, *touched_capacity, sizeof(**touched));
            }
            (*touched)[count++] = (uint32_t)(entry - work->entries);
        }
    }
    return put_row_runs(work, row_index, *touched, count, is_derived(work->trace, row));
}

static enum status count_names(struct work *work)
{
    uint32_t *touched = NULL, capacity = 0;
    enum status status = OK;

    for (row_id row = 0; row < work->trace->row_count && status == OK; row++)
        status = count_row(work, row, &touched, &capacity);
    free(touched);
    return status;
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

static int64_t add_saturated(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static void add_duration(struct entry *entry, int64_t dur_ps)
{
    if (entry->durations != NULL)
        entry->durations[entry->gathered++] = dur_ps;
    else if (entry->buckets != NULL)
        entry->buckets[quantile_bucket(dur_ps)]++;
}

static void add_totals(struct entry *entry, int64_t dur_ps, int64_t self_ps)
{
    entry->first_ps = entry->max_ps < 0 ? dur_ps : entry->first_ps;

    double distance = (double)(dur_ps - entry->first_ps);

    entry->distance += distance;
    entry->squares += distance * distance;
    entry->total_ps = add_saturated(entry->total_ps, dur_ps);
    entry->self_ps = add_saturated(entry->self_ps, self_ps);
    entry->min_ps = dur_ps < entry->min_ps ? dur_ps : entry->min_ps;
    entry->max_ps = dur_ps > entry->max_ps ? dur_ps : entry->max_ps;
}

static int64_t deviation(const struct entry *entry)
{
    double mean = entry->count > 0 ? entry->distance / entry->count : 0;
    double variance = entry->count > 0 ? entry->squares / entry->count - mean * mean : 0;

    return variance > 0 ? (int64_t)llround(sqrt(variance)) : 0;
}

/* The first pass places ids and sums; all passes gather durations. */
static void pass_over_row(struct work *work, const struct row *row, bool first_pass)
{
    struct chunk *chunk = work->chunk;
    bool derived = is_derived(work->trace, row);
    unsigned columns = COLUMN_NAME | (derived ? 0 : COLUMN_DUR | (first_pass ? COLUMN_SELF : 0));

    for (uint32_t i = 0; i < row->chunk_count; i++) {
        chunk_unpack(work->trace, row->first_chunk + i, columns, chunk);
        for (uint32_t j = 0; j < chunk->count; j++) {
            struct entry *entry = &work->entries[work->entry_of[chunk->name[j]] - 1];

            if (first_pass)
                work->ids[entry->next_id++] = chunk->first_slice + j;
            if (derived)
                continue;
            if (first_pass)
                add_totals(entry, chunk->dur_ps[j], chunk->self_ps[j]);
            add_duration(entry, chunk->dur_ps[j]);
        }
    }
}

static int64_t within(const struct entry *entry, int64_t dur_ps)
{
    dur_ps = dur_ps < entry->min_ps ? entry->min_ps : dur_ps;
    return dur_ps > entry->max_ps ? entry->max_ps : dur_ps;
}

static void find_quantiles(struct entry *entry)
{
    if (entry->min_ps == entry->max_ps) {
        entry->p50_ps = entry->p95_ps = entry->min_ps;
    } else if (entry->buckets != NULL) {
        entry->p50_ps = within(entry, quantile_of_buckets(entry->buckets, entry->count, 50));
        entry->p95_ps = within(entry, quantile_of_buckets(entry->buckets, entry->count, 95));
    } else {
        entry->p95_ps = quantile_select(entry->durations, entry->count, 95);
        entry->p50_ps = quantile_select(entry->durations, entry->count, 50);
    }
}

/* Entries [from, ret) get room for their durations. */
static uint32_t open_pass(struct work *work, uint32_t from)
{
    uint32_t used = 0;

    for (; from < work->entry_count; from++) {
        struct entry *entry = &work->entries[from];

        if (entry->count > EXACT_MAX)
            continue;
        if (entry->count > GATHERED_MAX - used)
            break;
        entry->durations = work->gathered + used;
        used += entry->count;
    }
    return from;
}

static void close_pass(struct work *work, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        struct entry *entry = &work->entries[i];

        if (entry->count > 0 && entry->durations != NULL)
            find_quantiles(entry);
        entry->durations = NULL;
    }
}

static void run_pass(struct work *work, uint32_t from, uint32_t to, bool first_pass)
{
    for (row_id row = 0; row < work->trace->row_count; row++)
        pass_over_row(work, &work->trace->rows[row], first_pass);
    close_pass(work, from, to);
}

static enum status place_ids(struct work *work)
{
    struct block_out out = work->tools->out;
    uint8_t *table;
    uint64_t exact = 0;

    TRY(out.table_reserve(out.to, TABLE_BY_NAME, work->trace->slice_count * sizeof(slice_id),
                          &table, work->err));
    work->ids = (slice_id *)(void *)table;
    for (uint32_t i = 0; i < work->entry_count; i++) {
        struct entry *entry = &work->entries[i];

        entry->min_ps = INT64_MAX;
        entry->max_ps = INT64_MIN;
        if (entry->count > EXACT_MAX)
            entry->buckets = calloc(QUANTILE_BUCKETS, sizeof(*entry->buckets));
        if (entry->count > EXACT_MAX && entry->buckets == NULL)
            abort(); /* out of memory: as base/arena.h says */
        exact += entry->count > EXACT_MAX ? 0 : entry->count;
    }
    work->gathered = memory_resize(NULL, (exact < GATHERED_MAX ? exact : GATHERED_MAX) + 1,
                                   sizeof(*work->gathered));

    uint32_t end = open_pass(work, 0);

    run_pass(work, 0, end, true);
    for (uint32_t i = 0; i < work->entry_count; i++)
        if (work->entries[i].buckets != NULL) {
            find_quantiles(&work->entries[i]);
            free(work->entries[i].buckets);
            work->entries[i].buckets = NULL;
        }
    for (uint32_t from = end; from < work->entry_count; from = end) {
        end = open_pass(work, from);
        run_pass(work, from, end, false);
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
        stats->total_ps = entry->total_ps;
        stats->self_ps = entry->self_ps;
        stats->min_ps = entry->count > 0 ? entry->min_ps : 0;
        stats->max_ps = entry->count > 0 ? entry->max_ps : 0;
        stats->p50_ps = entry->p50_ps;
        stats->p95_ps = entry->p95_ps;
        stats->stdev_ps = deviation(entry);
        stats->quantiles_approximate = entry->count > EXACT_MAX && entry->min_ps != entry->max_ps;
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

static void *create(const struct part_tools *tools)
{
    struct part_tools *kept = memory_resize(NULL, 1, sizeof(*kept));

    *kept = *tools;
    return kept;
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
    arena_destroy(arena);
    return status;
}

const struct part part_by_name = {
    .name = "by name", .create = create, .finish = finish, .destroy = free, .open = by_name_open};
