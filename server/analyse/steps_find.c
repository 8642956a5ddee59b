/* The rules by which steps are recognised, each for one host. */
#include <stdlib.h>

#include "analyse/scan.h"
#include "analyse/steps_parts.h"
#include "trace/args.h"
#include "trace/by_name.h"

/* What repeats more often than this is a call inside a step, not a step. */
enum { REPEATS_MAX = 100000 };

static void add_step(struct step_list *list, struct step step)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 64 : 2 * list->capacity;
        list->items = memory_resize(list->items, list->capacity, sizeof(*list->items));
    }
    list->items[list->count++] = step;
}

static struct step step_of_slice(const struct host_trace *host, uint32_t index,
                                 const struct slice *slice)
{
    return (struct step){
        .host = index,
        .name = trace_name(host->trace, slice->name),
        .slice = slice->id,
        .start_ps = slice->start_ps + host->offset_ps,
        .dur_ps = slice->dur_ps,
    };
}

/* Digits at the end of a name: "ProfilerStep#12", "train 36", "7". */
static bool number_at_end(struct str name, int64_t *ret)
{
    size_t digits = 0;

    while (digits < name.count && name.at[name.count - 1 - digits] >= '0' &&
           name.at[name.count - 1 - digits] <= '9')
        digits++;
    return str_to_i64(str_skip(name, name.count - digits), ret);
}

static int by_start_longest(const void *left, const void *right)
{
    const struct step *a = left, *b = right;

    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps ? -1 : 1;
    return (a->dur_ps < b->dur_ps) - (a->dur_ps > b->dur_ps);
}

/* Steps inside another one of the host go; those without a number get their ordinal. */
static void settle(struct step_list *list, uint32_t from)
{
    uint32_t kept = from;
    int64_t open_to_ps = INT64_MIN;

    if (list->count > from)
        qsort(list->items + from, list->count - from, sizeof(*list->items), by_start_longest);
    for (uint32_t i = from; i < list->count; i++) {
        struct step step = list->items[i];

        if (step.start_ps + step.dur_ps <= open_to_ps)
            continue;
        open_to_ps = step.start_ps + step.dur_ps;
        if (!step.numbered)
            step.number = kept - from;
        list->items[kept++] = step;
    }
    list->count = kept;
}

static void add_annotated(const struct host_trace *host, uint32_t index, event_id event,
                          const struct arg_column *numbers, uint32_t at, struct step_list *list)
{
    slice_id id = trace_slice_of_event(host->trace, event);

    if (id == NO_SLICE)
        return;

    struct slice slice = trace_slice(host->trace, id);
    struct step step = step_of_slice(host, index, &slice);

    if (slice.dur_ps <= 0 || host->trace->tracks[host->trace->rows[slice.row].track].derived)
        return;
    if (numbers != NULL && (numbers->type[at] == ARG_INT64 ||
                            (numbers->type[at] == ARG_UINT64 && numbers->bits[at] <= INT64_MAX))) {
        step.numbered = true;
        step.number = (int64_t)numbers->bits[at];
    }
    add_step(list, step);
}

/* Where one step ends PyTorch begins the next: the last mark is where its profiler was stopped, a
 * stub among steps twenty times as long. */
static void drop_stub(struct step_list *list, uint32_t from)
{
    enum { TIMES_SHORTER = 20 };
    uint32_t last = from;
    int64_t shortest_ps = INT64_MAX;

    for (uint32_t i = from; i < list->count; i++)
        if (list->items[i].start_ps > list->items[last].start_ps)
            last = i;
    for (uint32_t i = from; i < list->count; i++)
        if (i != last && list->items[i].dur_ps < shortest_ps)
            shortest_ps = list->items[i].dur_ps;
    if (list->count - from > 1 && list->items[last].dur_ps < shortest_ps / TIMES_SHORTER)
        list->items[last] = list->items[--list->count];
}

/* PyTorch's own step marks. */
static void find_profiler_steps(const struct host_trace *host, uint32_t index,
                                struct step_list *list)
{
    const struct name_stats *stats;
    uint32_t count = trace_name_stats(host->trace, &stats);

    for (uint32_t i = 0; i < count; i++) {
        if (!str_starts(trace_name(host->trace, stats[i].name), STR("ProfilerStep#")))
            continue;

        uint32_t run_count;
        const struct name_run *runs = trace_name_runs(host->trace, stats[i].name, &run_count);

        for (uint32_t run = 0; run < run_count; run++) {
            const struct row *row = &host->trace->rows[runs[run].row];

            if (host->trace->tracks[row->track].device >= 0)
                continue;
            for (uint32_t at = 0; at < runs[run].count; at++) {
                struct slice slice =
                    trace_slice(host->trace, trace_name_slices(host->trace, &runs[run])[at]);
                struct step step = step_of_slice(host, index, &slice);

                step.numbered = number_at_end(step.name, &step.number);
                add_step(list, step);
            }
        }
    }
}

