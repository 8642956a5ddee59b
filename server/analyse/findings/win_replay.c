/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a change of each finding and replays the steps with it, then with two of them at once. */
#include "analyse/findings/win_replay.h"

#include "analyse/critical/gains.h"
#include "analyse/findings/win_time.h"
#include "trace/ps.h"

static const double adds_up = 0.9; /* of the sum of two wins */

enum by { BY_NOTHING, BY_KIND, BY_OVERLAP, BY_EVEN, BY_FUSED, BY_OP };

static const struct {
    const char *rule;
    enum by by;
    enum kind kind;
} changes[] = {
    {"input-bound", BY_KIND, KIND_INPUT},
    {"recompiles", BY_KIND, KIND_COMPILE},
    {"compile-in-steps", BY_KIND, KIND_COMPILE},
    {"changing-sizes", BY_KIND, KIND_COMPILE},
    {"exposed-collectives", BY_OVERLAP, KIND_COMMUNICATION},
    {"synchronous-collectives", BY_OVERLAP, KIND_COMMUNICATION},
    {"slow-bus", BY_KIND, KIND_COMMUNICATION},
    {"small-collectives", BY_KIND, KIND_COMMUNICATION},
    {"waits-for-copies", BY_OVERLAP, KIND_COPY},
    {"exposed-transfers", BY_OVERLAP, KIND_COPY},
    {"blocking-transfers", BY_KIND, KIND_COPY},
    {"small-transfers", BY_KIND, KIND_COPY},
    {"pageable-transfers", BY_KIND, KIND_COPY},
    {"implicit-transfers", BY_KIND, KIND_COPY},
    {"repeated-upload", BY_KIND, KIND_COPY},
    {"straggler-device", BY_EVEN, KIND_COUNT},
    {"device-imbalance", BY_EVEN, KIND_COUNT},
    {"dispatch-bound", BY_FUSED, KIND_COUNT},
    {"tiny-kernels", BY_FUSED, KIND_COUNT},
    {"calls-shorter-than-dispatch", BY_FUSED, KIND_COUNT},
    {"f32-products", BY_OP, KIND_COMPUTE},
    {"tf32-off", BY_OP, KIND_COMPUTE},
    {"no-matrix-units", BY_OP, KIND_COMPUTE},
    {"layout-copies", BY_OP, KIND_COMPUTE},
    {"off-tile-shapes", BY_OP, KIND_COMPUTE},
    {"small-memory-bound-ops", BY_OP, KIND_COMPUTE},
    {"undonated-copies", BY_OP, KIND_COMPUTE},
    {"overwrite-copies", BY_OP, KIND_COMPUTE},
    {"returned-copies", BY_OP, KIND_COMPUTE},
    {"one-hot-products", BY_OP, KIND_COMPUTE},
    {"widened-to-f64", BY_OP, KIND_COMPUTE},
    {"repeated-gathers", BY_KIND, KIND_COMMUNICATION},
    {"wide-collectives", BY_KIND, KIND_COMMUNICATION},
};

/* By how much the time of a kind shrinks that the counted steps hold. */
static double factor_of_kind(const struct steps *steps, enum kind kind, int64_t win_ps)
{
    int64_t total_ps = 0;

    for (uint32_t i = 0; i < steps->count; i++)
        if (counted_step(steps, &steps->items[i]))
            ps_add(&total_ps, steps->items[i].time.kinds_ps[kind]);
    return total_ps <= win_ps ? 0 : 1 - (double)win_ps / (double)total_ps;
}

static double *ones(struct arena *arena, size_t count)
{
    double *ret = arena_array(arena, double, count + 1);

    for (size_t i = 0; i <= count; i++)
        ret[i] = 1;
    return ret;
}

/* The op that the finding's evidence names, where it takes as much as the finding wins. */
static bool scale_op(struct memo *memo, const struct finding *finding, struct edits *ret)
{
    const struct table *ops;
    struct error ignored = {0};
    struct str name = {0};
    int64_t self_ps = 0;

    for (uint32_t i = 0; i < finding->evidence_count && name.count == 0; i++)
        name = finding->evidence[i].find;
    if (name.count == 0 || memo_ops(memo, &ops, &ignored) != OK)
        return false;
    for (uint32_t row = 0; row < ops->row_count; row++) {
        int64_t row_ps = 0;

        if (str_equal(table_text_at(ops, row, "name"), name) &&
            table_integer_at(ops, row, "self_ps", &row_ps))
            ps_add(&self_ps, row_ps);
    }
    if (self_ps <= 0)
        return false;
    ret->late = true;
    ret->ops = arena_array(memo->arena, double *, (size_t)memo->run->host_count + 1);
    for (uint32_t i = 0; i < memo->run->host_count; i++) {
        const struct host_trace *host = &memo->run->hosts[i];
        uint32_t count = host->attribution == NULL ? 0 : host->attribution->op_count;

        ret->ops[i] = ones(memo->arena, count);
        for (uint32_t op = 0; op < count; op++)
            if (str_equal(trace_name(host->trace, host->attribution->ops[op].name), name))
                ret->ops[i][op] =
                    self_ps <= finding->win_ps ? 0 : 1 - (double)finding->win_ps / (double)self_ps;
    }
    return true;
}

