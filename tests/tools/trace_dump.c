/* SPDX-License-Identifier: Apache-2.0 */
/* What a decoder yields, as JSON, for comparison with an independent reader.
 *
 *   trace_dump FILE        {"tracks": [{"plane", "id", "line", "count", "instants", "sum_ps",
 *                            "start_ps", "end_ps", "names": [[name, count, total, self], ...],
 *                            "counts": {}}],
 *                           "args": [[key, type, count, sum], ...], "notes": [...], "epoch_ns",
 *                           "hostname", "flows", "programs", ...,
 *                           "modules": [{"name", "stage", "entry", "computations", ...}],
 *                           "documents": [[lines, bytes], ...],
 *                           "stacks", "stack_samples", "sample_types": [[name, unit, total]],
 *                           "labels": [[key, text or null, samples], ...],
 *                           "sampled": [[track, at_ps, [[function, file, line, module], ...
 *                            outermost first], [value, ...]], ...] of at most 20,000}
 *
 * The trace is built in memory and read back through the same functions as a stored one. Bytes of
 * names stand as characters of the same number, so that any name survives JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "decode/hlo/hlo_module.h"
#include "decoded.h"
#include "trace/args/args.h"
#include "trace/events/counter.h"
#include "trace/ps.h"

enum { SAMPLED_MAX = 20000 };

struct name_sums {
    uint64_t count;
    int64_t total_ps, self_ps;
};

struct dump {
    const struct trace *trace;
    struct chunk *chunk;
    struct name_sums *sums; /* by name */
    name_id *used;          /* names of the track at hand */
    uint32_t used_count;
    uint64_t instants;
};

static void print_text(struct str text)
{
    putchar('"');
    for (size_t index = 0; index < text.count; index++) {
        uint8_t byte = (uint8_t)text.at[index];
        if (byte == '"' || byte == '\\' || byte < 0x20 || byte > 0x7e)
            printf("\\u%04x", byte);
        else
            putchar(byte);
    }
    putchar('"');
}

static void sum_chunk(struct dump *dump)
{
    const struct chunk *chunk = dump->chunk;

    for (uint32_t index = 0; index < chunk->count; index++) {
        struct name_sums *sums = &dump->sums[chunk->name[index]];
        if (sums->count++ == 0)
            dump->used[dump->used_count++] = chunk->name[index];
        ps_add(&sums->total_ps, chunk->dur_ps[index]);
        ps_add(&sums->self_ps, chunk->self_ps[index]);
        dump->instants += (chunk->flags[index] & SLICE_INSTANT) != 0;
    }
}

static void print_names(struct dump *dump)
{
    for (uint32_t index = 0; index < dump->used_count; index++) {
        name_id name = dump->used[index];
        printf("%s[", index > 0 ? "," : "");
        print_text(trace_name(dump->trace, name));
        printf(",%" PRIu64 ",%" PRId64 ",%" PRId64 "]", dump->sums[name].count,
               dump->sums[name].total_ps, dump->sums[name].self_ps);
        dump->sums[name] = (struct name_sums){0};
    }
    dump->used_count = 0;
    dump->instants = 0;
}

/* Whole numbers that the file tells of a track, or of itself: {key: number}. */
static void print_counts(const struct trace *trace, track_id track)
{
    const char *comma = "";

    printf(",\"counts\":{");
    for (uint32_t index = 0; index < trace->property_count; index++) {
        const struct property *property = &trace->properties[index];
        if (property->track != track || property->arg.type != ARG_INT64)
            continue;
        printf("%s", comma);
        print_text(trace_name(trace, property->arg.key));
        printf(":%" PRId64, (int64_t)property->arg.bits);
        comma = ",";
    }
    printf("}");
}

/* Of a counter: how many samples, the least and the greatest. */
static void print_samples(const struct trace *trace, track_id track)
{
    uint64_t count = 0;
    const struct counter_sample *samples = trace_samples(trace, track, &count);
    double least = 0, greatest = 0;

    for (uint64_t index = 0; index < count; index++) {
        double value = samples[index].value;
        least = index == 0 || value < least ? value : least;
        greatest = index == 0 || value > greatest ? value : greatest;
    }
    if (count > 0)
        printf(",\"samples\":[%" PRIu64 ",%.6f,%.6f]", count, least, greatest);
}

