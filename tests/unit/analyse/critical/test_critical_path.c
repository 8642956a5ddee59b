/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of steps that were drawn so that their answer is known: launches, waits, streams, arrows,
 * threads that hand over, wrong clocks, what nothing explains. */
#include "analyse/critical/critical.h"
#include "analyse/critical/gains.h"
#include "analyse/critical/whatif.h"
#include "unit/analyse/critical/made_steps.h"

/*   python     |train 0-100 ...........................................................|
 *               |load 5-25|  |call 30-40|  |block_until_ready 42-90 ............|
 *   stream 0                         `->|a 44-60|b 60-80 ....|
 *   stream 1                         `--->|side 46-66|
 */
static void draw_gpu(struct made_run *run, int64_t at, int64_t number)
{
    static track_id python, first, second;

    if (number == 0) {
        run_begin(run);
        python = run_thread(run, "python");
        first = run_stream(run, "Stream #7", ROLE_NONE, 0);
        second = run_stream(run, "Stream #9", ROLE_NONE, 0);
    }
    us_step(run, python, at, 100, number);
    us_slice(run, python, at + 5, 20, "load_data", KIND_INPUT);
    us_slice(run, python, at + 30, 10, "cudaLaunchKernel", KIND_HOST);
    us_arrow(run, FLOW_FROM, (uint64_t)(10 * at) + 1);
    us_slice(run, python, at + 42, 48, "block_until_ready", KIND_HOST);
    us_slice(run, first, at + 44, 16, "a", KIND_COMPUTE);
    us_arrow(run, FLOW_TO, (uint64_t)(10 * at) + 1);
    us_slice(run, first, at + 60, 20, "b", KIND_COMPUTE);
    us_slice(run, second, at + 46, 20, "side", KIND_COMPUTE);
    us_arrow(run, FLOW_TO, (uint64_t)(10 * at) + 1);
}

static void from_launch_to_wait(void **state)
{
    (void)state;
    struct made_run run;

    draw_gpu(&run, 0, 0);
    draw_gpu(&run, 200, 1);
    run_finish(&run);
    check_path("the second step", &run, 1,
               "train 5, load_data 20, train 5, cudaLaunchKernel 10, launch delay 4, a 16, b 20, "
               "block_until_ready 10, train 10");
    run_end(&run);
}

static int64_t slack_of(const struct step_graph *graph, const int64_t *slacks, const char *name)
{
    for (uint32_t i = 0; i + 1 < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[i];
        const struct trace *trace = graph->run->hosts[0].trace;

        if (str_equal(trace_name(trace, node->name), str_of(name)))
            return slacks[i] / US;
    }
    check_failed(__FILE__, __LINE__, name, "no such node");
    return -1;
}

static void slack_beside_the_path(void **state)
{
    (void)state;
    struct made_run run;
    struct steps steps;
    int64_t slacks[64];

    draw_gpu(&run, 0, 0);
    draw_gpu(&run, 200, 1);
    run_finish(&run);
    us_steps(&run, &steps);

    struct graph_maker *maker = graph_maker_create(&run.run, &steps);
    const struct step_graph *graph = graph_of_step(maker, &steps.items[1]);

    CHECK("few nodes", graph->node_count <= COUNT(slacks));
    slack_find(graph, slacks);
    CHECK_INT("a", slack_of(graph, slacks, "a"), 0);
    CHECK_INT("b", slack_of(graph, slacks, "b"), 0);
    CHECK_INT("the call", slack_of(graph, slacks, "cudaLaunchKernel"), 0);
    /* It ended 14 before b did, for which the thread waits alike; 10 is what waking up took. */
    CHECK_INT("side", slack_of(graph, slacks, "side"), 14);
    graph_maker_free(maker);
    run_end(&run);
}

static const char *kind_in(const struct step_graph *graph, const char *name)
{
    for (uint32_t i = 0; i + 1 < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[i];

        if (str_equal(trace_name(graph->run->hosts[0].trace, node->name), str_of(name)))
            return kind_word((enum kind)node->kind);
    }
    return "no such node";
}

/*   python   |train ............................................................|
 *              |$dispatch.py device_put 10-70 ..............................|
 *                |isinstance|  |DevicePutWithSharding 30-60 .........|
 *                                 |RecordUsage|  |torch/_utils.py|       */
