/* SPDX-License-Identifier: Apache-2.0 */
/* The keys by which matching rules compare ops: program, content, scope, shape, structure,
 * source, name. */
#include "analyse/compare/match_parts.h"
#include "base/hash.h"

static uint64_t mix(uint64_t hash, uint64_t value)
{
    uint64_t pair[2] = {hash, value};

    return hash64((struct bytes){.at = (const uint8_t *)pair, .count = sizeof pair});
}

uint64_t match_mix_text(uint64_t hash, struct str text)
{
    return mix(hash, hash64((struct bytes){.at = (const uint8_t *)text.at, .count = text.count}));
}

uint64_t match_by_program(const struct match_op *op, struct arena *arena)
{
    (void)arena;
    return op->fingerprint == 0
               ? 0
               : match_mix_text(match_mix_text(op->fingerprint, op->module), op->name);
}

static uint64_t of_content(const struct match_op *op)
{
    return hash64((struct bytes){.at = (const uint8_t *)op->leaves,
                                 .count = op->leaf_count * sizeof *op->leaves});
}

uint64_t match_by_scope(const struct match_op *op, struct arena *arena)
{
    (void)arena;
    if (op->scope.count == 0 || op->opcode.count == 0)
        return 0;
    return match_mix_text(match_mix_text(match_mix_text(1, op->module), op->scope), op->opcode);
}

uint64_t match_by_shape(const struct match_op *op, struct arena *arena)
{
    uint64_t scope = match_by_scope(op, arena);

    return scope == 0 || op->shape.count == 0 ? 0 : match_mix_text(scope, op->shape);
}

uint64_t match_by_plain_shape(const struct match_op *op, struct arena *arena)
{
    return op->leaf_count > 1 ? 0 : match_by_shape(op, arena);
}

uint64_t match_by_structure(const struct match_op *op, struct arena *arena)
{
    uint64_t shape = match_by_shape(op, arena);

    if (shape == 0 || op->structure == 0)
        return 0;
    return mix(mix(match_mix_text(shape, op->source), op->structure), of_content(op));
}

uint64_t match_by_content(const struct match_op *op, struct arena *arena)
{
    (void)arena;
    return op->leaf_count == 0 ? 0 : mix(match_mix_text(2, op->module), of_content(op));
}

uint64_t match_by_source(const struct match_op *op, struct arena *arena)
{
    (void)arena;
    if (op->source.count == 0 || op->opcode.count == 0)
        return 0;
    return match_mix_text(
        match_mix_text(match_mix_text(match_mix_text(3, op->module), op->source), op->opcode),
        op->shape);
}

uint64_t match_by_place(const struct match_op *op, struct arena *arena)
{
    const char *slash = op->scope.count == 0 ? NULL : memrchr(op->scope.at, '/', op->scope.count);

    (void)arena;
    if (slash == NULL)
        return 0;
    return match_mix_text(match_mix_text(7, op->module),
                          (struct str){op->scope.at, (size_t)(slash - op->scope.at)});
}

/* "fusion.12" and "fusion" are "fusion". */
static struct str stem_of(struct str name)
{
    while (name.count > 1 && ((name.at[name.count - 1] >= '0' && name.at[name.count - 1] <= '9') ||
                              name.at[name.count - 1] == '.'))
        name.count--;
    return name;
}

uint64_t match_by_stem(const struct match_op *op, struct arena *arena)
{
    (void)arena;
    if (op->opcode.count == 0 || op->scope.count > 0)
        return 0;
    return match_mix_text(match_mix_text(match_mix_text(5, op->module), stem_of(op->name)),
                          op->opcode);
}

uint64_t match_by_name(const struct match_op *op, struct arena *arena)
{
    (void)arena;
    return op->opcode.count > 0 ? 0 : match_mix_text(match_mix_text(4, op->module), op->name);
}

uint64_t match_by_kernel(const struct match_op *op, struct arena *arena)
{
    if (op->opcode.count > 0)
        return 0;
    return match_mix_text(match_mix_text(6, op->module), kernel_stem(op->name, arena));
}
