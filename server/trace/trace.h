/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of one profile file, immutable, mapped.
 *
 *   trace
 *     track   "/device:GPU:0"  "Stream #7"  "python"      a tree: parent, name
 *       row     all slices of one track at one depth or lane
 *         chunk   4,096 slices as packed columns
 *           slice   [start, start + dur) name kind parent event
 *     stack   a frame and the stack that called it      a tree: parent
 *       sample  what a profiler found there: a value of each sample type
 *
 * Slices of a row are contiguous (ids first_slice ... + count - 1), ordered, and never overlap:
 * starts and ends both ascend, so a window is two binary searches. Every chunk of a row but the
 * last holds exactly CHUNK_SLICES slices.
 *
 * Times are int64_t picoseconds in *file time*: their zero is the decoder's choice, values may be
 * negative. `epoch_ns` is the Unix time of that zero where the file knows it. Who shows times adds
 * the run's offset (see host_trace in analyse/analyse.h).
 *
 * Everything here points into the mapped segment or into the arena of whoever opened it, never
 * changes, and may be read by any thread without a lock.
 */
#ifndef JVIEWD_TRACE_TRACE_H
#define JVIEWD_TRACE_TRACE_H

#include "base/error.h"
#include "base/names.h"
#include "trace/kind.h"

typedef uint32_t track_id;
typedef uint32_t row_id;
typedef uint32_t slice_id; /* of one trace; depends on the file's bytes only */
typedef uint32_t event_id; /* ordinal in file order: the key of args */
typedef uint32_t type_id;  /* what many events share: XEventMetadata; 0 = none */
typedef uint32_t program_id;
typedef uint32_t stack_id;

#define NO_TRACK UINT32_MAX
#define NO_ROW UINT32_MAX
#define NO_SLICE UINT32_MAX
#define NO_PROGRAM UINT32_MAX
#define NO_STACK UINT32_MAX
#define SAMPLE_NO_TIME INT64_MIN

/* No time of a trace lies further than 53 days from its zero, so differences and sums along a row
 * fit int64_t. The sink clamps. */
#define TIME_PS_MAX ((INT64_C(1) << 62) - 1)

enum track_kind {
    TRACK_PROCESS,
    TRACK_DEVICE,
    TRACK_STREAM,
    TRACK_THREAD,
    TRACK_ASYNC,
    TRACK_COUNTER,
};

enum track_role { /* what its slices are, where the file says so */
                  ROLE_NONE,
                  ROLE_STEPS,     /* container: one slice a step */
                  ROLE_MODULES,   /* container: one slice an execution of a program */
                  ROLE_OPS,       /* HLO ops or kernels of a device */
                  ROLE_ASYNC_OPS, /* the asynchronous ones: overlap ROLE_OPS */
                  ROLE_SCOPES,    /* container: name scopes, annotations of a device */
                  ROLE_HOST,      /* threads */
};

struct track {
    track_id parent; /* smaller than the own id, or NO_TRACK */
    name_id name;
    uint8_t kind;      /* enum track_kind */
    uint8_t role;      /* enum track_role */
    bool derived;      /* made from other tracks by the tool that wrote the file: never summed */
    int32_t device;    /* ordinal, -1 on hosts */
    int64_t source_id; /* XLine id, tid: as in the file */
    row_id first_row;
    uint32_t row_count;
    uint64_t slice_count;     /* own slices, instants included; counter samples not */
    int64_t duration_sum_ps;  /* of them */
    int64_t start_ps, end_ps; /* their hull; both 0 when there are none */
};

struct row {
    track_id track;
    uint32_t depth;
    slice_id first_slice;
    uint32_t count;
    uint32_t first_chunk, chunk_count;
    int64_t start_ps, end_ps;
};

enum slice_flags {
    SLICE_INSTANT = 1, /* no duration; never a parent */
    SLICE_PARTIAL = 2, /* overlaps an earlier slice without being inside it */
    SLICE_CUT = 4,     /* its end is not in the file */
    SLICE_DERIVED = 8,
    SLICE_ASYNC = 16,   /* laid by first fit, no parent */
    SLICE_CLAMPED = 32, /* its file gave a negative or overflowing time */
};

struct slice { /* one, with everything */
    slice_id id;
    row_id row;
    int64_t start_ps, dur_ps, self_ps;
    name_id name;
    enum kind kind;
    uint8_t flags;
    slice_id parent; /* NO_SLICE at the top */
    event_id event;
};

enum arg_type {
    ARG_NONE, /* absent */
    ARG_INT64,
    ARG_UINT64,
    ARG_DOUBLE, /* the bits of a double */
    ARG_STRING, /* a name_id */
    ARG_BYTES,  /* a name_id whose text is any bytes */
    ARG_BOOL,
    ARG_NULL,
    ARG_JSON,   /* a name_id: an object or array as JSON text */
    ARG_DIGITS, /* a text of digits without leading zeros, as uint64: JSON writers quote ids */
};

struct arg { /* in file order; a key may stand twice */
    name_id key;
    enum arg_type type;
    uint64_t bits;
};

