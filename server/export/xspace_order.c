/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a line that came in another order than that of time.
 *
 *   spill    [b 20][a 10][c 30]      as they were told, offsets from one base
 *   places   a, c, b by start        in the sorter: start, longest first, as they came
 *   spill    [a 0][b 10][c 20]       behind all that, offsets from the line's own
 *
 * Who ended first was told first, so what follows in time mostly lies near in the spill: a few
 * windows of it are at hand.
 */
#include <stdlib.h>

#include "export/xspace_out.h"
#include "trace/sink/sort.h"

enum { WINDOW_BYTES = 64 << 10, WINDOWS = 64, PIECE_BYTES = 256 << 10 };

struct told {                              /* an event that lies in memory; parts of it */
    const uint8_t *body, *offset, *behind; /* the offset's tag; what follows the offset */
    size_t bytes, body_bytes;
    uint64_t offset_ps, dur_ps;
};

struct buffer {
    uint8_t *bytes;
    size_t capacity;
};

struct window {
    uint64_t at;
    size_t count; /* 0: free */
    uint8_t *bytes;
};

struct ordering {
    struct plane_out *plane;
    struct sorter *sorter;
    struct window windows[WINDOWS];
    struct buffer apart; /* for an event that lies in no window as a whole */
    int64_t later_ps;    /* added to offsets */
    uint32_t count;
};

static uint8_t *buffer_room(struct buffer *buffer, size_t count)
{
    if (buffer->capacity < count) {
        buffer->capacity = count;
        buffer->bytes = memory_resize(buffer->bytes, count, 1);
    }
    return buffer->bytes;
}

/* False: it does not end here. */
static bool take_varint(const uint8_t **at, const uint8_t *end, uint64_t *ret)
{
    unsigned shift = 0;

    *ret = 0;
    while (*at < end && shift < 64) {
        uint8_t byte = *(*at)++;

        *ret |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
        shift += 7;
    }
    return false;
}

/* The event that begins there; `count` bytes are at hand. They are our own: event_put's. */
static bool take_event(const uint8_t *from, size_t count, struct told *ret)
{
    const uint8_t *at = from, *end = from + count;
    uint64_t ignored, size;

    if (!take_varint(&at, end, &ignored) || !take_varint(&at, end, &size) ||
        size > (uint64_t)(end - at))
        return false;
    *ret = (struct told){.body = at, .body_bytes = (size_t)size};
    ret->bytes = (size_t)(at - from) + ret->body_bytes;
    end = at + size;
    if (!take_varint(&at, end, &ignored) || !take_varint(&at, end, &ignored))
        return false;
    ret->offset = at;
    if (!take_varint(&at, end, &ignored) || !take_varint(&at, end, &ret->offset_ps))
        return false;
    ret->behind = at;
    return take_varint(&at, end, &ignored) && take_varint(&at, end, &ret->dur_ps);
}

static enum status put_place(struct ordering *ordering, const struct told *told, uint64_t at,
                             struct error *err)
{
    const struct unsorted place = {.start_ps = (int64_t)told->offset_ps,
                                   .dur_ps = (int64_t)told->dur_ps,
                                   .named = (uint32_t)(at >> 32),
                                   .flags = (uint32_t)at,
                                   .event = ordering->count++};

    return sorter_put(ordering->sorter, &place, err);
}

/* All events of an extent, read in pieces, of which one may have to be longer than the others. */
static enum status put_places(struct ordering *ordering, struct extent extent, struct error *err)
{
    struct buffer piece = {0};
    size_t room = PIECE_BYTES;
    enum status status = OK;

