/* SPDX-License-Identifier: Apache-2.0 */
/* Edits, then sums, of each part and of the head. */
#include "attribution_edit.h"

#include "store/attribution_parts.h"

enum { EDIT_SIZE = 12, EDITS_MAX = 16 };

static void sum_anew(uint8_t *at, size_t count)
{
    struct attribution_head *head = (void *)at;
    uint64_t from = sizeof *head;

    for (int part = 0; part < PART_COUNT; part++) {
        uint64_t bytes = attribution_part_bytes(head, part);

        if (from > count || bytes > count - from)
            break; /* it does not open whatever the sums are */
        head->sum[part] = hash64((struct bytes){at + from, bytes});
        from += bytes;
    }
    head->head_sum = attribution_head_sum(*head);
}

static void edit(uint8_t *at, size_t count, const uint8_t *told)
{
    const struct attribution_head head = *(const struct attribution_head *)(const void *)at;
    int part = told[0] % (PART_COUNT + 1);
    size_t width = told[1] % 9, offset = (size_t)told[2] | (size_t)told[3] << 8;
    uint64_t from = 0, size = sizeof head;

    if (part < PART_COUNT) {
        from = sizeof head;
        for (int before = 0; before < part; before++)
            from += attribution_part_bytes(&head, before);
        size = attribution_part_bytes(&head, part);
    }
    if (from >= count || size == 0 || size > count - from)
        return;
    offset %= size;
    if (width <= size - offset)
        memcpy(at + from + offset, told + 4, width < 8 ? width : 8);
}

void attribution_edit(uint8_t *at, size_t count, struct bytes edits)
{
    for (size_t i = 0; i + EDIT_SIZE <= edits.count && i < EDIT_SIZE * EDITS_MAX; i += EDIT_SIZE)
        edit(at, count, edits.at + i);
    sum_anew(at, count);
}
