/* SPDX-License-Identifier: Apache-2.0 */
/* Draws a trace as text, and builds a trace from such a text. */
#include "picture.h"

#include <stdio.h>
#include <stdlib.h>

#include "trace/args/args.h"
#include "trace/block.h"
#include "trace/events/counter.h"

static const struct {
    uint8_t flag;
    const char *word;
} flag_words[] = {
    {SLICE_PARTIAL, "partial"}, {SLICE_CUT, "cut"},         {SLICE_DERIVED, "derived"},
    {SLICE_ASYNC, "async"},     {SLICE_CLAMPED, "clamped"},
};

static void put_str(struct text *text, struct str str)
{
    text_put(text, str.at, str.count);
}

static void put_path(struct text *text, const struct trace *trace, track_id track)
{
    if (trace->tracks[track].parent != NO_TRACK) {
        put_path(text, trace, trace->tracks[track].parent);
        text_puts(text, " / ");
    }
    put_str(text, trace_name(trace, trace->tracks[track].name));
}

static void put_value(struct text *text, const struct trace *trace, const struct arg *arg)
{
    double value;

    switch (arg->type) {
    case ARG_INT64:
        text_putf(text, "%lld", (long long)(int64_t)arg->bits);
        break;
    case ARG_UINT64:
        text_putf(text, "%lluu", (unsigned long long)arg->bits);
        break;
    case ARG_DOUBLE:
        memcpy(&value, &arg->bits, sizeof(value));
        text_putf(text, "%.17g", value);
        break;
    case ARG_STRING:
    case ARG_BYTES:
        text_puts(text, arg->type == ARG_BYTES ? "b\"" : "\"");
        put_str(text, trace_name(trace, (name_id)arg->bits));
        text_puts(text, "\"");
        break;
    case ARG_JSON:
        put_str(text, trace_name(trace, (name_id)arg->bits));
        break;
    case ARG_DIGITS:
        text_putf(text, "\"%llu\"", (unsigned long long)arg->bits);
        break;
    case ARG_BOOL:
        text_puts(text, arg->bits ? "true" : "false");
        break;
    default:
        text_puts(text, "null");
    }
}

static void put_list(struct text *text, const struct trace *trace, const struct arg *args,
                     uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        text_puts(text, i == 0 ? " {" : ", ");
        put_str(text, trace_name(trace, args[i].key));
        text_puts(text, ": ");
        put_value(text, trace, &args[i]);
    }
    if (count > 0)
        text_puts(text, "}");
}

static void put_args(struct text *text, const struct trace *trace, event_id event,
                     struct arena *arena)
{
    struct arg *args;
    uint32_t count = trace_args(trace, event, arena, &args);

    put_list(text, trace, args, count);
}

static void put_slice(struct text *text, const struct trace *trace, const struct slice *slice,
                      unsigned with, struct arena *arena)
{
    text_putf(text, "%*s%lld +%lld ", 2 + 2 * (int)trace->rows[slice->row].depth, "",
              (long long)slice->start_ps, (long long)slice->dur_ps);
    put_str(text, trace_name(trace, slice->name));
    if (with & PICTURE_KINDS)
        text_putf(text, " (%s)", kind_word(slice->kind));
    for (size_t i = 0; i < COUNT(flag_words); i++)
        if (slice->flags & flag_words[i].flag)
            text_putf(text, " [%s]", flag_words[i].word);
    if (with & PICTURE_ARGS)
        put_args(text, trace, slice->event, arena);
    text_puts(text, "\n");
}

