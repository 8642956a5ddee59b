/* SPDX-License-Identifier: Apache-2.0 */
/* Runs with steps, drawn in microseconds, and their paths as text. */
#ifndef JVIEWD_TESTS_MADE_STEPS_H
#define JVIEWD_TESTS_MADE_STEPS_H

#include "analyse/critical/path.h"
#include "unit/analyse/made_run.h"

enum { US = 1000000 };

static inline void us_slice(struct made_run *run, track_id track, int64_t start, int64_t dur,
                            const char *name, enum kind kind)
{
    run_slice(run, track, start * US, dur * US, name, kind);
}

static inline void us_step(struct made_run *run, track_id track, int64_t start, int64_t dur,
                           int64_t number)
{
    us_slice(run, track, start, dur, "train", KIND_HOST);
    run_int(run, "_r", 1);
    run_int(run, "step_num", number);
}

/* An end of an arrow at the slice just drawn; a launch is one. */
static inline void us_arrow(struct made_run *run, enum flow_end end, uint64_t id)
{
    sink_flow(run->made.sink, end, sink_name(run->made.sink, STR("kernel launch")), id);
}

static inline void us_steps(struct made_run *run, struct steps *ret)
{
    static const struct restriction whole = {0};

    CHECK_OK("steps", steps_find(&run->run, &whole, run->made.arena, ret, &run->made.err),
             &run->made.err);
}

/* "train 3, call 4, ~launch delay 2": a piece behind an edge that is only likely has a ~. */
static inline void tell_path(const struct step_graph *graph, const struct path *path, char *ret,
                             size_t size)
{
    size_t at = 0;

    ret[0] = '\0';
    for (uint32_t i = 0; i < path->count && at < size; i++) {
        struct str name = piece_name(graph, &path->pieces[i]);

        at += (size_t)snprintf(ret + at, size - at, "%s%s%.*s %lld", i > 0 ? ", " : "",
                               path->pieces[i].likely ? "~" : "", STR_ARG(name),
                               (long long)(path->pieces[i].dur_ps / US));
    }
}

/* The pieces follow each other from the step's begin to its end. */
static inline void check_sum(const char *what, const struct step_graph *graph,
                             const struct path *path)
{
    int64_t at_ps = graph->from_ps;

    for (uint32_t i = 0; i < path->count; i++) {
        CHECK_INT(what, path->pieces[i].start_ps, at_ps);
        at_ps += path->pieces[i].dur_ps;
    }
    CHECK_INT(what, at_ps, graph->to_ps);
}

/* Of the step at `index`; -1: of the whole run. */
static inline void check_path(const char *what, struct made_run *run, int index, const char *want)
{
    struct steps steps;
    struct path path = {0};
    char told[1024];

    us_steps(run, &steps);
    CHECK(what, index < (int)steps.count);

    struct graph_maker *maker = graph_maker_create(&run->run, &steps);
    const struct step_graph *graph = graph_of_step(maker, index < 0 ? NULL : &steps.items[index]);

    path_find(graph, &path);
    tell_path(graph, &path, told, sizeof told);
    CHECK_STR(what, str_of(told), want);
    check_sum(what, graph, &path);
    path_free(&path);
    graph_maker_free(maker);
}

#endif
