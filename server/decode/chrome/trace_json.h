/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the Chrome JSON decoder, shared by its files.
 *
 *   trace_json.c          the file: object or array form, the end
 *   trace_json_around.c   what stands around the events
 *   trace_json_about.c    notes, counts and the clock, at the end
 *   trace_json_times.c    which times can be believed
 *   trace_json_lost.c     behind a broken event, the next one
 *   trace_json_event.c    one event: its members, its args
 *   trace_json_args.c     texts -> names, values -> args
 *   trace_json_kineto.c   PyTorch: categories, launches, devices, ranks
 *   trace_json_tracks.c   pid and tid -> tracks
 *   trace_json_names.c    what M events say of processes and threads
 *   trace_json_slices.c   X, instants, counters, flows -> sink
 *   trace_json_memory.c   allocators' own events
 *   trace_json_objects.c  lives and snapshots of objects, memory dumps, clock marks
 *   trace_json_stacks.c   samples of call stacks
 *   trace_json_profile.c  V8's profiles, which are such samples
 *   trace_json_open.c     what begins in one event and ends in another: B E, b e, S F
 */
#ifndef JVIEWD_DECODE_CHROME_TRACE_JSON_H
#define JVIEWD_DECODE_CHROME_TRACE_JSON_H

#include "decode/json/json_number.h"
#include "decode/json/json_scan.h"
#include "decode/pair_table.h"
#include "trace/sink.h"

struct key { /* a pid or tid: number or text */
    bool is_text;
    int64_t value; /* of a text: its name_id */
};

/* What a category of Kineto means; others mean nothing. */
enum category {
    CATEGORY_PLAIN,
    CATEGORY_CALL,  /* of CUDA's or ROCm's runtime or driver: may launch something */
    CATEGORY_OP,    /* a kernel, copy or set on a stream */
    CATEGORY_MARK,  /* of the program, laid over the kernels it encloses */
    CATEGORY_SYNC,  /* a stream that waits */
    CATEGORY_ARROW, /* from call to op */
};

enum place { /* pid and tid name up to four tracks in Kineto's files */
             PLACE_HOST,
             PLACE_STREAM,
             PLACE_MARKS,
             PLACE_SYNCS,
};

enum spelling { SPELLED_INTEGER, SPELLED_DECIMAL, SPELLED_TEXT, SPELLINGS };

struct event { /* what its members say; what needs no more than a name is one already */
    char phase;
    bool has_name, has_time, has_duration, is_local, flow_in, flow_out, binds_enclosing;
    name_id name, cat;
    enum spelling spelling; /* of the time */
    struct micros time, duration;
    struct key pid, tid;
    struct json_value id, bind_id, scope; /* spans of the window; JSON_NOTHING where absent */
    struct json_value raw_args;           /* of phases that tell no slice */
    uint16_t args_key;
    uint32_t field_count, args_left_out;

    /* Of its args, which stand in trace_json.args: those that tell what it is. */
    bool has_hlo_op, has_correlation;
    uint64_t correlation; /* 0: none */
    name_id category;
};

/* Texts -> names, past the name table where a text came lately. */
struct texts {
    struct sink *sink;
    struct late_text *lately; /* by a cheap look at the text */
    char *plain;              /* scratch of escaped texts */
    size_t plain_capacity;
};

struct arg_list {
    struct arg *args;
    uint32_t count, capacity;
};

void texts_open(struct texts *texts, struct sink *sink, struct arena *arena);
void texts_close(struct texts *texts);
name_id texts_name(struct texts *texts, struct str plain);
/* Of a string, what it means; of anything else, its raw text. */
name_id texts_value(struct texts *texts, struct json_value value);
/* An arg without its key. */
struct arg texts_arg(struct texts *texts, struct json_value value);

