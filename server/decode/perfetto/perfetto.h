/* SPDX-License-Identifier: Apache-2.0 */
/* Inside perfetto*.c: a trace of packets on its way to tracks and slices.
 *
 *   perfetto.c           the file: packets, packed packets, what is not read
 *   perfetto_clock.c     clocks, their snapshots, one time for all
 *   perfetto_sequence.c  what packets of one writer share: interned texts, defaults
 *   perfetto_track.c     descriptors, processes, threads
 *   perfetto_event.c     the fields of a TrackEvent
 *   perfetto_record.c    a TrackEvent into a record, or samples of counters
 *   perfetto_args.c      its arguments
 *   perfetto_slices.c    records in time order into slices
 */
#ifndef JVIEWD_DECODE_PERFETTO_PERFETTO_H
#define JVIEWD_DECODE_PERFETTO_PERFETTO_H

#include "base/scratch.h"
#include "decode/id_map.h"
#include "decode/pair_table.h"
#include "decode/protobuf.h"
#include "trace/sink.h"

enum clock_number { CLOCK_REALTIME_NUMBER = 1, CLOCK_BOOTTIME_NUMBER = 6, CLOCK_OF_SEQUENCE = 64 };

struct packet { /* spans into the file, or into an unpacked bundle while it is read */
    const struct pb *pb;
    uint64_t timestamp;
    bool has_timestamp, dropped, cleared, needs_state;
    uint32_t clock;    /* 0: the default */
    uint32_t sequence; /* trusted_packet_sequence_id */
    uint32_t kind;     /* number of the field that holds the data; 0 none */
    struct bytes data, interned, defaults;
};

struct record {            /* one event of a track */
    int64_t at_ns, dur_ns; /* dur: of complete events */
    uint32_t ordinal;      /* in file order: equal times keep it */
    uint32_t track;        /* into tracks */
    uint32_t mate;         /* of a begin: its end; NO_RECORD cut */
    name_id name, category;
    uint32_t first_arg, first_flow;
    uint16_t arg_count, flow_count;
    uint8_t type; /* enum record_type */
};
enum record_type { RECORD_BEGIN = 1, RECORD_END = 2, RECORD_INSTANT = 3, RECORD_COMPLETE = 5 };
#define NO_RECORD UINT32_MAX

struct flow_mark {
    uint64_t id;
    bool ends;
};

struct list { /* in scratch, with room for more */
    void *at;
    uint32_t count, capacity;
};

enum interned_kind {
    INTERNED_CATEGORY,
    INTERNED_NAME,
    INTERNED_ANNOTATION,
    INTERNED_TEXT,
    INTERNED_LOCATION, /* "file:line", and the function */
    INTERNED_FUNCTION,
    INTERNED_LOG,
    INTERNED_KINDS,
};

enum { EXTRA_COUNTERS_MAX = 64 };

struct sequence { /* what packets of one writer share until it is cleared */
    bool is_known, is_valid;
    uint32_t generation;
    struct id_map interned[INTERNED_KINDS]; /* iid -> name_id */
    uint32_t default_clock;
    bool has_track, has_thread;
    uint64_t track_uuid;
    uint64_t extra_uuids[EXTRA_COUNTERS_MAX], extra_real_uuids[EXTRA_COUNTERS_MAX];
    uint32_t extra_count, extra_real_count;
    uint32_t thread; /* into tracks: by the old thread descriptor */
    int64_t reference_us;
};

enum descriptor_kind { TRACK_OF_NOTHING, TRACK_OF_PROCESS, TRACK_OF_THREAD, TRACK_OF_COUNTER };

struct descriptor { /* a track by its uuid */
    uint64_t uuid, parent_uuid;
    bool has_parent, is_making;
    name_id name;
    enum descriptor_kind kind;
    int64_t pid, tid; /* pid: of any track that has no parent to tell it; 0 none */
    bool is_incremental;
    int64_t multiplier;
    name_id unit;
    name_id agent; /* of the GPU whose stream it is; 0: it is none */
    track_id id;   /* NO_TRACK until something lies on it */
    double counter_sum;
    uint32_t generation; /* of the sequence that counter_sum belongs to */
    uint32_t *open;      /* records that began, while slices are made */
    uint32_t open_count, open_capacity;
};

struct process {
    int64_t pid;
    name_id name;
    track_id id;
};

struct clocks; /* perfetto_clock.c */

enum { KINDS_COUNTED = 160, EVENT_TYPES = 5 };

struct perfetto {
    struct sink *sink;
    struct bytes file;
    struct scratch *scratch;
    struct clocks *clocks;
    int64_t zero_ns;

