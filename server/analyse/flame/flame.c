/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses what a flame graph is grown from, grows it over hosts, and writes the table of its
 * nodes. */
#include "analyse/flame/flame.h"

#include <stdlib.h>

#include "analyse/flame/flame_parts.h"
#include "analyse/steps/restrict.h"
#include "base/human.h"

enum { DEPTH_DEFAULT = 64, STACK_DEPTH = 512, NODES_DEFAULT = 2000, NODES_MAX = 20000 };

static const char *const by_words[] = {
    [FLAME_SCOPE] = "scope", [FLAME_SOURCE] = "source", [FLAME_MODULE] = "module",
    [FLAME_HOST] = "host",   [FLAME_TRACK] = "track",   [FLAME_STACK] = "stack",
    [FLAME_BYTES] = "bytes", [FLAME_PHASE] = "phase",
};
static const char *const weight_words[] = {
    [WEIGHT_SELF] = "self",   [WEIGHT_TIME] = "time",   [WEIGHT_COUNT] = "count",
    [WEIGHT_BYTES] = "bytes", [WEIGHT_FLOPS] = "flops",
};
static const char *const weight_units[] = {
    [WEIGHT_SELF] = "ps",     [WEIGHT_TIME] = "ps",     [WEIGHT_COUNT] = "count",
    [WEIGHT_BYTES] = "bytes", [WEIGHT_FLOPS] = "flops",
};

static bool word_find(struct str word, const char *const *words, size_t count, int *ret)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal(word, str_of(words[i]))) {
            *ret = (int)i;
            return true;
        }
    }
    return false;
}

static enum status parse(const struct flame_question *question, bool has_ops, bool has_hosts,
                         struct growth *growth, struct error *err)
{
    int by = has_ops ? FLAME_SCOPE : has_hosts ? FLAME_TRACK : FLAME_STACK, weight = WEIGHT_SELF;

    if (question->by.count > 0 && !word_find(question->by, by_words, COUNT(by_words), &by))
        return fail(err, ERR_INVALID,
                    "by=%.*s is none of scope, source, module, phase, host, track, stack, bytes",
                    STR_ARG(question->by));
    if (question->weight.count > 0 &&
        !word_find(question->weight, weight_words, COUNT(weight_words), &weight))
        return fail(err, ERR_INVALID, "weight=%.*s is none of self, time, count, bytes, flops",
                    STR_ARG(question->weight));
    if (question->order.count > 0 && !str_equal(question->order, STR("time")) &&
        !str_equal(question->order, STR("heavy")))
        return fail(err, ERR_INVALID, "order=%.*s is neither heavy nor time",
                    STR_ARG(question->order));
    growth->by = has_ops || by > FLAME_HOST ? (enum flame_by)by : FLAME_TRACK;
    growth->weight = (enum flame_weight)weight;
    return OK;
}

struct told { /* what the answer says besides its tree */
    struct answer_note notes[4];
    uint32_t count;
    bool is_unknown; /* there is nothing to weigh: no tree */
};

static void tell(struct told *told, const char *kind, struct str message)
{
    if (told->count < COUNT(told->notes))
        told->notes[told->count++] =
            (struct answer_note){.kind = kind, .message = message, .count = 1};
}

static void tell_unknown(struct told *told, const char *reason)
{
    tell(told, "unknown-weight", str_of(reason));
    told->is_unknown = true;
}

static void grow_again(struct growth *growth, struct str name)
{
    tree_close(&growth->tree);
    tree_open(&growth->tree, name);
}

static void grow_from_hosts(struct growth *growth, const struct selection *selections,
                            uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        growth->selection = &selections[i];
        growth->modules = module_names_of(selections[i].host, growth->arena);
        if (growth->by == FLAME_TRACK)
            grow_from_tracks(growth);
        else
            grow_from_ops(growth);
    }
}

