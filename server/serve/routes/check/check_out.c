/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of a check for people, pull requests and test runners.
 *
 *   text    step_1000 against step_500: regressed
 *             step_time regressed: 10.4 ms -> 34.8 ms, +235 % (...); allowed: +3 %
 *             slower: dot.43 +4.05 ms a step (jit(f)/mlp)
 *   md      the same as a heading, a table and a list
 *   JUnit   a test case a metric: passed, failed, skipped where it may be slower, and an error
 *           where it cannot be said
 *
 * Names come from profiles: what they hold is text, never markup, and moves no cursor.
 */
#include <math.h>

#include "base/human.h"
#include "serve/answer/table_out.h"
#include "serve/routes/check/check.h"

static struct human amount_of(const struct check *check, int64_t value)
{
    switch (check->unit) {
    case UNIT_BYTES:
        return human_bytes((uint64_t)value);
    case UNIT_SHARE:
        return human_share((double)value / METRIC_SHARE_WHOLE);
    case UNIT_COUNT:
        return human_count((uint64_t)value);
    default:
        return human_ps(value);
    }
}

static void put_percent(struct text *out, double share)
{
    double percent = 100 * fabs(share);

    text_putf(out, "%s%.*f %%", share < 0 ? "\xe2\x88\x92" : "+", percent < 100 ? 1 : 0, percent);
}

static void put_share(struct text *out, int64_t value, int64_t of)
{
    put_percent(out, (double)value / (double)of);
}

static void say_difference(struct text *out, const struct check *check, double confidence)
{
    const struct shift *shift = &check->judged.shift;

    text_putf(out, "%s \xe2\x86\x92 %s", amount_of(check, shift->a_median).text,
              amount_of(check, shift->b_median).text);
    if (shift->a_median <= 0)
        return;
    text_puts(out, ", ");
    put_share(out, shift->delta, shift->a_median);
    if (shift->low != shift->high) {
        text_putf(out, " (%g %%: ", 100 * confidence);
        put_share(out, shift->low, shift->a_median);
        text_puts(out, " \xe2\x80\xa6 ");
        put_share(out, shift->high, shift->a_median);
        text_putf(out, "; p = %.2g)", shift->p);
    }
    text_puts(out, "; allowed: ");
    put_share(out, check->judged.allowed, shift->a_median);
}

/* Where devices are a host's processor: the time without what slowed it. */
static void say_at_speed(struct text *out, const struct shift *even)
{
    text_puts(out, "; ");
    put_share(out, even->delta, even->a_median);
    text_puts(out, " (");
    put_share(out, even->low, even->a_median);
    text_puts(out, " \xe2\x80\xa6 ");
    put_share(out, even->high, even->a_median);
    text_puts(out, ") if its ops were as fast as the baseline's");
}

static void say_work(struct text *out, const struct check_work *work)
{
    const struct shift *more = &work->more.shift;

    if (work->on_host)
        say_at_speed(out, &work->even.shift);
    if (more->low > 0 || more->high < 0) {
        text_putf(out, "; its steps do %.1f %% %s work",
                  100 * fabs((double)more->delta / (double)more->a_median),
                  more->delta > 0 ? "more" : "less");
        if (work->what.count > 0)
            text_putf(out, ": %.*s", STR_ARG(work->what));
    } else if (work->is_same) {
        text_puts(out, "; its steps do the same work");
    }
}

#define TOO_NOISY 0.05 /* of the baseline: what is seen from there on only */

static void say_power(struct text *out, const struct check *check)
{
    const struct shift *shift = &check->judged.shift;
    bool is_noisy = (double)check->judged.seen_from > TOO_NOISY * (double)shift->a_median;

    if (check->judged.answer == JUDGED_REGRESSED || check->judged.seen_from < 0 ||
        shift->a_median <= 0)
        return;
    text_puts(out, is_noisy ? "; too noisy to see less than " : "; seen from ");
    put_share(out, check->judged.seen_from, shift->a_median);
    text_puts(out, is_noisy ? "" : " on");
}

static void say_limit(struct text *out, const struct check *check, double confidence)
{
    const struct shift *shift = &check->judged.shift;

    text_puts(out, amount_of(check, shift->b_median).text);
    if (shift->low != shift->high)
        text_putf(out, " (%g %%: %s \xe2\x80\xa6 %s)", 100 * confidence,
                  amount_of(check, shift->low).text, amount_of(check, shift->high).text);
    text_putf(out, "; at most: %s", amount_of(check, check->question.limit).text);
}

struct str check_sentence(const struct check *check, double confidence, struct arena *arena)
{
    static const char *const words[] = {[JUDGED_OK] = "is ok",
                                        [JUDGED_MAYBE] = "may be slower",
                                        [JUDGED_UNKNOWN] = "cannot be said",
                                        [JUDGED_REGRESSED] = "regressed"};
    struct text text = {0};
    bool is_open = check->judged.answer == JUDGED_MAYBE || check->judged.answer == JUDGED_UNKNOWN;

