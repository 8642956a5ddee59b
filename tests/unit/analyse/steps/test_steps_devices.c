/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of several devices that begin a little apart, and what of each row is a step's work. */
#include "unit/analyse/made_run.h"

#include "analyse/steps/restrict.h"
#include "analyse/steps/steps.h"

static const char *const instructions[] = {"dot.1", "jit(f)/dot", NULL};
static const int64_t begins[2][4] = {{0, 100, 203, 300}, {2, 98, 200, 299}}; /* by device */
static const int64_t first_begins[] = {0, 98, 200, 299};

static struct steps find(const struct made_run *run)
{
    static const struct restriction nothing;
    struct error err = {0};
    struct steps steps;

    CHECK_OK("find", steps_find(&run->run, &nothing, run->made.arena, &steps, &err), &err);
    return steps;
}

static void add_ops(struct made_run *run)
{
    const track_id pools[] = {run_thread(run, "pool 0"), run_thread(run, "pool 1")};

    for (int device = 0; device < 2; device++) {
        for (int i = 0; i < 4; i++)
            run_cpu_op(run, pools[device], begins[device][i], 90, "dot.1", 7, 40 + i, device, 0);
    }
}

static void check_begins(const char *what, const struct steps *steps)
{
    CHECK_INT(what, steps->count, 4);
    for (uint32_t i = 0; i < steps->count; i++)
        CHECK_INT(what, steps->items[i].start_ps, first_begins[i]);
}

/* No device is first every time. */
static void executions_begin_with_the_first(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    run_program(&run, 7, "jit_step", 99, instructions);
    add_ops(&run);
    run_finish(&run);

    struct steps steps = find(&run);

    CHECK_INT("rule", steps.rule, STEP_MODULE);
    check_begins("executions", &steps);
    run_end(&run);
}

static void annotated(struct made_run *run, track_id track, int64_t start_ps, int64_t number)
{
    run_slice(run, track, start_ps, 10, "train", KIND_HOST);
    run_int(run, "_r", 1);
    run_int(run, "step_num", number);
    run_slice(run, track, start_ps + 1, 8, "PjitFunction(f)", KIND_HOST);
}

/*  python   |0|1|2|3| wait .........................|      10 each, a call in each
 *  pool 0   | dot 0      | dot 1    |  dot 2    | dot 3 |
 *  pool 1    | dot 0     | dot 1    | dot 2    | dot 3  |
 */
static void run_marked(struct made_run *run)
{
    track_id python;

    run_begin(run);
    run_program(run, 7, "jit_step", 99, instructions);
    python = run_thread(run, "python");
    for (int64_t i = 0; i < 4; i++)
        annotated(run, python, 10 * i - 40, i);
    run_slice(run, python, 0, 400, "wait", KIND_HOST);
    add_ops(run);
    run_finish(run);
}

static void marks_begin_with_the_first(void **state)
{
    (void)state;
    struct made_run run;

    run_marked(&run);

    struct steps steps = find(&run);

    CHECK_INT("rule", steps.rule, STEP_ANNOTATION);
    CHECK_INT("time", steps.time_rule, STEP_TIME_WORK);
    check_begins("marks", &steps);
    run_end(&run);
}

static void op_of_g(struct made_run *run, track_id track, int64_t start_ps, int64_t run_id)
{
    run_slice(run, track, start_ps, 20, "dot.2", KIND_COMPUTE);
    run_text(run, "hlo_op", "dot.2");
    run_text(run, "hlo_module", "jit_g");
    run_int(run, "program_id", 8);
    run_int(run, "run_id", run_id);
    run_int(run, "device_ordinal", 1);
}

/*  python   |0|1|2|3| wait .............................|
 *  pool 0   | dot 0      | dot 1    |  dot 2    | dot 3 |    device 0, program 7
 *  actor        |call|      |call|      |call|
 *  pool 1        | dot |     | dot |     | dot |             device 1, program 8: nobody's step
 */
