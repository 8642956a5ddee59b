/* SPDX-License-Identifier: Apache-2.0 */
/* Values that are computed in a dearer way than they need to be.
 *
 *   compare(%ids, iota), EQ ── convert ── dot      a row of a table, taken by a product
 *   f8 ── convert ── multiply ── convert to f8     rounded twice
 *   f32 ── convert to f64 ── dot                   twice the bits of what there was
 */
#include <math.h>

#include "analyse/hlo/fault_parts.h"

enum { ONE_HOT_DEPTH_MIN = 64, CONSTANT_BYTES_MIN = 1 << 20 };

static bool comes_from_iota(struct fault_work *work, uint32_t value)
{
    for (int hop = 0; hop < FAULT_HOPS_MAX && value != HLO_NONE && fault_spend(work); hop++) {
        uint32_t source = fault_source(work, value);

        if (fault_is(work, source, "iota"))
            return true;
        if (!fault_is(work, source, "broadcast") && !fault_is(work, source, "transpose"))
            return false;
        value = fault_operand(work, source, 0);
    }
    return false;
}

static bool is_number(struct fault_work *work, uint32_t value)
{
    uint32_t source = fault_source(work, value);

    return fault_is(work, source, "constant") ||
           (fault_is(work, source, "broadcast") &&
            fault_is(work, fault_source(work, fault_operand(work, source, 0)), "constant"));
}

/* The comparison that makes a one-hot matrix, also as where(same, 1, 0); HLO_NONE. */
static uint32_t one_hot_of(struct fault_work *work, uint32_t value)
{
    for (int hop = 0; hop < FAULT_HOPS_MAX && fault_spend(work); hop++) {
        value = fault_source(work, value);
        if (!fault_is(work, value, "transpose") &&
            !(fault_is(work, value, "select") && is_number(work, fault_operand(work, value, 1)) &&
              is_number(work, fault_operand(work, value, 2))))
            break;
        value = fault_operand(work, value, 0);
    }

    struct hlo_detail detail;
    if (!fault_is(work, value, "compare"))
        return HLO_NONE;
    hlo_detail_read(work->module, &work->module->instructions[value], &detail);
    return str_equal(detail.direction, STR("EQ")) &&
                   comes_from_iota(work, fault_operand(work, value, 0)) !=
                       comes_from_iota(work, fault_operand(work, value, 1))
               ? value
               : HLO_NONE;
}

/* How many values each element of the product is the sum of. */
static double depth_of(const struct fault_work *work, uint32_t dot)
{
    struct hlo_detail detail;
    struct hlo_sizes lhs;
    double depth = 1;

    hlo_detail_read(work->module, &work->module->instructions[dot], &detail);
    cost_sizes(work->work, fault_operand(work, dot, 0), &lhs);
    for (uint32_t i = 0; i < detail.lhs_contracting.count; i++)
        if (detail.lhs_contracting.items[i] < lhs.rank)
            depth *= (double)lhs.sizes[detail.lhs_contracting.items[i]];
    return depth;
}

void fault_products(struct fault_work *work, uint32_t dot)
{
    uint32_t with_time = fault_is(work, dot, "dot") ? fault_with_time(work, dot) : HLO_NONE;

    if (with_time == HLO_NONE || fault_operand(work, dot, 0) == HLO_NONE ||
        fault_operand(work, dot, 1) == HLO_NONE || depth_of(work, dot) < ONE_HOT_DEPTH_MIN)
        return;
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t compare = one_hot_of(work, fault_operand(work, dot, side));
        uint32_t made_by = compare == HLO_NONE ? HLO_NONE : fault_with_time(work, compare);
        struct fault fault = {
            .kind = FAULT_ONE_HOT_PRODUCT, .instruction = with_time, .beside = made_by, .won = 1};

        if (compare == HLO_NONE)
            continue;
        fault.bytes = cost_bytes_of(work->work, fault_operand(work, dot, side));
        if (fault.bytes < FAULT_BYTES_MIN)
            continue;
        fault_add(work, &fault);
        fault.instruction = made_by;
        if (made_by != HLO_NONE && made_by != with_time)
            fault_add(work, &fault);
        return;
    }
}

