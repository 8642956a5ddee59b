/* SPDX-License-Identifier: Apache-2.0 */
/* Modules built field by field: instructions, categories, fingerprints, the user's own line. */
#include "decode/hlo/hlo.h"
#include "made_space.h"

/* A module under construction: instructions go into `computation`, that into `module`. */
struct made_hlo {
    struct text instruction, metadata, computation, module, frames, part;
};

static void put_instruction(struct made_hlo *made, const char *name, const char *opcode)
{
    struct text whole = {0};

    put_text(&whole, 1, name);
    put_text(&whole, 2, opcode);
    if (made->metadata.count > 0)
        put_message(&made->instruction, 7, &made->metadata);
    text_put(&whole, made->instruction.at, made->instruction.count);
    made->instruction.count = 0;
    put_message(&made->computation, 2, &whole);
    text_free(&whole);
}

static struct bytes end_module(struct made_hlo *made, struct text *proto, const char *name)
{
    struct text module = {0};

    put_text(&module, 1, name);
    text_put(&module, made->module.at, made->module.count);
    if (made->frames.count > 0)
        put_message(&module, 17, &made->frames);
    made->module.count = 0;
    proto->count = 0;
    put_message(proto, 1, &module);
    text_free(&module);
    return proto_bytes(proto);
}

static void free_hlo(struct made_hlo *made)
{
    text_free(&made->instruction);
    text_free(&made->metadata);
    text_free(&made->computation);
    text_free(&made->module);
    text_free(&made->frames);
    text_free(&made->part);
}

struct fed { /* protos for one sink, and the index they leave */
    struct bytes protos[4];
    size_t count;
    struct hlo_index index;
    bool whole;
};

static void feed(struct sink *sink, void *data)
{
    struct fed *fed = data;

    sink_format(sink, "xplane");
    fed->whole = true;
    for (size_t i = 0; i < fed->count; i++) {
        const struct hlo_source source = {.id = UINT64_MAX - i, .name = STR("fallback")};
        fed->whole &= hlo_decode(&fed->index, sink, &source, fed->protos[i]);
    }
}

static struct str name_of(const struct trace *trace, name_id id)
{
    return trace_name(trace, id);
}

static const struct instruction *find(const struct trace *trace, const char *name)
{
    name_id id;

    CHECK(name, trace_find_name(trace, str_of(name), &id));
    const struct instruction *found = trace_instruction(trace, 0, id);
    CHECK(name, found != NULL);
    return found;
}

static void instructions(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made_hlo made = {0};
    struct text proto = {0};

    put_text(&made.metadata, 1, "dot_general");
    put_text(&made.metadata, 2, "jit(f)/layer_0/dot_general");
    put_text(&made.metadata, 3, "model.py");
    put_number(&made.metadata, 4, 41);
    put_instruction(&made, "dot.1", "dot");
    put_text(&made.instruction, 11, "kLoop");
    put_number(&made.metadata, 15, 2);
    put_instruction(&made, "fusion.3", "fusion");
    put_number(&made.metadata, 15, 3);
    put_instruction(&made, "lost.4", "add");
    put_message(&made.module, 3, &made.computation);
    put_text(&made.frames, 1, "a.py");
    put_text(&made.frames, 1, "b.py");
    put_number(&made.part, 1, 2);
    put_number(&made.part, 3, 7);
    put_message(&made.frames, 3, &made.part);
    put_number(&made.part, 1, 9);
    put_message(&made.frames, 4, &made.part);
    put_number(&made.part, 1, 1);
    put_message(&made.frames, 4, &made.part);
    struct fed fed = {.protos = {end_module(&made, &proto, "jit_f")}, .count = 1};
    const struct trace *trace = picture_fed(feed, &fed, arena);

    CHECK("whole", fed.whole);
    CHECK("id", trace->programs[0].id == UINT64_MAX);
    CHECK_STR("program", name_of(trace, trace->programs[0].name), "jit_f");
    CHECK_INT("program", trace->programs[0].instruction_count, 3);
    CHECK_INT("proto", trace->programs[0].blob_bytes, proto.count);
    const struct instruction *dot = find(trace, "dot.1");
    CHECK_STR("opcode", name_of(trace, dot->opcode), "dot");
    CHECK_STR("category", name_of(trace, dot->category), "dot");
    CHECK_STR("scope", name_of(trace, dot->scope), "jit(f)/layer_0/dot_general");
    CHECK_STR("op type", name_of(trace, dot->op_type), "dot_general");
    CHECK_STR("source", name_of(trace, dot->source), "model.py:41");
    CHECK_STR("source by frame", name_of(trace, find(trace, "fusion.3")->source), "b.py:7");
    CHECK_INT("a frame that is not there", find(trace, "lost.4")->source, 0);
    hlo_index_free(&fed.index);
    text_free(&proto);
    free_hlo(&made);
    arena_destroy(arena);
}

