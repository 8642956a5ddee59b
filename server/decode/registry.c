/* SPDX-License-Identifier: Apache-2.0 */
/* Every format that is met in profile directories, told by content.
 *
 * The table is asked from top to bottom; the first that recognises the content names it. Magic
 * numbers come first, then JSON and text, then protobuf messages, which only their shape tells.
 */
#include "base/pack/archive.h"
#include "decode/decode.h"
#include "decode/foreign.h"
#include "decode/json/json_kinds.h"
#include "decode/pickle/pickle.h"

struct format {
    const char *name;
    bool (*is)(const struct input *input);
    const struct shape *shape; /* of a protobuf message, instead of `is` */
    const char *reason; /* why it is not read and what to do instead; NULL: see json_kinds.h */
    bool is_recording;
};

static bool head_starts(const struct input *input, struct bytes magic)
{
    return input->head.count >= magic.count && memcmp(input->head.at, magic.at, magic.count) == 0;
}

static struct str head_text(const struct input *input, size_t limit)
{
    return (struct str){
        .at = (const char *)input->head.at,
        .count = input->head.count < limit ? input->head.count : limit,
    };
}

static bool is_empty(const struct input *input)
{
    return input->bytes.count == 0;
}

bool decode_is_xprof_cache(struct str name)
{
    static const char *const suffixes[] = {".op_stats_v2.pb",
                                           ".flat_op_stats_v2.pb",
                                           ".dcn_collective_stats.pb",
                                           ".smart_suggestion.pb",
                                           ".SSTABLE",
                                           "cache_version.txt",
                                           "NO_MODULE.hlo_proto.pb"};

    for (size_t i = 0; i < COUNT(suffixes); i++)
        if (str_ends(name, str_of(suffixes[i])))
            return true;
    return false;
}

bool decode_is_tool_output(struct str name)
{
    static const char *const suffixes[] = {".kernel_stats.pb", ".overview_page.pb",
                                           ".input_pipeline.pb", ".tensorflow_stats.pb",
                                           ".memory_profile.json.gz"};

    for (size_t i = 0; i < COUNT(suffixes); i++)
        if (str_ends(name, str_of(suffixes[i])))
            return true;
    return false;
}

/* Messages without anything that tells them from others, and empty ones: the name has to. */
static bool is_xprof_cache(const struct input *input)
{
    return decode_is_xprof_cache(input->name);
}

static bool is_empty_cache(const struct input *input)
{
    return is_empty(input) && is_xprof_cache(input);
}

static bool is_damaged_packing(const struct input *input)
{
    return input->packing != PACKING_NONE && input->head.count == 0;
}

static bool is_sqlite(const struct input *input)
{
    return head_starts(input, BYTES("SQLite format 3\0"));
}

/* Its first page holds the beginning of the list of tables. */
static bool is_rocpd(const struct input *input)
{
    return is_sqlite(input) && (str_contains(head_text(input, SIZE_MAX), STR("rocpd_info_")) ||
                                str_contains(head_text(input, SIZE_MAX), STR("rocpd_region")));
}

static bool is_rpd(const struct input *input)
{
    return is_sqlite(input) && str_contains(head_text(input, SIZE_MAX), STR("rocpd_op"));
}

static bool is_nsys_report(const struct input *input)
{
    return head_starts(input, BYTES("NVIDIA Tegra Profiler Report")) ||
           head_starts(input, BYTES("QDSTRM"));
}

/* A chunk begins with 3 and its byte order; that is too little without the name. */
static bool is_otf2(const struct input *input)
{
    return (head_starts(input, BYTES("\x03#")) || head_starts(input, BYTES("\x03"
                                                                           "B"))) &&
           str_ends(input->name, STR(".otf2"));
}

static bool is_parquet(const struct input *input)
{
    return head_starts(input, BYTES("PAR1"));
}

static bool is_ncu_report(const struct input *input)
{
    return head_starts(input, BYTES("NVR\0"));
}

static bool is_zip(const struct input *input)
{
    return head_starts(input, BYTES("PK\x03\x04")) || head_starts(input, BYTES("PK\x05\x06"));
}

