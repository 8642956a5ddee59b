/* Which row a slice or an op belongs to. Ids differ from host to host, so rows are joined by text
 * once per id and then found by id. */
#include <math.h>
#include <stdlib.h>

#include "analyse/scope.h"
#include "analyse/top_parts.h"
#include "base/hash.h"
#include "trace/args.h"

static const struct trace *trace_of(const struct top_work *work)
{
    return work->host->selection->host->trace;
}

static uint32_t row_of_key(struct top_work *work, struct str key, struct top_row fresh)
{
    uint32_t row = names_add(work->keys, key) - 1; /* id 0 is "", which is no key */

    if (row >= work->row_count) {
        while (row >= work->row_capacity) {
            work->row_capacity = work->row_capacity == 0 ? 256 : 2 * work->row_capacity;
            work->rows = memory_resize(work->rows, work->row_capacity, sizeof(*work->rows));
        }
        for (; work->row_count <= row; work->row_count++)
            work->rows[work->row_count] = (struct top_row){.op = NO_OP, .slice = NO_SLICE};
        fresh.host = work->host->selection->index;
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

static uint32_t make_op_row(struct top_work *work, uint32_t index)
{
    const struct trace *trace = trace_of(work);
    const struct op *op = &work->host->selection->host->attribution->ops[index];
    struct top_row row = {.op = index, .kind = op->kind, .slice = NO_SLICE};
    struct str name;

    switch (work->by) {
    case BY_OP:
        row.name = trace_name(trace, op->name);
        name = str_format(work->arena, "%016llx:%.*s",
                          (unsigned long long)module_fingerprint(trace, op), STR_ARG(row.name));
        return row_of_key(work, name, row);
    case BY_MODULE:
        row.name = or_none(trace_name(trace, op->module), "(no module)");
        name =
            str_format(work->arena, "%016llx", (unsigned long long)module_fingerprint(trace, op));
        return row_of_key(work, name, row);
    case BY_SCOPE:
        row.name = scope_cut(scope_of_op(trace, op), work->question->depth,
                             work->question->fold_siblings, work->arena);
        row.name = or_none(row.name, "(no scope)");
        return row_of_key(work, row.name, row);
    case BY_SOURCE:
        row.name = or_none(trace_name(trace, op->source), "(no source)");
        return row_of_key(work, row.name, row);
    default:
        row.name = or_none(trace_name(trace, op->category), kind_word(op->kind));
        return row_of_key(work, row.name, row);
    }
}

uint32_t top_row_of_op(struct top_work *work, uint32_t op)
{
    uint32_t *known = &work->host->row_of[op];

    if (*known == 0)
        *known = make_op_row(work, op) + 1;
    return *known - 1;
}

static uint32_t row_of_name(struct top_work *work, const struct scanned *slice)
{
    uint32_t *known = &work->host->row_of[slice->name];

    if (*known == 0) {
        struct str name = trace_name(trace_of(work), slice->name);
        struct top_row row = {
            .op = NO_OP, .name = name, .kind = slice->kind, .slice = slice->slice};

        /* The empty name is a name too, but no key of its own. */
        *known = row_of_key(work, name.count > 0 ? name : STR("(empty)"), row) + 1;
    }
    return *known - 1;
}

static uint32_t row_of_track(struct top_work *work, const struct scanned *slice)
{
    uint32_t *known = &work->host->row_of_track[slice->track];

    if (*known == 0) {
        const struct trace *trace = trace_of(work);
        struct str host = work->host->selection->host->key;
        struct top_row row = {
            .op = NO_OP, .track = slice->track, .kind = slice->kind, .slice = slice->slice};

        row.name = or_none(trace_name(trace, trace->tracks[slice->track].name), "(unnamed)");
        *known =
            row_of_key(work, str_format(work->arena, "%.*s.%u", STR_ARG(host), slice->track), row) +
            1;
    }
    return *known - 1;
}

static uint32_t row_of_host(struct top_work *work, const struct scanned *slice)
{
    uint32_t *known = &work->host->row_of_track[slice->track];

    if (*known == 0) {
        struct str name = work->host->selection->host->name;
        struct top_row row = {.op = NO_OP, .name = name, .kind = KIND_HOST, .slice = slice->slice};

        *known = row_of_key(work,
                            str_format(work->arena, "%u:%.*s", work->host->selection->index,
                                       STR_ARG(name)),
                            row) +
                 1;
    }
    return *known - 1;
}

/* The device's own track where the file has one, else its ordinal. */
static struct str device_name(const struct trace *trace, int32_t device, struct arena *arena)
{
    for (track_id id = 0; id < trace->track_count; id++) {
        struct str name = trace_name(trace, trace->tracks[id].name);

        if (trace->tracks[id].device == device && trace->tracks[id].kind == TRACK_DEVICE &&
            (str_starts(name, STR("/device:")) || str_contains(name, STR("GPU"))))
            return name;
    }
    return str_format(arena, "device %d", device);
}

static uint32_t row_of_device(struct top_work *work, const struct scanned *slice)
{
    const struct host_trace *host = work->host->selection->host;
    const struct track *track = &host->trace->tracks[slice->track];
    int32_t device = track->device;

    if (!track_is_device_work(track)) {
        const struct attributed *entry =
            host->attribution == NULL ? NULL : attribution_of(host->attribution, slice->slice);

        if (entry == NULL)
            return UINT32_MAX;
        device = entry->device;
    }

    uint32_t *known = map64_at(&work->host->row_of_device, (uint32_t)device, UINT32_MAX);

    if (*known == UINT32_MAX) {
        struct top_row row = {
            .op = NO_OP, .device = device, .kind = slice->kind, .slice = slice->slice};

        row.name = device_name(host->trace, device, work->arena);
        *known =
            row_of_key(work, str_format(work->arena, "%.*s:%d", STR_ARG(host->key), device), row);
    }
    return *known;
}

/* A driver's call: cudaLaunchKernel, cuMemcpyAsync, hipModuleLaunchKernel. */
static bool is_api(struct str name)
{
    return str_starts(name, STR("cuda")) || str_starts(name, STR("hip")) ||
           (str_starts(name, STR("cu")) && name.count > 2 && name.at[2] >= 'A' &&
            name.at[2] <= 'Z');
}

/* The runtime's own events and Python frames have marks; what is left are the user's. */
static bool is_annotation(struct str name)
{
    static const char *const runtime[] = {
        "PjitFunction(", "ParseArguments", "Wait", "Rendezvous", "backend_",
        "lower_",        "XlaModule:",     "H2D",  "D2H"};

    if (name.count == 0 || str_starts(name, STR("$")) || str_starts(name, STR("[")) ||
        str_starts(name, STR("end: ")) || str_contains(name, STR("::")) || is_api(name))
        return false;
    for (size_t i = 0; i < COUNT(runtime); i++) {
        if (str_starts(name, str_of(runtime[i])))
            return false;
    }
    return true;
}

uint32_t top_row_of_slice(struct top_work *work, const struct scanned *slice)
{
    const struct host_trace *host = work->host->selection->host;
    const struct track *track = &host->trace->tracks[slice->track];

    switch (work->by) {
    case BY_KERNEL:
        return track_is_device_work(track) && track->kind == TRACK_STREAM &&
                       slice->kind != KIND_COPY &&
                       (host->attribution == NULL ||
                        attribution_of(host->attribution, slice->slice) != NULL)
                   ? row_of_name(work, slice)
                   : UINT32_MAX;
    case BY_API:
        return track->device < 0 && is_api(trace_name(host->trace, slice->name))
                   ? row_of_name(work, slice)
                   : UINT32_MAX;
    case BY_ANNOTATION:
        return track->device < 0 && is_annotation(trace_name(host->trace, slice->name)) &&
                       (host->attribution == NULL ||
                        attribution_of(host->attribution, slice->slice) == NULL)
                   ? row_of_name(work, slice)
                   : UINT32_MAX;
    case BY_TRACK:
        return row_of_track(work, slice);
    case BY_HOST:
        return row_of_host(work, slice);
    case BY_DEVICE:
        return row_of_device(work, slice);
    default:
        return row_of_name(work, slice);
    }
}

/* A number that every event of the op's type carries; NAN where it does not. */
static double type_number(const struct trace *trace, type_id type, name_id key)
{
    if (type >= trace->type_count)
        return NAN;
    for (uint32_t i = 0; i < trace->types[type].arg_count; i++) {
        const struct arg *arg = &trace->type_args[trace->types[type].first_arg + i];
        double real;

        if (arg->key != key)
            continue;
        switch (arg->type) {
        case ARG_INT64:
            return (double)(int64_t)arg->bits;
        case ARG_UINT64:
            return (double)arg->bits;
        case ARG_DOUBLE:
            memcpy(&real, &arg->bits, sizeof(real));
            return real;
        default:
            break;
        }
    }
    return NAN;
}

/* By op, from the type of its first event; NULL where the file does not have the key. */
static double *op_numbers(const struct host_trace *host, const char *key, struct arena *arena)
{
    const struct attribution *attribution = host->attribution;
    name_id id;

    if (!trace_find_name(host->trace, str_of(key), &id))
        return NULL;

    double *numbers = arena_array(arena, double, attribution->op_count);
    bool *seen = arena_array(arena, bool, attribution->op_count);

    for (uint32_t i = 0; i < attribution->entry_count; i++) {
        const struct attributed *entry = &attribution->entries[i];

        if (seen[entry->op])
            continue;
        seen[entry->op] = true;
        numbers[entry->op] = type_number(
            host->trace, trace_type(host->trace, trace_slice(host->trace, entry->slice).event), id);
    }
    return numbers;
}

void top_costs(struct top_work *work, struct top_row *row, uint32_t op)
{
    const struct top_host *host = work->host;

    if (host->op_flops != NULL && !isnan(host->op_flops[op])) {
        row->flops += host->op_flops[op];
        row->flops_known = true;
    }
    if (host->op_bytes != NULL && !isnan(host->op_bytes[op])) {
        row->bytes += host->op_bytes[op];
        row->bytes_known = true;
    }
}

void top_hosts_open(struct top_work *work, const struct selection *selections, uint32_t count)
{
    work->hosts = arena_array(work->arena, struct top_host, count);
    work->host_count = count;
    for (uint32_t i = 0; i < count; i++) {
        const struct host_trace *host = selections[i].host;
        struct top_host *open = &work->hosts[i];
        size_t ids = host->trace->name_count;

        if (host->attribution != NULL && host->attribution->op_count > ids)
            ids = host->attribution->op_count;
        open->selection = &selections[i];
        open->row_of = arena_array(work->arena, uint32_t, ids + 1);
        open->row_of_track = arena_array(work->arena, uint32_t, host->trace->track_count);
        if (work->by <= BY_CATEGORY && host->attribution != NULL) {
            open->op_flops = op_numbers(host, "flops", work->arena);
            open->op_bytes = op_numbers(host, "bytes_accessed", work->arena);
        }
    }
}

void top_hosts_close(struct top_work *work)
{
    for (uint32_t i = 0; i < work->host_count; i++) {
        map64_free(&work->hosts[i].row_of_device);
        map64_free(&work->hosts[i].counted);
    }
}
