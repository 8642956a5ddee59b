/* SPDX-License-Identifier: Apache-2.0 */
/* The table of file names: which promise a profile, a module or a table, and which never do. */
#include "discover/hint.h"

#define NAME(literal)                                                                              \
    {                                                                                              \
        (literal), sizeof(literal) - 1                                                             \
    }

static const struct {
    struct str suffix;
    enum hint_kind kind;
    bool certain;
} suffixes[] = {
    /* longer ones before those they end in */
    {NAME(".xplane.pb"), HINT_XPLANE, true},
    {NAME(".hlo_proto.pb"), HINT_HLO, false},
    {NAME(".hlo.pb"), HINT_HLO, false},
    {NAME(".pt.trace.json"), HINT_TRACE_JSON, true},
    {NAME(".trace.json"), HINT_TRACE_JSON, true},
    {NAME(".memory.prof"), HINT_PPROF, true},
    {NAME(".pprof"), HINT_PPROF, true},
    {NAME(".prof"), HINT_PPROF, true},
    {NAME(".heap"), HINT_PPROF, false},
    {NAME(".cpu"), HINT_PPROF, false},
    {NAME(".nsys-rep"), HINT_NSYS, true},
    {NAME(".qdrep"), HINT_NSYS, true},
    {NAME(".ncu-rep"), HINT_ANY, true},
    {NAME(".rpd"), HINT_ANY, true},
    {NAME(".otf2"), HINT_ANY, true},
    {NAME("_results.db"), HINT_ANY, false}, /* rocprofv3 */
    {NAME(".pickle"), HINT_ANY, false},
    {NAME(".pkl"), HINT_ANY, false},
    {NAME(".sqlite"), HINT_NSYS, false},
    {NAME(".jvs"), HINT_SPOOL, true},
    {NAME(".jvz"), HINT_BUNDLE, true},
    {NAME(".pftrace"), HINT_PERFETTO, true},
    {NAME(".perfetto-trace"), HINT_PERFETTO, true},
    {NAME(".perfetto"), HINT_PERFETTO, true},
    {NAME(".perfetto_trace"), HINT_PERFETTO, true},
    {NAME(".trace"), HINT_ANY, false},
    {NAME(".json"), HINT_JSON, false},
    {NAME(".pb"), HINT_ANY, false},
    {NAME(".zip"), HINT_ANY, false},
};

/* Names that every checkpoint, dump or source tree is full of. */
static const struct str plain_names[] = {
    NAME("jview.json"),
    NAME("saved_model.pb"),
    NAME("keras_metadata.pb"),
    NAME("fingerprint.pb"),
    NAME("topology.pb"),
    NAME("compile_options.pb"),
    NAME("package.json"),
    NAME("package-lock.json"),
    NAME("tsconfig.json"),
    NAME("config.json"),
    NAME("tokenizer.json"),
    NAME("tokenizer_config.json"),
    NAME("special_tokens_map.json"),
    NAME("vocab.json"),
    NAME("added_tokens.json"),
    NAME("generation_config.json"),
    NAME("preprocessor_config.json"),
};
static const struct str plain_suffixes[] = {
    NAME(".index.json"),
    NAME(".memory-usage-report.pb"),
    NAME("-memory-usage-report.pb"),
    NAME(".schema.json"),
};
static const struct str plain_directories[] = {
    NAME("node_modules"),
    NAME("__pycache__"),
    NAME("site-packages"),
};

static bool is_plain(struct str name)
{
    for (size_t i = 0; i < COUNT(plain_names); i++)
        if (str_equal(name, plain_names[i]))
            return true;
    for (size_t i = 0; i < COUNT(plain_suffixes); i++)
        if (str_ends(name, plain_suffixes[i]))
            return true;
    return false;
}

static bool cut_suffix(struct str *name, struct str end)
{
    if (name->count <= end.count || !str_ends(*name, end))
        return false;
    name->count -= end.count;
    return true;
}

static bool has_dot(struct str name)
{
    return memchr(name.at, '.', name.count) != NULL;
}

