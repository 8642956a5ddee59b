/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever made runs are grouped by, rows add up: to the events, to the hull, over any partition.
 *
 *   thread    f |-----------| g |---|      slices inside each other; self times are what is open
 *                 |g| |f|
 *   device    while.1 |--------|  dot.2 |--|   likewise, up to two devices
 *   windows   |----------|-----------------|   parts of the whole, cut anywhere
 *
 * What is held against the tables is a plain look at every picosecond. */
#include "unit/analyse/made_run.h"

#include "analyse/findings/overview.h"
#include "analyse/ops/annotations.h"
#include "analyse/ops/top.h"

enum { SEEDS = 2000, END_PS = 300, DEVICES = 2, LANES = DEVICES + 1, DEPTH_MAX = 4 };

struct plan { /* lanes: the thread, then devices */
    bool open[LANES][END_PS];
    int64_t begin_ps[LANES], end_ps[LANES]; /* of the hull */
    bool has[LANES];
};

static const char *const instructions[] = {
    "while.1", "jit(f)/layer_0",     "dot.2",  "jit(f)/layer_0/dot",
    "add.3",   "jit(f)/layer_1/add", "copy.4", "",
    NULL};

static void put(struct plan *plan, int lane, int64_t from_ps, int64_t to_ps)
{
    if (!plan->has[lane] || from_ps < plan->begin_ps[lane])
        plan->begin_ps[lane] = from_ps;
    if (!plan->has[lane] || to_ps > plan->end_ps[lane])
        plan->end_ps[lane] = to_ps;
    plan->has[lane] = true;
    for (int64_t at_ps = from_ps; at_ps < to_ps; at_ps++)
        plan->open[lane][at_ps] = true;
}

static void add_slices(struct made_run *run, const track_id *tracks, int lane, struct dice *dice,
                       struct plan *plan, int64_t from_ps, int64_t to_ps, int depth)
{
    static const char *const names[] = {"f", "g", "train", "PjitFunction(f)"};

    for (int count = 0; from_ps < to_ps && count < 4; count++) {
        int64_t begin_ps = from_ps + (int64_t)dice_below(dice, 30);
        int64_t end_ps = begin_ps + 1 + (int64_t)dice_below(dice, 80);
        uint64_t which = dice_below(dice, 4);

        end_ps = end_ps > to_ps ? to_ps : end_ps;
        if (begin_ps >= end_ps)
            return;
        if (lane == 0)
            run_slice(run, tracks[0], begin_ps, end_ps - begin_ps, names[which], KIND_HOST);
        else
            run_cpu_op(run, tracks[lane], begin_ps, end_ps - begin_ps, instructions[2 * which],
                       7 + (int64_t)dice_below(dice, 2), count, lane - 1, 0);
        put(plan, lane, begin_ps, end_ps);
        if (depth < DEPTH_MAX && dice_below(dice, 2) > 0)
            add_slices(run, tracks, lane, dice, plan, begin_ps + 1, end_ps - 1, depth + 1);
        from_ps = end_ps;
    }
}

static void make_run(struct made_run *run, struct dice *dice, struct plan *plan)
{
    track_id tracks[LANES];

    run_begin(run);
    run_program(run, 7, "jit_f", 99, instructions);
    run_program(run, 8, "jit_g", 98, instructions);
    tracks[0] = run_thread(run, "python");
    for (int lane = 1; lane < LANES; lane++)
        tracks[lane] = run_thread(run, "tf_XLAEigen/1");
    for (int lane = 0; lane < LANES; lane++)
        add_slices(run, tracks, lane, dice, plan, 0, END_PS, 0);
    run_finish(run);
}

static struct table ask(const struct made_run *run, const char *by, int64_t from_ps, int64_t to_ps)
{
    const struct restriction window = {.has_window = true, .start_ps = from_ps, .end_ps = to_ps};
    const struct restriction all = {0};
    struct error err = {0};
    struct table table = {0};

    if (strcmp(by, "annotation") == 0)
        CHECK_OK(by,
                 annotations(&run->run, to_ps > from_ps ? &window : &all,
                             &(struct page){.limit = 1000}, run->made.arena, &table, &err),
                 &err);
    else
        CHECK_OK(by,
                 top(&run->run, to_ps > from_ps ? &window : &all,
                     &(struct top_question){.by = str_of(by)}, &(struct page){.limit = 1000},
                     run->made.arena, &table, &err),
                 &err);
    return table;
}

