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

struct consumer { /* an event that may be the end of an op */
    uint64_t id;
    event_id event;
};

struct consumers {
    struct consumer *items;
    uint32_t count, capacity;
};

static bool is_text(uint8_t type)
{
    return type == ARG_STRING;
}

static bool is_number(uint8_t type)
{
    return type == ARG_INT64 || type == ARG_UINT64;
}

static name_id text_at(const struct block *block, enum key key, uint32_t at)
{
    return block->present[key] && is_text(block->columns[key].type[at])
               ? (name_id)block->columns[key].bits[at]
               : 0;
}

static bool number_at(const struct block *block, enum key key, uint32_t at, uint64_t *ret)
{
    if (!block->present[key] || !is_number(block->columns[key].type[at]))
        return false;
    *ret = block->columns[key].bits[at];
    return true;
}

static void read_types(struct attribute_work *work, const struct block *block)
{
    const struct trace *trace = work->trace;

    work->types = memory_resize(NULL, (size_t)trace->type_count + 1, sizeof(*work->types));
    for (type_id id = 0; id <= trace->type_count; id++)
        work->types[id] = (struct type_facts){0};
    for (type_id id = 0; id < trace->type_count; id++) {
        struct type_facts *facts = &work->types[id];

        for (uint32_t i = 0; i < trace->types[id].arg_count; i++) {
            const struct arg *arg = &trace->type_args[trace->types[id].first_arg + i];

            if (arg->type == ARG_STRING && arg->key == block->keys[KEY_HLO_OP])
                facts->hlo_op = (name_id)arg->bits;
            else if (arg->type == ARG_STRING && arg->key == block->keys[KEY_HLO_MODULE])
                facts->module = (name_id)arg->bits;
            else if (arg->type == ARG_STRING && arg->key == block->keys[KEY_TF_OP])
                facts->tf_op = (name_id)arg->bits;
            else if (arg->type == ARG_STRING && arg->key == block->keys[KEY_CATEGORY])
                facts->category = (name_id)arg->bits;
            else if (arg->type == ARG_STRING && arg->key == block->keys[KEY_SOURCE])
                facts->source = (name_id)arg->bits;
            else if (is_number((uint8_t)arg->type) && arg->key == block->keys[KEY_PROGRAM_ID]) {
                facts->has_program = true;
                facts->program = arg->bits;
            }
        }
    }
}

static uint32_t context_find(struct attribute_work *work, bool has_program, uint64_t program_id_,
                             name_id module)
{
    program_id program = has_program ? trace_program(work->trace, program_id_) : NO_PROGRAM;
    uint32_t *at = map64_at(&work->context_of, map64_pair(program, module), UINT32_MAX);

    if (*at == UINT32_MAX) {
        *at = work->context_count;
        WORK_GROW(work->contexts, work->context_count, work->context_capacity);
        work->contexts[work->context_count++] =
            (struct context){.program = program, .module = module};
    }
    return *at;
}

/* Context and execution change rarely from one event to the next. */
struct last {
    bool any, has_program;
    uint64_t program;
    name_id module;
    uint32_t context;
};

static uint32_t context_at(struct attribute_work *work, const struct block *block, uint32_t at,
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
        };
    return last->context;
}

static name_id text_or(const struct block *block, enum key key, uint32_t at, name_id otherwise)
{
    name_id own = text_at(block, key, at);

    return own != 0 ? own : otherwise;
}

