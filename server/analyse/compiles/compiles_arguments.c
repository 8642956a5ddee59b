/* SPDX-License-Identifier: Apache-2.0 */
/* What changed between two modules of one name: their arguments, one by one.
 *
 * A module's arguments are the shape of its entry computation, whose parameters' scopes are the
 * names that the program gave them:
 *
 *   HloProto     1 module
 *   HloModule    3 computations*  6 entry's id
 *   Computation  4 program shape  5 id
 *   ProgramShape 1 shapes*  3 names*
 */
#include <stdlib.h>

#include "analyse/compiles/compiles_parts.h"
#include "decode/hlo/hlo_module.h"
#include "decode/protobuf.h"

enum {
    ARGUMENTS_MAX = 65536,
    SHAPE_TEXT_MAX = 200,
    SIZES_MAX = 16,
    TOLD_MAX = 3, /* arguments in a sentence */
};

const char *compile_change_word(enum compile_change change)
{
    static const char *const words[] = {
        [CHANGE_UNKNOWN] = NULL,          [CHANGE_FIRST] = "first",
        [CHANGE_SHAPE] = "shape",         [CHANGE_DTYPE] = "dtype",
        [CHANGE_ARGUMENTS] = "arguments", [CHANGE_PROGRAM] = "program",
        [CHANGE_NOTHING] = "nothing",
    };

    return words[change];
}

/* "f32[8,16]{1,0}" without its layouts. */
static struct str shape_text(struct comparing *comparing, struct bytes shape)
{
    const struct hlo_module proto = {.form = PROGRAM_PROTO};
    struct text text = {0};
    size_t kept = 0;
    int depth = 0;

    hlo_put_shape(&text, &proto, shape);
    for (size_t i = 0; i < text.count; i++) {
        depth += text.at[i] == '{';
        if (depth == 0 && kept < SHAPE_TEXT_MAX)
            text.at[kept++] = text.at[i];
        depth -= text.at[i] == '}' && depth > 0;
    }
    text.count = kept;

    struct str ret = str_copy(comparing->arena, text_str(&text));

    text_free(&text);
    return ret;
}

/* The path that the program called it by: its parameter's scope. */
static struct str argument_name(const struct comparing *comparing, program_id program,
                                struct str parameter)
{
    name_id name;
    const struct instruction *instruction = trace_find_name(comparing->trace, parameter, &name)
                                                ? trace_instruction(comparing->trace, program, name)
                                                : NULL;

    if (instruction == NULL || instruction->scope == 0)
        return STR("");
    return trace_name(comparing->trace, instruction->scope);
}

static void read_program_shape(struct comparing *comparing, program_id program,
                               struct bytes message)
{
    struct arguments *arguments = &comparing->arguments[program];
    struct error err = {0};
    struct pb pb = pb_open(message, &err);
    uint32_t named = 0;

    for (struct pb_field field; pb_next(&pb, &field);)
        arguments->count += field.number == 1 && arguments->count < ARGUMENTS_MAX;
    arguments->items = arena_array(comparing->arena, struct argument, (size_t)arguments->count + 1);
    pb = pb_open(message, &err);
    arguments->count = 0;
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.wire != PB_BYTES)
            continue;
        if (field.number == 1 && arguments->count < ARGUMENTS_MAX)
            arguments->items[arguments->count++].shape = shape_text(comparing, field.bytes);
    }
    pb = pb_open(message, &err);
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number == 3 && field.wire == PB_BYTES && named < arguments->count)
            arguments->items[named++].name = argument_name(comparing, program, pb_text(&field));
    }
    arguments->is_known = err.code == OK;
}

/* The first field of that number. */
static bool field_inside(struct bytes message, uint32_t number, enum pb_wire wire,
                         struct pb_field *ret)
{
    struct error err = {0};
    struct pb pb = pb_open(message, &err);

    while (pb_next(&pb, ret)) {
        if (ret->number == number && ret->wire == wire)
            return true;
    }
    return false;
}

/* The shape of the entry computation. */
static bool entry_shape(struct bytes blob, struct bytes *ret)
{
    struct error err = {0};
    struct pb_field module, entry, id, shape;

    if (!field_inside(blob, 1, PB_BYTES, &module) ||
        !field_inside(module.bytes, 6, PB_VARINT, &entry))
        return false;

    struct pb pb = pb_open(module.bytes, &err);

    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number != 3 || field.wire != PB_BYTES ||
            !field_inside(field.bytes, 5, PB_VARINT, &id) || id.varint != entry.varint)
            continue;
        if (!field_inside(field.bytes, 4, PB_BYTES, &shape))
            return false;
        *ret = shape.bytes;
        return true;
    }
    return false;
}

static const struct arguments *arguments_of(struct comparing *comparing, program_id program)
{
    const struct program *of = &comparing->trace->programs[program];
    struct arguments *arguments = &comparing->arguments[program];
    struct error err = {0};
    struct bytes blob, shape;

    if (arguments->is_read || of->form != PROGRAM_PROTO || of->blob_bytes > comparing->bytes_left)
        return arguments;
    arguments->is_read = true;
    comparing->bytes_left -= of->blob_bytes;

    struct arena *unpacked = arena_create();

    if (trace_program_blob(comparing->trace, of, unpacked, &blob, &err) == OK &&
        entry_shape(blob, &shape))
        read_program_shape(comparing, program, shape);
    arena_destroy(unpacked);
    return arguments;
}

