/* SPDX-License-Identifier: Apache-2.0 */
/* Which group a slice belongs to: its name, its kind, its track, or the device of the op that
 * it is. */
#include "analyse/device/annotation_names.h"
#include "analyse/ops/top_parts.h"

uint32_t top_group_count(const struct top_work *work, const struct top_host *host)
{
    const struct host_trace *at = host->selection->host;

    if (work->by <= BY_CATEGORY)
        return at->attribution == NULL ? 0 : at->attribution->op_count;
    if (work->by <= BY_API)
        return at->trace->name_count;
    if (work->by == BY_KIND)
        return KIND_COUNT;
    return at->trace->track_count + host->device_count;
}

bool top_one_by_one(const struct top_work *work, const struct top_host *host, track_id track)
{
    return work->by == BY_DEVICE &&
           !track_is_device_work(&host->selection->host->trace->tracks[track]);
}

/* A kernel is an op. */
static bool asks_for_ops(const struct top_work *work, const struct top_host *host)
{
    return work->by == BY_KERNEL && host->selection->host->attribution != NULL;
}

static bool runs_kernels(const struct track *track)
{
    return track_is_device_work(track) && track->kind == TRACK_STREAM;
}

/* Is a slice of this track and name one that the table is about, as far as these tell? */
static bool fits(const struct top_work *work, const struct top_host *host, track_id id,
                 name_id name, enum kind kind, uint8_t *seen)
{
    const struct trace *trace = host->selection->host->trace;
    const struct track *track = &trace->tracks[id];

    switch (work->by) {
    case BY_KERNEL:
        return runs_kernels(track) &&
               (kind != KIND_COPY || asks_for_ops(work, host) || work->every_kind);
    case BY_API:
        if (track->device >= 0)
            return false;
        if (*seen == 0)
            *seen = is_api_name(trace_name(trace, name)) ? 1 : 2;
        return *seen == 1;
    default:
        return true;
    }
}

/* What copies is a kernel where it was launched as one. */
static bool is_kernel(const struct attribution *of, uint32_t entry, enum kind kind)
{
    return kind != KIND_COPY || entry_kernel(of, entry) != NO_KERNEL;
}

uint32_t top_group_of(const struct top_work *work, const struct top_host *host,
                      const struct scanned *slice, const struct attributed *entry)
{
    const struct host_trace *at = host->selection->host;
    struct attributed room;
    uint8_t seen = 0;

    if (!fits(work, host, slice->track, slice->name, slice->kind, &seen))
        return NO_GROUP;
    if (entry == NULL && at->attribution != NULL &&
        (asks_for_ops(work, host) || top_one_by_one(work, host, slice->track)))
        entry = attribution_of(at->attribution, slice->slice, &room);
    if (asks_for_ops(work, host) &&
        (entry == NULL ||
         !(work->every_kind || slice->kind != KIND_COPY ||
           entry_kernel(at->attribution, attribution_find(at->attribution, entry->slice)) !=
               NO_KERNEL)))
        return NO_GROUP;
    if (work->by <= BY_API)
        return slice->name;
    if (work->by == BY_KIND)
        return slice->kind;
    if (!top_one_by_one(work, host, slice->track))
        return slice->track;

    uint32_t ordinal;

    return entry != NULL && map64_get(&host->device_groups, (uint32_t)entry->device, &ordinal)
               ? at->trace->track_count + ordinal
               : NO_GROUP;
}

static bool has_copies(const struct chunk *chunk)
{
    for (uint32_t i = 0; i < chunk->dictionary_count; i++)
        if (chunk->dictionary_kind[i] == KIND_COPY)
            return true;
    return false;
}

static enum kind kind_at(const struct chunk *chunk, uint32_t at)
{
    return (enum kind)chunk->dictionary_kind[chunk->place[at]];
}

/* Marks those of the span that are kernels, or all ops. */
static void take_kernels(const struct top_work *work, const struct top_host *host,
                         const struct span *span, struct top_span *ret)
{
    const struct attribution *attribution = host->selection->host->attribution;
    slice_id first = span->chunk->first_slice;
    uint32_t entry = attribution_from(attribution, first + span->first);
    uint32_t end = attribution_from(attribution, first + span->end),
             count = span->end - span->first;
    struct entry_reader reader;

    ret->some = end - entry != count || (!work->every_kind && has_copies(span->chunk));
    if (!ret->some)
        return;
    memset(ret->taken + span->first, 0, count);
    entry_reader_open(&reader, attribution, ENTRY_BIT(ENTRY_SLICE));
    for (; entry < end; entry++) {
        uint32_t at = entry_read(&reader, entry).slice - first;

        ret->taken[at] =
            work->every_kind || is_kernel(attribution, entry, kind_at(span->chunk, at));
    }
}

uint32_t top_group_of_name(const struct top_work *work, const struct top_host *host, track_id track,
                           name_id name, enum kind kind, uint8_t *seen)
{
    if (!fits(work, host, track, name, kind, seen))
        return NO_GROUP;
    return work->by <= BY_API ? name : work->by == BY_KIND ? (uint32_t)kind : track;
}

bool top_takes_whole(const struct top_work *work, const struct top_host *host,
                     const struct whole_block *block)
{
    return !top_one_by_one(work, host, block->track) &&
           (!asks_for_ops(work, host) || block->all_kernels ||
            !runs_kernels(&host->selection->host->trace->tracks[block->track]));
}

bool top_groups_of(const struct top_work *work, const struct top_host *host,
                   const struct span *span, struct top_span *ret)
{
    const struct chunk *chunk = span->chunk;
    bool any = false;

    for (uint32_t i = 0; i < chunk->dictionary_count; i++) {
        name_id name = chunk->dictionary_name[i];

        ret->group[i] =
            span->wanted == NULL || span->wanted[i]
                ? top_group_of_name(work, host, span->track, name,
                                    (enum kind)chunk->dictionary_kind[i], &ret->name_fits[name])
                : NO_GROUP;
        any |= ret->group[i] != NO_GROUP;
    }
    ret->some = false;
    if (any && asks_for_ops(work, host) && !span->all_kernels)
        take_kernels(work, host, span, ret);
    return any;
}
