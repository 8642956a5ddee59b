/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an archive of a directory, ZIP or TAR: what is unpacked lies below its place, within
 * the limits, and is files and directories alone. */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "any/place_any.h"
#include "base/pack/unpack_tree.h"

enum { BYTES_MAX = 1 << 20, ENTRIES_MAX = 64, PIECE_BYTES = 700, DEPTH_MAX = 32, NAMES_MAX = 4096 };

static struct seen {
    uint64_t bytes;
    uint32_t files, others;
} seen;

static int see(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)path;
    (void)type;
    (void)at;
    if (S_ISREG(info->st_mode)) {
        seen.files++;
        seen.bytes += (uint64_t)info->st_size;
    } else if (!S_ISDIR(info->st_mode)) {
        seen.others++;
    }
    return 0;
}

static struct bytes next_piece(void *from, struct error *err)
{
    struct bytes *rest = from, piece = *rest;

    (void)err;
    if (piece.count > PIECE_BYTES)
        piece.count = PIECE_BYTES;
    *rest = (struct bytes){.at = rest->at + piece.count, .count = rest->count - piece.count};
    return piece;
}

static enum status unpack(struct bytes bytes, int directory, struct error *err)
{
    const struct unpack_limits limits = {.bytes_max = BYTES_MAX, .entries_max = ENTRIES_MAX};
    struct arena *arena = arena_create();
    struct archive archive;
    enum status status;

    if (!archive_is(bytes)) {
        status = unpack_tar_tree(next_piece, &bytes, directory, limits, err);
    } else if ((status = archive_open(bytes, arena, &archive, err)) == OK) {
        status = unpack_zip_tree(&archive, directory, limits, err);
        archive_close(&archive);
    }
    arena_destroy(arena);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char tree[4096];
    struct error err = {0};

    snprintf(tree, sizeof tree, "%s/tree", place_any());
    if (mkdir(tree, 0700) != 0)
        abort();
    int directory = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum status status = unpack((struct bytes){data, size}, directory, &err);

    close(directory);
    seen = (struct seen){0};
    nftw(place_any(), see, DEPTH_MAX, FTW_PHYS);
    if ((status != OK && err.message[0] == '\0') || seen.others > 0 || seen.files > ENTRIES_MAX ||
        seen.bytes > BYTES_MAX)
        abort();
    place_any_remove(tree);
    if (rmdir(place_any()) != 0 || mkdir(place_any(), 0700) != 0) /* nothing lies beside it */
        abort();
    return 0;
}
