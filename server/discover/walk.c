/* SPDX-License-Identifier: Apache-2.0 */
/* The walk: directories are read one at a time, names first, so that only files whose names matter
 * cost a stat. What matters depends on the directory: everything in a named session, promising
 * names elsewhere.
 *
 *   pending   directories still to be read, as paths below the root (a stack)
 *   open      the directory that was read last at each depth: what lies in it is opened from there
 *   entered   (device, inode) of directories, only while links are followed: ends loops
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/shell.h"
#include "discover/hint.h"
#include "discover/scan.h"
#include "discover/session.h"
#include "discover/spool.h"

enum { DEPTH_MAX = 12, ENTRIES_MAX = 1000000, NOTES_MAX = 1000, READ_BYTES = 32768 };

struct place {       /* a directory still to be read */
    struct str path; /* ended by NUL */
    unsigned depth;
    bool is_far; /* reached by a link: not read right after the directory it lies in */
};

struct identity {
    uint64_t device, inode;
};

struct walk {
    struct scan_options options;
    struct arena *arena;
    int root_fd;
    int *open; /* by depth; -1: none */
    struct scan *scan;
    uint32_t file_capacity, note_capacity;
    struct place *pending, *links; /* links to directories wait for all that is no link */
    size_t pending_count, pending_capacity, link_count, link_capacity;
    struct identity *entered;
    size_t entered_count, entered_capacity;
    struct text names; /* of the directory being read, each ended by NUL */
    char *entries;     /* READ_BYTES: as the kernel gives them */
};

/* Doubles an array that belongs to the arena. */
static void *grown(struct arena *arena, void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    size_t more = *capacity == 0 ? 64 : *capacity * 2;
    void *larger = arena_alloc(arena, more, size);

    if (count > 0)
        memcpy(larger, items, count * size);
    *capacity = more;
    return larger;
}

static void add_note(struct walk *walk, struct str path, const char *reason)
{
    struct scan *scan = walk->scan;

    if (scan->note_count == NOTES_MAX)
        return;
    size_t capacity = walk->note_capacity;

    scan->notes = grown(walk->arena, scan->notes, scan->note_count, &capacity, sizeof *scan->notes);
    walk->note_capacity = (uint32_t)capacity;
    scan->notes[scan->note_count++] = (struct scan_note){
        .path = path.count > 0 ? path : STR("."),
        .reason = str_format(walk->arena, "%s", reason),
    };
}

static void add_pending(struct walk *walk, struct place place)
{
    if (place.depth > walk->options.depth_max) {
        add_note(walk, place.path, "too deep below the root, not scanned");
        return;
    }
    walk->pending = grown(walk->arena, walk->pending, walk->pending_count, &walk->pending_capacity,
                          sizeof *walk->pending);
    walk->pending[walk->pending_count++] = place;
}

static void add_link(struct walk *walk, struct place place)
{
    walk->links = grown(walk->arena, walk->links, walk->link_count, &walk->link_capacity,
                        sizeof *walk->links);
    place.is_far = true;
    walk->links[walk->link_count++] = place;
}

static int last_first(const void *a, const void *b)
{
    return str_compare(((const struct place *)b)->path, ((const struct place *)a)->path);
}

/* The next directory; of one that has several names the real one counts, then the first by name. */
static bool next_place(struct walk *walk, struct place *ret)
{
    if (walk->pending_count == 0 && walk->link_count > 0) {
        qsort(walk->links, walk->link_count, sizeof *walk->links, last_first);
        for (size_t i = 0; i < walk->link_count; i++)
            add_pending(walk, walk->links[i]);
        walk->link_count = 0;
    }
    if (walk->pending_count == 0)
        return false;
    *ret = walk->pending[--walk->pending_count];
    return true;
}

