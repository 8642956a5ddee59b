/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the lists that PyTorch's profiler writes into args of collectives. Facts: Kineto files. */
#include "analyse/comm/collective_torch.h"

uint64_t torch_element_bytes(struct str dtype)
{
    static const struct {
        const char *word;
        uint64_t bytes;
    } types[] = {{"float", 4},      {"double", 8},        {"long", 8},        {"long int", 8},
                 {"int", 4},        {"unsigned char", 1}, {"signed char", 1}, {"char", 1},
                 {"short", 2},      {"bool", 1},          {"c10::half", 2},   {"c10::bfloat16", 2},
                 {"half", 2},       {"bfloat16", 2},      {"byte", 1},        {"float8_e4m3fn", 1},
                 {"float8_e5m2", 1}};

    for (size_t i = 0; i < COUNT(types); i++) {
        bool same = dtype.count == strlen(types[i].word);

        for (size_t k = 0; same && k < dtype.count; k++)
            same = (dtype.at[k] | 0x20) == (types[i].word[k] | 0x20);
        if (same)
            return types[i].bytes;
    }
    return 0;
}

static struct str without_blanks(struct str text)
{
    while (text.count > 0 && text.at[0] == ' ')
        text = str_skip(text, 1);
    while (text.count > 0 && text.at[text.count - 1] == ' ')
        text.count--;
    return text;
}

/* What stands in the `index`-th list of "[[4, 8], [2], []]"; "" where there is none. */
static struct str list_at(struct str lists, unsigned index)
{
    lists = str_skip(lists, lists.count > 0);
    for (;; index--) {
        const char *open = lists.count == 0 ? NULL : memchr(lists.at, '[', lists.count);

        if (open == NULL)
            return (struct str){0};
        lists = str_skip(lists, (size_t)(open + 1 - lists.at));
        const char *close = lists.count == 0 ? NULL : memchr(lists.at, ']', lists.count);
        if (close == NULL)
            return (struct str){0};
        if (index == 0)
            return (struct str){lists.at, (size_t)(close - lists.at)};
        lists = str_skip(lists, (size_t)(close + 1 - lists.at));
    }
}

bool torch_elements(struct str lists, unsigned index, uint64_t *ret)
{
    struct str list = list_at(lists, index);

    *ret = 1;
    for (bool more = true; more;) {
        const char *comma = list.count == 0 ? NULL : memchr(list.at, ',', list.count);
        size_t count = comma == NULL ? list.count : (size_t)(comma - list.at);
        uint64_t number;

        if (!str_to_u64(without_blanks((struct str){list.at, count}), &number) ||
            __builtin_mul_overflow(*ret, number, ret))
            return false;
        more = comma != NULL;
        list = str_skip(list, count + more);
    }
    return true;
}

struct str torch_first(struct str list)
{
    const char *from = list.count == 0 ? NULL : memchr(list.at, '"', list.count);

    if (from == NULL)
        return (struct str){0};
    struct str rest = str_skip(list, (size_t)(from + 1 - list.at));
    const char *to = rest.count == 0 ? NULL : memchr(rest.at, '"', rest.count);
    return to == NULL ? (struct str){0} : (struct str){rest.at, (size_t)(to - rest.at)};
}

struct replica_groups torch_ranks(struct str ranks, struct arena *arena)
{
    struct text text = {0};
    struct replica_groups ret = {0};

    if (ranks.count > 2 && ranks.at[0] == '[' && ranks.at[ranks.count - 1] == ']' &&
        !str_contains(ranks, STR("..."))) {
        text_puts(&text, "{{");
        text_put(&text, ranks.at + 1, ranks.count - 2);
        text_puts(&text, "}}");
        ret = replica_groups_read(text_str(&text), arena);
    }
    text_free(&text);
    return ret;
}
