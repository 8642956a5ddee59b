/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up ops without program text in modules beside the profile, and writes scope, source and
 * kind from there. */
#include "analyse/hlo/hlo_backfill.h"

#include <stdlib.h>

#include "analyse/hlo/hlo.h"
#include "analyse/stats/map64.h"
#include "base/bisect.h"
#include "base/human.h"
#include "base/sort.h"
#include "trace/args/args.h"

struct module { /* that may lend, as it runs */
    struct str name;
    uint64_t id;
    uint32_t trace; /* of the run: hosts, then others */
    program_id program;
};

static bool module_before(const struct module *a, const struct module *b)
{
    int order = str_compare(a->name, b->name);

    if (order != 0)
        return order < 0;
    if (a->id != b->id)
        return a->id < b->id;
    return a->trace != b->trace ? a->trace < b->trace : a->program < b->program;
}

SORT_DEFINE(sort_modules, struct module, module_before)

struct numbers { /* program ids of ops: mostly asked in the order of events */
    const struct host_trace *host;
    name_id key;
    bool has_key;
    uint32_t block; /* of the column; UINT32_MAX: none */
    bool has_column;
    struct arg_column *column;
};

struct hlo_backfill {
    const struct run_traces *run;
    struct module *modules; /* by name, then number */
    uint32_t module_count;
    struct numbers numbers;
    struct trace *trace; /* the copy */
    struct str *names;   /* lent to it */
    uint32_t name_count, name_capacity;
    struct map64 lent; /* (trace, its name) -> place in names */
    bool *has_lent;    /* by trace */
    struct arena *arena;
    struct hlo_backfilled *sum;
};

static bool wants(const struct op *op)
{
    return op->program == NO_PROGRAM && op->caller == 0 && op->module != 0 &&
           (op->scope == 0 || op->source == 0);
}

bool hlo_backfill_is_wanted(const struct host_trace *host)
{
    const struct attribution *of = host->attribution;

    for (uint32_t op = 0; of != NULL && op < of->op_count; op++)
        if (wants(&of->ops[op]))
            return true;
    return false;
}

static bool number_of_arg(enum arg_type type, uint64_t bits, uint64_t *ret)
{
    *ret = bits;
    return type == ARG_UINT64 || type == ARG_INT64 || type == ARG_DIGITS;
}

static bool number_of_type(const struct numbers *numbers, event_id event, uint64_t *ret)
{
    const struct trace *trace = numbers->host->trace;
    type_id id = trace_type(trace, event);

    if (id >= trace->type_count)
        return false;
    for (uint32_t i = 0; i < trace->types[id].arg_count; i++) {
        const struct arg *arg = &trace->type_args[trace->types[id].first_arg + i];

        if (arg->key == numbers->key && number_of_arg(arg->type, arg->bits, ret))
            return true;
    }
    return false;
}

/* The number of the program that an op's first event ran in. */
static bool number_of(struct numbers *numbers, uint32_t op, uint64_t *ret)
{
    const struct host_trace *host = numbers->host;
    const struct op_total *totals = host->attribution->totals;

    if (!numbers->has_key || totals == NULL || totals[op].first == NO_SLICE)
        return false;
    event_id event = trace_slice(host->trace, totals[op].first).event;
    uint32_t block = trace_arg_block_of(host->trace, event);

    if (block >= trace_arg_block_count(host->trace))
        return false;
    if (block != numbers->block) {
        numbers->block = block;
        numbers->has_column = trace_arg_column(host->trace, block, numbers->key, numbers->column);
    }
    const struct arg_column *column = numbers->column;
    if (numbers->has_column && event >= column->first_event &&
        event - column->first_event < column->count &&
        number_of_arg((enum arg_type)column->type[event - column->first_event],
                      column->bits[event - column->first_event], ret))
        return true;
    return number_of_type(numbers, event, ret);
}

/* "jit_f(123)": TPUs write a module's number behind its name. */
static struct str without_number(struct str name, bool *ret_has, uint64_t *ret_number)
{
    size_t open = name.count;

    *ret_has = false;
    if (!str_ends(name, STR(")")))
        return name;
    while (open > 0 && name.at[open - 1] != '(')
        open--;
    if (open == 0 || !str_to_u64((struct str){name.at + open, name.count - open - 1}, ret_number))
        return name;
    *ret_has = true;
    return (struct str){name.at, open - 1};
}

