/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes of a store that many machines share: looked for before a file is decoded, left there when
 * it was.
 *
 *   file ──hash──> content ──store──> segment, attribution, what indexing told      no decoder runs
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/log.h"
#include "decode/decode.h"
#include "ingest/ingest_parts.h"

enum { PIECE_BYTES = 1 << 20 };

/* As the indexer has it: of the file's bytes. False: it cannot be read whole. */
static bool hash_file(int fd, uint64_t bytes, char ret[33])
{
    uint8_t *piece = memory_resize(NULL, PIECE_BYTES, 1);
    struct hasher *hasher = hasher_create();
    uint64_t at = 0;
    ssize_t count;

    while ((count = read(fd, piece, PIECE_BYTES)) > 0 || (count < 0 && errno == EINTR)) {
        if (count < 0)
            continue;
        hasher_put(hasher, (struct bytes){piece, (size_t)count});
        at += (uint64_t)count;
    }
    hash128_hex(hasher_end(hasher), ret);
    free(piece);
    return count == 0 && at == bytes;
}

static bool content_of(struct ingest *ingest, struct str run, struct str path,
                       const struct file_stamp *stamp, char ret[33])
{
    struct error ignored = {0};
    struct file_stamp now;
    uint64_t bytes;
    int fd;

    if (ingest_open_file(ingest, run, path, &fd, &bytes, &ignored) != OK)
        return false;
    bool known = bytes == stamp->size && hash_file(fd, bytes, ret) &&
                 file_stamp_of(fd, &now, &ignored) == OK && file_stamp_equal(&now, stamp);
    file_close(fd);
    return known;
}

/* An index that is made of this file's bytes alone. */
static bool may_be_shared(const struct ingest *ingest, const struct child_job *job)
{
    return ingest->options.store != NULL && !job->growing && !job->identify &&
           !decode_reads_beside(job->path);
}

static bool get(struct ingest *ingest, const char content[33], struct arena *arena,
                const char *segment, const char *attribution, struct index_result *ret)
{
    struct error err = {0};
    struct str known;
    enum status status =
        index_store_get(ingest->options.store, content, segment, attribution, arena, &known, &err);

    if (status == OK)
        status = index_result_parse(known, arena, ret, &err);
    if (status != OK && status != ERR_NOT_FOUND && status != ERR_NOT_READY &&
        status != ERR_CANCELLED)
        log_warning("%s: the run is indexed on this machine instead", err.message);
    return status == OK && ret->outcome == OUTCOME_INDEXED && strcmp(ret->content, content) == 0;
}

bool shared_get(struct ingest *ingest, const struct child_job *job, struct arena *arena,
                const char *segment, const char *attribution, struct index_result *ret)
{
    char content[33];

    return may_be_shared(ingest, job) &&
           content_of(ingest, str_of(job->run), job->path, &job->stamp, content) &&
           get(ingest, content, arena, segment, attribution, ret);
}

bool shared_get_unread(struct ingest *ingest, const struct child_job *job, const char key[33],
                       struct arena *arena, const char *segment, const char *attribution,
                       struct index_result *ret)
{
    char content[33];

    return may_be_shared(ingest, job) && key[0] != '\0' &&
           index_store_seen(ingest->options.store, key, content) &&
           get(ingest, content, arena, segment, attribution, ret);
}

void shared_put(struct ingest *ingest, const struct index_result *result, const char key[33],
                const char *segment, const char *attribution)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    const struct index_store *store = ingest->options.store;
    struct error err = {0};

    enum status status = OK;

    /* A bundle is several contents in one file. */
    if (store == NULL || result->said.count > 0 || result->member_count > 0)
        return;
    if (result->outcome == OUTCOME_INDEXED)
        status = index_store_put(store, result->content, segment, attribution, result->line, &err);
    else if (result->outcome != OUTCOME_SAME || !index_store_has(store, result->content))
        return;
    if (status == OK && key[0] != '\0')
        status = index_store_see(store, key, result->content, &err);
    if (status != OK && status != ERR_NOT_READY && status != ERR_CANCELLED &&
        !atomic_flag_test_and_set(&told))
        log_warning("indexes of this machine are not shared: %s", err.message);
}
