/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of blocks answer as a walk over every slice does, whatever a window cuts: made runs of many
 * blocks are asked both ways, and totals by name are counted a third way, slice by slice. */
#include "analyse/ops/top.h"
#include "analyse/scan/block_sums.h"
#include "analyse/scan/split.h"
#include "unit/analyse/made_run.h"

enum { PYTHON_CALLS = 9000, EXECUTIONS = 1500, WINDOWS = 32 };

static const char *const instructions[] = {
    "dot.1",   "jit(f)/layer_0/dot",    "dot.2",  "jit(f)/layer_1/dot",
    "add.3",   "jit(f)/layer_0/add",    "copy.5", "",
    "fuse_12", "jit(f)/layer_1/dot_12", NULL};

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/*  python   main |------------------------------------------------------------------|
 *             loop |-----------------------------|  loop |---------------------------|
 *               f |--| f |----| sleep |---------| ...                       many blocks
 *                 g |-|  g g g                                              in every row
 *  pools, or streams: ops of executions, some of which nest, the first of one op all the time   */
static void make_python(struct made_run *run, uint32_t *seed)
{
    static const char *const names[] = {"f", "g", "sleep", "$model.py:3 step"};
    track_id python = run_thread(run, "python");
    int64_t at_ps = 10, end_ps = 400 * (int64_t)PYTHON_CALLS;

    run_slice(run, python, 0, end_ps, "main", KIND_HOST);
    run_slice(run, python, 5, end_ps / 2 - 5, "loop", KIND_HOST);
    for (uint32_t i = 0; i < PYTHON_CALLS; i++) {
        int64_t dur_ps = 20 + next_random(seed) % 350;

        if (at_ps < end_ps / 2 && at_ps + dur_ps >= end_ps / 2)
            at_ps = end_ps / 2;
        run_slice(run, python, at_ps, dur_ps, names[next_random(seed) % 4], KIND_HOST);
        if (i % 3 != 0)
            run_slice(run, python, at_ps + 2, dur_ps / 3, names[next_random(seed) % 2], KIND_HOST);
        if (i % 50 == 0)
            run_slice(run, python, at_ps + dur_ps, 0, "tick", KIND_HOST);
        at_ps += dur_ps + next_random(seed) % 4;
    }
}

static void make_ops(struct made_run *run, uint32_t *seed, const track_id tracks[3])
{
    int64_t at_ps[3] = {0, 50, 100};

    for (uint32_t i = 0; i < EXECUTIONS; i++) {
        uint32_t device = next_random(seed) % 3;
        uint32_t count = i == 0 ? 13000 : 1 + next_random(seed) % 9;

        for (uint32_t k = 0; k < count; k++) {
            int64_t dur_ps = k % 3 == 2 ? 0 : next_random(seed) % 900;
            const char *op = count > 9 ? "dot.1" : instructions[2 * (next_random(seed) % 5)];

            run_cpu_op(run, tracks[device], at_ps[device], dur_ps, op, 7 + i % 2, i + 1,
                       (int64_t)device, 0);
            at_ps[device] += k % 3 == 0 && dur_ps > 10 ? dur_ps / 4 : dur_ps + i % 7;
        }
        at_ps[device] += 1000;
    }
}

/*  kernels   kernels alone, of which some copy; then copies among them, one block after the other
 *  copies    what copies and is no kernel                                                        */
static void make_kernels(struct made_run *run, uint32_t *seed)
{
    enum { KERNELS = 4 * CHUNK_SLICES };
    static const char *const names[] = {"gemm", "add", "copy_kernel"};
    static const char shape[] = "regs:32 grid:128,1,1 block:256,1,1";
    track_id kernels = run_stream(run, "Stream #8", ROLE_NONE, 0);
    track_id copies = run_stream(run, "Stream #9", ROLE_NONE, 0);
    int64_t at_ps = 40;

    for (uint32_t i = 0; i < KERNELS; i++) {
        int64_t dur_ps = 1 + next_random(seed) % 200;
        uint32_t name = next_random(seed) % 3;
        bool copies_here = i / CHUNK_SLICES % 2 == 1 && i % 5 == 0;

        run_slice(run, kernels, at_ps, dur_ps, copies_here ? "MemcpyD2H" : names[name],
                  copies_here || name == 2 ? KIND_COPY : KIND_COMPUTE);
        if (!copies_here)
            run_text(run, "kernel_details", shape);
        at_ps += dur_ps + next_random(seed) % 20;
    }
    for (uint32_t i = 0; i < 2 * CHUNK_SLICES; i++)
        run_slice(run, copies, 60 + 150 * (int64_t)i, 100, "MemcpyD2H", KIND_COPY);
}

static void make_run(struct made_run *run, bool on_streams)
{
    uint32_t seed = on_streams ? 11 : 7;
    track_id tracks[3];

    run_begin(run);
    run_program(run, 7, "jit_f", 99, instructions);
    run_program(run, 8, "jit_g", 98, instructions);
    make_python(run, &seed);
    for (int32_t i = 0; i < 3; i++)
        tracks[i] =
            on_streams ? run_stream(run, "Stream #7", ROLE_OPS, i) : run_thread(run, "pool");
    make_ops(run, &seed, tracks);
    if (on_streams)
        make_kernels(run, &seed);
    run_finish(run);
}

