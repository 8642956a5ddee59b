/* SPDX-License-Identifier: Apache-2.0 */
/* Flame graphs of drawn traces by nesting, stacks and host calls: sums, order, pruning, keys. */
#include "unit/analyse/made_run.h"

#include "analyse/flame/flame.h"

static const char *const instructions[] = {
    "dot.1", "jit(f)/layer_0/mlp", "dot.2", "jit(f)/layer_1", "copy.2", "", NULL};

static struct flame ask(const struct made_run *run, struct flame_question question,
                        struct restriction restriction)
{
    struct error err = {0};
    struct flame flame_;

    CHECK_OK("flame", flame(&run->run, &restriction, &question, run->made.arena, &flame_, &err),
             &err);
    return flame_;
}

static void check_folded(const char *what, const struct flame *flame_, const char *want)
{
    struct text text = {0};

    flame_folded(flame_, &text);
    CHECK_STR(what, text_str(&text), want);
    text_free(&text);
}

/* Totals are self and children's totals, children stand together, widest first. */
static void check_tree(const char *what, const struct flame *flame_)
{
    for (uint32_t i = 0; i < flame_->node_count; i++) {
        const struct flame_node *node = &flame_->nodes[i];
        int64_t total_ps = node->self_ps, before_ps = INT64_MAX;

        for (uint32_t j = 0; j < node->child_count; j++) {
            const struct flame_node *child = &flame_->nodes[node->first_child + j];

            total_ps += child->total_ps;
            if (!str_equal(child->name, STR("(other)")))
                CHECK(what, child->total_ps <= before_ps);
            before_ps = child->total_ps;
        }
        CHECK_INT(what, node->total_ps, total_ps);
    }
}

static void make_run(struct made_run *run)
{
    run_begin(run);
    run_program(run, 7, "jit_f", 99, instructions);
    track_id python = run_thread(run, "py;thon"), pool = run_thread(run, "pool");
    run_slice(run, python, 0, 100000, "step", KIND_HOST);
    run_slice(run, python, 10000, 30000, "f", KIND_HOST);
    run_slice(run, python, 20000, 5000, "g", KIND_HOST);
    run_slice(run, python, 60000, 10000, "f", KIND_HOST);
    run_cpu_op(run, pool, 0, 30000, "dot.1", 7, 1, 0, 0);
    run_cpu_op(run, pool, 30000, 20000, "dot.2", 7, 1, 0, 0);
    run_cpu_op(run, pool, 80000, 10000, "copy.2", 7, 1, 0, 0);
    run_finish(run);
}

static void trees(void **state)
{
    (void)state;
    struct made_run run;
    const struct {
        const char *what, *by;
        uint32_t depth, node_limit;
        int64_t start_ps, end_ps; /* 0: all */
        const char *answered_by, *folded;
    } rows[] = {
        {"scope", "", 0, 0, 0, 0, "scope",
         "jit_f;jit(f);layer_0;mlp;dot.1 30\n"
         "jit_f;jit(f);layer_1;dot.2 20\n"
         "jit_f;copy.2 10\n"},
        {"scope in a window", "scope", 0, 0, 20000, 40000, "scope",
         "jit_f;jit(f);layer_0;mlp;dot.1 10\n"
         "jit_f;jit(f);layer_1;dot.2 10\n"},
        {"two levels", "scope", 2, 0, 0, 0, "scope",
         "jit_f;dot.1 30\njit_f;dot.2 20\njit_f;copy.2 10\n"},
        {"module", "module", 0, 0, 0, 0, "module",
         "jit_f;loop fusion;dot.1 30\njit_f;loop fusion;dot.2 20\njit_f;loop fusion;copy.2 10\n"},
        {"source", "source", 0, 0, 0, 0, "source",
         "model.py:41;dot.1 30\nmodel.py:41;dot.2 20\nmodel.py:41;copy.2 10\n"},
        {"track", "track", 0, 0, 0, 0, "track",
         "py_thon;step 60\npy_thon;step;f 35\npy_thon;step;f;g 5\n"
         "pool;dot.1 30\npool;dot.2 20\npool;copy.2 10\n"},
        {"track in a window", "track", 0, 0, 22000, 65000, "track",
         "py_thon;step 20\npy_thon;step;f 20\npy_thon;step;f;g 3\n"
         "pool;dot.2 20\npool;dot.1 8\n"},
        {"two nodes", "scope", 0, 2, 0, 0, "scope", "jit_f;(other) 60\n"},
    };

    make_run(&run);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct flame_question question = {
            .by = str_of(rows[i].by), .depth = rows[i].depth, .node_limit = rows[i].node_limit};
        struct restriction restriction = {.has_window = rows[i].end_ps > 0,
                                          .start_ps = rows[i].start_ps,
                                          .end_ps = rows[i].end_ps};
        struct flame flame_ = ask(&run, question, restriction);

        CHECK_STR(rows[i].what, flame_.by, rows[i].answered_by);
        check_tree(rows[i].what, &flame_);
        check_folded(rows[i].what, &flame_, rows[i].folded);
    }
    run_end(&run);
}

