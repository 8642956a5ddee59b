/* SPDX-License-Identifier: Apache-2.0 */
/* Two runs against each other: who became slower is named, and all rows sum to the step. */
#include "unit/analyse/made_run.h"

#include "analyse/compare/diff.h"

enum { SEEDS = 400, STEPS = 4 };

struct op_of_step {
    const char *name;
    int64_t dur_ps;
};

/* Steps of `step_ps` on a Python thread, each with these ops one after another on device 0. */
static void make_run(struct made_run *run, const struct op_of_step *ops, int64_t step_ps)
{
    run_begin(run);
    track_id python = run_thread(run, "python"), pool = run_thread(run, "pool");

    for (int64_t step = 0; step < STEPS; step++) {
        int64_t at_ps = step * (step_ps + 1000);

        run_slice(run, python, at_ps, step_ps, "train", KIND_HOST);
        run_int(run, "_r", 1);
        run_int(run, "step_num", step);
        for (const struct op_of_step *op = ops; op->name != NULL; op++) {
            run_cpu_op(run, pool, at_ps, op->dur_ps, op->name, 7, step, 0, 0);
            at_ps += op->dur_ps;
        }
    }
    run_finish(run);
}

static struct diff ask_kept(const struct run_traces *a, const struct run_traces *b, const char *by,
                            const struct diff_keeper *keeper, struct arena *arena)
{
    const struct restriction all = {0};
    const struct diff_side sides[2] = {{a, &all, keeper}, {b, &all, NULL}};
    const struct page page = {.limit = 10000};
    struct error err = {0};
    struct diff diff;

    CHECK_OK("diff", diff_runs(&sides[0], &sides[1], str_of(by), &page, arena, &diff, &err), &err);
    return diff;
}

static struct diff ask(const struct run_traces *a, const struct run_traces *b, const char *by,
                       struct arena *arena)
{
    return ask_kept(a, b, by, NULL, arena);
}

static int64_t sum_of(const struct diff *diff, const char *column)
{
    int64_t sum = 0;

    for (uint32_t row = 0; row < diff->table.row_count; row++) {
        const struct cell *cell = cell_of(&diff->table, row, column);
        sum += cell->kind == CELL_INTEGER ? cell->of.integer : 0;
    }
    return sum;
}

static const struct cell *cell_named(const struct diff *diff, const char *name, const char *column)
{
    for (uint32_t row = 0; row < diff->table.row_count; row++)
        if (str_equal(cell_of(&diff->table, row, "name")->of.text, str_of(name)))
            return cell_of(&diff->table, row, column);
    check_failed(__FILE__, __LINE__, name, "no such row");
    return NULL;
}

