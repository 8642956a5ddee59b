/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the rules of the asked themes, ranks what they found, and cuts it to what is shown. */
#include "analyse/findings/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyse/findings/platform.h"
#include "analyse/findings/win_replay.h"
#include "analyse/findings/win_time.h"
#include "analyse/table.h"

struct finding_list {
    const struct rule *rule;
    struct finding kept[FINDINGS_PER_RULE]; /* the best first */
    uint32_t kept_count;
    uint64_t count; /* all that were added */
};

const char *severity_word(enum severity severity)
{
    static const char *const words[] = {"info", "warning", "critical"};

    return words[severity];
}

const char *confidence_word(enum confidence confidence)
{
    static const char *const words[] = {"low", "medium", "high"};

    return words[confidence];
}

const struct rule *rule_find(struct str name)
{
    for (uint32_t theme = 0; theme < rule_theme_count; theme++) {
        for (const struct rule *rule = rule_themes[theme]; rule->name != NULL; rule++) {
            if (str_equal(name, str_of(rule->name)))
                return rule;
        }
    }
    return NULL;
}

/* A guess counts a quarter of what it might win. */
static int64_t expected_win(const struct finding *finding)
{
    if (!finding->has_win)
        return 0;

    int64_t win_ps = finding->has_replay ? finding->replay_ps : finding->win_ps;

    return finding->confidence == CONFIDENCE_LOW ? win_ps / 4 : win_ps;
}

/* What wins more stands first; then what is worse; then what is surer; then by words, so that the
 * order is the same on every machine. */
static int compare_findings(const struct finding *a, const struct finding *b)
{
    int64_t a_ps = expected_win(a), b_ps = expected_win(b);

    if (a_ps != b_ps)
        return a_ps > b_ps ? -1 : 1;
    if (a->severity != b->severity)
        return a->severity > b->severity ? -1 : 1;
    if (a->confidence != b->confidence)
        return a->confidence > b->confidence ? -1 : 1;

    int order = strcmp(a->rule->name, b->rule->name);

    return order != 0 ? order : str_compare(a->text, b->text);
}

static int by_rank(const void *left, const void *right)
{
    return compare_findings(left, right);
}

void findings_add(struct finding_list *list, const struct finding *finding)
{
    struct finding added = *finding;
    uint32_t at = list->kept_count;

    added.rule = list->rule;
    if (added.win_ps < 0)
        added.win_ps = 0;
    list->count++;
    while (at > 0 && compare_findings(&added, &list->kept[at - 1]) < 0)
        at--;
    if (at == FINDINGS_PER_RULE)
        return;
    if (list->kept_count < FINDINGS_PER_RULE)
        list->kept_count++;
    memmove(&list->kept[at + 1], &list->kept[at],
            (list->kept_count - 1 - at) * sizeof(list->kept[0]));
    list->kept[at] = added;
}

struct evidence *finding_prove(struct finding *finding, const char *name, struct cell value,
                               enum unit unit)
{
    uint32_t at = finding->evidence_count;

    if (at < EVIDENCE_MAX)
        finding->evidence_count++;
    finding->evidence[at] = (struct evidence){.name = str_of(name),
                                              .value = value,
                                              .unit = unit,
                                              .host = NO_HOST,
                                              .step = NO_STEP,
                                              .track = NO_TRACK,
                                              .slice = NO_SLICE};
    return &finding->evidence[at];
}

struct evidence *finding_prove_ps(struct finding *finding, const char *name, int64_t ps)
{
    return finding_prove(finding, name, cell_integer(ps), UNIT_PS);
}

struct evidence *finding_prove_count(struct finding *finding, const char *name, uint64_t count)
{
    return finding_prove(finding, name, (struct cell){.kind = CELL_UNSIGNED, .of.uint = count},
                         UNIT_COUNT);
}

void evidence_at(struct evidence *evidence, uint32_t host, int64_t start_ps, int64_t end_ps)
{
    evidence->host = host;
    evidence->has_window = true;
    evidence->start_ps = start_ps;
    evidence->end_ps = end_ps;
}

struct str text_on_host(struct memo *memo, uint32_t host, const char *format, ...)
{
    struct str name = memo->run->hosts[host].name;
    char *text;
    va_list values;

    va_start(values, format);
    int count = vsnprintf(NULL, 0, format, values);
    va_end(values);
    if (count < 0)
        return STR("");
    text = arena_array(memo->arena, char, (size_t)count + 1);
    va_start(values, format);
    vsnprintf(text, (size_t)count + 1, format, values);
    va_end(values);
    if (memo->run->host_count > 1)
        return str_format(memo->arena, "On %.*s: %s",
                          STR_ARG(name.count > 0 ? name : STR("the host without a name")), text);
    if (text[0] >= 'a' && text[0] <= 'z')
        text[0] = (char)(text[0] - 'a' + 'A');
    return (struct str){.at = text, .count = (size_t)count};
}

