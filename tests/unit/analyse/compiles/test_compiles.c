/* SPDX-License-Identifier: Apache-2.0 */
/* Compilations found in drawn host slices: phases, nesting, caches, autotuning; sums hold over
 * any partition. */
#include "unit/analyse/made_run.h"

#include "analyse/compiles/compiles.h"
#include "analyse/device/compile_words.h"

static void words(void **state)
{
    (void)state;
    const struct {
        const char *name;
        enum compile_role role;
        enum compile_phase phase;
    } rows[] = {
        {"$compiler.py:292 backend_compile_and_load", COMPILE_BACKEND, PHASE_BACKEND},
        {"$compiler.py:387 compile_or_get_cached", COMPILE_REQUEST, PHASE_OTHER},
        {"$mine.py:387 compile_or_get_cached", COMPILE_NONE, PHASE_OTHER},
        {"$cache_key.py:75 get", COMPILE_PART, PHASE_CACHE},
        {"$<frozen abc>:117 backend_compile", COMPILE_NONE, PHASE_OTHER},
        {"backend_compile", COMPILE_BACKEND, PHASE_BACKEND},
        {"lower_sharding_computation", COMPILE_BEFORE, PHASE_LOWER},
        {"PjitFunction(f)", COMPILE_CALL, PHASE_OTHER},
        {"simplification (jit_f)", COMPILE_PART, PHASE_PASSES},
        {"f()", COMPILE_NONE, PHASE_OTHER},
        {"(x)", COMPILE_NONE, PHASE_OTHER},
        {"", COMPILE_NONE, PHASE_OTHER},
        {"TSL:XlaCompile:#module=jit_f,program_id=3#", COMPILE_WORKER, PHASE_BACKEND},
        {"TSL:XlaPass:#name=triton-autotuner,module=jit_f#", COMPILE_PART, PHASE_AUTOTUNE},
        {"TSL:XlaPass:#name=dce,module=jit_f#", COMPILE_PART, PHASE_PASSES},
        {"TorchDynamo Cache Lookup", COMPILE_NONE, PHASE_OTHER},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct compile_word word = compile_word_of(str_of(rows[i].name));

        CHECK_INT(rows[i].name, word.role, rows[i].role);
        CHECK_INT(rows[i].name, word.phase, rows[i].phase);
    }
}

static void facts_in_names(void **state)
{
    (void)state;
    struct str name = STR("TSL:XlaCompile:#module=jit_f,program_id=3#");

    CHECK_STR("first", compile_fact(name, "module"), "jit_f");
    CHECK_STR("last", compile_fact(name, "program_id"), "3");
    CHECK_STR("a part of a key", compile_fact(name, "mod"), "");
    CHECK_STR("no facts", compile_fact(STR("XlaCompile"), "module"), "");
    CHECK_STR("cut", compile_fact(STR("a:#module=j"), "module"), "j");
    CHECK_STR("empty", compile_fact(STR("a:#module=,b=#"), "module"), "");
    CHECK_STR("function", compile_function(STR("PjitFunction(<lambda>)")), "<lambda>");
    CHECK_STR("no function", compile_function(STR("PjitFunction(")), "");
    CHECK_STR("pipeline", compile_pipeline_module(STR("HLO passes (jit_f)")), "jit_f");
    CHECK_STR("empty pipeline", compile_pipeline_module(STR("HLO passes ()")), "");
    CHECK_STR("jit_", compile_module_function(STR("jit_f")), "f");
    CHECK_STR("jit()", compile_module_function(STR("jit(f)")), "f");
    CHECK_STR("alone", compile_module_function(STR("jit_")), "jit_");
}

static struct compiles find(const struct made_run *run, const struct restriction *restriction)
{
    static const struct restriction nothing;
    struct error err = {0};
    struct compiles compiles;

    CHECK_OK("find",
             compiles_find(&run->run, restriction != NULL ? restriction : &nothing, NULL,
                           run->made.arena, &compiles, &err),
             &err);
    return compiles;
}

