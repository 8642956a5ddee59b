/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about devices that had nothing to do, by what their host did meanwhile. */
#include "analyse/findings/rules_idle.h"

#include <stdlib.h>

#include "analyse/findings/findings.h"
#include "base/human.h"
#include "trace/names/by_name.h"
#include "trace/ps.h"

enum {
    IDLE_PERCENT_MIN = 10,
    IDLE_PERCENT_CRITICAL = 40,
    PYTHON_PERCENT_MIN = 10,
    CAUSES_SAID = 3,
};

static enum status make_idle(struct memo *memo, const void **ret, struct error *err)
{
    const struct steps *steps;
    struct idle *idle = arena_new(memo->arena, struct idle);

    TRY(memo_steps(memo, &steps, err));
    idle_find(memo->run, memo->restriction, steps, memo->arena, idle);
    *ret = idle;
    return OK;
}

enum status memo_idle(struct memo *memo, const struct idle **ret, struct error *err)
{
    const void *made;

    TRY(memo_once(memo, make_idle, &made, err));
    *ret = made;
    return OK;
}

static int by_start(const void *left, const void *right)
{
    const struct gap *const *a = left, *const *b = right;

    return ((*a)->start_ps > (*b)->start_ps) - ((*a)->start_ps < (*b)->start_ps);
}

/* Of one device, from its first work to its last: what gaps leave of its window at both ends. What
 * takes no time, as a sample of a counter, parts two gaps and is no work. */
static struct window work_of(const struct idle *idle, const struct idle_device *device,
                             const struct gap **room)
{
    struct window work = {device->start_ps, device->start_ps + device->window_ps};
    uint32_t count = 0;

    for (uint32_t i = 0; i < idle->gap_count; i++)
        if (idle->gaps[i].host == device->host && idle->gaps[i].device == device->device)
            room[count++] = &idle->gaps[i];
    qsort(room, count, sizeof(*room), by_start);
    for (uint32_t i = 0; i < count && room[i]->start_ps <= work.from_ps; i++)
        work.from_ps = room[i]->start_ps + room[i]->dur_ps;
    for (uint32_t i = count; i > 0 && room[i - 1]->start_ps + room[i - 1]->dur_ps >= work.to_ps;
         i--)
        work.to_ps = room[i - 1]->start_ps;
    return work;
}

/* Without steps a capture begins and ends when somebody asked for it: devices that had nothing to
 * do before their first work and after their last were not kept waiting. */
static enum status make_kept_waiting(struct memo *memo, const void **ret, struct error *err)
{
    const struct idle *all;
    const struct steps *steps;
    struct idle *idle = arena_new(memo->arena, struct idle);
    struct restriction *narrow = arena_new(memo->arena, struct restriction);
    struct window all_work = {INT64_MAX, INT64_MIN};
    const struct gap **room;

    TRY(memo_idle(memo, &all, err));
    TRY(memo_steps(memo, &steps, err));
    *ret = all;
    if (all->of_steps)
        return OK;
    room = arena_array(memo->arena, const struct gap *, all->gap_count);
    for (uint32_t i = 0; i < all->device_count; i++) {
        struct window work = {INT64_MAX, INT64_MIN};

        if (all->devices[i].counted && all->devices[i].time.busy_ps > 0)
            work = work_of(all, &all->devices[i], room);
        all_work.from_ps = work.from_ps < all_work.from_ps ? work.from_ps : all_work.from_ps;
        all_work.to_ps = work.to_ps > all_work.to_ps ? work.to_ps : all_work.to_ps;
    }
    *ret = idle;
    if (all_work.from_ps >= all_work.to_ps)
        return OK;
    *narrow = *memo->restriction;
    narrow->has_window = true;
    narrow->start_ps = all_work.from_ps;
    narrow->end_ps = all_work.to_ps;
    idle_find(memo->run, narrow, steps, memo->arena, idle);
    return OK;
}

enum status memo_kept_waiting(struct memo *memo, const struct idle **ret, struct error *err)
{
    const void *made;

    TRY(memo_once(memo, make_kept_waiting, &made, err));
    *ret = made;
    return OK;
}

int64_t unoccupied_ps(const struct idle *idle, uint32_t host)
{
    int64_t sum_ps = 0;
    uint32_t count = 0;

    for (uint32_t i = 0; i < idle->device_count; i++) {
        const struct idle_device *device = &idle->devices[i];

        if (device->host != host || !device->counted)
            continue;
        ps_add(&sum_ps, device->window_ps - device->time.busy_ps);
        count++;
    }
    return count == 0 ? 0 : sum_ps / count;
}

struct causes { /* over the hosts: of each the mean of its counted devices */
    int64_t window_ps;
    int64_t doing_ps[DOING_COUNT];
};

static struct causes causes_of(const struct idle *idle, uint32_t host_count)
{
    struct causes causes = {0};

