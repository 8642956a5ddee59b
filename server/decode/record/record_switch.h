/* SPDX-License-Identifier: Apache-2.0 */
/* When a spool was recorded: its captures, as slices of a track of their own.
 *
 *   switch    __|‾‾‾‾|______|‾‾‾‾‾|__
 *   captures    [ 1  ]      [  2  ]
 *
 * A recording that was on from its beginning to its end has none to show.
 */
#ifndef JVIEWD_DECODE_RECORD_RECORD_SWITCH_H
#define JVIEWD_DECODE_RECORD_RECORD_SWITCH_H

#include "decode/record/record_clock.h"
#include "decode/record/record_read.h"
#include "trace/sink.h"

struct record_switch {
    struct record_turn {
        int64_t at, capture; /* ticks */
        bool is_open;
    } * turns;
    uint32_t count, capacity;
    uint64_t refused; /* beyond what is kept */
};

void record_switch_rows(struct record_switch *recording, const struct record_columns *columns);
bool record_switch_has_captures(const struct record_switch *recording);
/* `process` is their track's parent; one that nothing closed lasts to `last_at`. */
void record_switch_put(const struct record_switch *recording, struct sink *sink,
                       struct record_clock *clock, track_id process, int64_t last_at);
void record_switch_free(struct record_switch *recording);

#endif
