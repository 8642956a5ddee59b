/* SPDX-License-Identifier: Apache-2.0 */
/* Who held memory over time: one replay of all events, its owners at up to 400 moments.
 *
 *   events    + + - + | + - - | + + -      parts of equally many events
 *   moments       ^       ^       ^        the event of each after which most is in use
 *   layers    dot.3     256  256    0
 *             (before)  100  100  100      in use less what the replay finds
 */
#include <stdlib.h>

#include "analyse/memory/memory_allocators.h"
#include "analyse/stats/map64.h"
#include "base/bisect.h"
#include "base/names.h"
#include "trace/ps.h"

struct layering {
    const struct allocator *allocator;
    struct arena *arena;
    uint32_t *moments; /* events */
    int64_t *at_ps;    /* file time, inside the windows */
    uint32_t moment_count;
    struct memory_layers *ret;
};

/* A window takes the events inside of it. */
static void choose_moments(struct layering *work)
{
    const struct allocator *allocator = work->allocator;
    uint32_t *inside = arena_array(work->arena, uint32_t, (size_t)allocator->count + 1);
    int64_t *at_ps = arena_array(work->arena, int64_t, (size_t)allocator->count + 1);
    uint32_t count = 0, window = 0;

    for (uint32_t i = 0; i < allocator->count; i++) {
        if (allocator_moment(allocator, i, &window, &at_ps[count]))
            inside[count++] = i;
    }

    uint32_t parts = count < MEMORY_MOMENTS_MAX ? count : MEMORY_MOMENTS_MAX;

    work->moments = arena_array(work->arena, uint32_t, (size_t)parts + 1);
    work->at_ps = arena_array(work->arena, int64_t, (size_t)parts + 1);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t part = (uint32_t)((uint64_t)i * parts / count);
        bool is_new = part == work->moment_count;

        work->moment_count += is_new;
        if (is_new || allocator_in_use(allocator, inside[i]) >
                          allocator_in_use(allocator, work->moments[part])) {
            work->moments[part] = inside[i];
            work->at_ps[part] = at_ps[i];
        }
    }
}

static struct str label_of(const struct memory_owner *owner, unsigned by)
{
    struct str text = by & OWNER_OP      ? owner->op
                      : by & OWNER_SCOPE ? owner->scope
                      : by & OWNER_SHAPE ? owner->shape
                                         : owner->category;

    return text.count > 0 ? text : STR("(not named)");
}

struct sums { /* by owner: the number of its label */
    struct names *names;
    uint32_t *number; /* by allocation */
    double *areas;    /* bytes times moments */
    uint32_t *layer;  /* which of the layers it is in */
    int64_t *largest; /* by layer */
    uint32_t count;
};

struct span { /* of moments, at which an allocation is alive */
    uint32_t from, end;
};

static struct span span_of(const struct layering *work, const struct alive *alive)
{
    const uint32_t *moments = work->moments;
    uint32_t from = BISECT(0, work->moment_count, i, moments[i] < alive->event);

    return (struct span){from, BISECT(from, work->moment_count, i, moments[i] < alive->gone)};
}

/* The id 0 is "", which no label is. */
static void weigh_owners(const struct layering *work, const struct alives *alives,
                         const struct memory_owner *owners, unsigned by, struct sums *sums)
{
    sums->number = arena_array(work->arena, uint32_t, (size_t)alives->count + 1);
    sums->areas = arena_array(work->arena, double, (size_t)alives->count + 1);
    for (uint32_t i = 0; i < alives->count; i++) {
        struct span span = span_of(work, &alives->items[i]);
        uint32_t number = names_add(sums->names, label_of(&owners[i], by)) - 1;

        sums->number[i] = number;
        sums->count = number + 1 > sums->count ? number + 1 : sums->count;
        sums->areas[number] += (double)alives->items[i].bytes * (span.end - span.from);
    }
}

static int by_area(const void *left, const void *right, void *data)
{
    const double *areas = data;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    if (areas[a] != areas[b])
        return areas[a] > areas[b] ? -1 : 1;
    return (a > b) - (a < b);
}

static struct memory_layer *add_layer(struct layering *work, const char *kind, struct str name)
{
    struct memory_layer *layer = &work->ret->layers[work->ret->layer_count++];

    *layer = (struct memory_layer){
        .name = name,
        .row_kind = kind,
        .slice = NO_SLICE,
        .bytes = arena_array(work->arena, int64_t, (size_t)work->moment_count + 1),
    };
    return layer;
}

/* The largest owners each for itself, the others together; nobody else is alive at a moment. */
static void open_layers(struct layering *work, struct sums *sums)
{
    uint32_t *order = arena_array(work->arena, uint32_t, (size_t)sums->count + 1), kept = 0;
    uint32_t alone;

    for (uint32_t i = 0; i < sums->count; i++)
        if (sums->areas[i] > 0)
            order[kept++] = i;
    qsort_r(order, kept, sizeof *order, by_area, sums->areas);
    work->ret->owner_count = kept;
    alone = kept <= MEMORY_LAYERS_MAX + 1 ? kept : MEMORY_LAYERS_MAX;
    sums->layer = arena_array(work->arena, uint32_t, (size_t)sums->count + 1);
    sums->largest = arena_array(work->arena, int64_t, MEMORY_LAYERS_MAX + 2u);
    for (uint32_t i = 0; i < kept; i++) {
        sums->layer[order[i]] = i < alone ? i : alone;
        if (i < alone)
            add_layer(work, "owner", str_copy(work->arena, names_get(sums->names, order[i] + 1)));
    }
    if (kept > alone)
        add_layer(work, "others", str_format(work->arena, "(%u others)", kept - alone));
}

