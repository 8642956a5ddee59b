/* SPDX-License-Identifier: Apache-2.0 */
/* Sums by every property over drawn and random traces: windows, hosts, partitions of time,
 * kernels. */
#include "analyse/scan/split.h"
#include "unit/analyse/made_run.h"

#include "analyse/ops/top.h"

static const char *const instructions[] = {
    "dot.1", "jit(f)/layer_0/dot", "dot.2", "jit(f)/layer_1/dot", "copy.2", "", NULL};

static struct table ask(const struct made_run *run, const char *by,
                        const struct restriction *restriction, const struct page *page)
{
    static const struct restriction nothing;
    static const struct page all = {.limit = 10000};
    struct top_question question = {.by = str_of(by)};
    struct error err = {0};
    struct table table = {0};

    CHECK_OK(by,
             top(&run->run, restriction != NULL ? restriction : &nothing, &question,
                 page != NULL ? page : &all, run->made.arena, &table, &err),
             &err);
    return table;
}

static uint32_t row_of(const struct table *table, const char *name)
{
    for (uint32_t row = 0; row < table->row_count; row++) {
        if (str_equal(cell_of(table, row, "name")->of.text, str_of(name)))
            return row;
    }
    check_failed(__FILE__, __LINE__, name, "no such row");
    return 0;
}

static int64_t number(const struct table *table, const char *name, const char *column)
{
    return cell_of(table, row_of(table, name), column)->of.integer;
}

/*  python   step |--------------------------|   0 .. 100
 *             f     |-----|      f |--|          10 .. 40, 60 .. 70
 *               g     |-|                        20 .. 25
 *  pool     dot.1 |---|  dot.1 |--| dot.2 |--|   0 .. 30, 30 .. 50, 80 .. 90                  */
static void make_cpu_run(struct made_run *run)
{
    run_begin(run);
    run_program(run, 7, "jit_f", 99, instructions);
    track_id python = run_thread(run, "python"), pool = run_thread(run, "pool");
    run_slice(run, python, 0, 100, "step", KIND_HOST);
    run_slice(run, python, 10, 30, "f", KIND_HOST);
    run_slice(run, python, 20, 5, "g", KIND_HOST);
    run_slice(run, python, 60, 10, "f", KIND_HOST);
    run_cpu_op(run, pool, 0, 30, "dot.1", 7, 1, 0, 0);
    run_cpu_op(run, pool, 30, 20, "dot.1", 7, 2, 0, 0);
    run_cpu_op(run, pool, 80, 10, "dot.2", 7, 2, 1, 0);
    run_finish(run);
}

