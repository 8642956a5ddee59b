/* SPDX-License-Identifier: Apache-2.0 */
/* Chrome trace JSON: what JAX writes as *.trace.json.gz, PyTorch as *.pt.trace.json, Chrome and
 * many tools as *.json.
 *
 *   {"displayTimeUnit": "ns", "metadata": {...}, "traceEvents": [event, event, ..., {}]}
 *   [event, event, ...             the closing bracket may be missing
 *
 *   event   {"ph": "X", "pid": 1, "tid": 2, "ts": 12.5, "dur": 3.25, "name": "fusion.3",
 *            "cat": "...", "args": {...}}                           times in microseconds
 *
 *   ph   X slice   B E its two ends   i I R instant   C counter   M names of processes and threads
 *        b e n, S F T p asynchronous   s t f flow   the rest is counted
 *
 * Times are decimal texts and never become doubles. Whatever stands around the events is kept as
 * properties of the file, and how many events of each phase there were.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "decode/chrome/trace_json.h"

enum outcome { /* of reading on */
               DONE,
               ENDED,   /* the content is over, in the middle of something */
               BROKEN,  /* no JSON from here on */
               STOPPED, /* the sink takes nothing more */
};

struct reader {
    struct trace_json json;
    struct json_stream stream;
    bool in_samples; /* the events are those of "samples" */
    bool are_lines;  /* events one behind another, without an array around them */
    bool no_bracket; /* an array's last one is missing, and nothing else */
    struct lost lost;
};

static bool has_bom(struct bytes head)
{
    return head.count >= 3 && memcmp(head.at, "\xef\xbb\xbf", 3) == 0;
}

/* More content, and back to the mark. */
static bool fill(struct reader *reader)
{
    struct json_stream *stream = &reader->stream;
    bool more = json_stream_fill(stream);

    sink_progress(reader->json.sink, input_consumed(stream->input), stream->input->bytes.count);
    return more;
}

/* The next byte that is no blank; 0 at the end of the content. What was read before is let go. */
static char peek(struct reader *reader)
{
    struct json *json = &reader->stream.json;

    for (;;) {
        char byte = json_peek(json);

        reader->stream.mark = json->at;
        if (byte != 0 || json->state != JSON_MORE || !fill(reader))
            return byte;
    }
}

static enum outcome why_not(const struct reader *reader)
{
    if (sink_failed(reader->json.sink))
        return STOPPED;
    return reader->stream.json.state == JSON_MORE ? ENDED : BROKEN;
}

static void count_event(struct trace_json *json)
{
    const struct event *event = &json->event;

    json->event_count++;
    json->phase_counts[(unsigned char)event->phase]++;
    json->odd.args_left_out += event->args_left_out;
    json->spelled[event->spelling] += event->has_time && event->phase != 'M';
}

void trace_json_take(struct trace_json *json)
{
    const struct event *event = &json->event;
    unsigned char phase = (unsigned char)event->phase;

    switch (event->phase) {
    case 'X':
    case 'i':
    case 'I':
    case 'R':
    case 'C':
    case 's':
    case 't':
    case 'f':
        slices_event(json);
        break;
    case 'B':
    case 'E':
    case 'b':
    case 'e':
    case 'n':
    case 'S':
    case 'F':
    case 'T':
    case 'p':
        open_event(json);
        break;
    case 'M':
        names_metadata(json);
        break;
    case 'N':
    case 'O':
    case 'D':
    case 'v':
    case 'V':
    case 'c':
        objects_event(json);
        break;
    case 'P':
        tracks_saw(json);
        if (!profile_event(json))
            stacks_event(json);
        break;
    default:
        if (event->phase != 0)
            tracks_saw(json);
        json->odd.not_shown[phase] += event->field_count > 0;
    }
}

/* The event just read, whole in the window from the mark on. */
static enum outcome take_event(struct reader *reader)
{
    struct trace_json *json = &reader->json;
    const char *mark = reader->stream.mark;

    if (reader->in_samples) {
        stacks_event(json);
    } else {
        count_event(json);
        if (!times_wait(json, (struct str){mark, (size_t)(reader->stream.json.at - mark)}))
            trace_json_take(json);
    }
    return sink_failed(json->sink) ? STOPPED : DONE;
}

