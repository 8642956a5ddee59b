/* SPDX-License-Identifier: Apache-2.0 */
/* jview.json: what the program that was profiled says of its run, beside the profile.
 *
 *   {"name": "wide mlp", "step": 1000, "commit": "4f0c9b5", "commit_time": 1795253400,
 *    "tags": ["nightly"], "notes": ["batch 64"], "metrics": {"loss": 2.31}} api/jview.schema.json
 *
 * Looked for in the session's directory, then in the one that holds its plugins/. Whatever it holds
 * is data: sizes and counts are bounded, a member of another type makes the whole file one that is
 * not used, with the reason; members that are not known here are left alone.
 */
#ifndef JVIEWD_SERVE_BUNDLE_ABOUT_H
#define JVIEWD_SERVE_BUNDLE_ABOUT_H

#include "serve/answer/json_out.h"
#include "store/catalog.h"

enum { ABOUT_TEXTS_MAX = 32, ABOUT_METRICS_MAX = 64 };

struct about_metric {
    struct str name;
    double value;
};

struct about {
    bool is_there;      /* and was understood */
    struct str path;    /* below the profile directory; "" there is no such file */
    struct str problem; /* why it is not used; "" it is, or is not there */
    struct str text;    /* the file as it was read, where it is there */
    struct str name, commit;
    bool has_step, has_commit_time;
    int64_t step, commit_ns;
    struct str tags[ABOUT_TEXTS_MAX], notes[ABOUT_TEXTS_MAX];
    uint32_t tag_count, note_count;
    struct about_metric metrics[ABOUT_METRICS_MAX];
    uint32_t metric_count;
};

/* Of the file as it stands: another one, another stamp; 0: there is none. */
uint64_t about_stamp(struct str root, struct str dir);
/* Of a session, the directory that holds its plugins/; else itself. */
struct str about_above(struct str dir);
/* What lies in a bucket is kept in the catalog's facts under this key, by its stamp. */
void about_key(uint64_t stamp, char ret[33]);
void about_read(const struct run_record *run, struct arena *arena, struct about *ret);
/* From the file's bytes; ERR_FORMAT names the member. */
MUST_CHECK enum status about_parse(struct bytes bytes, struct arena *arena, struct about *ret,
                                   struct error *err);
/* "about": {...} or null. */
void json_put_about(struct json *json, const struct about *about);

#endif
