/* SPDX-License-Identifier: Apache-2.0 */
/* All programs of all traces, copies put together, in an order a reader expects. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyse/hlo/hlo.h"
#include "decode/hlo/hlo_name.h"
#include "trace/ps.h"

struct found { /* one copy, before they are put together; what its file's name says counts */
    struct str name, stage_name;
    uint64_t id;
    enum program_stage stage;
    struct hlo_copy copy;
    uint32_t order; /* as met */
};

static bool is_host(const struct run_traces *run, uint32_t trace)
{
    return trace < run->host_count;
}

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Stages that are one: what runs is also what a dump calls "after". */
static int compare_modules(const struct found *one, const struct found *other)
{
    int order = compare_u64(one->id, other->id);

    if (order == 0)
        order = str_compare(one->name, other->name);
    if (order == 0)
        order = (one->stage > other->stage) - (one->stage < other->stage);
    if (order == 0 && one->stage == STAGE_PASS)
        order = str_compare(one->stage_name, other->stage_name);
    return order;
}

static int compare_found(const void *a, const void *b)
{
    const struct found *one = a, *other = b;
    int order = compare_modules(one, other);

    if (order == 0)
        order = (one->copy.program->form > other->copy.program->form) -
                (one->copy.program->form < other->copy.program->form);
    if (order == 0)
        order = compare_u64(one->copy.program->fingerprint, other->copy.program->fingerprint);
    if (order == 0) /* with buffers first */
        order = (int)other->copy.program->has_buffers - (int)one->copy.program->has_buffers;
    return order != 0 ? order : compare_u64(one->order, other->order);
}

/* One module: of one number, name and stage; two forms of it may differ in their fingerprint. */
static bool is_same(const struct found *one, const struct found *other)
{
    return compare_modules(one, other) == 0 &&
           (one->copy.program->form != other->copy.program->form ||
            one->copy.program->fingerprint == other->copy.program->fingerprint);
}

static struct str key_of(const struct found *found, uint32_t repeated, struct arena *arena)
{
    struct str stage = found->stage == STAGE_BEFORE ? STR("before_optimizations")
                       : found->stage == STAGE_PASS ? found->stage_name
                                                    : STR("");
    struct str key = str_format(arena, "%.*s(%" PRIu64 ")%s%.*s", STR_ARG(found->name), found->id,
                                stage.count > 0 ? "." : "", STR_ARG(stage));

    return repeated == 0 ? key : str_format(arena, "%.*s#%u", STR_ARG(key), repeated + 1);
}

static void list_module(const struct found *found, uint32_t count, uint32_t repeated,
                        struct arena *arena, struct hlo_listed *ret)
{
    const struct program *best = found->copy.program;
    struct hlo_copy *copies = arena_array(arena, struct hlo_copy, count);

    *ret = (struct hlo_listed){
        .key = key_of(found, repeated, arena),
        .name = found->name,
        .program_id = found->id,
        .fingerprint = best->fingerprint,
        .form = (enum program_form)best->form,
        .stage = found->stage,
        .computation_count = best->computation_count,
        .instruction_count = best->instruction_count,
        .fusion_count = best->fusion_count,
        .copies = copies,
        .copy_count = count,
        .pair = HLO_NONE,
    };
    for (uint32_t i = 0; i < count; i++) {
        copies[i] = found[i].copy;
        ret->has_buffers |= found[i].copy.program->has_buffers;
        if (ret->stage_name.count == 0)
            ret->stage_name = found[i].stage_name;
    }
}

static struct found found_in(const struct run_traces *run, uint32_t trace,
                             const struct program *program, uint32_t order)
{
    const struct host_trace *of = run_trace(run, trace);
    struct found found = {
        .name = trace_name(of->trace, program->name),
        .id = program->id,
        .stage = (enum program_stage)program->stage,
        .copy = {.trace = trace, .program = program},
        .order = order,
    };

    if (is_host(run, trace))
        return found;
    struct hlo_name name = hlo_name_of(path_base(of->name), found.name);
    if (name.has_number)
        found.id = name.number;
    if (name.stage != STAGE_UNKNOWN)
        found.stage = name.stage;
    if (found.name.count == 0)
        found.name = name.module;
    found.stage_name = name.stage_name;
    return found;
}

static uint32_t gather(const struct run_traces *run, struct arena *arena, struct found **ret)
{
    uint32_t count = 0, at = 0, traces = run->host_count + run->other_count;

    for (uint32_t i = 0; i < traces; i++)
        count += run_trace(run, i)->trace->program_count;
    *ret = arena_array(arena, struct found, count + 1);
    for (uint32_t i = 0; i < traces; i++) {
        const struct trace *trace = run_trace(run, i)->trace;
        for (uint32_t k = 0; k < trace->program_count; k++, at++)
            (*ret)[at] = found_in(run, i, &trace->programs[k], at);
    }
    return count;
}

