/* SPDX-License-Identifier: Apache-2.0 */
/* When threads were busy: nested, lapped, on lanes, in a window. */
#include "analyse/ops/threads.h"

#include <math.h>

#include "unit/analyse/made_run.h"

/*   python   a .................... 0 +100     b ... 150 +20, an instant at 160
 *              c 10 +10
 *     lane                   call 90 +40
 *   worker   x 0 +50, y 30 +50: they lap
 *   GPU      kernel 0 +500: no thread of a host */
static void build(struct made_run *run)
{
    run_begin(run);

    track_id process = made_track(&run->made, "trainer", NO_TRACK, TRACK_PROCESS, ROLE_NONE, false);
    track_id python = made_track(&run->made, "python", process, TRACK_THREAD, ROLE_HOST, false);
    track_id lane = made_track(&run->made, "CUDA calls", python, TRACK_THREAD, ROLE_HOST, false);
    track_id worker = run_thread(run, "worker");
    track_id stream = run_stream(run, "Stream #7", ROLE_OPS, 0);
    track_id derived =
        made_track(&run->made, "python calls", process, TRACK_THREAD, ROLE_HOST, true);

    run_thread(run, "idle");
    run_slice(run, python, 0, 100, "a", KIND_HOST);
    run_slice(run, python, 10, 10, "c", KIND_HOST);
    run_slice(run, python, 150, 20, "b", KIND_HOST);
    run_slice(run, python, 160, 0, "instant", KIND_HOST);
    run_slice(run, lane, 90, 40, "call", KIND_HOST);
    run_slice(run, worker, 0, 50, "x", KIND_HOST);
    run_slice(run, worker, 30, 50, "y", KIND_HOST);
    run_slice(run, stream, 0, 500, "kernel", KIND_COMPUTE);
    run_slice(run, derived, 0, 400, "a", KIND_HOST);
    run_finish(run);
}

static struct table ask(struct made_run *run, const struct restriction *restriction,
                        const char *sort, struct arena *arena)
{
    const struct page page = {.limit = 100, .sort = str_of(sort)};
    struct table table;
    struct error err = {0};

    CHECK_OK(sort, threads_table(&run->run, restriction, &page, arena, &table, &err), &err);
    return table;
}

struct expected {
    const char *name, *process, *longest; /* process NULL: none */
    int64_t slice_count, busy_ps, start_ps, end_ps, longest_ps;
};

static void check_row(const struct table *table, uint32_t row, struct expected expected,
                      int64_t span_ps)
{
    const char *what = expected.name;

    CHECK_STR(what, cell_of(table, row, "name")->of.text, what);
    if (expected.process != NULL)
        CHECK_STR(what, cell_of(table, row, "process")->of.text, expected.process);
    else
        CHECK_INT(what, cell_of(table, row, "process")->kind, CELL_NULL);
    CHECK_INT(what, cell_of(table, row, "slice_count")->of.integer, expected.slice_count);
    CHECK_INT(what, cell_of(table, row, "busy_ps")->of.integer, expected.busy_ps);
    CHECK_INT(what, cell_of(table, row, "start_ps")->of.integer, expected.start_ps);
    CHECK_INT(what, cell_of(table, row, "end_ps")->of.integer, expected.end_ps);
    CHECK_STR(what, cell_of(table, row, "longest")->of.text, expected.longest);
    CHECK_INT(what, cell_of(table, row, "longest_ps")->of.integer, expected.longest_ps);
    CHECK(what, fabs(cell_of(table, row, "share")->of.real -
                     (double)expected.busy_ps / (double)span_ps) < 1e-12);
}

static void of_the_whole_run(void **state)
{
    const struct restriction whole = {0};
    struct arena *arena = arena_create();
    struct made_run run;

    (void)state;
    build(&run);

    struct table table = ask(&run, &whole, "", arena);

    CHECK_INT("an idle one, a stream and a derived one are none", table.row_count, 2);
    check_row(&table, 0, (struct expected){"python", "trainer", "a", 5, 150, 0, 170, 100}, 500);
    check_row(&table, 1, (struct expected){"worker", NULL, "x", 2, 80, 0, 80, 50}, 500);
    CHECK_INT("all", table.total_ps, 230);
    table = ask(&run, &whole, "name", arena);
    CHECK_STR("sorted", cell_of(&table, 1, "name")->of.text, "worker");
    run_end(&run);
    arena_destroy(arena);
}

static void in_a_window(void **state)
{
    const struct restriction window = {.has_window = true, .start_ps = 95, .end_ps = 160};
    const struct restriction empty = {.has_window = true, .start_ps = 300, .end_ps = 310};
    struct arena *arena = arena_create();
    struct made_run run;

    (void)state;
    build(&run);

    struct table table = ask(&run, &window, "", arena);

    CHECK_INT("who was at something", table.row_count, 1);
    check_row(&table, 0, (struct expected){"python", "trainer", "a", 3, 45, 95, 160, 100}, 65);
    table = ask(&run, &empty, "", arena);
    CHECK_INT("nobody", table.row_count, 0);
    CHECK_INT("which is said", table.note_count, 1);
    run_end(&run);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_the_whole_run),
        cmocka_unit_test(in_a_window),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
