/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about what launches the device's work: kernels too small, too late, or not told. */
#include <stdlib.h>

#include "analyse/device/launch.h"
#include "analyse/device/launch_calls.h"
#include "analyse/findings/findings.h"
#include "analyse/findings/platform.h"
#include "analyse/findings/rules_idle.h"
#include "analyse/hlo/cost.h"
#include "analyse/ops/kernels.h"
#include "base/human.h"
#include "trace/names/by_name.h"
#include "trace/ps.h"

enum { TINY_LAUNCHES_MIN = 100, TINY_PS = 5000000 };

static const struct attribution *attribution_of_host(const struct memo *memo, uint32_t host)
{
    return memo->run->hosts[host].attribution;
}

static int64_t kernel_time(const struct attribution *of)
{
    int64_t total_ps = 0;

    for (uint32_t i = 0; i < of->kernel_name_count; i++)
        ps_add(&total_ps, of->kernel_by_name[i].total_ps);
    return total_ps;
}

static struct str kernel_name(const struct memo *memo, uint32_t host,
                              const struct kernel_total *total)
{
    const struct host_trace *at = &memo->run->hosts[host];

    return trace_name(at->trace, at->attribution->kernels[total->kernel].name);
}

/* Names of C++ fill a page. */
static struct str shortened(const struct memo *memo, struct str name)
{
    enum { SHOWN = 48 };

    return name.count <= SHOWN ? name : str_format(memo->arena, "%.*s...", (int)SHOWN - 3, name.at);
}

static struct evidence *prove_kernel(struct memo *memo, struct finding *finding, uint32_t host,
                                     const struct kernel_total *total, const char *what,
                                     struct cell value, enum unit unit)
{
    struct str name = kernel_name(memo, host, total);
    struct str shown = shortened(memo, name);
    struct evidence *evidence = finding_prove(
        finding, str_format(memo->arena, "%s %.*s", what, STR_ARG(shown)).at, value, unit);

    evidence->host = host;
    evidence->view = "kernels";
    evidence->find = name;
    evidence->slice = total->longest;
    return evidence;
}

/* The heaviest by `weight`, at most so many. */
typedef int64_t kernel_weight(const struct memo *memo, uint32_t host,
                              const struct kernel_total *total);

static const struct kernel_total *heaviest(const struct memo *memo, uint32_t host,
                                           kernel_weight *weight, int64_t below_ps)
{
    const struct attribution *of = attribution_of_host(memo, host);
    const struct kernel_total *best = NULL;
    int64_t most_ps = 0;

    for (uint32_t i = 0; i < of->kernel_name_count; i++) {
        int64_t of_it_ps = weight(memo, host, &of->kernel_by_name[i]);

        if (of_it_ps > most_ps && of_it_ps < below_ps) {
            best = &of->kernel_by_name[i];
            most_ps = of_it_ps;
        }
    }
    return best;
}

static void prove_heaviest(struct memo *memo, struct finding *finding, uint32_t host,
                           kernel_weight *weight, const char *what)
{
    enum { PROVED = 3 };
    int64_t below_ps = INT64_MAX;

    for (int i = 0; i < PROVED; i++) {
        const struct kernel_total *total = heaviest(memo, host, weight, below_ps);

        if (total == NULL)
            return;
        below_ps = weight(memo, host, total);
        prove_kernel(memo, finding, host, total, what,
                     (struct cell){.kind = CELL_INTEGER, .of.integer = below_ps}, UNIT_PS);
    }
}

static bool is_tiny(const struct kernel_total *total)
{
    return total->p50_ps < TINY_PS && total->gap_count > 0;
}

static int64_t tiny_gaps(const struct memo *memo, uint32_t host, const struct kernel_total *total)
{
    (void)memo;
    (void)host;
    return is_tiny(total) ? ps_times(total->gap_p50_ps, total->gap_count) : 0;
}

