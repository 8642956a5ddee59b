/* SPDX-License-Identifier: Apache-2.0 */
/* The compiled module of an op: in its own file, or beside it. */
#include "analyse/comm/collectives_parts.h"

static bool open_program(const struct trace *trace, const struct program *program,
                         struct opened_module *opened)
{
    struct error err = {0};

    if (opened->program == program)
        return opened->readable;
    arena_destroy(opened->arena);
    *opened = (struct opened_module){
        .program = program, .arena = arena_create(), .fingerprint = program->fingerprint};
    opened->readable = hlo_module_of(trace, program, opened->arena, &opened->module, &err) == OK;
    opened->has_mesh = opened->readable && mesh_read(opened->module.blob, &opened->mesh);
    return opened->readable;
}

/* Modules beside the profile: of ops whose own file holds none, and of meshes that only the module
 * before its optimisation tells. */
static const struct hlo_listed *find_listed(struct finding_work *work,
                                            const struct host_trace *host, const struct op *op)
{
    if (work->run->other_count == 0)
        return NULL;
    if (work->modules == NULL) {
        work->modules = arena_new(work->arena, struct hlo_modules);
        hlo_modules(work->run, work->arena, work->modules);
    }
    const struct program *program =
        op->program < host->trace->program_count ? &host->trace->programs[op->program] : NULL;
    for (uint32_t i = 0; i < work->modules->count; i++) {
        const struct hlo_listed *listed = &work->modules->items[i];

        if (listed->stage == STAGE_BEFORE || listed->stage == STAGE_PASS)
            continue;
        if (program == NULL && hlo_is_op_of(host, op, listed))
            return listed;
        for (uint32_t k = 0; program != NULL && k < listed->copy_count; k++)
            if (listed->copies[k].program == program)
                return listed;
    }
    return NULL;
}

static void find_mesh(struct finding_work *work, const struct hlo_listed *listed,
                      struct opened_module *opened)
{
    struct error err = {0};
    struct bytes blob;

    if (opened->has_mesh || listed == NULL || listed->pair == HLO_NONE)
        return;
    const struct hlo_copy *copy = &work->modules->items[listed->pair].copies[0];
    if (trace_program_blob(run_trace(work->run, copy->trace)->trace, copy->program, opened->arena,
                           &blob, &err) == OK)
        opened->has_mesh = mesh_read(blob, &opened->mesh);
}

bool collectives_open(struct finding_work *work, const struct host_trace *host, const struct op *op,
                      struct opened_module *opened)
{
    const struct program *before = opened->program;
    const struct hlo_listed *listed = find_listed(work, host, op);
    bool readable = false;

    if (op->program < host->trace->program_count)
        readable = open_program(host->trace, &host->trace->programs[op->program], opened);
    else if (listed != NULL)
        readable = open_program(run_trace(work->run, listed->copies[0].trace)->trace,
                                listed->copies[0].program, opened);
    if (readable && opened->program != before)
        find_mesh(work, listed, opened);
    return readable;
}
