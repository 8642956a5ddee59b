/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a row's step by bisection among the steps of its host. */
#include "analyse/steps/step_of.h"

#include <stdlib.h>

#include "base/bisect.h"

static int by_host_and_start(const void *left, const void *right)
{
    const struct step *a = *(const struct step *const *)left;
    const struct step *b = *(const struct step *const *)right;

    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    return (a->start_ps > b->start_ps) - (a->start_ps < b->start_ps);
}

static enum status find_all(const struct run_traces *run, struct arena *arena,
                            const struct steps **ret, struct error *err)
{
    static const struct restriction everything;
    struct steps *steps = arena_new(arena, struct steps);

    *ret = steps;
    return steps_find(run, &everything, arena, steps, err);
}

enum status step_places_find(const struct run_traces *run, const struct steps *steps,
                             struct arena *arena, struct step_places *ret, struct error *err)
{
    if (steps == NULL)
        TRY(find_all(run, arena, &steps, err));
    ret->items = arena_array(arena, const struct step *, (size_t)steps->count + 1);
    ret->count = steps->count;
    ret->steps = steps;
    for (uint32_t i = 0; i < steps->count; i++)
        ret->items[i] = &steps->items[i];
    if (steps->count > 1)
        qsort(ret->items, steps->count, sizeof(*ret->items), by_host_and_start);
    return OK;
}

static bool has_begun(const struct step *step, uint32_t host, int64_t at_ps)
{
    return step->host < host || (step->host == host && step->start_ps <= at_ps);
}

const struct step *step_at(const struct step_places *places, uint32_t host, int64_t at_ps)
{
    uint32_t low = BISECT(0, places->count, i, has_begun(places->items[i], host, at_ps));

    if (low == 0)
        return NULL;

    const struct step *step = places->items[low - 1];

    return step->host == host && at_ps - step->start_ps < step->dur_ps ? step : NULL;
}

static void put_range(struct step_numbers *numbers)
{
    text_putf(&numbers->text, "%s%lld", numbers->text.count > 0 ? "," : "",
              (long long)numbers->first);
    if (numbers->last != numbers->first)
        text_putf(&numbers->text, "-%lld", (long long)numbers->last);
}

void step_numbers_add(struct step_numbers *numbers, int64_t step)
{
    if (numbers->any && step == numbers->last)
        return;
    if (numbers->any && numbers->last < INT64_MAX && step == numbers->last + 1) {
        numbers->last = step;
        return;
    }
    if (numbers->any)
        put_range(numbers);
    numbers->any = true;
    numbers->first = numbers->last = step;
}

struct str step_numbers_end(struct step_numbers *numbers, struct arena *arena)
{
    if (numbers->any)
        put_range(numbers);

    struct str ret = str_copy(arena, text_str(&numbers->text));

    text_free(&numbers->text);
    return ret;
}
