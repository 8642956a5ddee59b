/* SPDX-License-Identifier: Apache-2.0 */
/* What the samples of a pprof profile refer to.
 *
 *   sample ── id ─> location ─┬─ id ─> function ── number ─> string
 *                             └─ id ─> mapping  ── number ─> string
 *
 * Any of them may stand anywhere in the file, so all are gathered before the first sample is read.
 * They lie in scratch arrays: a profile of a large server has millions.
 */
#include "decode/pprof/pprof.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    STRINGS_MAX = 1 << 24,
    LINES_MAX = 1 << 24,
    LOCATIONS_MAX = 1 << 22, /* and functions: their ids stand in a map, on the heap */
    MAPPINGS_MAX = 1 << 16,
};

void pprof_tables_free(struct pprof_tables *tables)
{
    scratch_destroy(tables->scratch);
    id_map_free(&tables->mapping_of);
    id_map_free(&tables->function_of);
    id_map_free(&tables->location_of);
}

void *pprof_add(struct pprof *profile, struct pprof_table *table, size_t size, uint32_t max)
{
    if (table->count == max) {
        fail(sink_error(profile->sink), ERR_LIMIT, "the profile has more than %" PRIu32 " records",
             max);
        return NULL;
    }
    if (table->count == table->capacity) {
        table->capacity = table->capacity == 0 ? 64 : table->capacity * 2;
        table->at = scratch_resize(profile->tables.scratch, table->at, table->capacity, size);
    }
    return (char *)table->at + size * table->count++;
}

void pprof_add_string(struct pprof *profile, struct str text)
{
    struct str *string = pprof_add(profile, &profile->tables.strings, sizeof *string, STRINGS_MAX);
    name_id *name = pprof_add(profile, &profile->tables.string_names, sizeof *name, STRINGS_MAX);

    if (string != NULL && name != NULL) {
        *string = text;
        *name = 0;
    }
}

uint32_t pprof_string_number(uint64_t value)
{
    return value < NO_STRING ? (uint32_t)value : NO_STRING;
}

struct str pprof_string_text(const struct pprof *profile, uint32_t string)
{
    const struct pprof_table *strings = &profile->tables.strings;

    return string < strings->count ? ((const struct str *)strings->at)[string] : STR("");
}

name_id pprof_string(struct pprof *profile, uint32_t string)
{
    name_id *names = profile->tables.string_names.at;

    if (string == 0)
        return 0;
    if (string >= profile->tables.strings.count) {
        profile->tables.lost_string_count++;
        return 0;
    }
    if (names[string] == 0)
        names[string] = sink_name(profile->sink, pprof_string_text(profile, string));
    return names[string];
}

enum { NUMBERS = 6 };

/* The numbers of fields 1 to 5 of a message; 0 where it holds none. */
static bool read_numbers(const struct pb *outer, struct bytes message, uint64_t ret[NUMBERS])
{
    struct error broken = {0};
    struct pb pb = pb_inside(outer, message, &broken);

    memset(ret, 0, NUMBERS * sizeof *ret);
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number < NUMBERS)
            ret[field.number] = field.varint;
    }
    return broken.code == OK;
}

bool pprof_read_mapping(struct pprof *profile, const struct pb *outer, struct bytes message)
{
    struct pprof_table *mappings = &profile->tables.mappings;
    uint64_t number[NUMBERS];
    bool is_new;

    if (!read_numbers(outer, message, number))
        return false;
    struct pprof_mapping *kept = pprof_add(profile, mappings, sizeof *kept, MAPPINGS_MAX);
    if (kept == NULL)
        return true;
    *kept = (struct pprof_mapping){
        .start = number[2], .file_offset = number[4], .file = pprof_string_number(number[5])};
    id_map_add(&profile->tables.mapping_of, number[1], mappings->count - 1, &is_new);
    return true;
}

bool pprof_read_function(struct pprof *profile, const struct pb *outer, struct bytes message)
{
    struct pprof_table *functions = &profile->tables.functions;
    uint64_t number[NUMBERS];
    bool is_new;

    if (!read_numbers(outer, message, number))
        return false;
    struct pprof_function *kept = pprof_add(profile, functions, sizeof *kept, LOCATIONS_MAX);
    if (kept == NULL)
        return true;
    *kept = (struct pprof_function){.name = pprof_string_number(number[2]),
                                    .system_name = pprof_string_number(number[3]),
                                    .file = pprof_string_number(number[4])};
    id_map_add(&profile->tables.function_of, number[1], functions->count - 1, &is_new);
    return true;
}

