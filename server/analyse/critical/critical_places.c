/* SPDX-License-Identifier: Apache-2.0 */
/* The path of one step in short: where it lies, and a sentence that says so. */
#include <inttypes.h>
#include <stdlib.h>

#include "analyse/critical/critical_parts.h"
#include "analyse/hlo/scope.h"
#include "base/hash.h"
#include "base/human.h"
#include "trace/ps.h"

enum {
    SCOPE_ELEMENTS = 3,  /* of a place's name: deeper ones part what one thinks of as one */
    PARTS_SAID = 3,      /* in the sentence */
    NAME_BYTES_MAX = 56, /* of a name there */
};
static const double said_min = 0.05;

const char *place_of_word(enum place_of of)
{
    static const char *const words[] = {"scope", "op", "slice", "gap"};

    return words[of];
}

/* What JAX puts above and between the scopes of a program. */
static bool is_frame(struct str element)
{
    static const char *const frames[] = {"while",      "body",  "cond", "closed_call",
                                         "checkpoint", "remat", "main"};

    if (str_starts(element, STR("jit(")) || str_starts(element, STR("pjit(")) ||
        str_starts(element, STR("pmap(")) || str_starts(element, STR("jit_")))
        return true;
    element = scope_core(element);
    for (size_t i = 0; i < COUNT(frames); i++) {
        if (str_equal(element, str_of(frames[i])))
            return true;
    }
    return element.count == 0;
}

struct str place_of_scope(struct str scope, struct arena *arena)
{
    struct str kept[SCOPE_ELEMENTS + 1], element, ret = {0};
    uint32_t count = 0, seen = 0;

    while (scope_next(&scope, &element)) {
        if (seen == 0 && is_frame(element))
            continue;
        if (seen++ < SCOPE_ELEMENTS)
            kept[count++] = scope_core(element);
    }
    if (seen <= SCOPE_ELEMENTS && count > 0)
        count--; /* the primitive */
    while (count > 0 && is_frame(kept[count - 1]))
        count--;
    for (uint32_t i = 0; i < count; i++)
        ret = i == 0 ? kept[0] : str_format(arena, "%.*s/%.*s", STR_ARG(ret), STR_ARG(kept[i]));
    return ret;
}

static void name_place(const struct step_graph *graph, const struct path_piece *piece,
                       struct arena *arena, struct path_place *ret)
{
    const struct graph_node *node = &graph->nodes[piece->node];

    *ret = (struct path_place){.kind = piece->kind, .of = PLACE_OF_GAP};
    ret->name = piece_name(graph, piece);
    if (piece->gap)
        return;
    ret->of = PLACE_OF_SLICE;
    if (node->entry == NO_ENTRY)
        return;

    const struct host_trace *host = &graph->run->hosts[graph->lanes[node->lane].host];
    const struct op *op = &host->attribution->ops[entry_op(host->attribution, node->entry)];
    struct str scope = place_of_scope(scope_of_op(host->trace, op), arena);

    ret->of = scope.count > 0 ? PLACE_OF_SCOPE : PLACE_OF_OP;
    if (scope.count > 0)
        ret->name = scope;
}

struct gathering {
    struct path_place *items;
    uint32_t count;
    struct map64 by_key;
};

static void add_piece(struct gathering *gathering, const struct path_place *one, int64_t dur_ps)
{
    const struct bytes name = {(const uint8_t *)one->name.at, one->name.count};
    uint64_t key = hash64(name) * 4 + (uint64_t)one->of;
    uint32_t *at = map64_at(&gathering->by_key, key, gathering->count);
    struct path_place *place = &gathering->items[*at];

    if (*at == gathering->count) {
        *place = *one;
        gathering->count++;
    }
    ps_add(&place->on_path_ps, dur_ps);
    if (dur_ps > place->longest_ps) {
        place->longest_ps = dur_ps;
        place->kind = one->kind;
    }
}

static int by_time(const void *left, const void *right)
{
    const struct path_place *a = left, *b = right;

    if (a->on_path_ps != b->on_path_ps)
        return a->on_path_ps > b->on_path_ps ? -1 : 1;
    return str_compare(a->name, b->name);
}

