/* SPDX-License-Identifier: Apache-2.0 */
/* Puts each row of the table of ops below its program, category and scope, sums what is known, and
 * keeps the largest nodes. */
#include "analyse/ops/op_tree.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/hlo/scope.h"
#include "analyse/ops/top_parts.h"
#include "base/names.h"
#include "trace/ps.h"

enum { NODES_DEFAULT = 2000, LEVELS = 4 };

const char *op_level_word(enum op_level level)
{
    static const char *const words[] = {"run", "program", "category", "scope", "op", "others"};
    return words[level];
}

struct grown { /* a node while the tree grows */
    struct str name;
    enum op_level level;
    uint32_t parent, op_count;
    int64_t self_ps, kind_ps[KIND_COUNT];
    uint64_t count;
    struct top_cost cost;
    int64_t flops_unknown_ps, bytes_unknown_ps;
    struct str reason; /* of the first op without a cost */
};

struct growing {
    const struct top_work *work;
    struct arena *arena;
    struct names *texts;
    struct map64 child_of; /* (parent, text) -> node */
    struct grown *nodes;   /* parents before children; the root is 0 */
    uint32_t count, capacity;
};

static uint32_t add_node(struct growing *tree, uint32_t parent, enum op_level level,
                         struct str name)
{
    if (tree->count == tree->capacity) {
        tree->capacity = tree->capacity == 0 ? 256 : 2 * tree->capacity;
        tree->nodes = memory_resize(tree->nodes, tree->capacity, sizeof *tree->nodes);
    }
    tree->nodes[tree->count] = (struct grown){.name = name, .level = level, .parent = parent};
    return tree->count++;
}

static uint32_t child_of(struct growing *tree, uint32_t parent, enum op_level level,
                         struct str name)
{
    uint32_t *at =
        map64_at(&tree->child_of, map64_pair(parent, names_add(tree->texts, name)), UINT32_MAX);

    if (*at == UINT32_MAX)
        *at = add_node(tree, parent, level, name);
    return *at;
}

static struct str or_none(struct str text, const char *none)
{
    return text.count > 0 ? text : str_of(none);
}

/* What PyTorch launched has one module and scope an execution, not one an op. */
static struct str name_at(const struct growing *tree, const struct top_row *row,
                          enum op_level level)
{
    const struct top_work *work = tree->work;

    if (level == LEVEL_OP)
        return row->name;
    if (work->by != BY_OP || row->op == NO_OP)
        return level == LEVEL_CATEGORY ? str_of(kind_word(row->kind))
               : level == LEVEL_SCOPE  ? STR("(no scope)")
                                       : STR("(no program)");

    const struct host_trace *host = &work->run->hosts[row->host];
    const struct op *op = &host->attribution->ops[row->op];

    if (level == LEVEL_CATEGORY)
        return or_none(top_category(host, row->op), kind_word(op->kind));
    if (op->caller != 0)
        return level == LEVEL_SCOPE ? STR("(several modules)") : STR("(PyTorch)");
    if (level == LEVEL_PROGRAM)
        return or_none(module_name_of(&work->hosts[row->place].modules, op), "(no program)");
    return or_none(scope_of_op(host->trace, op), "(no scope)");
}

/* Work of 0 is no share of a peak that nobody knows. */
static bool knows_a_peak(const struct device_spec *spec)
{
    for (uint32_t i = 0; i < PEAK_COUNT; i++)
        if (!isnan(spec->flops_per_s[i]))
            return true;
    return false;
}

static void add_cost(struct grown *node, const struct top_work *work, const struct top_row *row)
{
    const struct top_cost *cost = &row->cost;
    const struct device_spec *spec = &work->hosts[row->place].spec;
    bool waits = top_is_waiting(row);
    struct cell rate;

    node->cost.flops += cost->flops;
    node->cost.bytes += cost->bytes;
    if (cost->flops_known > 0)
        node->cost.compute_s += knows_a_peak(spec) ? cost->compute_s : NAN;
    if (cost->bytes_known > 0)
        node->cost.memory_s += isnan(spec->bytes_per_s) ? NAN : waits ? 0 : cost->memory_s;
    node->cost.flops_known += cost->flops_known;
    node->cost.bytes_known += cost->bytes_known;
    if (cost->flops_known == 0)
        ps_add(&node->flops_unknown_ps, row->self_ps);
    if (cost->bytes_known == 0)
        ps_add(&node->bytes_unknown_ps, row->self_ps);
    rate = top_cost_cell(work, row, TOP_FLOPS);
    if (node->reason.count == 0 && rate.kind == CELL_NULL)
        node->reason = rate.of.text;
}