static bool read_line(struct pprof *profile, const struct pb *outer, struct bytes message)
{
    uint64_t number[NUMBERS];

    if (!read_numbers(outer, message, number))
        return false;
    struct pprof_line *kept = pprof_add(profile, &profile->tables.lines, sizeof *kept, LINES_MAX);
    if (kept != NULL)
        *kept = (struct pprof_line){.function = number[1],
                                    .line = number[2] <= UINT32_MAX ? (uint32_t)number[2] : 0};
    return true;
}

bool pprof_read_location(struct pprof *profile, const struct pb *outer, struct bytes message)
{
    struct error broken = {0};
    struct pb pb = pb_inside(outer, message, &broken);
    struct pprof_tables *tables = &profile->tables;
    struct pprof_location location = {.first_line = tables->lines.count};

    for (struct pb_field field; pb_next(&pb, &field);) {
        switch (field.number) {
        case 1:
            location.id = field.varint;
            break;
        case 2:
            location.mapping = field.varint;
            break;
        case 3:
            location.address = field.varint;
            break;
        case 4:
            if (field.wire != PB_BYTES || !read_line(profile, &pb, field.bytes))
                return false;
            break;
        }
    }
    if (broken.code != OK)
        return false;
    location.line_count = tables->lines.count - location.first_line;
    struct pprof_location *kept =
        pprof_add(profile, &tables->locations, sizeof *kept, LOCATIONS_MAX);
    bool is_new;
    if (kept != NULL) {
        *kept = location;
        id_map_add(&tables->location_of, location.id, tables->locations.count - 1, &is_new);
    }
    return true;
}

/* Ids of locations are mostly 1, 2, 3 ... in order. */
uint32_t pprof_location(const struct pprof_tables *tables, uint64_t id)
{
    const struct pprof_location *locations = tables->locations.at;
    uint32_t found;

    if (id - 1 < tables->locations.count && locations[id - 1].id == id)
        return (uint32_t)(id - 1);
    return id_map_find(&tables->location_of, id, &found) ? found : NO_LOCATION;
}

/* "libc.so.6+0x1a2b", where the function is not known: the address in the file, as addr2line
 * takes it. */
static name_id address_name(struct pprof *profile, const struct pprof_location *location,
                            const struct pprof_mapping *mapping)
{
    struct str path = mapping != NULL ? pprof_string_text(profile, mapping->file) : STR("");
    uint64_t address = location->address;
    char text[256];

    for (size_t i = path.count; i-- > 0;) {
        if (path.at[i] == '/') {
            path = str_skip(path, i + 1);
            break;
        }
    }
    if (mapping != NULL && path.count > 0 && address >= mapping->start)
        address = address - mapping->start + mapping->file_offset;
    int count =
        snprintf(text, sizeof text, "%.*s%s0x%" PRIx64, (int)(path.count < 200 ? path.count : 200),
                 path.at, path.count > 0 ? "+" : "", address);
    return sink_name(profile->sink, (struct str){.at = text, .count = (size_t)count});
}

static struct frame frame_of_line(struct pprof *profile, const struct pprof_line *line,
                                  name_id module)
{
    const struct pprof_function *functions = profile->tables.functions.at;
    struct frame frame = {.line = line->line, .module = module};
    uint32_t found;

    if (!id_map_find(&profile->tables.function_of, line->function, &found)) {
        profile->tables.lost_function_count++;
        return frame;
    }
    frame.function = pprof_string(profile, functions[found].name);
    if (frame.function == 0)
        frame.function = pprof_string(profile, functions[found].system_name);
    frame.file = pprof_string(profile, functions[found].file);
    return frame;
}

uint32_t pprof_frame_count(const struct pprof_tables *tables, uint32_t location)
{
    uint32_t count = ((const struct pprof_location *)tables->locations.at)[location].line_count;

    return count > 0 ? count : 1;
}

stack_id pprof_push_location(struct pprof *profile, stack_id parent, uint32_t index)
{
    const struct pprof_tables *tables = &profile->tables;
    const struct pprof_location *location =
        &((const struct pprof_location *)tables->locations.at)[index];
    const struct pprof_line *lines = tables->lines.at;
    const struct pprof_mapping *mapping = NULL;
    uint32_t found;

    if (location->mapping != 0 && id_map_find(&tables->mapping_of, location->mapping, &found))
        mapping = &((const struct pprof_mapping *)tables->mappings.at)[found];
    name_id module = mapping != NULL ? pprof_string(profile, mapping->file) : 0;
    for (uint32_t i = location->line_count; i-- > 0 && !sink_failed(profile->sink);) {
        struct frame frame = frame_of_line(profile, &lines[location->first_line + i], module);

        if (frame.function == 0)
            frame.function = address_name(profile, location, mapping);
        parent = sink_stack(profile->sink, parent, frame);
    }
    if (location->line_count > 0)
        return parent;
    return sink_stack(
        profile->sink, parent,
        (struct frame){.function = address_name(profile, location, mapping), .module = module});
}
