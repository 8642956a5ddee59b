/* SPDX-License-Identifier: Apache-2.0 */
/* Time by instruction: totals of the hosts' ops that belong to copies of one module. */
#include <stdlib.h>

#include "analyse/hlo/hlo.h"
#include "base/hash.h"
#include "trace/ps.h"

static uint64_t key_of(struct str name)
{
    return hash64((struct bytes){.at = (const uint8_t *)name.at, .count = name.count});
}

static uint32_t cost_at(struct hlo_measure *measure, struct str name)
{
    uint32_t *at = map64_at(&measure->by_name, key_of(name), HLO_NONE);

    if (*at != HLO_NONE)
        return *at;
    if (measure->cost_count == measure->cost_capacity) {
        measure->cost_capacity = measure->cost_capacity == 0 ? 256 : 2 * measure->cost_capacity;
        measure->costs =
            memory_resize(measure->costs, measure->cost_capacity, sizeof *measure->costs);
    }
    measure->costs[measure->cost_count] = (struct hlo_cost){.name = name};
    return *at = measure->cost_count++;
}

/* "jit_f(36)" is jit_f: a profile may write the number behind the name. */
static bool is_module(struct str written, const struct hlo_listed *listed)
{
    if (!str_starts(written, listed->name))
        return false;
    struct str rest = str_skip(written, listed->name.count);
    if (rest.count == 0)
        return true;
    uint64_t number;
    return rest.count > 2 && rest.at[0] == '(' && rest.at[rest.count - 1] == ')' &&
           str_to_u64((struct str){.at = rest.at + 1, .count = rest.count - 2}, &number) &&
           number == listed->program_id;
}

bool hlo_is_op_of(const struct host_trace *host, const struct op *op,
                  const struct hlo_listed *listed)
{
    return op->program == NO_PROGRAM && op->module != 0 &&
           is_module(trace_name(host->trace, op->module), listed);
}

/* NO_PROGRAM: by name. */
static void measure_host(const struct host_trace *host, program_id program,
                         const struct hlo_listed *listed, struct hlo_measure *ret)
{
    const struct attribution *attribution = host->attribution;

    for (uint32_t i = 0; i < attribution->op_count; i++) {
        const struct op *op = &attribution->ops[i];

        if (program != NO_PROGRAM ? op->program != program : !hlo_is_op_of(host, op, listed))
            continue;

        uint32_t at = cost_at(ret, trace_name(host->trace, op->name));
        struct hlo_cost *cost = &ret->costs[at];

        ps_add(&cost->self_ps, attribution->totals[i].self_ps);
        cost->execution_count += attribution->totals[i].count;
    }
}

void hlo_measure(const struct run_traces *run, const struct hlo_listed *listed,
                 struct hlo_measure *ret)
{
    *ret = (struct hlo_measure){0};
    for (uint32_t i = 0; i < listed->copy_count; i++) {
        const struct hlo_copy *copy = &listed->copies[i];
        if (copy->trace >= run->host_count || run->hosts[copy->trace].attribution == NULL)
            continue;
        const struct host_trace *host = &run->hosts[copy->trace];
        measure_host(host, (program_id)(copy->program - host->trace->programs), listed, ret);
    }
    for (uint32_t i = 0; i < run->host_count && listed->by_name; i++)
        if (run->hosts[i].attribution != NULL)
            measure_host(&run->hosts[i], NO_PROGRAM, listed, ret);
}

const struct hlo_cost *hlo_cost_of(const struct hlo_measure *measure, struct str name)
{
    uint32_t at;

    if (!map64_get(&measure->by_name, key_of(name), &at) ||
        !str_equal(measure->costs[at].name, name))
        return NULL;
    return &measure->costs[at];
}

void hlo_measure_free(struct hlo_measure *measure)
{
    map64_free(&measure->by_name);
    free(measure->costs);
    *measure = (struct hlo_measure){0};
}
