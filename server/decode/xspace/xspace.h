/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the XSpace decoder: what its files share. The format stands in xspace.c.
 *
 *   xspace.c         the walk: planes in order, what is whole, what is said at the end
 *   xspace_plane.c   a plane: its stats, its lines, its sums
 *   xspace_program.c the programs that the metadata plane carries
 *   xspace_time.c    time zero and the epoch
 *   xspace_scan.c    a plane by lengths: its name, its lines' clocks, how much metadata
 *   xspace_names.c   metadata: what ids of events and stats mean
 *   xspace_track.c   planes and lines as tracks
 *   xspace_line.c    a line: its head, the loop over its events
 *   xspace_event.c   an event: its header, its args, its place
 *   xspace_stat.h    the inner loop: stats
 *   xspace_meaning.c what some stats mean beyond being args: flows, memory, counters, kinds
 */
#ifndef JVIEWD_DECODE_XSPACE_XSPACE_H
#define JVIEWD_DECODE_XSPACE_XSPACE_H

#include "decode/hlo/hlo.h"
#include "decode/id_map.h"
#include "decode/protobuf.h"
#include "trace/sink.h"

enum { /* field numbers */
       XSPACE_PLANES = 1,
       XSPACE_ERRORS = 2,
       XSPACE_WARNINGS = 3,
       XSPACE_HOSTNAMES = 4,
       XPLANE_ID = 1,
       XPLANE_NAME = 2,
       XPLANE_LINES = 3,
       XPLANE_EVENT_METADATA = 4,
       XPLANE_STAT_METADATA = 5,
       XPLANE_STATS = 6,
       XLINE_ID = 1,
       XLINE_NAME = 2,
       XLINE_TIMESTAMP_NS = 3,
       XLINE_EVENTS = 4,
       XLINE_DISPLAY_NAME = 11,
       XEVENT_ID = 1,
       XEVENT_OFFSET_PS = 2,
       XEVENT_DURATION_PS = 3,
       XEVENT_STATS = 4,
       XEVENT_OCCURRENCES = 5,
       XSTAT_ID = 1,
       XSTAT_DOUBLE = 2,
       XSTAT_UINT64 = 3,
       XSTAT_INT64 = 4,
       XSTAT_TEXT = 5,
       XSTAT_BYTES = 6,
       XSTAT_REF = 7,
       ENTRY_KEY = 1, /* of a map */
       ENTRY_VALUE = 2,
       METADATA_NAME = 2,
       METADATA_DISPLAY_NAME = 4, /* of events only, as the next */
       METADATA_STATS = 5,
};

enum stat_role { /* stats that mean something here; all others are only args */
                 STAT_PLAIN,
                 STAT_HLO_OP,
                 STAT_PROGRAM_ID,
                 STAT_CATEGORY,
                 STAT_PRODUCER_TYPE,
                 STAT_PRODUCER,
                 STAT_CONSUMER_TYPE,
                 STAT_CONSUMER,
                 STAT_ASYNC,
                 STAT_FLOW,
                 STAT_CORRELATION,
                 STAT_COUNTER_VALUE,
                 STAT_ALLOCATOR,
                 STAT_DEVICE_ORDINAL,
                 STAT_ALLOCATION_BYTES,
                 STAT_REQUESTED_BYTES,
                 STAT_BYTES_ALLOCATED,
                 STAT_BYTES_RESERVED,
                 STAT_BYTES_AVAILABLE,
                 STAT_PEAK_BYTES,
                 STAT_HLO_PROTO,
                 STAT_PROFILE_START,
                 STAT_ROLE_COUNT,
};

enum event_role { EVENT_PLAIN, EVENT_ALLOCATION, EVENT_FREE };

struct stat_metadata {
    struct str text; /* in the file */
    name_id name;
    uint8_t role;  /* enum stat_role */
    bool is_known; /* the file names it */
    bool is_ready; /* name and role are set: at first use */
};

struct event_metadata {
    struct bytes message; /* in the file; no address: the file does not describe this id */
    name_id name;
    type_id type;
    bool is_ready;
    uint8_t role; /* enum event_role */
    /* What its stats say for all its events. */
    name_id category, op;
    bool has_program;
    uint64_t program;
    /* The kind, for the last (line, program, op) asked. */
    uint8_t kind;
    uint32_t kind_line;
    name_id kind_op;
    uint64_t kind_program;
    /* Aggregated events, which have no place in time. */
    uint64_t occurrences;
    int64_t occurrences_ps;
};

struct id_index { /* ids to entries: small ids are their own index, others go through a map */
    uint32_t dense_count, count, capacity;
    struct id_map sparse;
};

struct plane_scan { /* what a walk by lengths tells */
    struct bytes message;
    bool is_cut; /* the file ends inside */
    struct str name;
    uint32_t line_count, event_metadata_count, stat_metadata_count;
    uint64_t event_id_max, stat_id_max;
    bool repeats_lines;
    int64_t far_ns; /* the earliest far time of its lines that have events; 0: there is none */
};

/* A field's number and type, as one byte. */
#define TAG(number, wire) ((number) << 3 | (wire))

struct line_head { /* what a line says of itself */
    int64_t id, timestamp_ns;
    struct str name, display_name;
    bool has_id, has_timestamp, has_name, has_events;
};

