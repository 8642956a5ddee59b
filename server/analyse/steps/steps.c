/* SPDX-License-Identifier: Apache-2.0 */
/* Tries the rules of steps in their order, and settles the steps of the first rule that finds
 * any. */
#include "analyse/steps/steps.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/steps/steps_parts.h"
#include "base/bisect.h"

const char *step_rule_word(enum step_rule rule)
{
    static const char *const words[] = {
        [STEP_ANNOTATION] = "annotation",
        [STEP_LINE] = "steps-line",
        [STEP_REGEX] = "regex",
        [STEP_MODULE] = "module",
        [STEP_OPTIMIZER] = "optimizer",
        [STEP_REPEATED] = "repeated",
        [STEP_NONE] = "none",
    };

    return words[rule];
}

const char *step_trust_word(enum step_trust trust)
{
    static const char *const words[] = {
        [TRUST_LOW] = "low",
        [TRUST_MEDIUM] = "medium",
        [TRUST_HIGH] = "high",
    };

    return words[trust];
}

static struct str rule_text(enum step_rule rule, const struct step_list *list, struct str family,
                            struct str others, struct arena *arena)
{
    struct str name = list->count > 0 ? list->items[0].name : STR("");

    switch (rule) {
    case STEP_ANNOTATION:
        return str_format(arena, "step annotations \"%.*s\" of the program%s%.*s", STR_ARG(family),
                          others.count > 0 ? "; it also marks " : "", STR_ARG(others));
    case STEP_LINE:
        return STR("the Steps line of the device");
    case STEP_REGEX:
        return str_format(arena, "slices that step_regex matches, as \"%.*s\"", STR_ARG(name));
    case STEP_MODULE:
        return str_format(arena,
                          "no step annotation: repeated executions of %.*s, each up to the next",
                          STR_ARG(name));
    case STEP_OPTIMIZER:
        return str_format(arena,
                          "no step annotation: from the end of one \"%.*s\" to the end of the "
                          "next%s",
                          STR_ARG(name),
                          list->unsure ? ", which in a loop with two optimizers alike is a part of "
                                         "a turn"
                                       : ", as often as data is loaded");
    case STEP_REPEATED:
        return str_format(arena,
                          "no step annotation and no program: \"%.*s\" repeats on its thread, each "
                          "up to the next",
                          STR_ARG(name));
    default:
        return STR("no step annotation, no Steps line, and nothing that repeats like a step: mark "
                   "steps with jax.profiler.StepTraceAnnotation, in PyTorch with step() of its "
                   "profiler");
    }
}

static int by_start(const void *left, const void *right)
{
    const struct step *a = left, *b = right;

    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps ? -1 : 1;
    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

struct asked_range { /* of steps: pairs as restriction.steps */
    int64_t first, last;
};

static int by_first(const void *left, const void *right)
{
    const struct asked_range *a = left, *b = right;

    return (a->first > b->first) - (a->first < b->first);
}

/* By first: a comparison asks for as many as there are steps. */
static struct asked_range *order_ranges(const struct restriction *restriction, struct arena *arena)
{
    uint32_t count = restriction->step_range_count;
    struct asked_range *ret = arena_array(arena, struct asked_range, count);

    for (uint32_t i = 0; i < count; i++)
        ret[i] = (struct asked_range){restriction->steps[2 * (size_t)i],
                                      restriction->steps[2 * (size_t)i + 1]};
    if (count > 1)
        qsort(ret, count, sizeof *ret, by_first);
    return ret;
}

/* Joins those that overlap; returns how many are left. */
static uint32_t join_ranges(struct asked_range *ranges, uint32_t count)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (ranges[i].last < ranges[i].first)
            continue;
        if (kept > 0 && ranges[i].first <= ranges[kept - 1].last) {
            if (ranges[i].last > ranges[kept - 1].last)
                ranges[kept - 1].last = ranges[i].last;
        } else {
            ranges[kept++] = ranges[i];
        }
    }
    return kept;
}