static enum status find_tiny_kernels(struct memo *memo, struct finding_list *list,
                                     struct error *err)
{
    (void)err;
    for (uint32_t host = 0; host < memo->run->host_count; host++) {
        const struct attribution *of = attribution_of_host(memo, host);
        uint64_t count = 0, all = 0;
        int64_t time_ps = 0, gaps_ps = 0;

        for (uint32_t i = 0; of != NULL && i < of->kernel_name_count; i++) {
            const struct kernel_total *total = &of->kernel_by_name[i];

            all += total->count;
            if (!is_tiny(total))
                continue;
            count += total->count;
            ps_add(&time_ps, total->total_ps);
            if (__builtin_add_overflow(gaps_ps, tiny_gaps(memo, host, total), &gaps_ps))
                gaps_ps = INT64_MAX;
        }
        if (count < TINY_LAUNCHES_MIN || 2 * count < all || gaps_ps < time_ps / 4)
            continue;

        struct finding finding = {
            .severity = SEVERITY_WARNING,
            .confidence = CONFIDENCE_MEDIUM,
            .text = text_on_host(memo, host,
                                 "%s of the %s kernels that ran have a median below 5 µs: they "
                                 "take %s, and the gaps before them %s.",
                                 human_count(count).text, human_count(all).text,
                                 human_ps(time_ps).text, human_ps(gaps_ps).text),
            .remedy = STR(
                "{jax:Let XLA fuse them: keep them inside one `jax.jit`, avoid ops that break "
                "fusions (sorts, gathers, custom calls between them); or launch them together: "
                "leave command buffers on (`--xla_gpu_enable_command_buffer`).}{torch:Fuse them "
                "or launch them together: `torch.compile`, CUDA graphs.}{!jax+!torch:Fuse them, "
                "or launch them together in a graph.}"),
        };

        finding_win(&finding, gaps_ps);
        finding_prove_count(&finding, "such kernels", count)->view = "kernels";
        prove_heaviest(memo, &finding, host, tiny_gaps, "gaps before");
        findings_add(list, &finding);
    }
    return OK;
}

static enum status make_variants(struct memo *memo, const void **ret, struct error *err)
{
    struct table *table = arena_new(memo->arena, struct table);
    struct kernels_summary summary;
    const struct page page = {.limit = 10000, .sort = STR("-total_ps")};

    TRY(kernels(memo->run, memo->restriction, &(struct kernels_question){.by = STR("variant")},
                &page, memo->arena, table, &summary, err));
    *ret = table;
    return OK;
}

/* Products on tensor cores keep few warps, each with many registers, by design; and so few blocks
 * as channels are kernels that communicate. */
static bool fills_little(const struct table *table, uint32_t row, double *ret_share)
{
    const struct cell *tensor = table_cell_at(table, row, "tensor_core");

    return !str_equal(table_text_at(table, row, "kind"), STR("communication")) &&
           table_real_at(table, row, "occupancy", ret_share) && *ret_share < 0.5 &&
           !(tensor != NULL && tensor->kind == CELL_BOOL && tensor->of.boolean);
}

static void prove_occupancy(struct memo *memo, const struct table *table, struct finding *finding)
{
    for (uint32_t row = 0; row < table->row_count && finding->evidence_count < 4; row++) {
        struct str limit = table_text_at(table, row, "limited_by");
        struct str name = shortened(memo, table_text_at(table, row, "name"));
        double share;

        if (!fills_little(table, row, &share))
            continue;

        const char *what = str_format(memo->arena, "occupancy of %.*s, by %.*s", STR_ARG(name),
                                      limit.count > 0 ? (int)limit.count : 7,
                                      limit.count > 0 ? limit.at : "unknown")
                               .at;
        struct evidence *evidence = finding_prove(
            finding, what, (struct cell){.kind = CELL_REAL, .of.real = share}, UNIT_SHARE);

        evidence->view = "kernels";
        evidence->find = table_text_at(table, row, "name");
    }
}

static enum status find_low_occupancy(struct memo *memo, struct finding_list *list,
                                      struct error *err)
{
    const struct table *table;
    const void *made;
    int64_t low_ps = 0, total_ps;
    double share;

