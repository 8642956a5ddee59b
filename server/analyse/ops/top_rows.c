/* SPDX-License-Identifier: Apache-2.0 */
/* Which row a group belongs to. Ids differ from host to host, so rows are joined by text once per
 * group and then found by number. */
#include <stdlib.h>

#include "analyse/device/device_spec.h"
#include "analyse/hlo/phase.h"
#include "analyse/hlo/scope.h"
#include "analyse/ops/top_parts.h"
#include "base/hash.h"

static const struct trace *trace_of(const struct top_host *host)
{
    return host->selection->host->trace;
}

static uint32_t row_of_key(struct top_work *work, const struct top_host *host, struct str key,
                           struct top_row fresh)
{
    uint32_t row = names_add(work->keys, key) - 1; /* id 0 is "", which is no key */

    if (row >= work->row_count) {
        while (row >= work->row_capacity) {
            work->row_capacity = work->row_capacity == 0 ? 256 : 2 * work->row_capacity;
            work->rows = memory_resize(work->rows, work->row_capacity, sizeof(*work->rows));
        }
        for (; work->row_count <= row; work->row_count++)
            work->rows[work->row_count] = (struct top_row){.op = NO_OP};
        fresh.host = host->selection->index;
        fresh.place = (uint32_t)(host - work->hosts);
        fresh.min_ps = INT64_MAX;
        fresh.key = key;
        work->rows[row] = fresh;
    }
    return row;
}

/* What tells a module on every host: its instructions, else its name. */
static uint64_t module_fingerprint(const struct trace *trace, const struct op *op)
{
    if (op->program != NO_PROGRAM && trace->programs[op->program].fingerprint != 0)
        return trace->programs[op->program].fingerprint;

    struct str module = trace_name(trace, op->module);

    return module.count == 0 ? 0 : hash64((struct bytes){(const uint8_t *)module.at, module.count});
}

static struct str or_none(struct str text, const char *none)
{
    return text.count > 0 ? text : str_of(none);
}

struct str top_category(const struct host_trace *host, uint32_t index)
{
    struct str said = trace_name(host->trace, host->attribution->ops[index].category);

    return said.count > 0 || host->attribution->costs == NULL
               ? said
               : cost_family_words(host->attribution->costs[index].family);
}

static uint32_t row_of_op(struct top_work *work, const struct top_host *host, uint32_t index)
{
    const struct trace *trace = trace_of(host);
    const struct op *op = &host->selection->host->attribution->ops[index];
    struct top_row row = {.op = index, .kind = op->kind};
    struct str name;

    switch (work->by) {
    case BY_OP:
        if (op->caller != 0) {
            row.name = trace_name(trace, op->caller);
            return row_of_key(work, host, str_format(work->arena, "torch:%.*s", STR_ARG(row.name)),
                              row);
        }
        row.name = trace_name(trace, op->name);
        name = str_format(work->arena, "%016llx:%.*s",
                          (unsigned long long)module_fingerprint(trace, op), STR_ARG(row.name));
        return row_of_key(work, host, name, row);
    case BY_MODULE:
        row.name = or_none(module_name_of(&host->modules, op), "(no module)");
        name =
            str_format(work->arena, "%016llx", (unsigned long long)module_fingerprint(trace, op));
        return row_of_key(work, host, name, row);
    case BY_SCOPE:
        row.name = scope_cut(scope_of_op(trace, op), work->question->depth,
                             work->question->fold_siblings, work->arena);
        row.name = or_none(row.name, "(no scope)");
        return row_of_key(work, host, row.name, row);
    case BY_SOURCE:
        row.name = or_none(trace_name(trace, op->source), "(no source)");
        return row_of_key(work, host, row.name, row);
    case BY_PHASE:
        row.name = str_of(phase_word(phase_of_op(trace, op)));
        return row_of_key(work, host, row.name, row);
    default:
        row.name = or_none(top_category(host->selection->host, index), kind_word(op->kind));
        return row_of_key(work, host, row.name, row);
    }
}

static uint32_t row_of_name(struct top_work *work, const struct top_host *host, name_id id,
                            enum kind kind)
{
    struct str name = trace_name(trace_of(host), id);
    struct top_row row = {.op = NO_OP, .name = name, .kind = kind};

    /* The empty name is a name too, but no key of its own. */
    return row_of_key(work, host, name.count > 0 ? name : STR("(empty)"), row);
}

static uint32_t row_of_track(struct top_work *work, const struct top_host *host, track_id track,
                             enum kind kind)
{
    const struct trace *trace = trace_of(host);
    struct top_row row = {.op = NO_OP, .track = track, .kind = kind};

    row.name = or_none(trace_name(trace, trace->tracks[track].name), "(unnamed)");
    return row_of_key(
        work, host, str_format(work->arena, "%.*s.%u", STR_ARG(host->selection->host->key), track),
        row);
}

static uint32_t row_of_kind(struct top_work *work, const struct top_host *host, enum kind kind)
{
    struct str name = str_of(kind_word(kind));

    return row_of_key(work, host, name, (struct top_row){.op = NO_OP, .name = name, .kind = kind});
}

