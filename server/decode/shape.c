/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the first fields of a message, and holds them against the rules of a shape. */
#include "decode/shape.h"

enum { FIELDS_LOOKED_AT = 24, NESTING_LOOKED_AT = 4 };

static bool is_plain_text(struct bytes bytes)
{
    for (size_t index = 0; index < bytes.count; index++) {
        uint8_t byte = bytes.at[index];
        if (byte == 0x7f || (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r'))
            return false;
    }
    return true;
}

static const struct shape_rule *find_rule(const struct shape *shape, uint32_t number)
{
    for (size_t index = 0; index < shape->count; index++)
        if (shape->rules[index].number == number)
            return &shape->rules[index];
    return NULL;
}

static bool message_fits(struct bytes message, const struct shape *shape, unsigned depth);

static bool field_fits(const struct pb_field *field, const struct shape_rule *rule, unsigned depth)
{
    if (rule->wire == SHAPE_TEXT)
        return field->wire == PB_BYTES && is_plain_text(field->bytes);
    if ((unsigned)field->wire != (unsigned)rule->wire)
        return false;
    if (rule->inside == NULL || field->wire != PB_BYTES || depth == NESTING_LOOKED_AT)
        return true;
    return message_fits(field->bytes, rule->inside, depth + 1);
}

static bool message_fits(struct bytes message, const struct shape *shape, unsigned depth)
{
    struct error err = {0};
    struct pb pb = pb_open(message, &err);
    struct pb_field field = {0};
    uint64_t seen = 0; /* a bit for each rule */

    pb.lenient = true;
    for (unsigned looked = 0; looked < FIELDS_LOOKED_AT && pb_next(&pb, &field); looked++) {
        const struct shape_rule *rule = find_rule(shape, field.number);
        if (rule == NULL) {
            if (shape->strangers_from == 0 || field.number < shape->strangers_from)
                return false;
            continue;
        }
        if (!field_fits(&field, rule, depth))
            return false;
        seen |= UINT64_C(1) << (rule - shape->rules);
    }
    if (err.code == ERR_FORMAT)
        return false;
    /* Writers go by ascending number, so a cut excuses only what would have followed. */
    for (size_t index = 0; index < shape->count; index++)
        if (shape->rules[index].must && (seen >> index & 1) == 0 &&
            (err.code == OK || shape->rules[index].number < field.number))
            return false;
    return seen != 0 || message.count == 0;
}

bool shape_fits(struct bytes head, const struct shape *shape)
{
    return head.count > 0 && message_fits(head, shape, 0);
}
