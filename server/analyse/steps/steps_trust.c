/* SPDX-License-Identifier: Apache-2.0 */
/* How sure it is that what was found are the steps.
 *
 *   high     the program, or the device, or who asks, says so
 *   medium   inferred, and regular: four of five take within a quarter of the median
 *   low      inferred, and half of them do, or too few to tell
 *
 * Where not even half do, they are no steps: that is not said at all. Nor is it where what a
 * program's executions have between them differs from one to the next:
 *
 *   device   |f|g|f|g|h|f|g|f|g|h|     f to f holds g, then g and h: is a step one f or two?
 *
 * A program that runs in few of them is an evaluation, or something that is logged; but one that
 * gives back what it takes, as parameters, may be the update, and what repeats a part of the sum:
 *
 *   device   |f|f|f|f|u|f|f|f|f|u|     u: (parameters, gradients) -> parameters
 */
#include <stdlib.h>

#include "analyse/stats/map64.h"
#include "analyse/stats/stats.h"
#include "analyse/steps/steps_parts.h"
#include "base/bisect.h"
#include "decode/hlo/hlo.h"
#include "decode/hlo/hlo_sizes.h"
#include "decode/protobuf.h"
#include "trace/ps.h"

enum { REGULAR_PERCENT = 80, SAID_PERCENT = 50, COUNT_MIN = 3 };
enum { ALIKE_PERCENT = 60, ALIKE_MIN = 4, GIVES_FIFTHS = 2 };

/* Percent of the counted steps within a quarter of their host's median; -1 of too few. */
static int regular_percent(const struct run_traces *run, const struct step_list *list)
{
    int64_t *durs_ps = memory_resize(NULL, list->count, sizeof(*durs_ps));
    uint64_t near = 0, counted = 0;

    for (uint32_t host = 0; host < run->host_count; host++) {
        uint32_t count = 0;

        for (uint32_t i = 0; i < list->count; i++) {
            if (list->items[i].host == host && !list->items[i].warmup && !list->items[i].cut)
                durs_ps[count++] = list->items[i].dur_ps;
        }
        if (count < COUNT_MIN)
            continue;

        int64_t median_ps = median_of(durs_ps, count);

        for (uint32_t i = 0; i < count; i++)
            near +=
                durs_ps[i] >= median_ps - median_ps / 4 && durs_ps[i] <= median_ps + median_ps / 4;
        counted += count;
    }
    free(durs_ps);
    return counted == 0 ? -1 : (int)(near * 100 / counted);
}

/* Do all hosts that have steps have as many? */
static bool hosts_agree(const struct run_traces *run, const struct step_list *list)
{
    uint32_t *counts = memory_zeroed((size_t)run->host_count + 1, sizeof(*counts));
    uint32_t first = 0;
    bool agree = true;
    for (uint32_t i = 0; i < list->count; i++)
        counts[list->items[i].host]++;
    for (uint32_t host = 0; host < run->host_count; host++) {
        first = first == 0 ? counts[host] : first;
        agree &= counts[host] == 0 || counts[host] == first;
    }
    free(counts);
    return agree;
}

static int32_t device_of_most(const struct attribution *of)
{
    struct map64 counts = {0};
    int32_t device = 0;
    uint32_t most = 0;

    for (uint32_t i = 0; i < of->execution_count; i++) {
        uint32_t count = ++*map64_at(&counts, (uint32_t)of->executions[i].device, 0);

        if (count > most) {
            most = count;
            device = of->executions[i].device;
        }
    }
    map64_free(&counts);
    return device;
}

/* The last of them that begins by then, or `count`; they follow each other. */
static uint32_t step_of_time(const struct step *const *steps, uint32_t count, int64_t at_ps)
{
    uint32_t low = BISECT(0, count, i, steps[i]->start_ps <= at_ps);

    return low > 0 && at_ps < steps[low - 1]->start_ps + steps[low - 1]->dur_ps ? low - 1 : count;
}

static uint64_t scattered(uint64_t program)
{
    uint64_t mixed = (program + 1) * UINT64_C(0x9e3779b97f4a7c15);

    return mixed ^ mixed >> 31;
}

/* By step which programs ran in it on the device that ran most, and how often each: a sum of what
 * stands for them. */
static uint64_t *programs_in(const struct host_trace *host, const struct step *const *steps,
                             uint32_t count)
{
    const struct attribution *of = host->attribution;
    uint64_t *sums = memory_zeroed((size_t)count + 1, sizeof *sums);
    int32_t device = device_of_most(of);

    for (uint32_t i = 0; i < of->execution_count; i++) {
        const struct execution *execution = &of->executions[i];

        if (execution->device == device && execution->program != NO_PROGRAM)
            sums[step_of_time(steps, count, execution->start_ps + host->offset_ps)] +=
                scattered(execution->program);
    }
    return sums;
}

/* The host's counted steps, in order. */
static uint32_t counted_of(const struct step_list *list, uint32_t host, const struct step **ret)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i].host == host && !list->items[i].warmup && !list->items[i].cut)
            ret[count++] = &list->items[i];
    }
    return count;
}

