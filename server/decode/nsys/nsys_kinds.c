/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of work by the names of slices.
 *
 * NVTX ranges often carry a number ("aten::view, op_id = 314290"), so that there are as many names
 * as ranges. No rule of kinds knows a number of three digits or more; such numbers are left out
 * before the name is looked up.
 */
#include "base/hash.h"
#include "decode/nsys/nsys.h"

enum { STEM_MAX = 512, DIGITS_MIN = 3 };

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* The name with a mark for each long number; the end of a very long name is left out. */
static struct str stem_of(struct str name, char stem[STEM_MAX])
{
    size_t count = 0;

    for (size_t index = 0; index < name.count && count < STEM_MAX - DIGITS_MIN;) {
        size_t end = index;

        while (end < name.count && is_digit(name.at[end]))
            end++;
        if (end - index >= DIGITS_MIN) {
            stem[count++] = '\x01';
            index = end;
        } else {
            stem[count++] = name.at[index++];
        }
    }
    return (struct str){.at = stem, .count = count};
}

enum kind nsys_kind(struct nsys *nsys, name_id name, bool on_device)
{
    char stem[STEM_MAX];
    struct str text = stem_of(sink_text(nsys->sink, name), stem);
    uint64_t hash = hash64((struct bytes){.at = (const uint8_t *)text.at, .count = text.count});
    uint32_t *known = pair_table_at(&nsys->kinds, hash, on_device ? 1 : 0);

    if (*known == PAIR_NONE) {
        struct kind_facts facts = {
            .plane = on_device ? STR("/device:GPU") : STR("/host:CPU"),
            .line = on_device ? STR("Stream") : STR("thread"),
            .name = text,
            .is_op = on_device,
        };
        *known = kind_of(&facts);
    }
    return (enum kind) * known;
}
