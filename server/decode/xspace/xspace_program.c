/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: an event metadata entry each, named "module(program id)", with the whole HloProto as a
 * stat; in the plane /host:metadata, or in that of a TPU. They hold names of scopes and opcodes,
 * which events lack. */
#include "decode/xspace/xspace.h"

/* "jit_train_step(36)": the digits in the last parentheses are the most reliable program id. */
static bool id_in_name(struct str name, uint64_t *ret)
{
    if (!str_ends(name, STR(")")))
        return false;
    for (size_t index = name.count - 1; index > 0; index--) {
        if (name.at[index - 1] != '(')
            continue;
        struct str digits = {.at = name.at + index, .count = name.count - 1 - index};
        return str_to_u64(digits, ret);
    }
    return false;
}

struct program_entry {
    struct str name;
    bool has_id;
    uint64_t id;
    struct bytes proto;
};

/* One stat of a program's entry. The proto is megabytes: it is not made an arg. */
static void read_program_stat(struct plane *plane, const struct pb *outer, struct bytes message,
                              struct program_entry *ret)
{
    struct error err = {0};
    struct pb pb = pb_inside(outer, message, &err);
    enum stat_role role = STAT_PLAIN;

    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number == XSTAT_ID)
            role = (enum stat_role)names_stat(plane, field.varint)->role;
        else if (field.number == XSTAT_BYTES && field.wire == PB_BYTES && role == STAT_HLO_PROTO)
            ret->proto = field.bytes;
        else if ((field.number == XSTAT_UINT64 || field.number == XSTAT_INT64) &&
                 role == STAT_PROGRAM_ID) {
            ret->id = field.varint;
            ret->has_id = true;
        }
    }
}

static void read_program(struct plane *plane, struct bytes message, uint64_t metadata_id)
{
    struct xspace *space = plane->space;
    struct program_entry entry = {.id = metadata_id};
    struct error err = {0};
    struct pb whole = pb_open(space->file, &err);
    struct pb pb = pb_inside(&whole, message, &err);

    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.wire != PB_BYTES)
            continue;
        if (field.number == METADATA_NAME)
            entry.name = pb_text(&field);
        else if (field.number == METADATA_STATS)
            read_program_stat(plane, &pb, field.bytes, &entry);
    }
    if (entry.proto.at == NULL)
        return;
    id_in_name(entry.name, &entry.id);
    const struct hlo_source source = {.id = entry.id, .name = entry.name, .stage = STAGE_AFTER};
    if (!hlo_decode(&space->hlo, space->sink, &source, entry.proto))
        xspace_damaged(space, entry.proto.at, "a part of a program (HLO)");
}

/* Does a stat of the plane bear the name? Hops over all but the names of stats. */
static bool names_protos(const struct xspace *space, const struct plane_scan *scan)
{
    struct error err = {0};
    struct pb whole = pb_open(space->file, &err);
    struct pb pb = pb_inside(&whole, scan->message, &err);

    for (struct pb_field field; pb_next(&pb, &field);) {
        struct str entry = pb_text(&field);
        if (field.number == XPLANE_STAT_METADATA && field.wire == PB_BYTES &&
            (str_contains(entry, STR("Hlo Proto")) || str_contains(entry, STR("HLO Proto")) ||
             str_contains(entry, STR("hlo_proto"))))
            return true;
    }
    return false;
}

void programs_read(struct xspace *space, const struct plane_scan *scan)
{
    bool is_tpu = str_starts(scan->name, STR("/device:TPU"));

    if (!str_equal(scan->name, STR("/host:metadata")) && !(is_tpu && names_protos(space, scan)))
        return;
    struct plane plane = {.space = space, .scan = scan, .track = NO_TRACK, .device = -1};
    names_open(&plane);
    for (uint32_t entry = 0; entry < plane.event_index.count; entry++)
        if (plane.events[entry].message.at != NULL)
            read_program(&plane, plane.events[entry].message, entry);
    names_close(&plane);
}