static void python_in_a_transfer_is_no_copy(void **state)
{
    (void)state;
    struct made_run run;
    struct steps steps;

    run_begin(&run);
    track_id python = run_thread(&run, "python");
    us_step(&run, python, 0, 100, 0);
    us_slice(&run, python, 10, 60, "$dispatch.py:10 device_put", KIND_HOST);
    us_slice(&run, python, 15, 5, "$builtins isinstance", KIND_HOST);
    us_slice(&run, python, 30, 30, "DevicePutWithSharding", KIND_HOST);
    us_slice(&run, python, 35, 5, "RecordUsage", KIND_HOST);
    us_slice(&run, python, 45, 5, "torch/_utils.py(12): shape", KIND_HOST);
    run_finish(&run);
    us_steps(&run, &steps);

    struct graph_maker *maker = graph_maker_create(&run.run, &steps);
    const struct step_graph *graph = graph_of_step(maker, &steps.items[0]);

    CHECK_STR("", str_of(kind_in(graph, "$dispatch.py:10 device_put")), "host");
    CHECK_STR("", str_of(kind_in(graph, "$builtins isinstance")), "host");
    CHECK_STR("", str_of(kind_in(graph, "torch/_utils.py(12): shape")), "host");
    CHECK_STR("", str_of(kind_in(graph, "DevicePutWithSharding")), "copy");
    CHECK_STR("", str_of(kind_in(graph, "RecordUsage")), "copy");
    graph_maker_free(maker);
    run_end(&run);
}

/* Two streams: the second begins when the first is done, though nothing in the file says so. */
static void another_stream_is_only_likely(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id python = run_thread(&run, "python");
    track_id first = run_stream(&run, "Stream #7", ROLE_NONE, 0);
    track_id second = run_stream(&run, "Stream #9", ROLE_NONE, 0);
    for (int64_t i = 0; i < 2; i++) {
        const int64_t at = 200 * i;

        us_step(&run, python, at, 100, i);
        us_slice(&run, python, at, 10, "cudaLaunchKernel", KIND_HOST);
        us_arrow(&run, FLOW_FROM, (uint64_t)i + 1);
        us_slice(&run, python, at + 10, 90, "cudaDeviceSynchronize", KIND_HOST);
        us_slice(&run, first, at + 12, 48, "a", KIND_COMPUTE);
        us_arrow(&run, FLOW_TO, (uint64_t)i + 1);
        us_slice(&run, second, at + 61, 30, "b", KIND_COMPUTE);
        us_arrow(&run, FLOW_TO, (uint64_t)i + 1);
    }
    run_finish(&run);
    check_path("b waits for a", &run, 1,
               "cudaLaunchKernel 10, launch delay 2, a 48, ~scheduling delay 1, ~b 30, "
               "cudaDeviceSynchronize 9");
    run_end(&run);
}

/* A thread that sleeps waits for the clock, whatever devices do meanwhile. */
static void sleep_waits_for_nobody(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id python = run_thread(&run, "python");
    track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, 0);
    for (int64_t i = 0; i < 2; i++) {
        us_step(&run, python, 200 * i, 100, i);
        us_slice(&run, python, 200 * i + 10, 80, "$time sleep", KIND_HOST);
        us_slice(&run, stream, 200 * i + 20, 65, "a", KIND_COMPUTE);
    }
    run_finish(&run);
    check_path("asleep", &run, 1, "train 10, $time sleep 80, train 10");
    run_end(&run);
}

/* Nothing says what the thread did, but it goes on as soon as the device has nothing more to do. */
static void a_wait_without_a_name_is_only_likely(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id python = run_thread(&run, "python");
    track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, 0);
    for (int64_t i = 0; i < 2; i++) {
        us_step(&run, python, 2000 * i, 1000, i);
        us_slice(&run, python, 2000 * i, 10, "cudaLaunchKernel", KIND_HOST);
        us_arrow(&run, FLOW_FROM, (uint64_t)i + 1);
        us_slice(&run, stream, 2000 * i + 20, 900, "a", KIND_COMPUTE);
        us_arrow(&run, FLOW_TO, (uint64_t)i + 1);
    }
    run_finish(&run);
    check_path("behind the device", &run, 1,
               "cudaLaunchKernel 10, launch delay 10, a 900, ~train 80");
    run_end(&run);
}

