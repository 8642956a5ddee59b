/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations of memory snapshots by name, source, device and kind; differences, extremes, flame
 * graphs. */
#include "unit/trace/made_trace.h"

#include "analyse/flame/flame.h"
#include "analyse/memory/snapshot.h"

enum { SNAPSHOTS_MAX = 4 };

struct made_snapshots {
    struct made made[SNAPSHOTS_MAX];
    struct host_trace others[SNAPSHOTS_MAX];
    struct run_traces run;
};

static stack_id a_call(struct made *made, stack_id parent, const char *function, const char *file,
                       uint32_t line)
{
    return sink_stack(made->sink, parent,
                      (struct frame){.function = sink_name(made->sink, str_of(function)),
                                     .file = sink_name(made->sink, str_of(file)),
                                     .line = line});
}

static void a_sample(struct made *made, stack_id stack, int64_t count, int64_t bytes,
                     const char *kind, const char *device)
{
    struct arg labels[] = {
        {.key = sink_name(made->sink, STR("kind")),
         .type = ARG_STRING,
         .bits = sink_name(made->sink, str_of(kind))},
        {.key = sink_name(made->sink, STR("device")),
         .type = ARG_STRING,
         .bits = sink_name(made->sink, str_of(device ? device : ""))},
    };

    sink_sample(made->sink,
                (struct sample){.at_ps = SAMPLE_NO_TIME, .track = NO_TRACK, .stack = stack},
                (int64_t[]){count, bytes}, labels, device ? 2 : 1);
}

static void begin_memory(struct made *made)
{
    made_begin(made);
    sink_sample_type(made->sink, sink_name(made->sink, STR("allocations")),
                     sink_name(made->sink, STR("count")));
    sink_sample_type(made->sink, sink_name(made->sink, STR("space")),
                     sink_name(made->sink, STR("bytes")));
}

/* main -> layer (installed) -> jax; main -> jax; all of it jax. */
static void make_memory(struct made *made, int64_t scale)
{
    begin_memory(made);
    stack_id main = a_call(made, NO_STACK, "main", "/home/u/train.py", 12);
    stack_id layer = a_call(made, main, "dense", "/v/lib/python3.12/site-packages/flax/l.py", 5);
    stack_id put = a_call(made, layer, "put", "/v/site-packages/jax/_src/api.py", 7);
    stack_id other = a_call(made, main, "load", "/home/u/data.py", 3);
    stack_id jax = a_call(made, NO_STACK, "init", "/v/site-packages/jax/_src/x.py", 1);
    stack_id jax_inner = a_call(made, jax, "inner", "/v/site-packages/jaxlib/y.py", 2);

    a_sample(made, put, 2, 100 * scale, "buffer", "gpu:0");
    a_sample(made, put, 1, 50 * scale, "buffer", "gpu:1");
    a_sample(made, other, 1, 30, "buffer", "gpu:0");
    a_sample(made, jax_inner, 1, 7, "executable", NULL);
    a_sample(made, NO_STACK, 1, 3, "buffer", "gpu:0");
}

static void finish(struct made_snapshots *all, uint32_t count, const char *const names[])
{
    for (uint32_t i = 0; i < count; i++) {
        made_finish(&all->made[i]);
        all->others[i] =
            (struct host_trace){.trace = &all->made[i].trace, .name = str_of(names[i])};
    }
    all->run = (struct run_traces){.others = all->others, .other_count = count, .name = STR("run")};
}

static void end(struct made_snapshots *all)
{
    for (uint32_t i = 0; i < all->run.other_count; i++)
        made_end(&all->made[i]);
}

static struct snapshot_table ask(struct made_snapshots *all, struct snapshot_question question)
{
    struct error err = {0};
    struct snapshot_table found;
    const struct page page = {.limit = 100};

    CHECK_OK("ask", snapshot_table(&all->run, &question, &page, all->made[0].arena, &found, &err),
             &err);
    return found;
}

