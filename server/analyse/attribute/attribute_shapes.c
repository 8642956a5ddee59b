/* SPDX-License-Identifier: Apache-2.0 */
/* With what shape each kernel was launched, and whether a graph launched it.
 *
 *   XPlane    kernel_details   "regs:32 static_shared:0 dynamic_shared:49152 grid:128,1,1
 *                               block:256,1,1 occ_pct:50"; of 2023 "shm:" for both kinds of shared
 *                               memory; of ROCm "private_mem: group_mem:", group memory is shared
 *             cuda_graph_id, cuda_graph_exec_id, cuda_graph_node_id
 *   nsys      grid, block, registers_per_thread, ... of the event's type; graph_node_id
 *   Kineto    grid: [128, 1, 1], block, "registers per thread", "shared memory", "graph node id"
 *
 * A recorder that read the wrong bytes gives numbers that no machine has: then all that it read
 * there counts as not recorded. An occupancy of nothing is none either: the kernel did run.
 * Kineto's "est. achieved occupancy %" depends on the grid, so it is another figure; it stays where
 * it is, an arg.
 */
#include <stdlib.h>
#include <string.h>

#include "analyse/attribute/attribute_parts.h"
#include "base/hash.h"
#include "trace/args/args_walk.h"

enum field {
    FIELD_DETAILS,
    FIELD_GRID,
    FIELD_BLOCK,
    FIELD_REGISTERS,
    FIELD_STATIC_SHARED,
    FIELD_DYNAMIC_SHARED,
    FIELD_OCCUPANCY,
    FIELD_GRAPH,
    FIELD_NODE,
};

static const struct word {
    const char *key;
    enum field field;
} words[] = {
    {"kernel_details", FIELD_DETAILS},
    {"grid", FIELD_GRID},
    {"block", FIELD_BLOCK},
    {"registers per thread", FIELD_REGISTERS},
    {"registers_per_thread", FIELD_REGISTERS},
    {"shared memory", FIELD_STATIC_SHARED},
    {"static_shared_memory_bytes", FIELD_STATIC_SHARED},
    {"dynamic_shared_memory_bytes", FIELD_DYNAMIC_SHARED},
    {"cuda_graph_exec_id", FIELD_GRAPH},
    {"cuda_graph_id", FIELD_GRAPH},
    {"graph_exec_id", FIELD_GRAPH},
    {"graph id", FIELD_GRAPH},
    {"cuda_graph_node_id", FIELD_NODE},
    {"graph_node_id", FIELD_NODE},
    {"graph node id", FIELD_NODE},
};

_Static_assert(COUNT(words) == SHAPE_KEYS, "each word has a key");

enum { REGISTERS_MAX = 1024, SHARED_BYTES_MAX = 1 << 20 };

struct told { /* of one event, before anything is parsed */
    uint32_t type_shape;
    name_id details, grid, block;
    uint32_t registers, static_shared, dynamic_shared;
};

/* Few shapes make up most of a trace: those seen last are at hand, by a hash of what was told. */
enum { KNOWN_SHAPES = 256, KNOWN_DETAILS = 1024 };

struct known_shape {
    struct told told;
    uint32_t shape;
    bool used;
};

struct shapes {
    uint32_t *type_shape;   /* by type: what its own args say */
    uint8_t *type_in_graph; /* by type: its args name a graph */
    struct known_shape lately[KNOWN_SHAPES];
    struct known_details {
        name_id details; /* 0: none yet */
        uint32_t shape;
    } by_details[KNOWN_DETAILS];
};

static const struct launch_shape unknown_shape = {
    .grid = {NOT_RECORDED, NOT_RECORDED, NOT_RECORDED},
    .block = {NOT_RECORDED, NOT_RECORDED, NOT_RECORDED},
    .registers = NOT_RECORDED,
    .static_shared_bytes = NOT_RECORDED,
    .dynamic_shared_bytes = NOT_RECORDED,
    .occupancy = NOT_RECORDED,
};

/* The digits at the front; what does not fit is no such number. */
static uint32_t number_of(struct str text, size_t *at)
{
    uint64_t value = 0;
    size_t begin = *at;

    for (; *at < text.count && text.at[*at] >= '0' && text.at[*at] <= '9'; (*at)++)
        value = value > UINT32_MAX ? value : value * 10 + (uint64_t)(text.at[*at] - '0');
    return *at == begin || value >= NOT_RECORDED ? NOT_RECORDED : (uint32_t)value;
}