    while (extent.count > 0 && status == OK) {
        size_t count = extent.count < room ? (size_t)extent.count : room, done = 0;
        const uint8_t *at = buffer_room(&piece, room);
        struct told told;

        status = spill_read(ordering->plane->spill, extent.at, piece.bytes, count, err);
        while (status == OK && take_event(at + done, count - done, &told)) {
            status = put_place(ordering, &told, extent.at + done, err);
            done += told.bytes;
        }
        if (status == OK && done == 0 && count == extent.count)
            status = fail(err, ERR_IO, "an event that was set aside does not end");
        room = done == 0 ? 2 * room : PIECE_BYTES;
        extent.at += done;
        extent.count -= done;
    }
    free(piece.bytes);
    return status;
}

static enum status window_at(struct ordering *ordering, uint64_t at, struct window **ret,
                             struct error *err)
{
    uint64_t from = at / WINDOW_BYTES * WINDOW_BYTES, end = spill_bytes(ordering->plane->spill);
    struct window *window = &ordering->windows[at / WINDOW_BYTES % WINDOWS];

    *ret = window;
    if (window->count > at - from && window->at == from)
        return OK;
    if (window->bytes == NULL)
        window->bytes = memory_resize(NULL, WINDOW_BYTES, 1);
    window->at = from;
    window->count = end - from < WINDOW_BYTES ? (size_t)(end - from) : WINDOW_BYTES;
    return spill_read(ordering->plane->spill, from, window->bytes, window->count, err);
}

/* What crosses two windows is read apart. */
static enum status event_at(struct ordering *ordering, uint64_t at, struct told *ret,
                            struct error *err)
{
    uint64_t end = spill_bytes(ordering->plane->spill);
    struct window *window;

    TRY(window_at(ordering, at, &window, err));
    if (take_event(window->bytes + (at - window->at), window->count - (size_t)(at - window->at),
                   ret))
        return OK;
    for (size_t room = WINDOW_BYTES;; room *= 2) {
        size_t count = end - at < room ? (size_t)(end - at) : room;
        uint8_t *to = buffer_room(&ordering->apart, room);

        TRY(spill_read(ordering->plane->spill, at, to, count, err));
        if (take_event(to, count, ret))
            return OK;
        if (count == end - at)
            return fail(err, ERR_IO, "an event that was set aside does not end");
    }
}

static void put_event(struct ordering *ordering, const struct told *told)
{
    struct text *event = &ordering->plane->event;

    text_put(event, (const char *)told->body, (size_t)(told->offset - told->body));
    pb_put_number(event, XEVENT_OFFSET_PS, told->offset_ps + (uint64_t)ordering->later_ps);
    text_put(event, (const char *)told->behind,
             told->body_bytes - (size_t)(told->behind - told->body));
    pb_put_message(&ordering->plane->events, XLINE_EVENTS, event);
}

static enum status put_sorted(struct ordering *ordering, struct error *err)
{
    struct unsorted place;
    struct told told;

    TRY(sorter_start(ordering->sorter, err));
    for (uint64_t count = 1; sorter_next(ordering->sorter, &place, err); count++) {
        TRY(event_at(ordering, (uint64_t)place.named << 32 | place.flags, &told, err));
        put_event(ordering, &told);
        TRY(plane_look_around(ordering->plane, count, err));
    }
    TRY(err->code);
    return plane_keep(ordering->plane, &ordering->plane->events, err);
}

enum status line_put_in_order(struct plane_out *plane, const struct line_out *told,
                              int64_t later_ps, struct error *err)
{
    struct ordering *ordering = memory_resize(NULL, 1, sizeof *ordering);
    enum status status = OK;

    *ordering = (struct ordering){.plane = plane,
                                  .sorter = sorter_create(plane->space->temporary_dir, UINT64_MAX),
                                  .later_ps = later_ps};
    for (uint32_t part = 0; part < told->extent_count && status == OK; part++)
        status = put_places(ordering, told->extents[part], err);
    if (status == OK)
        status = put_sorted(ordering, err);
    for (uint32_t window = 0; window < WINDOWS; window++)
        free(ordering->windows[window].bytes);
    sorter_destroy(ordering->sorter);
    free(ordering->apart.bytes);
    free(ordering);
    return status;
}
