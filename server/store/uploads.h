/* SPDX-License-Identifier: Apache-2.0 */
/* Files that came from a browser: kept in the cache, each a run of its own, or those of a folder
 * together.
 *
 *   <cache>/uploads/step_7/plugins/profile/upload/host.xplane.pb
 *                   NAME   a session, so that any name of a file will do
 *                   step_8/plugins/profile/09_30/host.xplane.pb
 *                   FOLDER as it lay there
 *
 * A file grows in a directory of its job, which is this process' own, and appears whole: by one
 * rename of NAME, or into its folder. What is given up, or was cut off by the end of the process,
 * never appears. All files together stay below a quota; what is written counts before it is whole.
 *
 * Names are a stranger's: of a path the last part, without control characters, at most 120 bytes;
 * a second file of a name is NAME-2.
 */
#ifndef JVIEWD_STORE_UPLOADS_H
#define JVIEWD_STORE_UPLOADS_H

#include "store/cache.h"

struct uploads;

struct uploads_limits {
    uint64_t file_bytes_max, all_bytes_max;
};

/* Lives in the arena; `cache` outlives it. */
MUST_CHECK enum status uploads_open(struct cache *cache, struct uploads_limits limits,
                                    struct arena *arena, struct uploads **ret, struct error *err);
void uploads_close(struct uploads *uploads); /* takes NULL */
const char *uploads_dir(const struct uploads *uploads);
struct uploads_limits uploads_limits(const struct uploads *uploads);
uint64_t uploads_bytes(struct uploads *uploads); /* of all files, with those on their way */

enum { UPLOAD_NAME_SIZE = 128, UPLOAD_PLACE_SIZE = 1024 };

#define UPLOAD_SESSION "plugins/profile/upload"

struct upload { /* a file on its way */
    struct uploads *uploads;
    int fd;                         /* -1: over */
    uint64_t bytes;                 /* written, and counted */
    char job[4096];                 /* directory; removed at the end */
    char file[UPLOAD_NAME_SIZE];    /* what it will be called */
    char run[UPLOAD_NAME_SIZE + 8]; /* its directory; the final one after upload_finish */
    char place[UPLOAD_PLACE_SIZE];  /* directory below uploads_dir; "": a run of its own */
};

/* What a file of this name is called here: file and run. Never empty, never hidden. */
void upload_names(struct str given, char ret_file[UPLOAD_NAME_SIZE],
                  char ret_run[UPLOAD_NAME_SIZE]);
/* `announced` bytes, -1 unknown. ERR_LIMIT: larger than a file may be; ERR_IO: no room. */
MUST_CHECK enum status upload_begin(struct uploads *uploads, struct str name, int64_t announced,
                                    struct upload *ret, struct error *err);
/* It is one of a folder's: `path` below it, with the file's name. ERR_INVALID: a way out of it. */
MUST_CHECK enum status upload_place(struct upload *upload, struct str folder, struct str path,
                                    struct error *err);
MUST_CHECK enum status upload_put(struct upload *upload, struct bytes piece, struct error *err);
/* Where the file is while it is not whole: for whoever looks what it holds. */
void upload_path(const struct upload *upload, char ret[4096]);
/* Shown from now on; `modified_ns` (Unix time) is when its bytes last changed. *ret_dir is its
 * directory below uploads_dir. ERR_CONFLICT: its folder has such a file. */
MUST_CHECK enum status upload_finish(struct upload *upload, int64_t modified_ns, char ret_dir[4096],
                                     struct error *err);
void upload_abandon(struct upload *upload); /* after upload_finish it does nothing */

/* The upload that a directory or file below uploads_dir belongs to, with all that is in it. */
MUST_CHECK enum status uploads_remove(struct uploads *uploads, struct str dir, struct error *err);

#endif