/* One event; where it is broken, the next one that is not. */
static enum outcome read_event(struct reader *reader)
{
    struct json *json = &reader->stream.json;

    reader->stream.mark = json->at;
    while (!event_read(&reader->json, json)) {
        if (json->state == JSON_BAD && lost_find(&reader->lost, &reader->stream, &reader->json))
            break;
        if (json->state != JSON_MORE || !fill(reader))
            return why_not(reader);
    }
    return take_event(reader);
}

/* What stands among the events and is none. */
static enum outcome skip_item(struct reader *reader)
{
    struct json *json = &reader->stream.json;

    reader->json.odd.not_events++;
    reader->stream.mark = json->at;
    while (json_value(json).kind == JSON_NOTHING) {
        if (json->state == JSON_BAD && lost_find(&reader->lost, &reader->stream, &reader->json))
            return take_event(reader);
        if (json->state != JSON_MORE || !fill(reader))
            return why_not(reader);
    }
    return DONE;
}

/* From behind the opening bracket to behind the closing one; of lines, all there are. */
static enum outcome read_list(struct reader *reader)
{
    struct json *json = &reader->stream.json;

    for (bool first = true;; first = false) {
        char next = peek(reader);

        if (next == ',' && !first) {
            json->at++;
            next = peek(reader);
        } else if (!first && next == '{' && !reader->are_lines) {
            reader->json.odd.no_comma++;
        }
        if (next == ']' && !reader->are_lines) {
            json->at++;
            return DONE;
        }
        if (next == 0 && reader->are_lines && json->state == JSON_MORE)
            return DONE;
        if (next == 0) {
            reader->no_bracket = json->state == JSON_MORE;
            return why_not(reader);
        }
        enum outcome outcome = next == '{' ? read_event(reader) : skip_item(reader);

        if (outcome != DONE)
            return outcome;
    }
}

static enum outcome read_events(struct reader *reader)
{
    enum outcome outcome = read_list(reader);

    times_settle(&reader->json);
    return outcome == DONE && sink_failed(reader->json.sink) ? STOPPED : outcome;
}

/* A member of the outermost object; its key is read already unless it is the events'. */
static enum outcome read_member(struct reader *reader)
{
    struct json *json = &reader->stream.json;

    for (;;) {
        bool first = true;
        struct str key;

        json->at = reader->stream.mark;
        if (json_next_key(json, &first, &key)) {
            bool in_samples = str_equal(key, STR("samples"));

            if ((in_samples || str_equal(key, STR("traceEvents"))) && json_peek(json) == '[') {
                reader->in_samples = in_samples;
                json->at++;
                reader->stream.mark = json->at;
                return read_events(reader);
            }
            struct json_value value = json_value(json);

            if (json->state == JSON_OK) {
                around_member(&reader->json, key, value);
                return DONE;
            }
        }
        if (json->state != JSON_MORE || !fill(reader))
            return why_not(reader);
    }
}

static enum outcome read_object(struct reader *reader)
{
    struct json *json = &reader->stream.json;

    for (;;) {
        char next = peek(reader);

        if (next == '}') {
            json->at++;
            return DONE;
        }
        if (next == ',') {
            json->at++;
            continue;
        }
        if (next == 0)
            return why_not(reader);
        enum outcome outcome = read_member(reader);

        if (outcome != DONE)
            return outcome;
    }
}

/* An event has a phase and says when, who or what; nothing else does. */
static bool begins_as_event(const struct json *at)
{
    struct json json = *at;
    bool first = true, has_phase = false, has_more = false;

    if (json_peek(&json) != '{')
        return false;
    json.at++;
    for (struct str key; json_next_key(&json, &first, &key);) {
        struct json_value value = json_value(&json);

        has_phase |=
            str_equal(key, STR("ph")) && value.kind == JSON_STRING && value.text.count == 1;
        has_more |=
            str_equal(key, STR("ts")) || str_equal(key, STR("pid")) || str_equal(key, STR("name"));
    }
    return has_phase && has_more;
}

static enum outcome read_all(struct reader *reader)
{
    struct json *json = &reader->stream.json;
    char next;