/* "128,1,1", "[128, 1, 1]": three numbers, or nothing. */
static void triple_of(struct str text, uint32_t ret[3])
{
    uint32_t values[3];
    size_t at = 0;

    for (int i = 0; i < 3; i++) {
        while (at < text.count && (text.at[at] < '0' || text.at[at] > '9'))
            at++;
        values[i] = number_of(text, &at);
        if (values[i] == NOT_RECORDED)
            return;
    }
    memcpy(ret, values, sizeof values);
}

static void take_token(struct launch_shape *shape, struct str key, struct str value)
{
    size_t at = 0;

    if (str_equal(key, STR("grid")))
        triple_of(value, shape->grid);
    else if (str_equal(key, STR("block")))
        triple_of(value, shape->block);
    else if (str_equal(key, STR("regs")))
        shape->registers = number_of(value, &at);
    else if (str_equal(key, STR("static_shared")) || str_equal(key, STR("group_mem")))
        shape->static_shared_bytes = number_of(value, &at);
    else if (str_equal(key, STR("dynamic_shared")))
        shape->dynamic_shared_bytes = number_of(value, &at);
    else if (str_equal(key, STR("shm")))
        shape->static_shared_bytes = number_of(value, &at);
    else if (str_equal(key, STR("occ_pct"))) {
        uint32_t whole = number_of(value, &at), tenths = 0;

        if (at + 1 < value.count && value.at[at] == '.' && value.at[at + 1] >= '0' &&
            value.at[at + 1] <= '9')
            tenths = (uint32_t)(value.at[at + 1] - '0');
        if (whole <= 100)
            shape->occupancy = whole * 100 + tenths * 10;
    }
}

static void parse_details(struct launch_shape *shape, struct str text)
{
    for (size_t at = 0; at < text.count;) {
        size_t end = at, colon;

        while (end < text.count && text.at[end] != ' ' && text.at[end] != '\n')
            end++;
        for (colon = at; colon < end && text.at[colon] != ':'; colon++)
            ;
        if (colon < end)
            take_token(shape, (struct str){text.at + at, colon - at},
                       (struct str){text.at + colon + 1, end - colon - 1});
        at = end + 1;
    }
}

static void drop_implausible(struct launch_shape *shape)
{
    bool wrong = (shape->registers != NOT_RECORDED && shape->registers > REGISTERS_MAX) ||
                 (shape->static_shared_bytes != NOT_RECORDED &&
                  shape->static_shared_bytes > SHARED_BYTES_MAX);

    if (wrong)
        shape->registers = shape->static_shared_bytes = NOT_RECORDED;
    if (wrong || shape->occupancy == 0 || shape->occupancy > 10000)
        shape->occupancy = NOT_RECORDED;
    if (shape->registers == 0)
        shape->registers = NOT_RECORDED;
    for (int i = 0; i < 3; i++) {
        if (shape->grid[i] == 0)
            memcpy(shape->grid, unknown_shape.grid, sizeof shape->grid);
        if (shape->block[i] == 0)
            memcpy(shape->block, unknown_shape.block, sizeof shape->block);
    }
}

/* Equal shapes have one number. Hashes that meet are told apart. */
static uint32_t shape_number(struct attribute_work *work, const struct launch_shape *shape)
{
    uint64_t hash = hash64((struct bytes){(const uint8_t *)shape, sizeof *shape});

    for (;; hash++) {
        uint32_t *at = map64_at(&work->shape_of, hash, UINT32_MAX);

        if (*at == UINT32_MAX) {
            *at = work->shape_count;
            WORK_GROW(work, work->shapes, work->shape_count, work->shape_capacity);
            work->shapes[work->shape_count++] = *shape;
            return *at;
        }
        if (memcmp(&work->shapes[*at], shape, sizeof *shape) == 0)
            return *at;
    }
}

static bool text_bits(const struct trace *trace, uint8_t type, uint64_t bits, name_id *ret)
{
    if ((type != ARG_STRING && type != ARG_JSON) || bits >= trace->name_count)
        return false;
    *ret = (name_id)bits;
    return true;
}

