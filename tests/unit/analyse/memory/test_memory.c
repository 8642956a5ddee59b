/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of drawn allocator events: peaks, owners, windows, odd sequences; any sequence adds up. */
#include "unit/analyse/made_run.h"

#include "analyse/memory/memory.h"

enum { UNKNOWN = -1 };

struct event { /* of an allocator */
    int64_t at_ps;
    const char *allocator;
    bool is_free;
    uint64_t address; /* 0: none is told */
    int64_t bytes, allocated, reserved, available, peak;
    const char *op; /* NULL: none */
};

static void add_event(struct made_run *run, track_id track, const struct event *event)
{
    struct sink *sink = run->made.sink;

    run_slice(run, track, event->at_ps, 0,
              event->is_free ? "MemoryDeallocation" : "MemoryAllocation", KIND_OTHER);
    if (event->address != 0)
        run_int(run, "addr", (int64_t)event->address);
    if (event->op != NULL)
        run_text(run, "tf_op", event->op);
    sink_memory(sink, (struct memory_event){.at_ps = event->at_ps,
                                            .allocator = sink_name(sink, str_of(event->allocator)),
                                            .is_free = event->is_free,
                                            .bytes = event->bytes,
                                            .bytes_allocated = event->allocated,
                                            .bytes_reserved = event->reserved,
                                            .bytes_available = event->available,
                                            .peak_bytes = event->peak});
}

static void make_run(struct made_run *run, const struct event *events, size_t count)
{
    run_begin(run);
    track_id track = run_thread(run, "python");

    for (size_t i = 0; i < count; i++)
        add_event(run, track, &events[i]);
    run_finish(run);
}

/* 100 bytes were there before; 0x10 is op a, 0x20 op b; the level 400 is reached twice. */
static const struct event few[] = {
    {10, "GPU_0_bfc", false, 0x10, 100, 200, 0, 800, 500, "f/a"},
    {20, "GPU_0_bfc", false, 0x20, 200, 400, 0, 600, 500, "f/g(x/y)/b"},
    {25, "gpu_host_bfc", false, 0x10, 9000, 9000, 0, 0, 9000, NULL},
    {30, "GPU_0_bfc", true, 0x10, 100, 300, 0, 700, 500, NULL},
    {40, "GPU_0_bfc", false, 0x30, 100, 400, 0, 600, 500, "f/a"},
    {50, "GPU_0_bfc", true, 0x99, 50, 350, 0, 650, 500, NULL},
    {60, "GPU_0_bfc", true, 0x30, UNKNOWN, 250, 0, 750, 500, NULL},
};

static struct memory_alive ask_alive(struct made_run *run, struct memory_question question,
                                     const struct restriction *restriction, struct arena *arena)
{
    struct memory_alive alive;
    struct error err = {0};

    CHECK_OK("alive",
             memory_alive(&run->run, restriction, &question, &(struct page){.limit = 10000}, arena,
                          &alive, &err),
             &err);
    return alive;
}

static void peak_is_the_first(void **state)
{
    (void)state;
    struct made_run run;
    struct memory_timeline timeline;
    struct error err = {0};

    make_run(&run, few, COUNT(few));
    CHECK_OK("timeline",
             memory_timeline(&run.run, &(struct restriction){0}, run.made.arena, &timeline, &err),
             &err);
    CHECK_INT("allocators", timeline.allocator_count, 2);
    const struct memory_allocator *gpu = &timeline.allocators[0];

    CHECK_STR("name", gpu->name, "GPU_0_bfc");
    CHECK_INT("peak", gpu->peak_bytes, 400);
    CHECK_INT("at its first moment", gpu->peak_at_ps, 20);
    CHECK_INT("what the allocator says", gpu->lifetime_peak_bytes, 500);
    CHECK_INT("capacity", gpu->capacity_bytes, 1000);
    CHECK_INT("before", gpu->before_bytes, 100);
    CHECK_INT("events", (int64_t)gpu->event_count, 6);
    CHECK_INT("samples", gpu->sample_count, 6);
    CHECK("told", !gpu->is_summed && gpu->fragmentation < 0);
    run_end(&run);
}

