/* SPDX-License-Identifier: Apache-2.0 */
/* Ranking, evidence and failures of findings, with rules of the test in place of the registry. */
#include "unit/analyse/findings_of.h"

#include "analyse/findings/win_time.h"
#include "analyse/table.h"

/* Rules of the test alone stand in for the registry. */
static int asked;

static enum status find_many(struct memo *memo, struct finding_list *list, struct error *err)
{
    (void)err;
    for (int i = 0; i < 12; i++) {
        struct finding finding = {.severity = SEVERITY_WARNING,
                                  .text = str_format(memo->arena, "number %02d.", i)};

        finding_win(&finding, i % 2 == 0 ? 10 * i : i);
        findings_add(list, &finding);
    }
    return OK;
}

static enum status make_number(struct memo *memo, const void **ret, struct error *err)
{
    static const int number = 7;

    (void)memo, (void)err;
    asked++;
    *ret = &number;
    return OK;
}

static enum status make_failure(struct memo *memo, const void **ret, struct error *err)
{
    (void)memo, (void)ret;
    asked++;
    return fail(err, ERR_FORMAT, "the table is damaged");
}

static enum status find_failing(struct memo *memo, struct finding_list *list, struct error *err)
{
    const void *made;
    struct finding before = {.severity = SEVERITY_INFO, .text = STR("said before it failed")};

    findings_add(list, &before);
    TRY(memo_once(memo, make_failure, &made, err));
    return OK;
}

static enum status find_shared(struct memo *memo, struct finding_list *list, struct error *err)
{
    const void *made;
    struct finding finding = {
        .severity = SEVERITY_CRITICAL, .confidence = CONFIDENCE_LOW, .text = STR("shared")};

    TRY(memo_once(memo, make_number, &made, err));
    CHECK_INT("the value", *(const int *)made, 7);
    finding.win_reason = STR("not measured");
    for (int i = 0; i < 20; i++)
        finding_prove(&finding, "a number", cell_integer(i), UNIT_NONE);
    findings_add(list, &finding);
    return OK;
}

static const struct rule first_theme[] = {
    {"many", "test", "always", find_many},
    {"failing", "test", "always", find_failing},
    {"shared", "test", "always", find_shared},
    {"shared-again", "test", "always", find_shared},
    {"failing-again", "test", "always", find_failing},
    {.name = NULL},
};

static struct memo *memo_of(struct made_run *run)
{
    return memo_create(&run->run, arena_new(run->made.arena, struct restriction), run->made.arena);
}

static void ranked(void **state)
{
    (void)state;
    struct made_run run;
    struct findings got;
    const struct rule *const themes[] = {first_theme};

    run_begin(&run);
    run_finish(&run);
    asked = 0;
    findings_of_themes(themes, 1, memo_of(&run), &got);
    CHECK_INT("rules", got.rule_count, 5);
    CHECK_INT("each analysis once, also one that fails", asked, 2);
    CHECK_INT("five of many, two shared, two before their failure", got.count, 9);
    CHECK_INT("failures are told", got.note_count, 2);
    CHECK_STR("by name", got.notes[0].message,
              "rule failing could not be checked: the table is damaged");
    CHECK_STR("the most wins", got.items[0].text, "number 10.");
    CHECK_INT("the most", got.items[0].win_ps, 100);
    CHECK_STR("then", got.items[1].text, "number 08.");
    CHECK_STR("the last of its rule speaks for the others", got.items[4].text,
              "number 02. And 7 more of this kind.");
    CHECK_INT("counted", got.items[4].more_count, 7);
    CHECK_STR("what is worse stands before what is not, where neither wins", got.items[5].text,
              "shared");
    CHECK_INT("proofs are bounded", got.items[5].evidence_count, EVIDENCE_MAX);
    CHECK_STR("the order of names is the last word", str_of(got.items[5].rule->name), "shared");
    CHECK_STR("what was said stays", got.items[7].text, "said before it failed");
    for (uint32_t i = 0; i < got.count; i++)
        CHECK_INT("ranks", got.items[i].rank, i + 1);
    run_end(&run);
}

static enum status find_won(struct memo *memo, struct finding_list *list, const char *text,
                            int64_t ps)
{
    struct finding finding = {
        .text = str_of(text), .severity = SEVERITY_WARNING, .confidence = CONFIDENCE_HIGH};

    (void)memo;
    finding_win(&finding, ps);
    findings_add(list, &finding);
    return OK;
}

static enum status find_gaps(struct memo *memo, struct finding_list *list, struct error *err)
{
    (void)err;
    return find_won(memo, list, "gaps", 90);
}

static enum status find_python(struct memo *memo, struct finding_list *list, struct error *err)
{
    (void)err;
    return find_won(memo, list, "python", 60);
}

static enum status find_steps(struct memo *memo, struct finding_list *list, struct error *err)
{
    (void)err;
    TRY(find_won(memo, list, "one step", 50));
    return find_won(memo, list, "another step", 40);
}