/* Keys that were met, each with the one that followed it last time: mostly it does again. */
struct known_key {
    char text[32]; /* `name":`, as it stands behind the opening quote */
    uint8_t count; /* of text; 0: too long to be guessed */
    uint8_t field; /* enum field */
    uint16_t next; /* the key that came next */
    name_id name;
    name_id last; /* its last text value */
};

struct known_keys {
    struct known_key *keys; /* the first ones stand for the start of an event, of args, and for keys
                               beyond KNOWN_KEYS_MAX */
    uint32_t count;
    struct pair_table by_name; /* (name, is of args) */
};

void known_keys_open(struct known_keys *known, struct arena *arena);
void known_keys_close(struct known_keys *known);

struct trace_json;
/* Reads the object that comes next into trace->event and trace->args; false when json->state tells
 * why not. Nothing but names reaches the sink. */
bool event_read(struct trace_json *trace, struct json *json);

/* What tells a slice's kind and type, besides its thread. */
struct slice_facts {
    name_id name, cat, category;
    bool has_hlo_op, has_correlation;
};

struct open_slice { /* begun, and not given away */
    int64_t start_ps, end_ps;
    struct slice_facts facts;
    track_id track;
    uint8_t flags;
    bool flow_in, flow_out;
    uint64_t bind_id;
    struct arg *args; /* its own memory */
    uint32_t arg_count;
    uint32_t below;           /* the next open one of its thread or id, or the next free one */
    uint32_t held, held_last; /* what ended with this start and is given away behind it */
    uint32_t behind;          /* of what is held: the next one */
    uint32_t thread;
};

struct process {
    struct key key;
    track_id track; /* NO_TRACK until something lies in it */
    name_id name;   /* 0 unknown */
    name_id labels;
    bool is_device, has_sort_index, has_events;
    const char *what; /* of Kineto's devices: GPU, MTIA, HPU */
    uint32_t told;    /* whom M events of its pid speak of: itself, but for Kineto's GPUs */
    int64_t sort_index;
    int32_t device;
};

struct thread {
    struct key key;
    uint32_t process;
    enum place place;
    uint32_t told; /* whom M events of its tid speak of: itself at PLACE_HOST */
    track_id track;
    name_id name;
    bool is_ops;   /* every slice is an op or kernel */
    bool is_async; /* they overlap */
    bool is_derived;
    bool has_sort_index, has_events;
    int64_t sort_index;
    uint32_t open; /* innermost of B */
};

struct tracks {
    struct process *processes;
    struct thread *threads;
    uint32_t process_count, process_capacity, thread_count, thread_capacity;
    struct pair_table by_pid, by_tid;
    struct pair_table counters; /* (process and name, series) -> track */
    struct pair_table lanes;    /* (process, cat) -> track */
    struct key last_pid, last_tid;
    enum place last_place;
    uint32_t last_thread; /* PAIR_NONE: none */
};

enum { SORT_COUNT = 1 << 14 };

struct sort_of_slice { /* what all slices of one name, category and thread share */
    uint32_t thread;
    name_id name, cat, category;
    bool is_op, known;
    enum kind kind;
    type_id type;
};

struct frame_key {
    uint64_t id;
    uint32_t owner; /* 0: stackFrames; else a profile of V8's */
};

struct told_frame {
    struct frame_key parent;
    bool has_parent;
    struct frame frame;
    stack_id stack; /* once it is needed */
};

struct late_sample {
    int64_t at_ps, weight;
    struct frame_key key;
    bool has_frame;
    track_id track;
    name_id name;
};

struct cpu_profile {
    uint32_t owner;
    struct key pid, tid;
    struct micros at; /* of the sample before */
};

struct stacks {
    struct told_frame *frames;
    struct late_sample *samples;
    struct cpu_profile *profiles;
    uint32_t frame_count, frame_capacity, sample_count, sample_capacity, profile_count;
    struct pair_table by_key, profiles_by_id;
};

