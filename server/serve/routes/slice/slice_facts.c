/* SPDX-License-Identifier: Apache-2.0 */
/* What a slice is: its op and execution, what that costs, and how it compares with its mates. */
#include <math.h>

#include "analyse/comm/transfers.h"
#include "analyse/hlo/phase.h"
#include "analyse/ops/kernels.h"
#include "analyse/scan/module_names.h"
#include "base/bisect.h"
#include "serve/answer/table_out.h"
#include "serve/routes/slice/slice_parts.h"
#include "trace/args/args.h"
#include "trace/names/by_name.h"
#include "trace/ps.h"

enum { RANKED_MAX = 4000000 };

static void put_name_or_null(struct json *json, const struct subject *subject, const char *key,
                             name_id name)
{
    json_put_text_or_null(json, key, trace_name(subject->trace, name));
}

static void put_execution(struct json *json, const struct subject *subject, uint32_t index)
{
    const struct execution *execution = &subject->host->attribution->executions[index];
    char id[24];

    json_key(json, "execution");
    json_open(json, '{');
    json_put_text(json, "run_id",
                  (struct str){.at = id, .count = unsigned_digits(execution->run_id, id)});
    json_put_integer(json, "device", execution->device);
    json_put_text_or_null(json, "launch",
                          execution->launch == NO_SLICE
                              ? STR("")
                              : slice_text(subject->arena, subject->host, execution->launch));
    json_put_integer(json, "start_ps", run_time(subject->host, execution->start_ps));
    json_put_integer(json, "end_ps", run_time(subject->host, execution->end_ps));
    json_close(json, '}');
}

static void put_op(struct json *json, const struct subject *subject, const struct attributed *entry)
{
    const struct op *op = &subject->host->attribution->ops[entry->op];
    struct module_names modules = module_names_of(subject->host, subject->arena);

    put_name_or_null(json, subject, "op", op_called(op));
    json_put_text_or_null(json, "module", module_name_of(&modules, op));
    put_name_or_null(json, subject, "scope", op->scope);
    put_name_or_null(json, subject, "source", op->source);
    put_name_or_null(json, subject, "category", op->category);
    enum op_phase phase = phase_of_op(subject->host->trace, op);

    json_put_text_or_null(json, "phase",
                          phase == OP_PHASE_UNKNOWN ? STR("") : str_of(phase_word(phase)));
    json_key(json, "device");
    if (entry->device >= 0)
        json_add_integer(json, entry->device);
    else
        json_add_null(json);
    json_key(json, "attributed");
    json_open(json, '{');
    json_put_integer(json, "start_ps", run_time(subject->host, entry->start_ps));
    json_put_integer(json, "dur_ps", entry->dur_ps);
    json_put_integer(json, "self_ps", entry->self_ps);
    json_close(json, '}');
    if (entry->execution != NO_EXECUTION)
        put_execution(json, subject, entry->execution);
    else
        json_put_null(json, "execution");
}

static void put_no_op(struct json *json)
{
    static const char *const members[] = {"op",    "module", "scope",      "source",   "category",
                                          "phase", "device", "attributed", "execution"};

    for (size_t i = 0; i < COUNT(members); i++)
        json_put_null(json, members[i]);
}

/* What the compiler reckoned for every event of the type; NAN where it said nothing. */
static double type_number(const struct subject *subject, const char *key)
{
    const struct trace *trace = subject->trace;
    type_id type = trace_type(trace, subject->slice.event);
    name_id id;

    if (type >= trace->type_count || !trace_find_name(trace, str_of(key), &id))
        return NAN;
    for (uint32_t i = 0; i < trace->types[type].arg_count; i++) {
        const struct arg *arg = &trace->type_args[trace->types[type].first_arg + i];
        double real;

        if (arg->key != id)
            continue;
        if (arg->type == ARG_INT64 || arg->type == ARG_UINT64)
            return (double)arg->bits;
        if (arg->type == ARG_DOUBLE) {
            memcpy(&real, &arg->bits, sizeof real);
            return real;
        }
    }
    return NAN;
}

/* A kernel is an op slice on a track of a device that no program names. */
static bool is_kernel(const struct subject *subject, const struct attributed *entry)
{
    const struct row *row = &subject->trace->rows[subject->slice.row];

    return entry != NULL && subject->trace->tracks[row->track].kind == TRACK_STREAM;
}

static uint64_t number_arg(const struct subject *subject, const char *const *keys, size_t count)
{
    struct arg *args;
    uint32_t arg_count = trace_args(subject->trace, subject->slice.event, subject->arena, &args);

    for (size_t key = 0; key < count; key++) {
        name_id id;

        for (uint32_t i = 0;
             trace_find_name(subject->trace, str_of(keys[key]), &id) && i < arg_count; i++) {
            bool number = args[i].type == ARG_INT64 || args[i].type == ARG_UINT64 ||
                          args[i].type == ARG_DIGITS;

            if (args[i].key == id && number)
                return args[i].bits;
        }
    }
    return 0;
}

