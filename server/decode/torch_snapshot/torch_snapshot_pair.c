/* SPDX-License-Identifier: Apache-2.0 */
/* Which free ends which allocation, and what was there before the history begins.
 *
 *   history   alloc 0x10   free_requested 0x20   free_requested 0x10   free_completed 0x10
 *   end       0x30 is allocated
 *   so        0x10 lived from the first event to the third; 0x20 and 0x30 were there before
 *
 * A block leaves the allocated bytes when its free is asked for, as in memory_stats; it may be
 * handed out again only when that is completed, which other streams may delay. A history that does
 * not hold the requests ends blocks by their completion.
 */
#include "decode/torch_snapshot/torch_snapshot.h"

struct pairing {
    struct torch_snapshot *snapshot;
    struct torch_device *device;
    struct pair_table live, pending; /* by address: an event; of pending any number */
};

static void add_before(struct pairing *pairing, struct torch_before before)
{
    struct torch_before *added =
        torch_add(pairing->snapshot, &pairing->device->before, sizeof *added);

    if (added == NULL)
        return;
    *added = before;
    pairing->device->before_bytes = torch_add_bytes(pairing->device->before_bytes, before.bytes);
}

static void pair_free(struct pairing *pairing, uint32_t index, bool is_request)
{
    struct torch_event *event = torch_event_at(pairing->snapshot, index);
    uint32_t alloc = pair_table_find(&pairing->live, event->address, 0);

    if (alloc != PAIR_NONE) {
        torch_event_at(pairing->snapshot, alloc)->other = index;
        event->other = alloc;
        pair_table_remove(&pairing->live, event->address, 0);
    } else if (is_request) {
        event->is_before = true;
        add_before(pairing, (struct torch_before){.address = event->address,
                                                  .bytes = event->bytes,
                                                  .stack = NO_STACK,
                                                  .stream = event->stream,
                                                  .freed_by = index});
    }
    if (is_request)
        *pair_table_at(&pairing->pending, event->address, 0) = index;
    else
        pair_table_remove(&pairing->pending, event->address, 0);
}

static void pair_event(struct pairing *pairing, uint32_t index)
{
    struct torch_event *event = torch_event_at(pairing->snapshot, index);

    switch (event->action) {
    case TORCH_ALLOC:
        /* At an address that is still taken: its free is not in the history. */
        pairing->device->lost_count +=
            pair_table_find(&pairing->live, event->address, 0) != PAIR_NONE;
        *pair_table_at(&pairing->live, event->address, 0) = index;
        break;
    case TORCH_FREE_REQUESTED:
        pair_free(pairing, index, true);
        break;
    case TORCH_FREE_COMPLETED:
        if (pair_table_find(&pairing->pending, event->address, 0) == PAIR_NONE)
            pair_free(pairing, index, false);
        else
            pair_table_remove(&pairing->pending, event->address, 0);
        break;
    case TORCH_SEGMENT_ALLOC:
    case TORCH_SEGMENT_MAP:
        pairing->device->reserved_start =
            torch_add_bytes(pairing->device->reserved_start, -event->bytes);
        break;
    case TORCH_SEGMENT_FREE:
    case TORCH_SEGMENT_UNMAP:
        pairing->device->reserved_start =
            torch_add_bytes(pairing->device->reserved_start, event->bytes);
        break;
    default:
        break;
    }
}

/* As asked for, as the history tells sizes; as handed out where that is not known. */
static int64_t asked(const struct torch_block *block)
{
    return block->requested >= 0 ? block->requested : block->bytes;
}

static void count_block(struct pairing *pairing, const struct torch_block *block,
                        uint32_t *ret_found)
{
    struct torch_device *device = pairing->device;

    if (block->state == TORCH_INACTIVE)
        return;
    device->active = torch_add_bytes(device->active, block->bytes);
    if (block->state != TORCH_ALLOCATED)
        return;
    device->allocated = torch_add_bytes(device->allocated, block->bytes);
    device->requested = torch_add_bytes(device->requested, asked(block));
    device->allocated_count++;
    if (pair_table_find(&pairing->live, block->address, 0) != PAIR_NONE) {
        ++*ret_found;
        return;
    }
    if (pairing->snapshot->is_cut && device->events.count > 0)
        return; /* it may be of the events that are missing */
    add_before(pairing, (struct torch_before){.address = block->address,
                                              .bytes = asked(block),
                                              .stack = block->stack,
                                              .stream = block->stream,
                                              .freed_by = TORCH_NONE});
}

static void count_segments(struct pairing *pairing)
{
    const struct torch_segment *segments = pairing->snapshot->segments.at;
    const struct torch_block *blocks = pairing->snapshot->blocks.at;
    struct torch_device *device = pairing->device;
    uint32_t found = 0;

    for (uint32_t i = 0; i < pairing->snapshot->segments.count; i++) {
        if (segments[i].device != device->number)
            continue;
        device->segment_count++;
        device->reserved = torch_add_bytes(device->reserved, segments[i].bytes);
        for (uint32_t k = 0; k < segments[i].block_count; k++)
            count_block(pairing, &blocks[segments[i].first_block + k], &found);
    }
    if (pairing->live.count > found && device->segment_count > 0 && !pairing->snapshot->is_cut)
        device->lost_count += pairing->live.count - found;
}

void torch_pair(struct torch_snapshot *snapshot, struct torch_device *device)
{
    struct pairing pairing = {.snapshot = snapshot, .device = device};

    for (uint32_t i = 0; i < device->events.count; i++)
        pair_event(&pairing, device->events.first + i);
    count_segments(&pairing);
    device->reserved_start = torch_add_bytes(device->reserved_start, device->reserved);
    if (device->reserved_start < 0 || snapshot->is_cut)
        device->reserved_start = -1;
    pair_table_free(&pairing.live);
    pair_table_free(&pairing.pending);
}
