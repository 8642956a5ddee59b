/* SPDX-License-Identifier: Apache-2.0 */
/* Args of events, as typed columns.
 *
 * Blocks of at most 16,384 events in file order. Within a block the distinct lists of
 * (key, type) form a trie; a node is a column; an event stores only its last node. Each column is
 * constant, frame of reference, or delta + frame of reference, in its own zstd frame (none below
 * 64 bytes), with min, max and count outside as a filter.
 */
#ifndef JVIEWD_TRACE_ARGS_ARGS_H
#define JVIEWD_TRACE_ARGS_ARGS_H

#include "base/error.h"
#include "trace/block.h"
#include "trace/trace.h"

enum { ARGS_BLOCK_EVENTS = 16384 };

/* Writing: the sink's own. Events come in order, each with its args. */
struct args_writer;
struct args_writer *args_writer_create(struct block_out out, struct error *err);
void args_writer_event(struct args_writer *writer, type_id type); /* the next ordinal */
/* Further args of the event just given. */
void args_writer_args(struct args_writer *writer, const struct arg *args, uint32_t count);
MUST_CHECK enum status args_writer_finish(struct args_writer *writer, struct error *err);
void args_writer_destroy(struct args_writer *writer);

/* Reading. */
struct args;
MUST_CHECK enum status args_open(struct block_in in, struct arena *arena, struct args **ret,
                                 struct error *err);

/* All args of one event, in order; those of its type stand in trace.type_args. */
uint32_t trace_args(const struct trace *trace, event_id event, struct arena *arena,
                    struct arg **ret);
type_id trace_type(const struct trace *trace, event_id event);

struct arg_rows { /* a whole block by event: for who walks all args */
    event_id first_event;
    uint32_t count;            /* events */
    const uint32_t *first_arg; /* count + 1, into args */
    const struct arg *args;
    const type_id *types; /* 0 none */
};
/* The block that holds the event; about 1 MB and 1 ms. False when no block does. */
bool trace_arg_rows(const struct trace *trace, event_id event, struct arena *arena,
                    struct arg_rows *ret);

struct arg_column { /* one key over one block; types[i] is ARG_NONE where the event lacks it */
    event_id first_event;
    uint32_t count;
    uint8_t type[ARGS_BLOCK_EVENTS];
    uint64_t bits[ARGS_BLOCK_EVENTS];
};
uint32_t trace_arg_block_count(const struct trace *trace);
/* How many events a block has, and the ordinal of the first. */
uint32_t trace_arg_events(const struct trace *trace, uint32_t block, event_id *ret_first);
/* The block that holds the event; their count where none does. */
uint32_t trace_arg_block_of(const struct trace *trace, event_id event);
/* False: no event of this block has the key (nothing was unpacked). A key that stands twice in an
 * event yields its first value. */
bool trace_arg_column(const struct trace *trace, uint32_t block, name_id key,
                      struct arg_column *ret);
/* The types of a block's events (0 none); returns how many, and the first ordinal. */
uint32_t trace_arg_types(const struct trace *trace, uint32_t block, event_id *ret_first,
                         type_id ret[ARGS_BLOCK_EVENTS]);
/* May any event of the block have key = bits (of that type)? The filter; errs towards yes. */
bool trace_arg_block_may(const struct trace *trace, uint32_t block, name_id key, enum arg_type type,
                         uint64_t bits);
/* May the chunk hold any of these events (a bit each, of all of the trace)? By the first and the
 * last of its own. */
bool chunk_may_hold(const struct trace *trace, uint32_t chunk, const uint64_t *events);
/* Keys whose texts in the block may be one of `texts` (ascending): by the filter, at most
 * `most`. */
uint32_t trace_arg_text_keys(const struct trace *trace, uint32_t block, const name_id *texts,
                             uint32_t count, name_id *ret, uint32_t most);

#endif