static void add_file(struct walk *walk, struct str path, const struct stat *stat)
{
    struct scan *scan = walk->scan;
    size_t capacity = walk->file_capacity;

    scan->files = grown(walk->arena, scan->files, scan->file_count, &capacity, sizeof *scan->files);
    walk->file_capacity = (uint32_t)capacity;
    scan->files[scan->file_count++] = (struct scan_file){
        .path = path,
        .bytes = (uint64_t)stat->st_size,
        .device = stat->st_dev,
        .inode = stat->st_ino,
        .modified_ns = stat->st_mtim.tv_sec * 1000000000LL + stat->st_mtim.tv_nsec,
        .changed_ns = stat->st_ctim.tv_sec * 1000000000LL + stat->st_ctim.tv_nsec,
    };
}

static struct str join(struct walk *walk, struct str path, struct str name)
{
    size_t above = path.count > 0 ? path.count + 1 : 0;
    char *whole = arena_alloc(walk->arena, above + name.count + 1, 1);

    if (above > 0) {
        memcpy(whole, path.at, path.count);
        whole[path.count] = '/';
    }
    memcpy(whole + above, name.at, name.count);
    return (struct str){.at = whole, .count = above + name.count};
}

static struct place below(struct walk *walk, const struct place *place, struct str name)
{
    return (struct place){.path = join(walk, place->path, name), .depth = place->depth + 1};
}

static size_t entered_slot(const struct identity *entered, size_t capacity, struct identity who)
{
    size_t slot = (size_t)((who.inode * 0x9e3779b97f4a7c15U) ^ who.device) & (capacity - 1);

    while (entered[slot].inode != 0 &&
           (entered[slot].inode != who.inode || entered[slot].device != who.device))
        slot = (slot + 1) & (capacity - 1);
    return slot;
}

static void grow_entered(struct walk *walk)
{
    size_t capacity = walk->entered_capacity == 0 ? 256 : walk->entered_capacity * 2;
    struct identity *larger = arena_array(walk->arena, struct identity, capacity);

    for (size_t i = 0; i < walk->entered_capacity; i++)
        if (walk->entered[i].inode != 0)
            larger[entered_slot(larger, capacity, walk->entered[i])] = walk->entered[i];
    walk->entered = larger;
    walk->entered_capacity = capacity;
}

/* False when the directory was entered before; only links can lead there twice. */
static bool enter(struct walk *walk, int directory)
{
    struct stat stat;

    if (!walk->options.follow_symlinks)
        return true;
    if (fstat(directory, &stat) != 0)
        return false;
    struct identity who = {.device = stat.st_dev, .inode = stat.st_ino};

    if (walk->entered_count * 2 >= walk->entered_capacity)
        grow_entered(walk);
    size_t slot = entered_slot(walk->entered, walk->entered_capacity, who);

    if (walk->entered[slot].inode != 0)
        return false;
    walk->entered[slot] = who;
    walk->entered_count++;
    return true;
}

/* Stats what the name stands for; false when it is to be left alone. */
static bool look(struct walk *walk, int directory, struct str place, const char *name, bool wanted,
                 struct stat *ret, bool *ret_is_link)
{
    struct scan *scan = walk->scan;

    if (fstatat(directory, name, ret, AT_SYMLINK_NOFOLLOW) != 0)
        return false; /* gone meanwhile */
    *ret_is_link = S_ISLNK(ret->st_mode);
    if (!*ret_is_link)
        return true;
    if (walk->options.follow_symlinks) {
        bool found = fstatat(directory, name, ret, 0) == 0;

        if (!found && (wanted || errno != ENOENT))
            add_note(walk, join(walk, place, str_of(name)),
                     errno == ENOENT ? "a broken symbolic link" : strerror(errno));
        return found;
    }
    if (scan->links_left == 0)
        scan->first_link = join(walk, place, str_of(name));
    scan->links_left++;
    return false;
}

/* A file whose name promises nothing. */
static void pass(struct walk *walk, struct str name)
{
    walk->scan->passed++;
    walk->scan->event_files += str_contains(name, STR(".tfevents."));
}

