/* SPDX-License-Identifier: Apache-2.0 */
/* What the args of op events say.
 *
 * An arg of the event itself wins over its type's. All keys are read in one walk, those of shapes
 * behind the others.
 */
#include <stdlib.h>
#include <string.h>

#include "analyse/attribute/attribute_parts.h"
#include "base/hash.h"
#include "trace/args/args_walk.h"

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
    KEY_LEVEL,
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
    "level 0",
    "hlo_category",
    "source",
    "device_offset_ps",
    "device_duration_ps",
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

#define ALL_KEYS UINT32_MAX
#define KEYS_OF_ENDS (UINT32_C(1) << KEY_CONSUMER | UINT32_C(1) << KEY_CONSUMER_TYPE)
_Static_assert(KEY_COUNT + SHAPE_KEYS <= ARG_WALK_KEYS_MAX, "one walk reads them all");

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

static name_id text_at(const struct arg_walk *walk, enum key key)
{
    return arg_walk_has(walk, key) ? text_of(walk->trace, walk->type[key], walk->bits[key]) : 0;
}

static bool number_at(const struct arg_walk *walk, enum key key, uint64_t *ret)
{
    if (!arg_walk_has(walk, key) || !is_number(walk->type[key]))
        return false;
    *ret = walk->bits[key];
    return true;
}

/* Kineto lays the program's own marks over the kernels they enclose, on the stream itself. */
static bool is_mark(const struct trace *trace, const struct arg *arg)
{
    return str_equal(trace_name(trace, arg->key), STR("cat")) &&
           str_equal(trace_name(trace, text_of(trace, (uint8_t)arg->type, arg->bits)),
                     STR("gpu_user_annotation"));
}

static void read_types(struct attribute_work *work, const name_id *keys)
{
    const struct trace *trace = work->trace;

    work->types = scratch_array(work->scratch, struct type_facts, (size_t)trace->type_count + 1);
    for (type_id id = 0; id < trace->type_count; id++) {
        struct type_facts *facts = &work->types[id];

        for (uint32_t i = 0; i < trace->types[id].arg_count; i++) {
            const struct arg *arg = &trace->type_args[trace->types[id].first_arg + i];

            name_id text = text_of(trace, (uint8_t)arg->type, arg->bits);

            if (text != 0 && arg->key == keys[KEY_HLO_OP])
                facts->hlo_op = text;
            else if (text != 0 && arg->key == keys[KEY_HLO_MODULE])
                facts->module = text;
            else if (text != 0 && arg->key == keys[KEY_TF_OP])
                facts->tf_op = text;
            else if (text != 0 && arg->key == keys[KEY_CATEGORY])
                facts->category = text;
            else if (text != 0 && arg->key == keys[KEY_SOURCE])
                facts->source = text;
            else if (text != 0 && is_mark(trace, arg))
                facts->is_mark = true;
            else if (is_number((uint8_t)arg->type) && arg->key == keys[KEY_PROGRAM_ID]) {
                facts->has_program = true;
                facts->program = arg->bits;
            }
        }
    }
}

enum { FINGERPRINT_DIGITS_MIN = 8 }; /* "file.py(219)" is a line of a program */

/* "jit_step(12190760917235803885)" -> its number; false for other names. */
static bool number_of_module(struct str name, uint64_t *ret)
{
    size_t at = name.count;
    uint64_t scale = 1, number = 0;

    if (name.count < 3 || name.at[--at] != ')')
        return false;
    for (; at > 0 && name.at[at - 1] >= '0' && name.at[at - 1] <= '9'; at--, scale *= 10)
        number += (uint64_t)(name.at[at - 1] - '0') * scale;
    *ret = number;
    return at > 1 && name.at[at - 1] == '(' && name.count - 1 - at >= FINGERPRINT_DIGITS_MIN &&
           name.count - 1 - at <= 20;
}

/* Lines of modules name each execution so: the names of programs that are not in the file. */
static name_id module_of_number(struct attribute_work *work, uint64_t id)
{
    const struct trace *trace = work->trace;
    uint32_t name;
    uint64_t number;

    for (name_id i = 1; !work->knows_modules && i < trace->name_count; i++)
        if (number_of_module(trace_name(trace, i), &number))
            *map64_at(&work->module_of, number, 0) = i;
    work->knows_modules = true;
    return map64_get(&work->module_of, id, &name) ? (name_id)name : 0;
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
        struct context context = {
            .program = has_program ? trace_program(work->trace, id) : NO_PROGRAM, .module = module};

        if (has_program && context.program == NO_PROGRAM && module == 0)
            context.module = module_of_number(work, id);
        work->contexts[work->context_count++] = context;
    }
    return *at;
}

/* Context and execution of one event are mostly those of the one before. */
struct last {
    bool any, has_program;
    uint64_t program, run_id;
    name_id module;
    int32_t device;
    uint32_t context, execution;
};

static void turn_to_context(struct attribute_work *work, const struct arg_walk *walk,
                            const struct type_facts *type, struct last *last)
{
    uint64_t program = type->program;
    bool has_program = number_at(walk, KEY_PROGRAM_ID, &program) || type->has_program;
    name_id module = text_at(walk, KEY_HLO_MODULE);

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
        };
}

