/* SPDX-License-Identifier: Apache-2.0 */
/* What the walk through a spool gives to who reads one kind of its frames. */
#ifndef JVIEWD_DECODE_RECORD_RECORD_TRACKS_H
#define JVIEWD_DECODE_RECORD_RECORD_TRACKS_H

#include "trace/sink.h"

struct record_names { /* texts of a spool */
    name_id *at;      /* by id - 1; 0: not told */
    uint32_t capacity;
};
name_id record_name_of(const struct record_names *names, int64_t id); /* 0 none */

struct record;
name_id record_text_of(const struct record *record, int64_t id); /* 0 none */
track_id record_process_track(struct record *record);
track_id record_thread_track(struct record *record, int64_t thread);
track_id record_free_track(struct record *record); /* of ranges that may end on another thread */

#endif
