/* SPDX-License-Identifier: Apache-2.0 */
/* A run that came as a bundle: what was written of it where it was made.
 *
 * The index keeps the manifest's `said` with the facts of the bundle's first member; nothing of it
 * is in the user database until somebody asks for that (POST /api/notes with "import").
 */
#ifndef JVIEWD_SERVE_BUNDLE_BUNDLED_H
#define JVIEWD_SERVE_BUNDLE_BUNDLED_H

#include "serve/bundle/bundle_manifest.h"
#include "serve/serve.h"

#define BUNDLE_FORMAT "jvz"

bool run_is_bundle(const struct run_record *run);
/* False: the run came as no bundle, or nothing is known of it. */
bool bundled_said(struct catalog *catalog, const struct run_record *run, struct arena *arena,
                  struct bundle_said *ret);
/* Adds to `said` what the run's own bundle says and it does not. */
void bundled_add(struct catalog *catalog, const struct run_record *run, struct arena *arena,
                 struct bundle_said *said);
/* jview.json beside the run, or of its bundle. */
void bundled_about(struct catalog *catalog, const struct run_record *run, struct arena *arena,
                   struct about *ret);
/* The file as it is, where it lies beside the run and is used; "" else. */
struct str bundled_about_text(struct catalog *catalog, const struct run_record *run,
                              struct arena *arena);
bool bundled_same_note(const struct user_note *a, const struct user_note *b);

struct bundled_file { /* what indexing told of a content */
    struct str host;  /* of a bundle's member: its host where the bundle was made; else "" */
    char origin[33];  /* hash of the profile file: the content itself where no bundle brought it */
    uint64_t bytes;
};
MUST_CHECK enum status bundled_file(struct catalog *catalog, const char content[33],
                                    struct arena *arena, struct bundled_file *ret,
                                    struct error *err);

#endif
