/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of kernels and annotations; occupancy; what names tell. */
#include "unit/analyse/made_run.h"

#include <stdlib.h>

#include "analyse/device/annotation_names.h"
#include "analyse/device/kernel_names.h"
#include "analyse/device/occupancy.h"
#include "analyse/findings/memo.h"
#include "analyse/ops/kernels.h"

static struct table ask(struct made_run *run, const char *by, struct restriction restriction,
                        struct kernels_summary *summary)
{
    struct table table;

    CHECK_OK(by,
             kernels(&run->run, &restriction, &(struct kernels_question){.by = str_of(by)},
                     &(struct page){.limit = 10000}, run->made.arena, &table, summary,
                     &run->made.err),
             &run->made.err);
    return table;
}

static int64_t integer(const struct table *table, uint32_t row, const char *column)
{
    int64_t value = -1;

    CHECK(column, row < table->row_count && table_integer_at(table, row, column, &value));
    return value;
}

static bool is_null(const struct table *table, uint32_t row, const char *column)
{
    const struct cell *cell = table_cell_at(table, row, column);

    return cell != NULL && cell->kind == CELL_NULL && cell->of.text.count > 0;
}

static uint32_t row_named(const struct table *table, const char *name)
{
    for (uint32_t row = 0; row < table->row_count; row++) {
        if (str_equal(table_text_at(table, row, "name"), str_of(name)))
            return row;
    }
    return UINT32_MAX;
}

static void kernel(struct made_run *run, track_id track, int64_t start_ps, int64_t dur_ps,
                   const char *name, const char *details)
{
    run_slice(run, track, start_ps, dur_ps, name, KIND_COMPUTE);
    if (details != NULL)
        run_text(run, "kernel_details", details);
}

#define WIDE "regs:32 static_shared:0 dynamic_shared:0 grid:128,1,1 block:256,1,1 occ_pct:100"
#define THIN "regs:32 static_shared:0 dynamic_shared:0 grid:1,1,1 block:256,1,1 occ_pct:25"

enum { SEEDS = 1000 }; /* of made runs, a few events each */

static void by_kernel_and_variant(void **state)
{
    (void)state;
    struct made_run run;
    struct kernels_summary summary;

    run_begin(&run);
    track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, 0);
    kernel(&run, stream, 0, 30, "it's", WIDE);
    kernel(&run, stream, 40, 10, "it's", THIN);
    kernel(&run, stream, 60, 5, "other", NULL);
    run_finish(&run);

    struct table names = ask(&run, "kernel", (struct restriction){0}, &summary);

    CHECK_INT("rows", names.row_count, 2);
    CHECK_INT("total", names.total_ps, 45);
    CHECK_INT("launches", (int64_t)summary.launch_count, 3);
    CHECK_INT("known", summary.occupancy_known_ps, 40);
    CHECK_INT("below half", summary.half_occupancy_ps, 10);
    CHECK_INT("shapes", integer(&names, 0, "variant_count"), 2);
    CHECK("of several there is no grid", is_null(&names, 0, "grid"));
    CHECK("nor an occupancy", is_null(&names, 0, "occupancy"));
    CHECK("not recorded", is_null(&names, 1, "registers"));
    CHECK("no call", is_null(&names, 1, "queue_p50_ps"));
    CHECK_STR("quoted for a shell", table_text_at(&names, 0, "ncu"),
              "ncu --kernel-name-base demangled --kernel-name 'it'\\''s' --launch-skip 0 "
              "--launch-count 1");

    struct table shapes = ask(&run, "variant", (struct restriction){0}, &summary);

    CHECK_INT("rows", shapes.row_count, 3);
    CHECK_STR("grid", table_text_at(&shapes, 0, "grid"), "128,1,1");
    CHECK_INT("below half", summary.half_occupancy_ps, 10);

    struct table part =
        ask(&run, "kernel", (struct restriction){.has_window = true, .start_ps = 20, .end_ps = 45},
            &summary);

    CHECK_INT("what lies inside", part.total_ps, 10 + 5);
    CHECK_INT("overlapping", integer(&part, 0, "count"), 2);
    CHECK_INT("whole ones", integer(&part, 0, "max_ps"), 30);
    CHECK_INT("median of whole ones", integer(&part, 0, "p50_ps"), 10);

    struct table one = ask(&run, "kernel", (struct restriction){.name = STR("other")}, &summary);

    CHECK_INT("by the kernel's name", one.row_count, 1);
    CHECK_INT("its time", one.total_ps, 5);
    run_end(&run);
}

