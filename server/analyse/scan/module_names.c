/* SPDX-License-Identifier: Apache-2.0 */
/* Tells modules of one name apart, and finds those that are asked for. */
#include "analyse/scan/module_names.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#include "analyse/stats/map64.h"
#include "base/distance.h"

static bool *programs_that_ran(const struct host_trace *host)
{
    bool *ran = memory_zeroed((size_t)host->trace->program_count + 1, sizeof *ran);

    for (uint32_t i = 0; host->attribution != NULL && i < host->attribution->op_count; i++) {
        if (host->attribution->ops[i].program < host->trace->program_count)
            ran[host->attribution->ops[i].program] = true;
    }
    return ran;
}

struct module_names module_names_of(const struct host_trace *host, struct arena *arena)
{
    const struct trace *trace = host->trace;
    struct str *of = arena_array(arena, struct str, (size_t)trace->program_count + 1);
    bool *ran = programs_that_ran(host);
    struct map64 counts = {0}; /* name -> how many that ran */

    for (uint32_t i = 0; i < trace->program_count; i++) {
        if (ran[i])
            ++*map64_at(&counts, trace->programs[i].name, 0);
    }
    for (uint32_t i = 0; i < trace->program_count; i++) {
        struct str name = trace_name(trace, trace->programs[i].name);

        of[i] = ran[i] && *map64_at(&counts, trace->programs[i].name, 0) > 1
                    ? str_format(arena, "%.*s(%" PRIu64 ")", STR_ARG(name), trace->programs[i].id)
                    : name;
    }
    map64_free(&counts);
    free(ran);
    return (struct module_names){.trace = trace, .of = of};
}

struct str module_name_of(const struct module_names *names, const struct op *op)
{
    struct str said = trace_name(names->trace, op->module);

    if (op->program >= names->trace->program_count ||
        (op->module != 0 && op->module != names->trace->programs[op->program].name))
        return said;
    return names->of[op->program];
}

/* Its number, where it has one. */
static bool split_number(struct str asked, struct str *ret_name, uint64_t *ret_number)
{
    size_t at = asked.count;

    if (!str_ends(asked, STR(")")))
        return false;
    while (at > 0 && asked.at[at - 1] != '(')
        at--;
    if (at < 2 || !str_to_u64((struct str){asked.at + at, asked.count - at - 1}, ret_number))
        return false;
    *ret_name = (struct str){asked.at, at - 1};
    return true;
}

struct str module_bare(struct str asked)
{
    uint64_t number;

    split_number(asked, &asked, &number);
    return asked;
}

bool module_is_called(struct str name, uint64_t number, struct str asked)
{
    struct str bare;
    uint64_t wanted;

    return str_equal(name, asked) ||
           (str_starts(asked, name) && split_number(asked, &bare, &wanted) &&
            str_equal(bare, name) && wanted == number);
}

/* A module that was compiled again to the same instructions has another number, and is the same. */
static bool is_copy_of(const struct trace *trace, program_id program, struct str asked)
{
    const struct program *own = &trace->programs[program];
    struct str bare;
    uint64_t number;

    if (own->fingerprint == 0 || !split_number(asked, &bare, &number))
        return false;
    for (uint32_t i = 0; i < trace->program_count; i++) {
        if (trace->programs[i].id == number && trace->programs[i].fingerprint == own->fingerprint &&
            str_equal(trace_name(trace, trace->programs[i].name), bare))
            return true;
    }
    return false;
}

bool module_is(const struct trace *trace, const struct op *op, struct str asked)
{
    struct str name = trace_name(trace, op->module);

    if (op->program >= trace->program_count)
        return str_equal(name, asked);
    return module_is_called(name, trace->programs[op->program].id, asked) ||
           (str_starts(asked, name) && is_copy_of(trace, op->program, asked));
}

struct nearest {
    struct str name;
    unsigned distance;
};

/* Is one of the host's called so? */
static bool look_at(const struct host_trace *host, struct str asked, struct arena *arena,
                    struct nearest *nearest)
{
    struct module_names names = module_names_of(host, arena);

    for (uint32_t i = 0; i < host->attribution->op_count; i++) {
        const struct op *op = &host->attribution->ops[i];

        if (i > 0 && op->program == op[-1].program && op->module == op[-1].module)
            continue;

        struct str name = module_name_of(&names, op);

        if (module_is(host->trace, op, asked))
            return true;
        if (name.count == 0 || str_equal(name, nearest->name))
            continue;

        unsigned distance = edit_distance(asked, name);

        if (distance < nearest->distance)
            *nearest = (struct nearest){.name = name, .distance = distance};
    }
    return false;
}

enum status module_find(const struct host_trace *const *hosts, uint32_t count, struct str asked,
                        struct error *err)
{
    struct nearest nearest = {.distance = UINT_MAX};
    struct arena *arena = arena_create();
    bool found = count == 0;

    for (uint32_t i = 0; i < count && !found; i++)
        found = hosts[i]->attribution == NULL || look_at(hosts[i], asked, arena, &nearest);

    enum status status = OK;

    if (!found && nearest.name.count == 0)
        status =
            fail(err, ERR_NOT_FOUND, "no module is called \"%.*s\": the profile names no modules",
                 STR_ARG(str_utf8(arena, asked)));
    else if (!found)
        status = fail(err, ERR_NOT_FOUND,
                      "no module that ran is called \"%.*s\"; the nearest name is \"%.*s\"",
                      STR_ARG(str_utf8(arena, asked)), STR_ARG(str_utf8(arena, nearest.name)));
    arena_destroy(arena);
    return status;
}
