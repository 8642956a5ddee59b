/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the Nsight Systems decoder, shared by its files.
 *
 *   nsys_db.c        the SQLite file: its tables, columns and rows
 *   nsys.c           the order in which tables are read; what is said of the file at the end
 *   nsys_about.c     versions, clock, GPUs, diagnostics
 *   nsys_words.c     ids of StringIds and of the ENUM_ tables -> names
 *   nsys_tracks.c    processes, threads, devices, streams -> tracks
 *   nsys_rules.c     what each column is
 *   nsys_read.c      any table of events -> slices
 *   nsys_events.c    which tables those are: on devices, on threads
 *   nsys_nvtx.c      NVTX: domains, categories, ranges, marks
 *   nsys_hlo.c       launches -> ops and modules of XLA, by NVTX
 *   nsys_waits.c     records of events and waits for them -> arrows
 *   nsys_project.c   NVTX ranges as their work on the devices
 *   nsys_kinds.c     names -> kinds of work
 *   nsys_samples.c   call chains, CPU samples, schedules, counters of GPUs
 */
#ifndef JVIEWD_DECODE_NSYS_NSYS_H
#define JVIEWD_DECODE_NSYS_NSYS_H

#include "base/scratch.h"
#include "decode/id_map.h"
#include "decode/nsys/nsys_db.h"
#include "decode/pair_table.h"

enum nsys_field { /* what a column is to the reader, besides an arg */
                  FIELD_START,
                  FIELD_END,
                  FIELD_THREAD,
                  FIELD_PROCESS,
                  FIELD_DEVICE,
                  FIELD_CONTEXT,
                  FIELD_STREAM,
                  FIELD_CORRELATION,
                  FIELD_EVENT_TYPE,
                  FIELD_DOMAIN,
                  FIELD_CATEGORY,
                  FIELD_OPERATION,
                  FIELD_NODE,
                  FIELD_ORIGINAL_NODE,
                  FIELD_BYTES,
                  FIELD_CALL_CHAIN,
                  FIELD_COUNT,
};

struct nsys_row {
    int64_t values[FIELD_COUNT];
    uint32_t present; /* a bit per field */
    int64_t start_ps, end_ps;
    track_id track; /* NO_TRACK: its slice is not made */
    name_id name;
    enum kind kind;
    uint8_t flags;
};

static inline bool row_has(const struct nsys_row *row, enum nsys_field field)
{
    return (row->present >> field & 1) != 0;
}

static inline int64_t row_or(const struct nsys_row *row, enum nsys_field field, int64_t otherwise)
{
    return row_has(row, field) ? row->values[field] : otherwise;
}

enum nsys_use {
    USE_OWN,    /* an arg of its row; of rows beyond the rules too */
    USE_SHARED, /* an arg that many rows share: of their type */
    USE_TRIPLE, /* X, and with it Y and Z, as one shared arg "X,Y,Z" */
    USE_NAME,   /* shared, and the slice's name */
    USE_TEXT,   /* the slice's name, its own */
    USE_FIELD,
    USE_NOTHING,
};
enum nsys_shown {
    AS_IT_IS,
    AS_WORD,   /* of StringIds */
    AS_LABEL,  /* of an ENUM_ table */
    AS_COLOR,  /* ARGB as "#rrggbb" */
    AS_THREAD, /* a globalTid as its tid */
};

struct nsys_rule {
    const char *table; /* NULL: any */
    const char *column;
    enum nsys_use use;
    enum nsys_shown shown;
    enum nsys_field field;
    const char *key;      /* of the arg; NULL: the column's name */
    const char *labels;   /* the ENUM_ table */
    const char *fallback; /* its words, "a|b|c" from 0, where the file lacks it */
};
const struct nsys_rule *nsys_rules(size_t *ret_count);

struct nsys;

struct nsys_spec { /* a table of events */
    const char *table;
    const char *lane;            /* of the thread or device; NULL on streams */
    const char *what;            /* the slices' name where no column has one */
    const char *before, *behind; /* around the name that a column has; NULL: nothing */
    bool on_device;
    enum { CAUSE_NONE, CAUSE_LAUNCHES, CAUSE_IS_LAUNCHED } cause; /* of its correlation */
    const char *chains; /* the table of its call chains; NULL: none */
    const char *tail;   /* SQL behind the table's name; NULL: every row */
    /* Where a row lies: fills the track, and may change anything. */
    void (*place)(struct nsys *nsys, const struct nsys_spec *spec, struct nsys_row *row);
    /* After its slice was given; may be NULL. */
    void (*given)(struct nsys *nsys, const struct nsys_spec *spec, const struct nsys_row *row);
};