    for (uint32_t host = 0; host < host_count; host++) {
        uint32_t count = 0;

        for (uint32_t i = 0; i < idle->device_count; i++)
            count += idle->devices[i].host == host && idle->devices[i].counted;
        for (uint32_t i = 0; i < idle->device_count; i++) {
            const struct idle_device *device = &idle->devices[i];

            if (device->host != host || !device->counted)
                continue;
            ps_add(&causes.window_ps, device->window_ps / count);
            for (int doing = 0; doing < DOING_COUNT; doing++)
                ps_add(&causes.doing_ps[doing], device->time.doing_ps[doing] / count);
        }
    }
    return causes;
}

/* Input and compilation have rules of their own, and so has Python where it is much. */
static bool is_own_cause(enum host_doing doing)
{
    return doing == DOING_INPUT || doing == DOING_COMPILE;
}

static struct str say_causes(const struct causes *causes, int64_t idle_ps, struct arena *arena)
{
    bool said[DOING_COUNT] = {false};
    struct str text = STR("");

    for (int i = 0; i < CAUSES_SAID; i++) {
        int best = -1;

        for (int doing = 0; doing < DOING_COUNT; doing++) {
            if (!said[doing] && !is_own_cause((enum host_doing)doing) &&
                (best < 0 || causes->doing_ps[doing] > causes->doing_ps[best]))
                best = doing;
        }
        if (causes->doing_ps[best] < idle_ps / 20)
            break;
        said[best] = true;
        text = str_format(arena, "%.*s%s%s %s", STR_ARG(text), i > 0 ? ", " : "",
                          human_share((double)causes->doing_ps[best] / (double)idle_ps).text,
                          doing_word((enum host_doing)best));
    }
    return text;
}

struct recorded { /* of hosts */
    bool calls;   /* of a runtime or of the program, on any thread */
    bool python;  /* "$model.py:41 loss", or a frame of Kineto's */
};

static struct recorded what_was_recorded(const struct run_traces *run)
{
    struct recorded ret = {0};

    for (uint32_t host = 0; host < run->host_count; host++) {
        const struct trace *trace = run->hosts[host].trace;
        const struct name_stats *stats;
        uint32_t count = trace_name_stats(trace, &stats);

        for (track_id id = 0; id < trace->track_count; id++)
            ret.calls |= trace->tracks[id].kind == TRACK_THREAD && trace->tracks[id].device < 0 &&
                         trace->tracks[id].slice_count > 0;
        for (uint32_t i = 0; i < count && !ret.python; i++) {
            struct str name = trace_name(trace, stats[i].name);

            ret.python = str_starts(name, STR("$")) || str_contains(name, STR(".py("));
        }
    }
    return ret;
}

/* Nothing says what the host did: what was recorded already is not asked for again. */
static const char *remedy_of_silence(struct recorded recorded)
{
    if (recorded.python)
        return "Python was recorded but ran nothing in these gaps: the process was not scheduled, "
               "or waited in a library. See what else the machine ran, and sample the process's "
               "stacks from outside (`jview-collect`, `py-spy`).";
    if (recorded.calls)
        return "The host's calls were recorded and show nothing of the gaps: {jax+!nsys:record "
               "with "
               "the Python tracer}{kineto:record `with_stack=True`}{!kineto+!jax:look at the "
               "stacks "
               "of the process from outside (`jview-collect --py-sample`, `py-spy`)}{jax+nsys:look "
               "at the stacks of the process from outside (`jview-collect --py-sample`, `py-spy`)} "
               "for one short capture.";
    return "Nothing says what the host did: {jax+!nsys:record with `host_tracer_level` 2 or the "
           "Python tracer}{kineto:record `ProfilerActivity.CPU` and "
           "`with_stack=True`}{nsys:record its calls, too (`nsys profile -t "
           "cuda,nvtx,osrt`)}{!jax+!kineto+!nsys:record the host's calls, too,} for one short "
           "capture.";
}

static const char *remedy_of(const struct causes *causes, struct recorded recorded)
{
    static const char *const remedies[DOING_COUNT] = {
        [DOING_COMPUTE] = "",
        [DOING_DISPATCH] =
            "Launch more at once: {jax:one jitted function a step, `jax.lax.scan` over "
            "several steps, fewer and larger arguments}{torch:`torch.compile`}{torch+gpu:, CUDA "
            "graphs}{!jax+!torch:fewer and larger launches}.",
        [DOING_PYTHON] = "Run less Python between launches, and launch the next step before "
                         "reading this one's results.",
        [DOING_TRANSFER] = "Copy before the step begins and keep reused data on the device; read "
                           "results one step late.",
        [DOING_OTHER] = "See on the timeline what the host does in the longest gaps; move that "
                        "work to another thread or after the next launch.",
        [DOING_WAIT] = "The host waits while devices are idle: block on results only where they "
                       "are needed, after launching the next step.",
    };
    int best = DOING_NOTHING;

    for (int doing = DOING_TRANSFER; doing < DOING_COUNT; doing++) {
        if (causes->doing_ps[doing] > causes->doing_ps[best])
            best = doing;
    }
    return best == DOING_NOTHING ? remedy_of_silence(recorded) : remedies[best];
}

