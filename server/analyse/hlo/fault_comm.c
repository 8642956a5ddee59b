/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives that move more than their users need.
 *
 *   bf16 ── convert to f32 ── all-gather          half the bytes, if converted afterwards
 *   all-gather ── slice                           a part of it: slice before
 *   all-gather ── reduce                          sum before
 *   all-reduce ── dynamic-slice                   each takes its part: reduce-scatter
 *   all-gather(%x), all-gather(convert(%x))       the same values twice
 *
 * What the compiler itself widens (its sum is called "..._promoted") is not the program's fault.
 */
#include <math.h>

#include "analyse/hlo/fault_parts.h"

static bool is_gather(const struct fault_work *work, uint32_t instruction)
{
    return fault_is(work, instruction, "all-gather") ||
           fault_is(work, instruction, "all-gather-start");
}

static bool is_sum(const struct fault_work *work, uint32_t instruction)
{
    return fault_is(work, instruction, "all-reduce") ||
           fault_is(work, instruction, "all-reduce-start");
}

/* What the users of a value take of it. */
struct use {
    double bytes;
    bool is_by_place; /* where it is cut, only the device knows */
    bool is_reduced, is_sliced, is_narrowed;
    bool is_other; /* somebody takes all, or nobody knows */
};

static void use_by_users(struct fault_work *work, uint32_t value, int depth, struct use *use);

static void use_by(struct fault_work *work, uint32_t value, uint32_t user, int depth,
                   struct use *use)
{
    struct hlo_sizes from, to;

    fault_sizes(work, user, &to);
    fault_sizes(work, value, &from);
    if (fault_is(work, user, "bitcast") || fault_is(work, user, "reshape") ||
        fault_is(work, user, "all-gather-done") || fault_is(work, user, "all-reduce-done")) {
        use_by_users(work, user, depth + 1, use);
    } else if (fault_operand(work, user, 0) == value &&
               (fault_is(work, user, "slice") || fault_is(work, user, "dynamic-slice"))) {
        use->is_sliced = true;
        use->is_by_place |= fault_is(work, user, "dynamic-slice");
        use->bytes += to.bytes;
    } else if (fault_operand(work, user, 0) == value && fault_is(work, user, "reduce")) {
        use->is_reduced = true;
        use->bytes += to.bytes;
    } else if (fault_is(work, user, "convert") && to.bytes < from.bytes) {
        use->is_narrowed = true;
        use->bytes += to.bytes;
    } else if (fault_is(work, user, "fusion")) {
        for (uint32_t i = 0; i < work->module->instructions[user].operand_count; i++) {
            uint32_t inside =
                fault_operand(work, user, i) == value ? fault_parameter(work, user, i) : HLO_NONE;

            if (inside != HLO_NONE)
                use_by_users(work, inside, depth + 1, use);
        }
    } else {
        use->is_other = true;
    }
}

static void use_by_users(struct fault_work *work, uint32_t value, int depth, struct use *use)
{
    const struct cost_work *users = work->work;

    if (depth >= FAULT_HOPS_MAX || work->module->instructions[value].is_root)
        use->is_other = true;
    for (uint32_t i = users->first_user[value]; i < users->first_user[value + 1] && !use->is_other;
         i++) {
        use->is_other |= !fault_spend(work);
        if (i == users->first_user[value] || users->users[i] != users->users[i - 1])
            use_by(work, value, users->users[i], depth, use);
    }
}

/* A value that is wider than what it was converted from: its bytes before; else its own. */
static double bytes_before(struct fault_work *work, uint32_t value)
{
    struct hlo_sizes sizes, of_source;
    uint32_t source = fault_source(work, value);

    fault_sizes(work, value, &sizes);
    if (source == HLO_NONE)
        return sizes.bytes;
    fault_sizes(work, source, &of_source);
    return of_source.elements == sizes.elements && of_source.bytes < sizes.bytes ? of_source.bytes
                                                                                 : sizes.bytes;
}