    TRY(memo_once(memo, make_variants, &made, err));
    table = made;
    for (uint32_t row = 0; row < table->row_count; row++) {
        if (fills_little(table, row, &share) && table_integer_at(table, row, "total_ps", &total_ps))
            ps_add(&low_ps, total_ps);
    }
    if (table->total_ps == 0 || low_ps < table->total_ps / 10)
        return OK;

    struct finding finding = {
        .severity = SEVERITY_INFO,
        .confidence = CONFIDENCE_LOW,
        .text = str_format(memo->arena,
                           "Kernels without tensor cores that fill less than half of a "
                           "multiprocessor take %s, %s of all kernel time.",
                           human_ps(low_ps).text,
                           human_share((double)low_ps / (double)table->total_ps).text),
        .remedy =
            STR("Look what limits each: fewer registers (smaller tiles, `num_warps` of Triton), "
                "less shared memory (fewer `num_stages`), larger blocks.{nvidia: Measure one "
                "with the `ncu` line of the Kernels page first.}{amd: Measure one with "
                "`rocprof-compute` first.}"),
        .win_reason = STR(
            "more warps help only a kernel that waits for memory; a timeline cannot tell how much"),
    };

    finding_prove_ps(&finding, "time of such kernels", low_ps)->view = "kernels";
    prove_occupancy(memo, table, &finding);
    findings_add(list, &finding);
    return OK;
}

static enum status find_hidden_by_graphs(struct memo *memo, struct finding_list *list,
                                         struct error *err)
{
    (void)err;
    for (uint32_t host = 0; host < memo->run->host_count; host++) {
        const struct attribution *of = attribution_of_host(memo, host);
        slice_id first = NO_SLICE;
        uint64_t count = 0;
        int64_t time_ps = 0;
        struct entry_reader reader;

        entry_reader_open(&reader, of,
                          ENTRY_BIT(ENTRY_SLICE) | ENTRY_BIT(ENTRY_FLAGS) | ENTRY_BIT(ENTRY_DUR));
        for (uint32_t i = 0; of != NULL && of->kernel_count > 0 && i < of->entry_count; i++) {
            const struct attributed *entry = ENTRY_READ(&reader, i);

            if (entry->graph != GRAPH_WHOLE)
                continue;
            first = first == NO_SLICE ? entry->slice : first;
            ps_add(&time_ps, entry->dur_ps);
            count++;
        }
        if (count == 0 || time_ps < kernel_time(of) / 100)
            continue;

        struct finding finding = {
            .severity = SEVERITY_WARNING,
            .confidence = CONFIDENCE_HIGH,
            .text = text_on_host(memo, host,
                                 "%s launches of whole graphs take %s; the profile does not say "
                                 "which kernels ran in them.",
                                 human_count(count).text, human_ps(time_ps).text),
            .remedy =
                STR("Record nodes: {jax:turn command buffers off for the capture, "
                    "`XLA_FLAGS=--xla_gpu_enable_command_buffer=`}{jax+nvidia:, or }{nvidia:`nsys "
                    "profile --cuda-graph-trace=node`}{!jax+!nvidia:launch without graphs for the "
                    "capture}."),
            .win_reason = STR("it hides time, but costs none"),
        };
        struct evidence *evidence = finding_prove_count(&finding, "launches of graphs", count);

        evidence->host = host;
        evidence->slice = first;
        findings_add(list, &finding);
    }
    return OK;
}

/* A kernel of a command buffer has no instruction's name: only the buffer's, or none. */
static bool has_no_op(const struct trace *trace, const struct op *op)
{
    return trace_instruction(trace, op->program, op->name) == NULL && op->scope == 0 &&
           (op->module == 0 || str_starts(trace_name(trace, op->name), STR("command_buffer")));
}

/* XLA captures kernels into a graph and launches that: which op each is of is not recorded. */
static enum status find_ops_in_graphs(struct memo *memo, struct finding_list *list,
                                      struct error *err)
{
    enum { SHARE_PERCENT = 10 };

