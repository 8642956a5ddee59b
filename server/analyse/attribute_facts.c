/* What the args of op events say.
 *
 * An arg of the event itself wins over its type's. Columns are read block by block; a key that a
 * block lacks costs nothing.
 */
#include <stdlib.h>

#include "analyse/attribute_parts.h"
#include "trace/args.h"

enum key {
    KEY_HLO_OP,
    KEY_HLO_MODULE,
    KEY_PROGRAM_ID,
    KEY_RUN_ID,
    KEY_DEVICE,
    KEY_PRODUCER_TYPE,
    KEY_PRODUCER,
    KEY_CONSUMER_TYPE,
    KEY_CONSUMER,
    KEY_TF_OP,
    KEY_CATEGORY,
    KEY_SOURCE,
    KEY_DEVICE_START,
    KEY_DEVICE_DUR,
    KEY_COUNT,
};

static const char *const key_words[KEY_COUNT] = {
    "hlo_op",
    "hlo_module",
    "program_id",
    "run_id",
    "device_ordinal",
    "_pt",
    "_p",
    "_ct",
    "_c",
    "tf_op",
    "hlo_category",
    "source",
    "device_offset_ps",
    "device_duration_ps",
};

struct block {
    const struct trace *trace;
    name_id keys[KEY_COUNT];
    bool known[KEY_COUNT];   /* the trace has the key at all */
    bool present[KEY_COUNT]; /* this block has */
    struct arg_column columns[KEY_COUNT];
    event_id first_event;
    uint32_t count;
    type_id types[ARGS_BLOCK_EVENTS];
};

struct pair_end { /* an op that a later event may end, or an event that may end an op */
    uint64_t id;
    uint32_t at; /* facts, or event */
};

struct pair_ends {
    struct pair_end *items;
    uint32_t count, capacity;
};

struct pairs {
    struct pair_ends ops, ends;
};

static void add_end(struct attribute_work *work, struct pair_ends *ends, uint64_t id, uint32_t at)
{
    WORK_GROW(work, ends->items, ends->count, ends->capacity);
    ends->items[ends->count++] = (struct pair_end){.id = id, .at = at};
}

static bool is_number(uint8_t type)
{
    return type == ARG_INT64 || type == ARG_UINT64;
}

/* A name's id, or 0 for what is no text or lies outside of the names. */
static name_id text_of(const struct trace *trace, uint8_t type, uint64_t bits)
{
    return type == ARG_STRING && bits < trace->name_count ? (name_id)bits : 0;
}

static name_id text_at(const struct block *block, enum key key, uint32_t at)
{
    return block->present[key]
               ? text_of(block->trace, block->columns[key].type[at], block->columns[key].bits[at])
               : 0;
}

static bool number_at(const struct block *block, enum key key, uint32_t at, uint64_t *ret)
{
    if (!block->present[key] || !is_number(block->columns[key].type[at]))
        return false;
    *ret = block->columns[key].bits[at];
    return true;
}

/* Kineto lays the program's own marks over the kernels they enclose, on the stream itself. */
static bool is_mark(const struct trace *trace, const struct arg *arg)
{
    return str_equal(trace_name(trace, arg->key), STR("cat")) &&
           str_equal(trace_name(trace, text_of(trace, (uint8_t)arg->type, arg->bits)),
                     STR("gpu_user_annotation"));
}

static void read_types(struct attribute_work *work, const struct block *block)
{
    const struct trace *trace = work->trace;

    work->types = scratch_array(work->scratch, struct type_facts, (size_t)trace->type_count + 1);
    for (type_id id = 0; id < trace->type_count; id++) {
        struct type_facts *facts = &work->types[id];

        for (uint32_t i = 0; i < trace->types[id].arg_count; i++) {
            const struct arg *arg = &trace->type_args[trace->types[id].first_arg + i];

            name_id text = text_of(trace, (uint8_t)arg->type, arg->bits);

            if (text != 0 && arg->key == block->keys[KEY_HLO_OP])
                facts->hlo_op = text;
            else if (text != 0 && arg->key == block->keys[KEY_HLO_MODULE])
                facts->module = text;
            else if (text != 0 && arg->key == block->keys[KEY_TF_OP])
                facts->tf_op = text;
            else if (text != 0 && arg->key == block->keys[KEY_CATEGORY])
                facts->category = text;
            else if (text != 0 && arg->key == block->keys[KEY_SOURCE])
                facts->source = text;
            else if (text != 0 && is_mark(trace, arg))
                facts->is_mark = true;
            else if (is_number((uint8_t)arg->type) && arg->key == block->keys[KEY_PROGRAM_ID]) {
                facts->has_program = true;
                facts->program = arg->bits;
            }
        }
    }
}

