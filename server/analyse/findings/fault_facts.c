/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the modules that take most time, finds their faults and joins them with their ops. */
#include "analyse/findings/fault_facts.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/findings/platform.h"
#include "analyse/stats/map64.h"
#include "base/hash.h"
#include "trace/ps.h"

enum {
    MODULES_LOOKED_AT = 64, /* of a host: those that take most time */
    BLOB_BYTES_MAX = 64 << 20,
    FAULTS_MAX = 1 << 14
};

struct host_work {
    struct memo *memo;
    const struct host_trace *host;
    const struct compute_host *compute;
    uint32_t index;
    bool is_cpu; /* the run's platform: asked once, for it looks at every host */
    struct fault_facts *ret;
    uint32_t *order; /* ops by program */
};

struct module_work {
    struct host_work *of;
    const struct hlo_module *module;
    uint32_t *op_of; /* of each instruction; NO_OP */
    struct str name;
};

static uint64_t key_of(struct str name)
{
    return hash64((struct bytes){.at = (const uint8_t *)name.at, .count = name.count});
}

static void join_ops(const struct module_work *work, const uint32_t *ops, uint32_t count)
{
    const struct host_trace *host = work->of->host;
    struct map64 by_name = {0};

    for (uint32_t i = 0; i < count; i++)
        *map64_at(&by_name, key_of(trace_name(host->trace, host->attribution->ops[ops[i]].name)),
                  0) = ops[i];
    for (uint32_t i = 0; i < work->module->instruction_count; i++) {
        struct str name = work->module->instructions[i].name;
        uint32_t op;

        work->op_of[i] = NO_OP;
        if (map64_get(&by_name, key_of(name), &op) &&
            str_equal(trace_name(host->trace, host->attribution->ops[op].name), name))
            work->op_of[i] = op;
    }
    map64_free(&by_name);
}

static struct str source_of(const struct module_work *work, uint32_t instruction)
{
    const struct host_trace *host = work->of->host;
    const struct hlo_instruction *of;
    uint32_t op = instruction == HLO_NONE ? NO_OP : work->op_of[instruction];

    if (instruction == HLO_NONE)
        return STR("");
    if (op != NO_OP && host->attribution->ops[op].source != 0)
        return trace_name(host->trace, host->attribution->ops[op].source);
    of = &work->module->instructions[instruction];

    struct hlo_frame frame;
    if (of->source_line != 0)
        return str_format(work->of->memo->arena, "%.*s:%llu", STR_ARG(of->file),
                          (unsigned long long)of->source_line);
    if (hlo_frame_get(&work->module->frames, of->frame, &frame) && frame.line != 0)
        return str_format(work->of->memo->arena, "%.*s:%llu", STR_ARG(frame.file),
                          (unsigned long long)frame.line);
    return STR("");
}

static void add(const struct module_work *work, const struct fault *fault, uint32_t instruction)
{
    const struct hlo_module *module = work->module;
    struct arena *arena = work->of->memo->arena;
    struct fault_facts *ret = work->of->ret;
    struct told_fault *put = &ret->items[ret->count];

    if (ret->count == FAULTS_MAX)
        return;
    *put = (struct told_fault){
        .kind = fault->kind,
        .host = work->of->index,
        .op = work->op_of[instruction] == NO_OP ? NULL
                                                : &work->of->compute->ops[work->op_of[instruction]],
        .name = str_copy(arena, module->instructions[instruction].name),
        .module = work->name,
        .source = str_copy(arena, source_of(work, instruction)),
        .won = fault->won,
        .bytes = fault->bytes,
    };
    if (fault->beside != HLO_NONE)
        put->beside = str_copy(arena, module->instructions[fault->beside].name);
    /* What the compiler put in has no line: that of the op that it was put in for. */
    if (put->source.count == 0)
        put->source = str_copy(arena, source_of(work, fault->beside));
    ret->count++;
}

/* Does each run of the loop run its body once? Events tell: every op of the body that has any was
 * seen as often as the loop itself. */
static bool turns_once(const struct module_work *work, uint32_t loop, uint32_t *ret_condition)
{
    enum { RUNS_MIN = 3 };
    const struct hlo_module *module = work->module;
    const struct op_total *totals = work->of->host->attribution->totals;
    const struct hlo_instruction *of = &module->instructions[loop];
    uint32_t seen = 0, op = work->op_of[loop];

    *ret_condition = HLO_NONE;
    if (op == NO_OP || totals[op].event_count < RUNS_MIN)
        return false;
    for (uint32_t i = 0; i < of->called_count; i++) {
        uint32_t called = module->called[of->first_called + i];
        struct hlo_sizes sizes = {0};

        if (called == HLO_NONE)
            continue;
        const struct hlo_computation *inside = &module->computations[called];
        for (uint32_t k = inside->first; k < inside->first + inside->count; k++)
            if (module->instructions[k].is_root)
                hlo_sizes_read(module->form, module->instructions[k].shape, &sizes);
        if (sizes.type == HLO_PRED) {
            *ret_condition = called;
            continue;
        }
        for (uint32_t k = inside->first; k < inside->first + inside->count; k++) {
            uint32_t inner = work->op_of[k];

            if (inner == NO_OP || totals[inner].event_count == 0)
                continue;
            if (totals[inner].event_count != totals[op].event_count)
                return false;
            seen++;
        }
    }
    return seen > 0;
}

