/* SPDX-License-Identifier: Apache-2.0 */
/* Args of one slice after another, for who asks in an order that is not the file's.
 *
 * One event's args cost its block's columns unpacked; here a block is unpacked once, and the last
 * few stay at hand.
 */
#ifndef JVIEWD_TRACE_ARGS_SLICE_ARGS_H
#define JVIEWD_TRACE_ARGS_SLICE_ARGS_H

#include "trace/args/args.h"

enum { SLICE_ARGS_BLOCKS = 8 };
struct slice_args { /* the blocks of args that were asked for last: who nests ended later, and may
                     * stand in a later block than what lies inside it */
    const struct trace *trace;
    uint32_t asked; /* how often another block was */
    struct slice_args_block {
        struct arena *arena;
        struct arg_rows rows;
        uint32_t asked; /* when it was last */
    } blocks[SLICE_ARGS_BLOCKS], *last;
};

void slice_args_open(struct slice_args *args, const struct trace *trace);
void slice_args_close(struct slice_args *args);
/* The args of an event, and its type. Valid until the next call. */
uint32_t slice_args_of(struct slice_args *args, event_id event, const struct arg **ret,
                       type_id *ret_type);

#endif
