/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about what a program does inside its steps that need not be there. Told by the names of
 * slices on hosts' threads; what lies in another of the same kind counts once. */
#include <stdlib.h>

#include "analyse/findings/findings.h"
#include "analyse/hlo/callbacks.h"
#include "base/human.h"
#include "trace/names/by_name.h"
#include "trace/ps.h"

enum { IN_STEPS_PERCENT_MIN = 1, INTERVALS_MAX = 1 << 20 };

struct theme {                /* what the names mean */
    const char *const *words; /* as of name_has_word; NULL: those of callbacks */
    const char *text;         /* with the time, its share, and the name that takes most */
    const char *remedy;
    enum confidence confidence;
    bool stepping_only; /* on other threads it is where it should be */
};

struct found {              /* of one host */
    struct window *windows; /* run time */
    uint32_t count;
    uint64_t all;
    int64_t inside_ps; /* the union, inside counted steps */
    name_id longest;
    int64_t longest_ps, longest_start_ps, longest_dur_ps;
};

static bool fits(const struct theme *theme, struct str name)
{
    return theme->words == NULL ? is_callback_name(name) : name_has_word(name, theme->words);
}

static void take_run(const struct host_trace *host, uint32_t index, const struct name_run *run,
                     const struct counted *counted, struct found *found)
{
    const slice_id *slices = trace_name_slices(host->trace, run);
    int64_t total_ps = 0;

    for (uint32_t at = 0; slices != NULL && at < run->count && found->count < INTERVALS_MAX; at++) {
        struct slice slice = trace_slice(host->trace, slices[at]);
        int64_t from_ps = slice.start_ps + host->offset_ps;
        int64_t inside_ps = counted_inside_ps(counted, index, from_ps, from_ps + slice.dur_ps);

        if (inside_ps <= 0)
            continue;
        found->windows =
            memory_resize(found->windows, (size_t)found->count + 1, sizeof(*found->windows));
        found->windows[found->count++] = (struct window){from_ps, from_ps + slice.dur_ps};
        found->all++;
        ps_add(&total_ps, inside_ps);
        if (total_ps > found->longest_ps && slice.dur_ps >= found->longest_dur_ps) {
            found->longest_start_ps = from_ps;
            found->longest_dur_ps = slice.dur_ps;
        }
    }
    if (total_ps > found->longest_ps) {
        found->longest_ps = total_ps;
        found->longest = run->name;
    }
}

static int by_from(const void *left, const void *right)
{
    const struct window *a = left, *b = right;

    return (a->from_ps > b->from_ps) - (a->from_ps < b->from_ps);
}

static void join_found(const struct counted *counted, uint32_t host, struct found *found)
{
    int64_t to_ps = INT64_MIN;

    if (found->count > 0)
        qsort(found->windows, found->count, sizeof(*found->windows), by_from);
    for (uint32_t i = 0; i < found->count; i++) {
        int64_t from_ps = found->windows[i].from_ps > to_ps ? found->windows[i].from_ps : to_ps;

        if (found->windows[i].to_ps <= from_ps)
            continue;
        to_ps = found->windows[i].to_ps;
        ps_add(&found->inside_ps, counted_inside_ps(counted, host, from_ps, to_ps));
    }
}

static struct found look_for(struct memo *memo, uint32_t index, const struct theme *theme,
                             const struct steps *steps, const struct counted *counted)
{
    const struct host_trace *host = &memo->run->hosts[index];
    const struct trace *trace = host->trace;
    struct host_devices devices = host_devices_of(host, memo->arena);
    track_id thread = steps_question(host, index, steps, &devices, memo->arena)->thread;
    struct found found = {0};
    const struct name_stats *stats;
    uint32_t count = trace_name_stats(trace, &stats);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t run_count;
        const struct name_run *runs;

        if (!fits(theme, trace_name(trace, stats[i].name)))
            continue;
        runs = trace_name_runs(trace, stats[i].name, &run_count);
        for (uint32_t run = 0; run < run_count; run++) {
            track_id track = trace->rows[runs[run].row].track;

            if (trace->tracks[track].device < 0 && !trace->tracks[track].derived &&
                (!theme->stepping_only || track == thread))
                take_run(host, index, &runs[run], counted, &found);
        }
    }
    join_found(counted, index, &found);
    return found;
}

static void tell(struct memo *memo, uint32_t host, const struct theme *theme,
                 const struct found *found, const struct counted *counted,
                 struct finding_list *list)
{
    struct str name = trace_name(memo->run->hosts[host].trace, found->longest);
    double share = (double)found->inside_ps / (double)counted->total_ps;
    struct finding finding = {
        .severity = SEVERITY_WARNING,
        .confidence = theme->confidence,
        .text = text_on_host(memo, host, "%s take %s of the counted steps (%s), %s %.*s.",
                             theme->text, human_ps(found->inside_ps).text, human_share(share).text,
                             found->longest_ps > found->inside_ps / 2 ? "most of it" : "above all",
                             STR_ARG(name)),
        .remedy = str_of(theme->remedy),
    };