static int compare_slices(const void *one, const void *other)
{
    const struct slice *a = one, *b = other;

    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps ? -1 : 1;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static void put_track(struct text *text, const struct trace *trace, track_id id, unsigned with,
                      struct arena *arena)
{
    const struct track *track = &trace->tracks[id];
    uint64_t sample_count = 0;
    const struct counter_sample *samples = trace_samples(trace, id, &sample_count);

    if (track->slice_count == 0 && sample_count == 0)
        return;
    put_path(text, trace, id);
    text_puts(text, "\n");
    struct slice *slices = arena_array(arena, struct slice, track->slice_count + 1);
    for (uint64_t i = 0; i < track->slice_count; i++)
        slices[i] =
            trace_slice(trace, (slice_id)(trace->rows[track->first_row].first_slice + (slice_id)i));
    qsort(slices, track->slice_count, sizeof(*slices), compare_slices);
    for (uint64_t i = 0; i < track->slice_count; i++)
        put_slice(text, trace, &slices[i], with, arena);
    for (uint64_t i = 0; i < sample_count; i++)
        text_putf(text, "  %lld = %g\n", (long long)samples[i].at_ps, samples[i].value);
}

static void put_stack(struct text *text, const struct trace *trace, stack_id id)
{
    const struct stack *stack = &trace->stacks[id];
    const struct str file = trace_name(trace, stack->frame.file),
                     module = trace_name(trace, stack->frame.module);

    if (stack->parent != NO_STACK) {
        put_stack(text, trace, stack->parent);
        text_puts(text, "; ");
    }
    put_str(text, trace_name(trace, stack->frame.function));
    if (file.count > 0)
        text_putf(text, " %.*s", STR_ARG(file));
    if (stack->frame.line > 0)
        text_putf(text, ":%u", stack->frame.line);
    if (module.count > 0)
        text_putf(text, " in %.*s", STR_ARG(module));
}

static void put_sample(struct text *text, const struct trace *trace, uint32_t at)
{
    const struct sample *sample = &trace->samples[at];

    text_puts(text, " ");
    for (uint32_t i = 0; i < trace->sample_type_count; i++)
        text_putf(text, " %lld",
                  (long long)trace->sample_values[(uint64_t)at * trace->sample_type_count + i]);
    text_puts(text, " ");
    if (sample->stack != NO_STACK)
        put_stack(text, trace, sample->stack);
    if (sample->at_ps != SAMPLE_NO_TIME)
        text_putf(text, " @%lld", (long long)sample->at_ps);
    if (sample->track != NO_TRACK) {
        text_puts(text, " on ");
        put_path(text, trace, sample->track);
    }
    put_list(text, trace, &trace->sample_labels[sample->first_label], sample->label_count);
    text_puts(text, "\n");
}

static void put_samples(struct text *text, const struct trace *trace)
{
    if (trace->stack_sample_count == 0)
        return;
    text_puts(text, "samples");
    for (uint32_t i = 0; i < trace->sample_type_count; i++) {
        text_puts(text, " ");
        put_str(text, trace_name(trace, trace->sample_types[i].name));
        text_puts(text, "/");
        put_str(text, trace_name(trace, trace->sample_types[i].unit));
    }
    text_puts(text, "\n");
    for (uint32_t i = 0; i < trace->stack_sample_count; i++)
        put_sample(text, trace, i);
}

static void put_flows(struct text *text, const struct trace *trace)
{
    for (uint64_t i = 0; i < trace->flow_count; i++) {
        put_str(text, trace_name(trace, trace_slice(trace, trace->flows[i].from).name));
        text_puts(text, " -> ");
        put_str(text, trace_name(trace, trace_slice(trace, trace->flows[i].to).name));
        text_puts(text, "\n");
    }
}

static void put_notes(struct text *text, const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->note_count; i++) {
        text_puts(text, "note ");
        put_str(text, trace_name(trace, trace->notes[i].kind));
        text_putf(text, " %llu ", (unsigned long long)trace->notes[i].count);
        put_str(text, trace_name(trace, trace->notes[i].message));
        text_puts(text, "\n");
    }
}

struct str picture_of(const struct trace *trace, unsigned with, struct arena *arena)
{
    struct text text = {0};

    for (track_id id = 0; id < trace->track_count; id++)
        put_track(&text, trace, id, with, arena);
    put_samples(&text, trace);
    if (with & PICTURE_FLOWS)
        put_flows(&text, trace);
    if (with & PICTURE_NOTES)
        put_notes(&text, trace);
    struct str picture = str_copy(arena, text_str(&text));
    text_free(&text);
    return picture;
}

void check_picture(const char *file, int line, const char *what, const struct trace *trace,
                   unsigned with, const char *want)
{
    struct arena *arena = arena_create();
    struct str got = picture_of(trace, with, arena);

    if (!str_equal(got, str_of(want)))
        check_failed(file, line, what, "the trace is\n%.*sand should be\n%s", STR_ARG(got), want);
    arena_destroy(arena);
}

