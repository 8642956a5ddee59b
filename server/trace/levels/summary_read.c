/* SPDX-License-Identifier: Apache-2.0 */
/* Summaries, read: a tile of a group is the mean over its work tracks, each from its stored
 * level or, below its base, from its slices. */
#include <stdlib.h>

#include "trace/levels/summary.h"
#include "trace/writers.h"

struct summaries {
    const struct summary_record *records;
    uint32_t *of_track; /* index + 1; 0: the track has none */
};

struct mean { /* of a tile while it is made */
    int level;
    int64_t first; /* quantum */
    uint32_t work_count;
    int64_t self_ps[TILE_QUANTA][SUMMARY_KINDS]; /* of a track that is swept */
    uint64_t fine[TILE_QUANTA][KIND_COUNT];      /* summary_fine_share, summed over tracks */
};

static const struct summary_record *record_of(const struct trace *trace, track_id track)
{
    const struct summaries *summaries = trace->parts->summaries;

    if (summaries == NULL || summaries->of_track[track] == 0)
        return NULL;
    return &summaries->records[summaries->of_track[track] - 1];
}

/* Kinds that the record has, in order; returns how many. */
static uint32_t kinds_of(const struct summary_record *record, uint8_t ret[KIND_COUNT])
{
    uint32_t count = 0;

    for (uint8_t kind = 0; kind < KIND_COUNT; kind++)
        if (record->kinds >> kind & 1)
            ret[count++] = kind;
    return count;
}

static void add_stored(const struct trace *trace, const struct summary_record *record,
                       struct mean *mean)
{
    struct block_in in = trace->parts->in;
    struct bytes table = in.table(in.from, TABLE_KIND_CELLS);
    uint8_t kinds[KIND_COUNT];
    uint32_t kind_count = kinds_of(record, kinds);
    uint32_t index = (uint32_t)(mean->level - record->base) / SUMMARY_STEP;
    uint64_t before = 0;

    if (index >= record->level_count)
        index = record->level_count - 1u;
    for (uint32_t i = 0; i < index; i++)
        before += summary_bucket_count(record, i);

    const uint16_t *shares =
        (const uint16_t *)(const void *)table.at + record->first_share + before * kind_count;
    int coarser = mean->level - record->base - (int)index * SUMMARY_STEP;
    int64_t first = record->first_bucket >> (index * SUMMARY_STEP);
    uint32_t count = summary_bucket_count(record, index);
    int64_t from = (int64_t)((uint64_t)mean->first << coarser) - first;
    int64_t to = (int64_t)((uint64_t)(mean->first + TILE_QUANTA) << coarser) - first;

    if ((record->first_share + (before + count) * kind_count) * sizeof(*shares) > table.count)
        return;
    for (int64_t i = from < 0 ? 0 : from; i < to && i < count; i++) {
        uint64_t *fine = mean->fine[((first + i) >> coarser) - mean->first];

        for (uint32_t kind = 0; kind < kind_count; kind++)
            fine[kinds[kind]] += (uint64_t)shares[(uint64_t)i * kind_count + kind]
                                     << (16 + record->shift) >>
                                 coarser;
    }
}

static void add_swept(const struct trace *trace, track_id track, struct mean *mean)
{
    const struct summary_record *record = record_of(trace, track);
    struct summary_buckets to = {.level = mean->level,
                                 .first = mean->first,
                                 .count = TILE_QUANTA,
                                 .one_kind =
                                     record != NULL && (record->kinds & (record->kinds - 1)) == 0,
                                 .self_ps = mean->self_ps};

    memset(mean->self_ps, 0, sizeof(mean->self_ps));
    summary_sweep(trace, track, &to);
    for (uint32_t i = 0; i < TILE_QUANTA; i++)
        for (uint32_t kind = 0; kind < KIND_COUNT; kind++)
            mean->fine[i][kind] += summary_fine_share(to.self_ps[i][kind], mean->level);
}