    finding_win(&finding, found->inside_ps);

    struct evidence *proof =
        finding_prove_ps(&finding, "one of the longest", found->longest_dur_ps);

    evidence_at(proof, host, found->longest_start_ps,
                found->longest_start_ps + found->longest_dur_ps);
    proof->find = name;
    finding_prove_count(&finding, "slices in counted steps", found->all)->host = host;
    findings_add(list, &finding);
}

static enum status find_theme(struct memo *memo, const struct theme *theme,
                              struct finding_list *list, struct error *err)
{
    const struct steps *steps;
    const struct counted *counted;

    TRY(memo_steps(memo, &steps, err));
    TRY(memo_counted(memo, &counted, err));
    for (uint32_t host = 0; host < memo->run->host_count && counted->of_steps; host++) {
        struct found found = look_for(memo, host, theme, steps, counted);

        if (found.inside_ps > 0 &&
            found.inside_ps >= counted->total_ps / 100 * IN_STEPS_PERCENT_MIN)
            tell(memo, host, theme, &found, counted, list);
        free(found.windows);
    }
    return OK;
}

static enum status find_checkpointing(struct memo *memo, struct finding_list *list,
                                      struct error *err)
{
    static const char *const words[] = {"checkpoint", "orbax", "save_ckpt", "ckpt_save",
                                        "save_state", "savez", NULL};
    static const struct theme theme = {
        .words = words,
        .text = "checkpoint saves on the stepping thread",
        .remedy = "Save asynchronously{jax: (`orbax.checkpoint.AsyncCheckpointer`)}{torch: "
                  "(`torch.distributed.checkpoint.async_save`)}, or less often.",
        .confidence = CONFIDENCE_MEDIUM,
        .stepping_only = true,
    };

    return find_theme(memo, &theme, list, err);
}

static enum status find_logging(struct memo *memo, struct finding_list *list, struct error *err)
{
    static const char *const words[] = {"log_metrics",    "write_scalars",    "wandb",
                                        "summary_writer", "summarywriter",    "tensorboard",
                                        "mlflow",         "$logging",         "^$tqdm",
                                        "log_scalar",     "^$builtins print", NULL};
    static const struct theme theme = {
        .words = words,
        .text = "logging on the stepping thread",
        .remedy = "Log every n-th step, one step late, or on another thread: reading a metric "
                  "waits for the step that makes it.",
        .confidence = CONFIDENCE_MEDIUM,
        .stepping_only = true,
    };

    return find_theme(memo, &theme, list, err);
}

static enum status find_callbacks(struct memo *memo, struct finding_list *list, struct error *err)
{
    static const struct theme theme = {
        .text = "callbacks from programs into Python",
        .remedy = "A device waits for each: {jax:drop `jax.debug.print` and `pure_callback` from "
                  "the step}{!jax:take them out of the step}, or return the value and use it "
                  "outside.",
        .confidence = CONFIDENCE_HIGH,
    };

    return find_theme(memo, &theme, list, err);
}

/* Programs that run on the host's processor in a run that has devices. */
static enum status find_fallbacks(struct memo *memo, struct finding_list *list, struct error *err)
{
    static const char *const words[] = {"tfrtcpuexecutable::execute", "pjrtcpuexecutable::execute",
                                        "cpuexecutable::execute", "thunkexecutor::execute", NULL};
    static const struct theme theme = {
        .words = words,
        .text = "programs that run on the host's CPU although the run has devices",
        .remedy = "Place inputs on the device{jax: (`jax.device_put`), and look for "
                  "`jax.default_device`, `jit(..., backend='cpu')` and callbacks}.",
        .confidence = CONFIDENCE_MEDIUM,
    };

    for (uint32_t host = 0; host < memo->run->host_count; host++) {
        const struct trace *trace = memo->run->hosts[host].trace;
        bool has_device = false;

        for (track_id id = 0; id < trace->track_count; id++)
            has_device |= trace->tracks[id].device >= 0 && trace->tracks[id].slice_count > 0;
        if (!has_device)
            return OK;
    }
    return find_theme(memo, &theme, list, err);
}

const struct rule rules_in_steps[] = {
    {.name = "checkpoint-in-steps",
     .theme = "steps",
     .when = "saving checkpoints takes 1 % of the counted steps or more on the stepping thread",
     .find = find_checkpointing},
    {.name = "logging-in-steps",
     .theme = "steps",
     .when = "logging takes 1 % of the counted steps or more on the stepping thread",
     .find = find_logging},
    {.name = "host-callbacks",
     .theme = "steps",
     .when = "callbacks into Python take 1 % of the counted steps or more",
     .find = find_callbacks},
    {.name = "cpu-fallback",
     .theme = "steps",
     .when = "programs run on the CPU for 1 % of the counted steps or more, in a run with devices",
     .find = find_fallbacks},
    {.name = NULL},
};