static void weights(void **state)
{
    (void)state;
    struct made_run run;
    const struct {
        const char *what, *by, *weight;
        int64_t start_ps, end_ps; /* 0: all */
        const char *unit, *folded;
    } rows[] = {
        {"whole durations", "module", "time", 0, 0, "ps",
         "jit_f;loop fusion;while.1 60\njit_f;loop fusion;dot.1 30\njit_f;loop fusion;dot.2 20\n"},
        {"each moment once", "module", "self", 0, 0, "ps",
         "jit_f;loop fusion;dot.1 30\njit_f;loop fusion;dot.2 20\njit_f;loop fusion;while.1 10\n"},
        {"executions", "module", "count", 0, 0, "count",
         "jit_f;loop fusion;dot.1 1\njit_f;loop fusion;dot.2 1\njit_f;loop fusion;while.1 1\n"},
        {"executions that begin there", "module", "count", 30000, 60000, "count",
         "jit_f;loop fusion;dot.2 1\n"},
        {"slices", "track", "count", 0, 0, "count",
         "pool;while.1 1\npool;while.1;dot.1 1\npool;while.1;dot.2 1\n"},
        {"slices that begin there", "track", "count", 1000, 60000, "count",
         "pool;while.1;dot.2 1\n"},
    };

    run_begin(&run);
    run_program(&run, 7, "jit_f", 99,
                (const char *const[]){"dot.1", "", "dot.2", "", "while.1", "", NULL});
    track_id pool = run_thread(&run, "pool");
    run_cpu_op(&run, pool, 0, 60000, "while.1", 7, 1, 0, 0);
    run_cpu_op(&run, pool, 0, 30000, "dot.1", 7, 1, 0, 0);
    run_cpu_op(&run, pool, 30000, 20000, "dot.2", 7, 1, 0, 0);
    run_finish(&run);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct flame flame_ =
            ask(&run,
                (struct flame_question){.by = str_of(rows[i].by), .weight = str_of(rows[i].weight)},
                (struct restriction){.has_window = rows[i].end_ps > 0,
                                     .start_ps = rows[i].start_ps,
                                     .end_ps = rows[i].end_ps});

        CHECK_STR(rows[i].what, flame_.unit, rows[i].unit);
        check_tree(rows[i].what, &flame_);
        check_folded(rows[i].what, &flame_, rows[i].folded);
    }

    struct flame unknown =
        ask(&run, (struct flame_question){.by = STR("track"), .weight = STR("bytes")},
            (struct restriction){0});

    CHECK_INT("unknown is no tree", unknown.node_count, 0);
    CHECK_STR("and says why", str_of(unknown.notes[0].kind), "unknown-weight");
    run_end(&run);
}

