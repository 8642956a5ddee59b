/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of a row of kernels; what is not known is null, with its reason. */
#include <math.h>

#include "analyse/device/kernel_names.h"
#include "analyse/hlo/scope.h"
#include "analyse/ops/kernels_parts.h"
#include "base/shell.h"

enum {
    COLUMN_KEY,
    COLUMN_KERNEL,
    COLUMN_WORK,
    COLUMN_COUNT_,
    COLUMN_TOTAL,
    COLUMN_SELF_,
    COLUMN_SHARE,
    COLUMN_MEAN,
    COLUMN_STDEV,
    COLUMN_MIN,
    COLUMN_P50,
    COLUMN_P95,
    COLUMN_MAX,
    COLUMN_VARIANTS,
    COLUMN_GRID,
    COLUMN_BLOCK_,
    COLUMN_REGISTERS,
    COLUMN_SHARED,
    COLUMN_OCCUPANCY,
    COLUMN_LIMITED,
    COLUMN_TENSOR,
    COLUMN_TENSOR_BY,
    COLUMN_WAVES,
    COLUMN_TAIL,
    COLUMN_COMPUTE,
    COLUMN_MEMORY,
    COLUMN_STARVED_COUNT,
    COLUMN_STARVED,
    COLUMN_QUEUE,
    COLUMN_LAUNCH,
    COLUMN_CALL,
    COLUMN_GAP,
    COLUMN_LAUNCHES,
    COLUMN_GRAPHS,
    COLUMN_OP,
    COLUMN_MODULE,
    COLUMN_SCOPE,
    COLUMN_SOURCE,
    COLUMN_NCU,
};

const struct column kernels_columns[] = {
    [COLUMN_KEY] = {"key", "Key", UNIT_TEXT, false},
    [COLUMN_KERNEL] = {"name", "Name", UNIT_TEXT, true},
    [COLUMN_WORK] = {"kind", "Kind", UNIT_TEXT, false},
    [COLUMN_COUNT_] = {"count", "Count", UNIT_COUNT, true},
    [COLUMN_TOTAL] = {"total_ps", "Total", UNIT_PS, true},
    [COLUMN_SELF_] = {"self_ps", "Self", UNIT_PS, false},
    [COLUMN_SHARE] = {"share", "Share", UNIT_SHARE, true},
    [COLUMN_MEAN] = {"mean_ps", "Mean", UNIT_PS, true},
    [COLUMN_STDEV] = {"stdev_ps", "Std. dev.", UNIT_PS, false},
    [COLUMN_MIN] = {"min_ps", "Min", UNIT_PS, false},
    [COLUMN_P50] = {"p50_ps", "p50", UNIT_PS, false},
    [COLUMN_P95] = {"p95_ps", "p95", UNIT_PS, true},
    [COLUMN_MAX] = {"max_ps", "Max", UNIT_PS, false},
    [COLUMN_VARIANTS] = {"variant_count", "Shapes", UNIT_COUNT, false},
    [COLUMN_GRID] = {"grid", "Grid", UNIT_TEXT, true},
    [COLUMN_BLOCK_] = {"block", "Block", UNIT_TEXT, true},
    [COLUMN_REGISTERS] = {"registers", "Registers", UNIT_COUNT, true},
    [COLUMN_SHARED] = {"shared_bytes", "Shared", UNIT_BYTES, true},
    [COLUMN_OCCUPANCY] = {"occupancy", "Occupancy", UNIT_SHARE, true},
    [COLUMN_LIMITED] = {"limited_by", "Limited by", UNIT_TEXT, true},
    [COLUMN_TENSOR] = {"tensor_core", "Tensor core", UNIT_NONE, true},
    [COLUMN_TENSOR_BY] = {"tensor_core_by", "Told by", UNIT_TEXT, false},
    [COLUMN_WAVES] = {"waves", "Waves", UNIT_NONE, false},
    [COLUMN_TAIL] = {"tail_share", "Tail", UNIT_SHARE, false},
    [COLUMN_COMPUTE] = {"compute_share", "Of compute", UNIT_SHARE, true},
    [COLUMN_MEMORY] = {"memory_share", "Of bandwidth", UNIT_SHARE, true},
    [COLUMN_STARVED_COUNT] = {"starved_count", "Late launches", UNIT_COUNT, false},
    [COLUMN_STARVED] = {"starved_ps", "Idle before", UNIT_PS, false},
    [COLUMN_QUEUE] = {"queue_p50_ps", "Queue p50", UNIT_PS, true},
    [COLUMN_LAUNCH] = {"launch_p50_ps", "Launch p50", UNIT_PS, false},
    [COLUMN_CALL] = {"call_p50_ps", "Call p50", UNIT_PS, false},
    [COLUMN_GAP] = {"gap_p50_ps", "Gap before p50", UNIT_PS, false},
    [COLUMN_LAUNCHES] = {"launch_count", "Calls known", UNIT_COUNT, false},
    [COLUMN_GRAPHS] = {"graph_count", "By a graph", UNIT_COUNT, false},
    [COLUMN_OP] = {"op", "Op", UNIT_TEXT, false},
    [COLUMN_MODULE] = {"module", "Module", UNIT_TEXT, false},
    [COLUMN_SCOPE] = {"scope", "Scope", UNIT_TEXT, false},
    [COLUMN_SOURCE] = {"source", "Source", UNIT_TEXT, false},
    [COLUMN_NCU] = {"ncu", "ncu", UNIT_TEXT, false},
};
const uint32_t kernels_column_count = COUNT(kernels_columns);

