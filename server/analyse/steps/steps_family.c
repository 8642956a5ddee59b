/* SPDX-License-Identifier: Apache-2.0 */
/* Which marks are the steps, where a program marks several kinds of things.
 *
 *   |epoch 0 ...........................................|epoch 1
 *   |train 0|train 1|train 2| ... |eval 0 .....|eval 1 ..|
 *
 * Marks of one name are a family; a number at its end counts steps where it does so, and is a part
 * of the name where marks bear it again and again, as "worker_0" of the first of two threads. What
 * holds others that repeat in it is no step but what steps are made of: the innermost that repeats
 * is. Of those beside each other the one counts that trains, by its name, else the one that took
 * longest; `family` chooses another. Those beside it still end its steps' times.
 */
#include <stdlib.h>

#include "analyse/steps/steps_parts.h"
#include "trace/ps.h"

enum { FAMILIES_MAX = 64, REPEATS_MIN = 2 };
enum { COUNTS_OF = 4, COUNTS_MIN = 3 }; /* numbers that count steps: three of four do */

struct family {
    struct str name;
    uint64_t count;
    int64_t total_ps;
    uint64_t inside[FAMILIES_MAX]; /* how many lie inside of marks of another */
};

struct stem { /* names of marks without the number at their end */
    struct str name;
    uint64_t count, counting; /* marks; those whose number is their step's, or the next one up */
    uint32_t host;            /* of the last mark */
    track_id thread;
    int64_t number;
};

struct families {
    struct family items[FAMILIES_MAX];
    uint32_t count;
    struct stem stems[FAMILIES_MAX];
    uint32_t stem_count;
    uint8_t *of; /* by step of the list; FAMILIES_MAX beyond those */
};

/* "ProfilerStep#12" -> "ProfilerStep" */
struct str step_stem(struct str name)
{
    struct str bare = name;

    while (bare.count > 0 && bare.at[bare.count - 1] >= '0' && bare.at[bare.count - 1] <= '9')
        bare.count--;
    while (bare.count > 0 && bare.count < name.count &&
           (bare.at[bare.count - 1] == '#' || bare.at[bare.count - 1] == ' '))
        bare.count--;
    return bare.count > 0 ? bare : name;
}

static struct stem *stem_of(struct families *families, struct str name)
{
    for (uint32_t i = 0; i < families->stem_count; i++) {
        if (str_equal(families->stems[i].name, name))
            return &families->stems[i];
    }
    return NULL;
}

/* Does the number at the end of its name count it? */
static bool counts(const struct stem *stem, const struct step *step, int64_t number)
{
    bool same_thread = stem->host == step->host && stem->thread == step->thread;

    return step->numbered ? number == step->number
                          : stem->count == 0 || !same_thread || number > stem->number;
}

/* What the numbers at the ends of names are. */
static void read_stems(const struct step_list *list, struct families *families)
{
    families->stem_count = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct step *step = &list->items[i];
        struct str name = step_stem(step->name);
        struct stem *stem = stem_of(families, name);
        int64_t number;

        if (name.count == step->name.count || !step_number_at_end(step->name, &number))
            continue;
        if (stem == NULL && families->stem_count == FAMILIES_MAX)
            continue;
        if (stem == NULL) {
            stem = &families->stems[families->stem_count++];
            *stem = (struct stem){.name = name};
        }
        stem->counting += counts(stem, step, number);
        stem->count++;
        stem->host = step->host;
        stem->thread = step->thread;
        stem->number = number;
    }
}

/* The name of its family. */
static struct str name_of(struct families *families, struct str name)
{
    struct str bare = step_stem(name);
    const struct stem *stem = bare.count < name.count ? stem_of(families, bare) : NULL;

    return stem != NULL && stem->counting * COUNTS_OF < stem->count * COUNTS_MIN ? name : bare;
}

static uint32_t family_of(struct families *families, struct str name)
{
    name = name_of(families, name);
    for (uint32_t i = 0; i < families->count; i++) {
        if (str_equal(families->items[i].name, name))
            return i;
    }
    if (families->count == FAMILIES_MAX)
        return FAMILIES_MAX;
    families->items[families->count] = (struct family){.name = name};
    return families->count++;
}

/* The list is by host and thread in the order of time, the outer first. */
static void read_families(const struct step_list *list, struct families *families)
{
    uint32_t open[FAMILIES_MAX], depth = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        const struct step *step = &list->items[i];
        uint32_t own = family_of(families, step->name);

        families->of[i] = (uint8_t)own;
        if (own == FAMILIES_MAX)
            continue;
        families->items[own].count++;
        ps_add(&families->items[own].total_ps, step->dur_ps);
        while (depth > 0 &&
               (list->items[open[depth - 1]].host != step->host ||
                list->items[open[depth - 1]].thread != step->thread ||
                list->items[open[depth - 1]].start_ps + list->items[open[depth - 1]].dur_ps <=
                    step->start_ps))
            depth--;
        for (uint32_t at = 0; at < depth; at++) {
            uint32_t outer = families->of[open[at]];

            if (outer != own)
                families->items[own].inside[outer]++;
        }
        if (depth < FAMILIES_MAX)
            open[depth++] = i;
    }
}

static bool is_inside(const struct families *families, uint32_t inner, uint32_t outer)
{
    return families->items[inner].inside[outer] * 2 > families->items[inner].count;
}

/* Is it made of steps? */
static bool holds_steps(const struct families *families, uint32_t outer)
{
    for (uint32_t i = 0; i < families->count; i++) {
        if (i != outer && is_inside(families, i, outer) &&
            families->items[i].count >= REPEATS_MIN * families->items[outer].count)
            return true;
    }
    return false;
}

