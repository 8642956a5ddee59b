/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a collective out of HLO text or out of an instruction of a module. Facts: XLA's printer
 * of HLO. */
#include "analyse/comm/collective_text.h"

#include "decode/hlo/hlo_word.h"

#define BYTES_MAX (UINT64_C(1) << 62)

static const struct {
    const char *word; /* of opcodes with "-", of JAX's primitives with "_" */
    enum collective_kind kind;
} kinds[] = {
    {"all-reduce-scatter", COLLECTIVE_REDUCE_SCATTER}, /* TPU's fusion of both */
    {"all-reduce", COLLECTIVE_ALL_REDUCE},
    {"all-gather", COLLECTIVE_ALL_GATHER},
    {"reduce-scatter", COLLECTIVE_REDUCE_SCATTER},
    {"ragged-all-to-all", COLLECTIVE_ALL_TO_ALL},
    {"all-to-all", COLLECTIVE_ALL_TO_ALL},
    {"collective-permute", COLLECTIVE_PERMUTE},
    {"collective-broadcast", COLLECTIVE_BROADCAST},
    {"cross-replica-sum", COLLECTIVE_ALL_REDUCE},
    {"psum-scatter", COLLECTIVE_REDUCE_SCATTER},
    {"psum", COLLECTIVE_ALL_REDUCE},
    {"pmean", COLLECTIVE_ALL_REDUCE},
    {"pmax", COLLECTIVE_ALL_REDUCE},
    {"pmin", COLLECTIVE_ALL_REDUCE},
    {"ppermute", COLLECTIVE_PERMUTE},
    {"send", COLLECTIVE_SEND},
    {"recv", COLLECTIVE_RECV},
};

const char *collective_kind_word(enum collective_kind kind)
{
    static const char *const words[COLLECTIVE_KINDS] = {
        [COLLECTIVE_ALL_REDUCE] = "all-reduce",
        [COLLECTIVE_ALL_GATHER] = "all-gather",
        [COLLECTIVE_REDUCE_SCATTER] = "reduce-scatter",
        [COLLECTIVE_ALL_TO_ALL] = "all-to-all",
        [COLLECTIVE_PERMUTE] = "collective-permute",
        [COLLECTIVE_BROADCAST] = "collective-broadcast",
        [COLLECTIVE_REDUCE] = "reduce",
        [COLLECTIVE_SEND] = "send",
        [COLLECTIVE_RECV] = "recv",
        [COLLECTIVE_SEND_RECV] = "send/recv",
        [COLLECTIVE_OTHER] = "other",
    };

    return kind < COLLECTIVE_KINDS ? words[kind] : "other";
}

