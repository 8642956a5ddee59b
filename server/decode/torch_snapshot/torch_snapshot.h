/* SPDX-License-Identifier: Apache-2.0 */
/* Inside torch_snapshot*.c: a memory snapshot of PyTorch while it is read.
 *
 *   torch_snapshot.c          the decoder: what it is, from the pickle to the sink, what was odd
 *   torch_snapshot_read.c     dicts and lists of the pickle become records
 *   torch_snapshot_fields.c   the keys of one dict, their values as numbers, names and records
 *   torch_snapshot_pair.c     which free ends which allocation, what was there before the history
 *   torch_snapshot_tell.c     records become tracks, slices, events of an allocator
 *   torch_snapshot_samples.c  who held memory at the peak and at the end, by stack
 */
#ifndef JVIEWD_DECODE_TORCH_SNAPSHOT_TORCH_SNAPSHOT_H
#define JVIEWD_DECODE_TORCH_SNAPSHOT_TORCH_SNAPSHOT_H

#include "decode/decode.h"
#include "decode/pair_table.h"
#include "decode/pickle/pickle.h"

enum torch_action {
    TORCH_OTHER,
    TORCH_ALLOC,
    TORCH_FREE_REQUESTED,
    TORCH_FREE_COMPLETED,
    TORCH_SEGMENT_ALLOC,
    TORCH_SEGMENT_FREE,
    TORCH_SEGMENT_MAP,
    TORCH_SEGMENT_UNMAP,
    TORCH_OOM,
    TORCH_SNAPSHOT,
    TORCH_ACTION_COUNT,
};

#define TORCH_NONE UINT32_MAX

struct torch_event {  /* of the history: TraceEntry */
    uint64_t address; /* of an OOM: what the device had left */
    int64_t bytes, time_us;
    stack_id stack;
    name_id context, metadata; /* compile_context, user_metadata; 0 none */
    uint32_t stream;           /* number of a stream */
    uint32_t other;            /* of an allocation: the event that frees it; TORCH_NONE */
    uint8_t action;            /* enum torch_action */
    bool is_before;            /* a free of what was allocated before the history */
};

enum torch_state { TORCH_INACTIVE, TORCH_PENDING, TORCH_ALLOCATED };

struct torch_block {
    uint64_t address;
    int64_t bytes, requested; /* requested: as asked for; -1 not told */
    stack_id stack;
    uint32_t stream;
    uint8_t state; /* enum torch_state */
    bool has_address;
};

struct torch_segment {
    uint64_t address;
    int64_t bytes;
    uint32_t device, stream, first_block, block_count;
};

struct torch_span { /* of records that lie in a row */
    uint32_t first, count;
    stack_id stack; /* of a list of frames, once it was asked for */
    bool has_stack;
};

struct torch_frame {
    struct frame frame;
    name_id name; /* "step (train.py:12)"; 0 not made yet */
    uint8_t rank; /* how much it says of who allocates: 3 the user's Python, 2 Python, 1 other */
};

struct torch_child {         /* the first call below a stack: most have no other */
    uint32_t frame_plus_one; /* 0: none yet */
    stack_id stack;
};

enum torch_what {              /* what a list or dict of the pickle is */
                  TORCH_FRESH, /* nothing was put in yet */
                  TORCH_ANY,
                  TORCH_FRAME,
                  TORCH_FRAMES,
                  TORCH_EVENT,
                  TORCH_EVENTS,
                  TORCH_TRACES, /* a list of lists of events: one a device */
                  TORCH_BLOCK,
                  TORCH_BLOCKS,
                  TORCH_SEGMENT,
                  TORCH_SEGMENTS,
                  TORCH_TOP,
};

struct torch_object {
    uint32_t index; /* of the record, or of the span of records */
    uint8_t what;   /* enum torch_what */
};

struct torch_table { /* in scratch */
    void *at;
    uint32_t count, capacity;
};

enum { TORCH_DEVICES_MAX = 256, TORCH_TEXTS = 1 << 12 };

struct torch_snapshot {
    struct input *input;
    struct sink *sink;
    struct bytes file;
    struct scratch *scratch;
    struct torch_table objects;     /* struct torch_object, by container */
    struct torch_table spans;       /* struct torch_span */
    struct torch_table frames;      /* struct torch_frame */
    struct torch_table frame_items; /* uint32_t: frames of lists */
    struct torch_table trace_items; /* uint32_t: spans of events; TORCH_NONE: an empty list */
    struct torch_table events, blocks, segments;
    struct torch_table streams; /* uint64_t */
    struct {
        uint64_t place; /* of a text in the file, plus one */
        name_id name;
        uint8_t word;
    } texts[TORCH_TEXTS];    /* those met last: a writer tells each once */
    struct torch_table last; /* uint32_t: frames of the stack made last, from the outermost */
    struct torch_table last_stacks;
    struct torch_table names_of; /* uint32_t, by stack: the frame that names it */
    struct torch_table children; /* struct torch_child, by caller + 1 */
    name_id key_address, key_bytes, key_stack, key_stream, key_context, key_metadata;
    struct torch_span devices[TORCH_DEVICES_MAX]; /* events of each */
    uint32_t device_count;
    bool has_top;
    bool is_cut; /* the history's end is missing, so what the segments hold is of a later moment */
    uint64_t odd_count; /* records whose fields are no numbers, or missing */
    uint64_t odd_first; /* where the first of them is */
    uint32_t no_time_count, unknown_action_count;
    int64_t start_us, end_us; /* of all histories */
};

