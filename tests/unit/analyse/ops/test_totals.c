/* SPDX-License-Identifier: Apache-2.0 */
/* Stored totals answer as a walk over all entries does: every table of made runs, asked both
 * ways. */
#include "analyse/ops/top.h"
#include "unit/analyse/made_run.h"

enum { SEEDS = 3000 };

/*  devices 0 1 2     programs 7 (jit_f), 8 (jit_g): ops of one name in both, scopes that they share
 *  executions        of one to nine ops that nest, some with an op twice, lengths at random      */
static const char *const instructions[] = {"dot.1",   "jit(f)/layer_0/dot",
                                           "dot.2",   "jit(f)/layer_1/dot",
                                           "add.3",   "jit(f)/layer_0/add",
                                           "mul.4",   "jit(f)/layer_0/dot",
                                           "copy.5",  "",
                                           "fuse_12", "jit(f)/layer_1/dot_12",
                                           NULL};

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void make_run(struct made_run *run, uint32_t seed, uint32_t execution_count,
                     uint32_t op_kinds)
{
    int64_t at_ps[3] = {0, 50, 100};
    track_id pools[3];

    run_begin(run);
    run_program(run, 7, "jit_f", 99, instructions);
    run_program(run, 8, "jit_g", 98, instructions);
    for (int device = 0; device < 3; device++)
        pools[device] = run_thread(run, "pool");
    for (uint32_t i = 0; i < execution_count; i++) {
        uint32_t device = next_random(&seed) % 3;
        uint32_t count = 1 + next_random(&seed) % 9;

        for (uint32_t k = 0; k < count; k++) {
            int64_t dur_ps = 1 + next_random(&seed) % 1000;
            int64_t start_ps = at_ps[device];

            run_cpu_op(run, pools[device], start_ps, dur_ps,
                       instructions[2 * (next_random(&seed) % op_kinds)], 7 + i % 2, i,
                       (int64_t)device, 0);
            at_ps[device] += k % 3 == 0 && dur_ps > 10 ? dur_ps / 4 : dur_ps + i % 7;
        }
        at_ps[device] += 4000;
    }
    run_finish(run);
}

static bool same_cell(const struct cell *left, const struct cell *right)
{
    if (left->kind != right->kind)
        return false;
    switch (left->kind) {
    case CELL_NULL:
    case CELL_TEXT:
        return str_equal(left->of.text, right->of.text);
    case CELL_REAL:
        return memcmp(&left->of.real, &right->of.real, sizeof(double)) == 0;
    default:
        return left->of.integer == right->of.integer;
    }
}

static void compare(const char *what, const struct table *stored, const struct table *walked)
{
    CHECK_INT(what, stored->row_count, walked->row_count);
    CHECK_INT(what, stored->row_count_all, walked->row_count_all);
    CHECK_INT(what, stored->total_ps, walked->total_ps);
    CHECK_INT(what, stored->total_self_ps, walked->total_self_ps);
    CHECK_INT(what, stored->approx_count, walked->approx_count);
    for (uint32_t i = 0; i < stored->row_count * stored->column_count; i++) {
        if (!same_cell(&stored->cells[i], &walked->cells[i]))
            check_failed(__FILE__, __LINE__, what, "row %u differs in %s", i / stored->column_count,
                         stored->columns[i % stored->column_count].key);
    }
}

static const char *const words[] = {"op", "module", "scope", "source", "category"};

/* All of the run's tables to one question. */
static void ask_both(const struct made_run *run, const struct restriction *restriction,
                     struct top_question question, const struct page *page)
{
    struct attribution bare = run->attribution;
    struct host_trace host = run->host;
    struct run_traces walked_run = run->run;

    bare.totals = NULL;
    bare.spreads = NULL;
    bare.spread_count = 0;
    host.attribution = &bare;
    walked_run.hosts = &host;
    for (size_t by = 0; by < COUNT(words); by++) {
        struct table stored, walked;
        struct error err = {0};

        question.by = str_of(words[by]);

        enum status status =
            top(&run->run, restriction, &question, page, run->made.arena, &stored, &err);

        CHECK_INT(words[by],
                  top(&walked_run, restriction, &question, page, run->made.arena, &walked, &err),
                  status);
        if (status == ERR_NOT_FOUND && restriction->module.count > 0)
            continue; /* none of its executions is in the run */
        CHECK_OK(words[by], status, &err);
        compare(words[by], &stored, &walked);
    }
}

