/* SPDX-License-Identifier: Apache-2.0 */
/* What lies on the path, by op, scope, kind, device or host. */
#include "analyse/critical/critical_parts.h"
#include "analyse/hlo/scope.h"
#include "analyse/scan/module_names.h"
#include "analyse/table.h"
#include "base/hash.h"
#include "trace/ps.h"

enum row_column {
    ROW_NAME,
    ROW_KIND,
    ROW_MODULE,
    ROW_SCOPE,
    ROW_HOST,
    ROW_DEVICE,
    ROW_COUNT,
    ROW_ON_PATH,
    ROW_SHARE,
    ROW_SLACK,
    ROW_TIME,
};

static const struct column columns[] = {
    [ROW_NAME] = {"name", "Name", UNIT_TEXT, true},
    [ROW_KIND] = {"kind", "Kind", UNIT_TEXT, true},
    [ROW_MODULE] = {"module", "Module", UNIT_TEXT, false},
    [ROW_SCOPE] = {"scope", "Scope", UNIT_TEXT, true},
    [ROW_HOST] = {"host", "Host", UNIT_TEXT, false},
    [ROW_DEVICE] = {"device", "Device", UNIT_NONE, false},
    [ROW_COUNT] = {"count", "Count", UNIT_COUNT, true},
    [ROW_ON_PATH] = {"on_path_ps", "On the path", UNIT_PS, true},
    [ROW_SHARE] = {"share", "Share", UNIT_SHARE, true},
    [ROW_SLACK] = {"slack_ps", "Slack", UNIT_PS, true},
    [ROW_TIME] = {"time_ps", "Its time", UNIT_PS, true},
};

struct row_of {
    struct str name, module, scope, host; /* "": none, or several */
    enum piece_kind kind;                 /* PIECE_KINDS: several */
    int32_t device;                       /* -1: none */
    struct critical_op sum;
    bool has_slack;
};

struct rows {
    struct row_of *items;
    uint32_t count, capacity;
    struct map64 by_key;
    struct arena *arena;
    int64_t total_ps;
};

static uint64_t mix(uint64_t key, struct str text)
{
    return key * 0x9E3779B97F4A7C15u ^ hash64((struct bytes){(const uint8_t *)text.at, text.count});
}

static void join(struct row_of *into, const struct row_of *one)
{
    ps_add(&into->sum.on_path_ps, one->sum.on_path_ps);
    ps_add(&into->sum.time_ps, one->sum.time_ps);
    into->sum.count += one->sum.count;
    if (one->has_slack && (!into->has_slack || one->sum.slack_ps < into->sum.slack_ps))
        into->sum.slack_ps = one->sum.slack_ps;
    into->has_slack |= one->has_slack;
    if (into->kind != one->kind)
        into->kind = PIECE_KINDS;
    if (!str_equal(into->module, one->module))
        into->module = STR("");
    if (!str_equal(into->host, one->host))
        into->host = STR("");
}

static void add_row(struct rows *rows, uint64_t key, const struct row_of *one)
{
    uint32_t *at = map64_at(&rows->by_key, key, rows->count);

    if (*at < rows->count) {
        join(&rows->items[*at], one);
        return;
    }
    if (rows->count == rows->capacity) {
        uint32_t capacity = rows->capacity == 0 ? 64 : 2 * rows->capacity;
        struct row_of *items = arena_array(rows->arena, struct row_of, capacity);

        if (rows->count > 0)
            memcpy(items, rows->items, rows->count * sizeof *items);
        rows->items = items;
        rows->capacity = capacity;
    }
    rows->items[rows->count++] = *one;
}

enum rows_by { ROWS_BY_OP, ROWS_BY_SCOPE, ROWS_BY_PLACE };

static uint64_t key_of(enum rows_by by, const struct row_of *row)
{
    return by == ROWS_BY_OP      ? mix(mix(2, row->name), row->module)
           : by == ROWS_BY_SCOPE ? mix(1, row->name)
                                 : mix(row->scope.count > 0 ? 6 : 3, row->name);
}