/* What a thread did before it was asked nothing of stays unexplained, and is nobody's. */
static void a_gap_is_nobodys(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id thread = run_thread(&run, "worker");
    us_slice(&run, thread, 0, 10, "first", KIND_HOST);
    us_slice(&run, thread, 50, 10, "second", KIND_HOST);
    run_finish(&run);
    check_path("no steps: all of its time", &run, -1, "first 10, unexplained 40, second 10");
    run_end(&run);
}

/* An arrow tells what a thread waited for; of two the one that was ready last. */
static void arrows_lead_between_threads(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id first = run_thread(&run, "first"), second = run_thread(&run, "second");
    track_id third = run_thread(&run, "third");

    us_slice(&run, first, 0, 20, "early", KIND_HOST);
    us_arrow(&run, FLOW_FROM, 1);
    us_slice(&run, second, 0, 40, "late", KIND_HOST);
    us_arrow(&run, FLOW_FROM, 2);
    us_slice(&run, third, 43, 20, "both", KIND_HOST);
    us_arrow(&run, FLOW_TO, 1);
    us_arrow(&run, FLOW_TO, 2);
    run_finish(&run);
    check_path("the later one", &run, -1, "late 40, scheduling delay 3, both 20");
    run_end(&run);
}

static track_id lane_of_thread(struct made_run *run, track_id thread, const char *name)
{
    return made_track(&run->made, name, thread, TRACK_THREAD, ROLE_HOST, false);
}

/* What a profiler took of a thread's time is what the next call waited for. */
static void overhead_is_of_its_thread(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id thread = run_thread(&run, "worker");
    track_id overhead = lane_of_thread(&run, thread, "Profiler overhead");
    us_slice(&run, thread, 0, 10, "first", KIND_HOST);
    us_slice(&run, overhead, 15, 60, "flush", KIND_HOST);
    us_slice(&run, thread, 80, 10, "second", KIND_HOST);
    run_finish(&run);
    check_path("its time", &run, -1,
               "first 10, scheduling delay 5, flush 60, scheduling delay 5, second 10");
    run_end(&run);
}

/* A thread of which nothing was recorded before begins behind the call that makes one; its first
 * turn on a processor, while only one other thread ran. */