    (void)err;
    if ((platform_of(memo->run, memo->arena) & ON_JAX) == 0)
        return OK;
    for (uint32_t host = 0; host < memo->run->host_count; host++) {
        const struct attribution *of = attribution_of_host(memo, host);
        const struct trace *trace = memo->run->hosts[host].trace;
        slice_id first = NO_SLICE;
        uint64_t count = 0;
        int64_t time_ps = 0;
        struct entry_reader reader;

        entry_reader_open(&reader, of,
                          ENTRY_BIT(ENTRY_SLICE) | ENTRY_BIT(ENTRY_OP) | ENTRY_BIT(ENTRY_FLAGS) |
                              ENTRY_BIT(ENTRY_DUR));
        for (uint32_t i = 0; of != NULL && of->kernel_count > 0 && i < of->entry_count; i++) {
            const struct attributed *entry = ENTRY_READ(&reader, i);

            if (entry->graph != GRAPH_NODE || entry_kernel(of, i) == NO_KERNEL ||
                !has_no_op(trace, &of->ops[entry->op]))
                continue;
            first = first == NO_SLICE ? entry->slice : first;
            ps_add(&time_ps, entry->dur_ps);
            count++;
        }
        if (count == 0 || time_ps < kernel_time(of) / 100 * SHARE_PERCENT)
            continue;

        struct finding finding = {
            .severity = SEVERITY_WARNING,
            .confidence = CONFIDENCE_HIGH,
            .text = text_on_host(memo, host,
                                 "%s kernels, %s of kernel time, ran from command buffers: the "
                                 "profile does not say to which op each belongs.",
                                 human_count(count).text,
                                 human_share((double)time_ps / (double)kernel_time(of)).text),
            .remedy = STR("Switch command buffers off for the capture: "
                          "`XLA_FLAGS=--xla_gpu_enable_command_buffer=`. Times change a little; "
                          "ops, scopes and sources become known."),
            .win_reason = STR("it hides ops, but costs no time"),
        };
        struct evidence *evidence = finding_prove_count(&finding, "kernels without an op", count);

        evidence->host = host;
        evidence->slice = first;
        evidence->view = "kernels";
        findings_add(list, &finding);
    }
    return OK;
}

/* Streams of one device may wait at once: what they waited is divided by how many there are. */
static uint32_t stream_count(const struct trace *trace)
{
    uint32_t count = 0;

    for (track_id id = 0; id < trace->track_count; id++)
        count += trace->tracks[id].device >= 0 && trace->tracks[id].kind == TRACK_STREAM &&
                 trace->tracks[id].slice_count > 0 && !trace->tracks[id].derived;
    return count > 0 ? count : 1;
}

/* A part of what all streams waited, by the same measure. */
static int64_t starved_by(const struct memo *memo, uint32_t host, const struct kernel_total *total)
{
    return total->starved_ps / stream_count(memo->run->hosts[host].trace);
}

static enum status find_dispatch_bound(struct memo *memo, struct finding_list *list,
                                       struct error *err)
{
    const struct idle *idle;

    TRY(memo_kept_waiting(memo, &idle, err));
    for (uint32_t host = 0; host < memo->run->host_count; host++) {
        const struct attribution *of = attribution_of_host(memo, host);
        int64_t starved_ps = 0, hull_ps = 0, most_ps = unoccupied_ps(idle, host);
        uint64_t count = 0;

        for (uint32_t i = 0; of != NULL && i < of->kernel_name_count; i++) {
            count += of->kernel_by_name[i].starved_count;
            ps_add(&starved_ps, of->kernel_by_name[i].starved_ps);
        }
        for (uint32_t i = 0; of != NULL && i < of->device_count; i++)
            ps_add(&hull_ps, of->devices[i].end_ps - of->devices[i].start_ps);
        starved_ps /= stream_count(memo->run->hosts[host].trace);
        if (count < 10 || starved_ps < hull_ps / 10)
            continue;

        struct finding finding = {
            .severity = SEVERITY_CRITICAL,
            .confidence = CONFIDENCE_MEDIUM,
            .text = text_on_host(memo, host,
                                 "streams were idle for %s before %s kernels that were launched "
                                 "late: the host does not stay ahead of the device.",
                                 human_ps(starved_ps).text, human_count(count).text),
            .remedy = STR(
                "Give the device more work a call: {jax:jit the whole step, several steps in one "
                "`lax.scan`, leave command buffers on; keep `block_until_ready`, `float(loss)` "
                "and logging out of the loop}{torch:`torch.compile`, CUDA graphs; keep "
                "`.item()`, `synchronize()` and logging out of the loop}{!jax+!torch:larger "
                "kernels, or graphs of them; keep synchronisation out of the loop}."),
        };

        finding_win(&finding, starved_ps < most_ps ? starved_ps : most_ps);
        finding_prove_count(&finding, "kernels that were launched late", count)->view = "kernels";
        prove_heaviest(memo, &finding, host, starved_by, "idle before");
        findings_add(list, &finding);
    }
    return OK;
}