/* Percent of the host's counted steps that hold the programs that most do; -1 of too few. */
static int alike_percent(const struct run_traces *run, uint32_t host, const struct step_list *list)
{
    const struct step **steps = memory_resize(NULL, (size_t)list->count + 1, sizeof *steps);
    uint32_t count = counted_of(list, host, steps), most = 0;
    struct map64 counts = {0};

    if (count >= ALIKE_MIN) {
        uint64_t *sums = programs_in(&run->hosts[host], steps, count);

        for (uint32_t i = 0; i < count; i++) {
            uint32_t same = ++*map64_at(&counts, sums[i], 0);

            most = same > most ? same : most;
        }
        free(sums);
    }
    map64_free(&counts);
    free(steps);
    return count < ALIKE_MIN ? -1 : (int)((uint64_t)most * 100 / count);
}

struct program_use {     /* in the counted steps of a host, on the device that ran most */
    uint32_t steps;      /* that hold it */
    uint32_t last;       /* the last of them, from 1 on */
    double takes, gives; /* bytes; 0: not known */
};

/* HloModule 4 program shape: 1 parameters*  2 result */
static void read_sizes(const struct trace *trace, program_id program, struct program_use *ret)
{
    enum { PROGRAM_SHAPE = 4, PARAMETER = 1, RESULT = 2, BLOB_BYTES_MAX = 64 << 20 };
    const struct program *of = &trace->programs[program];
    struct arena *arena = arena_create();
    struct error err = {0};
    struct bytes blob;

    if (of->form == PROGRAM_PROTO && of->blob_bytes <= BLOB_BYTES_MAX &&
        trace_program_blob(trace, of, arena, &blob, &err) == OK) {
        struct pb module = pb_open(hlo_parts_of(blob).module, &err);

        for (struct pb_field shape; pb_next(&module, &shape);) {
            if (shape.number != PROGRAM_SHAPE || shape.wire != PB_BYTES)
                continue;
            struct pb parts = pb_open(shape.bytes, &err);

            for (struct pb_field part; pb_next(&parts, &part);) {
                struct hlo_sizes sizes = {0};

                if (part.wire != PB_BYTES || (part.number != PARAMETER && part.number != RESULT))
                    continue;
                hlo_sizes_read(PROGRAM_PROTO, part.bytes, &sizes);
                *(part.number == PARAMETER ? &ret->takes : &ret->gives) += sizes.bytes;
            }
        }
    }
    arena_destroy(arena);
}

bool program_gives_back(const struct trace *trace, program_id program)
{
    struct program_use use = {0};

    read_sizes(trace, program, &use);
    return use.gives > 0 && use.gives * 5 >= use.takes * GIVES_FIFTHS;
}

/* By program of the host. */
static struct program_use *uses_of(const struct host_trace *host, const struct step *const *steps,
                                   uint32_t count)
{
    const struct attribution *of = host->attribution;
    struct program_use *uses = memory_zeroed((size_t)host->trace->program_count + 1, sizeof *uses);
    int32_t device = device_of_most(of);

    for (uint32_t i = 0; i < of->execution_count; i++) {
        const struct execution *execution = &of->executions[i];
        uint32_t step = step_of_time(steps, count, execution->start_ps + host->offset_ps);

        if (execution->device != device || execution->program >= host->trace->program_count ||
            step == count || uses[execution->program].last == step + 1)
            continue;
        uses[execution->program].last = step + 1;
        uses[execution->program].steps++;
    }
    return uses;
}

/* In two steps or more, and not in most of them. */
static bool is_occasional(const struct program_use *use, uint32_t count)
{
    return use->steps > 1 && use->steps <= count / 2;
}

/* The host's program that is not in most of the steps, gives back two fifths of what it takes (of
 * parameters and gradients, the parameters), and a quarter of what those take that are in most. */
static program_id rare_update(const struct host_trace *host, const struct step *const *steps,
                              uint32_t count, uint32_t *ret_steps)
{
    enum { GIVES_QUARTERS = 1 };
    const struct trace *trace = host->trace;
    struct program_use *uses = uses_of(host, steps, count);
    program_id ret = NO_PROGRAM;
    bool occasional = false;
    double takes_most = 0;

    for (program_id id = 0; id < trace->program_count; id++)
        occasional |= is_occasional(&uses[id], count);
    for (program_id id = 0; id < trace->program_count && occasional; id++) {
        if (uses[id].steps > 1)
            read_sizes(trace, id, &uses[id]);
        if (uses[id].steps > count / 2 && uses[id].takes > takes_most)
            takes_most = uses[id].takes;
    }
    for (program_id id = 0; id < trace->program_count && ret == NO_PROGRAM; id++) {
        if (is_occasional(&uses[id], count) && uses[id].gives > 0 && takes_most > 0 &&
            uses[id].gives * 5 >= uses[id].takes * GIVES_FIFTHS &&
            uses[id].gives * 4 >= takes_most * GIVES_QUARTERS) {
            ret = id;
            *ret_steps = uses[id].steps;
        }
    }
    free(uses);
    return ret;
}