static enum status find_ops(struct memo *memo, struct finding_list *list, struct error *err)
{
    (void)err;
    return find_won(memo, list, "ops", 30);
}

static enum status find_nothing_won(struct memo *memo, struct finding_list *list, struct error *err)
{
    (void)err;
    return find_won(memo, list, "none", 0);
}

/* One cause is won once: who wins, or may win, the time of one before says so. */
static void wins_of_the_same_time(void **state)
{
    static const struct rule theme[] = {
        {"device-idle", "test", "", find_gaps},
        {"python-overhead", "test", "", find_python},
        {"outlier-step", "test", "", find_steps},
        {"layout-copies", "test", "", find_ops},
        {"tiny-kernels", "test", "", find_nothing_won},
        {.name = NULL},
    };
    static const struct {
        const char *text;
        uint32_t same;
    } rows[] = {{"gaps", 0},         {"python", 1}, {"one step", 1},
                {"another step", 1}, {"ops", 3},    {"none", 0}};
    struct made_run run;
    struct findings got;
    const struct rule *const themes[] = {theme};
    (void)state;

    run_begin(&run);
    run_finish(&run);
    findings_of_themes(themes, 1, memo_of(&run), &got);
    CHECK_INT("all", got.count, COUNT(rows));
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_STR("by what it wins", got.items[i].text, rows[i].text);
        CHECK_INT(rows[i].text, got.items[i].same_time_as, rows[i].same);
    }
    const struct rule *const steps_alone[] = {&theme[2]};
    findings_of_themes(steps_alone, 1, memo_of(&run), &got);
    CHECK_INT("steps are places of their own", got.items[1].same_time_as, 0);
    run_end(&run);
}

/* What stands in the table of times is a rule. Which rules win is seen on real profiles:
 * truth_sentences.py finds no win of a rule that is not in it. */
static void times_are_of_rules(void **state)
{
    uint32_t count = 0;
    (void)state;

    for (uint32_t theme = 0; theme < rule_theme_count; theme++)
        for (const struct rule *rule = rule_themes[theme]; rule->name != NULL; rule++)
            count += win_time_of(rule->name) != 0;
    CHECK_INT("rules that win", count, 50);
}

static void as_table(void **state)
{
    (void)state;
    struct made_run run;
    struct findings got;
    struct table table;
    struct error err = {0};
    struct page page = {.limit = 3, .sort = STR("-win_ps,rule")};
    const struct rule *const themes[] = {first_theme};

    run_begin(&run);
    track_id python = run_thread(&run, "python");
    run_slice(&run, python, 0, 1000, "f", KIND_HOST);
    run_finish(&run);
    struct memo *memo = memo_of(&run);
    findings_of_themes(themes, 1, memo, &got);
    CHECK_OK("table", findings_table(memo, &got, &page, &table, &err), &err);
    CHECK_INT("a page", table.row_count, 3);
    CHECK_INT("of all", table.row_count_all, 9);
    CHECK_INT("more", table.next, 3);

    double share;
    CHECK("a share", table_real_at(&table, 0, "win_share", &share));
    CHECK("of the capture", share == 0.1);
    page = (struct page){.limit = 10000};
    CHECK_OK("all", findings_table(memo, &got, &page, &table, &err), &err);
    const struct cell *win = table_cell_at(&table, 5, "win_ps");
    CHECK_INT("unknown is null", win->kind, CELL_NULL);
    CHECK_STR("with its reason", win->of.text, "not measured");
    CHECK("no such column", table_cell_at(&table, 0, "nothing") == NULL);
    run_end(&run);
}

static void annotated(struct made_run *run, track_id track, int64_t start_ps, int64_t dur_ps)
{
    run_slice(run, track, start_ps, dur_ps, "train", KIND_HOST);
    run_int(run, "_r", 1);
}

