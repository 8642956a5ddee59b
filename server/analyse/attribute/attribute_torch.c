/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of PyTorch by the op that launched them.
 *
 *   kernel            launched by                            op
 *   gemm_128x64       aten::mm [64, 64] of module mlp        gemm_128x64, caller aten::mm, mlp
 *   gemm_128x64       aten::addmm [1, 64] of module head     gemm_128x64, caller aten::addmm, head
 *
 * Kernels of one name are as many ops as they have callers, modules, phases and costs. A call's
 * cost is that of all it launched: each of its kernels has the part that it has of their time,
 * taken over all calls of that cost in one place, so that sums over kernels are those over calls.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/attribute/attribute_parts.h"
#include "analyse/torch/torch_ops.h"
#include "base/hash.h"

struct caller {  /* what tells ops of one name apart */
    uint32_t op; /* of the name */
    struct torch_launch launch;
};

struct part { /* of an op, or of a group: calls of one cost in one place */
    int64_t total_ps;
    uint32_t count, instance_count;
    uint32_t cost, group;
};

struct calling {
    struct attribute_work *work;
    struct torch_ops *torch;
    struct op *ops;
    uint32_t *op_contexts;
    uint32_t op_count, op_capacity;
    struct map64 op_of; /* by hash of a caller */
    struct part *of_ops, *of_groups;
    uint32_t group_count, group_capacity;
    struct map64 group_of;  /* by cost and scope */
    struct map64 instances; /* seen */
};

static uint64_t hash_of(const struct caller *caller)
{
    uint64_t facts[] = {caller->op,
                        caller->launch.caller,
                        caller->launch.scope,
                        caller->launch.module,
                        (uint64_t)caller->launch.phase,
                        caller->launch.cost};

    return hash64((struct bytes){.at = (const uint8_t *)facts, .count = sizeof facts});
}

static struct op op_of(const struct calling *calling, const struct caller *caller)
{
    struct op op = calling->work->ops[caller->op];

    if (caller->launch.caller != 0) {
        op.caller = caller->launch.caller;
        op.module = caller->launch.module;
        op.scope = caller->launch.scope;
    }
    op.phase = op.kind == KIND_COMMUNICATION ? OP_PHASE_COMMUNICATION : caller->launch.phase;
    return op;
}

static uint32_t find_group(struct calling *calling, const struct torch_launch *launch)
{
    uint32_t *at = map64_at(&calling->group_of, map64_pair(launch->cost, launch->scope), NO_COST);

    if (launch->cost == NO_COST)
        return NO_COST;
    if (*at != NO_COST)
        return *at;
    if (calling->group_count == calling->group_capacity) {
        calling->group_capacity = calling->group_capacity * 2 + 256;
        calling->of_groups = scratch_resize(calling->work->scratch, calling->of_groups,
                                            calling->group_capacity, sizeof *calling->of_groups);
    }
    calling->of_groups[calling->group_count] = (struct part){.cost = launch->cost};
    *at = calling->group_count;
    return calling->group_count++;
}

static uint32_t find_op(struct calling *calling, const struct caller *caller)
{
    uint32_t *at = map64_at(&calling->op_of, hash_of(caller), NO_OP);

    if (*at != NO_OP)
        return *at;
    if (calling->op_count == calling->op_capacity) {
        struct scratch *scratch = calling->work->scratch;
        uint32_t capacity = calling->op_capacity = calling->op_capacity * 2 + 256;

        calling->ops = scratch_resize(scratch, calling->ops, capacity, sizeof *calling->ops);
        calling->op_contexts =
            scratch_resize(scratch, calling->op_contexts, capacity, sizeof *calling->op_contexts);
        calling->of_ops =
            scratch_resize(scratch, calling->of_ops, capacity, sizeof *calling->of_ops);
    }
    calling->ops[calling->op_count] = op_of(calling, caller);
    calling->op_contexts[calling->op_count] = calling->work->op_contexts[caller->op];
    calling->of_ops[calling->op_count] =
        (struct part){.cost = caller->launch.cost, .group = find_group(calling, &caller->launch)};
    *at = calling->op_count;
    return calling->op_count++;
}

static void add_time(struct part *part, int64_t dur_ps)
{
    part->total_ps = sum_of(part->total_ps, dur_ps);
    part->count++;
}

/* What a program launched has its op from there. */
static bool is_kernel_alone(const struct op *op)
{
    return op->program == NO_PROGRAM && op->module == 0 && op->scope == 0;
}

