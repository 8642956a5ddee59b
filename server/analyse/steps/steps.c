/* Tries the rules of steps in their order, and settles the steps of the first rule that finds
 * any. */
#include "analyse/steps/steps.h"

#include <stdlib.h>

#include "analyse/steps/steps_parts.h"

const char *step_rule_word(enum step_rule rule)
{
    static const char *const words[] = {
        [STEP_ANNOTATION] = "annotation", [STEP_LINE] = "steps-line",   [STEP_REGEX] = "regex",
        [STEP_MODULE] = "module",         [STEP_REPEATED] = "repeated", [STEP_NONE] = "none",
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

/* "ProfilerStep#12" -> "ProfilerStep": the name of all of them. */
static struct str without_number(struct str name)
{
    struct str bare = name;

    while (bare.count > 0 && bare.at[bare.count - 1] >= '0' && bare.at[bare.count - 1] <= '9')
        bare.count--;
    while (bare.count > 0 && bare.count < name.count &&
           (bare.at[bare.count - 1] == '#' || bare.at[bare.count - 1] == ' '))
        bare.count--;
    return bare.count > 0 ? bare : name;
}

static struct str rule_text(enum step_rule rule, const struct step_list *list, struct arena *arena)
{
    struct str name = list->count > 0 ? list->items[0].name : STR("");

    switch (rule) {
    case STEP_ANNOTATION:
        return str_format(arena, "step annotations \"%.*s\" of the program",
                          STR_ARG(without_number(name)));
    case STEP_LINE:
        return STR("the Steps line of the device");
    case STEP_REGEX:
        return str_format(arena, "slices that step_regex matches, as \"%.*s\"", STR_ARG(name));
    case STEP_MODULE:
        return str_format(arena,
                          "no step annotation: repeated executions of %.*s, each up to the next",
                          STR_ARG(name));
    case STEP_REPEATED:
        return str_format(arena,
                          "no step annotation and no program: \"%.*s\" repeats on its thread",
                          STR_ARG(name));
    default:
        return STR("no step annotation, no Steps line, and nothing that repeats: mark steps with "
                   "jax.profiler.StepTraceAnnotation");
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
    uint32_t low = 0, high = count;

    while (low < high) { /* the first that ends at or behind it */
        uint32_t middle = low + (high - low) / 2;

        if (ranges[middle].last < number)
            low = middle + 1;
        else
            high = middle;
    }
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

static struct found find_all(const struct run_traces *run, struct step_list *list)
{
    static const struct {
        struct found found;
        void (*find)(const struct host_trace *, uint32_t, struct step_list *);
    } finders[] = {
        {{STEP_ANNOTATION, false}, find_annotated}, {{STEP_LINE, false}, find_on_lines},
        {{STEP_MODULE, false}, find_executions},    {{STEP_LINE, true}, find_on_derived_lines},
        {{STEP_REPEATED, false}, find_repeated},
    };

    for (size_t i = 0; i < COUNT(finders); i++) {
        for (uint32_t host = 0; host < run->host_count; host++)
            finders[i].find(&run->hosts[host], host, list);
        if (list->count > 0)
            return finders[i].found;
    }
    return (struct found){STEP_NONE, false};
}

enum status steps_find(const struct run_traces *run, const struct restriction *restriction,
                       struct arena *arena, struct steps *ret, struct error *err)
{
    struct step_list list = {0};
    struct found found = {STEP_REGEX, false};

    *ret = (struct steps){0};
    if (restriction->step_regex.count > 0)
        TRY(find_by_expression(run, restriction->step_regex, &list, err));
    else
        found = find_all(run, &list);
    if (list.count > 0)
        qsort(list.items, list.count, sizeof(*list.items), by_start);
    for (uint32_t host = 0; host < run->host_count; host++)
        steps_mark(run, &list, host);
    ret->rule = list.count > 0 ? found.rule : STEP_NONE;
    ret->rule_text = rule_text(ret->rule, &list, arena);
    ret->confidence =
        steps_trust(run, ret->rule, found.derived, &list, arena, &ret->confidence_text);
    ret->items = arena_array(arena, struct step, list.count);

    struct asked_range *ranges = order_ranges(restriction, arena);
    uint32_t range_count = join_ranges(ranges, restriction->step_range_count);
    const bool *hosts = hosts_asked(run, restriction, arena);

    for (uint32_t i = 0; i < list.count; i++) {
        if (!is_asked(restriction, ranges, range_count, hosts, &list.items[i]))
            continue;
        ret->items[ret->count++] = list.items[i];
        ret->warmup_count += list.items[i].warmup;
        ret->cut_count += list.items[i].cut && !list.items[i].warmup;
    }
    free(list.items);
    return OK;
}
