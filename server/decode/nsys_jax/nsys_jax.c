/* SPDX-License-Identifier: Apache-2.0 */
/* What nsys-jax writes: a recording of Nsight Systems, told in JAX's terms.
 *
 *   NAME.zip, or the same as a directory
 *     nvtx_gpu_proj_trace/trace.parquet      ranges with their work on the device
 *     report_nvtx_pushpop_trace.csv.xz       every range of the host
 *     thread-, system-, device-metadata.parquet
 *     dump/module_0001.NAME.*.hlo.pb.xz      modules before and after optimisation
 *
 * An archive is one trace. nsys-jax-combine makes one of several: a file that differs between their
 * processes becomes a directory with one of each, NAME/PROCESS. In a directory the table of ranges
 * is the timeline, read together with the report and the names of threads, which lie in the
 * directory above it; modules are programs of the run, tables of metadata are facts of it. Files of
 * paths (files.parquet, sources) are not read.
 */
#include "decode/nsys_jax/nsys_jax.h"

#include "base/pack/pack_cold.h"
#include "decode/decode.h"

static bool has_ranges(const struct archive *archive)
{
    for (uint32_t at = 0; at < archive->count; at++)
        if (str_contains(archive->entries[at].name, STR("trace.parquet")))
            return true;
    return false;
}

static bool sniff_zip(const struct input *input)
{
    struct error ignored = {0};
    struct archive archive;

    if (input->packing != PACKING_NONE || !archive_is(input->bytes))
        return false;
    struct arena *arena = arena_create();
    bool is_it =
        archive_open(input->bytes, arena, &archive, &ignored) == OK && has_ranges(&archive);
    archive_close(&archive);
    arena_destroy(arena);
    return is_it;
}

/* The footer stands at the end; a table of ranges has columns of projected times. */
static bool is_table(const struct input *input, bool of_ranges)
{
    struct error ignored = {0};
    struct parquet table;
    uint32_t column;

    if (input->packing != PACKING_NONE || !parquet_is(input->bytes))
        return false;
    struct arena *arena = arena_create();
    bool is_it = parquet_open(input->bytes, NULL, arena, &table, &ignored) == OK &&
                 of_ranges == (parquet_find(&table, STR("Projected Start"), &column) ||
                               parquet_find(&table, STR("Projected Start (ns)"), &column));
    arena_destroy(arena);
    return is_it;
}

static bool sniff_ranges(const struct input *input)
{
    return is_table(input, true);
}

static bool sniff_table(const struct input *input)
{
    return is_table(input, false);
}

static enum status read_entry(struct nsys_jax *jax, struct archive *archive,
                              const struct archive_entry *entry, struct error *err)
{
    struct str name = entry->name;
    struct bytes content;
    uint32_t part = 0;

    bool is_csv = jax_is_named(jax, name, STR(".csv.xz"), &part) ||
                  jax_is_named(jax, name, STR(".csv"), &part);
    bool is_ranges = jax_is_named(jax, name, STR("/trace.parquet"), &part);
    bool is_threads = jax_is_named(jax, name, STR("thread-metadata.parquet"), &part);
    bool is_facts = jax_is_named(jax, name, STR("device-metadata.parquet"), &part) ||
                    jax_is_named(jax, name, STR("system-metadata.parquet"), &part);
    if (!is_csv && !is_ranges && !is_threads && !is_facts)
        return OK;
    TRY(archive_read(archive, entry, JAX_ENTRY_BYTES_MAX, jax->arena, &content, err));
    jax->tables.bytes_left -= content.count < jax->tables.bytes_left ? content.count : 0;
    if (is_csv)
        jax_read_report(jax, part, content);
    else if (is_ranges)
        TRY(jax_read_ranges(jax, part, content, err));
    else if (is_threads)
        TRY(jax_read_threads(jax, part, content, err));
    else
        TRY(jax_read_facts(jax, content, err));
    return OK;
}

static enum status read_entries(struct nsys_jax *jax, struct archive *archive, uint64_t file_size,
                                struct error *err)
{
    uint64_t read_size = 0;