static void whole(void **state)
{
    (void)state;
    struct made_run run;
    const struct {
        const char *by, *name;
        int64_t count, total_ps, self_ps, min_ps, p50_ps, max_ps, mean_ps;
    } rows[] = {
        {"name", "step", 1, 100, 60, 100, 100, 100, 100},
        {"name", "f", 2, 40, 35, 10, 10, 30, 20},
        {"name", "g", 1, 5, 5, 5, 5, 5, 5},
        {"name", "dot.1", 2, 50, 50, 20, 20, 30, 25},
        {"op", "dot.1", 2, 50, 50, 20, 20, 30, 25},
        {"op", "dot.2", 1, 10, 10, 10, 10, 10, 10},
        {"scope", "jit(f)/layer_0/dot", 2, 50, 50, 20, 20, 30, 25},
        {"source", "model.py:41", 3, 60, 60, 10, 20, 30, 20},
        {"category", "loop fusion", 3, 60, 60, 10, 20, 30, 20},
        {"track", "python", 4, 145, 100, 5, 10, 100, 36},
        {"kind", "host", 4, 145, 100, 5, 10, 100, 36},
        {"kind", "compute", 3, 60, 60, 10, 20, 30, 20},
        {"host", "hostA", 7, 205, 160, 5, 20, 100, 29},
        {"device", "device 0", 2, 50, 50, 20, 20, 30, 25},
    };

    make_cpu_run(&run);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct table table = ask(&run, rows[i].by, NULL, NULL);

        CHECK_STR(rows[i].by, table.by, rows[i].by);
        CHECK_INT(rows[i].by, number(&table, rows[i].name, "count"), rows[i].count);
        CHECK_INT(rows[i].by, number(&table, rows[i].name, "total_ps"), rows[i].total_ps);
        CHECK_INT(rows[i].by, number(&table, rows[i].name, "self_ps"), rows[i].self_ps);
        CHECK_INT(rows[i].by, number(&table, rows[i].name, "min_ps"), rows[i].min_ps);
        CHECK_INT(rows[i].by, number(&table, rows[i].name, "p50_ps"), rows[i].p50_ps);
        CHECK_INT(rows[i].by, number(&table, rows[i].name, "max_ps"), rows[i].max_ps);
        CHECK_INT(rows[i].by, number(&table, rows[i].name, "mean_ps"), rows[i].mean_ps);
    }

    struct table modules = ask(&run, "module", NULL, NULL);

    CHECK_INT("executions", number(&modules, "jit_f", "count"), 3);
    CHECK_INT("their mean", number(&modules, "jit_f", "mean_ps"), 20);
    CHECK_INT("their lengths are not known", cell_of(&modules, 0, "p95_ps")->kind, CELL_NULL);
    CHECK_INT("nor the longest", cell_of(&modules, 0, "max_ps")->kind, CELL_NULL);

    struct table table = ask(&run, "op", NULL, NULL);

    CHECK_STR("of", table.of, "device");
    CHECK_STR("largest first", cell_of(&table, 0, "name")->of.text, "dot.1");
    CHECK_STR("key", cell_of(&table, 0, "key")->of.text, "0000000000000063:dot.1");
    CHECK_INT("sums", table.total_self_ps, 60);
    CHECK("share", cell_of(&table, 0, "share")->of.real == 50.0 / 60);
    CHECK("cumulative", cell_of(&table, 1, "cumulative_share")->of.real == 1);
    CHECK_INT("flops are unknown", cell_of(&table, 0, "flops")->kind, CELL_NULL);
    CHECK("and it says why", cell_of(&table, 0, "flops")->of.text.count > 0);
    CHECK_STR("of host", ask(&run, "name", NULL, NULL).of, "host");
    run_end(&run);
}

static void restricted(void **state)
{
    (void)state;
    struct made_run run;
    static const int64_t device_1[] = {1};
    static const struct str other_host[] = {{"hostB", 5}}, same_host[] = {{"hostA", 5}};
    static const struct track_ref pool[] = {{0, 1}};
    const struct {
        const char *what, *by;
        struct restriction restriction;
        uint32_t row_count;
        int64_t self_ps;
    } rows[] = {
        {"name", "name", {.name = {"f", sizeof("f") - 1}}, 1, 35},
        {"part of a name", "name", {.q = {"DOT", sizeof("DOT") - 1}}, 2, 60},
        {"part of an op", "op", {.q = {"T.2", sizeof("T.2") - 1}}, 1, 10},
        {"nothing", "name", {.q = {"zzz", sizeof("zzz") - 1}}, 0, 0},
        {"device", "op", {.devices = device_1, .device_count = 1}, 1, 10},
        {"device of recorded", "name", {.devices = device_1, .device_count = 1}, 1, 10},
        {"host", "name", {.hosts = same_host, .host_count = 1}, 5, 160},
        {"another host", "name", {.hosts = other_host, .host_count = 1}, 0, 0},
        {"track", "name", {.tracks = pool, .track_count = 1}, 2, 60},
        {"track of ops", "op", {.tracks = pool, .track_count = 1}, 2, 60},
        {"module", "name", {.module = {"jit_f", sizeof("jit_f") - 1}}, 2, 60},
        {"module and number", "name", {.module = {"jit_f(7)", sizeof("jit_f(7)") - 1}}, 2, 60},
        {"scope", "op", {.scope = {"jit(f)/layer_0", sizeof("jit(f)/layer_0") - 1}}, 1, 50},
        {"scope of whole elements",
         "op",
         {.scope = {"jit(f)/layer_", sizeof("jit(f)/layer_") - 1}},
         0,
         0},
        {"part of a name in a window",
         "name",
         {.q = STR("DOT"), .has_window = true, .start_ps = 0, .end_ps = 85},
         2,
         55},
        {"scope with a slash",
         "name",
         {.scope = {"jit(f)/layer_1/", sizeof("jit(f)/layer_1/") - 1}},
         1,
         10},
    };

    make_cpu_run(&run);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct table table = ask(&run, rows[i].by, &rows[i].restriction, NULL);

        CHECK_INT(rows[i].what, table.row_count_all, rows[i].row_count);
        CHECK_INT(rows[i].what, table.total_self_ps, rows[i].self_ps);
    }
    run_end(&run);
}

