/* SPDX-License-Identifier: Apache-2.0 */
/* Which work waits for which work of another stream, by events: arrows "event wait".
 *
 *   stream 7    a      b |record     CUPTI_ACTIVITY_KIND_CUDA_EVENT: a call, stream, eventSyncId
 *                      `----.
 *   stream 9               wait| c    CUPTI_ACTIVITY_KIND_SYNCHRONIZATION of type 2: the same
 *
 * Correlation ids of a process count its calls. So what a record stands for is the last work of its
 * stream with a lower id, and what waits is the first of the other stream with a higher one. Where
 * the waiting work began before the other was over, the ids are not in the order of the calls, for
 * several threads made them: no arrow.
 *
 * Facts: the vendor's description of the schema ("CUDA Event Sync ID to link event record API to
 * related synchronization APIs").
 */
#include <stdlib.h>

#include "base/bisect.h"
#include "decode/nsys/nsys.h"

static int64_t compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* By stream, then in the order of calls. */
static int stream_order(const void *left, const void *right)
{
    const struct stream_work *a = left, *b = right;
    int64_t order = compare(a->process, b->process);

    order = order != 0 ? order : compare(a->context, b->context);
    order = order != 0 ? order : compare(a->stream, b->stream);
    order = order != 0 ? order : compare(a->correlation, b->correlation);
    return (int)(order != 0 ? order : compare(a->start, b->start));
}

/* By sync id; of several records the wait is for the last before it. */
static int sync_order(const void *left, const void *right)
{
    const struct stream_sync *a = left, *b = right;
    int64_t order = compare(a->at.process, b->at.process);

    order = order != 0 ? order : compare(a->sync, b->sync);
    return (int)(order != 0 ? order : compare(a->at.correlation, b->at.correlation));
}

static void read_work(struct nsys *nsys, const char *table)
{
    static const char *const columns[] = {"globalPid",     "contextId", "streamId",
                                          "correlationId", "start",     "end"};
    struct nsys_rows rows = nsys_rows_of(&nsys->db, table, columns, COUNT(columns), "");

    while (nsys_rows_next(&rows)) {
        struct stream_work work;

        if (nsys_integer(&rows, 0, &work.process) && nsys_integer(&rows, 1, &work.context) &&
            nsys_integer(&rows, 2, &work.stream) && nsys_integer(&rows, 3, &work.correlation) &&
            nsys_integer(&rows, 4, &work.start) && nsys_integer(&rows, 5, &work.end))
            *nsys_list_add(nsys, &nsys->work) = work;
    }
    nsys_rows_close(&rows);
}

static void read_syncs(struct nsys *nsys, struct stream_syncs *list, const char *table,
                       const char *tail)
{
    static const char *const columns[] = {"globalPid", "contextId", "streamId", "correlationId",
                                          "eventSyncId"};
    struct nsys_rows rows = nsys_rows_of(&nsys->db, table, columns, COUNT(columns), tail);

    while (nsys_rows_next(&rows)) {
        struct stream_sync sync = {.at = {.start = INT64_MIN}};

        if (nsys_integer(&rows, 0, &sync.at.process) && nsys_integer(&rows, 1, &sync.at.context) &&
            nsys_integer(&rows, 2, &sync.at.stream) &&
            nsys_integer(&rows, 3, &sync.at.correlation) && nsys_integer(&rows, 4, &sync.sync))
            *nsys_list_add(nsys, list) = sync;
    }
    nsys_rows_close(&rows);
}

static bool same_stream(const struct stream_work *a, const struct stream_work *b)
{
    return a->process == b->process && a->context == b->context && a->stream == b->stream;
}

/* The last record of the event before the wait; NULL: none is in the file. */
static const struct stream_sync *record_of(const struct nsys *nsys, const struct stream_sync *wait)
{
    size_t after = BISECT(0, nsys->records.count, i, sync_order(&nsys->records.at[i], wait) <= 0);
    const struct stream_sync *record = after == 0 ? NULL : &nsys->records.at[after - 1];

    return record != NULL && record->at.process == wait->at.process && record->sync == wait->sync
               ? record
               : NULL;
}

static void add_end(struct nsys *nsys, const struct stream_work *work, bool from, uint64_t id)
{
    *nsys_list_add(nsys, &nsys->wait_ends) =
        (struct wait_end){.launch = nsys_launch_key(nsys, work->process, work->correlation),
                          .start_ps = nsys_ps(work->start),
                          .id = id,
                          .from = from};
}

static void join(struct nsys *nsys, const struct stream_sync *wait, uint64_t id)
{
    const struct stream_sync *record = record_of(nsys, wait);
    const struct stream_work *work = nsys->work.at, *last, *first;
    const size_t count = nsys->work.count;
    size_t before, after;

    if (record == NULL || same_stream(&record->at, &wait->at))
        return;
    before = BISECT(0, count, i, stream_order(&work[i], &record->at) < 0);
    after = BISECT(0, count, i, stream_order(&work[i], &wait->at) < 0);
    if (before == 0 || after == count)
        return;
    last = &work[before - 1];
    first = &work[after];
    if (!same_stream(last, &record->at) || !same_stream(first, &wait->at) ||
        last->end > first->start)
        return;
    add_end(nsys, last, true, id);
    add_end(nsys, first, false, id);
}

static int end_order(const void *left, const void *right)
{
    const struct wait_end *a = left, *b = right;
    int64_t order = (a->launch > b->launch) - (a->launch < b->launch);

    order = order != 0 ? order : compare(a->start_ps, b->start_ps);
    order = order != 0 ? order : (a->id > b->id) - (a->id < b->id);
    return (int)(order != 0 ? order : (int64_t)a->from - (int64_t)b->from);
}

void nsys_find_waits(struct nsys *nsys)
{
    static const char *const tables[] = {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
                                         "CUPTI_ACTIVITY_KIND_MEMSET"};
    struct stream_syncs waits = {0};

    read_syncs(nsys, &nsys->records, "CUPTI_ACTIVITY_KIND_CUDA_EVENT", "");
    if (nsys->records.count == 0)
        return;
    read_syncs(nsys, &waits, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "WHERE \"syncType\" = 2");
    for (size_t i = 0; i < COUNT(tables) && waits.count > 0; i++)
        read_work(nsys, tables[i]);
    if (waits.count == 0 || nsys->work.count == 0 || nsys->db.over_budget)
        return;
    qsort(nsys->work.at, nsys->work.count, sizeof *nsys->work.at, stream_order);
    qsort(nsys->records.at, nsys->records.count, sizeof *nsys->records.at, sync_order);
    for (size_t i = 0; i < waits.count; i++)
        join(nsys, &waits.at[i], i);
    if (nsys->wait_ends.count > 0)
        qsort(nsys->wait_ends.at, nsys->wait_ends.count, sizeof *nsys->wait_ends.at, end_order);
}

void nsys_put_waits(struct nsys *nsys, uint64_t launch, int64_t start_ps)
{
    const struct wait_end *ends = nsys->wait_ends.at;
    const size_t count = nsys->wait_ends.count;
    size_t at = BISECT(0, count, i,
                       ends[i].launch < launch ||
                           (ends[i].launch == launch && ends[i].start_ps < start_ps));

    for (; at < count && ends[at].launch == launch && ends[at].start_ps == start_ps; at++)
        sink_flow(nsys->sink, ends[at].from ? FLOW_FROM : FLOW_TO, nsys->wait_kind, ends[at].id);
}