/* Ops whose cost is not known are left out, which must be said. */
static void tell_costs(const struct growth *growth, struct told *told)
{
    if (growth->weight <= WEIGHT_COUNT || growth->by == FLAME_TRACK)
        return;
    if (!growth->has_costs)
        tell_unknown(told, growth->weight == WEIGHT_FLOPS
                               ? "the FLOPs of these ops are not known: the profile holds neither "
                                 "the HLO of their programs nor a figure"
                               : "the bytes of these ops are not known: the profile holds neither "
                                 "the HLO of their programs nor a figure");
    else if (growth->unknown_count > 0)
        tell(told, "costs-partly",
             str_format(growth->arena, "%llu op%s of unknown cost left out, %.3f ms in total",
                        (unsigned long long)growth->unknown_count, plural_s(growth->unknown_count),
                        (double)growth->unknown_ps * 1e-9));
}

/* Samples weigh what their type says, or one each. */
static void weigh_samples(struct growth *growth, struct flame *ret, struct told *told)
{
    if (growth->weight == WEIGHT_COUNT) {
        for (uint32_t i = 0; i < growth->tree.count; i++)
            growth->tree.nodes[i].self_ps = (int64_t)growth->tree.nodes[i].count;
        ret->unit = STR("count");
    } else if (growth->weight == WEIGHT_FLOPS) {
        tell_unknown(told, "stack samples do not record FLOPs");
    } else if (growth->weight == WEIGHT_TIME && !str_equal(ret->unit, STR("ps"))) {
        tell_unknown(told, "these samples record no time");
    } else if (growth->weight == WEIGHT_BYTES && !str_equal(ret->unit, STR("bytes"))) {
        tell_unknown(told, "these samples record no bytes");
    }
}

struct asking { /* one question, its hosts, and the answer as it comes about */
    const struct run_traces *run;
    const struct restriction *restriction;
    const struct flame_question *question;
    struct selection *selections;
    uint32_t count;
    bool has_ops;
    struct growth *growth;
    struct flame *ret;
    struct told *told;
};

/* Sampled on the hosts, else by the Python calls of the ops, else in a snapshot. False: there are
 * no stacks at all. */
static enum status grow_stacks(struct asking *asking, bool *ret_found, struct error *err)
{
    struct growth *growth = asking->growth;
    const struct flame_question *question = asking->question;
    bool of_ops = asking->has_ops && growth->by == FLAME_STACK && question->snapshot.count == 0 &&
                  question->type.count == 0;

    *ret_found = true;
    TRY(flame_stacks(asking->run, asking->restriction, question, of_ops, &growth->tree,
                     growth->arena, asking->ret, err));
    if (asking->ret->type.count == 0 && of_ops) {
        grow_from_hosts(growth, asking->selections, asking->count);
        if (growth->has_stacks) {
            tell_costs(growth, asking->told);
            return OK;
        }
        grow_again(growth, asking->run->name);
        TRY(flame_stacks(asking->run, asking->restriction, question, false, &growth->tree,
                         growth->arena, asking->ret, err));
    }
    *ret_found = asking->ret->type.count > 0;
    if (*ret_found)
        weigh_samples(growth, asking->ret, asking->told);
    return OK;
}

static void tell_fallback(struct asking *asking)
{
    struct str by = asking->question->by;

    if (asking->growth->by != FLAME_TRACK || str_equal(by, STR("track")))
        return;
    tell(asking->told, "by-fallback",
         str_equal(by, STR("stack"))
             ? STR("by track, because the profile holds no sampled stacks and no stacks of ops")
             : STR("by track, because the profile holds no ops"));
}

/* What was asked for, else what there is. */
static enum status grow_tree(struct asking *asking, struct error *err)
{
    struct growth *growth = asking->growth;
    bool found;

    if (growth->by == FLAME_STACK || growth->by == FLAME_BYTES) {
        TRY(grow_stacks(asking, &found, err));
        if (found)
            return OK;
        if (growth->by == FLAME_BYTES) {
            tell(asking->told, "by-fallback",
                 STR("the run holds no samples in bytes: save some with "
                     "jax.profiler.save_device_memory_profile"));
            asking->told->is_unknown = true;
            return OK;
        }
        growth->by = FLAME_TRACK;
    }
    tell_fallback(asking);
    if (growth->by == FLAME_TRACK && growth->weight > WEIGHT_COUNT)
        tell_unknown(asking->told, "bytes and FLOPs are known for ops only: group by scope, "
                                   "source, module, stack or host");
    else
        grow_from_hosts(growth, asking->selections, asking->count);
    tell_costs(growth, asking->told);
    return OK;
}

