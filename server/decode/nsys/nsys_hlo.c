/* SPDX-License-Identifier: Apache-2.0 */
/* Which HLO op a launch is of: XLA opens a range around each.
 *
 *   thread   [ TSL:XlaModule:#hlo_module=jit_f,program_id=3# -------- ]
 *              [ TSL:Thunk:#hlo_op=fusion.3# ]   [ TSL:Thunk:... ]
 *                 ^call                             ^call
 *
 * Calls and ranges of a thread are walked in time order; the module and the op that are open at a
 * call are those of its kernels. They are looked up by the launch when the kernels are read.
 */
#include "base/bisect.h"
#include "base/sort.h"
#include "decode/nsys/nsys.h"
#include "decode/xla_range.h"

static bool call_before(const struct gpu_launch *a, const struct gpu_launch *b)
{
    if (a->thread != b->thread)
        return a->thread < b->thread;
    return a->at_ps < b->at_ps;
}

static bool launch_before(const struct xla_launch *a, const struct xla_launch *b)
{
    return a->launch < b->launch;
}

SORT_DEFINE(sort_calls, struct gpu_launch, call_before)
SORT_DEFINE(sort_ranges, struct nvtx_range, nvtx_range_before)
SORT_DEFINE(sort_launches, struct xla_launch, launch_before)

static name_id value_name(struct nsys *nsys, name_id range, struct str key)
{
    struct str value = xla_range_value(sink_text(nsys->sink, range), key);

    return value.count > 0 ? sink_name(nsys->sink, value) : 0;
}

struct open { /* of the thread at hand: thunks do not lie in thunks, nor modules in modules */
    struct nvtx_range module, op;
};

static void follow(struct nsys *nsys, struct open *open, const struct nvtx_range *range)
{
    struct str name = sink_text(nsys->sink, range->name);

    if (xla_range_is_module(name))
        open->module = *range;
    else if (xla_range_is_op(name))
        open->op = *range;
}

static void take_call(struct nsys *nsys, const struct open *open, const struct gpu_launch *call)
{
    bool in_module = open->module.name != 0 && open->module.thread == call->thread &&
                     call->at_ps <= open->module.end_ps;
    bool in_op =
        open->op.name != 0 && open->op.thread == call->thread && call->at_ps <= open->op.end_ps;

    if (in_module || in_op)
        *nsys_list_add(nsys, &nsys->xla) = (struct xla_launch){
            .launch = call->launch,
            .module = in_module ? open->module.name : 0,
            .op = in_op ? open->op.name : 0,
        };
}

void nsys_find_hlo(struct nsys *nsys)
{
    struct open open = {0};
    size_t range = 0;

    if (!nsys->has_xla_ranges)
        return;
    sort_calls(nsys->launches.at, nsys->launches.count);
    sort_ranges(nsys->ranges.at, nsys->ranges.count);
    for (size_t call = 0; call < nsys->launches.count; call++) {
        const struct gpu_launch *one = &nsys->launches.at[call];

        for (; range < nsys->ranges.count; range++) {
            const struct nvtx_range *next = &nsys->ranges.at[range];

            if (next->thread > one->thread ||
                (next->thread == one->thread && next->start_ps > one->at_ps))
                break;
            follow(nsys, &open, next);
        }
        take_call(nsys, &open, one);
    }
    sort_launches(nsys->xla.at, nsys->xla.count);
}

static void put_text(struct nsys *nsys, struct str key, name_id value)
{
    if (value != 0)
        sink_arg(
            nsys->sink,
            (struct arg){.key = sink_name(nsys->sink, key), .type = ARG_STRING, .bits = value});
}

void nsys_put_hlo(struct nsys *nsys, uint64_t launch)
{
    uint64_t program;
    size_t low = BISECT(0, nsys->xla.count, i, nsys->xla.at[i].launch < launch);

    if (low == nsys->xla.count || nsys->xla.at[low].launch != launch)
        return;
    const struct xla_launch *found = &nsys->xla.at[low];
    struct str module = sink_text(nsys->sink, found->module);

    put_text(nsys, STR("hlo_op"), value_name(nsys, found->op, STR("hlo_op")));
    put_text(nsys, STR("hlo_module"), value_name(nsys, found->module, STR("hlo_module")));
    if (str_to_u64(xla_range_value(module, STR("program_id")), &program))
        sink_arg(nsys->sink, (struct arg){.key = sink_name(nsys->sink, STR("program_id")),
                                          .type = ARG_UINT64,
                                          .bits = program});
}