static void add_row(struct growing *tree, const struct top_row *row, const enum op_level *levels)
{
    uint32_t at = 0;

    for (int i = -1; i < LEVELS; i++) {
        if (i >= 0)
            at = child_of(tree, at, levels[i], name_at(tree, row, levels[i]));

        struct grown *node = &tree->nodes[at];

        ps_add(&node->self_ps, row->self_ps);
        node->count += row->count;
        node->op_count++;
        for (int kind = 0; kind < KIND_COUNT; kind++)
            ps_add(&node->kind_ps[kind], row->kind_ps[kind]);
        add_cost(node, tree->work, row);
    }
}

static int by_self(const void *left, const void *right, void *data)
{
    const struct grown *nodes = data;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    if (nodes[a].self_ps != nodes[b].self_ps)
        return nodes[a].self_ps > nodes[b].self_ps ? -1 : 1;
    return str_compare(nodes[a].name, nodes[b].name);
}

static enum kind kind_of_node(const struct grown *node)
{
    int most = KIND_OTHER;

    for (int kind = 0; kind < KIND_COUNT; kind++)
        most = node->kind_ps[kind] > node->kind_ps[most] ? kind : most;
    return (enum kind)most;
}

static double share_of(double needed_s, int64_t self_ps)
{
    return self_ps > 0 && !ps_is_cut(self_ps) ? needed_s / ((double)self_ps * 1e-12) : NAN;
}

static struct str why_unknown(const struct grown *node, bool is_known, double share,
                              const struct top_work *work)
{
    if (!isnan(share))
        return STR("");
    if (!is_known)
        return or_none(node->reason, "none of these slices is an op of a program");
    if (node->self_ps <= 0)
        return STR("no time to divide by");
    for (uint32_t i = 0; i < work->host_count; i++)
        if (work->hosts[i].spec.reason.count > 0)
            return work->hosts[i].spec.reason;
    return STR("the device's peak for this type is unknown");
}

static struct op_tree_node told(const struct growing *tree, const struct grown *node)
{
    bool has_flops = node->cost.flops_known > 0, has_bytes = node->cost.bytes_known > 0;
    struct op_tree_node ret = {
        .name = node->name,
        .level = node->level,
        .kind = kind_of_node(node),
        .self_ps = node->self_ps,
        .count = node->count,
        .op_count = node->op_count,
        .flops = has_flops ? node->cost.flops : NAN,
        .bytes = has_bytes ? node->cost.bytes : NAN,
        .flops_share = has_flops ? share_of(node->cost.compute_s, node->self_ps) : NAN,
        .bandwidth_share = has_bytes ? share_of(node->cost.memory_s, node->self_ps) : NAN,
        .flops_unknown_ps = node->flops_unknown_ps,
        .bytes_unknown_ps = node->bytes_unknown_ps,
    };

    ret.flops_reason = why_unknown(node, has_flops, ret.flops_share, tree->work);
    ret.bytes_reason = why_unknown(node, has_bytes, ret.bandwidth_share, tree->work);
    return ret;
}

static void join(struct grown *to, const struct grown *node)
{
    ps_add(&to->self_ps, node->self_ps);
    to->count += node->count;
    to->op_count += node->op_count;
    for (int kind = 0; kind < KIND_COUNT; kind++)
        ps_add(&to->kind_ps[kind], node->kind_ps[kind]);
    to->cost.flops += node->cost.flops;
    to->cost.bytes += node->cost.bytes;
    to->cost.compute_s += node->cost.compute_s;
    to->cost.memory_s += node->cost.memory_s;
    to->cost.flops_known += node->cost.flops_known;
    to->cost.bytes_known += node->cost.bytes_known;
    ps_add(&to->flops_unknown_ps, node->flops_unknown_ps);
    ps_add(&to->bytes_unknown_ps, node->bytes_unknown_ps);
    if (to->reason.count == 0)
        to->reason = node->reason;
}

/* The largest nodes, and what is above them. */
static bool *choose(const struct growing *tree, const uint32_t *order, uint32_t limit)
{
    bool *chosen = arena_array(tree->arena, bool, tree->count);

    chosen[0] = true;
    for (uint32_t i = 0; i < tree->count && i < limit; i++)
        for (uint32_t at = order[i]; !chosen[at]; at = tree->nodes[at].parent)
            chosen[at] = true;
    return chosen;
}

/* Level by level, so that children are contiguous; those of one parent that are not chosen are one
 * node. */
