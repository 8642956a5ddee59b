/* SPDX-License-Identifier: Apache-2.0 */
/* Unpacks archives of directories.
 *
 *   TAR   header 512  content, padded to 512   ...   two headers of zeros
 *         name 0-99  size 124-135  time 136-147  type 156  "ustar" 257  prefix 345-499
 *         type 'L': the next entry's name is this one's content; 'x': "27 path=...\n" says it too
 */
#include "base/pack/unpack_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

enum { BLOCK = 512, PIECE = 1 << 15, PATH_BYTES_MAX = 2048, DEPTH_MAX = 32, AGE_S = 60 };

struct tree {
    int directory_fd;
    uint64_t bytes_left;
    uint32_t entries_left;
    int fd; /* of the file that is being written; -1 */
};

static bool part_is_sound(struct str part)
{
    if (part.count == 0 || part.count > 255 || str_equal(part, STR(".")) ||
        str_equal(part, STR("..")))
        return false;
    for (size_t i = 0; i < part.count; i++)
        if ((unsigned char)part.at[i] < ' ' || part.at[i] == '\\' || part.at[i] == 0x7f)
            return false;
    return true;
}

/* "./a/b" is "a/b"; its parts in `ret`, each ended by NUL. */
static enum status cut_name(struct str name, char ret[PATH_BYTES_MAX], uint32_t *ret_depth,
                            struct error *err)
{
    struct str rest = name;
    size_t at = 0;

    *ret_depth = 0;
    while (str_starts(rest, STR("./")))
        rest = str_skip(rest, 2);
    while (rest.count > 0) {
        const char *slash = memchr(rest.at, '/', rest.count);
        struct str part = {rest.at, slash == NULL ? rest.count : (size_t)(slash - rest.at)};

        if (!part_is_sound(part) || at + part.count + 1 > PATH_BYTES_MAX || *ret_depth == DEPTH_MAX)
            return fail(err, ERR_FORMAT,
                        "the archive names a file \"%.*s\", which is outside the archive",
                        (int)(name.count < 200 ? name.count : 200), name.at);
        memcpy(ret + at, part.at, part.count);
        at += part.count;
        ret[at++] = '\0';
        ++*ret_depth;
        rest = str_skip(rest, slash == NULL ? rest.count : part.count + 1);
    }
    return OK;
}

/* The directory of the last part, made where it is missing. */
static enum status open_parent(const struct tree *tree, const char *parts, uint32_t depth,
                               int *ret_fd, const char **ret_last, struct error *err)
{
    int fd = dup(tree->directory_fd);

    for (; fd >= 0 && depth > 1; depth--, parts += strlen(parts) + 1) {
        if (mkdirat(fd, parts, 0700) != 0 && errno != EEXIST)
            break;
        int inner = openat(fd, parts, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        file_close(fd);
        fd = inner;
    }
    if (fd < 0 || depth > 1) {
        int why = errno;

        file_close(fd);
        return fail(err, ERR_IO, "%s: %s", parts, strerror(why));
    }
    *ret_fd = fd;
    *ret_last = parts;
    return OK;
}

static enum status count_entry(struct tree *tree, struct error *err)
{
    if (tree->entries_left == 0)
        return fail(err, ERR_LIMIT, "the archive holds too many files");
    tree->entries_left--;
    return OK;
}

static enum status begin_file(struct tree *tree, struct str name, struct error *err)
{
    char parts[PATH_BYTES_MAX];
    uint32_t depth;
    int parent = -1;
    const char *last = "";

    TRY(count_entry(tree, err));
    TRY(cut_name(name, parts, &depth, err));
    if (depth == 0)
        return fail(err, ERR_FORMAT, "the archive has a file without a name");
    TRY(open_parent(tree, parts, depth, &parent, &last, err));
    tree->fd = openat(parent, last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    int why = errno;

    file_close(parent);
    if (tree->fd >= 0)
        return OK;
    return why == EEXIST ? fail(err, ERR_FORMAT, "the archive names \"%s\" twice", last)
                         : fail(err, ERR_IO, "%s: %s", last, strerror(why));
}

static enum status put_file(struct tree *tree, const void *at, size_t count, uint64_t offset,
                            struct error *err)
{
    if (count > tree->bytes_left)
        return fail(err, ERR_LIMIT, "the archive unpacks to more than the limit");
    tree->bytes_left -= count;
    return file_write_all(tree->fd, at, count, offset, err);
}

/* Clocks and zones of others may be ahead of ours: what is unpacked was written before now. */
static void end_file(struct tree *tree, int64_t modified_s)
{
    int64_t latest_s = (int64_t)time(NULL) - AGE_S;
    struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_sec = latest_s}};

    if (tree->fd < 0)
        return;
    if (modified_s > 0 && modified_s < latest_s)
        times[1].tv_sec = modified_s;
    (void)!futimens(tree->fd, times); /* a time that the disk cannot hold is not kept */
    file_close(tree->fd);
    tree->fd = -1;
}

