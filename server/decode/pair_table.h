/* SPDX-License-Identifier: Apache-2.0 */
/* (a, b) -> index: open addressing, for ids that come from files. */
#ifndef JVIEWD_DECODE_PAIR_TABLE_H
#define JVIEWD_DECODE_PAIR_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define PAIR_NONE UINT32_MAX

struct pair_entry {
    uint64_t a, b;
    uint32_t index;
    bool used;
};

struct pair_table { /* all zero: empty */
    struct pair_entry *entries;
    uint32_t count, capacity;
};

/* Where the index of a pair stands, PAIR_NONE until one is put; valid until the next call. */
uint32_t *pair_table_at(struct pair_table *table, uint64_t a, uint64_t b);
/* The index, or PAIR_NONE. */
uint32_t pair_table_find(const struct pair_table *table, uint64_t a, uint64_t b);
void pair_table_remove(struct pair_table *table, uint64_t a, uint64_t b);
void pair_table_free(struct pair_table *table);

#endif