static void a_device_of_others_is_in_no_mean(void **state)
{
    (void)state;
    static const char *const others[] = {"dot.2", "jit(g)/dot", NULL};
    struct made_run run;

    run_begin(&run);
    run_program(&run, 7, "jit_f", 99, instructions);
    run_program(&run, 8, "jit_g", 98, others);
    track_id python = run_thread(&run, "python"), actor = run_thread(&run, "actor");
    const track_id pools[] = {run_thread(&run, "pool 0"), run_thread(&run, "pool 1")};
    for (int64_t i = 0; i < 4; i++)
        annotated(&run, python, 10 * i - 40, i);
    run_slice(&run, python, 0, 400, "wait", KIND_HOST);
    for (int i = 0; i < 4; i++)
        run_cpu_op(&run, pools[0], 100 * i, 100, "dot.1", 7, 40 + i, 0, 0);
    for (int64_t i = 0; i < 3; i++) {
        run_slice(&run, actor, 20 + 100 * i, 5, "PjitFunction(g)", KIND_HOST);
        op_of_g(&run, pools[1], 30 + 100 * i, 60 + i);
    }
    run_finish(&run);

    struct steps steps = find(&run);
    struct host_devices devices = steps_devices_of(&run.run, &steps, 0, run.made.arena);
    struct answer_note notes[LEFT_OUT_NOTES];

    CHECK_INT("steps", steps.count, 4);
    CHECK_INT("devices", devices.count, 2);
    CHECK_INT("that count", devices.counted_count, 1);
    steps_breakdown(&run.run, &steps);
    for (uint32_t i = 0; i < steps.count; i++)
        CHECK_INT("busy", steps.items[i].time.busy_ps, steps.items[i].dur_ps);
    CHECK_INT("told", steps_left_out(&run.run, &steps, run.made.arena, notes), 1);
    assert_string_equal(notes[0].kind, "other-work");
    run_end(&run);
}

/* A call of the runtime's that gives a task to a pool, whose op then runs there; `from` and `to`:
 * an arrow of that number, 0 none. */
static void call_of_f(struct made_run *run, track_id thread, int64_t at_ps, uint64_t arrow)
{
    run_slice(run, thread, at_ps, 4, "PjitFunction(f)", KIND_HOST);
    run_slice(run, thread, at_ps + 1, 2, "CommonPjRtLoadedExecutable::ExecuteHelper", KIND_HOST);
    if (arrow != 0)
        sink_flow(run->made.sink, FLOW_FROM, sink_name(run->made.sink, STR("task")), arrow);
}

static void task_of_f(struct made_run *run, track_id pool, int64_t at_ps, uint64_t program,
                      uint64_t arrow)
{
    run_slice(run, pool, at_ps - 1, 0, "ThreadpoolListener::StartRegion", KIND_HOST);
    sink_flow(run->made.sink, FLOW_TO, sink_name(run->made.sink, STR("task")), arrow);
    run_cpu_op(run, pool, at_ps, 20, "dot.1", (int64_t)program, at_ps, program == 7 ? 0 : 1, 0);
}

/*  python   |0 f    ||1 f    ||2 f    ||3 f    |      its f waits for another's result: no arrow
 *  actor   f1 f2 f3                                   called before f of step 0,
 *  pool 0      | f 0 |  | f 1 |  | f 2 |  | f 3 |     program 7
 *  pool 1   |f1|             |f2| |f3|                program 8 of the same name: f2 runs after f
 * 0, and f3, which waits for it, has no arrow
 */
static void what_an_actor_calls_by_the_same_name_is_its_own(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    run_program(&run, 7, "jit_f", 99, instructions);
    run_program(&run, 8, "jit_f", 98, instructions);
    track_id python = run_thread(&run, "python"), actor = run_thread(&run, "actor");
    const track_id pools[] = {run_thread(&run, "pool 0"), run_thread(&run, "pool 1")};
    for (uint64_t i = 0; i < 3; i++)
        call_of_f(&run, actor, 5 + 10 * (int64_t)i, i < 2 ? 1 + i : 0);
    for (int64_t i = 0; i < 4; i++) {
        run_slice(&run, python, 100 + 100 * i, 90, "train", KIND_HOST);
        run_int(&run, "_r", 1);
        run_int(&run, "step_num", i);
        call_of_f(&run, python, 110 + 100 * i, 0);
        run_slice(&run, pools[0], 125 + 100 * i, 1, "ThreadpoolListener::Record", KIND_HOST);
        sink_flow(run.made.sink, FLOW_FROM, sink_name(run.made.sink, STR("task")),
                  (uint64_t)(11 + i));
        task_of_f(&run, pools[0], 130 + 100 * i, 7, (uint64_t)(11 + i));
    }
    task_of_f(&run, pools[1], 20, 8, 1);
    task_of_f(&run, pools[1], 230, 8, 2);
    run_slice(&run, pools[1], 315, 1, "ThreadpoolListener::Record", KIND_HOST);
    sink_flow(run.made.sink, FLOW_FROM, sink_name(run.made.sink, STR("task")), 31);
    task_of_f(&run, pools[1], 320, 8, 31);
    run_finish(&run);

    struct steps steps = find(&run);

    CHECK_INT("steps", steps.count, 4);
    for (uint32_t i = 0; i < steps.count; i++) {
        CHECK_INT("ops of the step", steps.items[i].work_count, 1);
        CHECK_INT("its own", steps.items[i].work_start_ps, 130 + 100 * (int64_t)i);
    }
    run_end(&run);
}

