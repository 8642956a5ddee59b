/* SPDX-License-Identifier: Apache-2.0 */
/* What some stats mean beyond being args.
 *
 *   _pt _p / _ct _c     producer / consumer: type of context and id        -> flow
 *   flow                direction 2 bits, id 56 bits, type 6 bits           -> flow
 *   correlation_id      a launch on the host, its work on the device       -> flow
 *   bytes_allocated...  of MemoryAllocation and MemoryDeallocation         -> memory event
 *   counter_value       or else the first number, on a line of counters     -> sample
 *   hlo_op, program_id  with the program's HLO: opcode and category        -> kind
 */
#include "decode/xspace/xspace.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const context_words[] = {
    "generic",
    "legacy",
    "tf executor",
    "tfrt executor",
    "batch scheduler",
    "pjrt",
    "adaptive batch scheduler",
    "tfrt runtime",
    "tpu embedding",
    "gpu launch",
    "batcher",
    "tpu stream",
    "tpu launch",
    "pathways executor",
    "pjrt library call",
    "thread pool",
    "jax serving",
    "sparsecore offload",
};

static name_id context_name(struct xspace *space, uint64_t type)
{
    char text[40];

    if (type >= COUNT(context_words)) {
        snprintf(text, sizeof text, "context %" PRIu64, type);
        return sink_name(space->sink, str_of(text));
    }
    if (space->context_words[type] == 0)
        space->context_words[type] = sink_name(space->sink, str_of(context_words[type]));
    return space->context_words[type];
}

static uint64_t meaning_or(const struct meaning *meaning, enum stat_role role, uint64_t otherwise)
{
    return meaning_has(meaning, role) ? meaning->values[role] : otherwise;
}

static void packed_flow(struct xspace *space, uint64_t flow)
{
    name_id kind = context_name(space, flow >> 58);
    uint64_t id = flow >> 2 & ((UINT64_C(1) << 56) - 1);

    if (flow & 1)
        sink_flow(space->sink, FLOW_TO, kind, id);
    if (flow & 2)
        sink_flow(space->sink, FLOW_FROM, kind, id);
}

void meaning_flows(struct line *line, const struct meaning *meaning)
{
    struct xspace *space = line->plane->space;
    struct sink *sink = space->sink;

    if (meaning_has(meaning, STAT_PRODUCER))
        sink_flow(sink, FLOW_FROM, context_name(space, meaning_or(meaning, STAT_PRODUCER_TYPE, 0)),
                  meaning->values[STAT_PRODUCER]);
    if (meaning_has(meaning, STAT_CONSUMER))
        sink_flow(sink, FLOW_TO, context_name(space, meaning_or(meaning, STAT_CONSUMER_TYPE, 0)),
                  meaning->values[STAT_CONSUMER]);
    if (meaning_has(meaning, STAT_FLOW))
        packed_flow(space, meaning->values[STAT_FLOW]);
    if (meaning_or(meaning, STAT_CORRELATION, 0) != 0)
        sink_flow(sink, line->plane->is_device ? FLOW_TO : FLOW_FROM,
                  sink_name(sink, STR("kernel launch")), meaning->values[STAT_CORRELATION]);
}

static name_id allocator_name(struct sink *sink, const struct meaning *meaning)
{
    char text[40];

    if (meaning_has(meaning, STAT_ALLOCATOR))
        return (name_id)meaning->values[STAT_ALLOCATOR];
    if (!meaning_has(meaning, STAT_DEVICE_ORDINAL))
        return 0;
    snprintf(text, sizeof text, "device %" PRId64, (int64_t)meaning->values[STAT_DEVICE_ORDINAL]);
    return sink_name(sink, str_of(text));
}

void meaning_memory(struct line *line, enum event_role role, const struct meaning *meaning,
                    int64_t at_ps)
{
    const uint64_t unknown = UINT64_MAX; /* -1 */
    struct sink *sink = line->plane->space->sink;
    uint64_t requested = meaning_or(meaning, STAT_REQUESTED_BYTES, unknown);

    sink_memory(sink,
                (struct memory_event){
                    .at_ps = at_ps,
                    .allocator = allocator_name(sink, meaning),
                    .is_free = role == EVENT_FREE,
                    .bytes = (int64_t)meaning_or(meaning, STAT_ALLOCATION_BYTES, requested),
                    .bytes_allocated = (int64_t)meaning_or(meaning, STAT_BYTES_ALLOCATED, unknown),
                    .bytes_reserved = (int64_t)meaning_or(meaning, STAT_BYTES_RESERVED, unknown),
                    .bytes_available = (int64_t)meaning_or(meaning, STAT_BYTES_AVAILABLE, unknown),
                    .peak_bytes = (int64_t)meaning_or(meaning, STAT_PEAK_BYTES, unknown),
                });
}

static double number_of(const struct arg *arg)
{
    double value;

    if (arg->type == ARG_DOUBLE) {
        memcpy(&value, &arg->bits, sizeof value);
        return value;
    }
    return arg->type == ARG_INT64 ? (double)(int64_t)arg->bits : (double)arg->bits;
}