/* Stored totals and summed ones agree, and rows add up to the streams' slices. */
static void sums_agree(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct dice dice = {.state = seed};
        struct made_run run;
        struct kernels_summary summary;
        int64_t wanted_ps = 0;

        run_begin(&run);
        for (int32_t device = 0; device < 2; device++) {
            track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, device);
            int64_t at = 0;

            for (uint64_t i = dice_below(&dice, 12); i > 0; i--) {
                char name[2] = {(char)('a' + dice_below(&dice, 5))};
                int64_t dur_ps = 1 + (int64_t)dice_below(&dice, 100);

                at += (int64_t)dice_below(&dice, 50);
                kernel(&run, stream, at, dur_ps, name, dice_below(&dice, 2) ? WIDE : THIN);
                at += dur_ps;
                wanted_ps += dur_ps;
            }
        }
        run_finish(&run);

        struct table stored = ask(&run, "kernel", (struct restriction){0}, &summary);
        struct table shapes = ask(&run, "variant", (struct restriction){0}, &summary);
        struct table summed = ask(
            &run, "kernel",
            (struct restriction){.has_window = true, .start_ps = -1, .end_ps = 100000}, &summary);
        int64_t total_ps = 0;

        CHECK_INT("all slices", stored.total_ps, wanted_ps);
        CHECK_INT("by shape too", shapes.total_ps, wanted_ps);
        CHECK_INT("rows", summed.row_count, stored.row_count);
        for (uint32_t row = 0; row < stored.row_count; row++) {
            static const char *const columns[] = {"count",  "total_ps", "self_ps", "min_ps",
                                                  "p50_ps", "p95_ps",   "max_ps",  "mean_ps"};

            total_ps += integer(&stored, row, "total_ps");
            for (size_t i = 0; i < COUNT(columns); i++)
                CHECK_INT(columns[i], integer(&summed, row, columns[i]),
                          integer(&stored, row, columns[i]));
        }
        CHECK_INT("rows add up", total_ps, wanted_ps);
        run_end(&run);
    }
}

static void call(struct made_run *run, track_id host, track_id stream, int64_t call_ps,
                 int64_t start_ps, int64_t dur_ps)
{
    static uint64_t id;
    struct sink *sink = run->made.sink;
    name_id kind = sink_name(sink, STR("kernel launch"));

    run_slice(run, host, call_ps, 1, "cuLaunchKernel", KIND_HOST);
    sink_flow(sink, FLOW_FROM, kind, ++id);
    run_slice(run, stream, start_ps, dur_ps, "k", KIND_COMPUTE);
    sink_flow(sink, FLOW_TO, kind, id);
}

/*  python   |-- train ------------------------|        0 .. 100
 *             |- forward -|  10..40
 *               c 20            c 50               c 200
 *  stream           |k 5|           |k 7|               |k 11|                     */
static void annotated(void **state)
{
    (void)state;
    struct made_run run;
    struct kernels_summary summary;

    run_begin(&run);
    track_id host = run_thread(&run, "python");
    track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, 0);
    run_slice(&run, host, 0, 100, "train", KIND_HOST);
    run_slice(&run, host, 10, 30, "forward", KIND_HOST);
    run_slice(&run, host, 12, 20, "PjitFunction(f)", KIND_HOST);
    call(&run, host, stream, 20, 60, 5);
    call(&run, host, stream, 50, 70, 7);
    call(&run, host, stream, 200, 210, 11);
    run_finish(&run);

    struct table table = ask(&run, "annotation", (struct restriction){0}, &summary);
    uint32_t train = row_named(&table, "train"), forward = row_named(&table, "forward");
    uint32_t rest = row_named(&table, "(no annotation)");

    CHECK_INT("the runtime's are none", table.row_count, 3);
    CHECK_INT("host", integer(&table, train, "total_ps"), 100);
    CHECK_INT("less what is inside", integer(&table, train, "self_ps"), 70);
    CHECK_INT("launched inside", integer(&table, train, "device_ps"), 12);
    CHECK_INT("innermost", integer(&table, train, "device_self_ps"), 7);
    CHECK_INT("of the inner one", integer(&table, forward, "device_ps"), 5);
    CHECK_INT("first to last", integer(&table, train, "projected_ps"), 77 - 60);
    CHECK_INT("of one span", integer(&table, train, "projected_count"), 1);
    CHECK_INT("its spread", integer(&table, train, "projected_stdev_ps"), 0);
    CHECK("none has no projection", is_null(&table, rest, "projected_mean_ps"));
    CHECK_INT("launched by none", integer(&table, rest, "device_ps"), 11);
    CHECK_INT("the call outside of all", integer(&table, rest, "self_ps"), 1);
    CHECK_INT("in all, too", integer(&table, rest, "total_ps"), 1);
    CHECK_INT("all that the thread recorded", table.total_self_ps, 101);
    CHECK("no span of it", is_null(&table, rest, "count"));
    CHECK_INT("all the device did", table.total_ps, 23);

    const struct {
        const char *annotation;
        int64_t total_ps, count;
    } inside[] = {{"train", 12, 2}, {"forward", 5, 1}, {"nothing", 0, 0}};

    for (size_t i = 0; i < COUNT(inside); i++) {
        CHECK_OK(inside[i].annotation,
                 kernels(&run.run, &(struct restriction){0},
                         &(struct kernels_question){.annotation = str_of(inside[i].annotation)},
                         &(struct page){.limit = 5}, run.made.arena, &table, &summary,
                         &run.made.err),
                 &run.made.err);
        CHECK_INT(inside[i].annotation, table.total_ps, inside[i].total_ps);
        CHECK_INT(inside[i].annotation, (int64_t)summary.launch_count, inside[i].count);
    }
    run_end(&run);
}