static uint32_t first_of_name(const struct hlo_backfill *backfill, struct str name)
{
    return BISECT(0, backfill->module_count, i, str_compare(backfill->modules[i].name, name) < 0);
}

static const struct instruction *find_in(const struct hlo_backfill *backfill,
                                         const struct module *module, struct str op)
{
    const struct trace *trace = run_trace(backfill->run, module->trace)->trace;
    name_id name;

    return trace_find_name(trace, op, &name) ? trace_instruction(trace, module->program, name)
                                             : NULL;
}

static bool agree(const struct hlo_backfill *backfill, const struct module *a,
                  const struct instruction *of_a, const struct module *b,
                  const struct instruction *of_b)
{
    const struct trace *left = run_trace(backfill->run, a->trace)->trace;
    const struct trace *right = run_trace(backfill->run, b->trace)->trace;

    return str_equal(trace_name(left, of_a->scope), trace_name(right, of_b->scope)) &&
           str_equal(trace_name(left, of_a->source), trace_name(right, of_b->source));
}

/* The module that lends to this op, and its instruction; NULL: none, or several that differ. */
static const struct module *hlo_backfill_source_of(struct hlo_backfill *backfill, uint32_t index,
                                                   const struct instruction **ret)
{
    const struct trace *trace = backfill->numbers.host->trace;
    const struct op *op = &backfill->numbers.host->attribution->ops[index];
    const struct module *source = NULL;
    uint64_t number = 0;
    bool has_number, is_there = false;
    struct str name = without_number(trace_name(trace, op->module), &has_number, &number);
    uint32_t at = first_of_name(backfill, name);

    if (at == backfill->module_count || !str_equal(backfill->modules[at].name, name))
        return NULL;
    has_number = number_of(&backfill->numbers, index, &number) || has_number;
    for (; at < backfill->module_count && str_equal(backfill->modules[at].name, name); at++) {
        const struct module *module = &backfill->modules[at];

        if (has_number && module->id != number)
            continue;
        is_there = true;
        const struct instruction *found = find_in(backfill, module, trace_name(trace, op->name));
        if (found == NULL)
            continue;
        if (source != NULL && !agree(backfill, source, *ret, module, found))
            return NULL;
        source = module;
        *ret = found;
    }
    backfill->sum->unlike_count += !is_there;
    return source;
}

static name_id hlo_backfill_name(struct hlo_backfill *backfill, const struct module *module,
                                 name_id name)
{
    const struct trace *from = run_trace(backfill->run, module->trace)->trace;

    if (name == 0)
        return 0;
    uint32_t *at = map64_at(&backfill->lent, map64_pair(module->trace, name), UINT32_MAX);
    if (*at == UINT32_MAX) {
        *at = backfill->name_count;
        if (backfill->name_count == backfill->name_capacity) {
            backfill->name_capacity = backfill->name_capacity * 2 + 64;
            struct str *names = arena_array(backfill->arena, struct str, backfill->name_capacity);
            if (backfill->name_count > 0)
                memcpy(names, backfill->names, backfill->name_count * sizeof *names);
            backfill->names = names;
        }
        backfill->names[backfill->name_count++] = trace_name(from, name);
    }
    return backfill->trace->name_count + *at;
}

/* Behind those that its attribution lends it already. */
static void begin_names(struct hlo_backfill *backfill)
{
    uint32_t count = backfill->trace->lent_name_count;

    if (count == 0)
        return;
    backfill->names = arena_array(backfill->arena, struct str, count);
    memcpy(backfill->names, backfill->trace->lent_names, count * sizeof *backfill->names);
    backfill->name_count = backfill->name_capacity = count;
}

static void hlo_backfill_to(struct hlo_backfill *backfill, struct op *op,
                            const struct module *module, const struct instruction *instruction)
{
    const struct op before = *op;

    if (op->scope == 0)
        op->scope = hlo_backfill_name(backfill, module, instruction->scope);
    if (op->source == 0)
        op->source = hlo_backfill_name(backfill, module, instruction->source);
    if (op->category == 0)
        op->category = hlo_backfill_name(backfill, module,
                                         instruction->category != 0 ? instruction->category
                                                                    : instruction->opcode);
    if (op->scope == before.scope && op->source == before.source && op->category == before.category)
        return;
    backfill->sum->op_count++;
    if (backfill->has_lent[module->trace])
        return;
    backfill->has_lent[module->trace] = true;
    if (backfill->sum->file_count++ == 0)
        backfill->sum->file = run_trace(backfill->run, module->trace)->name;
}

