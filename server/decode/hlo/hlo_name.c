/* SPDX-License-Identifier: Apache-2.0 */
/* Parses file names of XLA's dumps and XProf's copies. Facts: names as XLA and XProf write them. */
#include "decode/hlo/hlo_name.h"

static bool cut_end(struct str *text, const char *end)
{
    struct str suffix = str_of(end);

    if (text->count <= suffix.count || !str_ends(*text, suffix))
        return false;
    text->count -= suffix.count;
    return true;
}

static struct str without_suffixes(struct str name)
{
    static const char *const packings[] = {".gz", ".xz", ".zst"};
    static const char *const types[] = {".hlo.pb", ".hlo_proto.pb", ".pb", ".txt", ".pbtxt"};

    for (size_t i = 0; i < COUNT(packings); i++)
        if (cut_end(&name, packings[i]))
            break;
    for (size_t i = 0; i < COUNT(types); i++)
        if (cut_end(&name, types[i]))
            break;
    return name;
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Takes the digits in front. */
static bool take_number(struct str *text, uint64_t *ret)
{
    size_t count = 0;

    while (count < text->count && is_digit(text->at[count]))
        count++;
    if (!str_to_u64((struct str){.at = text->at, .count = count}, ret))
        return false;
    *text = str_skip(*text, count);
    return true;
}

static bool begins_stage(struct str text)
{
    static const char *const words[] = {"before_optimizations",
                                        "after_optimizations",
                                        "sm_",
                                        "gfx",
                                        "cpu_after",
                                        "gpu_after",
                                        "tpu_",
                                        "thunk_sequence",
                                        "autotune_results",
                                        "gpu_target_config",
                                        "ir-",
                                        "ptx",
                                        "original",
                                        "flattened",
                                        "llvm-module"};

    for (size_t i = 0; i < COUNT(words); i++)
        if (str_starts(text, str_of(words[i])))
            return true;
    for (size_t i = 0; i < 4; i++) /* "0001.spmd-partitioner" */
        if (i >= text.count || !is_digit(text.at[i]))
            return false;
    return text.count > 4 && text.at[4] == '.';
}

/* Where the module's name ends in "jit_step.before_optimizations". */
static size_t module_end(struct str text, struct str module)
{
    size_t first = text.count;

    if (module.count > 0 && str_starts(text, module) &&
        (text.count == module.count || text.at[module.count] == '.'))
        return module.count;
    if (begins_stage(text))
        return 0;
    for (size_t at = text.count; at > 0; at--) {
        if (text.at[at - 1] != '.')
            continue;
        first = at - 1;
    }
    for (size_t at = first; at < text.count; at++)
        if (text.at[at] == '.' && begins_stage(str_skip(text, at + 1)))
            return at;
    return first;
}

static enum program_stage stage_of(struct str name)
{
    if (name.count == 0)
        return STAGE_UNKNOWN;
    if (is_digit(name.at[0]))
        return STAGE_PASS;
    if (str_contains(name, STR("before_optimizations")))
        return STAGE_BEFORE;
    return str_contains(name, STR("after_optimizations")) ? STAGE_AFTER : STAGE_PASS;
}

/* "jit_step(13)" */
static void name_of_copy(struct str stem, struct hlo_name *ret)
{
    struct str digits;
    size_t at = stem.count;

    ret->module = stem;
    if (!str_ends(stem, STR(")")))
        return;
    while (at > 0 && stem.at[at - 1] != '(')
        at--;
    digits = (struct str){.at = stem.at + at, .count = stem.count - 1 - at};
    if (at == 0 || !str_to_u64(digits, &ret->number))
        return;
    ret->has_number = true;
    ret->module.count = at - 1;
    ret->stage = STAGE_AFTER; /* XProf keeps what ran */
}

struct hlo_name hlo_name_of(struct str file, struct str module)
{
    struct hlo_name ret = {.module = STR(""), .stage_name = STR("")};
    struct str stem = without_suffixes(file), rest = stem;

    if (str_starts(stem, STR("module_"))) {
        rest = str_skip(stem, 7);
        ret.has_number = take_number(&rest, &ret.number);
        ret.is_dump = ret.has_number && (rest.count == 0 || rest.at[0] == '.');
    }
    if (!ret.is_dump) {
        ret.has_number = false;
        name_of_copy(stem, &ret);
        return ret;
    }
    rest = str_skip(rest, rest.count > 0);
    size_t end = module_end(rest, module);
    ret.module = (struct str){.at = rest.at, .count = end};
    ret.stage_name = str_skip(rest, end < rest.count && rest.at[end] == '.' ? end + 1 : end);
    ret.stage = stage_of(ret.stage_name);
    return ret;
}