/* Of which graph, and which node of it; ids are texts, for they have 64 bits. */
static void put_graph(struct json *json, const struct subject *subject,
                      const struct attributed *entry)
{
    static const char *const graphs[] = {"cuda_graph_id", "graph id", "graph_id",
                                         "cuda_graph_exec_id", "graph_exec_id"};
    static const char *const nodes[] = {"cuda_graph_node_id", "graph node id", "graph_node_id"};
    char id[24];

    json_key(json, "graph");
    if (entry == NULL || entry->graph == GRAPH_NONE) {
        json_add_null(json);
        return;
    }

    uint64_t graph = number_arg(subject, graphs, COUNT(graphs));
    uint64_t node = number_arg(subject, nodes, COUNT(nodes));

    json_open(json, '{');
    json_put_text(json, "part", entry->graph == GRAPH_WHOLE ? STR("whole") : STR("node"));
    json_put_text_or_null(json, "id",
                          graph == 0 ? STR("")
                                     : (struct str){.at = id, .count = unsigned_digits(graph, id)});
    json_put_text_or_null(json, "node",
                          node == 0 ? STR("")
                                    : (struct str){.at = id, .count = unsigned_digits(node, id)});
    json_close(json, '}');
}

/* The call on the host that sent it, and how long it waited on the device after that. */
static void put_launch(struct json *json, const struct subject *subject,
                       const struct attributed *entry)
{
    json_key(json, "launch");
    if (entry == NULL || entry->launch >= subject->trace->slice_count) {
        json_add_null(json);
        return;
    }

    struct slice call = trace_slice(subject->trace, entry->launch);
    int64_t queue_ps = entry->start_ps - (call.start_ps + call.dur_ps);

    json_open(json, '{');
    json_put_text(json, "slice", slice_text(subject->arena, subject->host, entry->launch));
    json_put_text(json, "name", trace_name(subject->trace, call.name));
    json_put_integer(json, "start_ps", run_time(subject->host, call.start_ps));
    json_put_integer(json, "dur_ps", call.dur_ps);
    json_put_integer(json, "latency_ps", entry->start_ps - call.start_ps);
    json_put_integer(json, "queue_ps", queue_ps > 0 ? queue_ps : 0);
    json_close(json, '}');
}

/* The shape of a kernel's launch, and the line that profiles it again. */
static void put_kernel(struct json *json, const struct subject *subject,
                       const struct attributed *entry)
{
    const struct attribution *of = subject->host->attribution;
    struct table table;

    json_key(json, "shape");
    if (entry == NULL || entry_kernel(of, attribution_find(of, entry->slice)) == NO_KERNEL) {
        json_add_null(json);
        return;
    }
    kernel_of_entry(subject->host, attribution_find(of, entry->slice), subject->arena, &table);
    json_put_row_objects(json, &table);
}

/* What a copy moved. */
static void put_transfer(struct json *json, const struct subject *subject)
{
    struct table table;

    json_key(json, "transfer");
    if (transfer_table_of_slice(subject->host, subject->slice.id, subject->arena, &table))
        json_put_row_objects(json, &table);
    else
        json_add_null(json);
}

void slice_put_facts(struct json *json, const struct subject *subject)
{
    const struct attribution *attribution = subject->host->attribution;
    struct attributed room;
    const struct attributed *entry =
        attribution == NULL ? NULL : attribution_of(attribution, subject->slice.id, &room);
    const char *unknown = attribution == NULL ? "the ops of this host have not been attributed yet"
                                              : "this slice is not a device op";

    if (entry != NULL && entry->op != NO_OP)
        put_op(json, subject, entry);
    else
        put_no_op(json);
    json_put_text_or_null(
        json, "kernel",
        is_kernel(subject, entry) ? trace_name(subject->trace, subject->slice.name) : STR(""));
    put_kernel(json, subject, entry);
    put_transfer(json, subject);
    put_launch(json, subject, entry);
    put_graph(json, subject, entry);
    double flops = type_number(subject, "flops"), bytes = type_number(subject, "bytes_accessed");
    json_put_real(json, "flops", flops);
    json_put_real(json, "bytes", bytes);
    json_key(json, "reasons");
    json_open(json, '{');
    if (entry == NULL)
        json_put_text(json, "op", str_of(unknown));
    if (isnan(flops))
        json_put_text(json, "flops", STR("the profile gives no FLOPs for it"));
    if (isnan(bytes))
        json_put_text(json, "bytes", STR("the profile gives no bytes for it"));
    json_close(json, '}');
}

