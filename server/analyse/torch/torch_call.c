/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the lists that tell the shapes of an op's inputs. Whatever does not fit makes the call one
 * without sound shapes: no cost is counted from it. */
#include "analyse/torch/torch_call.h"

#include <string.h>

#include "decode/json/json_number.h"
#include "decode/json/json_scan.h"

#define DIMENSION_MAX (INT64_C(1) << 48)

enum hlo_type torch_type_of(struct str word)
{
    static const struct {
        const char *word;
        enum hlo_type type;
    } types[] = {
        {"float", HLO_F32},
        {"c10::BFloat16", HLO_BF16},
        {"c10::Half", HLO_F16},
        {"double", HLO_F64},
        {"long", HLO_S64},
        {"long int", HLO_S64},
        {"int", HLO_S32},
        {"short", HLO_S16},
        {"short int", HLO_S16},
        {"signed char", HLO_S8},
        {"char", HLO_S8},
        {"unsigned char", HLO_U8},
        {"unsigned short", HLO_U16},
        {"unsigned int", HLO_U32},
        {"unsigned long", HLO_U64},
        {"bool", HLO_PRED},
        {"c10::complex<float>", HLO_C64},
        {"c10::complex<double>", HLO_C128},
        {"c10::Float8_e4m3fn", HLO_F8E4M3FN},
        {"c10::Float8_e4m3fnuz", HLO_F8E4M3FNUZ},
        {"c10::Float8_e5m2", HLO_F8E5M2},
        {"c10::Float8_e5m2fnuz", HLO_F8E5M2FNUZ},
        {"c10::Float8_e8m0fnu", HLO_F8E8M0FNU},
        {"c10::Float4_e2m1fn_x2", HLO_F4E2M1FN},
    };

    for (size_t i = 0; i < COUNT(types); i++)
        if (str_equal(word, str_of(types[i].word)))
            return types[i].type;
    return HLO_TYPE_NONE;
}

double torch_type_bytes(enum hlo_type type)
{
    switch (type) {
    case HLO_PRED:
    case HLO_S8:
    case HLO_U8:
    case HLO_F8E5M2:
    case HLO_F8E4M3FN:
    case HLO_F8E5M2FNUZ:
    case HLO_F8E4M3FNUZ:
    case HLO_F8E8M0FNU:
    case HLO_F4E2M1FN: /* two of them are one element of the tensor */
        return 1;
    case HLO_S16:
    case HLO_U16:
    case HLO_F16:
    case HLO_BF16:
        return 2;
    case HLO_S32:
    case HLO_U32:
    case HLO_F32:
        return 4;
    case HLO_S64:
    case HLO_U64:
    case HLO_F64:
    case HLO_C64:
        return 8;
    case HLO_C128:
        return 16;
    default:
        return 0;
    }
}

struct reading {
    struct arena *arena;
    struct torch_call *call;
};

static bool read_dimension(struct json *json, int64_t *ret)
{
    struct json_value value = json_value(json);
    struct arg number;

    if (value.kind != JSON_NUMBER || !number_read(value.text, &number) ||
        number.type != ARG_INT64 || (int64_t)number.bits < 0 ||
        (int64_t)number.bits > DIMENSION_MAX)
        return false;
    *ret = (int64_t)number.bits;
    return true;
}

/* "[16, 559]"; false for what is no list of sizes. */
static bool read_tensor(struct json_value value, struct torch_tensor *ret)
{
    struct json inside = json_inside(value, '[');
    bool first = true;

    *ret = (struct torch_tensor){.elements = 1};
    if (value.kind != JSON_ARRAY)
        return false;
    while (json_next_item(&inside, &first)) {
        if (ret->rank == TORCH_RANK_MAX || !read_dimension(&inside, &ret->dims[ret->rank]))
            return false;
        ret->elements *= (double)ret->dims[ret->rank++];
    }
    ret->distinct = ret->elements;
    return inside.state != JSON_BAD;
}

/* Is the first item of the list a list itself? */
static bool holds_lists(struct json_value value)
{
    struct json inside = json_inside(value, '[');
    bool first = true;

    return value.kind == JSON_ARRAY && json_next_item(&inside, &first) && json_peek(&inside) == '[';
}

static uint32_t count_items(struct json_value value)
{
    struct json inside = json_inside(value, '[');
    bool first = true;
    uint32_t count = 0;

    while (count < TORCH_LIST_MAX && json_next_item(&inside, &first)) {
        if (json_value(&inside).kind == JSON_NOTHING)
            break;
        count++;
    }
    return count;
}

static bool read_list(struct reading *reading, struct json_value value, struct torch_input *ret)
{
    uint32_t count = count_items(value);
    struct torch_tensor *tensors = arena_array(reading->arena, struct torch_tensor, count);
    struct json inside = json_inside(value, '[');
    bool first = true;

    for (uint32_t i = 0; i < count && json_next_item(&inside, &first); i++)
        if (!read_tensor(json_value(&inside), &tensors[i]))
            return false;
    ret->tensors = tensors;
    ret->count = count;
    ret->is_list = true;
    return true;
}

