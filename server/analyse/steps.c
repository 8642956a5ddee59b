#include "analyse/steps.h"

#include <stdlib.h>

#include "analyse/quantile.h"
#include "analyse/steps_parts.h"
#include "trace/by_name.h"

const char *step_rule_word(enum step_rule rule)
{
    static const char *const words[] = {
        [STEP_ANNOTATION] = "annotation", [STEP_LINE] = "steps-line", [STEP_MODULE] = "module",
        [STEP_REPEATED] = "repeated",     [STEP_NONE] = "none",
    };

    return words[rule];
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

static bool is_asked(const struct restriction *restriction, const struct run_traces *run,
                     const struct step *step)
{
    const struct host_trace *host = &run->hosts[step->host];
    bool host_asked = restriction->host_count == 0;
    bool step_asked = restriction->step_range_count == 0;

    for (uint32_t i = 0; i < restriction->host_count; i++)
        host_asked |= str_equal(restriction->hosts[i], host->name) ||
                      str_equal(restriction->hosts[i], host->key);
    for (uint32_t i = 0; i < restriction->step_range_count; i++)
        step_asked |= step->number >= restriction->steps[2 * (size_t)i] &&
                      step->number <= restriction->steps[2 * (size_t)i + 1];
    return host_asked && step_asked &&
           (!restriction->has_window || (step->start_ps < restriction->end_ps &&
                                         step->start_ps + step->dur_ps > restriction->start_ps));
}

/* The host's steps of one list, in order, as indexes. */
static uint32_t steps_of_host(const struct step_list *list, uint32_t host, uint32_t *ret)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i].host == host)
            ret[count++] = i;
    }
    return count;
}

static int64_t median_from(const struct step_list *list, const uint32_t *which, uint32_t count,
                           int64_t *room)
{
    for (uint32_t i = 0; i < count; i++)
        room[i] = list->items[which[i]].dur_ps;
    return quantile_of(room, count, 50);
}

/* Leading steps that compile, or take more than twice the median of those behind them. One step at
 * least stays, and half of them where only their length speaks: of what never settles nothing says
 * which were the warm ones. Then what takes more than half as long again as the median is an
 * outlier. */
static void mark_host(const struct run_traces *run, struct step_list *list, uint32_t host)
{
    uint32_t *which = memory_resize(NULL, list->count, sizeof(*which));
    int64_t *room = memory_resize(NULL, list->count, sizeof(*room));
    uint32_t count = steps_of_host(list, host, which), warm = 0;

    while (warm + 1 < count) {
        struct step *step = &list->items[which[warm]];
        int64_t rest_ps = median_from(list, which + warm + 1, count - warm - 1, room);

        bool is_slow = step->dur_ps / 2 > rest_ps && warm < count / 2;

        if (!is_slow && !step_compiles(&run->hosts[host], step))
            break;
        step->warmup = true;
        warm++;
    }
    if (count - warm >= 3) {
        int64_t median_ps = median_from(list, which + warm, count - warm, room);

        for (uint32_t i = warm; i < count; i++) {
            struct step *step = &list->items[which[i]];

            step->outlier = step->dur_ps > median_ps + median_ps / 2;
        }
    }
    free(which);
    free(room);
}

static enum step_rule find_all(const struct run_traces *run, struct step_list *list)
{
    static const struct {
        enum step_rule rule;
        void (*find)(const struct host_trace *, uint32_t, struct step_list *);
    } finders[] = {
        {STEP_ANNOTATION, find_annotated}, {STEP_LINE, find_on_lines},
        {STEP_MODULE, find_executions},    {STEP_LINE, find_on_derived_lines},
        {STEP_REPEATED, find_repeated},
    };

    for (size_t i = 0; i < COUNT(finders); i++) {
        for (uint32_t host = 0; host < run->host_count; host++)
            finders[i].find(&run->hosts[host], host, list);
        if (list->count > 0)
            return finders[i].rule;
    }
    return STEP_NONE;
}

enum status steps_find(const struct run_traces *run, const struct restriction *restriction,
                       struct arena *arena, struct steps *ret, struct error *err)
{
    struct step_list list = {0};
    enum step_rule rule = find_all(run, &list);

    (void)err;
    *ret = (struct steps){.rule = rule, .rule_text = rule_text(rule, &list, arena)};
    if (list.count > 0)
        qsort(list.items, list.count, sizeof(*list.items), by_start);
    for (uint32_t host = 0; host < run->host_count; host++)
        mark_host(run, &list, host);
    ret->items = arena_array(arena, struct step, list.count);
    for (uint32_t i = 0; i < list.count; i++) {
        if (!is_asked(restriction, run, &list.items[i]))
            continue;
        ret->items[ret->count++] = list.items[i];
        ret->warmup_count += list.items[i].warmup;
    }
    free(list.items);
    return OK;
}
