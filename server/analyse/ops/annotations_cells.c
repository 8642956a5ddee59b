/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of a row of annotations; what no span is around has time, but no spans to count. */
#include "analyse/ops/annotations_parts.h"
#include "analyse/stats/quantile.h"

enum {
    COLUMN_KEY,
    COLUMN_LABEL,
    COLUMN_SPANS,
    COLUMN_TOTAL,
    COLUMN_OWN,
    COLUMN_DEVICE,
    COLUMN_DEVICE_SELF,
    COLUMN_DEVICE_SHARE,
    COLUMN_LAUNCHES,
    COLUMN_PROJECTED,
    COLUMN_PROJECTED_COUNT,
    COLUMN_PROJECTED_MEAN,
    COLUMN_PROJECTED_MIN,
    COLUMN_PROJECTED_P50,
    COLUMN_PROJECTED_MAX,
    COLUMN_PROJECTED_STDEV,
    COLUMN_MEAN,
    COLUMN_MIN,
    COLUMN_P50,
    COLUMN_P95,
    COLUMN_MAX,
    COLUMN_STDEV,
};

const struct column annotation_columns[] = {
    [COLUMN_KEY] = {"key", "Key", UNIT_TEXT, false},
    [COLUMN_LABEL] = {"name", "Name", UNIT_TEXT, true},
    [COLUMN_SPANS] = {"count", "Count", UNIT_COUNT, true},
    [COLUMN_TOTAL] = {"total_ps", "Host total", UNIT_PS, true},
    [COLUMN_OWN] = {"self_ps", "Host self", UNIT_PS, true},
    [COLUMN_DEVICE] = {"device_ps", "Device", UNIT_PS, true},
    [COLUMN_DEVICE_SELF] = {"device_self_ps", "Device self", UNIT_PS, true},
    [COLUMN_DEVICE_SHARE] = {"device_share", "Share", UNIT_SHARE, true},
    [COLUMN_LAUNCHES] = {"launch_count", "Device ops", UNIT_COUNT, true},
    [COLUMN_PROJECTED] = {"projected_ps", "Projected", UNIT_PS, false},
    [COLUMN_PROJECTED_COUNT] = {"projected_count", "Projected spans", UNIT_COUNT, false},
    [COLUMN_PROJECTED_MEAN] = {"projected_mean_ps", "Projected mean", UNIT_PS, false},
    [COLUMN_PROJECTED_MIN] = {"projected_min_ps", "Projected min", UNIT_PS, false},
    [COLUMN_PROJECTED_P50] = {"projected_p50_ps", "Projected p50", UNIT_PS, false},
    [COLUMN_PROJECTED_MAX] = {"projected_max_ps", "Projected max", UNIT_PS, false},
    [COLUMN_PROJECTED_STDEV] = {"projected_stdev_ps", "Projected std. dev.", UNIT_PS, false},
    [COLUMN_MEAN] = {"mean_ps", "Mean", UNIT_PS, true},
    [COLUMN_MIN] = {"min_ps", "Min", UNIT_PS, false},
    [COLUMN_P50] = {"p50_ps", "p50", UNIT_PS, false},
    [COLUMN_P95] = {"p95_ps", "p95", UNIT_PS, true},
    [COLUMN_MAX] = {"max_ps", "Max", UNIT_PS, false},
    [COLUMN_STDEV] = {"stdev_ps", "Std. dev.", UNIT_PS, false},
};
const uint32_t annotation_column_count = COUNT(annotation_columns);

static int64_t mean_of(const struct lengths *lengths)
{
    return ps_mean(lengths->total_ps, lengths->count);
}

static int64_t extreme_of(const struct lengths *lengths, bool largest)
{
    int64_t ret = lengths->items[0];

    for (uint64_t i = 1; i < lengths->count; i++)
        ret = (lengths->items[i] > ret) == largest ? lengths->items[i] : ret;
    return ret;
}

