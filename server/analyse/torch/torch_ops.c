/* SPDX-License-Identifier: Apache-2.0 */
/* Walks from calls on the host up to the ops and modules around them, each slice once. */
#include "analyse/torch/torch_ops.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/device/launch.h"
#include "analyse/stats/map64.h"
#include "analyse/torch/torch_cost.h"
#include "base/hash.h"
#include "trace/args/slice_args.h"

enum { DEPTH_MAX = 1024, ARROWS_MAX = 4, TEXTS_MAX = 1 << 16 };

enum category { CATEGORY_OTHER, CATEGORY_OP, CATEGORY_PYTHON, CATEGORY_MARK };

enum word { /* what a name says; bits, one says that it was looked at */
            WORD_SEEN = 1,
            WORD_MODULE = 2,
            WORD_BACKWARD = 4,
            WORD_RECOMPUTED = 8,
            WORD_OPTIMIZER = 16,
            WORD_COMMUNICATION = 32,
            WORD_COUNTED = 64,
            WORD_PLACE = 128, /* a mark of the program's that is part of a path */
};

struct state {      /* of what stands in a slice */
    uint32_t op;    /* the state of the innermost op; 0: none, the state around all */
    uint32_t above; /* of an op's own state: that of the op around it */
    name_id caller;
    uint32_t path; /* text + 1, 0 none */
    uint32_t cost;
    slice_id instance; /* slice of the innermost op */
    uint8_t phase;
    bool in_module;  /* of torch.nn */
    bool is_counted; /* the cost is known */
    bool has_counted_inside;
};

enum key { KEY_DIMS, KEY_OLD_DIMS, KEY_TYPES, KEY_STRIDES, KEY_VALUES, KEY_COUNT };

struct torch_ops {
    const struct trace *trace;
    struct launch_reader *reader;
    struct slice_args args;
    struct arena *arena; /* of one call */
    struct arena *texts_arena;
    uint8_t *categories; /* by type */
    uint8_t *words;      /* by name */
    name_id keys[KEY_COUNT];
    name_id arrow;
    bool has_arrows;
    struct state *states;
    uint32_t state_count, state_capacity;
    struct map64 state_of; /* by slice */
    struct op_cost *costs;
    uint32_t cost_count, cost_capacity;
    struct map64 cost_of_call, cost_of_value;
    struct names *texts;  /* id 0 is "" and no text */
    struct map64 text_of; /* (path, name) */
    struct torch_call call;
};

static enum category category_of(const struct trace *trace, type_id type, name_id cat)
{
    static const struct {
        const char *word;
        enum category category;
    } words[] = {{"cpu_op", CATEGORY_OP},
                 {"Operator", CATEGORY_OP},
                 {"python_function", CATEGORY_PYTHON},
                 {"user_annotation", CATEGORY_MARK}};

    for (uint32_t i = 0; i < trace->types[type].arg_count; i++) {
        const struct arg *arg = &trace->type_args[trace->types[type].first_arg + i];

        for (size_t k = 0; arg->key == cat && arg->type == ARG_STRING && k < COUNT(words); k++)
            if (str_equal(trace_name(trace, (name_id)arg->bits), str_of(words[k].word)))
                return words[k].category;
    }
    return CATEGORY_OTHER;
}

static bool is_torch(const struct trace *trace, name_id *ret_cat)
{
    name_id op;

    return trace_find_name(trace, STR("cat"), ret_cat) &&
           (trace_find_name(trace, STR("cpu_op"), &op) ||
            trace_find_name(trace, STR("Operator"), &op));
}

struct torch_ops *torch_ops_create(const struct trace *trace)
{
    static const char *const keys[KEY_COUNT] = {"Input Dims", "Input dims", "Input type",
                                                "Input Strides", "Concrete Inputs"};
    name_id cat;

    if (!is_torch(trace, &cat))
        return NULL;

    struct torch_ops *ops = memory_zeroed(1, sizeof *ops);