static void print_track(struct dump *dump, const struct track *track)
{
    const struct trace *trace = dump->trace;

    for (row_id row = track->first_row; row < track->first_row + track->row_count; row++) {
        for (uint32_t chunk = 0; chunk < trace->rows[row].chunk_count; chunk++) {
            chunk_unpack(trace, trace->rows[row].first_chunk + chunk,
                         COLUMN_DUR | COLUMN_SELF | COLUMN_NAME | COLUMN_FLAGS, dump->chunk);
            sum_chunk(dump);
        }
    }
    printf("{\"plane\":");
    print_text(track->parent == NO_TRACK ? STR("")
                                         : trace_name(trace, trace->tracks[track->parent].name));
    printf(",\"id\":%" PRId64 ",\"line\":", track->source_id);
    print_text(trace_name(trace, track->name));
    printf(",\"kind\":%d,\"role\":%d,\"derived\":%d,\"device\":%d,\"rows\":%u,\"count\":%" PRIu64
           ",\"instants\":%" PRIu64 ",\"sum_ps\":%" PRId64 ",\"start_ps\":%" PRId64
           ",\"end_ps\":%" PRId64 ",\"names\":[",
           track->kind, track->role, track->derived, track->device, track->row_count,
           track->slice_count, dump->instants, track->duration_sum_ps, track->start_ps,
           track->end_ps);
    print_names(dump);
    printf("]");
    print_counts(trace, (track_id)(track - trace->tracks));
    print_samples(trace, (track_id)(track - trace->tracks));
    printf("}");
}

/* What the file says of itself: texts as such, all else as null. */
static void print_file_properties(const struct trace *trace)
{
    const char *comma = "";

    printf(",\"file_properties\":{");
    for (uint32_t index = 0; index < trace->property_count; index++) {
        const struct property *property = &trace->properties[index];
        if (property->track != NO_TRACK)
            continue;
        printf("%s", comma);
        print_text(trace_name(trace, property->arg.key));
        printf(":");
        if (property->arg.type == ARG_STRING)
            print_text(trace_name(trace, (name_id)property->arg.bits));
        else
            printf("null");
        comma = ",";
    }
    printf("}");
}

static void print_flows_by_kind(const struct trace *trace)
{
    uint64_t *counts = calloc(trace->name_count + 1, sizeof *counts);
    const char *comma = "";

    for (uint64_t index = 0; index < trace->flow_count; index++)
        counts[trace->flows[index].kind]++;
    printf(",\"flows_by_kind\":{");
    for (name_id kind = 0; kind < trace->name_count; kind++) {
        if (counts[kind] == 0)
            continue;
        printf("%s", comma);
        print_text(trace_name(trace, kind));
        printf(":%" PRIu64, counts[kind]);
        comma = ",";
    }
    printf("}");
    free(counts);
}

struct arg_sums {
    uint64_t count, sum; /* of bits, or of the texts' hashes, modulo 2^64 */
};

static uint64_t sum_of_arg(const struct trace *trace, const struct arg *arg)
{
    uint64_t sum = 0;

    if (arg->type != ARG_STRING && arg->type != ARG_BYTES && arg->type != ARG_JSON)
        return arg->bits;
    struct str text = trace_name(trace, (name_id)arg->bits);
    for (size_t index = 0; index < text.count; index++)
        sum = sum * 31 + (uint8_t)text.at[index];
    return sum;
}

/* By key and type: how often, and a sum over the values. Long traces go without: the reader that
 * they are compared with would take minutes. */
static void print_args(const struct trace *trace)
{
    enum { TYPES = ARG_DIGITS + 1, EVENTS_MAX = 100000 };
    struct arg_sums *sums = calloc((size_t)trace->name_count * TYPES, sizeof *sums);
    struct arena *arena = arena_create();
    struct arg_rows rows = {0};
    const char *comma = "";

    printf(",\"args\":[");
    for (event_id event = 0; event < trace->event_count && trace->event_count <= EVENTS_MAX;
         event = rows.first_event + rows.count) {
        if (!trace_arg_rows(trace, event, arena, &rows))
            break;
        for (uint32_t index = 0; index < rows.first_arg[rows.count]; index++) {
            const struct arg *arg = &rows.args[index];
            struct arg_sums *of = &sums[arg->key * TYPES + arg->type];
            of->count++;
            of->sum += sum_of_arg(trace, arg);
        }
        arena_reset(arena);
    }
    for (name_id key = 0; key < trace->name_count; key++) {
        for (uint32_t type = 0; type < TYPES; type++) {
            const struct arg_sums *of = &sums[key * TYPES + type];
            if (of->count == 0)
                continue;
            printf("%s[", comma);
            print_text(trace_name(trace, key));
            printf(",%u,%" PRIu64 ",%" PRIu64 "]", type, of->count, of->sum);
            comma = ",";
        }
    }
    printf("]");
    arena_destroy(arena);
    free(sums);
}

static uint32_t count_scopes(const struct trace *trace, const struct program *program)
{
    uint32_t count = 0;

    for (uint32_t index = 0; index < program->instruction_count; index++)
        count += trace->instructions[program->first_instruction + index].scope != 0;
    return count;
}