/* A recording that was killed is no run before it is finalised. */
static void tell_spools(struct walk *walk, int directory, struct str place)
{
    struct str out = place.count == 0 ? walk->scan->root
                                      : str_format(walk->arena, "%.*s/%.*s",
                                                   STR_ARG(walk->scan->root), STR_ARG(place));

    if (spools_are_left(directory))
        add_note(walk, join(walk, place, STR(SPOOL_DIRECTORY)),
                 str_format(walk->arena,
                            "a recording whose jview-collect was killed; this makes it a run: "
                            "`jview-collect finalize %.*s`",
                            STR_ARG(shell_word(walk->arena, out)))
                     .at);
}

static void look_at_name(struct walk *walk, int directory, const struct place *place, char type,
                         const char *name, bool in_session)
{
    struct str text = str_of(name);

    walk->scan->may_say |= str_equal(text, STR("jview.json"));
    bool may_be_directory = type == DT_DIR || type == DT_UNKNOWN || type == DT_LNK;
    bool wanted = in_session ? name[0] != '.' : hint_of(text).kind != HINT_NONE;
    struct stat stat;

    if (type != DT_REG && str_equal(text, STR(SPOOL_DIRECTORY)))
        tell_spools(walk, directory, place->path);
    if (type == DT_DIR) {
        if (!hint_skips_directory(text))
            add_pending(walk, below(walk, place, text));
        return;
    }
    if (!wanted && !may_be_directory) {
        if (type == DT_REG)
            pass(walk, text);
        return;
    }
    if (type == DT_LNK && !wanted && hint_skips_directory(text))
        return; /* an editor's lock: wherever it leads */
    bool is_link = false;
    if (!look(walk, directory, place->path, name, wanted, &stat, &is_link))
        return;
    if (S_ISDIR(stat.st_mode) && !hint_skips_directory(text))
        (is_link ? add_link : add_pending)(walk, below(walk, place, text));
    else if (S_ISREG(stat.st_mode) && wanted)
        add_file(walk, join(walk, place->path, text), &stat);
    else if (wanted && !S_ISDIR(stat.st_mode))
        add_note(walk, join(walk, place->path, text),
                 "a pipe, a socket or a device, not a file: it is not opened");
    else if (S_ISREG(stat.st_mode))
        pass(walk, text);
}

/* False where the scan ends: it has looked at as many names as it may. */
static bool add_name(struct walk *walk, struct str path, const struct dirent64 *entry)
{
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
        return true;
    if (++walk->scan->entries > walk->options.entries_max) {
        add_note(walk, path, "too many files below the root: the scan stops here");
        walk->scan->may_say = true;
        return false;
    }
    text_put(&walk->names, (const char *)&entry->d_type, 1);
    text_put(&walk->names, entry->d_name, strlen(entry->d_name) + 1);
    return true;
}

/* The names of one directory into walk->names: a byte of type, the name, NUL. Asks the kernel
 * itself: a DIR costs two more calls and 32 KiB for each directory. */
static void read_names(struct walk *walk, struct str path, int directory)
{
    bool goes_on = true;
    ssize_t count;

    walk->names.count = 0;
    while (goes_on && (count = getdents64(directory, walk->entries, READ_BYTES)) > 0) {
        for (ssize_t at = 0; goes_on && at < count;) {
            const struct dirent64 *entry = (const void *)(walk->entries + at);

            goes_on = add_name(walk, path, entry);
            at += entry->d_reclen;
        }
    }
    if (goes_on && count < 0 && errno != ENOENT)
        add_note(walk, path, strerror(errno));
}

/* From the directory it lies in where that was the last to be read above it. */
static int open_place(const struct walk *walk, const struct place *place)
{
    int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK |
                (walk->options.follow_symlinks ? 0 : O_NOFOLLOW);

    if (place->depth == 0)
        return openat(walk->root_fd, ".", flags);
    if (place->is_far)
        return openat(walk->root_fd, place->path.at, flags);
    return openat(walk->open[place->depth - 1], path_base(place->path).at, flags);
}

static void keep_open(struct walk *walk, unsigned depth, int fd)
{
    file_close(walk->open[depth]);
    walk->open[depth] = fd;
}