/* What XLA writes of a module, and is read. */
static const struct str module_suffixes[] = {NAME(".hlo.pb"), NAME(".txt"), NAME(".mlir"),
                                             NAME(".pbtxt"),  NAME(".ll"),  NAME(".ptx")};

bool hint_is_module(struct str name)
{
    struct str number = str_skip(name, 7);

    return str_starts(name, STR("module_")) && number.count > 0 && number.at[0] >= '0' &&
           number.at[0] <= '9';
}

/* Tables of nsys-jax: those of metadata tell its directory from any other. */
static enum hint_kind table_kind(struct str stem)
{
    static const struct str metadata[] = {NAME("thread-metadata.parquet"),
                                          NAME("device-metadata.parquet"),
                                          NAME("system-metadata.parquet")};

    for (size_t i = 0; i < COUNT(metadata); i++)
        if (str_equal(stem, metadata[i]))
            return HINT_NSYS_JAX;
    if (str_equal(stem, STR("trace.parquet")) || str_equal(stem, STR("files.parquet")) ||
        (str_starts(stem, STR("report_")) && str_ends(stem, STR(".csv"))))
        return HINT_TABLE;
    return HINT_NONE;
}

/* By the whole name; false when it says nothing. */
static bool hint_of_name(struct hint *hint)
{
    if (hint_is_module(hint->stem)) {
        for (size_t i = 0; i < COUNT(module_suffixes) && hint->kind == HINT_NONE; i++) {
            hint->is_text_form = str_equal(module_suffixes[i], STR(".txt"));
            if (cut_suffix(&hint->stem, module_suffixes[i]))
                hint->kind = HINT_HLO;
        }
        hint->is_text_form &= hint->kind == HINT_HLO;
        return true;
    }
    if (str_equal(hint->stem, STR("module.mlir"))) {
        hint->kind = HINT_HLO;
        return true;
    }
    hint->kind = table_kind(hint->stem);
    return hint->kind != HINT_NONE;
}

bool hint_skips_directory(struct str name)
{
    if (name.count > 0 && name.at[0] == '.')
        return true;
    for (size_t i = 0; i < COUNT(plain_directories); i++)
        if (str_equal(name, plain_directories[i]))
            return true;
    return false;
}

/* "h.xplane.pb.zip": an archive of that one file, by its name. */
static bool is_zipped(struct str name, struct hint *ret)
{
    if (!cut_suffix(&name, STR(".zip")) || str_ends(name, STR(".zip")))
        return false;
    *ret = hint_of(name);
    return ret->certain;
}

struct hint hint_of(struct str name)
{
    struct hint hint = {.kind = HINT_NONE, .stem = name}, zipped;

    if (name.count == 0 || name.at[0] == '.' || is_plain(name))
        return hint;
    if (is_zipped(name, &zipped))
        return zipped;
    bool packed = cut_suffix(&hint.stem, STR(".gz")) || cut_suffix(&hint.stem, STR(".zst")) ||
                  cut_suffix(&hint.stem, STR(".xz"));

    if (hint_of_name(&hint))
        return hint;
    for (size_t i = 0; i < COUNT(suffixes); i++) {
        if (!cut_suffix(&hint.stem, suffixes[i].suffix))
            continue;
        hint.kind = suffixes[i].kind;
        hint.certain = suffixes[i].certain;
        if (hint.kind == HINT_JSON && str_ends(hint.stem, STR("trace"))) { /* "perfetto_trace" */
            hint.kind = HINT_TRACE_JSON;
            hint.certain = str_equal(hint.stem, STR("perfetto_trace"));
        }
        if (hint.kind == HINT_ANY && str_ends(hint.stem, STR("snapshot"))) /* of PyTorch's memory */
            hint.certain = str_equal(suffixes[i].suffix, STR(".pickle"));
        return hint;
    }
    if (packed && !has_dot(hint.stem)) /* "simple_trace.gz" */
        hint.kind = HINT_ANY;
    return hint;
}