static void categories(void **state)
{
    (void)state;
    const struct {
        const char *what, *opcode;
        uint32_t field; /* 11 fusion kind, 28 target, 0 none */
        const char *text;
        bool is_fused;
        const char *category;
    } rows[] = {
        {"loop", "fusion", 11, "kLoop", false, "loop fusion"},
        {"input", "fusion", 11, "kInput", false, "input fusion"},
        {"output", "fusion", 11, "kOutput", false, "output fusion"},
        {"custom", "fusion", 11, "kCustom", false, "custom fusion"},
        {"a kind of tomorrow", "fusion", 11, "kNew", false, "fusion"},
        {"copy", "copy", 0, "", false, "data formatting"},
        {"copy-start", "copy-start", 0, "", false, "copy-start"},
        {"add", "add", 0, "", false, "non-fusion elementwise"},
        {"add in a fusion", "add", 0, "", true, "add"},
        {"tanh", "tanh", 0, "", false, "non-fusion elementwise"},
        {"abs", "abs", 0, "", false, "non-fusion elementwise"},
        {"a part of a word", "round", 0, "", false, "round"},
        {"two words", "add and", 0, "", false, "add and"},
        {"all-reduce", "all-reduce", 0, "", false, "all-reduce"},
        {"custom call", "custom-call", 28, "__cublas$gemm", false, "custom-call __cublas$gemm"},
        {"custom call without target", "custom-call", 0, "", false, "custom-call"},
        {"no opcode", "", 0, "", false, ""},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct made_hlo made = {0};
        struct text proto = {0};
        if (rows[i].field != 0)
            put_text(&made.instruction, rows[i].field, rows[i].text);
        put_instruction(&made, "x", rows[i].opcode);
        put_number(&made.computation, 7, rows[i].is_fused);
        put_message(&made.module, 3, &made.computation);
        struct fed fed = {.protos = {end_module(&made, &proto, "m")}, .count = 1};
        const struct trace *trace = picture_fed(feed, &fed, arena);
        CHECK_STR(rows[i].what, name_of(trace, find(trace, "x")->category), rows[i].category);
        hlo_index_free(&fed.index);
        text_free(&proto);
        free_hlo(&made);
        arena_destroy(arena);
    }
}

struct small { /* a module of one instruction */
    const char *what;
    bool is_same; /* as the first */
    const char *opcode, *scope, *module;
    uint32_t field; /* of the instruction: 0 none */
    const char *value;
};

static struct bytes small_module(struct made_hlo *made, struct text *proto,
                                 const struct small *small)
{
    put_text(&made->metadata, 2, small->scope);
    if (small->field != 0)
        put_text(&made->instruction, small->field, small->value);
    put_instruction(made, "x", small->opcode);
    put_message(&made->module, 3, &made->computation);
    return end_module(made, proto, small->module);
}

/* Of what a program computes: not of scopes, ids, shardings or how it was tuned. */
static void fingerprints(void **state)
{
    (void)state;
    static const struct small rows[] = {
        {"itself", true, "dot", "here", "jit_f", 0, NULL},
        {"another scope", true, "dot", "there", "jit_f", 0, NULL},
        {"numbered", true, "dot", "here", "jit_f", 36, "1"},
        {"tuned", true, "dot", "here", "jit_f", 43, "{}"},
        {"an attribute", true, "dot", "here", "jit_f", 68, "a"},
        {"another opcode", false, "add", "here", "jit_f", 0, NULL},
        {"another function", false, "dot", "here", "jit_g", 0, NULL},
        {"a constant", false, "dot", "here", "jit_f", 8, "7"},
        {"another constant", false, "dot", "here", "jit_f", 8, "8"},
        {"groups", false, "dot", "here", "jit_f", 49, "01"},
    };
    uint64_t found[COUNT(rows)];

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct made_hlo made = {0};
        struct text proto = {0};
        struct fed fed = {.protos = {small_module(&made, &proto, &rows[i])}, .count = 1};
        const struct trace *trace = picture_fed(feed, &fed, arena);

        CHECK_INT(rows[i].what, trace->program_count, 1);
        found[i] = trace->programs[0].fingerprint;
        CHECK(rows[i].what, (found[i] == found[0]) == rows[i].is_same);
        for (size_t k = 0; k < i && !rows[i].is_same; k++)
            CHECK(rows[i].what, found[k] != found[i]);
        hlo_index_free(&fed.index);
        text_free(&proto);
        free_hlo(&made);
        arena_destroy(arena);
    }
}

