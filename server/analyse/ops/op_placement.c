/* SPDX-License-Identifier: Apache-2.0 */
/* Tells each op's place by its track and name, and sums time by place. */
#include "analyse/ops/op_placement.h"

#include <stdlib.h>

#include "analyse/hlo/callbacks.h"
#include "analyse/ops/op_placement_parts.h"
#include "analyse/ops/top_parts.h"
#include "analyse/scan/scan.h"
#include "base/names.h"
#include "trace/ps.h"

enum { LEAST_PART = 1000 }; /* what takes less is not worth moving */

const char *place_word(enum place place)
{
    static const char *const words[] = {"device", "host", "callback"};

    return words[place];
}

void op_placement_add_movable(struct op_placement_work *work, struct str name, enum place place,
                              const char *why, struct place_sum sum)
{
    uint32_t at =
        names_add(work->keys, str_format(work->arena, "%d:%.*s", (int)place, STR_ARG(name))) - 1;

    if (at == work->movable_count) {
        if (at == work->movable_capacity) {
            work->movable_capacity = at == 0 ? 64 : 2 * at;
            work->movable =
                memory_resize(work->movable, work->movable_capacity, sizeof *work->movable);
        }
        work->movable[work->movable_count++] =
            (struct movable){.name = name, .place = place, .why = why};
    }
    ps_add(&work->movable[at].self_ps, sum.self_ps);
    work->movable[at].count += sum.count;
    ps_add(&work->ret->movable_ps, sum.self_ps);
}

void op_placement_add_time(struct op_placement_work *work, enum place place, struct place_sum sum)
{
    ps_add(&work->ret->of[place].self_ps, sum.self_ps);
    work->ret->of[place].count += sum.count;
}

bool op_placement_has_devices(const struct trace *trace)
{
    for (track_id id = 0; id < trace->track_count; id++) {
        if (trace->tracks[id].device >= 0 && trace->tracks[id].slice_count > 0)
            return true;
    }
    return false;
}

static bool on_host(const struct trace *trace, slice_id slice)
{
    return slice != NO_SLICE &&
           trace->tracks[trace->rows[trace_row_of(trace, slice)].track].device < 0;
}

static enum place place_of_op(const struct host_trace *host, uint32_t op, bool beside_devices)
{
    const struct attribution *of = host->attribution;

    if (!on_host(host->trace, of->totals[op].first))
        return PLACE_DEVICE;
    if (is_callback_name(top_category(host, op)) ||
        is_callback_name(trace_name(host->trace, of->ops[op].name)))
        return PLACE_CALLBACK;
    return beside_devices ? PLACE_HOST : PLACE_DEVICE;
}

static void sum_block(void *data, const struct op_block *block)
{
    struct place_sum *sums = data;

    for (uint32_t i = 0; i < block->count; i++) {
        const struct attributed *entry = BLOCK_ENTRY(block, i);

        if (block->inside_ps[i] < 0 || entry->op == NO_OP)
            continue;
        ps_add(&sums[entry->op].self_ps, block->self_ps[i]);
        sums[entry->op].count += entry->first;
    }
}

/* By op. */
static struct place_sum *sum_ops(const struct selection *selection)
{
    const struct attribution *of = selection->host->attribution;
    struct place_sum *sums = memory_zeroed((size_t)of->op_count + 1, sizeof *sums);
    void *data[1] = {sums};
    if (!selection_is_whole(selection)) {
        scan_ops(selection, ENTRY_BIT(ENTRY_OP) | ENTRY_BIT(ENTRY_FLAGS) | ENTRY_BIT(ENTRY_COVERED),
                 sum_block, data, 1);
        return sums;
    }
    for (uint32_t op = 0; op < of->op_count; op++)
        sums[op] = (struct place_sum){of->totals[op].self_ps, of->totals[op].count};
    return sums;
}

/* Does one of them call back? Then its slices on the host are told with it. */
static bool add_ops(struct op_placement_work *work, const struct selection *selection)
{
    const struct host_trace *host = selection->host;
    const struct attribution *of = host->attribution;
    bool beside_devices = op_placement_has_devices(host->trace), calls_back = false;

    if (of == NULL || of->entry_count == 0)
        return false;

    struct place_sum *sums = sum_ops(selection);

    for (uint32_t op = 0; op < of->op_count; op++) {
        struct str name = trace_name(host->trace, of->ops[op].name);

        if (of->totals[op].event_count == 0)
            continue;

        enum place place = place_of_op(host, op, beside_devices);

        work->host_known |= of->ops[op].program != NO_PROGRAM || of->ops[op].module != 0;
        calls_back |= place == PLACE_CALLBACK;
        if (sums[op].count == 0 && sums[op].self_ps == 0)
            continue;
        work->any = true;
        op_placement_add_time(work, place, sums[op]);
        if (place == PLACE_CALLBACK)
            op_placement_add_movable(work, name, place, "it calls back into Python", sums[op]);
        else if (place == PLACE_HOST)
            op_placement_add_movable(work, name, place, "its program runs on the host's processor",
                                     sums[op]);
    }
    free(sums);
    return calls_back;
}

static int by_time(const void *left, const void *right)
{
    const struct movable *a = left, *b = right;

    if (a->self_ps != b->self_ps)
        return a->self_ps > b->self_ps ? -1 : 1;
    return str_compare(a->name, b->name);
}

static void finish(struct op_placement_work *work)
{
    struct op_placement *ret = work->ret;

    if (!work->any)
        ret->reason = STR("no op was recorded");
    if (!work->host_known && ret->of[PLACE_HOST].count == 0)
        ret->of[PLACE_HOST].reason =
            STR("the profile does not distinguish ops that the host ran from its other work");
    if (!work->callback_known && !work->host_known && ret->of[PLACE_CALLBACK].count == 0)
        ret->of[PLACE_CALLBACK].reason = STR("the profile does not record callbacks into Python");
    for (int place = 0; place < PLACE_COUNT; place++)
        ps_add(&ret->total_ps, ret->of[place].self_ps);
    if (work->movable_count > 1)
        qsort(work->movable, work->movable_count, sizeof *work->movable, by_time);
    while (work->movable_count > 0 &&
           work->movable[work->movable_count - 1].self_ps < ret->total_ps / LEAST_PART)
        ps_add(&ret->movable_ps, -work->movable[--work->movable_count].self_ps);
    ret->movable_count_all = work->movable_count;
    ret->movable_count = work->movable_count < MOVABLE_MAX ? work->movable_count : MOVABLE_MAX;

    struct movable *kept = arena_array(work->arena, struct movable, ret->movable_count);

    for (uint32_t i = 0; i < ret->movable_count; i++)
        kept[i] = work->movable[i];
    ret->movable = kept;
    free(work->movable);
    names_destroy(work->keys);
}

void op_placement_find(const struct selection *selections, uint32_t count, struct arena *arena,
                       struct op_placement *ret)
{
    struct op_placement_work work = {.arena = arena, .ret = ret, .keys = names_create()};

    *ret = (struct op_placement){0};
    for (uint32_t i = 0; i < count; i++) {
        bool calls_back = add_ops(&work, &selections[i]);

        calls_back |= op_placement_add_host_ops(&work, &selections[i]);
        if (!calls_back)
            op_placement_add_callbacks(&work, &selections[i]);
    }
    finish(&work);
}
