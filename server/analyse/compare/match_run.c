/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the ops of a run with their instructions, and folds those that several hosts share. */
#include "analyse/compare/match_run.h"

#include <stdlib.h>

#include "analyse/hlo/scope.h"
#include "analyse/scan/module_names.h"
#include "analyse/stats/map64.h"
#include "base/hash.h"
#include "decode/hlo/hlo_module.h"

struct reading { /* of one run */
    const struct run_traces *run;
    struct match_run *ret;
    struct arena *arena;
    struct module_names modules; /* of the host that is read */
    struct map64 known;          /* module and instruction -> item */
    uint32_t capacity;
};

struct leaves { /* of what several fusions may call: made once */
    const uint64_t *items;
    uint32_t count;
    bool is_made;
};

struct opened { /* a program's module, and where its instructions stand */
    struct hlo_module module;
    struct map64 by_name;
    struct leaves *leaves; /* by computation */
    uint64_t *shapes;      /* of each instruction, hashed; 0: not yet asked for */
    struct arena *arena;
};

static uint64_t hash_of(struct str text)
{
    return hash64((struct bytes){.at = (const uint8_t *)text.at, .count = text.count});
}

static uint64_t join(uint64_t a, uint64_t b)
{
    uint64_t pair[2] = {a, b};

    return hash64((struct bytes){.at = (const uint8_t *)pair, .count = sizeof pair});
}

static bool open_program(const struct trace *trace, const struct program *program,
                         struct opened *ret)
{
    struct error ignored = {0};

    *ret = (struct opened){.arena = arena_create()};
    if (hlo_module_of(trace, program, ret->arena, &ret->module, &ignored) != OK)
        return false;
    for (uint32_t i = 0; i < ret->module.instruction_count; i++)
        *map64_at(&ret->by_name, hash_of(ret->module.instructions[i].name), i) = i;
    ret->leaves = arena_array(ret->arena, struct leaves, ret->module.computation_count);
    ret->shapes = arena_array(ret->arena, uint64_t, ret->module.instruction_count);
    return true;
}

static void close_program(struct opened *opened)
{
    map64_free(&opened->by_name);
    arena_destroy(opened->arena);
}

static struct str shape_of(const struct hlo_module *module, const struct hlo_instruction *of,
                           struct arena *arena)
{
    struct text text = {0};

    hlo_put_shape(&text, module, of->shape);
    struct str ret = str_copy(arena, text_str(&text));
    text_free(&text);
    return ret;
}

/* An operand of many is put into words once. */
static uint64_t shape_hash(const struct opened *opened, uint32_t instruction)
{
    uint64_t *hash = &opened->shapes[instruction];

    if (*hash == 0) {
        struct text text = {0};

        hlo_put_shape(&text, &opened->module, opened->module.instructions[instruction].shape);
        *hash = hash_of(text_str(&text)) | 1;
        text_free(&text);
    }
    return *hash;
}

/* A custom call is what it calls. */
static struct str opcode_of(const struct hlo_instruction *of, struct arena *arena)
{
    if (of->target.count == 0)
        return str_copy(arena, of->opcode);
    return str_format(arena, "%.*s:%.*s", STR_ARG(of->opcode), STR_ARG(of->target));
}

static uint64_t structure_of(const struct opened *opened, const struct hlo_instruction *of)
{
    const struct hlo_module *module = &opened->module;
    uint64_t hash = 1;

    for (uint32_t i = 0; i < of->operand_count; i++) {
        uint32_t operand = module->operands[of->first_operand + i];

        if (operand == HLO_NONE) {
            hash = join(hash, 0);
            continue;
        }
        const struct hlo_instruction *at = &module->instructions[operand];
        hash = join(join(hash, hash_of(at->opcode)), shape_hash(opened, operand));
    }
    return hash | 1;
}