void find_annotated(const struct host_trace *host, uint32_t index, struct step_list *list)
{
    uint32_t from = list->count;
    name_id root, number;

    if (trace_find_name(host->trace, STR("_r"), &root)) {
        bool has_numbers = trace_find_name(host->trace, STR("step_num"), &number);
        struct arg_column *columns = memory_resize(NULL, 2, sizeof(*columns)); /* 300 KB */

        for (uint32_t block = 0; block < trace_arg_block_count(host->trace); block++) {
            if (!trace_arg_column(host->trace, block, root, &columns[0]))
                continue;

            bool numbered =
                has_numbers && trace_arg_column(host->trace, block, number, &columns[1]);

            for (uint32_t at = 0; at < columns[0].count; at++) {
                if ((columns[0].type[at] == ARG_INT64 || columns[0].type[at] == ARG_UINT64) &&
                    columns[0].bits[at] == 1)
                    add_annotated(host, index, columns[0].first_event + at,
                                  numbered ? &columns[1] : NULL, at, list);
            }
        }
        free(columns);
    }
    if (list->count == from) {
        find_profiler_steps(host, index, list);
        drop_stub(list, from);
    }
    settle(list, from);
}

/* The Steps lines of a host's devices: what has one name and overlaps is one step. */
static void find_on_lines_of(const struct host_trace *host, uint32_t index, bool derived,
                             struct step_list *list)
{
    const struct trace *trace = host->trace;
    struct step_list all = {0};
    uint32_t from = list->count;

    for (track_id id = 0; id < trace->track_count; id++) {
        const struct track *track = &trace->tracks[id];

        if (track->role != ROLE_STEPS || track->derived != derived || track->row_count == 0)
            continue;
        for (uint32_t at = 0; at < trace->rows[track->first_row].count; at++) {
            struct slice slice = trace_slice(trace, trace->rows[track->first_row].first_slice + at);

            if (slice.dur_ps > 0)
                add_step(&all, step_of_slice(host, index, &slice));
        }
    }
    if (all.count > 0)
        qsort(all.items, all.count, sizeof(*all.items), by_start_longest);
    for (uint32_t i = 0; i < all.count; i++) {
        struct step *step = &all.items[i];
        struct step *same = NULL;

        for (uint32_t j = list->count; j > from && same == NULL && j + 16 > list->count; j--) {
            struct step *earlier = &list->items[j - 1];

            if (str_equal(earlier->name, step->name) &&
                step->start_ps < earlier->start_ps + earlier->dur_ps)
                same = earlier;
        }
        if (same == NULL) {
            step->numbered = number_at_end(step->name, &step->number);
            add_step(list, *step);
        } else if (step->start_ps + step->dur_ps > same->start_ps + same->dur_ps) {
            same->dur_ps = step->start_ps + step->dur_ps - same->start_ps;
        }
    }
    free(all.items);
    settle(list, from);
}

void find_on_lines(const struct host_trace *host, uint32_t index, struct step_list *list)
{
    find_on_lines_of(host, index, false, list);
}

void find_on_derived_lines(const struct host_trace *host, uint32_t index, struct step_list *list)
{
    find_on_lines_of(host, index, true, list);
}

/* The program that took the most time of those that ran at least twice on one device. */
static uint32_t dominant_program(const struct attribution *attribution, const struct trace *trace)
{
    int64_t *time_ps = calloc((size_t)trace->program_count + 1, sizeof(*time_ps));
    uint32_t *runs = calloc((size_t)trace->program_count + 1, sizeof(*runs));
    uint32_t best = NO_PROGRAM;

    if (time_ps == NULL || runs == NULL)
        abort(); /* out of memory: as base/arena.h says */
    for (uint32_t i = 0; i < attribution->execution_count; i++) {
        const struct execution *execution = &attribution->executions[i];

        if (execution->program >= trace->program_count || execution->end_ps <= execution->start_ps)
            continue;
        time_ps[execution->program] += execution->end_ps - execution->start_ps;
        runs[execution->program] +=
            execution->device == attribution->executions[0].device || trace->program_count == 1;
    }
    for (uint32_t i = 0; i < trace->program_count; i++) {
        if (runs[i] >= 2 && (best == NO_PROGRAM || time_ps[i] > time_ps[best]))
            best = i;
    }
    free(time_ps);
    free(runs);
    return best;
}