static void the_slower_op_is_named(void **state)
{
    static const struct op_of_step before[] = {
        {"dot.1", 300000}, {"add.2", 100000}, {"dot.3", 50000}, {NULL, 0}};
    static const struct op_of_step after[] = {{"dot.1", 300000}, {"add.2", 150000},
                                              {"dot.3", 50000},  {"dot.3", 50000},
                                              {"new.4", 20000},  {NULL, 0}};
    struct made_run a, b;
    (void)state;

    make_run(&a, before, 500000);
    make_run(&b, after, 620000);
    struct arena *arena = arena_create();
    struct diff diff = ask(&a.run, &b.run, "op", arena);

    CHECK("by steps", diff.by_steps);
    CHECK_INT("median of the difference", diff.step.delta, 120000);
    CHECK_INT("rows sum to it", sum_of(&diff, "delta_ps"), 120000);
    CHECK_INT("add.2 takes longer", cell_named(&diff, "add.2", "longer_ps")->of.integer, 50000);
    CHECK_INT("not more often", cell_named(&diff, "add.2", "often_ps")->of.integer, 0);
    CHECK_STR("slower", cell_named(&diff, "add.2", "state")->of.text, "slower");
    CHECK_INT("dot.3 comes more often", cell_named(&diff, "dot.3", "often_ps")->of.integer, 50000);
    CHECK_INT("not longer", cell_named(&diff, "dot.3", "longer_ps")->of.integer, 0);
    CHECK_STR("same", cell_named(&diff, "dot.1", "state")->of.text, "same");
    CHECK_STR("new", cell_named(&diff, "new.4", "state")->of.text, "new");
    CHECK("which a has not", cell_named(&diff, "new.4", "a_self_ps")->kind == CELL_NULL);
    arena_destroy(arena);
    run_end(&a);
    run_end(&b);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void make_random(struct made_run *run, uint32_t *seed)
{
    static const char *const names[] = {"dot.1", "dot.2", "fusion.3", "copy.4", "while.5"};
    struct op_of_step ops[8] = {0};
    uint32_t count = next_random(seed) % COUNT(ops);

    for (uint32_t i = 0; i < count; i++)
        ops[i] = (struct op_of_step){names[next_random(seed) % COUNT(names)],
                                     1 + next_random(seed) % 100000};
    ops[count < COUNT(ops) ? count : COUNT(ops) - 1].name = NULL;
    make_run(run, ops, 100000 + next_random(seed) % 700000);
}

/* How often and how long: of each op they sum to its difference. */
static void check_causes(const struct diff *diff)
{
    for (uint32_t row = 0; row < diff->table.row_count; row++) {
        const struct cell *often = cell_of(&diff->table, row, "often_ps");

        if (often->kind == CELL_INTEGER)
            CHECK_INT("causes",
                      often->of.integer + cell_of(&diff->table, row, "longer_ps")->of.integer,
                      cell_of(&diff->table, row, "delta_ps")->of.integer);
    }
}

/* No row takes less than nothing, and where something is left the rows sum to the side's mean. */
static void check_side(const struct diff *diff, const char *column, int64_t mean_ps)
{
    const struct cell *left = cell_named(diff, "not matched", column);

    for (uint32_t row = 0; row < diff->table.row_count; row++) {
        const struct cell *cell = cell_of(&diff->table, row, column);

        CHECK(column, cell->kind != CELL_INTEGER || cell->of.integer >= 0);
    }
    if (left != NULL && left->of.integer > 0)
        CHECK_INT(column, sum_of(diff, column), mean_ps);
    else
        CHECK(column, sum_of(diff, column) >= mean_ps);
}

/* However they are joined; against itself nothing changed; the other way round all signs turn. */
static void sums(void **state)
{
    static const char *const bys[] = {"op", "scope", "module", "category", "source", "kind"};
    uint32_t seed = 5;
    (void)state;

    for (uint32_t round = 0; round < SEEDS; round++) {
        struct made_run a, b;
        const char *by = bys[round % COUNT(bys)];

        make_random(&a, &seed);
        make_random(&b, &seed);
        struct arena *arena = arena_create();
        struct diff there = ask(&a.run, &b.run, by, arena), back = ask(&b.run, &a.run, by, arena);
        struct diff self = ask(&a.run, &a.run, by, arena);

        check_side(&there, "a_self_ps", there.a.mean_ps);
        check_side(&there, "b_self_ps", there.b.mean_ps);
        check_causes(&there);
        CHECK_INT("the other way round", sum_of(&back, "delta_ps"), -sum_of(&there, "delta_ps"));
        CHECK_INT("as many rows", back.table.row_count, there.table.row_count);
        for (uint32_t row = 0; row < self.table.row_count; row++)
            CHECK_INT("against itself", cell_of(&self.table, row, "delta_ps")->of.integer, 0);
        arena_destroy(arena);
        run_end(&a);
        run_end(&b);
    }
}

struct module_of_run {
    uint64_t number, fingerprint;
    const char *op;
    int64_t dur_ps;
};

static void make_modules(struct made_run *run, const struct module_of_run *modules)
{
    int64_t at_ps = 0;

    run_begin(run);
    for (const struct module_of_run *one = modules; one->op != NULL; one++)
        run_program(run, one->number, "jit_f", one->fingerprint,
                    (const char *const[]){one->op, "", NULL});
    track_id python = run_thread(run, "python"), pool = run_thread(run, "pool");
    run_slice(run, python, 0, 1000, "train", KIND_HOST);
    run_int(run, "_r", 1);
    run_int(run, "step_num", 0);
    for (const struct module_of_run *one = modules; one->op != NULL; one++) {
        run_cpu_op(run, pool, at_ps, one->dur_ps, one->op, (int64_t)one->number, 1, 0, 0);
        at_ps += one->dur_ps;
    }
    run_finish(run);
}

/* Modules of one name: their numbers are of each process, what they compute pairs them. */
static void modules_of_one_name(void **state)
{
    static const struct module_of_run before[] = {
        {6, 900, "dot.1", 200}, {8, 901, "dot.1", 300}, {7, 905, "sort.1", 40}, {.op = NULL}};
    static const struct module_of_run after[] = {
        {7, 901, "dot.1", 300}, {9, 900, "dot.1", 250}, {.op = NULL}};
    struct made_run a, b;
    (void)state;

    make_modules(&a, before);
    make_modules(&b, after);
    struct arena *arena = arena_create();
    struct diff diff = ask(&a.run, &b.run, "module", arena);

    CHECK_STR("number 6 is number 9", cell_named(&diff, "jit_f(9)", "a_name")->of.text, "jit_f(6)");
    CHECK_INT("and takes longer", cell_named(&diff, "jit_f(9)", "delta_ps")->of.integer, 50);
    CHECK_STR("number 8 is number 7", cell_named(&diff, "jit_f(7)", "a_name")->of.text, "jit_f(8)");
    CHECK_INT("and does not", cell_named(&diff, "jit_f(7)", "delta_ps")->of.integer, 0);
    CHECK_STR("a's own number 7", cell_named(&diff, "jit_f(7) of a", "state")->of.text, "gone");
    CHECK_STR("is called so there", cell_named(&diff, "jit_f(7) of a", "a_name")->of.text,
              "jit_f(7)");
    arena_destroy(arena);
    run_end(&a);
    run_end(&b);
}

static void without_steps(void **state)
{
    static const struct op_of_step ops[] = {{"dot.1", 1000}, {NULL, 0}};
    struct made_run a, b;
    (void)state;

    make_run(&a, ops, 5000);
    run_begin(&b);
    run_slice(&b, run_thread(&b, "python"), 0, 7000, "main", KIND_HOST);
    run_finish(&b);
    struct arena *arena = arena_create();
    struct diff diff = ask(&a.run, &b.run, "op", arena);

    CHECK("captures", !diff.by_steps);
    CHECK_INT("of b", diff.b.mean_ps, 7000);
    CHECK_INT("rows sum", sum_of(&diff, "delta_ps"), diff.b.mean_ps - diff.a.mean_ps);
    CHECK_STR("dot.1 is gone", cell_named(&diff, "dot.1", "state")->of.text, "gone");
    arena_destroy(arena);
    run_end(&a);
    run_end(&b);
}

struct shelf { /* a keeper of one side */
    struct text text;
    struct bytes shown; /* of it, or more */
    uint32_t get_count, put_count;
    bool by_steps; /* as it was put last */
};

static bool get_kept(void *data, bool by_steps, struct arena *arena, struct bytes *ret)
{
    struct shelf *shelf = data;

    (void)arena;
    shelf->get_count++;
    *ret = shelf->shown;
    return shelf->shown.count > 0 && by_steps == shelf->by_steps;
}

static void put_kept(void *data, bool by_steps, struct bytes bytes)
{
    struct shelf *shelf = data;

    shelf->by_steps = by_steps;
    shelf->put_count++;
    shelf->text.count = 0;
    text_put(&shelf->text, (const char *)bytes.at, bytes.count);
}

static void check_same_rows(const char *what, const struct diff *diff, const struct diff *other)
{
    static const char *const whole[] = {"a_self_ps", "b_self_ps", "delta_ps"};
    static const char *const real[] = {"a_count", "p"};

    CHECK(what, str_equal(diff->a.basis, other->a.basis));
    CHECK_INT(what, diff->a.mean_ps, other->a.mean_ps);
    CHECK_INT(what, diff->step.low, other->step.low);
    CHECK_INT(what, diff->table.row_count, other->table.row_count);
    CHECK(what, memcmp(diff->a.kinds_ps, other->a.kinds_ps, sizeof diff->a.kinds_ps) == 0);
    for (uint32_t row = 0; row < diff->table.row_count; row++) {
        for (size_t i = 0; i < COUNT(whole); i++)
            CHECK_INT(whole[i], cell_of(&diff->table, row, whole[i])->of.integer,
                      cell_of(&other->table, row, whole[i])->of.integer);
        for (size_t i = 0; i < COUNT(real); i++)
            CHECK(real[i], cell_of(&diff->table, row, real[i])->of.real ==
                               cell_of(&other->table, row, real[i])->of.real);
    }
}

static const struct op_of_step before[] = {
    {"dot.1", 300000}, {"add.2", 100000}, {"dot.3", 50000}, {NULL, 0}};
static const struct op_of_step after[] = {{"dot.1", 310000}, {"add.2", 90000}, {NULL, 0}};

/* As many ops are not the same ones. */
static void kept_of_other_ops(void **state)
{
    static const struct op_of_step renamed[] = {
        {"dot.1", 300000}, {"dot.3", 100000}, {"add.2", 50000}, {NULL, 0}};
    struct made_run a, b, other;
    struct shelf shelf = {.text = {0}};
    const struct diff_keeper keeper = {&shelf, get_kept, put_kept};
    struct arena *arena = arena_create();

    (void)state;
    make_run(&a, before, 500000);
    make_run(&b, after, 540000);
    make_run(&other, renamed, 500000);
    (void)ask_kept(&a.run, &b.run, "op", &keeper, arena);
    CHECK("by steps", shelf.by_steps);

    size_t count = shelf.text.count;
    uint8_t *bytes = arena_array(arena, uint8_t, count);
    memcpy(bytes, shelf.text.at, count);
    shelf.shown = (struct bytes){.at = bytes, .count = count};

    struct diff measured = ask(&other.run, &b.run, "op", arena);
    struct diff kept = ask_kept(&other.run, &b.run, "op", &keeper, arena);

    CHECK_INT("measured again", shelf.put_count, 2);
    check_same_rows("of other ops", &kept, &measured);
    text_free(&shelf.text);
    arena_destroy(arena);
    run_end(&a);
    run_end(&b);
    run_end(&other);
}

static struct bytes copy_of(const struct text *text, struct arena *arena)
{
    uint8_t *bytes = arena_array(arena, uint8_t, text->count);

    memcpy(bytes, text->at, text->count);
    return (struct bytes){.at = bytes, .count = text->count};
}

/* What is measured ahead is what a difference asks for, and is measured once. */
static void prepared_sides(void **state)
{
    static const struct restriction all = {0};
    struct made_run a, b;
    struct shelf shelf = {.text = {0}};
    const struct diff_keeper keeper = {&shelf, get_kept, put_kept};
    const struct diff_side side = {&a.run, &all, &keeper};
    struct arena *arena = arena_create();
    struct error err = {0};

    (void)state;
    make_run(&a, before, 500000);
    make_run(&b, after, 540000);
    CHECK_OK("prepared", diff_prepare(&side, arena, &err), &err);
    CHECK_INT("kept", shelf.put_count, 1);
    CHECK("by steps", shelf.by_steps);
    shelf.shown = copy_of(&shelf.text, arena);
    CHECK_OK("again", diff_prepare(&side, arena, &err), &err);

    struct diff measured = ask(&a.run, &b.run, "op", arena);
    struct diff kept = ask_kept(&a.run, &b.run, "op", &keeper, arena);

    CHECK_INT("nothing was measured again", shelf.put_count, 1);
    check_same_rows("prepared", &kept, &measured);
    text_free(&shelf.text);
    arena_destroy(arena);
    run_end(&a);
    run_end(&b);
}

/* What was kept answers as what is measured, and what is cut is measured again. */
static void kept_sides(void **state)
{
    struct made_run a, b;
    struct shelf shelf = {.text = {0}};
    const struct diff_keeper keeper = {&shelf, get_kept, put_kept};
    struct arena *arena = arena_create();

    (void)state;
    make_run(&a, before, 500000);
    make_run(&b, after, 540000);
    struct diff measured = ask(&a.run, &b.run, "op", arena);
    struct diff first = ask_kept(&a.run, &b.run, "op", &keeper, arena);
    CHECK_INT("kept once", shelf.put_count, 1);
    check_same_rows("measured", &first, &measured);

    size_t count = shelf.text.count;
    uint8_t *bytes = arena_array(arena, uint8_t, count + 1);
    memcpy(bytes, shelf.text.at, count);
    shelf.shown = (struct bytes){.at = bytes, .count = count};
    struct diff kept = ask_kept(&a.run, &b.run, "op", &keeper, arena);
    CHECK_INT("read", shelf.put_count, 1);
    check_same_rows("kept", &kept, &measured);
    for (shelf.shown.count = 1; shelf.shown.count <= count + 1; shelf.shown.count++) {
        if (shelf.shown.count == count)
            continue;
        shelf.put_count = 0;
        kept = ask_kept(&a.run, &b.run, "op", &keeper, arena);
        CHECK_INT("cut, or too long", shelf.put_count, 1);
        check_same_rows("cut, or too long", &kept, &measured);
    }
    text_free(&shelf.text);
    arena_destroy(arena);
    run_end(&a);
    run_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_slower_op_is_named),
        cmocka_unit_test(sums),
        cmocka_unit_test(modules_of_one_name),
        cmocka_unit_test(without_steps),
        cmocka_unit_test(kept_sides),
        cmocka_unit_test(prepared_sides),
        cmocka_unit_test(kept_of_other_ops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