/* A range of NVTX may have no text. */
static void a_range_without_a_name(void **state)
{
    (void)state;
    struct made_run run;
    struct kernels_summary summary;

    run_begin(&run);
    track_id host = run_thread(&run, "NVTX");
    track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, 0);
    run_slice(&run, host, 0, 100, "", KIND_HOST);
    call(&run, host, stream, 20, 60, 5);
    run_finish(&run);

    struct table table = ask(&run, "annotation", (struct restriction){0}, &summary);

    CHECK_INT("a row", integer(&table, row_named(&table, "(empty)"), "total_ps"), 100);
    CHECK_INT("with its work", integer(&table, row_named(&table, "(empty)"), "device_ps"), 5);
    run_end(&run);
}

/* Nothing was launched inside where devices ran; where none did, nobody knows. */
static void without_devices(void **state)
{
    (void)state;

    for (int devices = 0; devices <= 1; devices++) {
        struct made_run run;
        struct kernels_summary summary;

        run_begin(&run);
        track_id host = run_thread(&run, "python");
        run_slice(&run, host, 0, 100, "train", KIND_HOST);
        if (devices > 0)
            call(&run, host, run_stream(&run, "Stream #7", ROLE_NONE, 0), 200, 210, 5);
        run_finish(&run);

        struct table table = ask(&run, "annotation", (struct restriction){0}, &summary);
        uint32_t train = row_named(&table, "train");
        static const char *const columns[] = {"device_ps", "device_self_ps", "launch_count",
                                              "projected_ps", "projected_count"};

        CHECK_INT("host", integer(&table, train, "total_ps"), 100);
        for (size_t i = 0; i < COUNT(columns); i++) {
            CHECK(columns[i], is_null(&table, train, columns[i]) == (devices == 0));
            if (devices > 0)
                CHECK_INT(columns[i], integer(&table, train, columns[i]), 0);
        }
        run_end(&run);
    }
}

/* Each quote is four letters of a shell's: the text grows, the memory must not with its square. */
static void names_of_quotes(void **state)
{
    (void)state;
    enum { QUOTES = 20000 };
    struct made_run run;
    struct kernels_summary summary;
    char *name = malloc(QUOTES + 1);

    memset(name, '\'', QUOTES);
    name[QUOTES] = '\0';
    run_begin(&run);
    track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, 0);
    kernel(&run, stream, 0, 10, "it's", WIDE);
    kernel(&run, stream, 10, 10, name, WIDE);
    run_finish(&run);

    struct table table = ask(&run, "kernel", (struct restriction){0}, &summary);

    CHECK("a shell's quote",
          str_contains(table_text_at(&table, row_named(&table, "it's"), "ncu"), STR("'it'\\''s'")));
    CHECK("memory", arena_used(run.made.arena) < 100 * QUOTES);
    free(name);
    run_end(&run);
}

/* Whatever was marked, rows add up to what the device did and to what the thread recorded, in the
 * whole as in the parts of it; a span inside its like counts once. */