static void folded_siblings(void **state)
{
    (void)state;
    struct made_run run;

    make_run(&run);
    struct flame flame_ =
        ask(&run, (struct flame_question){.by = STR("scope"), .fold_siblings = true},
            (struct restriction){0});

    check_folded("layers are one", &flame_,
                 "jit_f;jit(f);layer_*;mlp;dot.1 30\n"
                 "jit_f;jit(f);layer_*;dot.2 20\n"
                 "jit_f;copy.2 10\n");
    run_end(&run);
}

static void arrow(struct made_run *run, enum flow_end end, uint64_t id)
{
    sink_flow(run->made.sink, end, sink_name(run->made.sink, STR("thread pool")), id);
}

/*  python   step |-- dispatch |Record|--|                        asks two pools, one through the
 * other pool a                        |StartRegion|--- dot.1, Record ---|StopRegion| pool b
 * |StartRegion|--- dot.2 ---| lost     copy.2 of another execution, and no mark before it */
static void host_calls(void **state)
{
    (void)state;
    struct made_run run;
    struct flame flame_;

    run_begin(&run);
    run_program(&run, 7, "jit_f", 99, instructions);
    track_id python = run_thread(&run, "python"), a = run_thread(&run, "tf_XLAa"),
             b = run_thread(&run, "tf_XLAb"), lost = run_thread(&run, "tf_XLAc");
    run_slice(&run, python, 0, 100000, "step", KIND_HOST);
    run_slice(&run, python, 1000, 20000, "dispatch", KIND_HOST);
    run_slice(&run, python, 2000, 0, "ThreadpoolListener::Record", KIND_HOST);
    arrow(&run, FLOW_FROM, 1);
    run_slice(&run, a, 5000, 0, "ThreadpoolListener::StartRegion", KIND_HOST);
    arrow(&run, FLOW_TO, 1);
    run_cpu_op(&run, a, 6000, 30000, "dot.1", 7, 1, 0, 0);
    run_slice(&run, a, 7000, 0, "ThreadpoolListener::Record", KIND_HOST);
    arrow(&run, FLOW_FROM, 2);
    run_slice(&run, a, 40000, 0, "ThreadpoolListener::StopRegion", KIND_HOST);
    run_slice(&run, b, 8000, 0, "ThreadpoolListener::StartRegion", KIND_HOST);
    arrow(&run, FLOW_TO, 2);
    run_cpu_op(&run, b, 50000, 20000, "dot.2", 7, 2, 0, 0);
    run_slice(&run, lost, 71000, 0, "ThreadpoolListener::StopRegion", KIND_HOST);
    run_cpu_op(&run, lost, 72000, 10000, "copy.2", 7, 3, 0, 0);
    run_finish(&run);
    flame_ = ask(&run, (struct flame_question){.by = STR("host")}, (struct restriction){0});
    check_tree("host", &flame_);
    check_folded("calls of the host", &flame_,
                 "python;step;dispatch;dot.1 30\n"
                 "python;step;dispatch;dot.2 20\n"
                 "(no call recorded);copy.2 10\n");
    run_end(&run);
}

static void time_order(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id track = run_thread(&run, "t");
    run_slice(&run, track, 1000, 1000, "early", KIND_HOST);
    run_slice(&run, track, 3000, 9000, "wide", KIND_HOST);
    run_slice(&run, track, 20000, 2000, "late", KIND_HOST);
    run_finish(&run);

    struct flame flame_ =
        ask(&run, (struct flame_question){.order = STR("time")}, (struct restriction){0});
    const struct flame_node *rows = &flame_.nodes[flame_.nodes[1].first_child];

    CHECK_STR("first", rows[0].name, "early");
    CHECK_STR("second", rows[1].name, "wide");
    CHECK_STR("third", rows[2].name, "late");
    CHECK_INT("its time", rows[1].first_ps, 3000);
    CHECK_INT("the track's time is its first slice's", flame_.nodes[1].first_ps, 1000);
    run_end(&run);
}

