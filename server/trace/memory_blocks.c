/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks in plain memory: one array that grows, and one span a table.
 *
 * The arena keeps every earlier array, so what was once readable stays where it was.
 */
#include "trace/block.h"

struct memory_view { /* what a reader sees: all up to some moment */
    struct bytes data;
    struct bytes tables[TABLE_KIND_COUNT_];
};

struct memory_blocks {
    struct arena *arena;
    uint8_t *at;
    size_t count, capacity;
    struct memory_view view;
};

static struct bytes view_table(void *from, enum table_kind kind)
{
    const struct memory_view *view = from;

    return kind > 0 && kind < TABLE_KIND_COUNT_ ? view->tables[kind] : (struct bytes){0};
}

static struct bytes span_of(struct bytes all, uint64_t offset, size_t size)
{
    if (offset > all.count || size > all.count - offset)
        return (struct bytes){0};
    return (struct bytes){.at = all.at + offset, .count = size};
}

static struct bytes view_data(void *from, uint64_t offset, size_t size)
{
    return span_of(((const struct memory_view *)from)->data, offset, size);
}

static void make_room(struct memory_blocks *blocks, size_t count)
{
    size_t need = blocks->count + count;

    if (need <= blocks->capacity)
        return;
    blocks->capacity = need * 2;
    uint8_t *at = arena_array(blocks->arena, uint8_t, blocks->capacity);
    if (blocks->count > 0)
        memcpy(at, blocks->at, blocks->count);
    blocks->at = at;
}

static enum status put_data(void *to, struct bytes bytes, uint64_t *ret_offset, struct error *err)
{
    struct memory_blocks *blocks = to;

    (void)err;
    size_t padded = (bytes.count + 7) & ~(size_t)7;
    make_room(blocks, padded);
    *ret_offset = blocks->count;
    if (bytes.count > 0)
        memcpy(blocks->at + blocks->count, bytes.at, bytes.count);
    blocks->count += padded;
    blocks->view.data = (struct bytes){.at = blocks->at, .count = blocks->count};
    return OK;
}

static enum status reserve_table(void *to, enum table_kind kind, size_t size, uint8_t **ret,
                                 struct error *err)
{
    struct memory_blocks *blocks = to;

    if (kind <= 0 || kind >= TABLE_KIND_COUNT_ || blocks->view.tables[kind].at)
        return fail(err, ERR_INVALID, "table %d was written before", (int)kind);
    *ret = arena_array(blocks->arena, uint8_t, size + 1);
    blocks->view.tables[kind] = (struct bytes){.at = *ret, .count = size};
    return OK;
}

static enum status put_table(void *to, enum table_kind kind, struct bytes bytes, struct error *err)
{
    uint8_t *at = NULL;

    TRY(reserve_table(to, kind, bytes.count, &at, err));
    if (bytes.count > 0)
        memcpy(at, bytes.at, bytes.count);
    return OK;
}

static enum status view_written(void *to, uint64_t offset, size_t size, struct bytes *ret,
                                struct error *err)
{
    const struct memory_blocks *blocks = to;

    *ret = span_of(blocks->view.data, offset, size);
    return ret->at || size == 0 ? OK : fail(err, ERR_FORMAT, "nothing was written there");
}

static struct block_in view_in(struct memory_view *view)
{
    return (struct block_in){.from = view, .table = view_table, .data = view_data};
}

static enum status written_so_far(void *to, struct block_in *ret, struct error *err)
{
    const struct memory_blocks *blocks = to;
    struct memory_view *copy = arena_new(blocks->arena, struct memory_view);

    (void)err;
    *copy = blocks->view;
    *ret = view_in(copy);
    return OK;
}

struct memory_blocks *memory_blocks_create(struct arena *arena)
{
    struct memory_blocks *blocks = arena_new(arena, struct memory_blocks);

    blocks->arena = arena;
    return blocks;
}

struct block_out memory_blocks_out(struct memory_blocks *blocks)
{
    return (struct block_out){.to = blocks,
                              .data = put_data,
                              .table = put_table,
                              .table_reserve = reserve_table,
                              .view = view_written,
                              .so_far = written_so_far};
}

struct block_in memory_blocks_in(struct memory_blocks *blocks)
{
    return view_in(&blocks->view);
}
