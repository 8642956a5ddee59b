/* SPDX-License-Identifier: Apache-2.0 */
/* How much of each transfer its device spent computing.
 *
 *   device     | compute |   | compute     |
 *   transfers      |-----------|                 overlapped: ---- and --
 *                          |-------|
 */
#include <stdlib.h>

#include "analyse/comm/transfers_parts.h"
#include "analyse/stats/map64.h"
#include "analyse/stats/order.h"
#include "analyse/steps/device_line.h"
#include "trace/ps.h"

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

/* Where a device computes. Without containers that is where any op that computes runs, whatever
 * runs beside it: nothing tells more. */
struct computing {
    const struct attribution *attribution;
    const uint8_t *computes; /* by op; NULL: `line` tells */
    uint32_t at, end;        /* into by_device_time */
    int64_t to_ps;           /* what begins here or later is not asked for */
    struct device_line line;
};

struct device_transfers { /* indexes of those of one device, as they came */
    int32_t device;       /* -1: they name none */
    uint32_t first, count;
};

struct by_device {
    struct device_transfers *devices;
    uint32_t device_count;
    uint32_t *order;
};

/* By op: does it compute? NULL where there are containers, or more ops than are worth looking
 * at. */
static uint8_t *computing_ops(const struct host_trace *host)
{
    enum { FEW_OPS = 1024, EVENTS_AN_OP = 16 };
    const struct attribution *attribution = host->attribution;

    if (attribution->op_count > FEW_OPS &&
        attribution->op_count > attribution->entry_count / EVENTS_AN_OP)
        return NULL;

    uint8_t *computes = memory_resize(NULL, attribution->op_count, sizeof(*computes));

    for (uint32_t op = 0; op < attribution->op_count; op++) {
        enum op_role role = op_role_of(host->trace, &attribution->ops[op]);

        if (role == ROLE_OF_CONTAINER) {
            free(computes);
            return NULL;
        }
        computes[op] = role == ROLE_OF_WORK && attribution->ops[op].kind == KIND_COMPUTE;
    }
    return computes;
}

static struct computing computing_open(const struct host_trace *host, int32_t device,
                                       struct window hull, const struct op_roles *roles,
                                       const uint8_t *computes)
{
    struct device_line line = device_line_open(host, device, hull, roles);

    return (struct computing){.attribution = host->attribution,
                              .computes = computes,
                              .at = line.at,
                              .end = line.end,
                              .to_ps = hull.to_ps,
                              .line = line};
}

/* The next stretch, disjoint from the one before. */
static bool computing_next(struct computing *computing, struct window *ret)
{
    const struct attribution *attribution = computing->attribution;
    struct device_piece piece;
    bool any = false;

    while (computing->computes == NULL && device_line_next(&computing->line, &piece)) {
        *ret = (struct window){piece.from_ps, piece.to_ps};
        if (piece.kind == KIND_COMPUTE && !piece.waits)
            return true;
    }
    for (; computing->computes != NULL && computing->at < computing->end; computing->at++) {
        const struct attributed *entry =
            ENTRY_AT(attribution, entry_in_time(attribution, computing->at));
        int64_t end_ps = entry->start_ps + entry->dur_ps;

        if (entry->start_ps >= computing->to_ps)
            return any;
        if (!computing->computes[entry->op] || entry->dur_ps <= 0)
            continue;
        if (any && entry->start_ps > ret->to_ps)
            return true;
        if (!any)
            *ret = (struct window){entry->start_ps, end_ps};
        ret->to_ps = end_ps > ret->to_ps ? end_ps : ret->to_ps;
        any = true;
    }
    return any;
}

/* Between its two moments the device computed for what its sum grew. */
static void put_moment(struct transfer *transfers, const struct moment *moment, int64_t computed_ps)
{
    ps_add(&transfers[moment->transfer].overlapped_ps, moment->ends ? computed_ps : -computed_ps);
}

/* One pass over what the device computed, however many transfers are under way at once. */
static void sweep(const struct host_trace *host, struct computing *computing,
                  struct transfer *transfers, const struct moment *moments, size_t count)
{
    struct window stretch;
    int64_t computed_ps = 0;
    size_t next = 0;

    while (next < count && computing_next(computing, &stretch)) {
        int64_t from_ps = stretch.from_ps + host->offset_ps;
        int64_t to_ps = stretch.to_ps + host->offset_ps;

        for (; next < count && moments[next].at_ps <= to_ps; next++) {
            int64_t at_ps = moments[next].at_ps;

            put_moment(transfers, &moments[next],
                       computed_ps + (at_ps > from_ps ? at_ps - from_ps : 0));
        }
        ps_add(&computed_ps, to_ps - from_ps);
    }
    for (; next < count; next++)
        put_moment(transfers, &moments[next], computed_ps);
}

/* Moments of one stream ascend, so those of a device are a few stretches that do. */
static void overlap_device(const struct host_trace *host, const struct op_roles *roles,
                           const uint8_t *computes, int32_t device, struct transfer *transfers,
                           const uint32_t *order, uint32_t count)
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
        ps_add(&start_ps, -host->offset_ps);
        ps_add(&end_ps, -host->offset_ps);
        hull.from_ps = start_ps < hull.from_ps ? start_ps : hull.from_ps;
        hull.to_ps = end_ps > hull.to_ps ? end_ps : hull.to_ps;
    }
    order_moments(moments, 2 * (size_t)count);

    struct computing computing = computing_open(host, device, hull, roles, computes);

    sweep(host, &computing, transfers, moments, 2 * (size_t)count);
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
    uint8_t *computes = computing_ops(host);

    for (uint32_t i = 0; i < parts.device_count; i++) {
        const struct device_transfers *of = &parts.devices[i];
        int32_t device = of->device >= 0 ? of->device : only_device(host->attribution);

        if (device != ANY_DEVICE)
            overlap_device(host, &roles, computes, device, transfers, &parts.order[of->first],
                           of->count);
    }
    op_roles_free(&roles);
    free(computes);
    free(parts.devices);
    free(parts.order);
}
