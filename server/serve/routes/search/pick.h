/* SPDX-License-Identifier: Apache-2.0 */
/* The first k slices of an order, out of any number.
 *
 *   rows --window--> chunks --filter--> offer(key, slice) --> heap of the best k --> sorted
 *
 * Memory is k entries, whatever is scanned. Rows are in time order, so that without a filter a
 * page by start looks at k slices a row and counts the rest by two binary searches.
 */
#ifndef JVIEWD_SERVE_ROUTES_SEARCH_PICK_H
#define JVIEWD_SERVE_ROUTES_SEARCH_PICK_H

#include "serve/answer/slice_out.h"
#include "trace/names/by_name.h"

enum pick_order { PICK_START, PICK_LONGEST, PICK_SELF };
enum { PICK_MAX = 1000000, PICK_DENSITY_BUCKETS = 512 };

struct pick_filter {
    int64_t start_ps, end_ps;       /* run time, half open */
    struct str name;                /* exact; "" any */
    int64_t min_dur_ps, max_dur_ps; /* both are inside */
};

struct pick {
    const struct run_traces *run;
    struct pick_filter filter;
    enum pick_order order;
    struct arena *arena;
    uint64_t total; /* all that matched */
    uint32_t capacity, count;
    struct pick_entry *entries; /* a heap: the worst on top */
    struct chunk *chunk;
    uint64_t bucket_ps;         /* of `density` */
    uint64_t *track_counts;     /* by track over all hosts in order; NULL: not counted */
    uint64_t *density;          /* PICK_DENSITY_BUCKETS over the window; NULL: not counted */
    uint32_t *track_density;    /* as many for each track; NULL: not counted */
    size_t ordinal;             /* of the track that is looked at */
    const bool *tracks, *names; /* by id, of the host that is looked at; NULL: all */
};

/* Picoseconds a bucket of `density`. */
uint64_t pick_density_width_ps(const struct pick_filter *filter);
/* `most` is how many places will be asked for at most, 1 ... PICK_MAX. */
struct pick pick_begin(const struct run_traces *run, struct pick_filter filter,
                       enum pick_order order, uint32_t most, struct arena *arena);
void pick_track(struct pick *pick, uint32_t host, track_id track);
/* What is wanted beside the filter, of the host that comes next; NULL: all. */
void pick_only(struct pick *pick, const bool *tracks, const bool *names);
/* All slices whose name is wanted (by id; NULL: any) on recorded tracks: by the index, or by a scan
 * where that unpacks less. */
void pick_names(struct pick *pick, uint32_t host, const bool *names);
/* All slices whose bit is set; one bit a slice of the host. */
void pick_bits(struct pick *pick, uint32_t host, const uint64_t *slices);
/* From the best on, without the first `skip`; returns how many. */
uint32_t pick_end(struct pick *pick, uint32_t skip, struct arena *arena, struct slice_place **ret);

/* For routes: window, name and least duration of the request; sort where it is declared. */
MUST_CHECK enum status request_pick(struct request *req, const struct page *page, struct pick *ret,
                                    struct error *err);
/* "rows": [...] */
void json_put_places(struct json *json, struct arena *arena, const struct run_traces *run,
                     const struct slice_place *places, uint32_t count);

#endif