/* The last one kept speaks for those that were not. */
static void tell_more(struct memo *memo, struct finding_list *list)
{
    if (list->count <= list->kept_count)
        return;

    struct finding *last = &list->kept[list->kept_count - 1];

    last->more_count = list->count - list->kept_count;
    last->text = str_format(memo->arena, "%.*s And %llu more of this kind.", STR_ARG(last->text),
                            (unsigned long long)last->more_count);
}

struct found { /* while the rules are asked */
    struct finding *items;
    uint32_t count, capacity;
    struct answer_note *notes;
    uint32_t note_count, note_capacity;
};

static void keep(struct found *found, const struct finding_list *list)
{
    if (found->count + list->kept_count > found->capacity) {
        found->capacity = 2 * found->capacity + FINDINGS_PER_RULE;
        found->items = memory_resize(found->items, found->capacity, sizeof(*found->items));
    }
    for (uint32_t i = 0; i < list->kept_count; i++)
        found->items[found->count++] = list->kept[i];
}

static void tell_failure(struct memo *memo, struct found *found, const struct rule *rule,
                         const struct error *err)
{
    if (found->note_count == found->note_capacity) {
        found->note_capacity = 2 * found->note_capacity + 4;
        found->notes = memory_resize(found->notes, found->note_capacity, sizeof(*found->notes));
    }
    found->notes[found->note_count++] = (struct answer_note){
        .kind = "rule-failed",
        .severity = NOTE_WARNING,
        .message =
            str_format(memo->arena, "rule %s could not be checked: %s", rule->name, err->message),
        .count = 1,
    };
}

/* Nothing wins more than all the time there was: a rule may have added up devices side by side. */
static void cap_wins(struct memo *memo, struct finding_list *list)
{
    const struct counted *counted;
    struct error unknown = {0};

    if (list->kept_count == 0 || memo_counted(memo, &counted, &unknown) != OK ||
        counted->total_ps <= 0)
        return;
    for (uint32_t i = 0; i < list->kept_count; i++) {
        if (list->kept[i].win_ps > counted->total_ps)
            list->kept[i].win_ps = counted->total_ps;
    }
}

static enum status make_platform(struct memo *memo, const void **ret, struct error *err)
{
    unsigned *platform = arena_new(memo->arena, unsigned);

    (void)err;
    *platform = platform_of(memo->run, memo->arena);
    *ret = platform;
    return OK;
}

/* Advice names what there is on that hardware. */
static void fit_remedies(struct memo *memo, struct finding_list *list)
{
    struct error unknown = {0};
    const void *made;

    if (list->kept_count == 0 || memo_once(memo, make_platform, &made, &unknown) != OK)
        return;
    for (uint32_t i = 0; i < list->kept_count; i++)
        list->kept[i].remedy =
            platform_fit(*(const unsigned *)made, list->kept[i].remedy, memo->arena);
}

static void ask(struct memo *memo, const struct rule *rule, struct found *found)
{
    struct finding_list list = {.rule = rule};
    struct error err = {0};

    if (rule->find(memo, &list, &err) != OK)
        tell_failure(memo, found, rule, &err);
    tell_more(memo, &list);
    cap_wins(memo, &list);
    fit_remedies(memo, &list);
    keep(found, &list);
}

void findings_of_themes(const struct rule *const *themes, uint32_t theme_count, struct memo *memo,
                        struct findings *ret)
{
    struct found found = {0};

    *ret = (struct findings){0};
    for (uint32_t theme = 0; theme < theme_count; theme++) {
        for (const struct rule *rule = themes[theme]; rule->name != NULL; rule++) {
            ask(memo, rule, &found);
            ret->rule_count++;
        }
    }
    if (found.count > 0) {
        qsort(found.items, found.count, sizeof(*found.items), by_rank);
        win_replay_find(memo, found.items, found.count);
        qsort(found.items, found.count, sizeof(*found.items), by_rank);
    }

    struct finding *items = arena_array(memo->arena, struct finding, found.count);
    struct answer_note *notes = arena_array(memo->arena, struct answer_note, found.note_count);

    if (found.count > 0)
        memcpy(items, found.items, found.count * sizeof(*items));
    if (found.note_count > 0)
        memcpy(notes, found.notes, found.note_count * sizeof(*notes));
    free(found.items);
    free(found.notes);
    for (uint32_t i = 0; i < found.count; i++)
        items[i].rank = i + 1;
    win_time_tell(items, found.count);
    win_replay_tell(memo, items, found.count);
    ret->items = items;
    ret->count = found.count;
    ret->notes = notes;
    ret->note_count = found.note_count;
}

void findings_find(struct memo *memo, struct findings *ret)
{
    findings_of_themes(rule_themes, rule_theme_count, memo, ret);
}