struct nsys_device {
    int64_t gpu; /* what tells devices apart: NVML's number, or -1 - the CUDA ordinal */
    int32_t ordinal;
    track_id track;
    int64_t process, context; /* of its first stream */
    bool has_contexts;        /* more than one */
};

struct nsys_stream {
    uint32_t device;
    int64_t process, context, stream;
    track_id track;
};

struct nsys_shape { /* what many rows share */
    name_id name;
    type_id type;
    uint8_t kind;
};

struct nsys_tracks {
    struct id_map process_names; /* globalPid -> row of PROCESSES */
    struct id_map thread_names;  /* globalTid -> id of StringIds */
    struct nsys_rows process_row;
    struct id_map named_threads; /* globalTid -> name that the program gave */
    struct id_map processes;     /* globalPid -> track */
    struct id_map threads;       /* globalTid -> track */
    struct pair_table lanes;     /* (thread or process track, name) -> track */
    struct pair_table gpu_of;    /* (pid, CUDA ordinal) -> gpu */
    struct pair_table devices;   /* (globalPid, CUDA ordinal) -> device */
    struct pair_table contexts;  /* (globalPid, contextId) -> number */
    struct pair_table streams;   /* (device and context number, streamId) -> stream */
    struct nsys_device *device;
    bool *ordinal_is_taken; /* by ordinal; NULL: none is */
    struct nsys_stream *stream;
    uint32_t device_count, device_capacity, stream_count, stream_capacity, context_count;
};

struct nsys_words {
    struct nsys_rows by_id;     /* of StringIds */
    struct id_map names;        /* id -> name */
    struct pair_table labels;   /* (ENUM_ table's name, value) -> name */
    struct id_map label_tables; /* those that were read */
    struct id_map paths;        /* id -> the same without users */
    uint64_t missing;
};

struct gpu_op { /* work on a device, for the projection of ranges */
    uint64_t launch;
    int64_t start_ps, end_ps;
    uint32_t device;
};
struct gpu_launch { /* a call that may have launched one */
    uint64_t launch;
    int64_t thread, at_ps;
};
struct xla_launch { /* a call inside of XLA's ranges */
    uint64_t launch;
    name_id module, op; /* names of the ranges; 0 none */
};
struct stream_work { /* in ns, as the file has it */
    int64_t process, context, stream, correlation, start, end;
};
struct stream_sync { /* a record of an event, or a wait for it */
    struct stream_work at;
    int64_t sync;
};
struct wait_end { /* of an arrow, at the work of a launch that began then */
    uint64_t launch, id;
    int64_t start_ps;
    bool from;
};
struct nvtx_range {
    int64_t thread, start_ps, end_ps;
    name_id name;
    uint8_t kind;
};

/* In the order of their thread; whoever holds others stands before them. */
static inline bool nvtx_range_before(const struct nvtx_range *a, const struct nvtx_range *b)
{
    if (a->thread != b->thread)
        return a->thread < b->thread;
    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps;
    if (a->end_ps != b->end_ps)
        return a->end_ps > b->end_ps;
    return a->name < b->name;
}

#define NSYS_LIST_OF(type)                                                                         \
    {                                                                                              \
        type *at;                                                                                  \
        size_t count, capacity;                                                                    \
    }
#define NSYS_LIST(type) struct NSYS_LIST_OF(type)
/* Room for one more at the end; lists stand in scratch files. */
#define nsys_list_add(nsys, list)                                                                  \
    ((list)->count == (list)->capacity                                                             \
         ? (void)((list)->capacity = (list)->capacity == 0 ? 1024 : (list)->capacity * 2,          \
                  (list)->at = scratch_resize((nsys)->scratch, (list)->at, (list)->capacity,       \
                                              sizeof *(list)->at))                                 \
         : (void)0,                                                                                \
     &(list)->at[(list)->count++])

struct stream_syncs NSYS_LIST_OF(struct stream_sync);

struct nsys {
    struct sink *sink;
    struct arena *arena; /* of this decoding */
    struct scratch *scratch;
    struct nsys_db db;
    struct nsys_words words;
    struct nsys_tracks tracks;

    struct pair_table shapes; /* (two hashes of the columns that rows share) -> shape */
    struct nsys_shape *shape;
    uint32_t shape_count, shape_capacity;
    struct pair_table kinds; /* (two hashes of name and place) -> kind */