/* Why the steps of a host may be parts of steps; "". */
static struct str doubt_of_parts(const struct run_traces *run, const struct step_list *list,
                                 struct arena *arena)
{
    const struct step **steps = memory_resize(NULL, (size_t)list->count + 1, sizeof *steps);
    struct str ret = STR("");

    for (uint32_t at = 0; at < run->host_count && ret.count == 0; at++) {
        const struct host_trace *host = &run->hosts[at];
        uint32_t count = counted_of(list, at, steps), held = 0;
        program_id update = count >= ALIKE_MIN && host->attribution != NULL &&
                                    host->attribution->execution_count > 0
                                ? rare_update(host, steps, count, &held)
                                : NO_PROGRAM;

        if (update != NO_PROGRAM)
            ret = str_format(arena,
                             "%.*s gives back what it takes, as an update does, and runs in %u of "
                             "%u of them: several may be one step",
                             STR_ARG(trace_name(host->trace, host->trace->programs[update].name)),
                             held, count);
    }
    free(steps);
    return ret;
}

/* The least of all hosts. */
static int least_alike(const struct run_traces *run, const struct step_list *list)
{
    int least = -1;

    for (uint32_t host = 0; host < run->host_count; host++) {
        const struct attribution *of = run->hosts[host].attribution;
        int percent = of != NULL && of->execution_count > 0 ? alike_percent(run, host, list) : -1;

        if (percent >= 0 && (least < 0 || percent < least))
            least = percent;
    }
    return least;
}

static enum step_trust trust_executions(const struct run_traces *run, const struct step_list *list,
                                        struct arena *arena, struct str *ret_why,
                                        bool *ret_contradicted, enum step_trust trust)
{
    int percent = least_alike(run, list);
    struct str parts = STR("");

    if (*ret_contradicted || percent < 0)
        return trust;
    if (percent < ALIKE_PERCENT)
        *ret_why = str_format(
            arena, "other programs run between them, and only %d %% contain the same ones",
            percent);
    else
        parts = doubt_of_parts(run, list, arena);
    if (parts.count > 0)
        *ret_why = parts;
    *ret_contradicted = percent < ALIKE_PERCENT || parts.count > 0;
    return *ret_contradicted ? TRUST_LOW : trust;
}

static enum step_trust trust_inferred(const struct run_traces *run, const struct step_list *list,
                                      struct arena *arena, struct str *ret_why,
                                      bool *ret_contradicted)
{
    int percent = regular_percent(run, list);

    if (percent < 0) {
        *ret_why = STR("inferred from too few repetitions to tell whether they are regular");
        return TRUST_LOW;
    }
    *ret_contradicted = percent < SAID_PERCENT;
    *ret_why =
        str_format(arena, "inferred; %d %% of them take within a quarter of the median", percent);
    return percent >= REGULAR_PERCENT ? TRUST_MEDIUM : TRUST_LOW;
}

void steps_trust_beside(const struct step_list *list, struct arena *arena,
                        enum step_trust *ret_trust, struct str *ret_why)
{
    enum { WITHIN_PERCENT = 3 }; /* of a step's time, as near as it is said to be */
    int64_t beside_ps = 0, all_ps = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        ps_add(&beside_ps, list->items[i].beside_ps);
        ps_add(&all_ps, list->items[i].dur_ps);
    }
    if (*ret_trust != TRUST_HIGH || beside_ps == 0 ||
        (double)beside_ps * 100 < (double)all_ps * WITHIN_PERCENT)
        return;
    *ret_trust = TRUST_MEDIUM;
    *ret_why = str_format(
        arena, "%.*s, but in %.0f %% of their time %.*s runs, which none of them called",
        STR_ARG(*ret_why), 100.0 * (double)beside_ps / (double)all_ps, STR_ARG(list->beside));
}

enum step_trust steps_trust(const struct run_traces *run, enum step_rule rule, bool derived,
                            const struct step_list *list, struct arena *arena, struct str *ret_why,
                            bool *ret_contradicted)
{
    *ret_contradicted = false;
    switch (rule) {
    case STEP_ANNOTATION:
        if (hosts_agree(run, list)) {
            *ret_why = STR("the program marks them");
            return TRUST_HIGH;
        }
        *ret_why = STR("the program marks them, but not as many on each host");
        return TRUST_MEDIUM;
    case STEP_LINE:
        *ret_why = derived ? STR("the tool that wrote the file drew them")
                           : STR("the device recorded them");
        return derived ? TRUST_MEDIUM : TRUST_HIGH;
    case STEP_REGEX:
        *ret_why = STR("chosen by step_regex");
        return TRUST_HIGH;
    case STEP_MODULE:
        return trust_executions(run, list, arena, ret_why, ret_contradicted,
                                trust_inferred(run, list, arena, ret_why, ret_contradicted));
    case STEP_OPTIMIZER: {
        enum step_trust trust = trust_inferred(run, list, arena, ret_why, ret_contradicted);

        return list->unsure ? TRUST_LOW : trust;
    }
    case STEP_REPEATED:
        return trust_inferred(run, list, arena, ret_why, ret_contradicted);
    default:
        *ret_why = STR("none were found");
        return TRUST_LOW;
    }
}