static enum status copy_entry(struct tree *tree, struct archive_file *file, struct error *err)
{
    char piece[PIECE];
    uint64_t offset = 0;
    size_t count;

    do {
        TRY(archive_file_read(file, piece, sizeof piece, &count, err));
        TRY(put_file(tree, piece, count, offset, err));
        offset += count;
    } while (count > 0);
    return OK;
}

static enum status unpack_entry(struct tree *tree, const struct archive *archive,
                                const struct archive_entry *entry, struct error *err)
{
    struct archive_file file;

    TRY(begin_file(tree, entry->name, err));
    enum status status = archive_file_open(archive, entry, &file, err);
    if (status == OK)
        status = copy_entry(tree, &file, err);
    archive_file_close(&file);
    end_file(tree, entry->modified_s);
    return status;
}

enum status unpack_zip_tree(const struct archive *archive, int directory_fd,
                            struct unpack_limits limits, struct error *err)
{
    struct tree tree = {directory_fd, limits.bytes_max, limits.entries_max, -1};

    for (uint32_t i = 0; i < archive->count; i++)
        TRY(unpack_entry(&tree, archive, &archive->entries[i], err));
    return OK;
}

struct stream { /* pieces, taken as they are wanted */
    unpack_piece *next;
    void *from;
    struct bytes piece;
};

/* At most `room` bytes of what is next; none at the end. */
static struct bytes stream_some(struct stream *stream, uint64_t room, struct error *err)
{
    if (stream->piece.count == 0)
        stream->piece = stream->next(stream->from, err);

    struct bytes some = stream->piece;

    if (some.count > room)
        some.count = (size_t)room;
    stream->piece.at += some.count;
    stream->piece.count -= some.count;
    return some;
}

/* Exactly so many; fewer only at the end. */
static size_t stream_take(struct stream *stream, void *to, size_t count, struct error *err)
{
    size_t had = 0;

    while (had < count) {
        struct bytes some = stream_some(stream, count - had, err);

        if (some.count == 0)
            break;
        memcpy((char *)to + had, some.at, some.count);
        had += some.count;
    }
    return had;
}

/* Octal digits, or of GNU, behind a byte of 0x80, a number in bytes. */
static bool number_of(const uint8_t *at, size_t count, uint64_t *ret)
{
    *ret = 0;
    if (at[0] == 0x80) {
        for (size_t i = 1; i < count; i++) {
            if (*ret >> 55 != 0)
                return false;
            *ret = *ret << 8 | at[i];
        }
        return true;
    }
    for (size_t i = 0; i < count && at[i] != '\0'; i++) {
        if (at[i] == ' ')
            continue;
        if (at[i] < '0' || at[i] > '7')
            return false;
        *ret = *ret << 3 | (uint64_t)(at[i] - '0');
    }
    return true;
}

static size_t text_count(const uint8_t *at, size_t count)
{
    const uint8_t *end = memchr(at, '\0', count);

    return end == NULL ? count : (size_t)(end - at);
}

struct tar { /* being read */
    struct stream stream;
    char name[PATH_BYTES_MAX]; /* of the next entry, where an entry before it says so */
    size_t name_count;
};

/* "27 path=plugins/profile/...\n": records of an entry that tells of the next. */
static void take_records(struct tar *tar, struct str records)
{
    while (records.count > 0) {
        size_t count = 0, digits = 0;

        for (; digits < records.count && records.at[digits] >= '0' && records.at[digits] <= '9' &&
               count < PIECE;
             digits++)
            count = count * 10 + (size_t)(records.at[digits] - '0');
        if (digits == 0 || count <= digits + 1 || count > records.count)
            return;
        struct str record = {records.at + digits + 1, count - digits - 2};

        if (str_starts(record, STR("path=")) && record.count - 5 < sizeof tar->name) {
            tar->name_count = record.count - 5;
            memcpy(tar->name, record.at + 5, tar->name_count);
        }
        records = str_skip(records, count);
    }
}

/* What an entry says of the next one; longer texts are cut, and then name nothing that is sound. */
static enum status take_about_next(struct tar *tar, bool is_long_name, uint64_t size,
                                   struct error *err)
{
    char text[PIECE];