static bool is_in_ranges(const struct asked_range *ranges, uint32_t count, int64_t number)
{
    uint32_t low = BISECT(0, count, i, ranges[i].last < number);

    return low < count && ranges[low].first <= number;
}

/* Once a host, for there may be a hundred thousand steps. */
static const bool *hosts_asked(const struct run_traces *run, const struct restriction *restriction,
                               struct arena *arena)
{
    bool *asked = arena_array(arena, bool, (size_t)run->host_count + 1);

    for (uint32_t host = 0; host < run->host_count; host++) {
        asked[host] = restriction->host_count == 0;
        for (uint32_t i = 0; i < restriction->host_count; i++)
            asked[host] |= str_equal(restriction->hosts[i], run->hosts[host].name) ||
                           str_equal(restriction->hosts[i], run->hosts[host].key);
    }
    return asked;
}

static bool is_asked(const struct restriction *restriction, const struct asked_range *ranges,
                     uint32_t range_count, const bool *hosts, const struct step *step)
{
    bool step_asked =
        restriction->step_range_count == 0 || is_in_ranges(ranges, range_count, step->number);

    return hosts[step->host] && step_asked &&
           (!restriction->has_window || (step->start_ps < restriction->end_ps &&
                                         step->start_ps + step->dur_ps > restriction->start_ps));
}

struct found { /* which rule found them */
    enum step_rule rule;
    bool derived; /* on lines that a tool derived */
};

typedef void step_finder(const struct host_trace *host, uint32_t index, struct step_list *list);

static void find_on_hosts(const struct run_traces *run, step_finder *find, struct step_list *list)
{
    for (uint32_t host = 0; host < run->host_count; host++)
        find(&run->hosts[host], host, list);
}

static struct found find_all(const struct run_traces *run, struct step_list *list)
{
    static const struct {
        struct found found;
        step_finder *find;
    } finders[] = {
        {{STEP_LINE, false}, find_on_lines},         {{STEP_ANNOTATION, false}, find_annotated},
        {{STEP_ANNOTATION, false}, find_iterations}, {{STEP_MODULE, false}, find_executions},
        {{STEP_LINE, true}, find_on_derived_lines},  {{STEP_ANNOTATION, false}, find_named_roots},
        {{STEP_OPTIMIZER, false}, find_updates},     {{STEP_REPEATED, false}, find_repeated},
    };

    for (size_t i = 0; i < COUNT(finders); i++) {
        find_on_hosts(run, finders[i].find, list);
        if (list->count > 0)
            return finders[i].found;
    }
    return (struct found){STEP_NONE, false};
}

static bool has_name(const struct step_list *list, struct str asked)
{
    struct str stem = step_stem(asked);

    for (uint32_t i = 0; i < list->count; i++) {
        if (str_equal(list->items[i].name, asked) ||
            str_equal(step_stem(list->items[i].name), stem))
            return true;
    }
    return false;
}

/* Marks among which one is called so; else all spans that are; else what the program marks. */
static struct found find_family(const struct run_traces *run, struct str asked,
                                struct step_list *list)
{
    static step_finder *const finders[] = {find_annotated, find_iterations, find_named_roots};

    for (size_t i = 0; i < COUNT(finders); i++) {
        list->count = 0;
        find_on_hosts(run, finders[i], list);
        if (has_name(list, asked))
            return (struct found){STEP_ANNOTATION, false};
    }
    list->count = 0;
    for (uint32_t host = 0; host < run->host_count; host++)
        find_called(&run->hosts[host], host, asked, list);
    for (size_t i = 0; i < COUNT(finders) && list->count == 0; i++)
        find_on_hosts(run, finders[i], list);
    return (struct found){list->count > 0 ? STEP_ANNOTATION : STEP_NONE, false};
}