static void a_thread_begins_where_it_was_made(void **state)
{
    (void)state;
    const struct {
        const char *what, *call, *lane, *first;
        bool other; /* another thread runs then */
        const char *path;
    } rows[] = {
        {"made", "pthread_create", NULL, "work", false,
         "load 100, pthread_create 12, ~scheduling delay 8, ~work 80"},
        {"no such call", "open", NULL, "work", false, "unexplained 120, work 80"},
        {"a turn", "open", "CPU", "CPU 3", false, "load 100, open 12, exec 8, ~CPU 3 80"},
        {"a turn, but two ran", "open", "CPU", "CPU 3", true, "unexplained 120, CPU 3 80"},
        {"a span of that name", "open", NULL, "CPU 3", false, "unexplained 120, CPU 3 80"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        run_begin(&run);
        track_id first = run_thread(&run, "main"), worker = run_thread(&run, "worker");
        us_slice(&run, first, 0, 100, "load", KIND_HOST);
        us_slice(&run, first, 100, 12, rows[i].call, KIND_HOST);
        us_slice(&run, first, 112, 30, "exec", KIND_HOST);
        if (rows[i].other)
            us_slice(&run, run_thread(&run, "other"), 0, 150, "other", KIND_HOST);
        us_slice(&run, rows[i].lane == NULL ? worker : lane_of_thread(&run, worker, rows[i].lane),
                 120, 80, rows[i].first, KIND_HOST);
        run_finish(&run);
        check_path(rows[i].what, &run, -1, rows[i].path);
        run_end(&run);
    }
}

/* A recorder of the driver has a line of its own for a thread: its calls are what the slice that
 * contains them does. A thread of TensorFlow does what runs at the time gives it. */
static void who_called_and_who_gave(void **state)
{
    (void)state;
    const struct {
        const char *what, *thread;
        int64_t early; /* when what it did before ended; 0: nothing */
        const char *path;
    } rows[] = {
        {"a driver's line", "Host Threads/659", 0,
         "load 100, copy 10, ~hipMemcpy 80, hipMemcpy 110"},
        {"a driver's line that rested", "Host Threads/659", 50,
         "load 100, copy 10, ~hipMemcpy 80, hipMemcpy 110"},
        {"any thread", "worker", 0, "unexplained 110, hipMemcpy 80, hipMemcpy 110"},
        {"TensorFlow's", "tf_Compute/7", 50,
         "unexplained 102, python 8, ~hipMemcpy 80, hipMemcpy 110"},
        {"... that did something meanwhile", "tf_Compute/7", 104,
         "early 104, scheduling delay 6, hipMemcpy 80, hipMemcpy 110"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        run_begin(&run);
        track_id thread = run_thread(&run, rows[i].thread);
        track_id pool = run_thread(&run, "pool"), python = run_thread(&run, "python");
        us_slice(&run, pool, 0, 100, "load", KIND_HOST);
        us_slice(&run, pool, 100, 150, "copy", KIND_HOST);
        us_slice(&run, python, 102, 20, "python", KIND_HOST);
        us_slice(&run, run_thread(&run, "Host Threads/710"), 105, 90, "hipMalloc", KIND_HOST);
        if (rows[i].early > 0)
            us_slice(&run, thread, 0, rows[i].early, "early", KIND_HOST);
        us_slice(&run, thread, 110, 80, "hipMemcpy", KIND_HOST);
        us_slice(&run, thread, 190, 110, "hipMemcpy", KIND_HOST);
        run_finish(&run);
        check_path(rows[i].what, &run, -1, rows[i].path);
        run_end(&run);
    }
}

/* A device whose clock is behind: its kernel begins before the call does. */
static void an_edge_back_in_time_is_cut(void **state)
{
    (void)state;
    struct made_run run;
    struct steps steps;

    run_begin(&run);
    track_id python = run_thread(&run, "python");
    track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, 0);

    us_slice(&run, stream, 0, 30, "a", KIND_COMPUTE);
    us_arrow(&run, FLOW_TO, 1);
    us_slice(&run, python, 20, 40, "cudaLaunchKernel", KIND_HOST);
    us_arrow(&run, FLOW_FROM, 1);
    run_finish(&run);
    us_steps(&run, &steps);

    struct graph_maker *maker = graph_maker_create(&run.run, &steps);
    const struct step_graph *graph = graph_of_step(maker, NULL);

    CHECK("it is told", graph->cut_count > 0);
    for (uint32_t i = 0; i < graph->edge_count; i++)
        CHECK("none leads back",
              edge_ready(graph, &graph->edges[i]) <= graph->nodes[graph->edges[i].to].end_ps);
    graph_maker_free(maker);
    check_path("cut", &run, -1, "unexplained 20, cudaLaunchKernel 40");
    run_end(&run);
}

/*   device 0   |dot 0-30|all-reduce 30-70 ......|add|     came first
 *   device 1   |dot 0-50 ......|all-reduce 50-70|add|     all wait for it
 */
static void the_last_to_come_made_the_others_wait(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id first = run_stream(&run, "XLA Ops", ROLE_OPS, 0);
    track_id second = run_stream(&run, "XLA Ops", ROLE_OPS, 1);

    us_slice(&run, first, 0, 30, "dot", KIND_COMPUTE);
    us_slice(&run, first, 30, 40, "all-reduce", KIND_COMMUNICATION);
    us_slice(&run, first, 70, 20, "add", KIND_COMPUTE);
    us_slice(&run, second, 0, 50, "dot.1", KIND_COMPUTE);
    us_slice(&run, second, 50, 20, "all-reduce", KIND_COMMUNICATION);
    us_slice(&run, second, 70, 10, "add.1", KIND_COMPUTE);
    run_finish(&run);
    check_path("over to the last", &run, -1, "dot.1 50, ~all-reduce 20, add 20");
    run_end(&run);
}

/* A done awaits its asynchronous half, which began long before. */
static void a_done_awaits_its_start(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id core = run_stream(&run, "XLA Ops", ROLE_OPS, 0);
    track_id async = run_stream(&run, "Async XLA Ops", ROLE_ASYNC_OPS, 0);

    us_slice(&run, core, 0, 10, "copy-start.1", KIND_COPY);
    us_slice(&run, core, 10, 20, "fusion", KIND_COMPUTE);
    us_slice(&run, core, 30, 50, "copy-done.1", KIND_COPY);
    us_slice(&run, core, 80, 20, "add", KIND_COMPUTE);
    us_slice(&run, async, 10, 68, "copy-start.1", KIND_COPY);
    run_finish(&run);
    check_path("the transfer", &run, -1, "copy-start.1 10, copy-start.1 68, copy-done.1 2, add 20");
    run_end(&run);
}

/* The steps take 100 us each: the path by what it lies in, the largest part first. */
static void in_short(void **state)
{
    (void)state;
    struct made_run run;
    struct steps steps;
    struct path_places places;
    int64_t sum_ps = 0;

    draw_gpu(&run, 0, 0);
    draw_gpu(&run, 200, 1);
    run_finish(&run);
    us_steps(&run, &steps);
    critical_places(&run.run, &steps, run.made.arena, &places);
    for (uint32_t i = 0; i < places.count; i++)
        sum_ps += places.items[i].on_path_ps;
    CHECK_INT("the places sum to the step", sum_ps, places.dur_ps);
    CHECK_STR("first b, as long as load_data and the step itself", places.items[0].name, "b");
    CHECK_STR("said", critical_sentence(&places, run.made.arena),
              "Of the 100 µs of step 0, 20 µs are on the critical path in `b`, 20 µs in "
              "`load_data`, 20 µs in `train`.");
    /* The same step in 50 places of 2 us: the largest says nothing of where the step goes. */
    struct path_place spread[50];

    for (size_t i = 0; i < COUNT(spread); i++) {
        spread[i] = places.items[0];
        spread[i].on_path_ps = 2 * US;
    }
    places.items = spread;
    places.count = COUNT(spread);
    CHECK_STR("spread", critical_sentence(&places, run.made.arena),
              "Of the 100 µs of step 0, 2 µs are on the critical path in `b`; the rest of the "
              "critical path is spread over 49 places, none above 2 µs.");
    run_end(&run);
}

/* Layers that are alike are one part of the sentence, one that stands out keeps its name. */
static void numbered_places_are_one(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        struct {
            const char *name;
            int64_t us;
        } places[4];
        const char *said;
    } rows[] = {
        {"alike",
         {{"layer_0/mlp", 20}, {"layer_1/mlp", 20}, {"layer_10/mlp", 20}, {"head", 40}},
         "Of the 100 µs of the capture, 60 µs are on the critical path in `layer_*/mlp`, 40 µs in "
         "`head`."},
        {"one after another",
         {{"layer_9/mlp", 30},
          {"layer_10/mlp", 20},
          {"layer_11/mlp", 20},
          {"layer_9/attention", 30}},
         "Of the 100 µs of the capture, 70 µs are on the critical path in `layer_9..11/mlp`, 30 µs "
         "in `layer_9/attention`."},
        {"one of them is most",
         {{"layer_0/mlp", 70}, {"layer_1/mlp", 10}, {"layer_2/mlp", 10}, {"head", 10}},
         "Of the 100 µs of the capture, 70 µs are on the critical path in `layer_0/mlp`, 10 µs in "
         "`head`, 10 µs in `layer_1/mlp`."},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct path_place items[COUNT(rows[i].places)] = {0};
        const struct path_places places = {
            .dur_ps = 100 * US, .items = items, .count = COUNT(items)};

        for (size_t k = 0; k < COUNT(items); k++) {
            items[k].name = str_of(rows[i].places[k].name);
            items[k].on_path_ps = rows[i].places[k].us * US;
        }

        CHECK_STR(rows[i].what, critical_sentence(&places, arena), rows[i].said);
        arena_destroy(arena);
    }
}

