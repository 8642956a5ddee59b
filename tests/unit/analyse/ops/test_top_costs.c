/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of tables: by executions, and parts of any partition add up to the whole. */
#include "unit/analyse/made_run.h"

#include <math.h>

#include "analyse/ops/roofline.h"
#include "analyse/ops/top.h"

#define MODULE                                                                                     \
    "HloModule jit_f\n\nENTRY %main () -> f32[] {\n  %a = f32[64,128]{1,0} parameter(0)\n"         \
    "  %b = f32[128,32]{1,0} parameter(1)\n"                                                       \
    "  %x = f32[64,32]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"     \
    "  ROOT %y = f32[64,32]{1,0} add(%x, %x)\n}\n"

static const double dot_flops = 2.0 * 64 * 32 * 128, dot_bytes = 4.0 * (8192 + 4096 + 2048);
static const double add_flops = 2048, add_bytes = 3.0 * 4 * 2048;

static uint64_t seed;

static int64_t dice(int64_t most)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)(seed >> 33) % most;
}

static void kernel(struct made_run *run, track_id stream, int64_t *at_ps, const char *name,
                   const char *op)
{
    int64_t dur_ps = 1000 + dice(100000);

    run_slice(run, stream, *at_ps, dur_ps, name, KIND_COMPUTE);
    if (op != NULL) {
        run_text(run, "hlo_op", op);
        run_text(run, "hlo_module", "jit_f");
        run_int(run, "program_id", 7);
    }
    *at_ps += dur_ps + dice(50000);
}

/* `runs` executions on each of `devices`: a product of two kernels, a copy between them, a sum. */
static int64_t make(struct made_run *run, int runs, int devices)
{
    int64_t end_ps = 0;

    run_begin(run);
    struct sink *sink = run->made.sink;
    program_id program = sink_program(sink, 7, sink_name(sink, STR("jit_f")), 1, BYTES(MODULE));

    sink_program_about(sink, program, (struct program_about){.form = PROGRAM_TEXT});
    for (int device = 0; device < devices; device++) {
        track_id stream = run_stream(run, "Stream #7", ROLE_NONE, device);
        int64_t at_ps = dice(10000);

        for (int i = 0; i < runs; i++) {
            kernel(run, stream, &at_ps, "unfold", "x");
            kernel(run, stream, &at_ps, "copy_buffer", NULL);
            kernel(run, stream, &at_ps, "multiply", "x");
            kernel(run, stream, &at_ps, "add", "y");
        }
        end_ps = at_ps > end_ps ? at_ps : end_ps;
    }
    run_finish(run);
    return end_ps;
}

static uint32_t column_of(const struct table *table, const char *key)
{
    for (uint32_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].key, key) == 0)
            return i;
    CHECK(key, false);
    return 0;
}

static double sum_of(const struct table *table, const char *key)
{
    uint32_t column = column_of(table, key);
    double sum = 0;

    for (uint32_t row = 0; row < table->row_count; row++) {
        const struct cell *cell = &table->cells[row * table->column_count + column];

        sum += cell->kind == CELL_REAL ? cell->of.real : 0;
    }
    return sum;
}

static struct table ask(struct made_run *run, const char *by, const struct restriction *restriction)
{
    const struct top_question question = {.by = str_of(by)};
    const struct page page = {.limit = 1000};
    struct table table;

    CHECK_OK(by,
             top(&run->run, restriction, &question, &page, run->made.arena, &table, &run->made.err),
             &run->made.err);
    return table;
}

static void check_close(const char *what, double got, double want)
{
    CHECK(what, fabs(got - want) <= 1e-6 * fabs(want));
}

/* Two kernels, and what no program launched between them, are one execution. */
static void executions(void **state)
{
    (void)state;
    struct made_run run;

    make(&run, 5, 2);
    for (const char *const *by = (const char *const[]){"op", "module", "device", "scope", NULL};
         *by != NULL; by++) {
        struct table table = ask(&run, *by, &(struct restriction){0});

        check_close(*by, sum_of(&table, "flops"), 10 * (dot_flops + add_flops));
        check_close(*by, sum_of(&table, "bytes"), 10 * (dot_bytes + add_bytes));
    }

    /* Which of the two did how much of the product nobody says. */
    struct table kernels = ask(&run, "kernel", &(struct restriction){0});

    check_close("kernel", sum_of(&kernels, "flops"), 10 * add_flops);
    run_end(&run);
}

#define SORTS                                                                                      \
    "HloModule jit_f\n\n%body () -> f32[] {\n  %c = f32[64]{0} parameter(0)\n"                     \
    "  %inner = f32[64]{0} sort(%c), dimensions={0}\n"                                             \
    "  ROOT %twice = f32[64]{0} add(%inner, %inner)\n}\n\n"                                        \
    "ENTRY %main () -> f32[] {\n  %a = f32[64]{0} parameter(0)\n"                                  \
    "  %outer = f32[64]{0} sort(%a), dimensions={0}\n"                                             \
    "  ROOT %loop = f32[64]{0} while(%outer), condition=%body, body=%body\n}\n"

