/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of a check in its forms: names from profiles stay text, whatever they hold. */
#include "check.h"

#include "serve/routes/check/check.h"

#define HOSTILE "a<b>&\"c'\x01\x1b[2J|`*\n# d\xef\xbf\xbf]]>\xff"

static const struct column columns[] = {{"name", "name", UNIT_TEXT, true},
                                        {"delta_ps", "change", UNIT_PS, true},
                                        {"scope", "scope", UNIT_TEXT, true}};

struct made {
    struct arena *arena;
    struct check checks[3];
    struct str sentences[3];
    struct cell cells[3];
    struct checked checked;
};

static void make(struct made *made)
{
    static const enum judged answers[] = {JUDGED_OK, JUDGED_MAYBE, JUDGED_REGRESSED};

    made->arena = arena_create();
    for (int i = 0; i < 3; i++) {
        struct check_question question;

        CHECK("a metric", check_metric_parse(STR("op:" HOSTILE), &question));
        made->checks[i] = (struct check){.question = question,
                                         .judged = {.answer = answers[i],
                                                    .shift = {.a_median = 1000000,
                                                              .b_median = 2000000,
                                                              .delta = 1000000,
                                                              .low = 900000,
                                                              .high = 1100000,
                                                              .p = 0.001},
                                                    .allowed = 30000,
                                                    .seen_from = 150000,
                                                    .steps_needed = i == 1 ? 57 : STEPS_UNKNOWN},
                                         .unit = UNIT_PS,
                                         .is_measured = true,
                                         .a_count = 10,
                                         .b_count = 10,
                                         .counted = "steps",
                                         .reason = i == 1 ? STR("it is noisy") : STR("")};
        made->sentences[i] = check_sentence(&made->checks[i], 0.99, made->arena);
    }
    made->cells[0] = (struct cell){.kind = CELL_TEXT, .of.text = STR(HOSTILE)};
    made->cells[1] = (struct cell){.kind = CELL_INTEGER, .of.integer = 5000000};
    made->cells[2] = (struct cell){.kind = CELL_NULL};
    made->checked = (struct checked){
        .run = STR("run" HOSTILE),
        .baseline = STR("base" HOSTILE),
        .answer = JUDGED_REGRESSED,
        .checks = made->checks,
        .sentences = made->sentences,
        .count = 3,
        .confidence = 0.99,
        .ops = {.columns = columns, .column_count = 3, .cells = made->cells, .row_count = 1}};
}

static bool has(const struct text *text, const char *part)
{
    return str_contains(text_str(text), str_of(part));
}

static void sentences(void **state)
{
    struct made made;
    (void)state;

    make(&made);
    made.checks[1].question.text = STR("step_time");
    CHECK_STR(
        "maybe says how many", check_sentence(&made.checks[1], 0.99, made.arena),
        "step_time may be slower: 1 \xc2\xb5s \xe2\x86\x92 2 \xc2\xb5s, +100 % (99 %: "
        "+90.0 % "
        "\xe2\x80\xa6 +110 %; p = 0.001); allowed: +3.0 %; too noisy to see less than +15.0 %; it "
        "is noisy, "
        "about 57 steps of each run would decide it");
    made.checks[1].run_count = 5;
    CHECK("of several runs",
          str_ends(check_sentence(&made.checks[1], 0.99, made.arena),
                   STR("; compared with 5 baseline runs, more of them would decide it")));
    made.checks[1].judged.answer = JUDGED_UNKNOWN;
    made.checks[1].is_measured = false;
    CHECK("cannot be said", str_starts(check_sentence(&made.checks[1], 0.99, made.arena),
                                       STR("step_time cannot be said: it is noisy")));
    arena_destroy(made.arena);
}

static void junit(void **state)
{
    struct text out = {0};
    struct made made;
    (void)state;

    make(&made);
    check_put_junit(&out, &made.checked, made.arena);
    CHECK("counts", has(&out, "tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\""));
    CHECK("escaped",
          has(&out, "name=\"op:a&lt;b&gt;&amp;&quot;c'\xef\xbf\xbd\xef\xbf\xbd[2J|`*&#10;# "
                    "d\xef\xbf\xbd]]&gt;\xef\xbf\xbd\""));
    CHECK("the op is named", has(&out, "+5 \xc2\xb5s a step"));
    for (size_t i = 0; i < out.count; i++)
        CHECK("no control character", (unsigned char)out.at[i] >= ' ' || out.at[i] == '\n');
    CHECK("no U+FFFF", !has(&out, "\xef\xbf\xbf"));
    text_free(&out);
    arena_destroy(made.arena);
}

static void markdown(void **state)
{
    struct text out = {0};
    struct made made;
    (void)state;

    make(&made);
    check_put_markdown(&out, &made.checked, made.arena);
    CHECK("no tag", !has(&out, "<b>"));
    CHECK("no cell ends", has(&out, "\\|\\`\\*"));
    CHECK("no heading begins", !has(&out, "\n# d"));
    CHECK("no escape", !has(&out, "\x1b"));
    text_free(&out);
    arena_destroy(made.arena);
}

static void text_moves_no_cursor(void **state)
{
    struct text out = {0};
    struct made made;
    (void)state;

    make(&made);
    check_put_text(&out, &made.checked, made.arena);
    CHECK("no escape", !has(&out, "\x1b") && !has(&out, "\x01"));
    CHECK("lines are ours", !has(&out, "\n# d"));
    text_free(&out);
    arena_destroy(made.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences),
        cmocka_unit_test(junit),
        cmocka_unit_test(markdown),
        cmocka_unit_test(text_moves_no_cursor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