static void tell_cut_stacks(const struct growth *growth, struct told *told)
{
    if (growth->by == FLAME_STACK && growth->cut_count > 0)
        tell(told, "stacks-cut",
             str_format(growth->arena,
                        "%u of %u Python stacks were truncated when recorded "
                        "(JAX_TRACEBACK_IN_LOCATIONS_LIMIT); %u of them were completed from "
                        "others, the rest appear below \"(callers cut off)\"",
                        growth->cut_count, growth->stack_count, growth->completed_count));
}

/* Only what is small: the heaviest nodes are kept. */
static void tell_left_out(const struct growth *growth, uint32_t limit, struct told *told)
{
    if (growth->tree.count > limit)
        tell(told, "nodes-left-out",
             str_format(growth->arena,
                        "the heaviest %u of %u frames are shown; the other children of each frame "
                        "are summed as \"(other)\": limit= shows up to %d, a focus or a narrower "
                        "selection shows the rest",
                        limit, growth->tree.count, NODES_MAX));
}

static void finish(struct asking *asking)
{
    struct growth *growth = asking->growth;
    struct flame *ret = asking->ret;
    uint32_t asked = asking->question->node_limit;
    uint32_t limit = asked == 0 ? NODES_DEFAULT : asked < NODES_MAX ? asked : NODES_MAX;

    ret->by = str_of(by_words[growth->by]);
    ret->weight = str_of(weight_words[growth->weight]);
    ret->order = str_equal(asking->question->order, STR("time")) ? STR("time") : STR("heavy");
    if (ret->type.count == 0) {
        ret->unit = str_of(weight_units[growth->weight]);
        ret->of = growth->by == FLAME_TRACK ? STR("host") : STR("device");
        tell_cut_stacks(growth, asking->told);
    }
    if (!asking->told->is_unknown) {
        tree_total(&growth->tree);
        if (asking->question->focus.count > 0)
            tree_focus(&growth->tree, asking->question->focus, growth->arena, &ret->focus);
        if (asking->question->sandwich && ret->focus.places > 0)
            tree_sandwich(&growth->tree, asking->question->focus, limit,
                          str_equal(ret->order, STR("time")), growth->arena, &ret->sandwich);
        ret->node_count_all = growth->tree.count;
        tell_left_out(growth, limit, asking->told);
        ret->nodes = tree_prune(&growth->tree, limit, str_equal(ret->order, STR("time")),
                                growth->arena, &ret->node_count);
    }
    if (asking->told->count > 0) {
        struct answer_note *notes =
            arena_array(growth->arena, struct answer_note, asking->told->count);

        memcpy(notes, asking->told->notes, asking->told->count * sizeof(*notes));
        ret->notes = notes;
        ret->note_count = asking->told->count;
    }
}

enum status flame(const struct run_traces *run, const struct restriction *restriction,
                  const struct flame_question *question, struct arena *arena, struct flame *ret,
                  struct error *err)
{
    struct growth growth = {.question = question, .arena = arena};
    struct told told = {0};
    struct asking asking = {.run = run,
                            .restriction = restriction,
                            .question = question,
                            .growth = &growth,
                            .ret = ret,
                            .told = &told};

    *ret = (struct flame){0};
    TRY(restrict_run(run, restriction, arena, &asking.selections, &asking.count, err));
    for (uint32_t i = 0; i < asking.count; i++) {
        const struct attribution *attribution = asking.selections[i].host->attribution;

        asking.has_ops |= attribution != NULL && attribution->entry_count > 0;
    }
    TRY(parse(question, asking.has_ops, run->host_count > 0, &growth, err));

    uint32_t depth_max =
        growth.by == FLAME_STACK || growth.by == FLAME_HOST ? STACK_DEPTH : DEPTH_DEFAULT;

    growth.depth = question->depth > 0 && question->depth < depth_max ? question->depth : depth_max;
    tree_open(&growth.tree, run->name);

    enum status status = grow_tree(&asking, err);

    if (status == OK)
        finish(&asking);
    tree_close(&growth.tree);
    return status;
}
