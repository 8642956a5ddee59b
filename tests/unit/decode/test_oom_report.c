/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of memory that ran out: sums, buffers with scope and line, logs around them, damage. */
#include "check.h"
#include "decode/oom_report/oom_report.h"
#include "decoded.h"
#include "picture.h"
#include "survives.h"

static const char of_gpu[] =
    "Traceback (most recent call last):\n"
    "XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 1024 bytes.\n"
    "BufferAssignment OOM Debugging.\n"
    "BufferAssignment stats:\n"
    "             parameter allocation:    6.00MiB\n"
    "        maybe_live_out allocation:    1.5KiB\n"
    "     preallocated temp allocation:         0B\n"
    "Peak buffers:\n"
    "\tBuffer 1:\n"
    "\t\tSize: 6.00MiB\n"
    "\t\tOperator: op_name=\"jit(step)/jvp(layer_0)/dot_general[dims=((1/2,), ())]\" "
    "source_file=\"/home/u/model.py\" source_line=31\n"
    "\t\tXLA Label: custom-call\n"
    "\t\tShape: f32[64,64]\n"
    "\t\t==========================\n"
    "\n"
    "\tBuffer 2:\n"
    "\t\tSize: 384.0KiB\n"
    "\t\tEntry Parameter Subshape: f32[256,128,3]\n"
    "\t\t==========================\n";

static const char of_tpu[] =
    "2026-01-02 08:05:40: E 1578 x.cc:81] Ran out of memory in memory space hbm. Used 41.74G of "
    "16.00G hbm. Exceeded hbm capacity by 25.74G.\n"
    "2026-01-02 08:05:40: E 1578 x.cc:81]     arguments       unknown size\n"
    "2026-01-02 08:05:40: E 1578 x.cc:81]   1. Size: 32.00G\n"
    "2026-01-02 08:05:40: E 1578 x.cc:81]      Unpadded size: 1.00G\n"
    "2026-01-02 08:05:40: E 1578 x.cc:81]      XLA label: %copy.4 = s32[8] copy(%a)\n"
    "2026-01-02 08:05:40: E 1578 x.cc:81]      Allocation type: HLO temp\n"
    "2026-01-02 08:05:40: E 1578 x.cc:81]   2. Size: 2.00G\n";

static const char of_torch[] =
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
    "capacity of 79.15 GiB of which 1.06 GiB is free. Including non-PyTorch memory, this process "
    "has 78.09 GiB memory in use. Of the allocated memory 76.10 GiB is allocated by PyTorch, and "
    "1.24 GiB is reserved by PyTorch but unallocated.";

static const char of_old_torch[] =
    "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 15.78 GiB total "
    "capacity; 14.32 GiB already allocated; 3.44 MiB free; 14.66 GiB reserved in total by "
    "PyTorch)";

static const struct trace *trace_of(struct bytes bytes, struct arena *arena, struct error *err)
{
    return decoded(&decode_oom_report, STR("error.log"), bytes, arena, err);
}

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){.at = (const uint8_t *)text, .count = strlen(text)};
}

static void messages(void **state)
{
    (void)state;
    const struct {
        const char *what, *text, *picture;
    } rows[] = {
        {"XLA on GPU", of_gpu,
         "samples space/bytes\n"
         "  6291456 jit(step); jvp(layer_0); dot_general[dims=((1/2,), ())] "
         "/home/u/model.py:31 {shape: \"f32[64,64]\"}\n"
         "  393216 argument {kind: \"argument\", shape: \"f32[256,128,3]\"}\n"},
        {"XLA on TPU, in a log", of_tpu,
         "samples space/bytes\n"
         "  34359738368 %copy.4 = s32[8] copy(%a) {kind: \"HLO temp\"}\n"
         "  2147483648 (not named)\n"},
        {"PyTorch", of_torch, ""},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct error err = {0};
        const struct trace *trace = trace_of(bytes_of(rows[i].text), arena, &err);

        CHECK_OK(rows[i].what, err.code, &err);
        CHECK_PICTURE(rows[i].what, trace, 0, rows[i].picture);
        arena_destroy(arena);
    }
}

