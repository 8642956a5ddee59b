/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes from texts and protos: types, elements, bytes, layouts. */
#include "check.h"

#include "decode/hlo/hlo_detail.h"
#include "made_space.h"

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){.at = (const uint8_t *)text, .count = strlen(text)};
}

static void texts(void **state)
{
    (void)state;
    const struct {
        const char *shape;
        enum hlo_type type;
        uint32_t rank, leaf_count;
        int64_t elements, bytes, host_bytes;
    } rows[] = {
        {"f32[8,128]{1,0:T(8,128)}", HLO_F32, 2, 1, 1024, 4096, 0},
        {"f32[]", HLO_F32, 0, 1, 1, 4, 0},
        {"pred[0]", HLO_PRED, 1, 1, 0, 0, 0},
        {"s32[<=4]", HLO_S32, 1, 1, 4, 16, 0},
        {"s4[10]{0:E(4)}", HLO_S4, 1, 1, 10, 5, 0},
        {"s4[10]{0}", HLO_S4, 1, 1, 10, 10, 0},
        {"f32[4]{0:S(5)}", HLO_F32, 1, 1, 4, 16, 16},
        {"(f32[2], (bf16[3], s8[4096]{0}))", HLO_TUPLE, 0, 3, 4101, 4110, 0},
        {"(f32[1], /*index=5*/f32[2])", HLO_TUPLE, 0, 2, 3, 12, 0},
        {"token[]", HLO_TOKEN, 0, 0, 0, 0, 0},
        {"()", HLO_TUPLE, 0, 0, 0, 0, 0},
        {"", HLO_TYPE_NONE, 0, 0, 0, 0, 0},
        {"f99[3]", HLO_TYPE_NONE, 1, 0, 0, 0, 0},
        {"f32[8", HLO_F32, 1, 1, 8, 32, 0},
        {"(((f32[2]", HLO_TUPLE, 0, 0, 0, 0, 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct hlo_sizes sizes;

        hlo_sizes_read(PROGRAM_TEXT, bytes_of(rows[i].shape), &sizes);
        CHECK_INT(rows[i].shape, sizes.type, rows[i].type);
        CHECK_INT(rows[i].shape, sizes.rank, rows[i].rank);
        CHECK_INT(rows[i].shape, sizes.leaf_count, rows[i].leaf_count);
        CHECK_INT(rows[i].shape, (int64_t)sizes.elements, rows[i].elements);
        CHECK_INT(rows[i].shape, (int64_t)sizes.bytes, rows[i].bytes);
        CHECK_INT(rows[i].shape, (int64_t)sizes.host_bytes, rows[i].host_bytes);
    }
}

/* As the text "(bf16[3,-1], f32[2]{0:S(5)})": a size that is not known counts as none. */
static void proto(void **state)
{
    (void)state;
    struct text part = {0}, tuple = {0}, layout = {0};
    struct hlo_sizes sizes;

    put_number(&tuple, 2, HLO_TUPLE);
    put_number(&part, 2, HLO_BF16);
    put_number(&part, 3, 3);
    put_number(&part, 3, -1);
    put_message(&tuple, 4, &part);
    put_number(&part, 2, HLO_F32);
    put_number(&part, 3, 2);
    put_number(&layout, 8, 5);
    put_message(&part, 5, &layout);
    put_message(&tuple, 4, &part);
    hlo_sizes_read(PROGRAM_PROTO, proto_bytes(&tuple), &sizes);
    CHECK_INT("leaves", sizes.leaf_count, 2);
    CHECK_INT("bytes", (int64_t)sizes.bytes, 8);
    CHECK_INT("in the host's memory", (int64_t)sizes.host_bytes, 8);
    hlo_sizes_read(PROGRAM_PROTO, hlo_shape_part(PROGRAM_PROTO, proto_bytes(&tuple), 1), &sizes);
    CHECK_INT("its second part", sizes.type, HLO_F32);
    CHECK_INT("none behind", (int64_t)hlo_shape_part(PROGRAM_PROTO, proto_bytes(&tuple), 2).count,
              0);
    for (size_t count = 0; count < tuple.count; count++)
        hlo_sizes_read(PROGRAM_PROTO, (struct bytes){(const uint8_t *)tuple.at, count}, &sizes);
    text_free(&part);
    text_free(&tuple);
    text_free(&layout);
}

/* A tuple in a tuple, deeper than any compiler nests: it ends. */
static void deep(void **state)
{
    (void)state;
    enum { DEPTH = 10000 };
    struct text text = {0};
    struct hlo_sizes sizes;

    for (int i = 0; i < DEPTH; i++)
        text_puts(&text, "(");
    for (int i = 0; i < DEPTH; i++)
        text_puts(&text, ")");
    hlo_sizes_read(PROGRAM_TEXT, bytes_of(text.at), &sizes);
    CHECK_INT("a tuple", sizes.type, HLO_TUPLE);
    text_free(&text);
}

static void details(void **state)
{
    (void)state;
    static const char module_text[] =
        "HloModule m\n\nENTRY %main () -> f32[] {\n  %p = f32[2] parameter(3)\n"
        "  %g = f32[2] get-tuple-element(%p), index=4\n"
        "  %c = f32[2] convolution(%p, %g), window={size=3x5 stride=2x1 pad=1_2x0_0 "
        "lhs_dilate=1x2 rhs_dilate=3x1}, dim_labels=b01f_01io->f01b, feature_group_count=8, "
        "batch_group_count=2, operand_precision={highest,default}\n"
        "  ROOT %d = f32[2] dot(%p, %g), lhs_batch_dims={0}, lhs_contracting_dims={2,1}, "
        "backend_config={\"a\":[\"1\"]}\n}\n";
    struct arena *arena = arena_create();
    struct error err = {0};
    struct hlo_module module;
    struct hlo_detail detail;

    CHECK_OK("text", hlo_module_read(bytes_of(module_text), PROGRAM_TEXT, arena, &module, &err),
             &err);
    hlo_detail_read(&module, &module.instructions[0], &detail);
    CHECK_INT("parameter", (int64_t)detail.parameter, 3);
    hlo_detail_read(&module, &module.instructions[1], &detail);
    CHECK_INT("part", (int64_t)detail.tuple_part, 4);
    hlo_detail_read(&module, &module.instructions[2], &detail);
    CHECK_INT("sides", detail.side_count, 2);
    CHECK_INT("size", detail.sides[1].size, 5);
    CHECK_INT("stride", detail.sides[0].stride, 2);
    CHECK_INT("low", detail.sides[0].pad_low, 1);
    CHECK_INT("high", detail.sides[0].pad_high, 2);
    CHECK_INT("holes of the input", detail.sides[1].base_dilation, 2);
    CHECK_INT("holes of the kernel", detail.sides[0].dilation, 3);
    CHECK_INT("input's feature", (int64_t)detail.input.feature, 3);
    CHECK_INT("kernel's output", (int64_t)detail.kernel.batch, 3);
    CHECK_INT("output's feature", (int64_t)detail.output.feature, 0);
    CHECK_INT("output's second side", (int64_t)detail.output.spatial.items[1], 2);
    CHECK_INT("groups", (int64_t)(detail.feature_groups * 10 + detail.batch_groups), 82);
    CHECK("precision", detail.is_highest_precision);
    hlo_detail_read(&module, &module.instructions[3], &detail);
    CHECK_INT("contracted", detail.lhs_contracting.count, 2);
    CHECK_INT("contracted first", (int64_t)detail.lhs_contracting.items[0], 2);
    CHECK_INT("batch", (int64_t)detail.lhs_batch.items[0], 0);
    CHECK_STR("config", detail.backend_config, "{\"a\":[\"1\"]}");
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(proto),
        cmocka_unit_test(deep),
        cmocka_unit_test(details),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
