/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles of a run: each outermost mark of compiling is one, unless another thread waited for it.
 *
 *   python   call f |--------------------------------------------|
 *                     trace |--| lower |-| request |-----------|         a compile of f
 *   pool                                     compile |------|            works for it: inside of
 *                                                                        the latest such request
 */
#include <stdlib.h>

#include "analyse/compiles/compiles_parts.h"
#include "analyse/scan/module_names.h"
#include "analyse/steps/restrict.h"
#include "analyse/steps/step_of.h"
#include "base/bisect.h"
#include "trace/args/args.h"
#include "trace/ps.h"

enum {
    BACK_MAX = 256,  /* requests that are looked at for one that holds a worker's time */
    CHAIN_MAX = 256, /* slices around a compile that are looked at for its call */
    ANCHORS = 1u << COMPILE_REQUEST | 1u << COMPILE_BACKEND | 1u << COMPILE_WORKER,
};

struct finding_compiles { /* of one host */
    const struct host_trace *host;
    const struct trace *trace;
    struct compile_marks anchors; /* all of them, outermost and inside */
    uint32_t *outer;              /* indexes of the outermost, in their order */
    uint32_t outer_count;
    uint32_t *compile_of; /* by outermost: a compile; several may have one */
    bool *joined;         /* by outermost: it worked for another thread */
    uint32_t *asking;     /* by outermost: itself, or the next that did not */
    struct compile *compiles;
    slice_id *calls; /* by compile: the call around it; NO_SLICE */
    uint32_t compile_count;
};

static void find_outermost(struct finding_compiles *finding)
{
    const struct compile_marks *anchors = &finding->anchors;
    const struct compile_mark *around = NULL;

    finding->outer = memory_resize(NULL, (size_t)anchors->count + 1, sizeof(*finding->outer));
    for (uint32_t i = 0; i < anchors->count; i++) {
        struct compile_mark *mark = &anchors->items[i];

        if (around == NULL || around->track != mark->track || mark->start_ps >= around->end_ps) {
            finding->outer[finding->outer_count++] = i;
            around = mark;
        }
        mark->owner = finding->outer_count - 1; /* for now */
    }
}

static const struct compile_mark *outer_at(const struct finding_compiles *finding, uint32_t index)
{
    return &finding->anchors.items[finding->outer[index]];
}

struct timed { /* an outermost mark */
    int64_t start_ps, end_ps;
    uint32_t index;
};