/* Programs without HLO in the file are told apart by their ids all the same. */
static uint32_t context_find(struct attribute_work *work, bool has_program, uint64_t id,
                             name_id module)
{
    uint32_t told = 0;

    if (has_program) {
        uint32_t *number = map64_at(&work->program_of, id, 0);

        if (*number == 0)
            *number = ++work->program_count;
        told = *number;
    }

    uint32_t *at = map64_at(&work->context_of, map64_pair(told, module), UINT32_MAX);

    if (*at == UINT32_MAX) {
        *at = work->context_count;
        WORK_GROW(work, work->contexts, work->context_count, work->context_capacity);
        work->contexts[work->context_count++] = (struct context){
            .program = has_program ? trace_program(work->trace, id) : NO_PROGRAM,
            .module = module,
        };
    }
    return *at;
}

/* Context, op and execution of one event are mostly those of the one before. */
struct last {
    bool any, has_program;
    uint64_t program, run_id;
    name_id module, op_name;
    int32_t device;
    uint32_t context, op, execution;
};

static void turn_to_context(struct attribute_work *work, const struct block *block, uint32_t at,
                            const struct type_facts *type, struct last *last)
{
    uint64_t program = type->program;
    bool has_program = number_at(block, KEY_PROGRAM_ID, at, &program) || type->has_program;
    name_id module = text_at(block, KEY_HLO_MODULE, at);

    if (module == 0)
        module = type->module;
    if (!last->any || last->has_program != has_program || last->program != program ||
        last->module != module)
        *last = (struct last){
            .any = true,
            .has_program = has_program,
            .program = program,
            .module = module,
            .context = context_find(work, has_program, program, module),
            .execution = NO_EXECUTION,
            .op = NO_OP,
        };
}

static name_id text_or(const struct block *block, enum key key, uint32_t at, name_id otherwise)
{
    name_id own = text_at(block, key, at);

    return own != 0 ? own : otherwise;
}

static struct more more_at(const struct block *block, uint32_t at, const struct type_facts *type,
                           uint32_t context)
{
    uint64_t start = 0, dur = 0;
    struct more more = {
        .context = context,
        .tf_op = text_or(block, KEY_TF_OP, at, type->tf_op),
        .category = text_or(block, KEY_CATEGORY, at, type->category),
        .source = text_or(block, KEY_SOURCE, at, type->source),
    };

    more.has_device_time = number_at(block, KEY_DEVICE_START, at, &start) &&
                           number_at(block, KEY_DEVICE_DUR, at, &dur) && start <= TIME_PS_MAX &&
                           dur <= TIME_PS_MAX;
    more.device_start_ps = (int64_t)start;
    more.device_dur_ps = (int64_t)dur;
    return more;
}

static int32_t device_at(const struct block *block, uint32_t at, int32_t otherwise)
{
    uint64_t device;

    return number_at(block, KEY_DEVICE, at, &device) && device <= INT32_MAX ? (int32_t)device
                                                                            : otherwise;
}

static uint32_t execution_at(struct attribute_work *work, const struct block *block, uint32_t at,
                             int32_t device, struct last *last)
{
    uint64_t run_id;

    if (!number_at(block, KEY_RUN_ID, at, &run_id))
        return NO_EXECUTION;
    if (last->execution == NO_EXECUTION || last->run_id != run_id || last->device != device) {
        last->execution = execution_find(work, last->context, run_id, device);
        last->run_id = run_id;
        last->device = device;
    }
    return last->execution;
}

static void add_facts(struct attribute_work *work, const struct block *block, uint32_t at,
                      name_id hlo_op, const struct type_facts *type, struct last *last,
                      struct pairs *pairs)
{
    uint64_t producer_type = 0, producer = 0;

    turn_to_context(work, block, at, type, last);

    int32_t device = device_at(block, at, work->has_devices ? -1 : 0);
    struct more more = more_at(block, at, type, last->context);
    struct facts facts = {
        .op = NO_OP,
        .more = NO_MORE,
        .execution = execution_at(work, block, at, device, last),
        .device = device,
    };

    if (hlo_op != 0) {
        if (last->op == NO_OP || last->op_name != hlo_op)
            last->op = op_find(work, &more, hlo_op, false);
        last->op_name = hlo_op;
        facts.op = last->op;
    }
    if (hlo_op == 0 || more.has_device_time) {
        facts.more = work->more_count;
        work->has_device_times |= more.has_device_time;
        WORK_GROW(work, work->more, work->more_count, work->more_capacity);
        work->more[work->more_count++] = more;
    }
    WORK_GROW(work, work->facts, work->facts_count, work->facts_capacity);
    if (number_at(block, KEY_PRODUCER, at, &producer) &&
        (!number_at(block, KEY_PRODUCER_TYPE, at, &producer_type) || producer_type == 0))
        add_end(work, &pairs->ops, producer, work->facts_count);
    work->facts[work->facts_count++] = facts;
    work->event_facts[block->first_event + at] = work->facts_count;
}