    ops->trace = trace;
    ops->categories = memory_zeroed((size_t)trace->type_count + 1, 1);
    for (type_id type = 0; type < trace->type_count; type++)
        ops->categories[type] = (uint8_t)category_of(trace, type, cat);
    ops->words = memory_zeroed((size_t)trace->name_count + 1, 1);
    for (int key = 0; key < KEY_COUNT; key++)
        if (!trace_find_name(trace, str_of(keys[key]), &ops->keys[key]))
            ops->keys[key] = 0;
    ops->has_arrows = trace_find_name(trace, STR("fwdbwd"), &ops->arrow);
    ops->reader = launch_reader_with_events(trace);
    slice_args_open(&ops->args, trace);
    ops->arena = arena_create();
    ops->texts_arena = arena_create();
    ops->texts = names_create();
    return ops;
}

void torch_ops_free(struct torch_ops *ops)
{
    if (ops == NULL)
        return;
    launch_reader_free(ops->reader);
    slice_args_close(&ops->args);
    arena_destroy(ops->arena);
    arena_destroy(ops->texts_arena);
    names_destroy(ops->texts);
    free(ops->categories);
    free(ops->words);
    free(ops->states);
    free(ops->costs);
    map64_free(&ops->state_of);
    map64_free(&ops->cost_of_call);
    map64_free(&ops->cost_of_value);
    map64_free(&ops->text_of);
    free(ops);
}

static const struct str module_mark = {"nn.Module: ", 11};

/* "AddmmBackward0", "ReluBackward1", "CudnnConvolutionBackward". */
static bool is_backward(struct str name)
{
    while (name.count > 0 && name.at[name.count - 1] >= '0' && name.at[name.count - 1] <= '9')
        name.count--;
    return str_starts(name, STR("autograd::engine::evaluate_function")) ||
           str_ends(name, STR("Backward")) || str_starts(name, STR("torch::autograd::")) ||
           str_equal(name, STR("<backward op>"));
}

static bool is_recomputed(struct str name)
{
    return str_contains(name, STR("CheckpointFunctionBackward")) ||
           (str_contains(name, STR("checkpoint.py")) &&
            (str_contains(name, STR("recompute_fn")) || str_contains(name, STR("unpack_hook"))));
}

static bool is_optimizer(struct str name)
{
    return str_starts(name, STR("Optimizer.")) || str_contains(name, STR("::_fused_adam")) ||
           str_contains(name, STR("::_fused_sgd")) || str_contains(name, STR("::_fused_adagrad"));
}

static bool is_communication(struct str name)
{
    return str_starts(name, STR("c10d::")) || str_equal(name, STR("record_param_comms")) ||
           str_starts(name, STR("nccl:")) || str_starts(name, STR("gloo:")) ||
           str_starts(name, STR("_c10d_functional::"));
}

/* Marks that count up or that PyTorch makes itself are no places. */
static bool is_place(struct str name)
{
    return name.count > 0 && !str_starts(name, STR("ProfilerStep#")) &&
           !str_starts(name, STR("Optimizer.")) && !str_starts(name, STR("PyTorch Profiler")) &&
           !str_starts(name, STR("nccl:")) && !str_starts(name, STR("gloo:")) &&
           !str_starts(name, STR("DistributedDataParallel.")) &&
           !(name.at[name.count - 1] >= '0' && name.at[name.count - 1] <= '9');
}

static unsigned words_of(struct torch_ops *ops, name_id name)
{
    if (name >= ops->trace->name_count)
        return WORD_SEEN;

    uint8_t *known = &ops->words[name];
    struct str text = trace_name(ops->trace, name);

    if (*known == 0)
        *known = (uint8_t)(WORD_SEEN | (str_starts(text, module_mark) ? WORD_MODULE : 0) |
                           (is_backward(text) ? WORD_BACKWARD : 0) |
                           (is_recomputed(text) ? WORD_RECOMPUTED : 0) |
                           (is_optimizer(text) ? WORD_OPTIMIZER : 0) |
                           (is_communication(text) ? WORD_COMMUNICATION : 0) |
                           (torch_is_counted(text) ? WORD_COUNTED : 0) |
                           (is_place(text) ? WORD_PLACE : 0));
    return *known;
}

