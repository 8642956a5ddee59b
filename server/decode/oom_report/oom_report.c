/* SPDX-License-Identifier: Apache-2.0 */
/* What a program said when memory ran out: the text of an exception, or a log that holds it.
 *
 *   RESOURCE_EXHAUSTED: Out of memory while trying to allocate 6291456 bytes.       XLA
 *        parameter allocation:    6.00MiB
 *   Peak buffers:
 *      Buffer 1:
 *         Size: 6.00MiB
 *         Operator: op_name="jit(f)/layer_0/dot_general" source_file="m.py" source_line=8
 *         XLA Label: fusion
 *         Shape: f32[4096,384]
 *         ==========================
 *
 *   Ran out of memory in memory space hbm. Used 41.7G of 16.0G hbm.                 XLA on TPU
 *   CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of   PyTorch
 *
 * Sums become properties, in bytes; a buffer becomes a sample of its size, whose stack is its scope
 * and whose innermost call is the line that made it. Lines may stand behind what a log puts before
 * them. A message tells the largest buffers alone, so samples sum to less than what was in use.
 */
#include "decode/oom_report/oom_report.h"

#include <inttypes.h>

enum { REPORT_BYTES_MAX = 64 << 20, BUFFERS_MAX = 100000, SCOPE_DEPTH_MAX = 64 };

struct oom_report {
    struct sink *sink;
    struct str text;
    uint32_t buffer_count, sum_count;
    name_id key_class, key_shape;
};

struct oom_buffer { /* the one whose lines are being read */
    int64_t bytes;  /* -1: none */
    struct str op, file, label, shape, class;
    int64_t line;
};

static const char *const signs[] = {
    "RESOURCE_EXHAUSTED", "Out of memory while trying to allocate",
    "CUDA out of memory", "HIP out of memory",
    "XPU out of memory",  "Ran out of memory in memory space",
    "Peak buffers:",
};

static bool sniff(const struct input *input)
{
    const struct str head = {.at = (const char *)input->head.at, .count = input->head.count};

    if (head.count == 0 || memchr(head.at, '\0', head.count) != NULL || head.at[0] == '{' ||
        head.at[0] == '[')
        return false;
    for (size_t i = 0; i < COUNT(signs); i++)
        if (str_contains(head, str_of(signs[i])))
            return true;
    return false;
}

/* A sum stands between two words; the first that is told counts. */
static const struct {
    const char *before, *after, *name;
} sums[] = {
    {"while trying to allocate ", "", "asked for"},
    {"parameter allocation:", "", "arguments"},
    {"constant allocation:", "", "constants"},
    {"maybe_live_out allocation:", "", "outputs"},
    {"preallocated temp allocation:", "", "temporaries"},
    {"total allocation:", "", "all"},
    {"Used ", " of ", "needed"},
    {" of ", " hbm", "capacity"},
    {"capacity by ", "", "missing"},
    {"  reserved ", "", "reserved"},
    {"  program ", "", "program"},
    {"  arguments ", "", "arguments"},
    {"HLO temp ", "", "temporaries"},
    {"Tried to allocate ", "", "asked for"},
    {"total capacity of ", "", "capacity"},
    {"of which ", " is free", "free"},
    {"process has ", " memory in use", "in use"},
    {"allocated memory ", " is allocated by PyTorch", "allocated by PyTorch"},
    {"and ", " is reserved by PyTorch but unallocated", "reserved, unallocated"},
    {"; ", " total capacity", "capacity"},
    {"; ", " already allocated", "allocated by PyTorch"},
    {"; ", " free", "free"},
    {"; ", " reserved in total by PyTorch", "reserved by PyTorch"},
};

static bool find_sum(struct str text, const char *before, const char *after, int64_t *ret)
{
    struct str rest;
    size_t count;

    while (oom_behind(text, before, &rest)) {
        struct str value = oom_trim(rest);

        if (oom_size(value, ret, &count) && str_starts(str_skip(value, count), str_of(after)))
            return true;
        text = rest;
    }
    return false;
}

static void say_sums(struct oom_report *report)
{
    name_id told[COUNT(sums)];
    uint32_t count = 0;

    for (size_t i = 0; i < COUNT(sums); i++) {
        name_id key = sink_name(report->sink, str_of(sums[i].name));
        int64_t bytes;
        bool is_told = false;

        for (uint32_t k = 0; k < count; k++)
            is_told = is_told || told[k] == key;
        if (is_told || !find_sum(report->text, sums[i].before, sums[i].after, &bytes))
            continue;
        told[count++] = key;
        sink_property(report->sink, NO_TRACK,
                      (struct arg){.key = key, .type = ARG_INT64, .bits = (uint64_t)bytes});
    }
    report->sum_count = count;
}

/* "jit(f)/jvp(layer_0)/dot_general[a=(1, 2)]": parts at slashes outside of brackets. */
static stack_id push_scope(struct oom_report *report, struct str scope, struct str *ret_last)
{
    stack_id stack = NO_STACK;
    uint32_t depth = 0, parts = 0;
    size_t from = 0;

    for (size_t at = 0; scope.count > 0 && at <= scope.count; at++) {
        bool is_end = at == scope.count;

        if (!is_end) {
            depth += scope.at[at] == '[' || scope.at[at] == '(';
            depth -= (scope.at[at] == ']' || scope.at[at] == ')') && depth > 0;
        }
        if (!is_end && (scope.at[at] != '/' || depth > 0))
            continue;
        struct str part = {.at = scope.at + from, .count = at - from};
        from = at + 1;
        if (is_end || ++parts >= SCOPE_DEPTH_MAX) {
            *ret_last = part;
            break;
        }
        stack = sink_stack(report->sink, stack,
                           (struct frame){.function = sink_name(report->sink, part)});
    }
    return stack;
}