static void check_phases(const char *what, const struct compile *compile,
                         const int64_t want_ps[PHASE_COUNT])
{
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        if (compile->phases_ps[phase] != want_ps[phase])
            check_failed(__FILE__, __LINE__, what, "phase %d: %lld, not %lld", phase,
                         (long long)compile->phases_ps[phase], (long long)want_ps[phase]);
    }
}

/*  python  train 7  |------------------------------------|           0 .. 200
 *          call f   |---------------------------------|              10 .. 190
 *           trace     |---|                                          20 .. 50
 *           lower          |--|                                      60 .. 80
 *           request            |-----------------|                   90 .. 180
 *            cache key          |-|                                  95 .. 100
 *            backend                |----------|                     110 .. 170
 *  pool       compile                 |-------|                      115 .. 165
 *              passes                  |-|                           120 .. 130
 *              codegen                    |--|                       130 .. 160              */
static void one_compile(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id python = run_thread(&run, "python"), pool = run_thread(&run, "pool");
    run_slice(&run, python, 0, 200, "train", KIND_HOST);
    run_int(&run, "_r", 1);
    run_int(&run, "step_num", 7);
    run_slice(&run, python, 10, 180, "PjitFunction(f)", KIND_HOST);
    run_slice(&run, python, 11, 179, "PjitFunction(f)", KIND_HOST);
    run_slice(&run, python, 20, 30, "$partial_eval.py:2268 trace_to_jaxpr", KIND_HOST);
    run_slice(&run, python, 25, 5, "$lax.py:1190 mul", KIND_HOST);
    run_slice(&run, python, 60, 20, "lower_sharding_computation", KIND_HOST);
    run_slice(&run, python, 90, 90, "$compiler.py:387 compile_or_get_cached", KIND_COMPILE);
    run_slice(&run, python, 95, 5, "$cache_key.py:75 get", KIND_HOST);
    run_slice(&run, python, 110, 60, "backend_compile_and_load", KIND_COMPILE);
    run_slice(&run, pool, 115, 50, "PjRtCpuClient::Compile", KIND_COMPILE);
    run_slice(&run, pool, 120, 10, "simplification (jit_f)", KIND_COMPILE);
    run_slice(&run, pool, 122, 2, "dce", KIND_COMPILE);
    run_slice(&run, pool, 130, 30, "CpuCompiler::RunBackend", KIND_COMPILE);
    run_text(&run, "name", "jit_f");
    run_finish(&run);

    struct compiles compiles = find(&run, NULL);

    CHECK_INT("one", compiles.count, 1);
    CHECK_STR("function", compiles.items[0].function, "f");
    CHECK_STR("module", compiles.items[0].module, "jit_f");
    CHECK("in a step", compiles.items[0].in_step);
    CHECK_INT("step", compiles.items[0].step, 7);
    CHECK_INT("from its call", compiles.items[0].start_ps, 10);
    CHECK_INT("to its end", compiles.items[0].end_ps, 180);
    CHECK_INT("compiled", compiles.items[0].cached, CACHED_NO);
    check_phases("phases", &compiles.items[0],
                 (int64_t[PHASE_COUNT]){[PHASE_TRACE] = 30,
                                        [PHASE_LOWER] = 20,
                                        [PHASE_CACHE] = 5,
                                        [PHASE_PASSES] = 10,
                                        [PHASE_CODEGEN] = 30,
                                        [PHASE_BACKEND] = 20,
                                        [PHASE_OTHER] = 55});
    CHECK_INT("they sum to the whole", compile_total(&compiles.items[0]), 170);
    CHECK_INT("backend", compile_backend(&compiles.items[0]), 60);
    run_end(&run);
}

/*  call f |-----------------------------------------|    0 .. 100
 *   trace  |--------------------|                        10 .. 60
 *    call g   |-----------|                              20 .. 50
 *     lower    |-|                                       25 .. 30
 *     backend     |----|                                 30 .. 45
 *   lower                        |-|                     60 .. 65
 *   backend                          |------|            70 .. 90      g's are not f's */
