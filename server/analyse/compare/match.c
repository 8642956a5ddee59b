/* SPDX-License-Identifier: Apache-2.0 */
/* Applies the matching rules one after another, each to what the rules before it left. */
#include "analyse/compare/match_parts.h"

#include <stdlib.h>

#include "analyse/stats/map64.h"

enum { LEAF_SHARERS_MAX = 16, NO_CLASS = UINT32_MAX };

enum side { SIDE_A, SIDE_B, SIDES };

struct ops { /* of one run */
    const struct match_op *items;
    uint32_t count;
    uint32_t *class_of; /* what the current rule tells apart; NO_CLASS: it says nothing */
    bool *taken;
};

struct class
{ /* ops that a rule does not tell apart */
    uint32_t count[SIDES], filled[SIDES];
    uint32_t *members[SIDES];
};

struct matcher {
    struct ops ops[SIDES];
    struct arena *arena;
    struct map64 classes; /* key -> class */
    struct class *class;
    uint32_t class_count, class_capacity;
    struct match *matches;
    uint32_t count, capacity;
};

const char *match_how_word(enum match_how how)
{
    static const char *const words[] = {"program",   "structure", "shape",  "content",
                                        "regrouped", "scope",     "source", "place",
                                        "name",      "kernel",    "stem",   "none"};
    return words[how];
}

static uint32_t class_at(struct matcher *matcher, uint64_t key)
{
    uint32_t *at = map64_at(&matcher->classes, key, NO_CLASS);

    if (*at != NO_CLASS)
        return *at;
    if (matcher->class_count == matcher->class_capacity) {
        matcher->class_capacity = matcher->class_capacity == 0 ? 256 : 2 * matcher->class_capacity;
        matcher->class =
            memory_resize(matcher->class, matcher->class_capacity, sizeof *matcher->class);
    }
    matcher->class[matcher->class_count] = (struct class){0};
    return *at = matcher->class_count++;
}

static struct match *add_match(struct matcher *matcher, enum match_how how, double confidence)
{
    if (matcher->count == matcher->capacity) {
        matcher->capacity = matcher->capacity == 0 ? 256 : 2 * matcher->capacity;
        matcher->matches =
            memory_resize(matcher->matches, matcher->capacity, sizeof *matcher->matches);
    }
    matcher->matches[matcher->count] = (struct match){.how = how, .confidence = confidence};
    return &matcher->matches[matcher->count++];
}

static void fill_classes(struct matcher *matcher)
{
    for (uint32_t i = 0; i < matcher->class_count; i++)
        for (int side = 0; side < SIDES; side++)
            matcher->class[i].members[side] =
                arena_array(matcher->arena, uint32_t, matcher->class[i].count[side]);
    for (int side = 0; side < SIDES; side++) {
        struct ops *ops = &matcher->ops[side];

        for (uint32_t i = 0; i < ops->count; i++) {
            if (ops->class_of[i] == NO_CLASS)
                continue;
            struct class *class = &matcher->class[ops->class_of[i]];
            class->members[side][class->filled[side]++] = i;
        }
    }
}

static void take(struct matcher *matcher, const struct match *match)
{
    for (uint32_t i = 0; i < match->a_count; i++)
        matcher->ops[SIDE_A].taken[match->a[i]] = true;
    for (uint32_t i = 0; i < match->b_count; i++)
        matcher->ops[SIDE_B].taken[match->b[i]] = true;
}

/* As many on both sides: one by one in program order, which is less sure than being the only
 * one. */
static void match_class(struct matcher *matcher, const struct class *class, enum match_how how,
                        double confidence, bool in_order)
{
    uint32_t a_count = class->count[SIDE_A], b_count = class->count[SIDE_B];

    if (a_count == 0 || b_count == 0)
        return;
    if (a_count != b_count || !in_order) {
        struct match *match = add_match(matcher, how, confidence);

        match->a = class->members[SIDE_A];
        match->b = class->members[SIDE_B];
        match->a_count = a_count;
        match->b_count = b_count;
        take(matcher, match);
        return;
    }
    for (uint32_t i = 0; i < a_count; i++) {
        struct match *match = add_match(matcher, how, a_count == 1 ? confidence : 0.9 * confidence);

        match->a = class->members[SIDE_A] + i;
        match->b = class->members[SIDE_B] + i;
        match->a_count = match->b_count = 1;
        take(matcher, match);
    }
}