static void join_pairs(struct hlo_modules *modules)
{
    for (uint32_t i = 0; i < modules->count; i++) {
        struct hlo_listed *before = &modules->items[i];
        for (uint32_t k = i + 1; before->stage == STAGE_BEFORE && k < modules->count; k++) {
            struct hlo_listed *after = &modules->items[k];
            if (after->program_id != before->program_id || !str_equal(after->name, before->name))
                break;
            if (after->stage != STAGE_AFTER)
                continue;
            before->pair = k;
            after->pair = i;
            break;
        }
    }
}

static int compare_documents(const void *a, const void *b)
{
    const struct hlo_document *one = a, *other = b;
    int order = compare_u64(one->program_id, other->program_id);

    if (order == 0)
        order = str_compare(one->module, other->module);
    if (order == 0)
        order = str_compare(one->kind, other->kind);
    return order != 0 ? order : compare_u64(one->trace, other->trace);
}

static void list_documents(const struct run_traces *run, struct arena *arena,
                           struct hlo_modules *ret)
{
    uint32_t count = 0, traces = run->host_count + run->other_count;

    for (uint32_t i = 0; i < traces; i++)
        count += run_trace(run, i)->trace->document_count;
    ret->documents = arena_array(arena, struct hlo_document, count + 1);
    for (uint32_t i = 0; i < traces; i++) {
        const struct trace *trace = run_trace(run, i)->trace;
        for (uint32_t k = 0; k < trace->document_count; k++) {
            const struct document *document = &trace->documents[k];
            struct hlo_name name = hlo_name_of(path_base(run_trace(run, i)->name), STR(""));
            struct str kind = name.stage_name.count > 0 ? name.stage_name : STR("text");
            ret->documents[ret->document_count++] = (struct hlo_document){
                .key = str_format(arena, "%.*s(%" PRIu64 ")/%.*s", STR_ARG(name.module),
                                  name.number, STR_ARG(kind)),
                .module = name.module,
                .kind = kind,
                .program_id = name.number,
                .line_count = document->line_count,
                .bytes = document->blob_bytes,
                .trace = i,
                .document = document,
            };
        }
    }
    qsort(ret->documents, ret->document_count, sizeof *ret->documents, compare_documents);
}

struct tally { /* of one program of one host */
    uint64_t executions;
    int64_t self_ps;
};

static void tally_host(const struct host_trace *host, struct tally *tallies)
{
    const struct attribution *attribution = host->attribution;

    for (uint32_t i = 0; i < attribution->execution_count; i++)
        if (attribution->executions[i].program < host->trace->program_count)
            tallies[attribution->executions[i].program].executions++;
    for (uint32_t op = 0; op < attribution->op_count; op++)
        if (attribution->ops[op].program < host->trace->program_count)
            ps_add(&tallies[attribution->ops[op].program].self_ps, attribution->totals[op].self_ps);
}

/* No other module of that name that may have run. */
static bool is_alone(const struct hlo_modules *modules, const struct hlo_listed *listed)
{
    for (uint32_t i = 0; i < modules->count; i++) {
        const struct hlo_listed *other = &modules->items[i];
        if (other != listed && str_equal(other->name, listed->name) &&
            (other->stage == STAGE_AFTER || other->stage == STAGE_UNKNOWN))
            return false;
    }
    return true;
}

/* A module that lies beside a profile without HLO: ops that bear its name are its own. The profile
 * does not say how often it ran; the instruction that ran most often does. */
static void measure_by_name(const struct run_traces *run, const struct hlo_modules *modules,
                            struct hlo_listed *listed)
{
    if (listed->is_measured || listed->stage == STAGE_BEFORE || listed->stage == STAGE_PASS ||
        !is_alone(modules, listed))
        return;
    for (uint32_t i = 0; i < run->host_count; i++) {
        const struct host_trace *host = &run->hosts[i];
        for (uint32_t k = 0; host->attribution != NULL && k < host->attribution->op_count; k++)
            listed->by_name |= hlo_is_op_of(host, &host->attribution->ops[k], listed);
    }
    if (!listed->by_name)
        return;
    struct hlo_measure measure;
    hlo_measure(run, listed, &measure);
    for (uint32_t i = 0; i < measure.cost_count; i++) {
        ps_add(&listed->self_ps, measure.costs[i].self_ps);
        if (measure.costs[i].execution_count > listed->execution_count)
            listed->execution_count = measure.costs[i].execution_count;
    }
    listed->is_measured = true;
    hlo_measure_free(&measure);
}

/* Time of what is in hosts, then of what lies beside them. */
static void measure_modules(const struct run_traces *run, struct arena *arena,
                            struct hlo_modules *ret)
{
    struct tally **tallies = arena_array(arena, struct tally *, run->host_count + 1);
    bool any = false;