static uint32_t number_bits(uint8_t type, uint64_t bits)
{
    bool number = type == ARG_INT64 || type == ARG_UINT64 || type == ARG_DIGITS;

    return number && bits < NOT_RECORDED ? (uint32_t)bits : NOT_RECORDED;
}

static void take_arg(const struct trace *trace, enum field field, uint8_t type, uint64_t bits,
                     struct told *told)
{
    uint32_t number = number_bits(type, bits);
    name_id text = 0;

    text_bits(trace, type, bits, &text);
    switch (field) {
    case FIELD_DETAILS:
        told->details = text != 0 ? text : told->details;
        break;
    case FIELD_GRID:
        told->grid = text != 0 ? text : told->grid;
        break;
    case FIELD_BLOCK:
        told->block = text != 0 ? text : told->block;
        break;
    case FIELD_REGISTERS:
        told->registers = number != NOT_RECORDED ? number : told->registers;
        break;
    case FIELD_STATIC_SHARED:
        told->static_shared = number != NOT_RECORDED ? number : told->static_shared;
        break;
    case FIELD_DYNAMIC_SHARED:
        told->dynamic_shared = number != NOT_RECORDED ? number : told->dynamic_shared;
        break;
    default:
        break;
    }
}

static uint32_t shape_of_told(struct attribute_work *work, const struct told *told)
{
    struct launch_shape shape =
        told->type_shape != NO_SHAPE ? work->shapes[told->type_shape] : unknown_shape;
    const struct trace *trace = work->trace;

    if (told->details != 0)
        parse_details(&shape, trace_name(trace, told->details));
    if (told->grid != 0)
        triple_of(trace_name(trace, told->grid), shape.grid);
    if (told->block != 0)
        triple_of(trace_name(trace, told->block), shape.block);
    shape.registers = told->registers != NOT_RECORDED ? told->registers : shape.registers;
    if (told->static_shared != NOT_RECORDED)
        shape.static_shared_bytes = told->static_shared;
    if (told->dynamic_shared != NOT_RECORDED)
        shape.dynamic_shared_bytes = told->dynamic_shared;
    drop_implausible(&shape);
    return memcmp(&shape, &unknown_shape, sizeof shape) == 0 ? NO_SHAPE
                                                             : shape_number(work, &shape);
}

static const struct told nothing_told = {
    .type_shape = NO_SHAPE,
    .registers = NOT_RECORDED,
    .static_shared = NOT_RECORDED,
    .dynamic_shared = NOT_RECORDED,
};

static void read_types(struct attribute_work *work, struct shapes *shapes, const name_id *keys)
{
    const struct trace *trace = work->trace;
    size_t count = (size_t)trace->type_count + 1;

    shapes->type_shape = scratch_array(work->scratch, uint32_t, count);
    shapes->type_in_graph = scratch_array(work->scratch, uint8_t, count);
    shapes->type_shape[trace->type_count] = NO_SHAPE;
    for (type_id id = 0; id < trace->type_count; id++) {
        struct told told = nothing_told;

        for (uint32_t i = 0; i < trace->types[id].arg_count; i++) {
            const struct arg *arg = &trace->type_args[trace->types[id].first_arg + i];

            for (int word = 0; word < SHAPE_KEYS; word++) {
                if (arg->key != keys[word])
                    continue;
                take_arg(trace, words[word].field, (uint8_t)arg->type, arg->bits, &told);
                shapes->type_in_graph[id] |= words[word].field == FIELD_GRAPH && arg->bits != 0;
            }
        }
        shapes->type_shape[id] = shape_of_told(work, &told);
    }
}

static uint32_t known_shape(struct attribute_work *work, struct shapes *shapes,
                            const struct told *told)
{
    uint32_t hash =
        (told->type_shape * 31 + told->details * 37 + told->grid * 41 + told->block * 43 +
         told->registers * 47 + told->static_shared * 53 + told->dynamic_shared) *
        UINT32_C(2654435769);
    struct known_shape *known = &shapes->lately[hash >> 24];

    if (!known->used || memcmp(&known->told, told, sizeof *told) != 0)
        *known =
            (struct known_shape){.told = *told, .shape = shape_of_told(work, told), .used = true};
    return known->shape;
}

