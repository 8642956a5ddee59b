/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of a run and of files beside it: copies that are one, time that is measured,
 * neighbours. */
#include "unit/analyse/made_run.h"

#include "analyse/hlo/hlo.h"

struct made_program {
    uint64_t id;
    const char *name;
    enum program_form form;
    enum program_stage stage;
    const char *file; /* its name, where it is no host */
    uint64_t fingerprint;
    bool has_buffers;
};

static void put_program(struct sink *sink, const struct made_program *program)
{
    program_id id = sink_program(sink, program->id, sink_name(sink, str_of(program->name)),
                                 program->fingerprint, BYTES("blob"));

    sink_program_about(sink, id,
                       (struct program_about){
                           .form = program->form,
                           .stage = program->stage,
                           .has_buffers = program->has_buffers,
                       });
}

/* A run of one host with the first program, and of a file beside it for each of the others. */
struct made_files {
    struct made_run host;
    struct made files[8];
    struct host_trace others[8];
};

static void make_files(struct made_files *ret, const struct made_program *programs, uint32_t count)
{
    run_begin(&ret->host);
    put_program(ret->host.made.sink, &programs[0]);
    run_finish(&ret->host);
    for (uint32_t i = 1; i < count; i++) {
        made_begin(&ret->files[i]);
        put_program(ret->files[i].sink, &programs[i]);
        made_finish(&ret->files[i]);
        ret->others[i - 1] =
            (struct host_trace){.trace = &ret->files[i].trace, .name = str_of(programs[i].file)};
    }
    ret->host.run.others = ret->others;
    ret->host.run.other_count = count - 1;
}

static void free_files(struct made_files *files, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        made_end(&files->files[i]);
    run_end(&files->host);
}

static void copies_are_one(void **state)
{
    (void)state;
    const struct made_program programs[] = {
        {36, "jit_f", PROGRAM_PROTO, STAGE_AFTER, "", 7, true},
        {1, "jit_f", PROGRAM_PROTO, STAGE_UNKNOWN,
         "d/module_0036.jit_f.sm_8.0_gpu_after_optimizations.hlo.pb", 7, false},
        {0, "jit_f", PROGRAM_TEXT, STAGE_UNKNOWN,
         "d/module_0036.jit_f.sm_8.0_gpu_after_optimizations.txt", 99, false},
        {0, "jit_f", PROGRAM_TEXT, STAGE_UNKNOWN, "d/module_0036.jit_f.before_optimizations.txt",
         98, false},
        {0, "jit_f", PROGRAM_TEXT, STAGE_UNKNOWN, "d/module_0036.jit_f.0001.a.txt", 98, false},
        {0, "jit_f", PROGRAM_TEXT, STAGE_UNKNOWN, "d/module_0036.jit_f.0000.a.txt", 98, false},
        {36, "jit_f", PROGRAM_PROTO, STAGE_AFTER, "f.pb", 8, true}, /* not the same program */
        {3, "jit_g", PROGRAM_PROTO, STAGE_UNKNOWN, "g.pb", 1, false},
    };
    const struct {
        const char *key;
        uint32_t copies;
        const char *pair;
    } wanted[] = {
        {"jit_g(3)", 1, NULL},
        {"jit_f(36).before_optimizations", 1, "jit_f(36)"},
        {"jit_f(36).0000.a", 1, NULL},
        {"jit_f(36).0001.a", 1, NULL},
        {"jit_f(36)", 2, "jit_f(36).before_optimizations"},
        {"jit_f(36)#2", 2, NULL},
    };
    struct arena *arena = arena_create();
    struct made_files *files = arena_new(arena, struct made_files);
    struct hlo_modules modules;

    make_files(files, programs, COUNT(programs));
    hlo_modules(&files->host.run, arena, &modules);
    CHECK_INT("modules", modules.count, COUNT(wanted));
    for (size_t i = 0; i < COUNT(wanted); i++) {
        const struct hlo_listed *listed = &modules.items[i];
        CHECK_STR(wanted[i].key, listed->key, wanted[i].key);
        CHECK_INT(wanted[i].key, listed->copy_count, wanted[i].copies);
        CHECK_STR(wanted[i].key,
                  listed->pair == HLO_NONE ? STR("") : modules.items[listed->pair].key,
                  wanted[i].pair == NULL ? "" : wanted[i].pair);
    }
    CHECK("the best copy has buffers", modules.items[4].copies[0].program->has_buffers);
    CHECK_STR("a stage's name from any copy", modules.items[4].stage_name,
              "sm_8.0_gpu_after_optimizations");
    free_files(files, COUNT(programs));
    arena_destroy(arena);
}

