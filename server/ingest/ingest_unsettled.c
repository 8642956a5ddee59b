/* SPDX-License-Identifier: Apache-2.0 */
/* What is not known yet, for who rather waits: files that are still being written or queued. */
#include "ingest/ingest_parts.h"

static bool is_unsettled(enum file_state state)
{
    return state == FILE_WRITING || state == FILE_QUEUED || state == FILE_INDEXING;
}

/* A file that is being read says more than one that rests. */
static void take_file(const struct ingest_file *file, struct arena *arena, struct unsettled *ret)
{
    bool rests = file->state == FILE_WRITING;

    if (ret->file.count > 0 && (rests || !ret->only_resting))
        return;
    ret->file = str_copy(arena, file->path);
    ret->only_resting = rests;
}

static void take_run(const struct ingest_run *run, struct arena *arena, struct unsettled *ret)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < run->file_count; i++) {
        if (!is_unsettled(run->files[i].state))
            continue;
        take_file(&run->files[i], arena, ret);
        count++;
    }
    if (run->certain || run->listed)
        return;
    if (count == 0 && run_is_shown(run)) /* read, and on its way into the catalog */
        count = 1;
    ret->unlisted += count;
    if (count > 0 && run->modified_ns > ret->newest_ns)
        ret->newest_ns = run->modified_ns;
}

void ingest_unsettled(void *data, struct arena *arena, struct unsettled *ret)
{
    struct ingest *ingest = data;

    *ret = (struct unsettled){.file = STR("")};
    pthread_mutex_lock(&ingest->lock);
    for (uint32_t i = 0; i < ingest->options.root_count; i++) {
        const struct ingest_root *root = &ingest->roots[i];

        ret->unlisted += root->regroup || root->regrouping; /* its runs may become others */
        for (uint32_t j = 0; j < root->run_count; j++) {
            if (run_is_wanted(ingest, root->runs[j]))
                take_run(root->runs[j], arena, ret);
        }
    }
    pthread_mutex_unlock(&ingest->lock);
}
