/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about what a program asks of the compiler: each names the op, its line, what to change, and
 * what it wins at most by the op's own time.
 *
 * A rule is a kind of fault (analyse/hlo/fault.h); the faults of a host make one finding, if the
 * ops concerned take enough of its time.
 */
#include <math.h>

#include "analyse/findings/fault_facts.h"
#include "analyse/findings/findings.h"
#include "base/human.h"
#include "trace/ps.h"

struct fault_rule {
    enum fault_kind kind;
    double least; /* share of op time from which it is told */
    enum severity severity;
    enum confidence confidence;
    const char *what, *remedy;
    const char *win_reason; /* where a win is not known */
};

static const struct fault_rule questions[] = {
    {FAULT_UNDONATED_COPY, 0.02, SEVERITY_WARNING, CONFIDENCE_HIGH,
     "copying arguments that are written over and not donated",
     "Donate the argument{jax: (`jax.jit(..., donate_argnums=...)`)} if the caller does not use it "
     "afterwards: it is then written in place.",
     ""},
    {FAULT_OVERWRITE_COPY, 0.02, SEVERITY_WARNING, CONFIDENCE_MEDIUM,
     "copying values that are written over while something else still reads them",
     "Read what is needed from the updated value, so that nothing reads the old one afterwards.",
     ""},
    {FAULT_RETURNED_COPY, 0.02, SEVERITY_WARNING, CONFIDENCE_HIGH,
     "copying arguments, or a result once more, to return them",
     "Return each value once, and no argument that is not changed: the caller has it.", ""},
    {FAULT_ONE_HOT_PRODUCT, 0.02, SEVERITY_WARNING, CONFIDENCE_MEDIUM,
     "matrix products with one-hot matrices",
     "Take the rows by their numbers instead of multiplying by a one-hot matrix{jax:: "
     "`table[ids]`, "
     "and `jax.ops.segment_sum` instead of the transposed product}.{tpu: Measure both: on a TPU "
     "the product may be faster where the table is small.}",
     ""},
    {FAULT_LARGE_CONSTANT, 0, SEVERITY_INFO, CONFIDENCE_HIGH, "",
     "Pass the array to the {jax:jitted function}{!jax:compiled function} as an argument instead "
     "of "
     "using it from outside: it is then not compiled into the program, which holds it once more.",
     "it costs memory and the time of compilations"},
    {FAULT_UNUSED_VECTORS, 0.01, SEVERITY_WARNING, CONFIDENCE_HIGH,
     "factorisations whose vectors nobody reads",
     "Ask for the values alone{jax:: `jnp.linalg.svd(x, compute_uv=False)`, "
     "`jnp.linalg.eigvals(x)`}.",
     "what the values alone take depends on the library"},
    {FAULT_LOOP, 0.01, SEVERITY_INFO, CONFIDENCE_MEDIUM,
     "loops whose body ran once each time, beside that body",
     "Call the body without the loop{jax:, or under `jax.lax.cond`}, where one turn is the usual "
     "case.",
     ""},
    {FAULT_DOUBLE_CAST, 0.01, SEVERITY_WARNING, CONFIDENCE_MEDIUM,
     "casting 8-bit floats to a wider type and back",
     "Cast once: multiply the scales, not the values, and keep the 8-bit values that are there.",
     "the casts are parts of ops that do more"},
    {FAULT_WIDENED_TO_F64, 0.02, SEVERITY_WARNING, CONFIDENCE_MEDIUM,
     "f64 arithmetic on values that were f32 or narrower",
     "Keep constants and NumPy arrays in the type of the others{jax: (`np.float32`, "
     "`jnp.asarray(x, dtype=...)`), or leave `jax_enable_x64` off}.",
     ""},
    {FAULT_REPEATED_GATHER, 0.01, SEVERITY_WARNING, CONFIDENCE_HIGH,
     "gathering values that another all-gather gathers already",
     "Gather once, and convert what was gathered.", ""},
    {FAULT_WIDE_COLLECTIVE, 0.01, SEVERITY_WARNING, CONFIDENCE_MEDIUM,
     "collectives that move more bytes than their users need",
     "Take the part, the sum or the narrower type before the collective, not after it{jax:: slice "
     "or "
     "sum before `all_gather`, gather bf16 and convert afterwards, `psum_scatter` instead of "
     "`psum` "
     "and a slice}.",
     ""},
};