/* "all_reduce" begins with "all-reduce" here; *ret is what follows. */
static bool begins_alike(struct str text, const char *word, struct str *ret)
{
    size_t count = strlen(word);

    if (text.count < count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (text.at[i] != word[i] && !(text.at[i] == '_' && word[i] == '-'))
            return false;
    *ret = str_skip(text, count);
    return true;
}

bool collective_word_read(struct str word, enum collective_kind *ret_kind,
                          enum collective_half *ret_half)
{
    struct str rest = {0};
    size_t at = 0;

    while (at < COUNT(kinds) && !begins_alike(word, kinds[at].word, &rest))
        at++;
    if (at == COUNT(kinds) || (rest.count > 0 && rest.at[0] >= 'a' && rest.at[0] <= 'z'))
        return false;
    *ret_kind = kinds[at].kind;
    *ret_half = begins_alike(rest, "-start", &rest)    ? HALF_START
                : begins_alike(rest, "-done", &rest)   ? HALF_DONE
                : begins_alike(rest, "-update", &rest) ? HALF_UPDATE
                                                       : HALF_WHOLE;
    /* A send begins a transfer that its send-done ends; so does a recv. */
    if (*ret_half == HALF_WHOLE && (*ret_kind == COLLECTIVE_SEND || *ret_kind == COLLECTIVE_RECV))
        *ret_half = HALF_START;
    return true;
}

/* Bits of an element; -1 for what is none. Words: XLA's primitive types. */
static int bits_of(struct str dtype)
{
    static const struct {
        const char *word;
        int bits;
    } types[] = {{"pred", 8},  {"s2", 2},     {"u2", 2},   {"s4", 4},     {"u4", 4},
                 {"s8", 8},    {"u8", 8},     {"s16", 16}, {"u16", 16},   {"s32", 32},
                 {"u32", 32},  {"s64", 64},   {"u64", 64}, {"f16", 16},   {"bf16", 16},
                 {"f32", 32},  {"f64", 64},   {"c64", 64}, {"c128", 128}, {"f4e2m1fn", 4},
                 {"token", 0}, {"opaque", 0}, {"s1", 1},   {"u1", 1}};

    for (size_t i = 0; i < COUNT(types); i++)
        if (str_equal(dtype, str_of(types[i].word)))
            return types[i].bits;
    return str_starts(dtype, STR("f8e")) ? 8 : -1;
}

/* "8,<=4": false for what is no size. */
static bool count_elements(struct str dimensions, uint64_t *ret)
{
    *ret = 1;
    while (dimensions.count > 0) {
        struct str one = hlo_trimmed(hlo_take_to(&dimensions, ","));
        uint64_t size;

        if (str_starts(one, STR("<=")))
            one = str_skip(one, 2);
        if (!str_to_u64(one, &size) || __builtin_mul_overflow(*ret, size, ret) || *ret > BYTES_MAX)
            return false;
    }
    return true;
}

static bool add_array(struct str shape, uint64_t *bytes, struct str *dtype)
{
    struct str word = hlo_trimmed(hlo_take_to(&shape, "["));
    uint64_t elements = 1, bits;
    int each;

    if (hlo_span_to(word, "{") < word.count) /* "token{...}" */
        word.count = hlo_span_to(word, "{");
    each = bits_of(word);
    if (each < 0)
        return false;
    if (each == 0)
        return true;
    if (!count_elements(hlo_take_to(&shape, "]"), &elements) ||
        __builtin_mul_overflow(elements, (uint64_t)each, &bits) ||
        __builtin_add_overflow(*bytes, bits / 8 + (bits % 8 != 0), bytes) || *bytes > BYTES_MAX)
        return false;
    if (dtype->count == 0)
        *dtype = word;
    return true;
}

/* "f32[8,4]{1,0}" or "(f32[8], (s8[2], u4[3]))", as HLO prints it; false: not a shape, or more than
 * 2^62 bytes. */
static bool add_shape(struct str shape, uint64_t *bytes, struct str *dtype, unsigned depth)
{
    shape = hlo_trimmed(shape);
    if (!str_starts(shape, STR("(")))
        return add_array(shape, bytes, dtype);
    shape = str_skip(shape, 1);
    shape.count = hlo_span_to(shape, ")");
    if (depth == HLO_DEPTH_MAX)
        return false;
    while (shape.count > 0)
        if (!add_shape(hlo_take_to(&shape, ","), bytes, dtype, depth + 1))
            return false;
    return true;
}

/* Where the shape in front of an operand's name ends; 0: there is none. */
static size_t shape_span(struct str operand)
{
    for (size_t at = operand.count; at > 0; at--)
        if (operand.at[at - 1] == ' ')
            return at - 1;
    return 0;
}

/* "f32[8] %p, f32[4] %q". */
static void read_operands(struct str operands, struct collective_text *ret)
{
    bool all = operands.count > 0;

    while (operands.count > 0) {
        struct str operand = hlo_trimmed(hlo_take_to(&operands, ","));
        size_t span = shape_span(operand);
        struct str shape = {operand.at, span};

        if (ret->operand.count == 0)
            ret->operand = hlo_bare_name(str_skip(operand, span));
        all &= span > 0 && add_shape(shape, &ret->operand_bytes, &ret->dtype, 0);
    }
    ret->has_bytes = all;
}

static void read_attributes(struct str attributes, struct arena *arena, struct collective_text *ret)
{
    while (attributes.count > 0) {
        struct str at = attributes, attribute = hlo_take_to(&attributes, ",");
        struct str key = hlo_trimmed(hlo_take_to(&attribute, "="));

        /* A mesh's groups go on behind a comma: their reader knows where they end. */
        at = str_skip(at, (size_t)(attribute.at - at.at));
        if (str_equal(key, STR("replica_groups")))
            ret->groups = replica_groups_read(at, arena);
        else if (str_equal(key, STR("source_target_pairs")))
            ret->groups = replica_pairs_read(at, arena);
    }
}

bool collective_text_read(struct str line, struct arena *arena, struct collective_text *ret)
{
    struct str name = hlo_trimmed(hlo_take_to(&line, "="));

    *ret = (struct collective_text){.kind = COLLECTIVE_OTHER};
    if (str_starts(name, STR("ROOT ")))
        name = str_skip(name, 5);
    line = hlo_trimmed(line);
    size_t span = hlo_span_to(line, " "); /* the shape; blanks in a tuple stand in brackets */
    line = hlo_trimmed(str_skip(line, span));
    size_t word = line.count == 0 ? 0 : hlo_span_to(line, "(");
    /* hlo_span_to counts the bracket as depth unless it is a stop. */
    if (word == 0 || word == line.count)
        return false;
    ret->name = hlo_bare_name(name);
    ret->opcode = (struct str){line.at, word};
    line = str_skip(line, word + 1);
    read_operands(hlo_take_to(&line, ")"), ret);
    if (!collective_word_read(ret->opcode, &ret->kind, &ret->half) &&
        !collective_word_read(ret->name, &ret->kind, &ret->half))
        return false;
    read_attributes(line, arena, ret);
    return true;
}

/* What async-start calls, or the instruction itself. */
static uint32_t meant_by(const struct hlo_module *module, uint32_t instruction)
{
    const struct hlo_instruction *at = &module->instructions[instruction];

    if (!str_equal(at->opcode, STR("async-start")) || at->called_count == 0 ||
        module->called[at->first_called] == HLO_NONE)
        return instruction;
    const struct hlo_computation *called = &module->computations[module->called[at->first_called]];
    for (uint32_t i = 0; i < called->count; i++)
        if (module->instructions[called->first + i].is_root)
            return called->first + i;
    return instruction;
}

enum { SHAPES_BYTES_MAX = 1 << 20 }; /* of one collective's operands, as text */

/* The shapes of a module's operands stand with what makes them. */
static void sum_operands(const struct hlo_module *module, uint32_t instruction,
                         struct collective_text *ret, struct arena *arena)
{
    const struct hlo_instruction *at = &module->instructions[instruction];
    bool all = at->operand_count > 0;
    size_t read = 0;

    ret->operand_bytes = 0;
    ret->dtype = (struct str){0};
    for (uint32_t i = 0; i < at->operand_count && all; i++) {
        uint32_t operand = module->operands[at->first_operand + i];
        bool is_typed = ret->dtype.count > 0;
        struct text shape = {0};

        if (operand != HLO_NONE)
            hlo_put_shape(&shape, module, module->instructions[operand].shape);
        read += shape.count;
        all &= operand != HLO_NONE && read <= SHAPES_BYTES_MAX &&
               add_shape(text_str(&shape), &ret->operand_bytes, &ret->dtype, 0);
        if (!is_typed && ret->dtype.count > 0)
            ret->dtype = str_copy(arena, ret->dtype);
        text_free(&shape);
    }
    ret->has_bytes = all;
    if (at->operand_count > 0 && module->operands[at->first_operand] != HLO_NONE)
        ret->operand = module->instructions[module->operands[at->first_operand]].name;
}

bool collective_instruction_read(const struct hlo_module *module, uint32_t instruction,
                                 struct arena *arena, struct collective_text *ret)
{
    uint32_t meant = meant_by(module, instruction);
    const struct hlo_instruction *at = &module->instructions[instruction];
    struct text line = {0};

    hlo_put_instruction(&line, module, meant);
    bool is_one = collective_text_read(str_copy(arena, text_str(&line)), arena, ret);
    text_free(&line);
    if (!is_one && !(collective_word_read(at->name, &ret->kind, &ret->half) &&
                     str_starts(at->opcode, STR("async-"))))
        return false;
    ret->name = at->name;
    ret->opcode = at->opcode;
    if (str_starts(at->opcode, STR("async-")))
        ret->half = str_equal(at->opcode, STR("async-start"))  ? HALF_START
                    : str_equal(at->opcode, STR("async-done")) ? HALF_DONE
                                                               : HALF_UPDATE;
    sum_operands(module, instruction, ret, arena);
    return true;
}

bool collective_size(enum collective_kind kind, uint64_t operand_bytes, uint32_t group_size,
                     uint64_t *ret)
{
    *ret = operand_bytes;
    if (kind != COLLECTIVE_ALL_GATHER)
        return true;
    return group_size > 0 && !__builtin_mul_overflow(operand_bytes, group_size, ret) &&
           *ret <= BYTES_MAX;
}

double collective_bus_factor(enum collective_kind kind, uint32_t group_size)
{
    double n = group_size;

    if (group_size == 0)
        return 0;
    switch (kind) {
    case COLLECTIVE_ALL_REDUCE:
        return 2 * (n - 1) / n;
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_ALL_TO_ALL:
        return (n - 1) / n;
    case COLLECTIVE_PERMUTE:
    case COLLECTIVE_BROADCAST:
    case COLLECTIVE_REDUCE:
    case COLLECTIVE_SEND:
    case COLLECTIVE_RECV:
    case COLLECTIVE_SEND_RECV:
        return 1;
    default:
        return 0;
    }
}
