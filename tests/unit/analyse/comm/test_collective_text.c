/* SPDX-License-Identifier: Apache-2.0 */
/* What instructions and kernels say of collectives. */
#include "check.h"

#include "analyse/comm/collective_kernel.h"
#include "analyse/comm/collective_text.h"

static const struct {
    const char *what, *line;
    bool is_one;
    enum collective_kind kind;
    enum collective_half half;
    const char *name, *operand, *dtype;
    int64_t bytes; /* of operands; -1 unknown */
    uint32_t group_size;
} rows[] = {
    {"as an event of a TPU has it",
     "%all-reduce = f32[5,1024,1024,256]{3,2,1,0:T(8,128)} all-reduce(f32[5,1024,1024,256]"
     "{3,2,1,0:T(8,128)} %bitcast), channel_id=1, replica_groups=[4,2]<=[2,4]T(1,0), "
     "use_global_device_ids=true, to_apply=%region_0.3.clone",
     true, COLLECTIVE_ALL_REDUCE, HALF_WHOLE, "all-reduce", "bitcast", "f32", INT64_C(5368709120),
     2},
    {"an asynchronous one begins",
     "%all-gather-start.3 = (bf16[8,2], bf16[32,2]) all-gather-start(bf16[8,2]{1,0} %p.1), "
     "replica_groups={{0,1,2,3}}, dimensions={0}",
     true, COLLECTIVE_ALL_GATHER, HALF_START, "all-gather-start.3", "p.1", "bf16", 32, 4},
    {"... and ends",
     "%all-gather-done.3 = bf16[32,2] all-gather-done((bf16[8,2], bf16[32,2]) %all-gather-start.3)",
     true, COLLECTIVE_ALL_GATHER, HALF_DONE, "all-gather-done.3", "all-gather-start.3", "bf16", 160,
     0},
    {"several operands",
     "ROOT %ar = (f32[4], s8[3]) all-reduce(f32[4] %a, s8[3] %b), replica_groups={}", true,
     COLLECTIVE_ALL_REDUCE, HALF_WHOLE, "ar", "a", "f32", 19, 0},
    {"operands without shapes", "%psum.7 = f32[8] all-reduce(%x), replica_groups={{0,2}}", true,
     COLLECTIVE_ALL_REDUCE, HALF_WHOLE, "psum.7", "x", "", -1, 2},
    {"pairs", "%pp = f32[2] collective-permute(f32[2] %x), source_target_pairs={{0,1},{1,0}}", true,
     COLLECTIVE_PERMUTE, HALF_WHOLE, "pp", "x", "f32", 8, 2},
    {"a mesh, with a comma in it",
     "%ag = f32[8] all-gather(f32[4] %x), channel_id=2, replica_groups=mesh['x'=2,'y'=4], "
     "device_ids=([4,2]T(1,0)) {'x'}, dimensions={0}",
     true, COLLECTIVE_ALL_GATHER, HALF_WHOLE, "ag", "x", "f32", 16, 2},
    {"a send is a start", "%send.1 = (f32[2], u32[], token[]) send(f32[2] %x, token[] %t)", true,
     COLLECTIVE_SEND, HALF_START, "send.1", "x", "f32", 8, 0},
    {"its end", "%send-done.1 = token[] send-done((f32[2], u32[], token[]) %send.1)", true,
     COLLECTIVE_SEND, HALF_DONE, "send-done.1", "send.1", "f32", 12, 0},
    {"a fusion of both halves",
     "%all-reduce-scatter.2 = f32[2] fusion(f32[8] %x), kind=kCustom, calls=%c", true,
     COLLECTIVE_REDUCE_SCATTER, HALF_WHOLE, "all-reduce-scatter.2", "x", "f32", 32, 0},
    {"four bits an element", "%a = u4[3] all-to-all(u4[3] %x), replica_groups={}", true,
     COLLECTIVE_ALL_TO_ALL, HALF_WHOLE, "a", "x", "u4", 2, 0},
    {"tuples of tuples", "%a = f32[9] all-reduce((f32[8,4]{1,0}, (s8[2], pred[]), token[]) %x)",
     true, COLLECTIVE_ALL_REDUCE, HALF_WHOLE, "a", "x", "f32", 128 + 2 + 1, 0},
    {"bounded sizes", "%a = f32[<=4] all-to-all(f32[<=4] %x)", true, COLLECTIVE_ALL_TO_ALL,
     HALF_WHOLE, "a", "x", "f32", 16, 0},
    {"more bytes than there are", "%a = f32[9] all-reduce(f32[4294967296,4294967296] %x)", true,
     COLLECTIVE_ALL_REDUCE, HALF_WHOLE, "a", "x", "", -1, 0},
    {"a type nobody knows", "%a = f32[9] all-reduce(q17[4] %x)", true, COLLECTIVE_ALL_REDUCE,
     HALF_WHOLE, "a", "x", "", -1, 0},
    {"no collective", "%dot.1 = f32[8,8] dot(f32[8,8] %a, f32[8,8] %b)", false, 0, 0, "", "", "",
     -1, 0},
    {"no instruction", "ENTRY %main {", false, 0, 0, "", "", "", -1, 0},
    {"nothing", "", false, 0, 0, "", "", "", -1, 0},
};

