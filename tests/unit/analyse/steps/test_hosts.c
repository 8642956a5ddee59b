/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts against each other, idle gaps one by one, steps by an expression and how sure they are. */
#include "unit/analyse/made_run.h"

#include "analyse/steps/hosts.h"
#include "analyse/steps/idle.h"

enum { HOSTS = 2 };

struct pair { /* two hosts of one run */
    struct made_run runs[HOSTS];
    struct host_trace hosts[HOSTS];
    struct run_traces run;
};

static void step(struct made_run *run, track_id track, int64_t start_ps, int64_t dur_ps,
                 int64_t number)
{
    run_slice(run, track, start_ps, dur_ps, "train", KIND_HOST);
    run_int(run, "_r", 1);
    if (number >= 0)
        run_int(run, "step_num", number);
}

static void communicate(struct made_run *run, track_id pool, int64_t start_ps, int64_t dur_ps)
{
    run_slice(run, pool, start_ps, dur_ps, "psum.7", KIND_COMMUNICATION);
    run_text(run, "hlo_op", "psum.7");
    run_text(run, "hlo_module", "jit_f");
    run_int(run, "device_ordinal", 0);
}

/* Three steps a host, from `first` on; host B's communication is shorter by `shorter_ps`, its end
 * later by `later_ps`. */
static void make_pair(struct pair *pair, const int64_t first[HOSTS], int64_t communication_ps,
                      int64_t shorter_ps, int64_t later_ps)
{
    for (int host = 0; host < HOSTS; host++) {
        struct made_run *run = &pair->runs[host];

        run_begin(run);
        track_id python = run_thread(run, "python"), pool = run_thread(run, "pool");
        for (int64_t i = 0; i < 3; i++) {
            int64_t number = first[host] < 0 ? -1 : first[host] + i;
            int64_t dur_ps = communication_ps - host * shorter_ps;

            step(run, python, i * 1000, 900 + host * later_ps, number);
            if (dur_ps > 0)
                communicate(run, pool, i * 1000 + 100, dur_ps);
        }
        run_finish(run);
        pair->hosts[host] = run->host;
        pair->hosts[host].name = host == 0 ? STR("hostA") : STR("hostB");
    }
    pair->run = pair->runs[0].run;
    pair->run.hosts = pair->hosts;
    pair->run.host_count = HOSTS;
}

static void pair_end(struct pair *pair)
{
    for (int host = 0; host < HOSTS; host++)
        run_end(&pair->runs[host]);
}

static struct lanes lanes_of(struct pair *pair)
{
    struct arena *arena = pair->runs[0].made.arena;
    const struct restriction nothing = {0};
    struct error err = {0};
    struct steps steps;
    struct lanes lanes;

    CHECK_OK("steps", steps_find(&pair->run, &nothing, arena, &steps, &err), &err);
    lanes_find(&pair->run, &steps, LANES_BY_HOST, arena, &lanes);
    return lanes;
}