struct drawing { /* tracks are known by name and parent */
    struct sink *sink;
    track_id track;
    uint32_t track_count;
    struct {
        track_id id, parent;
        char name[64];
    } tracks[256];
};

static track_id draw_track(struct drawing *drawing, track_id parent, const char *name, bool leaf)
{
    for (uint32_t i = 0; i < drawing->track_count; i++)
        if (drawing->tracks[i].parent == parent && strcmp(drawing->tracks[i].name, name) == 0)
            return drawing->tracks[i].id;
    if (drawing->track_count == COUNT(drawing->tracks) || strlen(name) >= 64)
        check_failed(__FILE__, __LINE__, name, "a drawing with too many tracks or a long name");
    struct sink_track track = {.parent = parent,
                               .kind = leaf ? TRACK_THREAD : TRACK_PROCESS,
                               .name = str_of(name),
                               .device = -1};
    uint32_t at = drawing->track_count++;
    drawing->tracks[at].id = sink_track(drawing->sink, track);
    drawing->tracks[at].parent = parent;
    strcpy(drawing->tracks[at].name, name);
    return drawing->tracks[at].id;
}

static void draw_path(struct drawing *drawing, char *path)
{
    track_id parent = NO_TRACK;

    for (char *next; path; path = next) {
        next = strstr(path, " / ");
        if (next) {
            *next = '\0';
            next += 3;
        }
        parent = draw_track(drawing, parent, path, !next);
    }
    drawing->track = parent;
}

static uint8_t take_flags(char *name)
{
    uint8_t flags = 0;

    for (size_t i = 0; i < COUNT(flag_words); i++) {
        char word[32];
        snprintf(word, sizeof(word), " [%s]", flag_words[i].word);
        char *found = strstr(name, word);
        if (!found)
            continue;
        memmove(found, found + strlen(word), strlen(found + strlen(word)) + 1);
        flags |= flag_words[i].flag;
        i = (size_t)-1;
    }
    return (uint8_t)(flags & ~SLICE_PARTIAL);
}

static void draw_line(struct drawing *drawing, char *line)
{
    long long start, length;
    double value;
    int at = 0;

    if (line[0] != ' ') {
        draw_path(drawing, line);
    } else if (sscanf(line, " %lld = %lf", &start, &value) == 2) {
        sink_counter(drawing->sink, drawing->track, start, value);
    } else if (sscanf(line, " %lld +%lld %n", &start, &length, &at) == 2 && at > 0) {
        struct sink_slice slice = {.track = drawing->track,
                                   .start_ps = start,
                                   .dur_ps = length,
                                   .kind = KIND_COMPUTE,
                                   .flags = take_flags(line + at)};
        slice.name = sink_name(drawing->sink, str_of(line + at));
        sink_slice(drawing->sink, slice);
    } else {
        check_failed(__FILE__, __LINE__, line, "a line of a drawing that cannot be read");
    }
}

void picture_draw(struct sink *sink, const char *picture)
{
    struct drawing *drawing = calloc(1, sizeof(*drawing));
    char *copy = strdup(picture);

    assert_non_null(drawing);
    drawing->sink = sink;
    for (char *line = copy, *end; *line; line = end) {
        end = strchrnul(line, '\n');
        if (*end)
            *end++ = '\0';
        draw_line(drawing, line);
    }
    free(copy);
    free(drawing);
}

const struct trace *picture_fed(picture_feed *feed, void *data, struct arena *arena)
{
    struct error err = {0};
    struct memory_blocks *blocks = memory_blocks_create(arena);
    struct trace *trace = arena_new(arena, struct trace);
    struct sink *sink =
        sink_create(memory_blocks_out(blocks), &budget_default, (struct sink_hooks){0}, NULL, &err);

    feed(sink, data);
    CHECK_OK("finish", sink_finish(sink, &err), &err);
    sink_destroy(sink);
    CHECK_OK("open", trace_open(memory_blocks_in(blocks), arena, trace, &err), &err);
    return trace;
}

static void feed_drawing(struct sink *sink, void *data)
{
    picture_draw(sink, data);
}

const struct trace *picture_trace(const char *picture, struct arena *arena)
{
    return picture_fed(feed_drawing, (void *)(uintptr_t)picture, arena);
}