static void put_cell(struct text *text, const struct cell *cell)
{
    if (cell->kind == CELL_TEXT)
        text_putf(text, "%.*s ", STR_ARG(cell->of.text));
    else if (cell->kind == CELL_INTEGER)
        text_putf(text, "%lld ", (long long)cell->of.integer);
    else if (cell->kind == CELL_REAL)
        text_putf(text, "%.2f ", cell->of.real);
    else
        text_puts(text, "- ");
}

static void check_table(const char *what, const struct snapshot_table *found, const char *want)
{
    struct text text = {0};

    for (uint32_t row = 0; row < found->table.row_count; row++) {
        for (uint32_t i = 0; i < found->table.column_count; i++)
            put_cell(&text, &found->table.cells[row * found->table.column_count + i]);
        text_puts(&text, "\n");
    }
    CHECK_STR(what, text_str(&text), want);
    text_free(&text);
}

/* weights -> <listcomp>; cache -> sum -> <genexpr> -> jax: nobody looks for a comprehension. */
static void comprehensions(void **state)
{
    (void)state;
    struct made_snapshots all;

    begin_memory(&all.made[0]);
    stack_id weights = a_call(&all.made[0], NO_STACK, "weights", "/home/u/m.py", 12);
    stack_id list = a_call(&all.made[0], weights, "<listcomp>", "/home/u/m.py", 13);
    stack_id cache = a_call(&all.made[0], NO_STACK, "cache", "/home/u/m.py", 20);
    stack_id sum = a_call(&all.made[0], cache, "sum", "", 0);
    stack_id each = a_call(&all.made[0], sum, "<genexpr>", "/home/u/m.py", 21);
    stack_id put = a_call(&all.made[0], each, "put", "/v/site-packages/jax/_src/api.py", 7);

    a_sample(&all.made[0], list, 2, 100, "buffer", "gpu:0");
    a_sample(&all.made[0], put, 1, 50, "buffer", "gpu:0");
    finish(&all, 1, (const char *const[]){"memory"});

    struct snapshot_table found = ask(&all, (struct snapshot_question){0});

    check_table("the functions around", &found,
                "weights /home/u/m.py:12 gpu:0 buffer 100 0.67 2 \n"
                "cache /home/u/m.py:20 gpu:0 buffer 50 0.33 1 \n");
    end(&all);
}

static void by_what(void **state)
{
    (void)state;
    const struct {
        const char *by, *want;
    } rows[] = {
        {"", "main /home/u/train.py:12 gpu:0 buffer 100 0.53 2 \n"
             "main /home/u/train.py:12 gpu:1 buffer 50 0.26 1 \n"
             "load /home/u/data.py:3 gpu:0 buffer 30 0.16 1 \n"
             "inner /v/site-packages/jaxlib/y.py:2 - executable 7 0.04 1 \n"
             "- - gpu:0 buffer 3 0.02 1 \n"},
        {"function", "main - - - 150 0.79 3 \n"
                     "load - - - 30 0.16 1 \n"
                     "inner - - - 7 0.04 1 \n"
                     "- - - - 3 0.02 1 \n"},
        {"frame", "put /v/site-packages/jax/_src/api.py:7 - - 150 0.79 3 \n"
                  "load /home/u/data.py:3 - - 30 0.16 1 \n"
                  "inner /v/site-packages/jaxlib/y.py:2 - - 7 0.04 1 \n"
                  "- - - - 3 0.02 1 \n"},
        {"source", "/home/u/train.py:12 /home/u/train.py:12 - - 150 0.79 3 \n"
                   "/home/u/data.py:3 /home/u/data.py:3 - - 30 0.16 1 \n"
                   "/v/site-packages/jaxlib/y.py:2 /v/site-packages/jaxlib/y.py:2 - - 7 0.04 1 \n"
                   "- - - - 3 0.02 1 \n"},
        {"device", "gpu:0 - gpu:0 - 133 0.70 4 \n"
                   "gpu:1 - gpu:1 - 50 0.26 1 \n"
                   "- - - - 7 0.04 1 \n"},
        {"kind", "buffer - - buffer 183 0.96 5 \n"
                 "executable - - executable 7 0.04 1 \n"},
    };
    struct made_snapshots all;

    make_memory(&all.made[0], 1);
    finish(&all, 1, (const char *const[]){"memory.prof"});
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct snapshot_table found =
            ask(&all, (struct snapshot_question){.by = str_of(rows[i].by)});

        check_table(rows[i].by, &found, rows[i].want);
        CHECK_INT(rows[i].by, found.total, 190);
        CHECK_STR(rows[i].by, found.unit, "bytes");
    }
    end(&all);
}

