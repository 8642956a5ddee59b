/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels without HLO: their size and group stand in their own args, or with the calls around
 * their launch, as PyTorch's profiler writes them.
 *
 *   c10d::allreduce_                       Input Dims [[19618307]]  Input type ["float"]
 *     record_param_comms                   Collective name, In msg nelems, Out msg nelems, dtype,
 *       nccl:all_reduce                    Group size, Process Group Ranks
 *         cudaLaunchKernel  --launch-->  ncclKernel_AllReduce_RING_LL_Sum_float
 *
 * Which of these a file has depends on its age; the innermost that tells a thing is believed.
 * Kernels of one name are as many collectives as they have sizes and groups.
 */
#include <stdlib.h>

#include "analyse/comm/collective_kernel.h"
#include "analyse/comm/collective_torch.h"
#include "analyse/comm/collectives_parts.h"
#include "base/hash.h"
#include "trace/args/args.h"

/* Beyond, kernels keep their name alone: each costs a walk up the stack of its launch. */
enum { LOOKED_UP_MAX = 65536, STACK_MAX = 64, CALLS_MAX = 4 };

enum key {
    KEY_COLLECTIVE,
    KEY_IN,
    KEY_OUT,
    KEY_DTYPE,
    KEY_GROUP_SIZE,
    KEY_GROUP_RANKS,
    KEY_GROUP_NAME,
    KEY_INPUT_DIMS,
    KEY_INPUT_TYPE,
    KEY_COUNT
};

static const char *const key_words[KEY_COUNT] = {
    "Collective name",     "In msg nelems",      "Out msg nelems", "dtype",     "Group size",
    "Process Group Ranks", "Process Group Name", "Input Dims",     "Input type"};

struct told { /* of one run; 0 and "" not told */
    struct str name, dtype, ranks, group;
    uint64_t in_count, out_count, group_size;
    struct str dims, types; /* of the call's tensors */
    struct str all_dims;    /* of c10d's call: the result first */
    uint8_t depth[KEY_COUNT];
    struct str call; /* the annotation, "nccl:all_reduce" */
    bool is_looked_up;
};

struct place { /* an event that may tell of a run */
    event_id event;
    uint32_t run;  /* ordinal behind the first */
    uint8_t depth; /* 0 the kernel, 1 the innermost call ... */
    bool is_outer; /* c10d's */
};

struct lookup {
    const struct trace *trace;
    struct told *tolds;
    struct place *places;
    uint32_t place_count;
    name_id keys[KEY_COUNT];
};

static int by_event(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    if (a->event != b->event)
        return a->event < b->event ? -1 : 1;
    return (a->run > b->run) - (a->run < b->run);
}

static bool is_call(struct str name)
{
    return str_equal(name, STR("record_param_comms")) || str_starts(name, STR("nccl:")) ||
           str_starts(name, STR("c10d::"));
}

/* The kernel and the calls around its launch. */
static void add_places(struct lookup *lookup, uint32_t run, slice_id kernel, slice_id launch)
{
    const struct trace *trace = lookup->trace;
    uint8_t depth = 0;

    lookup->places[lookup->place_count++] =
        (struct place){.event = trace_slice(trace, kernel).event, .run = run, .depth = depth++};
    for (unsigned i = 0; i < STACK_MAX && launch < trace->slice_count && depth < CALLS_MAX; i++) {
        struct slice slice = trace_slice(trace, launch);
        struct str name = trace_name(trace, slice.name);

        if (is_call(name)) {
            lookup->places[lookup->place_count++] =
                (struct place){.event = slice.event,
                               .run = run,
                               .depth = depth++,
                               .is_outer = str_starts(name, STR("c10d::"))};
            if (lookup->tolds[run].call.count == 0 && str_starts(name, STR("nccl:")))
                lookup->tolds[run].call = name;
        }
        launch = slice.parent;
    }
}

static bool text_at(const struct trace *trace, const struct arg_column *column, uint32_t at,
                    struct str *ret)
{
    if (column->type[at] != ARG_STRING && column->type[at] != ARG_JSON)
        return false;
    if (column->bits[at] >= trace->name_count)
        return false;
    *ret = trace_name(trace, (name_id)column->bits[at]);
    return ret->count > 0;
}

static bool number_at(const struct arg_column *column, uint32_t at, uint64_t *ret)
{
    *ret = column->bits[at];
    return column->type[at] == ARG_UINT64 || column->type[at] == ARG_DIGITS ||
           (column->type[at] == ARG_INT64 && (int64_t)column->bits[at] >= 0);
}