void fault_constants(struct fault_work *work, uint32_t constant)
{
    struct fault fault = {
        .kind = FAULT_LARGE_CONSTANT, .instruction = constant, .beside = HLO_NONE, .won = NAN};

    if (!fault_is(work, constant, "constant"))
        return;
    fault.bytes = cost_bytes_of(work->work, constant);
    if (fault.bytes >= CONSTANT_BYTES_MIN)
        fault_add(work, &fault);
}

static bool is_read(const struct fault_work *work, uint32_t tuple, uint64_t part)
{
    const struct cost_work *users = work->work;

    if (work->module->instructions[tuple].is_root)
        return true;
    for (uint32_t i = users->first_user[tuple]; i < users->first_user[tuple + 1]; i++) {
        struct hlo_detail detail;

        if (!fault_is(work, users->users[i], "get-tuple-element"))
            return true;
        hlo_detail_read(work->module, &work->module->instructions[users->users[i]], &detail);
        if (detail.tuple_part == part)
            return true;
    }
    return false;
}

/* "compute_right = 86 : ui8": the letter of LAPACK behind a key; 0 where there is none. */
static char job_of(struct str config, const char *key)
{
    struct str word = str_of(key);

    for (size_t i = 0; i + word.count < config.count; i++) {
        struct str rest = str_skip(config, i);
        int64_t number = 0;

        if (!str_starts(rest, word))
            continue;
        for (rest = str_skip(rest, word.count);
             rest.count > 0 &&
             (rest.at[0] == ' ' || rest.at[0] == '=' || rest.at[0] == '"' || rest.at[0] == ':');)
            rest = str_skip(rest, 1);
        for (; rest.count > 0 && rest.at[0] >= '0' && rest.at[0] <= '9' && number < 256;
             rest = str_skip(rest, 1))
            number = number * 10 + (rest.at[0] - '0');
        return number < 128 ? (char)number : 0;
    }
    return 0;
}

void fault_factorisations(struct fault_work *work, uint32_t call)
{
    const struct hlo_instruction *of = &work->module->instructions[call];
    struct hlo_detail detail;
    struct hlo_sizes sizes;
    bool unused = false;

    if (!fault_is(work, call, "custom-call") || !str_starts(of->target, STR("lapack_")))
        return;
    fault_sizes(work, call, &sizes);
    if (sizes.part_count < 4 || sizes.part_count > HLO_RANK_MAX)
        return;
    hlo_detail_read(work->module, of, &detail);
    if (str_contains(of->target, STR("gesdd")) || str_contains(of->target, STR("gesvd")))
        unused = job_of(detail.backend_config, "mode") != 'N' &&
                 job_of(detail.backend_config, "mode") != 0 && !is_read(work, call, 2) &&
                 !is_read(work, call, 3);
    else if (str_contains(of->target, STR("geev_")))
        unused = (job_of(detail.backend_config, "compute_left") == 'V' ||
                  job_of(detail.backend_config, "compute_right") == 'V') &&
                 (job_of(detail.backend_config, "compute_left") != 'V' ||
                  !is_read(work, call, sizes.part_count - 3)) &&
                 (job_of(detail.backend_config, "compute_right") != 'V' ||
                  !is_read(work, call, sizes.part_count - 2));
    if (unused)
        fault_add(work, &(struct fault){.kind = FAULT_UNUSED_VECTORS,
                                        .instruction = call,
                                        .beside = HLO_NONE,
                                        .won = NAN,
                                        .bytes = sizes.bytes});
}

void fault_loops(struct fault_work *work, uint32_t loop)
{
    if (fault_is(work, loop, "while") &&
        !work->is_inside[work->module->instructions[loop].computation])
        fault_add(work, &(struct fault){.kind = FAULT_LOOP,
                                        .instruction = loop,
                                        .beside = HLO_NONE,
                                        .won = 1,
                                        .bytes = cost_bytes_of(work->work, loop)});
}

static bool is_f8(enum hlo_type type)
{
    switch (type) {
    case HLO_F8E5M2:
    case HLO_F8E4M3FN:
    case HLO_F8E4M3B11FNUZ:
    case HLO_F8E5M2FNUZ:
    case HLO_F8E4M3FNUZ:
    case HLO_F8E4M3:
    case HLO_F8E3M4:
        return true;
    default:
        return false;
    }
}