static void add_track(const struct trace *trace, track_id id, struct mean *mean)
{
    const struct track *track = &trace->tracks[id];
    const struct summary_record *record = record_of(trace, id);

    mean->work_count++;
    if (track->start_ps >> mean->level >= mean->first + TILE_QUANTA ||
        track->end_ps >> mean->level < mean->first)
        return;
    if (record != NULL && mean->level >= record->base)
        add_stored(trace, record, mean);
    else
        add_swept(trace, id, mean);
}

static void write_quantum(const struct mean *mean, uint32_t at, struct tile_summary *ret)
{
    uint64_t share[KIND_COUNT], total = 0;

    for (uint32_t kind = 0; kind < KIND_COUNT; kind++) {
        share[kind] = (mean->fine[at][kind] / mean->work_count + (1 << 15)) >> 16;
        total += share[kind];
    }
    for (uint32_t kind = 0; kind < KIND_COUNT; kind++)
        ret->share[kind][at] =
            (uint16_t)(total > UINT16_MAX ? share[kind] * UINT16_MAX / total : share[kind]);
}

void tile_summary(const struct trace *trace, track_id track, int level, int64_t index,
                  struct tile_summary *ret)
{
    memset(ret, 0, sizeof(*ret));
    if (level < 0 || level > TILE_LEVEL_MAX || index > TIME_PS_MAX >> level >> 10 ||
        index < -TIME_PS_MAX >> level >> 10)
        return;

    struct mean *mean = memory_zeroed(1, sizeof(*mean));
    bool *inside = memory_zeroed(trace->track_count + 1u, sizeof(*inside));
    mean->level = level;
    mean->first = index * TILE_QUANTA;
    for (track_id id = 0; id < trace->track_count; id++) {
        track_id parent = trace->tracks[id].parent;

        inside[id] = track == NO_TRACK || id == track || (parent != NO_TRACK && inside[parent]);
        if (inside[id] && summary_is_work(&trace->tracks[id]))
            add_track(trace, id, mean);
    }
    for (uint32_t i = 0; i < TILE_QUANTA && mean->work_count > 0; i++)
        write_quantum(mean, i, ret);
    free(mean);
    free(inside);
}

static bool record_fits(const struct trace *trace, const struct summary_record *record,
                        uint64_t first_share)
{
    return record->track < trace->track_count && record->first_share == first_share &&
           record->level_count > 0 && record->bucket_count > 0 && record->shift <= 8 &&
           record->kinds < 1 << KIND_COUNT &&
           record->base + SUMMARY_STEP * (record->level_count - 1) <= TILE_LEVEL_MAX &&
           record->first_bucket >= -TIME_PS_MAX - 1 && record->first_bucket <= TIME_PS_MAX;
}

enum status summaries_open(struct trace *trace, struct arena *arena, struct error *err)
{
    struct block_in in = trace->parts->in;
    struct bytes table = in.table(in.from, TABLE_KIND_PYRAMIDS);
    const struct summary_record *records = (const struct summary_record *)(const void *)table.at;
    size_t count = table.count / sizeof(*records);
    struct summaries *summaries = arena_new(arena, struct summaries);
    uint64_t first_share = 0;

    summaries->records = records;
    summaries->of_track = arena_array(arena, uint32_t, trace->track_count + 1);
    if (table.count % sizeof(*records) != 0 || count > trace->track_count)
        return fail(err, ERR_FORMAT, "the table of summaries has %zu bytes", table.count);
    for (size_t i = 0; i < count; i++) {
        if (!record_fits(trace, &records[i], first_share) ||
            (i > 0 && records[i].track <= records[i - 1].track))
            return fail(err, ERR_FORMAT, "summary %zu does not fit the ones before", i);
        for (uint32_t level = 0; level < records[i].level_count; level++)
            first_share += (uint64_t)summary_bucket_count(&records[i], level) *
                           (uint32_t)__builtin_popcount(records[i].kinds);
        summaries->of_track[records[i].track] = (uint32_t)i + 1;
    }
    trace->parts->summaries = summaries;
    return OK;
}