/* Three modules jit_f, of which two ran beside jit_g: rows, cells and what is asked for tell them
 * apart by the number that the list of modules prints. */
static void modules_of_one_name(void **state)
{
    (void)state;
    static const char *const own[] = {"dot.1", "", NULL};
    const struct {
        const char *asked;
        uint32_t row_count;
        int64_t self_ps;
        const char
            *module; /* of the first row; NULL: there is none such, and this is the nearest */
        const char *nearest;
    } rows[] = {
        {"jit_f", 2, 50, "jit_f(8)", NULL},    {"jit_f(6)", 1, 20, "jit_f(6)", NULL},
        {"jit_f(8)", 1, 30, "jit_f(8)", NULL}, {"jit_g", 1, 5, "jit_g", NULL},
        {"jit_g(9)", 1, 5, "jit_g", NULL},     {"jit_f(10)", 0, 0, NULL, "\"jit_f("},
        {"jit_gg", 0, 0, NULL, "\"jit_g\""},   {"jit_g(6)", 0, 0, NULL, "\"jit_f(6)\""},
    };
    struct made_run run;

    run_begin(&run);
    for (uint64_t id = 6; id <= 10; id++)
        if (id != 7)
            run_program(&run, id, id == 9 ? "jit_g" : "jit_f", 90 + id, own);
    track_id pool = run_thread(&run, "pool");
    run_cpu_op(&run, pool, 0, 20, "dot.1", 6, 1, 0, 0);
    run_cpu_op(&run, pool, 20, 30, "dot.1", 8, 1, 0, 0);
    run_slice(&run, pool, 50, 5, "dot.1", KIND_COMPUTE);
    run_text(&run, "hlo_op", "dot.1");
    run_text(&run, "hlo_module", "jit_g");
    run_int(&run, "program_id", 9);
    run_int(&run, "run_id", 1);
    run_finish(&run);

    struct table modules = ask(&run, "module", NULL, NULL);

    CHECK_INT("rows", modules.row_count, 3);
    CHECK_STR("most", cell_of(&modules, 0, "name")->of.text, "jit_f(8)");
    CHECK_STR("second", cell_of(&modules, 1, "name")->of.text, "jit_f(6)");
    CHECK_STR("alone of its name", cell_of(&modules, 2, "name")->of.text, "jit_g");
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct restriction asked = {.module = str_of(rows[i].asked)};
        struct top_question question = {.by = STR("op")};
        struct page page = {.limit = 100};
        struct error err = {0};
        struct table table;
        enum status status = top(&run.run, &asked, &question, &page, run.made.arena, &table, &err);

        CHECK_INT(rows[i].asked, status, rows[i].module != NULL ? OK : ERR_NOT_FOUND);
        if (rows[i].module == NULL) {
            CHECK(rows[i].asked, strstr(err.message, rows[i].nearest) != NULL);
            continue;
        }
        CHECK_INT(rows[i].asked, table.row_count, rows[i].row_count);
        CHECK_INT(rows[i].asked, table.total_self_ps, rows[i].self_ps);
        CHECK_STR(rows[i].asked, cell_of(&table, 0, "module")->of.text, rows[i].module);
    }
    run_end(&run);
}