static void sums(void **state)
{
    (void)state;
    const struct {
        const char *text, *key;
        int64_t bytes; /* -1: not told */
    } rows[] = {
        {of_gpu, "asked for", 1024},
        {of_gpu, "arguments", 6291456},
        {of_gpu, "outputs", 1536},
        {of_gpu, "temporaries", 0},
        {of_gpu, "capacity", -1},
        {of_tpu, "needed", 44817983734},
        {of_tpu, "capacity", 17179869184},
        {of_tpu, "missing", 27638114550},
        {of_tpu, "arguments", -1},
        {of_torch, "asked for", 2147483648},
        {of_torch, "capacity", 84986665370},
        {of_torch, "free", 1138166333},
        {of_torch, "in use", 83848499036},
        {of_torch, "allocated by PyTorch", 81711752806},
        {of_torch, "reserved, unallocated", 1331439862},
        {of_old_torch, "asked for", 20971520},
        {of_old_torch, "capacity", 16943645983},
        {of_old_torch, "allocated by PyTorch", 15375982920},
        {of_old_torch, "free", 3607101},
        {of_old_torch, "reserved by PyTorch", 15741055140},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct error err = {0};
        const struct trace *trace = trace_of(bytes_of(rows[i].text), arena, &err);
        int64_t found = -1;

        CHECK_OK(rows[i].key, err.code, &err);
        for (uint32_t k = 0; k < trace->property_count; k++)
            if (str_equal(trace_name(trace, trace->properties[k].arg.key), str_of(rows[i].key)))
                found = (int64_t)trace->properties[k].arg.bits;
        CHECK_INT(rows[i].key, found, rows[i].bytes);
        arena_destroy(arena);
    }
}

static void sizes(void **state)
{
    (void)state;
    const struct {
        const char *text;
        bool is_size;
        int64_t bytes;
        size_t count;
    } rows[] = {
        {"12 bytes", true, 12, 8},  {"0B", true, 0, 2},
        {"1.5K", true, 1536, 4},    {"384.0KiB,", true, 393216, 8},
        {"2 MB", true, 2097152, 4}, {"1024", false, 0, 0},
        {"unknown", false, 0, 0},   {"99999999999999999999G", false, 0, 0},
        {"1.", false, 0, 0},        {"", false, 0, 0},
        {"7 of 9", false, 0, 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t bytes = 0;
        size_t count = 0;

        CHECK_INT(rows[i].text, oom_size(str_of(rows[i].text), &bytes, &count), rows[i].is_size);
        if (rows[i].is_size) {
            CHECK_INT(rows[i].text, bytes, rows[i].bytes);
            CHECK_INT(rows[i].text, count, rows[i].count);
        }
    }
}

static void told_by_content(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct error err = {0};

    CHECK_HAS("no size",
              (trace_of(bytes_of("RESOURCE_EXHAUSTED: no room"), arena, &err), err.message),
              "contains no size");
    err = (struct error){0};
    CHECK("any name", decoded(NULL, STR("a.txt"), bytes_of(of_torch), arena, &err) != NULL);
    err = (struct error){0};
    CHECK("other text",
          decoded(NULL, STR("a.txt"), bytes_of("all is well\n"), arena, &err) == NULL);
    CHECK_HAS("other text", err.message, "Text, not a profile");
    arena_destroy(arena);
}

static void damage(void **state)
{
    (void)state;
    const char *const texts[] = {of_gpu, of_tpu, of_torch};

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct bytes whole = bytes_of(texts[i]);
        uint8_t changed[sizeof of_gpu + sizeof of_tpu];

        for (size_t count = 0; count <= whole.count; count++)
            survives(trace_of, "a prefix", (struct bytes){.at = whole.at, .count = count});
        for (size_t at = 0; at < whole.count; at++) {
            memcpy(changed, whole.at, whole.count);
            changed[at] ^= 0x15;
            survives(trace_of, "a changed byte",
                     (struct bytes){.at = changed, .count = whole.count});
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages),        cmocka_unit_test(sums),   cmocka_unit_test(sizes),
        cmocka_unit_test(told_by_content), cmocka_unit_test(damage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
