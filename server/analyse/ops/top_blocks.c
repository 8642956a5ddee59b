/* SPDX-License-Identifier: Apache-2.0 */
/* What whole blocks of a window sum to, so that only those are looked at which it cuts.
 *
 *   window             |------------------------|
 *   entries    [ out ][ look ][ whole ][ whole ][ look ][ out ]
 *                       left: [ look ]            [ look ]
 */
#include <stdlib.h>

#include "analyse/ops/top_parts.h"

void top_sum_block(struct tallies *tallies, const struct whole_block *block, const uint32_t *groups)
{
    for (uint32_t i = 0; i < block->sum_count; i++) {
        const struct name_sum *sum = &block->sums[i];

        if (groups[i] == NO_GROUP || sum->count == 0)
            continue;

        struct tally of_place = {
            .count = sum->count,
            .event_count = sum->count,
            .total_ps = sum->total_ps,
            .self_ps = sum->self_ps,
            .whole_ps = sum->total_ps,
            .parts = sum->count * TALLY_WHOLE,
            .min_ps = sum->min_ps,
            .max_ps = sum->max_ps,
            .first = block->first_slice + sum->first,
            .track = block->track,
            .name = sum->name,
            .kind = sum->kind,
        };

        tally_join(tally_of(tallies, groups[i]), &of_place);
    }
}

enum block_place { BLOCK_OUT, BLOCK_LOOK, BLOCK_WHOLE };

/* An instant at the window's end is outside, one at its start inside. */
static enum block_place place_of(const struct selection *selection, const struct entry_block *block)
{
    const struct window *window = &selection->windows[0];

    if (!selection->all_tracks && !selection->tracks[block->track])
        return BLOCK_OUT;
    if (selection->cut_in_time) {
        if (block->end_ps < window->from_ps || block->start_ps >= window->to_ps)
            return BLOCK_OUT;
        if (block->start_ps < window->from_ps || block->last_ps >= window->to_ps ||
            block->end_ps > window->to_ps)
            return BLOCK_LOOK;
    }
    return block->sum_count > 0 ? BLOCK_WHOLE : BLOCK_LOOK;
}

static void sum_entries(struct op_part *part, const struct block_sums *sums,
                        const struct entry_block *block, const bool *wanted)
{
    const struct op_sum *ops = &sums->ops[block->first_sum];
    const struct block_run *runs = &sums->runs[block->first_run];
    bool by_module = part->work->by == BY_MODULE;

    for (uint32_t i = 0; i < block->sum_count; i++) {
        const struct op_sum *sum = &ops[i];

        if (!wanted[sum->op])
            continue;
        tally_join(tally_of(part->tallies, sum->op),
                   &(struct tally){
                       .count = by_module ? sum->free_count : sum->event_count,
                       .event_count = sum->event_count,
                       .total_ps = sum->total_ps,
                       .self_ps = sum->self_ps,
                       .whole_ps = sum->total_ps,
                       .parts = sum->event_count * TALLY_WHOLE,
                       .min_ps = sum->min_ps,
                       .max_ps = sum->max_ps,
                       .first = sum->first,
                   });
    }
    for (uint32_t i = 0; by_module && i < block->run_count; i++) {
        if (part->op_of[runs[i].execution] == 0)
            part->op_of[runs[i].execution] = runs[i].op + 1;
    }
}

/* By module, the first op of an execution counts that is let through: then blocks do not tell. */
static bool may_sum(const struct op_part *part)
{
    const struct selection *selection = part->host->selection;
    const struct restriction *asked = selection->asked;
    bool some_ops = selection->by_name || asked->module.count > 0 || asked->scope.count > 0;

    return selection->host->sums != NULL && selection->owners == NULL &&
           selection->window_count == 1 && asked->device_count == 0 &&
           !(some_ops && part->work->by == BY_MODULE);
}

const struct entry_range *top_sum_op_blocks(struct op_part *part, struct arena *arena,
                                            uint32_t *ret_count)
{
    const struct selection *selection = part->host->selection;
    const struct attribution *attribution = selection->host->attribution;
    const struct block_sums *sums = selection->host->sums;
    struct entry_range *ranges;
    bool *wanted;

    *ret_count = 0;
    if (!may_sum(part))
        return NULL;
    ranges = arena_array(arena, struct entry_range, (size_t)sums->entry_block_count + 1);
    wanted = arena_array(arena, bool, (size_t)attribution->op_count + 1);
    for (uint32_t op = 0; op < attribution->op_count; op++)
        wanted[op] = selection_has_op(selection, &attribution->ops[op]);
    for (uint32_t i = 0; i < sums->entry_block_count; i++) {
        const struct entry_block *block = &sums->entries[i];
        enum block_place place = place_of(selection, block);

        if (place == BLOCK_WHOLE)
            sum_entries(part, sums, block, wanted);
        if (place != BLOCK_LOOK)
            continue;
        if (*ret_count > 0 && ranges[*ret_count - 1].end == block->begin)
            ranges[*ret_count - 1].end = block->end;
        else
            ranges[(*ret_count)++] = (struct entry_range){block->begin, block->end};
    }
    return ranges;
}