/* As large as one another: by name, source, device and kind, however the file has them. */
static void of_equal_size(void **state)
{
    (void)state;
    struct made_snapshots all;

    begin_memory(&all.made[0]);
    stack_id late = a_call(&all.made[0], NO_STACK, "load", "/home/u/data.py", 7);
    stack_id early = a_call(&all.made[0], NO_STACK, "load", "/home/u/data.py", 3);

    a_sample(&all.made[0], late, 1, 30, "buffer", "gpu:1");
    a_sample(&all.made[0], late, 1, 30, "executable", "gpu:0");
    a_sample(&all.made[0], early, 1, 30, "buffer", "gpu:1");
    a_sample(&all.made[0], late, 1, 30, "buffer", "gpu:0");
    finish(&all, 1, (const char *const[]){"memory.prof"});
    struct snapshot_table found = ask(&all, (struct snapshot_question){.by = STR("")});

    check_table("of equal size", &found,
                "load /home/u/data.py:3 gpu:1 buffer 30 0.25 1 \n"
                "load /home/u/data.py:7 gpu:0 buffer 30 0.25 1 \n"
                "load /home/u/data.py:7 gpu:0 executable 30 0.25 1 \n"
                "load /home/u/data.py:7 gpu:1 buffer 30 0.25 1 \n");
    end(&all);
}

static void in_order(void **state)
{
    (void)state;
    struct made_snapshots all;
    struct snapshots found;

    for (int i = 0; i < 4; i++) {
        make_memory(&all.made[i], i);
        if (i < 3)
            sink_epoch(all.made[i].sink, 1000 - i);
    }
    finish(&all, 4, (const char *const[]){"m/mem_10.prof", "m/mem_9.prof", "m/mem_009b", "m/mem"});
    snapshots_of(&all.run, all.made[0].arena, &found);
    CHECK_INT("by name, because one tells no time", found.by_time, false);
    CHECK_STR("first", found.items[0]->name, "m/mem");
    CHECK_STR("second", found.items[1]->name, "m/mem_9.prof");
    CHECK_STR("third", found.items[2]->name, "m/mem_009b");
    CHECK_STR("last", found.items[3]->name, "m/mem_10.prof");
    all.run.other_count = 3;
    snapshots_of(&all.run, all.made[0].arena, &found);
    CHECK_INT("by time", found.by_time, true);
    CHECK_STR("first", found.items[0]->name, "m/mem_009b");
    CHECK_STR("last", found.items[2]->name, "m/mem_10.prof");
    all.run.other_count = 4;
    end(&all);
}

static void difference(void **state)
{
    (void)state;
    struct made_snapshots all;
    struct error err = {0};
    const struct page page = {.limit = 100};
    struct snapshot_table found;

    make_memory(&all.made[0], 1);
    make_memory(&all.made[1], 3);
    begin_memory(&all.made[2]);
    stack_id load = a_call(&all.made[2], NO_STACK, "load", "/home/u/data.py", 3);
    a_sample(&all.made[2], load, 2, 90, "buffer", "gpu:0");
    finish(&all, 3, (const char *const[]){"a/1.prof", "a/2.prof", "a/3.prof"});

    found =
        ask(&all, (struct snapshot_question){.snapshot = STR("2.prof"), .base = STR("a/1.prof")});
    check_table("what grew", &found,
                "main /home/u/train.py:12 gpu:0 buffer 300 0.61 2 100 200 2 \n"
                "main /home/u/train.py:12 gpu:1 buffer 150 0.31 1 50 100 1 \n"
                "inner /v/site-packages/jaxlib/y.py:2 - executable 7 0.01 1 7 0 1 \n"
                "load /home/u/data.py:3 gpu:0 buffer 30 0.06 1 30 0 1 \n"
                "- - gpu:0 buffer 3 0.01 1 3 0 1 \n");
    CHECK_INT("total", found.total, 490);
    CHECK_INT("base", found.base_total, 190);

    found = ask(&all, (struct snapshot_question){.base = STR("a/1.prof"), .by = STR("kind")});
    check_table("the newest, against the first", &found,
                "executable - - executable 0 0.00 0 7 -7 1 \n"
                "buffer - - buffer 90 1.00 2 183 -93 5 \n");
    CHECK_INT("unknown",
              snapshot_table(&all.run, &(struct snapshot_question){.base = STR("b")}, &page,
                             all.made[0].arena, &found, &err),
              ERR_NOT_FOUND);
    CHECK_HAS("unknown", err.message, "it has 3, from \"a/1.prof\" to \"a/3.prof\"");
    end(&all);
}

