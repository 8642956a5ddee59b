/* SPDX-License-Identifier: Apache-2.0 */
/* Numbered scopes as one place: `layer_0/mlp` ... `layer_11/mlp` are `layer_0..11/mlp`, and
 * a star stands for the numbers where some between are missing or more than one differs. What is
 * most of them by itself keeps its name. */
#include <inttypes.h>
#include <stdlib.h>

#include "analyse/critical/critical_parts.h"
#include "analyse/hlo/scope.h"
#include "base/hash.h"
#include "trace/ps.h"

#define NO_FOLD UINT32_MAX

enum { NUMBER_DIGITS_MAX = 9 };

struct fold { /* places of one name but for numbers */
    struct path_place sum;
    struct str star;     /* the name with stars */
    uint32_t count;      /* of places */
    int64_t largest_ps;  /* of one of them */
    int64_t first, last; /* numbers at the only star */
    bool one_star;       /* one number differs, and is short enough */
};

/* The number where the star stands; false: there is not one star alone. */
static bool number_at_star(struct str name, struct str star, int64_t *ret)
{
    const char *at = memchr(star.at, '*', star.count);
    size_t before = at == NULL ? 0 : (size_t)(at - star.at);
    size_t behind = at == NULL ? 0 : star.count - before - 1;

    if (at == NULL || memchr(at + 1, '*', behind) != NULL || name.count < before + behind ||
        name.count - before - behind > NUMBER_DIGITS_MAX)
        return false;
    return str_to_i64((struct str){name.at + before, name.count - before - behind}, ret);
}

static void add_place(struct fold *fold, const struct path_place *place)
{
    int64_t number = 0;
    bool numbered = number_at_star(place->name, fold->star, &number);

    if (fold->count++ == 0) {
        fold->sum = *place;
        fold->first = fold->last = number;
        fold->one_star = numbered;
        fold->largest_ps = place->on_path_ps;
        return;
    }
    ps_add(&fold->sum.on_path_ps, place->on_path_ps);
    if (place->longest_ps > fold->sum.longest_ps) {
        fold->sum.longest_ps = place->longest_ps;
        fold->sum.kind = place->kind;
    }
    if (place->on_path_ps > fold->largest_ps)
        fold->largest_ps = place->on_path_ps;
    fold->one_star &= numbered;
    fold->first = number < fold->first ? number : fold->first;
    fold->last = number > fold->last ? number : fold->last;
}

static struct str name_of(const struct fold *fold, struct arena *arena)
{
    const char *at = memchr(fold->star.at, '*', fold->star.count);
    size_t before = at == NULL ? 0 : (size_t)(at - fold->star.at);

    /* Names differ, so as many as there are numbers are all of them. */
    if (!fold->one_star || fold->last - fold->first + 1 != fold->count)
        return fold->star;
    return str_format(arena, "%.*s%" PRId64 "..%" PRId64 "%.*s", (int)before, fold->star.at,
                      fold->first, fold->last, (int)(fold->star.count - before - 1), at + 1);
}

static bool is_folded(const struct fold *fold)
{
    return fold->count > 1 && fold->largest_ps <= fold->sum.on_path_ps / 2;
}

static int by_time(const void *left, const void *right)
{
    const struct path_place *a = left, *b = right;

    if (a->on_path_ps != b->on_path_ps)
        return a->on_path_ps > b->on_path_ps ? -1 : 1;
    return str_compare(a->name, b->name);
}

uint32_t places_fold(const struct path_places *places, struct arena *arena, struct path_place **ret)
{
    struct fold *folds = arena_array(arena, struct fold, (size_t)places->count + 1);
    uint32_t *fold_of = arena_array(arena, uint32_t, (size_t)places->count + 1);
    struct path_place *out = arena_array(arena, struct path_place, (size_t)places->count + 1);
    struct map64 by_star = {0};
    uint32_t fold_count = 0, count = 0;

    for (uint32_t i = 0; i < places->count; i++) {
        const struct path_place *place = &places->items[i];

        fold_of[i] = NO_FOLD;
        if (place->of != PLACE_OF_SCOPE)
            continue;

        struct str star = scope_cut(place->name, 0, true, arena);
        const struct bytes text = {(const uint8_t *)star.at, star.count};

        fold_of[i] = *map64_at(&by_star, hash64(text), fold_count);
        if (fold_of[i] == fold_count)
            folds[fold_count++] = (struct fold){.star = star};
        add_place(&folds[fold_of[i]], place);
    }
    for (uint32_t i = 0; i < places->count; i++) {
        if (fold_of[i] == NO_FOLD || !is_folded(&folds[fold_of[i]]))
            out[count++] = places->items[i];
    }
    for (uint32_t i = 0; i < fold_count; i++) {
        if (!is_folded(&folds[i]))
            continue;
        out[count] = folds[i].sum;
        out[count++].name = name_of(&folds[i], arena);
    }
    if (count > 1)
        qsort(out, count, sizeof *out, by_time);
    map64_free(&by_star);
    *ret = out;
    return count;
}