static void add_loop(const struct module_work *work, const struct fault *fault)
{
    uint32_t condition;

    if (!turns_once(work, fault->instruction, &condition))
        return;
    add(work, fault, fault->instruction);
    if (condition == HLO_NONE)
        return;
    const struct hlo_computation *of = &work->module->computations[condition];
    for (uint32_t i = of->first; i < of->first + of->count; i++)
        if (work->op_of[i] != NO_OP)
            add(work, fault, i);
}

static void look_at_program(struct host_work *of, program_id id, const uint32_t *ops,
                            uint32_t count)
{
    const struct program *program = &of->host->trace->programs[id];
    struct arena *arena = arena_create();
    struct error err = {0};
    struct hlo_module module;
    struct faults faults;

    if (program->blob_bytes <= BLOB_BYTES_MAX &&
        hlo_module_of(of->host->trace, program, arena, &module, &err) == OK) {
        struct module_work work = {
            .of = of,
            .module = &module,
            .op_of = arena_array(arena, uint32_t, module.instruction_count + 1),
            .name = trace_name(of->host->trace, program->name),
        };

        join_ops(&work, ops, count);
        faults_find(&module, arena, &faults);
        for (uint32_t i = 0; i < faults.count; i++) {
            const struct fault *fault = &faults.items[i];

            if (fault->is_of_type && of->is_cpu)
                continue;
            if (fault->kind == FAULT_LOOP)
                add_loop(&work, fault);
            else if (work.op_of[fault->instruction] != NO_OP || fault->kind == FAULT_LARGE_CONSTANT)
                add(&work, fault, fault->instruction);
        }
    }
    arena_destroy(arena);
}

struct program_time {
    program_id id;
    uint32_t first, count; /* of the ops by program */
    int64_t self_ps;
};

static int by_time(const void *left, const void *right)
{
    const struct program_time *a = left, *b = right;

    if (a->self_ps != b->self_ps)
        return a->self_ps < b->self_ps ? 1 : -1;
    return (a->id > b->id) - (a->id < b->id);
}

static void look_at_host(struct host_work *of)
{
    const struct attribution *attribution = of->host->attribution;
    uint32_t op_count = of->compute->op_count, count = 0;
    struct program_time *programs =
        arena_array(of->memo->arena, struct program_time, of->host->trace->program_count + 1);

    for (uint32_t i = 0; i < op_count; i++)
        of->order[i] = i;
    ops_by_program(attribution->ops, of->order, op_count);
    for (uint32_t i = 0; i < op_count; i++) {
        program_id id = attribution->ops[of->order[i]].program;

        if (id >= of->host->trace->program_count)
            continue;
        if (count == 0 || programs[count - 1].id != id)
            programs[count++] = (struct program_time){.id = id, .first = i};
        programs[count - 1].count++;
        ps_add(&programs[count - 1].self_ps, of->compute->ops[of->order[i]].self_ps);
    }
    qsort(programs, count, sizeof(*programs), by_time);
    for (uint32_t i = 0; i < count && i < MODULES_LOOKED_AT && programs[i].self_ps > 0; i++)
        look_at_program(of, programs[i].id, &of->order[programs[i].first], programs[i].count);
}

static enum status make_faults(struct memo *memo, const void **ret, struct error *err)
{
    struct fault_facts *made = arena_new(memo->arena, struct fault_facts);
    const struct compute_facts *compute;
    bool is_cpu = (platform_of(memo->run, memo->arena) & ON_CPU) != 0;

    TRY(memo_compute(memo, &compute, err));
    made->items = arena_array(memo->arena, struct told_fault, FAULTS_MAX);
    for (uint32_t i = 0; i < memo->run->host_count; i++) {
        struct host_work work = {
            .memo = memo,
            .host = &memo->run->hosts[i],
            .compute = &compute->hosts[i],
            .index = i,
            .is_cpu = is_cpu,
            .ret = made,
            .order = arena_array(memo->arena, uint32_t, compute->hosts[i].op_count + 1),
        };

        if (work.compute->op_count > 0)
            look_at_host(&work);
    }
    *ret = made;
    return OK;
}

enum status memo_faults(struct memo *memo, const struct fault_facts **ret, struct error *err)
{
    const void *made;

    TRY(memo_once(memo, make_faults, &made, err));
    *ret = made;
    return OK;
}
