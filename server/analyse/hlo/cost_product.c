/* SPDX-License-Identifier: Apache-2.0 */
/* Dots and convolutions: two FLOPs for each product that is added. */
#include <math.h>

#include "analyse/hlo/cost_parts.h"

enum { POSITIONS_MAX = 1 << 22 };

double cost_dot_flops(const struct hlo_sizes *lhs, const struct hlo_sizes *result,
                      const struct hlo_list *contracting)
{
    double width = 1;

    for (uint32_t i = 0; i < contracting->count; i++)
        if (contracting->items[i] < lhs->rank)
            width *= (double)lhs->sizes[contracting->items[i]];
    return 2 * result->elements * width;
}

static int64_t size_at(const struct hlo_sizes *sizes, uint64_t dimension)
{
    return dimension < sizes->rank && sizes->sizes[dimension] < INT32_MAX
               ? (int64_t)sizes->sizes[dimension]
               : 0;
}

/* How many of the outputs o in [0, count) read inside the input: 0 <= o * stride + shift <
 * limit. */
static int64_t inside_count(int64_t count, int64_t stride, int64_t shift, int64_t limit)
{
    if (stride <= 0)
        return shift >= 0 && shift < limit ? count : 0;

    int64_t first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
    int64_t end = shift >= limit ? 0 : (limit - 1 - shift) / stride + 1;

    end = end > count ? count : end;
    return end > first ? end - first : 0;
}

/* Outputs that read a value of a dilated input, not one of the holes between: every `base` th. */
static int64_t dilated_count(int64_t count, const struct hlo_window_side *side, int64_t shift,
                             int64_t limit)
{
    int64_t found = 0;

    for (int64_t output = 0; output < count; output++) {
        int64_t at = output * side->stride + shift;

        found += at >= 0 && at % side->base_dilation == 0 && at / side->base_dilation < limit;
    }
    return found;
}

/* Pairs of a kernel's element and an output that meet inside the input along one dimension. */
static double positions(const struct hlo_window_side *side, int64_t kernel, int64_t output,
                        int64_t input)
{
    const int64_t far = INT32_MAX;
    double found = 0;

    if (side->stride > far || side->dilation > far || side->pad_low > far || side->pad_low < -far ||
        kernel > POSITIONS_MAX || side->stride < 0 || side->dilation < 0)
        return NAN;
    if (side->base_dilation > 1 && (double)kernel * (double)output > POSITIONS_MAX)
        return NAN;
    for (int64_t i = 0; i < kernel; i++) {
        int64_t shift = i * side->dilation - side->pad_low;

        found +=
            (double)(side->base_dilation > 1 ? dilated_count(output, side, shift, input)
                                             : inside_count(output, side->stride, shift, input));
    }
    return found;
}

double cost_convolution_flops(const struct hlo_detail *detail, const struct hlo_sizes *input,
                              const struct hlo_sizes *kernel, const struct hlo_sizes *output)
{
    double flops = 2;

    flops *= (double)(size_at(input, detail->input.feature) / (int64_t)detail->feature_groups);
    flops *= (double)size_at(output, detail->output.feature);
    flops *= (double)(size_at(input, detail->input.batch) / (int64_t)detail->batch_groups);
    for (uint32_t i = 0; i < detail->side_count && i < detail->kernel.spatial.count &&
                         i < detail->output.spatial.count && i < detail->input.spatial.count;
         i++)
        flops *= positions(&detail->sides[i], size_at(kernel, detail->kernel.spatial.items[i]),
                           size_at(output, detail->output.spatial.items[i]),
                           size_at(input, detail->input.spatial.items[i]));
    return flops;
}
