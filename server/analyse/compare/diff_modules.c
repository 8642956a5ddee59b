/* SPDX-License-Identifier: Apache-2.0 */
/* Which module of a stands in one row with which module of b, where several of a run bear one name.
 *
 *   a   jit_f(6)  ── ops that match take 14 ms ──  jit_f(9)   b     one row, "jit_f(9)"
 *       jit_f(8)  ── 3 ms ──────────────────────── jit_f(9)         is taken: jit_f(8) is gone
 *
 * Numbers are given anew by each process, so they do not tell; what the modules compute does.
 */
#include <stdlib.h>

#include "analyse/compare/diff_parts.h"
#include "analyse/stats/map64.h"
#include "base/names.h"
#include "trace/ps.h"

struct module_pair {
    uint32_t a, b;      /* modules: ids of what they are called */
    int64_t matched_ps; /* of their ops, the lesser side */
};

struct pairing {
    const struct measured *sides; /* [2] */
    struct names *names;          /* what modules of both sides are called */
    struct module_pair *items;
    uint32_t count;
    struct map64 known; /* both modules -> item */
};

static struct str called(const struct measured *side, uint32_t item)
{
    struct str text = side->ops.items[item].called;

    return text.count > 0 ? text : STR("(no module)");
}

static bool has_namesakes(const struct measured *side)
{
    for (uint32_t i = 0; i < side->ops.count; i++) {
        if (!str_equal(side->ops.items[i].called, side->ops.items[i].module))
            return true;
    }
    return false;
}

static void add_pair(struct pairing *pairing, uint32_t a_item, uint32_t b_item)
{
    const struct measured *a = &pairing->sides[0], *b = &pairing->sides[1];
    uint32_t of_a = names_add(pairing->names, called(a, a_item));
    uint32_t of_b = names_add(pairing->names, called(b, b_item));
    uint32_t *at = map64_at(&pairing->known, map64_pair(of_a, of_b), pairing->count);
    int64_t a_ps = a->sums[a_item].self_ps / a->step_count;
    int64_t b_ps = b->sums[b_item].self_ps / b->step_count;

    if (!str_equal(a->ops.items[a_item].module, b->ops.items[b_item].module))
        return;
    if (*at == pairing->count)
        pairing->items[pairing->count++] = (struct module_pair){.a = of_a, .b = of_b};
    ps_add(&pairing->items[*at].matched_ps, a_ps < b_ps ? a_ps : b_ps);
}

static int by_time(const void *a, const void *b)
{
    const struct module_pair *x = a, *y = b;

    if (x->matched_ps != y->matched_ps)
        return x->matched_ps > y->matched_ps ? -1 : 1;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

static void find_pairs(struct pairing *pairing, struct arena *arena)
{
    const struct match_run *a = &pairing->sides[0].ops, *b = &pairing->sides[1].ops;
    struct match *matches;
    uint32_t count = match_ops(a->items, a->count, b->items, b->count, arena, &matches);

    pairing->items = arena_array(arena, struct module_pair, (size_t)a->count + b->count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const struct match *match = &matches[i];
        uint32_t most = match->a_count > match->b_count ? match->a_count : match->b_count;

        for (uint32_t k = 0; k < most && match->a_count > 0 && match->b_count > 0; k++)
            add_pair(pairing, match->a[k < match->a_count ? k : match->a_count - 1],
                     match->b[k < match->b_count ? k : match->b_count - 1]);
    }
    if (pairing->count > 0)
        qsort(pairing->items, pairing->count, sizeof *pairing->items, by_time);
}

/* By module of a: its partner; 0 none. Each is the partner of one at most. */
static uint32_t *partners(const struct pairing *pairing, struct arena *arena)
{
    uint32_t count = names_count(pairing->names);
    uint32_t *of_a = arena_array(arena, uint32_t, count),
             *of_b = arena_array(arena, uint32_t, count);

    for (uint32_t i = 0; i < pairing->count; i++) {
        const struct module_pair *pair = &pairing->items[i];

        if (of_a[pair->a] != 0 || of_b[pair->b] != 0)
            continue;
        of_a[pair->a] = pair->b;
        of_b[pair->b] = pair->a;
    }
    return of_a;
}

static void put_called(const struct measured *side, struct arena *arena, struct str **ret)
{
    *ret = arena_array(arena, struct str, side->ops.count);
    for (uint32_t i = 0; i < side->ops.count; i++)
        (*ret)[i] = called(side, i);
}

/* Where b has another module that is called as this one of a, its row says whose it is. */
static struct str row_text(struct str own, uint32_t partner, const struct pairing *pairing,
                           const bool *is_of_b, uint32_t id, struct arena *arena)
{
    if (partner != 0)
        return str_copy(arena, names_get(pairing->names, partner));
    return is_of_b[id] ? str_format(arena, "%.*s of a", STR_ARG(own)) : own;
}

void diff_module_texts(const struct measured sides[2], struct arena *arena, struct str *ret[2])
{
    struct pairing pairing = {.sides = sides};

    put_called(&sides[0], arena, &ret[0]);
    put_called(&sides[1], arena, &ret[1]);
    if (!has_namesakes(&sides[0]) && !has_namesakes(&sides[1]))
        return;
    pairing.names = names_create();
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < sides[side].ops.count; i++)
            names_add(pairing.names, ret[side][i]);
    }
    find_pairs(&pairing, arena);

    uint32_t *partner = partners(&pairing, arena);
    bool *is_of_b = arena_array(arena, bool, names_count(pairing.names));

    for (uint32_t i = 0; i < sides[1].ops.count; i++)
        is_of_b[names_add(pairing.names, ret[1][i])] = true;
    for (uint32_t i = 0; i < sides[0].ops.count; i++) {
        uint32_t id = names_add(pairing.names, ret[0][i]);

        ret[0][i] = row_text(ret[0][i], partner[id], &pairing, is_of_b, id, arena);
    }
    names_destroy(pairing.names);
    map64_free(&pairing.known);
}