static void check_annotations(const struct table *table, int64_t device_ps, int64_t host_ps)
{
    int64_t device_sum_ps = 0, host_sum_ps = 0;

    for (uint32_t row = 0; row < table->row_count; row++) {
        int64_t self_ps = integer(table, row, "device_self_ps");

        device_sum_ps += self_ps;
        CHECK("self is part of all", self_ps <= integer(table, row, "device_ps"));
        CHECK("at most all there is", integer(table, row, "device_ps") <= device_ps);
        if (is_null(table, row, "self_ps"))
            continue;
        host_sum_ps += integer(table, row, "self_ps");
        CHECK("nothing is less than nothing", integer(table, row, "self_ps") >= 0);
    }
    CHECK_INT("adds up", device_sum_ps, device_ps);
    CHECK_INT("the host's adds up", host_sum_ps, host_ps);
    CHECK_INT("and is told", table->total_self_ps, host_ps);
}

enum { HOST_END = 400 };

static int64_t count_of(const bool *recorded, int64_t from, int64_t to)
{
    int64_t count = 0;

    for (int64_t at = from; at < to; at++)
        count += recorded[at];
    return count;
}

static void record(bool *recorded, int64_t from, int64_t dur)
{
    memset(&recorded[from], true, (size_t)dur);
}

static int64_t make_annotated(struct made_run *run, struct dice *dice, bool *recorded)
{
    int64_t device_ps = 0, at = 0;

    run_begin(run);
    track_id host = run_thread(run, "python");
    track_id stream = run_stream(run, "Stream #7", ROLE_NONE, 0);
    for (uint64_t i = dice_below(dice, 8); i > 0; i--) {
        static const char *const names[] = {"p", "q", "r", "PjitFunction(f)"};
        int64_t from = (int64_t)dice_below(dice, 300), dur = 1 + (int64_t)dice_below(dice, 90);

        run_slice(run, host, from, dur, names[dice_below(dice, COUNT(names))], KIND_HOST);
        record(recorded, from, dur);
    }
    for (uint64_t i = 1 + dice_below(dice, 7); i > 0; i--) {
        int64_t dur_ps = 1 + (int64_t)dice_below(dice, 20);
        int64_t call_ps = (int64_t)dice_below(dice, HOST_END - 1);

        call(run, host, stream, call_ps, at, dur_ps);
        record(recorded, call_ps, 1);
        at += dur_ps + (int64_t)dice_below(dice, 10);
        device_ps += dur_ps;
    }
    run_finish(run);
    return device_ps;
}

static void annotations_add_up(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct dice dice = {.state = seed};
        struct made_run run;
        struct kernels_summary summary;
        bool recorded[HOST_END] = {false};
        int64_t device_ps = make_annotated(&run, &dice, recorded);
        int64_t cut_ps = 1 + (int64_t)dice_below(&dice, HOST_END - 1);
        struct table whole = ask(&run, "annotation", (struct restriction){0}, &summary);
        struct table before = ask(
            &run, "annotation",
            (struct restriction){.has_window = true, .start_ps = 0, .end_ps = cut_ps}, &summary);
        struct table behind = ask(
            &run, "annotation",
            (struct restriction){.has_window = true, .start_ps = cut_ps, .end_ps = HOST_END + 1000},
            &summary);

        check_annotations(&whole, device_ps, count_of(recorded, 0, HOST_END));
        check_annotations(&before, before.total_ps, count_of(recorded, 0, cut_ps));
        check_annotations(&behind, behind.total_ps, count_of(recorded, cut_ps, HOST_END));
        CHECK_INT("parts of the device", before.total_ps + behind.total_ps, device_ps);
        run_end(&run);
    }
    print_message("%d seeds\n", SEEDS);
}

static void occupancies(void **state)
{
    (void)state;
    const struct {
        const char *what;
        struct processor on;
        uint32_t threads, registers, shared, share;
        enum occupancy_limit limit;
    } rows[] = {
        {"H100, all", {9, 0, false, 132}, 256, 32, 0, 10000, LIMIT_NONE},
        {"H100, 168 registers", {9, 0, false, 132}, 384, 168, 0, 1875, LIMIT_REGISTERS},
        {"H100, one block's shared memory", {9, 0, false, 132}, 128, 32, 200000, 625, LIMIT_SHARED},
        {"H100, small blocks", {9, 0, false, 132}, 32, 32, 0, 5000, LIMIT_BLOCKS},
        {"T4, 126 registers and 48 KiB", {7, 5, false, 40}, 256, 126, 49152, 2500, LIMIT_SHARED},
        {"RTX 30, 1024 threads", {8, 6, false, 82}, 1024, 32, 0, 6666, LIMIT_WARPS},
        {"MI300X, 128 registers", {9, 4, true, 304}, 256, 128, 0, 5000, LIMIT_REGISTERS},
        {"no such device", {5, 9, false, 1}, 256, 32, 0, NOT_RECORDED, LIMIT_UNKNOWN},
        {"no registers told",
         {9, 0, false, 132},
         256,
         NOT_RECORDED,
         0,
         NOT_RECORDED,
         LIMIT_UNKNOWN},
        {"more than fits", {9, 0, false, 132}, 1024, 255, 0, NOT_RECORDED, LIMIT_UNKNOWN},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct kernel kernel = {.grid = {1, 1, 1},
                                      .block = {rows[i].threads, 1, 1},
                                      .registers = rows[i].registers,
                                      .static_shared_bytes = rows[i].shared};
        struct occupancy found = occupancy_compute(rows[i].on, &kernel);

        CHECK_INT(rows[i].what, found.share, rows[i].share);
        CHECK_INT(rows[i].what, found.limit, rows[i].limit);
        CHECK(rows[i].what, (found.share == NOT_RECORDED) == (found.reason != NULL));
    }
}