static void picked(void **state)
{
    (void)state;
    const struct made_program programs[] = {
        {36, "jit_f", PROGRAM_PROTO, STAGE_AFTER, "", 0xabc, true},
        {37, "jit_f", PROGRAM_PROTO, STAGE_AFTER, "jit_f(37).hlo_proto.pb", 8, true},
        {0, "jit_f", PROGRAM_TEXT, STAGE_UNKNOWN, "module_0036.jit_f.before_optimizations.txt", 98,
         false},
    };
    const struct {
        const char *asked, *key; /* "" none */
        uint32_t others;
    } rows[] = {
        {"jit_f(37)", "jit_f(37)", 0},
        {"jit_f(36).before_optimizations", "jit_f(36).before_optimizations", 0},
        {"36", "jit_f(36)", 0},
        {"0000000000000abc", "jit_f(36)", 0},
        {"jit_f", "jit_f(36)", 1},
        {"jit", "", 0},
        {"", "", 0},
        {"99999999999999999999", "", 0},
    };
    struct arena *arena = arena_create();
    struct made_files *files = arena_new(arena, struct made_files);
    struct hlo_modules modules;

    make_files(files, programs, COUNT(programs));
    hlo_modules(&files->host.run, arena, &modules);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct hlo_listed *listed;
        struct error err = {0};
        uint32_t others;
        enum status status =
            hlo_pick(&modules, str_of(rows[i].asked), arena, &listed, &others, &err);
        CHECK_INT(rows[i].asked, status, rows[i].key[0] == '\0' ? ERR_NOT_FOUND : OK);
        CHECK_STR(rows[i].asked, status == OK ? listed->key : STR(""), rows[i].key);
        CHECK_INT(rows[i].asked, others, rows[i].others);
    }
    free_files(files, COUNT(programs));
    arena_destroy(arena);
}

static void measured(void **state)
{
    (void)state;
    static const char *const names[] = {"dot.1", "a", "add.2", "b", NULL};
    struct arena *arena = arena_create();
    struct made_run run;
    struct hlo_modules modules;
    struct hlo_measure measure;

    run_begin(&run);
    run_program(&run, 36, "jit_f", 5, names);
    track_id thread = run_thread(&run, "worker");
    run_cpu_op(&run, thread, 0, 10, "dot.1", 36, 1, 0, 0);
    run_cpu_op(&run, thread, 20, 5, "add.2", 36, 1, 0, 0);
    run_cpu_op(&run, thread, 30, 7, "dot.1", 36, 2, 0, 0);
    run_cpu_op(&run, thread, 40, 1, "dot.1", 99, 3, 0, 0); /* of a program that is not there */
    run_finish(&run);
    hlo_modules(&run.run, arena, &modules);
    CHECK_INT("modules", modules.count, 1);
    CHECK("measured", modules.items[0].is_measured);
    CHECK_INT("executions", modules.items[0].execution_count, 2);
    CHECK_INT("self", modules.items[0].self_ps, 22);
    hlo_measure(&run.run, &modules.items[0], &measure);
    CHECK_INT("dot.1", hlo_cost_of(&measure, STR("dot.1"))->self_ps, 17);
    CHECK_INT("dot.1", hlo_cost_of(&measure, STR("dot.1"))->execution_count, 2);
    CHECK_INT("add.2", hlo_cost_of(&measure, STR("add.2"))->self_ps, 5);
    CHECK("not run", hlo_cost_of(&measure, STR("mul.3")) == NULL);
    hlo_measure_free(&measure);
    run_end(&run);
    arena_destroy(arena);
}