static void read_block(struct attribute_work *work, const struct block *block, struct pairs *pairs,
                       struct last *last)
{
    for (uint32_t at = 0; at < block->count; at++) {
        event_id event = block->first_event + at;
        const struct type_facts *type = &work->types[block->types[at]];
        name_id hlo_op = text_or(block, KEY_HLO_OP, at, type->hlo_op);
        uint64_t consumer_type = 0, consumer;

        if (event >= work->trace->event_count)
            return;
        if (type->is_mark)
            continue;
        if (work->has_devices ? (work->on_device[event / 8] >> event % 8 & 1) != 0 : hlo_op != 0)
            add_facts(work, block, at, hlo_op, type, last, pairs);
        else if (number_at(block, KEY_CONSUMER, at, &consumer) &&
                 (!number_at(block, KEY_CONSUMER_TYPE, at, &consumer_type) || consumer_type == 0))
            add_end(work, &pairs->ends, consumer, event);
    }
}

enum { PREFETCH_AHEAD = 16 };

static void make_partner_ends(struct attribute_work *work)
{
    work->partner_end_ps = scratch_array(work->scratch, int64_t, work->facts_count);
    for (uint32_t i = 0; i < work->facts_count; i++)
        work->partner_end_ps[i] = INT64_MIN;
}

/* Partners may stand before their op in the file, so they are joined at the end. */
static void join_partners(struct attribute_work *work, const struct pairs *pairs)
{
    const struct pair_ends *ops = &pairs->ops, *ends = &pairs->ends;
    struct map64 facts_of = {.scratch = work->scratch};

    map64_reserve(&facts_of, ops->count);
    for (uint32_t i = 0; i < ops->count; i++) {
        if (i + PREFETCH_AHEAD < ops->count)
            map64_prefetch(&facts_of, ops->items[i + PREFETCH_AHEAD].id);
        *map64_at(&facts_of, ops->items[i].id, 0) = ops->items[i].at;
    }
    for (uint32_t i = 0; i < ends->count; i++) {
        uint32_t facts;

        if (i + PREFETCH_AHEAD < ends->count)
            map64_prefetch(&facts_of, ends->items[i + PREFETCH_AHEAD].id);
        if (!map64_get(&facts_of, ends->items[i].id, &facts))
            continue;
        if (work->partner_end_ps == NULL)
            make_partner_ends(work);
        work->event_facts[ends->items[i].at] = PARTNER | facts;
    }
    map64_free(&facts_of);
}

/* Where the file has devices: is any event of the block on one? Of the others only those count that
 * may end an op. */
static bool has_ops(const struct attribute_work *work, const struct block *block)
{
    uint64_t end = (uint64_t)block->first_event + block->count;

    if (!work->has_devices)
        return true;
    for (uint64_t at = block->first_event / 8; at <= work->trace->event_count / 8 && at * 8 < end;
         at++) {
        if (work->on_device[at] != 0)
            return true;
    }
    return false;
}

static void load_columns(const struct attribute_work *work, uint32_t index, struct block *block)
{
    const struct trace *trace = work->trace;

    block->count = trace_arg_types(trace, index, &block->first_event, block->types);
    for (uint32_t i = 0; i < block->count; i++) {
        if (block->types[i] >= trace->type_count)
            block->types[i] = trace->type_count; /* the empty facts */
    }

    bool with_ops = has_ops(work, block);

    for (int key = 0; key < KEY_COUNT; key++)
        block->present[key] =
            block->known[key] && (with_ops || key == KEY_CONSUMER || key == KEY_CONSUMER_TYPE) &&
            trace_arg_column(trace, index, block->keys[key], &block->columns[key]);
}

void facts_read(struct attribute_work *work)
{
    struct block *block = memory_resize(NULL, 1, sizeof(*block)); /* 2 MB: not on a stack */
    struct pairs pairs = {0};
    struct last last = {0};

    block->trace = work->trace;
    for (int key = 0; key < KEY_COUNT; key++) {
        block->known[key] = trace_find_name(work->trace, str_of(key_words[key]), &block->keys[key]);
        if (!block->known[key])
            block->keys[key] = UINT32_MAX; /* no arg has it */
    }
    read_types(work, block);
    for (uint32_t index = 0; index < trace_arg_block_count(work->trace); index++) {
        load_columns(work, index, block);
        read_block(work, block, &pairs, &last);
    }
    join_partners(work, &pairs);
    scratch_free(work->scratch, pairs.ops.items);
    scratch_free(work->scratch, pairs.ends.items);
    free(block);
}
