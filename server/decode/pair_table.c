/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table from pairs of numbers to indices, with removal. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "decode/pair_table.h"

enum { CAPACITY_MIN = 64 };

static uint32_t home_of(const struct pair_table *table, uint64_t a, uint64_t b)
{
    uint64_t mixed = (a ^ (b << 32 | b >> 32)) * UINT64_C(0x9e3779b97f4a7c15);

    mixed ^= mixed >> 29;
    return (uint32_t)(mixed * UINT64_C(0xbf58476d1ce4e5b9) >> 32) & (table->capacity - 1);
}

/* The entry of the pair, or the free one where it belongs. */
static uint32_t slot_of(const struct pair_table *table, uint64_t a, uint64_t b)
{
    uint32_t slot = home_of(table, a, b);

    while (table->entries[slot].used &&
           (table->entries[slot].a != a || table->entries[slot].b != b))
        slot = (slot + 1) & (table->capacity - 1);
    return slot;
}

static void grow(struct pair_table *table)
{
    struct pair_table larger = {.capacity =
                                    table->capacity == 0 ? CAPACITY_MIN : table->capacity * 2};

    larger.entries = memory_resize(NULL, larger.capacity, sizeof *larger.entries);
    memset(larger.entries, 0, larger.capacity * sizeof *larger.entries);
    for (uint32_t i = 0; i < table->capacity; i++) {
        const struct pair_entry *entry = &table->entries[i];

        if (entry->used)
            larger.entries[slot_of(&larger, entry->a, entry->b)] = *entry;
    }
    larger.count = table->count;
    free(table->entries);
    *table = larger;
}

uint32_t *pair_table_at(struct pair_table *table, uint64_t a, uint64_t b)
{
    if (table->count * 2 >= table->capacity)
        grow(table);
    struct pair_entry *entry = &table->entries[slot_of(table, a, b)];

    if (!entry->used) {
        *entry = (struct pair_entry){.a = a, .b = b, .index = PAIR_NONE, .used = true};
        table->count++;
    }
    return &entry->index;
}

uint32_t pair_table_find(const struct pair_table *table, uint64_t a, uint64_t b)
{
    if (table->count == 0)
        return PAIR_NONE;
    const struct pair_entry *entry = &table->entries[slot_of(table, a, b)];

    return entry->used ? entry->index : PAIR_NONE;
}

/* Entries behind the gap move into it where their way from home passes it. */
void pair_table_remove(struct pair_table *table, uint64_t a, uint64_t b)
{
    if (table->count == 0)
        return;
    uint32_t mask = table->capacity - 1, gap = slot_of(table, a, b);

    if (!table->entries[gap].used)
        return;
    for (uint32_t next = (gap + 1) & mask; table->entries[next].used; next = (next + 1) & mask) {
        uint32_t home = home_of(table, table->entries[next].a, table->entries[next].b);

        if (((next - home) & mask) < ((next - gap) & mask))
            continue;
        table->entries[gap] = table->entries[next];
        gap = next;
    }
    table->entries[gap].used = false;
    table->count--;
}

void pair_table_free(struct pair_table *table)
{
    free(table->entries);
    *table = (struct pair_table){0};
}
