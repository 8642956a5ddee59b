/* SPDX-License-Identifier: Apache-2.0 */
/* Ops of two runs in words: "name scope opcode shape leaves[ fingerprint]", "_" for nothing; each
 * letter of the leaves is one thing computed. What is matched with what: "a=b", "a+b=c" as a group,
 * "-a" gone, "+b" new, each with its rule. */
#include "check.h"

#include <stdio.h>

#include "analyse/compare/match.h"

enum { WORDS = 6, OPS_MAX = 16 };

struct made_ops {
    struct match_op items[OPS_MAX];
    uint64_t leaves[OPS_MAX][64];
    uint32_t count;
};

static struct str word_of(const char *word)
{
    return strcmp(word, "_") == 0 ? STR("") : str_of(word);
}

static void make_op(struct made_ops *made, const char *words, struct arena *arena)
{
    char at[WORDS][64] = {"_", "_", "_", "_", "_", "_"};
    struct match_op *op = &made->items[made->count];
    uint64_t *leaves = made->leaves[made->count++];

    sscanf(words, "%63s %63s %63s %63s %63s %63s", at[0], at[1], at[2], at[3], at[4], at[5]);
    *op = (struct match_op){.module = STR("jit_f"),
                            .name = str_copy(arena, word_of(at[0])),
                            .scope = str_copy(arena, word_of(at[1])),
                            .opcode = str_copy(arena, word_of(at[2])),
                            .shape = str_copy(arena, word_of(at[3])),
                            .leaves = leaves,
                            .fingerprint = (uint64_t)word_of(at[5]).count};
    for (struct str leaf = word_of(at[4]); op->leaf_count < leaf.count; op->leaf_count++)
        leaves[op->leaf_count] = (uint64_t)leaf.at[op->leaf_count];
    op->structure = op->opcode.count > 0 ? 1 : 0;
}

static void make_ops(struct made_ops *made, const char *const *lines, struct arena *arena)
{
    made->count = 0;
    for (uint32_t i = 0; i < OPS_MAX && lines[i] != NULL; i++)
        make_op(made, lines[i], arena);
}

static void put_names(struct text *to, const struct made_ops *made, const uint32_t *at,
                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        text_putf(to, "%s%.*s", i > 0 ? "+" : "", STR_ARG(made->items[at[i]].name));
}

static void put_match(struct text *to, const struct match *match, const struct made_ops *a,
                      const struct made_ops *b)
{
    text_puts(to, to->count > 0 ? " " : "");
    text_puts(to, match->b_count == 0 ? "-" : match->a_count == 0 ? "+" : "");
    put_names(to, a, match->a, match->a_count);
    text_puts(to, match->how == MATCH_NONE ? "" : "=");
    put_names(to, b, match->b, match->b_count);
    if (match->how != MATCH_NONE)
        text_putf(to, ":%s", match_how_word(match->how));
}

