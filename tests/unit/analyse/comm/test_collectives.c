/* SPDX-License-Identifier: Apache-2.0 */
/* Executions of collectives: halves, exposed and hidden time, mates, rates. */
#include <stdlib.h>

#include "unit/analyse/made_collectives.h"

#include "analyse/comm/collectives.h"
#include "analyse/scan/split.h"

static struct table ask(const struct made_run *run, const char *by,
                        const struct restriction *restriction)
{
    static const struct restriction nothing;
    static const struct page all = {.limit = 10000};
    struct error err = {0};
    struct table table = {0};

    CHECK_OK(by,
             collectives_table(&run->run, restriction != NULL ? restriction : &nothing, str_of(by),
                               &all, run->made.arena, &table, &err),
             &err);
    return table;
}

static const struct cell *at(const struct table *table, const char *name, const char *column)
{
    for (uint32_t row = 0; row < table->row_count; row++)
        if (str_equal(cell_of(table, row, "name")->of.text, str_of(name)))
            return cell_of(table, row, column);
    check_failed(__FILE__, __LINE__, name, "no such row");
    return cell_of(table, 0, column);
}

static int64_t number(const struct table *table, const char *name, const char *column)
{
    return at(table, name, column)->of.integer;
}

/*  device 0   dot.1 |--------|                  0 .. 40
 *             ar        |--------|              20 .. 60     on a stream of its own
 *             ag          s|--dot.1--|d         60 .. 62, 62 .. 90, 88 .. 100: 60 .. 100, 26 hidden
 *  device 1   ar            |----|              30 .. 60     the last to come
 *             ag          s|         |d         70 .. 72, 90 .. 100
 */
static void make_devices(struct made_run *run)
{
    run_begin(run);
    add_program(run);
    track_id compute_0 = run_stream(run, "Stream #1", ROLE_NONE, 0);
    track_id comm_0 = run_stream(run, "Stream #2", ROLE_NONE, 0);
    track_id comm_1 = run_stream(run, "Stream #2", ROLE_NONE, 1);

    add_op(run, compute_0, 0, 40, "dot.1", 5);
    add_op(run, compute_0, 62, 28, "dot.1", 5);
    add_op(run, comm_0, 20, 40, "ar", 5);
    add_op(run, comm_0, 60, 2, "ag-start", 5);
    add_op(run, comm_0, 88, 12, "ag-done", 5);
    add_op(run, comm_1, 30, 30, "ar", 5);
    add_op(run, comm_1, 70, 2, "ag-start", 5);
    add_op(run, comm_1, 90, 10, "ag-done", 5);
    run_finish(run);
}

static void devices(void **state)
{
    (void)state;
    struct made_run run;
    const struct {
        const char *name;
        int64_t count, total_ps, exposed_ps, hidden_ps, blocked_ps, wait_ps, size, bytes;
        const char *kind, *last;
    } rows[] = {
        {"ar", 2, 70, 50, 20, -1, 10, 2, 4000, "all-reduce", "device 1"},
        {"ag-start", 2, 70, 42, 28, 22, 10, 2, 8000, "all-gather", "device 1"},
    };

    make_devices(&run);
    struct table table = ask(&run, "op", NULL);
    CHECK_INT("a pair is one", table.row_count, 2);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *name = rows[i].name;

        CHECK_INT(name, number(&table, name, "count"), rows[i].count);
        CHECK_INT(name, number(&table, name, "total_ps"), rows[i].total_ps);
        CHECK_INT(name, number(&table, name, "exposed_ps"), rows[i].exposed_ps);
        CHECK_INT(name, number(&table, name, "hidden_ps"), rows[i].hidden_ps);
        CHECK_INT(name, at(&table, name, "blocked_ps")->kind,
                  rows[i].blocked_ps < 0 ? CELL_NULL : CELL_INTEGER);
        if (rows[i].blocked_ps >= 0)
            CHECK_INT(name, number(&table, name, "blocked_ps"), rows[i].blocked_ps);
        CHECK_INT(name, number(&table, name, "wait_ps"), rows[i].wait_ps);
        CHECK_INT(name, number(&table, name, "group_size"), rows[i].size);
        CHECK_INT(name, number(&table, name, "bytes"), rows[i].bytes);
        CHECK_STR(name, at(&table, name, "kind")->of.text, rows[i].kind);
        CHECK_STR(name, at(&table, name, "last")->of.text, rows[i].last);
        CHECK_STR(name, at(&table, name, "axis")->of.text, "all 2 devices");
    }
    /* 2 x 4,000 bytes in 70 ps; of an all-reduce of two the bus carries as much. */
    CHECK("rate", at(&table, "ar", "bus_bytes_per_s")->of.real == 8000 * 1e12 / 70);
    CHECK("without waits", at(&table, "ar", "moving_bus_bytes_per_s")->of.real == 8000 * 1e12 / 60);
    CHECK("half of an all-gather's result",
          at(&table, "ag-start", "bus_bytes_per_s")->of.real == 8000 * 1e12 / 70);
    CHECK_INT("sum", table.total_ps, 140);
    run_end(&run);
}