static void put_buffer(struct oom_report *report, struct oom_buffer *buffer)
{
    struct str last = STR("");
    stack_id stack;
    struct arg labels[2];
    uint32_t count = 0;

    if (buffer->bytes < 0 || report->buffer_count == BUFFERS_MAX)
        return;
    stack = push_scope(report, buffer->op, &last);
    if (last.count == 0)
        last = buffer->label.count > 0   ? buffer->label
               : buffer->class.count > 0 ? buffer->class
                                         : STR("(not named)");
    stack = sink_stack(report->sink, stack,
                       (struct frame){.function = sink_name(report->sink, last),
                                      .file = sink_name(report->sink, buffer->file),
                                      .line = buffer->line > 0 && buffer->line < UINT32_MAX
                                                  ? (uint32_t)buffer->line
                                                  : 0});
    if (buffer->class.count > 0)
        labels[count++] = (struct arg){.key = report->key_class,
                                       .type = ARG_STRING,
                                       .bits = sink_name(report->sink, buffer->class)};
    if (buffer->shape.count > 0)
        labels[count++] = (struct arg){.key = report->key_shape,
                                       .type = ARG_STRING,
                                       .bits = sink_name(report->sink, buffer->shape)};
    sink_sample(report->sink,
                (struct sample){.at_ps = SAMPLE_NO_TIME, .track = NO_TRACK, .stack = stack},
                &buffer->bytes, labels, count);
    report->buffer_count++;
    *buffer = (struct oom_buffer){.bytes = -1};
}

static void take_operator(struct oom_buffer *buffer, struct str rest)
{
    struct str line;
    size_t digits = 0;

    buffer->op = oom_quoted(rest, "op_name=");
    buffer->file = oom_quoted(rest, "source_file=");
    if (!oom_behind(rest, "source_line=", &line))
        return;
    while (digits < line.count && line.at[digits] >= '0' && line.at[digits] <= '9')
        digits++;
    if (!str_to_i64((struct str){.at = line.at, .count = digits}, &buffer->line))
        buffer->line = 0;
}

static void take_line(struct oom_report *report, struct oom_buffer *buffer, struct str line)
{
    struct str rest;
    int64_t bytes;
    size_t count;

    if (oom_behind(line, "==========", &rest)) {
        put_buffer(report, buffer);
    } else if (oom_behind(line, "Operator: ", &rest)) {
        take_operator(buffer, rest);
    } else if (oom_behind(line, "XLA Label: ", &rest) || oom_behind(line, "XLA label: ", &rest)) {
        buffer->label = oom_trim(rest);
    } else if (oom_behind(line, "Entry Parameter Subshape: ", &rest)) {
        buffer->class = STR("argument");
        buffer->shape = oom_trim(rest);
    } else if (oom_behind(line, "Allocation type: ", &rest)) {
        buffer->class = oom_trim(rest);
    } else if (oom_behind(line, "Shape: ", &rest)) {
        buffer->shape = oom_trim(rest);
    } else if (oom_behind(line, "Size: ", &rest) && oom_size(oom_trim(rest), &bytes, &count)) {
        put_buffer(report, buffer); /* of a message that rules no lines between them */
        *buffer = (struct oom_buffer){.bytes = bytes};
    }
}

static void read_lines(struct oom_report *report)
{
    struct oom_buffer buffer = {.bytes = -1};
    struct str rest = report->text;

    while (rest.count > 0 && !sink_failed(report->sink)) {
        const char *end = memchr(rest.at, '\n', rest.count);
        size_t count = end == NULL ? rest.count : (size_t)(end - rest.at);

        take_line(report, &buffer, (struct str){.at = rest.at, .count = count});
        rest = str_skip(rest, end == NULL ? count : count + 1);
    }
    put_buffer(report, &buffer);
}

static enum status decode(struct input *input, struct sink *sink, struct error *err)
{
    struct oom_report report = {.sink = sink};
    struct bytes whole;
    bool cut;

    TRY(input_whole(input, &whole, &cut, err));
    if (whole.count > REPORT_BYTES_MAX)
        return fail(err, ERR_LIMIT,
                    "the text has more than %d MiB: give only the message, from the line that says "
                    "that memory ran out",
                    REPORT_BYTES_MAX >> 20);
    sink_format(sink, decode_oom_report.name);
    sink_no_epoch(sink, STR("the message contains no time"));
    report.text = (struct str){.at = (const char *)whole.at, .count = whole.count};
    report.key_class = sink_name(sink, STR("kind"));
    report.key_shape = sink_name(sink, STR("shape"));
    sink_sample_type(sink, sink_name(sink, STR("space")), sink_name(sink, STR("bytes")));
    say_sums(&report);
    read_lines(&report);
    if (report.buffer_count == 0 && report.sum_count == 0)
        return fail(err, ERR_FORMAT,
                    "the text says that memory ran out, but contains no size: give the whole "
                    "message of the exception");
    if (report.buffer_count == 0)
        sink_note(
            sink, "no-buffers", NOTE_INFO, 1,
            "The message names no buffers, so it is not known what held the memory. In JAX, "
            "compile with XLA_FLAGS=\"--xla_dump_to=DIR --xla_dump_hlo_as_proto\"; in PyTorch, "
            "record with torch.cuda.memory._record_memory_history() and save a snapshot.");
    return sink_failed(sink) ? fail(err, sink_error(sink)->code, "%s", sink_error(sink)->message)
                             : OK;
}

const struct decoder decode_oom_report = {
    .name = "oom-report", .part = PART_SNAPSHOT, .sniff = sniff, .decode = decode};