static bool same_cell(const struct cell *left, const struct cell *right)
{
    if (left->kind != right->kind)
        return false;
    switch (left->kind) {
    case CELL_NULL:
    case CELL_TEXT:
        return str_equal(left->of.text, right->of.text);
    case CELL_REAL:
        return memcmp(&left->of.real, &right->of.real, sizeof(double)) == 0;
    default:
        return left->of.integer == right->of.integer;
    }
}

static void compare(const char *what, const struct table *summed, const struct table *walked)
{
    CHECK_INT(what, summed->row_count, walked->row_count);
    CHECK_INT(what, summed->total_ps, walked->total_ps);
    CHECK_INT(what, summed->total_self_ps, walked->total_self_ps);
    for (uint32_t i = 0; i < summed->row_count * summed->column_count; i++) {
        if (!same_cell(&summed->cells[i], &walked->cells[i]))
            check_failed(__FILE__, __LINE__, what, "row %u differs in %s", i / summed->column_count,
                         summed->columns[i % summed->column_count].key);
    }
}

/* The first rows, with their quantiles; 0: all rows, without. */
static struct table ask(const struct made_run *run, const struct block_sums *sums, const char *by,
                        const struct restriction *restriction, uint32_t limit)
{
    const struct page page = {.limit = limit > 0 ? limit : 10000};
    const struct top_question question = {.by = str_of(by), .without_spread = limit == 0};
    struct host_trace host = run->host;
    struct run_traces traces = run->run;
    struct table table = {0};
    struct error err = {0};

    host.sums = sums;
    traces.hosts = &host;

    enum status status = top(&traces, restriction, &question, &page, run->made.arena, &table, &err);

    if (status == ERR_NOT_FOUND && restriction->module.count > 0)
        return (struct table){0}; /* none of its executions is in the run */
    CHECK_OK(by, status, &err);
    return table;
}

/* What of each slice of a name lies in the window, one after the other. */
static int64_t counted_ps(const struct trace *trace, name_id name, int64_t from_ps, int64_t to_ps)
{
    int64_t sum_ps = 0;

    for (slice_id id = 0; id < trace->slice_count; id++) {
        struct slice slice = trace_slice(trace, id);
        int64_t end_ps = slice.start_ps + slice.dur_ps;
        int64_t start_ps = slice.start_ps > from_ps ? slice.start_ps : from_ps;

        if (slice.name == name)
            sum_ps += (end_ps < to_ps ? end_ps : to_ps) > start_ps
                          ? (end_ps < to_ps ? end_ps : to_ps) - start_ps
                          : 0;
    }
    return sum_ps;
}

static void count_names(const struct made_run *run, const struct table *table,
                        const struct restriction *asked)
{
    const struct trace *trace = &run->made.trace;

    for (uint32_t row = 0; row < table->row_count; row++) {
        name_id name;

        CHECK("the name is known",
              trace_find_name(trace, cell_of(table, row, "name")->of.text, &name));
        CHECK_INT("counted slice by slice", cell_of(table, row, "total_ps")->of.integer,
                  counted_ps(trace, name, asked->start_ps, asked->end_ps));
    }
}

static const char *const words[] = {"op",  "module", "scope", "source", "category", "name",
                                    "api", "kernel", "track", "host",   "device"};

static void ask_both(const struct made_run *run, const struct block_sums *sums,
                     const struct restriction *restriction)
{
    for (size_t by = 0; by < COUNT(words); by++) {
        for (uint32_t limit = 0; limit < 3; limit += 2) {
            struct table summed = ask(run, sums, words[by], restriction, limit);
            struct table walked = ask(run, NULL, words[by], restriction, limit);

            compare(words[by], &summed, &walked);
        }
    }
}

/* All of it; what cuts the outermost calls early and late; what begins and ends as blocks of ops
 * do, so that instants lie at both ends; then any. */
static struct restriction window_of(const struct made_run *run, const struct block_sums *sums,
                                    uint32_t index, uint32_t *seed)
{
    int64_t end_ps = run->made.trace.end_ps;
    const int64_t fixed[][2] = {{0, end_ps}, {900, end_ps - 900}, {end_ps / 30, end_ps}};
    const struct entry_block *block = &sums->entries[index / 2 % sums->entry_block_count];
    struct restriction asked = {.has_window = true};

    if (index < COUNT(fixed)) {
        asked.start_ps = fixed[index][0];
        asked.end_ps = fixed[index][1];
    } else if (index < WINDOWS - 6) {
        asked.start_ps = index % 2 == 0 ? block->start_ps : 0;
        asked.end_ps = block->last_ps;
    } else {
        int64_t a_ps = (int64_t)(next_random(seed) % (uint64_t)end_ps);
        int64_t b_ps = (int64_t)(next_random(seed) % (uint64_t)end_ps);

        asked.start_ps = a_ps < b_ps ? a_ps : b_ps;
        asked.end_ps = a_ps < b_ps ? b_ps : a_ps;
    }
    return asked;
}