    fill(reader);
    if (has_bom(reader->stream.input->head))
        json->at += 3;
    reader->stream.mark = json->at;
    next = peek(reader);
    reader->are_lines = next == '{' && begins_as_event(json);
    if (next == '[' || (next == '{' && !reader->are_lines))
        json->at++;
    enum outcome outcome = next == '[' || reader->are_lines ? read_events(reader)
                           : next == '{'                    ? read_object(reader)
                                                            : BROKEN;

    if (outcome == DONE && peek(reader) != 0)
        sink_note(reader->json.sink, "trailing", NOTE_INFO, 1,
                  "Data after the end of the trace is not read.");
    return outcome;
}

static void note_lost(struct reader *reader)
{
    const struct lost *lost = &reader->lost;

    if (lost->count > 0)
        sink_note(reader->json.sink, "damaged", NOTE_WARNING, lost->count,
                  "Events that are not valid JSON are left out, %" PRIu64
                  " bytes in total; the events after them were read. The first is at byte %" PRIu64
                  " (%s): %.*s",
                  lost->bytes, lost->first_at, lost->first_why,
                  STR_ARG(text_str(&lost->first_text)));
}

static void note_end(struct reader *reader, enum outcome outcome)
{
    struct sink *sink = reader->json.sink;
    const struct error *packing = &reader->stream.input_err;
    uint64_t offset = json_stream_offset(&reader->stream);

    note_lost(reader);
    if (packing->code != OK)
        sink_note(sink, "truncated", NOTE_WARNING, 1,
                  "The file ends early: %s. Everything before was read; the file was probably "
                  "truncated while copied: copy it again.",
                  packing->message);
    else if (reader->stream.too_long)
        sink_note(sink, "damaged", NOTE_ERROR, 1,
                  "An event at byte %" PRIu64 " is longer than %d MiB; nothing after it was read.",
                  reader->stream.before, JSON_WINDOW_MAX >> 20);
    else if (outcome == ENDED && reader->no_bracket)
        sink_note(sink, "truncated", NOTE_INFO, 1,
                  "The closing bracket is missing: the file ends after an event, as when its "
                  "writer is stopped.");
    else if (outcome == ENDED && !reader->lost.to_the_end)
        sink_note(
            sink, "truncated", NOTE_WARNING, 1,
            "The file ends in the middle of an event or member, at byte %" PRIu64
            "; everything before was read. It was probably truncated while copied: copy it again.",
            reader->stream.before + (uint64_t)(reader->stream.json.end - reader->stream.window));
    else if (outcome == BROKEN)
        sink_note(sink, "damaged", NOTE_ERROR, 1,
                  "The JSON is invalid at byte %" PRIu64 ": %s. Everything before was read.",
                  offset, reader->stream.json.what != NULL ? reader->stream.json.what : "no trace");
}

static void finish(struct reader *reader, enum outcome outcome)
{
    struct trace_json *json = &reader->json;

    times_finish(json);
    open_finish(json);
    stacks_finish(json);
    kineto_finish(json);
    names_finish(json);
    note_end(reader, outcome);
    about_finish(json);
}

static void prepare(struct trace_json *json, struct sink *sink)
{
    *json = (struct trace_json){.sink = sink, .last_ps = -TIME_PS_MAX, .open_free = PAIR_NONE};
    json->tracks.last_thread = PAIR_NONE;
    json->arena = arena_create();
    json->sorts = arena_array(json->arena, struct sort_of_slice, SORT_COUNT);
    texts_open(&json->texts, sink, json->arena);
    known_keys_open(&json->known, json->arena);
    json->key_cat = sink_name(sink, STR("cat"));
    json->key_hlo_op = sink_name(sink, STR("hlo_op"));
    json->key_hlo_category = sink_name(sink, STR("hlo_category"));
    json->key_correlation_id = sink_name(sink, STR("correlation_id"));
    json->key_correlation = sink_name(sink, STR("correlation"));
    json->flow_launch = sink_name(sink, STR("kernel launch"));
    json->flow_bind = sink_name(sink, STR("bind_id"));
    json->key_name = sink_name(sink, STR("name"));
    json->key_labels = sink_name(sink, STR("labels"));
    json->key_sort_index = sink_name(sink, STR("sort_index"));
    json->name_memory = sink_name(sink, STR("[memory]"));
    json->name_allocation = sink_name(sink, STR("MemoryAllocation"));
    json->name_deallocation = sink_name(sink, STR("MemoryDeallocation"));
}

