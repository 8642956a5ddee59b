/* SPDX-License-Identifier: Apache-2.0 */
/* When rules about transfers speak: copies at one time, beside kernels, several in a step. */
#include "unit/analyse/findings_of.h"

struct drawn { /* one copy a step, of 10 steps of 1000 */
    const char *name, *caller, *call;
    int64_t dur_ps, bytes;
    uint32_t times; /* a step */
};

static void draw(struct made_run *run, const struct drawn *drawn)
{
    uint64_t id = 0;

    run_begin(run);

    track_id python = run_thread(run, "python");
    track_id stream = run_stream(run, "Stream #7", ROLE_OPS, 0);

    for (int64_t i = 0; i < 10; i++) {
        run_slice(run, python, i * 1000, 1000, "train", KIND_HOST);
        run_int(run, "_r", 1);
        run_int(run, "step_num", i);
        for (uint32_t at = 0; at < drawn->times; at++) {
            int64_t start_ps = i * 1000 + 10 + (int64_t)at * 20;

            id++;
            run_slice(run, python, start_ps, 8, drawn->caller, KIND_HOST);
            run_slice(run, python, start_ps + 1, 4, drawn->call, KIND_HOST);
            sink_flow(run->made.sink, FLOW_FROM, sink_name(run->made.sink, STR("kernel launch")),
                      id);
            run_slice(run, stream, start_ps + 10, drawn->dur_ps, drawn->name, KIND_COPY);
            run_int(run, "bytes", drawn->bytes);
            sink_flow(run->made.sink, FLOW_TO, sink_name(run->made.sink, STR("kernel launch")), id);
        }
    }
    run_finish(run);
}

static void rules(void **state)
{
    (void)state;
    enum { BLOCKING = 1, SMALL = 2, PAGEABLE = 4, IMPLICIT = 8, REPEATED = 16, EXPOSED = 32 };
    static const struct {
        const char *rule;
        unsigned bit;
    } asked[] = {{"blocking-transfers", BLOCKING}, {"small-transfers", SMALL},
                 {"pageable-transfers", PAGEABLE}, {"implicit-transfers", IMPLICIT},
                 {"repeated-upload", REPEATED},    {"exposed-transfers", EXPOSED}};
    const struct {
        const char *what;
        struct drawn drawn;
        unsigned found;
    } rows[] = {
        {"a call that waits",
         {"MemcpyD2H", "fetch", "cudaMemcpy", 100, 1 << 19, 1},
         BLOCKING | EXPOSED},
        {"one that waits shortly", {"MemcpyD2H", "fetch", "cudaMemcpy", 5, 1 << 19, 1}, 0},
        {"one that goes on", {"MemcpyD2H", "fetch", "cudaMemcpyAsync", 100, 1 << 19, 1}, EXPOSED},
        {"ten small ones a step", {"MemcpyD2H", "fetch", "cudaMemcpyAsync", 1, 64, 10}, SMALL},
        {"nine", {"MemcpyD2H", "fetch", "cudaMemcpyAsync", 1, 64, 9}, 0},
        {"pageable",
         {"Memcpy DtoH (Device -> Pageable)", "fetch", "cudaMemcpyAsync", 100, 1 << 19, 1},
         PAGEABLE | EXPOSED},
        {"pinned",
         {"Memcpy DtoH (Device -> Pinned)", "fetch", "cudaMemcpyAsync", 100, 1 << 19, 1},
         EXPOSED},
        {"by a jitted call",
         {"MemcpyH2D", "PjitFunction(f)", "cudaMemcpyAsync", 1, 4, 1},
         IMPLICIT},
        {"the same each step",
         {"MemcpyH2D", "load", "cudaMemcpyAsync", 100, 1 << 24, 1},
         REPEATED | EXPOSED},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        draw(&run, &rows[i].drawn);
        for (size_t at = 0; at < COUNT(asked); at++) {
            bool found = run_finding(&run, asked[at].rule) != NULL;

            if (found != ((rows[i].found & asked[at].bit) != 0))
                check_failed(__FILE__, __LINE__, rows[i].what, "%s: %d", asked[at].rule, found);
        }
        run_end(&run);
    }
}

