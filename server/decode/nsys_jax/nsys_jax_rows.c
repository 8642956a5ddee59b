/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of nsys-jax, as rows.
 *
 *   trace.parquet             Name, Projected Start, Projected Duration, Orig Start, Orig Duration,
 *                             PID, TID, NumGPUOps, Rank, ...       ns; a few columns came and went
 *   report_*.csv              Start (ns),End (ns),Duration (ns),...,Name,PID,TID,...
 *   thread-metadata.parquet   Name, Priority, PID, TID
 *   system-metadata.parquet   name, value
 *   device-metadata.parquet   ('TARGET_INFO_GPU', 'name'), ...     a row a device
 */
#include <inttypes.h>
#include <stdio.h>

#include "decode/nsys_jax/nsys_jax.h"
#include "decode/xla_range.h"

enum { VALUE_MAX = 200, FIELDS_MAX = 32 };

static int64_t cell_ns(const struct parquet_cell *cell)
{
    if (cell == NULL)
        return 0;
    if (cell->kind == CELL_INTEGER)
        return cell->integer;
    return cell->kind == CELL_REAL && cell->real > -9e18 && cell->real < 9e18 ? (int64_t)cell->real
                                                                              : 0;
}

static struct str cell_text(const struct parquet_cell *cell)
{
    return cell != NULL && cell->kind == CELL_TEXT
               ? (struct str){.at = (const char *)cell->text, .count = cell->count}
               : STR("");
}

/* The column of one of two names; NULL cells where neither is there. */
static enum status read_column(const struct nsys_jax *jax, const struct parquet *table,
                               const char *name, const char *other, struct parquet_cell **ret,
                               struct error *err)
{
    uint32_t column;

    *ret = NULL;
    if (!parquet_find(table, str_of(name), &column) && !parquet_find(table, str_of(other), &column))
        return OK;
    return parquet_read(table, column, jax->scratch, ret, err);
}

void jax_put_count(struct nsys_jax *jax, struct str key, uint64_t count)
{
    sink_property(jax->sink, NO_TRACK,
                  (struct arg){.key = sink_name(jax->sink, key), .type = ARG_INT64, .bits = count});
}

void jax_put_text(struct nsys_jax *jax, struct str key, struct str text)
{
    if (text.count > 0 && text.count <= VALUE_MAX)
        sink_property(jax->sink, NO_TRACK,
                      (struct arg){.key = sink_name(jax->sink, key),
                                   .type = ARG_STRING,
                                   .bits = sink_name(jax->sink, text)});
}

/* As the tools of Arrow print them. */
static void remember_table(struct nsys_jax *jax, const struct parquet *table)
{
    static const char *const codecs[] = {"UNCOMPRESSED", "SNAPPY", "GZIP", "LZO",
                                         "BROTLI",       "LZ4",    "ZSTD", "LZ4_RAW"};
    int32_t codec = table->group_count > 0 && table->column_count > 0 ? table->chunks[0].codec : -1;

    jax->table_columns = table->column_count;
    jax->table_writer = table->writer;
    jax->table_codec =
        codec >= 0 && (size_t)codec < COUNT(codecs) ? str_of(codecs[codec]) : STR("");
}

enum { NAME, START, DUR, DEVICE_START, DEVICE_DUR, PROCESS, THREAD, RANK, GPU_OPS, COLUMNS };

enum status jax_read_ranges(struct nsys_jax *jax, uint32_t part, struct bytes bytes,
                            struct error *err)
{
    static const char *const names[COLUMNS][2] = {
        [NAME] = {"Name", "Range"},
        [START] = {"Orig Start", "Orig Start (ns)"},
        [DUR] = {"Orig Duration", "Orig Duration (ns)"},
        [DEVICE_START] = {"Projected Start", "Projected Start (ns)"},
        [DEVICE_DUR] = {"Projected Duration", "Projected Duration (ns)"},
        [PROCESS] = {"PID", "Pid"},
        [THREAD] = {"TID", "Tid"},
        [RANK] = {"Rank", "rank"},
        [GPU_OPS] = {"NumGPUOps", "Num GPU Ops"},
    };
    struct parquet_cell *cells[COLUMNS];
    struct parquet table;

