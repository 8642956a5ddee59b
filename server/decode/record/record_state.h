/* SPDX-License-Identifier: Apache-2.0 */
/* A spool while it is walked: between record.c and its parts. */
#ifndef JVIEWD_DECODE_RECORD_RECORD_STATE_H
#define JVIEWD_DECODE_RECORD_RECORD_STATE_H

#include "base/arena.h"
#include "decode/id_map.h"
#include "decode/pair_table.h"
#include "decode/record/record_clock.h"
#include "decode/record/record_cuda.h"
#include "decode/record/record_hlo.h"
#include "decode/record/record_nodes.h"
#include "decode/record/record_read.h"
#include "decode/record/record_sample.h"
#include "decode/record/record_switch.h"
#include "decode/record/record_system.h"
#include "decode/record/record_tracks.h"

struct record {
    const struct input *input;
    struct record_file file;
    size_t passed; /* bytes of the file that need not stay */
    struct sink *sink;
    struct arena *arena;
    struct record_clock clock;
    struct record_switch recording;
    struct record_names texts;
    struct id_map thread_names, threads;
    struct pair_table categories; /* domain, number -> name */
    struct id_map ended;          /* thread and start of ranges behind the last look */
    size_t last_look;             /* where the frame of what was open then ends; 0: none */
    int64_t last_end;             /* in ticks, of all ranges */
    struct str program;
    uint32_t about_count;
    bool has_work; /* of a GPU */
    struct record_hlo hlo;
    struct record_nodes nodes;
    struct record_cuda cuda;
    struct record_system system;
    struct record_samples samples;
    track_id process, free_ranges; /* NO_TRACK until there is one */
    uint64_t lost[LOST_CAUSES], broken_frames, other_frames, without_time, cut;
};

/* record.c: texts beyond what is kept are passed over. */
void record_names_put(struct record *record, struct record_names *names, uint64_t id,
                      struct str text);

/* record_ranges.c: NVTX. */
void record_ranges_read(struct record *record, const struct record_columns *columns);
void record_ranges_open(
    struct record *record); /* the last look at what was open, less what ended */
/* The next field of a payload of fields, "iKEY=VALUE". */
bool record_next_field(struct str *rest, struct str *ret);
/* Without its letter; false: no such field, or one without a key. */
bool record_split_field(struct str field, struct str *ret_key, struct str *ret_value);
/* Keys of NCCL and XLA, as jviewd names the same of other formats; all others as they are. */
struct str record_key_of_field(struct str key);
/* record_notes.c */
void record_note_state(struct record *record);
void record_note_losses(struct record *record);

#endif
