/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the sink, shared by its files.
 *
 *   sink.c         the doors: checks, budgets, what goes where
 *   sink_take.c    slices, args and arrows behind the doors
 *   sink_thread.c  the same on a thread of the sink's own
 *   sink_about.c   notes, properties, types, memory events
 *   sink_program.c programs, their instructions, documents of modules
 *   nest.c         which row a slice lies in, its parent, self time
 *   open_row.c     the open chunk of a row, and what is written when it is full
 *   reorder.c      tracks that turned out to be unsorted, or whose rows depend on what comes later
 *   sink_finish.c  the finish, sink_tables.c its tables
 *
 * Two sides. What is said about a file (names, notes, programs, samples) stays on the decoder's
 * thread. Tracks, rows, chunks, args and arrows belong to who takes slices: to a second thread,
 * where there is one, until sink_settle says that it is done. Each side has its own failure.
 */
#ifndef JVIEWD_TRACE_SINK_SINK_STATE_H
#define JVIEWD_TRACE_SINK_SINK_STATE_H

#include <stdatomic.h>

#include "trace/args/args.h"
#include "trace/chunk.h"
#include "trace/readers.h"
#include "trace/sink/sort.h"
#include "trace/spill.h"
#include "trace/writers.h"

#define NO_CHUNK UINT32_MAX

struct written_chunk {
    struct chunk_entry entry;
    uint64_t samples_offset; /* in sink->samples */
    uint32_t next;           /* of the same row; NO_CHUNK */
};

struct open_row {
    struct open_columns columns;      /* of the open chunk: one piece of memory; NULL once ended */
    uint32_t count, capacity;         /* of the open chunk */
    uint32_t number;                  /* as rows begin: struct slice_place */
    uint32_t first;                   /* ordinal of its first slice */
    uint32_t first_chunk, last_chunk; /* written ones */
    int64_t start_ps, end_ps;
    int64_t dur_before; /* sum over the written chunks */
};

struct nest_level { /* a slice that may still get children: the last one of its row */
    int64_t end_ps;
    uint32_t depth;
};

struct open_track {
    struct track track;
    struct open_row *rows;
    uint32_t row_count, row_capacity;
    struct nest_level *stack;
    uint32_t stack_count, stack_capacity;
    int64_t last_start_ps, last_dur_ps;
    bool reordered; /* its slices wait in sink->sorter */
    bool ended;
};

struct type_arg {
    type_id type;
    struct arg arg;
};

enum { PARTS_MAX = 8 };

struct given_flow { /* an end of an arrow */
    uint64_t id;
    int64_t at_ps; /* where it is timed */
    name_id kind;
    track_id track;
    uint8_t end; /* enum flow_end */
    bool timed, next;
    uint8_t zeros[5];
};

enum { CACHE_LINE = 64 };

struct sink {
    struct block_out out;
    struct budget budget;
    struct sink_hooks hooks;
    const char *temporary_dir;
    struct part_tools tools, take_tools; /* they differ in where failures go */
    struct error *err, *take_err;        /* the same without a thread */
    struct sink_thread *thread;          /* NULL: slices are taken at once */
    atomic_bool take_failed;             /* take_err of the thread is set: see sink_settle */

    /* Who takes slices. */
    uint8_t apart_from_above[CACHE_LINE];
    struct error own_err; /* of the thread */
    struct open_track *tracks;
    uint32_t taken_tracks, track_capacity;

    struct written_chunk *chunks;
    uint32_t chunk_count, chunk_capacity;
    struct chunk_encoder *encoder;
    struct spill *samples;
    struct sorter *sorter; /* NULL until a track breaks the order */

    struct args_writer *args;
    struct flow_writer *flows;
    void *parts[PARTS_MAX]; /* states, in the order of trace_parts_made */

    uint64_t taken_events;
    uint32_t event_args; /* of the last event */
    int64_t last_start_ps;
    struct slice_place last_place;
    uint32_t row_number_count;
    uint64_t clamped_count, too_deep_count, args_left_out;

    /* The decoder's side. */
    uint8_t apart_from_slices[CACHE_LINE];
    struct names *names;
    uint32_t track_count;
    uint64_t event_count, sample_count;
    struct counter_writer *counters;
    struct stack_writer *stacks;
    uint64_t clamped_samples, labels_left_out;
    bool has_samples; /* of counters or stacks, with a time; or slices that were taken */
    int64_t sample_start_ps, sample_end_ps;

