/* SPDX-License-Identifier: Apache-2.0 */
/* Which ops of PyTorch are counted, and how. Places are those of the op's schema
 * (native_functions.yaml). Add a line for an op; what it needs that no family has is a family. */
#include "analyse/torch/torch_parts.h"

/* `read` tensors at most are read; what lies behind them is an output (`out=`). */
#define EACH(name, read, flops, transcendentals)                                                   \
    {                                                                                              \
        name, TORCH_EACH, {read, -1, -1, -1}, flops, transcendentals, 0                            \
    }
#define TRUTH(name, read)                                                                          \
    {                                                                                              \
        name, TORCH_EACH, {read, -1, -1, -1}, 1, 0, TORCH_TRUTH                                    \
    }
#define LIKE(name, place, flops, transcendentals)                                                  \
    {                                                                                              \
        name, TORCH_EACH_OF, {place, -1, -1, -1}, flops, transcendentals, 0                        \
    }
#define SUM(name, flops)                                                                           \
    {                                                                                              \
        name, TORCH_REDUCTION, {-1, -1, -1, -1}, flops, 0, 0                                       \
    }
#define MOVE(name, family, first, second)                                                          \
    {                                                                                              \
        name, family, {first, second, -1, -1}, 0, 0, 0                                             \
    }
#define PRODUCT(name, left, right)                                                                 \
    {                                                                                              \
        name, TORCH_PRODUCT, {left, right, -1, -1}, 0, 0, 0                                        \
    }
#define CONVOLUTION(name, family, stride, padding, dilation, transposed)                           \
    {                                                                                              \
        name, family, {stride, padding, dilation, transposed}, 0, 0, 0                             \
    }
/* Where query, key and value begin, and where causal stands. */
#define ATTENTION(name, query, causal, flags)                                                      \
    {                                                                                              \
        name, TORCH_ATTENTION, {query, causal, -1, -1}, 0, 0, flags                                \
    }
#define ATTENTION_BY_TOKEN(name, query, causal, flags)                                             \
    {                                                                                              \
        name, TORCH_ATTENTION_BY_TOKEN, {query, causal, -1, -1}, 0, 0, flags                       \
    }
/* Lists read and written, and FLOPs an element. */
#define LISTS(name, reads, writes, flops)                                                          \
    {                                                                                              \
        name, TORCH_LISTS, {reads, writes, -1, -1}, flops, 0, 0                                    \
    }