/* What a rule found stands where its spans do, if it found spans. */
static void set_spans(struct step_list *list, enum step_rule rule)
{
    bool spans = rule == STEP_ANNOTATION || rule == STEP_REGEX || rule == STEP_OPTIMIZER ||
                 rule == STEP_REPEATED;

    for (uint32_t i = 0; i < list->count; i++) {
        struct step *step = &list->items[i];

        step->host_start_ps = step->start_ps;
        step->host_dur_ps = spans ? step->dur_ps : -1;
        step->work_start_ps = step->work_end_ps = step->start_ps;
        step->time_rule = rule == STEP_LINE     ? STEP_TIME_LINE
                          : rule == STEP_MODULE ? STEP_TIME_NEXT
                                                : STEP_TIME_SPAN;
    }
}

/* By host the owners of its ops, and which devices work for steps; then how long steps took. */
static uint32_t **find_work(const struct run_traces *run, struct step_list *list,
                            struct arena *arena, struct steps *ret)
{
    uint32_t **owners = arena_array(arena, uint32_t *, (size_t)run->host_count + 1);
    const bool **works = arena_array(arena, const bool *, (size_t)run->host_count + 1);

    for (uint32_t host = 0; host < run->host_count; host++) {
        owners[host] = steps_own(&run->hosts[host], host, list, arena);
        works[host] = steps_time(&run->hosts[host], host, owners[host], list, arena);
    }
    ret->works = works;
    return owners;
}

static void move_owners(const struct run_traces *run, uint32_t **owners, const uint32_t *places)
{
    for (uint32_t host = 0; host < run->host_count; host++) {
        for (uint32_t i = 0; owners[host] != NULL && i < run->hosts[host].attribution->entry_count;
             i++)
            owners[host][i] = owners[host][i] == NO_OWNER ? NO_OWNER : places[owners[host][i]];
    }
}

static int by_number(const void *left, const void *right)
{
    const struct step *a = left, *b = right;

    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* Steps that a device recorded have the spans of the marks that bear their numbers, on any host
 * once. */
static void attach_spans(const struct run_traces *run, struct step_list *list)
{
    struct step_list marks = {0};

    for (uint32_t host = 0; host < run->host_count; host++)
        find_annotated(&run->hosts[host], host, &marks);
    if (marks.count > 0)
        qsort(marks.items, marks.count, sizeof *marks.items, by_number);
    for (uint32_t i = 0; i < list->count; i++) {
        struct step *step = &list->items[i];
        const struct step *mark = marks.count > 0 ? bsearch(step, marks.items, marks.count,
                                                            sizeof *marks.items, by_number)
                                                  : NULL;
        bool again = mark != NULL &&
                     ((mark > marks.items && by_number(mark, mark - 1) == 0) ||
                      (mark + 1 < marks.items + marks.count && by_number(mark, mark + 1) == 0));

        if (mark == NULL || again || !mark->numbered || !step->numbered)
            continue;
        step->host_start_ps = mark->start_ps;
        step->host_dur_ps = mark->dur_ps;
    }
    free(marks.items);
}

/* What repeats tells when a step begins, and not how long it takes: a wait for data is none. The
 * last one's time is not known. */
static void time_to_next(const struct run_traces *run, struct step_list *list)
{
    for (uint32_t host = 0; host < run->host_count; host++) {
        struct step *last = NULL;

        for (uint32_t i = 0; i < list->count; i++) {
            struct step *step = &list->items[i];

            if (step->host != host || step->time_rule != STEP_TIME_SPAN)
                continue;
            step->time_rule = STEP_TIME_NEXT;
            if (last != NULL)
                last->dur_ps = step->start_ps - last->start_ps;
            last = step;
        }
        if (last != NULL)
            last->cut = true;
    }
}

/* A guess that its own evidence contradicts is not stated. */
static void take_back(struct step_list *list, uint32_t **owners, const struct run_traces *run,
                      struct arena *arena, struct steps *ret)
{
    ret->rule_text = str_format(arena,
                                "no steps: %.*s (%.*s); mark steps with "
                                "jax.profiler.StepTraceAnnotation, in PyTorch with step() of its "
                                "profiler",
                                STR_ARG(ret->rule_text), STR_ARG(ret->confidence_text));
    ret->rule = STEP_NONE;
    ret->confidence = TRUST_LOW;
    ret->confidence_text = STR("nothing repeats like a step");
    ret->works = NULL;
    list->count = 0;
    for (uint32_t host = 0; host < run->host_count; host++)
        owners[host] = NULL;
}

/* What only ended the times of others goes; `owners` says no more that it did anything. */
static void drop_foreign(const struct run_traces *run, struct step_list *list, uint32_t **owners)
{
    uint32_t *places = memory_resize(NULL, (size_t)list->count + 1, sizeof *places);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        places[i] = list->items[i].foreign ? NO_OWNER : kept;
        if (!list->items[i].foreign)
            list->items[kept++] = list->items[i];
    }
    if (kept < list->count)
        move_owners(run, owners, places);
    list->count = kept;
    free(places);
}

