/* SPDX-License-Identifier: Apache-2.0 */
/* Ops of XLA:CPU: whose body each is of, and when its value was there, by the HLO. */
#include "unit/analyse/made_run.h"

/* x is a's in the first turn and b's of the turn before in each other; nothing uses d. */
static const char looped[] = "HloModule jit_f\n\n"
                             "%body (p: (s32[], f32[8])) -> (s32[], f32[8]) {\n"
                             "  %p = (s32[], f32[8]) parameter(0)\n"
                             "  %i = s32[] get-tuple-element(%p), index=0\n"
                             "  %x = f32[8]{0} get-tuple-element(%p), index=1\n"
                             "  %a = f32[8]{0} add(%x, %x)\n"
                             "  %b = f32[8]{0} multiply(%a, %a)\n"
                             "  ROOT %t = (s32[], f32[8]) tuple(%i, %b)\n"
                             "}\n\n"
                             "%cond (q: (s32[], f32[8])) -> pred[] {\n"
                             "  %q = (s32[], f32[8]) parameter(0)\n"
                             "  %j = s32[] get-tuple-element(%q), index=0\n"
                             "  ROOT %less = pred[] compare(%j, %j), direction=LT\n"
                             "}\n\n"
                             "ENTRY %main (r: (s32[], f32[8])) -> f32[8] {\n"
                             "  %r = (s32[], f32[8]) parameter(0)\n"
                             "  %s = f32[8]{0} get-tuple-element(%r), index=1\n"
                             "  %d = f32[8]{0} sine(%s)\n"
                             "  %w = (s32[], f32[8]) while(%r), condition=%cond, body=%body\n"
                             "  %g = f32[8]{0} get-tuple-element(%w), index=1\n"
                             "  ROOT %c = f32[8]{0} negate(%g)\n"
                             "}\n";

static void begin(struct made_run *run, struct bytes text)
{
    run_begin(run);
    struct sink *sink = run->made.sink;
    program_id program = sink_program(sink, 7, sink_name(sink, STR("jit_f")), 1, text);

    sink_program_about(sink, program, (struct program_about){.form = PROGRAM_TEXT});
}

/* The slice of that name that begins then. */
static const struct attributed *entry(const struct made_run *run, const char *name,
                                      int64_t start_ps)
{
    for (uint32_t i = 0; i < run->attribution.entry_count; i++) {
        const struct attributed *at = &run->attribution.entries[i];

        if (at->start_ps == start_ps &&
            str_equal(trace_name(&run->made.trace, run->attribution.ops[at->op].name),
                      str_of(name)))
            return at;
    }
    CHECK(name, false);
    return NULL;
}

/*  pool 1   w |---------|             0 .. 30, "end: w" 121
 *             a |-|                   5 .. 10, "end: a" 119
 *             d  |------------|       12 .. 62: beside the loop, not of it
 *  pool 2        b |---|              20 .. 50, "end: b" 105
 *                    a |-|            60 .. 70
 *                        b |---|      70 .. 100
 *                                 c   110 .. 120: what the loop made */
static void a_loop_goes_on_elsewhere(void **state)
{
    (void)state;
    struct made_run run;

    begin(&run, BYTES(looped));
    track_id one = run_thread(&run, "pool/1"), two = run_thread(&run, "pool/2");
    track_id three = run_thread(&run, "pool/3");
    run_cpu_op(&run, one, 0, 30, "w", 7, 1, 0, 1);
    run_cpu_op(&run, one, 5, 5, "a", 7, 1, 0, 2);
    run_cpu_op(&run, three, 12, 50, "d", 7, 1, 0, 0);
    run_cpu_op(&run, two, 20, 30, "b", 7, 1, 0, 3);
    run_cpu_op(&run, two, 60, 10, "a", 7, 1, 0, 0);
    run_cpu_op(&run, two, 70, 30, "b", 7, 1, 0, 0);
    run_cpu_end(&run, two, 105, 0, "end: b", 3);
    run_cpu_op(&run, two, 110, 10, "c", 7, 1, 0, 0);
    run_cpu_end(&run, two, 119, 0, "end: a", 2);
    run_cpu_end(&run, two, 121, 0, "end: w", 1);
    run_finish(&run);

    CHECK_INT("a ends when b begins", entry(&run, "a", 5)->dur_ps, 15);
    CHECK_INT("b ends when the next turn uses it", entry(&run, "b", 20)->dur_ps, 40);
    CHECK_INT("the loop ends when c uses it", entry(&run, "w", 0)->dur_ps, 110);
    CHECK_INT("its body is on both threads", entry(&run, "w", 0)->self_ps, 110 - 15 - 40 - 10 - 30);
    CHECK_INT("what ran beside it holds nothing", entry(&run, "d", 12)->self_ps, 50);
    CHECK_INT("nor does an op of the body", entry(&run, "b", 20)->self_ps, 40);
    CHECK_INT("the execution's end", run.attribution.executions[0].end_ps, 120);
    run_end(&run);
}