/* The change that the finding asks for; false: none is known. */
static bool change_of(struct memo *memo, const struct steps *steps, const struct finding *finding,
                      struct edits *ret)
{
    edits_none(ret);
    for (size_t i = 0; i < COUNT(changes) && finding->has_win && finding->win_ps > 0; i++) {
        if (strcmp(changes[i].rule, finding->rule->name) != 0)
            continue;
        switch (changes[i].by) {
        case BY_KIND:
            ret->kinds[changes[i].kind] = factor_of_kind(steps, changes[i].kind, finding->win_ps);
            return true;
        case BY_OVERLAP:
            ret->overlap[changes[i].kind] = true;
            return true;
        case BY_EVEN:
            return ret->devices_even = true;
        case BY_FUSED:
            return ret->fuse_launches = true;
        default:
            return scale_op(memo, finding, ret);
        }
    }
    return false;
}

/* Both at once. */
static void join(const struct edits *one, const struct edits *other, const struct run_traces *run,
                 struct arena *arena, struct edits *ret)
{
    *ret = *one;
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        ret->kinds[kind] *= other->kinds[kind];
        ret->overlap[kind] |= other->overlap[kind];
    }
    ret->fuse_launches |= other->fuse_launches;
    ret->devices_even |= other->devices_even;
    ret->late |= other->late;
    if (ret->ops == NULL || other->ops == NULL) {
        ret->ops = ret->ops == NULL ? other->ops : ret->ops;
        return;
    }
    ret->ops = arena_array(arena, double *, (size_t)run->host_count + 1);
    for (uint32_t i = 0; i < run->host_count; i++) {
        uint32_t count =
            run->hosts[i].attribution == NULL ? 0 : run->hosts[i].attribution->op_count;

        ret->ops[i] = ones(arena, count);
        for (uint32_t op = 0; op < count; op++)
            ret->ops[i][op] = one->ops[i][op] * other->ops[i][op];
    }
}

struct asked_changes {
    const struct edits *edits[REPLAYED_FINDINGS];
    uint32_t of[REPLAYED_FINDINGS]; /* findings */
    uint32_t count;
};

static void ask_changes(struct memo *memo, const struct steps *steps,
                        const struct finding *findings, uint32_t count, bool known,
                        struct asked_changes *ret)
{
    ret->count = 0;
    for (uint32_t i = 0; i < count && ret->count < REPLAYED_FINDINGS; i++) {
        struct edits *edits = arena_new(memo->arena, struct edits);

        if ((known && !findings[i].has_replay) || !change_of(memo, steps, &findings[i], edits))
            continue;
        ret->edits[ret->count] = edits;
        ret->of[ret->count++] = i;
    }
}

static bool can_replay(struct memo *memo, const struct steps **ret_steps, int64_t *ret_total_ps)
{
    const struct counted *counted;
    struct error ignored = {0};

    if (memo->restriction->has_window || memo_steps(memo, ret_steps, &ignored) != OK ||
        memo_counted(memo, &counted, &ignored) != OK || !counted->of_steps)
        return false;
    *ret_total_ps = counted->total_ps;
    return counted->total_ps > 0;
}

void win_replay_find(struct memo *memo, struct finding *findings, uint32_t count)
{
    double shares[REPLAYED_FINDINGS];
    struct asked_changes asked;
    const struct steps *steps;
    int64_t total_ps;

    if (!can_replay(memo, &steps, &total_ps))
        return;
    ask_changes(memo, steps, findings, count, false, &asked);
    if (asked.count == 0 || !gains_find(memo->run, steps, asked.edits, asked.count, shares))
        return;
    for (uint32_t i = 0; i < asked.count; i++) {
        struct finding *finding = &findings[asked.of[i]];
        int64_t gain_ps = ps_of_real(shares[i] * (double)total_ps);

        finding->has_replay = true;
        finding->replay_ps = gain_ps < 0                 ? 0
                             : gain_ps > finding->win_ps ? finding->win_ps
                                                         : gain_ps;
    }
}

void win_replay_tell(struct memo *memo, struct finding *findings, uint32_t count)
{
    enum { PAIRS = REPLAYED_FINDINGS * (REPLAYED_FINDINGS - 1) / 2 };
    const struct edits *pairs[PAIRS];
    double shares[PAIRS];
    struct asked_changes asked;
    const struct steps *steps;
    uint32_t pair = 0;
    int64_t total_ps;

    if (!can_replay(memo, &steps, &total_ps))
        return;
    ask_changes(memo, steps, findings, count, true, &asked);
    for (uint32_t late = 1; late < asked.count; late++) {
        for (uint32_t first = 0; first < late; first++) {
            struct edits *both = arena_new(memo->arena, struct edits);

            join(asked.edits[first], asked.edits[late], memo->run, memo->arena, both);
            pairs[pair++] = both;
        }
    }
    if (pair == 0 || !gains_find(memo->run, steps, pairs, pair, shares))
        return;
    pair = 0;
    for (uint32_t late = 1; late < asked.count; late++) {
        struct finding *finding = &findings[asked.of[late]];

        for (uint32_t first = 0; first < late; first++, pair++) {
            const struct finding *other = &findings[asked.of[first]];
            double sum = (double)finding->replay_ps + (double)other->replay_ps;

            if (finding->same_time_as == 0 && finding->replay_ps > 0 && other->replay_ps > 0 &&
                shares[pair] * (double)total_ps < adds_up * sum)
                finding->same_time_as = other->rank;
        }
    }
}
