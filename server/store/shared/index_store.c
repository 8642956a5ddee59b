/* SPDX-License-Identifier: Apache-2.0 */
/* Which files an index store has, and what they mean; where they lie is index_store_parts.h's. */
#include "store/shared/index_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "remote/remote.h"
#include "store/segment.h"
#include "store/shared/index_store_parts.h"
#include "trace/attribution.h"
#include "trace/kind.h"

enum { NAME_SIZE = 256, PIECE_BYTES = 1 << 20, KNOWN_BYTES_MAX = 8 << 20 };
#define PAUSE_NS (60 * INT64_C(1000000000))

struct index_store {
    const struct stored_way *way;
    struct stored_at *at;
    char *place, version[64];
    _Atomic int64_t silent_until_ns; /* of a bucket */
};

enum status index_store_open(const char *place, struct index_store **ret, struct error *err)
{
    const struct stored_way *way =
        remote_is_place(str_of(place)) ? &stored_in_bucket : &stored_in_dir;
    struct stored_at *at;

    TRY(way->open(place, &at, err));
    struct index_store *store = memory_zeroed(1, sizeof *store);
    store->way = way;
    store->at = at;
    store->place = strdup(place);
    snprintf(store->version, sizeof store->version, "%d.%d.%d", SEGMENT_VERSION, KIND_RULES_VERSION,
             ATTRIBUTION_VERSION);
    *ret = store;
    return OK;
}

void index_store_close(struct index_store *store)
{
    if (store == NULL)
        return;
    store->way->close(store->at);
    free(store->place);
    free(store);
}

void index_store_cancel(struct index_store *store)
{
    if (store != NULL && store->way->cancel != NULL)
        store->way->cancel(store->at);
}

const char *index_store_place(const struct index_store *store)
{
    return store->place;
}

/* A bucket that refuses, or that nobody answers for, refuses the next run as well. */
static enum status judged(const struct index_store *store, enum status status)
{
    struct index_store *open = (struct index_store *)(uintptr_t)store;

    if (store->way == &stored_in_bucket && (status == ERR_IO || status == ERR_PERMISSION))
        atomic_store(&open->silent_until_ns, clock_monotonic_ns() + PAUSE_NS);
    return status;
}

static enum status check_answers(const struct index_store *store, struct error *err)
{
    if (clock_monotonic_ns() >= atomic_load(&store->silent_until_ns))
        return OK;
    return fail(err, ERR_NOT_READY, "%s has just failed", store->place);
}

static void stem_of(const struct index_store *store, const char content[33], char ret[NAME_SIZE])
{
    snprintf(ret, NAME_SIZE, "%s/%.2s/%s.", store->version, content, content);
}

static struct str name_of(const struct index_store *store, const char content[33], struct str sum,
                          const char *suffix, char ret[NAME_SIZE])
{
    char stem[NAME_SIZE];

    stem_of(store, content, stem);
    snprintf(ret, NAME_SIZE, "%.100s%.*s%s", stem, STR_ARG(sum), suffix);
    return str_of(ret);
}

struct found { /* files of one content */
    struct arena *arena;
    struct stored_file *files;
    uint32_t count, capacity;
};

static bool take_file(void *data, const struct stored_file *file)
{
    struct found *found = data;

    if (found->count == found->capacity) {
        struct stored_file *more;

        found->capacity = 2 * found->capacity + 8;
        more = arena_array(found->arena, struct stored_file, found->capacity);
        if (found->count > 0)
            memcpy(more, found->files, found->count * sizeof *more);
        found->files = more;
    }
    found->files[found->count++] = (struct stored_file){
        str_copy(found->arena, file->name), file->bytes, str_copy(found->arena, file->version)};
    return true;
}

static enum status find(const struct index_store *store, struct str beginning, struct arena *arena,
                        struct found *ret, struct error *err)
{
    *ret = (struct found){.arena = arena};
    TRY(check_answers(store, err));
    return judged(store, store->way->each(store->at, beginning, take_file, ret, err));
}