    struct pair_table domains;    /* (globalPid, domainId) -> name */
    struct pair_table categories; /* (domain and globalPid, category) -> name */
    struct pair_table nvtx_lanes; /* (thread or process, domain) -> track */
    uint64_t open_ranges, nvtx_other;
    int64_t last_ps; /* the latest end so far */

    struct pair_table stacks;   /* (table of chains, chain) -> stack */
    struct id_map chain_tables; /* those that were read */

    NSYS_LIST(struct gpu_op) ops;
    NSYS_LIST(struct gpu_launch) launches;
    NSYS_LIST(struct nvtx_range) ranges;
    NSYS_LIST(struct xla_launch) xla; /* by launch */
    NSYS_LIST(struct stream_work) work;
    struct stream_syncs records;
    NSYS_LIST(struct wait_end) wait_ends; /* by launch, start */

    bool has_xla_ranges;
    bool by_correlation; /* alone: devices' tables do not say whose process it was */
    name_id launch_kind, node_kind, wait_kind, key_correlation, key_stack, key_bytes, key_node,
        key_gpu_ops;
    uint64_t without_time, without_place;
};

/* nsys_words.c */
void nsys_words_open(struct nsys *nsys);
void nsys_words_close(struct nsys *nsys);
name_id nsys_word(struct nsys *nsys, int64_t id); /* of StringIds; 0: not there */
/* The text in one line, without the name in "/home/name/". */
struct str nsys_without_user(struct arena *arena, struct str text);
name_id nsys_path_word(struct nsys *nsys, int64_t id); /* of StringIds, so */
/* Of an ENUM_ table, else of `fallback`, "a|b|c" from 0; 0: no word for it. */
name_id nsys_label(struct nsys *nsys, const char *table, int64_t value, const char *fallback);

/* nsys_tracks.c */
void nsys_tracks_open(struct nsys *nsys);
void nsys_tracks_close(struct nsys *nsys);
track_id nsys_process_track(struct nsys *nsys, int64_t process);
track_id nsys_thread_track(struct nsys *nsys, int64_t thread);
struct str nsys_thread_label(struct nsys *nsys, int64_t thread); /* "python (468)" */
/* The program's own name for a thread; before its first event. */
void nsys_name_thread(struct nsys *nsys, int64_t thread, name_id name);
/* A line of a thread: "CUDA API", "NVTX". */
track_id nsys_lane_track(struct nsys *nsys, track_id parent, enum track_kind kind, struct str name,
                         int64_t source_id, int32_t device);
/* The device that a process knows by this ordinal; UINT32_MAX where that is none. */
uint32_t nsys_device_of(struct nsys *nsys, int64_t process, int64_t ordinal);
track_id nsys_stream_track(struct nsys *nsys, int64_t process, int64_t ordinal, int64_t context,
                           int64_t stream);
void nsys_tracks_finish(struct nsys *nsys);
static inline int64_t process_of(int64_t thread)
{
    return thread & ~INT64_C(0xffffff);
}

/* nsys_read.c */
/* Slices from every row; the table's rows are counted. */
void nsys_table_read(struct nsys *nsys, const struct nsys_spec *spec);
enum kind nsys_kind(struct nsys *nsys, name_id name, bool on_device); /* nsys_kinds.c */
uint64_t nsys_launch_key(const struct nsys *nsys, int64_t process, int64_t correlation);
int64_t nsys_ps(int64_t ns);

/* the rest */
void nsys_about_read(struct nsys *nsys);
void nsys_about_end(struct nsys *nsys);
void nsys_read_threads(struct nsys *nsys);
void nsys_read_devices(struct nsys *nsys);
void nsys_read_nvtx(struct nsys *nsys);
void nsys_read_open_ranges(struct nsys *nsys); /* ranges that nothing ended */
/* After calls and ranges, before devices. */
void nsys_find_hlo(struct nsys *nsys);
/* Op, module and program of the slice just given, by what launched it. */
void nsys_put_hlo(struct nsys *nsys, uint64_t launch);
/* Before devices. */
void nsys_find_waits(struct nsys *nsys);
/* Arrows of the slice just given, work on a stream. */
void nsys_put_waits(struct nsys *nsys, uint64_t launch, int64_t start_ps);
void nsys_project_ranges(struct nsys *nsys);
stack_id nsys_chain_stack(struct nsys *nsys, const char *table,
                          int64_t chain); /* NO_STACK: unknown */
void nsys_read_samples(struct nsys *nsys);

#endif