static void windows(void **state)
{
    (void)state;
    struct made_run run;
    const struct {
        const char *what, *by, *name;
        int64_t start_ps, end_ps, count, total_ps, self_ps, max_ps;
    } rows[] = {
        {"all of it", "name", "step", 0, 101, 1, 100, 60, 100},
        {"left part", "name", "step", 0, 15, 1, 15, 10, 100},
        {"inside a child", "name", "step", 22, 24, 1, 2, 0, 100},
        {"the child there", "name", "f", 22, 24, 1, 2, 0, 30},
        {"the grandchild there", "name", "g", 22, 24, 1, 2, 2, 5},
        {"both", "name", "f", 30, 65, 2, 15, 15, 30},
        {"ops", "op", "dot.1", 25, 35, 2, 10, 10, 30},
        {"ops at an edge", "op", "dot.1", 30, 90, 1, 20, 20, 20},
    };

    make_cpu_run(&run);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct restriction restriction = {
            .has_window = true, .start_ps = rows[i].start_ps, .end_ps = rows[i].end_ps};
        struct table table = ask(&run, rows[i].by, &restriction, NULL);

        CHECK_INT(rows[i].what, number(&table, rows[i].name, "count"), rows[i].count);
        CHECK_INT(rows[i].what, number(&table, rows[i].name, "total_ps"), rows[i].total_ps);
        CHECK_INT(rows[i].what, number(&table, rows[i].name, "self_ps"), rows[i].self_ps);
        CHECK_INT(rows[i].what, number(&table, rows[i].name, "max_ps"), rows[i].max_ps);
    }
    run_end(&run);
}

/* Two files of one run: ids differ, texts are the same. */
static void hosts_merge(void **state)
{
    (void)state;
    struct made_run a, b;
    struct host_trace hosts[2];
    const struct {
        const char *by, *name;
        uint32_t row_count;
        int64_t count, total_ps, p50_ps;
    } rows[] = {
        {"op", "dot.1", 2, 4, 100, 20},     {"scope", "jit(f)/layer_0/dot", 2, 4, 100, 20},
        {"name", "f", 5, 4, 80, 10},        {"host", "hostB", 2, 7, 205, 20},
        {"track", "python", 4, 4, 145, 10}, {"device", "device 1", 4, 1, 10, 10},
    };

    make_cpu_run(&a);
    make_cpu_run(&b);
    hosts[0] = a.host;
    hosts[1] = b.host;
    hosts[1].name = STR("hostB");
    hosts[1].key = STR("0b0b0b0b");
    hosts[1].offset_ps = 1000;
    a.run.hosts = hosts;
    a.run.host_count = 2;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct table table = ask(&a, rows[i].by, NULL, NULL);

        CHECK_INT(rows[i].by, table.row_count_all, rows[i].row_count);
        CHECK_INT(rows[i].by, number(&table, rows[i].name, "count"), rows[i].count);
        CHECK_INT(rows[i].by, number(&table, rows[i].name, "total_ps"), rows[i].total_ps);
        CHECK_INT(rows[i].by, number(&table, rows[i].name, "p50_ps"), rows[i].p50_ps);
    }

    struct table late =
        ask(&a, "name", &(struct restriction){.has_window = true, .start_ps = 1000, .end_ps = 1050},
            NULL);

    CHECK_INT("a window is run time", number(&late, "step", "total_ps"), 50);
    CHECK_INT("of the second host alone", number(&late, "step", "count"), 1);
    run_end(&b);
    run_end(&a);
}

/* Quantiles are those of all hosts together. */
static void hosts_differ(void **state)
{
    (void)state;
    struct made_run runs[2];
    struct host_trace hosts[2];

    for (int host = 0; host < 2; host++) {
        run_begin(&runs[host]);
        track_id track = run_thread(&runs[host], "t");
        for (int64_t i = 0; i < 3 + host; i++)
            run_slice(&runs[host], track, i * 100, host == 0 ? 1 : 9, "x", KIND_HOST);
        run_finish(&runs[host]);
        hosts[host] = runs[host].host;
    }
    runs[0].run.hosts = hosts;
    runs[0].run.host_count = 2;

    struct table table = ask(&runs[0], "name", NULL, NULL);

    CHECK_INT("p50", number(&table, "x", "p50_ps"), 9);
    CHECK_INT("stdev", number(&table, "x", "stdev_ps"), 4);
    CHECK_INT("least", number(&table, "x", "min_ps"), 1);
    run_end(&runs[1]);
    run_end(&runs[0]);
}