/* Programs name scopes; a change may name what the sentence does. */
static void in_short_by_scope(void **state)
{
    (void)state;
    static const struct {
        const char *scope, *name;
    } rows[] = {
        {"jit(step)/jit(main)/transpose(jvp(layer_1))/mlp/dot_general", "layer_1/mlp"},
        {"jit(step)/while/body/layer_2/dot_general", "layer_2"},
        {"jit(step)/scanned/while/body/dot_general", "scanned"},
        {"jit(step)/a/b/c/d/dot_general", "a/b/c"},
        {"jit(step)/dot_general", "dot"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;
        struct steps steps;
        struct path_places places;

        run_begin(&run);
        run_program(&run, 7, "jit_step", 7, (const char *const[]){"dot", rows[i].scope, NULL});
        run_cpu_op(&run, run_thread(&run, "pool"), 0, 50 * US, "dot", 7, 0, 0, 0);
        run_finish(&run);
        us_steps(&run, &steps);
        critical_places(&run.run, &steps, run.made.arena, &places);
        CHECK_INT(rows[i].scope, places.count, 1);
        CHECK_STR(rows[i].scope, places.items[0].name, rows[i].name);
        run_end(&run);
    }
}

/* What is asked of one slice beside the pieces. */
static void of_one_slice(void **state)
{
    (void)state;
    static const struct {
        const char *name, *edge;
        int64_t on_path, slack;
    } rows[] = {{"side", "launch", 0, 14}, {"b", "stream-order", 20, 0}};
    struct made_run run;
    struct steps steps;
    struct table table;
    const struct page page = {.limit = 100};

    draw_gpu(&run, 0, 0);
    draw_gpu(&run, 200, 1);
    run_finish(&run);
    us_steps(&run, &steps);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct slice_on_path of = {0};

        while (!str_equal(
            trace_name(run.run.hosts[0].trace, trace_slice(run.run.hosts[0].trace, of.slice).name),
            str_of(rows[i].name)))
            of.slice++;
        const struct step *step = critical_step_of(&run.run, &steps, 0, of.slice);

        CHECK(rows[i].name, step != NULL);
        CHECK_OK(rows[i].name,
                 critical_pieces(&run.run, &steps, step, &page, &of, run.made.arena, &table,
                                 &run.made.err),
                 &run.made.err);
        CHECK(rows[i].name, of.known);
        CHECK_INT(rows[i].name, of.on_path_ps / US, rows[i].on_path);
        CHECK_INT(rows[i].name, of.slack_ps / US, rows[i].slack);
        CHECK_STR(rows[i].name, of.edge, rows[i].edge);
    }
    run_end(&run);
}

