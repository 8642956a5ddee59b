/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the tables of files, functions, locations and frames of a module, from a proto or a
 * text. Facts: xla/service/hlo.proto. */
#include "decode/hlo/hlo_frames.h"

static void *grown(struct arena *arena, const void *array, uint32_t *capacity, size_t size)
{
    uint32_t before = *capacity;

    *capacity = before == 0 ? 64 : 2 * before;
    void *ret = arena_alloc(arena, *capacity, size);
    if (before > 0)
        memcpy(ret, array, before * size);
    return ret;
}

bool hlo_frames_add_text(struct hlo_texts *texts, struct arena *arena, struct str text)
{
    if (texts->count == HLO_FRAMES_MAX)
        return false;
    if (texts->count == texts->capacity)
        texts->items = grown(arena, texts->items, &texts->capacity, sizeof *texts->items);
    texts->items[texts->count++] = text;
    return true;
}

bool hlo_frames_add_record(struct hlo_records *records, struct arena *arena,
                           struct hlo_numbers record)
{
    if (records->count == HLO_FRAMES_MAX)
        return false;
    if (records->count == records->capacity)
        records->items = grown(arena, records->items, &records->capacity, sizeof *records->items);
    records->items[records->count++] = record;
    return true;
}

static bool read_record(const struct pb *outer, struct bytes message, struct hlo_numbers *ret)
{
    struct error err = {0};
    struct pb pb = pb_inside(outer, message, &err);

    *ret = (struct hlo_numbers){0};
    for (struct pb_field field; pb_next(&pb, &field);)
        if (field.wire == PB_VARINT && field.number <= COUNT(ret->fields))
            ret->fields[field.number - 1] = field.varint;
    return err.code == OK;
}

bool hlo_frames_read(struct hlo_frames *frames, struct arena *arena, const struct pb *outer,
                     struct bytes message)
{
    struct error err = {0};
    struct pb pb = pb_inside(outer, message, &err);
    bool is_whole = true;

    for (struct pb_field field; pb_next(&pb, &field);) {
        struct hlo_numbers record;
        if (field.wire != PB_BYTES)
            continue;
        switch (field.number) {
        case 1:
            is_whole &= hlo_frames_add_text(&frames->files, arena, pb_text(&field));
            break;
        case 2:
            is_whole &= hlo_frames_add_text(&frames->functions, arena, pb_text(&field));
            break;
        case 3:
        case 4: /* a damaged one keeps its place: ids count places */
            is_whole &= read_record(&pb, field.bytes, &record);
            is_whole &= hlo_frames_add_record(
                field.number == 3 ? &frames->locations : &frames->frames, arena, record);
            break;
        }
    }
    return is_whole && err.code == OK;
}

static struct str text_of(const struct hlo_texts *texts, uint64_t id)
{
    return id > 0 && id <= texts->count ? texts->items[id - 1] : STR("");
}

bool hlo_frame_get(const struct hlo_frames *frames, uint64_t id, struct hlo_frame *ret)
{
    if (id == 0 || id > frames->frames.count)
        return false;
    const uint64_t *frame = frames->frames.items[id - 1].fields;
    if (frame[0] == 0 || frame[0] > frames->locations.count)
        return false;
    const uint64_t *location = frames->locations.items[frame[0] - 1].fields;
    *ret = (struct hlo_frame){
        .file = text_of(&frames->files, location[0]),
        .function = text_of(&frames->functions, location[1]),
        .line = location[2],
        .column = location[3],
        .parent = frame[1],
    };
    return true;
}