    /* About the file. */
    const char *format;
    bool has_epoch;
    int64_t epoch_ns;
    name_id epoch_reason, hostname;
    struct note *notes;
    uint32_t note_count, note_capacity;
    struct property *properties;
    uint32_t property_count, property_capacity;
    struct type *types;
    uint32_t type_count, type_capacity;
    struct type_arg *type_args;
    uint32_t type_arg_count, type_arg_capacity;
    struct program *programs;
    uint32_t program_count, program_capacity;
    struct instruction *instructions;
    uint32_t instruction_count, instruction_capacity;
    struct document *documents;
    uint32_t document_count, document_capacity;
    struct spill *memory_events; /* NULL until there is one; .slice is the event */
};

/* The hull of what has a time and lies in no row grows. */
void sink_include(struct sink *sink, int64_t at_ps);

/* Makes room for one more of an array of the sink. */
#define sink_room(array, count, capacity)                                                          \
    do {                                                                                           \
        if ((count) == (capacity))                                                                 \
            (array) = sink_grown((array), &(capacity), sizeof((array)[0]));                        \
    } while (0)
void *sink_grown(void *array, uint32_t *capacity, size_t size);

/* A slice with checked times and track, in the order of its track. */
struct laid_slice {
    int64_t start_ps, dur_ps;
    uint32_t named;
    event_id event;
    uint8_t flags;
};
/* Adds the flags it finds out. `next`: a later slice that this one makes way for, or NULL. */
void nest_slice(struct sink *sink, struct open_track *track, struct laid_slice *slice,
                const struct laid_slice *next);
/* A short one, in which a far longer one begins that runs past it. */
bool nest_makes_way(const struct laid_slice *slice, const struct laid_slice *next);
/* Do slices that lie in the track already have to make way for this one? */
bool nest_is_made_way_for(const struct open_track *track, const struct laid_slice *slice);

/* A row below all others, empty; its first slice begins then or before. */
void open_row_begin(struct sink *sink, struct open_track *track, int64_t start_ps);
void open_row_append(struct sink *sink, struct open_track *track, uint32_t depth,
                     const struct laid_slice *slice, uint32_t parent, uint16_t lift);
/* Writes what is open; gives back the memory. */
void open_row_end(struct sink *sink, struct open_track *track, uint32_t depth);

/* From now on, and with all it has, the track goes through the sorter. */
void reorder_track(struct sink *sink, struct open_track *track);
void reorder_slice(struct sink *sink, track_id track, const struct laid_slice *slice);
/* Nests everything that went through the sorter. */
void reorder_finish(struct sink *sink);

/* Writes the rows of a track that are still open. */
void sink_close_track(struct sink *sink, struct open_track *track);

/* All that was given is taken, and its failure, if it had one, stands in sink->err: before the
 * decoder's side touches what belongs to who takes slices, the output too. */
void sink_settle(struct sink *sink);
/* Behind the doors; ids of tracks are sound. */
void sink_take_track(struct sink *sink, const struct track *track);
void sink_take_rename(struct sink *sink, track_id track, name_id name);
void sink_take_track_end(struct sink *sink, track_id track);
void sink_take_slice(struct sink *sink, const struct sink_slice *given);
void sink_take_args(struct sink *sink, const struct arg *args, uint32_t count);
void sink_take_flow(struct sink *sink, const struct given_flow *given);

struct sink_thread;
struct sink_thread *sink_thread_create(struct sink *sink);
void sink_thread_destroy(struct sink_thread *thread); /* takes NULL */
/* Each is taken later, in the order given. */
void sink_thread_track(struct sink_thread *thread, const struct track *track);
void sink_thread_rename(struct sink_thread *thread, track_id track, name_id name);
void sink_thread_track_end(struct sink_thread *thread, track_id track);
void sink_thread_slice(struct sink_thread *thread, const struct sink_slice *slice);
void sink_thread_args(struct sink_thread *thread, const struct arg *args, uint32_t count);
void sink_thread_flow(struct sink_thread *thread, const struct given_flow *flow);
void sink_thread_run(struct sink_thread *thread, void (*run)(void *data), void *data);
void sink_thread_wait(struct sink_thread *thread); /* until all is taken and run; takes NULL */

enum status sink_table(struct sink *sink, enum table_kind kind, const void *records, size_t count,
                       size_t size);
/* At the finish: small tables; names, tracks, rows, chunks; what needs the slices. */
enum status sink_write_about(struct sink *sink);
enum status sink_write_programs(struct sink *sink);
enum status sink_write_tables(struct sink *sink);
enum status sink_write_memory_events(struct sink *sink, const struct trace *trace);

#endif