    if (size > sizeof text)
        return fail(err, ERR_LIMIT, "the TAR archive has a name of more than %d bytes",
                    (int)sizeof text);
    if (stream_take(&tar->stream, text, (size_t)size, err) < size)
        return fail(err, ERR_TRUNCATED, "the TAR archive ends inside a name");
    if (!is_long_name) {
        take_records(tar, (struct str){text, (size_t)size});
        return OK;
    }
    tar->name_count = text_count((const uint8_t *)text, (size_t)size);
    if (tar->name_count > sizeof tar->name)
        return fail(err, ERR_LIMIT, "the TAR archive has a name of more than %d bytes",
                    (int)sizeof tar->name);
    memcpy(tar->name, text, tar->name_count);
    return OK;
}

static void take_name(struct tar *tar, const uint8_t header[BLOCK])
{
    size_t prefix = memcmp(header + 257, "ustar\0", 6) == 0 ? text_count(header + 345, 155) : 0;
    size_t name = text_count(header, 100);

    if (tar->name_count > 0)
        return;
    memcpy(tar->name, header + 345, prefix);
    if (prefix > 0)
        tar->name[prefix++] = '/';
    memcpy(tar->name + prefix, header, name);
    tar->name_count = prefix + name;
}

static enum status skip(struct stream *stream, uint64_t count, struct error *err)
{
    while (count > 0) {
        struct bytes some = stream_some(stream, count, err);

        if (some.count == 0)
            return fail(err, ERR_TRUNCATED, "the TAR archive ends inside a file");
        count -= some.count;
    }
    return OK;
}

static enum status copy_content(struct tree *tree, struct stream *stream, uint64_t size,
                                struct error *err)
{
    for (uint64_t offset = 0; offset < size;) {
        struct bytes some = stream_some(stream, size - offset, err);

        if (some.count == 0)
            return fail(err, ERR_TRUNCATED, "the TAR archive ends inside a file");
        TRY(put_file(tree, some.at, some.count, offset, err));
        offset += some.count;
    }
    return OK;
}

static enum status take_file(struct tree *tree, struct tar *tar, const uint8_t header[BLOCK],
                             uint64_t size, struct error *err)
{
    uint64_t modified_s;

    if (!number_of(header + 136, 12, &modified_s) || modified_s > INT32_MAX)
        modified_s = 0;
    enum status status = begin_file(tree, (struct str){tar->name, tar->name_count}, err);
    if (status == OK)
        status = copy_content(tree, &tar->stream, size, err);
    end_file(tree, (int64_t)modified_s);
    return status;
}

static bool is_sound(const uint8_t header[BLOCK], uint64_t *ret_size)
{
    uint64_t sum = 0, wanted;

    for (size_t i = 0; i < BLOCK; i++)
        sum += i >= 148 && i < 156 ? ' ' : header[i];
    return number_of(header + 148, 8, &wanted) && wanted == sum &&
           number_of(header + 124, 12, ret_size);
}

static enum status take_tar_entry(struct tree *tree, struct tar *tar, const uint8_t header[BLOCK],
                                  struct error *err)
{
    uint64_t size;
    char type = (char)header[156];

    if (!is_sound(header, &size))
        return fail(err, ERR_FORMAT, "the TAR archive has a damaged entry");
    uint64_t padding = (BLOCK - size % BLOCK) % BLOCK;

    if (type == 'L' || type == 'x') {
        TRY(take_about_next(tar, type == 'L', size, err));
        return skip(&tar->stream, padding, err);
    }
    take_name(tar, header);
    if (type == '0' || type == '\0' || type == '7')
        TRY(take_file(tree, tar, header, size, err));
    else
        TRY(skip(&tar->stream, size, err));
    tar->name_count = 0;
    return skip(&tar->stream, padding, err);
}

enum status unpack_tar_tree(unpack_piece *next, void *from, int directory_fd,
                            struct unpack_limits limits, struct error *err)
{
    struct tree tree = {directory_fd, limits.bytes_max, limits.entries_max, -1};
    struct tar tar = {.stream = {.next = next, .from = from}};
    uint8_t header[BLOCK];

    for (;;) {
        size_t count = stream_take(&tar.stream, header, sizeof header, err);

        if (err->code != OK)
            return err->code;
        if (count == 0 || (count == BLOCK && header[0] == '\0'))
            return OK;
        if (count < BLOCK)
            return fail(err, ERR_TRUNCATED, "the TAR archive ends inside an entry");
        TRY(take_tar_entry(&tree, &tar, header, err));
    }
}