enum { ELEMENTWISE_LAUNCHES_MIN = 100, ELEMENTWISE_PERCENT_MIN = 30 };

/* A kernel that a framework launched by itself, and that reads and writes memory for little
 * arithmetic; what a compiler made is fused as far as it can. */
static bool is_elementwise(const struct memo *memo, uint32_t host, const struct kernel_total *total)
{
    const struct attribution *of = attribution_of_host(memo, host);
    uint32_t op = of->kernels[total->kernel].op;

    if (of->costs == NULL || op >= of->op_count || of->ops[op].program != NO_PROGRAM)
        return false;

    struct str family = cost_family_words(of->costs[op].family);

    return str_starts(family, STR("elementwise")) || str_starts(family, STR("copy"));
}

static int64_t elementwise_time(const struct memo *memo, uint32_t host,
                                const struct kernel_total *total)
{
    return is_elementwise(memo, host, total) ? total->total_ps : 0;
}

static enum status find_elementwise(struct memo *memo, struct finding_list *list, struct error *err)
{
    (void)err;
    for (uint32_t host = 0; host < memo->run->host_count; host++) {
        const struct attribution *of = attribution_of_host(memo, host);
        int64_t time_ps = 0;
        uint64_t count = 0;

        for (uint32_t i = 0; of != NULL && i < of->kernel_name_count; i++) {
            const struct kernel_total *total = &of->kernel_by_name[i];

            ps_add(&time_ps, elementwise_time(memo, host, total));
            count += is_elementwise(memo, host, total) ? total->count : 0;
        }
        if (count < ELEMENTWISE_LAUNCHES_MIN ||
            time_ps < kernel_time(of) / 100 * ELEMENTWISE_PERCENT_MIN)
            continue;

        struct finding finding = {
            .severity = SEVERITY_WARNING,
            .confidence = CONFIDENCE_MEDIUM,
            .text = text_on_host(memo, host,
                                 "elementwise and copy kernels take %s of the kernel time, %s in "
                                 "%s launches: each reads its operands from memory and writes its "
                                 "result back.",
                                 human_share((double)time_ps / (double)kernel_time(of)).text,
                                 human_ps(time_ps).text, human_count(count).text),
            .remedy = STR("Fuse them: {torch:`torch.compile` the model, or fused kernels for "
                          "norms, activations and rotary embeddings}{!torch:kernels that do "
                          "several such steps at once}."),
            .win_reason = STR("how much of it fused kernels save is not known"),
        };

        finding_prove_count(&finding, "such launches", count)->view = "kernels";
        prove_heaviest(memo, &finding, host, elementwise_time, "time of");
        findings_add(list, &finding);
    }
    return OK;
}

enum { SLOW_CALL_PS = 20000000, SLOW_CALLS_MIN = 100 };

struct slow_calls {
    uint64_t all, slow; /* calls that launched one kernel each */
    int64_t slow_ps;
    slice_id longest;
};

/* A graph's call takes its time for all its kernels: it is no slow one. */
static struct slow_calls slow_calls_of(const struct trace *trace, const struct attribution *of)
{
    struct launch_reader *reader = launch_reader_create(trace);
    struct launch_calls calls = {0};
    struct slow_calls sum = {.longest = NO_SLICE};
    int64_t longest_ps = 0;
    struct entry_reader entries;