static void by_steps(void **state)
{
    (void)state;
    struct made_run run;
    static const int64_t ranges[] = {0, 0, 2, 9};

    run_begin(&run);
    track_id python = run_thread(&run, "python"), pool = run_thread(&run, "pool");
    for (int64_t i = 0; i < 4; i++) {
        run_slice(&run, python, i * 100, 50, "train", KIND_HOST);
        run_int(&run, "_r", 1);
        run_int(&run, "step_num", i);
        run_cpu_op(&run, pool, i * 100 + 40, 20, "dot.1", 7, i, 0, 0);
    }
    run_finish(&run);

    struct restriction restriction = {.steps = ranges, .step_range_count = 2};
    struct table table = ask(&run, "op", &restriction, NULL);

    CHECK_INT("steps 0, 2, 3", number(&table, "dot.1", "count"), 3);
    CHECK_INT("what they launched", number(&table, "dot.1", "total_ps"), 60);
    CHECK_INT("recorded", ask(&run, "name", &restriction, NULL).total_ps, 150 + 60);
    run_end(&run);
}

/* Nested slices, instants and ops at random, also ones that overlap without nesting. */
static void make_random_run(struct made_run *run, struct dice *dice)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    track_id tracks[3];

    run_begin(run);
    for (int i = 0; i < 3; i++)
        tracks[i] = run_thread(run, names[i]);
    for (int i = 0; i < 400; i++) {
        int64_t start_ps = (int64_t)dice_below(dice, 1000), dur_ps = (int64_t)dice_below(dice, 120);
        const char *name = names[dice_below(dice, 4)];
        track_id track = tracks[dice_below(dice, 3)];

        if (dice_below(dice, 2) == 0)
            run_slice(run, track, start_ps, dur_ps, name, KIND_HOST);
        else
            run_cpu_op(run, track, start_ps, dur_ps, name, 7, (int64_t)dice_below(dice, 5),
                       (int64_t)dice_below(dice, 2), 0);
    }
    run_finish(run);
}

/* Total and self add up over a partition of time, row by row, to the picosecond. */
static void parts_add_up(void **state)
{
    (void)state;
    static const char *const bys[] = {"name", "op", "track", "category", "kind", "device", "host"};
    struct dice dice = {1};

    for (int round = 0; round < 30; round++) {
        struct made_run run;
        int64_t cut_ps[4] = {0, (int64_t)dice_below(&dice, 1100), (int64_t)dice_below(&dice, 1100),
                             2000};

        make_random_run(&run, &dice);
        if (cut_ps[1] > cut_ps[2]) {
            int64_t swap_ps = cut_ps[1];

            cut_ps[1] = cut_ps[2];
            cut_ps[2] = swap_ps;
        }
        for (size_t by = 0; by < COUNT(bys); by++) {
            struct table all = ask(&run, bys[by], NULL, NULL);
            struct table parts[3];

            for (int i = 0; i < 3; i++) {
                struct restriction restriction = {
                    .has_window = true, .start_ps = cut_ps[i], .end_ps = cut_ps[i + 1]};

                parts[i] = ask(&run, bys[by], &restriction, NULL);
            }
            CHECK_INT(bys[by], parts[0].total_ps + parts[1].total_ps + parts[2].total_ps,
                      all.total_ps);
            CHECK_INT(bys[by],
                      parts[0].total_self_ps + parts[1].total_self_ps + parts[2].total_self_ps,
                      all.total_self_ps);
            for (uint32_t row = 0; row < all.row_count; row++) {
                int64_t self_ps = 0;

                for (int i = 0; i < 3; i++) {
                    for (uint32_t at = 0; at < parts[i].row_count; at++) {
                        if (str_equal(cell_of(&parts[i], at, "key")->of.text,
                                      cell_of(&all, row, "key")->of.text))
                            self_ps += cell_of(&parts[i], at, "self_ps")->of.integer;
                    }
                }
                CHECK_INT(bys[by], self_ps, cell_of(&all, row, "self_ps")->of.integer);
            }
        }
        run_end(&run);
    }
}