const uint32_t kernels_launch_columns[] = {
    COLUMN_GRID,      COLUMN_BLOCK_,  COLUMN_REGISTERS, COLUMN_SHARED,
    COLUMN_OCCUPANCY, COLUMN_LIMITED, COLUMN_TENSOR,    COLUMN_TENSOR_BY,
    COLUMN_WAVES,     COLUMN_TAIL,    COLUMN_NCU,
};
const uint32_t kernels_launch_column_count = COUNT(kernels_launch_columns);

static const struct host_trace *host_of(const struct kernels_work *work,
                                        const struct kernel_row *row)
{
    return &work->run->hosts[row->host];
}

static const struct op *op_of(const struct kernels_work *work, const struct kernel_row *row)
{
    return &host_of(work, row)->attribution->ops[kernel_of_row(work, row)->op];
}

static struct str no_shape(const struct kernels_work *work, const struct kernel_row *row)
{
    return row->variant_count > 1
               ? str_format(work->arena, "%u launch shapes: by=variant shows each",
                            row->variant_count)
               : STR("the profile does not record it, or records an implausible value");
}

static struct cell number_cell(const struct kernels_work *work, const struct kernel_row *row,
                               uint32_t value)
{
    return row->variant_count > 1 || value == NOT_RECORDED ? cell_null(no_shape(work, row))
                                                           : cell_integer(value);
}

static struct cell triple_cell(const struct kernels_work *work, const struct kernel_row *row,
                               const uint32_t value[3])
{
    if (row->variant_count > 1 || value[0] == NOT_RECORDED)
        return cell_null(no_shape(work, row));
    return cell_text(str_format(work->arena, "%u,%u,%u", value[0], value[1], value[2]));
}

static struct cell shared_cell(const struct kernels_work *work, const struct kernel_row *row)
{
    const struct kernel *kernel = kernel_of_row(work, row);

    if (row->variant_count > 1 || kernel->static_shared_bytes == NOT_RECORDED)
        return cell_null(no_shape(work, row));
    return cell_integer(
        (int64_t)kernel->static_shared_bytes +
        (kernel->dynamic_shared_bytes == NOT_RECORDED ? 0 : (int64_t)kernel->dynamic_shared_bytes));
}

struct occupancy kernels_occupancy(const struct kernels_work *work, const struct kernel_row *row)
{
    const struct kernel *kernel = kernel_of_row(work, row);
    struct occupancy computed = occupancy_compute(work->processors[row->host], kernel);

    if (kernel->occupancy != NOT_RECORDED) {
        computed.share = kernel->occupancy;
        if (computed.share >= 10000)
            computed.limit = LIMIT_NONE;
    }
    return computed;
}

static struct cell occupancy_cell(const struct kernels_work *work, const struct kernel_row *row,
                                  bool limit)
{
    struct occupancy occupancy = kernels_occupancy(work, row);
    const char *word = occupancy_limit_word(occupancy.limit);

    if (row->variant_count > 1)
        return cell_null(no_shape(work, row));
    if (!limit)
        return occupancy.share == NOT_RECORDED ? cell_null(str_of(occupancy.reason))
                                               : cell_real(occupancy.share / 10000.0);
    if (word != NULL)
        return cell_text(str_of(word));
    return cell_null(occupancy.limit == LIMIT_NONE ? STR("nothing: the multiprocessor is full")
                                                   : str_of(occupancy.reason));
}