static void gather(const struct step_graph *graph, struct arena *arena, struct path_places *ret)
{
    struct path path = {0};
    struct gathering gathering = {0};

    path_find(graph, &path);
    gathering.items = arena_array(arena, struct path_place, (size_t)path.count + 1);
    for (uint32_t i = 0; i < path.count; i++) {
        struct path_place one;

        name_place(graph, &path.pieces[i], arena, &one);
        add_piece(&gathering, &one, path.pieces[i].dur_ps);
    }
    if (gathering.count > 1)
        qsort(gathering.items, gathering.count, sizeof *gathering.items, by_time);
    ret->items = gathering.items;
    ret->count = gathering.count;
    ret->likely_ps = path.likely_ps;
    map64_free(&gathering.by_key);
    path_free(&path);
}

static bool is_too_large(const struct run_traces *run)
{
    uint64_t slices = 0;

    for (uint32_t i = 0; i < run->host_count; i++)
        slices += run->hosts[i].trace->slice_count;
    return slices > PLACES_SLICES_MAX;
}

void critical_places(const struct run_traces *run, const struct steps *steps, struct arena *arena,
                     struct path_places *ret)
{
    const struct step *step = critical_typical(steps, arena);

    *ret = (struct path_places){.step = step};
    if (run->host_count == 0)
        ret->reason = STR("the run has no timeline");
    else if (step == NULL && steps->count > 0)
        ret->reason = STR("no step is counted");
    else if (step == NULL && is_too_large(run))
        ret->reason = STR("the run has no steps, and is too large as a whole");
    if (ret->reason.count > 0)
        return;

    struct graph_maker *maker = graph_maker_create(run, steps);
    const struct step_graph *graph = graph_of_step(maker, step);

    ret->host = graph->host;
    ret->dur_ps = graph->to_ps - graph->from_ps;
    gather(graph, arena, ret);
    graph_maker_free(maker);
}

static void put_place(struct text *out, const struct path_place *place, bool is_first,
                      struct arena *arena)
{
    static const char *const gaps[] = {[PIECE_WAIT] = "wait for the device",
                                       [PIECE_LAUNCH] = "wait for launches",
                                       [PIECE_SCHEDULING] = "wait to be scheduled",
                                       [PIECE_UNEXPLAINED] = "are unexplained"};
    struct str name = str_both_ends(arena, place->name, NAME_BYTES_MAX);

    text_puts(out, human_ps(place->on_path_ps).text);
    if (place->of == PLACE_OF_GAP)
        text_putf(out, " %s", gaps[place->kind]);
    else
        text_putf(out, "%s in `%.*s`", is_first ? " are on the critical path" : "", STR_ARG(name));
}

struct str critical_sentence(const struct path_places *places, struct arena *arena)
{
    struct text out = {0};
    struct path_place *items;
    uint32_t said = 0, count;
    int64_t said_ps = 0;
    bool named = false;

    if (places->count == 0 || places->dur_ps <= 0)
        return STR("");
    count = places_fold(places, arena, &items);
    text_putf(&out, "Of the %s of ", human_ps(places->dur_ps).text);
    if (places->step == NULL)
        text_puts(&out, "the capture");
    else
        text_putf(&out, "step %" PRId64, places->step->number);
    for (uint32_t i = 0; i < count && said < PARTS_SAID; i++) {
        const struct path_place *place = &items[i];

        if (said > 0 && (double)place->on_path_ps < said_min * (double)places->dur_ps)
            break;
        text_puts(&out, ", ");
        put_place(&out, place, !named, arena);
        named |= place->of != PLACE_OF_GAP;
        ps_add(&said_ps, place->on_path_ps);
        said++;
    }
    /* A model of many layers has no place that stands out: the parts that are named are not it. */
    if (said < count && said_ps < places->dur_ps / 2)
        text_putf(&out, "; the rest of the critical path is spread over %s places, none above %s",
                  human_count(count - said).text, human_ps(items[said].on_path_ps).text);
    text_puts(&out, ".");

    struct str ret = str_copy(arena, text_str(&out));

    text_free(&out);
    return ret;
}
