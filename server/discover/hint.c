#include "discover/hint.h"

static const struct {
    const char *suffix;
    enum hint_kind kind;
    bool certain;
} suffixes[] = {
    /* longer ones before those they end in */
    {".xplane.pb", HINT_XPLANE, true},
    {".hlo_proto.pb", HINT_HLO, false},
    {".hlo.pb", HINT_HLO, false},
    {".pt.trace.json", HINT_TRACE_JSON, true},
    {".trace.json", HINT_TRACE_JSON, true},
    {".memory.prof", HINT_PPROF, true},
    {".pprof", HINT_PPROF, true},
    {".prof", HINT_PPROF, true},
    {".heap", HINT_PPROF, false},
    {".cpu", HINT_PPROF, false},
    {".nsys-rep", HINT_NSYS, true},
    {".qdrep", HINT_NSYS, true},
    {".ncu-rep", HINT_ANY, true},
    {".rpd", HINT_ANY, true},
    {".otf2", HINT_ANY, true},
    {"_results.db", HINT_ANY, false}, /* rocprofv3 */
    {".sqlite", HINT_NSYS, false},
    {".jvs", HINT_SPOOL, true},
    {".jvz", HINT_BUNDLE, true},
    {".pftrace", HINT_PERFETTO, true},
    {".perfetto-trace", HINT_PERFETTO, true},
    {".perfetto", HINT_PERFETTO, true},
    {".perfetto_trace", HINT_PERFETTO, true},
    {".trace", HINT_ANY, false},
    {".json", HINT_JSON, false},
    {".pb", HINT_ANY, false},
    {".zip", HINT_ANY, false},
};

/* Names that every checkpoint, dump or source tree is full of. */
static const char *const plain_names[] = {
    "jview.json",
    "saved_model.pb",
    "keras_metadata.pb",
    "fingerprint.pb",
    "topology.pb",
    "compile_options.pb",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.json",
    "added_tokens.json",
    "generation_config.json",
    "preprocessor_config.json",
};
static const char *const plain_suffixes[] = {
    ".index.json",
    ".memory-usage-report.pb",
    "-memory-usage-report.pb",
    ".schema.json",
};
static const char *const plain_directories[] = {
    "node_modules",
    "__pycache__",
    "site-packages",
};

static bool is_plain(struct str name)
{
    for (size_t i = 0; i < COUNT(plain_names); i++)
        if (str_equal(name, str_of(plain_names[i])))
            return true;
    for (size_t i = 0; i < COUNT(plain_suffixes); i++)
        if (str_ends(name, str_of(plain_suffixes[i])))
            return true;
    return false;
}

static bool cut_suffix(struct str *name, const char *suffix)
{
    struct str end = str_of(suffix);

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
static const char *const module_suffixes[] = {".hlo.pb", ".txt", ".mlir", ".pbtxt", ".ll", ".ptx"};

bool hint_is_module(struct str name)
{
    struct str number = str_skip(name, 7);

    return str_starts(name, STR("module_")) && number.count > 0 && number.at[0] >= '0' &&
           number.at[0] <= '9';
}

/* Tables of nsys-jax: those of metadata tell its directory from any other. */
static enum hint_kind table_kind(struct str stem)
{
    static const char *const metadata[] = {"thread-metadata.parquet", "device-metadata.parquet",
                                           "system-metadata.parquet"};

    for (size_t i = 0; i < COUNT(metadata); i++)
        if (str_equal(stem, str_of(metadata[i])))
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
            hint->is_text_form = strcmp(module_suffixes[i], ".txt") == 0;
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
        if (str_equal(name, str_of(plain_directories[i])))
            return true;
    return false;
}

/* "h.xplane.pb.zip": an archive of that one file, by its name. */
static bool is_zipped(struct str name, struct hint *ret)
{
    if (!cut_suffix(&name, ".zip") || str_ends(name, STR(".zip")))
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
    bool packed = cut_suffix(&hint.stem, ".gz") || cut_suffix(&hint.stem, ".zst") ||
                  cut_suffix(&hint.stem, ".xz");

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
        return hint;
    }
    if (packed && !has_dot(hint.stem)) /* "simple_trace.gz" */
        hint.kind = HINT_ANY;
    return hint;
}