static enum status open_zip(const struct input *input)
{
    struct arena *arena = arena_create();
    struct archive archive;
    struct error err = {0};
    enum status status = archive_open(input->bytes, arena, &archive, &err);

    archive_close(&archive);
    arena_destroy(arena);
    return status;
}

static bool is_damaged_zip(const struct input *input)
{
    enum status status = is_zip(input) ? open_zip(input) : OK;

    return status == ERR_TRUNCATED || status == ERR_FORMAT;
}

static bool is_odd_zip(const struct input *input)
{
    return is_zip(input) && open_zip(input) != OK;
}

static bool is_riegeli(const struct input *input)
{
    return head_starts(input, BYTES("\x83\xaf\x70\xd1\x0d\x88\x4a\x3f"));
}

/* A LevelDB table ends with its magic. */
static bool is_sstable(const struct input *input)
{
    static const uint8_t magic[] = {0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb};

    return input->packing == PACKING_NONE && input->bytes.count >= sizeof magic &&
           memcmp(input->bytes.at + input->bytes.count - sizeof magic, magic, sizeof magic) == 0;
}

/* JSON whose letters are two bytes each, with a mark of their order or without. */
static bool is_utf16_json(const struct input *input)
{
    const uint8_t *at = input->head.at;
    size_t count = input->head.count, first = 0, low;

    if (count < 8)
        return false;
    if ((at[0] == 0xff && at[1] == 0xfe) || (at[0] == 0xfe && at[1] == 0xff))
        first = 2;
    low = at[first] == 0 ? 1 : 0;
    for (; first + 1 < count; first += 2) {
        uint8_t letter = at[first + low];

        if (at[first + 1 - low] != 0)
            return false;
        if (strchr(" \t\r\n", letter) == NULL)
            return letter == '{' || letter == '[';
        if (letter == 0)
            return false;
    }
    return false;
}

/* Records of: length (8 bytes), its sum (4 bytes), an Event whose first one names the version. */
static bool is_tfevents(const struct input *input)
{
    return str_contains(head_text(input, 64), STR("brain.Event:")) && input->head.count > 12 &&
           input->head.at[2] == 0 && input->head.at[7] == 0;
}

/* Words of 8 bytes: 0, 3, 0, sampling period, 0. */
static bool is_gperftools(const struct input *input)
{
    uint64_t words[5];

    if (input->head.count < sizeof words)
        return false;
    memcpy(words, input->head.at, sizeof words);
    return words[0] == 0 && words[1] == 3 && words[2] == 0 && words[3] != 0 && words[4] == 0;
}

static bool is_gperftools_heap(const struct input *input)
{
    return head_starts(input, BYTES("heap profile: "));
}

static struct str skip_blanks(struct str text)
{
    while (text.count > 0 &&
           (text.at[0] == ' ' || text.at[0] == '\t' || text.at[0] == '\n' || text.at[0] == '\r'))
        text = str_skip(text, 1);
    return text;
}

static bool is_text(const struct input *input)
{
    for (size_t index = 0; index < input->head.count; index++) {
        uint8_t byte = input->head.at[index];
        if (byte == 0x7f || (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r' &&
                             byte != '\f' && byte != 0x1b))
            return false;
    }
    return true;
}

static bool is_json(const struct input *input)
{
    struct str text = skip_blanks(head_text(input, SIZE_MAX));

    return text.count > 0 && (text.at[0] == '{' || text.at[0] == '[') && is_text(input);
}

/* A trace says what it is in its first member, so this one ended before it could. */
static bool is_cut_json(const struct input *input)
{
    struct str text = head_text(input, SIZE_MAX);

    if (input->packing != PACKING_NONE || text.count < input->bytes.count || !is_json(input))
        return false;
    while (strchr(" \t\r\n", text.at[text.count - 1]) != NULL)
        text.count--;
    return text.at[text.count - 1] != '}' && text.at[text.count - 1] != ']';
}