static const struct stored_file *file_of(const struct found *found, struct str name)
{
    for (uint32_t i = 0; i < found->count; i++) {
        if (str_equal(found->files[i].name, name))
            return &found->files[i];
    }
    return NULL;
}

static enum status find_content(const struct index_store *store, const char content[33],
                                struct arena *arena, struct found *ret, struct error *err)
{
    char stem[NAME_SIZE];

    stem_of(store, content, stem);
    return find(store, str_of(stem), arena, ret, err);
}

bool index_store_has(const struct index_store *store, const char content[33])
{
    struct arena *arena = arena_create();
    struct error ignored = {0};
    struct found found;
    char name[NAME_SIZE];
    bool ret = content[0] != '\0' && find_content(store, content, arena, &found, &ignored) == OK &&
               file_of(&found, name_of(store, content, STR(""), "known", name)) != NULL;

    arena_destroy(arena);
    return ret;
}

static bool is_hash(struct str text)
{
    if (text.count < 32)
        return false;
    for (size_t i = 0; i < 32; i++) {
        if (strchr("0123456789abcdef", text.at[i]) == NULL || text.at[i] == '\0')
            return false;
    }
    return true;
}

/* "seen/ab/KEY.CONTENT" */
static void seen_stem(const char key[33], char ret[NAME_SIZE])
{
    snprintf(ret, NAME_SIZE, "seen/%.2s/%s.", key, key);
}

bool index_store_seen(const struct index_store *store, const char key[33], char ret_content[33])
{
    struct arena *arena = arena_create();
    struct error ignored = {0};
    struct found found;
    char stem[NAME_SIZE];

    ret_content[0] = '\0';
    seen_stem(key, stem);
    if (find(store, str_of(stem), arena, &found, &ignored) == OK) {
        for (uint32_t i = 0; i < found.count; i++) {
            struct str content = str_skip(found.files[i].name, strlen(stem));

            if (content.count == 32 && is_hash(content))
                snprintf(ret_content, 33, "%.32s", content.at);
        }
    }
    arena_destroy(arena);
    return ret_content[0] != '\0';
}