static void gather(struct hlo_backfill *backfill, const struct hlo_modules *modules)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < modules->count; i++)
        count += modules->items[i].copy_count;
    backfill->modules = arena_array(backfill->arena, struct module, (size_t)count + 1);
    for (uint32_t i = 0; i < modules->count; i++) {
        const struct hlo_listed *item = &modules->items[i];

        for (uint32_t k = 0; item->stage == STAGE_AFTER && k < item->copy_count; k++) {
            const struct trace *trace = run_trace(backfill->run, item->copies[k].trace)->trace;

            backfill->modules[backfill->module_count++] = (struct module){
                .name = item->name,
                .id = item->program_id,
                .trace = item->copies[k].trace,
                .program = (program_id)(item->copies[k].program - trace->programs),
            };
        }
    }
    sort_modules(backfill->modules, backfill->module_count);
}

/* Rows by what was lent are new ones: none of their quantiles is stored. */
static uint32_t spreads_that_stay(const struct attribution *of)
{
    uint32_t count = 0;

    while (count < of->spread_count && of->spreads[count].by <= SPREAD_BY_MODULE)
        count++;
    return count;
}

void hlo_backfill_scopes(const struct run_traces *run, const struct hlo_modules *modules,
                         struct host_trace *host, struct arena *arena, struct hlo_backfilled *sum)
{
    const struct attribution *of = host->attribution;
    struct trace *trace = arena_new(arena, struct trace);
    struct attribution *borrowing = arena_new(arena, struct attribution);
    struct op *ops = arena_array(arena, struct op, (size_t)of->op_count + 1);
    struct hlo_backfill backfill = {
        .run = run,
        .trace = trace,
        .has_lent = arena_array(arena, bool, (size_t)run->host_count + run->other_count + 1),
        .arena = arena,
        .sum = sum,
        .numbers = {.host = host,
                    .block = UINT32_MAX,
                    .column = arena_new(arena, struct arg_column)},
    };
    const struct instruction *instruction;

    *trace = *host->trace;
    if (of->op_count > 0)
        memcpy(ops, of->ops, of->op_count * sizeof *ops);
    backfill.numbers.has_key = trace_find_name(trace, STR("program_id"), &backfill.numbers.key);
    gather(&backfill, modules);
    begin_names(&backfill);
    for (uint32_t op = 0; op < of->op_count && backfill.module_count > 0; op++) {
        const struct module *source =
            wants(&ops[op]) ? hlo_backfill_source_of(&backfill, op, &instruction) : NULL;

        if (source != NULL)
            hlo_backfill_to(&backfill, &ops[op], source, instruction);
    }
    map64_free(&backfill.lent);
    if (backfill.name_count == host->trace->lent_name_count)
        return;
    trace->lent_names = backfill.names;
    trace->lent_name_count = backfill.name_count;
    *borrowing = *of;
    borrowing->ops = ops;
    borrowing->spread_count = spreads_that_stay(of);
    host->trace = trace;
    host->attribution = borrowing;
}

uint32_t hlo_backfill_notes(const struct hlo_backfilled *sum, struct arena *arena,
                            struct answer_note ret[LEND_NOTES_MAX])
{
    uint32_t count = 0;
    struct str more = STR("");

    if (sum->file_count > 1)
        more = str_format(arena, " and %u more file%s", sum->file_count - 1,
                          sum->file_count > 2 ? "s" : "");
    if (sum->op_count > 0)
        ret[count++] = (struct answer_note){
            .kind = "scopes-from-beside",
            .severity = NOTE_INFO,
            .message = str_format(
                arena,
                "The profile holds no HLO for %s op%s: scopes and sources come from %.*s%.*s, "
                "which %s beside it, matched by module name and number.",
                human_count(sum->op_count).text, plural_s(sum->op_count), STR_ARG(sum->file),
                STR_ARG(more), sum->file_count > 1 ? "lie" : "lies")};
    if (sum->unlike_count > 0)
        ret[count++] = (struct answer_note){
            .kind = "scopes-not-from-beside",
            .severity = NOTE_INFO,
            .message =
                str_format(arena,
                           "%s op%s without a scope: modules of the same names lie beside the "
                           "profile, but their numbers differ from those of the programs that ran.",
                           human_count(sum->unlike_count).text, plural_s(sum->unlike_count))};
    return count;
}