/* Too short for any format; "{}" and "[" are told as JSON. */
static bool is_stub(const struct input *input)
{
    return input->bytes.count < 4 && input->packing == PACKING_NONE && !is_json(input) &&
           !is_xprof_cache(input);
}

static bool is_json_profile(const struct input *input)
{
    return is_json(input) &&
           json_kind_is_profile(head_text(input, SIZE_MAX), path_base(input->name));
}

/* TensorBoard writes it beside a profile, XProf answers with it. */
static bool is_memory_profile_json(const struct input *input)
{
    return str_starts(skip_blanks(head_text(input, SIZE_MAX)),
                      STR("{\"memoryProfilePerAllocator\""));
}

/* Binary in which every byte above 127 became U+FFFD: control characters between them. */
static bool is_mangled(const struct input *input)
{
    struct str rest = head_text(input, SIZE_MAX);
    size_t replaced = 0;

    for (size_t index = 0; index + 3 <= rest.count; index++)
        replaced += memcmp(rest.at + index, "\xef\xbf\xbd", 3) == 0;
    return replaced >= 16 && replaced > rest.count / 256 && !is_text(input);
}

static bool is_packed_again(const struct input *input)
{
    return input->packing != PACKING_NONE &&
           (packing_of(input->head) != PACKING_NONE || is_zip(input));
}

static bool is_tar(const struct input *input)
{
    return input->head.count > 262 && memcmp(input->head.at + 257, "ustar", 5) == 0;
}

/* Of several files, one of them a profile by its name or place. */
static bool is_profile_zip(const struct input *input)
{
    static const char *const suffixes[] = {".xplane.pb", ".trace.json", ".trace.json.gz",
                                           ".nsys-rep", ".pftrace"};
    struct arena *arena = arena_create();
    struct archive archive;
    struct error err = {0};
    bool found = false;

    if (is_zip(input) && archive_open(input->bytes, arena, &archive, &err) == OK) {
        for (uint32_t i = 0; i < archive.count && !found; i++)
            for (size_t k = 0; k < COUNT(suffixes) && !found; k++)
                found = str_ends(archive.entries[i].name, str_of(suffixes[k]));
        archive_close(&archive);
    }
    arena_destroy(arena);
    return found;
}

/* `nsys stats`' table of NVTX ranges, which nsys-jax keeps beside its table of projected ones. */
static bool is_jax_report(const struct input *input)
{
    return str_starts(head_text(input, SIZE_MAX), STR("Start (ns),End (ns),Duration (ns),"));
}

static bool is_pickle(const struct input *input)
{
    return pickle_begins(input->head);
}

static bool is_anything(const struct input *input)
{
    (void)input;
    return true;
}

/* Why a format is not read, and what to do instead. */
static const char why_tool_output[] =
    "A result that TensorBoard computed from a profile, without a timeline; look for the "
    "*.xplane.pb of the same session.";
static const char why_empty[] =
    "The file is empty: its writer was stopped or has not finished; capture again.";
static const char why_stub[] = "The file ends after a few bytes: its writer was stopped, or it was "
                               "truncated while copied; capture or copy it again.";
static const char why_cut_json[] =
    "JSON that ends before its kind can be told: its writer was stopped, or it was truncated while "
    "copied; capture or copy it again.";
static const char why_damaged[] = "The file is compressed and cannot be unpacked; copy it again.";
static const char why_packed_again[] =
    "The file is compressed twice, and only one layer is opened: unpack it once.";
static const char why_tar[] = "A TAR archive: unpack it with `tar -xf {}` and give the directory, "
                              "or name the archive itself, as in `jviewd list ARCHIVE`.";
static const char why_sqlite[] = "An SQLite database that holds no profile.";
static const char why_nsys_rep[] =
    "A report of Nsight Systems in its private format; export it beside itself with `nsys export "
    "--type sqlite {}`.";
static const char why_rocpd[] =
    "A database of AMD's rocprofv3; make a Perfetto trace of it, which is read, with `rocpd "
    "convert -i {} --output-format pftrace`.";
static const char why_rpd[] =
    "A database of rocmProfileData; make a Chrome trace of it, which is read, with `python3 "
    "rpd2tracing.py {} {}.trace.json`, a tool of that project.";