/* The path with one element more; itself where there is no room for further texts. */
static uint32_t join(struct torch_ops *ops, uint32_t path, name_id name, struct str element)
{
    uint32_t *known = map64_at(&ops->text_of, map64_pair(path, name), UINT32_MAX);

    if (*known != UINT32_MAX)
        return *known;
    if (names_count(ops->texts) >= TEXTS_MAX)
        return path;
    arena_reset(ops->texts_arena);
    struct str text = path == 0
                          ? element
                          : str_format(ops->texts_arena, "%.*s/%.*s",
                                       STR_ARG(names_get(ops->texts, path)), STR_ARG(element));

    *known = names_add(ops->texts, text);
    return *known;
}

static struct str text_of_arg(const struct trace *trace, const struct arg *arg)
{
    bool is_text = arg->type == ARG_JSON || arg->type == ARG_STRING;

    return is_text && arg->bits < trace->name_count ? trace_name(trace, (name_id)arg->bits)
                                                    : STR("");
}

/* The texts of an op's inputs, and which they are. */
static void read_texts(struct torch_ops *ops, event_id event, struct torch_texts *ret,
                       uint32_t ids[KEY_COUNT])
{
    struct str *const texts[KEY_COUNT] = {&ret->dims, &ret->dims, &ret->types, &ret->strides,
                                          &ret->values};
    const struct arg *args;
    type_id type;
    uint32_t count = slice_args_of(&ops->args, event, &args, &type);

    *ret = (struct torch_texts){0};
    memset(ids, 0, KEY_COUNT * sizeof *ids);
    for (uint32_t i = 0; i < count; i++)
        for (int key = 0; key < KEY_COUNT; key++)
            if (ops->keys[key] != 0 && args[i].key == ops->keys[key]) {
                *texts[key] = text_of_arg(ops->trace, &args[i]);
                ids[key] = (uint32_t)args[i].bits;
            }
}

static uint64_t hash_of(const void *at, size_t count)
{
    return hash64((struct bytes){.at = at, .count = count});
}

static uint32_t keep_cost(struct torch_ops *ops, name_id name, const struct op_cost *cost)
{
    struct {
        struct op_cost cost;
        uint64_t name;
    } value = {*cost, name};
    uint32_t *at = map64_at(&ops->cost_of_value, hash_of(&value, sizeof value), NO_COST);

    if (*at != NO_COST)
        return *at;
    if (ops->cost_count == ops->cost_capacity) {
        ops->cost_capacity = ops->cost_capacity * 2 + 64;
        ops->costs = memory_resize(ops->costs, ops->cost_capacity, sizeof *ops->costs);
    }
    ops->costs[ops->cost_count] = *cost;
    *at = ops->cost_count;
    return ops->cost_count++;
}

/* Calls of equal inputs cost the same. */
static uint32_t cost_of(struct torch_ops *ops, name_id name, event_id event)
{
    struct torch_texts texts;
    uint32_t ids[KEY_COUNT + 1];

    read_texts(ops, event, &texts, ids);
    ids[KEY_COUNT] = name;

    uint64_t key = hash_of(ids, sizeof ids);
    uint32_t known;

    if (map64_get(&ops->cost_of_call, key, &known))
        return known;

    struct op_cost cost;

    arena_reset(ops->arena);
    torch_call_read(&texts, ops->arena, &ops->call);
    torch_cost(trace_name(ops->trace, name), &ops->call, &cost);
    known = keep_cost(ops, name, &cost);
    *map64_at(&ops->cost_of_call, key, 0) = known;
    return known;
}

/* Does autograd draw an arrow from it to its gradient? */
static bool has_gradient(const struct torch_ops *ops, slice_id slice)
{
    const struct trace *trace = ops->trace;

    for (uint64_t i = flow_first_from(trace, slice);
         i < trace->flow_count && trace->flows[i].from == slice; i++)
        if (trace->flows[i].kind == ops->arrow)
            return true;
    return false;
}