struct line_track {
    track_id plane, track;
    int64_t id;
    name_id name;
    uint32_t next; /* with an equal key, + 1; 0 none */
};

struct xspace {
    struct sink *sink;
    struct bytes file;
    struct plane_scan *planes;
    uint32_t plane_count, plane_capacity;
    struct hlo_index hlo;

    int64_t zero_ns; /* the lines' clock at file time 0 */
    bool has_start;  /* Task Environment's profile_start_time */
    int64_t start_ns;

    struct id_map plane_tracks; /* name -> track */
    struct id_map line_keys;    /* mixed (plane, line id) -> line_tracks */
    struct line_track *line_tracks;
    uint32_t line_track_count, line_track_capacity;
    name_id context_words[18];

    /* What was met, told once at the end. */
    uint64_t slice_count, sample_count, plane_whole_count;
    uint32_t lines_read;
    uint64_t clamped_count, undescribed_count, dropped_arg_count, shifted_line_count,
        empty_sample_count;
    struct str hostname;                 /* the first */
    uint64_t damage_count, damage_first; /* parts left out, byte of the first */
    char damage_what[96];
};

struct plane { /* being decoded */
    struct xspace *space;
    const struct plane_scan *scan;
    track_id track;
    bool is_device, is_gpu;
    int32_t device;
    struct id_index event_index, stat_index;
    struct event_metadata *events;
    struct stat_metadata *stats;
};

struct event { /* the header of one */
    uint64_t id;
    int64_t offset_ps, dur_ps;
    uint64_t occurrences;
    bool is_aggregated;
};

struct meaning {                      /* what its stats mean, besides being args */
    uint32_t seen;                    /* a bit for each stat_role */
    uint64_t values[STAT_ROLE_COUNT]; /* set where it was seen */
};

struct line { /* being decoded */
    struct plane *plane;
    track_id track;
    int64_t id;
    struct str name;
    int64_t start_ps;
    bool is_clamped; /* its start did not fit */
    bool is_counters, is_derived, is_async;
    enum track_role role;
    uint32_t ordinal;       /* of the file, from 1: key of the kind cache */
    struct id_map counters; /* name of a counter -> track */
    struct arg *args;       /* of the event being read */
    uint32_t arg_count, arg_capacity;
    struct meaning meaning; /* of that event; here, since clearing it for each would cost */
};

/* A part is left out; the first is remembered with its place. */
void xspace_damaged(struct xspace *space, const uint8_t *at, const char *what);

void plane_scan(struct xspace *space, struct plane_scan *scan);
/* What stands before the first event, which *pb then points at; false when that is damaged. */
bool line_head_read(struct pb *pb, struct line_head *ret);
/* What is missing, among and behind the events. */
void line_head_search(struct pb pb, struct line_head *head);

void names_open(struct plane *plane);
void names_close(struct plane *plane);
struct stat_metadata *names_prepare_stat(struct plane *plane, uint64_t id);
struct event_metadata *names_prepare_event(struct plane *plane, uint64_t id);

/* What an id means; one that the file does not describe gets an entry that says so. Valid until
 * the next call. */
static inline struct stat_metadata *names_stat(struct plane *plane, uint64_t id)
{
    if (__builtin_expect(id < plane->stat_index.dense_count && plane->stats[id].is_ready, 1))
        return &plane->stats[id];
    return names_prepare_stat(plane, id);
}

static inline struct event_metadata *names_event(struct plane *plane, uint64_t id)
{
    if (__builtin_expect(id < plane->event_index.dense_count && plane->events[id].is_ready, 1))
        return &plane->events[id];
    return names_prepare_event(plane, id);
}

/* A stat as an arg; false when it is damaged. *ret_role tells what it means. */
bool stat_read(struct plane *plane, struct bytes message, struct arg *ret,
               enum stat_role *ret_role);

track_id track_of_plane(struct plane *plane);
void track_of_line(struct line *line);

void programs_read(struct xspace *space, const struct plane_scan *scan);
void plane_read(struct xspace *space, const struct plane_scan *scan);
void line_read(struct plane *plane, const struct pb *outer, struct bytes message);
/* False when the event is damaged, and left out. */
bool event_take(struct line *line, struct bytes message);

enum kind meaning_kind(struct line *line, struct event_metadata *metadata,
                       const struct meaning *meaning);
void meaning_flows(struct line *line, const struct meaning *meaning);
void meaning_memory(struct line *line, enum event_role role, const struct meaning *meaning,
                    int64_t at_ps);

/* A sample from the args of the event at hand. */
void meaning_sample(struct line *line, name_id name, int64_t at_ps);

static inline bool meaning_has(const struct meaning *meaning, enum stat_role role)
{
    return meaning->seen >> role & 1;
}

/* Not a time since the profile's start. */
bool time_is_far(int64_t timestamp_ns);
/* Where a line with that clock starts in file time; clamped when it does not fit. */
int64_t time_of_line(struct xspace *space, int64_t timestamp_ns, bool *ret_clamped);
/* Chooses zero_ns. */
void time_choose_zero(struct xspace *space);
/* Says the epoch, or why there is none. */
void time_say_epoch(struct xspace *space);

#endif