/* The last wave is rarely full: how many places for blocks stay empty in all of them. */
static struct cell waves_cell(const struct kernels_work *work, const struct kernel_row *row,
                              bool tail)
{
    const struct kernel *kernel = kernel_of_row(work, row);
    struct processor processor = work->processors[row->host];
    struct occupancy computed = occupancy_compute(processor, kernel);
    double waves = occupancy_waves(processor, &computed, kernel);

    if (row->variant_count > 1 || kernel->grid[0] == NOT_RECORDED)
        return cell_null(no_shape(work, row));
    if (computed.blocks == 0)
        return cell_null(str_of(computed.reason));
    if (processor.count == 0)
        return cell_null(STR("the profile does not say how many multiprocessors the device has"));
    if (waves <= 0)
        return cell_null(STR("it has no blocks"));
    return cell_real(tail ? 1 - waves / ceil(waves) : waves);
}

/* Numbers of xla_data.proto that tensor cores multiply. */
static bool is_tensor_type(uint8_t type)
{
    enum { S8 = 2, U8 = 6, F16 = 10, BF16 = 16, F8E5M2 = 19, F8_LAST = 33 };

    return type == S8 || type == U8 || type == F16 || type == BF16 ||
           (type >= F8E5M2 && type <= F8_LAST);
}

static int tensor_by_hlo(const struct kernels_work *work, const struct kernel_row *row,
                         struct str *ret_why)
{
    const struct attribution *of = host_of(work, row)->attribution;
    const struct op_cost *cost =
        of->costs == NULL ? NULL : &of->costs[kernel_of_row(work, row)->op];

    *ret_why = STR("neither its name nor its HLO instruction tells");
    if (cost == NULL || (cost->flops_rule != COST_HLO && cost->flops_rule != COST_TARGET))
        return -1;
    if (cost->matrix_flops == 0) {
        *ret_why = STR("HLO: its op multiplies no matrices");
        return 0;
    }
    *ret_why = is_tensor_type(cost->type)
                   ? STR("HLO: its op multiplies matrices of a type that tensor cores support, but "
                         "its name does not tell whether it used them")
                   : STR("HLO: its op multiplies matrices, of a type that needs TF32 or FP64 mode");
    return -1;
}

int kernels_tensor_core(const struct kernels_work *work, const struct kernel_row *row,
                        struct str *ret_why)
{
    const char *word;
    enum by_name by_name = kernel_tensor_core(row->name, &word);

    if (by_name == BY_NAME_UNKNOWN)
        return tensor_by_hlo(work, row, ret_why);
    *ret_why = str_format(work->arena, "by name: %s", word);
    return by_name == BY_NAME_YES;
}

static struct cell tensor_cell(const struct kernels_work *work, const struct kernel_row *row,
                               bool by)
{
    struct str why;
    int uses = kernels_tensor_core(work, row, &why);

    if (uses < 0)
        return cell_null(why);
    return by ? cell_text(why) : cell_bool(uses == 1);
}

static struct cell wait_cell(const struct kernel_row *row, uint64_t count, int64_t value_ps)
{
    if (count == 0)
        return cell_null(STR("the profile does not record which call launched it"));
    return row->spread_known ? cell_integer(value_ps) : cell_null(STR(""));
}

static struct cell name_cell(const struct kernels_work *work, const struct kernel_row *row,
                             name_id name, const char *reason)
{
    return name == 0 ? cell_null(str_of(reason))
                     : cell_text(trace_name(host_of(work, row)->trace, name));
}

static struct cell ncu_cell(const struct kernels_work *work, const struct kernel_row *row)
{
    if (work->processors[row->host].amd)
        return cell_null(STR("Nsight Compute profiles NVIDIA's devices alone"));
    return cell_text(
        str_format(work->arena,
                   "ncu --kernel-name-base demangled --kernel-name %.*s --launch-skip %u "
                   "--launch-count 1%s",
                   STR_ARG(shell_argument(work->arena, row->name)), row->longest_skip,
                   row->graph_count > 0 ? " --graph-profiling node" : ""));
}

