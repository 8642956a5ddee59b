/* SPDX-License-Identifier: Apache-2.0 */
/* Which op, program, device and step a slice belongs to.
 *
 * A function of the segment and of ATTRIBUTION_VERSION: computed by analyse/attribute/attribute.c,
 * kept beside the segment by store/attribution.c, remade from the segment alone. Only slices of ops
 * and kernels have an entry; entries are in slice order, so those of a row are contiguous.
 */
#ifndef JVIEWD_TRACE_ATTRIBUTION_H
#define JVIEWD_TRACE_ATTRIBUTION_H

#include "trace/entries.h"

enum { ATTRIBUTION_VERSION = 20 };

#define NO_OP UINT32_MAX
#define NO_EXECUTION UINT32_MAX
#define NO_STEP INT64_MIN
#define NO_KERNEL UINT32_MAX
#define NO_ENTRY UINT32_MAX
/* A kernel's number that the file does not say, or says wrongly. */
#define NOT_RECORDED UINT32_MAX

enum op_phase { /* what part of a training step it is; words: analyse/hlo/phase.h */
                OP_PHASE_UNKNOWN,
                OP_PHASE_FORWARD,
                OP_PHASE_BACKWARD,
                OP_PHASE_RECOMPUTATION, /* the forward pass once more, for the backward one */
                OP_PHASE_OPTIMIZER,
                OP_PHASE_COMMUNICATION,
                OP_PHASE_COUNT
};

struct op { /* one instruction of one program, or a kernel or name where there is no program */
    program_id program;
    name_id name;     /* of the instruction, or of the slice */
    name_id scope;    /* 0 unknown */
    name_id source;   /* 0 unknown */
    name_id category; /* 0 unknown */
    name_id module;   /* its name as the file says it; 0 unknown */
    enum kind kind;
    name_id caller; /* the op of a framework that launched it, "aten::addmm"; 0 unknown */
    enum op_phase phase;
};

/* What tables of ops call it: the op that launched it, else its own name. */
static inline name_id op_called(const struct op *op)
{
    return op->caller != 0 ? op->caller : op->name;
}

struct execution { /* one run of a program on a device */
    program_id program;
    int32_t device;
    uint64_t run_id;
    slice_id launch; /* on the host, NO_SLICE unknown */
    uint32_t zero;
    int64_t start_ps, end_ps; /* file time: hull of its ops */
};

struct op_total { /* of all entries of one op */
    uint32_t event_count;
    uint32_t count;        /* of those that are `first` */
    uint32_t module_count; /* executions whose first entry it is, and entries of no execution */
    slice_id first;        /* NO_SLICE: it has no entries */
    int64_t total_ps, self_ps, min_ps, max_ps;
};

/* Quantiles cannot be added up: they are kept for each row that a table over the whole trace has,
 * by each property that joins ops. */
enum spread_by {
    SPREAD_BY_OP,
    SPREAD_BY_MODULE,
    SPREAD_BY_SCOPE,
    SPREAD_BY_SOURCE,
    SPREAD_BY_PHASE,
    SPREAD_BY_CATEGORY,
    SPREAD_BY_COUNT
};

struct op_spread {
    uint32_t by;
    uint32_t op;          /* of the row's ops the one whose first entry is first */
    uint32_t event_count; /* of all ops of the row */
    uint32_t approximate; /* 1: from a histogram */
    int64_t p50_ps, p95_ps, stdev_ps;
};

struct device_total { /* of all entries of one device */
    int32_t device;
    uint32_t zero;
    int64_t start_ps, end_ps; /* their hull */
    int64_t busy_ps;          /* their union */
};

struct kernel { /* one launch shape of one kernel; NOT_RECORDED what is not known */
    name_id name;
    uint32_t grid[3], block[3];
    uint32_t registers;                                 /* a thread */
    uint32_t static_shared_bytes, dynamic_shared_bytes; /* a block */
    uint32_t occupancy;                                 /* as the file says it, in 1/10,000 */
    uint32_t op;                                        /* of its first launch */
};