/* One more record of `size` bytes, zeroed; NULL and the sink fails where there are too many. */
void *torch_add(struct torch_snapshot *snapshot, struct torch_table *table, size_t size);

/* Words of keys, actions and states. */
enum torch_word {
    WORD_UNKNOWN,
    WORD_ACTION,
    WORD_ADDR,
    WORD_ADDRESS,
    WORD_ALLOCATED,
    WORD_AWAITING,
    WORD_BLOCKS,
    WORD_COMPILE_CONTEXT,
    WORD_DEVICE,
    WORD_DEVICE_FREE,
    WORD_DEVICE_TRACES,
    WORD_EXPANDABLE,
    WORD_FILENAME,
    WORD_FRAMES,
    WORD_HISTORY,
    WORD_INACTIVE,
    WORD_LINE,
    WORD_NAME,
    WORD_PENDING,
    WORD_REAL_SIZE,
    WORD_REQUESTED_SIZE,
    WORD_SEGMENTS,
    WORD_SIZE,
    WORD_STATE,
    WORD_STREAM,
    WORD_TIME_US,
    WORD_TOTAL_SIZE,
    WORD_USER_METADATA,
    WORD_FIRST_ACTION, /* then the actions in their order */
    WORD_LAST_ACTION = WORD_FIRST_ACTION + TORCH_ACTION_COUNT,
    WORD_COUNT,
};
enum torch_word torch_word_of(struct torch_snapshot *snapshot, struct pickle_value text);
name_id torch_name_of(struct torch_snapshot *snapshot, struct pickle_value text);

struct torch_fields { /* the values of one dict that are known by their keys */
    struct pickle_value at[WORD_COUNT];
    uint64_t has; /* a bit a word */
};
void torch_fields_of(struct torch_snapshot *snapshot, const struct pickle_value *pairs,
                     size_t count, struct torch_fields *ret);
static inline bool torch_has(const struct torch_fields *fields, enum torch_word word)
{
    return (fields->has >> word & 1) != 0;
}
static inline struct pickle_value torch_field(const struct torch_fields *fields,
                                              enum torch_word word)
{
    return torch_has(fields, word) ? fields->at[word] : (struct pickle_value){.kind = PICKLE_NONE};
}
/* A whole number that is not below zero; `otherwise`, and *odd, where there is none. */
int64_t torch_size(const struct torch_fields *fields, enum torch_word word, int64_t otherwise,
                   bool *odd);
uint64_t torch_address(const struct torch_fields *fields, enum torch_word word, bool *odd);
uint32_t torch_stream(struct torch_snapshot *snapshot, const struct torch_fields *fields);

extern const struct pickle_taker torch_taker; /* its `to` is a torch_snapshot */
/* Of a history that ended early: which device each list belongs to. */
void torch_keep_cut(struct torch_snapshot *snapshot, const struct pickle *pickle);
struct torch_object torch_object_of(const struct torch_snapshot *snapshot, uint64_t container);

struct torch_before { /* was allocated before the history of its device begins */
    uint64_t address;
    int64_t bytes;
    stack_id stack;
    uint32_t stream, freed_by; /* event; TORCH_NONE: it is there at the end */
};

struct torch_device { /* one, while it is told */
    uint32_t number;
    struct torch_span events;
    struct torch_table before; /* struct torch_before */
    int64_t before_bytes;      /* of all of them */
    int64_t reserved_start;    /* when the history begins; -1 the events contradict */
    int64_t allocated, active, requested, reserved; /* in the end, as memory_stats tells them */
    uint32_t allocated_count, segment_count;
    uint32_t lost_count; /* allocations of the history that the end does not hold */
    int64_t peak_bytes;
    uint32_t peak; /* the event after which most was in use; TORCH_NONE: none, at the start */
};
void torch_pair(struct torch_snapshot *snapshot, struct torch_device *device);
void torch_tell(struct torch_snapshot *snapshot, struct torch_device *device);
void torch_tell_samples(struct torch_snapshot *snapshot, const struct torch_device *device);

static inline struct torch_event *torch_event_at(const struct torch_snapshot *snapshot,
                                                 uint32_t index)
{
    return (struct torch_event *)snapshot->events.at + index;
}

static inline int64_t torch_add_bytes(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

#endif
