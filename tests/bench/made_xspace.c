/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the XSpaces of made_xspace.h field by field. */
#include "bench/made_xspace.h"

#include <stdio.h>
#include <stdlib.h>

struct out {
    uint8_t *at;
    size_t count, capacity;
};

static void put(struct out *out, const void *at, size_t count)
{
    if (count > out->capacity - out->count) {
        out->capacity = (out->count + count) * 2 + 4096;
        out->at = memory_resize(out->at, out->capacity, 1);
    }
    if (count > 0)
        memcpy(out->at + out->count, at, count);
    out->count += count;
}

static void put_varint(struct out *out, uint64_t value)
{
    uint8_t bytes[10];
    size_t count = 0;

    for (; value >= 0x80; value >>= 7)
        bytes[count++] = (uint8_t)(value | 0x80);
    bytes[count++] = (uint8_t)value;
    put(out, bytes, count);
}

static void put_number(struct out *out, uint32_t field, uint64_t value)
{
    put_varint(out, field << 3);
    put_varint(out, value);
}

static void put_bytes(struct out *out, uint32_t field, const void *at, size_t count)
{
    put_varint(out, field << 3 | 2);
    put_varint(out, count);
    put(out, at, count);
}

static void put_text(struct out *out, uint32_t field, const char *text)
{
    put_bytes(out, field, text, strlen(text));
}

/* Ends a message that was gathered in `part`. */
static void put_part(struct out *out, uint32_t field, struct out *part)
{
    put_bytes(out, field, part->at, part->count);
    part->count = 0;
}

enum { XSTAT_UINT64 = 3, XSTAT_INT64 = 4, XSTAT_REF = 7 };
enum { /* ids of stat names; texts that are values follow */
       STAT_HLO_OP = 1,
       STAT_HLO_MODULE,
       STAT_PROGRAM_ID,
       STAT_RUN_ID,
       STAT_DEVICE_ORDINAL,
       STAT_SRC,
       STAT_PT,
       STAT_P,
       STAT_CT,
       STAT_C,
       STAT_CORRELATION_ID,
       STAT_CONTEXT_ID,
       STAT_TF_OP,
       STAT_KERNEL_DETAILS,
       STAT_STEP_NUM,
       STAT_TEXTS,
       TEXT_COUNT = 600,
       EVENT_NAMES = 1000,
};

struct maker {
    struct out file, plane, line, event, stat;
    uint64_t seed;
};

static uint64_t next_random(struct maker *maker)
{
    maker->seed = maker->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return maker->seed >> 33;
}

static void put_stat(struct maker *maker, uint32_t id, uint32_t field, uint64_t value)
{
    put_number(&maker->stat, 1, id);
    put_number(&maker->stat, field, value);
    put_part(&maker->event, 4, &maker->stat);
}

static void begin_event(struct maker *maker, uint64_t name, uint64_t offset_ps, uint64_t dur_ps)
{
    put_number(&maker->event, 1, name);
    put_number(&maker->event, 2, offset_ps);
    put_number(&maker->event, 3, dur_ps);
}

static void end_event(struct maker *maker)
{
    put_part(&maker->line, 4, &maker->event);
}

static void put_op(struct maker *maker, uint64_t op, uint64_t run, uint64_t at, uint64_t dur,
                   uint64_t id)
{
    begin_event(maker, 1 + op, at, dur);
    put_stat(maker, STAT_HLO_OP, XSTAT_REF, STAT_TEXTS + op);
    put_stat(maker, STAT_HLO_MODULE, XSTAT_REF, STAT_TEXTS + TEXT_COUNT - 1);
    put_stat(maker, STAT_PROGRAM_ID, XSTAT_INT64, 36);
    put_stat(maker, STAT_RUN_ID, XSTAT_INT64, 70000 + run);
    put_stat(maker, STAT_DEVICE_ORDINAL, XSTAT_INT64, 0);
    put_stat(maker, STAT_SRC, XSTAT_REF, STAT_TEXTS + TEXT_COUNT - 2);
    put_stat(maker, STAT_PT, XSTAT_UINT64, 0);
    put_stat(maker, STAT_P, XSTAT_UINT64, id);
    put_stat(maker, STAT_SRC, XSTAT_REF, STAT_TEXTS + TEXT_COUNT - 2);
    end_event(maker);
    begin_event(maker, 500 + op, at + dur, 100000);
    put_stat(maker, STAT_CT, XSTAT_UINT64, 0);
    put_stat(maker, STAT_C, XSTAT_UINT64, id);
    end_event(maker);
}

/* Frames and annotations around each other: `step` of them a microsecond apart. */
static void put_frames(struct maker *maker, uint32_t count, uint64_t name, uint64_t at, bool steps,
                       uint64_t unit)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t from = at + i * 1000000, to = at + 30000000 - i * 1000000 - unit;
        begin_event(maker, name + i, from, to - from);
        if (steps && i % 2 == 0)
            put_stat(maker, STAT_STEP_NUM, XSTAT_INT64, at / 1000000000);
        end_event(maker);
    }
}

static void begin_line(struct maker *maker, uint64_t id, const char *name)
{
    put_number(&maker->line, 1, id);
    put_text(&maker->line, 2, name);
    put_number(&maker->line, 3, 5491);
}

