/* How much of each transfer its device spent computing.
 *
 *   device     | compute |   | compute     |
 *   transfers      |-----------|                 overlapped: ---- and --
 *                          |-------|
 */
#include <stdlib.h>

#include "analyse/device_line.h"
#include "analyse/map64.h"
#include "analyse/order.h"
#include "analyse/transfers_parts.h"

#define ANY_DEVICE INT32_MIN

/* The only device that has ops; ANY_DEVICE where there are several or none. */
static int32_t only_device(const struct attribution *attribution)
{
    return attribution->device_count == 1 ? attribution->devices[0].device : ANY_DEVICE;
}

struct moment {
    int64_t at_ps;
    uint32_t transfer;
    bool ends;
};

static bool is_earlier(const struct moment *a, const struct moment *b)
{
    return a->at_ps < b->at_ps;
}

ORDER_DEFINE(order_moments, struct moment, is_earlier)

struct device_transfers { /* indexes of those of one device, as they came */
    int32_t device;       /* -1: they name none */
    uint32_t first, count;
};

struct by_device {
    struct device_transfers *devices;
    uint32_t device_count;
    uint32_t *order;
};

/* Between its two moments the device computed for what its sum grew. */
static void put_moment(struct transfer *transfers, const struct moment *moment, int64_t computed_ps)
{
    transfers[moment->transfer].overlapped_ps += moment->ends ? computed_ps : -computed_ps;
}

/* One pass over the device's line, however many transfers are under way at once. */
static void sweep(const struct host_trace *host, struct device_line *line,
                  struct transfer *transfers, const struct moment *moments, size_t count)
{
    struct device_piece piece;
    int64_t computed_ps = 0;
    size_t next = 0;

    while (next < count && device_line_next(line, &piece)) {
        int64_t from_ps = piece.from_ps + host->offset_ps, to_ps = piece.to_ps + host->offset_ps;
        bool computes = piece.kind == KIND_COMPUTE && !piece.waits;

        for (; next < count && moments[next].at_ps <= to_ps; next++) {
            int64_t at_ps = moments[next].at_ps;

            put_moment(transfers, &moments[next],
                       computed_ps + (computes && at_ps > from_ps ? at_ps - from_ps : 0));
        }
        if (computes && to_ps > from_ps)
            computed_ps += to_ps - from_ps;
    }
    for (; next < count; next++)
        put_moment(transfers, &moments[next], computed_ps);
}

/* Moments of one stream ascend, so those of a device are a few stretches that do. */
static void overlap_device(const struct host_trace *host, const struct op_roles *roles,
                           int32_t device, struct transfer *transfers, const uint32_t *order,
                           uint32_t count)
{
    struct window hull = {INT64_MAX, INT64_MIN};
    struct moment *moments = memory_resize(NULL, 2 * (size_t)count, sizeof(*moments));

    for (uint32_t i = 0; i < count; i++) {
        struct transfer *transfer = &transfers[order[i]];
        int64_t start_ps = transfer->start_ps, end_ps = start_ps + transfer->dur_ps;

        transfer->overlapped_ps = 0;
        moments[2 * (size_t)i] = (struct moment){.at_ps = start_ps, .transfer = order[i]};
        moments[2 * (size_t)i + 1] =
            (struct moment){.at_ps = end_ps, .transfer = order[i], .ends = true};
        start_ps -= host->offset_ps;
        end_ps -= host->offset_ps;
        hull.from_ps = start_ps < hull.from_ps ? start_ps : hull.from_ps;
        hull.to_ps = end_ps > hull.to_ps ? end_ps : hull.to_ps;
    }
    order_moments(moments, 2 * (size_t)count);

    struct device_line line = device_line_open(host, device, hull, roles);

    sweep(host, &line, transfers, moments, 2 * (size_t)count);
    free(moments);
}

static struct by_device part_by_device(const struct transfer *transfers, uint32_t count)
{
    struct by_device ret = {.order = memory_resize(NULL, count, sizeof(*ret.order))};
    uint32_t *part_of = memory_resize(NULL, count, sizeof(*part_of)), first = 0;
    struct map64 parts = {0};

    for (uint32_t i = 0; i < count; i++) {
        bool same = i > 0 && transfers[i].device == transfers[i - 1].device;
        uint32_t *part = same ? &part_of[i - 1]
                              : map64_at(&parts, (uint32_t)transfers[i].device, ret.device_count);

        if (*part == ret.device_count) {
            ret.devices =
                memory_resize(ret.devices, (size_t)ret.device_count + 1, sizeof(*ret.devices));
            ret.devices[ret.device_count++] =
                (struct device_transfers){.device = transfers[i].device};
        }
        part_of[i] = *part;
        ret.devices[*part].count++;
    }
    for (uint32_t i = 0; i < ret.device_count; i++) {
        ret.devices[i].first = first;
        first += ret.devices[i].count;
        ret.devices[i].count = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct device_transfers *device = &ret.devices[part_of[i]];

        ret.order[device->first + device->count++] = i;
    }
    map64_free(&parts);
    free(part_of);
    return ret;
}

void transfers_overlap(const struct host_trace *host, struct transfer *transfers, uint32_t count)
{
    if (host->attribution == NULL || host->attribution->entry_count == 0 || count == 0)
        return;

    struct by_device parts = part_by_device(transfers, count);
    struct op_roles roles = op_roles_create(host);

    for (uint32_t i = 0; i < parts.device_count; i++) {
        const struct device_transfers *of = &parts.devices[i];
        int32_t device = of->device >= 0 ? of->device : only_device(host->attribution);

        if (device != ANY_DEVICE)
            overlap_device(host, &roles, device, transfers, &parts.order[of->first], of->count);
    }
    op_roles_free(&roles);
    free(parts.devices);
    free(parts.order);
}
