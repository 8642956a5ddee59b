/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about arithmetic: what is computed in more bits, more bytes or more often than it must be.
 *
 * Each rule is a question about one op, answered by the part of its time that could be saved; the
 * ops of a host for which it is not zero make one finding, if together they matter.
 */
#include <math.h>

#include "analyse/findings/fault_facts.h"
#include "analyse/findings/findings.h"
#include "base/human.h"
#include "trace/ps.h"

/* 0: not concerned; else the part of its time that is won at most; NAN: concerned, but nobody can
 * say how much. */
typedef double op_question(const struct compute_host *host, const struct op_facts *op);

struct compute_rule {
    op_question *ask;
    double least; /* share of op time from which it is told */
    enum severity severity;
    enum confidence confidence;
    const char *what, *remedy;
    const char *win_reason; /* where a win is not known */
};

static bool is_product(const struct op_facts *op)
{
    return cost_is_known((enum cost_rule)op->cost->flops_rule) && op->cost->matrix_flops > 0;
}

static bool is_bound_by_compute(const struct compute_host *host, const struct op_facts *op)
{
    return op_compute_s(host, op) >= op_memory_s(host, op);
}

static double slower_by(double slow_per_s, double fast_per_s)
{
    const double least = 1.5;

    return fast_per_s > least * slow_per_s ? 1 - slow_per_s / fast_per_s : 0;
}

static double f32_product(const struct compute_host *host, const struct op_facts *op)
{
    const double *peaks = host->spec.flops_per_s;

    if (!is_product(op) || op->cost->type != HLO_F32 || (op->cost->flags & COST_HIGHEST) != 0 ||
        !is_bound_by_compute(host, op))
        return 0;
    return slower_by(isnan(peaks[PEAK_TF32]) ? peaks[PEAK_F32] : peaks[PEAK_TF32], peaks[PEAK_F16]);
}

static double full_precision(const struct compute_host *host, const struct op_facts *op)
{
    const double *peaks = host->spec.flops_per_s;

    if (!is_product(op) || op->cost->type != HLO_F32 || (op->cost->flags & COST_HIGHEST) == 0)
        return 0;
    /* Matrix units of bf16 alone make a product of f32 out of six. */
    return isnan(peaks[PEAK_TF32]) && isnan(peaks[PEAK_F32]) && !isnan(peaks[PEAK_F16])
               ? 1 - 1.0 / 6
               : slower_by(peaks[PEAK_F32], peaks[PEAK_TF32]);
}

/* Slower than the vector units alone would be. */
static double without_matrix_units(const struct compute_host *host, const struct op_facts *op)
{
    bool is_short = op->cost->type == HLO_BF16 || op->cost->type == HLO_F16;
    double rate = op->cost->matrix_flops * op->cost->run_count / op->seconds;

    if (!is_product(op) || !is_short || !is_bound_by_compute(host, op) || op->seconds <= 0 ||
        !(rate < host->spec.flops_per_s[PEAK_F32]))
        return 0;
    return 1 - op_compute_s(host, op) / op->seconds;
}

static double layout_copy(const struct compute_host *host, const struct op_facts *op)
{
    bool moves = op->cost->flops == 0 && op->cost->transcendentals == 0 && op->cost->bytes > 0 &&
                 (op->cost->flags & COST_ASYNC) == 0;
    bool named = str_contains(op->name, STR("transpose")) || str_starts(op->name, STR("copy"));

    (void)host;
    return str_equal(op->category, STR("data formatting")) || (moves && named) ? 1 : 0;
}

static double computed_again(const struct compute_host *host, const struct op_facts *op)
{
    (void)host;
    return str_contains(op->scope, STR("rematted_computation")) ||
                   str_contains(op->name, STR(".remat"))
               ? 1
               : 0;
}

static double same_each_time(const struct compute_host *host, const struct op_facts *op)
{
    enum { RUNS_MIN = 3 };

    (void)host;
    return op->shapes.is_of_constants && op->cost->run_count >= RUNS_MIN ? 1 : 0;
}

static double stored_scores(const struct compute_host *host, const struct op_facts *op)
{
    (void)host;
    return op->shapes.is_scores ? NAN : 0;
}

static double off_tile(const struct compute_host *host, const struct op_facts *op)
{
    const double least = 0.1;

    if (!is_product(op) || host->spec.sheet == NULL || host->spec.sheet->vendor == 'C')
        return 0;
    return op->shapes.wasted >= least ? op->shapes.wasted : 0;
}

/* What such an op needs beyond its bytes is in its beginning and end. */
static double small_and_memory_bound(const struct compute_host *host, const struct op_facts *op)
{
    enum { EVENTS_MIN = 100, MEAN_PS_MAX = 10000000 };
    double best_s = op_memory_s(host, op);

    if (op->total->event_count < EVENTS_MIN ||
        op->total->total_ps / op->total->event_count > MEAN_PS_MAX || op->seconds <= 0 ||
        (op->cost->flags & COST_ASYNC) != 0 || !(best_s > op_compute_s(host, op)))
        return 0;
    return best_s < op->seconds ? 1 - best_s / op->seconds : 0;
}

