/* SPDX-License-Identifier: Apache-2.0 */
/* What each op of a host is: HLO of its program, else the instruction's text beside its events,
 * else the name of its kernel. */
#include <stdlib.h>

#include "analyse/comm/collective_kernel.h"
#include "analyse/comm/collectives_parts.h"
#include "base/hash.h"
#include "trace/args/args.h"

static uint64_t hash_text(struct str text)
{
    return hash64((struct bytes){.at = (const uint8_t *)text.at, .count = text.count});
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    return (a ^ (b + UINT64_C(0x9e3779b97f4a7c15) + (a << 6) + (a >> 2))) *
           UINT64_C(0xff51afd7ed558ccd);
}

static bool same_groups(const struct replica_groups *one, const struct replica_groups *other)
{
    return one->first != NULL && one->group_count == other->group_count &&
           one->id_count == other->id_count &&
           memcmp(one->first, other->first, one->group_count * sizeof(*one->first)) == 0 &&
           memcmp(one->ids, other->ids, one->id_count * sizeof(*one->ids)) == 0;
}

/* Programs have few ways to group devices, and many collectives: what two share is kept once. */
static struct replica_groups keep_groups(struct finding_work *work, uint32_t item,
                                         const struct replica_groups *fresh)
{
    struct replica_groups kept = *fresh;

    kept.axes = str_copy(work->arena, fresh->axes);
    if (fresh->first == NULL)
        return kept;

    size_t ids_size = fresh->id_count * sizeof(*fresh->ids);
    size_t first_size = ((size_t)fresh->group_count + 1) * sizeof(*fresh->first);
    uint64_t key = mix(hash64((struct bytes){(const uint8_t *)fresh->ids, ids_size}),
                       hash64((struct bytes){(const uint8_t *)fresh->first, first_size}));
    uint32_t *at = map64_at(&work->by_groups, key, item);

    if (*at != item && same_groups(&work->ret->items[*at].groups, fresh)) {
        kept.ids = work->ret->items[*at].groups.ids;
        kept.first = work->ret->items[*at].groups.first;
        return kept;
    }

    uint32_t *ids = arena_array(work->arena, uint32_t, (size_t)fresh->id_count + 1);
    uint32_t *first = arena_array(work->arena, uint32_t, (size_t)fresh->group_count + 1);

    memcpy(ids, fresh->ids, ids_size);
    memcpy(first, fresh->first, first_size);
    kept.ids = ids;
    kept.first = first;
    return kept;
}

/* Its texts are of a module, or of what was read of one op. */
static void keep(struct finding_work *work, uint32_t item, const struct collective *fresh)
{
    struct collective kept = *fresh;

    kept.name = str_copy(work->arena, fresh->name);
    kept.opcode = str_copy(work->arena, fresh->opcode);
    kept.dtype = str_copy(work->arena, fresh->dtype);
    kept.axis = str_copy(work->arena, fresh->axis);
    kept.groups = keep_groups(work, item, &fresh->groups);
    work->ret->items[item] = kept;
}

uint32_t collectives_item(struct finding_work *work, const struct collective *fresh)
{
    struct collectives *ret = work->ret;
    uint32_t *at = map64_at(&work->by_identity, fresh->identity, UINT32_MAX);

    if (*at != UINT32_MAX) {
        if (!ret->items[*at].has_bytes && fresh->has_bytes)
            keep(work, *at, fresh); /* a start says more than its done */
        return *at;
    }
    if (ret->count == work->item_capacity) {
        uint32_t capacity = work->item_capacity == 0 ? 64 : 2 * work->item_capacity;
        struct collective *items = arena_array(work->arena, struct collective, capacity);

        if (ret->count > 0)
            memcpy(items, ret->items, ret->count * sizeof(*items));
        ret->items = items;
        work->item_capacity = capacity;
    }
    keep(work, ret->count, fresh);
    return *at = ret->count++;
}