static void nested(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id python = run_thread(&run, "python");
    run_slice(&run, python, 0, 100, "PjitFunction(f)", KIND_HOST);
    run_slice(&run, python, 10, 50, "trace_to_jaxpr_dynamic", KIND_HOST);
    run_slice(&run, python, 20, 30, "PjitFunction(g)", KIND_HOST);
    run_slice(&run, python, 25, 5, "lower_sharding_computation", KIND_HOST);
    run_slice(&run, python, 30, 15, "backend_compile", KIND_COMPILE);
    run_slice(&run, python, 60, 5, "lower_sharding_computation", KIND_HOST);
    run_slice(&run, python, 70, 20, "backend_compile", KIND_COMPILE);
    run_finish(&run);

    struct compiles compiles = find(&run, NULL);

    CHECK_INT("two", compiles.count, 2);
    CHECK_STR("the outer begins first", compiles.items[0].function, "f");
    check_phases(
        "f", &compiles.items[0],
        (int64_t[PHASE_COUNT]){
            [PHASE_TRACE] = 25, [PHASE_LOWER] = 5, [PHASE_BACKEND] = 20, [PHASE_OTHER] = 15});
    check_phases(
        "g", &compiles.items[1],
        (int64_t[PHASE_COUNT]){[PHASE_TRACE] = 5, [PHASE_LOWER] = 5, [PHASE_BACKEND] = 15});
    CHECK_INT("no moment counts twice",
              compile_total(&compiles.items[0]) + compile_total(&compiles.items[1]), 90);
    CHECK("no steps", !compiles.has_steps && !compiles.items[0].in_step);
    CHECK("nothing says passes", (compiles.items[0].seen >> PHASE_PASSES & 1) == 0);
    run_end(&run);
}

/* Two threads compile at once: each worker belongs to the latest that waits for it. A worker that
 * no one waits for is a compile of its own, a trace without a compile is none. */
static void threads(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id one = run_thread(&run, "one"), two = run_thread(&run, "two");
    track_id pool = run_thread(&run, "pool"), other = run_thread(&run, "other");
    run_slice(&run, one, 0, 100, "backend_compile", KIND_COMPILE);
    run_slice(&run, two, 10, 60, "backend_compile", KIND_COMPILE);
    run_slice(&run, two, 200, 50, "PjitFunction(h)", KIND_HOST);
    run_slice(&run, two, 205, 5, "trace_to_jaxpr", KIND_HOST);
    run_slice(&run, pool, 20, 40, "PjRtCpuClient::Compile", KIND_COMPILE);
    run_slice(&run, pool, 25, 10, "passes (jit_two)", KIND_COMPILE);
    run_slice(&run, pool, 80, 30, "PjRtCpuClient::Compile", KIND_COMPILE);
    run_slice(&run, other, 5, 80, "CpuCompiler::RunBackend", KIND_COMPILE);
    run_text(&run, "name", "jit_one");
    run_finish(&run);

    struct compiles compiles = find(&run, NULL);

    CHECK_INT("three", compiles.count, 3);
    CHECK_STR("first", compiles.items[0].function, "one");
    check_phases("first", &compiles.items[0],
                 (int64_t[PHASE_COUNT]){[PHASE_CODEGEN] = 80, [PHASE_BACKEND] = 20});
    CHECK_STR("second", compiles.items[1].function, "two");
    check_phases("second", &compiles.items[1],
                 (int64_t[PHASE_COUNT]){[PHASE_PASSES] = 10, [PHASE_BACKEND] = 50});
    CHECK_INT("beyond all that wait", compiles.items[2].start_ps, 80);

    struct restriction window = {.has_window = true, .start_ps = 5, .end_ps = 50};

    CHECK_INT("those that begin in a window", find(&run, &window).count, 1);
    run_end(&run);
}

/* A request that compiles nothing took it from the cache. */
static void cached(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id python = run_thread(&run, "python");
    run_slice(&run, python, 0, 100, "PjitFunction(f)", KIND_HOST);
    run_slice(&run, python, 10, 80, "$compiler.py:387 compile_or_get_cached", KIND_COMPILE);
    run_slice(&run, python, 20, 30, "$compilation_cache.py:200 get_executable_and_time", KIND_HOST);
    run_finish(&run);

    struct compiles compiles = find(&run, NULL);

    CHECK_INT("one", compiles.count, 1);
    CHECK_INT("cached", compiles.items[0].cached, CACHED_YES);
    CHECK_INT("nothing compiled", compile_backend(&compiles.items[0]), 0);
    check_phases(
        "phases", &compiles.items[0],
        (int64_t[PHASE_COUNT]){[PHASE_TRACE] = 10, [PHASE_CACHE] = 30, [PHASE_OTHER] = 50});
    run_end(&run);
}