static void match_classes(struct matcher *matcher, enum match_how how, double confidence,
                          bool in_order)
{
    fill_classes(matcher);
    for (uint32_t i = 0; i < matcher->class_count; i++)
        match_class(matcher, &matcher->class[i], how, confidence, in_order);
    map64_free(&matcher->classes);
    matcher->classes = (struct map64){0};
    matcher->class_count = 0;
}

static void classify(struct matcher *matcher, match_key *key_of)
{
    for (int side = 0; side < SIDES; side++) {
        struct ops *ops = &matcher->ops[side];

        for (uint32_t i = 0; i < ops->count; i++) {
            uint64_t key = ops->taken[i] ? 0 : key_of(&ops->items[i], matcher->arena);

            ops->class_of[i] = key == 0 ? NO_CLASS : class_at(matcher, key);
            if (key != 0)
                matcher->class[ops->class_of[i]].count[side]++;
        }
    }
}

/* A forest over the ops of both runs: those that compute the same have one root. */
static uint32_t root_of(uint32_t *parent, uint32_t at)
{
    while (parent[at] != at)
        at = parent[at] = parent[parent[at]];
    return at;
}

struct leaf_user {
    uint64_t leaf;
    uint32_t op; /* of a; behind them, of b */
};

static int by_leaf(const void *a, const void *b)
{
    const struct leaf_user *x = a, *y = b;

    if (x->leaf != y->leaf)
        return x->leaf < y->leaf ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

static struct leaf_user *leaf_users(const struct matcher *matcher, size_t *ret_count)
{
    size_t count = 0;

    for (int side = 0; side < SIDES; side++)
        for (uint32_t i = 0; i < matcher->ops[side].count; i++)
            count += matcher->ops[side].taken[i] ? 0 : matcher->ops[side].items[i].leaf_count;
    struct leaf_user *users = arena_array(matcher->arena, struct leaf_user, count);
    *ret_count = count;
    count = 0;
    for (int side = 0; side < SIDES; side++) {
        const struct ops *ops = &matcher->ops[side];

        for (uint32_t i = 0; i < ops->count; i++) {
            for (uint32_t k = 0; !ops->taken[i] && k < ops->items[i].leaf_count; k++)
                users[count++] = (struct leaf_user){
                    .leaf = match_mix_text(ops->items[i].leaves[k], ops->items[i].module),
                    .op = side == SIDE_A ? i : matcher->ops[SIDE_A].count + i};
        }
    }
    if (count > 0)
        qsort(users, count, sizeof *users, by_leaf);
    return users;
}

/* How many leaves each pair of ops of both runs shares. What very many ops compute tells
 * nothing. */
static void count_shared(const struct leaf_user *users, size_t count, uint32_t a_count,
                         struct map64 *shared)
{
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && users[end].leaf == users[first].leaf;)
            end++;
        for (size_t i = first; end - first <= LEAF_SHARERS_MAX && i < end; i++) {
            for (size_t k = i + 1; k < end; k++) { /* by op: those of b come last */
                if (users[i].op < a_count && users[k].op >= a_count)
                    ++*map64_at(shared, map64_pair(users[i].op, users[k].op), 0);
            }
        }
    }
}

static void join_sharers(const struct matcher *matcher, const struct map64 *shared,
                         uint32_t *parent)
{
    uint32_t a_count = matcher->ops[SIDE_A].count;

    for (uint64_t i = 0; shared->slots != NULL && i <= shared->mask; i++) {
        const struct map64_slot *slot = &shared->slots[i];

        if (!slot->used)
            continue;
        uint32_t a = (uint32_t)(slot->key >> 32), b = (uint32_t)slot->key;
        uint32_t of_a = matcher->ops[SIDE_A].items[a].leaf_count;
        uint32_t of_b = matcher->ops[SIDE_B].items[b - a_count].leaf_count;

        if (2 * (uint64_t)slot->value >= (of_a < of_b ? of_a : of_b))
            parent[root_of(parent, a)] = root_of(parent, b);
    }
}