struct type { /* name and args that all its events share */
    name_id name;
    uint32_t first_arg, arg_count; /* into trace.type_args */
};

struct property { /* of the file (track NO_TRACK) or of a device: versions, peak rates, options */
    track_id track;
    struct arg arg;
};

enum note_severity { NOTE_INFO, NOTE_WARNING, NOTE_ERROR };

struct note {     /* what is missing or odd: shown to the user */
    name_id kind; /* a stable word: "truncated", "clamped-times" */
    enum note_severity severity;
    name_id message;
    uint64_t count;
};

struct instruction { /* of HLO */
    program_id program;
    name_id name, opcode, scope /* metadata.op_name */, op_type, source /* file:line */;
    name_id category; /* fusion kind and the like; 0 unknown */
};

enum program_form { PROGRAM_PROTO, PROGRAM_TEXT }; /* what the blob is */
enum program_stage {                               /* of its compilation */
                     STAGE_UNKNOWN,
                     STAGE_BEFORE, /* as it came to the compiler */
                     STAGE_PASS,   /* between two passes */
                     STAGE_AFTER,  /* as it runs */
};

struct program {          /* one compiled module */
    uint64_t id;          /* full 64 bits; signed ones as two's complement */
    name_id name;         /* without the id: "jit_train_step" */
    uint64_t fingerprint; /* of its instructions: equal on every host */
    uint32_t first_instruction, instruction_count;       /* sorted by name id */
    uint64_t blob_offset, blob_packed_bytes, blob_bytes; /* all of it, one zstd frame */
    uint64_t blob_hash;                                  /* XXH3 of the packed bytes */
    uint32_t computation_count, fusion_count;
    uint8_t form, stage; /* enum program_form, program_stage */
    bool has_buffers;    /* the blob holds a buffer assignment */
    uint8_t zero;
};

struct document { /* what a compiler wrote of a module besides HLO: a report, LLVM IR. Of which
                     module, only the name of its file says */
    uint64_t blob_offset, blob_packed_bytes, blob_bytes, blob_hash;
    uint64_t line_count;
};

struct flow { /* an arrow from what caused to what was caused */
    uint64_t id;
    name_id kind;
    slice_id from, to;
    int64_t from_ps, to_ps;
};

struct memory_event { /* an allocator's own event */
    int64_t at_ps;
    name_id allocator;
    bool is_free;
    slice_id slice;
    int64_t bytes, bytes_allocated, bytes_reserved, bytes_available, peak_bytes; /* -1 unknown */
};

struct counter_sample {
    int64_t at_ps;
    double value;
};

struct frame { /* one call; 0 unknown */
    name_id function, file;
    uint32_t line;
    name_id module; /* library or mapping */
};

struct stack {       /* each once: two stacks with one parent differ in their frame */
    stack_id parent; /* who called: smaller than the own id; NO_STACK at the outermost call */
    struct frame frame;
};

struct sample_type { /* what a value counts: "space" in "bytes" */
    name_id name, unit;
};

struct sample {
    int64_t at_ps;                     /* SAMPLE_NO_TIME: none */
    track_id track;                    /* of the thread; NO_TRACK */
    stack_id stack;                    /* of the innermost call; NO_STACK */
    uint32_t first_label, label_count; /* into trace.sample_labels; equal lists may be one */
};

struct trace {
    const char *format;  /* decoder's name */
    char content[33];    /* XXH3-128 of the file, hex */
    uint64_t sum;        /* of all its tables, as its segment holds it; 0: in no segment */
    struct str hostname; /* as the file says; "" unknown */
    bool has_epoch;
    int64_t epoch_ns;         /* Unix time of file time 0 */
    struct str epoch_reason;  /* why there is none */
    int64_t start_ps, end_ps; /* hull of all slices, instants, counter and stack samples */
    uint64_t slice_count, event_count, flow_count, sample_count;

    uint32_t name_count;
    const struct track *tracks;
    uint32_t track_count;
    const struct row *rows;
    uint32_t row_count;
    const struct type *types;
    uint32_t type_count;
    const struct arg *type_args;
    const struct property *properties;
    uint32_t property_count;
    const struct note *notes;
    uint32_t note_count;
    const struct program *programs;
    uint32_t program_count;
    const struct instruction *instructions;
    uint32_t instruction_count;
    const struct document *documents;
    uint32_t document_count;
    const struct flow *flows; /* by (from, to); by consumer: flow_by_to holds indexes */
    const uint32_t *flow_by_to;
    const struct memory_event *memory_events; /* by time */
    uint32_t memory_event_count;
    const struct stack *stacks;
    uint32_t stack_count;
    const struct sample_type *sample_types;
    uint32_t sample_type_count;
    const struct sample *samples; /* in file order */
    uint32_t stack_sample_count;
    const int64_t *sample_values; /* [sample * sample_type_count + type] */
    const struct arg *sample_labels;
    uint32_t sample_label_count;

    /* Of a copy that borrows names from other traces (analyse/hlo/hlo_backfill.h): ids from
     * name_count on. */
    const struct str *lent_names;
    uint32_t lent_name_count;