static void add_facts(struct attribute_work *work, const struct block *block, uint32_t at,
                      name_id hlo_op, const struct type_facts *type, struct last *last)
{
    uint64_t device = 0, run_id = 0, start = 0, dur = 0, producer_type = 0, producer = 0;
    struct facts facts = {
        .context = context_at(work, block, at, type, last),
        .op = hlo_op,
        .execution = NO_EXECUTION,
        .device = -1,
        .type = block->types[at],
        .tf_op = text_or(block, KEY_TF_OP, at, type->tf_op),
        .category = text_or(block, KEY_CATEGORY, at, type->category),
        .source = text_or(block, KEY_SOURCE, at, type->source),
        .partner_end_ps = INT64_MIN,
    };

    if (number_at(block, KEY_DEVICE, at, &device) && device <= INT32_MAX)
        facts.device = (int32_t)device;
    if (number_at(block, KEY_RUN_ID, at, &run_id))
        facts.execution = execution_find(work, facts.context, run_id, facts.device);
    facts.has_device_time = number_at(block, KEY_DEVICE_START, at, &start) &&
                            number_at(block, KEY_DEVICE_DUR, at, &dur) && start <= TIME_PS_MAX &&
                            dur <= TIME_PS_MAX;
    facts.device_start_ps = (int64_t)start;
    facts.device_dur_ps = (int64_t)dur;

    WORK_GROW(work->facts, work->facts_count, work->facts_capacity);
    if (number_at(block, KEY_PRODUCER, at, &producer) &&
        (!number_at(block, KEY_PRODUCER_TYPE, at, &producer_type) || producer_type == 0))
        *map64_at(&work->producer_of, producer, 0) = work->facts_count;
    work->facts[work->facts_count++] = facts;
    work->event_facts[block->first_event + at] = work->facts_count;
}

static void read_block(struct attribute_work *work, const struct block *block,
                       struct consumers *consumers, struct last *last)
{
    for (uint32_t at = 0; at < block->count; at++) {
        event_id event = block->first_event + at;
        const struct type_facts *type = &work->types[block->types[at]];
        name_id hlo_op = text_or(block, KEY_HLO_OP, at, type->hlo_op);
        uint64_t consumer_type = 0, consumer;

        if (event >= work->trace->event_count)
            return;
        if (work->has_devices ? (work->on_device[event / 8] >> event % 8 & 1) != 0 : hlo_op != 0) {
            add_facts(work, block, at, hlo_op, type, last);
        } else if (number_at(block, KEY_CONSUMER, at, &consumer) &&
                   (!number_at(block, KEY_CONSUMER_TYPE, at, &consumer_type) ||
                    consumer_type == 0)) {
            WORK_GROW(consumers->items, consumers->count, consumers->capacity);
            consumers->items[consumers->count++] =
                (struct consumer){.id = consumer, .event = event};
        }
    }
}

/* Partners may stand before their op in the file, so they are joined at the end. */
static void join_partners(struct attribute_work *work, const struct consumers *consumers)
{
    for (uint32_t i = 0; i < consumers->count; i++) {
        uint32_t facts;

        if (map64_get(&work->producer_of, consumers->items[i].id, &facts))
            work->event_facts[consumers->items[i].event] = PARTNER | facts;
    }
}

static void load_columns(const struct trace *trace, uint32_t index, struct block *block)
{
    block->count = trace_arg_types(trace, index, &block->first_event, block->types);
    for (uint32_t i = 0; i < block->count; i++) {
        if (block->types[i] >= trace->type_count)
            block->types[i] = trace->type_count; /* the empty facts */
    }
    for (int key = 0; key < KEY_COUNT; key++)
        block->present[key] = block->known[key] && trace_arg_column(trace, index, block->keys[key],
                                                                    &block->columns[key]);
}

void facts_read(struct attribute_work *work)
{
    struct block *block = memory_resize(NULL, 1, sizeof(*block)); /* 2 MB: not on a stack */
    struct consumers consumers = {0};
    struct last last = {0};

    block->trace = work->trace;
    for (int key = 0; key < KEY_COUNT; key++) {
        block->known[key] = trace_find_name(work->trace, str_of(key_words[key]), &block->keys[key]);
        if (!block->known[key])
            block->keys[key] = UINT32_MAX; /* no arg has it */
    }
    read_types(work, block);
    for (uint32_t index = 0; index < trace_arg_block_count(work->trace); index++) {
        load_columns(work->trace, index, block);
        read_block(work, block, &consumers, &last);
    }
    join_partners(work, &consumers);
    free(consumers.items);
    free(block);
}
