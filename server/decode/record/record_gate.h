/* When a spool was recorded: its captures, as slices of a track of their own.
 *
 *   gate      __|‾‾‾‾|______|‾‾‾‾‾|__
 *   captures    [ 1  ]      [  2  ]
 *
 * A recording that was on from its beginning to its end has none to show.
 */
#ifndef JVIEWD_DECODE_RECORD_GATE_H
#define JVIEWD_DECODE_RECORD_GATE_H

#include "decode/record/record_clock.h"
#include "decode/record/record_read.h"
#include "trace/sink.h"

struct record_gate {
    struct record_turn {
        int64_t at, capture; /* ticks */
        bool is_open;
    } * turns;
    uint32_t count, capacity;
    uint64_t refused; /* beyond what is kept */
};

void record_gate_rows(struct record_gate *gate, const struct record_columns *columns);
bool record_gate_has_captures(const struct record_gate *gate);
/* `process` is their track's parent; one that nothing closed lasts to `last_at`. */
void record_gate_put(const struct record_gate *gate, struct sink *sink, struct record_clock *clock,
                     track_id process, int64_t last_at);
void record_gate_free(struct record_gate *gate);

#endif