static const char why_otf2[] =
    "An OTF2 trace, whose events are in other files beside it; if rocprofv3 recorded it, record "
    "with `rocprofv3 --output-format pftrace` instead.";
static const char why_ncu_rep[] =
    "A report of Nsight Compute, counters of single kernels without a timeline; `ncu --import {} "
    "--csv` prints them.";
static const char why_parquet[] = "A Parquet table that is truncated or nested; copy it again, or "
                                  "give the nsys-jax directory that it comes from.";
static const char why_damaged_zip[] =
    "A ZIP archive whose list of entries is missing or damaged, probably cut off while it was "
    "copied: copy it again; `unzip -t {}` tells whether it is whole.";
static const char why_odd_zip[] = "A ZIP archive with more than 10,000 entries, or with an "
                                  "encrypted or unsupported one: unpack it and give the directory.";
static const char why_profile_zip[] =
    "A ZIP archive of several files, including profiles: unpack it and give the directory, or name "
    "the archive itself, as in `jviewd list ARCHIVE`.";
static const char why_zip[] = "A ZIP archive: unpack it, and give the directory.";
static const char why_utf16[] =
    "JSON in UTF-16, as a shell of Windows writes it; make UTF-8 of it, which is read, with `iconv "
    "-f UTF-16 -t UTF-8 {} > {}.utf8.json` (UTF-16LE or UTF-16BE where no mark of the order stands "
    "at its beginning).";
static const char why_riegeli[] =
    "An XPlane profile packed as Riegeli records; capture without continuous profiling, which "
    "writes *.xplane.pb.";
static const char why_xprof_cache[] =
    "A cache that XProf keeps beside a profile: it is not needed and can be deleted.";
static const char why_tfevents[] =
    "Scalars for TensorBoard, not a profile; see them with `tensorboard --logdir DIR`.";
static const char why_gperftools_heap[] =
    "A heap profile of gperftools as text, without a timeline; convert it with `pprof -proto {}`.";
static const char why_gperftools_cpu[] =
    "A CPU profile of gperftools, without a timeline; open it with `pprof {}`.";
static const char why_mangled[] = "A program treated the file as text and destroyed every byte "
                                  "above 127; fetch the original again as binary.";
static const char why_jax_report[] =
    "All NVTX ranges of the host, which nsys-jax writes beside its table of ranges with device "
    "work: it is read together with that table, nvtx_gpu_proj_trace/trace.parquet.";
static const char why_pickle[] = "A Python pickle. Of pickles, only PyTorch's memory snapshots "
                                 "(torch.cuda.memory._dump_snapshot) are read, and "
                                 "nothing in a pickle is ever run.";
static const char why_text[] =
    "Text, not a profile. Of text, jviewd reads traces in JSON, HLO, and "
    "messages of memory that ran out.";
static const char why_unknown[] = "A binary file of an unknown format.";

static const struct format before_decoders[] = {
    {"xprof-cache", is_empty_cache, NULL, why_xprof_cache, false},
    {"empty", is_empty, NULL, why_empty, false},
    {"cut-off", is_stub, NULL, why_stub, false},
    {"damaged", is_damaged_packing, NULL, why_damaged, false},
    {"nsys-rep", is_nsys_report, NULL, why_nsys_rep, true},
    {"ncu-rep", is_ncu_report, NULL, why_ncu_rep, true},
    {"rocpd", is_rocpd, NULL, why_rocpd, true},
    {"rpd", is_rpd, NULL, why_rpd, true},
    {"otf2", is_otf2, NULL, why_otf2, true},
    {"riegeli", is_riegeli, NULL, why_riegeli, true},
    {"sstable", is_sstable, NULL, why_xprof_cache, false},
    {"tfevents", is_tfevents, NULL, why_tfevents, false},
    {"gperftools-cpu", is_gperftools, NULL, why_gperftools_cpu, true},
    {"utf-16", is_utf16_json, NULL, why_utf16, true},
    {"mangled", is_mangled, NULL, why_mangled, false},
};