static int by_start_of(const void *left, const void *right, void *data)
{
    const struct step *steps = data;

    return by_start(&steps[*(const uint32_t *)left], &steps[*(const uint32_t *)right]);
}

/* The steps in the order of their times, and where each stands then. */
static uint32_t *order_steps(struct step_list *list)
{
    uint32_t *order = memory_resize(NULL, (size_t)list->count + 1, sizeof *order);
    uint32_t *places = memory_resize(NULL, (size_t)list->count + 1, sizeof *places);
    struct step *items = memory_resize(NULL, (size_t)list->count + 1, sizeof *items);

    for (uint32_t i = 0; i < list->count; i++)
        order[i] = i;
    qsort_r(order, list->count, sizeof *order, by_start_of, list->items);
    for (uint32_t i = 0; i < list->count; i++) {
        items[i] = list->items[order[i]];
        places[order[i]] = i;
    }
    free(list->items);
    free(order);
    list->items = items;
    return places;
}

/* Those of *ret that are asked for; NULL where all are, else where each stands among them. */
static uint32_t *keep_asked(const struct run_traces *run, const struct restriction *restriction,
                            struct arena *arena, struct steps *ret)
{
    struct asked_range *ranges = order_ranges(restriction, arena);
    uint32_t range_count = join_ranges(ranges, restriction->step_range_count);
    const bool *hosts = hosts_asked(run, restriction, arena);
    const uint32_t all_count = ret->count;
    uint32_t *kept = memory_resize(NULL, (size_t)all_count + 1, sizeof *kept);

    ret->count = ret->warmup_count = ret->cut_count = ret->ahead_max = 0;
    for (uint32_t i = 0; i < all_count; i++) {
        const struct step step = ret->items[i];

        kept[i] = NO_OWNER;
        if (!is_asked(restriction, ranges, range_count, hosts, &step))
            continue;
        kept[i] = ret->count;
        ret->items[ret->count] = step;
        ret->items[ret->count].ordinal = ret->count;
        ret->count++;
        ret->warmup_count += step.warmup;
        ret->cut_count += step.cut && !step.warmup;
        ret->ahead_max = step.ahead > ret->ahead_max ? step.ahead : ret->ahead_max;
    }
    ret->ordinal_count = ret->count;
    if (ret->count < all_count)
        return kept;
    free(kept);
    return NULL;
}

static enum step_time most_of_times(const struct steps *steps)
{
    uint32_t counts[STEP_TIME_NEXT + 1] = {0};
    enum step_time best = STEP_TIME_SPAN;

    for (uint32_t i = 0; i < steps->count; i++)
        counts[steps->items[i].time_rule]++;
    for (int rule = 0; rule <= STEP_TIME_NEXT; rule++)
        best = counts[rule] > counts[best] ? (enum step_time)rule : best;
    return best;
}

void steps_keep_asked(const struct run_traces *run, const struct restriction *restriction,
                      struct arena *arena, struct steps *ret)
{
    uint32_t *places = keep_asked(run, restriction, arena, ret);

    ret->time_rule = most_of_times(ret);
    if (places != NULL && ret->owners != NULL)
        move_owners(run, (uint32_t **)(uintptr_t)ret->owners, places);
    free(places);
}

