/* SPDX-License-Identifier: Apache-2.0 */
/* Changes: how words are read, what they fit in a run, which are refused. */
#include "analyse/critical/edits.h"
#include "unit/analyse/made_run.h"

static void words(void **state)
{
    (void)state;
    const struct {
        const char *text;
        enum status status;
        uint32_t count;
        const char *name; /* of the first */
        double factor;
    } rows[] = {
        {"scope:layer_1/mlp=0.5", OK, 1, "layer_1/mlp", 0.5},
        {"op:dot.63=0,kind:input=0", OK, 2, "dot.63", 0},
        {"op:a,b=2,name:c=1", OK, 2, "a,b", 2},
        {"op:x=y=3", OK, 1, "x=y", 3},
        {"", OK, 0, "", 0},
        {"op:dot=-1", ERR_INVALID, 0, "", 0},
        {"op:dot=1001", ERR_INVALID, 0, "", 0},
        {"op:dot=inf", ERR_INVALID, 0, "", 0},
        {"op:dot=nan", ERR_INVALID, 0, "", 0},
        {"op:dot=", ERR_INVALID, 0, "", 0},
        {"op:=1", ERR_INVALID, 0, "", 0},
        {"dot=1", ERR_INVALID, 0, "", 0},
        {"op:dot", ERR_INVALID, 0, "", 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct edits edits = {0};
        struct error err = {0};

        CHECK_INT(rows[i].text, edits_read(str_of(rows[i].text), &edits, &err), rows[i].status);
        if (rows[i].status != OK)
            continue;
        CHECK_INT(rows[i].text, edits.count, rows[i].count);
        if (rows[i].count > 0) {
            CHECK_STR(rows[i].text, edits.items[0].name, rows[i].name);
            CHECK(rows[i].text, edits.items[0].factor == rows[i].factor);
        }
    }
}

static void too_many(void **state)
{
    (void)state;
    struct edits edits = {0};
    struct error err = {0};

    for (int i = 0; i < EDITS_MAX; i++)
        CHECK_OK("room", edits_read(STR("op:a=1"), &edits, &err), &err);
    CHECK_INT("one more", edits_read(STR("op:a=1"), &edits, &err), ERR_INVALID);
}

static void names_in_a_run(void **state)
{
    (void)state;
    static const char *const names[] = {"dot.1", "jit(f)/transpose(jvp(layer_1))/mlp/dot_general",
                                        "dot.2", "jit(f)/layer_11/mlp/dot_general", NULL};
    struct made_run run;
    const struct {
        const char *text;
        enum status status;
        uint64_t ops;
    } rows[] = {
        {"scope:layer_1=0", OK, 1},
        {"scope:layer_1/mlp=0", OK, 1},
        {"scope:mlp=0", OK, 2},
        {"scope:transpose(jvp(layer_1))=0", OK, 1},
        {"op:dot.2=0", OK, 2},
        {"scope:mlp/layer_1=0", ERR_NOT_FOUND, 0},
        {"scope:layer_2=0", ERR_NOT_FOUND, 0},
        {"op:dot=0", ERR_NOT_FOUND, 0},
    };

    run_begin(&run);
    run_program(&run, 7, "jit_f", 1, names);
    track_id pool = run_thread(&run, "tf_XLAEigen/1");
    run_cpu_op(&run, pool, 0, 10, "dot.1", 7, 1, 0, 0);
    run_cpu_op(&run, pool, 20, 10, "dot.2", 7, 1, 0, 0);
    run_finish(&run);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct edits edits = {0};
        struct error err = {0};

        CHECK_OK(rows[i].text, edits_read(str_of(rows[i].text), &edits, &err), &err);
        CHECK_INT(rows[i].text, edits_find(&run.run, run.made.arena, &edits, &err), rows[i].status);
        CHECK_INT(rows[i].text, edits.items[0].op_count, rows[i].ops);
        if (rows[i].status != OK)
            CHECK(rows[i].text, strstr(err.message, "nearest") != NULL);
    }
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words),
        cmocka_unit_test(too_many),
        cmocka_unit_test(names_in_a_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
