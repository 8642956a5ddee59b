/* SPDX-License-Identifier: Apache-2.0 */
/* Steps by an expression that names them.
 *
 *   step_regex=^(train|eval)_step    slices of hosts' threads, of each host those of the thread
 *                                    that spends most time in them
 *
 * An expression comes from whoever asks: what makes a matcher slow or large (back references,
 * counted repetitions) is refused.
 */
#include <regex.h>
#include <stdlib.h>

#include "analyse/steps/steps_parts.h"
#include "trace/names/by_name.h"

enum { EXPRESSION_BYTES_MAX = 256, NAME_BYTES_MAX = 1024 };

static enum status compile(struct str expression, regex_t *ret, struct error *err)
{
    char text[EXPRESSION_BYTES_MAX + 1];

    if (expression.count > EXPRESSION_BYTES_MAX)
        return fail(err, ERR_INVALID, "step_regex is longer than %d bytes", EXPRESSION_BYTES_MAX);
    for (size_t i = 0; i < expression.count; i++) {
        char letter = expression.at[i];
        bool refers = letter == '\\' && i + 1 < expression.count && expression.at[i + 1] >= '1' &&
                      expression.at[i + 1] <= '9';

        if (letter == '\0' || letter == '{' || refers)
            return fail(err, ERR_INVALID,
                        "step_regex takes no back references and no counted repetitions");
        text[i] = letter;
    }
    text[expression.count] = '\0';

    int code = regcomp(ret, text, REG_EXTENDED | REG_NOSUB);
    char why[128];

    if (code == 0)
        return OK;
    regerror(code, NULL, why, sizeof(why));
    return fail(err, ERR_INVALID, "step_regex is not a valid regular expression: %s", why);
}

static bool matches(const regex_t *expression, struct str name)
{
    char text[NAME_BYTES_MAX + 1];
    size_t count = name.count < NAME_BYTES_MAX ? name.count : NAME_BYTES_MAX;

    memcpy(text, name.at, count);
    text[count] = '\0';
    return regexec(expression, text, 0, NULL, 0) == 0;
}

static bool is_of_host(const struct trace *trace, const struct name_run *run)
{
    const struct track *track = &trace->tracks[trace->rows[run->row].track];

    return track->device < 0 && !track->derived;
}

static void add_run(const struct host_trace *host, uint32_t index, const struct name_run *run,
                    struct step_list *list)
{
    const slice_id *slices = trace_name_slices(host->trace, run);

    for (uint32_t at = 0; slices != NULL && at < run->count; at++) {
        struct slice slice = trace_slice(host->trace, slices[at]);
        struct step step = step_of(host, index, &slice);

        step.numbered = step_number_at_end(step.name, &step.number);
        if (slice.dur_ps > 0)
            step_list_add(list, step);
    }
}

static void keep_busiest_track(const struct trace *trace, struct step_list *list, uint32_t from)
{
    int64_t *total_ps = memory_zeroed((size_t)trace->track_count + 1, sizeof(*total_ps));
    track_id best = 0;
    uint32_t kept = from;
    for (uint32_t i = from; i < list->count; i++)
        total_ps[trace->rows[trace_row_of(trace, list->items[i].slice)].track] +=
            list->items[i].dur_ps;
    for (track_id id = 0; id < trace->track_count; id++)
        best = total_ps[id] > total_ps[best] ? id : best;
    for (uint32_t i = from; i < list->count; i++) {
        if (trace->rows[trace_row_of(trace, list->items[i].slice)].track == best)
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
    free(total_ps);
}

static void find_in_host(const struct host_trace *host, uint32_t index, const regex_t *expression,
                         struct step_list *list)
{
    const struct name_stats *stats;
    uint32_t count = trace_name_stats(host->trace, &stats), from = list->count;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t run_count;
        const struct name_run *runs = trace_name_runs(host->trace, stats[i].name, &run_count);

        if (!matches(expression, trace_name(host->trace, stats[i].name)))
            continue;
        for (uint32_t run = 0; run < run_count; run++) {
            if (is_of_host(host->trace, &runs[run]) && list->count < STEPS_MAX)
                add_run(host, index, &runs[run], list);
        }
    }
    keep_busiest_track(host->trace, list, from);
    step_list_settle(list, from);
}

enum status find_by_expression(const struct run_traces *run, struct str expression,
                               struct step_list *list, struct error *err)
{
    regex_t compiled;

    TRY(compile(expression, &compiled, err));
    for (uint32_t host = 0; host < run->host_count; host++)
        find_in_host(&run->hosts[host], host, &compiled, list);
    regfree(&compiled);
    return OK;
}