enum { SPREAD_BUCKETS = 32 };

struct spread {      /* of the durations of one name */
    uint64_t longer; /* than the subject */
    int64_t bounds_ps[SPREAD_BUCKETS + 1];
    uint64_t counts[SPREAD_BUCKETS];
};

/* Even steps from the least to the most; even ratios where the most is many times the least. */
static void set_bounds(struct spread *spread, int64_t min_ps, int64_t max_ps)
{
    bool even = max_ps / 8 < min_ps;
    double first = (double)(min_ps > 0 ? min_ps : 1);

    for (int i = 0; i <= SPREAD_BUCKETS; i++) {
        double part = (double)i / SPREAD_BUCKETS;

        spread->bounds_ps[i] = even ? min_ps + (int64_t)((double)(max_ps - min_ps) * part)
                                    : (int64_t)(first * pow((double)max_ps / first, part));
    }
    spread->bounds_ps[0] = min_ps;
    spread->bounds_ps[SPREAD_BUCKETS] = max_ps;
}

static void count_mate(struct spread *spread, int64_t own_ps, int64_t dur_ps)
{
    spread->counts[BISECT(1, SPREAD_BUCKETS, i, spread->bounds_ps[i] <= dur_ps) - 1]++;
    spread->longer += dur_ps > own_ps;
}

/* How the durations of its name lie; false where there are too many to look at. */
static bool spread_of(const struct subject *subject, const struct name_stats *stats,
                      struct spread *ret)
{
    uint32_t run_count, unpacked = UINT32_MAX;
    const struct name_run *runs = trace_name_runs(subject->trace, subject->slice.name, &run_count);
    struct chunk *chunk = arena_new(subject->arena, struct chunk);
    uint64_t seen = 0;

    *ret = (struct spread){0};
    set_bounds(ret, stats->min_ps, stats->max_ps);
    for (uint32_t i = 0; i < run_count; i++) {
        const struct row *row = &subject->trace->rows[runs[i].row];
        const slice_id *slices = trace_name_slices(subject->trace, &runs[i]);

        for (uint32_t k = 0; k < runs[i].count && !subject->trace->tracks[row->track].derived;
             k++) {
            uint32_t ordinal = slices[k] - row->first_slice;
            uint32_t index = row->first_chunk + ordinal / CHUNK_SLICES;

            if (++seen > RANKED_MAX)
                return false;
            if (index != unpacked)
                chunk_unpack(subject->trace, index, COLUMN_DUR, chunk);
            unpacked = index;
            count_mate(ret, subject->slice.dur_ps, chunk->dur_ps[ordinal % CHUNK_SLICES]);
        }
    }
    return true;
}

static void put_histogram(struct json *json, const struct spread *spread)
{
    json_key(json, "histogram");
    json_open(json, '{');
    json_key(json, "bounds_ps");
    json_open(json, '[');
    for (uint32_t i = 0; i <= SPREAD_BUCKETS; i++)
        json_add_integer(json, spread->bounds_ps[i]);
    json_close(json, ']');
    json_key(json, "counts");
    json_open(json, '[');
    for (uint32_t i = 0; i < SPREAD_BUCKETS; i++)
        json_add_unsigned(json, spread->counts[i]);
    json_close(json, ']');
    json_close(json, '}');
}

void slice_put_mates(struct json *json, const struct subject *subject)
{
    const struct name_stats *stats = trace_stats_of(subject->trace, subject->slice.name);
    struct spread spread;

    json_key(json, "mates");
    if (stats == NULL || stats->count == 0) {
        json_add_null(json);
        return;
    }

    bool known = spread_of(subject, stats, &spread);

    json_open(json, '{');
    json_put_unsigned(json, "count", stats->count);
    json_put_integer(json, "total_ps", stats->total_ps);
    if (ps_is_cut(stats->total_ps))
        json_put_null(json, "mean_ps");
    else
        json_put_integer(json, "mean_ps", ps_mean(stats->total_ps, (uint64_t)stats->count));
    json_put_integer(json, "min_ps", stats->min_ps);
    json_put_integer(json, "p50_ps", stats->p50_ps);
    json_put_integer(json, "p95_ps", stats->p95_ps);
    json_put_integer(json, "max_ps", stats->max_ps);
    json_key(json, "rank");
    if (known)
        json_add_unsigned(json, spread.longer + 1);
    else
        json_add_null(json);
    if (known && stats->max_ps > stats->min_ps)
        put_histogram(json, &spread);
    else
        json_put_null(json, "histogram");
    json_put_bool(json, "approx", stats->quantiles_approximate);
    json_close(json, '}');
}