static void types(void **state)
{
    (void)state;
    struct made_snapshots all;
    struct error err = {0};
    const struct page page = {.limit = 100};
    struct snapshot_table found;
    struct made *made = &all.made[0];

    made_begin(made);
    sink_sample_type(made->sink, sink_name(made->sink, STR("samples")),
                     sink_name(made->sink, STR("count")));
    sink_sample_type(made->sink, sink_name(made->sink, STR("cpu")),
                     sink_name(made->sink, STR("nanoseconds")));
    stack_id main = a_call(made, NO_STACK, "main", "", 0);
    sink_sample(made->sink, (struct sample){.at_ps = 5, .track = NO_TRACK, .stack = main},
                (int64_t[]){3, 30}, NULL, 0);
    finish(&all, 1, (const char *const[]){"cpu.prof"});
    found = ask(&all, (struct snapshot_question){0});
    CHECK_STR("the last one", found.unit, "ps");
    check_table("in picoseconds", &found, "main - - - 30000 1.00 3 \n");
    found = ask(&all, (struct snapshot_question){.type = STR("samples")});
    CHECK_STR("by name", found.unit, "count");
    check_table("counts", &found, "main - - - 3 1.00 1 \n");
    CHECK_INT("no such type",
              snapshot_table(&all.run, &(struct snapshot_question){.type = STR("x")}, &page,
                             made->arena, &found, &err),
              ERR_NOT_FOUND);
    all.run.other_count = 0;
    found = ask(&all, (struct snapshot_question){0});
    CHECK_INT("none", found.snapshots.count, 0);
    CHECK("none", found.snapshot == NULL);
    all.run.other_count = 1;
    end(&all);
}

static void flames(void **state)
{
    (void)state;
    const struct {
        const char *by, *type, *snapshot, *unit, *want;
    } rows[] = {
        {"bytes", "", "", "bytes",
         "main (train.py);dense (l.py);put (api.py) 450\n"
         "main (train.py);load (data.py) 30\n"
         "init (x.py);inner (y.py) 7\n"
         "(no stack) 3\n"},
        {"stack", "allocations", "1.prof", "count",
         "main (train.py);dense (l.py);put (api.py) 3\n"
         "main (train.py);load (data.py) 1\n"
         "(no stack) 1\n"
         "init (x.py);inner (y.py) 1\n"},
        {"", "", "", "bytes",
         "main (train.py);dense (l.py);put (api.py) 450\n"
         "main (train.py);load (data.py) 30\n"
         "init (x.py);inner (y.py) 7\n"
         "(no stack) 3\n"},
    };
    struct made_snapshots all;
    struct restriction none = {0};
    struct flame tree;

    make_memory(&all.made[0], 1);
    make_memory(&all.made[1], 3);
    finish(&all, 2, (const char *const[]){"a/1.prof", "a/2.prof"});
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct flame_question question = {.by = str_of(rows[i].by),
                                          .type = str_of(rows[i].type),
                                          .snapshot = str_of(rows[i].snapshot)};
        struct error err = {0};
        struct text text = {0};

        CHECK_OK(rows[i].by, flame(&all.run, &none, &question, all.made[0].arena, &tree, &err),
                 &err);
        flame_folded(&tree, &text);
        CHECK_STR(rows[i].by, text_str(&text), rows[i].want);
        CHECK_STR(rows[i].by, tree.unit, rows[i].unit);
        text_free(&text);
    }
    all.run.other_count = 0;
    struct error err = {0};
    CHECK_OK("nothing",
             flame(&all.run, &none, &(struct flame_question){.by = STR("bytes")}, all.made[0].arena,
                   &tree, &err),
             &err);
    CHECK_INT("nothing", tree.node_count, 0);
    CHECK_HAS("nothing", str_c(all.made[0].arena, tree.notes[0].message), "save some with");
    all.run.other_count = 2;
    end(&all);
}

