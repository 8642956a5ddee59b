/* SPDX-License-Identifier: Apache-2.0 */
/* Inside pick*.c. */
#ifndef JVIEWD_SERVE_ROUTES_SEARCH_PICK_PARTS_H
#define JVIEWD_SERVE_ROUTES_SEARCH_PICK_PARTS_H

#include "serve/routes/search/pick.h"

struct pick_entry {
    int64_t key; /* smaller is better */
    uint32_t host;
    slice_id slice;
};

struct seen {                          /* of one slice */
    int64_t start_ps, dur_ps, self_ps; /* start in file time */
};

/* Among the best, if it is one of them. */
void pick_keep(struct pick *pick, struct pick_entry entry);
/* A slice that matches; `pick_count` counts it. */
void pick_offer(struct pick *pick, uint32_t host, slice_id slice, struct seen seen);
void pick_count(struct pick *pick, uint32_t host, const struct row *row, uint64_t count);
/* Scans ordinals [first, end) of a row; `names` says by id which are wanted, NULL all. */
void pick_scan_row(struct pick *pick, uint32_t host, const struct row *row, uint32_t first,
                   uint32_t end, const bool *names);
/* Touches the window as row_window means it: an instant at its begin is inside. */
bool pick_is_inside(const struct pick *pick, const struct host_trace *host, struct seen seen);
/* Of a track among those of all hosts in order. */
size_t pick_track_ordinal(const struct run_traces *run, uint32_t host, track_id track);

#endif
