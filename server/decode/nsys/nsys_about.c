/* SPDX-License-Identifier: Apache-2.0 */
/* What an export says of itself, of its GPUs and of what went wrong.
 *
 *   META_DATA_EXPORT                 name, value     the product's and the schema's version only
 *   TARGET_INFO_SESSION_START_TIME   utcEpochNs      of time 0
 *   TARGET_INFO_SYSTEM_ENV           name, value     the host's name and the driver's version only
 *   TARGET_INFO_GPU                  id, name, ...
 *   DIAGNOSTIC_EVENT                 severity, text  warnings and errors of the recording
 *
 * META_DATA_CAPTURE, the rest of the tables above and the output of the program (ProcessStreams)
 * hold command lines, environments and names of users. They are not read; a text of a diagnosis
 * loses the name behind /home/.
 */
#include <inttypes.h>

#include "decode/nsys/nsys.h"

enum { DIAGNOSES_MAX = 200, VALUE_MAX = 200 };

static void put_text(struct nsys *nsys, track_id track, const char *key, struct str text)
{
    if (text.count > 0 && text.count <= VALUE_MAX)
        sink_property(nsys->sink, track,
                      (struct arg){.key = sink_name(nsys->sink, str_of(key)),
                                   .type = ARG_STRING,
                                   .bits = sink_name(nsys->sink, text)});
}

static void read_values(struct nsys *nsys, const char *table, const char *const words[][2],
                        size_t count)
{
    static const char *const columns[] = {"name", "value"};
    struct nsys_rows rows = nsys_rows_of(&nsys->db, table, columns, 2, "");

    while (nsys_rows_next(&rows)) {
        struct str name = nsys_text(&rows, 0);

        for (size_t index = 0; index < count; index++)
            if (str_equal(name, str_of(words[index][0])))
                put_text(nsys, NO_TRACK, words[index][1], nsys_text(&rows, 1));
    }
    nsys_rows_close(&rows);
}

static void read_host(struct nsys *nsys)
{
    static const char *const columns[] = {"name", "value"};
    struct nsys_rows rows = nsys_rows_of(&nsys->db, "TARGET_INFO_SYSTEM_ENV", columns, 2,
                                         "WHERE \"name\" = 'Hostname'");

    if (nsys_rows_next(&rows)) {
        struct str name = nsys_text(&rows, 1);

        if (name.count > 0 && name.count <= VALUE_MAX)
            sink_hostname(nsys->sink, name);
    }
    nsys_rows_close(&rows);
}

static void read_start(struct nsys *nsys)
{
    static const char *const columns[] = {"utcEpochNs"};
    struct nsys_rows rows =
        nsys_rows_of(&nsys->db, "TARGET_INFO_SESSION_START_TIME", columns, 1, "");
    int64_t epoch_ns;

    if (nsys_rows_next(&rows) && nsys_integer(&rows, 0, &epoch_ns))
        sink_epoch(nsys->sink, epoch_ns);
    else
        sink_no_epoch(nsys->sink, STR("the export does not record when the session started"));
    nsys_rows_close(&rows);
}

void nsys_about_read(struct nsys *nsys)
{
    static const char *const exported[][2] = {
        {"EXPORT_PRODUCT_NAME", "product_name"},
        {"EXPORT_PRODUCT_VERSION", "product_version"},
        {"EXPORT_SCHEMA_VERSION", "schema_version"},
    };
    static const char *const system[][2] = {
        {"NvDriverVersion", "driver_version"},
        {"CudaDriverVersion", "cuda_driver_version"},
    };

    read_values(nsys, "META_DATA_EXPORT", exported, COUNT(exported));
    read_values(nsys, "TARGET_INFO_SYSTEM_ENV", system, COUNT(system));
    read_host(nsys);
    read_start(nsys);
    /* One job's recordings that overlap in time are its ranks; the files do not number them. */
    put_text(nsys, NO_TRACK, "run_group", STR("nsight-systems"));
}

/* Known words are those of other formats. */
static const char *const gpu_facts[][2] = {
    {"id", "gpu_id"},
    {"name", "gpu_device_name"},
    {"chipName", "chip_name"},
    {"smCount", "core_count"},
    {"clockRate", "clock_rate_hz"},
    {"totalMemory", "memory_size_bytes"},
    {"memoryBandwidth", "memory_bandwidth_bytes_per_s"},
    {"l2CacheSize", "l2_cache_bytes"},
    {"computeMajor", "compute_cap_major"},
    {"computeMinor", "compute_cap_minor"},
};

/* By its number where processes tell it, else by its CUDA ordinal. */
static track_id track_of_gpu(const struct nsys *nsys, int64_t id, int64_t ordinal)
{
    const struct nsys_tracks *tracks = &nsys->tracks;

    for (uint32_t index = 0; index < tracks->device_count; index++)
        if (tracks->device[index].gpu == id || tracks->device[index].gpu == -1 - ordinal)
            return tracks->device[index].track;
    return NO_TRACK;
}