static void prove_longest(const struct idle *idle, struct finding *finding)
{
    for (uint32_t i = 0; i < idle->gap_count; i++) {
        const struct gap *gap = &idle->gaps[i];

        if (is_own_cause(gap->doing))
            continue;

        struct evidence *proof = finding_prove_ps(finding, "the longest gap", gap->dur_ps);

        evidence_at(proof, gap->host, gap->start_ps, gap->start_ps + gap->dur_ps);
        proof->step = gap->step;
        return;
    }
}

static const char *time_meant(const struct idle *idle)
{
    return idle->of_steps ? "counted steps" : "time from their first to their last work";
}

static enum status find_idle(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct idle *idle;

    TRY(memo_kept_waiting(memo, &idle, err));

    struct causes causes = causes_of(idle, memo->run->host_count);
    int64_t idle_ps = 0;

    for (int doing = 0; doing < DOING_COUNT; doing++)
        ps_add(&idle_ps, is_own_cause((enum host_doing)doing) ? 0 : causes.doing_ps[doing]);
    if (idle->device_count == 0 || idle_ps == 0 ||
        idle_ps < causes.window_ps / 100 * IDLE_PERCENT_MIN)
        return OK;

    double share = (double)idle_ps / (double)causes.window_ps;
    struct finding finding = {
        .severity = share * 100 >= IDLE_PERCENT_CRITICAL && idle->of_steps ? SEVERITY_CRITICAL
                                                                           : SEVERITY_WARNING,
        .confidence = idle->of_steps ? CONFIDENCE_HIGH : CONFIDENCE_LOW,
        .text = str_format(memo->arena,
                           "Devices are idle for %s of the %s, input and compilation excluded; "
                           "meanwhile the host does this: %.*s.",
                           human_share(share).text, time_meant(idle),
                           STR_ARG(say_causes(&causes, idle_ps, memo->arena))),
        .remedy = str_of(remedy_of(&causes, what_was_recorded(memo->run))),
    };

    finding_win(&finding, idle_ps);
    for (int doing = 0; doing < DOING_COUNT && finding.evidence_count < 5; doing++) {
        if (is_own_cause((enum host_doing)doing) || causes.doing_ps[doing] < idle_ps / 20)
            continue;
        finding_prove_ps(&finding, doing_word((enum host_doing)doing), causes.doing_ps[doing])
            ->view = "steps";
        finding.evidence[finding.evidence_count - 1].by = "idle";
    }
    prove_longest(idle, &finding);
    findings_add(list, &finding);
    return OK;
}

static enum status find_python(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct idle *idle;

    TRY(memo_kept_waiting(memo, &idle, err));

    struct causes causes = causes_of(idle, memo->run->host_count);
    int64_t python_ps = causes.doing_ps[DOING_PYTHON];

    if (python_ps == 0 || python_ps < causes.window_ps / 100 * PYTHON_PERCENT_MIN)
        return OK;

    struct finding finding = {
        .severity = SEVERITY_WARNING,
        .confidence = CONFIDENCE_MEDIUM,
        .text = str_format(memo->arena,
                           "Devices wait for %s, %s of the %s, while the stepping thread runs "
                           "Python. Python tracing itself slows Python down.",
                           human_ps(python_ps).text,
                           human_share((double)python_ps / (double)causes.window_ps).text,
                           time_meant(idle)),
        .remedy =
            STR("{jax:Move the work into the jitted function or behind its launch; "
                "convert}{!jax:Do it after the next launch; convert} and preprocess on another "
                "thread; check with the Python tracer off{jax: (`python_tracer_level = 0`)}."),
    };

    finding_win(&finding, python_ps);
    for (uint32_t i = 0; i < idle->gap_count; i++) {
        const struct gap *gap = &idle->gaps[i];

        if (gap->doing != DOING_PYTHON)
            continue;

        struct evidence *proof =
            finding_prove_ps(&finding, "Python in the longest such gap", gap->doing_ps);

        evidence_at(proof, gap->host, gap->start_ps, gap->start_ps + gap->dur_ps);
        proof->step = gap->step;
        break;
    }
    findings_add(list, &finding);
    return OK;
}

const struct rule rules_idle[] = {
    {.name = "device-idle",
     .theme = "steps",
     .when =
         "devices are idle for 10 % of the counted time or more, input and compilation excluded",
     .find = find_idle},
    {.name = "python-overhead",
     .theme = "steps",
     .when = "devices are idle for 10 % of the counted time or more while Python runs",
     .find = find_python},
    {.name = NULL},
};