enum { RESTRICTIONS = 8, QUESTIONS = 5, PAGES = 5, ASKED = RESTRICTIONS * QUESTIONS * PAGES };

static void ask_one(const struct made_run *run, uint32_t at)
{
    static const int64_t devices[] = {1};
    const struct restriction restrictions[RESTRICTIONS] = {
        {.hosts = NULL},
        {.name = STR("dot.1")},
        {.q = STR("O")},
        {.module = STR("jit_g")},
        {.scope = STR("jit(f)/layer_0")},
        {.scope = STR("jit(f)"), .q = STR("dot")},
        {.devices = devices, .device_count = 1},
        {.has_window = true, .start_ps = 3000, .end_ps = 40000},
    };
    const struct top_question questions[QUESTIONS] = {
        {.depth = 0}, {.depth = 1}, {.depth = 2}, {.fold_siblings = true}, {.min_self_ps = 1000}};
    const struct page pages[PAGES] = {
        {.limit = 10000},
        {.limit = 2, .offset = 1},
        {.limit = 3, .sort = STR("-p95_ps,name")},
        {.limit = 3, .sort = STR("-stdev_ps,name")},
        {.limit = 10000, .sort = STR("-count,name")},
    };

    ask_both(run, &restrictions[at % RESTRICTIONS], questions[at / RESTRICTIONS % QUESTIONS],
             &pages[at / RESTRICTIONS / QUESTIONS % PAGES]);
}

static void equal_tables(void **state)
{
    struct made_run run;

    (void)state;
    make_run(&run, 7, 300, 6);
    CHECK_INT("rows by op have spreads", run.attribution.spreads[0].by, SPREAD_BY_OP);
    for (uint32_t at = 0; at < ASKED; at++)
        ask_one(&run, at);
    run_end(&run);
}

static void equal_tables_of_seeds(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        struct made_run run;

        make_run(&run, seed, 1 + seed % 13, 1 + seed % 6);
        ask_one(&run, seed);
        run_end(&run);
    }
    print_message("%d seeds\n", SEEDS);
}

/* Rows of so many events that their quantiles are from a histogram. */
static void equal_histograms(void **state)
{
    struct made_run run;
    const struct restriction all = {0};

    (void)state;
    make_run(&run, 7, 30000, 1);
    CHECK("there are enough", run.attribution.entry_count > 2 * 65536);
    CHECK_INT("a histogram", run.attribution.spreads[0].approximate, 1);
    ask_both(&run, &all, (struct top_question){.depth = 0}, &(struct page){.limit = 100});
    run_end(&run);
}

/* The second op of device 0 lies within the first, the third stands apart; device 1 has one. */
static void devices_by_hand(void **state)
{
    struct made_run run;

    (void)state;
    run_begin(&run);
    run_program(&run, 7, "jit_f", 99, instructions);
    track_id pool = run_thread(&run, "pool"), other = run_thread(&run, "pool");
    run_cpu_op(&run, pool, 10, 30, "dot.1", 7, 1, 0, 0);
    run_cpu_op(&run, pool, 20, 10, "dot.1", 7, 1, 0, 0);
    run_cpu_op(&run, pool, 80, 15, "dot.2", 7, 2, 0, 0);
    run_cpu_op(&run, other, 5, 20, "dot.2", 7, 3, 1, 0);
    run_finish(&run);

    const struct attribution *got = &run.attribution;
    const struct op_total *dot = &got->totals[got->entries[0].op];

    CHECK_INT("devices", got->device_count, 2);
    CHECK_INT("starts", got->devices[0].start_ps, 10);
    CHECK_INT("ends", got->devices[0].end_ps, 95);
    CHECK_INT("busy", got->devices[0].busy_ps, 45);
    CHECK_INT("the other's", got->devices[1].busy_ps, 20);
    CHECK_INT("events", dot->event_count, 2);
    CHECK_INT("executions", dot->count, 1);
    CHECK_INT("total", dot->total_ps, 40);
    CHECK_INT("self", dot->self_ps, 30);
    CHECK_INT("shortest", dot->min_ps, 10);
    CHECK_INT("longest", dot->max_ps, 30);
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_tables),
        cmocka_unit_test(equal_tables_of_seeds),
        cmocka_unit_test(equal_histograms),
        cmocka_unit_test(devices_by_hand),
    };

    return cmocka_run_group_tests_name("analyse/totals", tests, NULL, NULL);
}