static void add_executions(const struct host_trace *host, uint32_t index, uint32_t program,
                           struct step_list *list)
{
    const struct attribution *attribution = host->attribution;

    for (uint32_t i = 0; i < attribution->execution_count; i++) {
        const struct execution *execution = &attribution->executions[i];

        if (execution->program == program && execution->end_ps > execution->start_ps)
            add_step(list, (struct step){
                               .host = index,
                               .name = trace_name(host->trace, host->trace->programs[program].name),
                               .slice = NO_SLICE,
                               .number = execution->device,
                               .start_ps = execution->start_ps + host->offset_ps,
                               .dur_ps = execution->end_ps - execution->start_ps,
                           });
    }
}

static bool is_modules(const struct trace *trace, const struct name_run *run)
{
    const struct track *track = &trace->tracks[trace->rows[run->row].track];

    return track->role == ROLE_MODULES && !track->derived && track->device >= 0;
}

/* The executions of one name on the module lines, and what they take; `list` NULL only adds up. */
static int64_t add_modules(const struct host_trace *host, uint32_t index, name_id name,
                           struct step_list *list)
{
    const struct trace *trace = host->trace;
    uint32_t count, most = 0;
    const struct name_run *runs = trace_name_runs(trace, name, &count);
    int64_t total_ps = 0;

    for (uint32_t run = 0; run < count; run++) {
        if (!is_modules(trace, &runs[run]))
            continue;
        most = runs[run].count > most ? runs[run].count : most;

        const slice_id *slices = trace_name_slices(trace, &runs[run]);

        for (uint32_t at = 0; slices != NULL && at < runs[run].count; at++) {
            struct slice slice = trace_slice(trace, slices[at]);
            struct step step = step_of_slice(host, index, &slice);

            step.number = trace->tracks[trace->rows[runs[run].row].track].device;
            total_ps += slice.dur_ps;
            if (list != NULL && slice.dur_ps > 0)
                add_step(list, step);
        }
    }
    return most >= 2 ? total_ps : 0;
}

/* Programs that lie in files of their own are known to a trace by the names of its modules. */
static void add_dominant_module(const struct host_trace *host, uint32_t index,
                                struct step_list *list)
{
    const struct name_stats *stats;
    uint32_t count = trace_name_stats(host->trace, &stats);
    int64_t best_ps = 0;
    name_id best = 0;

    for (uint32_t i = 0; i < count; i++) {
        int64_t total_ps = stats[i].count >= 2 && stats[i].total_ps > best_ps
                               ? add_modules(host, index, stats[i].name, NULL)
                               : 0;

        if (total_ps > best_ps) {
            best_ps = total_ps;
            best = stats[i].name;
        }
    }
    if (best_ps > 0)
        add_modules(host, index, best, list);
}

/* Executions of one program on several devices at one time are one step; each lasts until the next
 * begins, so that what is between them is seen. */
void find_executions(const struct host_trace *host, uint32_t index, struct step_list *list)
{
    const struct attribution *attribution = host->attribution;
    struct step_list all = {0};
    uint32_t from = list->count;

    if (attribution == NULL || attribution->execution_count < 2)
        return;

    uint32_t program = dominant_program(attribution, host->trace);

    if (program != NO_PROGRAM)
        add_executions(host, index, program, &all);
    else
        add_dominant_module(host, index, &all);
    if (all.count > 0)
        qsort(all.items, all.count, sizeof(*all.items), by_start_longest);
    for (uint32_t i = 0; i < all.count; i++) {
        struct step *last = list->count > from ? &list->items[list->count - 1] : NULL;
        struct step *step = &all.items[i];

        /* The first device's executions tell where steps begin. */
        if (last == NULL ||
            (step->number == all.items[0].number && step->start_ps >= last->start_ps + 1))
            add_step(list, *step);
        else if (step->start_ps + step->dur_ps > last->start_ps + last->dur_ps)
            last->dur_ps = step->start_ps + step->dur_ps - last->start_ps;
    }
    free(all.items);
    for (uint32_t i = from; i < list->count; i++) {
        list->items[i].number = i - from;
        if (i + 1 < list->count)
            list->items[i].dur_ps = list->items[i + 1].start_ps - list->items[i].start_ps;
    }
}

static bool is_upper(char letter)
{
    return letter >= 'A' && letter <= 'Z';
}