/* A profile without HLO and a dump beside it meet by the module's name. */
static void measured_by_name(void **state)
{
    (void)state;
    const struct {
        const char *what, *file, *second; /* "" none */
        bool measured;
    } rows[] = {
        {"after", "module_0036.jit_f.cpu_after_optimizations.txt", "", true},
        {"before", "module_0036.jit_f.before_optimizations.txt", "", false},
        {"two of a name", "module_0036.jit_f.cpu_after_optimizations.txt",
         "module_0037.jit_f.cpu_after_optimizations.txt", false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct made_run run;
        struct made beside;
        struct host_trace others[2];
        struct hlo_modules modules;
        struct hlo_measure measure;

        run_begin(&run);
        track_id thread = run_thread(&run, "worker");
        for (int64_t k = 0; k < 3; k++)
            run_cpu_op(&run, thread, 20 * k, 5, k < 2 ? "dot.1" : "add.2", 36, k + 1, 0, 0);
        run_finish(&run);
        made_begin(&beside);
        put_program(beside.sink, &(struct made_program){.name = "jit_f", .form = PROGRAM_TEXT});
        made_finish(&beside);
        others[0] = (struct host_trace){.trace = &beside.trace, .name = str_of(rows[i].file)};
        others[1] = (struct host_trace){.trace = &beside.trace, .name = str_of(rows[i].second)};
        run.run.others = others;
        run.run.other_count = rows[i].second[0] == '\0' ? 1 : 2;
        hlo_modules(&run.run, arena, &modules);
        CHECK_INT(rows[i].what, modules.items[0].is_measured, rows[i].measured);
        CHECK_INT(rows[i].what, modules.items[0].self_ps, rows[i].measured ? 15 : 0);
        CHECK_INT(rows[i].what, modules.items[0].execution_count, rows[i].measured ? 2 : 0);
        CHECK(rows[i].what, rows[i].measured || modules.items[0].reason.count > 0);
        hlo_measure(&run.run, &modules.items[0], &measure);
        const struct hlo_cost *dot = hlo_cost_of(&measure, STR("dot.1"));
        CHECK_INT(rows[i].what, dot == NULL ? 0 : dot->self_ps, rows[i].measured ? 10 : 0);
        hlo_measure_free(&measure);
        made_end(&beside);
        run_end(&run);
        arena_destroy(arena);
    }
}

/* a -> b -> c -> d -> e, and f beside b */
static void neighbours(void **state)
{
    (void)state;
    const struct bytes text = BYTES("HloModule m\nENTRY %e () -> f32[] {\n"
                                    "  %a = f32[] constant(1)\n"
                                    "  %b = f32[] negate(%a)\n"
                                    "  %f = f32[] negate(%a)\n"
                                    "  %c = f32[] add(%b, %b)\n"
                                    "  %d = f32[] negate(%c)\n"
                                    "  ROOT %g = f32[] add(%d, %f)\n"
                                    "}\n");
    const struct {
        const char *of, *around; /* name:distance, in the order of the answer */
    } rows[] = {
        {"a", "b:1 f:1 c:2 g:2 "},
        {"c", "b:-1 a:-2 d:1 g:2 "},
        {"g", "d:-1 f:-1 c:-2 a:-2 "},
    };
    struct arena *arena = arena_create();
    struct hlo_module module;
    struct error err = {0};

    CHECK_OK("read", hlo_module_read(text, PROGRAM_TEXT, arena, &module, &err), &err);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct hlo_neighbour *found;
        struct text line = {0};
        uint32_t left_out,
            count = hlo_around(&module, hlo_module_find(&module, str_of(rows[i].of)), HLO_HOPS,
                               HLO_NEIGHBOURS_MAX, arena, &found, &left_out);
        for (uint32_t k = 0; k < count; k++)
            text_putf(&line, "%.*s:%d ", STR_ARG(module.instructions[found[k].instruction].name),
                      found[k].distance);
        CHECK_STR(rows[i].of, text_str(&line), rows[i].around);
        CHECK_INT(rows[i].of, left_out, 0);
        text_free(&line);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_one), cmocka_unit_test(picked),
        cmocka_unit_test(measured),       cmocka_unit_test(measured_by_name),
        cmocka_unit_test(neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