static void grouped(void **state)
{
    (void)state;
    struct made_run run;
    static const struct {
        const char *by, *name;
        int64_t count, total_ps, exposed_ps;
    } rows[] = {
        {"kind", "all-reduce", 2, 70, 50}, {"axis", "all 2 devices", 4, 140, 92},
        {"size", "2", 4, 140, 92},         {"group", "{0,1}", 4, 140, 92},
        {"device", "device 0", 2, 80, 32}, {"device", "device 1", 2, 60, 60},
        {"host", "hostA", 4, 140, 92},
    };

    make_devices(&run);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct table table = ask(&run, rows[i].by, NULL);

        CHECK_INT(rows[i].by, number(&table, rows[i].name, "count"), rows[i].count);
        CHECK_INT(rows[i].by, number(&table, rows[i].name, "total_ps"), rows[i].total_ps);
        CHECK_INT(rows[i].by, number(&table, rows[i].name, "exposed_ps"), rows[i].exposed_ps);
    }
    struct table axes = ask(&run, "axis", NULL);
    CHECK_INT("of several sizes none is told", at(&axes, "all 2 devices", "bytes")->kind,
              CELL_NULL);
    CHECK("but their sum", number(&axes, "all 2 devices", "bytes_total") == 24000);

    struct error err = {0};
    struct table none;
    CHECK_INT("by something else",
              collectives_table(&run.run, &(struct restriction){0}, STR("colour"),
                                &(struct page){.limit = 10}, run.made.arena, &none, &err),
              ERR_INVALID);
    run_end(&run);
}

/* Mates stand outside of what is asked for, and count all the same. */
static void restricted(void **state)
{
    (void)state;
    struct made_run run;
    static const int64_t device_0[] = {0};
    const struct {
        const char *what;
        struct restriction restriction;
        int64_t count, total_ps, exposed_ps, wait_ps;
    } rows[] = {
        {"a device", {.devices = device_0, .device_count = 1}, 1, 40, 20, 10},
        {"a window", {.has_window = true, .start_ps = 30, .end_ps = 50}, 2, 40, 30, 10},
        {"a name", {.name = STR("ar")}, 2, 70, 50, 10},
        {"a part of a name", {.q = STR("A")}, 2, 70, 50, 10},
        {"a module", {.module = STR("jit_f")}, 2, 70, 50, 10},
    };

    make_devices(&run);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct table table = ask(&run, "op", &rows[i].restriction);

        CHECK_INT(rows[i].what, number(&table, "ar", "count"), rows[i].count);
        CHECK_INT(rows[i].what, number(&table, "ar", "total_ps"), rows[i].total_ps);
        CHECK_INT(rows[i].what, number(&table, "ar", "exposed_ps"), rows[i].exposed_ps);
        CHECK_INT(rows[i].what, number(&table, "ar", "wait_ps"), rows[i].wait_ps);
    }

    struct table table;
    struct error err = {0};

    CHECK_INT("another module",
              collectives_table(&run.run, &(struct restriction){.module = STR("jit_g")}, STR("op"),
                                &(struct page){.limit = 100}, run.made.arena, &table, &err),
              ERR_NOT_FOUND);
    CHECK("names the nearest", strstr(err.message, "\"jit_f\"") != NULL);
    run_end(&run);
}

/* A loop is no compute that hides what runs in it; nor is an op on XLA:CPU whose `end:` comes after
 * what followed it. */
