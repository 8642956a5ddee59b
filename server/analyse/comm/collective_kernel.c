/* SPDX-License-Identifier: Apache-2.0 */
/* Splits the name of a kernel of NCCL or RCCL into kind, op, type, algorithm and protocol.
 * Facts: names in profiles and the sources of NCCL 2.7 to 2.2x. */
#include "analyse/comm/collective_kernel.h"

struct word {
    const char *word; /* lower case */
    int meaning;
};

/* The first that the name holds, without regard to case and "_"; longer words first. */
static const struct word kind_words[] = {
    {"allreduce", COLLECTIVE_ALL_REDUCE},
    {"reducescatter", COLLECTIVE_REDUCE_SCATTER},
    {"allgather", COLLECTIVE_ALL_GATHER},
    {"alltoall", COLLECTIVE_ALL_TO_ALL},
    {"sendrecv", COLLECTIVE_SEND_RECV},
    {"broadcast", COLLECTIVE_BROADCAST},
    {"collectivepermute", COLLECTIVE_PERMUTE},
    {"coalesced", COLLECTIVE_SEND_RECV},
    {"reduce", COLLECTIVE_REDUCE},
    {"gather", COLLECTIVE_SEND_RECV},
    {"scatter", COLLECTIVE_SEND_RECV},
    {"send", COLLECTIVE_SEND},
    {"recv", COLLECTIVE_RECV},
    {"barrier", COLLECTIVE_ALL_REDUCE},
};

/* Parts of a name between "_". */
static const struct {
    const char *part, *word;
} algorithms[] = {{"RING", "ring"},
                  {"TREE", "tree"},
                  {"NVLS", "NVLS"},
                  {"COLLNET", "CollNet"},
                  {"PAT", "PAT"}},
  protocols[] = {{"LL", "LL"}, {"LL128", "LL128"}, {"SIMPLE", "simple"}},
  dtypes[] = {{"f32", "f32"},       {"float", "f32"},
              {"f16", "f16"},       {"half", "f16"},
              {"bf16", "bf16"},     {"f64", "f64"},
              {"double", "f64"},    {"i8", "s8"},
              {"int8", "s8"},       {"u8", "u8"},
              {"uint8", "u8"},      {"i32", "s32"},
              {"int32", "s32"},     {"u32", "u32"},
              {"uint32", "u32"},    {"i64", "s64"},
              {"int64", "s64"},     {"u64", "u64"},
              {"uint64", "u64"},    {"f8e4m3", "f8e4m3fn"},
              {"f8e5m2", "f8e5m2"}, {"__nv_bfloat16", "bf16"}};

/* Does the word stand at `at`, "_" left out of the name? */
static bool stands_at(struct str name, size_t at, const char *word)
{
    for (; *word != '\0'; at++) {
        if (at >= name.count)
            return false;
        if (name.at[at] == '_')
            continue;
        if (ascii_lower(name.at[at]) != *word)
            return false;
        word++;
    }
    return true;
}

static bool find_word(struct str name, const struct word *words, size_t count, int *ret)
{
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0; at < name.count; at++)
            if (name.at[at] != '_' && stands_at(name, at, words[i].word)) {
                *ret = words[i].meaning;
                return true;
            }
    return false;
}

static struct str before(struct str text, char stop)
{
    const char *at = text.count == 0 ? NULL : memchr(text.at, stop, text.count);

    return at == NULL ? text : (struct str){text.at, (size_t)(at - text.at)};
}

static void read_part(struct str part, struct collective_kernel *ret)
{
    for (size_t i = 0; i < COUNT(algorithms); i++)
        if (ret->algorithm.count == 0 && str_equal(part, str_of(algorithms[i].part)))
            ret->algorithm = str_of(algorithms[i].word);
    for (size_t i = 0; i < COUNT(protocols); i++)
        if (str_equal(part, str_of(protocols[i].part)))
            ret->protocol = str_of(protocols[i].word);
    for (size_t i = 0; i < COUNT(dtypes); i++)
        if (ret->dtype.count == 0 && str_equal(part, str_of(dtypes[i].part)))
            ret->dtype = str_of(dtypes[i].word);
}

bool collective_kernel_read(struct str name, struct collective_kernel *ret)
{
    int meaning = COLLECTIVE_OTHER;

    *ret = (struct collective_kernel){.kind = COLLECTIVE_OTHER};
    name = before(name, '(');
    if (!(str_starts(name, STR("nccl")) || str_starts(name, STR("rccl")) ||
          str_contains(name, STR("ncclKernel")) || str_contains(name, STR("ncclDevKernel"))))
        return false;
    find_word(name, kind_words, COUNT(kind_words), &meaning);
    ret->kind = (enum collective_kind)meaning;
    while (name.count > 0) {
        struct str part = before(name, '_');

        read_part(part, ret);
        name = str_skip(name, part.count < name.count ? part.count + 1 : part.count);
    }
    return true;
}

bool collective_call_read(struct str name, enum collective_kind *ret)
{
    int meaning = COLLECTIVE_OTHER;

    if (!find_word(name, kind_words, COUNT(kind_words), &meaning))
        return false;
    *ret = (enum collective_kind)meaning;
    return true;
}