static const struct torch_op ops[] = {
    PRODUCT("aten::mm", 0, 1),
    PRODUCT("aten::bmm", 0, 1),
    PRODUCT("aten::addmm", 1, 2),
    PRODUCT("aten::_addmm_activation", 1, 2),
    PRODUCT("aten::baddbmm", 1, 2),
    PRODUCT("aten::addbmm", 1, 2),
    PRODUCT("aten::matmul", 0, 1),
    PRODUCT("aten::mv", 0, 1),
    PRODUCT("aten::addmv", 1, 2),
    PRODUCT("aten::dot", 0, 1),
    PRODUCT("aten::vdot", 0, 1),
    PRODUCT("aten::_scaled_mm", 0, 1),
    PRODUCT("aten::_int_mm", 0, 1),
    PRODUCT("trtllm::cublas_scaled_mm", 0, 1),
    PRODUCT("_C::cutlass_scaled_mm", 1, 2),
    {"aten::linear", TORCH_LINEAR, {0, 1, -1, -1}, 0, 0, 0},
    {"aten::mkldnn_linear", TORCH_LINEAR, {0, 1, -1, -1}, 0, 0, 0},
    {"mkldnn::_linear_pointwise", TORCH_LINEAR, {0, 1, -1, -1}, 0, 0, 0},

    CONVOLUTION("aten::convolution", TORCH_CONVOLUTION, 3, 4, 5, 6),
    CONVOLUTION("aten::_convolution", TORCH_CONVOLUTION, 3, 4, 5, 6),
    CONVOLUTION("aten::convolution_overrideable", TORCH_CONVOLUTION, 3, 4, 5, 6),
    CONVOLUTION("aten::cudnn_convolution", TORCH_CONVOLUTION, 3, 2, 4, -1),
    CONVOLUTION("aten::cudnn_convolution_relu", TORCH_CONVOLUTION, 3, 4, 5, -1),
    CONVOLUTION("aten::cudnn_convolution_add_relu", TORCH_CONVOLUTION, 5, 6, 7, -1),
    CONVOLUTION("aten::cudnn_convolution_transpose", TORCH_CONVOLUTION, 4, 2, 5, -2),
    CONVOLUTION("aten::miopen_convolution", TORCH_CONVOLUTION, 4, 3, 5, -1),
    CONVOLUTION("aten::miopen_depthwise_convolution", TORCH_CONVOLUTION, 4, 3, 5, -1),
    CONVOLUTION("aten::miopen_convolution_relu", TORCH_CONVOLUTION, 3, 4, 5, -1),
    CONVOLUTION("aten::miopen_convolution_transpose", TORCH_CONVOLUTION, 5, 3, 6, -2),
    CONVOLUTION("aten::mkldnn_convolution", TORCH_CONVOLUTION, 4, 3, 5, -1),
    CONVOLUTION("aten::conv1d", TORCH_CONVOLUTION, 3, 4, 5, -1),
    CONVOLUTION("aten::conv2d", TORCH_CONVOLUTION, 3, 4, 5, -1),
    CONVOLUTION("aten::conv3d", TORCH_CONVOLUTION, 3, 4, 5, -1),
    CONVOLUTION("aten::_conv_depthwise2d", TORCH_CONVOLUTION, 4, 5, 6, -1),
    CONVOLUTION("aten::conv_depthwise3d", TORCH_CONVOLUTION, 4, 5, 6, -1),
    CONVOLUTION("aten::convolution_backward", TORCH_CONVOLVED, 4, 10, -1, 7),
    CONVOLUTION("aten::convolution_backward_overrideable", TORCH_CONVOLVED, 3, 9, -1, 6),
    {"aten::cudnn_convolution_backward_input", TORCH_CONVOLVED_BY, {1, 2, -1, -1}, 0, 0, 0},
    {"aten::miopen_convolution_backward_input", TORCH_CONVOLVED_BY, {1, 2, -1, -1}, 0, 0, 0},

    ATTENTION("aten::_scaled_dot_product_flash_attention", 0, 4, 0),
    ATTENTION("aten::_scaled_dot_product_flash_attention_for_cpu", 0, 4, 0),
    ATTENTION("aten::_scaled_dot_product_efficient_attention", 0, 6, 0),
    ATTENTION("aten::_scaled_dot_product_cudnn_attention", 0, 6, 0),
    ATTENTION("aten::_scaled_dot_product_fused_attention_overrideable", 0, 5, 0),
    ATTENTION("aten::scaled_dot_product_attention", 0, 5, 0),
    ATTENTION("aten::_scaled_dot_product_flash_attention_backward", 1, 11, TORCH_BACKWARD),
    ATTENTION("aten::_scaled_dot_product_flash_attention_for_cpu_backward", 1, 7, TORCH_BACKWARD),
    ATTENTION("aten::_scaled_dot_product_efficient_attention_backward", 1, 11, TORCH_BACKWARD),
    ATTENTION("aten::_scaled_dot_product_cudnn_attention_backward", 1, 13, TORCH_BACKWARD),
    ATTENTION_BY_TOKEN("aten::_flash_attention_forward", 0, 8, 0),
    ATTENTION_BY_TOKEN("aten::_flash_attention_backward", 1, 11, TORCH_BACKWARD),
    ATTENTION_BY_TOKEN("aten::_efficient_attention_forward", 0, -1, 0),
    ATTENTION_BY_TOKEN("aten::_efficient_attention_backward", 1, -1, TORCH_BACKWARD),
    ATTENTION_BY_TOKEN("flash_attn::_flash_attn_forward", 0, 5, 0),
    ATTENTION_BY_TOKEN("flash_attn::_flash_attn_backward", 1, 11, TORCH_BACKWARD),
    ATTENTION_BY_TOKEN("FlashAttnFunc", 0, 5, 0),

    EACH("aten::add", 2, 1, 0),
    EACH("aten::sub", 2, 1, 0),
    EACH("aten::rsub", 2, 1, 0),
    EACH("aten::mul", 2, 1, 0),
    EACH("aten::div", 2, 1, 0),
    EACH("aten::true_divide", 2, 1, 0),
    EACH("aten::floor_divide", 2, 2, 0),
    EACH("aten::remainder", 2, 1, 0),
    EACH("aten::fmod", 2, 1, 0),
    EACH("aten::neg", 1, 1, 0),
    EACH("aten::abs", 1, 1, 0),
    EACH("aten::square", 1, 1, 0),
    EACH("aten::reciprocal", 1, 1, 0),
    EACH("aten::sign", 1, 1, 0),
    EACH("aten::sgn", 1, 1, 0),
    EACH("aten::floor", 1, 1, 0),
    EACH("aten::ceil", 1, 1, 0),
    EACH("aten::round", 1, 1, 0),
    EACH("aten::trunc", 1, 1, 0),
    EACH("aten::clamp", 3, 2, 0),
    EACH("aten::clamp_min", 2, 1, 0),
    EACH("aten::clamp_max", 2, 1, 0),
    EACH("aten::maximum", 2, 1, 0),
    EACH("aten::minimum", 2, 1, 0),
    EACH("aten::relu", 1, 1, 0),
    EACH("aten::hardtanh", 1, 2, 0),
    EACH("aten::leaky_relu", 1, 2, 0),
    EACH("aten::where", 3, 1, 0),
    EACH("aten::masked_fill", 3, 1, 0),
    EACH("aten::addcmul", 3, 3, 0),
    EACH("aten::addcdiv", 3, 3, 0),
    EACH("aten::lerp", 3, 3, 0),
    EACH("aten::bitwise_and", 2, 1, 0),
    EACH("aten::bitwise_or", 2, 1, 0),
    EACH("aten::bitwise_xor", 2, 1, 0),
    EACH("aten::bitwise_not", 1, 1, 0),
    EACH("aten::__and__", 2, 1, 0),
    EACH("aten::__or__", 2, 1, 0),
    EACH("aten::__lshift__", 2, 1, 0),
    EACH("aten::__rshift__", 2, 1, 0),
    EACH("aten::tril", 1, 1, 0),
    EACH("aten::triu", 1, 1, 0),
    EACH("aten::pow", 2, 1, 0),
    EACH("aten::exp", 1, 0, 1),
    EACH("aten::exp2", 1, 0, 1),
    EACH("aten::expm1", 1, 0, 1),
    EACH("aten::log", 1, 0, 1),
    EACH("aten::log2", 1, 0, 1),
    EACH("aten::log10", 1, 0, 1),
    EACH("aten::log1p", 1, 0, 1),
    EACH("aten::sqrt", 1, 0, 1),
    EACH("aten::rsqrt", 1, 0, 1),
    EACH("aten::sin", 1, 0, 1),
    EACH("aten::cos", 1, 0, 1),
    EACH("aten::tan", 1, 0, 1),
    EACH("aten::tanh", 1, 0, 1),
    EACH("aten::erf", 1, 0, 1),
    EACH("aten::sigmoid", 1, 0, 1),
    EACH("aten::softplus", 1, 1, 2),
    EACH("aten::silu", 1, 1, 1),
    EACH("aten::gelu", 1, 4, 1),
    EACH("aten::elu", 1, 1, 1),
    EACH("aten::mish", 1, 1, 2),
    EACH("aten::hardswish", 1, 4, 0),
    EACH("aten::hardsigmoid", 1, 3, 0),
    EACH("aten::threshold_backward", 2, 1, 0),
    EACH("aten::sigmoid_backward", 2, 3, 0),
    EACH("aten::tanh_backward", 2, 3, 0),
    EACH("aten::silu_backward", 2, 5, 1),
    EACH("aten::gelu_backward", 2, 8, 2),
    EACH("aten::hardtanh_backward", 2, 2, 0),
    EACH("aten::leaky_relu_backward", 2, 2, 0),
    EACH("aten::native_dropout_backward", 2, 2, 0),
    EACH("aten::mse_loss_backward", 3, 3, 0),
    TRUTH("aten::eq", 2),
    TRUTH("aten::ne", 2),
    TRUTH("aten::lt", 2),
    TRUTH("aten::le", 2),
    TRUTH("aten::gt", 2),
    TRUTH("aten::ge", 2),
    TRUTH("aten::isnan", 1),
    TRUTH("aten::isinf", 1),
    TRUTH("aten::isfinite", 1),
    TRUTH("aten::logical_and", 2),
    TRUTH("aten::logical_or", 2),
    TRUTH("aten::logical_not", 1),
    LIKE("aten::native_dropout", 0, 2, 0),
    LIKE("aten::_softmax", 0, 4, 1),
    LIKE("aten::_log_softmax", 0, 4, 1),
    LIKE("aten::_softmax_backward_data", 0, 4, 0),
    LIKE("aten::_log_softmax_backward_data", 0, 3, 1),
    LIKE("aten::cumsum", 0, 1, 0),
    LIKE("aten::cumprod", 0, 1, 0),
    LIKE("aten::native_layer_norm", 0, 7, 0),
    LIKE("aten::native_batch_norm", 0, 7, 0),
    LIKE("aten::cudnn_batch_norm", 0, 7, 0),
    LIKE("aten::miopen_batch_norm", 0, 7, 0),
    LIKE("aten::_batch_norm_with_update", 0, 7, 0),
    LIKE("aten::native_group_norm", 0, 7, 0),
    LIKE("aten::_fused_rms_norm", 0, 4, 0),
    LIKE("aten::native_layer_norm_backward", 1, 14, 0),
    LIKE("aten::native_batch_norm_backward", 1, 14, 0),
    LIKE("aten::cudnn_batch_norm_backward", 0, 14, 0),
    LIKE("aten::miopen_batch_norm_backward", 0, 14, 0),
    LIKE("aten::batch_norm_backward", 1, 14, 0),
    LIKE("aten::native_group_norm_backward", 1, 14, 0),
    LIKE("aten::_fused_rms_norm_backward", 1, 10, 0),
    LIKE("aten::flip", 0, 0, 0),
    LIKE("aten::roll", 0, 0, 0),
    LIKE("aten::mse_loss", 0, 3, 0),

    SUM("aten::sum", 1),
    SUM("aten::nansum", 1),
    SUM("aten::mean", 1),
    SUM("aten::prod", 1),
    SUM("aten::max", 1),
    SUM("aten::min", 1),
    SUM("aten::amax", 1),
    SUM("aten::amin", 1),
    SUM("aten::aminmax", 2),
    SUM("aten::argmax", 1),
    SUM("aten::argmin", 1),
    SUM("aten::any", 1),
    SUM("aten::all", 1),
    SUM("aten::norm", 2),
    SUM("aten::linalg_vector_norm", 2),
    SUM("aten::var", 4),
    SUM("aten::std", 4),
    SUM("aten::var_mean", 4),
    SUM("aten::std_mean", 4),
    SUM("aten::logsumexp", 2),
    SUM("aten::count_nonzero", 1),

    MOVE("aten::copy_", TORCH_COPY, 0, 1),
    MOVE("aten::_to_copy", TORCH_EACH_OF, 0, -1),
    MOVE("aten::clone", TORCH_EACH_OF, 0, -1),
    MOVE("aten::fill_", TORCH_FILL, 0, -1),
    MOVE("aten::zero_", TORCH_FILL, 0, -1),
    MOVE("aten::normal_", TORCH_FILL, 0, -1),
    MOVE("aten::uniform_", TORCH_FILL, 0, -1),
    MOVE("aten::bernoulli_", TORCH_FILL, 0, -1),
    MOVE("aten::random_", TORCH_FILL, 0, -1),
    MOVE("aten::exponential_", TORCH_FILL, 0, -1),
    MOVE("aten::cat", TORCH_JOIN, 0, -1),
    MOVE("aten::_cat", TORCH_JOIN, 0, -1),
    MOVE("aten::stack", TORCH_JOIN, 0, -1),
    MOVE("aten::embedding", TORCH_GATHER, 0, 1),
    MOVE("aten::index_select", TORCH_GATHER, 0, 2),
    MOVE("aten::gather", TORCH_GATHER, 0, 2),
    MOVE("aten::embedding_dense_backward", TORCH_SCATTER, 0, 1),
    MOVE("aten::scatter_add_", TORCH_SCATTER, 3, 2),
    MOVE("aten::scatter_", TORCH_SCATTER, 3, 2),
    MOVE("aten::index_add_", TORCH_SCATTER, 3, 2),
    MOVE("aten::index_copy_", TORCH_SCATTER, 3, 2),
    MOVE("aten::_local_scalar_dense", TORCH_FILL, 0, -1),

    LISTS("aten::_fused_adam_", 4, 3, 12),
    LISTS("aten::_fused_adamw_", 4, 3, 14),
    LISTS("aten::_fused_sgd_", 3, 2, 5),
    LISTS("aten::_fused_adagrad_", 3, 2, 7),
    LISTS("aten::_foreach_add_", 2, 1, 1),
    LISTS("aten::_foreach_sub_", 2, 1, 1),
    LISTS("aten::_foreach_mul_", 1, 1, 1),
    LISTS("aten::_foreach_div_", 1, 1, 1),
    LISTS("aten::_foreach_add", 2, 1, 1),
    LISTS("aten::_foreach_sub", 2, 1, 1),
    LISTS("aten::_foreach_mul", 1, 1, 1),
    LISTS("aten::_foreach_div", 1, 1, 1),
    LISTS("aten::_foreach_neg", 1, 1, 1),
    LISTS("aten::_foreach_neg_", 1, 1, 1),
    LISTS("aten::_foreach_sqrt", 1, 1, 0),
    LISTS("aten::_foreach_sqrt_", 1, 1, 0),
    LISTS("aten::_foreach_reciprocal_", 1, 1, 1),
    LISTS("aten::_foreach_lerp_", 2, 1, 3),
    LISTS("aten::_foreach_addcmul_", 3, 1, 3),
    LISTS("aten::_foreach_addcdiv_", 3, 1, 3),
    LISTS("aten::_foreach_zero_", 0, 1, 0),
    LISTS("aten::_foreach_copy_", 1, 1, 0),
    LISTS("aten::_foreach_norm", 1, 0, 2),
    LISTS("aten::_amp_foreach_non_finite_check_and_unscale_", 1, 1, 2),

    MOVE("aten::view", TORCH_VIEW, -1, -1),
    MOVE("aten::as_strided", TORCH_VIEW, -1, -1),
    MOVE("aten::t", TORCH_VIEW, -1, -1),
    MOVE("aten::transpose", TORCH_VIEW, -1, -1),
    MOVE("aten::permute", TORCH_VIEW, -1, -1),
    MOVE("aten::expand", TORCH_VIEW, -1, -1),
    MOVE("aten::slice", TORCH_VIEW, -1, -1),
    MOVE("aten::select", TORCH_VIEW, -1, -1),
    MOVE("aten::unsqueeze", TORCH_VIEW, -1, -1),
    MOVE("aten::squeeze", TORCH_VIEW, -1, -1),
    MOVE("aten::detach", TORCH_VIEW, -1, -1),
    MOVE("aten::empty", TORCH_VIEW, -1, -1),
    MOVE("aten::empty_strided", TORCH_VIEW, -1, -1),
    MOVE("aten::empty_like", TORCH_VIEW, -1, -1),
};

static const struct torch_op *find(struct str name)
{
    for (size_t i = 0; i < COUNT(ops); i++)
        if (str_equal(name, str_of(ops[i].name)))
            return &ops[i];
    return NULL;
}

const struct torch_op *torch_op_of(struct str name, bool *ret_in_place)
{
    const struct torch_op *op = find(name);

    *ret_in_place = str_ends(name, STR("_")) && !str_ends(name, STR("__"));
    if (op == NULL && *ret_in_place)
        op = find((struct str){name.at, name.count - 1});
    return op;
}
