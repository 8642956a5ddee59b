/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers on GPUs and hosts from names and args: direction, size, overlap, and sums of
 * partitions. */
#include "unit/analyse/made_run.h"

#include "analyse/comm/transfer_words.h"
#include "analyse/comm/transfers.h"

static void names(void **state)
{
    (void)state;
    const struct {
        const char *name;
        bool on_device;
        enum transfer_tier tier;
        enum transfer_direction direction;
    } rows[] = {
        {"MemcpyH2D", true, TIER_DEVICE, DIRECTION_H2D},
        {"MemcpyHtoD", true, TIER_DEVICE, DIRECTION_H2D},
        {"Memcpy DtoH (Device -> Pinned)", true, TIER_DEVICE, DIRECTION_D2H},
        {"[CUDA memcpy Device-to-Device]", true, TIER_DEVICE, DIRECTION_D2D},
        {"[CUDA memcpy Peer-to-Peer]", true, TIER_DEVICE, DIRECTION_P2P},
        {"[CUDA memcpy Unified Host-to-Device]", true, TIER_DEVICE, DIRECTION_H2D},
        {"CopyDeviceToDevice", true, TIER_DEVICE, DIRECTION_D2D},
        {"CopyHostToDevice", true, TIER_DEVICE, DIRECTION_H2D},
        {"__amd_rocclr_copyBuffer.kd", true, TIER_DEVICE, DIRECTION_UNKNOWN},
        {"[CUDA memset]", true, TIER_NONE, DIRECTION_UNKNOWN},
        {"Memset (Device)", true, TIER_NONE, DIRECTION_UNKNOWN},
        {"async-copy", true, TIER_ASYNC, DIRECTION_UNKNOWN},
        {"copy.3", true, TIER_NONE, DIRECTION_UNKNOWN},
        {"H2D Dispatch", false, TIER_DISPATCH, DIRECTION_H2D},
        {"D2H Dispatch", false, TIER_DISPATCH, DIRECTION_D2H},
        {"tpu::System::TransferToDevice", false, TIER_DISPATCH, DIRECTION_H2D},
        {"tpu::System::TransferToDevice=>IssueEvent", false, TIER_NONE, DIRECTION_H2D},
        {"TfrtTpuBuffer::ToLiteral", false, TIER_CALL, DIRECTION_D2H},
        {"MemcpyH2D", false, TIER_NONE, DIRECTION_H2D},
        {"", false, TIER_NONE, DIRECTION_UNKNOWN},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct str name = str_of(rows[i].name);

        CHECK_INT(rows[i].name, transfer_tier_of(name, rows[i].on_device), rows[i].tier);
        CHECK_INT(rows[i].name, transfer_direction_of(name), rows[i].direction);
    }
}