static void ask_windows(const struct made_run *run)
{
    struct block_sums *sums = block_sums_make(&run->made.trace, &run->attribution);
    const struct track_ref tracks[] = {{0, 0}, {0, 2}};
    uint32_t seed = 3;

    CHECK("many blocks of slices", sums->slice_block_count > 8);
    CHECK("many blocks of ops", sums->entry_block_count > 6);
    for (uint32_t i = 0; i < WINDOWS; i++) {
        struct restriction asked = window_of(run, sums, i, &seed);

        ask_both(run, sums, &asked);
        if (i < 3) {
            struct table table = ask(run, sums, "name", &asked, 0);

            count_names(run, &table, &asked);
        }
        asked.tracks = tracks;
        asked.track_count = 1 + i % 2;
        ask_both(run, sums, &asked);
        asked.track_count = 0;
        if (i % 9 == 0) {
            asked.q = STR("dot");
            ask_both(run, sums, &asked);
            asked.q = STR("");
            asked.module = STR("jit_g");
            ask_both(run, sums, &asked);
        }
    }
    block_sums_free(sums);
}

static void on_threads(void **state)
{
    struct made_run run;

    (void)state;
    make_run(&run, false);
    ask_windows(&run);
    run_end(&run);
}

static void on_streams(void **state)
{
    struct made_run run;

    (void)state;
    make_run(&run, true);
    ask_windows(&run);
    run_end(&run);
}

/* Sums that several makers made of some rows each are those of one. */
static void split(void **state)
{
    struct made_run run;

    (void)state;
    make_run(&run, false);

    struct block_sums *alone = block_sums_make(&run.made.trace, &run.attribution);
    uint64_t before = split_items_a_part;

    split_items_a_part = 1000;
    ask_windows(&run);

    struct block_sums *joined = block_sums_make(&run.made.trace, &run.attribution);

    split_items_a_part = before;
    CHECK_INT("bytes", joined->bytes, alone->bytes);
    CHECK("places",
          memcmp(joined->places, alone->places, alone->place_count * sizeof *alone->places) == 0);
    CHECK("ops", memcmp(joined->ops, alone->ops, alone->op_count * sizeof *alone->ops) == 0);
    CHECK("runs", memcmp(joined->runs, alone->runs, alone->run_count * sizeof *alone->runs) == 0);
    CHECK("entries", memcmp(joined->entries, alone->entries,
                            alone->entry_block_count * sizeof *alone->entries) == 0);
    CHECK("slices", memcmp(joined->slices, alone->slices,
                           alone->slice_block_count * sizeof *alone->slices) == 0);
    block_sums_free(alone);
    block_sums_free(joined);
    run_end(&run);
}

/* What was asked last stays, and what somebody holds. */
static void shelf(void **state)
{
    static const char *const contents[] = {"0123456789abcdef0123456789abcde0",
                                           "0123456789abcdef0123456789abcde1"};
    struct made_run run;

    (void)state;
    make_run(&run, false);

    struct trace large = run.made.trace;
    struct block_sums *alone = block_sums_make(&run.made.trace, &run.attribution);
    struct block_sum_cache *small = block_sum_cache_create(1024);
    struct block_sum_cache *one = block_sum_cache_create(alone->bytes + alone->bytes / 2);

    CHECK("a small trace is walked",
          block_sum_cache_hold(one, contents[0], &large, &run.attribution) == NULL);
    large.slice_count = 1 << 20; /* as it says of itself */
    CHECK("of sums that are larger than the shelf none are lent",
          block_sum_cache_hold(small, contents[0], &large, &run.attribution) == NULL);

    struct trace empty = large;

    empty.row_count = 0;
    CHECK("nor made again",
          block_sum_cache_hold(small, contents[0], &empty, &run.attribution) == NULL);
    CHECK("what fits is lent",
          block_sum_cache_hold(small, contents[1], &empty, &run.attribution) != NULL);
    CHECK("several fit by their slices",
          block_sum_cache_fits(small, 80) && !block_sum_cache_fits(small, 1 << 20));
    block_sum_cache_destroy(small);
    block_sums_free(alone);

    const struct block_sums *held =
        block_sum_cache_hold(one, contents[0], &large, &run.attribution);
    const struct block_sums *other =
        block_sum_cache_hold(one, contents[1], &large, &run.attribution);

    CHECK("of another content there are others", held != other);
    CHECK("what is held is shared",
          block_sum_cache_hold(one, contents[0], &large, &run.attribution) == held);
    CHECK("with the ops, once there are some",
          block_sum_cache_hold(one, contents[0], &large, NULL)->op_count == 0);
    block_sum_cache_release(one, held);
    block_sum_cache_release(one, other);
    CHECK_INT("the one that is still held can be read", held->slice_block_count,
              other != NULL ? held->slice_block_count : 0);
    block_sum_cache_release(one, held);
    block_sum_cache_release(one, NULL);
    block_sum_cache_destroy(one);
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_threads),
        cmocka_unit_test(on_streams),
        cmocka_unit_test(split),
        cmocka_unit_test(shelf),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