static void covers(void **state)
{
    (void)state;
    struct made_run run;
    struct table table;

    run_begin(&run);
    add_program(&run);
    track_id ops = run_stream(&run, "XLA Ops", ROLE_OPS, 0);
    add_op(&run, ops, 0, 100, "w", 1);
    add_op(&run, ops, 10, 50, "ar", 1);
    run_finish(&run);
    table = ask(&run, "op", NULL);
    CHECK_INT("in a loop", number(&table, "ar", "exposed_ps"), 50);
    CHECK_INT("of one device nobody waits", at(&table, "ar", "wait_ps")->kind, CELL_NULL);
    CHECK("and it says why", at(&table, "ar", "wait_ps")->of.text.count > 0);
    run_end(&run);

    run_begin(&run);
    add_program(&run);
    track_id pool = run_thread(&run, "pool"), other = run_thread(&run, "other");
    run_cpu_op(&run, pool, 0, 20, "dot.1", 7, 1, 0, 77);
    run_slice(&run, other, 30, 50, "ar", KIND_COMMUNICATION);
    run_text(&run, "hlo_op", "ar");
    run_text(&run, "hlo_module", "jit_f");
    run_int(&run, "program_id", 7);
    run_int(&run, "run_id", 1);
    run_int(&run, "device_ordinal", 0);
    run_cpu_end(&run, other, 90, 5, "end: dot.1", 77);
    run_finish(&run);
    table = ask(&run, "op", NULL);
    CHECK_INT("behind an op that ends late", number(&table, "ar", "exposed_ps"), 50);
    run_end(&run);
}

/* Halves that miss the other one stand by themselves. */
static void halves(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    add_program(&run);
    track_id ops = run_stream(&run, "XLA Ops", ROLE_OPS, 0);
    add_op(&run, ops, 0, 5, "ag-done", 1);
    add_op(&run, ops, 10, 2, "ag-start", 1);
    add_op(&run, ops, 20, 2, "ag-start", 1);
    add_op(&run, ops, 30, 5, "ag-done", 1);
    add_op(&run, ops, 40, 5, "ag-done", 1);
    add_op(&run, ops, 50, 2, "ag-start", 1);
    run_finish(&run);
    struct table table = ask(&run, "op", NULL);
    CHECK_INT("one collective", table.row_count, 1);
    CHECK_INT("a done, two pairs, a start", number(&table, "ag-start", "count"), 4);
    CHECK_INT("first comes first", number(&table, "ag-start", "total_ps"), 5 + 25 + 25 + 2);
    run_end(&run);
}

/* Two hosts, whose clocks are 1000 apart and not known to be: who is shorter came last. */
static void hosts(void **state)
{
    (void)state;
    struct made_run runs[2];
    struct host_trace traces[2];
    struct collectives found;
    struct collective_waits waits;
    struct error err = {0};

    for (int host = 0; host < 2; host++) {
        run_begin(&runs[host]);
        add_program(&runs[host]);
        track_id ops = run_stream(&runs[host], "XLA Ops", ROLE_OPS, host);
        for (int turn = 0; turn < 3; turn++)
            add_op(&runs[host], ops, 1000 * host + 100 * turn + 30 * host, 60 - 30 * host, "ar",
                   7 + turn);
        run_finish(&runs[host]);
        traces[host] = runs[host].host;
        traces[host].name = host == 0 ? STR("hostA") : STR("hostB");
    }
    struct run_traces run = {.hosts = traces, .host_count = 2};
    CHECK_OK("find",
             collectives_find(&run, &(struct restriction){0}, runs[0].made.arena, &found, &err),
             &err);
    collectives_waits(&found, runs[0].made.arena, &waits);
    CHECK_INT("one a host", waits.count, 2);
    CHECK_INT("the first waits", waits.items[0].wait_ps, 90);
    CHECK_INT("... as long as the other is late", waits.items[1].late_ps, 90);
    CHECK_INT("... who is always the last", waits.items[1].last_count, 3);
    CHECK_INT("... and waits for none", waits.items[1].wait_ps, 0);
    CHECK_INT("by length", found.by_length_count, 6);
    for (int host = 0; host < 2; host++)
        run_end(&runs[host]);
}