static const struct compute_rule questions[] = {
    {f32_product, 0.05, SEVERITY_WARNING, CONFIDENCE_MEDIUM, "products of f32 matrices",
     "Compute in bf16 where the model allows it: cast the operands{jax:, or set "
     "`jax.default_matmul_precision`; accumulate in f32 with `preferred_element_type`}.",
     ""},
    {full_precision, 0.03, SEVERITY_WARNING, CONFIDENCE_HIGH,
     "f32 matrix products at the highest precision",
     "{jax:Set `jax_default_matmul_precision` to `tensorfloat32` or `default`, and "
     "keep `highest` for the products that need it.}{!jax:Ask for the highest "
     "precision only where products need it.}",
     ""},
    {without_matrix_units, 0.03, SEVERITY_WARNING, CONFIDENCE_MEDIUM,
     "16-bit matrix products slower than the vector units alone would be",
     "Make dimensions multiples of 8 and compute the whole product in one library call; see the "
     "kernels' names on the kernels page.",
     ""},
    {layout_copy, 0.05, SEVERITY_WARNING, CONFIDENCE_MEDIUM, "transposes and copies",
     "Keep one layout from op to op: choose {jax:`dimension_numbers` and }the order of axes that "
     "suits the heaviest op, and transpose parameters once, outside the step.",
     ""},
    {computed_again, 0.02, SEVERITY_INFO, CONFIDENCE_HIGH, "values that are computed twice",
     "If memory allows, save more{jax: in `jax.checkpoint`: a policy such as `dots_saveable`, or "
     "fewer checkpointed blocks}.",
     ""},
    {same_each_time, 0.01, SEVERITY_WARNING, CONFIDENCE_HIGH,
     "results computed from constants alone, equal in every execution",
     "Compute it once, outside of the {jax:jitted function}{!jax:step}, and pass it "
     "as an argument.",
     ""},
    {stored_scores, 0.02, SEVERITY_INFO, CONFIDENCE_MEDIUM,
     "attention that writes its full matrix of scores to memory",
     "Use {jax+nvidia:`jax.nn.dot_product_attention(implementation='cudnn')`, or }{jax:a "
     "Pallas kernel of flash attention}{!jax:a kernel of flash attention}: it does "
     "not write S x S values to memory.",
     "how long a fused attention takes depends on its kernel"},
    {off_tile, 0.03, SEVERITY_INFO, CONFIDENCE_MEDIUM,
     "matrix products whose dimensions leave the tiles of the matrix units partly empty",
     "Pad the sizes, or choose them, to multiples of {gpu:8}{tpu:128}{!gpu+!tpu:8}.", ""},
    {small_and_memory_bound, 0.1, SEVERITY_WARNING, CONFIDENCE_LOW,
     "small memory-bound ops in a row",
     "Let the compiler join them: {jax:jit the whole step, avoid what breaks fusions "
     "(custom calls, `optimization_barrier`, changes of layout), or write one Pallas "
     "kernel}{!jax:compile the whole step, avoid what breaks fusions}.",
     ""},
};

enum { TRIFLE = 1000 };

struct concerned { /* ops of one host */
    int64_t self_ps;
    double won_sum; /* of picoseconds */
    uint32_t count;
    const struct op_facts *heaviest[3];
    bool is_won; /* of all it is known what is won */
};

static void add_op(struct concerned *concerned, const struct op_facts *op, double won)
{
    concerned->is_won &= !isnan(won);
    concerned->count++;
    ps_add(&concerned->self_ps, op->self_ps);
    concerned->won_sum += isnan(won) ? 0 : (double)op->self_ps * won;
    for (size_t i = 0; i < COUNT(concerned->heaviest) && op != NULL; i++) {
        const struct op_facts *other = concerned->heaviest[i];

        if (other != NULL && other->self_ps >= op->self_ps)
            continue;
        concerned->heaviest[i] = op;
        op = other;
    }
}