/* a 40 ── f 30 ── f 20 ── x 5     and   b 10 ── f 6 */
static void relatives(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id track = run_thread(&run, "t");
    run_slice(&run, track, 0, 40000, "a", KIND_HOST);
    run_slice(&run, track, 0, 30000, "f", KIND_HOST);
    run_slice(&run, track, 0, 20000, "f", KIND_HOST);
    run_slice(&run, track, 0, 5000, "x", KIND_HOST);
    run_slice(&run, track, 50000, 10000, "b", KIND_HOST);
    run_slice(&run, track, 50000, 6000, "f", KIND_HOST);
    run_finish(&run);

    /* Cut to its root and one node, it still knows all of them. */
    struct flame flame_ = ask(&run, (struct flame_question){.focus = STR("f"), .node_limit = 2},
                              (struct restriction){0});
    const struct flame_focus *focus = &flame_.focus;

    CHECK_INT("places", focus->places, 3);
    CHECK_INT("a name within itself counts once", focus->total_ps, 36000);
    CHECK_INT("self", focus->self_ps, 31000);
    CHECK_INT("callers", focus->caller_count, 2);
    CHECK_STR("the heaviest caller", focus->callers[0].name, "a");
    CHECK_INT("its part", focus->callers[0].total_ps, 30000);
    CHECK_INT("the other", focus->callers[1].total_ps, 6000);
    CHECK_INT("callees", focus->callee_count, 1);
    CHECK_STR("callee", focus->callees[0].name, "x");
    CHECK("the tree is cut", flame_.node_count < flame_.node_count_all);
    run_end(&run);
}

/* Equal paths have equal keys, whatever the run's name and the weights. */
static void keys(void **state)
{
    (void)state;
    struct made_run one, other;

    make_run(&one);
    make_run(&other);
    other.run.name = STR("another");

    struct flame left =
        ask(&one, (struct flame_question){.by = STR("scope")}, (struct restriction){0});
    struct flame right =
        ask(&other, (struct flame_question){.by = STR("scope"), .order = STR("time")},
            (struct restriction){.has_window = true, .start_ps = 20000, .end_ps = 90000});

    for (uint32_t i = 0; i < right.node_count; i++) {
        uint32_t found = 0;

        for (uint32_t j = 0; j < left.node_count; j++)
            found += left.nodes[j].key == right.nodes[i].key &&
                     (i == 0 || str_equal(left.nodes[j].name, right.nodes[i].name));
        CHECK_INT("one node of that key", found, 1);
    }
    run_end(&one);
    run_end(&other);
}

static void bounded(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id track = run_thread(&run, "t");
    for (int i = 0; i < 5000; i++) {
        char name[32];

        snprintf(name, sizeof(name), "name %d", i);
        run_slice(&run, track, i * 10, 1 + i % 9, name, KIND_HOST);
    }
    run_finish(&run);

    struct flame all =
        ask(&run, (struct flame_question){.node_limit = 20000}, (struct restriction){0});
    struct flame few =
        ask(&run, (struct flame_question){.node_limit = 100}, (struct restriction){0});

    CHECK_INT("all", all.node_count, 5002);
    CHECK("few", few.node_count <= 102);
    CHECK_INT("nothing is lost", few.nodes[0].total_ps, all.nodes[0].total_ps);
    CHECK_INT("it says that it fell back", all.note_count, 1);
    CHECK_INT("and what it left out", few.note_count, 2);
    CHECK("which is that", strcmp(few.notes[1].kind, "nodes-left-out") == 0);
    check_tree("few", &few);
    run_end(&run);
}

static void wrong_by(void **state)
{
    (void)state;
    struct made_run run;
    struct error err = {0};
    struct flame flame_;

    make_run(&run);
    CHECK_INT("unknown",
              flame(&run.run, &(struct restriction){0}, &(struct flame_question){.by = STR("size")},
                    run.made.arena, &flame_, &err),
              ERR_INVALID);
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees),
        cmocka_unit_test(weights),
        cmocka_unit_test(folded_siblings),
        cmocka_unit_test(host_calls),
        cmocka_unit_test(time_order),
        cmocka_unit_test(relatives),
        cmocka_unit_test(keys),
        cmocka_unit_test(bounded),
        cmocka_unit_test(wrong_by),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