static void release(struct reader *reader)
{
    struct trace_json *json = &reader->json;

    json_stream_close(&reader->stream);
    open_free(json);
    times_free(&json->times);
    text_free(&reader->lost.first_text);
    stacks_free(&json->stacks);
    tracks_free(&json->tracks);
    pair_table_free(&json->types);
    pair_table_free(&json->categories);
    pair_table_free(&json->arrows);
    known_keys_close(&json->known);
    texts_close(&json->texts);
    free(json->args.args);
    arena_destroy(json->arena);
}

static enum status decode(struct input *input, struct sink *sink, struct error *err)
{
    struct reader *reader = memory_resize(NULL, 1, sizeof *reader);
    enum status status = OK;

    *reader = (struct reader){0};
    sink_format(sink, decode_trace_json.name);
    prepare(&reader->json, sink);
    json_stream_open(&reader->stream, input);
    enum outcome outcome = read_all(reader);
    const struct error *packing = &reader->stream.input_err;

    if (sink_failed(sink))
        status = fail(err, sink_error(sink)->code, "%s", sink_error(sink)->message);
    else if (reader->json.event_count == 0 && packing->code != OK)
        status =
            fail(err, packing->code,
                 "%s before its first event: it was probably truncated while copied, copy it again",
                 packing->message);
    else if (reader->json.event_count == 0 && reader->lost.count > 0)
        status = fail(err, ERR_FORMAT, "the JSON is invalid at byte %" PRIu64 ": %s",
                      reader->lost.first_at, reader->lost.first_why);
    else if (reader->json.event_count == 0 && reader->json.odd.not_events > 0)
        status = fail(err, ERR_FORMAT, "no event is in the list: an event is not an object");
    else if (reader->json.event_count == 0 && outcome == BROKEN)
        status = fail(err, ERR_FORMAT, "the JSON is invalid at byte %" PRIu64 ": %s",
                      json_stream_offset(&reader->stream),
                      reader->stream.json.what != NULL ? reader->stream.json.what : "no trace");
    else
        finish(reader, outcome);
    release(reader);
    free(reader);
    return status;
}

/* Keys that no other JSON begins with, for files whose events stand behind the head. */
static bool is_telling(struct str key)
{
    static const char *const keys[] = {"schemaVersion",   "deviceProperties",   "displayTimeUnit",
                                       "distributedInfo", "systemTraceEvents",  "stackFrames",
                                       "traceName",       "baseTimeNanoseconds"};

    for (size_t i = 0; i < COUNT(keys); i++)
        if (str_equal(key, str_of(keys[i])))
            return true;
    return false;
}

static bool sniff_object(struct json *json)
{
    bool first = true, told = false;

    if (begins_as_event(json))
        return true;
    json->at++;
    for (struct str key; json_next_key(json, &first, &key);) {
        if (str_equal(key, STR("traceEvents")))
            return json_peek(json) == '[' || json->state == JSON_MORE;
        told |= is_telling(key);
        json_value(json);
    }
    return told && json->state == JSON_MORE;
}

/* An event has a phase; nothing else that comes in arrays does. */
static bool sniff_array(struct json *json)
{
    bool first = true;

    json->at++;
    if (json_peek(json) != '{')
        return false;
    json->at++;
    for (struct str key; json_next_key(json, &first, &key); json_value(json))
        if (str_equal(key, STR("ph")))
            return true;
    return false;
}

static bool sniff(const struct input *input)
{
    size_t skip = has_bom(input->head) ? 3 : 0;
    char *copy;
    struct json json = json_over(
        (struct str){(const char *)input->head.at + skip, input->head.count - skip}, &copy);
    char next = json_peek(&json);
    bool is_trace = next == '{' ? sniff_object(&json) : next == '[' && sniff_array(&json);

    free(copy);
    return is_trace;
}

const struct decoder decode_trace_json = {.name = "chrome-json", .sniff = sniff, .decode = decode};