    struct trace_parts
        *parts; /* names, chunks, args, pyramids, by-name, counters: see their headers */
};

struct str trace_name(const struct trace *trace, name_id id);
bool trace_find_name(const struct trace *trace, struct str text, name_id *ret);

struct slice trace_slice(const struct trace *trace, slice_id id);
/* Of the slice of a row only times and self time, of these only those of `columns`. */
struct slice trace_slice_times(const struct trace *trace, const struct row *row, uint32_t ordinal,
                               unsigned columns);
row_id trace_row_of(const struct trace *trace, slice_id id);
/* The slice that holds the args of this event. */
slice_id trace_slice_of_event(const struct trace *trace, event_id event);
/* The first slice of the row (ordinal 0 ... count) whose end is after `at`; instants at `at`
 * count. */
uint32_t row_find(const struct trace *trace, const struct row *row, int64_t at_ps);
/* Ordinals [first, end) of the row that touch [from, to); asks the kernel for their pages. */
void row_window(const struct trace *trace, const struct row *row, int64_t from_ps, int64_t to_ps,
                uint32_t *ret_first, uint32_t *ret_end);
/* Asks for the pages alone, and touches none of them. */
void row_will_need(const struct trace *trace, const struct row *row, int64_t from_ps,
                   int64_t to_ps);

/* Index of the first flow that begins at `slice` or later; of flow_by_to the same by end. */
uint64_t flow_first_from(const struct trace *trace, slice_id slice);
uint64_t flow_first_to(const struct trace *trace, slice_id slice);

enum { ROW_GROUP_SLICES = 32 };
/* Up to 32 neighbours of a row: what a walk along many rows at once keeps of each. */
struct slice_group {
    uint32_t first, count; /* ordinals */
    int64_t start_ps[ROW_GROUP_SLICES], dur_ps[ROW_GROUP_SLICES];
    name_id name[ROW_GROUP_SLICES];
    uint8_t kind[ROW_GROUP_SLICES];
};
/* The group that holds the ordinal; count 0 where the segment is damaged. */
void row_group(const struct trace *trace, const struct row *row, uint32_t ordinal,
               struct slice_group *ret);
/* Direct children of a slice: ordinals [first, end) of each further row of the track hold
 * candidates; call with row = the parent's row + 1, + 2, ... and keep those whose parent it is. */

enum { CHUNK_SLICES = 4096 };

enum chunk_columns {
    COLUMN_START = 1,
    COLUMN_DUR = 2,
    COLUMN_SELF = 4,
    COLUMN_NAME = 8, /* and kind */
    COLUMN_PARENT = 16,
    COLUMN_EVENT = 32,
    COLUMN_FLAGS = 64,
    COLUMN_PLACE = 128, /* in the chunk's dictionary, and the dictionary */
};

struct chunk { /* unpacked columns; only those asked for hold anything. 190 KB: never on a small
                  stack */
    uint32_t count;
    slice_id first_slice;
    int64_t start_ps[CHUNK_SLICES], dur_ps[CHUNK_SLICES], self_ps[CHUNK_SLICES];
    name_id name[CHUNK_SLICES];
    uint8_t kind[CHUNK_SLICES];
    slice_id parent[CHUNK_SLICES];
    event_id event[CHUNK_SLICES];
    uint8_t flags[CHUNK_SLICES];
    uint16_t place[CHUNK_SLICES]; /* in the dictionary: what many slices share is told once */
    uint32_t dictionary_count;
    name_id dictionary_name[CHUNK_SLICES];
    uint8_t dictionary_kind[CHUNK_SLICES];
};

/* `chunk` is an index into the trace's chunks: row->first_chunk + ordinal / CHUNK_SLICES. */
void chunk_unpack(const struct trace *trace, uint32_t chunk, unsigned columns, struct chunk *ret);

/* True once something turned out damaged while it was read, and answered as empty: whoever told of
 * what was read takes it back. */
bool trace_damaged(const struct trace *trace);
/* Reads all that is not checked yet; false: something is damaged. */
bool trace_check(const struct trace *trace);

const struct instruction *trace_instruction(const struct trace *trace, program_id program,
                                            name_id name);        /* NULL: not there */
program_id trace_program(const struct trace *trace, uint64_t id); /* NO_PROGRAM: not there */

/* The blob of a program or document, unpacked into the arena. */
MUST_CHECK enum status trace_program_blob(const struct trace *trace, const struct program *program,
                                          struct arena *arena, struct bytes *ret,
                                          struct error *err);
MUST_CHECK enum status trace_document_blob(const struct trace *trace,
                                           const struct document *document, struct arena *arena,
                                           struct bytes *ret, struct error *err);

/* Of how much a file describes, used or not: nothing that it was made with. */
static inline bool property_is_count(const struct trace *trace, const struct property *property)
{
    struct str key = trace_name(trace, property->arg.key);

    return str_equal(key, STR("event metadata")) || str_equal(key, STR("stat metadata"));
}

#endif
