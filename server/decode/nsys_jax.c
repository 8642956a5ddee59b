/* What nsys-jax writes: a recording of Nsight Systems, told in JAX's terms.
 *
 *   NAME.zip, or the same as a directory
 *     nvtx_gpu_proj_trace/trace.parquet      ranges with their work on the device
 *     report_nvtx_pushpop_trace.csv.xz       every range of the host
 *     thread-, system-, device-metadata.parquet
 *     dump/module_0001.NAME.*.hlo.pb.xz      modules before and after optimisation
 *
 * An archive is one trace. In a directory each file is read alone: the table of ranges is the
 * timeline, modules are programs of the run, tables of metadata are facts of it. Files of paths
 * (files.parquet, sources) are not read.
 */
#include "decode/nsys_jax.h"

#include "base/archive.h"
#include "base/hash.h"
#include "decode/decode.h"
#include "decode/hlo_name.h"

enum { ENTRY_BYTES_MAX = 512 << 20 };

static bool is_named(const struct archive_entry *entry, struct str end)
{
    return str_ends(entry->name, end);
}

static bool has_ranges(const struct archive *archive)
{
    for (uint32_t at = 0; at < archive->count; at++)
        if (is_named(&archive->entries[at], STR("trace.parquet")))
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
    bool is_it = parquet_open(input->bytes, arena, &table, &ignored) == OK &&
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

static void read_module(struct nsys_jax *jax, struct hlo_index *index,
                        const struct archive *archive, const struct archive_entry *entry)
{
    const char *slash = memrchr(entry->name.at, '/', entry->name.count);
    struct str base =
        slash == NULL ? entry->name : str_skip(entry->name, (size_t)(slash + 1 - entry->name.at));
    struct hlo_name name = hlo_name_of(base, STR(""));
    struct error err = {0};
    struct bytes proto;

    struct hlo_source source = {
        .id = name.has_number ? name.number
                              : hash64((struct bytes){(const uint8_t *)base.at, base.count}),
        .name = name.module,
        .stage = name.stage,
    };

    if (archive_read(archive, entry, ENTRY_BYTES_MAX, jax->arena, &proto, &err) != OK ||
        !hlo_decode(index, jax->sink, &source, proto))
        sink_note(jax->sink, "corrupt", NOTE_WARNING, 1, "A module of the archive is damaged.");
}

/* As they run first: what a thunk names is looked up in the first module of its number. Other
 * stages have the same number, and an index that nobody asks. */
static void read_modules(struct nsys_jax *jax, const struct archive *archive, bool after)
{
    struct hlo_index unasked = {0};

    for (uint32_t at = 0; at < archive->count && !sink_failed(jax->sink); at++) {
        const struct archive_entry *entry = &archive->entries[at];
        bool is_module = is_named(entry, STR(".hlo.pb.xz")) || is_named(entry, STR(".hlo.pb"));

        if (is_module && after == str_contains(entry->name, STR("after_optimizations")))
            read_module(jax, after ? &jax->hlo : &unasked, archive, entry);
    }
    hlo_index_free(&unasked);
}

static enum status read_entry(struct nsys_jax *jax, const struct archive *archive,
                              const struct archive_entry *entry, struct error *err)
{
    struct bytes content;

    bool is_csv = is_named(entry, STR(".csv.xz")) || is_named(entry, STR(".csv"));
    bool is_ranges = is_named(entry, STR("/trace.parquet"));
    bool is_threads = is_named(entry, STR("thread-metadata.parquet"));
    bool is_facts = is_named(entry, STR("device-metadata.parquet")) ||
                    is_named(entry, STR("system-metadata.parquet"));
    if (!is_csv && !is_ranges && !is_threads && !is_facts)
        return OK;
    TRY(archive_read(archive, entry, ENTRY_BYTES_MAX, jax->arena, &content, err));
    if (is_csv)
        jax_read_report(jax, content);
    else if (is_ranges)
        TRY(jax_read_ranges(jax, content, err));
    else if (is_threads)
        TRY(jax_read_threads(jax, content, err));
    else
        TRY(jax_read_facts(jax, content, err));
    return OK;
}

static enum status read_entries(struct nsys_jax *jax, const struct archive *archive,
                                uint64_t file_size, struct error *err)
{
    uint64_t read_size = 0;

    read_modules(jax, archive, true);
    read_modules(jax, archive, false);
    for (uint32_t at = 0; at < archive->count && !sink_failed(jax->sink); at++) {
        TRY(read_entry(jax, archive, &archive->entries[at], err));
        read_size += archive->entries[at].packed_size;
        sink_progress(jax->sink, read_size, file_size);
    }
    jax_put_count(jax, STR("archive_entries"), archive->count);
    return OK;
}

static enum status read_zip(struct nsys_jax *jax, struct bytes file, struct error *err)
{
    struct archive archive;

    TRY(archive_open(file, jax->arena, &archive, err));
    enum status status = read_entries(jax, &archive, file.count, err);
    archive_close(&archive);
    return status;
}

typedef enum status read_file(struct nsys_jax *jax, struct bytes file, struct error *err);

static enum status decode_with(struct input *input, struct sink *sink, const char *format,
                               read_file *read, struct error *err)
{
    struct nsys_jax jax = {.sink = sink, .arena = arena_create()};

    jax.scratch = scratch_create(input_temporary_dir(input));
    sink_format(sink, format);
    sink_no_epoch(sink, STR("nsys-jax does not say when the recording started"));
    enum status status = read(&jax, input->bytes, err);
    if (status == OK)
        jax_put_ranges(&jax);
    if (jax.odd_rows > 0)
        sink_note(sink, "odd-rows", NOTE_WARNING, jax.odd_rows,
                  "Rows of a report without times or a thread are left out.");
    if (jax.nameless > 0)
        sink_note(sink, "odd-rows", NOTE_INFO, jax.nameless,
                  "Rows without a name, which sum up a process, are left out.");
    hlo_index_free(&jax.hlo);
    pair_table_free(&jax.thread_rows);
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

static enum status decode_ranges(struct input *input, struct sink *sink, struct error *err)
{
    return decode_with(input, sink, decode_nsys_jax_ranges.name, jax_read_ranges, err);
}

static enum status decode_table(struct input *input, struct sink *sink, struct error *err)
{
    return decode_with(input, sink, decode_nsys_jax_table.name, jax_read_facts, err);
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