static int64_t open_ps(const struct plan *plan, int first, int last, int64_t from_ps, int64_t to_ps)
{
    int64_t sum_ps = 0;

    for (int lane = first; lane <= last; lane++)
        for (int64_t at_ps = from_ps; at_ps < to_ps; at_ps++)
            sum_ps += plan->open[lane][at_ps];
    return sum_ps;
}

static int64_t sum_of(const struct table *table, const char *column, struct str key)
{
    int64_t sum_ps = 0;

    for (uint32_t row = 0; row < table->row_count; row++) {
        const struct cell *cell = cell_of(table, row, column);

        if ((key.count == 0 || str_equal(cell_of(table, row, "key")->of.text, key)) &&
            cell->kind == CELL_INTEGER)
            sum_ps += cell->of.integer;
    }
    return sum_ps;
}

static const struct grouping {
    const char *by;
    int first, last; /* lanes whose events it groups */
} groupings[] = {
    {"op", 1, DEVICES},       {"module", 1, DEVICES}, {"scope", 1, DEVICES}, {"source", 1, DEVICES},
    {"category", 1, DEVICES}, {"device", 1, DEVICES}, {"name", 0, DEVICES},  {"track", 0, DEVICES},
    {"host", 0, DEVICES},     {"annotation", 0, 0},
};

/* Each row of the whole is what its parts sum to; all rows are what was open. */
static void check_grouping(const struct made_run *run, const struct plan *plan,
                           const struct grouping *grouping, int64_t cut_ps)
{
    static const char *const columns[] = {"total_ps", "self_ps"};
    struct table whole = ask(run, grouping->by, 0, 0);
    struct table parts[2] = {ask(run, grouping->by, 0, cut_ps),
                             ask(run, grouping->by, cut_ps, END_PS)};
    const int64_t bounds_ps[] = {0, cut_ps, END_PS};

    CHECK_STR("the grouping asked for", whole.by, grouping->by);
    CHECK_INT(grouping->by, sum_of(&whole, "self_ps", STR("")),
              open_ps(plan, grouping->first, grouping->last, 0, END_PS));
    CHECK_INT("as is told", whole.total_self_ps, sum_of(&whole, "self_ps", STR("")));
    for (int part = 0; part < 2; part++)
        CHECK_INT(
            grouping->by, sum_of(&parts[part], "self_ps", STR("")),
            open_ps(plan, grouping->first, grouping->last, bounds_ps[part], bounds_ps[part + 1]));
    for (uint32_t row = 0; row < whole.row_count; row++) {
        struct str key = cell_of(&whole, row, "key")->of.text;

        for (size_t i = 0; i < COUNT(columns); i++)
            CHECK_INT(columns[i],
                      sum_of(&parts[0], columns[i], key) + sum_of(&parts[1], columns[i], key),
                      sum_of(&whole, columns[i], key));
    }
}

/* Of a device busy and idle are its hull. */
static void check_hulls(const struct made_run *run, const struct plan *plan)
{
    const struct restriction all = {0};
    struct error err = {0};
    struct overview got;
    uint32_t at = 0;

    CHECK_OK("overview", overview(memo_create(&run->run, &all, run->made.arena), &got, &err), &err);
    for (int lane = 1; lane < LANES; lane++) {
        if (!plan->has[lane])
            continue;
        CHECK("a device", at < got.device_count);
        CHECK_INT("busy", got.devices[at].busy_ps, open_ps(plan, lane, lane, 0, END_PS));
        CHECK_INT("with idle its hull", got.devices[at].busy_ps + got.devices[at].idle_ps,
                  plan->end_ps[lane] - plan->begin_ps[lane]);
        at++;
    }
    CHECK_INT("devices", got.device_count, at);
}

static void sums(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct dice dice = {.state = seed};
        struct made_run run;
        struct plan plan = {0};

        make_run(&run, &dice, &plan);

        const struct grouping *grouping = &groupings[seed % COUNT(groupings)];
        bool has_ops = plan.has[1] || plan.has[2];

        if (has_ops || grouping->first == 0)
            check_grouping(&run, &plan, grouping, 1 + (int64_t)dice_below(&dice, END_PS - 1));
        if (seed % 8 == 0)
            check_hulls(&run, &plan);
        run_end(&run);
    }
    print_message("%d seeds\n", SEEDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),
    };

    return cmocka_run_group_tests_name("analyse/sums", tests, NULL, NULL);
}