struct kernel_total {            /* of all launches of one kernel, or of all kernels of one name */
    uint32_t kernel;             /* the first of them */
    uint32_t count, graph_count; /* launches; those out of a graph */
    uint32_t launch_count;       /* those whose call on the host is known */
    uint32_t gap_count;          /* those with something before them on their stream */
    uint32_t approximate;        /* 1: quantiles from a histogram */
    slice_id first, longest;
    uint32_t longest_skip;  /* launches of its name before the longest, by (device, start) */
    uint32_t starved_count; /* those that began as soon as their call ended, after a gap */
    int64_t total_ps, self_ps, min_ps, p50_ps, p95_ps, max_ps, stdev_ps;
    int64_t starved_ps;    /* of those gaps what lies before the call's end */
    int64_t queue_p50_ps;  /* from the call's end, or 0 where it began before, to the start */
    int64_t launch_p50_ps; /* from the call's start to the start */
    int64_t call_p50_ps;   /* how long the call took */
    int64_t gap_p50_ps;    /* idle time of its stream before it */
};

_Static_assert(sizeof(struct kernel) == 48 && sizeof(struct kernel_total) == 136,
               "records without hidden padding: as they are they go to disk");
_Static_assert(sizeof(struct op) == 36 && sizeof(struct execution) == 40 &&
                   sizeof(struct op_total) == 48 && sizeof(struct op_spread) == 40 &&
                   sizeof(struct device_total) == 32,
               "records without hidden padding: as they are they go to disk");

enum cost_rule { /* where a cost is from, or why it is not known; words: analyse/hlo/cost.h */
                 COST_UNKNOWN,        /* no HLO and no figure of the compiler's */
                 COST_HLO,            /* counted from the instruction and its shapes */
                 COST_TARGET,         /* of a custom call, by what its target computes */
                 COST_TOLD,           /* of a custom call, as its author estimated it */
                 COST_EVENT,          /* the compiler's own figure on the event */
                 COST_CONTROL,        /* a loop or call: what it runs is counted by itself */
                 COST_PARTNER,        /* the other half of a pair carries it */
                 COST_CUSTOM_CALL,    /* unknown: what this custom call computes is not known */
                 COST_TRIPS,          /* unknown: a loop whose body has no events */
                 COST_NO_INSTRUCTION, /* unknown: the module has no instruction of that name */
                 COST_SEVERAL,        /* unknown: of one of several kernels of an op */
                 COST_SHAPES,         /* of a PyTorch op, by the shapes of its inputs */
                 COST_NO_CALLER,      /* unknown: no op is known that launched it */
                 COST_NO_SHAPES,      /* unknown: the op's shapes were not recorded */
                 COST_BAD_SHAPES,     /* unknown: they do not fit the op */
                 COST_NO_VALUES,      /* unknown: its plain arguments were not recorded */
                 COST_NO_LENGTHS, /* unknown: the lengths of its sequences are a tensor's values */
                 COST_NO_TYPES,   /* unknown: the type of its elements was not recorded */
                 COST_NO_FORMULA, /* unknown: nobody counts this op */
                 COST_RULE_COUNT
};

enum cost_flags {
    COST_ASYNC = 1,   /* starts or awaits a transfer: its time is not the transfer's */
    COST_HIGHEST = 2, /* its matrix products ask for full precision */
    COST_PARTLY = 4,  /* a part of it has no figure: what is there is too little */
    COST_DIVIDED = 8, /* an op's, by the time of its kernels: nobody says which does how much */
};

/* Of one execution of an op. Multiply by `run_count`, not by events: an op may launch several
 * kernels. NAN where the rule says that it is unknown. */
struct op_cost {
    double flops;           /* a multiply-add is two */
    double matrix_flops;    /* those of them that are of dots and convolutions */
    double transcendentals; /* exp, log, sqrt, ...: not among `flops` */
    double bytes;           /* read and written, each operand and result once */
    uint32_t run_count;     /* how often the op ran: uninterrupted runs of its events on a track */
    uint8_t flops_rule, bytes_rule; /* enum cost_rule */
    uint8_t type;                   /* of the operands of its matrix products, else of its result:
                                       a number of xla_data.proto, 0 unknown */
    uint8_t flags;
    uint32_t
        family; /* what its name says it is: an index of analyse/hlo/cost_family.c; 0 nothing */
    uint32_t zero;
};

_Static_assert(sizeof(struct op_cost) == 48, "no hidden padding: as they are they go to disk");

