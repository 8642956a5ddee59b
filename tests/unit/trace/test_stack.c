/* SPDX-License-Identifier: Apache-2.0 */
/* Samples and stacks come back; what is wrong or too much is refused or counted. */
#include <stdio.h>
#include <stdlib.h>

#include "picture.h"
#include "trace/readers.h"

static stack_id a_stack(struct sink *sink, stack_id parent, const char *function, uint32_t line)
{
    return sink_stack(sink, parent,
                      (struct frame){.function = sink_name(sink, str_of(function)), .line = line});
}

static struct arg a_label(struct sink *sink, const char *key, const char *text)
{
    return (struct arg){.key = sink_name(sink, str_of(key)),
                        .type = ARG_STRING,
                        .bits = sink_name(sink, str_of(text))};
}

static void feed_two(struct sink *sink, void *data)
{
    (void)data;
    sink_sample_type(sink, sink_name(sink, STR("allocations")), sink_name(sink, STR("count")));
    sink_sample_type(sink, sink_name(sink, STR("space")), sink_name(sink, STR("bytes")));
    sink_sample_type(sink, sink_name(sink, STR("allocations")), sink_name(sink, STR("count")));
    stack_id main = a_stack(sink, NO_STACK, "main", 3);
    stack_id inner = a_stack(sink, main, "matmul", 7);
    stack_id again = a_stack(sink, a_stack(sink, NO_STACK, "main", 3), "matmul", 7);
    track_id thread = sink_track(
        sink, (struct sink_track){.parent = NO_TRACK, .name = STR("python"), .device = -1});
    struct arg labels[] = {a_label(sink, "kind", "buffer"), a_label(sink, "device", "gpu:0")};

    CHECK_INT("interned", again, inner);
    CHECK_INT("another line is another stack", a_stack(sink, main, "matmul", 8), inner + 1);
    CHECK_INT("another parent too", a_stack(sink, inner, "matmul", 7), inner + 2);
    sink_sample(sink, (struct sample){SAMPLE_NO_TIME, NO_TRACK, inner, 0, 0},
                (int64_t[]){2, 1 << 20}, labels, 2);
    sink_sample(sink, (struct sample){500, thread, main, 0, 0}, (int64_t[]){1, -7}, NULL, 0);
    sink_sample(sink, (struct sample){-20, thread, NO_STACK, 0, 0}, (int64_t[]){0, 0}, labels, 2);
}

static void comes_back(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    const struct trace *trace = picture_fed(feed_two, NULL, arena);

    CHECK_PICTURE("two types", trace, 0,
                  "samples allocations/count space/bytes\n"
                  "  2 1048576 main:3; matmul:7 {kind: \"buffer\", device: \"gpu:0\"}\n"
                  "  1 -7 main:3 @500 on python\n"
                  "  0 0  @-20 on python {kind: \"buffer\", device: \"gpu:0\"}\n");
    CHECK_INT("stacks", trace->stack_count, 4);
    CHECK_INT("equal lists of labels are one", trace->sample_label_count, 2);
    CHECK_INT("the hull holds them", trace->start_ps, -20);
    CHECK_INT("the hull holds them", trace->end_ps, 500);
    CHECK_INT("they are no counter's", trace->sample_count, 0);
    arena_destroy(arena);
}

enum { MANY = 200000 };

static void feed_many(struct sink *sink, void *data)
{
    stack_id stack = NO_STACK;

    (void)data;
    sink_sample_type(sink, sink_name(sink, STR("samples")), sink_name(sink, STR("count")));
    name_id function = sink_name(sink, STR("f"));
    for (uint32_t i = 0; i < MANY; i++) {
        int64_t value = i;
        struct arg label = {.key = function, .type = ARG_INT64, .bits = i / 2};

        if (i % 100 == 0)
            stack = NO_STACK;
        stack = sink_stack(sink, stack, (struct frame){.function = function, .line = i});
        sink_sample(sink, (struct sample){i, NO_TRACK, stack, 0, 0}, &value, &label, 1);
    }
}

/* More than fits the memory of a spill or of a scratch array. */
static void many(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    const struct trace *trace = picture_fed(feed_many, NULL, arena);
    uint64_t sum = 0, lines = 0, labels = 0;

    CHECK_INT("samples", trace->stack_sample_count, MANY);
    CHECK_INT("stacks", trace->stack_count, MANY);
    CHECK_INT("label lists", trace->sample_label_count, MANY / 2);
    for (uint32_t i = 0; i < trace->stack_sample_count; i++) {
        sum += (uint64_t)trace->sample_values[i];
        lines += trace->stacks[trace->samples[i].stack].frame.line;
        labels += trace->sample_labels[trace->samples[i].first_label].bits;
    }
    CHECK_INT("values", sum, (uint64_t)MANY * (MANY - 1) / 2);
    CHECK_INT("frames", lines, (uint64_t)MANY * (MANY - 1) / 2);
    CHECK_INT("labels", labels, (uint64_t)MANY * (MANY / 2 - 1) / 2);
    arena_destroy(arena);
}

