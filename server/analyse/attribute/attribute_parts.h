/* SPDX-License-Identifier: Apache-2.0 */
/* Inside attribute*.c.
 *
 *   args      attribute_facts.c    event by event: what the args say of each op
 *             attribute_shapes.c   and of its launch, where it is a kernel
 *   slices    attribute.c          row by row: each op event's slice becomes an entry
 *   launches  attribute_launch.c   along the arrows: which call on the host each came from
 *   callers   attribute_torch.c    from those calls: which op of PyTorch each came from
 *   time      attribute_time.c     in time order: executions, nesting, first events
 *             attribute_bodies.c   ends and nesting on host threads, by the HLO
 *   calls     attribute_calls.c    by order: which call on the host each execution came from
 *   phases    attribute_phases.c   what part of a step an op is, by the HLO
 *   totals    attribute_totals.c   what tables over the whole trace say
 *             attribute_kernels.c  and tables of kernels
 */
#ifndef JVIEWD_ANALYSE_ATTRIBUTE_ATTRIBUTE_PARTS_H
#define JVIEWD_ANALYSE_ATTRIBUTE_ATTRIBUTE_PARTS_H

#include "analyse/attribute/attribute.h"
#include "analyse/stats/map64.h"
#include "base/scratch.h"
#include "trace/attribution.h"
#include "trace/ps.h"

/* event_facts: index + 1, or PARTNER | index */
#define NO_FACTS 0u
#define PARTNER (1u << 31)

struct facts {          /* of one op event */
    uint32_t op;        /* NO_OP: by the slice's name, with what `more` says */
    uint32_t more;      /* NO_MORE: nothing */
    uint32_t execution; /* NO_EXECUTION: not said */
    int32_t device;     /* -1: its track's */
    uint32_t shape;     /* NO_SHAPE: none */
    uint8_t graph;      /* enum graph_part */
};

#define NO_MORE UINT32_MAX
#define NO_SHAPE UINT32_MAX

struct launch_shape { /* NOT_RECORDED what is not known */
    uint32_t grid[3], block[3];
    uint32_t registers, static_shared_bytes, dynamic_shared_bytes, occupancy;
};

struct more { /* what is known of an op that its slice names; many events share one */
    uint32_t context;
    name_id tf_op, category, source;
};