enum column_at {
    AT_RANK,
    AT_RULE,
    AT_THEME,
    AT_SEVERITY,
    AT_CONFIDENCE,
    AT_TEXT,
    AT_REPLAY,
    AT_REPLAY_SHARE,
    AT_WIN,
    AT_WIN_SHARE,
    AT_SAME_TIME,
    AT_MORE,
    AT_REMEDY,
    AT_COUNT
};

static const struct column columns[AT_COUNT] = {
    [AT_RANK] = {"rank", "rank", UNIT_COUNT, false},
    [AT_RULE] = {"rule", "rule", UNIT_TEXT, true},
    [AT_THEME] = {"theme", "theme", UNIT_TEXT, false},
    [AT_SEVERITY] = {"severity", "severity", UNIT_TEXT, true},
    [AT_CONFIDENCE] = {"confidence", "confidence", UNIT_TEXT, false},
    [AT_TEXT] = {"text", "text", UNIT_TEXT, true},
    [AT_REPLAY] = {"replay_ps", "wins", UNIT_PS, true},
    [AT_REPLAY_SHARE] = {"replay_share", "wins, share", UNIT_SHARE, false},
    [AT_WIN] = {"win_ps", "wins at most", UNIT_PS, true},
    [AT_WIN_SHARE] = {"win_share", "share", UNIT_SHARE, true},
    [AT_SAME_TIME] = {"same_time_as", "same time as", UNIT_COUNT, true},
    [AT_MORE] = {"more_count", "more", UNIT_COUNT, false},
    [AT_REMEDY] = {"remedy", "remedy", UNIT_TEXT, true},
};

struct ranked {
    const struct findings *findings;
    int64_t total_ps; /* that wins are shares of; 0 unknown */
};

static struct cell time_cell(const struct ranked *ranked, int64_t ps, bool share)
{
    if (!share)
        return cell_integer(ps);
    if (ranked->total_ps <= 0)
        return cell_null(STR("no time was counted"));
    return cell_real((double)ps / (double)ranked->total_ps);
}

static struct cell win_cell(const struct ranked *ranked, const struct finding *finding, bool share)
{
    if (!finding->has_win)
        return cell_null(
            finding->win_reason.count > 0
                ? finding->win_reason
                : STR("following it corrects the figures; it does not make the program faster"));
    return time_cell(ranked, finding->win_ps, share);
}

static struct cell replay_cell(const struct ranked *ranked, const struct finding *finding,
                               bool share)
{
    if (!finding->has_replay)
        return cell_null(finding->has_win ? STR("no change of the recorded steps corresponds to it")
                                          : STR("the time that it saves is not known"));
    return time_cell(ranked, finding->replay_ps, share);
}

static struct cell finding_cell(const void *data, uint32_t row, uint32_t column)
{
    const struct ranked *ranked = data;
    const struct finding *finding = &ranked->findings->items[row];

    switch ((enum column_at)column) {
    case AT_RANK:
        return cell_integer(finding->rank);
    case AT_RULE:
        return cell_text(str_of(finding->rule->name));
    case AT_THEME:
        return cell_text(str_of(finding->rule->theme));
    case AT_SEVERITY:
        return cell_text(str_of(severity_word(finding->severity)));
    case AT_CONFIDENCE:
        return cell_text(str_of(confidence_word(finding->confidence)));
    case AT_TEXT:
        return cell_text(finding->text);
    case AT_REPLAY:
    case AT_REPLAY_SHARE:
        return replay_cell(ranked, finding, column == AT_REPLAY_SHARE);
    case AT_WIN:
    case AT_WIN_SHARE:
        return win_cell(ranked, finding, column == AT_WIN_SHARE);
    case AT_SAME_TIME:
        return finding->same_time_as > 0
                   ? cell_integer(finding->same_time_as)
                   : cell_null(STR("no higher-ranked finding saves the same kind of time"));
    case AT_MORE:
        return cell_integer((int64_t)finding->more_count);
    case AT_REMEDY:
        return cell_text(finding->remedy);
    case AT_COUNT:
        break;
    }
    return cell_null(STR(""));
}

enum status findings_table(struct memo *memo, const struct findings *findings,
                           const struct page *page, struct table *ret, struct error *err)
{
    const struct counted *counted;
    struct error unknown = {0};
    struct ranked ranked = {.findings = findings};
    const struct table_source source = {.columns = columns,
                                        .column_count = AT_COUNT,
                                        .row_count = findings->count,
                                        .cell = finding_cell,
                                        .data = &ranked};
    uint32_t *order;

    if (memo_counted(memo, &counted, &unknown) == OK)
        ranked.total_ps = counted->total_ps;
    *ret = (struct table){0};
    TRY(table_order(&source, page->sort, "rank", memo->arena, &order, err));
    table_fill(&source, order, page, memo->arena, ret);
    ret->notes = findings->notes;
    ret->note_count = findings->note_count;
    return OK;
}
