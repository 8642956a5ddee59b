/* SPDX-License-Identifier: Apache-2.0 */
/* Traces made in memory for tests of what is built over slices. */
#ifndef JVIEWD_TESTS_MADE_TRACE_H
#define JVIEWD_TESTS_MADE_TRACE_H

#include <stdio.h>

#include "check.h"
#include "trace/block.h"
#include "trace/sink.h"
#include "trace/trace.h"

struct made {
    struct arena *arena;
    struct memory_blocks *blocks;
    struct error err;
    struct sink *sink;
    struct trace trace; /* after made_finish */
};

static inline void made_begin(struct made *made)
{
    *made = (struct made){.arena = arena_create()};
    made->blocks = memory_blocks_create(made->arena);
    made->sink = sink_create(memory_blocks_out(made->blocks), &budget_default,
                             (struct sink_hooks){0}, NULL, &made->err);
    sink_format(made->sink, "made");
}

static inline track_id made_track(struct made *made, const char *name, track_id parent,
                                  enum track_kind kind, enum track_role role, bool derived)
{
    return sink_track(made->sink, (struct sink_track){.parent = parent,
                                                      .kind = kind,
                                                      .role = role,
                                                      .name = str_of(name),
                                                      .device = -1,
                                                      .derived = derived});
}

static inline event_id made_slice(struct made *made, track_id track, int64_t start_ps,
                                  int64_t dur_ps, const char *name, enum kind kind)
{
    return sink_slice(made->sink, (struct sink_slice){.track = track,
                                                      .start_ps = start_ps,
                                                      .dur_ps = dur_ps,
                                                      .name = sink_name(made->sink, str_of(name)),
                                                      .kind = kind});
}

static inline void made_finish(struct made *made)
{
    CHECK_OK("the sink finishes", sink_finish(made->sink, &made->err), &made->err);
    sink_destroy(made->sink);
    made->sink = NULL;
    CHECK_OK("the trace opens",
             trace_open(memory_blocks_in(made->blocks), made->arena, &made->trace, &made->err),
             &made->err);
}

static inline void made_end(struct made *made)
{
    sink_destroy(made->sink);
    arena_destroy(made->arena);
}

static inline const char *made_name(const struct made *made, name_id id, char ret[64])
{
    struct str text = trace_name(&made->trace, id);

    snprintf(ret, 64, "%.*s", STR_ARG(text));
    return ret;
}

/* Numbers that are the same in every run. */
struct dice {
    uint64_t state;
};

static inline uint64_t dice_below(struct dice *dice, uint64_t end)
{
    dice->state = dice->state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (dice->state >> 20) % end;
}

#endif
