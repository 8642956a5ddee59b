/* SPDX-License-Identifier: Apache-2.0 */
/* What the sink drives, and what a trace opens, beside its own rows.
 *
 *   sink.c ── events, args ───────────> args.c          (args.h)
 *          ── samples ────────────────> counter.c       below
 *          ── ends of arrows ─────────> flow.c          below
 *          ── stacks, their samples ──> stack_write.c   below
 *          ── finished chunks ────────> every part of trace_parts_made: pyramid, summary, ...
 *
 * A finished chunk is handed over once, while it is still in the processor's cache, row by row in
 * order, rows interleaved. A track that turns out to be unsorted is begun again: whatever was made
 * of its chunks so far is void. When all slices are written, every part is finished in the order
 * of the list, with a readable trace over names, tracks, rows, chunks and samples.
 *
 * Adding a part is one new file and one line in parts.c.
 */
#ifndef JVIEWD_TRACE_WRITERS_H
#define JVIEWD_TRACE_WRITERS_H

#include "trace/block.h"
#include "trace/sink.h"
#include "trace/spill.h"
#include "trace/trace.h"

/* A name and a kind in one word: how slices carry them while they are written. */
enum { NAMED_KIND_SHIFT = 28 };
#define NAMED_NAME_MASK ((UINT32_C(1) << NAMED_KIND_SHIFT) - 1)
static inline uint32_t named_of(name_id name, enum kind kind)
{
    return name | (uint32_t)kind << NAMED_KIND_SHIFT;
}
static inline name_id named_name(uint32_t named)
{
    return named & NAMED_NAME_MASK;
}
static inline enum kind named_kind(uint32_t named)
{
    return (enum kind)(named >> NAMED_KIND_SHIFT);
}

/* Chunk `first / CHUNK_SLICES` of one row, final; columns are borrowed for the call. The row is
 * known by (track, depth): row id = trace->tracks[track].first_row + depth at the finish. Every
 * chunk but the last of a row has CHUNK_SLICES slices; `last` says that none will follow. */
struct row_chunk {
    track_id track;
    uint32_t depth;
    uint32_t first, count; /* ordinals in the row */
    bool derived, last;
    const int64_t *start_ps, *dur_ps, *self_ps;
    const uint32_t *named;
    const uint32_t *parent; /* ordinal of the parent in its row; 0 where none */
    const uint16_t *lift;   /* parent's depth = depth - lift; 0: no parent */
    const uint8_t *flags;
};

struct part_tools { /* live as long as the sink */
    struct block_out out;
    const struct budget *budget;
    const char *temporary_dir;
    struct error *err; /* the sink's own, sticky: a part that fails sets it and goes quiet */
};

/* Its copy, for parts that write nothing before all slices are placed. */
static inline void *part_tools_keep(const struct part_tools *tools)
{
    struct part_tools *kept = memory_resize(NULL, 1, sizeof(*kept));

    *kept = *tools;
    return kept;
}

struct part {
    const char *name;
    /* Writing. `create` returns the state the others get; each of them may be NULL. */
    void *(*create)(const struct part_tools *tools);
    void (*chunk)(void *state, const struct row_chunk *chunk);
    void (*track_restart)(void *state, track_id track); /* its chunks so far are void */
    void (*track_end)(void *state, track_id track);     /* no further chunk of this track */
    enum status (*finish)(void *state, const struct trace *trace, struct error *err);
    void (*destroy)(void *state);
    /* Reading: validates the part's tables against the trace and hangs what it made into
     * trace->parts (trace_parts.h). A trace without the tables opens with an empty part. */
    enum status (*open)(struct trace *trace, struct arena *arena, struct error *err);
};
extern const struct part *const trace_parts_made[]; /* ends with NULL; parts.c */
extern const struct part part_by_name, part_pyramid, part_summary;
MUST_CHECK enum status by_name_open(struct trace *trace, struct arena *arena, struct error *err);

/* Counter samples: any order within a track, tracks interleaved. */
struct counter_writer;
struct counter_writer *counter_writer_create(const struct part_tools *tools);
void counter_writer_sample(struct counter_writer *writer, track_id track, int64_t at_ps,
                           double value);
MUST_CHECK enum status counter_writer_finish(struct counter_writer *writer,
                                             const struct trace *trace, struct error *err);
void counter_writer_destroy(struct counter_writer *writer); /* takes NULL */
MUST_CHECK enum status counters_open(struct trace *trace, struct arena *arena, struct error *err);

/* Stacks, sample types and samples of stacks, in the order they come. */
struct stack_writer;
struct stack_writer *stack_writer_create(const struct part_tools *tools);
stack_id stack_writer_stack(struct stack_writer *writer, stack_id parent, struct frame frame);
uint32_t stack_writer_type(struct stack_writer *writer, struct sample_type type);
void stack_writer_sample(struct stack_writer *writer, struct sample sample, const int64_t *values,
                         const struct arg *labels, uint32_t label_count);
MUST_CHECK enum status stack_writer_finish(struct stack_writer *writer, struct error *err);
void stack_writer_destroy(struct stack_writer *writer); /* takes NULL */
/* Fills the trace's stacks and samples. */
MUST_CHECK enum status stacks_open(struct trace *trace, struct error *err);

/* Where a slice was laid when it came: rows are numbered as they begin, and have their slice ids
 * only at the finish. */
struct slice_place {
    uint32_t row; /* NO_ROW: it waits to be sorted */
    uint32_t ordinal;
};
struct written_rows {             /* by that number */
    const slice_id *first_slices; /* NO_SLICE: void, its track was begun again */
    uint32_t count;
};

/* Ends of arrows: at an event, or at a time of a track (found among its slices at the finish). */
struct flow_writer;
struct flow_writer *flow_writer_create(const struct part_tools *tools);
void flow_writer_end(struct flow_writer *writer, enum flow_end end, name_id kind, uint64_t id,
                     event_id event, int64_t start_ps, struct slice_place place);
void flow_writer_at(struct flow_writer *writer, enum flow_end end, name_id kind, uint64_t id,
                    track_id track, int64_t at_ps, bool next);
MUST_CHECK enum status flow_writer_finish(struct flow_writer *writer, const struct trace *trace,
                                          const struct written_rows *rows, struct error *err);
void flow_writer_destroy(struct flow_writer *writer); /* takes NULL */
/* Fills trace->flows, flow_by_to, flow_count. */
MUST_CHECK enum status flows_open(struct trace *trace, struct arena *arena, struct error *err);

/* Many at once, in one pass over the chunks: the slices of `events` (ascending, without
 * doubles); NO_SLICE where an event has none. */
void trace_slices_of_events(const struct trace *trace, const event_id *events, uint32_t count,
                            slice_id *ret);

#endif
