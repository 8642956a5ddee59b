/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of the machine, of the process and of GPUs, as counters; what slows a GPU down, as
 * slices.
 *
 *   system                        the machine: CPU, memory in use, disk read, disk write
 *   python (466) / CPU, memory    the process
 *   GPU metrics (GPU 0, H200)     SM clock, memory clock, power, temperature, memory in use, busy
 *     slowed down                 [ power cap ][ power cap + thermal (software) ]
 *
 * A GPU has CUDA's number where the program used CUDA, joined by UUID, else NVML's.
 */
#ifndef JVIEWD_DECODE_RECORD_RECORD_SYSTEM_H
#define JVIEWD_DECODE_RECORD_RECORD_SYSTEM_H

#include "decode/record/record_clock.h"
#include "decode/record/record_read.h"
#include "trace/sink.h"

struct record;
enum { RECORD_GPUS_MAX = 32, RECORD_DEVICES_MAX = 128, RECORD_REASONS = 9 };

struct record_system {
    struct record *record;
    struct sink *sink;
    struct arena *arena;
    struct record_clock *clock;
    struct record_device { /* as CUDA or NVML tells it */
        int64_t source, number;
        name_id name, uuid;
        int64_t memory_bytes, multiprocessors, clock_khz, bandwidth_kb, major,
            minor; /* 0 unknown */
    } devices[RECORD_DEVICES_MAX];
    uint32_t device_count;
    track_id machine; /* NO_TRACK until there is one, as all below */
    track_id figures[FIGURES];
    struct record_gpu {
        track_id track, figures[FIGURES], slowed;
        name_id name;
        uint64_t looks, by_reason[RECORD_REASONS];
        int64_t reasons, since_ps, looked_ps;
        bool is_looked_at;
    } gpus[RECORD_GPUS_MAX];
    uint64_t unread;
};

void record_system_begin(struct record_system *system);
void record_system_devices(struct record_system *system, const struct record_columns *columns);
/* What CUDA tells of its device, as properties of its track. */
void record_system_put_device(struct record_system *system, int64_t ordinal, track_id track);
void record_system_figures(struct record_system *system, const struct record_columns *columns);
void record_system_end(struct record_system *system); /* what is open, and notes */

#endif