static void counts(void **state)
{
    (void)state;
    struct made_run run;
    const struct counted *counted;
    struct error err = {0};

    run_begin(&run);
    track_id python = run_thread(&run, "python");
    annotated(&run, python, 0, 900); /* warm-up */
    for (int64_t i = 1; i < 5; i++)
        annotated(&run, python, 1000 * i, 100);
    run_finish(&run);
    CHECK_OK("counted", memo_counted(memo_of(&run), &counted, &err), &err);
    CHECK("of steps", counted->of_steps);
    CHECK_INT("steps", counted->step_count, 4);
    CHECK_INT("their time", counted->total_ps, 400);
    const struct {
        const char *what;
        int64_t start_ps, end_ps, inside_ps;
    } rows[] = {
        {"within one", 1010, 1020, 10},
        {"warm-up", 0, 900, 0},
        {"between", 1100, 2000, 0},
        {"over all", INT64_MIN / 2, INT64_MAX / 2, 400},
        {"cut at both ends", 1090, 2010, 20},
        {"nothing", 1050, 1050, 0},
        {"behind", 5000, 6000, 0},
        {"backwards", 1090, 1010, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_INT(rows[i].what, counted_inside_ps(counted, 0, rows[i].start_ps, rows[i].end_ps),
                  rows[i].inside_ps);
    run_end(&run);
}

static void without_steps(void **state)
{
    (void)state;
    struct made_run run;
    const struct counted *counted;
    struct error err = {0};

    run_begin(&run);
    track_id pool = run_thread(&run, "pool");
    run_slice(&run, pool, 50, 10, "f", KIND_HOST);
    run_slice(&run, pool, 80, 20, "g", KIND_HOST);
    run_finish(&run);
    CHECK_OK("counted", memo_counted(memo_of(&run), &counted, &err), &err);
    CHECK("of the capture", !counted->of_steps);
    CHECK_INT("its hull", counted->total_ps, 50);
    CHECK_INT("a part", counted_inside_ps(counted, 0, 0, 60), 10);
    run_end(&run);
}

/* Whatever stands in a file: every rule answers, and none fails. */
static void hostile(void **state)
{
    (void)state;
    const struct {
        const char *what;
        int64_t start_ps, dur_ps;
        bool track, slice;
    } rows[] = {
        {"no tracks", 0, 0, false, false},
        {"no slices", 0, 0, true, false},
        {"one instant", 5, 0, true, true},
        {"far behind", TIME_PS_MAX - 5, 5, true, true},
        {"far before", -TIME_PS_MAX, 1, true, true},
        {"longer than all", -TIME_PS_MAX, TIME_PS_MAX, true, true},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        for (int op = 0; op < 2; op++) {
            struct made_run run;

            run_begin(&run);
            track_id track = rows[i].track ? run_thread(&run, "python") : 0;
            if (rows[i].slice && op == 0)
                run_slice(&run, track, rows[i].start_ps, rows[i].dur_ps, "$a.py:1 f", KIND_HOST);
            if (rows[i].slice && op == 1)
                run_cpu_op(&run, track, rows[i].start_ps, rows[i].dur_ps, "dot", 7, 1, 0, 0);
            run_finish(&run);
            struct findings got = run_findings(&run, (struct restriction){0});
            CHECK_INT(rows[i].what, got.note_count, 0);
            for (uint32_t at = 0; at < got.count; at++) {
                CHECK(rows[i].what, got.items[at].text.count > 0);
                CHECK(rows[i].what, !got.items[at].has_win || got.items[at].win_ps >= 0);
            }
            run_end(&run);
        }
    }
}

static enum status find_sure(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct {
        enum confidence confidence;
        int64_t win_ps;
        const char *text;
    } rows[] = {{CONFIDENCE_LOW, 5000, "a guess"},
                {CONFIDENCE_HIGH, 300, "sure"},
                {CONFIDENCE_MEDIUM, 200, "rather sure"}};

    (void)memo, (void)err;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct finding finding = {.confidence = rows[i].confidence, .text = str_of(rows[i].text)};

        finding_win(&finding, rows[i].win_ps);
        findings_add(list, &finding);
    }
    return OK;
}

/* Of a capture of 1,000 nothing wins 5,000, and a guess is no better than what is sure. */
static void weighed(void **state)
{
    (void)state;
    static const struct rule theme[] = {{"sure", "test", "always", find_sure}, {.name = NULL}};
    const struct rule *const themes[] = {theme};
    struct made_run run;
    struct findings got;

    run_begin(&run);
    track_id python = run_thread(&run, "python");
    run_slice(&run, python, 0, 1000, "f", KIND_HOST);
    run_finish(&run);
    findings_of_themes(themes, 1, memo_of(&run), &got);
    CHECK_STR("sure", got.items[0].text, "sure");
    CHECK_STR("a guess counts a quarter", got.items[1].text, "a guess");
    CHECK_INT("of all there was", got.items[1].win_ps, 1000);
    CHECK_STR("last", got.items[2].text, "rather sure");
    run_end(&run);
}

/* Names are links: no two rules bear the same, and each says when it speaks. */
static void registry(void **state)
{
    (void)state;
    for (uint32_t theme = 0; theme < rule_theme_count; theme++) {
        for (const struct rule *rule = rule_themes[theme]; rule->name != NULL; rule++) {
            CHECK(rule->name, rule_find(str_of(rule->name)) == rule);
            CHECK(rule->name, rule->when != NULL && rule->theme != NULL && rule->find != NULL);
        }
    }
    CHECK("no such rule", rule_find(STR("nothing")) == NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranked),
        cmocka_unit_test(wins_of_the_same_time),
        cmocka_unit_test(times_are_of_rules),
        cmocka_unit_test(as_table),
        cmocka_unit_test(counts),
        cmocka_unit_test(without_steps),
        cmocka_unit_test(hostile),
        cmocka_unit_test(registry),
        cmocka_unit_test(weighed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
