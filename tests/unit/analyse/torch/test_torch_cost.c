/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of PyTorch's ops by their recorded shapes. FLOPs of products, convolutions and attention
 * are those of torch.utils.flop_counter for such a call (tests/golden/torch_costs.py runs it);
 * bytes are counted by hand. */
#include "check.h"

#include <math.h>

#include "analyse/torch/torch_cost.h"

static struct op_cost cost_of(const char *name, const char *dims, const char *types,
                              const char *strides, const char *values)
{
    struct arena *arena = arena_create();
    struct torch_call *call = arena_new(arena, struct torch_call);
    struct torch_texts texts = {.dims = str_of(dims),
                                .types = str_of(types),
                                .strides = str_of(strides),
                                .values = str_of(values)};
    struct op_cost cost;

    torch_call_read(&texts, arena, call);
    torch_cost(str_of(name), call, &cost);
    arena_destroy(arena);
    return cost;
}

static double known(double value)
{
    return isnan(value) ? -1 : value;
}

static void counted(void **state)
{
    (void)state;
    const struct {
        const char *what, *name, *dims, *types, *strides, *values;
        double flops, bytes; /* -1 unknown */
    } rows[] = {
        {"product", "aten::mm", "[[7,5],[5,9]]", "[\"float\",\"float\"]", NULL, NULL, 630, 572},
        {"its type", "aten::mm", "[[7,5],[5,9]]", "[\"c10::BFloat16\",\"c10::BFloat16\"]", NULL,
         NULL, 630, 286},
        {"no type", "aten::mm", "[[7,5],[5,9]]", NULL, NULL, NULL, 630, -1},
        {"of an empty matrix", "aten::mm", "[[0,5],[5,9]]", "[\"float\",\"float\"]", NULL, NULL, 0,
         180},
        {"a row that is repeated is read once", "aten::mm", "[[6,5],[5,4]]",
         "[\"float\",\"float\"]", "[[0,1],[4,1]]", NULL, 240, 4 * (5 + 20 + 24)},
        {"bias", "aten::addmm", "[[9],[7,5],[5,9],[],[]]",
         "[\"float\",\"float\",\"float\",\"Scalar\",\"Scalar\"]", NULL,
         "[\"\",\"\",\"\",\"1\",\"1\"]", 630, 572},
        {"batches", "aten::bmm", "[[3,7,5],[3,5,9]]", "[\"float\",\"float\"]", NULL, NULL, 1890,
         1716},
        {"a vector", "aten::mv", "[[7,5],[5]]", "[\"float\",\"float\"]", NULL, NULL, 70,
         4 * (35 + 5 + 7)},
        {"linear", "aten::linear", "[[2,3,11],[13,11],[13]]", "[\"float\",\"float\",\"float\"]",
         NULL, NULL, 1716, 4 * (66 + 143 + 78)},
        {"FP8", "aten::_scaled_mm", "[[16,32],[32,64],[],[]]",
         "[\"c10::Float8_e4m3fn\",\"c10::Float8_e4m3fn\",\"float\",\"float\"]", NULL, NULL, 65536,
         512 + 2048 + 1024},
        {"convolution", "aten::convolution", "[[2,3,10,10],[6,1,3,3],[6],[],[],[],[],[],[]]",
         "[\"float\",\"float\",\"float\",\"ScalarList\",\"ScalarList\",\"ScalarList\",\"Scalar\","
         "\"ScalarList\",\"Scalar\"]",
         NULL, "[\"\",\"\",\"\",\"[1, 1]\",\"[1, 1]\",\"[1, 1]\",\"False\",\"[0, 0]\",\"3\"]",
         21600, 4 * (600 + 54 + 1200)},
        {"strided and dilated", "aten::cudnn_convolution",
         "[[2,4,11,11],[6,4,3,3],[],[],[],[],[],[],[]]", "[\"c10::Half\",\"c10::Half\"]", NULL,
         "[\"\",\"\",\"[2, 2]\",\"[2, 2]\",\"[2, 2]\",\"1\",\"False\",\"False\",\"True\"]",
         2.0 * 2 * 36 * 216, 2 * (968 + 216 + 432)},
        {"without values", "aten::cudnn_convolution", "[[2,4,11,11],[6,4,3,3],[],[],[],[]]",
         "[\"float\",\"float\"]", NULL, NULL, -1, -1},
        {"one gradient", "aten::convolution_backward",
         "[[2,6,10,10],[2,3,10,10],[6,1,3,3],[],[],[],[],[],[],[],[]]",
         "[\"float\",\"float\",\"float\"]", NULL,
         "[\"\",\"\",\"\",\"[6]\",\"[1, 1]\",\"[1, 1]\",\"[1, 1]\",\"False\",\"[0, 0]\",\"3\","
         "\"[False, True, True]\"]",
         21600, 4 * (1200 + 600 + 54)},
        {"attention", "aten::_scaled_dot_product_flash_attention",
         "[[2,4,16,8],[2,4,16,8],[2,4,16,8],[],[],[],[]]",
         "[\"float\",\"float\",\"float\",\"Scalar\",\"Scalar\"]", NULL,
         "[\"\",\"\",\"\",\"0.\",\"False\",\"False\",\"\"]", 65536, 4 * 4 * 1024},
        {"causal", "aten::_scaled_dot_product_flash_attention",
         "[[2,4,16,8],[2,4,16,8],[2,4,16,8],[],[],[],[]]", "[\"float\",\"float\",\"float\"]", NULL,
         "[\"\",\"\",\"\",\"0.\",\"True\",\"False\",\"\"]", 32768, 4 * 4 * 1024},
        {"shared keys, by token", "aten::_flash_attention_forward",
         "[[2,16,4,8],[2,24,2,8],[2,24,2,8],[],[],[],[],[],[],[],[],[],[],[],[]]",
         "[\"c10::Half\",\"c10::Half\",\"c10::Half\"]", NULL,
         "[\"\",\"\",\"\",\"\",\"\",\"16\",\"24\",\"0.\",\"False\",\"False\",\"\",\"\",\"\",\"\","
         "\"\"]",
         98304, 2 * (1024 + 768 + 768 + 1024)},
        {"lengths that are a tensor's", "aten::_flash_attention_forward",
         "[[32,4,8],[32,4,8],[32,4,8],[3],[3],[],[],[],[]]", "[\"c10::Half\"]", NULL, NULL, -1, -1},
        {"two that broadcast", "aten::add", "[[4,1],[3],[]]", "[\"float\",\"float\",\"Scalar\"]",
         NULL, NULL, 12, 16 + 12 + 48},
        {"in place", "aten::mul_", "[[4,3],[]]", "[\"c10::BFloat16\",\"double\"]", NULL, NULL, 12,
         24 + 8 + 24},
        {"a number is no array's type", "aten::mul", "[[4,3],[]]", "[\"c10::BFloat16\",\"double\"]",
         NULL, NULL, 12, 24 + 8 + 24},
        {"an output that is not made yet", "aten::pow", "[[4,3],[],[0]]",
         "[\"float\",\"Scalar\",\"float\"]", NULL, NULL, 12, 96},
        {"an output that is handed in", "aten::clamp_min", "[[4,3],[],[4,3]]",
         "[\"float\",\"Scalar\",\"float\"]", NULL, NULL, 12, 96},
        {"one behind two", "aten::div", "[[4,3],[4,3],[4,3]]", "[\"float\",\"float\",\"float\"]",
         NULL, NULL, 12, 144},
        {"a comparison", "aten::eq", "[[4,3],[]]", "[\"float\",\"Scalar\"]", NULL, NULL, 12,
         48 + 12},
        {"a copy that converts", "aten::copy_", "[[4,3],[4,3],[]]", "[\"float\",\"c10::Half\"]",
         NULL, NULL, 0, 72},
        {"one axis", "aten::mean", "[[4,3,5],[],[],[]]", "[\"float\",\"ScalarList\"]", NULL,
         "[\"\",\"[-1]\",\"True\",\"\"]", 60, 4 * (60 + 12)},
        {"all axes", "aten::sum", "[[4,3]]", "[\"float\"]", NULL, "[\"\"]", 12, 52},
        {"rows of a table", "aten::embedding", "[[1000,8],[2,3]]", "[\"float\",\"long int\"]", NULL,
         NULL, 0, 2 * 4 * 48 + 48},
        {"a list without a type", "aten::cat", "[[[5,8],[5,8]],[]]", "[\"TensorList\",\"Scalar\"]",
         NULL, NULL, 0, -1},
        {"an optimizer", "aten::_fused_adamw_", "[[[4,3],[3]],[[4,3],[3]]]",
         "[\"TensorList\",\"TensorList\"]", NULL, NULL, 14 * 15, -1},
        {"a view", "aten::transpose", "[[4,3],[],[]]", "[\"float\"]", NULL, NULL, 0, 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct op_cost got =
            cost_of(rows[i].name, rows[i].dims, rows[i].types, rows[i].strides, rows[i].values);

        CHECK_INT(rows[i].what, (int64_t)known(got.flops), (int64_t)rows[i].flops);
        CHECK_INT(rows[i].what, (int64_t)known(got.bytes), (int64_t)rows[i].bytes);
    }
}

static void unknown(void **state)
{
    (void)state;
    const struct {
        const char *what, *name, *dims;
        enum cost_rule rule;
    } rows[] = {
        {"an op that nobody counts", "triton_poi_fused_add_0", "[[100]]", COST_NO_FORMULA},
        {"nothing recorded", "aten::mm", NULL, COST_NO_SHAPES},
        {"too few inputs", "aten::mm", "[[7,5]]", COST_BAD_SHAPES},
        {"other inner sizes", "aten::mm", "[[7,5],[6,9]]", COST_BAD_SHAPES},
        {"no tensor", "aten::mm", "[[[7,5]],[5,9]]", COST_BAD_SHAPES},
        {"of other ranks", "aten::convolution", "[[2,3,9],[6,3,3,3]]", COST_BAD_SHAPES},
        {"negative", "aten::mm", "[[-7,5],[5,9]]", COST_BAD_SHAPES},
        {"2^63", "aten::mm", "[[9223372036854775808,5],[5,9]]", COST_BAD_SHAPES},
        {"too large", "aten::mm", "[[9223372036854775807,5],[5,9]]", COST_BAD_SHAPES},
        {"a fraction", "aten::mm", "[[7.5,5],[5,9]]", COST_BAD_SHAPES},
        {"nested too deep", "aten::cat", "[[[[5,8]]]]", COST_BAD_SHAPES},
        {"too many dimensions", "aten::relu", "[[1,1,1,1,1,1,1,1,1,1,1,1,1]]", COST_BAD_SHAPES},
        {"no list", "aten::mm", "{\"a\":[7,5]}", COST_BAD_SHAPES},
        {"cut", "aten::mm", "[[7,5],[5,", COST_BAD_SHAPES},
        {"cannot broadcast", "aten::add", "[[4],[3]]", COST_BAD_SHAPES},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct op_cost got = cost_of(rows[i].name, rows[i].dims, NULL, NULL, NULL);

        CHECK_INT(rows[i].what, got.flops_rule, rows[i].rule);
        CHECK(rows[i].what, isnan(got.flops));
    }
}

/* Whatever is cut off, no number comes from what is left over. */
static void prefixes(void **state)
{
    (void)state;
    static const char whole[] = "[[2,3,10,10],[6,1,3,3],[6],[],[],[],[],[],[]]";
    static const char values[] =
        "[\"\",\"\",\"\",\"[1, 1]\",\"[1, 1]\",\"[1, 1]\",\"False\",\"[0, 0]\",\"3\"]";
    char cut[sizeof values];

    for (size_t count = 1; count < sizeof whole - 1; count++) {
        memcpy(cut, whole, count);
        cut[count] = '\0';
        CHECK(cut, isnan(cost_of("aten::convolution", cut, NULL, NULL, values).flops));
    }
    for (size_t count = 1; count < sizeof values - 1; count++) {
        memcpy(cut, values, count);
        cut[count] = '\0';
        (void)cost_of("aten::convolution", whole, cut, cut, cut);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counted),
        cmocka_unit_test(unknown),
        cmocka_unit_test(prefixes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
