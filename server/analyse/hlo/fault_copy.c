/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that keep a value which something writes over.
 *
 *   parameter ── copy ── dynamic-update-slice   the caller may use the argument again: donate it
 *   %v ── copy ── dynamic-update-slice          %v itself has another reader
 *      └─ reduce
 *   parameter ── copy ── ROOT tuple             what came in goes out as it was
 *
 * Only copies that keep the layout are meant: others are changes of layout.
 */
#include <math.h>

#include "analyse/hlo/fault_parts.h"

/* Does each turn of the loop give that part of its state on as it was? */
static bool is_given_on(const struct fault_work *work, uint32_t body, uint32_t part)
{
    uint32_t root = fault_root(work, body);
    uint32_t given = fault_is(work, root, "tuple") ? fault_operand(work, root, part) : HLO_NONE;
    struct hlo_detail detail;

    if (!fault_is(work, given, "get-tuple-element") ||
        !fault_is(work, fault_operand(work, given, 0), "parameter"))
        return false;
    hlo_detail_read(work->module, &work->module->instructions[given], &detail);
    return detail.tuple_part == part;
}

static bool writes_part(const struct fault_work *work, uint32_t loop, uint32_t part)
{
    const struct hlo_instruction *of = &work->module->instructions[loop];

    for (uint32_t i = 0; i < of->called_count; i++) {
        uint32_t called = work->module->called[of->first_called + i];

        /* A condition gives nothing on, and has no tuple at its root. */
        if (called != HLO_NONE && fault_is(work, fault_root(work, called), "tuple") &&
            !is_given_on(work, called, part))
            return true;
    }
    return false;
}

static uint32_t loop_that_writes(struct fault_work *work, uint32_t tuple, uint32_t value)
{
    const struct cost_work *users = work->work;

    for (uint32_t i = users->first_user[tuple]; i < users->first_user[tuple + 1]; i++) {
        if (!fault_is(work, users->users[i], "while"))
            continue;
        for (uint32_t part = 0; part < work->module->instructions[tuple].operand_count; part++)
            if (fault_spend(work) && fault_operand(work, tuple, part) == value &&
                writes_part(work, users->users[i], part))
                return users->users[i];
    }
    return HLO_NONE;
}

uint32_t fault_writer(struct fault_work *work, uint32_t value, int depth)
{
    const struct cost_work *users = work->work;
    uint32_t found = HLO_NONE;

    for (uint32_t i = users->first_user[value];
         i < users->first_user[value + 1] && found == HLO_NONE && depth < FAULT_HOPS_MAX &&
         fault_spend(work);
         i++) {
        uint32_t user = users->users[i];
        bool is_target = fault_operand(work, user, 0) == value;

        if (is_target &&
            (fault_is(work, user, "dynamic-update-slice") || fault_is(work, user, "scatter")))
            found = user;
        else if (fault_is(work, user, "bitcast") ||
                 (work->through_copies && fault_is(work, user, "copy")))
            found = fault_writer(work, user, depth + 1);
        else if (fault_is(work, user, "tuple"))
            found = loop_that_writes(work, user, value);
        for (uint32_t k = 0; found == HLO_NONE && fault_is(work, user, "fusion") &&
                             k < work->module->instructions[user].operand_count;
             k++) {
            uint32_t inside =
                fault_operand(work, user, k) == value ? fault_parameter(work, user, k) : HLO_NONE;

            if (inside != HLO_NONE && fault_writer(work, inside, depth + 1) != HLO_NONE)
                found = user;
        }
    }
    return found;
}

static bool same_shape(const struct fault_work *work, uint32_t a, uint32_t b)
{
    struct bytes left = work->module->instructions[a].shape;
    struct bytes right = work->module->instructions[b].shape;

    return left.count == right.count && memcmp(left.at, right.at, left.count) == 0;
}

/* What the program returns; of one result that one. */
static bool is_returned(const struct fault_work *work, uint32_t value)
{
    const struct cost_work *users = work->work;

    if (value == work->root)
        return true;
    for (uint32_t i = users->first_user[value]; i < users->first_user[value + 1]; i++)
        if (users->users[i] == work->root && fault_is(work, work->root, "tuple"))
            return true;
    return false;
}

static bool returns_shape(const struct fault_work *work, uint32_t like)
{
    if (!fault_is(work, work->root, "tuple"))
        return work->root != HLO_NONE && same_shape(work, work->root, like);
    for (uint32_t i = 0; i < work->module->instructions[work->root].operand_count; i++) {
        uint32_t result = fault_operand(work, work->root, i);

        if (result != HLO_NONE && same_shape(work, result, like))
            return true;
    }
    return false;
}

static bool is_donated(const struct fault_work *work, uint32_t parameter)
{
    struct hlo_detail detail;

    hlo_detail_read(work->module, &work->module->instructions[parameter], &detail);
    for (uint32_t i = 0; i < work->module->allocation_count; i++) {
        const struct hlo_allocation *of = &work->module->allocations[i];

        if (of->is_parameter && of->parameter == detail.parameter)
            return of->is_live_out;
    }
    return false;
}

/* Readers of the value besides this copy, views of it included. */
static bool has_other_reader(const struct fault_work *work, uint32_t value, uint32_t copy)
{
    const struct cost_work *users = work->work;

    for (uint32_t i = users->first_user[value]; i < users->first_user[value + 1]; i++)
        if (users->users[i] != copy)
            return true;
    return false;
}

static bool is_copied_to_return(const struct fault_work *work, uint32_t value)
{
    const struct cost_work *users = work->work;

    for (uint32_t i = users->first_user[value]; i < users->first_user[value + 1]; i++)
        if (fault_is(work, users->users[i], "copy") && is_returned(work, users->users[i]))
            return true;
    return is_returned(work, value);
}

void fault_copies(struct fault_work *work, uint32_t copy)
{
    uint32_t from = fault_is(work, copy, "copy") ? fault_operand(work, copy, 0) : HLO_NONE;
    double bytes = from == HLO_NONE ? 0 : cost_bytes_of(work->work, copy);
    uint32_t computation = work->module->instructions[copy].computation;

    if (bytes < FAULT_BYTES_MIN || work->is_inside[computation] || !same_shape(work, copy, from))
        return;

    bool is_argument = fault_is(work, from, "parameter") && computation == work->entry;
    uint32_t writer = fault_writer(work, copy, 0);
    struct fault fault = {.instruction = copy, .beside = writer, .won = 1, .bytes = bytes};

    if (computation == work->entry && is_returned(work, copy) &&
        (is_argument || is_returned(work, from)))
        fault.kind = FAULT_RETURNED_COPY;
    else if (writer != HLO_NONE && is_argument && !is_donated(work, from) &&
             !is_copied_to_return(work, from) && returns_shape(work, from))
        fault.kind = FAULT_UNDONATED_COPY;
    else if (writer != HLO_NONE && has_other_reader(work, from, copy))
        fault.kind = FAULT_OVERWRITE_COPY;
    else
        return;
    fault_add(work, &fault);
    /* A copy is made for the copy where a loop's state is concerned. */
    if (fault.kind == FAULT_OVERWRITE_COPY && fault_is(work, from, "copy") &&
        same_shape(work, from,
                   fault_operand(work, from, 0) == HLO_NONE ? from
                                                            : fault_operand(work, from, 0))) {
        fault.instruction = from;
        fault_add(work, &fault);
    }
}