static bool read_dims(struct reading *reading, struct json_value value, struct torch_input *ret)
{
    if (holds_lists(value))
        return read_list(reading, value, ret);

    struct torch_tensor *tensor = arena_new(reading->arena, struct torch_tensor);

    ret->tensors = tensor;
    ret->count = 1;
    return read_tensor(value, tensor);
}

/* What is no tensor has no type of one. */
static void take_type(struct torch_input *input, struct json_value value)
{
    input->type = value.kind == JSON_STRING ? torch_type_of(value.text) : HLO_TYPE_NONE;
    if (input->is_list || input->count == 0)
        return;
    if (input->type == HLO_TYPE_NONE && input->tensors->rank == 0)
        input->count = 0;
}

static void take_value(struct reading *reading, struct torch_input *input, struct json_value value)
{
    char *room;

    if (value.kind != JSON_STRING)
        return;
    input->value = value.text;
    if (!value.escaped)
        return;
    room = arena_alloc(reading->arena, value.text.count + 1, 1);
    input->value = (struct str){room, json_unescape(value.text, room)};
}

/* A stride of 0 reads one element again and again. */
static void take_strides(struct torch_input *input, struct json_value value)
{
    struct torch_tensor *tensor = (struct torch_tensor *)(uintptr_t)input->tensors;
    struct json inside = json_inside(value, '[');
    bool first = true;

    if (value.kind != JSON_ARRAY || input->is_list || input->count != 1)
        return;
    tensor->distinct = 1;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        struct json_value stride =
            json_next_item(&inside, &first) ? json_value(&inside) : (struct json_value){0};

        if (stride.kind != JSON_NUMBER || !str_equal(stride.text, STR("0")))
            tensor->distinct *= (double)tensor->dims[i];
    }
}

enum list { LIST_DIMS, LIST_TYPES, LIST_STRIDES, LIST_VALUES };

static bool take_item(struct reading *reading, enum list list, struct torch_input *input,
                      struct json_value value)
{
    switch (list) {
    case LIST_DIMS:
        return read_dims(reading, value, input);
    case LIST_TYPES:
        take_type(input, value);
        return true;
    case LIST_STRIDES:
        take_strides(input, value);
        return true;
    default:
        take_value(reading, input, value);
        return true;
    }
}

/* Values stay spans of the copy, which the arena keeps. */
static struct json open_text(struct arena *arena, struct str text)
{
    char *room = arena_alloc(arena, text.count + JSON_PADDING, 1); /* zeroed */

    memcpy(room, text.at, text.count);
    return (struct json){.at = room, .end = room + text.count};
}

static bool read_items(struct reading *reading, enum list list, struct str text)
{
    struct torch_call *call = reading->call;
    struct json json = open_text(reading->arena, text);
    struct json_value whole = json_value(&json);
    struct json inside = json_inside(whole, '[');
    uint32_t at = 0, most = list == LIST_DIMS ? TORCH_INPUTS_MAX : call->count;

    if (whole.kind != JSON_ARRAY)
        return false;
    for (bool first = true; json_next_item(&inside, &first); at++) {
        struct json_value value = json_value(&inside);

        if (value.kind == JSON_NOTHING || (at == most && list == LIST_DIMS))
            return false;
        if (at < most && !take_item(reading, list, &call->inputs[at], value))
            return false;
    }
    if (list == LIST_DIMS)
        call->count = at;
    return inside.state != JSON_BAD;
}

void torch_call_read(const struct torch_texts *texts, struct arena *arena, struct torch_call *ret)
{
    struct reading reading = {.arena = arena, .call = ret};

    *ret = (struct torch_call){.has_shapes = texts->dims.count > 0};
    if (!ret->has_shapes)
        return;
    ret->is_sound =
        read_items(&reading, LIST_DIMS, texts->dims) &&
        (texts->types.count == 0 || read_items(&reading, LIST_TYPES, texts->types)) &&
        (texts->strides.count == 0 || read_items(&reading, LIST_STRIDES, texts->strides)) &&
        (texts->values.count == 0 || read_items(&reading, LIST_VALUES, texts->values));
}

const struct torch_tensor *torch_tensor_at(const struct torch_call *call, uint32_t index)
{
    if (index >= call->count || call->inputs[index].is_list || call->inputs[index].count != 1)
        return NULL;
    return call->inputs[index].tensors;
}

static bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

uint32_t torch_numbers_at(const struct torch_call *call, uint32_t index, int64_t *ret,
                          uint32_t most)
{
    struct str text = index < call->count ? call->inputs[index].value : STR("");
    uint32_t count = 0;

    for (size_t at = 0; at < text.count && count < most;) {
        size_t end = at;

        while (end < text.count && (is_digit(text.at[end]) || text.at[end] == '-'))
            end++;
        if (end > at && str_to_i64((struct str){text.at + at, end - at}, &ret[count]))
            count++;
        at = end + 1;
    }
    return count;
}

bool torch_bool_at(const struct torch_call *call, uint32_t index, bool *ret)
{
    struct str text = index < call->count ? call->inputs[index].value : STR("");

    *ret =
        str_equal(text, STR("True")) || str_equal(text, STR("true")) || str_equal(text, STR("1"));
    return text.count > 0;
}
