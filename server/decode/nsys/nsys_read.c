/* SPDX-License-Identifier: Apache-2.0 */
/* Any table of events, row by row, into slices.
 *
 *   start end            deviceId ... globalTid   correlationId  gridX ... nameId    bytes ...
 *   |-- its time -------||-- where it lies ------||- its cause -||- its shape ------||- its own -|
 *
 * What many rows share (names, sizes of a grid, kinds of memory) is its shape: looked up by a hash
 * of the columns, and told once as the args of a type.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "decode/nsys/nsys.h"

enum {
    COLUMNS_READ_MAX = 128, /* of one table; real ones have up to about 60 */
    SHAPES_MAX = 1 << 20,
};

struct column {
    const struct nsys_rule *rule; /* NULL: an arg of its own */
    name_id key;
    int at; /* in the SELECT */
};

struct reader {
    struct nsys *nsys;
    const struct nsys_spec *spec;
    struct nsys_rows rows;
    struct column fields[COLUMNS_READ_MAX], shared[COLUMNS_READ_MAX], own[COLUMNS_READ_MAX];
    uint32_t field_count, shared_count, own_count;
    int text_at, text_id_at; /* -1: no such column */
    name_id table_name;
};

int64_t nsys_ps(int64_t ns)
{
    int64_t ps;

    if (!__builtin_mul_overflow(ns, INT64_C(1000), &ps))
        return ps;
    return ns < 0 ? INT64_MIN : INT64_MAX;
}

uint64_t nsys_launch_key(const struct nsys *nsys, int64_t process, int64_t correlation)
{
    uint64_t of_process = nsys->by_correlation ? 0 : (uint64_t)process >> 24;

    return of_process << 32 ^ (uint64_t)correlation;
}

static bool is_of(const struct nsys_rule *rule, const struct nsys_table *table)
{
    return rule->table == NULL || str_equal(table->name, str_of(rule->table));
}

static struct column *column_list(struct reader *reader, enum nsys_use use, uint32_t **ret_count)
{
    switch (use) {
    case USE_FIELD:
        *ret_count = &reader->field_count;
        return reader->fields;
    case USE_OWN:
        *ret_count = &reader->own_count;
        return reader->own;
    default:
        *ret_count = &reader->shared_count;
        return reader->shared;
    }
}

static void select_column(struct reader *reader, struct text *sql, int *count, struct str name,
                          const struct nsys_rule *rule)
{
    enum nsys_use use = rule != NULL ? rule->use : USE_OWN;
    struct str key = rule != NULL && rule->key != NULL ? str_of(rule->key) : name;
    uint32_t *list_count;

    if (use == USE_NOTHING || *count == COLUMNS_READ_MAX)
        return;
    text_puts(sql, *count > 0 ? ", " : "");
    nsys_sql_name(sql, name);
    if (use == USE_TEXT) {
        *(rule->shown == AS_WORD ? &reader->text_id_at : &reader->text_at) = (*count)++;
        return;
    }
    struct column *list = column_list(reader, use, &list_count);
    list[(*list_count)++] = (struct column){
        .rule = rule,
        .key = sink_name(reader->nsys->sink, key),
        .at = (*count)++,
    };
}

/* The columns that rules know, in the rules' order, then those that none knows. */
static bool select_columns(struct reader *reader, struct nsys_table *table, struct text *sql)
{
    bool known[COLUMNS_READ_MAX] = {false};
    size_t rule_count;
    const struct nsys_rule *rules = nsys_rules(&rule_count);
    int count = 0;

    for (size_t rule = 0; rule < rule_count; rule++) {
        if (!is_of(&rules[rule], table))
            continue;
        for (uint32_t at = 0; at < table->column_count && at < COLUMNS_READ_MAX; at++) {
            if (known[at] || !str_equal(table->columns[at], str_of(rules[rule].column)))
                continue;
            known[at] = true;
            select_column(reader, sql, &count, table->columns[at], &rules[rule]);
        }
    }
    for (uint32_t at = 0; at < table->column_count && at < COLUMNS_READ_MAX; at++)
        if (!known[at])
            select_column(reader, sql, &count, table->columns[at], NULL);
    return count > 0;
}