struct op_need { /* an op that takes the result of another of its program */
    uint32_t op, from;
};

struct attribution {
    const struct op *ops;
    uint32_t op_count;
    const struct execution *executions;
    uint32_t execution_count;
    uint32_t entry_count;
    /* By slice, as they are read from the disk; or, where these are NULL, as they are made, in
     * arrays. Whoever reads asks the functions below. */
    const struct entry_columns *entry_columns;
    const uint8_t *entry_data;
    const struct attributed *entries;
    const uint32_t *by_device_time; /* indexes of entries by (device, start) */
    const uint32_t *kernel_of;      /* one an entry; NULL: there are no kernels */
    /* What answers for the whole trace, so that no entry need be read; NULL: not made. */
    const struct op_total *totals; /* one an op */
    const struct device_total *devices;
    uint32_t device_count;
    const struct op_spread *spreads; /* by (by, op); none where there are very many ops */
    uint32_t spread_count;
    /* Of devices that run kernels; elsewhere there are none. */
    const struct kernel *kernels;
    uint32_t kernel_count;
    const struct kernel_total *kernel_totals;  /* one a kernel */
    const struct kernel_total *kernel_by_name; /* one a name, ascending by their first kernel */
    uint32_t kernel_name_count;
    const struct op_cost *costs; /* one an op; NULL: not made */
    const struct op_need *needs; /* by (op, from) */
    uint32_t need_count;
    /* Names that no file has, as paths of modules: behind the trace's own, see
     * attribution_lend. */
    const char *texts; /* one after another */
    const uint32_t *text_ends;
    uint32_t text_bytes, text_count;
};

/* Names that the attribution adds to its trace's: a copy of the trace that knows them, with room
 * for `text_count` of them that lives as long. Without such names the copy is as the trace. */
void attribution_lend(const struct attribution *attribution, const struct trace *trace,
                      struct str *room, struct trace *ret);

/* The first of the needs of an op, or of the next op that has any. */
uint32_t needs_from(const struct attribution *attribution, uint32_t op);

static inline __attribute__((always_inline)) slice_id entry_slice(const struct attribution *of,
                                                                  uint32_t index)
{
    if (of->entries != NULL)
        return of->entries[index].slice;

    const struct entry_columns *block = &of->entry_columns[index / ENTRY_BLOCK];

    return (slice_id)(index % ENTRY_BLOCK +
                      entry_value(block, of->entry_data, ENTRY_SLICE, 0, index % ENTRY_BLOCK));
}

static inline __attribute__((always_inline)) uint32_t entry_op(const struct attribution *of,
                                                               uint32_t index)
{
    if (of->entries != NULL)
        return of->entries[index].op;

    const struct entry_columns *block = &of->entry_columns[index / ENTRY_BLOCK];

    return (uint32_t)entry_value(block, of->entry_data, ENTRY_OP, 0, index % ENTRY_BLOCK);
}

/* All of it; what is not used is not read. */
static inline __attribute__((always_inline)) struct attributed
entry_at(const struct attribution *of, uint32_t index)
{
    if (of->entries != NULL)
        return of->entries[index];

    const struct entry_columns *block = &of->entry_columns[index / ENTRY_BLOCK];
    const uint8_t *data = of->entry_data;
    uint32_t i = index % ENTRY_BLOCK;
    uint8_t flags = (uint8_t)entry_value(block, data, ENTRY_FLAGS, 0, i);
    uint64_t dur_ps = entry_value(block, data, ENTRY_DUR, ENTRY_DUR_NS, i);

    return (struct attributed){
        .slice = (slice_id)(entry_value(block, data, ENTRY_SLICE, 0, i) + i),
        .op = (uint32_t)entry_value(block, data, ENTRY_OP, 0, i),
        .execution = entry_perhaps(block, data, ENTRY_EXECUTION, ENTRY_EXECUTION_LACKS, i),
        .device = (int32_t)entry_value(block, data, ENTRY_DEVICE, 0, i),
        .first = (flags & 1) != 0,
        .graph = flags / 2,
        .launch = entry_perhaps(block, data, ENTRY_LAUNCH, ENTRY_LAUNCH_LACKS, i),
        .start_ps = entry_start_ps(block, data, i),
        .dur_ps = (int64_t)dur_ps,
        .self_ps = (int64_t)(dur_ps - entry_value(block, data, ENTRY_COVERED, ENTRY_COVERED_NS, i)),
    };
}

