/* SPDX-License-Identifier: Apache-2.0 */
/* Where time went, against a plain look at every picosecond, over thousands of made traces.
 *
 *   a seed     up to 3 devices with ops that overlap, loops, waits and work handed on among them; a
 *              thread whose slices lie inside each other; where no device is, two more of them
 *   held       each device's kinds sum to each window, and are what a plain look counts;
 *              windows of a partition add up to the whole; parts of the sweep change nothing */
#include "unit/analyse/made_run.h"

#include "analyse/scan/split.h"
#include "analyse/steps/breakdown.h"
#include "analyse/steps/device_line.h"

enum { SEEDS = 3000, END_PS = 160, OPS_MAX = 24, SLICES_MAX = 40, DEVICES = 3, CUTS = 6 };
enum { THREADS = 3, ALONE_EVERY = 4 }; /* seeds without devices */

struct made_op {
    int64_t from_ps, event_end_ps,
        to_ps; /* the whole begins with its event, and may go on behind */
    int32_t device;
    enum kind kind;
    enum op_role role;
};

struct made_slice {
    int64_t from_ps, to_ps;
    int thread; /* 0 is the one that steps */
    enum host_doing doing;
};

struct plan {
    struct made_op ops[OPS_MAX];
    uint32_t op_count;
    struct made_slice slices[SLICES_MAX]; /* outer ones first */
    uint32_t slice_count;
};

/* Every third op hands its work on: its end is written by another thread. */
static void add_op(struct made_run *run, track_id pool, track_id worker, struct dice *dice,
                   struct plan *plan)
{
    static const struct {
        const char *name;
        enum kind kind;
        enum op_role role;
    } kinds[] = {
        {"dot.1", KIND_COMPUTE, ROLE_OF_WORK},
        {"psum.2", KIND_COMMUNICATION, ROLE_OF_WORK},
        {"copy.3", KIND_COPY, ROLE_OF_WORK},
        {"infeed.4", KIND_INPUT, ROLE_OF_WORK},
        {"odd.5", KIND_OTHER, ROLE_OF_WORK},
        {"copy-done.6", KIND_COPY, ROLE_OF_WAIT},
        {"all-reduce-done.7", KIND_COMMUNICATION, ROLE_OF_WAIT},
        {"while.8", KIND_COMPUTE, ROLE_OF_CONTAINER},
    };
    uint64_t which = dice_below(dice, COUNT(kinds));
    struct made_op op = {.from_ps = (int64_t)dice_below(dice, END_PS),
                         .device = (int32_t)dice_below(dice, DEVICES),
                         .kind = kinds[which].kind,
                         .role = kinds[which].role};

    op.event_end_ps = op.to_ps = op.from_ps + (int64_t)dice_below(dice, 30);

    bool hands_on = op.to_ps > op.from_ps && dice_below(dice, 3) == 0;

    op.to_ps += hands_on ? (int64_t)dice_below(dice, 40) : 0;
    for (uint32_t i = 0; i < plan->op_count; i++) /* of twins nobody knows who comes first */
        if (plan->ops[i].device == op.device && plan->ops[i].from_ps == op.from_ps &&
            plan->ops[i].to_ps == op.to_ps)
            return;
    run_slice(run, pool, op.from_ps, op.event_end_ps - op.from_ps, kinds[which].name, op.kind);
    run_text(run, "hlo_op", kinds[which].name);
    run_text(run, "hlo_module", "jit_f");
    run_int(run, "device_ordinal", op.device);
    if (hands_on) {
        int64_t pair = 1 + plan->op_count;

        run_int(run, "_pt", 0);
        run_int(run, "_p", pair);
        run_cpu_end(run, worker, op.to_ps, 0, "end", pair);
    }
    plan->ops[plan->op_count++] = op;
}

/* A slice and those inside of it. */
static void add_slices(struct made_run *run, const track_id *threads, int thread, struct dice *dice,
                       struct plan *plan, int64_t from_ps, int64_t to_ps, int depth)
{
    static const struct {
        const char *name;
        enum kind kind;
        enum host_doing doing;
    } kinds[] = {
        {"load_data", KIND_INPUT, DOING_INPUT},
        {"backend_compile", KIND_COMPILE, DOING_COMPILE},
        {"H2D Dispatch", KIND_COPY, DOING_TRANSFER},
        {"PjitFunction(f)", KIND_HOST, DOING_DISPATCH},
        {"$train.py:3 f", KIND_HOST, DOING_PYTHON},
        {"$time sleep", KIND_HOST, DOING_WAIT},
        {"augment", KIND_HOST, DOING_OTHER},
        {"$threading.py:1012 run", KIND_HOST, DOING_PYTHON},
    };