/* Of what says nothing but its details, as XPlane does. */
static uint32_t shape_of_details(struct attribute_work *work, struct shapes *shapes,
                                 const struct told *told)
{
    struct known_details *known = &shapes->by_details[told->details % KNOWN_DETAILS];

    if (known->details != told->details)
        *known = (struct known_details){told->details, shape_of_told(work, told)};
    return known->shape;
}

uint32_t shape_at(struct attribute_work *work, struct shapes *shapes, type_id type,
                  const struct arg_walk *walk, uint32_t first_key, uint8_t *ret_graph)
{
    struct told told = nothing_told;
    bool graph = shapes->type_in_graph[type] != 0, node = false, tells_node = false, details = true;

    told.type_shape = shapes->type_shape[type];
    for (uint32_t rest = walk->present >> first_key; rest != 0; rest &= rest - 1) {
        uint32_t word = (uint32_t)__builtin_ctz(rest), key = first_key + word;

        if (words[word].field == FIELD_GRAPH)
            graph |= walk->bits[key] != 0;
        else if (words[word].field == FIELD_NODE)
            tells_node = true, node |= walk->bits[key] != 0;
        else {
            details &= words[word].field == FIELD_DETAILS;
            take_arg(work->trace, words[word].field, walk->type[key], walk->bits[key], &told);
        }
    }

    uint32_t shape = details && told.details != 0 && told.type_shape == NO_SHAPE
                         ? shape_of_details(work, shapes, &told)
                         : known_shape(work, shapes, &told);

    *ret_graph = node || (graph && tells_node) ? GRAPH_NODE /* nodes count from 0 */
                 : graph && shape == NO_SHAPE  ? GRAPH_WHOLE
                 : graph                       ? GRAPH_NODE
                                               : GRAPH_NONE;
    return shape;
}

bool shapes_find_keys(const struct trace *trace, name_id ret[SHAPE_KEYS])
{
    bool any = false;

    for (int word = 0; word < SHAPE_KEYS; word++) {
        bool known = trace_find_name(trace, str_of(words[word].key), &ret[word]);

        ret[word] = known ? ret[word] : NO_KEY;
        any |= known;
    }
    return any;
}

struct shapes *shapes_begin(struct attribute_work *work, const name_id *keys)
{
    struct shapes *shapes = memory_resize(NULL, 1, sizeof *shapes);

    *shapes = (struct shapes){0};
    read_types(work, shapes, keys);
    return shapes;
}

void shapes_end(struct attribute_work *work, struct shapes *shapes)
{
    if (shapes == NULL)
        return;
    scratch_free(work->scratch, shapes->type_shape);
    scratch_free(work->scratch, shapes->type_in_graph);
    free(shapes);
}

static struct kernel kernel_of_shape(const struct attribute_work *work, name_id name,
                                     uint32_t number, uint32_t op)
{
    const struct launch_shape *shape = number == NO_SHAPE ? &unknown_shape : &work->shapes[number];
    struct kernel kernel = {
        .name = name,
        .registers = shape->registers,
        .static_shared_bytes = shape->static_shared_bytes,
        .dynamic_shared_bytes = shape->dynamic_shared_bytes,
        .occupancy = shape->occupancy,
        .op = op,
    };

    memcpy(kernel.grid, shape->grid, sizeof kernel.grid);
    memcpy(kernel.block, shape->block, sizeof kernel.block);
    return kernel;
}

uint32_t kernel_find(struct attribute_work *work, name_id name, uint32_t shape, uint32_t op)
{
    uint32_t hash = (name * 31 + shape) * UINT32_C(2654435769);
    struct known_kernel *known = &work->known_kernels[hash >> 24];

    if (known->used && known->name == name && known->shape == shape)
        return known->kernel;

    uint32_t *at = map64_at(&work->kernel_of_name, map64_pair(name, shape), NO_KERNEL);

    if (*at == NO_KERNEL) {
        *at = work->kernel_count;
        WORK_GROW(work, work->kernels, work->kernel_count, work->kernel_capacity);
        work->kernels[work->kernel_count++] = kernel_of_shape(work, name, shape, op);
    }
    *known = (struct known_kernel){.name = name, .shape = shape, .kernel = *at, .used = true};
    return *at;
}