static void task_of(struct made_run *run, track_id pool, int64_t at_ps, int64_t dur_ps,
                    int64_t program, uint64_t arrow)
{
    run_slice(run, pool, at_ps - 1, 0, "ThreadpoolListener::StartRegion", KIND_HOST);
    sink_flow(run->made.sink, FLOW_TO, sink_name(run->made.sink, STR("task")), arrow);
    run_cpu_op(run, pool, at_ps, dur_ps, "dot.1", program, at_ps, 0, 0);
}

struct between { /* what a loop of six steps calls between its marks */
    int64_t every, begins_ps, dur_ps;
    struct bytes program;
};

/*  python   |0|1|2|g|3|4|5|g|
 *  pool     | f 0 | f 1 | f 2 | g | f 3 | f 4 | f 5 | g |      22 from f to f, and 10 behind g
 */
static struct steps run_followed(struct made_run *run, const struct between *g)
{
    int64_t call_ps = -500, at_ps = 0;

    run_begin(run);
    run_program(run, 7, "jit_f", 99, instructions);
    run_program_of(run, 8, "jit_g", 98, g->program, instructions);
    track_id python = run_thread(run, "python");
    const track_id pools[] = {run_thread(run, "pool 0"), run_thread(run, "pool 1")};
    for (int64_t i = 0; i < 6; i++, call_ps += 30) {
        run_slice(run, python, call_ps, 10, "train", KIND_HOST);
        run_int(run, "_r", 1);
        run_int(run, "step_num", i);
        call_of_f(run, python, call_ps + 2, (uint64_t)(1 + i));
        if (i % g->every == g->every - 1)
            call_of_f(run, python, call_ps + 20, (uint64_t)(51 + i));
    }
    for (int64_t i = 0; i < 6; i++, at_ps += 22) {
        task_of(run, pools[0], at_ps, 20, 7, (uint64_t)(1 + i));
        if (i % g->every != g->every - 1)
            continue;
        task_of(run, pools[1], at_ps + g->begins_ps, g->dur_ps, 8, (uint64_t)(51 + i));
        at_ps += g->begins_ps >= 20 ? g->dur_ps + 10 : 0;
    }
    run_finish(run);
    return find(run);
}

/* What is called between marks behind half of the steps or fewer is no part of any; behind all of
 * them it is what the loop does. What runs beside a step's own work stays in it, and so does what
 * may be an update; both are told, and from 3 % of the steps' time on these are less sure. */
