/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about devices that wait for their own copies: `copy-start` ... `copy-done` of one program.
 *
 *   device   copy-start |  compute  | copy-done ........ |     the dots are no work: the copy that
 *   copy               |=============================|         was begun is not there yet
 *
 * How long a device does nothing but wait is the breakdown's; which ops it waits in is the table's.
 */
#include "analyse/findings/findings.h"
#include "base/human.h"
#include "trace/ps.h"

static const double wait_min = 0.05; /* of the counted time */

struct waits { /* self time of ops that end something asynchronous */
    int64_t copies_ps, others_ps;
    uint32_t row; /* of the copy that is waited for longest; the table's */
};

static bool ends_something(struct str name)
{
    return str_contains(name, STR("-done"));
}

static struct waits waits_of(const struct table *ops)
{
    struct waits ret = {.row = UINT32_MAX};

    for (uint32_t row = 0; row < ops->row_count; row++) {
        int64_t self_ps = 0;

        if (!ends_something(table_text_at(ops, row, "name")) ||
            !table_integer_at(ops, row, "self_ps", &self_ps))
            continue;
        if (!str_equal(table_text_at(ops, row, "kind"), STR("copy"))) {
            ps_add(&ret.others_ps, self_ps);
            continue;
        }
        ps_add(&ret.copies_ps, self_ps);
        if (ret.row == UINT32_MAX) /* rows stand by self time */
            ret.row = row;
    }
    return ret;
}

/* All that the devices of the counted steps only waited; of the capture without steps. */
static int64_t only_waited(struct memo *memo, const struct steps *steps,
                           const struct counted *counted)
{
    int64_t wait_ps = 0;

    for (uint32_t i = 0; i < steps->count; i++) {
        if (counted_step(steps, &steps->items[i]))
            ps_add(&wait_ps, steps->items[i].time.wait_ps);
    }
    for (uint32_t host = 0; !counted->of_steps && host < memo->run->host_count; host++) {
        for (uint32_t at = 0; at < counted->window_counts[host]; at++) {
            const struct window *window = &counted->windows[host][at];

            wait_ps +=
                breakdown_of(&memo->run->hosts[host], window->from_ps, window->to_ps).wait_ps;
        }
    }
    return wait_ps;
}

static uint32_t longest_of(const struct attribution *attribution, uint32_t op)
{
    uint32_t longest = NO_ENTRY;
    int64_t longest_ps = 0;
    struct entry_reader reader;

    entry_reader_open(&reader, attribution, ENTRY_BIT(ENTRY_OP) | ENTRY_BIT(ENTRY_COVERED));
    for (uint32_t i = 0; i < attribution->entry_count; i++) {
        if (entry_read(&reader, i).op != op)
            continue;

        int64_t self_ps = entry_read(&reader, i).self_ps;

        if (longest == NO_ENTRY || self_ps > longest_ps) {
            longest = i;
            longest_ps = self_ps;
        }
    }
    return longest;
}

/* The longest of the op's slices, on whichever host it ran first. */
static void show_longest(const struct run_traces *run, struct str name, struct evidence *proof)
{
    for (uint32_t host = 0; host < run->host_count; host++) {
        const struct attribution *attribution = run->hosts[host].attribution;
        uint32_t op = 0;

        while (attribution != NULL && op < attribution->op_count &&
               !str_equal(trace_name(run->hosts[host].trace, attribution->ops[op].name), name))
            op++;

        uint32_t index = attribution != NULL && op < attribution->op_count
                             ? longest_of(attribution, op)
                             : NO_ENTRY;

        if (index == NO_ENTRY)
            continue;

        const struct attributed *longest = ENTRY_AT(attribution, index);
        int64_t start_ps = longest->start_ps + run->hosts[host].offset_ps;

        evidence_at(proof, host, start_ps, start_ps + longest->dur_ps);
        proof->slice = longest->slice;
        proof->value = (struct cell){.kind = CELL_INTEGER, .of.integer = longest->dur_ps};
        return;
    }
}

static enum status find_waits(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct table *ops;
    const struct steps *steps;
    const struct counted *counted;

    TRY(memo_ops(memo, &ops, err));
    TRY(memo_steps(memo, &steps, err));
    TRY(memo_counted(memo, &counted, err));

    struct waits waits = waits_of(ops);

    if (waits.row == UINT32_MAX || waits.copies_ps <= 0 || counted->total_ps <= 0)
        return OK;

    /* Of a wait that is said of the device alone, the part that its copies have. */
    double part = (double)waits.copies_ps / ((double)waits.copies_ps + (double)waits.others_ps);
    int64_t wait_ps = (int64_t)((double)only_waited(memo, steps, counted) * part);
    double share = (double)wait_ps / (double)counted->total_ps;

    if (share < wait_min)
        return OK;

    struct str name = table_text_at(ops, waits.row, "name");
    int64_t mean_ps = 0;

    table_integer_at(ops, waits.row, "mean_ps", &mean_ps);

    struct finding finding = {
        .severity = share >= 0.25 ? SEVERITY_CRITICAL : SEVERITY_WARNING,
        .confidence = waits.others_ps == 0 ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM,
        .text = str_format(memo->arena,
                           "For %s of the time devices only wait for copies that they started "
                           "themselves, longest in %.*s (%s each time).",
                           human_share(share).text, STR_ARG(name), human_ps(mean_ps).text),
        .remedy = STR("Copy less, or start earlier: keep data that every step copies on the "
                      "device{jax: (`memory_kind=\"pinned_host\"`, offloaded weights or "
                      "activations)}, and prefetch the next copy while the current step computes."),
    };

    finding_win(&finding, wait_ps);
    finding_prove_ps(&finding, "waited for copies", wait_ps)->view = "steps";

    struct evidence *longest = finding_prove_ps(&finding, "longest wait", mean_ps);

    show_longest(memo->run, name, longest);

    struct evidence *all = finding_prove_ps(&finding, "all such waits in ops", waits.copies_ps);

    all->view = "ops";
    all->find = name;
    findings_add(list, &finding);
    return OK;
}

const struct rule rules_wait[] = {
    {"waits-for-copies", "transfer",
     "devices only wait for their own asynchronous copies for 5 % of the time or more", find_waits},
    {.name = NULL},
};