struct reading {
    struct arg_walk *walk;
    struct shapes *shapes; /* NULL: nothing of the trace tells any */
    struct pairs pairs;
    struct last last;
};

static name_id text_or(const struct arg_walk *walk, enum key key, name_id otherwise)
{
    name_id own = text_at(walk, key);

    return own != 0 ? own : otherwise;
}

static struct device_time device_time_at(const struct arg_walk *walk)
{
    uint64_t start, dur;

    if (!number_at(walk, KEY_DEVICE_START, &start) || !number_at(walk, KEY_DEVICE_DUR, &dur) ||
        start > TIME_PS_MAX || dur > TIME_PS_MAX)
        return (struct device_time){0};
    return (struct device_time){true, (int64_t)start, (int64_t)dur};
}

static bool is_of_type(char letter)
{
    char lower = ascii_lower(letter);

    return (lower >= 'a' && lower <= 'z') || (letter >= '0' && letter <= '9') || letter == '_';
}

/* TensorFlow writes the op that launched a kernel as the outermost level of its annotation,
 * "sequential/conv2d/Conv2D:Conv2D": its name, and its type, which is an identifier. */
static name_id tensorflow_op_at(const struct arg_walk *walk, struct str *ret_type)
{
    name_id level = text_at(walk, KEY_LEVEL);
    struct str text = trace_name(walk->trace, level);
    size_t at = text.count;

    while (at > 0 && is_of_type(text.at[at - 1]))
        at--;
    if (level == 0 || at < 2 || at == text.count || text.at[at - 1] != ':' ||
        text.at[at - 2] == ':' || (text.at[at] >= '0' && text.at[at] <= '9'))
        return 0;
    *ret_type = str_skip(text, at);
    return level;
}

/* The category of an op of TensorFlow is its type, where the trace has that as a name. */
static name_id name_of_type(const struct trace *trace, struct str type)
{
    name_id name;

    return type.count > 0 && trace_find_name(trace, type, &name) ? name : 0;
}

static struct more more_at(const struct arg_walk *walk, const struct type_facts *type,
                           uint32_t context, name_id tensorflow_op, struct str tensorflow_type)
{
    return (struct more){
        .context = context,
        .tf_op = text_or(walk, KEY_TF_OP, type->tf_op != 0 ? type->tf_op : tensorflow_op),
        .category = text_or(walk, KEY_CATEGORY,
                            type->category != 0 ? type->category
                                                : name_of_type(walk->trace, tensorflow_type)),
        .source = text_or(walk, KEY_SOURCE, type->source),
    };
}

/* Ops are of few kinds, so what is known of one is mostly known of others. */
static uint32_t find_more(struct attribute_work *work, const struct more *more)
{
    uint64_t pairs[2] = {map64_pair(more->context, more->tf_op),
                         map64_pair(more->category, more->source)};
    uint64_t hash = hash64((struct bytes){.at = (const uint8_t *)pairs, .count = sizeof pairs});
    uint32_t *known = &work->known_more[hash % KNOWN_MORE];

    if (*known != 0 && memcmp(&work->more[*known - 1], more, sizeof *more) == 0)
        return *known - 1;
    WORK_GROW(work, work->more, work->more_count, work->more_capacity);
    work->more[work->more_count] = *more;
    *known = ++work->more_count;
    return *known - 1;
}

/* Of the facts that are being made. */
static void add_device_time(struct attribute_work *work, struct device_time time)
{
    if (work->facts_count >= work->device_time_capacity) {
        work->device_time_capacity = work->facts_capacity;
        work->device_times = scratch_resize(work->scratch, work->device_times, work->facts_capacity,
                                            sizeof *work->device_times);
    }
    work->device_times[work->facts_count] = time;
}

static int32_t device_at(const struct arg_walk *walk, int32_t otherwise)
{
    uint64_t device;

    return number_at(walk, KEY_DEVICE, &device) && device <= INT32_MAX ? (int32_t)device
                                                                       : otherwise;
}

static uint32_t execution_at(struct attribute_work *work, const struct arg_walk *walk,
                             int32_t device, struct last *last)
{
    uint64_t run_id;

    if (!number_at(walk, KEY_RUN_ID, &run_id))
        return NO_EXECUTION;
    if (last->execution == NO_EXECUTION || last->run_id != run_id || last->device != device) {
        last->execution = execution_find(work, last->context, run_id, device);
        last->run_id = run_id;
        last->device = device;
    }
    return last->execution;
}

/* Its op, where its args name one, and what its slice's name will be asked for. */
static void find_op(struct attribute_work *work, const struct arg_walk *walk, name_id hlo_op,
                    const struct type_facts *type, uint32_t context, struct facts *facts)
{
    struct device_time time = device_time_at(walk);

    if (time.told)
        add_device_time(work, time);
    if (hlo_op != 0) {
        facts->op = op_known(work, context, hlo_op);
        if (facts->op != NO_OP)
            return;
    }

    struct str tensorflow_type = {0};
    name_id tensorflow_op =
        hlo_op == 0 && work->has_devices ? tensorflow_op_at(walk, &tensorflow_type) : 0;
    struct more more = more_at(walk, type, context, tensorflow_op, tensorflow_type);

    if (hlo_op != 0 || tensorflow_op != 0)
        facts->op = op_find(work, &more, hlo_op != 0 ? hlo_op : tensorflow_op, false);
    else
        facts->more = find_more(work, &more);
}