static void read_gpus(struct nsys *nsys)
{
    struct nsys_table *table = nsys_table_find(&nsys->db, STR("TARGET_INFO_GPU"));
    struct text sql = {0};
    const char *keys[COUNT(gpu_facts)];
    int count = 0;

    if (table == NULL || !nsys_table_has(table, STR("id")))
        return;
    bool has_ordinal = nsys_table_has(table, STR("cuDevice"));
    text_puts(&sql, has_ordinal ? "\"cuDevice\"" : "\"id\"");
    for (size_t index = 0; index < COUNT(gpu_facts); index++) {
        if (!nsys_table_has(table, str_of(gpu_facts[index][0])))
            continue;
        text_puts(&sql, ", ");
        nsys_sql_name(&sql, str_of(gpu_facts[index][0]));
        keys[count++] = gpu_facts[index][1];
    }
    struct nsys_rows rows = nsys_rows_open(&nsys->db, table, sql.at, "");
    rows.counts = true;
    while (nsys_rows_next(&rows)) {
        int64_t ordinal = -1, id = -1;

        nsys_integer(&rows, 0, &ordinal);
        nsys_integer(&rows, 1, &id);
        track_id track = track_of_gpu(nsys, id, ordinal);
        for (int at = 0; at < count; at++) {
            struct arg arg = nsys_value(&rows, at + 1);

            arg.key = sink_name(nsys->sink, str_of(keys[at]));
            if (arg.type != ARG_NONE)
                sink_property(nsys->sink, track, arg);
        }
    }
    nsys_rows_close(&rows);
    text_free(&sql);
}

static void read_diagnoses(struct nsys *nsys)
{
    static const char *const columns[] = {"severity", "text"};
    struct nsys_rows rows = nsys_rows_of(&nsys->db, "DIAGNOSTIC_EVENT", columns, 2, "");
    uint64_t told = 0, others = 0;
    int64_t severity;

    rows.counts = true;
    while (nsys_rows_next(&rows)) {
        bool is_trouble = nsys_integer(&rows, 0, &severity) && (severity == 2 || severity == 3);
        struct str text = is_trouble ? nsys_text(&rows, 1) : STR("");

        if (text.count == 0 || told++ >= DIAGNOSES_MAX) {
            others++;
            continue;
        }
        text = nsys_without_user(nsys->arena, text);
        sink_note(nsys->sink, severity == 3 ? "collector-error" : "collector-warning",
                  severity == 3 ? NOTE_ERROR : NOTE_WARNING, 1, "Nsight Systems reported: %.*s",
                  STR_ARG(text));
    }
    if (others > 0)
        sink_note(nsys->sink, "collector-info", NOTE_INFO, others,
                  "Other messages of the recording do not report losses.");
    nsys_rows_close(&rows);
}

/* Tables of events that no rule reads; those without a time are not events. */
static void tell_unread(struct nsys *nsys)
{
    static const char *const skipped[] = {"META_DATA_", "TARGET_INFO_", "ENUM_", "sqlite_"};

    for (uint32_t index = 0; index < nsys->db.table_count; index++) {
        struct nsys_table *table = &nsys->db.tables[index];
        bool is_known = table->is_read;

        for (size_t at = 0; at < COUNT(skipped); at++)
            is_known |= str_starts(table->name, str_of(skipped[at]));
        if (is_known ||
            (!nsys_table_has(table, STR("start")) && !nsys_table_has(table, STR("timestamp")) &&
             !nsys_table_has(table, STR("startedAt"))))
            continue;
        uint64_t count = nsys_table_count(&nsys->db, table);
        if (count > 0)
            sink_note(nsys->sink, "left-out", NOTE_INFO, count,
                      "Rows of the table %.*s are not shown.", STR_ARG(table->name));
    }
}

static void put_counts(struct nsys *nsys)
{
    for (uint32_t index = 0; index < nsys->db.table_count; index++) {
        const struct nsys_table *table = &nsys->db.tables[index];

        if (table->rows_read > 0)
            sink_property(nsys->sink, NO_TRACK,
                          (struct arg){.key = sink_name(nsys->sink, table->name),
                                       .type = ARG_INT64,
                                       .bits = table->rows_read});
    }
}

void nsys_about_end(struct nsys *nsys)
{
    read_gpus(nsys);
    read_diagnoses(nsys);
    tell_unread(nsys);
    put_counts(nsys);
    if (nsys->without_time > 0)
        sink_note(nsys->sink, "without-time", NOTE_INFO, nsys->without_time,
                  "Rows that have no time are left out.");
    if (nsys->without_place > 0)
        sink_note(nsys->sink, "without-place", NOTE_WARNING, nsys->without_place,
                  "Rows that name no thread or device are left out.");
    if (nsys->nvtx_other > 0)
        sink_note(nsys->sink, "left-out", NOTE_INFO, nsys->nvtx_other,
                  "NVTX events other than ranges, marks and names are not shown.");
    if (nsys->words.missing > 0)
        sink_note(nsys->sink, "unnamed-events", NOTE_WARNING, nsys->words.missing,
                  "Some names are missing from the file's table of strings.");
}
