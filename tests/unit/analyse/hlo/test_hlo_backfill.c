/* SPDX-License-Identifier: Apache-2.0 */
/* Modules beside a profile say the scope and source of ops whose profile has no HLO. */
#include "unit/analyse/made_run.h"

#include "analyse/hlo/hlo.h"
#include "analyse/hlo/hlo_backfill.h"
#include "analyse/ops/top.h"

enum { FILES_MAX = 3, PROGRAM = 7 };

struct beside { /* a file of one module with one instruction, fusion.1 */
    const char *file, *module, *scope;
};

/* A module's number and stage stand in its file's name. */
static void make_beside(struct made *made, const struct beside *beside)
{
    struct sink *sink;

    made_begin(made);
    sink = made->sink;
    sink_name(sink, STR("texts have other numbers here"));
    program_id program =
        sink_program(sink, 0, sink_name(sink, str_of(beside->module)), 1, BYTES("proto"));
    sink_instruction(sink, (struct instruction){.program = program,
                                                .name = sink_name(sink, STR("fusion.1")),
                                                .opcode = sink_name(sink, STR("fusion")),
                                                .scope = sink_name(sink, str_of(beside->scope)),
                                                .source = sink_name(sink, STR("model.py:41"))});
    made_finish(made);
}

/* Two ops of a program that the profile has no HLO of: fusion.1 twice, fusion.2 once. */
static void make_profile(struct made_run *run, bool has_number)
{
    run_begin(run);
    track_id ops = run_stream(run, "XLA Ops", ROLE_OPS, 0);
    for (int i = 0; i < 3; i++) {
        const char *name = i < 2 ? "fusion.1" : "fusion.2";

        run_slice(run, ops, i * 10, 5 + i, name, KIND_COMPUTE);
        run_text(run, "hlo_op", name);
        run_text(run, "hlo_module", "jit_f");
        if (has_number)
            run_int(run, "program_id", PROGRAM);
    }
    run_finish(run);
}