static void take(struct lookup *lookup, enum key key, const struct arg_column *column,
                 const struct place *place)
{
    struct told *told = &lookup->tolds[place->run];
    uint32_t at = place->event - column->first_event;
    struct str *texts[KEY_COUNT] = {
        [KEY_COLLECTIVE] = &told->name,   [KEY_DTYPE] = &told->dtype,
        [KEY_GROUP_RANKS] = &told->ranks, [KEY_GROUP_NAME] = &told->group,
        [KEY_INPUT_DIMS] = &told->dims,   [KEY_INPUT_TYPE] = &told->types};
    uint64_t *numbers[KEY_COUNT] = {[KEY_IN] = &told->in_count,
                                    [KEY_OUT] = &told->out_count,
                                    [KEY_GROUP_SIZE] = &told->group_size};
    struct str text;
    uint64_t number;

    if (key == KEY_INPUT_DIMS && place->is_outer && at < column->count)
        text_at(lookup->trace, column, at, &told->all_dims);
    if (at >= column->count || (told->depth[key] != 0 && told->depth[key] <= place->depth + 1))
        return;
    if (texts[key] != NULL && text_at(lookup->trace, column, at, &text))
        *texts[key] = text;
    else if (numbers[key] != NULL && number_at(column, at, &number))
        *numbers[key] = number;
    else
        return;
    told->depth[key] = (uint8_t)(place->depth + 1);
}

/* Block by block of the args, column by column. */
static void look_up(struct lookup *lookup)
{
    struct arg_column *column = memory_resize(NULL, 1, sizeof(*column)); /* 150 KB */

    qsort(lookup->places, lookup->place_count, sizeof(*lookup->places), by_event);
    for (uint32_t first = 0, end; first < lookup->place_count; first = end) {
        uint32_t block = lookup->places[first].event / ARGS_BLOCK_EVENTS;

        for (end = first + 1;
             end < lookup->place_count && lookup->places[end].event / ARGS_BLOCK_EVENTS == block;)
            end++;
        if (block >= trace_arg_block_count(lookup->trace))
            continue;
        for (int key = 0; key < KEY_COUNT; key++) {
            if (lookup->keys[key] == UINT32_MAX ||
                !trace_arg_column(lookup->trace, block, lookup->keys[key], column))
                continue;
            for (uint32_t i = first; i < end; i++)
                if (lookup->places[i].event >= column->first_event)
                    take(lookup, (enum key)key, column, &lookup->places[i]);
        }
    }
    free(column);
}

/* Elements of the operand and their type. */
static bool operand_of(const struct told *told, uint64_t *ret_elements, struct str *ret_dtype)
{
    *ret_dtype = told->dtype;
    *ret_elements = told->in_count;
    if (told->in_count > 0 && told->dtype.count > 0)
        return true;
    *ret_dtype = torch_first(told->types);
    return ret_dtype->count > 0 && torch_elements(told->dims, 0, ret_elements);
}

static uint64_t hash_text(struct str text)
{
    return hash64((struct bytes){.at = (const uint8_t *)text.at, .count = text.count});
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    return (a ^ (b + UINT64_C(0x9e3779b97f4a7c15) + (a << 6) + (a >> 2))) *
           UINT64_C(0xff51afd7ed558ccd);
}

struct ranks { /* as one text says them: many runs share it */
    struct replica_groups groups;
    uint64_t hash;
};

struct all_ranks {        /* of a host */
    struct map64 of_text; /* where its text stands -> ordinal */
    struct ranks *items;
    uint32_t count, capacity;
    struct arena *arena;
};

static const struct ranks *ranks_of(struct all_ranks *all, struct str text)
{
    uint32_t *at = map64_at(&all->of_text, (uintptr_t)text.at, UINT32_MAX);

    if (*at != UINT32_MAX)
        return &all->items[*at];
    if (all->count == all->capacity) {
        all->capacity = all->capacity == 0 ? 16 : 2 * all->capacity;
        all->items = memory_resize(all->items, all->capacity, sizeof(*all->items));
    }
    all->items[all->count] =
        (struct ranks){.groups = torch_ranks(text, all->arena), .hash = hash_text(text)};
    *at = all->count++;
    return &all->items[*at];
}

