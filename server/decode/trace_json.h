/* The inside of the Chrome JSON decoder, shared by its files.
 *
 *   trace_json.c          the file: object or array form, what stands around the events, the end
 *   trace_json_event.c    one event's members -> struct event; nothing is interned yet
 *   trace_json_args.c     texts -> names, members -> args
 *   trace_json_tracks.c   pid and tid -> tracks; their names, roles and order
 *   trace_json_slices.c   X, instants, counters, flows -> sink
 *   trace_json_open.c     what begins in one event and ends in another: B E, b e, S F
 */
#ifndef JVIEWD_DECODE_TRACE_JSON_H
#define JVIEWD_DECODE_TRACE_JSON_H

#include "decode/json_number.h"
#include "decode/json_scan.h"
#include "decode/pair_table.h"
#include "trace/sink.h"

struct member { /* of args, as it stands in the window */
    struct str key;
    struct json_value value;
};

struct event { /* spans of the window; JSON_NOTHING where a member is absent */
    char phase;
    bool flow_in, flow_out;
    struct json_value name, cat, ts, dur, pid, tid, id, local_id, bind_id, scope, bind_point;
    struct member *members; /* of args, then those of the event that have no place of their own */
    uint32_t member_count, member_capacity;
    uint32_t member_left_out;
    uint32_t field_count;
};

/* Reads the object that comes next; false when json->state tells why not. */
bool event_read(struct json *json, struct event *ret);

/* Texts -> names, past the name table where a text came lately. */
struct texts {
    struct sink *sink;
    name_id *lately; /* by a cheap look at the text */
    char *plain;     /* scratch of escaped texts */
    size_t plain_capacity;
};

struct arg_list {
    struct arg *args;
    uint32_t count, capacity;
};

void texts_open(struct texts *texts, struct sink *sink);
void texts_close(struct texts *texts);
name_id texts_name(struct texts *texts, struct str plain);
/* Of a string, what it means; of anything else, its raw text. */
name_id texts_value(struct texts *texts, struct json_value value);
struct arg texts_arg(struct texts *texts, struct str key, struct json_value value);
void texts_args(struct texts *texts, const struct event *event, struct arg_list *ret);

struct open_slice { /* begun, not ended */
    int64_t start_ps;
    name_id name, cat;
    uint8_t flags;
    bool flow_in, flow_out;
    uint64_t bind_id;
    struct arg *args; /* its own memory */
    uint32_t arg_count;
    uint32_t below; /* of asynchronous ones: the next open slice of the same id, or free one */
    uint32_t thread;
};

struct key { /* a pid or tid: number or text */
    bool is_text;
    int64_t value; /* of a text: its name_id */
};

struct process {
    struct key key;
    track_id track; /* NO_TRACK until something lies in it */
    name_id name;   /* 0 unknown */
    name_id labels;
    bool is_device, has_sort_index;
    int64_t sort_index;
    int32_t device;
};

struct thread {
    struct key key;
    uint32_t process;
    track_id track;
    name_id name;
    bool is_ops;   /* every slice is an op or kernel */
    bool is_async; /* they overlap */
    bool has_sort_index;
    int64_t sort_index;
    struct open_slice *stack; /* of B; outermost first */
    uint32_t stack_count, stack_capacity;
};

struct tracks {
    struct process *processes;
    struct thread *threads;
    uint32_t process_count, process_capacity, thread_count, thread_capacity;
    struct pair_table by_pid, by_tid;
    struct pair_table counters; /* (process and name, series) -> track */
    struct pair_table lanes;    /* (process, cat) -> track */
    struct key last_pid, last_tid;
    uint32_t last_thread; /* PAIR_NONE: none */
};

struct sort_of_slice { /* what all slices of one name, category and thread share */
    uint32_t thread;
    name_id name, cat, category;
    bool is_op, known;
    enum kind kind;
    type_id type;
};

struct odd { /* what becomes a note at the end */
    uint64_t without_time, without_duration, negative, beyond, ends_alone, ends_other, cut, tiny;
    uint64_t args_left_out, not_shown[256], unknown_phase, not_numbers, too_many_open;
};

struct trace_json {
    struct sink *sink;
    struct texts texts;
    struct tracks tracks;
    struct event event;
    struct arg_list args;

    bool has_base;
    int64_t base_us; /* of file time 0 */
    int64_t first_us;
    int64_t last_ps; /* the latest time met */

    struct sort_of_slice *sorts; /* direct mapped */
    struct pair_table types;     /* (name, cat) */
    name_id key_cat, key_hlo_op, key_hlo_category, key_correlation, flow_bind;

    struct pair_table open_by_id;
    struct open_slice *opens; /* asynchronous */
    uint32_t open_count, open_capacity, open_free;
    uint64_t open_now;

    uint64_t event_count, phase_counts[256];
    struct odd odd;

    /* About the file. */
    bool is_jax, is_kineto, has_unix_base;
    int64_t unix_base_ns; /* Unix time of ts 0 */
};

/* The thread that pid and tid name, with its track made. */
uint32_t tracks_thread(struct trace_json *json, struct json_value pid, struct json_value tid);
void tracks_metadata(struct trace_json *json); /* an M event */
track_id tracks_counter(struct trace_json *json, struct json_value pid, name_id name,
                        name_id series, bool alone);
track_id tracks_lane(struct trace_json *json, uint32_t process, name_id cat);
void tracks_finish(struct trace_json *json);
void tracks_free(struct tracks *tracks);

/* The event's time in file time; false when it has none. */
bool event_time(struct trace_json *json, int64_t *ret, uint8_t *flags);
/* Name, kind and type of a slice of this thread; `args` are its own. */
struct sink_slice slice_of(struct trace_json *json, uint32_t thread, name_id name, name_id cat,
                           const struct arg *args, uint32_t arg_count);
void slice_args(struct trace_json *json, const struct arg *args, uint32_t count);
uint64_t flow_id(struct trace_json *json, struct json_value id);
void slice_bind(struct trace_json *json, uint64_t id, bool in, bool out);
void slices_event(struct trace_json *json); /* X, instants, counters, flows */

void open_event(struct trace_json *json); /* B E, b n e, S T p F */
void open_finish(struct trace_json *json);
void open_free(struct trace_json *json);

#endif