static const struct decoder *const decoders[] = {
    &decode_trace_json,     &decode_nsys,       &decode_nsys_jax, &decode_nsys_jax_ranges,
    &decode_nsys_jax_table, &decode_xspace,     &decode_pprof,    &decode_hlo_proto,
    &decode_hlo_text,       &decode_xla_dump,   &decode_perfetto, &decode_record,
    &decode_torch_snapshot, &decode_oom_report,
};

static const struct format after_decoders[] = {
    {"xprof-cache", is_xprof_cache, NULL, why_xprof_cache, false},
    {"packed-twice", is_packed_again, NULL, why_packed_again, true},
    {"tar", is_tar, NULL, why_tar, false},
    {"sqlite", is_sqlite, NULL, why_sqlite, false},
    {"parquet", is_parquet, NULL, why_parquet, false},
    {"zip", is_damaged_zip, NULL, why_damaged_zip, false},
    {"zip", is_odd_zip, NULL, why_odd_zip, false},
    {"pickle", is_pickle, NULL, why_pickle, false},
    {"zip-of-profiles", is_profile_zip, NULL, why_profile_zip, true},
    {"zip", is_zip, NULL, why_zip, false},
    {"memory-profile-json", is_memory_profile_json, NULL, NULL, true},
    {"json-profile", is_json_profile, NULL, NULL, true},
    {"cut-off", is_cut_json, NULL, why_cut_json, false},
    {"json", is_json, NULL, NULL, false},
    {"gperftools-heap", is_gperftools_heap, NULL, why_gperftools_heap, true},
    {"nsys-jax-report", is_jax_report, NULL, why_jax_report, true},
    {"text", is_text, NULL, why_text, false},
    {"kernel-stats", NULL, &shape_kernel_stats, why_tool_output, true},
    {"overview-page", NULL, &shape_overview, why_tool_output, true},
    {"input-pipeline", NULL, &shape_input_pipeline, why_tool_output, true},
    {"tensorflow-stats", NULL, &shape_tensorflow_stats, why_tool_output, true},
    {"unknown", is_anything, NULL, why_unknown, false},
};

static const struct format *find_format(const struct format *formats, size_t count,
                                        const struct input *input)
{
    for (size_t index = 0; index < count; index++)
        if (formats[index].is != NULL ? formats[index].is(input)
                                      : shape_fits(input->head, formats[index].shape))
            return &formats[index];
    return NULL;
}

/* "h.kernel_stats.pb" says "kernel-stats". */
static bool says(struct str name, struct str format)
{
    for (; name.count >= format.count; name = str_skip(name, 1)) {
        size_t i = 0;

        while (i < format.count &&
               (name.at[i] == format.at[i] || (name.at[i] == '_' && format.at[i] == '-')))
            i++;
        if (i == format.count)
            return true;
    }
    return false;
}

/* Many a message has a shape that fits by chance. */
static bool records(const struct format *formats, size_t count, struct str format, struct str name)
{
    for (size_t index = 0; index < count; index++)
        if (str_equal(format, str_of(formats[index].name)))
            return formats[index].is_recording &&
                   (formats[index].shape == NULL || says(name, format));
    return false;
}

bool decode_is_recording(struct str format, struct str path)
{
    struct str name = path_base(path);

    return records(before_decoders, COUNT(before_decoders), format, name) ||
           records(after_decoders, COUNT(after_decoders), format, name);
}

struct identity decode_identify(const struct input *input)
{
    const struct format *found = find_format(before_decoders, COUNT(before_decoders), input);

    for (size_t index = 0; found == NULL && index < COUNT(decoders); index++)
        if (decoders[index]->sniff(input))
            return (struct identity){.decoder = decoders[index],
                                     .format = decoders[index]->name,
                                     .packing = input->packing};
    if (found == NULL)
        found = find_format(after_decoders, COUNT(after_decoders), input);
    return (struct identity){.format = found->name,
                             .packing = input->packing,
                             .reason = found->reason != NULL
                                           ? found->reason
                                           : json_kind_reason(head_text(input, SIZE_MAX))};
}