    entry_reader_open(&entries, of, ENTRY_BIT(ENTRY_LAUNCH));
    for (uint32_t i = 0; i < of->entry_count; i++)
        if (entry_kernel(of, i) != NO_KERNEL && entry_read(&entries, i).launch != NO_SLICE)
            launch_calls_add(&calls, entry_read(&entries, i).launch);
    launch_calls_sort(&calls);
    for (uint32_t at = 0, run; at < calls.count; at += run) {
        struct launch_call call;

        run = launch_calls_run(&calls, at);
        if (run > 1 || !launch_read(reader, calls.calls[at], &call))
            continue;
        sum.all++;
        if (call.dur_ps <= SLOW_CALL_PS)
            continue;
        sum.slow++;
        if (__builtin_add_overflow(sum.slow_ps, call.dur_ps, &sum.slow_ps))
            sum.slow_ps = INT64_MAX;
        if (call.dur_ps > longest_ps) {
            longest_ps = call.dur_ps;
            sum.longest = calls.calls[at];
        }
    }
    launch_calls_free(&calls);
    launch_reader_free(reader);
    return sum;
}

static enum status find_slow_calls(struct memo *memo, struct finding_list *list, struct error *err)
{
    (void)err;
    for (uint32_t host = 0; host < memo->run->host_count; host++) {
        const struct attribution *of = attribution_of_host(memo, host);

        if (of == NULL || of->kernel_count == 0)
            continue;

        struct slow_calls calls = slow_calls_of(memo->run->hosts[host].trace, of);

        if (calls.slow < SLOW_CALLS_MIN || 2 * calls.slow < calls.all)
            continue;

        struct finding finding = {
            .severity = SEVERITY_INFO,
            .confidence = CONFIDENCE_MEDIUM,
            .text = text_on_host(memo, host,
                                 "Most launches take long on the host: %s of %s calls that launch "
                                 "a kernel take more than 20 µs, %s in all.",
                                 human_count(calls.slow).text, human_count(calls.all).text,
                                 human_ps(calls.slow_ps).text),
            .remedy = STR("A launch usually takes about 5 µs. Look for a profiler or debugger that "
                          "intercepts calls, a full launch queue (then the device is the limit), "
                          "or too few CPUs for the launching thread."),
            .win_reason = STR("calls cost nothing while the device has work queued"),
        };
        struct evidence *evidence = finding_prove_count(&finding, "slow calls", calls.slow);

        evidence->host = host;
        evidence->slice = calls.longest;
        finding_prove_ps(&finding, "time of slow calls", calls.slow_ps)->view = "kernels";
        findings_add(list, &finding);
    }
    return OK;
}

const struct rule rules_launch[] = {
    {.name = "tiny-kernels",
     .theme = "launch",
     .when =
         "half of the kernels or more have a median below 5 µs, and the gaps before them add up",
     .find = find_tiny_kernels},
    {.name = "low-occupancy",
     .theme = "launch",
     .when =
         "kernels with a tenth of the kernel time or more fill less than half of a multiprocessor",
     .find = find_low_occupancy},
    {.name = "graphs-hide-kernels",
     .theme = "launch",
     .when = "graphs are recorded as wholes",
     .find = find_hidden_by_graphs},
    {.name = "ops-in-command-buffers",
     .theme = "launch",
     .when = "a tenth of the kernel time or more is spent in kernels of XLA's command buffers that "
             "name no op",
     .find = find_ops_in_graphs},
    {.name = "dispatch-bound",
     .theme = "launch",
     .when = "streams are idle until a late launch for a tenth of the device's time or more",
     .find = find_dispatch_bound},
    {.name = "elementwise-kernels",
     .theme = "launch",
     .when = "elementwise and copy kernels that no compiler made take three tenths of the kernel "
             "time or more",
     .find = find_elementwise},
    {.name = "slow-launch-calls",
     .theme = "launch",
     .when = "most calls that launch a kernel take more than 20 µs",
     .find = find_slow_calls},
    {0},
};