/* The last turn's ops end with the loop; two ops of a body at a time cover it once. */
static void the_last_turn(void **state)
{
    (void)state;
    struct made_run run;

    begin(&run, BYTES(looped));
    track_id one = run_thread(&run, "pool/1"), two = run_thread(&run, "pool/2");
    run_cpu_op(&run, one, 0, 5, "w", 7, 1, 0, 1);
    run_cpu_op(&run, two, 10, 20, "a", 7, 1, 0, 0);
    run_cpu_op(&run, one, 20, 5, "less", 7, 1, 0, 0);
    run_cpu_op(&run, two, 40, 10, "b", 7, 1, 0, 2);
    run_cpu_op(&run, two, 60, 10, "c", 7, 1, 0, 0);
    run_cpu_end(&run, two, 75, 0, "end: b", 2);
    run_cpu_end(&run, two, 76, 0, "end: w", 1);
    run_finish(&run);

    CHECK_INT("the loop", entry(&run, "w", 0)->dur_ps, 60);
    CHECK_INT("b ends with it", entry(&run, "b", 40)->dur_ps, 20);
    CHECK_INT("covered once", entry(&run, "w", 0)->self_ps, 60 - 20 - 20);
    run_end(&run);
}

/* Of another run nothing is used, and without HLO a mark is all there is. */
static void what_is_not_told(void **state)
{
    (void)state;
    struct made_run run;

    begin(&run, BYTES(looped));
    track_id one = run_thread(&run, "pool/1");
    run_cpu_op(&run, one, 0, 5, "w", 7, 1, 0, 1);
    run_cpu_op(&run, one, 10, 5, "c", 7, 2, 0, 0);
    run_cpu_op(&run, one, 30, 5, "w", 8, 1, 0, 2);
    run_cpu_op(&run, one, 40, 5, "c", 8, 1, 0, 0);
    run_cpu_end(&run, one, 90, 0, "end: w", 1);
    run_cpu_end(&run, one, 80, 0, "end: w", 2);
    run_finish(&run);

    CHECK_INT("another execution", entry(&run, "w", 0)->dur_ps, 90);
    CHECK_INT("another program", entry(&run, "w", 30)->dur_ps, 50);
    CHECK_INT("by time", entry(&run, "w", 30)->self_ps, 45);
    run_end(&run);
}

/* A module whose computations call each other, and one that is no module. */
static void hostile(void **state)
{
    (void)state;
    static const char knot[] = "HloModule jit_f\n\n"
                               "%f (p: f32[]) -> f32[] {\n"
                               "  %p = f32[] parameter(0)\n"
                               "  ROOT %x = f32[] call(%p), to_apply=%main\n"
                               "}\n\n"
                               "ENTRY %main (q: f32[]) -> f32[] {\n"
                               "  %q = f32[] parameter(0)\n"
                               "  ROOT %y = f32[] call(%q), to_apply=%f\n"
                               "}\n";
    const struct bytes texts[] = {BYTES(knot), BYTES("HloModule"), BYTES("")};

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct made_run run;

        begin(&run, texts[i]);
        track_id one = run_thread(&run, "pool/1");
        run_cpu_op(&run, one, 0, 50, "y", 7, 1, 0, 0);
        run_cpu_op(&run, one, 10, 20, "x", 7, 1, 0, 0);
        run_finish(&run);
        CHECK_INT("self", entry(&run, "y", 0)->self_ps, 30);
        run_end(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_goes_on_elsewhere),
        cmocka_unit_test(the_last_turn),
        cmocka_unit_test(what_is_not_told),
        cmocka_unit_test(hostile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