/* What is computed by an instruction that only moves values about tells nothing. */
static uint64_t leaf_of(const struct hlo_instruction *of)
{
    static const char *const movers[] = {"parameter", "constant", "tuple", "get-tuple-element",
                                         "bitcast"};

    if (of->scope.count == 0)
        return 0;
    for (size_t i = 0; i < COUNT(movers); i++)
        if (str_equal(of->opcode, str_of(movers[i])))
            return 0;
    return join(hash_of(of->scope), hash_of(of->opcode));
}

static int ascending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static struct leaves leaves_of(const struct hlo_instruction *items, uint32_t count,
                               struct arena *arena)
{
    uint64_t *leaves = arena_array(arena, uint64_t, count);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t leaf = leaf_of(&items[i]);

        if (leaf != 0)
            leaves[kept++] = leaf;
    }
    if (kept > 0)
        qsort(leaves, kept, sizeof *leaves, ascending);
    return (struct leaves){.items = leaves, .count = kept, .is_made = true};
}

/* Of a fusion those inside, of anything else itself. */
static void put_leaves(const struct opened *opened, const struct hlo_instruction *of,
                       struct arena *arena, struct match_op *ret)
{
    const struct hlo_module *module = &opened->module;
    uint32_t called = of->called_count > 0 ? module->called[of->first_called] : HLO_NONE;
    struct leaves own = {0}, *leaves = &own;

    if (called != HLO_NONE && module->computations[called].is_fused) {
        const struct hlo_computation *body = &module->computations[called];

        leaves = &opened->leaves[called];
        if (!leaves->is_made)
            *leaves = leaves_of(&module->instructions[body->first], body->count, arena);
    } else {
        own = leaves_of(of, 1, arena);
    }
    ret->leaves = leaves->items;
    ret->leaf_count = leaves->count;
}

static void put_instruction(struct reading *reading, const struct opened *opened,
                            struct match_op *ret)
{
    uint32_t index;

    if (opened == NULL || !map64_get(&opened->by_name, hash_of(ret->name), &index))
        return;
    const struct hlo_instruction *of = &opened->module.instructions[index];
    ret->opcode = opcode_of(of, reading->arena);
    ret->shape = shape_of(&opened->module, of, reading->arena);
    ret->structure = structure_of(opened, of);
    if (of->scope.count > 0)
        ret->scope = str_copy(reading->arena, of->scope);
    if (of->file.count > 0)
        ret->source = str_format(reading->arena, "%.*s:%llu", STR_ARG(of->file),
                                 (unsigned long long)of->source_line);
    put_leaves(opened, of, reading->arena, ret);
}

static uint32_t add_item(struct reading *reading, const struct host_trace *host, uint32_t op)
{
    struct match_run *ret = reading->ret;

    if (ret->count == reading->capacity) {
        reading->capacity = reading->capacity == 0 ? 256 : 2 * reading->capacity;
        ret->items = memory_resize(ret->items, reading->capacity, sizeof *ret->items);
        ret->hosts = memory_resize(ret->hosts, reading->capacity, sizeof *ret->hosts);
        ret->ops = memory_resize(ret->ops, reading->capacity, sizeof *ret->ops);
    }
    ret->items[ret->count] = (struct match_op){0};
    ret->hosts[ret->count] = host;
    ret->ops[ret->count] = op;
    return ret->count++;
}

static struct str module_of(const struct host_trace *host, const struct op *op)
{
    const struct trace *trace = host->trace;

    if (op->program != NO_PROGRAM)
        return trace_name(trace, trace->programs[op->program].name);
    return op->module == 0 ? STR("") : trace_name(trace, op->module);
}