static void read_place(struct walk *walk, struct place place)
{
    int fd = open_place(walk, &place);

    if (fd < 0) {
        if (errno != ENOENT) /* gone meanwhile is no news */
            add_note(walk, place.path, strerror(errno));
        return;
    }
    keep_open(walk, place.depth, fd);
    if (!enter(walk, fd))
        return;
    walk->scan->directories++;
    bool in_session = session_is_named(walk->scan->root, place.path);

    read_names(walk, place.path, fd);
    for (size_t at = 0; at < walk->names.count;) {
        const char *name = walk->names.at + at + 1;

        look_at_name(walk, fd, &place, walk->names.at[at], name, in_session);
        at += strlen(name) + 2;
    }
}

static int by_path(const void *a, const void *b)
{
    return str_compare(((const struct scan_file *)a)->path, ((const struct scan_file *)b)->path);
}

static enum status walk_all(struct walk *walk, struct error *err)
{
    walk->entries = arena_alloc(walk->arena, READ_BYTES, 1);
    walk->open = arena_array(walk->arena, int, walk->options.depth_max + 1);
    for (unsigned depth = 0; depth <= walk->options.depth_max; depth++)
        walk->open[depth] = -1;
    add_pending(walk, (struct place){.path = STR("")});
    for (struct place place; next_place(walk, &place);) {
        if (walk->options.cancelled != NULL && walk->options.cancelled(walk->options.data))
            return fail(err, ERR_CANCELLED, "the scan was stopped");
        if (walk->scan->entries > walk->options.entries_max)
            break;
        read_place(walk, place);
    }
    if (walk->scan->file_count > 1)
        qsort(walk->scan->files, walk->scan->file_count, sizeof *walk->scan->files, by_path);
    return OK;
}

/* A single file: its directory is the root, and nothing else in there is looked at. */
static enum status take_file(struct walk *walk, char *real, const struct stat *stat)
{
    char *slash = strrchr(real, '/');
    struct str name = str_copy(walk->arena, str_of(slash + 1));

    walk->scan->root = str_copy(
        walk->arena, (struct str){.at = real, .count = slash == real ? 1 : (size_t)(slash - real)});
    walk->scan->entries = 1;
    add_file(walk, name, stat);
    return OK;
}

static enum status open_root(struct walk *walk, const char *root, struct error *err)
{
    struct stat stat;
    char *real = realpath(root, NULL);
    enum status status = OK;

    if (real == NULL || lstat(real, &stat) != 0) {
        status = errno == EACCES ? ERR_PERMISSION : errno == ENOENT ? ERR_NOT_FOUND : ERR_IO;
        fail(err, status, "%s: %s", root, strerror(errno));
    } else if (S_ISREG(stat.st_mode)) {
        take_file(walk, real, &stat);
    } else if (!S_ISDIR(stat.st_mode)) {
        status = fail(err, ERR_INVALID, "%s is neither a directory nor a regular file", root);
    } else {
        walk->scan->root = str_copy(walk->arena, str_of(real));
        walk->root_fd = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (walk->root_fd < 0)
            status = fail(err, errno == EACCES ? ERR_PERMISSION : ERR_IO, "%s: %s", root,
                          strerror(errno));
    }
    free(real);
    return status;
}

enum status scan_walk(const char *root, const struct scan_options *options, struct arena *arena,
                      struct scan *ret, struct error *err)
{
    struct walk walk = {.options = *options, .arena = arena, .root_fd = -1, .scan = ret};

    memset(ret, 0, sizeof *ret);
    if (walk.options.depth_max == 0)
        walk.options.depth_max = DEPTH_MAX;
    if (walk.options.entries_max == 0)
        walk.options.entries_max = ENTRIES_MAX;
    TRY(open_root(&walk, root, err));
    if (walk.root_fd < 0)
        return OK; /* one file */
    enum status status = walk_all(&walk, err);

    for (unsigned depth = 0; depth <= walk.options.depth_max; depth++)
        file_close(walk.open[depth]);
    text_free(&walk.names);
    file_close(walk.root_fd);
    return status;
}