/* Is it a part of one? */
static bool lies_in_step(const struct families *families, uint32_t inner)
{
    for (uint32_t i = 0; i < families->count; i++) {
        if (i != inner && is_inside(families, inner, i) && !holds_steps(families, i))
            return true;
    }
    return false;
}

static bool has_word(struct str name, const char *const *words, size_t count)
{
    char text[256];
    size_t length = name.count < sizeof text ? name.count : sizeof text;

    for (size_t i = 0; i < length; i++)
        text[i] =
            name.at[i] >= 'A' && name.at[i] <= 'Z' ? (char)(name.at[i] - 'A' + 'a') : name.at[i];
    for (size_t i = 0; i < count; i++) {
        if (str_contains((struct str){text, length}, str_of(words[i])))
            return true;
    }
    return false;
}

/* 2 trains, 0 does something beside it, 1 does not say. */
static int rank_of(struct str name)
{
    static const char *const trains[] = {"train"};
    static const char *const beside[] = {"eval", "valid", "test", "infer", "predict",
                                         "save", "check", "warm", "log",   "sample"};

    if (has_word(name, beside, COUNT(beside)))
        return 0;
    return has_word(name, trains, COUNT(trains)) ? 2 : 1;
}

static bool is_better(const struct family *left, const struct family *right)
{
    bool repeats = left->count >= REPEATS_MIN, other = right->count >= REPEATS_MIN;

    if (repeats != other)
        return repeats;
    if (rank_of(left->name) != rank_of(right->name))
        return rank_of(left->name) > rank_of(right->name);
    return left->total_ps > right->total_ps;
}

static uint32_t best_family(const struct families *families)
{
    uint32_t best = FAMILIES_MAX;

    for (uint32_t i = 0; i < families->count; i++) {
        if (holds_steps(families, i) || lies_in_step(families, i))
            continue;
        if (best == FAMILIES_MAX || is_better(&families->items[i], &families->items[best]))
            best = i;
    }
    return best == FAMILIES_MAX ? 0 : best;
}

static struct str names_of(const struct families *families, uint32_t but, struct arena *arena)
{
    struct text text = {0};

    for (uint32_t i = 0; i < families->count; i++) {
        if (i != but)
            text_putf(&text, "%s\"%.*s\" (%llu)", text.count > 0 ? ", " : "",
                      STR_ARG(families->items[i].name),
                      (unsigned long long)families->items[i].count);
    }

    struct str ret = str_copy(arena, text_str(&text));

    text_free(&text);
    return ret;
}

static int by_thread(const void *left, const void *right)
{
    const struct step *a = left, *b = right;

    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return step_by_start(left, right);
}

/* Marks of the family stay as steps, those apart from all of them as what ends their times; steps
 * inside another one go. */
static void keep_family(struct families *families, uint32_t family, struct step_list *list)
{
    const struct step *open = NULL; /* of the family, the last one kept */
    uint32_t kept = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        struct step step = list->items[i];
        bool own = families->of[i] == family;
        bool inside = open != NULL && open->host == step.host && open->thread == step.thread &&
                      step.start_ps + step.dur_ps <= open->start_ps + open->dur_ps;

        if (inside || (!own && (families->of[i] == FAMILIES_MAX ||
                                is_inside(families, family, families->of[i]))))
            continue;
        step.foreign = !own;
        list->items[kept] = step;
        open = own ? &list->items[kept] : open;
        kept++;
    }
    list->count = kept;
}

static void number_steps(struct step_list *list)
{
    int64_t ordinal = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        struct step *step = &list->items[i];

        if (i == 0 || list->items[i - 1].host != step->host)
            ordinal = 0;
        if (step->foreign)
            continue;
        if (!step->numbered)
            step->number = ordinal;
        ordinal++;
    }
}

/* As it is called, else as one of its marks is. */
static uint32_t find_family(struct families *families, struct str asked)
{
    const struct str names[] = {asked, name_of(families, asked)};

    for (size_t name = 0; name < COUNT(names); name++) {
        for (uint32_t i = 0; i < families->count; i++) {
            if (str_equal(families->items[i].name, names[name]))
                return i;
        }
    }
    return FAMILIES_MAX;
}

enum status steps_choose_family(struct str asked, struct step_list *list, struct arena *arena,
                                struct str *ret_name, struct str *ret_others, struct error *err)
{
    struct families *families = memory_resize(NULL, 1, sizeof *families);
    uint32_t family = FAMILIES_MAX;
    enum status status = OK;

    families->count = 0;
    families->of = memory_resize(NULL, (size_t)list->count + 1, 1);
    if (list->count > 0)
        qsort(list->items, list->count, sizeof *list->items, by_thread);
    read_stems(list, families);
    read_families(list, families);
    if (asked.count > 0)
        family = find_family(families, asked);
    if (asked.count > 0 && family == FAMILIES_MAX)
        status = fail(
            err, ERR_NOT_FOUND, "no steps are called \"%.*s\"; marked are %.*s", STR_ARG(asked),
            STR_ARG(families->count == 0 ? STR("none") : names_of(families, FAMILIES_MAX, arena)));
    family = asked.count > 0 ? family : best_family(families);
    if (status == OK && list->count > 0) {
        *ret_name = families->items[family].name;
        *ret_others = names_of(families, family, arena);
        keep_family(families, family, list);
        number_steps(list);
    }
    free(families->of);
    free(families);
    return status;
}