static void tell(struct memo *memo, struct finding_list *list, const struct compute_rule *rule,
                 uint32_t host, const struct compute_host *of, const struct concerned *concerned)
{
    double share = (double)concerned->self_ps / (double)of->self_ps;
    const struct op_facts *first = concerned->heaviest[0];
    struct finding finding = {.severity = rule->severity,
                              .confidence = rule->confidence,
                              .remedy = str_of(rule->remedy),
                              .win_reason = str_of(rule->win_reason)};

    finding.text = text_on_host(
        memo, host, "%s of op time, %s in counted steps, is spent on %s: %.*s%s.",
        human_share(share).text, human_ps(concerned->self_ps).text, rule->what,
        STR_ARG(first->name),
        concerned->count == 1 ? ""
                              : str_format(memo->arena, " and %u more", concerned->count - 1).at);
    if (concerned->is_won)
        finding_win(&finding, ps_of_real(concerned->won_sum));
    for (size_t i = 0; i < COUNT(concerned->heaviest) && concerned->heaviest[i] != NULL; i++) {
        const struct op_facts *op = concerned->heaviest[i];
        struct evidence *proof = finding_prove_ps(
            &finding, str_format(memo->arena, "self time of %.*s", STR_ARG(op->name)).at,
            op->self_ps);

        proof->host = host;
        proof->view = "ops";
        proof->by = "op";
        proof->find = op->name;
        proof->slice = op->total->first;
    }
    findings_add(list, &finding);
}

static const bool *ops_at_fault(struct memo *memo, const struct fault_facts *faults, uint32_t host,
                                const struct compute_host *of)
{
    bool *ret = arena_array(memo->arena, bool, (size_t)of->op_count + 1);

    for (uint32_t i = 0; i < faults->count; i++)
        if (faults->items[i].host == host && faults->items[i].op != NULL)
            ret[faults->items[i].op - of->ops] = true;
    return ret;
}

static enum status ask(struct memo *memo, struct finding_list *list,
                       const struct compute_rule *rule, struct error *err)
{
    const struct compute_facts *compute;
    const struct fault_facts *faults = &(struct fault_facts){0};
    const struct counted *counted;

    TRY(memo_compute(memo, &compute, err));
    TRY(memo_counted(memo, &counted, err));
    /* Copies that are a program's fault are told by that fault's rule. */
    if (rule->ask == layout_copy)
        TRY(memo_faults(memo, &faults, err));
    for (uint32_t host = 0; host < memo->run->host_count; host++) {
        const struct compute_host *of = &compute->hosts[host];
        const bool *told = ops_at_fault(memo, faults, host, of);
        struct concerned concerned = {.is_won = true};

        for (uint32_t i = 0; i < of->op_count; i++) {
            const struct op_facts *op = &of->ops[i];
            double won = op->self_ps > 0 && !told[i] ? rule->ask(of, op) : 0;

            if (won != 0)
                add_op(&concerned, op, won);
        }
        /* Much of the ops' time may be nothing of the steps'. */
        if (concerned.count > 0 && (double)concerned.self_ps >= rule->least * (double)of->self_ps &&
            concerned.self_ps >= counted->total_ps / TRIFLE)
            tell(memo, list, rule, host, of, &concerned);
    }
    return OK;
}

#define FIND(name, at)                                                                             \
    static enum status name(struct memo *memo, struct finding_list *list, struct error *err)       \
    {                                                                                              \
        return ask(memo, list, &questions[at], err);                                               \
    }

FIND(find_f32_products, 0)
FIND(find_full_precision, 1)
FIND(find_without_matrix_units, 2)
FIND(find_layout_copies, 3)
FIND(find_computed_again, 4)
FIND(find_same_each_time, 5)
FIND(find_stored_scores, 6)
FIND(find_off_tile, 7)
FIND(find_small_ops, 8)

const struct rule rules_compute[] = {
    {.name = "f32-products",
     .theme = "compute",
     .when = "f32 matrix products take 5 % of op time or more, on a device that is faster at lower "
             "precision",
     .find = find_f32_products},
    {.name = "tf32-off",
     .theme = "compute",
     .when = "f32 matrix products at the highest precision take 3 % of op time or more",
     .find = find_full_precision},
    {.name = "no-matrix-units",
     .theme = "compute",
     .when = "16-bit matrix products are slower than the vector units alone would be, and take 3 % "
             "of op time or more",
     .find = find_without_matrix_units},
    {.name = "layout-copies",
     .theme = "compute",
     .when = "transposes and copies take 5 % of op time or more",
     .find = find_layout_copies},
    {.name = "rematerialisation",
     .theme = "compute",
     .when = "ops that compute a value again take 2 % of op time or more",
     .find = find_computed_again},
    {.name = "same-each-step",
     .theme = "compute",
     .when = "ops whose inputs are all constants take 1 % of op time or more",
     .find = find_same_each_time},
    {.name = "attention-scores",
     .theme = "compute",
     .when = "matrix products with an S x S result, S 256 or more, take 2 % of op time or more",
     .find = find_stored_scores},
    {.name = "off-tile-shapes",
     .theme = "compute",
     .when = "matrix products that leave a tenth of their tiles empty take 3 % of op time or more",
     .find = find_off_tile},
    {.name = "small-memory-bound-ops",
     .theme = "compute",
     .when = "memory-bound ops of 10 µs or less take a tenth of op time or more",
     .find = find_small_ops},
    {0},
};
