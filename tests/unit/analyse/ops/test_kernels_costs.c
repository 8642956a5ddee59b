/* SPDX-License-Identifier: Apache-2.0 */
/* How near kernels come to their device's peaks, how often their launch fills it, and for which
 * launches a stream stood idle. */
#include "unit/analyse/made_run.h"

#include <math.h>

#include "analyse/findings/memo.h"
#include "analyse/ops/kernels.h"

enum { US = 1000000, ROUNDS = 3, ROUND_US = 1000 };

#define MODULE                                                                                     \
    "HloModule jit_f\n\nENTRY %main (h: bf16[4096,4096]) -> bf16[4096,4096] {\n"                   \
    "  %h = bf16[4096,4096]{1,0} parameter(0)\n"                                                   \
    "  %x = bf16[4096,4096]{1,0} dot(%h, %h), lhs_contracting_dims={1}, rhs_contracting_dims={0}"  \
    "\n"                                                                                           \
    "  %two = bf16[4096,4096]{1,0} dot(%x, %h), lhs_contracting_dims={1}, "                        \
    "rhs_contracting_dims={0}\n"                                                                   \
    "  ROOT %u = bf16[4096,4096]{1,0} custom-call(%x, %two), custom_call_target=\"mine\"\n}\n"

static const double flops = 2.0 * 4096 * 4096 * 4096, bytes = 3.0 * 4096 * 4096 * 2;
static const double bf16_peak = 989.4e12, hbm = 3350e9; /* of the data sheet */

static struct table ask(struct made_run *run, const char *by, struct restriction restriction)
{
    struct kernels_summary summary;
    struct table table;

    CHECK_OK(by,
             kernels(&run->run, &restriction, &(struct kernels_question){.by = str_of(by)},
                     &(struct page){.limit = 100}, run->made.arena, &table, &summary,
                     &run->made.err),
             &run->made.err);
    return table;
}

static const struct cell *found(const struct table *table, const char *name, const char *column)
{
    static const struct cell none = {.kind = CELL_NULL};

    for (uint32_t row = 0; row < table->row_count; row++)
        if (str_equal(table_text_at(table, row, "name"), str_of(name)))
            return table_cell_at(table, row, column);
    CHECK(name, false);
    return &none;
}

static void check_share(const char *what, const struct cell *cell, double want)
{
    CHECK_INT(what, cell->kind, CELL_REAL);
    CHECK(what, fabs(cell->of.real - want) <= 1e-9);
}

static void check_reason(const char *what, const struct cell *cell, const char *words)
{
    CHECK_INT(what, cell->kind, CELL_NULL);
    CHECK(words, str_contains(cell->of.text, str_of(words)));
}

static void kernel(struct made_run *run, track_id stream, int64_t *at_us, int64_t dur_us,
                   const char *name, const char *op)
{
    run_slice(run, stream, *at_us * US, dur_us * US, name,
              op == NULL ? KIND_COMMUNICATION : KIND_COMPUTE);
    if (op != NULL) {
        run_text(run, "hlo_op", op);
        run_text(run, "hlo_module", "jit_f");
        run_int(run, "program_id", 7);
    }
    *at_us += dur_us;
}

static void make(struct made_run *run, const char *device)
{
    run_begin(run);
    struct sink *sink = run->made.sink;
    track_id stream = run_stream(run, "Stream #7", ROLE_NONE, 0);
    program_id program = sink_program(sink, 7, sink_name(sink, STR("jit_f")), 1, BYTES(MODULE));

    sink_program_about(sink, program, (struct program_about){.form = PROGRAM_TEXT});
    if (device != NULL)
        sink_property(sink, stream,
                      (struct arg){.key = sink_name(sink, STR("gpu_device_name")),
                                   .type = ARG_STRING,
                                   .bits = sink_name(sink, str_of(device))});
    for (int64_t round = 0; round < ROUNDS; round++) {
        int64_t at_us = round * ROUND_US;

        kernel(run, stream, &at_us, 200, "product", "x");
        kernel(run, stream, &at_us, 100, "mine", "u");
        kernel(run, stream, &at_us, 120, "mostly", "x");
        kernel(run, stream, &at_us, 80, "mostly", "u");
        kernel(run, stream, &at_us, 80, "hardly", "x");
        kernel(run, stream, &at_us, 120, "hardly", "u");
        kernel(run, stream, &at_us, 50, "unfold", "two");
        kernel(run, stream, &at_us, 50, "multiply", "two");
        kernel(run, stream, &at_us, 40, "ncclDevKernel_AllReduce", NULL);
    }
    run_finish(run);
}