static void draw_host(struct made_run *run, const char *groups, int host, enum track_role role)
{
    char *text = malloc(1024);
    int size = snprintf(text, 1024,
                        "HloModule jit_f\n\nENTRY %%main (p: f32[1000]) -> f32[1000] {\n"
                        "  %%p = f32[1000]{0} parameter(0)\n"
                        "  ROOT %%ar = f32[1000]{0} all-reduce(f32[1000]{0} %%p), "
                        "replica_groups=%s, to_apply=%%s\n}\n",
                        groups);

    run_begin(run);
    add_program_of(run, (struct bytes){.at = (const uint8_t *)text, .count = (uint64_t)size});
    for (int device = 0; device < 4; device++) {
        track_id ops = run_stream(run, "Stream #1", role, device);
        int late_ps = 10 * device + 5 * host;

        for (int turn = 0; turn < 2; turn++)
            add_op(run, ops, 1000 * host + 100 * turn + late_ps, 60 - late_ps, "ar", 7 + turn);
    }
    run_finish(run);
    free(text);
}

/*  host A   0 |----------|      host B   0  |---------|     both number their devices from 0;
 *           1   |--------|               1    |-------|     all of a turn end together
 *           2     |------|               2      |-----|
 *           3       |----|               3        |---|     the last of all
 */
static void groups_over_hosts(void **state)
{
    (void)state;
    static const struct {
        const char *groups;
        enum track_role role;
        bool known;
        int64_t waits_ps[8]; /* of one turn, by host and device */
    } rows[] = {
        {"{{0,1},{2,3},{4,5},{6,7}}", ROLE_NONE, true, {10, 0, 10, 0, 10, 0, 10, 0}},
        {"{{0,4},{1,5},{2,6},{3,7}}", ROLE_NONE, true, {5, 5, 5, 5, 0, 0, 0, 0}},
        {"[4,2]<=[2,4]T(1,0)", ROLE_NONE, true, {5, 5, 5, 5, 0, 0, 0, 0}},
        {"{{0,1,4,5},{2,3,6,7}}", ROLE_NONE, true, {15, 5, 15, 5, 10, 0, 10, 0}},
        {"{{0,1,2,3,4,5,6,7}}", ROLE_NONE, true, {35, 25, 15, 5, 30, 20, 10, 0}},
        {"{{0,5},{1,4},{2,7},{3,6}}", ROLE_NONE, false, {0}}, /* hangs on who is the first host */
        {"{{0,1},{2,3},{4,6},{5,7}}", ROLE_NONE, false, {0}},
        {"{{0,1},{2,3},{4,5}}", ROLE_NONE, false, {0}},      /* no whole hosts */
        {"{{0,4},{1,5},{2,6},{3,7}}", ROLE_OPS, false, {0}}, /* a torus numbers otherwise */
    };

    for (size_t row = 0; row < COUNT(rows); row++) {
        struct made_run runs[2];
        struct host_trace traces[2];
        struct collectives found;
        struct error err = {0};

        for (int host = 0; host < 2; host++) {
            draw_host(&runs[host], rows[row].groups, host, rows[row].role);
            traces[host] = runs[host].host;
            traces[host].name = host == 0 ? STR("hostA") : STR("hostB");
        }
        struct run_traces run = {.hosts = traces, .host_count = 2};

        CHECK_OK(rows[row].groups,
                 collectives_find(&run, &(struct restriction){0}, runs[0].made.arena, &found, &err),
                 &err);
        CHECK_INT(rows[row].groups, found.run_count, 16);
        CHECK_INT(rows[row].groups, found.wait_reason == NULL, rows[row].known);
        for (uint32_t i = 0; i < found.run_count; i++) {
            const struct collective_run *one = &found.runs[i];
            int64_t wanted_ps = rows[row].waits_ps[4 * one->host + (uint32_t)one->device];

            CHECK_INT(rows[row].groups, one->wait_ps, rows[row].known ? wanted_ps : -1);
            CHECK_INT(rows[row].groups, one->is_last, rows[row].known && wanted_ps == 0);
        }
        for (int host = 0; host < 2; host++)
            run_end(&runs[host]);
    }
}

/* One host of four devices; partition i ran on orders[i], as the runtime's calls say. Device d
 * comes 10 d late, and all end together. */