static void add_ops(struct rows *rows, const struct host_trace *host, const struct critical_op *ops,
                    enum rows_by by)
{
    const struct module_names names = module_names_of(host, rows->arena);

    for (uint32_t i = 0; i < host->attribution->op_count; i++) {
        const struct op *op = &host->attribution->ops[i];
        struct row_of row = {.name = trace_name(host->trace, op_called(op)),
                             .module = module_name_of(&names, op),
                             .scope = trace_name(host->trace, op->scope),
                             .host = host->name,
                             .kind = (enum piece_kind)op->kind,
                             .device = -1,
                             .sum = ops[i],
                             .has_slack = true};

        if (ops[i].count == 0)
            continue;
        if (by == ROWS_BY_PLACE)
            row.scope = place_of_scope(scope_of_op(host->trace, op), rows->arena);
        if (by != ROWS_BY_OP && row.scope.count > 0)
            row.name = row.scope;
        add_row(rows, key_of(by, &row), &row);
    }
}

static void add_names(struct rows *rows, const struct host_trace *host,
                      const struct critical_op *names, enum rows_by by)
{
    for (name_id i = 0; i < host->trace->name_count; i++) {
        struct row_of row = {.name = trace_name(host->trace, i),
                             .host = host->name,
                             .kind = (enum piece_kind)KIND_HOST,
                             .device = -1,
                             .sum = names[i],
                             .has_slack = true};

        if (names[i].count == 0)
            continue;
        row.kind =
            (enum piece_kind)(names[i].kind == KIND_IDLE ? (int)PIECE_WAIT : (int)names[i].kind);
        add_row(rows, mix(by == ROWS_BY_SCOPE ? 1 : 3, row.name), &row);
    }
}

static void add_gaps(struct rows *rows, const struct critical_sums *sums)
{
    static const char *const gaps[] = {"launch delay", "scheduling delay", "unexplained"};

    for (int kind = PIECE_LAUNCH; kind < PIECE_KINDS; kind++) {
        struct row_of row = {.name = str_of(gaps[kind - PIECE_LAUNCH]),
                             .kind = (enum piece_kind)kind,
                             .device = -1,
                             .sum = {.on_path_ps = sums->kinds_ps[kind]}};

        if (sums->kinds_ps[kind] > 0)
            add_row(rows, mix(4, row.name), &row);
    }
}

static void add_kinds(struct rows *rows, const struct critical_sums *sums)
{
    for (int kind = 0; kind < PIECE_KINDS; kind++) {
        struct row_of row = {.name = str_of(piece_word((enum piece_kind)kind)),
                             .kind = (enum piece_kind)kind,
                             .device = -1,
                             .sum = {.on_path_ps = sums->kinds_ps[kind]}};

        if (sums->kinds_ps[kind] > 0)
            add_row(rows, mix(5, row.name), &row);
    }
}

static void add_devices(struct rows *rows, const struct run_traces *run,
                        const struct critical_sums *sums, bool by_host)
{
    for (uint32_t i = 0; i < sums->device_count; i++) {
        const struct device_key *key = &sums->device_keys[i];
        struct row_of row = {.name = run->hosts[key->host].name,
                             .host = run->hosts[key->host].name,
                             .kind = PIECE_KINDS,
                             .device = by_host ? -1 : key->device,
                             .sum = {.on_path_ps = sums->device_ps[i]}};

        if (!by_host)
            row.name =
                key->device < 0 ? STR("host") : str_format(rows->arena, "device %d", key->device);
        add_row(rows, map64_pair(key->host, (uint32_t)(by_host ? -1 : key->device)), &row);
    }
}

static struct cell text_cell(struct str text, const char *reason)
{
    return text.count > 0 ? cell_text(text) : cell_null(str_of(reason));
}

static struct cell rows_cell(const void *data, uint32_t row, uint32_t column)
{
    const struct rows *rows = data;
    const struct row_of *of = &rows->items[row];