static void add_facts(struct attribute_work *work, struct reading *reading, type_id id,
                      name_id hlo_op, event_id event)
{
    const struct arg_walk *walk = reading->walk;
    const struct type_facts *type = &work->types[id];
    struct last *last = &reading->last;
    uint64_t producer_type = 0, producer = 0;
    int32_t device = device_at(walk, work->has_devices ? -1 : 0);

    turn_to_context(work, walk, type, last);
    WORK_GROW(work, work->facts, work->facts_count, work->facts_capacity);

    struct facts *facts = &work->facts[work->facts_count];

    *facts = (struct facts){
        .op = NO_OP,
        .more = NO_MORE,
        .execution = execution_at(work, walk, device, last),
        .device = device,
        .shape = NO_SHAPE,
    };
    find_op(work, walk, hlo_op, type, last->context, facts);
    if (reading->shapes != NULL)
        facts->shape = shape_at(work, reading->shapes, id, walk, KEY_COUNT, &facts->graph);
    if (number_at(walk, KEY_PRODUCER, &producer) &&
        (!number_at(walk, KEY_PRODUCER_TYPE, &producer_type) || producer_type == 0))
        add_end(work, &reading->pairs.ops, producer, work->facts_count);
    work->event_facts[event] = ++work->facts_count;
}

static void read_event(struct attribute_work *work, struct reading *reading, type_id type,
                       event_id event)
{
    const struct arg_walk *walk = reading->walk;
    name_id hlo_op = text_or(walk, KEY_HLO_OP, work->types[type].hlo_op);
    uint64_t consumer_type = 0, consumer;

    if (work->types[type].is_mark)
        return;
    if (work->has_devices ? (work->on_device[event / 8] >> event % 8 & 1) != 0 : hlo_op != 0)
        add_facts(work, reading, type, hlo_op, event);
    else if (number_at(walk, KEY_CONSUMER, &consumer) &&
             (!number_at(walk, KEY_CONSUMER_TYPE, &consumer_type) || consumer_type == 0))
        add_end(work, &reading->pairs.ends, consumer, event);
}

/* Where the file has devices: is any of the events on one? Of the others only those count that may
 * end an op. */
static bool has_ops(const struct attribute_work *work, event_id first, uint32_t count)
{
    uint64_t end = (uint64_t)first + count;

    if (!work->has_devices)
        return true;
    for (uint64_t at = first / 8; at <= work->trace->event_count / 8 && at * 8 < end; at++) {
        if (work->on_device[at] != 0)
            return true;
    }
    return false;
}

static void read_block(struct attribute_work *work, struct reading *reading, uint32_t index)
{
    struct arg_walk *walk = reading->walk;
    type_id type_count = work->trace->type_count;
    event_id first;
    uint32_t count = trace_arg_events(work->trace, index, &first);
    bool with_ops = has_ops(work, first, count);

    if (arg_walk_open(walk, index, with_ops ? ALL_KEYS : KEYS_OF_ENDS) == 0 && !with_ops)
        return;
    for (uint32_t at = 0; at < count && first + at < work->trace->event_count; at++) {
        type_id type = walk->types[at] < type_count ? walk->types[at] : type_count; /* empty */

        arg_walk_step(walk, at);
        read_event(work, reading, type, first + at);
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

/* Where ops lie on devices it is known how many there are at most. */
static void make_room(struct attribute_work *work)
{
    uint32_t count = 0;

    for (size_t at = 0; at <= work->trace->event_count / 8; at++)
        count += (uint32_t)__builtin_popcount(work->on_device[at]);
    work->facts = scratch_array(work->scratch, struct facts, count);
    work->facts_capacity = count;
}

void facts_read(struct attribute_work *work)
{
    name_id keys[KEY_COUNT + SHAPE_KEYS];
    struct reading reading = {0};

    make_room(work);
    for (int key = 0; key < KEY_COUNT; key++) {
        if (!trace_find_name(work->trace, str_of(key_words[key]), &keys[key]))
            keys[key] = NO_KEY;
    }
    read_types(work, keys);
    if (shapes_find_keys(work->trace, keys + KEY_COUNT) && work->has_devices)
        reading.shapes = shapes_begin(work, keys + KEY_COUNT);
    reading.walk = arg_walk_create(work->trace, keys, COUNT(keys));
    for (uint32_t index = 0; index < trace_arg_block_count(work->trace); index++)
        read_block(work, &reading, index);
    join_partners(work, &reading.pairs);
    arg_walk_destroy(reading.walk);
    shapes_end(work, reading.shapes);
    scratch_free(work->scratch, reading.pairs.ops.items);
    scratch_free(work->scratch, reading.pairs.ends.items);
}