static void match_regrouped(struct matcher *matcher)
{
    uint32_t a_count = matcher->ops[SIDE_A].count, all = a_count + matcher->ops[SIDE_B].count;
    uint32_t *parent = arena_array(matcher->arena, uint32_t, all);
    struct map64 shared = {0};
    size_t count;
    const struct leaf_user *users = leaf_users(matcher, &count);

    for (uint32_t i = 0; i < all; i++)
        parent[i] = i;
    count_shared(users, count, a_count, &shared);
    join_sharers(matcher, &shared, parent);
    map64_free(&shared);
    for (int side = 0; side < SIDES; side++) {
        struct ops *ops = &matcher->ops[side];

        for (uint32_t i = 0; i < ops->count; i++) {
            ops->class_of[i] = NO_CLASS;
            if (ops->taken[i] || ops->items[i].leaf_count == 0)
                continue;
            ops->class_of[i] = class_at(matcher, root_of(parent, side == SIDE_A ? i : a_count + i));
            matcher->class[ops->class_of[i]].count[side]++;
        }
    }
    match_classes(matcher, MATCH_REGROUPED, 0.8, false);
}

enum { MATCH_UNKNOWN = UINT32_MAX, MATCH_AMBIGUOUS = UINT32_MAX - 1 };

static void tell_home(struct map64 *homes, uint64_t key, uint32_t match)
{
    if (key == 0)
        return;
    uint32_t *home = map64_at(homes, key, MATCH_UNKNOWN);
    *home = *home == MATCH_UNKNOWN || *home == match ? match : MATCH_AMBIGUOUS;
}

/* The match that holds each op's like; MATCH_UNKNOWN: none, or several. */
static void find_homes(struct matcher *matcher, enum side side, match_key *key_of, uint32_t *ret)
{
    const struct ops *ops = &matcher->ops[side];
    struct map64 homes = {0};

    for (uint32_t i = 0; i < matcher->count; i++) {
        const struct match *match = &matcher->matches[i];
        const uint32_t *list = side == SIDE_A ? match->a : match->b;

        for (uint32_t k = 0; k < (side == SIDE_A ? match->a_count : match->b_count); k++)
            tell_home(&homes, key_of(&ops->items[list[k]], matcher->arena), i);
    }
    for (uint32_t i = 0; i < ops->count; i++) {
        uint64_t key = ops->taken[i] ? 0 : key_of(&ops->items[i], matcher->arena);

        if (key == 0 || !map64_get(&homes, key, &ret[i]) || ret[i] == MATCH_AMBIGUOUS)
            ret[i] = MATCH_UNKNOWN;
    }
    map64_free(&homes);
}

/* More ops for a side of a match, both lists ascending. The old one is part of another list. */
static void join_lists(struct matcher *matcher, struct match *match, enum side side,
                       const uint32_t *more, uint32_t more_count)
{
    const uint32_t **list = side == SIDE_A ? &match->a : &match->b;
    uint32_t *count = side == SIDE_A ? &match->a_count : &match->b_count, at = 0, from = 0;
    uint32_t *joined = arena_array(matcher->arena, uint32_t, (size_t)*count + more_count);

    for (uint32_t i = 0; i < *count + more_count; i++)
        joined[i] = from == more_count || (at < *count && (*list)[at] < more[from]) ? (*list)[at++]
                                                                                    : more[from++];
    *list = joined;
    *count += more_count;
}