static void speeds(void **state)
{
    (void)state;
    struct made_run run;

    make(&run, "NVIDIA H100 80GB HBM3");
    for (const char *const *by = (const char *const[]){"kernel", "variant", NULL}; *by != NULL;
         by++) {
        struct table table = ask(&run, *by, (struct restriction){0});

        check_share(*by, found(&table, "product", "compute_share"), flops / bf16_peak / 200e-6);
        check_share(*by, found(&table, "product", "memory_share"), bytes / hbm / 200e-6);
        check_share("of what is known", found(&table, "mostly", "compute_share"),
                    flops / bf16_peak / 120e-6);
        check_reason("too little", found(&table, "hardly", "compute_share"),
                     "it is known for 40 % of its time; of the rest: what this ");
        check_reason("nothing", found(&table, "mine", "compute_share"), "is not known");
        check_share("its bytes are", found(&table, "mine", "memory_share"), bytes / hbm / 100e-6);
        check_reason("one of two", found(&table, "multiply", "compute_share"),
                     "one of several kernels of its op");
        check_reason("links", found(&table, "ncclDevKernel_AllReduce", "compute_share"), "links");
        CHECK_STR("told", str_of(table.notes[table.note_count - 1].kind), "costs-in-part");
        CHECK_INT("of one", (int64_t)table.notes[table.note_count - 1].count, 1);
    }

    /* Half of a launch has half of its cost. */
    struct table part =
        ask(&run, "kernel",
            (struct restriction){
                .has_window = true, .start_ps = (int64_t)100 * US, .end_ps = (int64_t)250 * US});

    check_share("cut", found(&part, "product", "compute_share"), flops / bf16_peak / 200e-6);
    run_end(&run);

    make(&run, NULL);
    struct table unnamed = ask(&run, "kernel", (struct restriction){0});

    check_reason("no device", found(&unnamed, "product", "compute_share"), "device");
    check_reason("no device", found(&unnamed, "product", "memory_share"), "device");
    run_end(&run);
}

#define SHAPE "regs:32 static_shared:0 dynamic_shared:0 block:256,1,1 occ_pct:100 grid:"

/* An H100 holds 8 blocks of 256 threads on each of 132 multiprocessors: 1,056 at once. */
static void waves(void **state)
{
    (void)state;
    const struct {
        const char *name, *shape;
        double waves, tail;
    } rows[] = {{"full", SHAPE "1056,1,1", 1, 0},
                {"one more", SHAPE "1057,1,1", 1057 / 1056.0, 1 - 1057 / 2112.0},
                {"few", SHAPE "4,3,11", 0.125, 0.875},
                {"none", NULL, 0, 0}};

    for (int64_t cores = 132; cores >= 0; cores -= 132) {
        struct made_run run;

        run_begin(&run);
        track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, 0);
        const struct {
            const char *key;
            int64_t value;
        } facts[] = {{"compute_cap_major", 9}, {"compute_cap_minor", 0}, {"core_count", cores}};

        for (size_t i = 0; i < COUNT(facts); i++)
            sink_property(run.made.sink, stream,
                          (struct arg){.key = sink_name(run.made.sink, str_of(facts[i].key)),
                                       .type = ARG_INT64,
                                       .bits = (uint64_t)facts[i].value});
        for (size_t i = 0; i < COUNT(rows); i++) {
            run_slice(&run, stream, (int64_t)i * US, US, rows[i].name, KIND_COMPUTE);
            if (rows[i].shape != NULL)
                run_text(&run, "kernel_details", rows[i].shape);
        }
        run_finish(&run);

        struct table table = ask(&run, "variant", (struct restriction){0});

        for (size_t i = 0; i < COUNT(rows); i++) {
            if (rows[i].shape == NULL) {
                check_reason("no shape", found(&table, rows[i].name, "waves"), "does not record");
            } else if (cores == 0) {
                check_reason("how many", found(&table, rows[i].name, "tail_share"),
                             "how many multiprocessors");
            } else {
                check_share(rows[i].name, found(&table, rows[i].name, "waves"), rows[i].waves);
                check_share(rows[i].name, found(&table, rows[i].name, "tail_share"), rows[i].tail);
            }
        }
        run_end(&run);
    }
}

static void launch(struct made_run *run, track_id host, track_id stream, int64_t call_us,
                   int64_t start_us, int64_t dur_us)
{
    static uint64_t id;
    name_id kind = sink_name(run->made.sink, STR("kernel launch"));

    run_slice(run, host, call_us * US, (int64_t)10 * US, "cuLaunchKernel", KIND_HOST);
    sink_flow(run->made.sink, FLOW_FROM, kind, ++id);
    run_slice(run, stream, start_us * US, dur_us * US, "k", KIND_COMPUTE);
    sink_flow(run->made.sink, FLOW_TO, kind, id);
}

/*  calls    |c|     |c|                 |c|          |c|
 *  stream      |k      |k     |   60 us    |k |               |k|
 *               first   queued             late               after something else */
static void idle_before(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id host = run_thread(&run, "python");
    track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, 0);

    launch(&run, host, stream, 0, 12, 50);
    launch(&run, host, stream, 20, 62, 38);
    launch(&run, host, stream, 150, 165, 20);
    launch(&run, host, stream, 190, 300, 20);
    run_finish(&run);
    for (int whole = 0; whole < 2; whole++) {
        struct restriction restriction = {
            .has_window = whole == 0, .start_ps = 0, .end_ps = (int64_t)310 * US};
        struct table table = ask(&run, "kernel", restriction);
        int64_t count = 0, idle_ps = 0;

        CHECK("count", table_integer_at(&table, 0, "starved_count", &count));
        CHECK("time", table_integer_at(&table, 0, "starved_ps", &idle_ps));
        CHECK_INT(whole ? "stored" : "summed", count, 1);
        CHECK_INT("to the call's end", idle_ps, (int64_t)60 * US);
    }
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(speeds), cmocka_unit_test(waves),
                                       cmocka_unit_test(idle_before)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
