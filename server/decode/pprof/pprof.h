/* SPDX-License-Identifier: Apache-2.0 */
/* Inside pprof*.c: the tables of a profile, and what its samples become.
 *
 *   pprof.c           the file: two walks, what is told of it
 *   pprof_tables.c    strings, mappings, functions, locations, found by number or id
 *   pprof_sample.c    samples: stacks, values, labels
 */
#ifndef JVIEWD_DECODE_PPROF_PPROF_H
#define JVIEWD_DECODE_PPROF_PPROF_H

#include "base/scratch.h"
#include "decode/id_map.h"
#include "decode/protobuf.h"
#include "trace/sink.h"

enum profile_field {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_DROP_FRAMES = 7,
    PROFILE_KEEP_FRAMES = 8,
    PROFILE_TIME_NANOS = 9,
    PROFILE_DURATION_NANOS = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_TYPE = 14,
    PROFILE_DOC_URL = 15,
};

/* Numbers of strings are uint32_t: what does not fit is no string. */
#define NO_STRING UINT32_MAX

struct pprof_mapping {
    uint64_t start, file_offset;
    uint32_t file; /* a string */
};

struct pprof_function {
    uint32_t name, system_name, file; /* strings */
};

struct pprof_line {
    uint64_t function; /* its id */
    uint32_t line;
};

struct pprof_location {
    uint64_t id, mapping /* its id; 0 none */, address;
    uint32_t first_line, line_count; /* innermost first; the last one called the others, inlined */
};

struct pprof_table { /* records in scratch, with room for more */
    void *at;
    uint32_t count, capacity;
};

struct pprof_tables {
    struct scratch *scratch;
    struct pprof_table strings;      /* struct str */
    struct pprof_table string_names; /* name_id of each, 0 until it is asked for */
    struct pprof_table mappings, functions, locations, lines;
    struct id_map mapping_of, function_of, location_of;
    uint64_t lost_string_count, lost_function_count, lost_location_count;
};

struct pprof_stacks; /* pprof_sample.c */

struct pprof {
    struct sink *sink;
    struct bytes file;
    struct pprof_tables tables;
    struct pprof_table types; /* struct value_type */
    struct pprof_stacks *stacks;
    uint64_t sample_count, damage_count, damage_first /* a byte of the file */;
    uint64_t odd_value_count, negative_count, too_deep_count, label_left_count;
    uint32_t max_depth; /* frames */
};

struct value_type { /* strings */
    uint32_t type, unit;
};

/* One of the table's messages; false when it is damaged. */
bool pprof_read_mapping(struct pprof *profile, const struct pb *outer, struct bytes message);
bool pprof_read_function(struct pprof *profile, const struct pb *outer, struct bytes message);
bool pprof_read_location(struct pprof *profile, const struct pb *outer, struct bytes message);
void pprof_add_string(struct pprof *profile, struct str text);
/* Room for one more record of that size; NULL, and the sink fails, when there are too many. */
void *pprof_add(struct pprof *profile, struct pprof_table *table, size_t size, uint32_t max);

uint32_t pprof_string_number(uint64_t value);
name_id pprof_string(struct pprof *profile, uint32_t string);
struct str pprof_string_text(const struct pprof *profile, uint32_t string);
/* NO_LOCATION when there is none of that id. */
#define NO_LOCATION UINT32_MAX
uint32_t pprof_location(const struct pprof_tables *tables, uint64_t id);
/* The frames of a location as stacks below `parent`, outermost first; the innermost stack. */
stack_id pprof_push_location(struct pprof *profile, stack_id parent, uint32_t location);
/* How many frames these are. */
uint32_t pprof_frame_count(const struct pprof_tables *tables, uint32_t location);
void pprof_tables_free(struct pprof_tables *tables);

/* A sample into the sink; false when it is damaged. */
bool pprof_read_sample(struct pprof *profile, const struct pb *outer, struct bytes message);
void pprof_stacks_free(struct pprof_stacks *stacks); /* takes NULL */

#endif
