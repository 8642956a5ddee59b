/* SPDX-License-Identifier: Apache-2.0 */
/* What is alive: allocations enter a map by address, frees take them out.
 *
 *   +256 at 0x10   { 0x10: 256 }
 *   +512 at 0x20   { 0x10: 256, 0x20: 512 }
 *   -256 at 0x10   { 0x20: 512 }
 *   -64  at 0x99   the same: 0x99 was allocated before the trace began
 *
 * An allocation at an address that is still held takes its place: the free between them was lost.
 */
#include "analyse/memory/memory_allocators.h"
#include "analyse/stats/map64.h"

static const char *const address_keys[] = {"addr", "Addr", "address"};

static bool is_address(struct event_value value)
{
    return value.type == ARG_INT64 || value.type == ARG_UINT64 || value.type == ARG_DIGITS;
}

/* Of each event: the first of the spellings that it has. */
static struct event_value *read_addresses(const struct trace *trace, const struct event_ref *refs,
                                          uint32_t count, struct arena *arena)
{
    struct event_value *ret = event_values(trace, refs, count, STR("addr"), arena);

    for (size_t k = 1; k < COUNT(address_keys); k++) {
        const struct event_value *others =
            event_values(trace, refs, count, str_of(address_keys[k]), arena);

        for (uint32_t i = 0; i < count; i++)
            if (!is_address(ret[i]))
                ret[i] = others[i];
    }
    return ret;
}

static int64_t bytes_of(const struct memory_event *event)
{
    return event->bytes > 0 ? event->bytes : 0;
}

struct replay {
    struct map64 live; /* address -> allocation, plus one; 0 freed */
    struct alive *all; /* every allocation, by time */
    uint32_t all_count;
};

static void replay_event(struct replay *replay, const struct memory_event *event, uint32_t index,
                         struct event_ref ref, uint64_t address, struct alives *ret)
{
    uint32_t *held = map64_at(&replay->live, address, 0);

    if (*held != 0) {
        struct alive *gone = &replay->all[*held - 1];

        ret->owned_bytes -= gone->bytes;
        gone->gone = index;
        ret->replaced_count += !event->is_free;
    }
    *held = 0;
    if (event->is_free)
        return;

    struct alive born = {.event = index, .ref = ref, .bytes = bytes_of(event), .gone = UINT32_MAX};

    if (born.bytes > INT64_MAX - ret->owned_bytes)
        born.bytes = INT64_MAX - ret->owned_bytes;
    ret->owned_bytes += born.bytes;
    replay->all[replay->all_count++] = born;
    *held = replay->all_count;
}

static void replay_all(const struct allocator *allocator, uint32_t end, struct arena *arena,
                       struct alives *ret)
{
    const struct trace *trace = allocator->selection->host->trace;
    slice_id *slices = arena_array(arena, slice_id, (size_t)end + 1);
    struct replay replay = {.all = arena_array(arena, struct alive, (size_t)end + 1)};

    *ret = (struct alives){.items = replay.all};
    for (uint32_t i = 0; i < end; i++)
        slices[i] = allocator_event(allocator, i)->slice;

    const struct event_ref *refs = event_refs(trace, slices, end, arena);
    const struct event_value *addresses = read_addresses(trace, refs, end, arena);

    for (uint32_t i = 0; i < end; i++) {
        if (is_address(addresses[i]))
            replay_event(&replay, allocator_event(allocator, i), i, refs[i], addresses[i].bits,
                         ret);
        else
            ret->unplaced_count++;
    }
    ret->count = replay.all_count;
    map64_free(&replay.live);
}

void memory_replay_all(const struct allocator *allocator, struct arena *arena, struct alives *ret)
{
    replay_all(allocator, allocator->count, arena, ret);
}

void memory_replay(const struct allocator *allocator, uint32_t end, struct arena *arena,
                   struct alives *ret)
{
    uint32_t kept = 0;

    replay_all(allocator, end, arena, ret);
    for (uint32_t i = 0; i < ret->count; i++)
        if (ret->items[i].gone == UINT32_MAX)
            ret->items[kept++] = ret->items[i];
    ret->count = kept;
}

/* TensorFlow's numbers of types, as allocators write them. */
static struct str type_name(const struct trace *trace, struct event_value value)
{
    static const char *const names[] = {
        "",           "float32", "float64",   "int32",   "uint8",   "int16",
        "int8",       "string",  "complex64", "int64",   "bool",    "qint8",
        "quint8",     "qint32",  "bfloat16",  "qint16",  "quint16", "uint16",
        "complex128", "float16", "resource",  "variant", "uint32",  "uint64",
    };

    if (value.type == ARG_STRING && value.bits < trace->name_count)
        return trace_name(trace, (name_id)value.bits);
    if ((value.type == ARG_INT64 || value.type == ARG_UINT64 || value.type == ARG_DIGITS) &&
        value.bits < COUNT(names))
        return str_of(names[value.bits]);
    return STR("");
}

static struct str text_of(const struct trace *trace, struct event_value value)
{
    struct str text = STR("");

    if ((value.type == ARG_STRING || value.type == ARG_JSON) && value.bits < trace->name_count)
        text = trace_name(trace, (name_id)value.bits);
    return str_equal(text, STR("(null)")) ? STR("") : text; /* written from a null pointer */
}

/* What libraries write where they know no op. */
static bool is_placeholder(struct str op)
{
    return op.count == 0 || str_equal(op, STR("dummy"));
}

