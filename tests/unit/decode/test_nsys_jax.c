/* SPDX-License-Identifier: Apache-2.0 */
/* Archives of nsys-jax: tables joined with reports, of one process and of several. */
#include <stdio.h>

#include "check.h"

#include "base/file.h"
#include "decoded.h"
#include "picture.h"

static struct bytes seed(const char *name, struct arena *arena)
{
    struct str path = str_format(arena, "%s/fuzz/seeds/%s", TESTS_DIR, name);
    struct error err = {0};
    struct bytes bytes = {0};

    CHECK_OK(name, file_read(path.at, arena, 1 << 20, &bytes, &err), &err);
    return bytes;
}

static const struct trace *trace_of(struct bytes bytes, struct arena *arena, const char *format,
                                    struct error *err)
{
    const struct trace *trace = decoded(NULL, STR("a.zip"), bytes, arena, err);

    if (format != NULL && trace != NULL)
        CHECK_STR("format", str_of(trace->format), format);
    return trace;
}

/* Rows of the seed: named one, (null), two, one; devices from the table, threads from the
 * report. */
static void archive(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct error err = {0};
    const struct trace *trace = trace_of(seed("zip/nsys-jax", arena), arena, "nsys-jax", &err);

    CHECK_OK("decode", err.code, &err);
    CHECK_PICTURE(
        "all", trace, PICTURE_ARGS | PICTURE_NOTES,
        "/device:GPU:0 / NVTX\n  1000000 +5000 one [derived] {gpu_ops: 1}\n  3000000 +7000 two "
        "[derived] {gpu_ops: 1}\n  4000000 +8000 one [derived] {gpu_ops: 1}\nprocess 7 / thread "
        "(8)\n  5000 +4000 TSL:XlaModule:#hlo_module=jit_f,program_id=1#\nnote odd-rows 1 Rows "
        "without a name, which are totals of a process, are left out.\n");
    CHECK_INT("modules", trace->program_count, 1);
    CHECK_INT("its number", trace->programs[0].id, 1);
    CHECK_STR("its name", trace_name(trace, trace->programs[0].name), "jit_f");
    arena_destroy(arena);
}

/* What is number 1 of one process is number 2 of the other, whose number 1 is something else. */
static void archive_of_two_processes(void **state)
{
    (void)state;
    const struct {
        const char *seed, *first, *second; /* devices */
        const char *first_thread, *second_thread;
    } rows[] = {
        {"zip/nsys-jax-combined", "/device:GPU:0", "/device:GPU:1", "thread", "thread"},
        {"zip/nsys-jax-launchers", "/device:GPU:5", "/device:GPU:4",
         "XlaLauncher:#global=5,local=0,process=5,slice=0#",
         "XlaLauncher:#global=4,local=0,process=4,slice=0#"},
    };

    for (size_t at = 0; at < COUNT(rows); at++) {
        struct arena *arena = arena_create();
        struct error err = {0};
        const struct trace *trace = trace_of(seed(rows[at].seed, arena), arena, "nsys-jax", &err);
        char want[2000];

        CHECK_OK(rows[at].seed, err.code, &err);
        snprintf(
            want, sizeof want,
            "%s / XLA Modules\n  10000 +20000 jit_f {gpu_ops: 1, hlo_module: \"jit_f\", "
            "program_id: 1u}\n%s / XLA Ops\n  10000 +5000 dot.1 {gpu_ops: 1, hlo_op: \"dot.1\", "
            "hlo_module: \"jit_f\", program_id: 1u}\n%s / XLA Modules\n  10000 +20000 jit_f "
            "{gpu_ops: 1, hlo_module: \"jit_f\", program_id: 1u}\n%s / XLA Ops\n  10000 +5000 "
            "dot.1 {gpu_ops: 1, hlo_op: \"dot.1\", hlo_module: \"jit_f\", program_id: 1u}\nproc0 "
            "process 7 / %s (8)\n  1000 +9000 TSL:XlaModule:#hlo_module=jit_f,program_id=1#\n    "
            "2000 +3000 TSL:Thunk:#hlo_op=dot.1#\nproc1 process 7 / %s (8)\n  1000 +9000 "
            "TSL:XlaModule:#hlo_module=jit_f,program_id=2#\n    2000 +3000 "
            "TSL:Thunk:#hlo_op=dot.1#\nnote unaligned 2 Processes of a combined archive; each "
            "counts time from the start of its own recording.\n",
            rows[at].first, rows[at].first, rows[at].second, rows[at].second, rows[at].first_thread,
            rows[at].second_thread);
        CHECK_PICTURE(rows[at].seed, trace, PICTURE_ARGS | PICTURE_NOTES, want);
        CHECK_INT("programs", trace->program_count, 2);
        CHECK_INT("the first keeps its number", trace->programs[0].id, 1);
        CHECK_INT("another of that number", trace->programs[1].id, (INT64_C(1) << 48) + 1);
        arena_destroy(arena);
    }
}