static void names(void **state)
{
    (void)state;
    const struct {
        const char *name;
        enum by_name tells;
    } kernel_rows[] = {
        {"ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn", BY_NAME_YES},
        {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x256x8_ffma_aligna4", BY_NAME_NO},
        {"nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NNT", BY_NAME_YES},
        {"void flash_fwd_kernel<Flash_fwd_kernel_traits<128> >", BY_NAME_YES},
        {"Cijk_Ailk_Bljk_BBS_BH_MT256x128x64_MI16x16x16x1_SN", BY_NAME_YES},
        {"loop_add_fusion", BY_NAME_UNKNOWN},
    };
    const struct {
        const char *name;
        bool annotation, api;
    } host_rows[] = {
        {"train", true, false},
        {"data_loading", true, false},
        {"cuLaunchKernel", false, true},
        {"cudaMemcpyAsync", false, true},
        {"custom", true, false},
        {"PjitFunction(f)", false, false},
        {"$train.py:41 step", false, false},
        {"ThunkExecutor::Execute", false, false},
        {"hipLaunchKernel", false, true},
        {"", false, false},
    };
    const char *word;

    for (size_t i = 0; i < COUNT(kernel_rows); i++)
        CHECK_INT(kernel_rows[i].name, kernel_tensor_core(str_of(kernel_rows[i].name), &word),
                  kernel_rows[i].tells);
    for (size_t i = 0; i < COUNT(host_rows); i++) {
        CHECK_INT(host_rows[i].name, is_annotation_name(str_of(host_rows[i].name)),
                  host_rows[i].annotation);
        CHECK_INT(host_rows[i].name, is_api_name(str_of(host_rows[i].name)), host_rows[i].api);
    }
}

static void none_is_said(void **state)
{
    const struct page page = {.limit = 10};
    const struct restriction all = {0};
    const struct kernels_question question = {0};
    struct kernels_summary summary;
    struct made_run run;
    struct table table;
    (void)state;

    run_begin(&run);
    run_slice(&run, run_thread(&run, "python"), 0, 10, "f", KIND_HOST);
    run_finish(&run);
    CHECK_OK(
        "kernels",
        kernels(&run.run, &all, &question, &page, run.made.arena, &table, &summary, &run.made.err),
        &run.made.err);
    CHECK_INT("one note", table.note_count, 1);
    CHECK_HAS("why", str_c(run.made.arena, table.notes[0].message), "no GPU");
    run_end(&run);
}

static void unknown_by(void **state)
{
    (void)state;
    struct made_run run;
    struct table table;
    struct kernels_summary summary;
    const struct restriction all = {0};

    run_begin(&run);
    run_thread(&run, "python");
    run_finish(&run);
    CHECK_INT("refused",
              kernels(&run.run, &all, &(struct kernels_question){.by = STR("colour")},
                      &(struct page){.limit = 5}, run.made.arena, &table, &summary, &run.made.err),
              ERR_INVALID);
    CHECK("says why there are none", kernels_missing(&run.run).count > 0);
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_kernel_and_variant),
        cmocka_unit_test(sums_agree),
        cmocka_unit_test(annotated),
        cmocka_unit_test(a_range_without_a_name),
        cmocka_unit_test(without_devices),
        cmocka_unit_test(names_of_quotes),
        cmocka_unit_test(annotations_add_up),
        cmocka_unit_test(occupancies),
        cmocka_unit_test(names),
        cmocka_unit_test(unknown_by),
        cmocka_unit_test(none_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
