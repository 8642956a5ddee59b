/* SPDX-License-Identifier: Apache-2.0 */
/* Which steps are no measure of the others: those that warm up, and those far off the median. */
#include <stdlib.h>

#include "analyse/scan/scan.h"
#include "analyse/stats/stats.h"
#include "analyse/steps/steps_parts.h"

struct compile_search {
    bool found;
};

static void look_for_compile(void *data, const struct scanned *slice)
{
    if (slice->kind == KIND_COMPILE && slice->inside_ps > 0)
        ((struct compile_search *)data)->found = true;
}

static void look_for_compiles(void *data, const struct span *span)
{
    struct compile_search *search = data;
    const struct chunk *chunk = span->chunk;
    bool may = false;

    for (uint32_t i = 0; i < chunk->dictionary_count; i++)
        may |= chunk->dictionary_kind[i] == KIND_COMPILE;
    for (uint32_t at = span->first; may && !search->found && at < span->end; at++)
        search->found =
            chunk->dictionary_kind[chunk->place[at]] == KIND_COMPILE && chunk->dur_ps[at] > 0;
}

static bool step_compiles(const struct host_trace *host, const struct step *step)
{
    const struct trace *trace = host->trace;
    bool marked = step->host_dur_ps >= 0; /* compilers run where the program calls them */
    int64_t start_ps = marked ? step->host_start_ps : step->start_ps;
    int64_t dur_ps = marked ? step->host_dur_ps : step->dur_ps;
    struct window window = {
        .from_ps = start_ps - host->offset_ps,
        .to_ps = start_ps - host->offset_ps + dur_ps,
    };
    struct restriction nothing = {0};
    bool *tracks = memory_zeroed((size_t)trace->track_count + 1, 1);
    struct selection selection = {
        .host = host,
        .cut_in_time = true,
        .windows = &window,
        .window_count = 1,
        .tracks = tracks,
        .asked = &nothing,
    };
    struct compile_search search = {0};
    for (track_id id = 0; id < trace->track_count; id++)
        tracks[id] = !trace->tracks[id].derived && trace->tracks[id].device < 0 &&
                     trace->tracks[id].kind != TRACK_COUNTER;

    const struct scan_visitor visitor = {
        .visit = look_for_compile, .span = look_for_compiles, .data = {&search}, .part_count = 1};

    scan_slices(&selection, &visitor);
    free(tracks);
    return search.found;
}

/* The host's steps of one list that are whole, in order, as indexes. */
static uint32_t steps_of_host(const struct step_list *list, uint32_t host, uint32_t *ret)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i].host == host && !list->items[i].cut)
            ret[count++] = i;
    }
    return count;
}

static int64_t median_from(const struct step_list *list, const uint32_t *which, uint32_t count,
                           int64_t *room)
{
    for (uint32_t i = 0; i < count; i++)
        room[i] = list->items[which[i]].dur_ps;
    return median_of(room, count);
}

/* More do not warm up: each is compared with all that are left. */
enum { WARM_MAX = 256 };

/* How many of the first steps warm up: those that compile, and those that take more than twice the
 * median of those behind them. Where times are those of the work alone, no compiler is in them, and
 * length says nothing. */
static uint32_t warm_steps(const struct host_trace *host, const struct step_list *list,
                           const uint32_t *which, uint32_t count, bool by_compiles, int64_t *room)
{
    uint32_t most = count / 2 < WARM_MAX ? count / 2 : WARM_MAX, warm = 0;

    while (warm + 1 < count && warm <= most) {
        const struct step *step = &list->items[which[warm]];

        if (!(by_compiles && step_compiles(host, step)) &&
            (warm == most || step->time_rule == STEP_TIME_WORK ||
             step->dur_ps / 2 <= median_from(list, which + warm + 1, count - warm - 1, room)))
            break;
        warm++;
    }
    return warm;
}

static bool any_compiles(const struct host_trace *host, const struct step_list *list,
                         const uint32_t *which, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (step_compiles(host, &list->items[which[i]]))
            return true;
    }
    return false;
}

/* Warm-up ends where the steady state begins, which is most of the steps. Where more than half
 * compile, that is what the program does, and only length tells; of what never settles nothing says
 * which were the warm ones. An optimizer may try more often before it converges: of its updates
 * more than a quarter do not warm up without a compiler. Then what takes more than half as long
 * again as the median is an outlier. */
void steps_mark(const struct run_traces *run, enum step_rule rule, struct step_list *list,
                uint32_t host)
{
    uint32_t *which = memory_resize(NULL, list->count, sizeof(*which));
    int64_t *room = memory_resize(NULL, list->count, sizeof(*room));
    uint32_t count = steps_of_host(list, host, which);
    uint32_t warm = warm_steps(&run->hosts[host], list, which, count, true, room);

    if (count > 2 && warm > count / 2)
        warm = warm_steps(&run->hosts[host], list, which, count, false, room);
    if (rule == STEP_OPTIMIZER && warm > count / 4 &&
        !any_compiles(&run->hosts[host], list, which, warm))
        warm = 0;
    for (uint32_t i = 0; i < warm; i++)
        list->items[which[i]].warmup = true;
    if (count - warm >= 3) {
        int64_t median_ps = median_from(list, which + warm, count - warm, room);

        for (uint32_t i = warm; i < count; i++) {
            struct step *step = &list->items[which[i]];

            step->outlier = step->dur_ps > median_ps + median_ps / 2;
        }
    }
    free(which);
    free(room);
}
