/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as XSpace. A message's length stands in front of it, so lines and planes are written
 * twice, the first time only counted. */
#include "profile.h"

struct small { /* a message that fits in memory */
    uint8_t at[512];
    size_t count;
};

static void add_varint(struct small *message, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        message->at[message->count++] = (uint8_t)(value | 0x80);
    message->at[message->count++] = (uint8_t)value;
}

static void add_field(struct small *message, unsigned number, uint64_t value)
{
    add_varint(message, number << 3);
    add_varint(message, value);
}

static void add_bytes(struct small *message, unsigned number, const void *at, size_t count)
{
    add_varint(message, number << 3 | 2);
    add_varint(message, count);
    memcpy(message->at + message->count, at, count);
    message->count += count;
}

static void put_head(struct out *out, unsigned number, uint64_t size)
{
    struct small head = {.count = 0};

    add_varint(&head, number << 3 | 2);
    add_varint(&head, size);
    put(out, head.at, head.count);
}

/* Texts that stats refer to: a stat metadata for each (stat, op). */
static uint64_t reference_id(enum stat_id stat, uint64_t op)
{
    return 1000 + (uint64_t)stat * OP_NAMES + op;
}

static void add_stat_message(struct small *message, unsigned number, const struct stat_value *value)
{
    struct small stat = {.count = 0};

    add_field(&stat, 1, value->stat);
    add_field(&stat, value->is_ref ? 7 : 3,
              value->is_ref ? reference_id(value->stat, value->value) : value->value);
    add_bytes(message, number, stat.at, stat.count);
}

static void put_event(struct out *out, const struct made *made)
{
    struct small event = {.count = 0};

    add_field(&event, 1, made->name);
    add_field(&event, 2, (uint64_t)made->start_ps);
    add_field(&event, 3, (uint64_t)made->dur_ps);
    for (unsigned i = 0; i < made->stat_count; i++)
        add_stat_message(&event, 4, &made->stats[i]);
    put_head(out, 4, event.count);
    put(out, event.at, event.count);
}

static void put_line_body(struct out *out, const struct profile *profile, const struct line *line)
{
    struct small head = {.count = 0};

    add_field(&head, 1, (uint64_t)line->id);
    add_bytes(&head, 2, line->name, strlen(line->name));
    add_field(&head, 3, 1000);
    put(out, head.at, head.count);
    for (uint64_t index = 0; index < line->count; index++) {
        struct made made = make_event(profile, line, index);

        put_event(out, &made);
    }
}

static void put_metadata(struct out *out, unsigned number, uint64_t id, const char *name,
                         const struct stat_value *stats, unsigned stat_count)
{
    struct small metadata = {.count = 0}, entry = {.count = 0};

    add_field(&metadata, 1, id);
    add_bytes(&metadata, 2, name, strlen(name));
    for (unsigned i = 0; i < stat_count; i++)
        add_stat_message(&metadata, 5, &stats[i]);
    add_field(&entry, 1, id);
    add_bytes(&entry, 2, metadata.at, metadata.count);
    put_head(out, number, entry.count);
    put(out, entry.at, entry.count);
}

/* Names of events, names of stats, and the texts that stats refer to. */
static void put_tables(struct out *out, bool is_tpu)
{
    static const enum stat_id texts[] = {STAT_HLO_OP, STAT_HLO_MODULE, STAT_DETAILS, STAT_TF_OP,
                                         STAT_CATEGORY};
    char room[160];

    for (unsigned name = 1; name < NAME_COUNT; name++) {
        unsigned op = name - NAME_OPS;
        const struct stat_value stats[] = {{STAT_CATEGORY, true, op},
                                           {STAT_TF_OP, true, op},
                                           {STAT_FLOPS, false, 1000000 * (uint64_t)op},
                                           {STAT_BYTES, false, 4096 * (uint64_t)op}};

        put_metadata(out, 4, name, text_of(name, room), stats,
                     is_tpu && op < OP_NAMES ? COUNT(stats) : 0);
    }
    for (unsigned stat = 1; stat < STAT_COUNT; stat++)
        put_metadata(out, 5, stat, stat_name(stat), NULL, 0);
    for (size_t i = 0; i < COUNT(texts); i++)
        for (unsigned op = 0; op < OP_NAMES; op++)
            put_metadata(out, 5, reference_id(texts[i], op), detail_of(texts[i], op, room), NULL,
                         0);
}

static void put_plane_body(struct out *out, const struct profile *profile, unsigned plane)
{
    struct small head = {.count = 0};
    const char *name = profile->planes[plane];

    add_field(&head, 1, plane + 1);
    add_bytes(&head, 2, name, strlen(name));
    put(out, head.at, head.count);
    put_tables(out, strstr(name, "TPU") != NULL);
    for (unsigned i = 0; i < profile->line_count; i++) {
        const struct line *line = &profile->lines[i];

        if (line->plane != name)
            continue;
        put_head(out, 3, line->body_bytes);
        if (out->counting)
            out->count += line->body_bytes;
        else
            put_line_body(out, profile, line);
    }
}

/* When the capture began: what makes times of lines Unix times. */
static void put_environment(struct out *out)
{
    static const char name[] = "Task Environment";
    struct small plane = {.count = 0}, entry = {.count = 0}, metadata = {.count = 0};
    struct stat_value start = {STAT_START, false, UINT64_C(1767225600000000000)};

    add_bytes(&plane, 2, name, sizeof name - 1);
    add_field(&metadata, 1, STAT_START);
    add_bytes(&metadata, 2, stat_name(STAT_START), strlen(stat_name(STAT_START)));
    add_field(&entry, 1, STAT_START);
    add_bytes(&entry, 2, metadata.at, metadata.count);
    add_bytes(&plane, 5, entry.at, entry.count);
    add_stat_message(&plane, 6, &start);
    put_head(out, 1, plane.count);
    put(out, plane.at, plane.count);
}

void put_xspace(struct out *out, struct profile *profile)
{
    for (unsigned i = 0; i < profile->line_count; i++) {
        struct out counting = {.counting = true};

        put_line_body(&counting, profile, &profile->lines[i]);
        profile->lines[i].body_bytes = counting.count;
    }
    for (unsigned plane = 0; plane < profile->plane_count; plane++) {
        struct out counting = {.counting = true};

        put_plane_body(&counting, profile, plane);
        put_head(out, 1, counting.count);
        put_plane_body(out, profile, plane);
    }
    put_environment(out);
}