static struct cell time_cell(const struct kernels_work *work, const struct kernel_row *row,
                             uint32_t column)
{
    (void)work;
    switch (column) {
    case COLUMN_MEAN:
        return cell_of_sum(row->whole_ps, cell_integer(ps_mean(row->whole_ps, row->count)));
    case COLUMN_STDEV:
        return cell_integer(row->stdev_ps);
    case COLUMN_MIN:
        return cell_integer(row->min_ps);
    case COLUMN_P50:
        return cell_integer(row->p50_ps);
    case COLUMN_P95:
        return cell_integer(row->p95_ps);
    case COLUMN_MAX:
        return cell_integer(row->max_ps);
    case COLUMN_QUEUE:
        return wait_cell(row, row->launch_count, row->queue_p50_ps);
    case COLUMN_LAUNCH:
        return wait_cell(row, row->launch_count, row->launch_p50_ps);
    case COLUMN_CALL:
        return wait_cell(row, row->launch_count, row->call_p50_ps);
    case COLUMN_STARVED_COUNT:
        return wait_cell(row, row->launch_count, (int64_t)row->starved_count);
    case COLUMN_STARVED:
        return wait_cell(row, row->launch_count, row->starved_ps);
    default:
        return row->gap_count == 0 ? cell_null(STR("nothing ran before it on its stream"))
                                   : cell_integer(row->gap_p50_ps);
    }
}

static struct cell shape_cell(const struct kernels_work *work, const struct kernel_row *row,
                              uint32_t column)
{
    const struct kernel *kernel = kernel_of_row(work, row);

    switch (column) {
    case COLUMN_GRID:
        return triple_cell(work, row, kernel->grid);
    case COLUMN_BLOCK_:
        return triple_cell(work, row, kernel->block);
    case COLUMN_REGISTERS:
        return number_cell(work, row, kernel->registers);
    case COLUMN_SHARED:
        return shared_cell(work, row);
    case COLUMN_OCCUPANCY:
        return occupancy_cell(work, row, false);
    case COLUMN_LIMITED:
        return occupancy_cell(work, row, true);
    case COLUMN_WAVES:
    case COLUMN_TAIL:
        return waves_cell(work, row, column == COLUMN_TAIL);
    case COLUMN_COMPUTE:
    case COLUMN_MEMORY:
        return kernels_speed_cell(work, row, column == COLUMN_MEMORY);
    case COLUMN_TENSOR:
        return tensor_cell(work, row, false);
    default:
        return tensor_cell(work, row, true);
    }
}

static struct cell op_cell(const struct kernels_work *work, const struct kernel_row *row,
                           uint32_t column)
{
    const struct op *op = op_of(work, row);
    bool named = op->module != 0 || op->program != NO_PROGRAM || op->caller != 0;

    switch (column) {
    case COLUMN_OP:
        return name_cell(work, row, named ? op_called(op) : 0,
                         "the profile does not say to which op it belongs");
    case COLUMN_MODULE:
        return op->module == 0
                   ? cell_null(STR("the profile does not say to which module it belongs"))
                   : cell_text(module_name_of(&work->modules[row->host], op));
    case COLUMN_SCOPE: {
        struct str scope = scope_of_op(host_of(work, row)->trace, op);

        return scope.count > 0 ? cell_text(scope)
                               : cell_null(STR("the profile holds no name stack for it"));
    }
    default:
        return name_cell(work, row, op->source, "the profile holds no source line for it");
    }
}

struct cell kernels_cell(const void *data, uint32_t at, uint32_t column)
{
    const struct kernels_work *work = data;
    const struct kernel_row *row = &work->rows[at];

    switch (column) {
    case COLUMN_KEY:
        return cell_text(row->key);
    case COLUMN_KERNEL:
        return cell_text(row->name);
    case COLUMN_WORK:
        return cell_text(str_of(kind_word(op_of(work, row)->kind)));
    case COLUMN_COUNT_:
        return cell_integer((int64_t)row->count);
    case COLUMN_TOTAL:
        return cell_integer(row->total_ps);
    case COLUMN_SELF_:
        return cell_integer(row->self_ps);
    case COLUMN_SHARE:
        return work->total_ps > 0
                   ? cell_of_sum(work->total_ps,
                                 cell_real((double)row->total_ps / (double)work->total_ps))
                   : cell_null(STR("no kernel took any time"));
    case COLUMN_VARIANTS:
        return cell_integer(row->variant_count);
    case COLUMN_LAUNCHES:
        return cell_integer((int64_t)row->launch_count);
    case COLUMN_GRAPHS:
        return cell_integer((int64_t)row->graph_count);
    case COLUMN_NCU:
        return ncu_cell(work, row);
    default:
        break;
    }
    if (column >= COLUMN_OP)
        return op_cell(work, row, column);
    return column >= COLUMN_GRID && column <= COLUMN_MEMORY ? shape_cell(work, row, column)
                                                            : time_cell(work, row, column);
}