static void read_op(struct reading *reading, const struct host_trace *host, uint32_t index,
                    const struct opened *opened, uint32_t *ret_item)
{
    const struct op *op = &host->attribution->ops[index];
    const struct trace *trace = host->trace;
    struct match_op item = {
        .module = module_of(host, op),
        .name = trace_name(trace, op_called(op)),
        .scope = scope_of_op(trace, op),
        .opcode = op->caller != 0 ? trace_name(trace, op->caller) : STR(""),
        .source = op->source == 0 ? STR("") : trace_name(trace, op->source),
        .fingerprint = op->program == NO_PROGRAM ? 0 : trace->programs[op->program].fingerprint,
    };
    item.called = module_name_of(&reading->modules, op);

    /* Hosts number their programs apart: one program of theirs is one item. */
    struct str program = item.fingerprint != 0 ? item.module : item.called;
    uint64_t key = join(join(item.fingerprint, hash_of(program)), hash_of(item.name));
    uint32_t *known = map64_at(&reading->known, key, UINT32_MAX);

    if (*known == UINT32_MAX) {
        *known = add_item(reading, host, index);
        put_instruction(reading, opened, &item);
        reading->ret->items[*known] = item;
    }
    *ret_item = *known;
}

struct order { /* of an op: its program, then its place there */
    program_id program;
    uint32_t place, op;
};

static int by_place(const void *a, const void *b)
{
    const struct order *x = a, *y = b;

    if (x->program != y->program)
        return x->program < y->program ? -1 : 1;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

/* Ops of one program at a time: it is open only as long. */
static void read_program(struct reading *reading, uint32_t host_index, struct order *order,
                         uint32_t count)
{
    const struct host_trace *host = &reading->run->hosts[host_index];
    program_id program = order[0].program;
    struct opened opened;
    bool is_open = program != NO_PROGRAM &&
                   open_program(host->trace, &host->trace->programs[program], &opened);

    for (uint32_t i = 0; i < count && is_open; i++) {
        name_id name = host->attribution->ops[order[i].op].name;

        if (!map64_get(&opened.by_name, hash_of(trace_name(host->trace, name)), &order[i].place))
            order[i].place = UINT32_MAX;
    }
    qsort(order, count, sizeof *order, by_place);
    for (uint32_t i = 0; i < count; i++)
        read_op(reading, host, order[i].op, is_open ? &opened : NULL,
                &reading->ret->item_of[host_index][order[i].op]);
    if (program != NO_PROGRAM)
        close_program(&opened);
}

static void read_host(struct reading *reading, uint32_t host_index)
{
    const struct attribution *attribution = reading->run->hosts[host_index].attribution;
    uint32_t op_count = attribution == NULL ? 0 : attribution->op_count, count = 0;
    struct order *order = arena_array(reading->arena, struct order, op_count);
    uint32_t *item_of = arena_array(reading->arena, uint32_t, op_count);

    reading->ret->item_of[host_index] = item_of;
    if (op_count > 0)
        reading->modules = module_names_of(&reading->run->hosts[host_index], reading->arena);
    for (uint32_t i = 0; i < op_count; i++) {
        item_of[i] = UINT32_MAX;
        if (attribution->totals == NULL || attribution->totals[i].event_count > 0)
            order[count++] = (struct order){.program = attribution->ops[i].program, .op = i};
    }
    if (count > 0)
        qsort(order, count, sizeof *order, by_place);
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && order[end].program == order[first].program;)
            end++;
        read_program(reading, host_index, &order[first], end - first);
    }
}

/* From the heap, where they grew, into the arena. */
static void *keep(struct arena *arena, void *grown, uint32_t count, size_t size)
{
    void *kept = arena_alloc(arena, count, size);

    if (count > 0)
        memcpy(kept, grown, count * size);
    free(grown);
    return kept;
}

void match_run(const struct run_traces *run, struct arena *arena, struct match_run *ret)
{
    struct reading reading = {.run = run, .ret = ret, .arena = arena};

    *ret = (struct match_run){.item_of = arena_array(arena, uint32_t *, run->host_count)};
    for (uint32_t i = 0; i < run->host_count; i++)
        read_host(&reading, i);
    ret->items = keep(arena, ret->items, ret->count, sizeof *ret->items);
    ret->hosts = keep(arena, ret->hosts, ret->count, sizeof *ret->hosts);
    ret->ops = keep(arena, ret->ops, ret->count, sizeof *ret->ops);
    map64_free(&reading.known);
}