    while (from_ps < to_ps && plan->slice_count < SLICES_MAX) {
        uint64_t which = dice_below(dice, COUNT(kinds));
        int64_t begin_ps = from_ps + (int64_t)dice_below(dice, 12);
        int64_t end_ps = begin_ps + 1 + (int64_t)dice_below(dice, 50);

        end_ps = end_ps > to_ps ? to_ps : end_ps;
        if (begin_ps >= end_ps)
            return;
        run_slice(run, threads[thread], begin_ps, end_ps - begin_ps, kinds[which].name,
                  kinds[which].kind);
        plan->slices[plan->slice_count++] =
            (struct made_slice){begin_ps, end_ps, thread, kinds[which].doing};
        if (depth < 4 && dice_below(dice, 3) > 0)
            add_slices(run, threads, thread, dice, plan, begin_ps + 1, end_ps - 1, depth + 1);
        from_ps = end_ps;
    }
}

/* Does a come before b, as a device's ops are ordered? */
static bool comes_before(const struct plan *plan, uint32_t a, uint32_t b)
{
    const struct made_op *x = &plan->ops[a], *y = &plan->ops[b];

    if (x->from_ps != y->from_ps)
        return x->from_ps < y->from_ps;
    return x->to_ps != y->to_ps ? x->to_ps > y->to_ps : a < b;
}

/* Work that was handed on is over when the next op begins: no arrow tells where it ended. */
static int64_t over_ps(const struct plan *plan, uint32_t at)
{
    const struct made_op *op = &plan->ops[at];
    int64_t ret_ps = op->to_ps;

    for (uint32_t i = 0; i < plan->op_count && op->role != ROLE_OF_CONTAINER; i++) {
        const struct made_op *next = &plan->ops[i];
        int64_t least_ps = next->from_ps > op->event_end_ps ? next->from_ps : op->event_end_ps;

        if (i != at && next->device == op->device && comes_before(plan, at, i) && least_ps < ret_ps)
            ret_ps = least_ps;
    }
    return ret_ps;
}

static enum host_doing doing_at(const struct plan *plan, int thread, int64_t at_ps)
{
    enum host_doing doing = DOING_NOTHING;
    bool first = true;

    for (uint32_t i = 0; i < plan->slice_count; i++) {
        const struct made_slice *slice = &plan->slices[i];

        if (slice->thread != thread || slice->from_ps > at_ps || at_ps >= slice->to_ps)
            continue;
        doing = first ? slice->doing : doing_inside(doing, slice->doing);
        first = false;
    }
    return doing;
}

/* Without devices other threads tell where the one that steps waits or has nothing. */
static enum host_doing doing_of_pool(const struct plan *plan, int64_t at_ps)
{
    enum host_doing steps = doing_at(plan, 0, at_ps), doing = steps;

    for (int thread = 1; thread < THREADS && steps >= DOING_WAIT; thread++) {
        enum host_doing other = doing_at(plan, thread, at_ps);

        doing = other < doing ? other : doing;
    }
    return doing;
}

/* What one picosecond of a device counts as. */
static void look_at(const struct plan *plan, int32_t device, int64_t at_ps, struct device_time *to)
{
    static const enum kind telling[] = {KIND_COMPUTE, KIND_COMMUNICATION, KIND_COPY, KIND_INPUT,
                                        KIND_COMPILE, KIND_HOST,          KIND_OTHER};
    bool runs[3][KIND_COUNT] = {{false}};
    bool any = false;

    for (uint32_t i = 0; i < plan->op_count; i++) {
        const struct made_op *op = &plan->ops[i];

        if (op->device == device && op->from_ps <= at_ps && at_ps < over_ps(plan, i))
            any = runs[op->role][op->kind] = true;
    }
    for (int role = 0; any && role < 3; role++) {
        for (size_t i = 0; i < COUNT(telling); i++) {
            if (!runs[role][telling[i]])
                continue;
            to->kinds_ps[telling[i]]++;
            to->busy_ps++;
            to->wait_ps += role == ROLE_OF_WAIT;
            to->hidden_ps +=
                telling[i] != KIND_COMMUNICATION &&
                (runs[ROLE_OF_WORK][KIND_COMMUNICATION] || runs[ROLE_OF_WAIT][KIND_COMMUNICATION]);
            return;
        }
    }

    enum host_doing doing = device < 0 ? doing_of_pool(plan, at_ps) : doing_at(plan, 0, at_ps);

    to->doing_ps[doing]++;
    to->kinds_ps[doing_kind(doing)]++;
}