_Static_assert(COUNT(questions) == FAULT_KIND_COUNT, "by kind");

struct concerned { /* faults of one kind and host */
    int64_t self_ps;
    double won_sum, bytes; /* picoseconds */
    uint32_t count;
    const struct told_fault *heaviest[3];
    bool is_won; /* of all it is known what is won */
};

static int64_t time_of(const struct told_fault *fault)
{
    return fault->op == NULL ? 0 : fault->op->self_ps;
}

static bool goes_before(const struct told_fault *a, const struct told_fault *b)
{
    return time_of(a) != time_of(b) ? time_of(a) > time_of(b) : a->bytes > b->bytes;
}

static void add_fault(struct concerned *concerned, const struct told_fault *fault)
{
    concerned->is_won &= !isnan(fault->won);
    concerned->count++;
    concerned->bytes += fault->bytes;
    ps_add(&concerned->self_ps, time_of(fault));
    concerned->won_sum += isnan(fault->won) ? 0 : (double)time_of(fault) * fault->won;
    for (size_t i = 0; i < COUNT(concerned->heaviest) && fault != NULL; i++) {
        const struct told_fault *other = concerned->heaviest[i];

        if (other != NULL && !goes_before(fault, other))
            continue;
        concerned->heaviest[i] = fault;
        fault = other;
    }
}

static struct str place_of(struct memo *memo, const struct told_fault *fault)
{
    return fault->source.count == 0 ? fault->name
                                    : str_format(memo->arena, "%.*s (%.*s)", STR_ARG(fault->name),
                                                 STR_ARG(fault->source));
}

static struct human bytes_of(double bytes)
{
    return human_bytes(bytes < 1e18 ? (uint64_t)bytes : UINT64_MAX);
}

static struct str text_of(struct memo *memo, const struct fault_rule *rule, uint32_t host,
                          const struct compute_host *of, const struct concerned *concerned)
{
    const struct told_fault *first = concerned->heaviest[0];
    struct str more = concerned->count == 1
                          ? STR("")
                          : str_format(memo->arena, " and %u more", concerned->count - 1);
    struct str place = place_of(memo, first);

    if (rule->kind == FAULT_LARGE_CONSTANT)
        return text_on_host(
            memo, host, "%s of data stand in programs as constants: %.*s of %.*s%.*s.",
            bytes_of(concerned->bytes).text, STR_ARG(place), STR_ARG(first->module), STR_ARG(more));
    return text_on_host(memo, host, "%s of op time, %s in counted steps, is spent on %s: %.*s%.*s.",
                        human_share((double)concerned->self_ps / (double)of->self_ps).text,
                        human_ps(concerned->self_ps).text, rule->what, STR_ARG(place),
                        STR_ARG(more));
}

static void prove(struct memo *memo, struct finding *finding, uint32_t host,
                  const struct told_fault *fault)
{
    struct evidence *proof;

    if (fault->op == NULL) {
        proof = finding_prove(
            finding, str_format(memo->arena, "bytes of %.*s", STR_ARG(fault->name)).at,
            (struct cell){.kind = CELL_INTEGER, .of.integer = (int64_t)fault->bytes}, UNIT_BYTES);
        proof->view = "hlo";
        proof->module = fault->module;
    } else {
        proof = finding_prove_ps(
            finding, str_format(memo->arena, "self time of %.*s", STR_ARG(fault->name)).at,
            fault->op->self_ps);
        proof->view = "ops";
        proof->by = "op";
        proof->find = fault->name;
        proof->slice = fault->op->total->first;
    }
    proof->host = host;
}

