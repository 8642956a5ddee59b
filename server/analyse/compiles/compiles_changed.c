/* SPDX-License-Identifier: Apache-2.0 */
/* Which module a compile made, and which one it replaced.
 *
 *   compiles of jit_f, by time          c1     c2     c3
 *   modules of jit_f, by number   #4    #6     #8     #10      the last ones are theirs
 *                                 f32[4] -> f32[5] -> f32[6] -> f32[6]
 *
 * The module before is the one of that name that ran last before the compile, or else the one with
 * the number before. What a file says otherwise, a module that ran before it was compiled, ends the
 * comparison.
 */
#include <stdlib.h>

#include "analyse/compiles/compiles_parts.h"
#include "base/bisect.h"

enum {
    BYTES_MAX = 256 << 20, /* of modules read for one host */
    LOOKS_MAX = 1 << 26,   /* at modules' names */
    BACK_MAX = 1024,       /* modules looked at for the one that ran last */
};

struct numbered { /* a module of one name */
    uint64_t id;
    program_id program;
};

static int by_number(const void *left, const void *right)
{
    const struct numbered *a = left, *b = right;

    return (a->id > b->id) - (a->id < b->id);
}

/* Is it the module that this compile makes? Its name, or its function's, with what XLA does not
 * take in names as '_'. */
static bool names_module(const struct compile *compile, struct str module)
{
    if (compile->module.count > 0)
        return str_equal(compile->module, module);

    struct str name = compile_module_function(module), function = compile->function;

    while (function.count > name.count && function.count > 0 &&
           function.at[function.count - 1] == '>')
        function.count--;
    if (name.count != function.count || name.count == 0)
        return false;
    for (size_t i = 0; i < name.count; i++) {
        char letter = function.at[i];
        bool kept = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                    (letter >= '0' && letter <= '9');

        if (name.at[i] != letter && (kept || name.at[i] != '_'))
            return false;
    }
    return true;
}

static uint32_t list_modules(const struct comparing *comparing, const struct compile *compile,
                             struct numbered *ret)
{
    const struct trace *trace = comparing->trace;
    uint32_t count = 0;

    for (program_id id = 0; id < trace->program_count; id++) {
        const struct program *program = &trace->programs[id];

        if (program->form == PROGRAM_PROTO && program->stage != STAGE_BEFORE &&
            program->stage != STAGE_PASS && names_module(compile, trace_name(trace, program->name)))
            ret[count++] = (struct numbered){program->id, id};
    }
    if (count > 1)
        qsort(ret, count, sizeof(*ret), by_number);
    return count;
}

static int by_program_and_time(const void *left, const void *right)
{
    const struct program_run *a = left, *b = right;

    if (a->program != b->program)
        return a->program < b->program ? -1 : 1;
    return (a->start_ps > b->start_ps) - (a->start_ps < b->start_ps);
}

static void find_runs(struct comparing *comparing)
{
    const struct attribution *attribution = comparing->host->attribution;
    uint32_t count = attribution != NULL ? attribution->execution_count : 0;

    comparing->runs = memory_resize(NULL, (size_t)count + 1, sizeof(*comparing->runs));
    for (uint32_t i = 0; i < count; i++) {
        const struct execution *execution = &attribution->executions[i];

        if (execution->program < comparing->trace->program_count &&
            comparing->wanted[execution->program])
            comparing->runs[comparing->run_count++] = (struct program_run){
                execution->program, execution->start_ps + comparing->host->offset_ps};
    }
    if (comparing->run_count > 1)
        qsort(comparing->runs, comparing->run_count, sizeof(*comparing->runs), by_program_and_time);
}

static bool is_before(const struct program_run *run, program_id program, int64_t at_ps)
{
    return run->program < program || (run->program == program && run->start_ps < at_ps);
}

/* The first of the program's runs at or behind a time. */
static uint32_t run_from(const struct comparing *comparing, program_id program, int64_t at_ps)
{
    return BISECT(0, comparing->run_count, i, is_before(&comparing->runs[i], program, at_ps));
}

/* When the program last ran before a time; INT64_MIN never. */
static int64_t ran_before(const struct comparing *comparing, program_id program, int64_t at_ps)
{
    uint32_t behind = run_from(comparing, program, at_ps);

    return behind > 0 && comparing->runs[behind - 1].program == program
               ? comparing->runs[behind - 1].start_ps
               : INT64_MIN;
}