static int64_t stdev_of(const struct lengths *lengths)
{
    struct quantiles *all = quantiles_create(lengths->count, mean_of(lengths));

    for (uint64_t i = 0; i < lengths->count; i++)
        quantiles_add(all, lengths->items[i]);

    int64_t ret = quantiles_stdev(all);

    quantiles_free(all);
    return ret;
}

static struct cell rest_cell(void)
{
    return cell_null(STR("no span of the program is around it"));
}

static bool is_of_devices(uint32_t column)
{
    return column >= COLUMN_DEVICE && column <= COLUMN_PROJECTED_STDEV;
}

static struct cell projected_cell(const struct note_row *row, uint32_t column)
{
    const struct lengths *lengths = &row->projected;

    if (row->is_rest)
        return rest_cell();
    if (column == COLUMN_PROJECTED)
        return cell_integer(lengths->total_ps);
    if (column == COLUMN_PROJECTED_COUNT)
        return cell_integer((int64_t)lengths->count);
    if (lengths->count == 0)
        return cell_null(STR("none of its spans launched device work"));
    switch (column) {
    case COLUMN_PROJECTED_MEAN:
        return cell_of_sum(lengths->total_ps, cell_integer(mean_of(lengths)));
    case COLUMN_PROJECTED_MIN:
        return cell_integer(extreme_of(lengths, false));
    case COLUMN_PROJECTED_P50:
        return cell_integer(quantile_of(lengths->items, lengths->count, 50));
    case COLUMN_PROJECTED_MAX:
        return cell_integer(extreme_of(lengths, true));
    default:
        return cell_integer(stdev_of(lengths));
    }
}

static struct cell host_cell(const struct note_row *row, uint32_t column)
{
    const struct lengths *lengths = &row->whole;

    if (row->is_rest && (column == COLUMN_TOTAL || column == COLUMN_OWN))
        return cell_integer(row->sum.total_ps);
    if (row->is_rest || lengths->count == 0)
        return rest_cell();
    switch (column) {
    case COLUMN_SPANS:
        return cell_integer((int64_t)lengths->count);
    case COLUMN_TOTAL:
        return cell_integer(row->sum.total_ps);
    case COLUMN_OWN:
        return cell_integer(row->sum.self_ps);
    case COLUMN_MEAN:
        return cell_of_sum(lengths->total_ps, cell_integer(mean_of(lengths)));
    case COLUMN_MIN:
        return cell_integer(extreme_of(lengths, false));
    case COLUMN_P50:
        return cell_integer(quantile_of(lengths->items, lengths->count, 50));
    case COLUMN_P95:
        return cell_integer(quantile_of(lengths->items, lengths->count, 95));
    case COLUMN_MAX:
        return cell_integer(extreme_of(lengths, true));
    default:
        return cell_integer(stdev_of(lengths));
    }
}

struct cell annotation_cell(const void *data, uint32_t at, uint32_t column)
{
    const struct note_table *table = data;
    const struct note_row *row = &table->rows[at];

    if (is_of_devices(column) && !table->has_devices)
        return cell_null(STR("the profile holds no device work"));
    switch (column) {
    case COLUMN_KEY:
    case COLUMN_LABEL:
        return cell_text(row->name);
    case COLUMN_DEVICE:
        return cell_integer(row->sum.device_ps);
    case COLUMN_DEVICE_SELF:
        return cell_integer(row->sum.device_self_ps);
    case COLUMN_DEVICE_SHARE:
        return table->device_ps > 0
                   ? cell_of_sum(table->device_ps, cell_real((double)row->sum.device_self_ps /
                                                             (double)table->device_ps))
                   : cell_null(STR("devices did nothing in the selected time"));
    case COLUMN_LAUNCHES:
        return cell_integer((int64_t)row->sum.launch_count);
    case COLUMN_PROJECTED:
    case COLUMN_PROJECTED_COUNT:
    case COLUMN_PROJECTED_MEAN:
    case COLUMN_PROJECTED_MIN:
    case COLUMN_PROJECTED_P50:
    case COLUMN_PROJECTED_MAX:
    case COLUMN_PROJECTED_STDEV:
        return projected_cell(row, column);
    default:
        return host_cell(row, column);
    }
}