static void who_is_last(void **state)
{
    (void)state;
    const struct {
        const char *what;
        int64_t first[HOSTS], communication_ps, shorter_ps, later_ps;
        enum lanes_basis basis;
        bool by_number;
        uint32_t compared, last, last_of; /* steps that the lane `last` was last in */
        int64_t wait_ps, lag_ps;
    } rows[] = {
        {"B communicates less", {0, 0}, 500, 200, 0, BASIS_COMMUNICATION, true, 3, 1, 3, 600, 200},
        {"A does", {0, 0}, 300, -200, 0, BASIS_COMMUNICATION, true, 3, 0, 3, 600, 200},
        {"both alike", {0, 0}, 500, 0, 0, BASIS_COMMUNICATION, true, 3, 1, 0, 0, 0},
        {"nothing communicates", {0, 0}, 0, 0, 50, BASIS_END, true, 3, 1, 3, 0, 50},
        {"numbers meet in two", {0, 1}, 500, 200, 0, BASIS_COMMUNICATION, true, 2, 1, 2, 400, 200},
        {"without numbers by turn",
         {-1, -1},
         500,
         200,
         0,
         BASIS_COMMUNICATION,
         false,
         3,
         1,
         3,
         600,
         200},
        {"no number in common", {0, 10}, 500, 200, 0, BASIS_NONE, true, 0, 1, 0, 0, 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct pair pair;

        make_pair(&pair, rows[i].first, rows[i].communication_ps, rows[i].shorter_ps,
                  rows[i].later_ps);

        struct lanes lanes = lanes_of(&pair);
        const struct lane_total *last = &lanes.lanes[rows[i].last];

        CHECK_INT(rows[i].what, lanes.lane_count, 2);
        CHECK_INT(rows[i].what, lanes.basis, rows[i].basis);
        CHECK_INT(rows[i].what, lanes.by_number, rows[i].by_number);
        CHECK_INT(rows[i].what, lanes.compared_count, rows[i].compared);
        CHECK_INT(rows[i].what, last->last_count, rows[i].last_of);
        CHECK_INT(rows[i].what, last->lag_median_ps, rows[i].lag_ps);
        CHECK_INT(rows[i].what, last->straggler, rows[i].compared >= 3 && rows[i].last_of == 3);
        CHECK_INT(rows[i].what, lanes.lanes[0].wait_ps + lanes.lanes[1].wait_ps, rows[i].wait_ps);
        pair_end(&pair);
    }
}

static void as_tables(void **state)
{
    (void)state;
    struct pair pair;
    const struct page page = {.limit = 10};
    const struct page latest = {.limit = 1, .sort = STR("-lag_ps")};
    struct error err = {0};
    struct table table;

    make_pair(&pair, (const int64_t[HOSTS]){0, 0}, 500, 200, 0);

    struct arena *arena = pair.runs[0].made.arena;
    struct lanes lanes = lanes_of(&pair);
    const struct alignment alignments[HOSTS] = {{.known = true}, {.reason = "too few"}};

    CHECK_OK("table", lanes_table(&pair.run, &lanes, alignments, &page, arena, &table, &err), &err);
    CHECK_INT("hosts", table.row_count_all, 2);
    CHECK_STR("name", cell_of(&table, 1, "name")->of.text, "hostB");
    CHECK_INT("A waits", cell_of(&table, 0, "wait_ps")->of.integer, 600);
    CHECK("B is the straggler", cell_of(&table, 1, "straggler")->of.boolean);
    CHECK_INT("no skew without a reason", cell_of(&table, 1, "skew_ps")->kind, CELL_NULL);
    CHECK_STR("the reason", cell_of(&table, 1, "skew_ps")->of.text, "too few");
    CHECK_INT("idle", cell_of(&table, 0, "idle_ps")->of.integer, 3 * 400);
    CHECK_OK("grid", lanes_grid(&pair.run, &lanes, &latest, arena, &table, &err), &err);
    CHECK_INT("a row a step and host", table.row_count_all, 6);
    CHECK_STR("the latest", cell_of(&table, 0, "host")->of.text, "hostB");
    CHECK("was last", cell_of(&table, 0, "last")->of.boolean);
    pair_end(&pair);
}

/*  python  train |-----------------------------|  0 .. 1000
 *            load_data |--|   PjitFunction |---|   100 .. 300, 500 .. 900
 *  pool    dot |--|        dot |---|               0 .. 100, 350 .. 550   */
static void gaps(void **state)
{
    (void)state;
    struct made_run run;
    const struct restriction nothing = {0};
    const struct page page = {.limit = 10};
    struct error err = {0};
    struct table table;

    run_begin(&run);
    track_id python = run_thread(&run, "python"), pool = run_thread(&run, "pool");
    step(&run, python, 0, 1000, 4);
    run_slice(&run, python, 100, 200, "load_data", KIND_INPUT);
    run_slice(&run, python, 500, 400, "PjitFunction(f)", KIND_HOST);
    run_cpu_op(&run, pool, 0, 100, "dot", 7, 1, 0, 0);
    run_cpu_op(&run, pool, 350, 200, "add", 7, 1, 0, 0);
    run_finish(&run);
    CHECK_OK("gaps", gaps_table(&run.run, &nothing, &page, run.made.arena, &table, &err), &err);
    CHECK_INT("two", table.row_count_all, 2);
    CHECK_INT("the longest first", cell_of(&table, 0, "dur_ps")->of.integer, 450);
    CHECK_STR("by", cell_of(&table, 0, "cause")->of.text, "dispatch");
    CHECK_INT("of it", cell_of(&table, 0, "cause_ps")->of.integer, 350);
    CHECK_STR("behind", cell_of(&table, 0, "before")->of.text, "add");
    CHECK_INT("nothing comes", cell_of(&table, 0, "after")->kind, CELL_NULL);
    CHECK_INT("then", cell_of(&table, 1, "start_ps")->of.integer, 100);
    CHECK_STR("by", cell_of(&table, 1, "cause")->of.text, "input");
    CHECK_STR("before", cell_of(&table, 1, "after")->of.text, "add");
    CHECK_INT("in step", cell_of(&table, 1, "step")->of.integer, 4);
    CHECK_INT("all", table.total_ps, 700);
    CHECK_OK("idle", idle_table(&run.run, &nothing, &page, run.made.arena, &table, &err), &err);
    CHECK_INT("input, dispatch, nothing", table.row_count_all, 3);
    CHECK_INT("all of it", table.total_ps, 700);
    run_end(&run);
}

static void by_expression(void **state)
{
    (void)state;
    const struct {
        const char *what, *expression;
        enum status status;
        uint32_t count;
        int64_t first;
    } rows[] = {
        {"a part of the name", "iter", OK, 4, 0},
        {"anchored", "^iteration [12]$", OK, 2, 1},
        {"either", "(eval|iteration) ", OK, 4, 0}, /* of the thread that takes longest */
        {"nothing fits", "^step", OK, 0, 0},
        {"no expression", "iteration [", ERR_INVALID, 0, 0},
        {"counted", "(a{9}){9}", ERR_INVALID, 0, 0},
        {"a back reference", "(a)\\1", ERR_INVALID, 0, 0},
    };
    struct made_run run;

    run_begin(&run);
    track_id python = run_thread(&run, "python"), other = run_thread(&run, "other");
    for (int64_t i = 0; i < 4; i++) {
        char name[] = "iteration 0";

        name[sizeof(name) - 2] = (char)('0' + i);
        run_slice(&run, python, i * 100, 90, name, KIND_HOST);
        run_slice(&run, other, i * 100, 20, "eval 1", KIND_HOST);
    }
    run_finish(&run);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct restriction asked = {.step_regex = str_of(rows[i].expression)};
        struct error err = {0};
        struct steps steps = {0};

        CHECK_INT(rows[i].what, steps_find(&run.run, &asked, run.made.arena, &steps, &err),
                  rows[i].status);
        CHECK_INT(rows[i].what, steps.count, rows[i].count);
        if (rows[i].count > 0) {
            CHECK_INT(rows[i].what, steps.rule, STEP_REGEX);
            CHECK_INT(rows[i].what, steps.confidence, TRUST_HIGH);
            CHECK_INT(rows[i].what, steps.items[0].number, rows[i].first);
        }
    }
    run_end(&run);
}