/* cuStreamSynchronize, cudaLaunchKernel, hipMemcpyAsync, ncclAllReduce: a driver's or a library's
 * call. */
static bool is_call(struct str name)
{
    static const char *const libraries[] = {"cu", "cuda", "hip", "hsa_", "nccl", "nvtx"};

    for (size_t i = 0; i < COUNT(libraries); i++) {
        size_t length = strlen(libraries[i]);

        if (str_starts(name, str_of(libraries[i])) && name.count > length &&
            (libraries[i][length - 1] == '_' || is_upper(name.at[length])))
            return true;
    }
    return false;
}

/* Can a name of a top-level slice stand for steps? Python frames, pool marks and calls of a driver
 * cannot. */
static bool may_repeat(struct str name)
{
    return name.count > 0 && !str_starts(name, STR("$")) && !str_starts(name, STR("end: ")) &&
           !str_contains(name, STR("::")) && !is_call(name);
}

/* A thread's lanes hold what others noted of it: calls of a driver, turns on a CPU. The program
 * itself speaks in NVTX alone. */
static bool is_noted_by_others(const struct trace *trace, const struct track *track)
{
    return track->parent != NO_TRACK && trace->tracks[track->parent].kind == TRACK_THREAD &&
           track->kind == TRACK_THREAD && !str_starts(trace_name(trace, track->name), STR("NVTX"));
}

/* A top-level slice of a host's thread that comes at least three times, covers at least half of the
 * time from its first to its last, and that time a quarter of the trace. */
void find_repeated(const struct host_trace *host, uint32_t index, struct step_list *list)
{
    const struct trace *trace = host->trace;
    const struct name_run *best = NULL;
    const struct name_stats *stats;
    uint32_t count = trace_name_stats(trace, &stats), from = list->count;
    int64_t best_ps = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t run_count;
        const struct name_run *runs = trace_name_runs(trace, stats[i].name, &run_count);

        if (stats[i].count < 3 || stats[i].count > REPEATS_MAX || stats[i].total_ps <= best_ps ||
            !may_repeat(trace_name(trace, stats[i].name)))
            continue;
        for (uint32_t run = 0; run < run_count; run++) {
            const struct row *row = &trace->rows[runs[run].row];
            const slice_id *slices = trace_name_slices(trace, &runs[run]);
            int64_t total_ps = 0;

            if (runs[run].count < 3 || runs[run].count > REPEATS_MAX || row->depth != 0 ||
                trace->tracks[row->track].device >= 0 || trace->tracks[row->track].derived ||
                is_noted_by_others(trace, &trace->tracks[row->track]))
                continue;

            struct slice first = trace_slice(trace, slices[0]);
            struct slice last = trace_slice(trace, slices[runs[run].count - 1]);

            int64_t extent_ps = last.start_ps + last.dur_ps - first.start_ps;

            if (extent_ps < (trace->end_ps - trace->start_ps) / 4)
                continue;
            for (uint32_t at = 0; at < runs[run].count; at++)
                total_ps += trace_slice(trace, slices[at]).dur_ps;
            if (total_ps > best_ps && total_ps >= extent_ps / 2) {
                best = &runs[run];
                best_ps = total_ps;
            }
        }
    }
    for (uint32_t at = 0; best != NULL && at < best->count; at++) {
        struct slice slice = trace_slice(trace, trace_name_slices(trace, best)[at]);

        add_step(list, step_of_slice(host, index, &slice));
    }
    settle(list, from);
}

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

bool step_compiles(const struct host_trace *host, const struct step *step)
{
    const struct trace *trace = host->trace;
    struct window window = {
        .from_ps = step->start_ps - host->offset_ps,
        .to_ps = step->start_ps - host->offset_ps + step->dur_ps,
    };
    struct restriction nothing = {0};
    bool *tracks = calloc((size_t)trace->track_count + 1, 1);
    struct selection selection = {
        .host = host,
        .cut_in_time = true,
        .windows = &window,
        .window_count = 1,
        .tracks = tracks,
        .asked = &nothing,
    };
    struct compile_search search = {0};

    if (tracks == NULL)
        abort(); /* out of memory: as base/arena.h says */
    for (track_id id = 0; id < trace->track_count; id++)
        tracks[id] = !trace->tracks[id].derived && trace->tracks[id].device < 0 &&
                     trace->tracks[id].kind != TRACK_COUNTER;

    const struct scan_visitor visitor = {
        .visit = look_for_compile, .span = look_for_compiles, .data = {&search}, .part_count = 1};

    scan_slices(&selection, &visitor);
    free(tracks);
    return search.found;
}