    jax_read_modules(jax, archive);
    for (uint32_t at = 0; at < archive->count && !sink_failed(jax->sink); at++) {
        TRY(read_entry(jax, archive, &archive->entries[at], err));
        read_size += archive->entries[at].packed_size;
        sink_progress(jax->sink, read_size, file_size);
    }
    jax_put_count(jax, STR("archive_entries"), archive->count);
    return OK;
}

static enum status read_zip(struct nsys_jax *jax, struct input *input, struct error *err)
{
    struct archive archive;

    TRY(archive_open(input->bytes, jax->arena, &archive, err));
    enum status status = read_entries(jax, &archive, input->bytes.count, err);
    archive_close(&archive);
    return status;
}

static void put_counts(struct nsys_jax *jax)
{
    if (jax->table_rows > 0)
        jax_put_count(jax, STR("ranges"), jax->table_rows);
    if (jax->table_columns > 0)
        jax_put_count(jax, STR("columns"), jax->table_columns);
    jax_put_text(jax, STR("created_by"), jax->table_writer);
    jax_put_text(jax, STR("codec"), jax->table_codec);
    if (jax->thread_rows > 0)
        jax_put_count(jax, STR("threads"), jax->thread_rows);
    if (jax->call_count > 0)
        jax_put_count(jax, STR("report_rows"), jax->call_count);
    if (jax->part_count > 1) {
        jax_put_count(jax, STR("processes"), jax->part_count - 1);
        sink_note(jax->sink, "unaligned", NOTE_INFO, jax->part_count - 1,
                  "Processes of a combined archive; each counts time from the start of its own "
                  "recording.");
    }
}

typedef enum status read_file(struct nsys_jax *jax, struct input *input, struct error *err);

static enum status decode_with(struct input *input, struct sink *sink, const char *format,
                               read_file *read, struct error *err)
{
    struct nsys_jax jax = {.sink = sink, .arena = arena_create(), .tables = parquet_budget()};
    uint32_t whole;

    jax.scratch = scratch_create(input_temporary_dir(input));
    (void)jax_is_named(&jax, STR(""), STR(""), &whole); /* the first part */
    sink_format(sink, format);
    sink_no_epoch(sink, STR("nsys-jax does not record when the recording started"));
    enum status status = read(&jax, input, err);
    if (status == OK)
        jax_put_ranges(&jax);
    put_counts(&jax);
    if (jax.odd_rows > 0)
        sink_note(sink, "odd-rows", NOTE_WARNING, jax.odd_rows,
                  "Rows of a report without times or a thread are left out.");
    if (jax.nameless > 0)
        sink_note(sink, "odd-rows", NOTE_INFO, jax.nameless,
                  "Rows without a name, which are totals of a process, are left out.");
    jax_modules_free(&jax);
    scratch_destroy(jax.scratch);
    arena_destroy(jax.arena);
    if (status == OK && sink_failed(sink))
        return fail(err, sink_error(sink)->code, "%s", sink_error(sink)->message);
    return status;
}

static enum status decode_zip(struct input *input, struct sink *sink, struct error *err)
{
    return decode_with(input, sink, decode_nsys_jax.name, read_zip, err);
}

/* The report, or what is whole of it; names of threads. The table is worth showing without. */
static void read_beside(struct nsys_jax *jax, struct input *beside)
{
    struct error err = {0};
    struct bytes whole;
    bool is_cut;

    enum status status = input_whole(beside, &whole, &is_cut, &err);
    if (status == OK && whole.count > JAX_ENTRY_BYTES_MAX)
        status = fail(&err, ERR_LIMIT, "it has more than %d MiB", JAX_ENTRY_BYTES_MAX >> 20);
    else if (status == OK && str_ends(beside->name, STR(".parquet")))
        status = jax_read_threads(jax, 0, whole, &err);
    else if (status == OK)
        jax_read_report(jax, 0, whole);
    if (status != OK)
        sink_note(jax->sink, "beside", NOTE_WARNING, 1, "%.*s, which lies beside it: %s",
                  STR_ARG(beside->name), err.message);
    else if (is_cut)
        sink_note(jax->sink, "truncated", NOTE_WARNING, 1,
                  "%.*s, which lies beside it, ends too early: its last ranges are missing.",
                  STR_ARG(beside->name));
}