static uint32_t row_of_host(struct top_work *work, const struct top_host *host)
{
    struct str name = host->selection->host->name;
    struct top_row row = {.op = NO_OP, .name = name, .kind = KIND_HOST};

    return row_of_key(
        work, host, str_format(work->arena, "%u:%.*s", host->selection->index, STR_ARG(name)), row);
}

static uint32_t row_of_device(struct top_work *work, const struct top_host *host, uint32_t group,
                              enum kind kind)
{
    const struct trace *trace = trace_of(host);
    int32_t device = group < trace->track_count ? trace->tracks[group].device
                                                : host->devices[group - trace->track_count];
    struct top_row row = {.op = NO_OP, .device = device, .kind = kind};

    row.name = device_name(trace, device, work->arena);
    return row_of_key(
        work, host, str_format(work->arena, "%.*s:%d", STR_ARG(host->selection->host->key), device),
        row);
}

static uint32_t make_row(struct top_work *work, const struct top_host *host, uint32_t group,
                         enum kind kind)
{
    if (work->by <= BY_CATEGORY)
        return row_of_op(work, host, group);
    if (work->by <= BY_API)
        return row_of_name(work, host, group, kind);
    if (work->by == BY_KIND)
        return row_of_kind(work, host, (enum kind)group);
    if (work->by == BY_TRACK)
        return row_of_track(work, host, group, kind);
    return work->by == BY_HOST ? row_of_host(work, host) : row_of_device(work, host, group, kind);
}

uint32_t top_row_of(struct top_work *work, struct top_host *host, uint32_t group,
                    const struct tally *first)
{
    uint32_t *known = &host->row_of[group];

    if (*known == 0)
        *known = make_row(work, host, group, (enum kind)first->kind) + 1;
    return *known - 1;
}

void top_first_ops(const struct host_trace *host, enum top_by by, uint32_t *ret)
{
    static const struct top_question question = {0};
    const struct attribution *attribution = host->attribution;
    const struct selection selection = {.host = host};
    struct top_host open = {.selection = &selection};
    struct top_work work = {
        .by = by, .question = &question, .keys = names_create(), .hosts = &open};
    uint32_t *row_of = memory_resize(NULL, (size_t)attribution->op_count + 1, sizeof(*row_of));

    work.arena = arena_create();
    open.modules = module_names_of(host, work.arena);
    for (uint32_t op = 0; op < attribution->op_count; op++) {
        if (attribution->totals[op].event_count == 0)
            continue;
        row_of[op] = row_of_op(&work, &open, op);

        struct top_row *row = &work.rows[row_of[op]];

        if (attribution->totals[op].first < attribution->totals[row->op].first)
            row->op = op;
    }
    for (uint32_t op = 0; op < attribution->op_count; op++)
        ret[op] = attribution->totals[op].event_count == 0 ? NO_OP : work.rows[row_of[op]].op;
    arena_destroy(work.arena);
    names_destroy(work.keys);
    free(work.rows);
    free(row_of);
}

/* The devices of all ops: they come by device. */
static void list_devices(struct top_host *host, struct arena *arena)
{
    const struct attribution *attribution = host->selection->host->attribution;
    uint32_t count = attribution == NULL ? 0 : attribution->entry_count, capacity = 0;
    int32_t *devices = NULL;

    for (uint32_t at = 0; at < count;) {
        int32_t device = entry_at(attribution, entry_in_time(attribution, at)).device;
        if (host->device_count == capacity) {
            int32_t *more = arena_array(arena, int32_t, capacity == 0 ? 16 : 2 * (size_t)capacity);

            if (capacity > 0)
                memcpy(more, devices, capacity * sizeof(*devices));
            capacity = capacity == 0 ? 16 : 2 * capacity;
            devices = more;
        }
        *map64_at(&host->device_groups, (uint32_t)device, 0) = host->device_count;
        devices[host->device_count++] = device;
        at = attribution_time_from(attribution, (int64_t)device + 1, INT64_MIN);
    }
    host->devices = devices;
}

void top_hosts_open(struct top_work *work, const struct selection *selections, uint32_t count)
{
    work->hosts = arena_array(work->arena, struct top_host, count);
    work->host_count = count;
    for (uint32_t i = 0; i < count; i++) {
        const struct host_trace *host = selections[i].host;
        struct top_host *open = &work->hosts[i];

        open->selection = &selections[i];
        if (work->by == BY_DEVICE)
            list_devices(open, work->arena);
        if (work->by <= BY_CATEGORY)
            open->modules = module_names_of(host, work->arena);
        open->row_of = arena_array(work->arena, uint32_t, (size_t)top_group_count(work, open) + 1);
        if ((work->by <= BY_CATEGORY || work->by == BY_KERNEL || work->by == BY_DEVICE) &&
            host->attribution != NULL) {
            open->costs = host->attribution->costs;
            device_spec_of(host->trace, host->attribution, work->arena, &open->spec);
        }
    }
}

void top_hosts_close(struct top_work *work)
{
    for (uint32_t i = 0; i < work->host_count; i++) {
        for (uint32_t part = 0; part < SPLIT_PARTS_MAX; part++)
            tallies_free(&work->hosts[i].tallies[part]);
        map64_free(&work->hosts[i].device_groups);
    }
}
