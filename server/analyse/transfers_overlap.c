/* How much of each transfer its device spent computing.
 *
 *   device     | compute |   | compute     |
 *   transfers      |-----------|                 overlapped: ---- and --
 *                          |-------|
 */
#include <stdlib.h>

#include "analyse/device_line.h"
#include "analyse/order.h"
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

struct moment {
    int64_t at_ps;
    struct transfer *of;
    bool ends;
};

static int by_moment(const void *left, const void *right)
{
    const struct moment *a = left, *b = right;

    return (a->at_ps > b->at_ps) - (a->at_ps < b->at_ps);
}

/* Between its two moments the device computed for what its sum grew. */
static void put_moment(const struct moment *moment, int64_t computed_ps)
{
    moment->of->overlapped_ps += moment->ends ? computed_ps : -computed_ps;
}

/* One pass over the device's line, however many transfers are under way at once. */
static void sweep(const struct host_trace *host, struct device_line *line,
                  const struct moment *moments, size_t count)
{
    struct device_piece piece;
    int64_t computed_ps = 0;
    size_t next = 0;

    while (next < count && device_line_next(line, &piece)) {
        int64_t from_ps = piece.from_ps + host->offset_ps, to_ps = piece.to_ps + host->offset_ps;
        bool computes = piece.kind == KIND_COMPUTE && !piece.waits;

        for (; next < count && moments[next].at_ps <= to_ps; next++) {
            int64_t at_ps = moments[next].at_ps;

            put_moment(&moments[next],
                       computed_ps + (computes && at_ps > from_ps ? at_ps - from_ps : 0));
        }
        if (computes && to_ps > from_ps)
            computed_ps += to_ps - from_ps;
    }
    for (; next < count; next++)
        put_moment(&moments[next], computed_ps);
}

/* Transfers of one device, by start. */
static void overlap_device(const struct host_trace *host, const struct op_roles *roles,
                           int32_t device, struct transfer *const *transfers, uint32_t count)
{
    struct window hull = {transfers[0]->start_ps - host->offset_ps, INT64_MIN};
    struct moment *moments = memory_resize(NULL, 2 * (size_t)count, sizeof(*moments));

    for (uint32_t i = 0; i < count; i++) {
        int64_t start_ps = transfers[i]->start_ps, end_ps = start_ps + transfers[i]->dur_ps;

        transfers[i]->overlapped_ps = 0;
        moments[2 * (size_t)i] = (struct moment){.at_ps = start_ps, .of = transfers[i]};
        moments[2 * (size_t)i + 1] =
            (struct moment){.at_ps = end_ps, .of = transfers[i], .ends = true};
        end_ps -= host->offset_ps;
        hull.to_ps = end_ps > hull.to_ps ? end_ps : hull.to_ps;
    }
    order_by(moments, 2 * (size_t)count, sizeof(*moments), by_moment);

    struct device_line line = device_line_open(host, device, hull, roles);

    sweep(host, &line, moments, 2 * (size_t)count);
    free(moments);
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
    order_by(ordered, count, sizeof(*ordered), by_device_and_start);
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