/* Of the modules before the compile's own, `at` of them, the one that ran last before it. */
static program_id module_before(const struct comparing *comparing, const struct compile *compile,
                                const struct numbered *modules, uint32_t at)
{
    program_id best = modules[at - 1].program;
    int64_t best_ps = INT64_MIN;

    for (uint32_t back = 1; back <= at && back <= BACK_MAX; back++) {
        program_id program = modules[at - back].program;
        int64_t ran_ps = ran_before(comparing, program, compile->backend_start_ps);

        if (ran_ps > best_ps) {
            best = program;
            best_ps = ran_ps;
        }
    }
    return best;
}

/* The compiles of one name, in order of time, against the modules of that name. */
static void compare_named(struct comparing *comparing, struct compile **compiles, uint32_t count,
                          const struct numbered *modules, uint32_t module_count)
{
    bool fits = module_count >= count;

    for (uint32_t i = 0; i < count && fits; i++)
        fits = ran_before(comparing, modules[module_count - count + i].program,
                          compiles[i]->backend_start_ps) == INT64_MIN;
    for (uint32_t i = 0; i < count; i++) {
        struct compile *compile = compiles[i];
        uint32_t at = module_count - count + i;

        if (module_count == 0) {
            compile->changed = STR("the profile holds no HLO of this function");
        } else if (!fits) {
            compile->changed = str_format(comparing->arena,
                                          "the profile holds %u module%s of this name; which of "
                                          "them this compilation produced is unknown",
                                          module_count, module_count == 1 ? "" : "s");
        } else {
            compile->program = modules[at].program;
            if (compile->module.count == 0)
                compile->module =
                    trace_name(comparing->trace, comparing->trace->programs[compile->program].name);
            if (at > 0) {
                compile_compare(comparing, compile, module_before(comparing, compile, modules, at));
            } else {
                compile->change = CHANGE_FIRST;
                compile->changed = STR("first: the profile holds no earlier module of this name");
            }
        }
    }
}

/* By name, those of one name in order of time. */
static int by_name(const void *left, const void *right)
{
    const struct compile *a = *(struct compile *const *)left, *b = *(struct compile *const *)right;
    int order = str_compare(a->function, b->function);

    if (order == 0)
        order = str_compare(a->module, b->module);
    return order != 0 ? order : (a > b) - (a < b);
}

static bool same_name(const struct compile *a, const struct compile *b)
{
    return str_equal(a->function, b->function) && str_equal(a->module, b->module);
}

/* Compiles [first, ret) are of one name. */
static uint32_t end_of_name(struct compile **ordered, uint32_t count, uint32_t first)
{
    uint32_t end = first;

    while (end < count && same_name(ordered[first], ordered[end]))
        end++;
    return end;
}

/* Names of functions that are compared: each looks at all modules. */
static uint32_t names_max(const struct trace *trace)
{
    return LOOKS_MAX / (trace->program_count + 1);
}

void compiles_compare(const struct host_trace *host, struct compile *compiles, uint32_t count,
                      struct arena *arena)
{
    const struct trace *trace = host->trace;
    struct comparing comparing = {
        .host = host,
        .trace = trace,
        .arena = arena,
        .arguments = arena_array(arena, struct arguments, (size_t)trace->program_count + 1),
        .wanted = arena_array(arena, bool, (size_t)trace->program_count + 1),
        .bytes_left = BYTES_MAX,
    };
    struct numbered *modules =
        memory_resize(NULL, (size_t)trace->program_count + 1, sizeof(*modules));
    struct compile **ordered = memory_resize(NULL, (size_t)count + 1, sizeof(*ordered));

    for (uint32_t i = 0; i < count; i++)
        ordered[i] = &compiles[i];
    if (count > 1)
        qsort(ordered, count, sizeof(*ordered), by_name);
    for (uint32_t first = 0, names = 0; first < count && names < names_max(trace);
         first = end_of_name(ordered, count, first), names++) {
        uint32_t module_count = list_modules(&comparing, ordered[first], modules);

        for (uint32_t i = 0; i < module_count; i++)
            comparing.wanted[modules[i].program] = true;
    }
    find_runs(&comparing);
    for (uint32_t first = 0, names = 0, end; first < count; first = end, names++) {
        end = end_of_name(ordered, count, first);
        for (uint32_t i = first; i < end; i++) {
            ordered[i]->nth = i - first + 1;
            ordered[i]->changed = STR("too many functions were compiled to compare them all");
        }
        if (names < names_max(trace))
            compare_named(&comparing, &ordered[first], end - first, modules,
                          list_modules(&comparing, ordered[first], modules));
    }
    free(comparing.runs);
    free(modules);
    free(ordered);
}