static bool equal(const struct device_time *a, const struct device_time *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

struct kept { /* by window, lane */
    uint32_t lane_count;
    struct device_time lanes[CUTS + 2][DEVICES], means[CUTS + 2];
    const struct host_devices *devices;
};

static void keep(void *data, uint32_t window, const struct device_time *lanes)
{
    struct kept *kept = data;

    memcpy(kept->lanes[window], lanes, kept->lane_count * sizeof(*lanes));
    kept->means[window] = breakdown_mean(kept->devices, lanes);
}

static void add(struct device_time *to, const struct device_time *by)
{
    for (int kind = 0; kind <= KIND_COUNT; kind++)
        to->kinds_ps[kind] += by->kinds_ps[kind];
    for (int doing = 0; doing < DOING_COUNT; doing++)
        to->doing_ps[doing] += by->doing_ps[doing];
    to->busy_ps += by->busy_ps;
    to->hidden_ps += by->hidden_ps;
    to->wait_ps += by->wait_ps;
}

static int64_t sum_of(const int64_t *values_ps, int count)
{
    int64_t sum_ps = 0;

    for (int i = 0; i < count; i++)
        sum_ps += values_ps[i];
    return sum_ps;
}

static void check_mean(const struct device_time *mean, int64_t size_ps)
{
    CHECK_INT("the mean sums too", sum_of(mean->kinds_ps, KIND_COUNT + 1), size_ps);
    CHECK_INT("and its gaps", mean->busy_ps + sum_of(mean->doing_ps, DOING_COUNT), size_ps);
    for (int kind = 0; kind <= KIND_COUNT; kind++)
        CHECK("no kind is less than nothing", mean->kinds_ps[kind] >= 0);
}

/* Windows of a partition first, the whole last. */
static void check_windows(const struct plan *plan, const struct breakdown_question *question,
                          const struct kept *kept)
{
    uint32_t whole = question->window_count - 1;

    for (uint32_t lane = 0; lane < kept->lane_count; lane++) {
        struct device_time sum = {0};
        int32_t device = question->devices->count > 0 ? question->devices->devices[lane] : -1;

        for (uint32_t i = 0; i < question->window_count; i++) {
            const struct window *window = &question->windows[i];
            struct device_time plain = {0};

            for (int64_t at_ps = window->from_ps; at_ps < window->to_ps; at_ps++)
                look_at(plan, device, at_ps, &plain);
            CHECK("as a plain look counts", equal(&kept->lanes[i][lane], &plain));
            CHECK_INT("sums to the window", sum_of(kept->lanes[i][lane].kinds_ps, KIND_COUNT + 1),
                      window->to_ps - window->from_ps);
            if (i < whole)
                add(&sum, &kept->lanes[i][lane]);
        }
        CHECK("a partition adds up", equal(&sum, &kept->lanes[whole][lane]));
    }
    for (uint32_t i = 0; i <= whole; i++)
        check_mean(&kept->means[i], question->windows[i].to_ps - question->windows[i].from_ps);
}

static void one_seed(uint64_t seed)
{
    struct dice dice = {seed};
    struct made_run run;
    struct plan plan = {0};
    struct window windows[CUTS + 2];
    uint32_t count = 0;
    int64_t from_ps = 0;

    run_begin(&run);
    track_id thread = run_thread(&run, "python"), pool = run_thread(&run, "pool");
    track_id worker = run_thread(&run, "worker");
    const track_id threads[THREADS] = {thread, pool, worker};
    bool alone = seed % ALONE_EVERY == 0;

    for (uint64_t ops = alone ? 0 : dice_below(&dice, OPS_MAX + 1); ops > 0; ops--)
        add_op(&run, pool, worker, &dice, &plan);
    for (int i = 0; i < (alone ? THREADS : 1); i++)
        add_slices(&run, threads, i, &dice, &plan, 0, END_PS, 0);
    run_finish(&run);
    while (count < CUTS && from_ps < END_PS) {
        int64_t to_ps = count + 1 < CUTS ? from_ps + 1 + (int64_t)dice_below(&dice, 60) : END_PS;

        to_ps = to_ps > END_PS ? END_PS : to_ps;
        windows[count++] = (struct window){from_ps, to_ps};
        from_ps = to_ps;
    }
    windows[count++] = (struct window){0, END_PS};

    struct host_devices devices = host_devices_of(&run.host, run.made.arena);
    struct skipped none = {0};
    struct kept kept = {.lane_count = host_lane_count(&devices), .devices = &devices};
    struct kept parted = kept;
    struct breakdown_question question = {.host = &run.host,
                                          .devices = &devices,
                                          .thread = thread,
                                          .skipped = &none,
                                          .windows = windows,
                                          .window_count = count};
    uint64_t before = split_items_a_part;

    breakdown_walk(&question, keep, &kept);
    check_windows(&plan, &question, &kept);
    split_items_a_part = 1;
    breakdown_walk(&question, keep, &parted);
    split_items_a_part = before;
    for (uint32_t i = 0; i < count; i++)
        CHECK("parts change nothing", memcmp(kept.lanes[i], parted.lanes[i],
                                             kept.lane_count * sizeof(kept.lanes[i][0])) == 0);
    run_end(&run);
}

static void seeds(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        one_seed(seed);
}

/* What a worker goes on with before it writes the end of the op that it ended. */
static void handed_on(void **state)
{
    (void)state;
    enum { US = 1000000 };
    const struct {
        const char *what, *before; /* stands on the worker, 30 to 50 us */
        int64_t end_us;            /* begin of the op's end, 1 us long */
        int64_t other_us;          /* where another op begins, on a third thread */
        bool arrow;
        int64_t over_us;
    } rows[] = {
        {"a continuation", "ThunkExecutor::Execute", 51, 10, true, 30},
        {"an op of the device", "next", 51, 10, true, 30},
        {"what ended long before", "ThunkExecutor::Execute", 90, 10, true, 91},
        {"nothing tells the thread", "next", 51, 10, false, 10},
        {"nothing else begins", "ThunkExecutor::Execute", 51, 60, true, 52},
        {"not before its event", "ThunkExecutor::Execute", 51, 3, false, 5},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;
        uint32_t at = 0;

        run_begin(&run);
        track_id caller = run_thread(&run, "caller"), worker = run_thread(&run, "worker");
        track_id third = run_thread(&run, "third");

        run_cpu_op(&run, caller, 0, 5 * US, "dot", 7, 1, 0, 77);
        run_cpu_op(&run, third, rows[i].other_us * US, US, "other", 7, 1, 0, 0);
        if (rows[i].before[0] == 'n')
            run_cpu_op(&run, worker, 30 * US, 20 * US, "next", 7, 1, 0, 0);
        else
            run_slice(&run, worker, 30 * US, 20 * US, rows[i].before, KIND_HOST);
        run_cpu_end_of(&run, worker, rows[i].end_us * US, US, "end: dot", 77, rows[i].arrow);
        run_finish(&run);
        while (run.attribution.entries[run.attribution.by_device_time[at]].start_ps > 0)
            at++;
        CHECK_INT(rows[i].what, device_op_over(&run.host, at) / US, rows[i].over_us);
        run_end(&run);
    }
}

/*  worker   |Execute          |  |Execute        |end: next|end: dot|
 *           |dot||other|              |next|
 *
 * The worker that began an op goes on with another, and ends it later. What it began beside the op
 * tells nothing; what ran right before its end does, also where attribution knows a sooner end, the
 * first use of the value. */
static void the_same_worker_ends_it(void **state)
{
    (void)state;
    enum { US = 1000000 };
    const struct {
        const char *what;
        bool other_end; /* between the last call and the end */
        int64_t first_use_us, over_us;
    } rows[] = {
        {"a continuation", false, 0, 30},
        {"an op of it", true, 0, 31},
        {"a sooner end", false, 45, 30},
        {"the soonest", false, 25, 25},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;
        uint32_t at = 0;

        run_begin(&run);
        track_id worker = run_thread(&run, "worker");

        run_slice(&run, worker, 0, 20 * US, "ThunkExecutor::Execute", KIND_HOST);
        run_cpu_op(&run, worker, US, 4 * US, "dot", 7, 1, 0, 77);
        run_cpu_op(&run, worker, 6 * US, 2 * US, "other", 7, 1, 0, 0);
        run_slice(&run, worker, 30 * US, 20 * US, "ThunkExecutor::Execute", KIND_HOST);
        run_cpu_op(&run, worker, 31 * US, 9 * US, "next", 7, 1, 0, 0);
        if (rows[i].other_end)
            run_slice(&run, worker, 50 * US, US, "end: next", KIND_HOST);
        run_cpu_end(&run, worker, 52 * US, US, "end: dot", 77);
        run_finish(&run);
        while (run.attribution.entries[run.attribution.by_device_time[at]].start_ps != US)
            at++;

        struct attributed *dot = (struct attributed *)(uintptr_t)&run.attribution
                                     .entries[run.attribution.by_device_time[at]];

        run.host.attribution = &run.attribution; /* the records, of which one is changed */
        if (rows[i].first_use_us > 0)
            dot->dur_ps = rows[i].first_use_us * US - dot->start_ps;
        CHECK_INT(rows[i].what, device_op_over(&run.host, at) / US, rows[i].over_us);
        run_end(&run);
    }
}

static void roles(void **state)
{
    (void)state;
    const struct {
        const char *name;
        enum op_role role;
    } rows[] = {
        {"dot.3", ROLE_OF_WORK},           {"copy-done.5", ROLE_OF_WAIT},
        {"all-reduce-done", ROLE_OF_WAIT}, {"copy-start.5", ROLE_OF_WORK},
        {"while.1", ROLE_OF_CONTAINER},    {"conditional.2", ROLE_OF_CONTAINER},
        {"call", ROLE_OF_CONTAINER},       {"while_fusion.2", ROLE_OF_WORK},
    };
    struct made_run run;

    run_begin(&run);
    for (size_t i = 0; i < COUNT(rows); i++)
        sink_name(run.made.sink, str_of(rows[i].name));
    run_slice(&run, run_thread(&run, "python"), 0, 1, "x", KIND_HOST);
    run_finish(&run);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct op op = {.program = NO_PROGRAM};

        CHECK(rows[i].name, trace_find_name(&run.made.trace, str_of(rows[i].name), &op.name));
        CHECK_INT(rows[i].name, op_role_of(&run.made.trace, &op), rows[i].role);
    }
    run_end(&run);
}