static enum op_phase phase_of(const struct torch_ops *ops, unsigned words, enum category category,
                              const struct state *state, slice_id slice)
{
    enum op_phase around = (enum op_phase)state->phase;

    if ((words & WORD_COMMUNICATION) != 0 && category != CATEGORY_PYTHON)
        return OP_PHASE_COMMUNICATION;
    if ((words & WORD_RECOMPUTED) != 0)
        return OP_PHASE_RECOMPUTATION;
    if ((words & WORD_BACKWARD) != 0 && category == CATEGORY_OP)
        return OP_PHASE_BACKWARD;
    if ((words & WORD_OPTIMIZER) != 0 && category != CATEGORY_PYTHON)
        return OP_PHASE_OPTIMIZER;
    if (around != OP_PHASE_UNKNOWN || category != CATEGORY_OP)
        return around;
    return !ops->has_arrows || state->in_module || has_gradient(ops, slice) ? OP_PHASE_FORWARD
                                                                            : OP_PHASE_UNKNOWN;
}

static uint32_t add_state(struct torch_ops *ops, struct state state)
{
    if (ops->state_count == ops->state_capacity) {
        ops->state_capacity = ops->state_capacity * 2 + 256;
        ops->states = memory_resize(ops->states, ops->state_capacity, sizeof *ops->states);
    }
    ops->states[ops->state_count] = state;
    return ops->state_count++;
}

static uint32_t state_at(struct torch_ops *ops, slice_id slice, int arrows);

/* Where the forward op stands whose gradient this is; 0 not told. */
static uint32_t path_of_forward(struct torch_ops *ops, slice_id slice, int arrows)
{
    const struct trace *trace = ops->trace;

    if (!ops->has_arrows || arrows == ARROWS_MAX)
        return 0;
    for (uint64_t i = flow_first_to(trace, slice); i < trace->flow_count; i++) {
        const struct flow *flow = &trace->flows[trace->flow_by_to[i]];

        if (flow->to != slice)
            break;
        if (flow->kind != ops->arrow || flow->from == slice)
            continue;

        uint32_t state = state_at(ops, flow->from, arrows + 1); /* states may move */

        return ops->states[state].path;
    }
    return 0;
}

static struct str element_of(const struct torch_ops *ops, name_id name, unsigned words)
{
    struct str text = trace_name(ops->trace, name);

    return (words & WORD_MODULE) != 0 ? str_skip(text, module_mark.count) : text;
}

static void enter_op(struct torch_ops *ops, const struct launch_call *at, slice_id slice,
                     unsigned words, struct state *state, uint32_t above)
{
    struct op_cost none;

    state->above = above;
    state->op = ops->state_count; /* it is added next */
    state->caller = at->name;
    state->instance = slice;
    state->has_counted_inside = false;
    if ((words & WORD_COUNTED) != 0) {
        state->cost = cost_of(ops, at->name, at->event);
    } else {
        torch_cost(trace_name(ops->trace, at->name), &(struct torch_call){0}, &none);
        state->cost = keep_cost(ops, at->name, &none);
    }
    state->is_counted = ops->costs[state->cost].flops_rule == COST_SHAPES ||
                        ops->costs[state->cost].bytes_rule == COST_SHAPES;
}

static enum category category_at(struct torch_ops *ops, event_id event)
{
    const struct arg *args;
    type_id type;

    (void)slice_args_of(&ops->args, event, &args, &type);
    return type < ops->trace->type_count ? (enum category)ops->categories[type] : CATEGORY_OTHER;
}