static bool is_number(const struct arg *arg)
{
    return arg->type == ARG_DOUBLE || arg->type == ARG_INT64 || arg->type == ARG_UINT64;
}

/* The value of a sample: by name, the best first, or else its first number that is no number of the
 * counter itself. */
static const struct arg *find_value(const struct line *line)
{
    static const char *const words[] = {"counter_value", "Scaled Value", "Raw Value"};
    struct sink *sink = line->plane->space->sink;
    name_id number = sink_name(sink, STR("performance_counter_id"));
    const struct arg *found = NULL;
    size_t best = COUNT(words);

    for (uint32_t index = 0; index < line->arg_count; index++) {
        const struct arg *arg = &line->args[index];
        if (!is_number(arg) || arg->key == number)
            continue;
        for (size_t word = 0; word < best; word++)
            if (str_equal(sink_text(sink, arg->key), str_of(words[word]))) {
                best = word;
                found = arg;
            }
        if (found == NULL)
            found = arg;
    }
    return found;
}

/* What a performance counter says of itself, with its first sample. */
static void describe_counter(const struct line *line, track_id track)
{
    struct sink *sink = line->plane->space->sink;

    for (uint32_t index = 0; index < line->arg_count; index++)
        if (str_starts(sink_text(sink, line->args[index].key), STR("performance_counter_")))
            sink_property(sink, track, line->args[index]);
}

void meaning_sample(struct line *line, name_id name, int64_t at_ps)
{
    struct sink *sink = line->plane->space->sink;
    const struct arg *value = find_value(line);
    bool is_new;

    if (value == NULL) {
        line->plane->space->empty_sample_count++;
        return;
    }
    uint32_t track;
    if (!id_map_find(&line->counters, name, &track)) {
        track = sink_track(sink, (struct sink_track){
                                     .parent = line->plane->track,
                                     .kind = TRACK_COUNTER,
                                     .name = sink_text(sink, name),
                                     .source_id = line->id,
                                     .device = line->plane->device,
                                 });
        id_map_add(&line->counters, name, track, &is_new);
        describe_counter(line, track);
    }
    sink_counter(sink, track, at_ps, number_of(value));
    line->plane->space->sample_count++;
}

/* GPUs join the names of enclosing ops with "::", the innermost last. */
static struct str innermost(struct str op)
{
    for (size_t index = op.count; index >= 2; index--)
        if (op.at[index - 1] == ':' && op.at[index - 2] == ':')
            return str_skip(op, index);
    return op;
}

static const struct hlo_facts *find_facts(struct xspace *space, name_id op, uint64_t program)
{
    const struct hlo_facts *facts = hlo_find(&space->hlo, program, op);
    if (facts != NULL || op == 0)
        return facts;

    struct str whole = sink_text(space->sink, op), inner = innermost(whole);
    char copy[256]; /* a text of the sink does not outlive sink_name */
    if (inner.count == whole.count || inner.count > sizeof copy)
        return NULL;
    memcpy(copy, inner.at, inner.count);
    inner.at = copy;
    return hlo_find(&space->hlo, program, sink_name(space->sink, inner));
}

static struct str text_or_none(struct sink *sink, name_id name)
{
    return name != 0 ? sink_text(sink, name) : STR("");
}

static enum kind compute_kind(struct line *line, const struct event_metadata *metadata, name_id op,
                              uint64_t program, bool is_op)
{
    struct xspace *space = line->plane->space;
    struct sink *sink = space->sink;
    const struct hlo_facts *facts = find_facts(space, op, program);
    name_id category = metadata->category;

    if (category == 0 && facts != NULL)
        category = facts->category;
    struct kind_facts known = {
        .plane = line->plane->scan->name,
        .line = line->name,
        .name = text_or_none(sink, metadata->name),
        .opcode = text_or_none(sink, facts != NULL ? facts->opcode : 0),
        .category = text_or_none(sink, category),
        .is_op = is_op,
    };
    return kind_of(&known);
}

/* An op is what a device executes: events of its op lines, and on XLA:CPU, where there is no
 * device plane, events with an hlo_op. The calls that launch kernels carry that stat too, and a
 * correlation with the kernel. */
enum kind meaning_kind(struct line *line, struct event_metadata *metadata,
                       const struct meaning *meaning)
{
    bool is_launch = !line->plane->is_device && meaning_has(meaning, STAT_CORRELATION);
    bool has_op = meaning_has(meaning, STAT_HLO_OP) && !is_launch;
    bool is_op = has_op || line->role == ROLE_OPS || line->role == ROLE_ASYNC_OPS;
    name_id op = has_op ? (name_id)meaning->values[STAT_HLO_OP] : metadata->op;
    uint64_t program = meaning_or(meaning, STAT_PROGRAM_ID, metadata->program);
    name_id key = is_op ? op : UINT32_MAX;

    if (metadata->kind_line != line->ordinal || metadata->kind_op != key ||
        metadata->kind_program != program) {
        metadata->kind = (uint8_t)compute_kind(line, metadata, is_op ? op : 0, program, is_op);
        metadata->kind_line = line->ordinal;
        metadata->kind_op = key;
        metadata->kind_program = program;
    }
    return (enum kind)metadata->kind;
}