/* The sizes in "f32[8,16]"; false for tuples and what has more than SIZES_MAX. */
static bool sizes_of(struct str shape, struct str *ret_type, int64_t sizes[SIZES_MAX],
                     uint32_t *ret_count)
{
    const char *open = memchr(shape.at, '[', shape.count);

    *ret_count = 0;
    if (open == NULL || shape.at[0] == '(' || shape.at[shape.count - 1] != ']')
        return false;
    *ret_type = (struct str){shape.at, (size_t)(open - shape.at)};

    struct str rest = str_skip(shape, ret_type->count + 1);

    rest.count--;
    while (rest.count > 0) {
        const char *comma = memchr(rest.at, ',', rest.count);
        size_t count = comma != NULL ? (size_t)(comma - rest.at) : rest.count;

        if (*ret_count == SIZES_MAX ||
            !str_to_i64((struct str){rest.at, count}, &sizes[(*ret_count)++]))
            return false;
        rest = str_skip(rest, comma != NULL ? count + 1 : count);
    }
    return true;
}

struct size_change { /* the one size that differs between two shapes */
    uint32_t dimension;
    int64_t from, to;
};

static bool size_change_of(struct str before, struct str after, struct size_change *ret)
{
    int64_t left[SIZES_MAX], right[SIZES_MAX];
    uint32_t left_count, right_count, changed = 0;
    struct str left_type, right_type;

    if (before.count == 0 || after.count == 0 || !sizes_of(before, &left_type, left, &left_count) ||
        !sizes_of(after, &right_type, right, &right_count) || left_count != right_count ||
        !str_equal(left_type, right_type))
        return false;
    for (uint32_t i = 0; i < left_count; i++) {
        if (left[i] == right[i])
            continue;
        *ret = (struct size_change){i, left[i], right[i]};
        changed++;
    }
    return changed == 1;
}

static bool differs_in_type(struct str before, struct str after)
{
    const char *open = before.count > 0 ? memchr(before.at, '[', before.count) : NULL;
    size_t count = open != NULL ? (size_t)(open - before.at) + 1 : before.count;

    return !str_starts(after, (struct str){before.at, count});
}

static void put_argument(struct text *out, const struct arguments *after, uint32_t index,
                         struct str before)
{
    const struct argument *argument = &after->items[index];

    if (argument->name.count > 0)
        text_putf(out, "%.*s: ", STR_ARG(argument->name));
    else
        text_putf(out, "argument %u: ", index);
    text_putf(out, "%.*s → %.*s", STR_ARG(before), STR_ARG(argument->shape));
}

/* "dimension 0 of 3 arguments: 8 → 12 (x: f32[8,16] → f32[12,16], ...)" */
static void tell_changes(struct comparing *comparing, struct compile *compile,
                         const struct arguments *before, const struct arguments *after)
{
    struct text text = {0}, list = {0};
    struct size_change common = {0};
    uint32_t changed = 0, alike = 0;
    bool types = false;

    for (uint32_t i = 0; i < after->count; i++) {
        struct str was = before->items[i].shape, is = after->items[i].shape;
        struct size_change change;

        if (str_equal(was, is))
            continue;
        types |= differs_in_type(was, is);
        if (size_change_of(was, is, &change)) {
            if (changed == 0)
                common = change;
            alike += change.dimension == common.dimension && change.from == common.from &&
                     change.to == common.to;
        }
        if (changed < TOLD_MAX) {
            text_puts(&list, changed > 0 ? ", " : "");
            put_argument(&list, after, i, was);
        }
        changed++;
    }
    if (changed > 1 && alike == changed)
        text_putf(&text, "dimension %u of %u arguments: %lld → %lld (", common.dimension, changed,
                  (long long)common.from, (long long)common.to);
    text_put(&text, list.at, list.count);
    if (changed > TOLD_MAX)
        text_putf(&text, ", and %u more", changed - TOLD_MAX);
    text_puts(&text, changed > 1 && alike == changed ? ")" : "");
    compile->change = types ? CHANGE_DTYPE : CHANGE_SHAPE;
    compile->changed = str_copy(comparing->arena, text_str(&text));
    text_free(&text);
    text_free(&list);
}

static bool same_arguments(const struct arguments *before, const struct arguments *after)
{
    for (uint32_t i = 0; i < after->count; i++) {
        if (!str_equal(before->items[i].shape, after->items[i].shape))
            return false;
    }
    return true;
}

void compile_compare(struct comparing *comparing, struct compile *compile, program_id before_id)
{
    const struct program *programs = comparing->trace->programs;
    const struct arguments *before = arguments_of(comparing, before_id);
    const struct arguments *after = arguments_of(comparing, compile->program);

    if (programs[before_id].fingerprint == programs[compile->program].fingerprint) {
        compile->change = CHANGE_NOTHING;
        compile->changed = STR(
            "its module is the same: another function object, a weak type or a lost cache entry");
    } else if (!before->is_known || !after->is_known) {
        compile->changed = STR("the arguments of its modules cannot be read");
    } else if (before->count != after->count) {
        compile->change = CHANGE_ARGUMENTS;
        compile->changed =
            str_format(comparing->arena, "%u → %u arguments", before->count, after->count);
    } else if (same_arguments(before, after)) {
        compile->change = CHANGE_PROGRAM;
        compile->changed = STR("its instructions differ, its arguments do not: a static argument, "
                               "a weak type or a sharding changed");
    } else {
        tell_changes(comparing, compile, before, after);
    }
}