/* The state inside a slice, of that around it. */
static uint32_t enter(struct torch_ops *ops, const struct launch_call *at, slice_id slice,
                      uint32_t around, int arrows)
{
    enum category category = category_at(ops, at->event);
    struct state state = ops->states[around];

    if (category == CATEGORY_OTHER)
        return around;

    unsigned words = words_of(ops, at->name);
    enum op_phase phase = phase_of(ops, words, category, &state, slice);

    if (category == CATEGORY_PYTHON && (words & WORD_MODULE) == 0 && phase == state.phase)
        return around;
    state.phase = (uint8_t)phase;
    state.in_module |= (words & WORD_MODULE) != 0;
    if ((words & WORD_MODULE) != 0 || (category == CATEGORY_MARK && (words & WORD_PLACE) != 0))
        state.path = join(ops, state.path, at->name, element_of(ops, at->name, words));
    if (phase == OP_PHASE_BACKWARD && (words & WORD_BACKWARD) != 0 && category == CATEGORY_OP) {
        uint32_t path = path_of_forward(ops, slice, arrows);

        state.path = path != 0 ? path : state.path;
    }
    if (category == CATEGORY_OP)
        enter_op(ops, at, slice, words, &state, ops->states[around].op);
    return add_state(ops, state);
}

/* Up to a slice that is known, and down again. */
static uint32_t state_at(struct torch_ops *ops, slice_id slice, int arrows)
{
    struct launch_call calls[DEPTH_MAX];
    slice_id slices[DEPTH_MAX];
    uint32_t count = 0, state = 0;

    while (slice != NO_SLICE && count < DEPTH_MAX && !map64_get(&ops->state_of, slice, &state) &&
           launch_read(ops->reader, slice, &calls[count])) {
        slices[count] = slice;
        slice = calls[count++].parent;
    }
    while (count-- > 0) {
        state = enter(ops, &calls[count], slices[count], state, arrows);
        *map64_at(&ops->state_of, slices[count], 0) = state;
    }
    return state;
}

static uint32_t state_of_call(struct torch_ops *ops, slice_id call)
{
    if (ops->state_count == 0)
        (void)add_state(ops, (struct state){.cost = NO_COST, .instance = NO_SLICE});
    return state_at(ops, call, 0);
}

void torch_ops_see(struct torch_ops *ops, slice_id call)
{
    uint32_t state = state_of_call(ops, call), at = ops->states[state].op;

    if (!ops->states[at].is_counted)
        return;
    for (at = ops->states[at].above; at != 0 && !ops->states[at].has_counted_inside;
         at = ops->states[at].above)
        ops->states[at].has_counted_inside = true;
}

/* Whose cost it is: the op itself, else the first one around it that is counted as a whole. */
static uint32_t bearer_of(const struct torch_ops *ops, uint32_t op)
{
    uint32_t at = op;

    while (at != 0 && !ops->states[at].is_counted)
        at = ops->states[at].above;
    return at == 0 || (at != op && ops->states[at].has_counted_inside) ? op : at;
}

void torch_ops_of(struct torch_ops *ops, slice_id call, struct torch_launch *ret)
{
    uint32_t first = ops->trace->name_count - 1; /* text 1 is the first one behind the names */
    uint32_t inside = state_of_call(ops, call);
    struct state state = ops->states[inside];

    *ret = (struct torch_launch){.cost = NO_COST, .instance = NO_SLICE};
    if (state.op == 0)
        return;

    const struct state *bearer = &ops->states[bearer_of(ops, state.op)];
    uint32_t scope = join(ops, state.path, state.caller, trace_name(ops->trace, state.caller));

    *ret = (struct torch_launch){
        .caller = state.caller,
        .module = state.path == 0 ? 0 : first + state.path,
        .scope = scope == 0 ? 0 : first + scope,
        .phase = (enum op_phase)state.phase,
        .cost = bearer->cost,
        .instance = bearer->instance,
    };
}

const struct op_cost *torch_ops_cost(const struct torch_ops *ops, uint32_t cost)
{
    return &ops->costs[cost];
}

struct str torch_ops_text(const struct torch_ops *ops, uint32_t text)
{
    return names_get(ops->texts, text + 1);
}

uint32_t torch_ops_text_count(const struct torch_ops *ops)
{
    return names_count(ops->texts) - 1;
}
