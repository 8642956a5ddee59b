#include "unit/analyse/made_run.h"

#include "analyse/flame.h"

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
        cmocka_unit_test(bounded),
        cmocka_unit_test(wrong_by),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
