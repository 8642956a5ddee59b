/* SPDX-License-Identifier: Apache-2.0 */
/* What XProf reads from one text of an event.
 *
 *   kernel_details   regs:32 static_shared:0 dynamic_shared:49152 grid:128,1,1 block:256,1,1
 *   memcpy_details   kind_src:pageable kind_dst:device size:4096
 *   Memset_details   kind:device num_bytes:4096
 *
 * Few different kernels make many events: their texts are made once and referred to. Occupancy is
 * left out: it needs limits of the device that the trace does not hold.
 */
#include "export/xspace_out.h"

#include <inttypes.h>
#include <stdio.h>

enum { DETAILS_KNOWN = 1 << 12, DETAILS_KNOWN_MOST = DETAILS_KNOWN / 2 };

struct found { /* args by what they are for; NULL: there is none */
    const struct arg *by[DETAILS];
};

static struct found find(const struct xspace_out *space, const struct event_out *event)
{
    struct found found = {0};

    for (uint32_t index = 0; index < event->arg_count; index++) {
        key_id key = event->args[index].key;

        if ((space->detail_bits >> key % 64 & 1) == 0)
            continue;
        for (uint32_t detail = 0; detail < DETAILS; detail++)
            if (space->details[detail] != 0 && key == space->details[detail])
                found.by[detail] = &event->args[index];
    }
    return found;
}

static uint64_t bits_of(const struct found *found, enum detail_key key)
{
    return found->by[key] != NULL ? found->by[key]->bits : 0;
}

static struct str text_of(const struct plane_out *plane, const struct found *found,
                          enum detail_key key)
{
    const struct arg *arg = found->by[key];

    return arg != NULL && arg->type == ARG_STRING ? space_text(plane->space, (name_id)arg->bits)
                                                  : STR("");
}

static bool is_text(const struct found *found, enum detail_key key)
{
    return found->by[key] != NULL && found->by[key]->type == ARG_STRING;
}

/* The place of the kernel's text; NULL: no more are remembered. */
static struct plane_detail *find_known(struct plane_out *plane, const uint64_t parts[5])
{
    uint64_t hash = 0;

    if (plane->known == NULL) {
        plane->known = memory_resize(NULL, DETAILS_KNOWN, sizeof *plane->known);
        memset(plane->known, 0, DETAILS_KNOWN * sizeof *plane->known);
    }
    for (int part = 0; part < 5; part++)
        hash = (hash ^ parts[part]) * UINT64_C(0x9e3779b97f4a7c15), hash ^= hash >> 29;
    for (uint64_t place = hash % DETAILS_KNOWN;; place = (place + 1) % DETAILS_KNOWN) {
        struct plane_detail *known = &plane->known[place];

        if (known->ref != 0 && memcmp(known->parts, parts, sizeof known->parts) == 0)
            return known;
        if (known->ref == 0)
            return plane->known_count < DETAILS_KNOWN_MOST ? known : NULL;
    }
}

static struct str kernel_text(struct plane_out *plane, const struct found *found)
{
    return str_format(plane->space->arena,
                      "regs:%" PRIu64 " static_shared:%" PRIu64 " dynamic_shared:%" PRIu64
                      " grid:%.*s block:%.*s",
                      bits_of(found, DETAIL_REGISTERS), bits_of(found, DETAIL_STATIC_SHARED),
                      bits_of(found, DETAIL_DYNAMIC_SHARED),
                      STR_ARG(text_of(plane, found, DETAIL_GRID)),
                      STR_ARG(text_of(plane, found, DETAIL_BLOCK)));
}

static void put_kernel(struct plane_out *plane, struct text *to, const struct found *found)
{
    key_id key = plane->space->words[WORD_KERNEL_DETAILS];
    const uint64_t parts[5] = {
        bits_of(found, DETAIL_GRID), bits_of(found, DETAIL_BLOCK), bits_of(found, DETAIL_REGISTERS),
        bits_of(found, DETAIL_STATIC_SHARED), bits_of(found, DETAIL_DYNAMIC_SHARED)};
    struct plane_detail *known = find_known(plane, parts);

    if (known == NULL) {
        stat_put_text(plane, to, XEVENT_STATS, key, kernel_text(plane, found));
        return;
    }
    if (known->ref == 0) {
        memcpy(known->parts, parts, sizeof known->parts);
        known->ref = names_stat_id(plane, names_make(plane, kernel_text(plane, found)));
        plane->known_count++;
    }
    pb_put_pair(to, XEVENT_STATS, XSTAT_ID, names_stat_id(plane, key), XSTAT_REF, known->ref);
}

/* A stat of one text of two texts and a number; there are as many as there are copies. */
static void put_sized(struct plane_out *plane, struct text *to, key_id key, const char *first,
                      struct str first_is, const char *second, struct str second_is,
                      const char *third, uint64_t size)
{
    struct text *text = &plane->pieces;
    char digits[20];
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + size % 10);
    while ((size /= 10) != 0);
    text->count = 0;
    text_puts(text, first);
    text_put(text, first_is.at, first_is.count);
    text_puts(text, second);
    text_put(text, second_is.at, second_is.count);
    text_puts(text, third);
    text_put(text, digits + at, sizeof digits - at);
    stat_put_text(plane, to, XEVENT_STATS, key, text_str(text));
}

void details_put(struct plane_out *plane, struct text *to, const struct event_out *event)
{
    struct xspace_out *space = plane->space;
    struct found found = find(space, event);

    if (is_text(&found, DETAIL_GRID) && is_text(&found, DETAIL_BLOCK))
        put_kernel(plane, to, &found);
    else if (is_text(&found, DETAIL_SOURCE) && is_text(&found, DETAIL_DESTINATION))
        put_sized(plane, to, space->words[WORD_MEMCPY_DETAILS],
                  "kind_src:", text_of(plane, &found, DETAIL_SOURCE),
                  " kind_dst:", text_of(plane, &found, DETAIL_DESTINATION),
                  " size:", bits_of(&found, DETAIL_BYTES));
    else if (is_text(&found, DETAIL_MEMORY) &&
             str_contains(space_text(space, event->name), STR("memset")))
        put_sized(plane, to, space->words[WORD_MEMSET_DETAILS],
                  "kind:", text_of(plane, &found, DETAIL_MEMORY), "", STR(""),
                  " num_bytes:", bits_of(&found, DETAIL_BYTES));
}