static void lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct collective_text got;

        CHECK_INT(rows[i].what, collective_text_read(str_of(rows[i].line), arena, &got),
                  rows[i].is_one);
        if (rows[i].is_one) {
            CHECK_INT(rows[i].what, got.kind, rows[i].kind);
            CHECK_INT(rows[i].what, got.half, rows[i].half);
            CHECK_STR(rows[i].what, got.name, rows[i].name);
            CHECK_STR(rows[i].what, got.operand, rows[i].operand);
            CHECK_INT(rows[i].what, got.has_bytes ? (int64_t)got.operand_bytes : -1, rows[i].bytes);
            CHECK_INT(rows[i].what, got.groups.size, rows[i].group_size);
            if (rows[i].bytes >= 0)
                CHECK_STR(rows[i].what, got.dtype, rows[i].dtype);
        }
        arena_destroy(arena);
    }
}

static void damaged(void **state)
{
    (void)state;
    static const char letters[] = "{}[](),=%\"' \\<0:";

    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t count = strlen(rows[i].line);

        for (size_t cut = 0; cut < count; cut++) {
            struct arena *arena = arena_create();
            char *line = arena_alloc(arena, 1, count);
            struct collective_text got;

            memcpy(line, rows[i].line, count);
            (void)collective_text_read((struct str){line, cut}, arena, &got);
            for (size_t k = 0; k < sizeof letters - 1; k++) {
                line[cut] = letters[k];
                (void)collective_text_read((struct str){line, count}, arena, &got);
            }
            arena_destroy(arena);
        }
    }
}

static void deep(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct text line = {0};
    struct collective_text got;

    text_puts(&line, "%a = f32[8] all-reduce(");
    for (int i = 0; i < 100000; i++)
        text_puts(&line, "(");
    text_puts(&line, " %x)");
    CHECK("it is one", collective_text_read(text_str(&line), arena, &got));
    CHECK("a tuple of tuples ends somewhere", !got.has_bytes);
    text_free(&line);
    arena_destroy(arena);
}

static void sizes(void **state)
{
    (void)state;
    static const struct {
        enum collective_kind kind;
        uint64_t operand, size;
        uint32_t devices;
        double factor;
    } made[] = {
        {COLLECTIVE_ALL_REDUCE, 100, 100, 4, 1.5},   {COLLECTIVE_ALL_REDUCE, 100, 100, 2, 1},
        {COLLECTIVE_ALL_GATHER, 100, 400, 4, 0.75},  {COLLECTIVE_REDUCE_SCATTER, 100, 100, 4, 0.75},
        {COLLECTIVE_ALL_TO_ALL, 100, 100, 8, 0.875}, {COLLECTIVE_PERMUTE, 100, 100, 8, 1},
        {COLLECTIVE_BROADCAST, 100, 100, 8, 1},      {COLLECTIVE_OTHER, 100, 100, 8, 0},
        {COLLECTIVE_ALL_REDUCE, 100, 100, 0, 0},
    };
    uint64_t size;

    for (size_t i = 0; i < COUNT(made); i++) {
        const char *what = collective_kind_word(made[i].kind);

        CHECK(what, collective_size(made[i].kind, made[i].operand, made[i].devices, &size));
        CHECK_INT(what, size, made[i].size);
        CHECK(what, collective_bus_factor(made[i].kind, made[i].devices) == made[i].factor);
    }
    CHECK("an all-gather of nobody knows how many",
          !collective_size(COLLECTIVE_ALL_GATHER, 100, 0, &size));
    CHECK("more than there are bytes",
          !collective_size(COLLECTIVE_ALL_GATHER, UINT64_C(1) << 61, 8, &size));
}

static void kernels(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool is_one;
        enum collective_kind kind;
        const char *algorithm, *protocol, *dtype;
    } made[] = {
        {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", true, COLLECTIVE_ALL_REDUCE,
         "ring", "LL", "f32"},
        {"ncclDevKernel_AllReduce_Sum_bf16_TREE_LL128(ncclDevKernelArgsStorage<4096ul>)", true,
         COLLECTIVE_ALL_REDUCE, "tree", "LL128", "bf16"},
        {"ncclDevKernel_ReduceScatter_Sum_f32_RING_SIMPLE", true, COLLECTIVE_REDUCE_SCATTER, "ring",
         "simple", "f32"},
        {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)", true,
         COLLECTIVE_SEND_RECV, "ring", "simple", "s8"},
        {"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", true,
         COLLECTIVE_ALL_GATHER, "ring", "LL", ""},
        {"ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", true, COLLECTIVE_OTHER, "",
         "", ""},
        {"ncclSymDevKernel_AllReduce_RSxLD_AGxST_NVLS", true, COLLECTIVE_ALL_REDUCE, "NVLS", "",
         ""},
        {"void gemm_kernel_allreduce(float*)", false, 0, "", "", ""},
        {"", false, 0, "", "", ""},
    };
    struct collective_kernel got;
    enum collective_kind kind;

    for (size_t i = 0; i < COUNT(made); i++) {
        CHECK_INT(made[i].name, collective_kernel_read(str_of(made[i].name), &got), made[i].is_one);
        if (!made[i].is_one)
            continue;
        CHECK_INT(made[i].name, got.kind, made[i].kind);
        CHECK_STR(made[i].name, got.algorithm, made[i].algorithm);
        CHECK_STR(made[i].name, got.protocol, made[i].protocol);
        CHECK_STR(made[i].name, got.dtype, made[i].dtype);
    }
    CHECK("a call",
          collective_call_read(STR("_allgather_base"), &kind) && kind == COLLECTIVE_ALL_GATHER);
    CHECK("another",
          collective_call_read(STR("all_to_allv"), &kind) && kind == COLLECTIVE_ALL_TO_ALL);
    CHECK("no call", !collective_call_read(STR("wait"), &kind));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines), cmocka_unit_test(damaged), cmocka_unit_test(deep),
        cmocka_unit_test(sizes), cmocka_unit_test(kernels),
    };

    return cmocka_run_group_tests_name("collective_text", tests, NULL, NULL);
}