static void print_about(const struct trace *trace)
{
    printf("],\"notes\":[");
    for (uint32_t index = 0; index < trace->note_count; index++) {
        printf("%s[", index > 0 ? "," : "");
        print_text(trace_name(trace, trace->notes[index].kind));
        printf(",%" PRIu64 ",", trace->notes[index].count);
        print_text(trace_name(trace, trace->notes[index].message));
        printf("]");
    }
    printf("]");
    print_counts(trace, NO_TRACK);
    print_file_properties(trace);
    print_flows_by_kind(trace);
    print_args(trace);
    printf(",\"programs\":[");
    for (uint32_t index = 0; index < trace->program_count; index++) {
        const struct program *program = &trace->programs[index];
        printf("%s[", index > 0 ? "," : "");
        print_text(trace_name(trace, program->name));
        printf(",\"%" PRIu64 "\",%u,%" PRIu64 ",%u]", program->id, program->instruction_count,
               program->blob_bytes, count_scopes(trace, program));
    }
    printf("],\"hostname\":");
    print_text(trace->hostname);
    printf(",\"epoch_ns\":%" PRId64 ",\"flows\":%" PRIu64 ",\"samples\":%" PRIu64
           ",\"memory_events\":%u,\"properties\":%u,\"slices\":%" PRIu64,
           trace->has_epoch ? trace->epoch_ns : 0, trace->flow_count, trace->sample_count,
           trace->memory_event_count, trace->property_count, trace->slice_count);
}

/* What the trace keeps of a program, then what its blob holds when it is read whole. */
static void print_module(const struct trace *trace, const struct program *program)
{
    struct arena *arena = arena_create();
    struct error err = {0};
    struct hlo_module module = {0};
    struct bytes blob;

    printf("{\"name\":");
    print_text(trace_name(trace, program->name));
    printf(",\"id\":\"%" PRIu64 "\",\"stage\":%u", program->id, program->stage);
    printf(",\"computations\":%u,\"instructions\":%u,\"fusions\":%u,\"buffers\":%s",
           program->computation_count, program->instruction_count, program->fusion_count,
           program->has_buffers ? "true" : "false");
    if (trace_program_blob(trace, program, arena, &blob, &err) == OK &&
        hlo_module_read(blob, (enum program_form)program->form, arena, &module, &err) == OK) {
        uint32_t lost = 0;
        for (uint32_t index = 0; index < module.operand_count; index++)
            lost += module.operands[index] == HLO_NONE;
        for (uint32_t index = 0; index < module.called_count; index++)
            lost += module.called[index] == HLO_NONE;
        printf(",\"entry\":");
        print_text(module.entry);
        printf(",\"whole\":{\"computations\":%u,\"instructions\":%u,\"lines\":%u,\"damaged\":%u,"
               "\"operands\":%u,\"called\":%u,\"lost\":%u,\"buffers\":%u,\"allocations\":%u,"
               "\"assigned\":%u,\"heap_traces\":%u}",
               module.computation_count, module.instruction_count, module.line_count,
               module.damaged_count, module.operand_count, module.called_count, lost,
               module.buffer_count, module.allocation_count, module.assigned_count,
               module.heap_trace_count);
    }
    printf("}");
    arena_destroy(arena);
}

static void print_modules(const struct trace *trace)
{
    printf(",\"modules\":[");
    for (uint32_t index = 0; index < trace->program_count; index++) {
        printf("%s", index > 0 ? "," : "");
        print_module(trace, &trace->programs[index]);
    }
    printf("],\"documents\":[");
    for (uint32_t index = 0; index < trace->document_count; index++) {
        const struct document *document = &trace->documents[index];
        printf("%s[%" PRIu64 ",%" PRIu64 "]", index > 0 ? "," : "", document->line_count,
               document->blob_bytes);
    }
    printf("]");
}

static void print_sample_types(const struct trace *trace)
{
    printf(",\"stacks\":%u,\"stack_samples\":%u,\"sample_types\":[", trace->stack_count,
           trace->stack_sample_count);
    for (uint32_t type = 0; type < trace->sample_type_count; type++) {
        uint64_t total = 0;
        for (uint64_t at = 0; at < trace->stack_sample_count; at++)
            total += (uint64_t)trace->sample_values[at * trace->sample_type_count + type];
        printf("%s[", type > 0 ? "," : "");
        print_text(trace_name(trace, trace->sample_types[type].name));
        printf(",");
        print_text(trace_name(trace, trace->sample_types[type].unit));
        printf(",%" PRId64 "]", (int64_t)total);
    }
    printf("]");
}