/* XLA runs small programs on the thread that calls them: who steps is no thread of a pool for it,
 * and waits for the devices in what is not recorded.
 *
 *   python   |train 0-100 ............................|
 *               |copy 20-22|
 *   pool                |dot 30-90 ............|
 */
static void who_steps_is_no_pool(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id python = run_thread(&run, "python"), pool = run_thread(&run, "tf_XLAEigen/1");
    for (int64_t at = 0; at < 400; at += 200) {
        us_step(&run, python, at, 100, at / 200);
        run_cpu_op(&run, python, (at + 20) * US, 2 * US, "copy", 7, 2 * at + 1, 0, 0);
        run_cpu_op(&run, pool, (at + 30) * US, 60 * US, "dot", 8, 2 * at + 2, 0, 0);
    }
    run_finish(&run);
    check_path("the second step", &run, 1,
               "train 20, copy 2, ~scheduling delay 8, ~dot 60, ~train 10");
    run_end(&run);
}

/* A task that waited since its call began when another thread of the pool had let its core go. */
static void a_core_is_let_go(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id python = run_thread(&run, "python");
    track_id one = run_thread(&run, "tf_XLAEigen/1"), two = run_thread(&run, "tf_XLAEigen/2");

    us_slice(&run, python, 0, 10, "call", KIND_HOST);
    us_arrow(&run, FLOW_FROM, 1);
    us_arrow(&run, FLOW_FROM, 2);
    run_cpu_op(&run, one, 12 * US, 48 * US, "dot.1", 7, 1, 0, 0);
    us_arrow(&run, FLOW_TO, 1);
    run_cpu_op(&run, two, 62 * US, 38 * US, "dot.2", 7, 2, 1, 0);
    us_arrow(&run, FLOW_TO, 2);
    run_finish(&run);
    check_path("the second device", &run, -1,
               "call 10, scheduling delay 2, dot.1 48, ~scheduling delay 2, ~dot.2 38");
    run_end(&run);
}