static void draw_ordered(struct made_run *run, const int *orders, uint32_t count)
{
    static const char text[] =
        "HloModule jit_f\n\nENTRY %main (p: f32[1000]) -> f32[1000] {\n"
        "  %p = f32[1000]{0} parameter(0)\n"
        "  ROOT %ar = f32[1000]{0} all-reduce(f32[1000]{0} %p), replica_groups={{0,1},{2,3}}, "
        "to_apply=%s\n}\n";

    run_begin(run);
    add_program_of(run, BYTES(text));
    for (int device = 0; device < 4; device++)
        add_op(run, run_stream(run, "Stream #1", ROLE_NONE, device), 1000 + 10 * device,
               60 - 10 * device, "ar", 7);

    track_id thread = run_thread(run, "tf_XLAPjRtCpuClient/1");
    for (uint32_t i = 0; i < count; i++) {
        char name[64];

        snprintf(name, sizeof name, "[%u] CommonPjRtLoadedExecutable::Execute (jit_f)", i % 4);
        run_slice(run, thread, 10 * i, 5, name, KIND_HOST);
        run_int(run, "partition", i % 4);
        run_int(run, "replica", 0);
        run_int(run, "global_device_id", orders[i]);
    }
    run_finish(run);
}

/* Groups hold partitions; which device runs one the runtime's calls say. */
static void ordered(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        int orders[8];
        uint32_t count;
        const char *members; /* NULL: unknown */
        int64_t waits_ps[4]; /* by device */
    } rows[] = {
        {"no calls", {0}, 0, "{0,1} {2,3}", {10, 0, 10, 0}},
        {"as numbered", {0, 1, 2, 3, 0, 1, 2, 3}, 8, "{0,1} {2,3}", {10, 0, 10, 0}},
        {"turned", {0, 2, 1, 3}, 4, "{0,2} {1,3}", {20, 20, 0, 0}},
        {"down", {3, 0, 2, 1}, 4, "{0,3} {1,2}", {30, 10, 0, 0}},
        {"two orders", {0, 1, 2, 3, 0, 2, 1, 3}, 8, NULL, {-1, -1, -1, -1}},
        {"one missing", {0, 2, 1}, 3, NULL, {-1, -1, -1, -1}},
    };

    for (size_t row = 0; row < COUNT(rows); row++) {
        struct made_run run;
        struct collectives found;
        struct error err = {0};

        draw_ordered(&run, rows[row].orders, rows[row].count);
        struct table table = ask(&run, "op", NULL);
        const struct cell *members = at(&table, "ar", "members");

        CHECK_INT(rows[row].what, members->kind == CELL_NULL, rows[row].members == NULL);
        if (rows[row].members != NULL)
            CHECK_STR(rows[row].what, members->of.text, rows[row].members);
        CHECK_STR(rows[row].what, at(&table, "ar", "axis")->of.text, "2 devices, stride 1");
        CHECK_OK(rows[row].what,
                 collectives_find(&run.run, &(struct restriction){0}, run.made.arena, &found, &err),
                 &err);
        for (uint32_t i = 0; i < found.run_count; i++)
            CHECK_INT(rows[row].what, found.runs[i].wait_ps,
                      rows[row].waits_ps[found.runs[i].device]);
        run_end(&run);
    }
}

#define NCCL_KERNEL "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)"

/*  python   c10d::_allgather_base_ |---------------|   0 .. 40     [[64], [16], []]
 *             record_param_comms     |-----------|     1 .. 30     the newer args
 *               nccl:all_to_all        |-------|       2 .. 20     [[8]] of long
 *                 cudaLaunchKernel       |--|
 *  stream   three kernels of one name: by its own args, by the call's, by nothing               */
