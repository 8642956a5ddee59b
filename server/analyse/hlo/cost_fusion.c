/* SPDX-License-Identifier: Apache-2.0 */
/* What a fusion reads and writes: what stays inside costs no memory.
 *
 *   parameter ── slice, dynamic-slice, gather   reads what comes out of it
 *             ── dynamic-update-slice, into it  written in place: nothing is read
 *             ── bitcast                        whatever its own users read
 *             ── all else                       reads the whole, once for all of them
 *   result of a dynamic-update-slice            writes the update
 */
#include "analyse/hlo/cost_parts.h"

struct reading { /* of one parameter */
    struct cost_work *work;
    double bytes, whole;
    bool is_whole_read;
    unsigned depth;
};

static void read_by_users(struct reading *reading, uint32_t value);

static bool is_opcode(const struct cost_work *work, uint32_t instruction, const char *opcode)
{
    return instruction != HLO_NONE &&
           str_equal(work->module->instructions[instruction].opcode, str_of(opcode));
}

static const struct hlo_computation *fused_computation(const struct cost_work *work,
                                                       uint32_t instruction)
{
    const struct hlo_instruction *fusion = &work->module->instructions[instruction];
    uint32_t called =
        fusion->called_count > 0 ? work->module->called[fusion->first_called] : HLO_NONE;

    return called == HLO_NONE ? NULL : &work->module->computations[called];
}

/* The instruction that is the fused computation's parameter of that number. */
static uint32_t parameter_of(struct cost_work *work, const struct hlo_computation *fused,
                             uint64_t number)
{
    for (uint32_t i = fused->first; i < fused->first + fused->count; i++) {
        struct hlo_detail detail;

        work->step_count++;
        if (!is_opcode(work, i, "parameter"))
            continue;
        hlo_detail_read(work->module, &work->module->instructions[i], &detail);
        if (detail.parameter == number)
            return i;
    }
    return HLO_NONE;
}

static void read_whole(struct reading *reading)
{
    reading->bytes += reading->is_whole_read ? 0 : reading->whole;
    reading->is_whole_read = true;
}

static void read_inside(struct reading *reading, uint32_t value, uint32_t user)
{
    struct cost_work *work = reading->work;
    const struct hlo_computation *fused = fused_computation(work, user);

    for (uint32_t i = 0; i < work->module->instructions[user].operand_count && fused != NULL; i++) {
        uint32_t parameter =
            cost_operand(work, user, i) == value ? parameter_of(work, fused, i) : HLO_NONE;

        if (parameter != HLO_NONE)
            read_by_users(reading, parameter);
    }
}

/* A bitcast is the same bytes, a part of a tuple those of the part. */
static void read_through(struct reading *reading, uint32_t user)
{
    struct reading part = {.work = reading->work, .depth = reading->depth};

    if (is_opcode(reading->work, user, "bitcast")) {
        read_by_users(reading, user);
    } else if (is_opcode(reading->work, user, "get-tuple-element")) {
        part.whole = cost_bytes_of(reading->work, user);
        read_by_users(&part, user);
        reading->bytes += part.bytes;
    }
}

static void read_by(struct reading *reading, uint32_t value, uint32_t user)
{
    struct cost_work *work = reading->work;
    double out_bytes = cost_bytes_of(work, user);
    bool is_source = cost_operand(work, user, 0) == value;

    switch (cost_class_of(work->module->instructions[user].opcode)) {
    case COST_CLASS_SLICE:
        reading->bytes += out_bytes;
        break;
    case COST_CLASS_DYNAMIC_SLICE:
    case COST_CLASS_GATHER:
        if (is_source)
            reading->bytes += out_bytes < reading->whole ? out_bytes : reading->whole;
        else
            read_whole(reading);
        break;
    case COST_CLASS_UPDATE_SLICE:
        if (!is_source)
            read_whole(reading);
        break;
    case COST_CLASS_FUSION:
        read_inside(reading, value, user);
        break;
    case COST_CLASS_FREE:
        read_through(reading, user);
        break;
    default:
        read_whole(reading);
    }
}

static void read_by_users(struct reading *reading, uint32_t value)
{
    struct cost_work *work = reading->work;

    if (reading->depth == 32 || work->step_count >= work->steps_max) {
        read_whole(reading);
        return;
    }
    /* What is handed through as it is was read too. */
    if (work->module->instructions[value].is_root)
        read_whole(reading);
    reading->depth++;
    for (uint32_t i = work->first_user[value]; i < work->first_user[value + 1]; i++) {
        /* Who uses it twice reads it once. */
        work->step_count++;
        if (i == work->first_user[value] || work->users[i] != work->users[i - 1])
            read_by(reading, value, work->users[i]);
    }
    reading->depth--;
}

static double parameter_bytes(struct cost_work *work, uint32_t parameter)
{
    struct reading reading = {.work = work, .whole = cost_bytes_of(work, parameter)};

    read_by_users(&reading, parameter);
    return reading.bytes;
}

/* Behind bitcasts. */
static uint32_t source_of(const struct cost_work *work, uint32_t value)
{
    for (unsigned i = 0; i < 32 && is_opcode(work, value, "bitcast"); i++)
        value = cost_operand(work, value, 0);
    return value;
}

static double written_bytes(const struct cost_work *work, uint32_t value)
{
    uint32_t source = source_of(work, value);

    if (value == HLO_NONE || source == HLO_NONE)
        return 0;
    return is_opcode(work, source, "dynamic-update-slice") ? cost_operand_bytes(work, source, 1)
                                                           : cost_bytes_of(work, value);
}

static double result_bytes(const struct cost_work *work, const struct hlo_computation *fused)
{
    uint32_t root = HLO_NONE;
    double bytes = 0;

    for (uint32_t i = fused->first; i < fused->first + fused->count; i++)
        root = work->module->instructions[i].is_root ? i : root;
    if (!is_opcode(work, root, "tuple"))
        return written_bytes(work, root);
    for (uint32_t i = 0; i < work->module->instructions[root].operand_count; i++)
        bytes += written_bytes(work, cost_operand(work, root, i));
    return bytes;
}

double cost_fusion_bytes(struct cost_work *work, uint32_t instruction)
{
    const struct hlo_computation *fused = fused_computation(work, instruction);

    if (fused == NULL)
        return cost_touched_bytes(work, instruction);

    double bytes = result_bytes(work, fused);

    for (uint32_t i = fused->first; i < fused->first + fused->count; i++) {
        struct hlo_sizes sizes;

        if (is_opcode(work, i, "parameter"))
            bytes += parameter_bytes(work, i);
        if (!is_opcode(work, i, "constant"))
            continue;
        cost_sizes(work, i, &sizes);
        bytes += sizes.elements > 1 ? sizes.bytes : 0;
    }
    return bytes;
}
