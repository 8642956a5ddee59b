/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA activity of a spool: kernels, copies and sets on the streams of devices, calls beside the
 * threads that made them.
 *
 *   /device:GPU:0
 *     Stream #7          [kernel]  [[CUDA memcpy Host-to-Device]]
 *   python (466)           ^ "kernel launch", by correlation
 *     main thread (466)    |
 *       CUDA API         [cuLaunchKernel]
 *     CUDA overhead        [CUPTI buffer flush]
 */
#ifndef JVIEWD_DECODE_RECORD_RECORD_CUDA_H
#define JVIEWD_DECODE_RECORD_RECORD_CUDA_H

#include "decode/id_map.h"
#include "decode/pair_table.h"
#include "decode/record/record_clock.h"
#include "decode/record/record_hlo.h"
#include "decode/record/record_read.h"
#include "decode/record/record_tracks.h"
#include "trace/sink.h"

/* What args are called: looked up once, when it is first needed. */
enum cuda_key {
    KEY_BLOCK,
    KEY_BYTES,
    KEY_CORRELATION,
    KEY_DESTINATION,
    KEY_DYNAMIC_SHARED,
    KEY_FROM_DEVICE,
    KEY_GRAPH,
    KEY_GRID,
    KEY_LOCAL,
    KEY_MEMORY,
    KEY_NODE,
    KEY_REGISTERS,
    KEY_RESULT,
    KEY_SOURCE,
    KEY_STATIC_SHARED,
    KEY_THREAD,
    KEY_TO_DEVICE,
    KEY_VALUE,
    CUDA_KEYS
};
enum { CUDA_SIZES = 1 << 8, CUDA_MEMORIES = 8 };

struct record_cuda {
    struct record *record;
    struct sink *sink;
    struct arena *arena;
    struct record_clock *clock;
    uint32_t process;
    struct id_map devices, lanes; /* ordinal, thread -> track */
    track_id overhead;            /* NO_TRACK until it is needed */
    struct id_map contexts;       /* ordinal -> the first context met there */
    struct pair_table streams;    /* ordinal; context, stream -> track */
    struct id_map kinds;          /* name and whether it is a device's -> kind */
    struct id_map stream_names;   /* number -> name */
    name_id launch;               /* the kind of flow; 0 until it is needed */
    name_id keys[CUDA_KEYS];      /* the same */
    name_id memories[CUDA_MEMORIES];
    struct sink_slice slice; /* at hand, with its args */
    struct arg args[CUDA_KEYS + RECORD_HLO_ARGS_MAX];
    uint32_t arg_count;
    struct cuda_size {
        int64_t x, y, z;
        name_id text;    /* 0: none */
    } sizes[CUDA_SIZES]; /* the last ones, by their hash */
    uint64_t without_time, inverted, without_place;
};

bool record_cuda_is(uint16_t type); /* frames that this reads */
void record_cuda_read(struct record_cuda *cuda, enum spool_type type,
                      const struct record_columns *columns);
void record_cuda_streams(struct record_cuda *cuda, const struct record_columns *columns);
void record_cuda_note(struct record_cuda *cuda); /* what could not be shown */
void record_cuda_free(struct record_cuda *cuda);

#endif