/* The slices around the allocation, outermost first: "PjitFunction(f)/Execute". */
static struct str path_around(const struct trace *trace, slice_id around, struct arena *arena)
{
    enum { LEVELS_MAX = 8 };
    struct str names[LEVELS_MAX];
    uint32_t count = 0;
    struct text text = {0};

    while (around < trace->slice_count && count < LEVELS_MAX) {
        struct slice slice = trace_slice(trace, around);

        names[count++] = trace_name(trace, slice.name);
        around = slice.parent;
    }
    while (count-- > 0) {
        text_put(&text, names[count].at, names[count].count);
        text_puts(&text, count > 0 ? "/" : "");
    }
    struct str ret = str_copy(arena, text_str(&text));
    text_free(&text);
    return ret;
}

/* "scope/op:Type" to its op and scope. */
static void set_op(struct memory_owner *owner, struct str path)
{
    size_t slash = 0;

    for (size_t i = 0, depth = 0; i < path.count; i++) {
        depth += path.at[i] == '(';
        depth -= path.at[i] == ')' && depth > 0;
        if (path.at[i] == '/' && depth == 0)
            slash = i + 1;
    }
    owner->op = str_skip(path, slash);
    owner->scope = (struct str){.at = path.at, .count = slash > 0 ? slash - 1 : 0};
}

/* The calls above the one that names the allocation, outermost first: "main (train.py:8); step". */
static struct str calls_of(const struct trace *trace, stack_id stack, struct arena *arena)
{
    enum { CALLS_MAX = 24 };
    const struct stack *calls[CALLS_MAX];
    uint32_t count = 0;
    struct text text = {0};

    while (stack < trace->stack_count && count < CALLS_MAX) {
        calls[count++] = &trace->stacks[stack];
        stack = trace->stacks[stack].parent;
    }
    text_puts(&text, stack < trace->stack_count ? "(callers cut off); " : "");
    for (uint32_t i = count; i-- > 0;) {
        const struct frame *frame = &calls[i]->frame;
        struct str file = path_base(trace_name(trace, frame->file));

        text_putf(&text, "%.*s", STR_ARG(trace_name(trace, frame->function)));
        if (file.count > 0)
            text_putf(&text, " (%.*s:%u)", STR_ARG(file), frame->line);
        text_puts(&text, i > 0 ? "; " : "");
    }
    struct str ret = str_copy(arena, text_str(&text));
    text_free(&text);
    return ret;
}

/* An allocation with a stack is named by its slice, and lies in the scope of its calls. */
static void set_calls(struct memory_owner *owner, const struct trace *trace,
                      struct event_value stack, struct map64 *scopes, uint32_t index,
                      const struct memory_owner *owners, struct arena *arena)
{
    uint32_t *first = map64_at(scopes, stack.bits, index);

    owner->op = trace_name(trace, trace_slice(trace, owner->slice).name);
    owner->scope =
        *first == index ? calls_of(trace, (stack_id)stack.bits, arena) : owners[*first].scope;
}

struct memory_owner *memory_owners(const struct allocator *allocator, const struct alives *alives,
                                   struct arena *arena)
{
    const struct trace *trace = allocator->selection->host->trace;
    struct memory_owner *owners =
        arena_array(arena, struct memory_owner, (size_t)alives->count + 1);
    struct event_ref *refs = arena_array(arena, struct event_ref, (size_t)alives->count + 1);
    const struct event_value *ops, *regions, *shapes, *types, *kinds;
    const struct event_value *stacks;
    const bool is_of_stacks = str_equal(str_of(trace->format), STR("torch-snapshot"));
    struct map64 paths = {0};  /* slice around -> owner that has its path */
    struct map64 scopes = {0}; /* stack -> owner that has its calls */

    for (uint32_t i = 0; i < alives->count; i++)
        refs[i] = alives->items[i].ref;
    ops = event_values(trace, refs, alives->count, STR("tf_op"), arena);
    regions = event_values(trace, refs, alives->count, STR("region_type"), arena);
    shapes = event_values(trace, refs, alives->count, STR("shape"), arena);
    types = event_values(trace, refs, alives->count, STR("data_type"), arena);
    kinds = event_values(trace, refs, alives->count, STR("memory"), arena);
    stacks = event_values(trace, refs, alives->count, STR("stack"), arena);
    for (uint32_t i = 0; i < alives->count; i++) {
        const struct memory_event *event = allocator_event(allocator, alives->items[i].event);
        struct str op = text_of(trace, ops[i]);

        owners[i] = (struct memory_owner){
            .category = text_of(trace, regions[i]),
            .shape = text_of(trace, shapes[i]),
            .dtype = type_name(trace, types[i]),
            .bytes = alives->items[i].bytes,
            .since_ps = event->at_ps,
            .count = 1,
            .slice = event->slice,
        };
        if (owners[i].category.count == 0)
            owners[i].category = text_of(trace, kinds[i]);
        if (is_of_stacks) {
            if (stacks[i].type == ARG_UINT64 && stacks[i].bits < trace->stack_count)
                set_calls(&owners[i], trace, stacks[i], &scopes, i, owners, arena);
            else
                owners[i].op = trace_name(trace, trace_slice(trace, owners[i].slice).name);
        } else if (!is_placeholder(op)) {
            set_op(&owners[i], op);
        } else if (refs[i].parent != NO_SLICE) {
            uint32_t *first = map64_at(&paths, refs[i].parent, i);

            if (*first == i)
                set_op(&owners[i], path_around(trace, refs[i].parent, arena));
            owners[i].op = owners[*first].op;
            owners[i].scope = owners[*first].scope;
        }
    }
    map64_free(&paths);
    map64_free(&scopes);
    return owners;
}