/* Ops without a partner, whose like in their own run has one. */
static void join_likes(struct matcher *matcher, enum match_how how, double confidence,
                       match_key *key_of)
{
    for (int side = 0; side < SIDES; side++) {
        struct ops *ops = &matcher->ops[side];
        uint32_t *home_of = arena_array(matcher->arena, uint32_t, ops->count);
        uint32_t *begins = arena_array(matcher->arena, uint32_t, (size_t)matcher->count + 2);
        uint32_t *likes = arena_array(matcher->arena, uint32_t, ops->count);

        find_homes(matcher, (enum side)side, key_of, home_of);
        for (uint32_t i = 0; i < ops->count; i++)
            begins[home_of[i] == MATCH_UNKNOWN ? matcher->count + 1 : home_of[i] + 1]++;
        for (uint32_t i = 0; i < matcher->count; i++)
            begins[i + 1] += begins[i];
        for (uint32_t i = 0; i < ops->count; i++) {
            if (home_of[i] == MATCH_UNKNOWN)
                continue;
            likes[begins[home_of[i]]++] = i;
            ops->taken[i] = true;
        }
        for (uint32_t i = 0, first = 0; i < matcher->count; first = begins[i++]) {
            struct match *match = &matcher->matches[i];

            if (begins[i] == first)
                continue;
            join_lists(matcher, match, (enum side)side, likes + first, begins[i] - first);
            match->how = match->confidence > confidence ? how : match->how;
            match->confidence = match->confidence > confidence ? confidence : match->confidence;
        }
    }
}

static void match_rest(struct matcher *matcher)
{
    for (int side = 0; side < SIDES; side++) {
        const struct ops *ops = &matcher->ops[side];

        for (uint32_t i = 0; i < ops->count; i++) {
            if (ops->taken[i])
                continue;
            uint32_t *alone = arena_new(matcher->arena, uint32_t);
            struct match *match = add_match(matcher, MATCH_NONE, 1);

            *alone = i;
            *(side == SIDE_A ? &match->a : &match->b) = alone;
            *(side == SIDE_A ? &match->a_count : &match->b_count) = 1;
        }
    }
}

static int by_first_op(const void *left, const void *right)
{
    const struct match *x = left, *y = right;

    if ((x->a_count == 0) != (y->a_count == 0))
        return x->a_count == 0 ? 1 : -1;
    uint32_t first = x->a_count > 0 ? x->a[0] : x->b[0], other = y->a_count > 0 ? y->a[0] : y->b[0];
    return first < other ? -1 : first > other;
}

static struct ops begin_ops(const struct match_op *items, uint32_t count, struct arena *arena)
{
    return (struct ops){.items = items,
                        .count = count,
                        .class_of = arena_array(arena, uint32_t, count),
                        .taken = arena_array(arena, bool, count)};
}

uint32_t match_ops(const struct match_op *a, uint32_t a_count, const struct match_op *b,
                   uint32_t b_count, struct arena *arena, struct match **ret)
{
    static const struct {
        enum match_how how;
        match_key *key_of; /* NULL: by what is shared */
        double confidence;
    } rules[] = {
        {MATCH_PROGRAM, match_by_program, 1.0},
        {MATCH_STRUCTURE, match_by_structure, 0.98},
        {MATCH_SHAPE, match_by_plain_shape, 0.95},
        {MATCH_CONTENT, match_by_content, 0.9},
        {MATCH_REGROUPED, NULL, 0.8},
        {MATCH_SHAPE, match_by_shape, 0.8},
        {MATCH_SCOPE, match_by_scope, 0.7},
        {MATCH_SOURCE, match_by_source, 0.6},
        {MATCH_PLACE, match_by_place, 0.5},
        {MATCH_NAME, match_by_name, 0.9},
        {MATCH_KERNEL, match_by_kernel, 0.6},
        {MATCH_STEM, match_by_stem, 0.4},
    };
    struct matcher matcher = {.arena = arena,
                              .ops = {begin_ops(a, a_count, arena), begin_ops(b, b_count, arena)}};

    for (size_t i = 0; i < COUNT(rules); i++) {
        if (rules[i].key_of == NULL) {
            match_regrouped(&matcher);
            continue;
        }
        classify(&matcher, rules[i].key_of);
        match_classes(&matcher, rules[i].how, rules[i].confidence, rules[i].how != MATCH_PLACE);
    }
    join_likes(&matcher, MATCH_CONTENT, 0.9, match_by_content);
    join_likes(&matcher, MATCH_SCOPE, 0.7, match_by_scope);
    match_rest(&matcher);
    if (matcher.count > 0)
        qsort(matcher.matches, matcher.count, sizeof *matcher.matches, by_first_op);
    *ret = arena_array(arena, struct match, matcher.count);
    if (matcher.count > 0)
        memcpy(*ret, matcher.matches, matcher.count * sizeof **ret);
    free(matcher.matches);
    free(matcher.class);
    return matcher.count;
}