    struct list sequences, descriptors, processes; /* on the heap: their maps are, too */
    struct id_map sequence_of, descriptor_of, process_of, thread_name_of;
    struct id_map device_of; /* name of an agent -> its track */
    struct list records, args, flows;
    struct pair_table kinds; /* (name, category) and track -> kind */

    uint64_t packet_count, kind_counts[KINDS_COUNTED], other_kind_count;
    uint64_t event_counts[EVENT_TYPES]; /* by TrackEvent.Type */
    uint64_t unpacked_bytes;
    uint64_t damage_count, damage_first;
    uint64_t lost_state_count, lost_text_count, lost_packet_count, timeless_count, unresolved_count,
        crowded_count, unmatched_end_count, too_deep_count, phase_count, extension_count,
        orphan_counter_count, packed_failure_count, left_out_count;
    bool has_first_event, has_events;
    uint64_t first_event_time;
    name_id key_category, key_source, key_function, key_log, key_correlation;
};

/* perfetto.c */
void *perfetto_add(struct perfetto *trace, struct list *list, size_t size, uint32_t max);
void perfetto_damaged(struct perfetto *trace, const struct pb *pb, struct bytes part);

/* perfetto_clock.c */
struct clocks *perfetto_clocks_create(struct scratch *scratch);
void perfetto_clocks_destroy(struct clocks *clocks); /* takes NULL */
/* The first walk gathers snapshots; after it clocks_settle chooses the clock of the trace. */
bool perfetto_clocks_gather(struct perfetto *trace, const struct packet *packet);
void perfetto_clocks_settle(struct perfetto *trace);
/* The second walk: a snapshot sets where clocks of deltas stand. */
void perfetto_clocks_reset(struct perfetto *trace, const struct packet *packet);
/* The time of a packet, on the clock of the trace; false when it has none. */
bool perfetto_clocks_time(struct perfetto *trace, const struct packet *packet,
                          uint32_t default_clock, int64_t *ret_ns);
void perfetto_clocks_say_epoch(struct perfetto *trace);

/* perfetto_sequence.c: the state of the packet's writer, brought up to it. NULL when the packet
 * needs what was lost. */
struct sequence *perfetto_sequence(struct perfetto *trace, const struct packet *packet);
name_id perfetto_sequence_text(struct perfetto *trace, const struct sequence *sequence,
                               enum interned_kind kind, uint64_t iid);
void perfetto_sequences_free(struct perfetto *trace);
/* "file:line" of a SourceLocation message; its function. */
void perfetto_source_location(struct perfetto *trace, const struct pb *outer, struct bytes message,
                              uint64_t *ret_iid, name_id *ret_place, name_id *ret_function);

/* perfetto_track.c */
bool perfetto_track_read_descriptor(struct perfetto *trace, const struct pb *outer,
                                    struct bytes message);
bool perfetto_track_read_process_tree(struct perfetto *trace, const struct pb *outer,
                                      struct bytes message);
/* The old descriptors of packets; the thread's track, by its ids. */
bool perfetto_track_read_process(struct perfetto *trace, const struct pb *outer,
                                 struct bytes message, struct descriptor *into);
bool perfetto_track_read_thread(struct perfetto *trace, const struct pb *outer,
                                struct bytes message, struct descriptor *into,
                                int64_t *ret_reference_us);
uint32_t perfetto_track_of_uuid(struct perfetto *trace,
                                uint64_t uuid); /* into descriptors; made if new */
uint32_t perfetto_track_of_thread(struct perfetto *trace, int64_t pid, int64_t tid);
struct descriptor *perfetto_track_at(const struct perfetto *trace, uint32_t track);
/* The sink's track, made where it is new; `name` is for those that have none. */
track_id perfetto_track_make(struct perfetto *trace, uint32_t track, name_id name);
void perfetto_tracks_free(struct perfetto *trace);

/* perfetto_event.c */
void perfetto_event_read(struct perfetto *trace, const struct packet *packet,
                         struct sequence *sequence);

/* perfetto_args.c: a DebugAnnotation as an arg of the last record; false when it is damaged. */
bool perfetto_annotation_read(struct perfetto *trace, const struct sequence *sequence,
                              const struct pb *outer, struct bytes message, struct arg *ret);

/* perfetto_slices.c */
void perfetto_slices_make(struct perfetto *trace);

/* perfetto_device.c */
void perfetto_devices_find(struct perfetto *trace); /* by the records, before tracks are made */
int32_t perfetto_device_of(struct perfetto *trace, const struct descriptor *track); /* -1 none */
track_id perfetto_device_make(struct perfetto *trace, const struct descriptor *track);

#endif
