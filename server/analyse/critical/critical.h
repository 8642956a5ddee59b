/* SPDX-License-Identifier: Apache-2.0 */
/* Why steps take as long as they do, as tables.
 *
 *   pieces   the path of one step, in order of time
 *   rows     of many steps: how much of them lies on the path, by op, scope, kind, device, host
 *
 * A run without steps is one, from its first event to its last. Of many steps those count that the
 * others are measured by (step_counts), or of very many every n-th; a note says how many.
 */
#ifndef JVIEWD_ANALYSE_CRITICAL_CRITICAL_H
#define JVIEWD_ANALYSE_CRITICAL_CRITICAL_H

#include "analyse/critical/path.h"
#include "analyse/ops/top.h"
#include "analyse/stats/map64.h"

/* Of the steps that count the one whose time is nearest to their median, the first of equal ones;
 * NULL: there is none. */
const struct step *critical_typical(const struct steps *steps, struct arena *arena);

/* What of one slice lies on a step's path, and by how much it may end later. */
struct slice_on_path {
    uint32_t host;
    slice_id slice;                       /* NO_SLICE: nothing is asked */
    bool known;                           /* it has time of its own in the step, ... */
    struct str reason;                    /* or why not */
    int64_t on_path_ps;                   /* of its own time, without what lies inside */
    int64_t slack_ps;                     /* the least of its parts */
    struct str waits_for, edge, evidence; /* of its begin; waits_for "": nothing tells it */
};
/* The step of a host in which the slice's middle lies; NULL: none. */
const struct step *critical_step_of(const struct run_traces *run, const struct steps *steps,
                                    uint32_t host, slice_id slice);

/* Columns: kind name slice track start_ps dur_ps waits_for edge evidence. In order of time; no
 * other sort. `step` NULL: the whole run. total_ps: of all pieces, which is the step's time.
 * `of`: the slice that is asked about beside them; NULL: none. */
MUST_CHECK enum status critical_pieces(const struct run_traces *run, const struct steps *steps,
                                       const struct step *step, const struct page *page,
                                       struct slice_on_path *of, struct arena *arena,
                                       struct table *ret, struct error *err);

/* Where the path of one step lies: in short, the largest part first. */
enum place_of {
    PLACE_OF_SCOPE, /* ops of a scope: its elements below the program, without the primitive */
    PLACE_OF_OP,    /* ops without one, by name */
    PLACE_OF_SLICE, /* of threads, by name */
    PLACE_OF_GAP,   /* between them; its kind says what it is */
};
const char *place_of_word(enum place_of of); /* "scope" ... "gap" */

struct path_place {
    struct str name;
    enum place_of of;
    enum piece_kind kind; /* of its longest piece */
    int64_t on_path_ps;
    int64_t longest_ps;
};
struct path_places {
    const struct step *step; /* NULL: the whole run */
    uint32_t host;
    int64_t dur_ps; /* the places sum to it */
    const struct path_place *items;
    uint32_t count;
    int64_t likely_ps;
    struct str reason; /* why there is none; "" */
};
/* Of more slices a run without steps is not walked for this. */
enum { PLACES_SLICES_MAX = 300000 };
void critical_places(const struct run_traces *run, const struct steps *steps, struct arena *arena,
                     struct path_places *ret);
/* "Of the 34.8 ms of step 7, 21.0 ms are on the critical path in `layer_1/mlp`, 6.10 ms in
 * `data_loading`, 3.20 ms wait for launches."; "" where nothing is known. */
struct str critical_sentence(const struct path_places *places, struct arena *arena);

struct critical_op {              /* of an op of a host's attribution, or a name of its slices */
    int64_t on_path_ps, slack_ps; /* slack: the least of its nodes in all steps */
    int64_t time_ps;              /* of its nodes in these steps */
    uint64_t count;               /* nodes */
    enum kind kind;               /* of the last of them */
};
struct critical_sums { /* over steps; freed by critical_sums_free */
    uint32_t host_count, step_count, step_count_all;
    struct critical_op **ops;   /* [host][op]; NULL: none */
    struct critical_op **names; /* [host][name]: slices that are no op */
    int64_t kinds_ps[PIECE_KINDS];
    int64_t total_ps, likely_ps;
    uint64_t cut_count, left_out_count;
    bool no_steps;
    struct map64 devices; /* (host, device) -> index of device_ps */
    int64_t *device_ps;
    struct device_key {
        uint32_t host;
        int32_t device;
    } * device_keys;
    uint32_t device_count;
};
void critical_sums_make(const struct run_traces *run, const struct steps *steps,
                        struct critical_sums *ret);
void critical_sums_free(struct critical_sums *sums);
/* The same by op and by name, for tables of these. */
void critical_top_paths(const struct run_traces *run, const struct critical_sums *sums,
                        struct arena *arena, struct top_paths *ret);

/* `by`: op (default), place (see path_places), scope, kind, device, host. Columns: name kind module
 * scope host device count
 * on_path_ps share slack_ps time_ps. Default sort "-on_path_ps,name". */
MUST_CHECK enum status critical_rows(const struct run_traces *run, const struct critical_sums *sums,
                                     struct str by, const struct page *page, struct arena *arena,
                                     struct table *ret, struct error *err);

/* Of all steps that count: columns step host kind name slice track start_ps dur_ps waits_for edge
 * evidence; and step host kind name slice track start_ps dur_ps slack_ps, of every node. */
MUST_CHECK enum status critical_path_view(const struct run_traces *run, const struct page *page,
                                          struct arena *arena, struct table *ret,
                                          struct error *err);
MUST_CHECK enum status slack_view(const struct run_traces *run, const struct page *page,
                                  struct arena *arena, struct table *ret, struct error *err);

#endif
