/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes the slots of kept answers, each checked by key and sum. */
#include "store/answers.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

enum { SLOTS = 4096 };

struct head {
    char magic[8];
    uint64_t key_high, key_low;
    uint64_t count; /* of the body */
    uint64_t sum;   /* of the body */
    char content[40];
};

_Static_assert(sizeof(struct head) == 80, "no hidden padding: as it is it goes to disk");

static const char magic[8] = {'J', 'V', 'A', 'N', 'S', '2', '\r', '\n'};

void answers_path(const struct cache *cache, struct hash128 key, char ret[4096])
{
    snprintf(ret, 4096, "%s/answers/%03x", cache_dir(cache), (unsigned)(key.low % SLOTS));
}

bool answers_read(const char *path, struct hash128 key, struct arena *arena, struct bytes *ret)
{
    struct head head;
    struct bytes whole;
    struct error why = {0};

    if (file_read(path, arena, sizeof head + ANSWER_BYTES_MAX, &whole, &why) != OK ||
        whole.count < sizeof head)
        return false;
    memcpy(&head, whole.at, sizeof head);
    *ret = (struct bytes){.at = whole.at + sizeof head, .count = whole.count - sizeof head};
    return memcmp(head.magic, magic, sizeof magic) == 0 && head.key_high == key.high &&
           head.key_low == key.low && head.count == ret->count && head.sum == hash64(*ret);
}

bool answers_get(const struct cache *cache, struct hash128 key, struct arena *arena,
                 struct bytes *ret)
{
    char path[4096];

    answers_path(cache, key, path);
    if (!answers_read(path, key, arena, ret))
        return false;
    (void)utimensat(AT_FDCWD, path, NULL, 0); /* used now: the last that goes */
    return true;
}

static enum status write_answer(int fd, struct hash128 key, const char *content, struct bytes body,
                                struct error *err)
{
    struct head head = {
        .key_high = key.high, .key_low = key.low, .count = body.count, .sum = hash64(body)};

    memcpy(head.magic, magic, sizeof magic);
    memcpy(head.content, content, strnlen(content, 32));
    TRY(file_write_all(fd, &head, sizeof head, 0, err));
    return file_write_all(fd, body.at, body.count, sizeof head, err);
}

/* Made in the directory of what is temporary, so that nothing is left by a process that ends. */
static enum status put(struct cache *cache, struct hash128 key, const char *content,
                       struct bytes body, struct error *err)
{
    char path[4096], temporary[4096], made[4200];

    TRY(cache_temporary_dir(cache, temporary, err));
    snprintf(made, sizeof made, "%s/answer-XXXXXX", temporary);
    snprintf(path, sizeof path, "%s/answers", cache_dir(cache));
    TRY(directory_make(path, err));
    answers_path(cache, key, path);
    int fd = mkostemp(made, O_CLOEXEC);
    if (fd < 0)
        return fail(err, ERR_IO, "%s cannot be made", made);
    enum status status = write_answer(fd, key, content, body, err);
    close(fd);
    if (status == OK && rename(made, path) == 0)
        return OK;
    unlink(made);
    return status == OK ? fail(err, ERR_IO, "%s cannot become %s", made, path) : status;
}

void answers_put(struct cache *cache, struct hash128 key, const char *content, struct bytes body)
{
    struct error ignored = {0};

    if (body.count > 0 && body.count <= ANSWER_BYTES_MAX &&
        put(cache, key, content, body, &ignored) != OK)
        return; /* the next who asks makes it again */
}

bool answers_content(const char *path, char ret[33])
{
    struct head head;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return false;

    bool whole = pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head &&
                 memcmp(head.magic, magic, sizeof magic) == 0;

    close(fd);
    if (whole)
        snprintf(ret, 33, "%.32s", head.content);
    return whole;
}
