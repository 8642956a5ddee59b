/* SPDX-License-Identifier: Apache-2.0 */
/* Summaries, written at the finish: one sweep over each work track, its levels made from exact
 * sums. */
#include <stdlib.h>

#include "trace/levels/summary.h"
#include "trace/writers.h"

struct builder {
    const struct part_tools *tools;
    const struct trace *trace;
    struct error *err;
    struct arena *arena;
    struct spill *shares;

    int64_t (*self_ps)[SUMMARY_KINDS]; /* of the track at hand, at its base level */
    uint32_t self_capacity;

    struct summary_record *records;
    uint32_t record_count;
    uint64_t share_count;
};

static int choose_base(const struct track *track, uint8_t kinds)
{
    uint64_t slices = SUMMARY_SLICES + (uint64_t)__builtin_popcount(kinds);
    uint64_t buckets_max = track->slice_count / slices;
    int level = 0;

    if (buckets_max > SUMMARY_BUCKETS_MAX)
        buckets_max = SUMMARY_BUCKETS_MAX;
    while (level < TILE_LEVEL_MAX &&
           (uint64_t)((track->end_ps >> level) - (track->start_ps >> level)) >= buckets_max)
        level++;
    return level;
}

/* How many lanes of an async track may run at once, as a power of two. */
static uint8_t choose_shift(const struct track *track)
{
    uint8_t shift = 0;

    while (track->kind == TRACK_ASYNC && shift < 8 && UINT32_C(1) << shift < track->row_count)
        shift++;
    return shift;
}

static uint16_t share_of(uint64_t fine, uint8_t shift)
{
    uint64_t share = (fine + (UINT64_C(1) << (15 + shift))) >> (16 + shift);

    return share > UINT16_MAX ? UINT16_MAX : (uint16_t)share;
}

static enum status put_buckets(struct builder *builder, const struct summary_record *record,
                               int level, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint16_t shares[KIND_COUNT];
        uint32_t share_count = 0;
        uint64_t offset;

        for (uint32_t kind = 0; kind < KIND_COUNT; kind++)
            if (record->kinds >> kind & 1)
                shares[share_count++] =
                    share_of(summary_fine_share(builder->self_ps[i][kind], level), record->shift);
        TRY(spill_append(builder->shares,
                         (struct bytes){(const uint8_t *)shares, share_count * sizeof(*shares)},
                         &offset, builder->err));
        builder->share_count += share_count;
    }
    return OK;
}

/* Four buckets become one, in place. */
static void coarsen(struct builder *builder, int64_t first, uint32_t count)
{
    int64_t above_first = first >> SUMMARY_STEP;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t to = (uint32_t)(((first + i) >> SUMMARY_STEP) - above_first);

        for (uint32_t kind = 0; kind < SUMMARY_KINDS; kind++) {
            int64_t self_ps = builder->self_ps[i][kind];
            bool begins = i == 0 || (first + i) % (1 << SUMMARY_STEP) == 0;

            builder->self_ps[to][kind] = begins ? 0 : builder->self_ps[to][kind];
            summary_add(&builder->self_ps[to][kind], self_ps);
        }
    }
}

static enum status put_levels(struct builder *builder, struct summary_record *record)
{
    record->level_count = 1;
    TRY(put_buckets(builder, record, record->base, record->bucket_count));
    for (uint32_t count = record->bucket_count; count > SUMMARY_BUCKETS_FEW;) {
        uint32_t index = record->level_count;
        int level = record->base + SUMMARY_STEP * (int)index;

        if (level > TILE_LEVEL_MAX)
            break;
        coarsen(builder, record->first_bucket >> ((index - 1) * SUMMARY_STEP), count);
        record->level_count++;
        count = summary_bucket_count(record, index);
        TRY(put_buckets(builder, record, level, count));
    }
    return OK;
}

static enum status sum_track(struct builder *builder, track_id id)
{
    const struct track *track = &builder->trace->tracks[id];
    struct summary_record *record = &builder->records[builder->record_count];

    if (track->slice_count < SUMMARY_SLICES_MIN)
        return OK;
    builder->record_count++;
    record->track = id;
    record->kinds = summary_kinds(builder->trace, id);
    record->base = (uint8_t)choose_base(track, record->kinds);
    record->shift = choose_shift(track);
    record->first_bucket = track->start_ps >> record->base;
    record->bucket_count = (uint32_t)((track->end_ps >> record->base) - record->first_bucket + 1);
    record->first_share = builder->share_count;
    if (record->bucket_count > builder->self_capacity) {
        builder->self_capacity = record->bucket_count;
        builder->self_ps =
            memory_resize(builder->self_ps, builder->self_capacity, sizeof(*builder->self_ps));
    }
    memset(builder->self_ps, 0, record->bucket_count * sizeof(*builder->self_ps));

    struct summary_buckets base = {.level = record->base,
                                   .first = record->first_bucket,
                                   .count = record->bucket_count,
                                   .one_kind = (record->kinds & (record->kinds - 1)) == 0,
                                   .self_ps = builder->self_ps};

    summary_sweep(builder->trace, id, &base);
    return put_levels(builder, record);
}

static enum status write_shares(struct builder *builder)
{
    struct block_out out = builder->tools->out;
    struct bytes records = {.at = (const uint8_t *)builder->records,
                            .count = builder->record_count * sizeof(*builder->records)};
    size_t size = builder->share_count * sizeof(uint16_t);
    uint8_t *table;

    TRY(out.table(out.to, TABLE_KIND_PYRAMIDS, records, builder->err));
    TRY(out.table_reserve(out.to, TABLE_KIND_CELLS, size, &table, builder->err));
    return spill_read(builder->shares, 0, table, size, builder->err);
}

static enum status build(struct builder *builder)
{
    const struct trace *trace = builder->trace;

    builder->records = arena_array(builder->arena, struct summary_record, trace->track_count + 1);
    for (track_id id = 0; id < trace->track_count; id++)
        if (summary_is_work(&trace->tracks[id]))
            TRY(sum_track(builder, id));
    return write_shares(builder);
}

static enum status finish(void *state, const struct trace *trace, struct error *err)
{
    const struct part_tools *tools = state;
    struct builder builder = {
        .tools = tools,
        .trace = trace,
        .err = err,
        .arena = arena_create(),
        .shares = spill_create(tools->temporary_dir, tools->budget->spill_bytes_max)};
    enum status status = build(&builder);

    spill_destroy(builder.shares);
    free(builder.self_ps);
    arena_destroy(builder.arena);
    return status;
}

const struct part part_summary = {.name = "summary",
                                  .create = part_tools_keep,
                                  .finish = finish,
                                  .destroy = free,
                                  .open = summaries_open};