/* Two tables of ranges and two reports, the first of 1024 rows. */
static void archive_with_two_of_each(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct error err = {0};
    const struct trace *trace =
        trace_of(seed("zip/nsys-jax-twice", arena), arena, "nsys-jax", &err);

    CHECK_OK("decode", err.code, &err);
    CHECK_INT("ranges on the device, calls on the thread", trace->slice_count, 2 * 3 + 1024 + 1);
    arena_destroy(arena);
}

static void table_alone(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct error err = {0};
    const struct trace *trace =
        trace_of(seed("parquet/gzip-dictionary-2", arena), arena, "nsys-jax-ranges", &err);

    CHECK_OK("decode", err.code, &err);
    CHECK_INT("on the device alone, for it has no times of the host", trace->slice_count, 3);
    arena_destroy(arena);
}

/* The table beside a report, as both lie in a directory; `count` bytes of the report. */
static const struct trace *with_report(const char *report, size_t count, struct arena *arena,
                                       struct error *err)
{
    struct bytes bytes = seed(report, arena);
    struct input beside = {0};
    struct str name = str_ends(str_of(report), STR(".xz")) ? STR("report_nvtx_pushpop_trace.csv.xz")
                                                           : STR("report_nvtx_pushpop_trace.csv");

    bytes.count = count < bytes.count ? count : bytes.count;
    if (input_open(name, bytes, NULL, arena, &beside, err) != OK)
        return NULL;
    const struct trace *trace =
        decoded_with(NULL, STR("trace.parquet"), seed("parquet/gzip-dictionary-2", arena), &beside,
                     1, arena, err);
    input_close(&beside);
    return trace;
}

static void directory(void **state)
{
    (void)state;
    static const struct {
        const char *report, *tail; /* what stands behind the ranges of the device */
    } rows[] = {
        {"jax_report/plain.xz",
         "process 7 / thread (8)\n  5000 +4000 TSL:XlaModule:#hlo_module=jit_f,program_id=1#\nnote "
         "odd-rows 1 Rows without a name, which are totals of a process, are left out.\n"},
        {"jax_report/quoted",
         "process 7 / thread (8)\n  26940828778000 +83320285000 "
         "TSL:XlaCompile:#module=jit__psum,program_id=1#\n    26940828800000 +100000 a \"\"b\"\", "
         "c\nnote odd-rows 2 Rows of a report without times or a thread are left out.\nnote "
         "odd-rows 1 Rows without a name, which are totals of a process, are left out.\n"},
        {"jax_report/other.xz",
         "note no-report 1 Only ranges with work on a device are known: of compilations, some or "
         "all are missing. The others are in the report (report_nvtx_pushpop_trace.csv.xz), which "
         "is read where it lies in the directory above this table's.\nnote odd-rows 1 Rows "
         "without a name, which are totals of a process, are left out.\n"},
    };

    for (size_t at = 0; at < COUNT(rows); at++) {
        struct arena *arena = arena_create();
        struct error err = {0};
        char want[2000];

        snprintf(want, sizeof want,
                 "/device:GPU:0 / NVTX\n  1000000 +5000 one [derived] {gpu_ops: 1}\n  3000000 "
                 "+7000 two [derived] {gpu_ops: 1}\n  4000000 +8000 one [derived] {gpu_ops: "
                 "1}\n%s",
                 rows[at].tail);
        CHECK_PICTURE(rows[at].report, with_report(rows[at].report, SIZE_MAX, arena, &err),
                      PICTURE_ARGS | PICTURE_NOTES, want);
        arena_destroy(arena);
    }
}