/* "long_name", where each event of the op has the instruction's text. */
static bool text_of_events(const struct trace *trace, slice_id first, struct str *ret)
{
    name_id key;

    if (first >= trace->slice_count || !trace_find_name(trace, STR("long_name"), &key))
        return false;
    type_id type = trace_type(trace, trace_slice(trace, first).event);
    if (type == 0 || type >= trace->type_count)
        return false;
    for (uint32_t i = 0; i < trace->types[type].arg_count; i++) {
        const struct arg *arg = &trace->type_args[trace->types[type].first_arg + i];

        if (arg->key == key && arg->type == ARG_STRING && arg->bits < trace->name_count) {
            *ret = trace_name(trace, (name_id)arg->bits);
            return true;
        }
    }
    return false;
}

struct read_op { /* one op, with how it was told */
    struct collective_text text;
    struct str start;     /* the name that both halves go by */
    bool told;            /* by HLO */
    uint64_t fingerprint; /* of its module; 0 unknown */
    const struct mesh *mesh;
    struct str kernel; /* of its first event */
};

enum {
    STARTS_MAX = 16,      /* updates between a start and its done */
    MEMBERS_MAX = 1 << 26 /* of groups that are read: beyond, ops have their names alone */
};

static bool is_end(enum collective_half half)
{
    return half == HALF_DONE || half == HALF_UPDATE;
}

static bool read_by_program(struct finding_work *work, const struct host_trace *host,
                            const struct op *op, struct opened_module *opened, struct read_op *ret)
{
    const struct trace *trace = host->trace;

    if (!collectives_open(work, host, op, opened))
        return false;
    const struct hlo_module *module = &opened->module;
    uint32_t at = hlo_module_find(module, trace_name(trace, op->name));

    if (at == HLO_NONE || !collective_instruction_read(module, at, work->scratch, &ret->text))
        return false;
    ret->mesh = opened->has_mesh ? &opened->mesh : NULL;
    ret->fingerprint = opened->fingerprint;
    enum collective_half half = ret->text.half;
    for (unsigned i = 0; i < STARTS_MAX && is_end(ret->text.half); i++) {
        struct collective_text start;

        at = hlo_module_find(module, ret->text.operand);
        if (at == HLO_NONE || !collective_instruction_read(module, at, work->scratch, &start))
            break;
        work->member_count += start.groups.id_count;
        ret->text = start;
    }
    ret->start = ret->text.name;
    ret->text.half = half;
    return true;
}

static bool read_by_events(struct finding_work *work, const struct trace *trace, slice_id first,
                           struct read_op *ret)
{
    struct str line;

    if (!text_of_events(trace, first, &line) ||
        !collective_text_read(line, work->scratch, &ret->text))
        return false;
    ret->start = ret->text.name;
    if (is_end(ret->text.half) && ret->text.operand.count > 0) {
        ret->start = ret->text.operand;
        ret->text.has_bytes = false; /* its operand holds the start's results too */
    }
    return true;
}

/* By the op's own name, or its kernel's. */
static void read_by_name(const struct trace *trace, const struct op *op, struct read_op *ret)
{
    struct str name = trace_name(trace, op->name);
    struct collective_kernel kernel;

    ret->text = (struct collective_text){.kind = COLLECTIVE_OTHER, .name = name};
    ret->start = name;
    if (!collective_word_read(name, &ret->text.kind, &ret->text.half) &&
        collective_kernel_read(ret->kernel, &kernel)) {
        ret->text.kind = kernel.kind;
        ret->text.dtype = kernel.dtype;
    }
    /* Only texts tell which start a done ends. */
    if (ret->text.half != HALF_WHOLE)
        ret->text.half = HALF_WHOLE;
}

static void set_size(struct collective *item, const struct collective_text *text, bool told)
{
    uint64_t bytes;

    if (!text->has_bytes)
        item->reason = told ? "the shapes of the operands are not in the file"
                            : "the profile holds no HLO of this op";
    else if (!collective_size(text->kind, text->operand_bytes, item->size, &bytes))
        item->reason = "how many devices take part is not in the file";
    else {
        item->has_bytes = true;
        item->bytes = bytes;
    }
}