static void take_entry(struct calling *calling, struct attributed *entry)
{
    struct caller caller = {.op = entry->op, .launch = {.cost = NO_COST, .instance = NO_SLICE}};

    if (entry->launch != NO_SLICE && is_kernel_alone(&calling->work->ops[entry->op]))
        torch_ops_of(calling->torch, entry->launch, &caller.launch);
    entry->op = find_op(calling, &caller);
    add_time(&calling->of_ops[entry->op], entry->dur_ps);
    if (caller.launch.cost == NO_COST)
        return;

    struct part *of_group = &calling->of_groups[calling->of_ops[entry->op].group];
    uint32_t *seen =
        map64_at(&calling->instances,
                 map64_pair(calling->of_ops[entry->op].group, caller.launch.instance), 0);

    add_time(of_group, entry->dur_ps);
    of_group->instance_count += *seen == 0;
    *seen = 1;
}

/* Of one launch of the op's kernel. */
static struct op_cost share_of(const struct calling *calling, const struct part *part)
{
    struct op_cost cost = {.flops = NAN,
                           .matrix_flops = NAN,
                           .transcendentals = NAN,
                           .bytes = NAN,
                           .flops_rule = COST_NO_CALLER,
                           .bytes_rule = COST_NO_CALLER};

    if (part->cost != NO_COST) {
        const struct part *all = &calling->of_groups[part->group];
        double time = all->total_ps > 0 ? (double)part->total_ps / (double)all->total_ps
                                        : (double)part->count / (double)all->count;
        bool is_one_each = all->count == all->instance_count; /* each call launched one kernel */
        double share = is_one_each ? 1 : time * (double)all->instance_count / (double)part->count;

        cost = *torch_ops_cost(calling->torch, part->cost);
        cost.flops *= share;
        cost.matrix_flops *= share;
        cost.transcendentals *= share;
        cost.bytes *= share;
        cost.flags |= !is_one_each && part->total_ps < all->total_ps ? COST_DIVIDED : 0;
    }
    cost.run_count = part->count;
    return cost;
}

static void make_costs(struct calling *calling)
{
    struct attribute_work *work = calling->work;

    work->told_costs = scratch_array(work->scratch, struct op_cost, calling->op_count);
    for (uint32_t op = 0; op < calling->op_count; op++)
        if (calling->of_ops[op].count > 0)
            work->told_costs[op] = share_of(calling, &calling->of_ops[op]);
}

static void keep_texts(struct calling *calling)
{
    struct attribute_work *work = calling->work;
    uint32_t bytes = 0;

    work->text_count = torch_ops_text_count(calling->torch);
    work->text_ends = scratch_array(work->scratch, uint32_t, work->text_count);
    for (uint32_t i = 0; i < work->text_count; i++) {
        bytes += (uint32_t)torch_ops_text(calling->torch, i).count;
        work->text_ends[i] = bytes;
    }
    work->text_bytes = bytes;
    work->texts = scratch_array(work->scratch, char, bytes);
    for (uint32_t i = 0; i < work->text_count; i++) {
        struct str text = torch_ops_text(calling->torch, i);

        if (text.count > 0)
            memcpy(work->texts + work->text_ends[i] - text.count, text.at, text.count);
    }
}

/* Kernels name the op of their first launch. */
static void rename_kernels(struct attribute_work *work)
{
    bool *seen = memory_zeroed((size_t)work->kernel_count + 1, sizeof *seen);

    for (uint32_t i = 0; work->kernel_of != NULL && i < work->entry_count; i++) {
        uint32_t kernel = work->kernel_of[i];

        if (kernel == NO_KERNEL || seen[kernel])
            continue;
        seen[kernel] = true;
        work->kernels[kernel].op = work->entries[i].op;
    }
    free(seen);
}

static void take_ops(struct calling *calling)
{
    struct attribute_work *work = calling->work;

    scratch_free(work->scratch, work->ops);
    scratch_free(work->scratch, work->op_contexts);
    work->ops = calling->ops;
    work->op_contexts = calling->op_contexts;
    work->op_count = calling->op_count;
    work->op_capacity = calling->op_capacity;
}

void callers_find(struct attribute_work *work)
{
    struct torch_ops *torch = work->has_devices ? torch_ops_create(work->trace) : NULL;
    struct calling calling = {.work = work, .torch = torch};

    if (torch == NULL)
        return;
    for (uint32_t i = 0; i < work->entry_count; i++)
        if (work->entries[i].launch != NO_SLICE)
            torch_ops_see(torch, work->entries[i].launch);
    for (uint32_t i = 0; i < work->entry_count; i++)
        take_entry(&calling, &work->entries[i]);
    take_ops(&calling);
    rename_kernels(work);
    make_costs(&calling);
    keep_texts(&calling);
    scratch_free(work->scratch, calling.of_groups);
    scratch_free(work->scratch, calling.of_ops);
    map64_free(&calling.group_of);
    map64_free(&calling.op_of);
    map64_free(&calling.instances);
    torch_ops_free(torch);
}