    TRY(parquet_open(bytes, &jax->tables, jax->arena, &table, err));
    for (int column = 0; column < COLUMNS; column++)
        TRY(read_column(jax, &table, names[column][0], names[column][1], &cells[column], err));
    if (cells[NAME] == NULL || cells[DEVICE_START] == NULL || cells[DEVICE_DUR] == NULL)
        return fail(err, ERR_FORMAT, "the table of ranges lacks their names or times");
    /* An archive may hold several. */
    jax->ranges = scratch_resize(jax->scratch, jax->ranges, jax->range_count + table.row_count + 1,
                                 sizeof *jax->ranges);
    for (uint64_t row = 0; row < table.row_count; row++) {
#define CELL(column) (cells[column] == NULL ? NULL : &cells[column][row])
        if (cells[NAME][row].kind != CELL_TEXT) {
            jax->nameless++; /* the sum of a process */
            continue;
        }
        jax->ranges[jax->range_count++] = (struct jax_range){
            .name = cell_text(CELL(NAME)),
            .start_ns = cell_ns(CELL(START)),
            .dur_ns = cell_ns(CELL(DUR)),
            .device_start_ns = cell_ns(CELL(DEVICE_START)),
            .device_dur_ns = cell_ns(CELL(DEVICE_DUR)),
            .process = cell_ns(CELL(PROCESS)),
            .thread = cell_ns(CELL(THREAD)),
            .rank = cell_ns(CELL(RANK)),
            .gpu_ops = cells[GPU_OPS] == NULL ? 1 : cell_ns(CELL(GPU_OPS)),
            .part = part,
            .has_times = cells[START] != NULL && cells[DUR] != NULL,
        };
#undef CELL
    }
    jax->table_rows += table.row_count;
    remember_table(jax, &table);
    return OK;
}

/* "XlaLauncher:#global=5,local=1,process=2,slice=0#": the thread that gives work to a device. */
static int64_t device_of_launcher(struct str name)
{
    int64_t device;

    return str_starts(name, STR("XlaLauncher:#")) &&
                   str_to_i64(xla_range_value(name, STR("global")), &device) && device >= 0 &&
                   device < JAX_DEVICES_MAX
               ? device
               : -1;
}

int64_t jax_device_of_thread(const struct jax_part *part, int64_t process, int64_t thread)
{
    uint32_t row = pair_table_find(&part->thread_rows, (uint64_t)process, (uint64_t)thread);
    int64_t device =
        row == PAIR_NONE ? -1 : device_of_launcher(cell_text(&part->thread_names[row]));

    return device >= 0 ? device : part->device;
}

enum status jax_read_threads(struct nsys_jax *jax, uint32_t index, struct bytes bytes,
                             struct error *err)
{
    struct jax_part *part = &jax->parts[index];
    struct parquet_cell *name, *process, *thread;
    struct parquet table;

    TRY(parquet_open(bytes, &jax->tables, jax->arena, &table, err));
    TRY(read_column(jax, &table, "Name", "name", &name, err));
    TRY(read_column(jax, &table, "PID", "Pid", &process, err));
    TRY(read_column(jax, &table, "TID", "Tid", &thread, err));
    pair_table_free(&part->thread_rows); /* rows of a table before, if the archive has several */
    for (uint64_t row = 0;
         name != NULL && process != NULL && thread != NULL && row < table.row_count; row++) {
        int64_t device = device_of_launcher(cell_text(&name[row]));

        *pair_table_at(&part->thread_rows, (uint64_t)cell_ns(&process[row]),
                       (uint64_t)cell_ns(&thread[row])) = (uint32_t)row;
        if (device >= 0 && (part->device < 0 || device < part->device))
            part->device = device;
    }
    /* Only the names of threads with ranges are told: rows now, texts later. */
    part->thread_names = name;
    jax->thread_rows += table.row_count;
    return OK;
}

static void put_fact(struct nsys_jax *jax, const char *key, const struct parquet_cell *cell)
{
    struct arg arg = {.key = sink_name(jax->sink, str_of(key))};
    struct str text = cell_text(cell);

    if (cell->kind == CELL_TEXT && text.count <= VALUE_MAX) {
        arg.type = ARG_STRING;
        arg.bits = sink_name(jax->sink, text);
    } else if (cell->kind == CELL_INTEGER) {
        arg.type = ARG_INT64;
        arg.bits = (uint64_t)cell->integer;
    } else if (cell->kind == CELL_REAL) {
        arg.type = ARG_DOUBLE;
        memcpy(&arg.bits, &cell->real, sizeof arg.bits);
    } else {
        return;
    }
    sink_property(jax->sink, NO_TRACK, arg);
}

static void put_named(struct nsys_jax *jax, struct str name, const struct parquet_cell *value)
{
    if (str_equal(name, STR("Hostname")) && value->kind == CELL_TEXT)
        sink_hostname(jax->sink, cell_text(value));
    else if (str_equal(name, STR("NvDriverVersion")))
        put_fact(jax, "driver_version", value);
    else if (str_equal(name, STR("CudaDriverVersion")))
        put_fact(jax, "cuda_driver_version", value);
}

