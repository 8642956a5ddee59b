/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a trace: what its readers share and nobody else sees. */
#ifndef JVIEWD_TRACE_READERS_H
#define JVIEWD_TRACE_READERS_H

#include <stdatomic.h>

#include "base/error.h"
#include "trace/block.h"
#include "trace/chunk.h"
#include "trace/trace.h"

struct args;
struct counters;
struct pyramids;
struct summaries;
struct by_name;

/* One record per 32 slices of a row (the last may stand for fewer), contiguous over the row:
 * records row_samples ... + (count + 31) / 32 - 1. */
enum { SAMPLE_SLICES = 32 };
struct slice_sample {
    int64_t start_ps;   /* of the first of them */
    int64_t dur_before; /* sum of dur over the slices of the row before them */
    uint16_t longest;   /* 0..31: the longest of them, the first of equals */
    uint16_t weight;    /* of that one's dur */
    uint32_t zero;
};

/* A length in 16 bits, six of exponent and ten of mantissa: in the order of the lengths, equal only
 * where they differ by less than a thousandth. Exact below 2,048 ps. */
static inline uint16_t dur_weight(int64_t dur_ps)
{
    uint64_t dur = (uint64_t)dur_ps;

    if (dur < 1024)
        return (uint16_t)dur;

    unsigned octave = 63 - (unsigned)__builtin_clzll(dur); /* 10 ... 63 */

    return (uint16_t)((octave - 9) << 10 | ((dur >> (octave - 10)) & 1023));
}

struct meta { /* TABLE_META, one record */
    uint32_t kind_rules_version, has_epoch;
    name_id format, hostname, epoch_reason, zero;
    int64_t epoch_ns, start_ps, end_ps;
    uint64_t slice_count, event_count, sample_count;
};

struct trace_parts {
    struct block_in in;

    const uint64_t *name_offsets; /* name_count + 1, into name_texts */
    const char *name_texts;
    const uint32_t *name_order; /* ids sorted by text */

    const struct chunk_entry *chunks;
    uint32_t chunk_count;
    _Atomic uint8_t *chunk_checked; /* per chunk: 0 not yet, 1 whole, 2 damaged */
    _Atomic bool damaged;
    const struct slice_sample *samples; /* of all rows */
    const uint64_t *row_first_sample;   /* per row */

    struct args *args;
    struct counters *counters;
    struct pyramids *pyramids;
    struct summaries *summaries;
    struct by_name *by_name;
};

/* Names, tracks, rows, chunks, samples and the small tables; without args, counters, flows and the
 * other parts, whose pointers stay NULL. */
MUST_CHECK enum status trace_open_core(struct block_in in, struct arena *arena, struct trace *ret,
                                       struct error *err);

/* Its key, its type and its text are what readers may rely on. */
bool trace_arg_valid(const struct trace *trace, const struct arg *arg);

/* Reads every blob, and marks the trace where one is damaged. */
void programs_check(const struct trace *trace);
/* Checks programs, instructions and documents, whose tables are there. */
MUST_CHECK enum status programs_open(struct trace *trace, struct error *err);

/* The checked data of a chunk; NULL, and the trace is marked, when they are damaged. */
const uint8_t *chunk_bytes(const struct trace *trace, uint32_t chunk);
row_id trace_row_of_chunk(const struct trace *trace, uint32_t chunk);

static inline const struct slice_sample *row_samples(const struct trace *trace, row_id row,
                                                     uint32_t *ret_count)
{
    *ret_count = (trace->rows[row].count + SAMPLE_SLICES - 1) / SAMPLE_SLICES;
    return trace->parts->samples + trace->parts->row_first_sample[row];
}

#endif