/* The same, to be followed as long as the block it is asked for in. */
#define ENTRY_AT(of, index) ((const struct attributed[]){entry_at(of, index)})

/* NO_KERNEL: a copy, a set, a graph, or no GPU. */
static inline __attribute__((always_inline)) uint32_t entry_kernel(const struct attribution *of,
                                                                   uint32_t index)
{
    if (of->kernel_count == 0)
        return NO_KERNEL;
    if (of->entries != NULL)
        return of->kernel_of[index];

    const struct entry_columns *block = &of->entry_columns[index / ENTRY_BLOCK];

    return entry_perhaps(block, of->entry_data, ENTRY_KERNEL, ENTRY_KERNEL_LACKS,
                         index % ENTRY_BLOCK);
}

/* Which entry stands at a place of the order by (device, start). */
static inline __attribute__((always_inline)) uint32_t entry_in_time(const struct attribution *of,
                                                                    uint32_t place)
{
    if (of->entries != NULL)
        return of->by_device_time[place];

    const struct entry_columns *block = &of->entry_columns[place / ENTRY_BLOCK];

    return (uint32_t)(place % ENTRY_BLOCK +
                      entry_value(block, of->entry_data, ENTRY_ORDER, 0, place % ENTRY_BLOCK));
}

/* Asks memory for what is soon read of an entry: the order in time leads from place to place. */
static inline void entry_prefetch(const struct attribution *of, uint32_t index)
{
    static const uint8_t columns[] = {ENTRY_OP, ENTRY_START, ENTRY_DUR};

    if (of->entries != NULL) {
        __builtin_prefetch(&of->entries[index]);
        return;
    }

    const struct entry_columns *block = &of->entry_columns[index / ENTRY_BLOCK];

    for (size_t i = 0; i < COUNT(columns); i++)
        __builtin_prefetch(of->entry_data + block->offset + 8u * block->place[columns[i]] +
                           (size_t)block->width[columns[i]] * (index % ENTRY_BLOCK));
}

/* Those columns of a block of entries; all else is left as it is. */
void entries_in_block(const struct attribution *of, unsigned columns, uint32_t block,
                      struct entry_arrays *ret);

/* Entries for a walk that asks for one after the other: a block is unpacked at once. */
struct entry_reader {
    const struct attribution *of;
    unsigned columns;           /* a bit each, see ENTRY_BIT; no more is read */
    uint32_t block;             /* that is unpacked; UINT32_MAX: none */
    struct entry_arrays arrays; /* zeroed: columns that nobody asked for */
};

/* `of` may be NULL as long as nothing is asked. */
void entry_reader_open(struct entry_reader *reader, const struct attribution *of, unsigned columns);
void entry_reader_fill(struct entry_reader *reader, uint32_t block);

static inline __attribute__((always_inline)) struct attributed
entry_read(struct entry_reader *reader, uint32_t index)
{
    if (__builtin_expect(index / ENTRY_BLOCK != reader->block, 0))
        entry_reader_fill(reader, index / ENTRY_BLOCK);
    return entry_in(&reader->arrays, index);
}

/* The same, to be followed as long as the block it is asked for in. */
#define ENTRY_READ(reader, index) ((const struct attributed[]){entry_read(reader, index)})

/* The first entry at or behind a slice. */
uint32_t attribution_from(const struct attribution *attribution, slice_id slice);
/* Which entry the slice has; NO_ENTRY: it is no op. */
uint32_t attribution_find(const struct attribution *attribution, slice_id slice);
/* The same, in `room`; NULL: it is no op. */
const struct attributed *attribution_of(const struct attribution *attribution, slice_id slice,
                                        struct attributed *room);

/* Sorts ordinals of ops by program, those of one ascending. */
void ops_by_program(const struct op *ops, uint32_t *order, uint32_t count);

/* Where by_device_time reaches a moment (file time) of a device: the first not before it. */
uint32_t attribution_time_from(const struct attribution *attribution, int64_t device,
                               int64_t start_ps);

#endif