    switch (column) {
    case ROW_NAME:
        return cell_text(of->name);
    case ROW_KIND:
        return of->kind == PIECE_KINDS ? cell_null(STR("it has several kinds"))
                                       : cell_text(str_of(piece_word(of->kind)));
    case ROW_MODULE:
        return text_cell(of->module, "it belongs to no module, or to several");
    case ROW_SCOPE:
        return text_cell(of->scope, "it has no scope");
    case ROW_HOST:
        return text_cell(of->host, "it belongs to several hosts");
    case ROW_DEVICE:
        return of->device < 0 ? cell_null(STR("it belongs to no single device"))
                              : cell_integer(of->device);
    case ROW_COUNT:
        return cell_integer((int64_t)of->sum.count);
    case ROW_ON_PATH:
        return cell_integer(of->sum.on_path_ps);
    case ROW_SHARE:
        return rows->total_ps <= 0
                   ? cell_null(STR("the steps take no time"))
                   : cell_of_sum(rows->total_ps,
                                 cell_real((double)of->sum.on_path_ps / (double)rows->total_ps));
    case ROW_SLACK:
        return of->has_slack ? cell_integer(of->sum.slack_ps)
                             : cell_null(STR("only ops and slices have slack"));
    default:
        return of->has_slack ? cell_integer(of->sum.time_ps)
                             : cell_null(STR("it is a part of the path only"));
    }
}

static void collect(struct rows *rows, const struct run_traces *run,
                    const struct critical_sums *sums, struct str by)
{
    enum rows_by rows_by = str_equal(by, STR("scope"))   ? ROWS_BY_SCOPE
                           : str_equal(by, STR("place")) ? ROWS_BY_PLACE
                                                         : ROWS_BY_OP;

    if (str_equal(by, STR("kind"))) {
        add_kinds(rows, sums);
    } else if (str_equal(by, STR("device")) || str_equal(by, STR("host"))) {
        add_devices(rows, run, sums, str_equal(by, STR("host")));
    } else {
        for (uint32_t i = 0; i < run->host_count; i++) {
            if (sums->ops[i] != NULL)
                add_ops(rows, &run->hosts[i], sums->ops[i], rows_by);
            add_names(rows, &run->hosts[i], sums->names[i], rows_by);
        }
        add_gaps(rows, sums);
    }
}

enum status critical_rows(const struct run_traces *run, const struct critical_sums *sums,
                          struct str by, const struct page *page, struct arena *arena,
                          struct table *ret, struct error *err)
{
    struct rows rows = {.arena = arena, .total_ps = sums->total_ps};
    struct answer_note *notes = arena_array(arena, struct answer_note, CRITICAL_NOTES);
    const struct critical_doubts doubts = {.total_ps = sums->total_ps,
                                           .unexplained_ps = sums->kinds_ps[PIECE_UNEXPLAINED],
                                           .likely_ps = sums->likely_ps,
                                           .cut_count = sums->cut_count,
                                           .left_out_count = sums->left_out_count,
                                           .step_count = sums->step_count,
                                           .step_count_all = sums->step_count_all,
                                           .no_steps = sums->no_steps,
                                           .run = run,
                                           .hosts_apart = run->host_count > 1 && !run->has_epoch};
    uint32_t *order;

    *ret = (struct table){0};
    collect(&rows, run, sums, by);
    map64_free(&rows.by_key);

    const struct table_source source = {.columns = columns,
                                        .column_count = COUNT(columns),
                                        .row_count = rows.count,
                                        .cell = rows_cell,
                                        .data = &rows};

    TRY(table_order(&source, page->sort, "-on_path_ps,name", arena, &order, err));
    table_fill(&source, order, page, arena, ret);
    ret->by = by.count > 0 ? by : STR("op");
    ret->total_ps = sums->total_ps;
    ret->note_count = critical_notes(&doubts, arena, notes);
    ret->notes = notes;
    return OK;
}