static void feed_stacks(struct sink *sink)
{
    for (uint32_t i = 0; i < 20; i++)
        a_stack(sink, NO_STACK, "f", i);
}

static void feed_unknown_parent(struct sink *sink)
{
    a_stack(sink, 7, "f", 1);
}

static void feed_unknown_stack(struct sink *sink)
{
    sink_sample(sink, (struct sample){0, NO_TRACK, 7, 0, 0}, NULL, NULL, 0);
}

static void feed_unknown_track(struct sink *sink)
{
    sink_sample(sink, (struct sample){0, 7, NO_STACK, 0, 0}, NULL, NULL, 0);
}

static void feed_late_type(struct sink *sink)
{
    sink_sample(sink, (struct sample){0, NO_TRACK, NO_STACK, 0, 0}, NULL, NULL, 0);
    sink_sample_type(sink, 0, 0);
}

static void feed_types(struct sink *sink)
{
    for (uint32_t i = 0; i < 300; i++) {
        char name[16];

        snprintf(name, sizeof(name), "type %u", i);
        sink_sample_type(sink, sink_name(sink, str_of(name)), 0);
    }
}

static void feed_too_many_bytes(struct sink *sink)
{
    int64_t value = 1;

    sink_sample_type(sink, 0, 0);
    for (uint32_t i = 0; i < 2000; i++)
        sink_sample(sink, (struct sample){i, NO_TRACK, NO_STACK, 0, 0}, &value, NULL, 0);
}

static void refuses(void **state)
{
    (void)state;
    const struct {
        const char *what;
        void (*feed)(struct sink *sink);
        enum status status;
        const char *message;
    } rows[] = {
        {"stacks", feed_stacks, ERR_LIMIT, "10 different stacks"},
        {"no such parent", feed_unknown_parent, ERR_INVALID, "no stack 7"},
        {"no such stack", feed_unknown_stack, ERR_INVALID, "no stack 7"},
        {"no such track", feed_unknown_track, ERR_INVALID, "no track 7"},
        {"a late type", feed_late_type, ERR_INVALID, "after the first sample"},
        {"types", feed_types, ERR_LIMIT, "256 sample types"},
        {"bytes", feed_too_many_bytes, ERR_LIMIT, "set aside"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct error err = {0};
        struct budget budget = budget_default;

        budget.stacks_max = 10;
        budget.spill_bytes_max = 1 << 14;
        struct sink *sink = sink_create(memory_blocks_out(memory_blocks_create(arena)), &budget,
                                        (struct sink_hooks){0}, NULL, &err);
        rows[i].feed(sink);
        CHECK_INT(rows[i].what, sink_failed(sink), true);
        feed_stacks(sink);
        feed_too_many_bytes(sink);
        CHECK_INT(rows[i].what, sink_finish(sink, &err), rows[i].status);
        CHECK_HAS(rows[i].what, err.message, rows[i].message);
        sink_destroy(sink);
        arena_destroy(arena);
    }
}

static void feed_hostile_labels(struct sink *sink, void *data)
{
    struct arg *labels = calloc(5000, sizeof(*labels));

    (void)data;
    assert_non_null(labels);
    for (uint32_t i = 0; i < 5000; i++)
        labels[i] = (struct arg){.type = ARG_DIGITS, .bits = i};
    sink_sample(sink, (struct sample){INT64_MAX, NO_TRACK, NO_STACK, 0, 0}, NULL, labels, 5000);
    free(labels);
}

/* Too many labels and a time out of bounds: kept as far as they go, and counted. */
static void cut(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    const struct trace *trace = picture_fed(feed_hostile_labels, NULL, arena);

    CHECK_INT("labels", trace->samples[0].label_count, budget_default.args_per_event_max);
    CHECK_INT("time", trace->samples[0].at_ps, TIME_PS_MAX);
    CHECK_INT("notes", trace->note_count, 2);
    CHECK_INT("clamped", trace->notes[0].count, 1);
    CHECK_INT("left out", trace->notes[1].count, 5000 - budget_default.args_per_event_max);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back),
        cmocka_unit_test(many),
        cmocka_unit_test(refuses),
        cmocka_unit_test(cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
