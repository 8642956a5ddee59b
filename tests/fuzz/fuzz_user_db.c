/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the database of notes: it is read as far as it can be, a write succeeds and is read
 * again, or its reason is said; what is not ours is left as it is. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/user.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PATH_BYTES = 96 };

static char directory[PATH_BYTES], path[PATH_BYTES + 16], journal[PATH_BYTES + 32];

static void put_file(const uint8_t *data, size_t size)
{
    snprintf(directory, sizeof directory, "/tmp/jviewd-fuzz-user-%d", (int)getpid());
    snprintf(path, sizeof path, "%s/user.db", directory);
    snprintf(journal, sizeof journal, "%s-journal", path);
    mkdir(directory, 0700);
    unlink(journal);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
}

static void must_say(enum status status, const struct error *err)
{
    if (status != OK && err->message[0] == '\0')
        abort();
}

static void read_all(struct user *user, struct arena *arena)
{
    struct user_baseline *baselines;
    struct user_note *notes;
    struct user_tag *tags;
    struct error err = {0};
    uint32_t count;

    must_say(user_baselines(user, arena, &baselines, &count, &err), &err);
    err = (struct error){0};
    must_say(user_notes(user, STR(""), arena, &notes, &count, &err), &err);
    err = (struct error){0};
    must_say(user_tags(user, STR(""), arena, &tags, &count, &err), &err);
    (void)user_link(user, STR("4f2k"), arena);
    (void)user_trouble(user, arena);
}

static void write_and_read(struct user *user, struct arena *arena)
{
    const struct user_note note = {.content_id = STR("cfuzz"),
                                   .run_name = STR("a run"),
                                   .text = STR("a text"),
                                   .track = STR("")};
    struct user_note *notes;
    struct error err = {0};
    uint32_t count = 0;
    int64_t id;
    enum status status = user_put_note(user, &note, &id, &err);

    must_say(status, &err);
    if (status == OK && user_notes(user, STR("cfuzz"), arena, &notes, &count, &err) == OK &&
        count == 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct user *user;

    put_file(data, size);
    user_open(directory, &user);
    read_all(user, arena);
    write_and_read(user, arena);
    user_close(user);
    unlink(path);
    unlink(journal);
    rmdir(directory);
    arena_destroy(arena);
    return 0;
}
