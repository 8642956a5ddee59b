/* SPDX-License-Identifier: Apache-2.0 */
/* XProf's words for what an HLO instruction does.
 *
 *   fusion                  "loop fusion", "input fusion", ... by its kind
 *   transpose copy reshape  "data formatting"
 *   elementwise opcodes     "non-fusion elementwise", unless inside a fusion
 *   custom-call             "custom-call TARGET": whom it calls matters
 *   anything else           the opcode
 */
#include "decode/hlo/hlo_text.h"

static const char *const formatting = " transpose copy reshape dynamic-reshape ";
static const char *const elementwise =
    " abs add and atan2 bitcast-convert cbrt ceil clamp clz compare complex convert cosine"
    " count-leading-zeros divide erf exponential exponential-minus-one floor imag is-finite log"
    " log-plus-one logistic map maximum minimum multiply negate not or popcnt power real"
    " reduce-precision remainder round-nearest-afz round-nearest-even rsqrt select shift-left"
    " shift-right-arithmetic shift-right-logical sign sine sqrt stochastic-convert subtract tan"
    " tanh xor ";

/* A word of a list that has a blank on either side of each. */
static bool is_word_of(struct str word, const char *list)
{
    char spaced[64];

    if (word.count == 0 || word.count + 3 > sizeof spaced ||
        memchr(word.at, ' ', word.count) != NULL)
        return false;
    spaced[0] = ' ';
    memcpy(spaced + 1, word.at, word.count);
    memcpy(spaced + 1 + word.count, " ", 2);
    return strstr(list, spaced) != NULL;
}

static struct str fusion_word(struct str kind)
{
    if (str_equal(kind, STR("kLoop")))
        return STR("loop fusion");
    if (str_equal(kind, STR("kInput")))
        return STR("input fusion");
    if (str_equal(kind, STR("kOutput")))
        return STR("output fusion");
    return str_equal(kind, STR("kCustom")) ? STR("custom fusion") : STR("fusion");
}

name_id hlo_category(struct sink *sink, const struct hlo_text *text, bool is_fused)
{
    if (str_equal(text->opcode, STR("fusion")))
        return sink_name(sink, fusion_word(text->fusion_kind));
    if (is_word_of(text->opcode, formatting))
        return sink_name(sink, STR("data formatting"));
    if (!is_fused && is_word_of(text->opcode, elementwise))
        return sink_name(sink, STR("non-fusion elementwise"));
    if (!str_equal(text->opcode, STR("custom-call")) || text->target.count == 0)
        return sink_name(sink, text->opcode);

    struct text words = {0};
    text_puts(&words, "custom-call ");
    text_put(&words, text->target.at, text->target.count);
    name_id name = sink_name(sink, text_str(&words));
    text_free(&words);
    return name;
}