/* Those that hold another come before it. */
static int by_time(const void *left, const void *right)
{
    const struct timed *a = left, *b = right;

    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps ? -1 : 1;
    if (a->end_ps != b->end_ps)
        return a->end_ps > b->end_ps ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* The latest of those before it that holds all of it, on another thread. */
static const struct timed *asker_of(const struct finding_compiles *finding,
                                    const struct timed *timed, uint32_t at)
{
    for (uint32_t back = 1; back <= at && back <= BACK_MAX; back++) {
        const struct timed *candidate = &timed[at - back];

        if (candidate->end_ps >= timed[at].end_ps &&
            outer_at(finding, candidate->index)->track != outer_at(finding, timed[at].index)->track)
            return candidate;
    }
    return NULL;
}

static void join_workers(struct finding_compiles *finding, struct arena *arena)
{
    struct timed *timed = memory_resize(NULL, (size_t)finding->outer_count + 1, sizeof(*timed));

    for (uint32_t i = 0; i < finding->outer_count; i++)
        timed[i] = (struct timed){outer_at(finding, i)->start_ps, outer_at(finding, i)->end_ps, i};
    if (finding->outer_count > 1)
        qsort(timed, finding->outer_count, sizeof(*timed), by_time);
    finding->compile_of =
        memory_resize(NULL, (size_t)finding->outer_count + 1, sizeof(*finding->compile_of));
    finding->joined = arena_array(arena, bool, (size_t)finding->outer_count + 1);
    for (uint32_t at = 0; at < finding->outer_count; at++) {
        uint32_t index = timed[at].index;
        const struct timed *asker = outer_at(finding, index)->word.role == COMPILE_WORKER
                                        ? asker_of(finding, timed, at)
                                        : NULL;

        finding->joined[index] = asker != NULL;
        finding->compile_of[index] =
            asker != NULL ? finding->compile_of[asker->index] : finding->compile_count++;
    }
    finding->asking = arena_array(arena, uint32_t, (size_t)finding->outer_count + 1);
    finding->asking[finding->outer_count] = finding->outer_count;
    for (uint32_t i = finding->outer_count; i-- > 0;)
        finding->asking[i] = finding->joined[i] ? finding->asking[i + 1] : i;
    free(timed);
}

static bool is_call(const struct trace *trace, const struct slice *slice)
{
    return compile_word_of(trace_name(trace, slice->name)).role == COMPILE_CALL;
}

/* The call around a slice, the outermost where one is recorded twice; NO_SLICE. */
static slice_id call_around(const struct trace *trace, slice_id id)
{
    slice_id call = NO_SLICE;
    name_id name = 0;

    id = trace_slice(trace, id).parent;
    for (uint32_t up = 0; id != NO_SLICE && up < CHAIN_MAX; up++) {
        struct slice slice = trace_slice(trace, id);

        if (call != NO_SLICE && slice.name != name)
            break;
        if (is_call(trace, &slice)) {
            call = id;
            name = slice.name;
        }
        id = slice.parent;
    }
    return call;
}

static void begin_compiles(struct finding_compiles *finding, uint32_t host, struct arena *arena)
{
    slice_id call_before = NO_SLICE;
    int64_t end_before_ps = 0;

    finding->compiles = arena_array(arena, struct compile, (size_t)finding->compile_count + 1);
    finding->calls = arena_array(arena, slice_id, (size_t)finding->compile_count + 1);
    for (uint32_t i = 0; i < finding->outer_count; i++) {
        const struct compile_mark *mark = outer_at(finding, i);

        if (finding->joined[i])
            continue;

        slice_id call = call_around(finding->trace, mark->slice);
        struct compile *compile = &finding->compiles[finding->compile_of[i]];

        *compile = (struct compile){.host = host,
                                    .track = mark->track,
                                    .slice = mark->slice,
                                    .program = NO_PROGRAM,
                                    .start_ps = mark->start_ps,
                                    .end_ps = mark->end_ps,
                                    .backend_start_ps = mark->start_ps};
        if (call != NO_SLICE) {
            struct slice around = trace_slice(finding->trace, call);

            compile->start_ps = call == call_before ? end_before_ps : around.start_ps;
            compile->function = compile_function(trace_name(finding->trace, around.name));
        }
        finding->calls[finding->compile_of[i]] = call;
        call_before = call;
        end_before_ps = mark->end_ps;
    }
}

/* In the order of (track, time). */
static bool begins_before_end(const struct compile_mark *outer, const struct compile_mark *mark)
{
    return outer->track < mark->track ||
           (outer->track == mark->track && outer->start_ps < mark->end_ps);
}

/* The first compile of the mark's thread that begins when it is over; NO_COMPILE. */
static uint32_t next_compile(const struct finding_compiles *finding,
                             const struct compile_mark *mark)
{
    uint32_t low =
        BISECT(0, finding->outer_count, i, begins_before_end(outer_at(finding, i), mark));

    low = finding->asking[low];
    if (low == finding->outer_count || outer_at(finding, low)->track != mark->track)
        return NO_COMPILE;
    return finding->compile_of[low];
}

/* Tracing and lowering belong to the compile that comes next in the same call. */
static void add_before(struct finding_compiles *finding, struct compile_marks *own)
{
    struct compile_marks before = {0};

    compile_marks_find(finding->trace, 1u << COMPILE_BEFORE, &before);
    for (uint32_t i = 0; i < before.count; i++) {
        struct compile_mark *mark = &before.items[i];
        uint32_t next = next_compile(finding, mark);

        if (next == NO_COMPILE)
            continue;

        struct compile *compile = &finding->compiles[next];
        bool called = finding->calls[next] != NO_SLICE;

        if (called ? mark->start_ps < compile->start_ps
                   : call_around(finding->trace, mark->slice) != NO_SLICE)
            continue;
        mark->owner = next;
        if (mark->start_ps < compile->start_ps)
            compile->start_ps = mark->start_ps;
        compile->seen |= 1u << mark->word.phase;
        compile_marks_add(own, mark);
    }
    compile_marks_free(&before);
}

/* What a call did before it compiled, and no mark tells, is tracing where no mark of that is
 * there. */
static void add_calls(const struct finding_compiles *finding, struct compile_marks *own)
{
    for (uint32_t i = 0; i < finding->compile_count; i++) {
        struct compile *compile = &finding->compiles[i];
        bool traced = (compile->seen >> PHASE_TRACE & 1u) != 0;
        struct compile_mark mark = {
            .track = compile->track,
            .slice = finding->calls[i],
            .owner = i,
            .start_ps = compile->start_ps,
            .end_ps = compile->end_ps,
            .word = {COMPILE_CALL, traced ? PHASE_OTHER : PHASE_TRACE},
        };

        if (finding->calls[i] == NO_SLICE)
            continue;
        compile->seen |= 1u << mark.word.phase;
        compile_marks_add(own, &mark);
    }
}

/* The outermost marks of those that asked, or of those that worked for them. */
static void list_outer(const struct finding_compiles *finding, bool joined,
                       struct compile_marks *ret)
{
    for (uint32_t i = 0; i < finding->outer_count; i++) {
        struct compile_mark mark = *outer_at(finding, i);

        mark.owner = finding->compile_of[i];
        if (finding->joined[i] == joined)
            compile_marks_add(ret, &mark);
    }
}

static void add_anchors(const struct finding_compiles *finding, struct compile_marks *own,
                        struct compile_marks *worked)
{
    for (uint32_t i = 0; i < finding->anchors.count; i++) {
        struct compile_mark mark = finding->anchors.items[i];
        bool joined = finding->joined[mark.owner];

        mark.owner = finding->compile_of[mark.owner];
        compile_marks_add(joined ? worked : own, &mark);
    }
}

/* The module that an arg of a slice names. */
static struct str module_of_args(const struct trace *trace, slice_id slice, struct arena *arena)
{
    struct arg *args;
    uint32_t count = trace_args(trace, trace_slice(trace, slice).event, arena, &args);

    for (uint32_t i = 0; i < count; i++) {
        struct str key = trace_name(trace, args[i].key);

        if (args[i].type == ARG_STRING &&
            (str_equal(key, STR("module")) || str_equal(key, STR("hlo_module")) ||
             str_equal(key, STR("name"))))
            return trace_name(trace, (name_id)args[i].bits);
    }
    return STR("");
}

/* What a mark says of its compile. */
static void learn(const struct finding_compiles *finding, const struct compile_mark *mark,
                  struct arena *arena)
{
    struct compile *compile = &finding->compiles[mark->owner];
    struct str name = trace_name(finding->trace, mark->name);
    bool compiles = mark->word.role == COMPILE_BACKEND || mark->word.role == COMPILE_WORKER ||
                    mark->word.phase == PHASE_CODEGEN;

    compile->seen |= 1u << mark->word.phase;
    if (compiles)
        compile->cached = CACHED_NO;
    if (compile->program == NO_PROGRAM) {
        uint64_t number;

        if (str_to_u64(compile_fact(name, "program_id"), &number))
            compile->program = trace_program(finding->trace, number);
    }
    if (compile->module.count > 0 || mark->word.role == COMPILE_CALL)
        return;
    compile->module = compile_fact(name, "module");
    if (compile->module.count == 0)
        compile->module = compile_pipeline_module(name);
    if (compile->module.count == 0 && mark->word.role == COMPILE_WORKER)
        compile->module = module_of_args(finding->trace, mark->slice, arena);
}

static void settle(const struct finding_compiles *finding)
{
    const unsigned inside = 1u << PHASE_PASSES | 1u << PHASE_CODEGEN;

    for (uint32_t i = 0; i < finding->compile_count; i++) {
        struct compile *compile = &finding->compiles[i];

        if ((compile->seen & inside) != 0)
            compile->seen |= inside | 1u << PHASE_AUTOTUNE;
        compile->seen |= 1u << PHASE_BACKEND | 1u << PHASE_OTHER;
        if (compile->cached == CACHED_UNKNOWN && (compile->seen >> PHASE_CACHE & 1u) != 0)
            compile->cached = CACHED_YES;
        if (compile->function.count == 0 && compile->module.count > 0)
            compile->function = compile_module_function(compile->module);
        ps_add(&compile->start_ps, finding->host->offset_ps);
        ps_add(&compile->end_ps, finding->host->offset_ps);
        ps_add(&compile->backend_start_ps, finding->host->offset_ps);
    }
}

static void measure(struct finding_compiles *finding, struct arena *arena)
{
    struct compile_marks own = {0}, worked = {0}, outer[2] = {{0}, {0}};

    list_outer(finding, false, &outer[0]);
    list_outer(finding, true, &outer[1]);
    compile_parts_find(finding->trace, &outer[0], &own);
    compile_parts_find(finding->trace, &outer[1], &worked);
    add_anchors(finding, &own, &worked);
    compile_marks_sort(&own);
    compile_marks_sort(&worked);
    for (uint32_t i = 0; i < own.count; i++)
        learn(finding, &own.items[i], arena);
    for (uint32_t i = 0; i < worked.count; i++)
        learn(finding, &worked.items[i], arena);
    add_before(finding, &own);
    add_calls(finding, &own);
    compile_marks_sort(&own);
    compiles_paint(finding->compiles, &own, &worked);
    compile_marks_free(&own);
    compile_marks_free(&worked);
    compile_marks_free(&outer[0]);
    compile_marks_free(&outer[1]);
}

static void find_host(const struct run_traces *run, uint32_t host, struct arena *arena,
                      struct finding_compiles *finding)
{
    *finding =
        (struct finding_compiles){.host = &run->hosts[host], .trace = run->hosts[host].trace};
    compile_marks_find(finding->trace, ANCHORS, &finding->anchors);
    find_outermost(finding);
    join_workers(finding, arena);
    begin_compiles(finding, host, arena);
    measure(finding, arena);
    settle(finding);

    free(finding->outer);
    free(finding->compile_of);
    compile_marks_free(&finding->anchors);
    /* They are numbered in order of time. */
    compiles_compare(finding->host, finding->compiles, finding->compile_count, arena);
}

static bool is_asked(const struct selection *selection, struct str module,
                     const struct compile *compile)
{
    int64_t at_ps = compile->backend_start_ps - selection->host->offset_ps;
    bool inside = false;

    for (uint32_t i = 0; i < selection->window_count && !inside; i++)
        inside = at_ps >= selection->windows[i].from_ps && at_ps < selection->windows[i].to_ps;
    return (inside || !selection->cut_in_time) && selection->tracks[compile->track] &&
           selection_has_name(selection, compile->function) &&
           (module.count == 0 || str_equal(module, compile->module));
}

static void find_step(const struct step_places *places, struct compile *compile)
{
    const struct step *step = step_at(places, compile->host, compile->backend_start_ps);

    if (step != NULL) {
        compile->in_step = true;
        compile->in_warmup = step->warmup;
        compile->step = step->number;
    }
}

static int by_start(const void *left, const void *right)
{
    const struct compile *a = left, *b = right;

    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps ? -1 : 1;
    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    return (a->slice > b->slice) - (a->slice < b->slice);
}

enum status compiles_find(const struct run_traces *run, const struct restriction *restriction,
                          const struct steps *all, struct arena *arena, struct compiles *ret,
                          struct error *err)
{
    struct restriction any_module = *restriction; /* what was compiled need not have run */
    struct selection *selections;
    struct step_places places;
    uint32_t selection_count, capacity = 0;

    *ret = (struct compiles){0};
    any_module.module = STR("");
    TRY(restrict_run(run, &any_module, arena, &selections, &selection_count, err));
    TRY(step_places_find(run, all, arena, &places, err));
    ret->has_steps = places.count > 0;
    for (uint32_t i = 0; i < selection_count; i++) {
        struct finding_compiles finding;

        find_host(run, selections[i].index, arena, &finding);
        capacity += finding.compile_count;

        struct compile *items = arena_array(arena, struct compile, (size_t)capacity + 1);

        if (ret->count > 0)
            memcpy(items, ret->items, ret->count * sizeof(*items));
        ret->items = items;
        for (uint32_t at = 0; at < finding.compile_count; at++) {
            struct compile *compile = &finding.compiles[at];

            if (!is_asked(&selections[i], module_bare(restriction->module), compile))
                continue;
            find_step(&places, compile);
            ret->items[ret->count++] = *compile;
        }
    }
    if (ret->count > 1)
        qsort(ret->items, ret->count, sizeof(*ret->items), by_start);
    return OK;
}

struct str compiles_missing(const struct run_traces *run)
{
    for (uint32_t host = 0; host < run->host_count; host++) {
        const struct trace *trace = run->hosts[host].trace;
        struct compile_marks anchors = {0};

        compile_marks_find(trace, ANCHORS, &anchors);

        bool any = anchors.count > 0;

        compile_marks_free(&anchors);
        if (any)
            return STR("");
    }
    return STR(
        "nothing was compiled during the capture: to see compilations, start the capture before "
        "the first call of each function, with the host tracer on (`host_tracer_level` 1 or more)");
}