static name_id color_name(struct nsys *nsys, int64_t argb)
{
    char text[16];

    snprintf(text, sizeof text, "#%06" PRIx64, (uint64_t)argb & 0xffffff);
    return sink_name(nsys->sink, str_of(text));
}

/* The value as a rule wants it shown; as it is where its word is missing. */
static struct arg shown_arg(struct nsys *nsys, const struct nsys_rule *rule, struct arg arg)
{
    int64_t value = (int64_t)arg.bits;
    name_id name = 0;

    if (rule == NULL || arg.type != ARG_INT64)
        return arg;
    if (rule->shown == AS_WORD)
        name = nsys_word(nsys, value);
    else if (rule->shown == AS_LABEL)
        name = nsys_label(nsys, rule->labels, value, rule->fallback != NULL ? rule->fallback : "");
    else if (rule->shown == AS_COLOR)
        name = color_name(nsys, value);
    else if (rule->shown == AS_THREAD)
        arg.bits &= 0xffffff;
    return name == 0 ? arg : (struct arg){.key = arg.key, .type = ARG_STRING, .bits = name};
}

static struct arg column_arg(struct reader *reader, const struct column *column)
{
    struct arg arg = nsys_value(&reader->rows, column->at);

    arg.key = column->key;
    return shown_arg(reader->nsys, column->rule, arg);
}

/* "128,1,1" where X, Y and Z are there; a single one as the number it is. */
static struct arg triple_arg(struct reader *reader, uint32_t *at)
{
    const struct column *first = &reader->shared[*at];
    int64_t sizes[3];
    int count = 0;
    char text[80];

    while (count < 3 && *at + (uint32_t)count < reader->shared_count &&
           reader->shared[*at + (uint32_t)count].rule->use == USE_TRIPLE &&
           nsys_integer(&reader->rows, reader->shared[*at + (uint32_t)count].at, &sizes[count]))
        count++;
    if (count < 3)
        return column_arg(reader, first);
    *at += 2;
    snprintf(text, sizeof text, "%" PRId64 ",%" PRId64 ",%" PRId64, sizes[0], sizes[1], sizes[2]);
    return (struct arg){
        .key = first->key, .type = ARG_STRING, .bits = sink_name(reader->nsys->sink, str_of(text))};
}

static name_id name_of_shape(struct reader *reader, const struct arg *named)
{
    const struct nsys_spec *spec = reader->spec;
    struct nsys *nsys = reader->nsys;
    struct str name = STR("");
    char number[32];

    if (named->type == ARG_STRING) {
        name = sink_text(nsys->sink, (name_id)named->bits);
    } else if (named->type == ARG_INT64) {
        snprintf(number, sizeof number, "%" PRId64, (int64_t)named->bits);
        name = str_of(number);
    }
    if (name.count == 0)
        return sink_name(nsys->sink, str_of(spec->what));
    /* "cudaLaunchKernel_v7000": the version of the table of calls, which reports leave out. */
    if (name.count > 6 && name.at[name.count - 6] == '_' && name.at[name.count - 5] == 'v')
        name.count -= 6;
    if (spec->before == NULL && spec->behind == NULL)
        return named->type == ARG_STRING &&
                       name.count == sink_text(nsys->sink, (name_id)named->bits).count
                   ? (name_id)named->bits
                   : sink_name(nsys->sink, str_copy(nsys->arena, name));
    return sink_name(nsys->sink,
                     str_format(nsys->arena, "%s%.*s%s", spec->before != NULL ? spec->before : "",
                                STR_ARG(name), spec->behind != NULL ? spec->behind : ""));
}

static struct nsys_shape make_shape(struct reader *reader)
{
    struct nsys *nsys = reader->nsys;
    struct arg named = {0}, args[COLUMNS_READ_MAX];
    uint32_t count = 0;