struct device_time { /* of an op event */
    bool told;
    int64_t start_ps, dur_ps;
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

enum { KNOWN_OPS = 1024, KNOWN_MORE = 256, KNOWN_KERNELS = 256 };

struct known_op { /* one of those seen last */
    name_id name;
    uint32_t context, op;
    bool used;
};

struct known_kernel { /* likewise */
    name_id name;
    uint32_t shape, kernel;
    bool used;
};

struct kind_times { /* of an op, by the kinds of its slices */
    int64_t ps[KIND_COUNT];
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
    struct launch_shape *shapes;
    uint32_t shape_count, shape_capacity;
    struct more *more;
    uint32_t more_count, more_capacity;
    uint32_t known_more[KNOWN_MORE];  /* by hash, of those met last: index + 1 */
    struct device_time *device_times; /* by facts; NULL where none is told */
    uint32_t device_time_capacity;    /* facts behind it have none */
    struct context *contexts;
    uint32_t context_count, context_capacity;
    struct op *ops;
    uint32_t *op_contexts;
    struct kind_times *op_kind_ps;
    uint32_t op_count, op_capacity;
    struct known_op known_ops[KNOWN_OPS]; /* by name */
    struct execution *executions;
    uint32_t execution_count, execution_capacity;
    struct attributed *entries;
    uint32_t *entry_group; /* who nests with whom: a track, or behind them an ordinal */
    uint32_t *entry_facts; /* NULL where all times are true as they are */
    uint32_t entry_count, entry_capacity;
    bool *runs_kernels; /* by track */
    struct kernel *kernels;
    uint32_t kernel_count, kernel_capacity;
    struct known_kernel known_kernels[KNOWN_KERNELS];
    uint32_t *kernel_of; /* by entry; NULL: the trace has no kernels */
    uint32_t *by_device_time;
    uint32_t *by_execution, *first_of_execution; /* of attribute_time.c */
    struct map64 shape_of, kernel_of_name;       /* by hash; by name and shape */
    struct map64 module_of;                      /* by the number in its name */
    bool knows_modules;
    struct map64 program_of, context_of, op_of, run_of, device_of, execution_of, ordinal_of;
    uint32_t program_count, run_count, device_count, group_count;
    struct type_facts *types;
    /* Of ops that PyTorch launched; NULL where it is not PyTorch. */
    struct op_cost *told_costs; /* by op */
    char *texts;
    uint32_t *text_ends;
    uint32_t text_bytes, text_count;
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

/* The shapes of launches, while args are walked. */
struct arg_walk;
struct shapes;
enum { SHAPE_KEYS = 15 };
/* The keys that tell of them, NO_KEY for one that the trace lacks; false: it lacks all. */
bool shapes_find_keys(const struct trace *trace, name_id ret[SHAPE_KEYS]);
struct shapes *shapes_begin(struct attribute_work *work, const name_id *keys);
/* Of the event that the walk stands at, whose keys are the walk's from `first_key` on; NO_SHAPE. */
uint32_t shape_at(struct attribute_work *work, struct shapes *shapes, type_id type,
                  const struct arg_walk *walk, uint32_t first_key, uint8_t *ret_graph);
void shapes_end(struct attribute_work *work, struct shapes *shapes); /* takes NULL */
/* The kernel of that name and shape, made where it is new: `op` is that of its first launch. */
uint32_t kernel_find(struct attribute_work *work, name_id name, uint32_t shape, uint32_t op);
/* The execution of (context, run, device), made where it is new. */
uint32_t execution_find(struct attribute_work *work, uint32_t context, uint64_t run_id,
                        int32_t device);
uint32_t execution_add(struct attribute_work *work, uint32_t context, uint64_t run_id,
                       int32_t device);
/* The op of that name, where it was found lately; NO_OP. */
static inline uint32_t op_known(const struct attribute_work *work, uint32_t context, name_id name)
{
    const struct known_op *known = &work->known_ops[name % KNOWN_OPS];

    return known->used && known->name == name && known->context == context ? known->op : NO_OP;
}
/* The op of that name, made where it is new: `name` is an hlo_op, or a slice's own name. */
uint32_t op_find(struct attribute_work *work, const struct more *more, name_id name,
                 bool is_slice_name);

/* Along the arrows: entries and, where modules have slices, executions. */
void launches_find(struct attribute_work *work);
/* Tells ops of equal names apart by the ops of PyTorch that launched them. */
void callers_find(struct attribute_work *work);
/* What an arrow from a host leads to the slice from; NO_SLICE: nothing. */
slice_id launch_of_slice(const struct trace *trace, slice_id slice);
void entries_order(struct attribute_work *work); /* by_device_time */
/* Executions that no arg told. Until entries_nest self_ps is the middle of what the file shows. */
void entries_place(struct attribute_work *work);
/* Of the first executions, which the file tells apart, those that no arrow leads to. */
void calls_find(struct attribute_work *work, uint32_t told_count);
void entries_nest(struct attribute_work *work); /* true ends, executions' hulls, self times */
void entries_first(struct attribute_work *work);
void phases_find(struct attribute_work *work); /* of ops whose scopes do not tell */

/* What the HLO of this file's programs tells of ops on host threads; NULL: it has devices. */
struct bodies;
struct bodies *bodies_read(struct attribute_work *work);
void bodies_free(struct attribute_work *work, struct bodies *bodies);          /* takes NULL */
bool bodies_tell(const struct bodies *bodies, const struct attributed *entry); /* takes NULL */
/* Both take entries by execution, in time order: first the ends, then self times. */
void bodies_end(struct attribute_work *work, struct bodies *bodies, const uint32_t *order,
                uint32_t count);
void bodies_nest(struct attribute_work *work, struct bodies *bodies, const uint32_t *order,
                 uint32_t count);

/* Lengths that no machine measured are hostile: their sum stops at what can be told. */
static inline int64_t sum_of(int64_t left_ps, int64_t right_ps)
{
    int64_t sum_ps;

    if (__builtin_add_overflow(left_ps, right_ps, &sum_ps))
        return right_ps > 0 ? INT64_MAX : INT64_MIN;
    return sum_ps;
}

/* Totals of kernels, of entries whose launches are known. */
void kernels_make(const struct trace *trace, struct scratch *scratch, struct attribution *of);
/* Totals, devices and spreads of an attribution that is otherwise whole; they stand in the
 * scratch. */
void totals_make(const struct trace *trace, struct scratch *scratch, struct attribution *of);

#endif