static void owners_and_the_rest(void **state)
{
    (void)state;
    static const struct {
        const char *what, *by;
        bool has_at;
        int64_t at_ps, total, first_bytes;
        const char *first;
        uint32_t rows;
    } cases[] = {
        {"the peak", "", false, 0, 400, 200, "b", 3},
        {"by scope", "scope", false, 0, 400, 200, "f/g(x/y)", 3},
        {"each", "allocation", false, 0, 400, 200, "b", 3},
        {"before anything", "", true, 5, 100, 100, "(allocated before the capture)", 1},
        {"after a free", "", true, 30, 300, 200, "b", 2},
        {"before was freed", "", true, 55, 350, 200, "b", 3},
        {"the end", "", true, 1000, 250, 200, "b", 2},
    };
    struct made_run run;

    make_run(&run, few, COUNT(few));
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct memory_alive alive = ask_alive(&run,
                                              (struct memory_question){.by = str_of(cases[i].by),
                                                                       .has_at = cases[i].has_at,
                                                                       .at_ps = cases[i].at_ps},
                                              &(struct restriction){0}, run.made.arena);
        int64_t sum = 0;

        CHECK_STR(cases[i].what, alive.allocator.name, "GPU_0_bfc");
        CHECK_INT(cases[i].what, alive.table.row_count, cases[i].rows);
        for (uint32_t row = 0; row < alive.table.row_count; row++)
            sum += cell_of(&alive.table, row, "bytes")->of.integer;
        CHECK_INT(cases[i].what, sum, cases[i].total);
        CHECK_INT(cases[i].what, alive.total_bytes, cases[i].total);
        CHECK_STR(cases[i].what, cell_of(&alive.table, 0, "name")->of.text, cases[i].first);
        CHECK_INT(cases[i].what, cell_of(&alive.table, 0, "bytes")->of.integer,
                  cases[i].first_bytes);
    }
    run_end(&run);
}

static void a_window_sees_what_was_there(void **state)
{
    (void)state;
    struct made_run run;
    struct restriction restriction = {.has_window = true, .start_ps = 32, .end_ps = 38};

    make_run(&run, few, COUNT(few));
    struct memory_alive alive =
        ask_alive(&run, (struct memory_question){.allocator = STR("GPU_0_bfc")}, &restriction,
                  run.made.arena);

    CHECK_INT("the level of 30", alive.allocator.peak_bytes, 300);
    CHECK_INT("at the window's start", alive.allocator.peak_at_ps, 32);
    CHECK_INT("no event inside", (int64_t)alive.allocator.event_count, 0);
    run_end(&run);
}

static void odd_sequences(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        struct event events[3];
        size_t count;
        int64_t total;
        const char *last;
        uint32_t rows, notes;
    } cases[] = {
        {"twice at one address",
         {{1, "G", false, 7, 10, 10, 0, 0, 0, "a"}, {2, "G", false, 7, 10, 20, 0, 0, 0, "b"}},
         2,
         20,
         "b",
         2,
         1},
        {"more than is said",
         {{1, "G", false, 7, 10, 10, 0, 0, 0, "a"}, {2, "G", false, 8, 90, 50, 0, 0, 0, "b"}},
         2,
         50,
         "(freed, but no event says so)",
         3,
         0},
        {"reserved beside it", {{1, "G", false, 7, 10, 10, 90, 0, 0, "a"}}, 1, 100, "a", 2, 0},
        {"no address",
         {{1, "G", false, 0, 10, 10, 0, 0, 0, "a"}},
         1,
         10,
         "(allocated before the capture, or without an address)",
         1,
         1},
        {"no totals",
         {{1, "G", true, 7, 30, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, NULL},
          {2, "G", false, 8, 50, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, "a"}},
         2,
         50,
         "a",
         1,
         1},
        {"sizes that do not fit",
         {{1, "G", false, 7, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, 0, "a"},
          {2, "G", false, 8, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, 0, "b"}},
         2,
         INT64_MAX,
         "a",
         1,
         0},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made_run run;

        make_run(&run, cases[i].events, cases[i].count);
        struct memory_alive alive =
            ask_alive(&run, (struct memory_question){0}, &(struct restriction){0}, run.made.arena);

        CHECK_INT(cases[i].what, alive.total_bytes, cases[i].total);
        CHECK_INT(cases[i].what, alive.table.note_count, cases[i].notes);
        if (cases[i].total < INT64_MAX)
            CHECK_INT(cases[i].what, alive.table.row_count, cases[i].rows);
        if (cases[i].total < INT64_MAX)
            CHECK_STR(cases[i].what,
                      cell_of(&alive.table, alive.table.row_count - 1, "name")->of.text,
                      cases[i].last);
        run_end(&run);
    }
}