/* Values at the ends of their range, with and without a stack: sums wrap, and nothing else. */
static void flame_of_extremes(void **state)
{
    (void)state;
    struct made_snapshots all = {0};
    struct made *made = &all.made[0];
    struct error err = {0};
    struct restriction none = {0};
    struct flame tree;

    begin_memory(made);
    stack_id main = a_call(made, NO_STACK, "main", "train.py", 1);
    a_sample(made, a_call(made, main, "a", "train.py", 2), 1, INT64_MAX, "buffer", NULL);
    a_sample(made, a_call(made, main, "b", "train.py", 3), 1, INT64_MAX, "buffer", NULL);
    a_sample(made, NO_STACK, 1, INT64_MAX, "buffer", NULL);
    a_sample(made, NO_STACK, 1, INT64_MAX, "buffer", NULL);
    finish(&all, 1, (const char *const[]){"memory.prof"});
    CHECK_OK("extremes",
             flame(&all.run, &none, &(struct flame_question){.by = STR("bytes")}, made->arena,
                   &tree, &err),
             &err);
    CHECK_INT("nodes", tree.node_count, 5);
    CHECK_INT("a sum that ended", tree.nodes[0].total_ps, INT64_MAX);
    end(&all);
}

/* Samples of a host, in a window and of one thread. */
static void of_hosts(void **state)
{
    (void)state;
    struct made made;
    struct error err = {0};
    struct flame tree;
    struct text text = {0};

    made_begin(&made);
    track_id threads[2];
    for (int i = 0; i < 2; i++) {
        threads[i] = made_track(&made, i ? "b" : "a", NO_TRACK, TRACK_THREAD, ROLE_HOST, false);
        made_slice(&made, threads[i], 0, 1000, "x", KIND_HOST);
    }
    sink_sample_type(made.sink, sink_name(made.sink, STR("samples")),
                     sink_name(made.sink, STR("count")));
    stack_id f = a_call(&made, NO_STACK, "f", "", 0), g = a_call(&made, f, "g", "", 0);
    for (int64_t i = 0; i < 10; i++)
        sink_sample(
            made.sink,
            (struct sample){.at_ps = i * 100, .track = threads[i % 2], .stack = i < 5 ? f : g},
            &(int64_t){1}, NULL, 0);
    made_finish(&made);
    struct host_trace host = {.trace = &made.trace, .name = STR("h")};
    struct run_traces run = {.hosts = &host, .host_count = 1, .name = STR("run")};
    const struct {
        const char *what;
        struct restriction restriction;
        const char *want;
    } rows[] = {
        {"all", {0}, "f 5\nf;g 5\n"},
        {"a window", {.has_window = true, .start_ps = 100, .end_ps = 600}, "f 4\nf;g 1\n"},
        {"a thread",
         {.tracks = &(struct track_ref){.host = 0, .track = 0}, .track_count = 1},
         "f 3\nf;g 2\n"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        text.count = 0;
        CHECK_OK(rows[i].what,
                 flame(&run, &rows[i].restriction, &(struct flame_question){.by = STR("stack")},
                       made.arena, &tree, &err),
                 &err);
        flame_folded(&tree, &text);
        CHECK_STR(rows[i].what, text_str(&text), rows[i].want);
    }
    text_free(&text);
    made_end(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_what),       cmocka_unit_test(comprehensions),
        cmocka_unit_test(of_equal_size), cmocka_unit_test(in_order),
        cmocka_unit_test(difference),    cmocka_unit_test(types),
        cmocka_unit_test(flames),        cmocka_unit_test(flame_of_extremes),
        cmocka_unit_test(of_hosts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
