/* SPDX-License-Identifier: Apache-2.0 */
/* Builds Perfetto traces for tests, and decodes them in memory. */
#ifndef JVIEWD_TESTS_MADE_PACKETS_H
#define JVIEWD_TESTS_MADE_PACKETS_H

#include "decode/decode.h"
#include "decoded.h"
#include "picture.h"
#include "proto.h"

struct made { /* fields are put into `packet`, or into `event` and that into the packet */
    struct text file, packet, event;
};

static inline void free_made(struct made *made)
{
    text_free(&made->file);
    text_free(&made->packet);
    text_free(&made->event);
}

static inline void put_fixed64(struct text *to, uint32_t number, uint64_t value)
{
    put_varint(to, (uint64_t)number << 3 | 1);
    text_put(to, (const char *)&value, sizeof value);
}

/* Ends the packet with the sequence it belongs to. */
static inline void end_packet(struct made *made, int64_t sequence)
{
    put_number(&made->packet, 10, sequence);
    put_message(&made->file, 1, &made->packet);
}

enum event_type { BEGIN = 1, END, INSTANT, COUNTER };

/* A packet of an event; what was put into made->event before is its, too. */
static inline void put_event(struct made *made, int64_t at_ns, enum event_type type, int64_t track,
                             const char *name)
{
    put_number(&made->packet, 8, at_ns);
    put_number(&made->event, 9, type);
    put_number(&made->event, 11, track);
    if (name != NULL)
        put_text(&made->event, 23, name);
    put_message(&made->packet, 11, &made->event);
    end_packet(made, 1);
}

struct made_clock {
    int64_t id, at, incremental, unit_ns;
};

static inline void put_clocks(struct made *made, int64_t sequence, const struct made_clock *clocks,
                              size_t count)
{
    struct text snapshot = {0}, clock = {0};

    for (size_t i = 0; i < count; i++) {
        put_number(&clock, 1, clocks[i].id);
        put_number(&clock, 2, clocks[i].at);
        if (clocks[i].incremental)
            put_number(&clock, 3, 1);
        if (clocks[i].unit_ns > 0)
            put_number(&clock, 4, clocks[i].unit_ns);
        put_message(&snapshot, 1, &clock);
    }
    put_message(&made->packet, 6, &snapshot);
    end_packet(made, sequence);
    text_free(&snapshot);
    text_free(&clock);
}

/* What kind of track: its ids as process, thread or counter. */
static inline void put_track(struct made *made, int64_t uuid, int64_t parent, const char *name,
                             uint32_t kind, struct text *about)
{
    struct text descriptor = {0};

    put_number(&descriptor, 1, uuid);
    if (parent != 0)
        put_number(&descriptor, 5, parent);
    if (name != NULL)
        put_text(&descriptor, 2, name);
    if (about != NULL)
        put_message(&descriptor, kind, about);
    put_message(&made->packet, 60, &descriptor);
    end_packet(made, 1);
    text_free(&descriptor);
}

static inline void put_process(struct made *made, int64_t uuid, int64_t pid, const char *name)
{
    struct text process = {0};

    put_number(&process, 1, pid);
    put_text(&process, 6, name);
    put_track(made, uuid, 0, NULL, 3, &process);
    text_free(&process);
}

static inline void put_thread(struct made *made, int64_t uuid, int64_t parent, int64_t pid,
                              int64_t tid, const char *name)
{
    struct text thread = {0};

    put_number(&thread, 1, pid);
    put_number(&thread, 2, tid);
    if (name != NULL)
        put_text(&thread, 5, name);
    put_track(made, uuid, parent, NULL, 4, &thread);
    text_free(&thread);
}

static inline void put_interned(struct text *to, uint32_t number, int64_t iid, const char *text)
{
    struct text entry = {0};

    put_number(&entry, 1, iid);
    put_text(&entry, 2, text);
    put_message(to, number, &entry);
    text_free(&entry);
}

static inline const struct trace *trace_of(struct bytes bytes, struct arena *arena,
                                           struct error *err)
{
    return decoded(&decode_perfetto, STR("a.pftrace"), bytes, arena, err);
}

static inline const struct trace *made_trace(const struct made *made, struct arena *arena)
{
    struct error err = {0};
    const struct trace *trace = trace_of(proto_bytes(&made->file), arena, &err);

    CHECK_OK("decode", err.code, &err);
    return trace;
}

#endif