/* A pool's thread began a moment earlier and ended a moment later than the program's. */
static void a_pool_does_not_tell(void **state)
{
    (void)state;
    const struct {
        const char *what;
        int64_t from_ps, to_ps;
        bool pool; /* which tells */
    } rows[] = {{"nearly as long", 2, 39, false}, {"a moment of it", 2, 10, true}};

    for (size_t row = 0; row < COUNT(rows); row++) {
        struct made_run run;

        run_begin(&run);
        track_id pool = run_thread(&run, "tf_XLAEigen/17"), main = run_thread(&run, "python");

        run_slice(&run, pool, 0, 40, "work", KIND_HOST);
        run_slice(&run, main, rows[row].from_ps, rows[row].to_ps - rows[row].from_ps, "call",
                  KIND_HOST);
        run_finish(&run);
        CHECK_INT(rows[row].what, breakdown_thread(&run.made.trace), rows[row].pool ? pool : main);
        run_end(&run);
    }
}

/*  main     CUDA API    launch 0..1                 launch 30..31     lanes of one thread
 *           OS runtime            select 1 .. 30
 *  helper   poll 0 ................................................ 40   lasts longer */
static void lanes_are_no_threads(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    struct made *made = &run.made;
    name_id launch = sink_name(made->sink, STR("kernel launch"));
    track_id whole = run_thread(&run, "main"), helper = run_thread(&run, "helper");
    track_id api = made_track(made, "CUDA API", whole, TRACK_THREAD, ROLE_HOST, false);
    track_id os = made_track(made, "OS runtime", whole, TRACK_THREAD, ROLE_HOST, false);
    track_id stream = run_stream(&run, "Stream #7", ROLE_OPS, 0);

    run_slice(&run, helper, 0, 40, "poll", KIND_HOST);
    run_slice(&run, os, 1, 29, "select", KIND_HOST);
    for (uint64_t i = 0; i < 2; i++) {
        run_slice(&run, api, (int64_t)i * 30, 1, "cudaLaunchKernel", KIND_HOST);
        sink_flow(made->sink, FLOW_FROM, launch, i + 1);
        run_slice(&run, stream, (int64_t)i * 30 + 1, 1, "k", KIND_COMPUTE);
        sink_flow(made->sink, FLOW_TO, launch, i + 1);
    }
    run_finish(&run);
    CHECK_INT("it launches", breakdown_thread(&made->trace), api);
    CHECK_INT("of", host_thread_of(&made->trace, api), whole);

    struct device_time time = breakdown_of(&run.host, 0, 40);

    CHECK_INT("busy", time.busy_ps, 2);
    CHECK_INT("it waits while nothing runs", time.doing_ps[DOING_WAIT], 28);
    run_end(&run);
}