static bool is_promoted(const struct fault_work *work, uint32_t sum)
{
    const struct hlo_instruction *of = &work->module->instructions[sum];
    uint32_t called = of->called_count > 0 ? work->module->called[of->first_called] : HLO_NONE;

    return called != HLO_NONE &&
           str_contains(work->module->computations[called].name, STR("_promoted"));
}

/* Of one array: of several that the compiler put together nothing is told. */
static void look_at_use(struct fault_work *work, uint32_t collective)
{
    const double least = 0.25;
    uint32_t operand = fault_operand(work, collective, 0);
    struct use use = {0};
    struct hlo_sizes gathered, own;
    struct fault fault = {
        .kind = FAULT_WIDE_COLLECTIVE, .instruction = collective, .beside = HLO_NONE};

    if (operand == HLO_NONE || work->module->instructions[collective].operand_count != 1)
        return;
    fault_sizes(work, operand, &own);
    cost_sizes(work->work, collective, &gathered);
    if (gathered.type == HLO_TUPLE)
        hlo_sizes_read(work->module->form,
                       hlo_shape_part(work->module->form,
                                      work->module->instructions[collective].shape,
                                      gathered.part_count > 1 ? 1 : 0),
                       &gathered);
    fault.bytes = gathered.bytes;
    if (gathered.bytes < FAULT_BYTES_MIN)
        return;
    use_by_users(work, collective, 0, &use);

    double before = bytes_before(work, operand);
    if (is_gather(work, collective) && !use.is_other && (use.is_sliced || use.is_reduced))
        fault.won = 1 - use.bytes / gathered.bytes;
    else if (is_gather(work, collective) && before < own.bytes)
        fault.won = 1 - before / own.bytes, fault.is_of_type = true;
    else if (is_sum(work, collective) && !use.is_other && use.is_sliced && !use.is_reduced &&
             !use.is_narrowed && use.bytes <= gathered.bytes / 2)
        fault.won = use.is_by_place ? 0.5 : 1 - use.bytes / gathered.bytes;
    else if (is_sum(work, collective) && !use.is_other && use.is_narrowed && !use.is_sliced &&
             !use.is_reduced && before < own.bytes && !is_promoted(work, collective))
        fault.won = 1 - before / own.bytes, fault.is_of_type = true;
    if (fault.won >= least)
        fault_add(work, &fault);
}

/* A forward pass that is computed again gathers again, to hold less in between. */
static bool is_meant(const struct fault_work *work, uint32_t gather)
{
    struct str scope = work->module->instructions[gather].scope;

    return str_contains(scope, STR("rematted_computation")) ||
           str_contains(scope, STR("checkpoint"));
}

static void look_for_same(struct fault_work *work, uint32_t gather)
{
    const struct hlo_module *module = work->module;
    const struct hlo_computation *of =
        &module->computations[module->instructions[gather].computation];
    struct hlo_sizes own, others;
    uint32_t source = fault_source(work, fault_operand(work, gather, 0));

    if (source == HLO_NONE || module->instructions[gather].operand_count != 1)
        return;
    cost_first_sizes(work->work, gather, &own);
    if (own.bytes < FAULT_BYTES_MIN)
        return;
    for (uint32_t i = of->first; i < gather && fault_spend(work); i++) {
        if (!is_gather(work, i) || module->instructions[i].operand_count != 1 ||
            fault_source(work, fault_operand(work, i, 0)) != source || is_meant(work, i) ||
            is_meant(work, gather))
            continue;
        cost_first_sizes(work->work, i, &others);
        if (own.rank != others.rank ||
            memcmp(own.sizes, others.sizes, own.rank * sizeof(own.sizes[0])) != 0)
            continue;
        fault_add(work, &(struct fault){.kind = FAULT_REPEATED_GATHER,
                                        .instruction = gather,
                                        .beside = i,
                                        .won = 1,
                                        .bytes = own.bytes});
        return;
    }
}

void fault_collectives(struct fault_work *work, uint32_t collective)
{
    if (!is_gather(work, collective) && !is_sum(work, collective))
        return;
    if (is_gather(work, collective))
        look_for_same(work, collective);
    look_at_use(work, collective);
}