struct label_count {
    struct arg label; /* bits 0 where it is no text */
    uint64_t samples;
};

static uint32_t count_labels(const struct trace *trace, struct label_count *counts, uint32_t max)
{
    uint32_t count = 0;

    for (uint32_t at = 0; at < trace->stack_sample_count; at++) {
        for (uint32_t index = 0; index < trace->samples[at].label_count; index++) {
            struct arg label = trace->sample_labels[trace->samples[at].first_label + index];
            uint32_t found = 0;
            if (label.type != ARG_STRING)
                label.bits = 0;
            while (found < count &&
                   (counts[found].label.key != label.key || counts[found].label.bits != label.bits))
                found++;
            if (found == count && count < max)
                counts[count++].label = label;
            if (found < count)
                counts[found].samples++;
        }
    }
    return count;
}

static void print_labels(const struct trace *trace)
{
    enum { LABELS_MAX = 1000 };
    struct label_count *counts = calloc(LABELS_MAX, sizeof *counts);
    uint32_t count = count_labels(trace, counts, LABELS_MAX);

    printf(",\"labels\":[");
    for (uint32_t index = 0; index < count; index++) {
        printf("%s[", index > 0 ? "," : "");
        print_text(trace_name(trace, counts[index].label.key));
        printf(",");
        if (counts[index].label.type == ARG_STRING)
            print_text(trace_name(trace, (name_id)counts[index].label.bits));
        else
            printf("null");
        printf(",%" PRIu64 "]", counts[index].samples);
    }
    printf("]");
    free(counts);
}

static void print_stack(const struct trace *trace, stack_id id)
{
    const struct stack *stack = &trace->stacks[id];

    if (stack->parent != NO_STACK) {
        print_stack(trace, stack->parent);
        printf(",");
    }
    printf("[");
    print_text(trace_name(trace, stack->frame.function));
    printf(",");
    print_text(trace_name(trace, stack->frame.file));
    printf(",%u,", stack->frame.line);
    print_text(trace_name(trace, stack->frame.module));
    printf("]");
}

static void print_sampled(const struct trace *trace)
{
    printf(",\"sampled\":[");
    for (uint32_t at = 0; at < trace->stack_sample_count && at < SAMPLED_MAX; at++) {
        const struct sample *sample = &trace->samples[at];

        printf("%s[", at > 0 ? ",\n" : "");
        print_text(sample->track != NO_TRACK ? trace_name(trace, trace->tracks[sample->track].name)
                                             : STR(""));
        printf(",%" PRId64 ",[", sample->at_ps);
        if (sample->stack != NO_STACK)
            print_stack(trace, sample->stack);
        printf("],[");
        for (uint32_t type = 0; type < trace->sample_type_count; type++)
            printf("%s%" PRId64, type > 0 ? "," : "",
                   trace->sample_values[(uint64_t)at * trace->sample_type_count + type]);
        printf("]]");
    }
    printf("]}\n");
}

static void print_trace(const struct trace *trace)
{
    struct dump dump = {
        .trace = trace,
        .chunk = memory_resize(NULL, 1, sizeof *dump.chunk),
        .sums = calloc(trace->name_count + 1, sizeof *dump.sums),
        .used = calloc(trace->name_count + 1, sizeof *dump.used),
    };

    printf("{\"format\":\"%s\",\"tracks\":[", trace->format);
    for (uint32_t index = 0; index < trace->track_count; index++) {
        if (index > 0)
            printf(",\n");
        print_track(&dump, &trace->tracks[index]);
    }
    print_about(trace);
    print_sample_types(trace);
    print_modules(trace);
    print_labels(trace);
    print_sampled(trace);
    free(dump.chunk);
    free(dump.sums);
    free(dump.used);
}

static enum status decode_file(struct str path, struct bytes bytes, struct arena *arena,
                               struct error *err)
{
    const struct trace *trace = decoded(NULL, path_base(path), bytes, arena, err);

    if (trace == NULL)
        return err->code;
    print_trace(trace);
    return OK;
}

int main(int argument_count, char **arguments)
{
    struct arena *arena = arena_create();
    struct error err = {0};
    struct bytes bytes;

    if (argument_count != 2) {
        fprintf(stderr, "usage: trace_dump FILE\n");
        return 2;
    }
    enum status status = file_read(arguments[1], arena, (size_t)1 << 30, &bytes, &err);
    if (status == OK)
        status = decode_file(str_of(arguments[1]), bytes, arena, &err);
    if (status != OK)
        fprintf(stderr, "%s: %s: %s\n", arguments[1], status_word(status), err.message);
    arena_destroy(arena);
    return status == OK ? 0 : 6;
}