static void lent_by_name_and_number(void **state)
{
    (void)state;
    const char *const after = "d/module_0007.jit_f.sm_8.0_gpu_after_optimizations.hlo.pb";
    const char *const before = "d/module_0007.jit_f.before_optimizations.hlo.pb";
    const char *const other = "d/module_0008.jit_f.sm_8.0_gpu_after_optimizations.hlo.pb";
    const struct {
        const char *what;
        bool has_number;
        struct beside files[FILES_MAX];
        const char *scope; /* of fusion.1 */
        uint32_t lent, unlike;
    } rows[] = {
        {"name and number", true, {{after, "jit_f", "f/mlp"}}, "f/mlp", 1, 0},
        {"a copy of XProf's", true, {{"jit_f(7).hlo_proto.pb", "jit_f", "f/mlp"}}, "f/mlp", 1, 0},
        {"another number", true, {{other, "jit_f", "f/mlp"}}, "", 0, 2},
        {"another name", true, {{after, "jit_g", "f/mlp"}}, "", 0, 0},
        {"before optimisation", true, {{before, "jit_f", "f/mlp"}}, "", 0, 0},
        {"the right one of two", true, {{other, "jit_f", "x"}, {after, "jit_f", "f"}}, "f", 1, 0},
        {"no number", false, {{other, "jit_f", "f/mlp"}}, "f/mlp", 1, 0},
        {"two that agree", false, {{other, "jit_f", "f"}, {after, "jit_f", "f"}}, "f", 1, 0},
        {"two that differ", false, {{other, "jit_f", "f"}, {after, "jit_f", "g"}}, "", 0, 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;
        struct made files[FILES_MAX];
        struct host_trace others[FILES_MAX];
        uint32_t count = 0;
        struct hlo_modules modules;
        struct hlo_backfilled sum = {0};
        const struct trace *own;

        make_profile(&run, rows[i].has_number);
        own = run.host.trace;
        for (; count < FILES_MAX && rows[i].files[count].file != NULL; count++) {
            make_beside(&files[count], &rows[i].files[count]);
            others[count] = (struct host_trace){.trace = &files[count].trace,
                                                .name = str_of(rows[i].files[count].file)};
        }
        run.run.others = others;
        run.run.other_count = count;
        hlo_modules(&run.run, run.made.arena, &modules);
        CHECK(rows[i].what, hlo_backfill_is_wanted(&run.host));
        hlo_backfill_scopes(&run.run, &modules, &run.host, run.made.arena, &sum);

        const struct op *op = &run.host.attribution->ops[0];
        CHECK_STR(rows[i].what, trace_name(run.host.trace, op->scope), rows[i].scope);
        CHECK_STR(rows[i].what, trace_name(run.host.trace, op->source),
                  rows[i].lent > 0 ? "model.py:41" : "");
        CHECK_INT("an op that no module knows", run.host.attribution->ops[1].scope, 0);
        CHECK_INT(rows[i].what, sum.op_count, rows[i].lent);
        CHECK_INT(rows[i].what, sum.unlike_count, rows[i].unlike);
        CHECK(rows[i].what, (run.host.trace == own) == (rows[i].lent == 0));
        CHECK_STR("names of its own stay", trace_name(run.host.trace, op->name), "fusion.1");
        for (uint32_t k = 0; k < count; k++)
            made_end(&files[k]);
        run_end(&run);
    }
}

/* Stored quantiles are of rows as they were before. */
static void tables_by_scope(void **state)
{
    (void)state;
    const struct beside beside = {"jit_f(7).hlo_proto.pb", "jit_f", "f/mlp"};
    struct made_run run;
    struct made file;
    struct hlo_modules modules;
    struct hlo_backfilled sum = {0};
    struct table table;
    struct error err = {0};
    const struct top_question question = {.by = STR("scope")};
    const struct page page = {.limit = 100, .sort = STR("-total_ps")};

    make_profile(&run, true);
    make_beside(&file, &beside);
    run.run.others = &(struct host_trace){.trace = &file.trace, .name = str_of(beside.file)};
    run.run.other_count = 1;
    hlo_modules(&run.run, run.made.arena, &modules);
    hlo_backfill_scopes(&run.run, &modules, &run.host, run.made.arena, &sum);
    CHECK_OK(
        "top by scope",
        top(&run.run, &(struct restriction){0}, &question, &page, run.made.arena, &table, &err),
        &err);
    CHECK_INT("rows", table.row_count, 2);
    CHECK_STR("scope", cell_of(&table, 0, "name")->of.text, "f/mlp");
    CHECK_INT("sum", cell_of(&table, 0, "total_ps")->of.integer, 11);
    CHECK_INT("median of two", cell_of(&table, 0, "p95_ps")->of.integer, 6);
    CHECK_INT("the rest", cell_of(&table, 1, "total_ps")->of.integer, 7);
    CHECK_INT("of its own", cell_of(&table, 1, "p95_ps")->of.integer, 7);
    made_end(&file);
    run_end(&run);
}

/* A profile that holds its HLO borrows nothing. */
static void own_programs(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id ops = run_stream(&run, "XLA Ops", ROLE_OPS, 0);
    run_program(&run, PROGRAM, "jit_f", 1, (const char *const[]){"fusion.1", "f/mlp", NULL});
    run_slice(&run, ops, 0, 5, "fusion.1", KIND_COMPUTE);
    run_text(&run, "hlo_op", "fusion.1");
    run_text(&run, "hlo_module", "jit_f");
    run_int(&run, "program_id", PROGRAM);
    run_finish(&run);
    CHECK("wants nothing", !hlo_backfill_is_wanted(&run.host));
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lent_by_name_and_number),
        cmocka_unit_test(tables_by_scope),
        cmocka_unit_test(own_programs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