static void details(void **state)
{
    (void)state;
    const struct {
        const char *text;
        int64_t bytes, destination;
        bool has_async, async;
    } rows[] = {
        {"kind_src:pinned kind_dst:device size:4096 dest:0 async:1", 4096, 0, true, true},
        {"num_bytes:12 async:0", 12, -1, true, false},
        {"kind:Unknown size:0 dest:512 async:1", 0, 512, true, true},
        {"size:-3 dest:x", -1, -1, false, false},
        {"size:99999999999999999999", -1, -1, false, false},
        {"  size:  :7 size:1", 1, -1, false, false},
        {"", -1, -1, false, false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct memcpy_details got = memcpy_details_of(str_of(rows[i].text));

        CHECK_INT(rows[i].text, got.bytes, rows[i].bytes);
        CHECK_INT(rows[i].text, got.destination, rows[i].destination);
        CHECK_INT(rows[i].text, got.has_async, rows[i].has_async);
        CHECK_INT(rows[i].text, got.async, rows[i].async);
    }
}

static void offload(void **state)
{
    (void)state;
    const struct {
        const char *shapes;
        enum transfer_direction direction;
    } rows[] = {
        {"(f32[5,2]{1,0:T(8,128)}, f32[5,2]{1,0:T(8,128)S(5)}, u32[]{:S(2)})", DIRECTION_H2D},
        {"(f32[5,2]{1,0:T(8,128)S(5)}, f32[5,2]{1,0:T(8,128)}, u32[]{:S(2)})", DIRECTION_D2H},
        {"(f32[5]{0:S(1)}, f32[5]{0}, u32[])", DIRECTION_D2D},
        {"(f32[5]{0:S(5)}, f32[5]{0:S(5)}, u32[])", DIRECTION_HOST},
        {"(f32[5])", DIRECTION_UNKNOWN},
        {"(", DIRECTION_UNKNOWN},
        {"f32[5]{0:S(5)}", DIRECTION_UNKNOWN},
        {"", DIRECTION_UNKNOWN},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_INT(rows[i].shapes, offload_direction_of(str_of(rows[i].shapes)), rows[i].direction);
}

static struct transfers find(const struct made_run *run, const struct restriction *restriction)
{
    static const struct restriction nothing;
    struct error err = {0};
    struct transfers transfers;

    CHECK_OK("find",
             transfers_find(&run->run, restriction != NULL ? restriction : &nothing, NULL,
                            run->made.arena, &transfers, &err),
             &err);
    return transfers;
}

static void call(struct made_run *run, track_id track, int64_t start_ps, int64_t dur_ps,
                 const char *name, uint64_t id)
{
    run_slice(run, track, start_ps, dur_ps, name, KIND_HOST);
    sink_flow(run->made.sink, FLOW_FROM, sink_name(run->made.sink, STR("kernel launch")), id);
}

static void copy(struct made_run *run, track_id track, int64_t start_ps, int64_t dur_ps,
                 const char *name, const char *details_text, uint64_t id)
{
    run_slice(run, track, start_ps, dur_ps, name, KIND_COPY);
    if (details_text != NULL)
        run_text(run, "memcpy_details", details_text);
    sink_flow(run->made.sink, FLOW_TO, sink_name(run->made.sink, STR("kernel launch")), id);
}

/*  main      load |------------------|      send |----------------|
 *             cudaMemcpyAsync |-|            cudaMemcpy |------|
 *  stream 7                      |-- h2d --|              |d2h|
 *  stream 9                    |--- gemm ---|                                              */
static void on_a_gpu(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id main = run_thread(&run, "main");
    track_id copies = run_stream(&run, "Stream #7(MemcpyH2D)", ROLE_OPS, 0);
    track_id kernels = run_stream(&run, "Stream #9", ROLE_OPS, 0);
    run_slice(&run, main, 0, 60, "load", KIND_HOST);
    run_slice(&run, main, 5, 30, "PjRtBuffer::Copy", KIND_HOST);
    call(&run, main, 10, 10, "cudaMemcpyAsync", 1);
    run_slice(&run, main, 100, 50, "send", KIND_HOST);
    call(&run, main, 110, 30, "cudaMemcpy", 2);
    copy(&run, copies, 30, 40, "MemcpyH2D", "kind_src:pinned size:4096 dest:0 async:1", 1);
    copy(&run, copies, 120, 10, "MemcpyD2H", "kind_dst:pageable size:8 dest:0", 2);
    copy(&run, copies, 200, 10, "MemcpyD2D", "size:0 dest:3", 3);
    run_slice(&run, copies, 220, 10, "Memset", KIND_COPY);
    run_slice(&run, kernels, 20, 30, "gemm", KIND_COMPUTE);
    run_slice(&run, main, 300, 10, "H2D Dispatch", KIND_COPY);
    run_finish(&run);

    struct transfers transfers = find(&run, NULL);
    const struct transfer *items = transfers.items;

    CHECK_INT("the device tells of them, a set is none", transfers.count, 3);
    CHECK_INT("up", items[0].direction, DIRECTION_H2D);
    CHECK_INT("its size", items[0].bytes, 4096);
    CHECK_INT("pinned", items[0].memory, MEMORY_PINNED);
    CHECK_INT("the call was back before it began", items[0].wait, WAIT_NONE);
    CHECK_STR("who asked, not the machinery", items[0].caller, "load");
    CHECK_INT("beside the kernel", items[0].overlapped_ps, 20);
    CHECK_INT("down", items[1].direction, DIRECTION_D2H);
    CHECK_INT("pageable", items[1].memory, MEMORY_PAGEABLE);
    CHECK_INT("a call that waits", items[1].wait, WAIT_BLOCKS);
    CHECK_INT("beside nothing", items[1].overlapped_ps, 0);
    CHECK_INT("to another device", items[2].direction, DIRECTION_P2P);
    CHECK_INT("0 is no size", items[2].bytes, -1);
    CHECK_INT("no call", items[2].wait, WAIT_UNKNOWN);

    struct transfer alone;

    for (uint32_t i = 0; i < transfers.count; i++) {
        CHECK("a copy by itself", transfer_of_slice(&run.host, items[i].slice, &alone));
        CHECK_INT("moves as much", alone.bytes, items[i].bytes);
        CHECK_INT("the same way", alone.direction, items[i].direction);
        CHECK_INT("beside as much", alone.overlapped_ps, items[i].overlapped_ps);
        CHECK_INT("and waits as it does", alone.wait, items[i].wait);
    }
    CHECK("a call is no copy", !transfer_of_slice(&run.host, items[0].launch, &alone));
    run_end(&run);
}

/* Where no stream tells, who carried it out does; what it holds gives the size, and counts once. */
static void on_a_host(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id pool = run_thread(&run, "pool"), python = run_thread(&run, "python");
    run_slice(&run, python, 0, 100, "fetch", KIND_HOST);
    run_slice(&run, python, 10, 40, "D2H Dispatch", KIND_COPY);
    run_slice(&run, python, 60, 5, "TfrtTpuBuffer::ToLiteral", KIND_COPY);
    run_slice(&run, pool, 0, 50, "H2D Dispatch", KIND_COPY);
    run_slice(&run, pool, 10, 30, "tpu::System::TransferToDevice", KIND_COPY);
    run_int(&run, "size", 512);
    run_slice(&run, pool, 12, 20, "tpu::System::TransferToDevice=>IssueEvent", KIND_COPY);
    run_finish(&run);

    struct transfers transfers = find(&run, NULL);

    CHECK_INT("one up, one down", transfers.count, 2);
    CHECK_INT("its size is that inside", transfers.items[0].bytes, 512);
    CHECK_INT("up", transfers.items[0].direction, DIRECTION_H2D);
    CHECK_INT("no one around it", transfers.items[0].wait, WAIT_UNKNOWN);
    CHECK_INT("down", transfers.items[1].direction, DIRECTION_D2H);
    CHECK_INT("no size", transfers.items[1].bytes, -1);
    CHECK_STR("its caller", transfers.items[1].caller, "fetch");
    CHECK_INT("which waits", transfers.items[1].wait, WAIT_BLOCKS);
    CHECK_INT("no device computed", transfers.items[1].overlapped_ps, -1);
    run_end(&run);
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

struct sums {
    uint64_t count;
    int64_t bytes, total_ps, blocking_ps;
};

static struct sums sums_of(const struct made_run *run, const struct restriction *restriction,
                           const char *by)
{
    struct page page = {.limit = 10000};
    struct error err = {0};
    struct table table;
    struct sums sums = {0};

    CHECK_OK(
        by,
        transfers_table(&run->run, restriction, str_of(by), &page, run->made.arena, &table, &err),
        &err);
    for (uint32_t row = 0; row < table.row_count; row++) {
        const struct cell *bytes = cell_of(&table, row, "bytes");

        if (strcmp(by, "transfer") == 0) {
            const struct cell *blocking = cell_of(&table, row, "blocking");

            sums.count++;
            sums.total_ps += cell_of(&table, row, "dur_ps")->of.integer;
            if (blocking->kind == CELL_BOOL && blocking->of.boolean)
                sums.blocking_ps += cell_of(&table, row, "dur_ps")->of.integer;
        } else {
            const struct cell *blocking = cell_of(&table, row, "blocking_ps");

            sums.count += cell_of(&table, row, "count")->of.uint;
            sums.total_ps += cell_of(&table, row, "total_ps")->of.integer;
            sums.blocking_ps += blocking->kind == CELL_INTEGER ? blocking->of.integer : 0;
        }
        sums.bytes += bytes->kind == CELL_INTEGER ? bytes->of.integer : 0;
    }
    CHECK_INT(by, sums.total_ps, table.total_ps);
    return sums;
}

static void check_same(const char *what, struct sums got, struct sums want)
{
    CHECK_INT(what, got.count, want.count);
    CHECK_INT(what, got.bytes, want.bytes);
    CHECK_INT(what, got.total_ps, want.total_ps);
    CHECK_INT(what, got.blocking_ps, want.blocking_ps);
}

/* Any grouping, and the parts of any partition of time, add up to all transfers. */
static void sums(void **state)
{
    (void)state;
    static const char *const copies[] = {"MemcpyH2D", "MemcpyD2H", "MemcpyD2D",
                                         "CopyBuffer?memcpy"};
    static const char *const by[] = {"direction", "size", "stream", "caller"};
    static const struct restriction everything;

    for (uint64_t seed = 1; seed <= 400; seed++) {
        uint64_t random = seed * 0x9e3779b97f4a7c15;
        struct made_run run;
        struct sums want = {0};

        run_begin(&run);
        track_id main = run_thread(&run, "main");
        int64_t at_ps = 0, host_ps = 0;
        uint64_t count = 1 + next_random(&random) % 30;
        track_id streams[2] = {run_stream(&run, "s1", ROLE_OPS, 0),
                               run_stream(&run, "s2", ROLE_OPS, 1)};

        for (uint64_t id = 1; id <= count; id++) {
            int64_t dur_ps = (int64_t)(next_random(&random) % 50);

            if (next_random(&random) % 3 > 0)
                call(&run, main, host_ps, 1 + (int64_t)(next_random(&random) % 5),
                     next_random(&random) % 2 ? "cudaMemcpy" : "cudaMemcpyAsync", id);
            host_ps += 10;
            at_ps += (int64_t)(next_random(&random) % 60);
            run_slice(&run, streams[next_random(&random) % 2], at_ps, dur_ps,
                      copies[next_random(&random) % COUNT(copies)], KIND_COPY);
            if (next_random(&random) % 4 > 0) {
                int64_t bytes = (int64_t)(1 + next_random(&random) % (1 << 24));

                run_int(&run, "bytes", bytes);
                want.bytes += bytes;
            }
            sink_flow(run.made.sink, FLOW_TO, sink_name(run.made.sink, STR("kernel launch")), id);
            at_ps += 50;
            want.count++;
            want.total_ps += dur_ps;
        }
        run_finish(&run);
        want.blocking_ps = sums_of(&run, &everything, "transfer").blocking_ps;
        check_same("each", sums_of(&run, &everything, "transfer"), want);

        int64_t cut_ps = at_ps > 0 ? (int64_t)(next_random(&random) % (uint64_t)at_ps) : 0;
        struct restriction before = {.has_window = true, .start_ps = -1, .end_ps = cut_ps + 1};
        struct restriction after = {
            .has_window = true, .start_ps = cut_ps + 1, .end_ps = INT64_MAX};

        for (size_t i = 0; i < COUNT(by); i++) {
            struct sums first = sums_of(&run, &before, by[i]);
            struct sums second = sums_of(&run, &after, by[i]);

            check_same(by[i], sums_of(&run, &everything, by[i]), want);
            check_same(by[i],
                       (struct sums){first.count + second.count, first.bytes + second.bytes,
                                     first.total_ps + second.total_ps,
                                     first.blocking_ps + second.blocking_ps},
                       want);
        }
        run_end(&run);
    }
}

/*  stream 7            |--------- h2d ---------|         10 .. 65
 *  stream 8   |---- gemm ----|             |conv|         0 .. 30, 60 .. 70
 *  stream 9           |---- relu ----|                   20 .. 50
 *  stream 10  |------------- while ------------------|    0 .. 100, or not there              */
static void beside_what_computes(void **state)
{
    (void)state;
    for (int with_loop = 0; with_loop < 2; with_loop++) {
        struct made_run run;

        run_begin(&run);
        track_id copies = run_stream(&run, "Stream #7(MemcpyH2D)", ROLE_OPS, 0);
        track_id one = run_stream(&run, "Stream #8", ROLE_OPS, 0);
        track_id two = run_stream(&run, "Stream #9", ROLE_OPS, 0);
        copy(&run, copies, 10, 55, "MemcpyH2D", "kind_src:pinned size:4096 dest:0 async:1", 1);
        run_slice(&run, one, 0, 30, "gemm", KIND_COMPUTE);
        run_slice(&run, one, 60, 10, "conv", KIND_COMPUTE);
        run_slice(&run, two, 20, 30, "relu", KIND_COMPUTE);
        if (with_loop)
            run_slice(&run, run_stream(&run, "Stream #10", ROLE_OPS, 0), 0, 100, "while",
                      KIND_COMPUTE);
        run_finish(&run);

        struct transfers transfers = find(&run, NULL);

        CHECK_INT("one", transfers.count, 1);
        CHECK_INT(with_loop ? "a loop tells less than the copy in it" : "what computes, once",
                  transfers.items[0].overlapped_ps, 45);
        run_end(&run);
    }
}

/* Where nothing of the kind was recorded the table says why. */
static void nothing(void **state)
{
    (void)state;
    struct made_run run;
    struct table table;
    struct error err = {0};
    const struct restriction everything = {0};
    const struct page page = {.limit = 10};

    run_begin(&run);
    run_slice(&run, run_thread(&run, "python"), 0, 10, "f", KIND_HOST);
    run_finish(&run);
    CHECK_OK("empty",
             transfers_table(&run.run, &everything, STR(""), &page, run.made.arena, &table, &err),
             &err);
    CHECK_INT("one note", table.note_count, 1);
    CHECK_STR("its kind", str_of(table.notes[0].kind), "no-transfers");
    CHECK_HAS("the reason", table.notes[0].message.at, "no transfer between host");
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing),   cmocka_unit_test(beside_what_computes),
        cmocka_unit_test(names),     cmocka_unit_test(details),
        cmocka_unit_test(offload),   cmocka_unit_test(on_a_gpu),
        cmocka_unit_test(on_a_host), cmocka_unit_test(sums),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