static void broken(void **state)
{
    (void)state;
    const struct {
        const char *what;
        struct bytes proto;
        bool whole;
        uint32_t programs, instructions;
    } rows[] = {
        {"nothing", BYTES(""), false, 0, 0},
        {"no module", BYTES("\x12\x00"), false, 0, 0},
        {"an empty module", BYTES("\x0a\x00"), true, 1, 0},
        {"a module cut off", BYTES("\x0a\x20\x0a\x01m"), false, 1, 0},
        {"a computation longer than its module", BYTES("\x0a\x06\x0a\x01m\x1a\x09x"), false, 1, 0},
        {"an instruction that is no message",
         BYTES("\x0a\x11\x0a\x01m\x1a\x0c\x12\x02\x0f\x0f\x12\x06\x0a\x01x\x12\x01y"), false, 1, 1},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct fed fed = {.protos = {rows[i].proto}, .count = 1};
        const struct trace *trace = picture_fed(feed, &fed, arena);
        CHECK_INT(rows[i].what, fed.whole, rows[i].whole);
        CHECK_INT(rows[i].what, trace->program_count, rows[i].programs);
        CHECK_INT(rows[i].what, trace->instruction_count, rows[i].instructions);
        hlo_index_free(&fed.index);
        arena_destroy(arena);
    }
}

/* frames 1 train.py:3 <- 2 site-packages/optax/update.py:9 <- 3 jax/_src/lax.py:1;
 *        4 optax alone;  5 its own parent */
static void users_own_line(void **state)
{
    (void)state;
    static const char *const files[] = {"/home/me/train.py", "/env/site-packages/optax/update.py",
                                        "/env/site-packages/jax/_src/lax.py"};
    static const int64_t lines[] = {3, 9, 1};
    static const int64_t frames[][2] = {{1, 0}, {2, 1}, {3, 2}, {2, 0}, {2, 5}};
    const struct {
        const char *name;
        int64_t frame;
        const char *source;
    } rows[] = {
        {"own.1", 1, "/home/me/train.py:3"},
        {"of.package", 2, "/home/me/train.py:3"},
        {"of.jax", 3, "/home/me/train.py:3"},
        {"nobodys", 4, "/env/site-packages/optax/update.py:9"},
        {"endless", 5, "/env/site-packages/optax/update.py:9"},
    };
    struct arena *arena = arena_create();
    struct made_hlo made = {0};
    struct text proto = {0};

    for (size_t i = 0; i < COUNT(rows); i++) {
        put_number(&made.metadata, 15, rows[i].frame);
        put_instruction(&made, rows[i].name, "add");
    }
    put_message(&made.module, 3, &made.computation);
    for (size_t i = 0; i < COUNT(files); i++) {
        put_text(&made.frames, 1, files[i]);
        put_number(&made.part, 1, (int64_t)i + 1);
        put_number(&made.part, 3, lines[i]);
        put_message(&made.frames, 3, &made.part);
    }
    for (size_t i = 0; i < COUNT(frames); i++) {
        put_number(&made.part, 1, frames[i][0]);
        put_number(&made.part, 2, frames[i][1]);
        put_message(&made.frames, 4, &made.part);
    }

    struct fed fed = {.protos = {end_module(&made, &proto, "jit_f")}, .count = 1};
    const struct trace *trace = picture_fed(feed, &fed, arena);

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_STR(rows[i].name, name_of(trace, find(trace, rows[i].name)->source), rows[i].source);
    hlo_index_free(&fed.index);
    text_free(&proto);
    free_hlo(&made);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions), cmocka_unit_test(users_own_line),
        cmocka_unit_test(categories),   cmocka_unit_test(fingerprints),
        cmocka_unit_test(broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