static void check_same(const char *what, const struct table *table, const struct table *other)
{
    CHECK_INT(what, table->row_count, other->row_count);
    for (uint32_t row = 0; row < table->row_count; row++) {
        for (uint32_t column = 0; column < table->column_count; column++) {
            const struct cell *a = &table->cells[row * table->column_count + column];
            const struct cell *b = &other->cells[row * table->column_count + column];

            CHECK_INT(table->columns[column].key, a->kind, b->kind);
            if (a->kind == CELL_TEXT)
                CHECK(table->columns[column].key, str_equal(a->of.text, b->of.text));
            else if (a->kind == CELL_INTEGER)
                CHECK_INT(table->columns[column].key, a->of.integer, b->of.integer);
        }
    }
}

/* A walk that several processors share says what one says: rows, order, quantiles, counts. */
static void shared_walks(void **state)
{
    (void)state;
    static const char *const bys[] = {"name",     "op",    "module", "scope",  "kernel",
                                      "category", "track", "host",   "device", "kind"};
    const uint64_t items_a_part = split_items_a_part;
    struct dice dice = {7};

    for (int round = 0; round < 20; round++) {
        struct made_run run;
        struct restriction window = {.has_window = true,
                                     .start_ps = (int64_t)dice_below(&dice, 500),
                                     .end_ps = 500 + (int64_t)dice_below(&dice, 600)};

        make_random_run(&run, &dice);
        for (size_t by = 0; by < 2 * COUNT(bys); by++) {
            const char *word = bys[by / 2];
            const struct restriction *restriction = by % 2 == 0 ? NULL : &window;

            split_items_a_part = UINT64_MAX;
            struct table alone = ask(&run, word, restriction, NULL);
            split_items_a_part = 20;
            struct table shared = ask(&run, word, restriction, NULL);
            check_same(word, &alone, &shared);
        }
        run_end(&run);
    }
    split_items_a_part = items_a_part;
}

/*  python   parent |----------|    0 .. 10, of which its children take 8 and 8
 *             a    |--------|      0 .. 8
 *             b      |--------|    2 .. 10                                                       */
static void children_that_overlap(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id python = run_thread(&run, "python");
    run_slice(&run, python, 0, 10, "parent", KIND_HOST);
    run_slice(&run, python, 0, 8, "a", KIND_HOST);
    run_slice(&run, python, 2, 8, "b", KIND_HOST);
    run_finish(&run);
    struct table table = ask(&run, "name", NULL, NULL);

    CHECK_INT("no row is left out", table.row_count_all, 3);
    CHECK_INT("self of the parent", number(&table, "parent", "self_ps"), -6);
    CHECK_INT("rows sum to", table.total_self_ps, 10);
    run_end(&run);
}

/* Copies on a stream: by the driver, and by a kernel that somebody launched. */
static void kernels_that_copy(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, 0);
    run_slice(&run, stream, 0, 10, "gemm", KIND_COMPUTE);
    run_slice(&run, stream, 10, 10, "MemcpyD2D", KIND_COPY);
    run_slice(&run, stream, 20, 30, "copyBuffer.kd", KIND_COPY);
    run_text(&run, "kernel_details", "grid:24,1,1 block:512,1,1");
    run_finish(&run);
    struct table table = ask(&run, "kernel", NULL, NULL);

    CHECK_INT("kernels", table.row_count_all, 2);
    CHECK_INT("the one that copies", number(&table, "copyBuffer.kd", "total_ps"), 30);
    table = ask(&run, "op", NULL, NULL); /* none is known: kernels instead, and no kind is lost */
    CHECK_STR("instead", table.by, "kernel");
    CHECK_INT("all that ran", table.row_count_all, 3);
    CHECK_INT("a copy", number(&table, "MemcpyD2D", "total_ps"), 10);
    CHECK_INT("their sum", table.total_self_ps, 50);
    run_end(&run);
}