/* Changes first, then their sums. Those fit: see memory_replay. */
static void fill_layers(struct layering *work, const struct alives *alives,
                        const struct memory_owner *owners, const struct sums *sums)
{
    for (uint32_t i = 0; i < alives->count; i++) {
        struct span span = span_of(work, &alives->items[i]);
        uint32_t at = sums->layer[sums->number[i]];
        struct memory_layer *layer = &work->ret->layers[at];

        if (span.from >= span.end || alives->items[i].bytes == 0)
            continue;
        layer->bytes[span.from] += alives->items[i].bytes;
        layer->bytes[span.end] -= alives->items[i].bytes;
        if (alives->items[i].bytes > sums->largest[at]) {
            sums->largest[at] = alives->items[i].bytes;
            layer->slice = owners[i].slice;
        }
    }
    for (uint32_t at = 0; at < work->ret->layer_count; at++)
        for (uint32_t k = 1; k < work->moment_count; k++)
            work->ret->layers[at].bytes[k] += work->ret->layers[at].bytes[k - 1];
}

/* What nobody owns, so that the layers sum to the level. */
static void put_rest(struct layering *work)
{
    const struct allocator *allocator = work->allocator;
    struct memory_layers *ret = work->ret;
    const uint32_t owned = ret->layer_count;
    struct memory_layer *before = add_layer(work, "before", STR("(allocated before the capture)"));
    struct memory_layer *missing = add_layer(work, "missing", STR("(freed, but no event says so)"));
    struct memory_layer *reserved = add_layer(work, "reserved", STR("(reserved)"));
    bool is_used[3] = {false};
    uint32_t kept = owned;

    for (uint32_t k = 0; k < work->moment_count; k++) {
        int64_t rest = allocator->allocated[work->moments[k]];

        reserved->bytes[k] = ret->in_use[k] - rest;
        for (uint32_t i = 0; i < owned; i++)
            rest -= ret->layers[i].bytes[k];
        before->bytes[k] = rest > 0 ? rest : 0;
        missing->bytes[k] = rest < 0 ? rest : 0;
        is_used[0] |= rest > 0;
        is_used[1] |= rest < 0;
        is_used[2] |= reserved->bytes[k] != 0;
    }
    for (uint32_t i = 0; i < COUNT(is_used); i++)
        if (is_used[i])
            ret->layers[kept++] = ret->layers[owned + i];
    ret->layer_count = kept;
}

static void fill(struct layering *work, unsigned by)
{
    const struct allocator *allocator = work->allocator;
    int64_t *in_use = arena_array(work->arena, int64_t, (size_t)work->moment_count + 1);
    struct sums sums = {.names = names_create()};
    struct alives alives;

    for (uint32_t k = 0; k < work->moment_count; k++) {
        ps_add(&work->at_ps[k], allocator->selection->host->offset_ps);
        in_use[k] = allocator_in_use(allocator, work->moments[k]);
    }
    work->ret->at_ps = work->at_ps;
    work->ret->in_use = in_use;
    work->ret->moment_count = work->moment_count;
    memory_replay_all(allocator, work->arena, &alives);

    const struct memory_owner *owners = memory_owners(allocator, &alives, work->arena);

    weigh_owners(work, &alives, owners, by, &sums);
    open_layers(work, &sums);
    fill_layers(work, &alives, owners, &sums);
    put_rest(work);
    names_destroy(sums.names);
}

enum status memory_layers(const struct run_traces *run, const struct restriction *restriction,
                          const struct memory_question *question, struct arena *arena,
                          struct memory_layers *ret, struct error *err)
{
    struct layering work = {.arena = arena, .ret = ret};
    struct allocators all;
    unsigned by;

    *ret = (struct memory_layers){.by = question->by.count > 0 ? question->by : STR("op")};
    if (!owner_by(ret->by, &by) || by == 0)
        return fail(err, ERR_INVALID, "by=%.*s is not owner, op, scope, shape or category",
                    STR_ARG(ret->by));
    TRY(memory_allocators(run, restriction, arena, &all, err));
    if (all.count == 0) {
        ret->reason = memory_absent_reason(run);
        return OK;
    }
    work.allocator = allocator_pick(&all, question->allocator);
    if (work.allocator == NULL)
        return fail_unknown_allocator(&all, question->allocator, err);
    ret->allocator = allocator_told(work.allocator);
    ret->host = (uint32_t)(work.allocator->selection->host - run->hosts);
    choose_moments(&work);
    fill(&work, by);
    return OK;
}
