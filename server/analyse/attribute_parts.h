/* Inside attribute*.c.
 *
 *   args     attribute_facts.c   block by block: what the args say of each op event
 *   slices   attribute.c         row by row: each op event's slice becomes an entry
 *   time     attribute_time.c    in time order: executions, nesting, first events
 *   totals   attribute_totals.c  what tables over the whole trace say
 */
#ifndef JVIEWD_ANALYSE_ATTRIBUTE_PARTS_H
#define JVIEWD_ANALYSE_ATTRIBUTE_PARTS_H

#include "analyse/map64.h"
#include "base/scratch.h"
#include "trace/attribution.h"

/* event_facts: index + 1, or PARTNER | index */
#define NO_FACTS 0u
#define PARTNER (1u << 31)

struct facts {          /* of one op event */
    uint32_t op;        /* NO_OP: by the slice's name, with what `more` says */
    uint32_t more;      /* NO_MORE: nothing */
    uint32_t execution; /* NO_EXECUTION: not said */
    int32_t device;     /* -1: its track's */
};

#define NO_MORE UINT32_MAX

struct more { /* of an op event: what few of them need */
    uint32_t context;
    name_id tf_op, category, source;
    bool has_device_time;
    int64_t device_start_ps, device_dur_ps;
};

struct context { /* of an instruction's name */
    program_id program;
    name_id module;
};

struct type_facts {
    name_id hlo_op, module, tf_op, category, source;
    bool has_program, is_mark;
    uint64_t program;
};

struct attribute_work {
    const struct trace *trace;
    struct scratch *scratch; /* all arrays stand there, also those that are handed out */
    bool has_devices;        /* the file has tracks of devices; else ops lie on host threads */
    uint8_t *on_device;      /* a bit per event: its slice lies on a device's track of ops */
    uint32_t *event_facts;   /* by event */
    struct facts *facts;
    int64_t *partner_end_ps; /* by facts, INT64_MIN: none; NULL where no partner was found */
    uint32_t facts_count, facts_capacity;
    struct more *more;
    uint32_t more_count, more_capacity;
    bool has_device_times; /* some of `more` has */
    struct context *contexts;
    uint32_t context_count, context_capacity;
    struct op *ops;
    uint32_t *op_contexts;
    bool *op_seen; /* a slice of it was: its kind is known */
    uint32_t op_count, op_capacity;
    struct execution *executions;
    uint32_t execution_count, execution_capacity;
    struct attributed *entries;
    uint32_t *entry_group; /* who nests with whom: a track, or behind them an ordinal */
    uint32_t *entry_facts; /* NULL where all times are true as they are */
    uint32_t entry_count, entry_capacity;
    uint32_t *by_device_time;
    struct map64 program_of, context_of, op_of, run_of, device_of, execution_of, ordinal_of;
    uint32_t program_count, run_count, device_count, group_count;
    struct type_facts *types;
};

/* Room for one more of `array`. */
#define WORK_GROW(work, array, count, capacity)                                                    \
    do {                                                                                           \
        if ((count) == (capacity)) {                                                               \
            (capacity) = (capacity) == 0 ? 256 : (capacity) + (capacity) / 2;                      \
            (array) = scratch_resize((work)->scratch, (array), (capacity), sizeof(*(array)));      \
        }                                                                                          \
    } while (0)

void facts_read(struct attribute_work *work);
/* The execution of (context, run, device), made where it is new. */
uint32_t execution_find(struct attribute_work *work, uint32_t context, uint64_t run_id,
                        int32_t device);
uint32_t execution_add(struct attribute_work *work, uint32_t context, uint64_t run_id,
                       int32_t device);
/* The op of that name, made where it is new: `name` is an hlo_op, or a slice's own name. */
uint32_t op_find(struct attribute_work *work, const struct more *more, name_id name,
                 bool is_slice_name);

void entries_order(struct attribute_work *work); /* by_device_time */
void entries_place(struct attribute_work *work); /* executions that no arg told */
void entries_nest(struct attribute_work *work);
void entries_first(struct attribute_work *work);

/* Totals, devices and spreads of an attribution that is otherwise whole; they stand in the
 * scratch. */
void totals_make(const struct trace *trace, struct scratch *scratch, struct attribution *of);

#endif