/* What scales or clamps a value, element by element, and leaves it the same values otherwise. */
static bool is_scaling(const struct fault_work *work, uint32_t value)
{
    static const char *const opcodes[] = {"multiply", "divide",  "clamp",    "maximum",
                                          "minimum",  "convert", "bitcast",  "reshape",
                                          "copy",     "negate",  "transpose"};

    for (size_t i = 0; i < COUNT(opcodes); i++)
        if (fault_is(work, value, opcodes[i]))
            return true;
    return false;
}

/* The operand that is no scalar spread over the whole; HLO_NONE where there are two. */
static uint32_t scaled_operand(struct fault_work *work, uint32_t value)
{
    uint32_t found = HLO_NONE;

    for (uint32_t i = 0; i < work->module->instructions[value].operand_count; i++) {
        uint32_t operand = fault_operand(work, value, i);
        struct hlo_sizes sizes;

        if (operand == HLO_NONE)
            return HLO_NONE;
        fault_sizes(work, operand, &sizes);
        if (sizes.elements <= 1 || fault_is(work, fault_source(work, operand), "broadcast") ||
            fault_is(work, operand, "constant"))
            continue;
        if (found != HLO_NONE && found != operand)
            return HLO_NONE;
        found = operand;
    }
    return found;
}

void fault_casts(struct fault_work *work, uint32_t cast)
{
    struct hlo_sizes sizes;
    uint32_t with_time, value;

    if (!fault_is(work, cast, "convert"))
        return;
    fault_sizes(work, cast, &sizes);
    with_time = fault_with_time(work, cast);
    if (!is_f8(sizes.type) || sizes.bytes < FAULT_BYTES_MIN / 4 || with_time == HLO_NONE)
        return;
    value = fault_operand(work, cast, 0);
    for (int hop = 0; hop < FAULT_HOPS_MAX && value != HLO_NONE && fault_spend(work); hop++) {
        uint32_t behind = fault_behind(work, value);

        fault_sizes(work, value, &sizes);
        if (is_f8(sizes.type)) {
            uint32_t first = fault_with_time(work, value);

            fault_add(work, &(struct fault){.kind = FAULT_DOUBLE_CAST,
                                            .instruction = with_time,
                                            .beside = first == with_time ? HLO_NONE : first,
                                            .won = first == with_time ? NAN : 1,
                                            .bytes = sizes.bytes});
            return;
        }
        if (behind != value)
            value = behind;
        else
            value = is_scaling(work, value) ? scaled_operand(work, value) : HLO_NONE;
    }
}

void fault_f64(struct fault_work *work, uint32_t convert)
{
    struct hlo_sizes from, to;
    uint32_t operand =
        fault_is(work, convert, "convert") ? fault_operand(work, convert, 0) : HLO_NONE;

    if (operand == HLO_NONE)
        return;
    fault_sizes(work, convert, &to);
    fault_sizes(work, operand, &from);
    if (to.type != HLO_F64 || to.bytes < FAULT_BYTES_MIN ||
        (from.type != HLO_F32 && from.type != HLO_BF16 && from.type != HLO_F16))
        return;

    /* All arithmetic of f64 in the module counts once, with the first such conversion. */
    if (work->is_f64_told)
        return;
    work->is_f64_told = true;
    for (uint32_t i = 0; i < work->module->instruction_count; i++) {
        uint32_t with_time;

        fault_sizes(work, i, &to);
        if (to.type != HLO_F64 || to.bytes < FAULT_BYTES_MIN || fault_is(work, i, "parameter") ||
            fault_is(work, i, "constant") || fault_is(work, i, "bitcast"))
            continue;
        with_time = fault_with_time(work, i);
        if (with_time != HLO_NONE)
            fault_add(work, &(struct fault){.kind = FAULT_WIDENED_TO_F64,
                                            .instruction = with_time,
                                            .beside = fault_with_time(work, convert),
                                            .won = 0.5,
                                            .bytes = to.bytes});
    }
}