static enum status read_ranges(struct nsys_jax *jax, struct input *input, struct error *err)
{
    TRY(jax_read_ranges(jax, 0, input->bytes, err));
    for (uint32_t at = 0; at < input->beside_count; at++)
        read_beside(jax, &input->beside[at]);
    if (!jax->parts[0].has_report)
        sink_note(jax->sink, "no-report", NOTE_WARNING, 1,
                  "Only ranges with work on a device are known: of compilations, some or all are "
                  "missing. The others are in the report (report_nvtx_pushpop_trace.csv.xz), "
                  "which is read where it lies in the directory above this table's.");
    return OK;
}

static enum status read_facts(struct nsys_jax *jax, struct input *input, struct error *err)
{
    return jax_read_facts(jax, input->bytes, err);
}

static enum status decode_ranges(struct input *input, struct sink *sink, struct error *err)
{
    return decode_with(input, sink, decode_nsys_jax_ranges.name, read_ranges, err);
}

static enum status decode_table(struct input *input, struct sink *sink, struct error *err)
{
    return decode_with(input, sink, decode_nsys_jax_table.name, read_facts, err);
}

#define RANGES "nvtx_gpu_proj_trace/trace.parquet"

static const char *const beside_names[BESIDE_MAX][4] = {
    {"report_nvtx_pushpop_trace.csv.xz", "report_nvtx_pushpop_trace.csv",
     "report_nvtx_pushpop_trace.csv.gz", "report_nvtx_pushpop_trace.csv.zst"},
    {"thread-metadata.parquet"},
};

/* `*ret_before`: the directory, with its slash, below which the path has this end. */
static bool cut_end(struct str path, struct str end, struct str *ret_before)
{
    *ret_before = path;
    if (!str_ends(path, end))
        return false;
    ret_before->count -= end.count;
    return ret_before->count == 0 || ret_before->at[ret_before->count - 1] == '/';
}

bool decode_beside(struct str path, uint32_t file, uint32_t choice, struct arena *arena,
                   struct str *ret)
{
    struct str directory;

    if (file >= BESIDE_MAX || choice >= COUNT(beside_names[0]) ||
        beside_names[file][choice] == NULL ||
        (!cut_end(path, STR(RANGES), &directory) &&
         !cut_end(path, STR(RANGES COLD_SUFFIX), &directory)))
        return false;
    *ret = str_format(arena, "%.*s%s", STR_ARG(directory), beside_names[file][choice]);
    return true;
}

bool decode_reads_beside(struct str path)
{
    struct str ignored;

    return cut_end(path, STR(RANGES), &ignored) || cut_end(path, STR(RANGES COLD_SUFFIX), &ignored);
}

bool decode_read_with(struct str path, struct arena *arena, struct str *ret)
{
    struct str directory;

    for (size_t file = 0; file < BESIDE_MAX; file++)
        for (size_t choice = 0;
             choice < COUNT(beside_names[0]) && beside_names[file][choice] != NULL; choice++)
            if (cut_end(path, str_of(beside_names[file][choice]), &directory)) {
                *ret = str_format(arena, "%.*s" RANGES, STR_ARG(directory));
                return true;
            }
    return false;
}

const struct decoder decode_nsys_jax = {
    .name = "nsys-jax", .part = PART_TIMELINE, .sniff = sniff_zip, .decode = decode_zip};
const struct decoder decode_nsys_jax_ranges = {.name = "nsys-jax-ranges",
                                               .part = PART_TIMELINE,
                                               .sniff = sniff_ranges,
                                               .decode = decode_ranges};
/* What a run knows besides: it has no timeline and no modules. */
const struct decoder decode_nsys_jax_table = {
    .name = "parquet", .part = PART_PROGRAMS, .sniff = sniff_table, .decode = decode_table};
