/* SPDX-License-Identifier: Apache-2.0 */
/* When the rule about waiting ops speaks. */
#include "unit/analyse/findings_of.h"

static void run_op(struct made_run *run, track_id track, int64_t start_ps, int64_t dur_ps,
                   const char *op, enum kind kind, int64_t run_id)
{
    run_slice(run, track, start_ps, dur_ps, op, kind);
    run_text(run, "hlo_op", op);
    run_text(run, "hlo_module", "jit_f");
    run_int(run, "program_id", 7);
    run_int(run, "run_id", run_id);
    run_int(run, "device_ordinal", 0);
}

/* Four steps of 100: compute, then a wait of so long for what was begun. */
static void make_steps(struct made_run *run, int64_t wait_ps, const char *op, enum kind kind)
{
    run_begin(run);
    track_id python = run_thread(run, "python"), pool = run_thread(run, "pool");

    for (int64_t i = 0; i < 4; i++) {
        run_slice(run, python, 100 * i, 100, "train", KIND_HOST);
        run_int(run, "_r", 1);
        run_op(run, pool, 100 * i, 100 - wait_ps, "fusion", KIND_COMPUTE, i);
        if (wait_ps > 0)
            run_op(run, pool, 100 * i + 100 - wait_ps, wait_ps, op, kind, i);
    }
    run_finish(run);
}

static void waits(void **state)
{
    (void)state;
    const struct {
        const char *what, *op;
        enum kind kind;
        int64_t wait_ps, win_ps; /* win -1: finds nothing */
    } rows[] = {
        {"most of it", "copy-done.4", KIND_COPY, 60, 240},
        {"a twentieth", "copy-done", KIND_COPY, 5, 20},
        {"less", "copy-done", KIND_COPY, 4, -1},
        {"a copy that works", "copy.3", KIND_COPY, 60, -1},
        {"a collective", "all-reduce-done", KIND_COMMUNICATION, 60, -1},
        {"nothing", "copy-done", KIND_COPY, 0, -1},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        make_steps(&run, rows[i].wait_ps, rows[i].op, rows[i].kind);
        const struct finding *finding = run_finding(&run, "waits-for-copies");
        CHECK(rows[i].what, (finding != NULL) == (rows[i].win_ps >= 0));
        if (finding != NULL) {
            CHECK_INT(rows[i].what, finding->win_ps, rows[i].win_ps);
            CHECK_HAS(rows[i].what, str_c(run.made.arena, finding->text), rows[i].op);
            CHECK_INT(rows[i].what, finding->evidence[1].value.of.integer, rows[i].wait_ps);
            CHECK(rows[i].what, finding->evidence[1].slice != NO_SLICE);
        }
        run_end(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(waits)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