static void set_group(const struct told *told, const struct ranks *ranks, struct arena *arena,
                      struct collective *item)
{
    item->groups = ranks->groups;
    if (told->group_size > 0 && told->group_size < UINT32_MAX)
        item->size = (uint32_t)told->group_size;
    else if (item->groups.size > 0)
        item->size = item->groups.size;
    item->axis = item->groups.form != GROUPS_UNKNOWN
                     ? replica_groups_name(&item->groups, arena)
                     : (item->size > 0 ? str_format(arena, "%u devices", item->size) : STR(""));
}

/* How many operands the result of an all-gather holds; 0 unknown. */
static uint32_t parts_of(const struct told *told, uint64_t elements)
{
    uint64_t result = told->out_count, operand = elements;

    if (result == 0 && !(torch_elements(told->all_dims, 0, &result) &&
                         torch_elements(told->all_dims, 1, &operand) && operand == elements))
        return 0;
    return elements > 0 && result % elements == 0 && result / elements < UINT32_MAX
               ? (uint32_t)(result / elements)
               : 0;
}

static void set_bytes(const struct told *told, struct collective *item)
{
    uint64_t elements, bytes;
    struct str dtype;

    if (!operand_of(told, &elements, &dtype))
        return;
    if (item->dtype.count == 0)
        item->dtype = dtype;
    if (torch_element_bytes(dtype) == 0) {
        item->reason = "the type of its elements is not known here";
        return;
    }
    if (item->size == 0 && item->kind == COLLECTIVE_ALL_GATHER)
        item->size = parts_of(told, elements);
    if (__builtin_mul_overflow(elements, torch_element_bytes(dtype), &bytes) ||
        !collective_size(item->kind, bytes, item->size, &item->bytes)) {
        item->reason = "how many devices take part is not in the file";
        return;
    }
    item->has_bytes = true;
    item->reason = NULL;
}

/* The item of this run: its kernel's, parted by what it was told of it. */
static uint32_t item_of(struct finding_work *work, struct all_ranks *all_ranks,
                        uint32_t kernel_item, const struct told *told)
{
    struct collective item = work->ret->items[kernel_item];
    const struct ranks *ranks = ranks_of(all_ranks, told->ranks);
    enum collective_kind kind;

    if (told->name.count > 0 && collective_call_read(told->name, &kind))
        item.kind = kind;
    else if (told->call.count > 0 && collective_call_read(str_skip(told->call, 5), &kind))
        item.kind = kind;
    set_group(told, ranks, work->scratch, &item);
    set_bytes(told, &item);
    item.identity = mix(mix(mix(item.identity, item.kind), item.has_bytes ? item.bytes + 1 : 0),
                        mix(ranks->hash, mix(hash_text(told->group), item.size)));

    uint32_t ret = collectives_item(work, &item);

    arena_reset(work->scratch);
    return ret;
}

static bool find_keys(struct lookup *lookup)
{
    bool any = false;

    for (int key = 0; key < KEY_COUNT; key++) {
        if (!trace_find_name(lookup->trace, str_of(key_words[key]), &lookup->keys[key]))
            lookup->keys[key] = UINT32_MAX;
        else
            any = true;
    }
    return any;
}

void collectives_calls(struct finding_work *work, uint32_t host, uint32_t first,
                       const bool *by_kernel, const slice_id *launches)
{
    uint32_t count = work->ret->run_count - first, looked_up = 0;
    struct lookup lookup = {.trace = work->run->hosts[host].trace};
    struct all_ranks all_ranks = {0};

    if (!find_keys(&lookup))
        return;
    lookup.tolds = memory_zeroed((size_t)count + 1, sizeof(*lookup.tolds));
    lookup.places =
        memory_resize(NULL, (size_t)(CALLS_MAX + 1) * ((size_t)count + 1), sizeof(*lookup.places));
    for (uint32_t i = 0; i < count && looked_up < LOOKED_UP_MAX; i++) {
        if (!by_kernel[first + i])
            continue;
        add_places(&lookup, i, work->ret->runs[first + i].slice, launches[first + i]);
        lookup.tolds[i].is_looked_up = true;
        looked_up++;
    }
    look_up(&lookup);
    all_ranks.arena = arena_create();
    for (uint32_t i = 0; i < count; i++)
        if (lookup.tolds[i].is_looked_up)
            work->ret->runs[first + i].collective =
                item_of(work, &all_ranks, work->ret->runs[first + i].collective, &lookup.tolds[i]);
    map64_free(&all_ranks.of_text);
    free(all_ranks.items);
    arena_destroy(all_ranks.arena);
    free(lookup.places);
    free(lookup.tolds);
}
