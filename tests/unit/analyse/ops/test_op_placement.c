/* SPDX-License-Identifier: Apache-2.0 */
/* Where ops ran, by what the run tells of hosts, devices and callbacks. */
#include "unit/analyse/made_run.h"

#include "analyse/hlo/callbacks.h"
#include "analyse/ops/op_placement.h"

static struct op_placement find(struct made_run *run, struct restriction restriction)
{
    struct restriction *asked = arena_new(run->made.arena, struct restriction);
    struct selection *selections;
    struct op_placement places;
    uint32_t count;

    *asked = restriction;
    CHECK_OK("restrict",
             restrict_run(&run->run, asked, run->made.arena, &selections, &count, &run->made.err),
             &run->made.err);
    op_placement_find(selections, count, run->made.arena, &places);
    return places;
}

static void check(const char *what, const struct op_placement *places, int64_t device_ps,
                  int64_t host_ps, int64_t callback_ps)
{
    CHECK_INT(what, places->of[PLACE_DEVICE].self_ps, device_ps);
    CHECK_INT(what, places->of[PLACE_HOST].self_ps, host_ps);
    CHECK_INT(what, places->of[PLACE_CALLBACK].self_ps, callback_ps);
    CHECK_INT(what, places->total_ps, device_ps + host_ps + callback_ps);
}

/* XLA:CPU: the processor is the device, and its custom calls may call back. */
static void on_the_processor(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id pool = run_thread(&run, "pool"), python = run_thread(&run, "python");
    run_cpu_op(&run, pool, 0, 50, "dot.1", 7, 1, 0, 0);
    run_cpu_op(&run, pool, 60, 30, "pure_callback.2", 7, 1, 0, 0);
    run_slice(&run, python, 62, 20, "$callback.py:90 pure_callback_impl", KIND_HOST);
    run_finish(&run);

    struct op_placement places = find(&run, (struct restriction){0});

    check("whole", &places, 50, 0, 30);
    CHECK("measured, and none", places.of[PLACE_HOST].reason.count == 0);
    CHECK_INT("might move", places.movable_count, 1);
    CHECK_STR("which", places.movable[0].name, "pure_callback.2");
    places = find(&run, (struct restriction){.has_window = true, .start_ps = 40, .end_ps = 70});
    check("in a window", &places, 10, 0, 10);
    run_end(&run);
}

/* A GPU, a program that fell back to the processor, and a callback on a thread. */
static void beside_devices(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, 0);
    track_id pool = run_thread(&run, "pool"), python = run_thread(&run, "python");
    run_slice(&run, stream, 0, 100, "fusion", KIND_COMPUTE);
    run_text(&run, "hlo_op", "fusion");
    run_text(&run, "hlo_module", "jit_f");
    run_cpu_op(&run, pool, 0, 40, "sort.1", 8, 1, 0, 0);
    run_slice(&run, python, 10, 20, "xla_ffi_python_gpu_callback", KIND_HOST);
    run_slice(&run, python, 12, 10, "$callback.py:90 pure_callback_impl", KIND_HOST);
    run_finish(&run);

    struct op_placement places = find(&run, (struct restriction){0});

    check("three places", &places, 100, 40, 20);
    CHECK_INT("two might move", places.movable_count, 2);
    CHECK_STR("the longest", places.movable[0].name, "sort.1");
    run_end(&run);
}

/* TensorFlow's executor marks its ops; kernels alone say nothing of hosts. */
static void of_others(void **state)
{
    (void)state;
    static const char *const ops[] = {"GatherV2", "IteratorGetNext", "EagerPyFunc"};
    struct made_run run;

    run_begin(&run);
    track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, 0);
    track_id host = run_thread(&run, "tf_executor");
    run_slice(&run, stream, 0, 100, "gemm", KIND_COMPUTE);
    for (int64_t i = 0; i < 3; i++) {
        run_slice(&run, host, i * 100, 10 + i, ops[i], KIND_HOST);
        run_int(&run, "is_eager", 0);
    }
    run_slice(&run, host, 400, 50, "Session::Run", KIND_HOST);
    run_finish(&run);

    struct op_placement places = find(&run, (struct restriction){0});

    check("marked", &places, 100, 10 + 11, 12);
    CHECK_INT("input cannot move", places.movable_count, 2);
    run_end(&run);

    run_begin(&run);
    stream = run_stream(&run, "Stream #7", ROLE_NONE, 0);
    run_slice(&run, stream, 0, 100, "gemm", KIND_COMPUTE);
    run_finish(&run);
    places = find(&run, (struct restriction){0});
    CHECK("unknown, not none",
          places.of[PLACE_HOST].reason.count > 0 && places.of[PLACE_CALLBACK].reason.count > 0);
    run_end(&run);

    run_begin(&run);
    host = run_thread(&run, "main");
    run_slice(&run, host, 0, 100, "work", KIND_HOST);
    run_finish(&run);
    places = find(&run, (struct restriction){0});
    CHECK("no op", places.reason.count > 0 && places.total_ps == 0);
    run_end(&run);
}

static void names(void **state)
{
    (void)state;
    const struct {
        const char *name;
        bool calls_back;
    } rows[] = {{"pure_callback.2", true},
                {"$/jax/_src/callback.py:301 io_callback_impl", true},
                {"custom call xla_ffi_python_cpu_callback", true},
                {"XLA_PYTHON_GPU_CALLBACK", true},
                {"callback", false},
                {"EagerPyFunc", true},
                {"my_pyfunc", false}};

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_INT(rows[i].name, is_callback_name(str_of(rows[i].name)), rows[i].calls_back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(on_the_processor),
                                       cmocka_unit_test(beside_devices),
                                       cmocka_unit_test(of_others), cmocka_unit_test(names)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
