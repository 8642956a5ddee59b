/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about steps as a whole: what they wait for, which stand out, whether they grow. */
#include <stdlib.h>

#include "analyse/findings/findings.h"
#include "analyse/findings/rules_compile.h"
#include "analyse/stats/stats.h"
#include "analyse/steps/breakdown.h"
#include "analyse/steps/steps_why.h"
#include "base/human.h"
#include "trace/names/by_name.h"
#include "trace/ps.h"

enum {
    INPUT_PERCENT_MIN = 5,
    INPUT_PERCENT_CRITICAL = 20,
    GROWING_STEPS_MIN = 9,
    GROWING_PERCENT_MIN = 10,
    OUTLIER_PERCENT_MIN = 1, /* of all counted steps */
};

static const char load_ahead[] =
    "Load ahead while the step runs: {jax:prefetch in a thread or process (grain, "
    "`tf.data` with `prefetch`), and `jax.device_put` the next batch before the "
    "current step is blocked on}{torch+!tpu:a `DataLoader` with `num_workers` and "
    "`pin_memory`, copies with `non_blocking=True`}{torch+tpu:a `DataLoader` with "
    "`num_workers` in an `MpDeviceLoader`}{!jax+!torch:prefetch in a thread "
    "or process}.";

/* The name that loads data for longest, on any thread of any host. */
static const struct name_stats *longest_input(const struct memo *memo, uint32_t *ret_host)
{
    const struct name_stats *best = NULL;

    for (uint32_t host = 0; host < memo->run->host_count; host++) {
        const struct trace *trace = memo->run->hosts[host].trace;
        const struct name_stats *stats;
        uint32_t count = trace_name_stats(trace, &stats);

        for (uint32_t i = 0; i < count; i++) {
            uint32_t run_count;
            const struct name_run *runs = trace_name_runs(trace, stats[i].name, &run_count);

            if (run_count == 0 || (best != NULL && stats[i].total_ps <= best->total_ps) ||
                trace->tracks[trace->rows[runs[0].row].track].device >= 0)
                continue;

            const slice_id *slices = trace_name_slices(trace, &runs[0]);

            if (slices == NULL || trace_slice(trace, slices[0]).kind != KIND_INPUT)
                continue;
            best = &stats[i];
            *ret_host = host;
        }
    }
    return best;
}

/* How long a name of that kind keeps a thread in all. */
static int64_t time_on_thread(const struct trace *trace, const struct name_stats *stats,
                              track_id thread)
{
    uint32_t run_count;
    const struct name_run *runs = trace_name_runs(trace, stats->name, &run_count);
    int64_t total_ps = 0;

    for (uint32_t run = 0; run < run_count; run++) {
        const slice_id *slices = trace_name_slices(trace, &runs[run]);

        if (slices == NULL || trace->rows[runs[run].row].track != thread ||
            trace_slice(trace, slices[0]).kind != KIND_INPUT)
            continue;
        for (uint32_t i = 0; i < runs[run].count; i++)
            ps_add(&total_ps, trace_slice(trace, slices[i]).dur_ps);
    }
    return total_ps;
}

/* Where the counted steps hold none of it: a loader between them, or no steps at all. */
static void see_input_outside(struct memo *memo, uint32_t host, struct finding_list *list)
{
    const struct trace *trace = memo->run->hosts[host].trace;
    track_id thread = breakdown_thread(trace);
    int64_t capture_ps = trace->end_ps - trace->start_ps, most_ps = 0;
    struct str name = STR("");
    const struct name_stats *stats;
    uint32_t count = thread == NO_TRACK ? 0 : trace_name_stats(trace, &stats);

    for (uint32_t i = 0; i < count; i++) {
        int64_t on_it_ps =
            stats[i].total_ps > most_ps ? time_on_thread(trace, &stats[i], thread) : 0;

        if (on_it_ps <= most_ps)
            continue;
        most_ps = on_it_ps;
        name = trace_name(trace, stats[i].name);
    }
    if (most_ps > capture_ps)
        most_ps = capture_ps;
    if (most_ps == 0 || most_ps < capture_ps / 100 * INPUT_PERCENT_MIN)
        return;

    double share = (double)most_ps / (double)capture_ps;
    struct finding finding = {
        .severity = share * 100 >= INPUT_PERCENT_CRITICAL ? SEVERITY_CRITICAL : SEVERITY_WARNING,
        .confidence = CONFIDENCE_MEDIUM,
        .text = text_on_host(
            memo, host,
            "the stepping thread spends %s of the %s recorded (%s) loading data, in %.*s.",
            human_ps(most_ps).text, human_ps(capture_ps).text, human_share(share).text,
            STR_ARG(name)),
        .remedy = str_of(load_ahead),
    };

    finding_win(&finding, most_ps);

    struct evidence *proof = finding_prove_ps(&finding, "total time of loading data", most_ps);

    proof->host = host;
    proof->find = name;
    findings_add(list, &finding);
}

