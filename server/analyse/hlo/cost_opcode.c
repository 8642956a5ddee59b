/* SPDX-License-Identifier: Apache-2.0 */
/* Opcodes by what they cost. */
#include "analyse/hlo/cost_parts.h"

static const struct {
    const char *opcode;
    enum cost_class class;
} opcodes[] = {
    {"fusion", COST_CLASS_FUSION},
    {"parameter", COST_CLASS_FREE},
    {"constant", COST_CLASS_FREE},
    {"get-tuple-element", COST_CLASS_FREE},
    {"bitcast", COST_CLASS_FREE},
    {"after-all", COST_CLASS_FREE},
    {"add-dependency", COST_CLASS_FREE},
    {"domain", COST_CLASS_FREE},
    {"opt-barrier", COST_CLASS_FREE},
    {"tuple", COST_CLASS_TUPLE},
    {"abs", COST_CLASS_ELEMENTWISE},
    {"add", COST_CLASS_ELEMENTWISE},
    {"and", COST_CLASS_ELEMENTWISE},
    {"bitcast-convert", COST_CLASS_ELEMENTWISE},
    {"ceil", COST_CLASS_ELEMENTWISE},
    {"clamp", COST_CLASS_ELEMENTWISE},
    {"count-leading-zeros", COST_CLASS_ELEMENTWISE},
    {"compare", COST_CLASS_ELEMENTWISE},
    {"complex", COST_CLASS_ELEMENTWISE},
    {"convert", COST_CLASS_ELEMENTWISE},
    {"divide", COST_CLASS_ELEMENTWISE},
    {"floor", COST_CLASS_ELEMENTWISE},
    {"imag", COST_CLASS_ELEMENTWISE},
    {"is-finite", COST_CLASS_ELEMENTWISE},
    {"maximum", COST_CLASS_ELEMENTWISE},
    {"minimum", COST_CLASS_ELEMENTWISE},
    {"multiply", COST_CLASS_ELEMENTWISE},
    {"negate", COST_CLASS_ELEMENTWISE},
    {"not", COST_CLASS_ELEMENTWISE},
    {"or", COST_CLASS_ELEMENTWISE},
    {"popcnt", COST_CLASS_ELEMENTWISE},
    {"real", COST_CLASS_ELEMENTWISE},
    {"reduce-precision", COST_CLASS_ELEMENTWISE},
    {"remainder", COST_CLASS_ELEMENTWISE},
    {"round-nearest-afz", COST_CLASS_ELEMENTWISE},
    {"round-nearest-even", COST_CLASS_ELEMENTWISE},
    {"select", COST_CLASS_ELEMENTWISE},
    {"shift-left", COST_CLASS_ELEMENTWISE},
    {"shift-right-arithmetic", COST_CLASS_ELEMENTWISE},
    {"shift-right-logical", COST_CLASS_ELEMENTWISE},
    {"sign", COST_CLASS_ELEMENTWISE},
    {"stochastic-convert", COST_CLASS_ELEMENTWISE},
    {"subtract", COST_CLASS_ELEMENTWISE},
    {"xor", COST_CLASS_ELEMENTWISE},
    {"atan2", COST_CLASS_TRANSCENDENTAL},
    {"cbrt", COST_CLASS_TRANSCENDENTAL},
    {"cosine", COST_CLASS_TRANSCENDENTAL},
    {"erf", COST_CLASS_TRANSCENDENTAL},
    {"exponential", COST_CLASS_TRANSCENDENTAL},
    {"exponential-minus-one", COST_CLASS_TRANSCENDENTAL},
    {"log", COST_CLASS_TRANSCENDENTAL},
    {"log-plus-one", COST_CLASS_TRANSCENDENTAL},
    {"logistic", COST_CLASS_TRANSCENDENTAL},
    {"power", COST_CLASS_TRANSCENDENTAL},
    {"rsqrt", COST_CLASS_TRANSCENDENTAL},
    {"sine", COST_CLASS_TRANSCENDENTAL},
    {"sqrt", COST_CLASS_TRANSCENDENTAL},
    {"tan", COST_CLASS_TRANSCENDENTAL},
    {"tanh", COST_CLASS_TRANSCENDENTAL},
    {"slice", COST_CLASS_SLICE},
    {"dynamic-slice", COST_CLASS_DYNAMIC_SLICE},
    {"dynamic-update-slice", COST_CLASS_UPDATE_SLICE},
    {"gather", COST_CLASS_GATHER},
    {"scatter", COST_CLASS_SCATTER},
    {"dot", COST_CLASS_DOT},
    {"convolution", COST_CLASS_CONVOLUTION},
    {"reduce", COST_CLASS_REDUCE},
    {"reduce-window", COST_CLASS_REDUCE_WINDOW},
    {"select-and-scatter", COST_CLASS_SELECT_AND_SCATTER},
    {"map", COST_CLASS_MAP},
    {"sort", COST_CLASS_SORT},
    {"fft", COST_CLASS_TRANSFORM},
    {"triangular-solve", COST_CLASS_TRIANGULAR_SOLVE},
    {"cholesky", COST_CLASS_CHOLESKY},
    {"rng", COST_CLASS_RANDOM},
    {"rng-bit-generator", COST_CLASS_RANDOM},
    {"call", COST_CLASS_CALL},
    {"while", COST_CLASS_WHILE},
    {"conditional", COST_CLASS_CONDITIONAL},
    {"custom-call", COST_CLASS_CUSTOM_CALL},
    {"all-reduce", COST_CLASS_ALL_REDUCE},
    {"all-reduce-start", COST_CLASS_ALL_REDUCE},
    {"all-gather-start", COST_CLASS_TRANSFER},
    {"collective-permute-start", COST_CLASS_TRANSFER},
    {"copy-start", COST_CLASS_TRANSFER},
    {"send", COST_CLASS_SEND},
    {"recv", COST_CLASS_SEND},
};

enum cost_class cost_class_of(struct str opcode)
{
    for (size_t i = 0; i < COUNT(opcodes); i++)
        if (str_equal(opcode, str_of(opcodes[i].opcode)))
            return opcodes[i].class;
    if (str_ends(opcode, STR("-start")))
        return COST_CLASS_ASYNC;
    if (str_ends(opcode, STR("-done")) || str_ends(opcode, STR("-update")))
        return COST_CLASS_AWAITED;
    return COST_CLASS_OTHER;
}