static void falls_back(void **state)
{
    (void)state;
    struct made_run run;
    struct table table;

    run_begin(&run);
    run_slice(&run, run_thread(&run, "python"), 0, 10, "a", KIND_HOST);
    run_finish(&run);
    table = ask(&run, "", NULL, NULL);
    CHECK_STR("no ops, no kernels", table.by, "name");
    CHECK_INT("and it says so", table.note_count, 1);
    run_end(&run);

    run_begin(&run);
    run_slice(&run, run_stream(&run, "Stream #7", ROLE_NONE, 0), 0, 10, "gemm", KIND_COMPUTE);
    run_slice(&run, run_thread(&run, "python"), 0, 10, "cudaLaunchKernel", KIND_HOST);
    run_finish(&run);
    table = ask(&run, "op", NULL, NULL);
    CHECK_STR("no ops", table.by, "kernel");
    CHECK_STR("of", table.of, "device");
    CHECK_INT("kernels alone", table.row_count_all, 1);
    CHECK_INT("api", ask(&run, "api", NULL, NULL).row_count_all, 1);
    CHECK_STR("both", ask(&run, "name", NULL, NULL).of, "all");
    run_end(&run);
}

static void derived_never_counts(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id real = run_thread(&run, "t");
    track_id derived = made_track(&run.made, "Steps", NO_TRACK, TRACK_THREAD, ROLE_STEPS, true);
    run_slice(&run, real, 0, 10, "a", KIND_HOST);
    run_slice(&run, derived, 0, 50, "a", KIND_HOST);
    run_slice(&run, derived, 60, 50, "only derived", KIND_HOST);
    run_finish(&run);

    struct table table = ask(&run, "name", NULL, NULL);

    CHECK_INT("whole", table.total_ps, 10);
    CHECK_INT("one row", table.row_count_all, 1);
    CHECK_INT(
        "window",
        ask(&run, "name", &(struct restriction){.has_window = true, .end_ps = 20}, NULL).total_ps,
        10);
    run_end(&run);
}

static void wrong_questions(void **state)
{
    (void)state;
    struct made_run run;
    const struct {
        const char *what, *by, *sort;
        struct restriction restriction;
        enum status status;
    } rows[] = {
        {"unknown by", "size", "", {0}, ERR_INVALID},
        {"unknown column", "op", "-size", {0}, ERR_INVALID},
        {"window backwards",
         "op",
         "",
         {.has_window = true, .start_ps = 5, .end_ps = 4},
         ERR_INVALID},
        {"no such step",
         "op",
         "",
         {.steps = (int64_t[]){50, 60}, .step_range_count = 1},
         ERR_NOT_FOUND},
        {"sorted by a quantile", "name", "-p95_ps,name", {0}, OK},
        {"empty window", "op", "", {.has_window = true, .start_ps = 5, .end_ps = 5}, OK},
        {"far window",
         "name",
         "",
         {.has_window = true, .start_ps = INT64_MIN, .end_ps = INT64_MAX},
         OK},
    };

    make_cpu_run(&run);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct top_question question = {.by = str_of(rows[i].by)};
        struct page page = {.limit = 3, .sort = str_of(rows[i].sort)};
        struct error err = {0};
        struct table table;

        CHECK_INT(
            rows[i].what,
            top(&run.run, &rows[i].restriction, &question, &page, run.made.arena, &table, &err),
            rows[i].status);
        CHECK_INT(rows[i].what, err.message[0] != '\0', rows[i].status != OK);
    }
    run_end(&run);
}

static void many_of_one_name(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id track = run_thread(&run, "t");
    for (int64_t i = 0; i < 70000; i++)
        run_slice(&run, track, i * 2000, 1 + i % 1000, "a", KIND_HOST);
    run_finish(&run);

    struct table table = ask(&run, "name", NULL, NULL);
    int64_t p50_ps = number(&table, "a", "p50_ps");

    CHECK_INT("named", table.approx_count, 2);
    CHECK("within 1 %", p50_ps >= 495 && p50_ps <= 505);
    run_end(&run);
}

static int64_t overlap(int64_t start_ps, int64_t dur_ps, const struct restriction *window)
{
    int64_t end_ps = start_ps + dur_ps;

    start_ps = start_ps > window->start_ps ? start_ps : window->start_ps;
    end_ps = end_ps < window->end_ps ? end_ps : window->end_ps;
    return end_ps > start_ps ? end_ps - start_ps : 0;
}