static void summary(void **state)
{
    (void)state;
    struct made_run run;
    struct memory_summary found;
    struct error err = {0};

    make_run(&run, few, COUNT(few));
    CHECK_OK("summary",
             memory_summary(&run.run, &(struct restriction){0}, run.made.arena, &found, &err),
             &err);
    CHECK_STR("a device before a host", found.allocator, "GPU_0_bfc");
    CHECK_INT("peak", found.peak_bytes, 400);
    CHECK_STR("owner", found.owner, "b");
    CHECK_STR("its scope", found.owner_scope, "f/g(x/y)");
    CHECK("named", found.owner_is_known);
    CHECK_INT("points", found.point_count, 6);
    run_end(&run);
    make_run(&run, NULL, 0);
    CHECK_OK("summary",
             memory_summary(&run.run, &(struct restriction){0}, run.made.arena, &found, &err),
             &err);
    CHECK("why not", found.reason.count > 0 && found.point_count == 0);
    run_end(&run);
}

/* Why there is nothing names what would have recorded it. */
static void absent(void **state)
{
    (void)state;
    static const struct {
        const char *format, *framework, *part;
    } rows[] = {
        {"xplane", NULL, "jax.profiler.save_device_memory_profile"},
        {"nsys-sqlite", NULL, "--cuda-memory-usage"},
        {"chrome-json", "pytorch", "profile_memory=True"},
        {"chrome-json", "jax", "jax.profiler.save_device_memory_profile"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;
        struct memory_summary found;
        struct error err = {0};

        run_begin(&run);
        struct sink *sink = run.made.sink;

        sink_format(sink, rows[i].format);
        if (rows[i].framework != NULL)
            sink_property(sink, NO_TRACK,
                          (struct arg){.key = sink_name(sink, STR("framework")),
                                       .type = ARG_STRING,
                                       .bits = sink_name(sink, str_of(rows[i].framework))});
        run_finish(&run);
        CHECK_OK(rows[i].format,
                 memory_summary(&run.run, &(struct restriction){0}, run.made.arena, &found, &err),
                 &err);
        CHECK_HAS(rows[i].format, str_c(run.made.arena, found.reason), rows[i].part);
        run_end(&run);
    }
}

/* The driver's own calls: without totals, of several devices and kinds of memory. */
static void kinds_and_devices(void **state)
{
    (void)state;
    static const struct {
        int32_t device;
        const char *kind;
        int64_t bytes;
        bool is_free;
    } events[] = {{0, "Device", 100, false},
                  {1, "Device", 70, false},
                  {0, "Pinned", 900, false},
                  {0, "Device", 40, true},
                  {0, "Device", 50, false}};
    const struct {
        const char *name;
        int64_t peak, before, capacity;
    } wanted[] = {{"CUDA device 0: Device", 110, 0, UNKNOWN},
                  {"CUDA device 1: Device", 70, 0, 1000},
                  {"CUDA device 0: Pinned", 900, 0, UNKNOWN}};
    struct made_run run;
    struct memory_timeline timeline;
    struct memory_summary found;
    struct error err = {0};
    track_id tracks[2];

    run_begin(&run);
    for (int32_t device = 0; device < 2; device++)
        tracks[device] = run_stream(&run, "memory", ROLE_NONE, device);
    sink_property(run.made.sink, tracks[1],
                  (struct arg){.key = sink_name(run.made.sink, STR("memory_size_bytes")),
                               .type = ARG_INT64,
                               .bits = 1000});
    for (size_t i = 0; i < COUNT(events); i++) {
        run_slice(&run, tracks[events[i].device], (int64_t)i * 10, 0, "MemoryAllocation",
                  KIND_OTHER);
        run_int(&run, "address", (int64_t)i + 1);
        run_text(&run, "memory", events[i].kind);
        sink_memory(run.made.sink,
                    (struct memory_event){.at_ps = (int64_t)i * 10,
                                          .allocator = sink_name(run.made.sink, STR("CUDA")),
                                          .is_free = events[i].is_free,
                                          .bytes = events[i].bytes,
                                          .bytes_allocated = UNKNOWN,
                                          .bytes_reserved = UNKNOWN,
                                          .bytes_available = UNKNOWN,
                                          .peak_bytes = UNKNOWN});
    }
    run_finish(&run);
    CHECK_OK("timeline",
             memory_timeline(&run.run, &(struct restriction){0}, run.made.arena, &timeline, &err),
             &err);
    CHECK_INT("allocators", timeline.allocator_count, COUNT(wanted));
    for (size_t i = 0; i < COUNT(wanted); i++) {
        CHECK_STR(wanted[i].name, timeline.allocators[i].name, wanted[i].name);
        CHECK_INT(wanted[i].name, timeline.allocators[i].peak_bytes, wanted[i].peak);
        CHECK_INT(wanted[i].name, timeline.allocators[i].before_bytes, wanted[i].before);
        CHECK_INT(wanted[i].name, timeline.allocators[i].capacity_bytes, wanted[i].capacity);
        CHECK(wanted[i].name, timeline.allocators[i].is_summed);
    }
    CHECK_OK("summary",
             memory_summary(&run.run, &(struct restriction){0}, run.made.arena, &found, &err),
             &err);
    CHECK_STR("a device before pinned memory of the host", found.allocator,
              "CUDA device 0: Device");
    run_end(&run);
}

enum { ADDRESSES = 12, EVENTS = 60, SEEDS = 2000 };

struct model { /* what is alive, told simply */
    int64_t held[ADDRESSES], before, level[EVENTS];
    int64_t owned[EVENTS];
};

static size_t make_events(struct dice *dice, struct event *events, struct model *model)
{
    static const char *const ops[] = {"a", "f/b", "f/g/c", NULL};
    int64_t level = model->before = (int64_t)dice_below(dice, 1000), owned = 0;

    for (size_t i = 0; i < EVENTS; i++) {
        uint64_t at = dice_below(dice, ADDRESSES);
        bool is_free = model->held[at] > 0;
        int64_t bytes = is_free ? model->held[at] : (int64_t)dice_below(dice, 500) + 1;

        level += is_free ? -bytes : bytes;
        owned += is_free ? -bytes : bytes;
        model->held[at] = is_free ? 0 : bytes;
        model->level[i] = level;
        model->owned[i] = owned;
        events[i] = (struct event){.at_ps = (int64_t)i * 10,
                                   .allocator = "G",
                                   .is_free = is_free,
                                   .address = at + 1,
                                   .bytes = is_free && dice_below(dice, 3) == 0 ? UNKNOWN : bytes,
                                   .allocated = level,
                                   .reserved = 0,
                                   .op = is_free ? NULL : ops[dice_below(dice, COUNT(ops))]};
    }
    return EVENTS;
}

/* At any moment the rows are what is alive and what was before; the peak is the largest level. */
static void any_sequence(void **state)
{
    (void)state;
    static const char *const by[] = {"owner", "op", "scope", "shape", "category", "allocation"};

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct dice dice = {.state = seed};
        struct event events[EVENTS];
        struct model model = {0};
        struct made_run run;
        size_t peak = 0, at = dice_below(&dice, EVENTS);
        int64_t sum = 0, before = 0;

        make_run(&run, events, make_events(&dice, events, &model));
        for (size_t i = 1; i < EVENTS; i++)
            peak = model.level[i] > model.level[peak] ? i : peak;
        struct memory_alive alive =
            ask_alive(&run,
                      (struct memory_question){.by = str_of(by[seed % COUNT(by)]),
                                               .has_at = seed % 3 != 0,
                                               .at_ps = (int64_t)at * 10 + (int64_t)(seed % 10)},
                      &(struct restriction){0}, run.made.arena);
        if (seed % 3 == 0)
            at = peak;
        for (uint32_t row = 0; row < alive.table.row_count; row++) {
            bool is_before =
                str_equal(cell_of(&alive.table, row, "row_kind")->of.text, STR("before"));
            sum += cell_of(&alive.table, row, "bytes")->of.integer;
            before += is_before ? cell_of(&alive.table, row, "bytes")->of.integer : 0;
        }
        CHECK_INT("the level", sum, model.level[at]);
        CHECK_INT("the level", alive.total_bytes, model.level[at]);
        CHECK_INT("what was before", before, model.level[at] - model.owned[at]);
        CHECK_INT("the peak", alive.allocator.peak_bytes, model.level[peak]);
        CHECK_INT("its moment", alive.allocator.peak_at_ps, (int64_t)peak * 10);
        run_end(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peak_is_the_first),
        cmocka_unit_test(owners_and_the_rest),
        cmocka_unit_test(a_window_sees_what_was_there),
        cmocka_unit_test(odd_sequences),
        cmocka_unit_test(summary),
        cmocka_unit_test(absent),
        cmocka_unit_test(any_sequence),
        cmocka_unit_test(kinds_and_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
