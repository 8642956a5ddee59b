/* SPDX-License-Identifier: Apache-2.0 */
/* Asks every detector of every instruction of a module. */
#include "analyse/hlo/fault_parts.h"

#include <stdlib.h>

enum { FAULTS_MAX = 1 << 12, STEPS_AN_INSTRUCTION = 256 };

void fault_add(struct fault_work *work, const struct fault *fault)
{
    struct faults *ret = work->ret;

    for (uint32_t i = 0; i < ret->count && fault->instruction != HLO_NONE; i++)
        if (ret->items[i].instruction == fault->instruction && ret->items[i].kind == fault->kind)
            return;
    if (fault->instruction != HLO_NONE && ret->count < work->capacity)
        ret->items[ret->count++] = *fault;
}

/* What a fusion, a reduction or a sort calls has no time of its own, nor has what nobody calls. */
static void mark_insides(struct fault_work *work)
{
    static const char *const running[] = {"while", "conditional", "call", "async-start"};
    const struct hlo_module *module = work->module;

    for (uint32_t i = 0; i < module->computation_count; i++) {
        work->callers[i] = HLO_NONE;
        work->is_inside[i] = !module->computations[i].is_entry;
    }
    for (uint32_t i = 0; i < module->instruction_count; i++) {
        const struct hlo_instruction *of = &module->instructions[i];
        bool runs = false;

        for (size_t k = 0; k < COUNT(running); k++)
            runs |= str_equal(of->opcode, str_of(running[k]));
        for (uint32_t k = 0; k < of->called_count; k++) {
            uint32_t called = module->called[of->first_called + k];

            if (called == HLO_NONE)
                continue;
            if (runs)
                work->is_inside[called] = false;
            else if (str_equal(of->opcode, STR("fusion")))
                work->callers[called] = i;
        }
    }
}

static void find_entry(struct fault_work *work)
{
    work->entry = work->root = HLO_NONE;
    for (uint32_t i = 0; i < work->module->computation_count; i++)
        if (work->module->computations[i].is_entry)
            work->entry = i;
    if (work->entry != HLO_NONE)
        work->root = fault_root(work, work->entry);
}

static int by_kind(const void *left, const void *right)
{
    const struct fault *a = left, *b = right;

    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return (a->instruction > b->instruction) - (a->instruction < b->instruction);
}

static void begin(const struct hlo_module *module, struct arena *arena, struct fault_work *ret)
{
    *ret = (struct fault_work){
        .module = module,
        .arena = arena,
        .callers = arena_array(arena, uint32_t, module->computation_count + 1),
        .is_inside = arena_array(arena, bool, module->computation_count + 1),
        .steps_left = (uint64_t)module->instruction_count * STEPS_AN_INSTRUCTION,
    };
    ret->work = cost_work_create(module, NULL);
    mark_insides(ret);
    find_entry(ret);
}

bool fault_is_written_over(const struct hlo_module *module, uint32_t value, struct arena *arena)
{
    struct fault_work work;

    begin(module, arena, &work);
    work.through_copies = true;
    bool ret = fault_writer(&work, value, 0) != HLO_NONE;
    cost_work_free(work.work);
    return ret;
}

void faults_find(const struct hlo_module *module, struct arena *arena, struct faults *ret)
{
    struct fault_work work;

    begin(module, arena, &work);
    *ret = (struct faults){.items = arena_array(arena, struct fault, FAULTS_MAX)};
    work.ret = ret;
    work.capacity = FAULTS_MAX;
    for (uint32_t i = 0; i < module->instruction_count; i++) {
        fault_copies(&work, i);
        fault_products(&work, i);
        fault_constants(&work, i);
        fault_factorisations(&work, i);
        fault_loops(&work, i);
        fault_casts(&work, i);
        fault_f64(&work, i);
        fault_collectives(&work, i);
    }
    cost_work_free(work.work);
    qsort(ret->items, ret->count, sizeof(*ret->items), by_kind);
}