    text_putf(&text, "%.*s %s: ", STR_ARG(check->question.text), words[check->judged.answer]);
    if (check->is_measured && check->question.has_limit) {
        say_limit(&text, check, confidence);
    } else if (check->is_measured) {
        say_difference(&text, check, confidence);
        if (check->work.known)
            say_work(&text, &check->work);
        say_power(&text, check);
    }
    if (check->reason.count > 0)
        text_putf(&text, "%s%.*s", check->is_measured ? "; " : "", STR_ARG(check->reason));
    if (check->run_count > 1)
        text_putf(&text, "; compared with %u baseline runs", check->run_count);
    else if (check->is_measured && check->is_of_one_value && !check->question.has_limit)
        text_puts(&text, "; one value per run: there is no spread to judge it by");
    if (check->is_measured && is_open && check->run_count > 1) {
        text_puts(&text, ", more of them would decide it");
    } else if (check->is_measured && is_open) {
        if (check->judged.steps_needed > 0)
            text_putf(&text, ", about %lld %s%swould decide it",
                      (long long)check->judged.steps_needed, check->counted,
                      check->question.has_limit ? " " : " of each run ");
        else if (check->b_count > 0)
            text_putf(&text, ", more %s would hardly help", check->counted);
    }
    struct str ret = str_copy(arena, text_str(&text));
    text_free(&text);
    return ret;
}

struct str check_headline(const struct checked *checked, struct arena *arena)
{
    static const char *const words[] = {[JUDGED_OK] = "ok",
                                        [JUDGED_MAYBE] = "may be slower",
                                        [JUDGED_UNKNOWN] = "cannot be said",
                                        [JUDGED_REGRESSED] = "regressed"};

    if (checked->baseline.count == 0)
        return str_format(arena, "%.*s: %s", STR_ARG(checked->run), words[checked->answer]);
    return str_format(arena, "%.*s against %.*s: %s", STR_ARG(checked->run),
                      STR_ARG(checked->baseline), words[checked->answer]);
}

static const struct cell *op_cell(const struct checked *checked, uint32_t row, const char *key)
{
    const struct table *ops = &checked->ops;

    for (uint32_t column = 0; column < ops->column_count; column++) {
        if (strcmp(ops->columns[column].key, key) == 0)
            return &ops->cells[(size_t)row * ops->column_count + column];
    }
    return NULL;
}

struct str check_op_sentence(const struct checked *checked, uint32_t row, struct arena *arena)
{
    const struct cell *scope = op_cell(checked, row, "scope");
    const struct cell *path = op_cell(checked, row, "b_on_path_ps");
    bool has_path = path != NULL && path->kind == CELL_INTEGER;
    bool has_scope = scope->kind == CELL_TEXT;

    return str_format(arena, "%.*s: +%s a step%s%.*s%s%s%s",
                      STR_ARG(op_cell(checked, row, "name")->of.text),
                      human_ps(op_cell(checked, row, "delta_ps")->of.integer).text,
                      has_scope ? " (" : "", has_scope ? (int)scope->of.text.count : 0,
                      has_scope ? scope->of.text.at : "", has_scope ? ")" : "",
                      !has_path              ? ""
                      : path->of.integer > 0 ? ", on the critical path for "
                                             : ", beside the critical path",
                      has_path && path->of.integer > 0 ? human_ps(path->of.integer).text : "");
}

/* Without what moves a terminal's cursor. */
static void put_plain(struct text *out, struct str value)
{
    for (size_t i = 0; i < value.count; i++) {
        unsigned char byte = (unsigned char)value.at[i];
        bool is_c1 =
            byte == 0xc2 && i + 1 < value.count && ((unsigned char)value.at[i + 1] & 0xe0) == 0x80;

        if (is_c1)
            i++;
        text_putf(out, "%c", byte < ' ' || byte == 127 || is_c1 ? ' ' : byte);
    }
}

void check_put_text(struct text *out, const struct checked *checked, struct arena *arena)
{
    put_plain(out, check_headline(checked, arena));
    text_puts(out, "\n");
    for (uint32_t i = 0; i < checked->count; i++) {
        text_puts(out, "  ");
        put_plain(out, checked->sentences[i]);
        text_puts(out, "\n");
    }
    for (uint32_t row = 0; row < checked->ops.row_count; row++) {
        text_puts(out, row == 0 ? "  slower: " : "          ");
        put_plain(out, check_op_sentence(checked, row, arena));
        text_puts(out, "\n");
    }
}