    for (uint32_t i = 0; i < run->host_count; i++) {
        tallies[i] = arena_array(arena, struct tally, run->hosts[i].trace->program_count + 1);
        if (run->hosts[i].attribution != NULL)
            tally_host(&run->hosts[i], tallies[i]);
        any |= run->hosts[i].attribution != NULL;
    }
    for (uint32_t i = 0; i < ret->count; i++) {
        struct hlo_listed *listed = &ret->items[i];
        bool runs = listed->stage != STAGE_BEFORE && listed->stage != STAGE_PASS;
        for (uint32_t k = 0; k < listed->copy_count && runs; k++) {
            const struct hlo_copy *copy = &listed->copies[k];
            if (!is_host(run, copy->trace))
                continue;
            const struct trace *trace = run->hosts[copy->trace].trace;
            const struct tally *tally = &tallies[copy->trace][copy->program - trace->programs];
            listed->execution_count += tally->executions;
            ps_add(&listed->self_ps, tally->self_ps);
            listed->is_measured |= run->hosts[copy->trace].attribution != NULL;
        }
        measure_by_name(run, ret, listed);
        if (!listed->is_measured)
            listed->reason = !runs                  ? STR("only the optimised module runs")
                             : run->host_count == 0 ? STR("no profile lies beside the module")
                             : !any ? STR("the ops of the run have not been attributed yet")
                                    : STR("the profile does not say that this module ran");
    }
}

void hlo_modules(const struct run_traces *run, struct arena *arena, struct hlo_modules *ret)
{
    struct found *found;
    uint32_t count = gather(run, arena, &found), repeated = 0;

    *ret = (struct hlo_modules){.items = arena_array(arena, struct hlo_listed, count + 1)};
    qsort(found, count, sizeof *found, compare_found);
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && is_same(&found[end - 1], &found[end]); end++)
            ;
        repeated =
            first > 0 && compare_modules(&found[first - 1], &found[first]) == 0 ? repeated + 1 : 0;
        list_module(&found[first], end - first, repeated, arena, &ret->items[ret->count++]);
    }
    join_pairs(ret);
    list_documents(run, arena, ret);
    measure_modules(run, arena, ret);
}

static bool is_named(const struct hlo_listed *listed, struct str asked, uint64_t number,
                     bool is_number)
{
    char hex[24];

    snprintf(hex, sizeof hex, "%016" PRIx64, listed->fingerprint);
    return str_equal(listed->name, asked) || str_equal(str_of(hex), asked) ||
           (is_number && listed->program_id == number);
}

/* Which of two that are meant: what runs, then what took longer. */
static bool is_better(const struct hlo_listed *one, const struct hlo_listed *other)
{
    bool one_runs = one->stage == STAGE_AFTER, other_runs = other->stage == STAGE_AFTER;

    return one_runs != other_runs ? one_runs : one->self_ps > other->self_ps;
}

enum status hlo_pick(const struct hlo_modules *modules, struct str asked, struct arena *arena,
                     const struct hlo_listed **ret, uint32_t *ret_others, struct error *err)
{
    uint64_t number = 0;
    bool is_number = str_to_u64(asked, &number);

    *ret = NULL;
    *ret_others = 0;
    for (uint32_t i = 0; i < modules->count; i++)
        if (str_equal(modules->items[i].key, asked)) {
            *ret = &modules->items[i];
            return OK;
        }
    for (uint32_t i = 0; i < modules->count; i++) {
        const struct hlo_listed *listed = &modules->items[i];
        if (!is_named(listed, asked, number, is_number))
            continue;
        *ret_others += *ret != NULL && listed->program_id != (*ret)->program_id;
        if (*ret == NULL || is_better(listed, *ret))
            *ret = listed;
    }
    if (*ret != NULL)
        return OK;
    if (modules->count == 0)
        return fail(err, ERR_NOT_FOUND, "the run holds no compiled modules");
    return fail(err, ERR_NOT_FOUND, "there is no module \"%.*s\"; one of the %u is %.*s",
                asked.count > 200 ? 200 : (int)asked.count, asked.at, modules->count,
                STR_ARG(str_utf8(arena, modules->items[0].key)));
}

enum status hlo_pick_document(const struct hlo_modules *modules, struct str key,
                              const struct hlo_document **ret, struct error *err)
{
    for (uint32_t i = 0; i < modules->document_count; i++)
        if (str_equal(modules->documents[i].key, key)) {
            *ret = &modules->documents[i];
            return OK;
        }
    return fail(err, ERR_NOT_FOUND, "there is no document \"%.*s\"",
                key.count > 200 ? 200 : (int)key.count, key.at);
}

enum status hlo_open(const struct run_traces *run, const struct hlo_listed *listed,
                     struct arena *arena, struct hlo_module *ret, struct error *err)
{
    const struct hlo_copy *best = &listed->copies[0];

    return hlo_module_of(run_trace(run, best->trace)->trace, best->program, arena, ret, err);
}