static enum status find_input_bound(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct steps *steps;
    const struct counted *counted;
    const struct step *worst = NULL;
    int64_t input_ps = 0;
    uint32_t host = 0;

    TRY(memo_steps(memo, &steps, err));
    TRY(memo_counted(memo, &counted, err));
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];

        if (!counted_step(steps, step))
            continue;
        ps_add(&input_ps, step->time.kinds_ps[KIND_INPUT]);
        if (worst == NULL || step->time.kinds_ps[KIND_INPUT] > worst->time.kinds_ps[KIND_INPUT])
            worst = step;
    }
    if (worst == NULL || input_ps < counted->total_ps / 100 * INPUT_PERCENT_MIN) {
        bool whole = !memo->restriction->has_window && memo->restriction->step_range_count == 0;

        for (uint32_t at = 0; whole && at < memo->run->host_count; at++)
            see_input_outside(memo, at, list);
        return OK;
    }

    const struct name_stats *by = longest_input(memo, &host);
    double share = (double)input_ps / (double)counted->total_ps;
    struct str name =
        by == NULL ? STR("input") : trace_name(memo->run->hosts[host].trace, by->name);
    struct finding finding = {
        .severity = share * 100 >= INPUT_PERCENT_CRITICAL ? SEVERITY_CRITICAL : SEVERITY_WARNING,
        .confidence = by == NULL ? CONFIDENCE_MEDIUM : CONFIDENCE_HIGH,
        .text = str_format(memo->arena, "Each step waits %s for input, %s of its time, in %.*s.",
                           human_ps(input_ps / counted->step_count).text, human_share(share).text,
                           STR_ARG(name)),
        .remedy = str_of(load_ahead),
    };

    finding_win(&finding, input_ps);

    struct evidence *proof =
        finding_prove_ps(&finding, "input in the worst step", worst->time.kinds_ps[KIND_INPUT]);

    evidence_at(proof, worst->host, worst->start_ps, worst->start_ps + worst->dur_ps);
    proof->step = worst->number;
    if (by != NULL) {
        proof = finding_prove_ps(&finding, "total time of loading data", by->total_ps);
        proof->host = host;
        proof->find = name;
    }
    findings_add(list, &finding);
    return OK;
}

struct slow {                  /* what is known of slow steps */
    const int64_t *medians_ps; /* of each host */
    const struct step_why *whys;
};

static enum status make_slow(struct memo *memo, const void **ret, struct error *err)
{
    const struct steps *steps;
    struct slow *slow = arena_new(memo->arena, struct slow);

    TRY(memo_steps(memo, &steps, err));
    slow->medians_ps = steps_medians(memo->run, steps, memo->arena);
    slow->whys = steps_why(memo->run, steps, slow->medians_ps, memo->arena);
    *ret = slow;
    return OK;
}

static void tell_outlier(struct memo *memo, const struct step *step, const struct step_why *why,
                         int64_t longer_ps, struct finding_list *list)
{
    bool known = why->name.count > 0;
    struct finding finding = {
        .severity = SEVERITY_WARNING,
        .confidence = known ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM,
        .remedy = STR("See on the timeline what this step did and the others did not; move work "
                      "that happens only now and then out of the step, or to another thread."),
    };

    finding.text = known ? str_format(memo->arena,
                                      "Step %lld took %s, %s longer than the median: %.*s was %s "
                                      "longer.",
                                      (long long)step->number, human_ps(step->dur_ps).text,
                                      human_ps(longer_ps).text, STR_ARG(why->name),
                                      human_ps(why->longer_ps).text)
                         : str_format(memo->arena, "Step %lld took %s, %s longer than the median.",
                                      (long long)step->number, human_ps(step->dur_ps).text,
                                      human_ps(longer_ps).text);
    finding_win(&finding, longer_ps);

    struct evidence *proof = finding_prove_ps(&finding, "the step", step->dur_ps);

    evidence_at(proof, step->host, step->start_ps, step->start_ps + step->dur_ps);
    proof->step = step->number;
    if (known) {
        proof = finding_prove_ps(&finding, "longer than in the others", why->longer_ps);
        evidence_at(proof, step->host, step->start_ps, step->start_ps + step->dur_ps);
        proof->find = why->name;
    }
    findings_add(list, &finding);
}