/* On the host's own processor nobody copies an array out: who takes it waits until it is there. */
static void taking_an_array(void **state)
{
    (void)state;

    for (int on_host = 0; on_host < 2; on_host++) {
        struct made_run run;

        run_begin(&run);
        run_slice(&run, run_thread(&run, "python"), 0, 40, "np.asarray(jax.Array)", KIND_HOST);
        if (on_host == 1)
            run_cpu_op(&run, run_thread(&run, "pool"), 5, 10, "dot.1", 7, 1, 0, 0);
        else
            run_slice(&run, run_stream(&run, "Stream #7", ROLE_NONE, 0), 5, 10, "gemm",
                      KIND_COMPUTE);
        run_finish(&run);
        struct device_time time = breakdown_of(&run.host, 0, 40);

        CHECK_INT("busy", time.busy_ps, 10);
        CHECK_INT("waits", time.doing_ps[DOING_WAIT], on_host == 1 ? 30 : 0);
        CHECK_INT("copies", time.doing_ps[DOING_TRANSFER], on_host == 1 ? 0 : 30);
        run_end(&run);
    }
}

static void doings(void **state)
{
    (void)state;
    const struct {
        const char *name;
        enum host_doing doing;
    } rows[] = {
        {"$time sleep", DOING_WAIT},
        {"$<unknown> acquire", DOING_WAIT},
        {"$threading.py:355 wait", DOING_WAIT},
        {"$threading.py:1012 run", DOING_PYTHON},
        {"cuStreamSynchronize", DOING_WAIT},
        {"ThunkExecutor::Execute (wait for completion)", DOING_WAIT},
        {"PjitFunction(train_step)", DOING_DISPATCH},
        {"cudaLaunchKernel", DOING_DISPATCH},
        {"host_to_device", DOING_TRANSFER},
        {"$pxla.py:230 batched_device_put", DOING_TRANSFER},
        {"np.asarray(jax.Array)", DOING_TRANSFER},
        {"$train.py:3 step", DOING_PYTHON},
        {"select_action", DOING_OTHER},
        {"select", DOING_WAIT},
        {"forward", DOING_OTHER},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_INT(rows[i].name, doing_of(KIND_HOST, str_of(rows[i].name)), rows[i].doing);
    CHECK_INT("a kind says it", doing_of(KIND_INPUT, STR("$time sleep")), DOING_INPUT);
    CHECK_INT("input keeps what sleeps in it", doing_inside(DOING_INPUT, DOING_WAIT), DOING_INPUT);
    CHECK_INT("compilation inside of input", doing_inside(DOING_INPUT, DOING_COMPILE),
              DOING_COMPILE);
    for (int a = 0; a < DOING_NOTHING; a++)
        for (int b = 0; b < DOING_NOTHING; b++)
            for (int c = 0; c < DOING_NOTHING; c++) /* rows are laid over each other by halves */
                CHECK_INT("in whatever order",
                          doing_inside(doing_inside((enum host_doing)a, (enum host_doing)b),
                                       (enum host_doing)c),
                          doing_inside((enum host_doing)a,
                                       doing_inside((enum host_doing)b, (enum host_doing)c)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeds),
        cmocka_unit_test(handed_on),
        cmocka_unit_test(the_same_worker_ends_it),
        cmocka_unit_test(roles),
        cmocka_unit_test(taking_an_array),
        cmocka_unit_test(doings),
        cmocka_unit_test(a_pool_does_not_tell),
        cmocka_unit_test(lanes_are_no_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
