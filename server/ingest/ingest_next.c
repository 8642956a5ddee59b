/* SPDX-License-Identifier: Apache-2.0 */
/* What is read next: questions first, the last one before the others; then what its name says is a
 * profile, before what only its content can tell; then the newest run. A directory of thousands of
 * files that hold no profile would else keep all the profiles waiting. */
#include "ingest/ingest_parts.h"

struct choice {
    struct ingest_run *run;
    struct ingest_file *file;
    bool is_promising;
};

/* What lies in a bucket is downloaded when it is asked for; a place that is one file was. */
bool run_is_wanted(const struct ingest *ingest, const struct ingest_run *run)
{
    if (run->root != NULL && run->root->place != NULL && !bucket_is_file(run->root->place))
        return run->urgency > 0;
    return !ingest->options.on_demand || run->urgency > 0 || !run->certain;
}

/* Files come by role, so the most promising of a run is the first. */
static struct choice choice_of(struct ingest_run *run)
{
    for (uint32_t i = 0; i < run->file_count; i++)
        if (run->files[i].state == FILE_QUEUED)
            return (struct choice){.run = run,
                                   .file = &run->files[i],
                                   .is_promising =
                                       run->certain && run->files[i].role != SCAN_OTHER};
    return (struct choice){0};
}

static bool is_before(const struct choice *a, const struct choice *b)
{
    if (b->file == NULL || a->run->urgency != b->run->urgency)
        return b->file == NULL || a->run->urgency > b->run->urgency;
    if (a->is_promising != b->is_promising)
        return a->is_promising;
    return a->run->modified_ns > b->run->modified_ns;
}

struct ingest_file *ingest_next(struct ingest *ingest, bool only_asked, struct ingest_run **ret)
{
    struct choice best = {0};

    for (uint32_t i = 0; i < ingest->options.root_count; i++) {
        for (uint32_t j = 0; j < ingest->roots[i].run_count; j++) {
            struct ingest_run *run = ingest->roots[i].runs[j];
            bool wanted = only_asked ? run->urgency > 0 : run_is_wanted(ingest, run);
            struct choice choice = wanted ? choice_of(run) : (struct choice){0};

            if (choice.file != NULL && is_before(&choice, &best))
                best = choice;
        }
    }
    *ret = best.run;
    return best.file;
}