struct waiting_event { /* its text, until its time can be believed */
    int64_t at_us;
    size_t from, count; /* in times.texts */
};

struct times {
    bool settled;  /* the hull is known */
    bool believes; /* whatever comes */
    int64_t first_us, last_us;
    uint64_t taken;
    uint32_t told; /* of those that wait for the hull: with another time than 0 */
    uint32_t waiting_count, waiting_capacity;
    struct waiting_event *waiting;
    struct text texts;
};

struct odd { /* what becomes a note at the end */
    uint64_t without_time, without_duration, negative, beyond, too_long, strays;
    uint64_t not_events, no_comma, ends_alone, ends_other, cut, tiny;
    uint64_t args_left_out, not_shown[256], unknown_phase, not_numbers, too_many_open;
    uint64_t snapshots, frames_beyond, frames_missing, samples_beyond, stacks_cut;
};

struct trace_json {
    struct arena *arena; /* of this decoding: tables of fixed size */
    struct sink *sink;
    struct texts texts;
    struct known_keys known;
    struct tracks tracks;
    struct event event;
    struct arg_list args;

    bool has_base;
    int64_t base_us; /* of file time 0 */
    int64_t last_ps; /* the latest time met */
    struct times times;

    struct sort_of_slice *sorts;  /* direct mapped */
    struct pair_table types;      /* (name, cat) */
    struct pair_table categories; /* cat -> enum category */
    struct pair_table arrows;     /* (cat, name) -> kind of arrow */
    name_id key_cat, key_hlo_op, key_hlo_category, key_correlation, key_correlation_id;
    name_id flow_bind, flow_launch;
    name_id key_name, key_labels, key_sort_index;
    name_id name_memory, name_allocation, name_deallocation;

    struct stacks stacks;
    uint64_t objects_kept; /* bytes */

    struct pair_table open_by_id; /* asynchronous ones */
    struct open_slice *opens;
    uint32_t open_count, open_capacity, open_free;
    uint64_t open_now;

    uint64_t last_correlation; /* of the slice given last */
    name_id last_cat;
    enum category last_category;

    uint64_t event_count, phase_counts[256], spelled[SPELLINGS];
    struct odd odd;

    /* About the file. */
    bool is_jax, is_kineto, has_unix_base;
    int64_t unix_base_ns;      /* Unix time of ts 0 */
    name_id device_properties; /* Kineto's, as JSON */
};

/* What the event tells, into the sink. */
void trace_json_take(struct trace_json *json);

/* Whether the event just read, whose text this is, is taken later, or never. */
bool times_wait(struct trace_json *json, struct str text);
void times_settle(struct trace_json *json); /* behind the last event of a list */
void times_finish(struct trace_json *json);
void times_free(struct times *times);

struct lost { /* events that could not be read */
    uint64_t count, bytes, first_at;
    struct text first_text;
    const char *first_why;
    uint64_t looked_at; /* bytes, in vain */
    bool to_the_end;    /* behind the last one was no other */
};

/* From the mark, where an event is broken, to the next one that is whole: read into json->event,
 * and the mark stands before it. False at the end of the content, and when that is hopeless. */
bool lost_find(struct lost *lost, struct json_stream *stream, struct trace_json *json);

/* What M events speak of: no track is made. */
uint32_t tracks_find_process(struct trace_json *json, struct key pid);
uint32_t tracks_find_thread(struct trace_json *json, uint32_t process, struct key tid);
/* The thread of the event, which may lie on no track of its own. */
void tracks_saw(struct trace_json *json);
/* The thread that pid and tid name at this place, with its track made. */
uint32_t tracks_thread(struct trace_json *json, struct key pid, struct key tid, enum place place);
/* The track of a thread. */
track_id tracks_track(struct trace_json *json, struct key pid, struct key tid);
/* Its track at this place if there is one already, else NO_TRACK. */
track_id tracks_known(struct trace_json *json, struct key pid, struct key tid, enum place place);
/* What a process or a thread beside PLACE_HOST is called, as far as is known. */
void tracks_device_name(struct trace_json *json, const struct process *process, struct text *ret);
void tracks_place_name(struct trace_json *json, const struct thread *thread, struct text *ret);
/* "[TP00] " of "[TP00] 7": what a text says before its number. */
struct str tracks_rank_label(struct str text);
/* Is the process of this name Huawei's way to tell a device? */
bool tracks_is_ascend(struct str name);
/* What a key says of itself: "thread 7". */
struct str tracks_own_name(struct trace_json *json, struct key key, const char *what,
                           char room[64]);