static void matches(void **state)
{
    static const struct {
        const char *what;
        const char *a[OPS_MAX], *b[OPS_MAX], *want;
    } rows[] = {
        {"the same program",
         {"fusion.1 f/x fusion s ab p", "fusion.2 f/y fusion s cd p"},
         {"fusion.1 f/x fusion s ab p", "fusion.2 f/y fusion s cd p"},
         "fusion.1=fusion.1:program fusion.2=fusion.2:program"},
        {"numbers changed places",
         {"fusion.1 f/x fusion s ab", "fusion.2 f/y fusion s cd"},
         {"fusion.1 f/y fusion s cd", "fusion.2 f/x fusion s ab"},
         "fusion.1=fusion.2:structure fusion.2=fusion.1:structure"},
        {"a layer was added",
         {"dot.1 f/l0 dot s a", "dot.2 f/l1 dot s b"},
         {"dot.1 f/l0 dot s a", "dot.2 f/l1 dot s b", "dot.3 f/l2 dot s c"},
         "dot.1=dot.1:structure dot.2=dot.2:structure +dot.3"},
        {"another dtype",
         {"dot.1 f/l0 dot f32[8] a", "fusion.2 f/l0/n fusion f32[8] bc"},
         {"dot.4 f/l0 dot bf16[8] a", "fusion.1 f/l0/n fusion bf16[8] bc"},
         "dot.1=dot.4:content fusion.2=fusion.1:content"},
        {"two fusions became one, in the scope of one of them",
         {"fusion.1 f/x fusion s ab", "fusion.2 f/y fusion s cd"},
         {"fusion.7 f/y fusion s abcd"},
         "fusion.1+fusion.2=fusion.7:regrouped"},
        {"a fusion was split",
         {"fusion.1 f/x fusion s abcd"},
         {"fusion.7 f/y fusion s ab", "fusion.8 f/x fusion s cd"},
         "fusion.1=fusion.7+fusion.8:regrouped"},
        {"an op was fused into its user",
         {"dot.1 f/x dot s a", "fusion.2 f/y fusion s bc"},
         {"fusion.9 f/y fusion s abc"},
         "dot.1+fusion.2=fusion.9:regrouped"},
        {"one copy in a scope became two",
         {"copy.1 f/x copy s a"},
         {"copy.1 f/x copy s a", "copy.5 f/x copy s a"},
         "copy.1=copy.1+copy.5:structure"},
        {"of two that look alike, those in order",
         {"copy.1 f/x copy s a", "copy.2 f/x copy s a"},
         {"copy.8 f/x copy s a", "copy.9 f/x copy s a"},
         "copy.1=copy.8:structure copy.2=copy.9:structure"},
        {"two of a scope that differ in shape only keep theirs",
         {"copy.1 f/x copy s1 a", "copy.2 f/x copy s2 a"},
         {"copy.8 f/x copy s2 a", "copy.9 f/x copy s1 a"},
         "copy.1=copy.9:structure copy.2=copy.8:structure"},
        {"without a scope, by stem",
         {"copy.1 _ copy s1 _"},
         {"copy.8 _ copy s2 _"},
         "copy.1=copy.8:stem"},
        {"fusion.1 and fusion.1 have nothing in common",
         {"fusion.1 f/x/m fusion s ab"},
         {"fusion.1 f/y/m fusion s cd"},
         "-fusion.1 +fusion.1"},
        {"little in common is nothing: no chain of neighbours",
         {"fusion.1 f/x/m fusion s abcd"},
         {"fusion.1 f/y/m fusion s defg", "fusion.2 f/x/m fusion s abcx"},
         "fusion.1=fusion.2:regrouped +fusion.1"},
        {"one part of a layer, computed otherwise",
         {"dot.1 f/x/dot dot s a", "dot.2 f/y/dot dot s b"},
         {"fusion.1 f/x/add fusion s cd", "fusion.2 f/x/mul fusion s ef"},
         "dot.1=fusion.1+fusion.2:place -dot.2"},
        {"no HLO: names, then kernels without their tiles",
         {"ampere_sgemm _ _ _ _", "k<64,32>(int) _ _ _ _"},
         {"k<128,32>(int) _ _ _ _", "ampere_sgemm _ _ _ _"},
         "ampere_sgemm=ampere_sgemm:name k<64,32>(int)=k<128,32>(int):kernel"},
        {"compiled once more for another shape",
         {"dot.1 f/l0 dot s8 a p", "dot.2 f/l1 dot s8 b p"},
         {"dot.1 f/l0 dot s8 a p", "dot.2 f/l1 dot s8 b p", "dot.7 f/l0 dot s9 a",
          "dot.8 f/l2 dot s9 c"},
         "dot.1=dot.1+dot.7:content dot.2=dot.2:program +dot.8"},
        {"nothing on one side", {"dot.1 f dot s a"}, {NULL}, "-dot.1"},
        {"nothing at all", {NULL}, {NULL}, ""},
    };
    (void)state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct made_ops a, b;
        struct match *found;
        struct text text = {0};

        make_ops(&a, rows[i].a, arena);
        make_ops(&b, rows[i].b, arena);
        uint32_t count = match_ops(a.items, a.count, b.items, b.count, arena, &found);
        text_puts(&text, "");
        for (uint32_t k = 0; k < count; k++)
            put_match(&text, &found[k], &a, &b);
        CHECK_STR(rows[i].what, text_str(&text), rows[i].want);
        text_free(&text);
        arena_destroy(arena);
    }
}

static uint32_t next_random(uint32_t *seed)
{
    return *seed = *seed * 1664525u + 1013904223u;
}

/* Whatever the ops are: each stands in one match, and b against a is a against b the other way
 * round. */
static void each_once(void **state)
{
    (void)state;
    for (uint32_t seed = 1, round = 0; round < 3000; round++) {
        struct arena *arena = arena_create();
        struct made_ops sides[2] = {0};
        struct match *there, *back;
        uint32_t seen[2][OPS_MAX] = {0}, paired[2] = {0};

        for (int side = 0; side < 2; side++) {
            for (uint32_t i = next_random(&seed) >> 28; i > 0; i--) {
                char words[64];
                uint32_t bits = next_random(&seed) >> 12;

                snprintf(words, sizeof words, "f.%u %s %s s%u %.*s", bits & 3,
                         bits & 4 ? "f/x" : "_", bits & 8 ? "fusion" : "_", bits >> 4 & 1,
                         (int)(bits >> 5 & 3), "abc" + (bits >> 7 & 1));
                make_op(&sides[side], words, arena);
            }
        }
        uint32_t count = match_ops(sides[0].items, sides[0].count, sides[1].items, sides[1].count,
                                   arena, &there);
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t k = 0; k < there[i].a_count; k++)
                seen[0][there[i].a[k]]++;
            for (uint32_t k = 0; k < there[i].b_count; k++)
                seen[1][there[i].b[k]]++;
            paired[0] += there[i].how != MATCH_NONE;
        }
        for (int side = 0; side < 2; side++)
            for (uint32_t i = 0; i < sides[side].count; i++)
                CHECK_INT("each stands in one match", seen[side][i], 1);
        count =
            match_ops(sides[1].items, sides[1].count, sides[0].items, sides[0].count, arena, &back);
        for (uint32_t i = 0; i < count; i++)
            paired[1] += back[i].how != MATCH_NONE;
        CHECK_INT("the other way round", paired[1], paired[0]);
        arena_destroy(arena);
    }
}

static void kernels(void **state)
{
    static const struct {
        const char *name, *stem;
    } rows[] = {
        {"void cutlass::Kernel<gemm<float, 3> >(Params)", "cutlass::Kernel"},
        {"ampere_sgemm_128x64", "ampere_sgemm_128x64"},
        {"at::native::(anonymous namespace)::f<int>(int)", "at::native::::f"},
        {"unbalanced<int", "unbalanced<int"},
        {"a->b", "a->b"},
        {"<>", "<>"},
        {"", ""},
    };
    struct arena *arena = arena_create();
    (void)state;

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_STR(rows[i].name, kernel_stem(str_of(rows[i].name), arena), rows[i].stem);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches),
        cmocka_unit_test(each_once),
        cmocka_unit_test(kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
