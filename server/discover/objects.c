/* SPDX-License-Identifier: Apache-2.0 */
/* The walk of what is no tree: a bucket lists paths in their order, and directories are what their
 * slashes say. The same names matter as in walk.c. */
#include <stdlib.h>

#include "discover/hint.h"
#include "discover/scan.h"
#include "discover/session.h"

enum { DEPTH_MAX = 12, ENTRIES_MAX = 1000000, NOTES_MAX = 1000 };

struct scan_objects {
    struct scan_options options;
    struct arena *arena;
    struct scan *scan;
    uint32_t file_capacity, note_capacity;
    struct str directory; /* of the file before */
    bool is_skipped, in_session, took;
};

/* Doubles an array that belongs to the arena. */
static void *grown(struct arena *arena, void *items, uint32_t count, uint32_t *capacity,
                   size_t size)
{
    if (count < *capacity)
        return items;
    uint32_t more = *capacity == 0 ? 64 : *capacity * 2;
    void *larger = arena_alloc(arena, more, size);

    if (count > 0)
        memcpy(larger, items, count * size);
    *capacity = more;
    return larger;
}

static void add_note(struct scan_objects *objects, struct str path, const char *reason)
{
    struct scan *scan = objects->scan;

    if (scan->note_count == NOTES_MAX)
        return;
    scan->notes = grown(objects->arena, scan->notes, scan->note_count, &objects->note_capacity,
                        sizeof *scan->notes);
    scan->notes[scan->note_count++] =
        (struct scan_note){.path = str_copy(objects->arena, path), .reason = str_of(reason)};
}

struct scan_objects *scan_objects_begin(struct str root, const struct scan_options *options,
                                        struct arena *arena, struct scan *ret)
{
    struct scan_objects *objects = arena_new(arena, struct scan_objects);

    *ret = (struct scan){.root = root};
    *objects = (struct scan_objects){.options = *options,
                                     .arena = arena,
                                     .scan = ret,
                                     .directory = STR("/")}; /* no directory's name */
    if (objects->options.depth_max == 0)
        objects->options.depth_max = DEPTH_MAX;
    if (objects->options.entries_max == 0)
        objects->options.entries_max = ENTRIES_MAX;
    return objects;
}

/* "a/b" has two parts; false: one of them is none of a path. */
static bool count_parts(struct str path, unsigned *ret)
{
    *ret = 0;
    for (struct str rest = path;; rest = str_skip(rest, 1)) {
        size_t count = 0;

        while (count < rest.count && rest.at[count] != '/')
            count++;
        struct str part = {rest.at, count};

        if (part.count == 0 || str_equal(part, STR(".")) || str_equal(part, STR("..")) ||
            memchr(part.at, '\0', part.count) != NULL)
            return false;
        (*ret)++;
        rest = str_skip(rest, count);
        if (rest.count == 0)
            return true;
    }
}

static bool has_skipped_part(struct str directory)
{
    while (directory.count > 0) {
        const char *slash = memchr(directory.at, '/', directory.count);
        size_t count = slash == NULL ? directory.count : (size_t)(slash - directory.at);

        if (hint_skips_directory((struct str){directory.at, count}))
            return true;
        directory = str_skip(directory, slash == NULL ? count : count + 1);
    }
    return false;
}

/* What holds for all files of one directory. */
static void enter(struct scan_objects *objects, struct str path, struct str directory)
{
    unsigned parts = 0;

    if (str_equal(directory, objects->directory) && path.at[0] != '/')
        return;
    objects->directory = str_copy(objects->arena, directory);
    objects->scan->directories++;
    objects->is_skipped = true;
    if ((directory.count > 0 && !count_parts(directory, &parts)) || path.at[0] == '/')
        add_note(objects, path,
                 "a name that no file can have, such as \"..\" or an empty one: not shown");
    else if (directory.count > 0 && parts > objects->options.depth_max)
        add_note(objects, directory, "too deep below the root, not scanned");
    else
        objects->is_skipped = has_skipped_part(directory);
    objects->in_session = !objects->is_skipped && session_is_named(objects->scan->root, directory);
}

static bool is_wanted(const struct scan_objects *objects, struct str name)
{
    if (objects->is_skipped || name.count == 0 || str_equal(name, STR(".")) ||
        str_equal(name, STR("..")))
        return false;
    return objects->in_session ? name.at[0] != '.' : hint_of(name).kind != HINT_NONE;
}

bool scan_objects_add(struct scan_objects *objects, const struct scan_file *file)
{
    struct scan *scan = objects->scan;
    struct str name = path_base(file->path);

    objects->took = false;
    if (++scan->entries > objects->options.entries_max) {
        add_note(objects, STR("."), "too many objects below the address: the scan stops here");
        scan->may_say = true;
        return false;
    }
    enter(objects, file->path, path_dir(file->path));
    scan->may_say |= !objects->is_skipped && str_equal(name, STR("jview.json"));
    objects->took = is_wanted(objects, name);
    if (!objects->took) {
        scan->passed++;
        scan->event_files += str_contains(name, STR(".tfevents."));
        return true;
    }
    scan->files = grown(objects->arena, scan->files, scan->file_count, &objects->file_capacity,
                        sizeof *scan->files);
    scan->files[scan->file_count] = *file;
    scan->files[scan->file_count++].path = str_copy(objects->arena, file->path);
    return true;
}

bool scan_objects_took(const struct scan_objects *objects)
{
    return objects->took;
}

static int by_path(const void *a, const void *b)
{
    return str_compare(((const struct scan_file *)a)->path, ((const struct scan_file *)b)->path);
}

void scan_objects_end(struct scan_objects *objects)
{
    if (objects->scan->file_count > 1)
        qsort(objects->scan->files, objects->scan->file_count, sizeof *objects->scan->files,
              by_path);
}