/* The event's category, PyTorch's meaning of it. */
enum category category_of(struct trace_json *json, name_id cat);
enum place place_of(enum category category);
/* What the device is called, by the category of its ops. */
const char *device_word(struct str cat);
/* Of the slice just given: the arrow from a launch to what it launched. */
void kineto_launch(struct trace_json *json, enum category category, uint64_t correlation);
void kineto_ranks(struct trace_json *json, struct json_value distributed_info);
void kineto_finish(struct trace_json *json); /* properties of devices */

/* A member beside the events. */
void around_member(struct trace_json *json, struct str key, struct json_value value);

void names_metadata(struct trace_json *json); /* an M event */
void names_finish(struct trace_json *json);
track_id tracks_counter(struct trace_json *json, struct key pid, name_id name, name_id series,
                        bool alone);
track_id tracks_lane(struct trace_json *json, uint32_t process, name_id cat);
void tracks_free(struct tracks *tracks);

/* The event's time in file time; false when it has none that can be shown. */
bool event_time(struct trace_json *json, int64_t *ret);
struct slice_facts facts_of(const struct event *event);
/* Name, kind and type of a slice of this thread. */
struct sink_slice slice_of(struct trace_json *json, uint32_t thread, struct slice_facts facts);
void slice_args(struct trace_json *json, const struct arg *args, uint32_t count);
/* A time in file time; false, and counted, where it lies too far to be shown. */
bool file_time(struct trace_json *json, struct micros time, int64_t *ret);
/* Ids are numbers, "0x1f", or any text. */
uint64_t id_number(struct trace_json *json, struct json_value id);
/* The same, within what the event's ids are unique in. */
uint64_t flow_id(struct trace_json *json, struct json_value id);
/* What the correlations of this pid count within: "[TP00] " of "[TP00] 7", where ranks were merged.
 * 0: the file. */
uint64_t rank_of(struct trace_json *json, struct key pid);
void slice_bind(struct trace_json *json, uint64_t id, bool in, bool out);
/* Of the slice just given, if it is an allocator's. */
void memory_event_of(struct trace_json *json, int64_t at_ps);
void slices_event(struct trace_json *json); /* X, instants, counters, flows */

void objects_event(struct trace_json *json); /* N O D, v V, c */

void stacks_frame(struct trace_json *json, struct frame_key key, struct frame frame);
void stacks_parent(struct trace_json *json, struct frame_key key, uint64_t parent);
void stacks_frames(struct trace_json *json, struct json_value value); /* "stackFrames" */
void stacks_sample(struct trace_json *json, struct late_sample sample);
void stacks_event(struct trace_json *json); /* P, or one of "samples" */
void stacks_finish(struct trace_json *json);
void stacks_free(struct stacks *stacks);
bool profile_event(struct trace_json *json); /* false: a P of another kind */

void about_finish(struct trace_json *json);

void open_event(struct trace_json *json); /* B E, b n e, S T p F */
/* The slice of an X event, where it waits for the open one it begins with; false: it does not. */
bool open_holds(struct trace_json *json, uint32_t thread, int64_t start_ps, int64_t dur_ps,
                uint8_t flags);
void open_finish(struct trace_json *json);
void open_free(struct trace_json *json);

#endif
