/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of files, by their paths: a scan may put a file into another run than before. */
#include <stdlib.h>

#include "ingest/ingest_parts.h"

static int by_path(const void *a, const void *b)
{
    const struct ingest_file *const *left = a, *const *right = b;

    return str_compare((*left)->path, (*right)->path);
}

void index_make(struct ingest_root *root, struct arena *arena, struct file_index *ret)
{
    size_t count = 0;

    for (uint32_t i = 0; i < root->run_count; i++)
        count += root->runs[i]->file_count;
    ret->files = arena_array(arena, struct ingest_file *, count);
    ret->file_count = 0;
    for (uint32_t i = 0; i < root->run_count; i++) {
        for (uint32_t j = 0; j < root->runs[i]->file_count; j++)
            ret->files[ret->file_count++] = &root->runs[i]->files[j];
    }
    qsort(ret->files, ret->file_count, sizeof *ret->files, by_path);
}

struct ingest_file *index_find(const struct file_index *index, struct str path)
{
    struct ingest_file key = {.path = path}, *wanted = &key;
    struct ingest_file **found =
        bsearch(&wanted, index->files, index->file_count, sizeof *index->files, by_path);

    return found == NULL ? NULL : *found;
}

static int by_file_path(const void *a, const void *b)
{
    return str_compare(((const struct run_file *)a)->path, ((const struct run_file *)b)->path);
}

/* A path may stand twice, where a run that is gone had it too. */
const struct run_file *index_remembered(const struct file_index *index, struct str path,
                                        const struct file_stamp *stamp)
{
    const struct run_file key = {.path = path}, *end = index->remembered + index->remembered_count;
    const struct run_file *found =
        index->remembered_count == 0
            ? NULL
            : bsearch(&key, index->remembered, index->remembered_count, sizeof key, by_file_path);

    while (found != NULL && found > index->remembered && str_equal(found[-1].path, path))
        found--;
    for (; found != NULL && found < end && str_equal(found->path, path); found++) {
        if (file_stamp_equal(&found->stamp, stamp))
            return found;
    }
    return NULL;
}

static bool tell_indexed(const struct file_index *index, struct scan_file *file,
                         struct arena *arena)
{
    const struct ingest_file *before = index_find(index, file->path);

    if (before == NULL)
        return false;
    file->known = (struct scan_known){.has_window = before->has_window,
                                      .start_ns = before->start_ns,
                                      .end_ns = before->end_ns,
                                      .group = str_copy(arena, str_of(before->group)),
                                      .rank = before->job_rank};
    return true;
}

static void tell_remembered(const struct file_index *index, struct scan_file *file)
{
    const struct file_stamp stamp = {.device = file->device,
                                     .inode = file->inode,
                                     .size = file->bytes,
                                     .modified_ns = file->modified_ns,
                                     .changed_ns = file->changed_ns};
    const struct run_file *known = index_remembered(index, file->path, &stamp);

    file->known.rank = -1;
    if (known != NULL)
        file->known = (struct scan_known){.has_window = known->has_window,
                                          .start_ns = known->start_ns,
                                          .end_ns = known->end_ns,
                                          .group = known->group,
                                          .rank = known->rank};
}

void index_tell(const struct file_index *index, struct scan *scan, struct arena *arena)
{
    for (uint32_t i = 0; i < scan->file_count; i++) {
        if (!tell_indexed(index, &scan->files[i], arena))
            tell_remembered(index, &scan->files[i]);
    }
}
