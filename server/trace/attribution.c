/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the entry of a slice, and the first of a device from a moment on; sorts ops. */
#include "trace/attribution.h"

#include <stdlib.h>

#include "base/bisect.h"

void attribution_lend(const struct attribution *attribution, const struct trace *trace,
                      struct str *room, struct trace *ret)
{
    uint32_t from = 0;

    *ret = *trace;
    if (attribution == NULL || attribution->text_count == 0)
        return;
    for (uint32_t i = 0; i < attribution->text_count; i++) {
        room[i] = (struct str){attribution->texts + from, attribution->text_ends[i] - from};
        from = attribution->text_ends[i];
    }
    ret->lent_names = room;
    ret->lent_name_count = attribution->text_count;
}

uint32_t needs_from(const struct attribution *attribution, uint32_t op)
{
    return BISECT(0, attribution->need_count, i, attribution->needs[i].op < op);
}

void entries_in_block(const struct attribution *of, unsigned columns, uint32_t block,
                      struct entry_arrays *ret)
{
    const uint32_t first = block * ENTRY_BLOCK, rest = of->entry_count - first;
    const uint32_t count = rest < ENTRY_BLOCK ? rest : ENTRY_BLOCK;

    if (of->entries == NULL)
        entries_unpack(&of->entry_columns[block], of->entry_data, columns, count, ret);
    else
        entries_lay(&of->entries[first], columns, count, 0, ret);
}

void entry_reader_open(struct entry_reader *reader, const struct attribution *of, unsigned columns)
{
    *reader = (struct entry_reader){.of = of, .columns = columns, .block = UINT32_MAX};
}

void entry_reader_fill(struct entry_reader *reader, uint32_t block)
{
    entries_in_block(reader->of, reader->columns, block, &reader->arrays);
    reader->block = block;
}

uint32_t attribution_from(const struct attribution *attribution, slice_id slice)
{
    /* blocks first: what two of them begin with tells which of them it is */
    uint32_t block = BISECT(0, entry_block_count(attribution->entry_count), i,
                            entry_slice(attribution, i * ENTRY_BLOCK) < slice);
    uint32_t from = block == 0 ? 0 : (block - 1) * ENTRY_BLOCK, to = block * ENTRY_BLOCK;

    if (to > attribution->entry_count)
        to = attribution->entry_count;
    return BISECT(from, to, i, entry_slice(attribution, i) < slice);
}

uint32_t attribution_find(const struct attribution *attribution, slice_id slice)
{
    uint32_t at = attribution_from(attribution, slice);

    return at < attribution->entry_count && entry_slice(attribution, at) == slice ? at : NO_ENTRY;
}

const struct attributed *attribution_of(const struct attribution *attribution, slice_id slice,
                                        struct attributed *room)
{
    uint32_t at = attribution_find(attribution, slice);

    if (at == NO_ENTRY)
        return NULL;
    *room = entry_at(attribution, at);
    return room;
}

static bool is_before(const struct attribution *attribution, uint32_t place, int64_t device,
                      int64_t start_ps)
{
    const struct attributed *entry = ENTRY_AT(attribution, entry_in_time(attribution, place));

    return entry->device < device || (entry->device == device && entry->start_ps < start_ps);
}

uint32_t attribution_time_from(const struct attribution *attribution, int64_t device,
                               int64_t start_ps)
{
    return BISECT(0, attribution->entry_count, i, is_before(attribution, i, device, start_ps));
}

static int by_program(const void *left, const void *right, void *data)
{
    const struct op *ops = data;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    if (ops[a].program != ops[b].program)
        return ops[a].program < ops[b].program ? -1 : 1;
    return (a > b) - (a < b);
}

void ops_by_program(const struct op *ops, uint32_t *order, uint32_t count)
{
    qsort_r(order, count, sizeof(*order), by_program, (void *)(uintptr_t)ops);
}