/* Whatever is left of the report, the table is shown. */
static void directory_with_a_cut_report(void **state)
{
    (void)state;
    static const char *const reports[] = {"jax_report/quoted", "jax_report/quoted.xz"};

    for (size_t report = 0; report < COUNT(reports); report++)
        for (size_t count = 1; count < 400; count++) {
            struct arena *arena = arena_create();
            struct error err = {0};
            const struct trace *trace = with_report(reports[report], count, arena, &err);

            CHECK_OK(reports[report], err.code, &err);
            CHECK("ranges of the device", trace->slice_count >= 3);
            arena_destroy(arena);
        }
}

static void what_is_read_together(void **state)
{
    (void)state;
    static const struct {
        const char *path, *beside, *with;
    } rows[] = {
        {"a/nvtx_gpu_proj_trace/trace.parquet", "a/report_nvtx_pushpop_trace.csv.xz", NULL},
        {"nvtx_gpu_proj_trace/trace.parquet.zst", "report_nvtx_pushpop_trace.csv.xz", NULL},
        {"a/my_nvtx_gpu_proj_trace/trace.parquet", NULL, NULL},
        {"trace.parquet", NULL, NULL},
        {"a/report_nvtx_pushpop_trace.csv", NULL, "a/nvtx_gpu_proj_trace/trace.parquet"},
        {"thread-metadata.parquet", NULL, "nvtx_gpu_proj_trace/trace.parquet"},
        {"a/old_thread-metadata.parquet", NULL, NULL},
    };

    for (size_t at = 0; at < COUNT(rows); at++) {
        struct arena *arena = arena_create();
        struct str path = str_of(rows[at].path), beside = STR(""), with = STR("");

        (void)decode_beside(path, 0, 0, arena, &beside);
        (void)decode_read_with(path, arena, &with);
        CHECK_STR(rows[at].path, beside, rows[at].beside == NULL ? "" : rows[at].beside);
        CHECK_STR(rows[at].path, with, rows[at].with == NULL ? "" : rows[at].with);
        CHECK_INT(rows[at].path, decode_reads_beside(path), rows[at].beside != NULL);
        arena_destroy(arena);
    }
}

static void archive_of_one_file(void **state)
{
    (void)state;
    static const char *const names[] = {"zip/one", "zip/one-stored"};

    for (size_t at = 0; at < COUNT(names); at++) {
        struct arena *arena = arena_create();
        struct error err = {0};
        const struct trace *trace = trace_of(seed(names[at], arena), arena, "chrome-json", &err);

        CHECK_OK(names[at], err.code, &err);
        CHECK_INT(names[at], trace->slice_count, 1);
        arena_destroy(arena);
    }
}

/* Every prefix, and a bit of every byte: a trace, or a sentence. */
static void damage(void **state)
{
    struct arena *owner = arena_create();
    struct bytes file = seed(*state == NULL ? "zip/nsys-jax" : *state, owner);

    for (size_t at = 0; at < 2 * file.count; at++) {
        struct arena *arena = arena_create();
        uint8_t *copy = arena_array(arena, uint8_t, file.count);
        struct error err = {0};

        memcpy(copy, file.at, file.count);
        if (at >= file.count)
            copy[at - file.count] ^= (uint8_t)(1 << at % 8);
        if (trace_of((struct bytes){copy, at < file.count ? at : file.count}, arena, NULL, &err) ==
            NULL)
            CHECK("a sentence", err.message[0] != '\0');
        arena_destroy(arena);
    }
    arena_destroy(owner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(archive_of_two_processes),
        cmocka_unit_test(archive),
        cmocka_unit_test(archive_with_two_of_each),
        cmocka_unit_test(table_alone),
        cmocka_unit_test(directory),
        cmocka_unit_test(directory_with_a_cut_report),
        cmocka_unit_test(what_is_read_together),
        cmocka_unit_test(archive_of_one_file),
        cmocka_unit_test(damage),
        cmocka_unit_test_prestate(damage, (void *)(uintptr_t) "zip/nsys-jax-launchers"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