static struct collective item_of(struct finding_work *work, const struct trace *trace,
                                 const struct op *op, struct read_op *read)
{
    const struct program *program =
        op->program < trace->program_count ? &trace->programs[op->program] : NULL;
    struct str module = trace_name(trace, op->module);
    struct collective_kernel kernel;
    struct collective item = {
        .identity = mix(program != NULL          ? program->fingerprint
                        : read->fingerprint != 0 ? read->fingerprint
                                                 : hash_text(module),
                        hash_text(read->start)),
        .kind = read->text.kind,
        .name = read->start,
        .module = module_name_of(&work->names, op),
        .module_bare = module,
        .module_number = program != NULL ? program->id : 0,
        .scope = trace_name(trace, op->scope),
        .opcode = read->text.opcode,
        .dtype = read->text.dtype,
        .is_async = read->text.half != HALF_WHOLE,
        .groups = read->text.groups,
    };

    item.size = item.groups.size;
    if (read->mesh != NULL)
        item.groups.axes = mesh_axes_of(read->mesh, &item.groups, work->scratch);
    item.axis = replica_groups_name(&item.groups, work->scratch);
    if (item.groups.group_count > 1 && !work->devices.is_read)
        collective_devices_read(work->run, work->arena, &work->devices);
    if (item.groups.group_count > 1)
        collective_devices_put(&work->devices, module, work->scratch, &item.groups);
    if (collective_kernel_read(read->kernel, &kernel)) {
        item.algorithm = kernel.algorithm;
        item.protocol = kernel.protocol;
    }
    set_size(&item, &read->text, read->told);
    return item;
}

/* Ops whose bodies are ops of their own compute nothing themselves. */
static bool is_control(const struct trace *trace, const struct op *op)
{
    static const char *const words[] = {"while",       "conditional",  "call",
                                        "async-start", "async-update", "async-done"};
    struct str word = trace_name(trace, op->category != 0 ? op->category : op->name);

    if (op->category == 0) {
        const char *dot = word.count == 0 ? NULL : memchr(word.at, '.', word.count);
        word.count = dot == NULL ? word.count : (size_t)(dot - word.at);
    }
    for (size_t i = 0; i < COUNT(words); i++)
        if (str_equal(word, str_of(words[i])))
            return true;
    return false;
}

/* Communication ops, those of one program together, so that each module is read once. */
static uint32_t order_ops(const struct attribution *attribution, uint32_t **ret)
{
    uint32_t count = 0;

    *ret = memory_resize(NULL, attribution->op_count, sizeof(**ret));
    for (uint32_t i = 0; i < attribution->op_count; i++)
        if (attribution->ops[i].kind == KIND_COMMUNICATION)
            (*ret)[count++] = i;
    ops_by_program(attribution->ops, *ret, count);
    return count;
}

void collectives_facts(struct finding_work *work, uint32_t host)
{
    const struct trace *trace = work->run->hosts[host].trace;
    const struct attribution *attribution = work->run->hosts[host].attribution;
    struct op_facts *facts = arena_array(work->arena, struct op_facts, attribution->op_count + 1);
    struct opened_module *opened = arena_new(work->arena, struct opened_module);
    uint32_t *ops, count = order_ops(attribution, &ops);

    work->names = module_names_of(&work->run->hosts[host], work->arena);
    for (uint32_t i = 0; i < attribution->op_count; i++)
        if (attribution->ops[i].kind == KIND_COMPUTE && !is_control(trace, &attribution->ops[i]))
            facts[i].role = OP_COMPUTE;
    for (uint32_t i = 0; i < count; i++) {
        const struct op *op = &attribution->ops[ops[i]];
        slice_id first = attribution->totals[ops[i]].first;
        struct read_op read = {0};

        if (first == NO_SLICE)
            continue;
        read.kernel = trace_name(trace, trace_slice(trace, first).name);
        read.told = work->member_count <= MEMBERS_MAX &&
                    (read_by_program(work, &work->run->hosts[host], op, opened, &read) ||
                     read_by_events(work, trace, first, &read));
        work->member_count += read.text.groups.id_count;
        if (!read.told)
            read_by_name(trace, op, &read);
        struct collective item = item_of(work, trace, op, &read);
        facts[ops[i]] = (struct op_facts){
            .role = OP_COLLECTIVE,
            .half = (uint8_t)read.text.half,
            .by_kernel = !read.told,
            .collective = collectives_item(work, &item),
        };
        arena_reset(work->scratch);
    }
    arena_destroy(opened->arena);
    free(ops);
    work->op_facts[host] = facts;
}