/* Two of 100 ps that overlap by 80: what would be won is the time that either takes. */
static void at_one_time(void **state)
{
    const struct drawn twice = {"MemcpyH2D", "load", "cudaMemcpyAsync", 100, 1 << 24, 2};
    struct made_run run;
    (void)state;

    draw(&run, &twice);
    const struct finding *finding = run_finding(&run, "repeated-upload");
    CHECK("found", finding != NULL && finding->has_win);
    CHECK_INT("win", finding->win_ps, 10 * 120);
    run_end(&run);
}

/* A copy of 100 ps in each of ten steps of 1000, and a kernel that runs beside it. */
static void beside_kernels(void **state)
{
    (void)state;
    static const struct {
        const char *what, *copy;
        int64_t kernel_ps;
        int32_t devices;
        int64_t win_ps; /* 0: not found */
    } rows[] = {
        {"nothing beside it", "MemcpyH2D", 0, 1, 1000},
        {"down", "MemcpyD2H", 0, 1, 1000},
        {"a kernel beside a part", "MemcpyH2D", 20, 1, 800},
        {"a kernel beside most", "MemcpyH2D", 60, 1, 0},
        {"another device that copies nothing", "MemcpyH2D", 0, 2, 500},
        {"three others", "MemcpyH2D", 0, 4, 0},
        {"within the device", "MemcpyD2D", 0, 1, 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        run_begin(&run);

        track_id python = run_thread(&run, "python");
        track_id copies = run_stream(&run, "Stream #7", ROLE_OPS, 0);
        track_id kernels = run_stream(&run, "Stream #8", ROLE_OPS, 0);

        for (int64_t step = 0; step < 10; step++) {
            run_slice(&run, python, step * 1000, 1000, "train", KIND_HOST);
            run_int(&run, "_r", 1);
            run_int(&run, "step_num", step);
            run_slice(&run, copies, step * 1000 + 100, 100, rows[i].copy, KIND_COPY);
            run_int(&run, "bytes", 1 << 19);
            if (rows[i].kernel_ps > 0)
                run_slice(&run, kernels, step * 1000 + 100, rows[i].kernel_ps, "k", KIND_COMPUTE);
        }
        for (int32_t device = 1; device < rows[i].devices; device++)
            run_slice(&run, run_stream(&run, "Stream #7", ROLE_OPS, device), 0, 1, "k",
                      KIND_COMPUTE);
        run_finish(&run);

        const struct finding *finding = run_finding(&run, "exposed-transfers");

        CHECK_INT(rows[i].what, finding == NULL ? 0 : finding->win_ps, rows[i].win_ps);
        run_end(&run);
    }
}

/* Three uploads of one size in each of ten steps. */
static void several_a_step(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id python = run_thread(&run, "python");
    track_id copies = run_stream(&run, "Stream #7", ROLE_OPS, 0);

    for (int64_t step = 0; step < 10; step++) {
        run_slice(&run, python, step * 1000, 1000, "train", KIND_HOST);
        run_int(&run, "_r", 1);
        run_int(&run, "step_num", step);
        for (int64_t i = 0; i < 3; i++) {
            run_slice(&run, copies, step * 1000 + 200 * i, 100, "MemcpyH2D", KIND_COPY);
            run_int(&run, "bytes", 5 << 20);
        }
    }
    run_finish(&run);
    CHECK_SAYS(&run, "repeated-upload",
               "5 MiB are copied to the device 30 times, in each of 10 steps,");
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules),
        cmocka_unit_test(at_one_time),
        cmocka_unit_test(beside_kernels),
        cmocka_unit_test(several_a_step),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
