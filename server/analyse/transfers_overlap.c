/* How much of each transfer its device spent computing.
 *
 *   device     | compute |   | compute     |
 *   transfers      |-----------|                 overlapped: ---- and --
 *                          |-------|
 */
#include <stdlib.h>

#include "analyse/device_line.h"
#include "analyse/transfers_parts.h"

#define ANY_DEVICE INT32_MIN

static int by_device_and_start(const void *left, const void *right)
{
    const struct transfer *a = *(struct transfer *const *)left;
    const struct transfer *b = *(struct transfer *const *)right;

    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return (a->start_ps > b->start_ps) - (a->start_ps < b->start_ps);
}

/* The only device that has ops; ANY_DEVICE where there are several or none. */
static int32_t only_device(const struct attribution *attribution)
{
    return attribution->device_count == 1 ? attribution->devices[0].device : ANY_DEVICE;
}

/* Transfers of one device, by start. */
static void overlap_device(const struct host_trace *host, const struct op_roles *roles,
                           int32_t device, struct transfer *const *transfers, uint32_t count)
{
    struct window hull = {transfers[0]->start_ps - host->offset_ps, INT64_MIN};
    struct device_piece piece;
    uint32_t first = 0;

    for (uint32_t i = 0; i < count; i++) {
        int64_t end_ps = transfers[i]->start_ps + transfers[i]->dur_ps - host->offset_ps;

        transfers[i]->overlapped_ps = 0;
        hull.to_ps = end_ps > hull.to_ps ? end_ps : hull.to_ps;
    }

    struct device_line line = device_line_open(host, device, hull, roles);

    while (first < count && device_line_next(&line, &piece)) {
        int64_t from_ps = piece.from_ps + host->offset_ps, to_ps = piece.to_ps + host->offset_ps;

        while (first < count && transfers[first]->start_ps + transfers[first]->dur_ps <= from_ps)
            first++;
        if (piece.kind != KIND_COMPUTE || piece.waits)
            continue;
        for (uint32_t i = first; i < count && transfers[i]->start_ps < to_ps; i++) {
            int64_t end_ps = transfers[i]->start_ps + transfers[i]->dur_ps;
            int64_t begin_ps = transfers[i]->start_ps > from_ps ? transfers[i]->start_ps : from_ps;

            end_ps = end_ps < to_ps ? end_ps : to_ps;
            if (end_ps > begin_ps)
                transfers[i]->overlapped_ps += end_ps - begin_ps;
        }
    }
}

void transfers_overlap(const struct host_trace *host, struct transfer *transfers, uint32_t count)
{
    if (host->attribution == NULL || host->attribution->entry_count == 0 || count == 0)
        return;

    struct transfer **ordered = memory_resize(NULL, count, sizeof(*ordered));
    struct op_roles roles = op_roles_create(host);
    int32_t only = only_device(host->attribution);

    for (uint32_t i = 0; i < count; i++)
        ordered[i] = &transfers[i];
    qsort(ordered, count, sizeof(*ordered), by_device_and_start);
    for (uint32_t first = 0, end; first < count; first = end) {
        int32_t device = ordered[first]->device >= 0 ? ordered[first]->device : only;

        for (end = first; end < count && ordered[end]->device == ordered[first]->device; end++)
            ;
        if (device != ANY_DEVICE)
            overlap_device(host, &roles, device, &ordered[first], end - first);
    }
    op_roles_free(&roles);
    free(ordered);
}