static void what_few_steps_have_behind_them_is_apart(void **state)
{
    (void)state;
    const struct bytes any = BYTES("proto"), update = HLO_PROTO("\x40");
    const struct {
        const char *what;
        struct between g;
        int64_t sum_ps; /* of all but the last */
        int64_t apart_ps, beside_ps;
        bool beside; /* is it told as such? */
        enum step_trust confidence;
    } rows[] = {
        {"never", {99, 22, 20, any}, 110, 0, 0, false, TRUST_HIGH},
        {"behind each third", {3, 22, 20, any}, 120, 20, 0, false, TRUST_HIGH},
        {"behind half", {2, 22, 20, any}, 130, 40, 0, false, TRUST_HIGH},
        {"behind all", {1, 22, 20, any}, 260, 0, 0, false, TRUST_HIGH},
        {"beside", {2, 10, 20, any}, 110, 0, 60, false, TRUST_MEDIUM},
        {"one number", {3, 22, 20, HLO_PROTO("\x01")}, 120, 20, 0, false, TRUST_HIGH},
        {"an update", {3, 22, 20, update}, 140, 0, 40, true, TRUST_MEDIUM},
        {"a short update", {3, 22, 6, update}, 126, 0, 12, true, TRUST_MEDIUM},
        {"one of a fiftieth", {3, 22, 2, update}, 122, 0, 4, true, TRUST_HIGH},
    };

    for (size_t row = 0; row < COUNT(rows); row++) {
        struct made_run run;
        struct steps steps = run_followed(&run, &rows[row].g);
        int64_t sum_ps = 0, apart_ps = 0, beside_ps = 0;
        struct answer_note notes[LEFT_OUT_NOTES];
        bool told = rows[row].apart_ps + rows[row].beside_ps > 0 && !rows[row].beside;

        CHECK_INT(rows[row].what, steps.count, 6);
        CHECK_INT(rows[row].what, steps.time_rule, STEP_TIME_WORK);
        for (uint32_t i = 0; i < steps.count; i++) {
            sum_ps += i + 1 < steps.count ? steps.items[i].dur_ps : 0;
            apart_ps += steps.items[i].apart_ps;
            beside_ps += steps.items[i].beside_ps;
            CHECK_INT(rows[row].what, steps.items[i].followed,
                      told && i % rows[row].g.every == (uint64_t)rows[row].g.every - 1);
            CHECK_INT(rows[row].what, steps.items[i].work_count, 1);
        }
        CHECK_INT(rows[row].what, sum_ps, rows[row].sum_ps);
        CHECK_INT(rows[row].what, apart_ps, rows[row].apart_ps);
        CHECK_INT(rows[row].what, beside_ps, rows[row].beside_ps);
        CHECK_INT(rows[row].what, steps.confidence, rows[row].confidence);
        CHECK_STR(rows[row].what, steps.apart, told ? "jit_g" : "");
        CHECK_STR(rows[row].what, steps.beside,
                  rows[row].apart_ps + rows[row].beside_ps > 0 ? "jit_g" : "");
        CHECK_INT(rows[row].what, steps_left_out(&run.run, &steps, run.made.arena, notes),
                  rows[row].apart_ps > 0);
        if (rows[row].apart_ps > 0)
            assert_string_equal(notes[0].kind, "work-between");
        run_end(&run);
    }
}

static void rows_show_the_work(void **state)
{
    (void)state;
    struct made_run run;
    struct selection *selections;
    uint32_t count;
    struct error err = {0};
    const int64_t range[] = {1, 1};
    const struct restriction one = {.steps = range, .step_range_count = 1};
    const struct {
        const char *what;
        const char *track;
        struct window window;
    } rows[] = {{"the mark", "python", {-30, -20}},
                {"ops of one device", "pool 0", {100, 190}},
                {"and of the other", "pool 1", {98, 188}}};

    run_marked(&run);
    CHECK_OK("restrict", restrict_run(&run.run, &one, run.made.arena, &selections, &count, &err),
             &err);
    CHECK_INT("one host", count, 1);

    const struct trace *trace = selections[0].host->trace;

    for (size_t i = 0; i < COUNT(rows); i++) {
        for (track_id id = 0; id < trace->track_count; id++) {
            if (!str_equal(trace_name(trace, trace->tracks[id].name), str_of(rows[i].track)))
                continue;

            struct row_windows windows =
                selection_windows_of(&selections[0], trace->tracks[id].first_row);

            CHECK_INT(rows[i].what, windows.count, 1);
            CHECK_INT(rows[i].what, windows.items[0].from_ps + selections[0].host->offset_ps,
                      rows[i].window.from_ps);
            CHECK_INT(rows[i].what, windows.items[0].to_ps + selections[0].host->offset_ps,
                      rows[i].window.to_ps);
        }
    }
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(executions_begin_with_the_first),
        cmocka_unit_test(marks_begin_with_the_first),
        cmocka_unit_test(a_device_of_others_is_in_no_mean),
        cmocka_unit_test(what_an_actor_calls_by_the_same_name_is_its_own),
        cmocka_unit_test(what_few_steps_have_behind_them_is_apart),
        cmocka_unit_test(rows_show_the_work),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
