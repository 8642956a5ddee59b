/* SPDX-License-Identifier: Apache-2.0 */
/* The one mouth of every decoder.
 *
 * Push in file order; the sink assigns event ordinals, nests, lays lanes, packs columns and
 * writes them out while the file is still being read, so that memory does not grow with the file.
 * Slices of one track that arrive ordered (start ascending, then longest first) stream straight
 * through; a track that breaks the order is sorted on disk, without the decoder's help. Tracks may
 * be interleaved.
 *
 *   nesting   the children of a slice are those inside its closed interval; ties keep file order
 *   partial   a slice that overlaps the one before without being inside goes one row further
 *   instant   no duration: lies in the row where it fell, is never a parent
 *   async     SLICE_ASYNC: no parent, first lane that is free
 *
 * A sink is sticky: after a failure (a budget, a full disk, a cancel) every call does nothing and
 * `err` holds why. Texts are copied, nothing is borrowed after a call returns.
 */
#ifndef JVIEWD_TRACE_SINK_H
#define JVIEWD_TRACE_SINK_H

#include "base/error.h"
#include "trace/block.h"
#include "trace/trace.h"

struct budget { /* budget_default in sink.c; each number with its reason */
    uint64_t slices_max, names_bytes_max, args_per_event_max;
    uint32_t tracks_max, depth_max, stacks_max;
    uint64_t spill_bytes_max; /* of the sort file */
};
extern const struct budget budget_default;

struct sink_slice {
    track_id track;
    int64_t start_ps, dur_ps; /* dur_ps >= 0; 0 with SLICE_INSTANT or an instant by that */
    name_id name;
    enum kind kind;
    uint8_t flags;
    type_id type;
};

/* Who takes slices in place of rows: each when it comes, its times within what can be shown, then
 * its args; arrows go nowhere. The trace has no slices then, but their time. On the decoder's
 * thread; a failure goes to `err`. */
struct slice_taker {
    void (*track)(void *to, track_id id, const struct track *track);
    void (*slice)(void *to, const struct sink_slice *slice, struct error *err);
    void (*args)(void *to, const struct arg *args, uint32_t count);
    void *to;
};

struct sink_hooks { /* each may be NULL; the first two are called now and then */
    void (*progress)(void *data, uint64_t done, uint64_t total); /* bytes of the input */
    bool (*cancelled)(void *data);
    /* Once, at the finish, with all names, tracks, rows, slices, args and flows: for work that
     * needs no more, which then goes on beside the rest. On the sink's thread, if it has one. */
    void (*beside)(void *data, const struct trace *trace);
    void *data;
    bool
        two_threads; /* slices are nested and packed on a thread of the sink; the bytes are equal */
    const struct slice_taker *taker; /* not with two threads */
};

struct sink;
struct sink *sink_create(struct block_out out, const struct budget *budget, struct sink_hooks hooks,
                         const char *temporary_dir, struct error *err);
void sink_destroy(struct sink *sink);
/* Writes what is still open and the tables; the sink takes nothing more. */
MUST_CHECK enum status sink_finish(struct sink *sink, struct error *err);

bool sink_failed(const struct sink *sink);
struct error *sink_error(struct sink *sink); /* for readers that share the sticky error */
void sink_progress(struct sink *sink, uint64_t done, uint64_t total);

/* About the file. */
void sink_format(struct sink *sink, const char *format); /* a literal */
void sink_epoch(struct sink *sink, int64_t epoch_ns);
void sink_no_epoch(struct sink *sink, struct str reason);
void sink_hostname(struct sink *sink, struct str name);
/* The same kind and text again only counts. */
void sink_note(struct sink *sink, const char *kind, enum note_severity severity, uint64_t count,
               const char *format, ...) PRINTF_LIKE(5, 6);
void sink_property(struct sink *sink, track_id track, struct arg arg);

name_id sink_name(struct sink *sink, struct str text);
uint32_t sink_name_count(const struct sink *sink);         /* the id of the next new one */
struct str sink_text(const struct sink *sink, name_id id); /* valid as long as the sink */

struct sink_track {
    track_id parent;
    enum track_kind kind;
    enum track_role role;
    struct str name;
    int64_t source_id;
    int32_t device; /* -1: none */
    bool derived;
};
track_id sink_track(struct sink *sink, struct sink_track track);
void sink_track_rename(struct sink *sink, track_id track,
                       struct str name); /* names that come late */
/* No slice will come on this track again: its memory is given back. */
void sink_track_end(struct sink *sink, track_id track);

type_id sink_type(struct sink *sink, name_id name);
void sink_type_arg(struct sink *sink, type_id type, struct arg arg);

event_id sink_slice(struct sink *sink, struct sink_slice slice);
/* Of the slice just given. */
void sink_arg(struct sink *sink, struct arg arg);
void sink_args(struct sink *sink, const struct arg *args, uint32_t count);
/* Both at once, for who has them at hand and has millions: a struct that is handed over by value
 * is copied in pieces wider than those it was just written in, for which processors wait. */
event_id sink_slice_args(struct sink *sink, const struct sink_slice *slice, const struct arg *args,
                         uint32_t count);

enum flow_end { FLOW_FROM, FLOW_STEP, FLOW_TO };
/* One end of an arrow at the slice just given; ends of one (kind, id) are joined at the finish:
 * one producer, any number of consumers; in JSON form s -> t -> f is a chain. */
void sink_flow(struct sink *sink, enum flow_end end, name_id kind, uint64_t id);
/* The same at a time of a track: the innermost slice there, or with `next` the next one to
 * start. */
void sink_flow_at(struct sink *sink, enum flow_end end, name_id kind, uint64_t id, track_id track,
                  int64_t at_ps, bool next);

void sink_counter(struct sink *sink, track_id track, int64_t at_ps, double value);
void sink_memory(struct sink *sink, struct memory_event event); /* .slice is filled: the last one */

program_id sink_program(struct sink *sink, uint64_t id, name_id name, uint64_t fingerprint,
                        struct bytes proto);
struct program_about { /* more of one; unsaid it is a proto of unknown stage */
    enum program_form form;
    enum program_stage stage;
    uint32_t computation_count, fusion_count;
    bool has_buffers;
};
void sink_program_about(struct sink *sink, program_id program, struct program_about about);
/* For those who know it only when all instructions were read. */
void sink_program_fingerprint(struct sink *sink, program_id program, uint64_t fingerprint);
void sink_instruction(struct sink *sink, struct instruction instruction);
void sink_document(struct sink *sink, struct bytes content);

/* Stacks are interned, outermost call first: the same frame under the same parent is one stack. */
stack_id sink_stack(struct sink *sink, stack_id parent, struct frame frame);
/* All types stand before the first sample. */
uint32_t sink_sample_type(struct sink *sink, name_id name, name_id unit);
/* Of the sample its time, track and stack; the labels' place is the sink's. */
void sink_sample(struct sink *sink, struct sample sample, const int64_t *values /* per type */,
                 const struct arg *labels, uint32_t label_count);

#endif