/* Each op's owner among those that are left. */
static uint32_t **copy_owners(const struct run_traces *run, const uint32_t *const *owners,
                              const uint32_t *places, struct arena *arena)
{
    uint32_t **ret = arena_array(arena, uint32_t *, (size_t)run->host_count + 1);

    for (uint32_t host = 0; host < run->host_count; host++) {
        if (owners[host] == NULL)
            continue;

        uint32_t count = run->hosts[host].attribution->entry_count;

        ret[host] = arena_array(arena, uint32_t, (size_t)count + 1);
        for (uint32_t i = 0; i < count; i++)
            ret[host][i] = owners[host][i] == NO_OWNER ? NO_OWNER : places[owners[host][i]];
    }
    return ret;
}

/* Of steps that others look at, too. */
static void take_found(const struct run_traces *run, const struct restriction *restriction,
                       struct arena *arena, struct steps *ret)
{
    const struct steps *all = restriction->found;

    *ret = *all;
    ret->lanes = NULL;
    ret->items = arena_array(arena, struct step, all->count);
    if (all->count > 0)
        memcpy(ret->items, all->items, all->count * sizeof *ret->items);

    uint32_t *places = keep_asked(run, restriction, arena, ret);

    ret->time_rule = most_of_times(ret);
    if (places != NULL && all->owners != NULL)
        ret->owners = (const uint32_t *const *)copy_owners(run, all->owners, places, arena);
    free(places);
}

enum status steps_find(const struct run_traces *run, const struct restriction *restriction,
                       struct arena *arena, struct steps *ret, struct error *err)
{
    struct step_list list = {.arena = arena};
    struct found found = {STEP_REGEX, false};
    struct str family = STR("");

    *ret = (struct steps){0};
    if (restriction->found != NULL && restriction->step_regex.count == 0 &&
        restriction->family.count == 0) {
        take_found(run, restriction, arena, ret);
        return OK;
    }
    if (restriction->step_regex.count > 0)
        TRY(find_by_expression(run, restriction->step_regex, &list, err));
    else if (restriction->family.count > 0)
        found = find_family(run, restriction->family, &list);
    else
        found = find_all(run, &list);
    if (found.rule == STEP_ANNOTATION || restriction->family.count > 0) {
        enum status status =
            steps_choose_family(restriction->family, &list, arena, &family, &ret->others, err);

        if (status != OK)
            free(list.items);
        TRY(status);
    }
    if (list.count > 0)
        qsort(list.items, list.count, sizeof(*list.items), by_start);
    ret->rule = list.count > 0 ? found.rule : STEP_NONE;
    set_spans(&list, ret->rule);

    uint32_t **owners = find_work(run, &list, arena, ret);

    if (found.rule == STEP_REPEATED)
        time_to_next(run, &list);
    if (found.rule == STEP_LINE)
        attach_spans(run, &list);
    drop_foreign(run, &list, owners);

    uint32_t *places = order_steps(&list);

    for (uint32_t host = 0; host < run->host_count; host++)
        steps_mark(run, ret->rule, &list, host);
    bool contradicted;

    ret->rule_text = rule_text(ret->rule, &list, family, ret->others, arena);
    ret->confidence = steps_trust(run, ret->rule, found.derived, &list, arena,
                                  &ret->confidence_text, &contradicted);
    ret->apart = list.apart;
    ret->beside = list.beside;
    steps_trust_beside(&list, arena, &ret->confidence, &ret->confidence_text);
    if (contradicted)
        take_back(&list, owners, run, arena, ret);
    move_owners(run, owners, places);
    ret->owners = (const uint32_t *const *)owners;
    ret->count = list.count;
    ret->items = arena_array(arena, struct step, list.count);
    if (list.count > 0)
        memcpy(ret->items, list.items, list.count * sizeof *list.items);
    free(places);
    free(list.items);
    steps_keep_asked(run, restriction, arena, ret);
    return OK;
}
