/* Rules about devices that had nothing to do, by what their host did meanwhile. */
#include "analyse/findings/rules_idle.h"
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

/* Were the calls of Python recorded? "$model.py:41 loss", or a frame of Kineto's. */
static bool has_python(const struct run_traces *run)
{
    for (uint32_t host = 0; host < run->host_count; host++) {
        const struct name_stats *stats;
        uint32_t count = trace_name_stats(run->hosts[host].trace, &stats);

        for (uint32_t i = 0; i < count; i++) {
            struct str name = trace_name(run->hosts[host].trace, stats[i].name);

            if (str_starts(name, STR("$")) || str_contains(name, STR(".py(")))
                return true;
        }
    }
    return false;
}

static const char *remedy_of(const struct causes *causes, bool python_recorded)
{
    static const char *const remedies[DOING_COUNT] = {
        [DOING_COMPUTE] = "",
        [DOING_DISPATCH] =
            "Launch more at once: {jax:one jitted function a step, `jax.lax.scan` over "
            "several steps, fewer and larger arguments}{torch:`torch.compile`}{torch+gpu:, CUDA "
            "graphs}{!jax+!torch:fewer and larger launches}.",
        [DOING_PYTHON] = "Do less Python between launches, and launch the next step before the "
                         "results of this one are read.",
        [DOING_TRANSFER] = "Copy ahead of the step and keep what is reused on the device; read "
                           "results back one step late.",
        [DOING_OTHER] = "See on the timeline what the host does in the longest gaps, and move it "
                        "to another thread or behind the next launch.",
        [DOING_WAIT] = "The host waits while devices are idle: block on results only where they "
                       "are needed, and launch the next step first.",
        [DOING_NOTHING] =
            "Nothing says what the host did: {jax:record with `host_tracer_level` 2 or the "
            "Python tracer for one short capture}{torch:record `ProfilerActivity.CPU` and "
            "`with_stack=True` for one short capture}{!jax+!torch:record the host's calls, "
            "too}.",
    };
    int best = DOING_NOTHING;

    for (int doing = DOING_TRANSFER; doing < DOING_COUNT; doing++) {
        if (causes->doing_ps[doing] > causes->doing_ps[best])
            best = doing;
    }
    if (best == DOING_NOTHING && python_recorded)
        return "Python was recorded and shows nothing of the gaps: the process was not running, or "
               "waited in a library. Look at what else the machine ran, and at the stacks of the "
               "process from outside (`jview-collect`, `py-spy`).";
    return remedies[best];
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

static enum status find_idle(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct idle *idle;

    TRY(memo_idle(memo, &idle, err));

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
                           "Devices are idle %s of the %s, input and compilation aside; the host "
                           "meanwhile: %.*s.",
                           human_share(share).text, idle->of_steps ? "counted steps" : "capture",
                           STR_ARG(say_causes(&causes, idle_ps, memo->arena))),
        .remedy = str_of(remedy_of(&causes, has_python(memo->run))),
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

    TRY(memo_idle(memo, &idle, err));

    struct causes causes = causes_of(idle, memo->run->host_count);
    int64_t python_ps = causes.doing_ps[DOING_PYTHON];

    if (python_ps == 0 || python_ps < causes.window_ps / 100 * PYTHON_PERCENT_MIN)
        return OK;

    struct finding finding = {
        .severity = SEVERITY_WARNING,
        .confidence = CONFIDENCE_MEDIUM,
        .text = str_format(
            memo->arena,
            "Devices wait %s, %s of the %s, while the stepping thread runs Python; tracing "
            "Python makes it slower than it is.",
            human_ps(python_ps).text,
            human_share((double)python_ps / (double)causes.window_ps).text,
            idle->of_steps ? "counted steps" : "capture"),
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
     .when = "devices have nothing to do in 10 % of the counted time, input and compilation aside",
     .find = find_idle},
    {.name = "python-overhead",
     .theme = "steps",
     .when = "devices have nothing to do in 10 % of the counted time while Python runs",
     .find = find_python},
    {.name = NULL},
};