static void calls(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id python = run_thread(&run, "python");
    track_id stream = run_stream(&run, "stream 7", ROLE_NONE, 0);
    name_id launch = sink_name(run.made.sink, STR("kernel launch"));
    run_slice(&run, python, 0, 40, "c10d::alltoall_base_", KIND_HOST);
    run_text(&run, "Input Dims", "[[8], [8], []]");
    run_slice(&run, python, 1, 29, "record_param_comms", KIND_HOST);
    run_slice(&run, python, 2, 18, "nccl:all_to_all", KIND_HOST);
    run_text(&run, "Input Dims", "[[2, 4]]");
    run_text(&run, "Input type", "[\"long\"]");
    run_slice(&run, python, 4, 4, "cudaLaunchKernel", KIND_HOST);
    sink_flow(run.made.sink, FLOW_FROM, launch, 1);
    run_slice(&run, stream, 10, 20, NCCL_KERNEL, KIND_COMMUNICATION);
    sink_flow(run.made.sink, FLOW_TO, launch, 1);
    run_slice(&run, stream, 50, 10, NCCL_KERNEL, KIND_COMMUNICATION);
    run_text(&run, "Collective name", "_allgather_base");
    run_text(&run, "dtype", "BFloat16");
    run_int(&run, "In msg nelems", 1024);
    run_int(&run, "Out msg nelems", 4096);
    run_int(&run, "Group size", 4);
    run_text(&run, "Process Group Ranks", "[0, 2, 4, 6]");
    run_slice(&run, stream, 70, 5, NCCL_KERNEL, KIND_COMMUNICATION);
    run_finish(&run);

    struct table table = ask(&run, "kind", NULL);
    CHECK_INT("three kinds", table.row_count, 3);
    CHECK_INT("of the call's args", number(&table, "all-to-all", "bytes"), 64);
    CHECK_INT("nobody says of how many", at(&table, "all-to-all", "group_size")->kind, CELL_NULL);
    CHECK_INT("of its own", number(&table, "all-gather", "bytes"), 1024 * 2 * 4);
    CHECK_INT("among four", number(&table, "all-gather", "group_size"), 4);
    CHECK_STR("who", at(&table, "all-gather", "members")->of.text, "{0,2,4,6}");
    CHECK("three quarters on the bus",
          at(&table, "all-gather", "bus_bytes_per_s")->of.real == 6144 * 1e12 / 10);
    CHECK_INT("of nothing", at(&table, "other", "bytes")->kind, CELL_NULL);
    CHECK_INT("and no rate", at(&table, "other", "bus_bytes_per_s")->kind, CELL_NULL);
    run_end(&run);
}

/* Texts of calls that no program wrote. */
static void hostile_calls(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "[",
                                        "]",
                                        "[[",
                                        "[[]",
                                        "[[]]",
                                        "[[99999999999999999999]]",
                                        "[[4294967296,4294967296]]",
                                        "[[1,2",
                                        "[\"",
                                        "[\"float",
                                        "[1]",
                                        "{}",
                                        "[[-4]]",
                                        "[0, 1, ... 7]",
                                        "[[[[[[[["};

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct made_run run;

        run_begin(&run);
        track_id stream = run_stream(&run, "stream 7", ROLE_NONE, 0);
        run_slice(&run, stream, 50, 10, NCCL_KERNEL, KIND_COMMUNICATION);
        run_text(&run, "Collective name", texts[i]);
        run_text(&run, "Input Dims", texts[i]);
        run_text(&run, "Input type", "[\"float\"]");
        run_text(&run, "Process Group Ranks", texts[i]);
        run_int(&run, "Group size", -1);
        run_finish(&run);
        struct table table = ask(&run, "op", NULL);
        CHECK_INT(texts[i], table.row_count, 1);
        CHECK_INT(texts[i], cell_of(&table, 0, "bytes")->kind, CELL_NULL);
        run_end(&run);
    }
}

static void nothing(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id python = run_thread(&run, "python");
    run_slice(&run, python, 0, 100, "step", KIND_HOST);
    run_finish(&run);
    struct table table = ask(&run, "op", NULL);
    CHECK_INT("no rows", table.row_count, 0);
    CHECK("a note says so",
          table.note_count > 0 && strcmp(table.notes[0].kind, "no-collectives") == 0);
    run_end(&run);
}

/* ---- any trace: what is exposed and what is hidden is all there is, in any part of time. */

enum { LENGTH = 400, DEVICES = 3, SEEDS = 3000 };

static uint32_t random_next(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33);
}

struct drawn { /* by device, by moment */
    bool computes[DEVICES][LENGTH];
    int64_t hidden_ps, total_ps;
};