static void tell(struct memo *memo, struct finding_list *list, const struct fault_rule *rule,
                 uint32_t host, const struct compute_host *of, const struct concerned *concerned)
{
    struct finding finding = {.severity = rule->severity,
                              .confidence = rule->confidence,
                              .text = text_of(memo, rule, host, of, concerned),
                              .remedy = str_of(rule->remedy),
                              .win_reason = str_of(rule->win_reason)};

    if (concerned->is_won)
        finding_win(&finding, ps_of_real(concerned->won_sum));
    for (size_t i = 0; i < COUNT(concerned->heaviest) && concerned->heaviest[i] != NULL; i++)
        prove(memo, &finding, host, concerned->heaviest[i]);
    findings_add(list, &finding);
}

static enum status ask(struct memo *memo, struct finding_list *list, const struct fault_rule *rule,
                       struct error *err)
{
    const struct compute_facts *compute;
    const struct fault_facts *faults;

    TRY(memo_compute(memo, &compute, err));
    TRY(memo_faults(memo, &faults, err));
    for (uint32_t host = 0; host < memo->run->host_count; host++) {
        const struct compute_host *of = &compute->hosts[host];
        struct concerned concerned = {.is_won = true};

        for (uint32_t i = 0; i < faults->count; i++)
            if (faults->items[i].kind == rule->kind && faults->items[i].host == host)
                add_fault(&concerned, &faults->items[i]);
        if (concerned.count > 0 && (double)concerned.self_ps >= rule->least * (double)of->self_ps)
            tell(memo, list, rule, host, of, &concerned);
    }
    return OK;
}

#define FIND(name, at)                                                                             \
    static enum status name(struct memo *memo, struct finding_list *list, struct error *err)       \
    {                                                                                              \
        return ask(memo, list, &questions[at], err);                                               \
    }

FIND(find_undonated, 0)
FIND(find_overwritten, 1)
FIND(find_returned, 2)
FIND(find_one_hot, 3)
FIND(find_constants, 4)
FIND(find_vectors, 5)
FIND(find_loops, 6)
FIND(find_casts, 7)
FIND(find_f64, 8)
FIND(find_repeated, 9)
FIND(find_wide, 10)

const struct rule rules_fault[] = {
    {.name = "undonated-copies",
     .theme = "compute",
     .when =
         "copies of arguments that are written over and not donated take 2 % of op time or more",
     .find = find_undonated},
    {.name = "overwrite-copies",
     .theme = "compute",
     .when = "copies of values that are written over and still read take 2 % of op time or more",
     .find = find_overwritten},
    {.name = "returned-copies",
     .theme = "compute",
     .when = "copies of arguments or results that are returned as they are take 2 % of op time or "
             "more",
     .find = find_returned},
    {.name = "one-hot-products",
     .theme = "compute",
     .when = "matrix products with one-hot matrices take 2 % of op time or more",
     .find = find_one_hot},
    {.name = "large-constants",
     .theme = "memory",
     .when = "a program holds a constant of 1 MiB or more",
     .find = find_constants},
    {.name = "unused-vectors",
     .theme = "compute",
     .when = "factorisations whose vectors nobody reads take 1 % of op time or more",
     .find = find_vectors},
    {.name = "loops-of-one-turn",
     .theme = "compute",
     .when = "loops whose body runs once each time cost 1 % of op time or more by themselves",
     .find = find_loops},
    {.name = "double-casts",
     .theme = "compute",
     .when = "casts of 8-bit floats to a wider type and back take 1 % of op time or more",
     .find = find_casts},
    {.name = "widened-to-f64",
     .theme = "compute",
     .when = "f64 ops of a program that widens f32 values take 2 % of op time or more",
     .find = find_f64},
    {.name = "repeated-gathers",
     .theme = "comm",
     .when = "all-gathers of what another one gathers take 1 % of op time or more",
     .find = find_repeated},
    {.name = "wide-collectives",
     .theme = "comm",
     .when = "collectives that move more than their users need take 1 % of op time or more",
     .find = find_wide},
    {.name = NULL},
};