static void how_sure(void **state)
{
    (void)state;
    const struct {
        const char *what;
        int64_t durs_ps[10];
        enum step_trust trust;
    } rows[] = {
        {"regular", {80, 80, 80, 82, 81, 80, 83, 80, 80, 80}, TRUST_MEDIUM},
        {"irregular", {80, 95, 40, 90, 30, 80, 99, 20, 60, 97}, TRUST_LOW},
        {"contradicted", {80, 10, 40, 90, 30, 200, 99, 20, 300, 7}, TRUST_LOW},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;
        const struct restriction nothing = {0};
        struct error err = {0};
        struct steps steps;

        run_begin(&run);
        track_id python = run_thread(&run, "python");
        for (int64_t at = 0, at_ps = 0; at < 10; at_ps += rows[i].durs_ps[at++] + 5)
            run_slice(&run, python, at_ps, rows[i].durs_ps[at], "iteration", KIND_HOST);
        run_finish(&run);
        CHECK_OK(rows[i].what, steps_find(&run.run, &nothing, run.made.arena, &steps, &err), &err);
        CHECK_INT(rows[i].what, steps.rule, i < 2 ? STEP_REPEATED : STEP_NONE);
        CHECK_INT(rows[i].what, steps.count, i < 2 ? 10 : 0);
        CHECK_INT(rows[i].what, steps.confidence, rows[i].trust);
        CHECK(rows[i].what, steps.confidence_text.count > 0);
        run_end(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_last),   cmocka_unit_test(as_tables), cmocka_unit_test(gaps),
        cmocka_unit_test(by_expression), cmocka_unit_test(how_sure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
