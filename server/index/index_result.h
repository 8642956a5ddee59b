/* SPDX-License-Identifier: Apache-2.0 */
/* What indexing learned of one file, in few words: between the child that read it and the server,
 * which keeps the line by content in its catalog.
 *
 *   {"content":"09f1...","format":"xplane","part":"timeline","bytes":41234567,"hostname":"node7",
 *    "epoch_ns":1795253400000000000,"start_ps":0,"end_ps":812345678901,"slice_count":812345,
 *    "device_count":2,"device_kind":"NVIDIA H100","framework":"jax 0.10.2","step_count":12,
 *    "step_median_ps":51234567890,"step_lengths_ps":[51234567890,...],"step_rule":"annotation","partial":false,"badges":["truncated"],
 *    "notes":[{"kind":"truncated","severity":"warning","message":"...","count":1}]}
 *
 * Of a bundle it is its first member's line, with the others' lines and what was written of the
 * run: "members": [{...}], "said": {...}. A member has its "host" and, where no profile file was
 * read, the hash of that one as "origin".
 *
 * What is unknown is left out. A file that was not indexed has "outcome": ignored, failed,
 * changed (while it was read) or same (as the content it was compared with), and "error".
 */
#ifndef JVIEWD_INDEX_INDEX_RESULT_H
#define JVIEWD_INDEX_INDEX_RESULT_H

#include "base/bytes.h"
#include "base/error.h"
#include "trace/attribution.h"
#include "trace/part.h"

enum { STEP_LENGTHS_MAX = 4096 };

enum outcome { OUTCOME_INDEXED, OUTCOME_IGNORED, OUTCOME_FAILED, OUTCOME_CHANGED, OUTCOME_SAME };

struct index_result { /* texts live in the arena they were made in */
    enum outcome outcome;
    struct str error; /* why it is not OUTCOME_INDEXED */
    char content[33];
    struct str format;
    enum decode_part part;
    uint64_t bytes;
    struct str hostname; /* "" unknown */
    bool has_epoch;
    int64_t epoch_ns; /* of file time 0 */
    int64_t start_ps, end_ps;
    uint64_t slice_count;
    bool device_count_known;
    uint32_t device_count;
    struct str device_kind, framework;  /* "" unknown */
    int64_t step_count, step_median_ps; /* -1 unknown */
    const int64_t *step_lengths; /* of those that count, where that is stated and they are few: a
                                  * run of several hosts has the median of all of theirs */
    uint32_t step_length_count;
    struct str step_rule;
    struct str group; /* equal for the ranks of one job; "" unknown */
    int64_t rank;     /* -1 unknown */
    bool partial;     /* something of the file could not be read */
    struct str badges[8];
    uint32_t badge_count;
    struct str host; /* of a bundle's member: as where it was made; "" the file's name */
    char origin[33]; /* "" the content is that of the profile file itself */
    struct str said; /* of a bundle: JSON (serve/bundle/bundle_manifest.h); "" no bundle */
    const struct str *members; /* of a bundle: the lines of those after the first */
    uint32_t member_count;
    struct str line; /* the JSON itself */
};

/* All that is known of an indexed file. `attribution` may be NULL. */
void index_result_of_trace(const struct trace *trace, const struct attribution *attribution,
                           enum decode_part part, struct arena *arena, struct index_result *ret);
/* One line of JSON, without its end; the notes of the trace (may be NULL) go along. */
struct str index_result_line(const struct index_result *result, const struct trace *trace,
                             struct arena *arena);
/* ERR_FORMAT when the line is anything else. */
MUST_CHECK enum status index_result_parse(struct str line, struct arena *arena,
                                          struct index_result *ret, struct error *err);

#endif