static void draw(struct made_run *run, uint64_t seed, struct drawn *ret)
{
    bool talks[DEVICES][LENGTH] = {0};

    *ret = (struct drawn){0};
    run_begin(run);
    add_program(run);
    for (int32_t device = 0; device < DEVICES; device++)
        for (int line = 0; line < 3; line++) {
            track_id track = run_stream(run, "Stream", ROLE_NONE, device);
            int64_t at_ps = random_next(&seed) % 30;

            while (at_ps < LENGTH - 60) {
                int64_t dur_ps = 1 + random_next(&seed) % 50;
                bool is_compute = line > 0;

                add_op(run, track, at_ps, dur_ps,
                       is_compute                    ? "dot.1"
                       : random_next(&seed) % 2 == 0 ? "ar"
                                                     : "pp",
                       1 + at_ps / 50);
                for (int64_t i = at_ps; i < at_ps + dur_ps; i++)
                    (is_compute ? ret->computes : talks)[device][i] = true;
                at_ps += dur_ps + random_next(&seed) % 40;
            }
        }
    run_finish(run);
    for (int device = 0; device < DEVICES; device++)
        for (int i = 0; i < LENGTH; i++) {
            ret->total_ps += talks[device][i];
            ret->hidden_ps += talks[device][i] && ret->computes[device][i];
        }
}

static void sums_of(const struct made_run *run, const struct restriction *asked,
                    size_t groupings_asked, int64_t *total_ps, int64_t *hidden_ps,
                    int64_t *exposed_ps)
{
    static const char *const groupings[] = {"op",    "kind",   "axis", "size",
                                            "group", "device", "host"};
    *total_ps = *hidden_ps = *exposed_ps = 0;

    for (size_t k = 0; k < COUNT(groupings) && k < groupings_asked; k++) {
        struct table table = ask(run, groupings[k], asked);
        int64_t total = 0, hidden = 0, exposed = 0;

        for (uint32_t row = 0; row < table.row_count; row++) {
            total += cell_of(&table, row, "total_ps")->of.integer;
            hidden += cell_of(&table, row, "hidden_ps")->of.integer;
            exposed += cell_of(&table, row, "exposed_ps")->of.integer;
        }
        CHECK_INT("exposed and hidden are all", exposed + hidden, total);
        CHECK_INT("however it is grouped", total, k == 0 ? total : *total_ps);
        CHECK_INT("hidden too", hidden, k == 0 ? hidden : *hidden_ps);
        *total_ps = total;
        *hidden_ps = hidden;
        *exposed_ps = exposed;
    }
}

static void properties(void **state)
{
    (void)state;
    split_items_a_part = 16; /* so that parts are joined, too */
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct made_run run;
        struct drawn drawn;
        int64_t total_ps, hidden_ps, exposed_ps, part_total_ps = 0, part_hidden_ps = 0;

        draw(&run, seed, &drawn);
        sums_of(&run, NULL, SIZE_MAX, &total_ps, &hidden_ps, &exposed_ps);
        CHECK_INT("moment by moment", total_ps, drawn.total_ps);
        CHECK_INT("... hidden", hidden_ps, drawn.hidden_ps);
        uint64_t random = seed;
        for (int64_t from_ps = -1, to_ps; from_ps < LENGTH; from_ps = to_ps) {
            to_ps = from_ps + 1 + random_next(&random) % 150;

            struct restriction window = {.has_window = true, .start_ps = from_ps, .end_ps = to_ps};
            int64_t total, hidden, exposed;

            sums_of(&run, &window, 1, &total, &hidden, &exposed);
            part_total_ps += total;
            part_hidden_ps += hidden;
        }
        CHECK_INT("parts of time add up", part_total_ps, total_ps);
        CHECK_INT("... hidden", part_hidden_ps, hidden_ps);
        run_end(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices),
        cmocka_unit_test(grouped),
        cmocka_unit_test(restricted),
        cmocka_unit_test(covers),
        cmocka_unit_test(halves),
        cmocka_unit_test(hosts),
        cmocka_unit_test(groups_over_hosts),
        cmocka_unit_test(ordered),
        cmocka_unit_test(calls),
        cmocka_unit_test(hostile_calls),
        cmocka_unit_test(nothing),
        cmocka_unit_test(properties),
    };

    return cmocka_run_group_tests_name("collectives", tests, NULL, NULL);
}