/* XLA:CPU copies what it sorts, in an event of its own that looks as the sort's: here as many as
 * `copies`, before the loop and in each of its three trips. */
static void make_sorts(struct made_run *run, int executions, int copies)
{
    run_begin(run);
    struct sink *sink = run->made.sink;
    program_id program = sink_program(sink, 7, sink_name(sink, STR("jit_f")), 1, BYTES(SORTS));
    track_id thread = run_thread(run, "tf_XLAEigen/1");
    int64_t at_ps = 0;

    sink_program_about(sink, program, (struct program_about){.form = PROGRAM_TEXT});
    for (int execution = 0; execution < executions; execution++) {
        for (int i = 0; i <= copies; i++, at_ps += 100)
            run_cpu_op(run, thread, at_ps, 50, "outer", 7, 100 + execution, 0, 0);
        run_cpu_op(run, thread, at_ps, 1000 * (copies + 2), "loop", 7, 100 + execution, 0, 0);
        for (int trip = 0; trip < 3; trip++) {
            for (int i = 0; i <= copies; i++, at_ps += 100)
                run_cpu_op(run, thread, at_ps, 50, "inner", 7, 100 + execution, 0, 0);
            run_cpu_op(run, thread, at_ps, 50, "twice", 7, 100 + execution, 0, 0);
            at_ps += 100;
        }
        at_ps += 10000;
    }
    run_finish(run);
}

/* A sort is one run of its op, however many operands it copies first. */
static void sorts(void **state)
{
    (void)state;
    const double sort_flops = 64 * 6, sum_flops = 64;

    for (int copies = 0; copies < 3; copies++) {
        struct made_run run;

        make_sorts(&run, 4, copies);
        struct table table = ask(&run, "op", &(struct restriction){0});

        check_close("FLOPs", sum_of(&table, "flops"),
                    4 * (sort_flops + 3 * (sort_flops + sum_flops)));
        check_close("bytes", sum_of(&table, "bytes"), 4 * (512 + 3 * (512 + 768.0)));
        run_end(&run);
    }
}

static void partitions(void **state)
{
    (void)state;
    enum { SEEDS = 2000, PARTS = 3 };
    static const char *const all[] = {"op", "module", "scope", "category", "device", "kernel"};

    for (seed = 1; seed <= SEEDS; seed += 1) {
        uint64_t this_seed = seed;
        struct made_run run;
        int64_t end_ps = make(&run, 1 + (int)dice(3), 1 + (int)dice(2));
        const char *by = all[dice(COUNT(all))];
        struct table whole = ask(&run, by, &(struct restriction){0});
        double flops = 0, bytes = 0;
        int64_t from_ps = -1000;

        for (int part = 0; part < PARTS; part++) {
            int64_t to_ps = part + 1 == PARTS ? end_ps + 1000 : from_ps + dice(end_ps / 2);
            struct restriction window = {.has_window = true, .start_ps = from_ps, .end_ps = to_ps};

            if (to_ps > from_ps) {
                struct table inside = ask(&run, by, &window);

                flops += sum_of(&inside, "flops");
                bytes += sum_of(&inside, "bytes");
                from_ps = to_ps;
            }
        }
        check_close(by, flops, sum_of(&whole, "flops"));
        check_close(by, bytes, sum_of(&whole, "bytes"));
        run_end(&run);
        seed = this_seed;
    }
    print_message("%d seeds\n", SEEDS);
}

/* The program is the sum of its ops; without limits none is told. */
static void program(void **state)
{
    (void)state;
    const struct page page = {.limit = 1000};
    struct made_run run;
    struct table table;
    struct roofline found;

    make(&run, 3, 1);
    CHECK_OK("roofline",
             roofline(&run.run, &(struct restriction){0}, &page, run.made.arena, &table, &found,
                      &run.made.err),
             &run.made.err);
    check_close("FLOPs", found.flops, 3 * (dot_flops + add_flops));
    CHECK_INT("ops", (int64_t)found.op_count, 3);
    CHECK_INT("unknown: what no program launched", (int64_t)found.unknown_count, 1);
    CHECK_INT("devices", found.device_count, 1);
    CHECK_INT("roofs", found.devices[0].roof_count, 0);
    CHECK("why", found.devices[0].reason.count > 0);
    CHECK("no limit", isnan(found.compute_s) && isnan(found.memory_s));
    CHECK_INT("all of the time is of unknown bound", found.bounds[ROOFLINE_BOUNDS - 1].self_ps,
              found.self_ps);
    CHECK_STR("bound",
              table.cells[column_of(&table, "bound_by")].kind == CELL_NULL ? STR("null") : STR(""),
              "null");
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(executions),
        cmocka_unit_test(sorts),
        cmocka_unit_test(partitions),
        cmocka_unit_test(program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