static void put_markdown_row(struct text *out, const struct check *check)
{
    const struct shift *shift = &check->judged.shift;
    bool differs = check->is_measured && !check->question.has_limit;

    text_puts(out, "| ");
    markdown_put(out, check->question.text);
    text_putf(out, " | %s | %s | ",
              differs ? amount_of(check, shift->a_median).text : "\xe2\x80\x93",
              check->is_measured ? amount_of(check, shift->b_median).text : "\xe2\x80\x93");
    if (differs && shift->a_median > 0)
        put_share(out, shift->delta, shift->a_median);
    else
        text_puts(out, "\xe2\x80\x93");
    text_puts(out, " | ");
    if (check->question.has_limit)
        text_puts(out, amount_of(check, check->question.limit).text);
    else if (differs && shift->a_median > 0)
        put_share(out, check->judged.allowed, shift->a_median);
    else
        text_puts(out, "\xe2\x80\x93");
    text_putf(out, " | %s |\n", judged_word(check->judged.answer));
}

void check_put_markdown(struct text *out, const struct checked *checked, struct arena *arena)
{
    text_puts(out, "### ");
    markdown_put(out, check_headline(checked, arena));
    text_puts(out, "\n\n| metric | baseline | run | change | allowed | answer |\n"
                   "| --- | ---: | ---: | ---: | ---: | --- |\n");
    for (uint32_t i = 0; i < checked->count; i++)
        put_markdown_row(out, &checked->checks[i]);
    text_puts(out, "\n");
    for (uint32_t i = 0; i < checked->count; i++) {
        text_puts(out, "- ");
        markdown_put(out, checked->sentences[i]);
        text_puts(out, "\n");
    }
    for (uint32_t row = 0; row < checked->ops.row_count; row++) {
        text_puts(out, row == 0 ? "\nSlower:\n\n1. " : "1. ");
        markdown_put(out, check_op_sentence(checked, row, arena));
        text_puts(out, "\n");
    }
}

/* XML 1.0 knows no control characters, and neither U+FFFE nor U+FFFF. */
static void put_xml(struct text *out, struct str value, struct arena *arena)
{
    struct str text = str_utf8(arena, value);

    for (size_t i = 0; i < text.count; i++) {
        const char *at = text.at + i;
        unsigned char byte = (unsigned char)*at;

        if (byte == '&')
            text_puts(out, "&amp;");
        else if (byte == '<' || byte == '>')
            text_puts(out, byte == '<' ? "&lt;" : "&gt;");
        else if (byte == '"')
            text_puts(out, "&quot;");
        else if (byte == '\n' || byte == '\t' || byte == '\r')
            text_putf(out, "&#%d;", byte);
        else if (byte < ' ')
            text_puts(out, "\xef\xbf\xbd");
        else if (i + 2 < text.count && memcmp(at, "\xef\xbf", 2) == 0 &&
                 (unsigned char)at[2] >= 0xbe) {
            text_puts(out, "\xef\xbf\xbd");
            i += 2;
        } else
            text_put(out, at, 1);
    }
}

static void put_case(struct text *out, const struct checked *checked, uint32_t index,
                     struct arena *arena)
{
    const struct check *check = &checked->checks[index];
    bool failed = check->judged.answer == JUDGED_REGRESSED;
    bool is_unknown = check->judged.answer == JUDGED_UNKNOWN;

    text_puts(out, "    <testcase classname=\"jviewd.check\" name=\"");
    put_xml(out, check->question.text, arena);
    text_puts(out, check->question.has_limit ? " at most\">\n" : "\">\n");
    if (check->judged.answer == JUDGED_OK)
        text_puts(out, "      <system-out>");
    else
        text_puts(out, failed       ? "      <failure type=\"regressed\" message=\""
                       : is_unknown ? "      <error type=\"unknown\" message=\""
                                    : "      <skipped message=\"");
    put_xml(out, checked->sentences[index], arena);
    if (check->judged.answer == JUDGED_OK) {
        text_puts(out, "</system-out>\n");
    } else if (!failed) {
        text_puts(out, "\"/>\n");
    } else {
        text_puts(out, "\">");
        for (uint32_t row = 0; row < checked->ops.row_count; row++) {
            put_xml(out, check_op_sentence(checked, row, arena), arena);
            text_puts(out, "\n");
        }
        text_puts(out, "</failure>\n");
    }
    text_puts(out, "    </testcase>\n");
}

void check_put_junit(struct text *out, const struct checked *checked, struct arena *arena)
{
    uint32_t counts[JUDGED_COUNT] = {0};

    for (uint32_t i = 0; i < checked->count; i++)
        counts[checked->checks[i].judged.answer]++;
    text_puts(out,
              "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"");
    put_xml(out, check_headline(checked, arena), arena);
    text_putf(out, "\" tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\">\n",
              checked->count, counts[JUDGED_REGRESSED], counts[JUDGED_UNKNOWN],
              counts[JUDGED_MAYBE]);
    for (uint32_t i = 0; i < checked->count; i++)
        put_case(out, checked, i, arena);
    text_puts(out, "  </testsuite>\n</testsuites>\n");
}