    for (uint32_t at = 0; at < reader->shared_count; at++) {
        const struct column *column = &reader->shared[at];
        struct arg arg =
            column->rule->use == USE_TRIPLE ? triple_arg(reader, &at) : column_arg(reader, column);

        if (column->rule->use == USE_NAME && arg.type != ARG_NONE && named.type == ARG_NONE)
            named = arg;
        else if (arg.type != ARG_NONE)
            args[count++] = arg;
    }
    struct nsys_shape shape = {.name = name_of_shape(reader, &named)};
    if (count > 0)
        shape.type = sink_type(nsys->sink, shape.name);
    for (uint32_t index = 0; index < count; index++)
        sink_type_arg(nsys->sink, shape.type, args[index]);
    shape.kind = (uint8_t)nsys_kind(nsys, shape.name, reader->spec->on_device);
    return shape;
}

/* Of the shared columns of the row at hand. */
static struct hash128 hash_shape(struct reader *reader)
{
    uint64_t values[COLUMNS_READ_MAX + 1];

    for (uint32_t at = 0; at < reader->shared_count; at++) {
        int64_t value;

        if (nsys_integer(&reader->rows, reader->shared[at].at, &value)) {
            values[at] = (uint64_t)value;
        } else {
            struct arg arg = nsys_value(&reader->rows, reader->shared[at].at);

            values[at] = arg.bits * 31 + (uint64_t)arg.type + UINT64_C(0x9e3779b97f4a7c15);
        }
    }
    values[reader->shared_count] = reader->table_name;
    return hash128((struct bytes){.at = (const uint8_t *)values,
                                  .count = (reader->shared_count + 1) * sizeof values[0]});
}

static struct nsys_shape shape_of(struct reader *reader)
{
    struct nsys *nsys = reader->nsys;
    struct hash128 hash = hash_shape(reader);
    uint32_t *known;

    if (nsys->shape_count == SHAPES_MAX) {
        sink_note(nsys->sink, "args-left-out", NOTE_WARNING, 1,
                  "There are more than %d different shapes of events; later ones have no name.",
                  SHAPES_MAX);
        return (struct nsys_shape){.name = sink_name(nsys->sink, str_of(reader->spec->what)),
                                   .kind = KIND_OTHER};
    }
    known = pair_table_at(&nsys->shapes, hash.low, hash.high);
    if (*known != PAIR_NONE)
        return nsys->shape[*known];
    if (nsys->shape_count == nsys->shape_capacity) {
        nsys->shape_capacity = nsys->shape_capacity == 0 ? 256 : nsys->shape_capacity * 2;
        nsys->shape = memory_resize(nsys->shape, nsys->shape_capacity, sizeof *nsys->shape);
    }
    *known = nsys->shape_count++;
    return nsys->shape[nsys->shape_count - 1] = make_shape(reader);
}

static bool read_fields(struct reader *reader, struct nsys_row *row)
{
    for (uint32_t at = 0; at < reader->field_count; at++) {
        enum nsys_field field = reader->fields[at].rule->field;
        if (nsys_integer(&reader->rows, reader->fields[at].at, &row->values[field]))
            row->present |= 1u << field;
    }
    if (!row_has(row, FIELD_START)) {
        reader->nsys->without_time++;
        return false;
    }
    row->start_ps = nsys_ps(row->values[FIELD_START]);
    row->end_ps = row_has(row, FIELD_END) ? nsys_ps(row->values[FIELD_END]) : row->start_ps;
    return true;
}

/* The row's own text, if it has one. */
static void read_text(struct reader *reader, struct nsys_row *row)
{
    struct nsys *nsys = reader->nsys;
    int64_t id;

    if (reader->text_at < 0 && reader->text_id_at < 0)
        return;
    struct str text = reader->text_at >= 0 ? nsys_text(&reader->rows, reader->text_at) : STR("");
    if (text.count > 0)
        row->name = sink_name(nsys->sink, text);
    else if (reader->text_id_at >= 0 && nsys_integer(&reader->rows, reader->text_id_at, &id))
        row->name = nsys_word(nsys, id);
    row->kind = nsys_kind(nsys, row->name, reader->spec->on_device);
}

static void put_integer(struct nsys *nsys, name_id key, enum arg_type type, uint64_t value)
{
    sink_arg(nsys->sink, (struct arg){.key = key, .type = type, .bits = value});
}

