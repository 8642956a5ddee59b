/* SPDX-License-Identifier: Apache-2.0 */
/* Events out of nothing: names, times, stats. */
#include "profile.h"

#include <stdio.h>

static const char *const stat_names[STAT_COUNT] = {
    "",         "correlation_id", "hlo_op",        "hlo_module",     "program_id",
    "run_id",   "kernel_details", "occupancy_pct", "tf_op",          "device_ordinal",
    "step_num", "hlo_category",   "flops",         "bytes_accessed", "profile_start_time",
};

const char *stat_name(enum stat_id stat)
{
    return stat_names[stat];
}

static uint64_t mix(uint64_t value)
{
    value += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

const char *text_of(unsigned name, char room[160])
{
    static const char *const ops[] = {"fusion",     "gemm_fusion_dot",     "loop_multiply_fusion",
                                      "all-reduce", "input_reduce_fusion", "copy",
                                      "dot",        "wrapped_transpose"};
    unsigned op = name >= NAME_ENDS ? name - NAME_ENDS : name - NAME_OPS;

    if (name >= NAME_FRAMES)
        snprintf(room, 160, "$model.py:%u layer_%u", 10 + name - NAME_FRAMES, name % 12);
    else if (name == NAME_COPY)
        snprintf(room, 160, "MemcpyD2D");
    else if (name == NAME_LAUNCH)
        snprintf(room, 160, "cuLaunchKernelEx");
    else if (name == NAME_STEP)
        snprintf(room, 160, "train");
    else if (name == NAME_MODULE)
        snprintf(room, 160, "jit_train_step(4711)");
    else
        snprintf(room, 160, "%s%s.%u", name >= NAME_ENDS ? "end: " : "", ops[op % COUNT(ops)], op);
    return room;
}

const char *detail_of(enum stat_id stat, unsigned op, char room[160])
{
    switch (stat) {
    case STAT_HLO_OP:
        return text_of(NAME_OPS + op, room);
    case STAT_HLO_MODULE:
        return "jit_train_step";
    case STAT_CATEGORY:
        return op % 8 == 3 ? "all-reduce" : op % 8 == 5 ? "copy" : "loop fusion";
    case STAT_TF_OP:
        snprintf(room, 160,
                 "jit(train_step)/jit(main)/transpose(jvp(Transformer))/decoder/layer_%u/mlp/"
                 "dot_general",
                 op % 12);
        return room;
    default:
        snprintf(room, 160,
                 "regs:%u static_shared:0 dynamic_shared:%u grid:%u,1,1 block:256,1,1 occ_pct:75 "
                 "max_active_blocks:4 cluster:1,1,1",
                 16 + op % 8 * 16, op % 4 * 8192, 64 + op * 16);
        return room;
    }
}

static void add_stat(struct made *made, enum stat_id stat, bool is_ref, uint64_t value)
{
    made->stats[made->stat_count++] =
        (struct stat_value){.stat = stat, .is_ref = is_ref, .value = value};
}

static void make_frame(uint64_t index, uint64_t chance, int64_t slot_ps, struct made *ret)
{
    static const struct {
        int start, length; /* in 64ths of eight slots */
    } shape[8] = {{2, 60}, {4, 26}, {5, 10}, {17, 12}, {32, 24}, {33, 10}, {45, 10}, {57, 4}};
    int64_t unit = slot_ps * 8 / 64;

    ret->name = NAME_FRAMES + (unsigned)(index % 8 * 8 + chance % 8);
    ret->start_ps += unit * shape[index % 8].start - slot_ps * (int64_t)(index % 8);
    ret->dur_ps = unit * shape[index % 8].length - (int64_t)(chance >> 8 & 0xff);
    ret->outermost = index % 8 == 0;
}

static void make_op_stats(const struct line *line, uint64_t index, unsigned op, struct made *ret)
{
    add_stat(ret, STAT_CORRELATION, false, index + 1000 + (uint64_t)line->device * 100000000);
    add_stat(ret, STAT_HLO_OP, true, op);
    add_stat(ret, STAT_HLO_MODULE, true, op);
    add_stat(ret, STAT_RUN, false, index / line->per_step + 1);
    add_stat(ret, STAT_PROGRAM, false, 4711);
    add_stat(ret, STAT_DETAILS, true, op);
    add_stat(ret, STAT_TF_OP, true, op);
    add_stat(ret, STAT_OCCUPANCY, false, 75);
}

struct made make_event(const struct profile *profile, const struct line *line, uint64_t index)
{
    uint64_t step = index / line->per_step, place = index % line->per_step;
    uint64_t chance = mix(profile->seed ^ mix((uint64_t)line->id << 40 ^ index));
    int64_t slot_ps = STEP_PS / (int64_t)line->per_step;
    unsigned op = (unsigned)(chance >> 40) % OP_NAMES;
    struct made made = {
        .name = NAME_OPS + op,
        .start_ps = STEP_PS * (int64_t)step + slot_ps * (int64_t)place,
        .outermost = true,
    };

    if (line->pattern == FRAMES) {
        make_frame(place, chance, slot_ps, &made);
        if (place == 0) {
            made.name = NAME_STEP;
            add_stat(&made, STAT_STEP, false, step);
        }
        return made;
    }
    made.start_ps += (int64_t)(chance % (uint64_t)(slot_ps / 4));
    made.dur_ps = slot_ps / 4 + (int64_t)(mix(chance) % (uint64_t)(slot_ps / 2));
    switch (line->pattern) {
    case KERNELS:
    case LAUNCHES:
        make_op_stats(line, index, op, &made);
        made.name = line->pattern == LAUNCHES ? (unsigned)NAME_LAUNCH : made.name;
        break;
    case COPIES:
        made.name = NAME_COPY;
        add_stat(&made, STAT_CORRELATION, false, index + 50000000);
        break;
    case STEPS:
        made.name = NAME_STEP;
        add_stat(&made, STAT_STEP, false, step);
        break;
    case MODULES:
        made.name = NAME_MODULE;
        add_stat(&made, STAT_RUN, false, step + 1);
        add_stat(&made, STAT_PROGRAM, false, 4711);
        break;
    case CPU_OPS:
        made.name += chance % 16 == 0 ? NAME_ENDS - NAME_OPS : 0;
        add_stat(&made, STAT_HLO_OP, true, op);
        add_stat(&made, STAT_HLO_MODULE, true, op);
        add_stat(&made, STAT_PROGRAM, false, 4711);
        add_stat(&made, STAT_RUN, false, step + 1);
        add_stat(&made, STAT_DEVICE, false, (uint64_t)line->device);
        break;
    default:
        break;
    }
    return made;
}