/* Of 100 us of each step 20 load data on the path; nothing is copied. */
static void gains_of_changes(void **state)
{
    (void)state;
    struct edits input, copies, device;
    const struct edits *const changes[] = {&input, &copies, &device};
    double shares[COUNT(changes)];
    double *ops[1];
    struct made_run run;
    struct steps steps;

    draw_gpu(&run, 0, 0);
    draw_gpu(&run, 200, 1);
    run_finish(&run);
    us_steps(&run, &steps);
    edits_none(&input);
    edits_none(&copies);
    edits_none(&device);
    input.kinds[KIND_INPUT] = 0;
    copies.overlap[KIND_COPY] = true;
    device.late = true;
    device.ops = ops;
    ops[0] = arena_array(run.made.arena, double, run.run.hosts[0].attribution->op_count + 1);
    CHECK("replayed", gains_find(&run.run, &steps, changes, COUNT(changes), shares));
    CHECK("loading is a fifth", shares[0] > 0.1999 && shares[0] < 0.2001);
    CHECK("no copies", shares[1] == 0);
    /* side begins at 46 and is over; 10 us later the wait ends, the step another 10 later. */
    CHECK("ops of the device: 34 of 100", shares[2] > 0.3399 && shares[2] < 0.3401);
    run_end(&run);
}

/*   python   |train 0-100 .......|train 200-300 ......|
 *   loader      |load 10-70|        |load 210-270|          nothing tells who takes what it loads
 */
static void nobody_knows_who_waits(void **state)
{
    (void)state;
    static const struct {
        const char *scale;
        int64_t step;
    } rows[] = {
        {"kind:input=0.5", 100}, /* as if nobody waited */
        {"kind:input=3", 180},   /* a thread loads once a step, so no step is shorter */
    };
    struct made_run run;
    struct steps steps;

    run_begin(&run);
    track_id python = run_thread(&run, "python"), loader = run_thread(&run, "loader");
    for (int64_t at = 0; at < 400; at += 200) {
        us_step(&run, python, at, 100, at / 200);
        us_slice(&run, python, at + 1, 98, "compute", KIND_HOST);
        us_slice(&run, loader, at + 10, 60, "load", KIND_INPUT);
    }
    run_finish(&run);
    us_steps(&run, &steps);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct edits edits = {0};
        struct whatif whatif;
        bool told = false;

        CHECK_OK(rows[i].scale, edits_read(str_of(rows[i].scale), &edits, &run.made.err),
                 &run.made.err);
        CHECK_OK(rows[i].scale,
                 whatif_find(&run.run, &steps, &edits, run.made.arena, &whatif, &run.made.err),
                 &run.made.err);
        CHECK_INT(rows[i].scale, whatif.replayed_ps / US, 100);
        CHECK_INT(rows[i].scale, whatif.predicted_ps / US, rows[i].step);
        for (uint32_t k = 0; k < whatif.note_count; k++)
            told |= strcmp(whatif.notes[k].kind, "cannot-say") == 0;
        CHECK(rows[i].scale, told);
    }
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_launch_to_wait),
        cmocka_unit_test(slack_beside_the_path),
        cmocka_unit_test(python_in_a_transfer_is_no_copy),
        cmocka_unit_test(another_stream_is_only_likely),
        cmocka_unit_test(sleep_waits_for_nobody),
        cmocka_unit_test(a_wait_without_a_name_is_only_likely),
        cmocka_unit_test(a_gap_is_nobodys),
        cmocka_unit_test(arrows_lead_between_threads),
        cmocka_unit_test(overhead_is_of_its_thread),
        cmocka_unit_test(a_thread_begins_where_it_was_made),
        cmocka_unit_test(who_called_and_who_gave),
        cmocka_unit_test(an_edge_back_in_time_is_cut),
        cmocka_unit_test(the_last_to_come_made_the_others_wait),
        cmocka_unit_test(a_done_awaits_its_start),
        cmocka_unit_test(in_short),
        cmocka_unit_test(in_short_by_scope),
        cmocka_unit_test(numbered_places_are_one),
        cmocka_unit_test(of_one_slice),
        cmocka_unit_test(who_steps_is_no_pool),
        cmocka_unit_test(a_core_is_let_go),
        cmocka_unit_test(gains_of_changes),
        cmocka_unit_test(nobody_knows_who_waits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