/* What the row's fields tell besides place and time. */
static void put_causes(struct reader *reader, const struct nsys_row *row)
{
    struct nsys *nsys = reader->nsys;
    const struct nsys_spec *spec = reader->spec;

    if (row_or(row, FIELD_CORRELATION, 0) != 0) {
        int64_t process = row_has(row, FIELD_PROCESS) ? row->values[FIELD_PROCESS]
                                                      : process_of(row_or(row, FIELD_THREAD, 0));

        put_integer(nsys, nsys->key_correlation, ARG_INT64,
                    (uint64_t)row->values[FIELD_CORRELATION]);
        if (spec->cause != CAUSE_NONE)
            sink_flow(nsys->sink, spec->cause == CAUSE_LAUNCHES ? FLOW_FROM : FLOW_TO,
                      nsys->launch_kind,
                      nsys_launch_key(nsys, process, row->values[FIELD_CORRELATION]));
    }
    if (row_has(row, FIELD_BYTES))
        put_integer(nsys, nsys->key_bytes, ARG_INT64, (uint64_t)row->values[FIELD_BYTES]);
    if (row_or(row, FIELD_NODE, 0) != 0)
        put_integer(nsys, nsys->key_node, ARG_INT64, (uint64_t)row->values[FIELD_NODE]);
    if (row_has(row, FIELD_CALL_CHAIN) && spec->chains != NULL) {
        stack_id stack = nsys_chain_stack(nsys, spec->chains, row->values[FIELD_CALL_CHAIN]);

        if (stack != NO_STACK)
            put_integer(nsys, nsys->key_stack, ARG_UINT64, stack);
    }
}

static void put_own_args(struct reader *reader)
{
    for (uint32_t at = 0; at < reader->own_count; at++) {
        struct arg arg = column_arg(reader, &reader->own[at]);

        if (arg.type != ARG_NONE)
            sink_arg(reader->nsys->sink, arg);
    }
}

static void read_row(struct reader *reader)
{
    const struct nsys_spec *spec = reader->spec;
    struct nsys *nsys = reader->nsys;
    struct nsys_row row = {.track = NO_TRACK};
    int64_t dur_ps;

    if (!read_fields(reader, &row))
        return;
    struct nsys_shape shape = shape_of(reader);
    row.name = shape.name;
    row.kind = (enum kind)shape.kind;
    read_text(reader, &row);
    spec->place(nsys, spec, &row);
    if (row.track == NO_TRACK)
        return;
    if (__builtin_sub_overflow(row.end_ps, row.start_ps, &dur_ps))
        dur_ps = row.end_ps < row.start_ps ? INT64_MIN : INT64_MAX;
    sink_slice(nsys->sink, (struct sink_slice){.track = row.track,
                                               .start_ps = row.start_ps,
                                               .dur_ps = dur_ps,
                                               .name = row.name,
                                               .kind = row.kind,
                                               .flags = row.flags,
                                               .type = shape.type});
    put_causes(reader, &row);
    put_own_args(reader);
    if (row.end_ps > nsys->last_ps)
        nsys->last_ps = row.end_ps;
    if (spec->given != NULL)
        spec->given(nsys, spec, &row);
}

void nsys_table_read(struct nsys *nsys, const struct nsys_spec *spec)
{
    struct nsys_table *table = nsys_table_find(&nsys->db, str_of(spec->table));
    struct reader reader = {
        .nsys = nsys,
        .spec = spec,
        .text_at = -1,
        .text_id_at = -1,
        .table_name = sink_name(nsys->sink, str_of(spec->table)),
    };
    struct text sql = {0};

    if (table == NULL)
        return;
    if (select_columns(&reader, table, &sql)) {
        reader.rows =
            nsys_rows_open(&nsys->db, table, sql.at, spec->tail != NULL ? spec->tail : "");
        reader.rows.counts = spec->tail == NULL;
        while (nsys_rows_next(&reader.rows))
            read_row(&reader);
        nsys_rows_close(&reader.rows);
    }
    text_free(&sql);
}