/*  device 0   |short|  |short|  |short|  ...       9,000, some blocks of ops
 *  device 1   |long ------------------------ ...|  in the first block, and in every window
 *               |inner|  |inner|  ...                                                          */
static void module_op(struct made_run *run, track_id track, int64_t start_ps, int64_t dur_ps,
                      const char *name)
{
    run_slice(run, track, start_ps, dur_ps, name, KIND_COMPUTE);
    run_text(run, "hlo_op", name);
    run_text(run, "hlo_module", "jit_f");
}

static void windows_far_from_the_first_block(void **state)
{
    (void)state;
    enum { OPS = 9000, LONG_PS = 150000 };
    const struct restriction windows[] = {
        {.has_window = true, .start_ps = 0, .end_ps = 100},
        {.has_window = true, .start_ps = 20, .end_ps = 30},
        {.has_window = true, .start_ps = 89995, .end_ps = 90507},
        {.has_window = true, .start_ps = 149000, .end_ps = 151000},
        {.has_window = true, .start_ps = 10, .end_ps = 179995},
    };
    struct made_run run;

    run_begin(&run);
    track_id first = run_stream(&run, "XLA Ops", ROLE_OPS, 0);
    for (int64_t i = 0; i < OPS; i++)
        module_op(&run, first, i * 20, 10, "short");
    track_id second = run_stream(&run, "XLA Ops", ROLE_OPS, 1);
    module_op(&run, second, 0, LONG_PS, "long");
    for (int64_t i = 0; i < OPS; i++)
        module_op(&run, second, 5 + i * 15, 5, "inner");
    run_finish(&run);
    for (size_t at = 0; at < COUNT(windows); at++) {
        struct table table = ask(&run, "op", &windows[at], NULL);
        int64_t short_ps = 0, inner_ps = 0, long_ps = overlap(0, LONG_PS, &windows[at]);

        for (int64_t i = 0; i < OPS; i++) {
            short_ps += overlap(i * 20, 10, &windows[at]);
            inner_ps += overlap(5 + i * 15, 5, &windows[at]);
        }
        CHECK_STR("ops, block by block", table.by, "op");
        CHECK_INT("total", table.total_ps, short_ps + inner_ps + long_ps);
        CHECK_INT("short", number(&table, "short", "total_ps"), short_ps);
        CHECK_INT("long", number(&table, "long", "total_ps"), long_ps);
        CHECK_INT("less what is inside", number(&table, "long", "self_ps"), long_ps - inner_ps);
    }
    run_end(&run);
}

/* An op of a loop runs several times in one execution: its count is what its mean is over. */
static void ops_of_a_loop(void **state)
{
    (void)state;
    struct made_run run;
    const struct restriction window = {.has_window = true, .start_ps = 5, .end_ps = 1000};

    run_begin(&run);
    run_program(&run, 7, "jit_f", 99, instructions);
    track_id pool = run_thread(&run, "pool");
    for (int64_t i = 0; i < 32; i++)
        run_cpu_op(&run, pool, 20 * i, 10, "dot.1", 7, i / 16, 0, 0);
    run_finish(&run);

    struct table table = ask(&run, "op", NULL, NULL), part = ask(&run, "op", &window, NULL);

    CHECK_INT("ran", number(&table, "dot.1", "count"), 32);
    CHECK_INT("mean", number(&table, "dot.1", "mean_ps"), 10);
    CHECK_INT("in a window", number(&part, "dot.1", "count"), 32);
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole),
        cmocka_unit_test(restricted),
        cmocka_unit_test(ops_of_a_loop),
        cmocka_unit_test(modules_of_one_name),
        cmocka_unit_test(windows),
        cmocka_unit_test(parts_add_up),
        cmocka_unit_test(hosts_merge),
        cmocka_unit_test(hosts_differ),
        cmocka_unit_test(by_steps),
        cmocka_unit_test(shared_walks),
        cmocka_unit_test(children_that_overlap),
        cmocka_unit_test(kernels_that_copy),
        cmocka_unit_test(falls_back),
        cmocka_unit_test(derived_never_counts),
        cmocka_unit_test(wrong_questions),
        cmocka_unit_test(many_of_one_name),
        cmocka_unit_test(windows_far_from_the_first_block),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