static void autotuning(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id main = run_thread(&run, "main");
    run_slice(&run, main, 0, 100, "TSL:XlaCompile:#module=jit_f,program_id=3#", KIND_COMPILE);
    run_slice(&run, main, 10, 60, "TSL:XlaPass:#name=triton-autotuner,module=jit_f#", KIND_HOST);
    run_slice(&run, main, 20, 30, "TSL:XlaCompileGpuAsm:#module=gemm#", KIND_COMPILE);
    run_slice(&run, main, 80, 10, "TSL:XlaPass:#name=dce,module=jit_f#", KIND_HOST);
    run_finish(&run);

    struct compiles compiles = find(&run, NULL);

    CHECK_INT("one", compiles.count, 1);
    CHECK_STR("module", compiles.items[0].module, "jit_f");
    CHECK_STR("function of the module", compiles.items[0].function, "f");
    check_phases(
        "what autotuning compiles is autotuning", &compiles.items[0],
        (int64_t[PHASE_COUNT]){[PHASE_PASSES] = 10, [PHASE_AUTOTUNE] = 60, [PHASE_BACKEND] = 30});
    run_end(&run);
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* A call that traces, lowers and compiles, with another one inside of its tracing now and then.
 * Returns where it ends; what is compiled, and what calls that compile span, is added up. */
static int64_t random_call(struct made_run *run, track_id python, track_id pool, int64_t start_ps,
                           int depth, uint64_t *random, int64_t *compiled_ps, uint32_t *count)
{
    int64_t traced_ps = 1 + (int64_t)(next_random(random) % 20);
    int64_t lowered_ps = 1 + (int64_t)(next_random(random) % 20);
    int64_t backend_ps = 10 + (int64_t)(next_random(random) % 90);
    int64_t inner_end_ps = start_ps + 5;
    static const char *const functions[] = {"PjitFunction(f)", "PjitFunction(g)",
                                            "PjitFunction(h)"};
    const char *name = functions[next_random(random) % COUNT(functions)];
    bool nests = depth < 3 && next_random(random) % 3 == 0;
    /* A picture is drawn from the outside in: the lengths of what is inside come first. */
    uint64_t before = *random;
    int64_t ignored_ps = 0;
    uint32_t ignored = 0;

    if (nests)
        inner_end_ps =
            random_call(NULL, python, pool, start_ps + 5, depth + 1, random, &ignored_ps, &ignored);

    int64_t trace_end_ps = inner_end_ps + traced_ps;
    int64_t backend_at_ps = trace_end_ps + lowered_ps + 3;
    int64_t end_ps = backend_at_ps + backend_ps + 7;

    (*count)++;
    if (run == NULL)
        return end_ps;
    run_slice(run, python, start_ps, end_ps - start_ps, name, KIND_HOST);
    run_slice(run, python, start_ps + 2, trace_end_ps - start_ps - 2, "trace_to_jaxpr_dynamic",
              KIND_HOST);
    if (nests) {
        uint64_t again = before;

        random_call(run, python, pool, start_ps + 5, depth + 1, &again, compiled_ps, count);
    }
    run_slice(run, python, trace_end_ps + 1, lowered_ps, "lower_sharding_computation", KIND_HOST);
    run_slice(run, python, backend_at_ps, backend_ps, "backend_compile", KIND_COMPILE);
    run_slice(run, pool, backend_at_ps + 1, backend_ps - 2, "PjRtCpuClient::Compile", KIND_COMPILE);
    run_slice(run, pool, backend_at_ps + 2, backend_ps / 2, "passes (jit_x)", KIND_COMPILE);
    if (depth == 0)
        *compiled_ps += backend_at_ps + backend_ps - start_ps;
    return end_ps;
}

/* However compiles nest, phases sum to the time from the outermost call to its compile's end, and
 * both tables and the parts of a partition say the same. */
static void sums(void **state)
{
    (void)state;

    for (uint64_t seed = 1; seed <= 400; seed++) {
        uint64_t random = seed * 0x9e3779b97f4a7c15;
        struct made_run run;
        int64_t want_ps = 0, at_ps = 0, got_ps = 0, parts_ps = 0;
        uint32_t want = 0;

        run_begin(&run);
        track_id python = run_thread(&run, "python"), pool = run_thread(&run, "pool");

        for (uint64_t calls = 1 + next_random(&random) % 6; calls > 0; calls--)
            at_ps = 10 + random_call(&run, python, pool, at_ps, 0, &random, &want_ps, &want);
        run_finish(&run);

        struct compiles compiles = find(&run, NULL);

        for (uint32_t i = 0; i < compiles.count; i++) {
            got_ps += compile_total(&compiles.items[i]);
            for (int phase = 0; phase < PHASE_COUNT; phase++)
                CHECK("no phase is negative", compiles.items[i].phases_ps[phase] >= 0);
        }
        CHECK_INT("as many", compiles.count, want);
        CHECK_INT("sum of phases", got_ps, want_ps);

        static const char *const by[] = {"function", "compile"};

        for (size_t i = 0; i < COUNT(by); i++) {
            static const struct restriction everything;
            struct page page = {.limit = 10000};
            struct error err = {0};
            struct table table;
            int64_t sum_ps = 0, phases_ps = 0;

            CHECK_OK(by[i],
                     compiles_table(&run.run, &everything, NULL, str_of(by[i]), &page,
                                    run.made.arena, &table, &err),
                     &err);
            for (uint32_t row = 0; row < table.row_count; row++) {
                static const char *const phases[] = {"trace_ps",    "lower_ps",   "cache_ps",
                                                     "passes_ps",   "codegen_ps", "autotune_ps",
                                                     "compiler_ps", "other_ps"};

                sum_ps += cell_of(&table, row, "total_ps")->of.integer;
                for (size_t at = 0; at < COUNT(phases); at++) {
                    const struct cell *cell = cell_of(&table, row, phases[at]);

                    phases_ps += cell->kind == CELL_INTEGER ? cell->of.integer : 0;
                }
            }
            CHECK_INT(by[i], sum_ps, want_ps);
            CHECK_INT(by[i], phases_ps, want_ps);
            CHECK_INT(by[i], table.total_ps, want_ps);
        }

        int64_t cut_ps = (int64_t)(next_random(&random) % (uint64_t)at_ps);

        for (int part = 0; part < 2; part++) {
            struct restriction window = {.has_window = true,
                                         .start_ps = part == 0 ? -1 : cut_ps,
                                         .end_ps = part == 0 ? cut_ps : INT64_MAX};

            if (window.start_ps >= window.end_ps)
                continue;
            compiles = find(&run, &window);
            for (uint32_t i = 0; i < compiles.count; i++)
                parts_ps += compile_total(&compiles.items[i]);
        }
        CHECK_INT("parts of a partition", parts_ps, want_ps);
        run_end(&run);
    }
}

/* Where nothing of the kind was recorded the table says why. */
static void nothing(void **state)
{
    (void)state;
    struct made_run run;
    struct table table;
    struct error err = {0};
    const struct restriction everything = {0};
    const struct page page = {.limit = 10};

    run_begin(&run);
    run_slice(&run, run_thread(&run, "python"), 0, 10, "f", KIND_HOST);
    run_finish(&run);
    CHECK_OK(
        "empty",
        compiles_table(&run.run, &everything, NULL, STR(""), &page, run.made.arena, &table, &err),
        &err);
    CHECK_INT("one note", table.note_count, 1);
    CHECK_STR("its kind", str_of(table.notes[0].kind), "no-compiles");
    CHECK_HAS("the reason", table.notes[0].message.at, "nothing was compiled");
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing),        cmocka_unit_test(words),
        cmocka_unit_test(facts_in_names), cmocka_unit_test(one_compile),
        cmocka_unit_test(nested),         cmocka_unit_test(threads),
        cmocka_unit_test(cached),         cmocka_unit_test(autotuning),
        cmocka_unit_test(sums),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