static void put_cpu_lines(struct maker *maker, uint32_t event_count)
{
    enum { LINES = 6 };

    for (uint32_t line = 0; line < LINES; line++) {
        const uint32_t wanted = event_count / LINES;
        uint64_t at = 0, id = UINT64_C(1) << 30;
        char name[64];

        snprintf(name, sizeof(name), line < 2 ? "tf_XLAPjRtCpuClient/%u" : "python/%u", line);
        begin_line(maker, 1000 + line, name);
        for (uint32_t i = 0; i < wanted;) {
            if (line < 2) {
                uint64_t dur = 1000 * (2000 + next_random(maker) % 9000);
                put_op(maker, next_random(maker) % 400, i / 4000, at, dur, id++);
                at += dur + 1000 * (200 + next_random(maker) % 500);
                i += 2;
            } else {
                put_frames(maker, 6, 900 + 8 * (line % 3), at, line > 3, 1000);
                at += 1000 * (31000 + next_random(maker) % 4000);
                i += 6;
            }
        }
        put_part(&maker->plane, 3, &maker->line);
    }
}

static void put_launch(struct maker *maker, uint64_t kernel, uint64_t at, uint64_t dur, uint64_t id)
{
    begin_event(maker, 1 + kernel, at, dur);
    put_stat(maker, STAT_CORRELATION_ID, XSTAT_UINT64, id);
    put_stat(maker, STAT_CONTEXT_ID, XSTAT_UINT64, 1);
    put_stat(maker, STAT_HLO_OP, XSTAT_REF, STAT_TEXTS + kernel);
    put_stat(maker, STAT_HLO_MODULE, XSTAT_REF, STAT_TEXTS + TEXT_COUNT - 1);
    put_stat(maker, STAT_TF_OP, XSTAT_REF, STAT_TEXTS + (kernel * 7) % 400);
    put_stat(maker, STAT_KERNEL_DETAILS, XSTAT_REF, STAT_TEXTS + 400 + kernel % 100);
    put_stat(maker, STAT_PROGRAM_ID, XSTAT_UINT64, 36);
    end_event(maker);
}

static void put_gpu_lines(struct maker *maker, uint32_t event_count)
{
    enum { LINES = 20 };

    for (uint32_t line = 0; line < LINES; line++) {
        /* The largest line has a quarter of all. */
        const uint32_t wanted = line == 0 ? event_count / 4 : event_count * 3 / 4 / (LINES - 1);
        uint64_t at = 12345, id = 1 + line * UINT64_C(1000000);
        char name[64];

        snprintf(name, sizeof(name), line < 13 ? "Stream #%u(Kernel)" : "python/%u", line);
        begin_line(maker, 1000 + line, name);
        for (uint32_t i = 0; i < wanted;) {
            if (line < 13) {
                uint64_t dur = 1500123 + next_random(maker) % 90000000;
                put_launch(maker, next_random(maker) % 400, at, dur, id++);
                at += dur + 300000 + next_random(maker) % 2000000;
                i++;
            } else {
                put_frames(maker, 7, 900, at + next_random(maker) % 999, false, 17);
                at += 31000000 + next_random(maker) % 4000000;
                i += 7;
            }
        }
        put_part(&maker->plane, 3, &maker->line);
    }
}

/* An entry of a map: { 1 id, 2 { 1 id, 2 name } }. */
static void put_metadata(struct maker *maker, uint32_t field, uint64_t id, const char *name)
{
    put_number(&maker->stat, 1, id);
    put_text(&maker->stat, 2, name);
    put_number(&maker->event, 1, id);
    put_part(&maker->event, 2, &maker->stat);
    put_part(&maker->plane, field, &maker->event);
}

static void put_names(struct maker *maker)
{
    static const char *const stats[STAT_TEXTS] = {
        [STAT_HLO_OP] = "hlo_op",
        [STAT_HLO_MODULE] = "hlo_module",
        [STAT_PROGRAM_ID] = "program_id",
        [STAT_RUN_ID] = "run_id",
        [STAT_DEVICE_ORDINAL] = "device_ordinal",
        [STAT_SRC] = "_src",
        [STAT_PT] = "_pt",
        [STAT_P] = "_p",
        [STAT_CT] = "_ct",
        [STAT_C] = "_c",
        [STAT_CORRELATION_ID] = "correlation_id",
        [STAT_CONTEXT_ID] = "context_id",
        [STAT_TF_OP] = "tf_op",
        [STAT_KERNEL_DETAILS] = "kernel_details",
        [STAT_STEP_NUM] = "step_num",
    };
    char text[64];

    for (uint32_t i = 1; i < STAT_TEXTS; i++)
        put_metadata(maker, 5, i, stats[i]);
    for (uint32_t i = 0; i < TEXT_COUNT; i++) {
        snprintf(text, sizeof(text), i < 400 ? "fusion.%u" : "regs:32 grid:%u,1,1", i);
        put_metadata(maker, 5, STAT_TEXTS + i, text);
    }
    for (uint32_t i = 1; i < EVENT_NAMES; i++) {
        const char *format = i <= 400   ? "fusion.%u"
                             : i >= 900 ? "$train.py:%u step"
                                        : "end: fusion.%u";
        snprintf(text, sizeof(text), format, i);
        put_metadata(maker, 4, i, text);
    }
}

struct bytes made_xspace(enum made_shape shape, uint32_t event_count)
{
    struct maker maker = {.seed = 1};

    put_number(&maker.plane, 1, 1);
    put_text(&maker.plane, 2, shape == MADE_CPU ? "/host:CPU" : "/device:GPU:0");
    if (shape == MADE_CPU)
        put_cpu_lines(&maker, event_count);
    else
        put_gpu_lines(&maker, event_count);
    put_names(&maker);
    put_part(&maker.file, 1, &maker.plane);
    free(maker.plane.at);
    free(maker.line.at);
    free(maker.event.at);
    free(maker.stat.at);
    return (struct bytes){.at = maker.file.at, .count = maker.file.count};
}