static void put_nodes(struct growing *tree, uint32_t limit, struct op_tree *ret)
{
    uint32_t *order = arena_array(tree->arena, uint32_t, tree->count);
    uint32_t *first = arena_array(tree->arena, uint32_t, (size_t)tree->count + 2);
    uint32_t *children = arena_array(tree->arena, uint32_t, tree->count);
    uint32_t *from = arena_array(tree->arena, uint32_t, 2 * (size_t)tree->count);
    struct op_tree_node *to =
        arena_array(tree->arena, struct op_tree_node, 2 * (size_t)tree->count);

    for (uint32_t i = 0; i < tree->count; i++)
        order[i] = i;
    qsort_r(order, tree->count, sizeof *order, by_self, tree->nodes);

    const bool *chosen = choose(tree, order, limit);

    for (uint32_t i = 1; i < tree->count; i++)
        first[tree->nodes[i].parent + 2]++;
    for (uint32_t i = 2; i <= tree->count; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 0; i < tree->count; i++)
        if (order[i] != 0)
            children[first[tree->nodes[order[i]].parent + 1]++] = order[i];
    to[0] = told(tree, &tree->nodes[0]);
    ret->node_count = 1;
    for (uint32_t at = 0; at < ret->node_count; at++) {
        uint32_t index = from[at];
        struct grown others = {.level = LEVEL_OTHERS};
        uint32_t left = 0;

        if (index == UINT32_MAX)
            continue;
        to[at].first_child = ret->node_count;
        for (uint32_t i = first[index]; i < first[index + 1]; i++) {
            if (!chosen[children[i]]) {
                join(&others, &tree->nodes[children[i]]);
                left++;
                continue;
            }
            from[ret->node_count] = children[i];
            to[ret->node_count++] = told(tree, &tree->nodes[children[i]]);
        }
        if (left > 0) {
            others.name = str_format(tree->arena, "(%u others)", left);
            from[ret->node_count] = UINT32_MAX;
            to[ret->node_count++] = told(tree, &others);
        }
        to[at].child_count = ret->node_count - to[at].first_child;
    }
    ret->nodes = to;
    ret->node_count_all = tree->count;
}

static enum status order_levels(struct str word, enum op_level levels[LEVELS], struct error *err)
{
    static const enum op_level usual[] = {LEVEL_PROGRAM, LEVEL_CATEGORY, LEVEL_SCOPE};
    uint32_t count = 1;

    levels[0] = LEVEL_PROGRAM;
    levels[LEVELS - 1] = LEVEL_OP;
    if (str_equal(word, STR("category")))
        levels[0] = LEVEL_CATEGORY;
    else if (str_equal(word, STR("scope")))
        levels[0] = LEVEL_SCOPE;
    else if (word.count > 0 && !str_equal(word, STR("program")))
        return fail(err, ERR_INVALID, "first=%.*s is none of program, category, scope",
                    STR_ARG(word));
    for (size_t i = 0; i < COUNT(usual); i++)
        if (usual[i] != levels[0])
            levels[count++] = usual[i];
    return OK;
}

enum status op_tree(const struct run_traces *run, const struct restriction *restriction,
                    const struct op_tree_question *question, struct arena *arena,
                    struct op_tree *ret, struct error *err)
{
    const struct top_question asked = {.without_spread = true};
    struct growing tree = {.arena = arena};
    enum op_level levels[LEVELS];
    struct top_work work;
    enum top_by by;

    *ret = (struct op_tree){0};
    TRY(order_levels(question->first, levels, err));
    TRY(top_collect(run, restriction, &asked, arena, &work, &by, err));
    tree.work = &work;
    tree.texts = names_create();
    add_node(&tree, 0, LEVEL_ROOT, run->name);
    for (uint32_t i = 0; i < work.row_count; i++)
        if (work.rows[i].event_count > 0)
            add_row(&tree, &work.rows[i], levels);
    for (uint32_t i = 0; i < tree.count; i++) /* names outlive what they were read with */
        tree.nodes[i].name = str_copy(arena, tree.nodes[i].name);
    put_nodes(&tree, question->node_limit == 0 ? NODES_DEFAULT : question->node_limit, ret);
    ret->by = str_of(top_by_word(work.by));

    struct answer_note *notes = arena_array(arena, struct answer_note, TOP_COST_NOTES);

    ret->note_count = top_cost_notes(&work, notes);
    ret->notes = notes;
    names_destroy(tree.texts);
    map64_free(&tree.child_of);
    free(tree.nodes);
    top_free(&work);
    return OK;
}
