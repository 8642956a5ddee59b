/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a bundle of a stranger, or as its manifest, or as what people said in it. The first
 * byte chooses. What a bundle holds is taken as far as it is sound. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "any/place_any.h"
#include "index/index_bundle.h"

enum { MEMBERS_MAX = 4 };

static void must_say(enum status status, const struct error *err)
{
    if (status != OK && err->message[0] == '\0')
        abort();
}

static void read_said(struct str text, struct arena *arena)
{
    struct bundle_said said;
    struct error err = {0};
    struct str again;

    if (bundle_said_read(text, arena, &said, &err) != OK) {
        must_say(ERR_FORMAT, &err);
        return;
    }
    must_say(bundle_said_write(&said, arena, &again, &err), &err);
    if (err.code == OK && bundle_said_read(again, arena, &said, &err) != OK)
        abort();
}

/* What was understood is written so that it is understood again. */
static void read_manifest(struct str text, struct arena *arena)
{
    struct bundle bundle, again;
    struct error err = {0};

    if (bundle_read(text, arena, &bundle, &err) != OK) {
        must_say(ERR_FORMAT, &err);
        return;
    }
    if (bundle_read(bundle_write(&bundle, arena), arena, &again, &err) != OK ||
        again.member_count != bundle.member_count ||
        again.segment_version != bundle.segment_version)
        abort();
    read_said(bundle.said, arena);
}

static void take_member(const struct bundle_file *file, uint32_t member)
{
    const struct bundle_member *told = &file->manifest.members[member];
    struct segment *segment;
    struct error err = {0};
    int fd;

    if (told->segment.name.count > 0) {
        enum status status =
            bundle_take_segment(file, member, place_any_path("taken.seg"), &segment, &err);

        must_say(status, &err);
        if (status == OK)
            segment_close(segment);
    }
    err = (struct error){0};
    if (told->raw.name.count > 0) {
        enum status status = bundle_take_raw(file, member, place_any(), &fd, &err);

        must_say(status, &err);
        if (status == OK)
            close(fd);
    }
}

static void read_file(struct bytes bytes, struct arena *arena)
{
    struct bundle_file file;
    struct error err = {0};

    if (bundle_open(bytes, arena, &file, &err) != OK) {
        must_say(ERR_FORMAT, &err);
        return;
    }
    must_say(bundle_check_raw(&file, &err), &err);
    for (uint32_t i = 0; i < file.manifest.member_count && i < MEMBERS_MAX; i++)
        take_member(&file, i);
    bundle_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct arena *arena = arena_create();
    struct str text = {.at = (const char *)data + 1, .count = size - 1};

    if (data[0] == 'm')
        read_manifest(text, arena);
    else if (data[0] == 's')
        read_said(text, arena);
    else
        read_file((struct bytes){data + 1, size - 1}, arena);
    arena_destroy(arena);
    return 0;
}