/* Half of what it took longer is compiling, which a finding of its own tells. */
static bool is_told(const struct compiles *compiles, const struct counted *counted,
                    const struct step *step, int64_t longer_ps)
{
    return told_compiles_ps(compiles, counted, step) >= longer_ps / 2;
}

static enum status find_outliers(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct steps *steps;
    const struct counted *counted;
    const struct compiles *compiles;
    const void *made;

    TRY(memo_steps(memo, &steps, err));
    TRY(memo_counted(memo, &counted, err));
    TRY(memo_compiles(memo, &compiles, err));
    TRY(memo_once(memo, make_slow, &made, err));

    const struct slow *slow = made;

    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];
        int64_t longer_ps = step->dur_ps - slow->medians_ps[step->host];

        if (step->outlier && !step->warmup && slow->medians_ps[step->host] >= 0 &&
            longer_ps >= counted->total_ps / 100 * OUTLIER_PERCENT_MIN &&
            !is_told(compiles, counted, step, longer_ps))
            tell_outlier(memo, step, &slow->whys[i], longer_ps, list);
    }
    return OK;
}

/* Counted steps of a host, in order. */
static uint32_t durations_of(const struct steps *steps, uint32_t host, int64_t *ret)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < steps->count; i++) {
        if (steps->items[i].host == host && counted_step(steps, &steps->items[i]))
            ret[count++] = steps->items[i].dur_ps;
    }
    return count;
}

/* The last third is slower than the first: its fastest step beats the first third's slowest. */
static void see_growth(struct memo *memo, uint32_t host, const int64_t *durs_ps, uint32_t count,
                       struct finding_list *list)
{
    uint32_t third = count / 3;
    int64_t *room = arena_array(memo->arena, int64_t, count);
    int64_t first_most_ps = INT64_MIN, last_least_ps = INT64_MAX, more_ps = 0;

    memcpy(room, durs_ps, third * sizeof(*room));
    for (uint32_t i = 0; i < third; i++) {
        first_most_ps = durs_ps[i] > first_most_ps ? durs_ps[i] : first_most_ps;
        last_least_ps =
            durs_ps[count - 1 - i] < last_least_ps ? durs_ps[count - 1 - i] : last_least_ps;
    }

    int64_t first_ps = median_of(room, third);

    memcpy(room, durs_ps + count - third, third * sizeof(*room));

    int64_t last_ps = median_of(room, third);

    if (last_least_ps <= first_most_ps || last_ps < first_ps + first_ps / GROWING_PERCENT_MIN)
        return;
    for (uint32_t i = 0; i < count; i++)
        ps_add(&more_ps, durs_ps[i] > first_ps ? durs_ps[i] - first_ps : 0);

    struct finding finding = {
        .severity = SEVERITY_WARNING,
        .confidence = CONFIDENCE_MEDIUM,
        .text = text_on_host(memo, host,
                             "steps become slower: from %s in the first third to %s in the last.",
                             human_ps(first_ps).text, human_ps(last_ps).text),
        .remedy = STR(
            "Look for something that accumulates: lists that keep arrays alive, growing sequences "
            "or caches, logs, a throttled host. Compare the first and the last step by op."),
    };

    finding_win(&finding, more_ps);
    finding_prove_ps(&finding, "median of the first third", first_ps)->host = host;
    finding_prove_ps(&finding, "median of the last third", last_ps)->host = host;
    findings_add(list, &finding);
}

static enum status find_growing(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct steps *steps;

    TRY(memo_steps(memo, &steps, err));

    int64_t *durs_ps = arena_array(memo->arena, int64_t, steps->count);

    for (uint32_t host = 0; host < memo->run->host_count; host++) {
        uint32_t count = durations_of(steps, host, durs_ps);

        if (count >= GROWING_STEPS_MIN)
            see_growth(memo, host, durs_ps, count, list);
    }
    return OK;
}

const struct rule rules_steps[] = {
    {.name = "input-bound",
     .theme = "steps",
     .when = "5 % of the counted steps or more wait for input",
     .find = find_input_bound},
    {.name = "outlier-step",
     .theme = "steps",
     .when = "a step takes 1.5 times the median or longer, and the excess is 1 % of all counted "
             "time or more",
     .find = find_outliers},
    {.name = "steps-growing",
     .theme = "steps",
     .when = "of nine steps or more, the last third are all 10 % slower",
     .find = find_growing},
    {.name = NULL},
};