/* Small bytes on their way through a descriptor, as all files go. */
static int memory_file(struct str text)
{
    int fd = memfd_create("jviewd", MFD_CLOEXEC);
    struct error ignored = {0};

    if (fd >= 0 && text.count > 0 && file_write_all(fd, text.at, text.count, 0, &ignored) != OK) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static enum status put_text(const struct index_store *store, struct str name, struct str text,
                            struct error *err)
{
    int fd = memory_file(text);

    if (fd < 0)
        return fail(err, ERR_IO, "there is no memory for %.*s", STR_ARG(name));
    enum status status = judged(store, store->way->put(store->at, name, fd, text.count, err));

    close(fd);
    return status;
}

enum status index_store_see(const struct index_store *store, const char key[33],
                            const char content[33], struct error *err)
{
    char stem[NAME_SIZE], name[NAME_SIZE + 64], text[64];

    TRY(check_answers(store, err));
    seen_stem(key, stem);
    snprintf(name, sizeof name, "%s%s", stem, content);
    snprintf(text, sizeof text, "%s\n", content);
    return put_text(store, str_of(name), str_of(text), err);
}

static enum status sum_file(int fd, char ret[33], uint64_t *ret_bytes)
{
    uint8_t *piece = memory_resize(NULL, PIECE_BYTES, 1);
    struct hasher *hasher = hasher_create();
    ssize_t count;

    *ret_bytes = 0;
    while ((count = pread(fd, piece, PIECE_BYTES, (off_t)*ret_bytes)) > 0) {
        hasher_put(hasher, (struct bytes){piece, (size_t)count});
        *ret_bytes += (uint64_t)count;
    }
    hash128_hex(hasher_end(hasher), ret);
    free(piece);
    return count == 0 ? OK : ERR_IO;
}

static enum status damaged(const struct index_store *store, struct str name, struct error *err)
{
    return fail(err, ERR_FORMAT, "%s/%.*s is damaged", store->place, STR_ARG(name));
}

/* Four lines: the sum of what follows, the sums of both files, what indexing told. */
static enum status parse_known(const struct index_store *store, struct str name, struct str text,
                               struct str ret[3], struct error *err)
{
    char sum[33];

    if (text.count < 33)
        return damaged(store, name, err);
    struct str left = str_skip(text, 33);
    hash128_hex(hash128((struct bytes){(const uint8_t *)left.at, left.count}), sum);
    if (memcmp(text.at, sum, 32) != 0)
        return damaged(store, name, err);
    for (int i = 0; i < 3; i++) {
        const char *end = left.count == 0 ? NULL : memchr(left.at, '\n', left.count);

        if (end == NULL || (i < 2 && end - left.at != 32))
            return damaged(store, name, err);
        ret[i] = (struct str){left.at, (size_t)(end - left.at)};
        left = str_skip(left, ret[i].count + 1);
    }
    return OK;
}

static enum status read_known(const struct index_store *store, const struct stored_file *file,
                              struct arena *arena, struct str ret[3], struct error *err)
{
    int fd = memory_file(STR(""));

    if (fd < 0 || file->bytes > KNOWN_BYTES_MAX) {
        file_close(fd);
        return damaged(store, file->name, err);
    }
    char *text = arena_alloc(arena, file->bytes + 1, 1);
    enum status status = judged(store, store->way->fetch(store->at, file, fd, err));
    if (status == OK && pread(fd, text, file->bytes, 0) != (ssize_t)file->bytes)
        status = damaged(store, file->name, err);
    text[file->bytes] = '\0';
    close(fd);
    return status == OK ? parse_known(store, file->name, (struct str){text, file->bytes}, ret, err)
                        : status;
}

/* Into a new file of the cache; what does not fit its sum is not the file. */
static enum status copy_out(const struct index_store *store, const struct found *found,
                            struct str name, struct str sum, const char *to, struct error *err)
{
    const struct stored_file *file = file_of(found, name);
    uint64_t bytes;
    char is[33];

    if (file == NULL)
        return fail(err, ERR_FORMAT, "%s/%.*s is missing", store->place, STR_ARG(name));
    int fd = open(to, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail(err, ERR_IO, "%s cannot be made: %s", to, strerror(errno));
    enum status status = judged(store, store->way->fetch(store->at, file, fd, err));
    if (status == OK && (sum_file(fd, is, &bytes) != OK || !str_equal(sum, str_of(is))))
        status = fail(err, ERR_FORMAT, "%s/%.*s does not match its checksum", store->place,
                      STR_ARG(name));
    close(fd);
    return status;
}

enum status index_store_get(const struct index_store *store, const char content[33],
                            const char *segment_path, const char *attribution_path,
                            struct arena *arena, struct str *ret_known, struct error *err)
{
    char name[NAME_SIZE];
    struct found found;
    struct str known[3];
    struct segment *segment;

    TRY(find_content(store, content, arena, &found, err));
    const struct stored_file *file =
        file_of(&found, name_of(store, content, STR(""), "known", name));
    if (file == NULL)
        return fail(err, ERR_NOT_FOUND, "%s has no index of %s", store->place, content);
    TRY(read_known(store, file, arena, known, err));
    TRY(copy_out(store, &found, name_of(store, content, known[0], ".seg", name), known[0],
                 segment_path, err));
    TRY(copy_out(store, &found, name_of(store, content, known[1], ".attr", name), known[1],
                 attribution_path, err));
    TRY(segment_open(segment_path, &segment, err));
    bool fits = strcmp(segment_kept_as(segment), content) == 0;
    segment_close(segment);
    if (!fits)
        return fail(err, ERR_FORMAT, "the index of %s in %s belongs to another content", content,
                    store->place);
    *ret_known = known[2];
    return OK;
}

static enum status copy_in(const struct index_store *store, const char content[33],
                           const char *suffix, const char *from, char ret_sum[33],
                           struct error *err)
{
    char name[NAME_SIZE];
    uint64_t bytes;
    int fd = open(from, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || sum_file(fd, ret_sum, &bytes) != OK) {
        file_close(fd);
        return fail(err, ERR_IO, "%s cannot be read", from);
    }
    enum status status = judged(
        store, store->way->put(store->at, name_of(store, content, str_of(ret_sum), suffix, name),
                               fd, bytes, err));
    close(fd);
    return status;
}

enum status index_store_put(const struct index_store *store, const char content[33],
                            const char *segment_path, const char *attribution_path,
                            struct str known, struct error *err)
{
    char name[NAME_SIZE], sums[2][33], sum[33];
    struct text text = {0}, rest = {0};

    if (memchr(known.at, '\n', known.count) != NULL || index_store_has(store, content))
        return OK;
    TRY(check_answers(store, err));
    TRY(copy_in(store, content, ".seg", segment_path, sums[0], err));
    TRY(copy_in(store, content, ".attr", attribution_path, sums[1], err));
    text_putf(&rest, "%s\n%s\n%.*s\n", sums[0], sums[1], STR_ARG(known));
    hash128_hex(hash128((struct bytes){(const uint8_t *)rest.at, rest.count}), sum);
    text_putf(&text, "%s\n%s", sum, rest.at);
    text_free(&rest);
    enum status status =
        put_text(store, name_of(store, content, STR(""), "known", name), text_str(&text), err);
    text_free(&text);
    return status;
}

struct listing {
    const struct index_store *store;
    struct arena *arena;
    struct index_stored *items;
    uint32_t count, capacity;
};

static struct index_stored *stored_of(struct listing *listing, struct str path)
{
    for (uint32_t i = listing->count; i-- > 0 && listing->count - i <= 4096;) {
        if (str_equal(str_of(listing->items[i].path), path))
            return &listing->items[i];
    }
    if (listing->count == listing->capacity) {
        struct index_stored *more;

        listing->capacity = listing->capacity * 2 + 64;
        more = arena_array(listing->arena, struct index_stored, listing->capacity);
        if (listing->count > 0)
            memcpy(more, listing->items, listing->count * sizeof *more);
        listing->items = more;
    }
    struct index_stored *ret = &listing->items[listing->count++];
    *ret = (struct index_stored){0};
    snprintf(ret->path, sizeof ret->path, "%.*s", STR_ARG(path));
    return ret;
}

static bool list_file(void *data, const struct stored_file *file)
{
    struct listing *listing = data;
    struct str base = path_base(file->name);
    struct str stem = {file->name.at, file->name.count - base.count + 32};
    bool is_note = str_starts(file->name, STR("seen/"));
    bool is_index = file->name.at[0] >= '0' && file->name.at[0] <= '9';

    if (!is_hash(base) || file->name.count >= sizeof listing->items->path ||
        (is_note ? base.count != 65 || !is_hash(str_skip(base, 33)) : !is_index))
        return true;
    struct index_stored *stored = stored_of(listing, is_note ? file->name : stem);
    struct str own = str_of(listing->store->version);

    snprintf(stored->content, sizeof stored->content, "%.32s", is_note ? base.at + 33 : base.at);
    stored->is_note = is_note;
    stored->is_old = !is_note && !(str_starts(stem, own) && stem.at[own.count] == '/');
    stored->bytes += file->bytes;
    stored->is_whole |= str_equal(str_skip(base, 32), STR(".known"));
    return true;
}

enum status index_store_list(const struct index_store *store, struct arena *arena,
                             struct index_stored **ret, uint32_t *ret_count, struct error *err)
{
    struct listing listing = {.store = store, .arena = arena};

    TRY(store->way->each(store->at, STR(""), list_file, &listing, err));
    *ret = listing.items;
    *ret_count = listing.count;
    return OK;
}

/* What says that they are there goes first. */
enum status index_store_remove(const struct index_store *store, const struct index_stored *stored,
                               struct error *err)
{
    struct arena *arena = arena_create();
    struct found found = {.arena = arena};
    enum status status = store->way->each(store->at, str_of(stored->path), take_file, &found, err);

    for (unsigned turn = 0; turn < 2; turn++) {
        for (uint32_t i = 0; status == OK && i < found.count; i++) {
            if (str_ends(found.files[i].name, STR(".known")) == (turn == 0))
                status = store->way->remove(store->at, &found.files[i], err);
        }
    }
    arena_destroy(arena);
    return status;
}