/* Columns are pairs of table and column, as Python writes them. */
static enum status read_device_facts(struct nsys_jax *jax, const struct parquet *table,
                                     struct error *err)
{
    static const char *const facts[][2] = {
        {"('TARGET_INFO_GPU', 'name')", "gpu_device_name"},
        {"('TARGET_INFO_GPU', 'chipName')", "chip_name"},
        {"('TARGET_INFO_GPU', 'smCount')", "core_count"},
        {"('TARGET_INFO_GPU', 'clockRate')", "clock_rate_hz"},
        {"('TARGET_INFO_GPU', 'totalMemory')", "memory_size_bytes"},
        {"('TARGET_INFO_GPU', 'memoryBandwidth')", "memory_bandwidth_bytes_per_s"},
        {"('TARGET_INFO_GPU', 'l2CacheSize')", "l2_cache_bytes"},
        {"('TARGET_INFO_GPU', 'computeMajor')", "compute_cap_major"},
        {"('TARGET_INFO_GPU', 'computeMinor')", "compute_cap_minor"},
    };

    for (size_t at = 0; at < COUNT(facts); at++) {
        struct parquet_cell *cells;

        TRY(read_column(jax, table, facts[at][0], facts[at][0], &cells, err));
        for (uint64_t row = 0; cells != NULL && row < table->row_count && row < 64; row++)
            put_fact(jax, facts[at][1], &cells[row]);
    }
    return OK;
}

enum status jax_read_facts(struct nsys_jax *jax, struct bytes bytes, struct error *err)
{
    struct parquet_cell *name, *value;
    struct parquet table;

    TRY(parquet_open(bytes, &jax->tables, jax->arena, &table, err));
    TRY(read_column(jax, &table, "name", "name", &name, err));
    TRY(read_column(jax, &table, "value", "value", &value, err));
    for (uint64_t row = 0; name != NULL && value != NULL && row < table.row_count; row++)
        put_named(jax, cell_text(&name[row]), &value[row]);
    TRY(read_device_facts(jax, &table, err));
    remember_table(jax, &table);
    jax_put_count(jax, STR("rows"), table.row_count);
    return OK;
}

/* Cuts the next line into fields; quotes are taken off fields without quotes inside. */
static size_t next_line(struct str *rest, struct str *fields, size_t field_max)
{
    size_t count = 0, at = 0;

    while (at < rest->count) {
        bool quoted = rest->at[at] == '"';
        size_t start = at + quoted;

        for (at = start; at < rest->count; at++) {
            if (quoted && rest->at[at] == '"' && (at + 1 == rest->count || rest->at[at + 1] != '"'))
                break;
            if (quoted && rest->at[at] == '"')
                at++; /* a doubled quote stands for one */
            else if (!quoted && (rest->at[at] == ',' || rest->at[at] == '\n'))
                break;
        }
        if (at > rest->count)
            at = rest->count;
        if (count < field_max)
            fields[count++] = (struct str){.at = rest->at + start, .count = at - start};
        at += quoted && at < rest->count;
        if (at == rest->count || rest->at[at++] == '\n')
            break;
    }
    *rest = str_skip(*rest, at);
    return count;
}

enum { CSV_NAME, CSV_START, CSV_DUR, CSV_PROCESS, CSV_THREAD, CSV_COLUMNS };

static bool find_columns(const struct str *fields, size_t count, size_t ret[CSV_COLUMNS])
{
    static const char *const names[CSV_COLUMNS] = {"Name", "Start (ns)", "Duration (ns)", "PID",
                                                   "TID"};

    for (size_t column = 0; column < CSV_COLUMNS; column++) {
        ret[column] = 0;
        while (ret[column] < count && !str_equal(fields[ret[column]], str_of(names[column])))
            ret[column]++;
        if (ret[column] == count)
            return false;
    }
    return true;
}

void jax_read_report(struct nsys_jax *jax, uint32_t part, struct bytes csv)
{
    struct str rest = {.at = (const char *)csv.at, .count = csv.count}, fields[FIELDS_MAX];
    size_t columns[CSV_COLUMNS], count = next_line(&rest, fields, FIELDS_MAX);

    if (!find_columns(fields, count, columns))
        return;
    while (rest.count > 0) {
        struct jax_range range = {.part = part, .has_times = true};

        count = next_line(&rest, fields, FIELDS_MAX);
        for (size_t column = 0; column < CSV_COLUMNS; column++)
            if (columns[column] >= count)
                count = 0;
        if (count == 0 || !str_to_i64(fields[columns[CSV_START]], &range.start_ns) ||
            !str_to_i64(fields[columns[CSV_DUR]], &range.dur_ns) ||
            !str_to_i64(fields[columns[CSV_PROCESS]], &range.process) ||
            !str_to_i64(fields[columns[CSV_THREAD]], &range.thread)) {
            jax->odd_rows++;
            continue;
        }
        range.name = fields[columns[CSV_NAME]];
        if (jax->call_count == jax->call_capacity) {
            jax->call_capacity = jax->call_capacity == 0 ? 1024 : jax->call_capacity * 2;
            jax->calls =
                scratch_resize(jax->scratch, jax->calls, jax->call_capacity, sizeof *jax->calls);
        }
        jax->calls[jax->call_count++] = range;
        jax->parts[part].has_report = true;
    }
}
