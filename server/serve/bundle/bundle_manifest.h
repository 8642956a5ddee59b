/* SPDX-License-Identifier: Apache-2.0 */
/* What a bundle says of itself: the first entry of a .jvz, in JSON.
 *
 *   {"bundle": 1, "program": "jviewd 0.1.0", "segment_version": 2, "kind_rules_version": 7,
 *    "said": {"run": "step_500", "content_id": "c09f...", "about": {...} or null,
 *             "tags": ["pinned"], "notes": [{"text": "...", "start_ps": 1, "end_ps": 2}]},
 *    "members": [{"host": "hostA", "path": "hostA.xplane.pb", "part": "timeline", "bytes": 41234,
 *                 "content": "09f1...",
 *                 "segment": {"name": "segments/0", "bytes": 812345, "hash": "77aa..."},
 *                 "raw": {"name": "raw/0/hostA.xplane.pb", ...} or null}]}
 *
 *   step_500.jvz   a ZIP archive: jviewd-bundle.json, then each member's segment, then raw files
 *
 * Hashes are XXH3-128 of what an entry unpacks to. Names of entries are looked up in the archive
 * and are never paths. A bundle is a stranger's: every text and count is bounded here; whether the
 * segments hold what they should is for whoever opens them.
 */
#ifndef JVIEWD_SERVE_BUNDLE_BUNDLE_MANIFEST_H
#define JVIEWD_SERVE_BUNDLE_BUNDLE_MANIFEST_H

#include "serve/bundle/about.h"
#include "store/user.h"

#define BUNDLE_MANIFEST "jviewd-bundle.json"

enum {
    BUNDLE_VERSION = 1,
    BUNDLE_MEMBERS_MAX = 4096,
    BUNDLE_MANIFEST_BYTES_MAX = 8 << 20,
    BUNDLE_SAID_BYTES_MAX = 1 << 20, /* notes, tags, jview.json */
    BUNDLE_TEXT_BYTES_MAX = 4096,    /* of a host, a path, a name */
};

struct bundle_blob { /* an entry of the archive; name "": none */
    struct str name;
    uint64_t bytes;
    char hash[33];
};

struct bundle_member {
    struct str host, path; /* as where it was made: for people */
    enum decode_part part;
    uint64_t bytes;   /* of the profile file */
    char content[33]; /* its hash: track and slice ids, and the run's content id, stand on it */
    struct bundle_blob segment, raw;
};

struct bundle {
    struct str program;
    int64_t segment_version, kind_rules_version;
    struct str said; /* JSON: see bundle_said */
    const struct bundle_member *members;
    uint32_t member_count;
};

struct bundle_said {
    struct str run, content_id, program;
    struct str about; /* jview.json as it was; "" none */
    const struct user_note *notes;
    uint32_t note_count;
    const struct str *tags;
    uint32_t tag_count;
};

/* Is it a bundle, by its first bytes? */
bool bundle_is(struct bytes head);
struct str bundle_write(const struct bundle *bundle, struct arena *arena);
MUST_CHECK enum status bundle_read(struct str text, struct arena *arena, struct bundle *ret,
                                   struct error *err);
/* ERR_LIMIT where it is more than a bundle takes. */
MUST_CHECK enum status bundle_said_write(const struct bundle_said *said, struct arena *arena,
                                         struct str *ret, struct error *err);
MUST_CHECK enum status bundle_said_read(struct str text, struct arena *arena,
                                        struct bundle_said *ret, struct error *err);

#endif
