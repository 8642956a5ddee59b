/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about memory that allocators told: each with a run that triggers it and one that does
 * not. */
#include "unit/analyse/findings_of.h"

#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)

static track_id begin(struct made_run *run)
{
    run_begin(run);
    return run_thread(run, "python");
}

/* An allocation at its own time's address, or a free of it where bytes are below zero. */
static void event(struct made_run *run, track_id track, int64_t at_ps, const char *name,
                  int64_t bytes, int64_t allocated, int64_t available, double fragmentation)
{
    struct sink *sink = run->made.sink;
    uint64_t bits;

    memcpy(&bits, &fragmentation, sizeof bits);
    run_slice(run, track, at_ps, 0, name, KIND_OTHER);
    run_int(run, name[0] == '[' ? "Addr" : "addr", at_ps);
    run_text(run, "tf_op", "f/conv");
    run_text(run, "region_type", "temp");
    if (fragmentation >= 0)
        sink_arg(sink, (struct arg){.key = sink_name(sink, STR("fragmentation")),
                                    .type = ARG_DOUBLE,
                                    .bits = bits});
    sink_memory(sink, (struct memory_event){.at_ps = at_ps,
                                            .allocator = sink_name(sink, STR("GPU_0_bfc")),
                                            .bytes = bytes,
                                            .bytes_allocated = allocated,
                                            .bytes_reserved = -1,
                                            .bytes_available = available,
                                            .peak_bytes = -1});
}

static void near_limit(void **state)
{
    (void)state;
    const struct {
        int64_t used, left;
        bool finds;
        enum severity severity;
    } rows[] = {
        {95 * GIB, 5 * GIB, true, SEVERITY_WARNING},
        {98 * GIB, 2 * GIB, true, SEVERITY_CRITICAL},
        {80 * GIB, 20 * GIB, false, SEVERITY_INFO},
        {95 * MIB / 100, 5 * MIB / 100, false, SEVERITY_INFO}, /* nobody's limit */
        {95 * GIB, -1, false, SEVERITY_INFO},                  /* unknown */
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;
        track_id track = begin(&run);

        event(&run, track, 10, "MemoryAllocation", rows[i].used, rows[i].used, rows[i].left, -1);
        run_finish(&run);
        const struct finding *found = run_finding(&run, "memory-near-limit");
        CHECK("near", (found != NULL) == rows[i].finds);
        if (found != NULL)
            CHECK_INT("severity", found->severity, rows[i].severity);
        run_end(&run);
    }
}

static void fragmentation(void **state)
{
    (void)state;
    const struct {
        const char *what, *name;
        int64_t used, left;
        double fragmentation;
        bool finds;
    } rows[] = {
        {"tight", "MemoryAllocation", 60 * GIB, 40 * GIB, 0.4, true},
        {"room enough", "MemoryAllocation", 10 * GIB, 90 * GIB, 0.4, false},
        {"whole", "MemoryAllocation", 60 * GIB, 40 * GIB, 0.1, false},
        {"a pool half empty", "[memory]", 3 * GIB, 3 * GIB, -1, true},
        {"a full pool", "[memory]", 3 * GIB, GIB / 2, -1, false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;
        track_id track = begin(&run);

        event(&run, track, 10, rows[i].name, rows[i].used, rows[i].used, rows[i].left,
              rows[i].fragmentation);
        run_finish(&run);
        CHECK(rows[i].what, (run_finding(&run, "memory-fragmentation") != NULL) == rows[i].finds);
        run_end(&run);
    }
}

static void growth(void **state)
{
    (void)state;
    const struct {
        const char *what;
        int64_t each, back; /* MiB a step, and what is given back in the fifth */
        bool finds;
    } rows[] = {
        {"10 MiB a step", 10, 0, true},
        {"nothing", 0, 0, false},
        {"falls back", 10, 35, false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;
        track_id track = begin(&run);
        int64_t level = 100;

        for (int64_t step = 0; step < 8; step++) {
            run_slice(&run, track, step * 1000, 900, "train", KIND_HOST);
            run_int(&run, "_r", 1);
            run_int(&run, "step_num", step);
            level += rows[i].each - (step == 5 ? rows[i].back : 0);
            event(&run, track, step * 1000 + 500, "MemoryAllocation", MIB, level * MIB, -1, -1);
        }
        run_finish(&run);
        CHECK(rows[i].what, (run_finding(&run, "memory-growth") != NULL) == rows[i].finds);
        run_end(&run);
    }
}

static void one_allocation(void **state)
{
    (void)state;
    const struct {
        const char *what;
        int64_t large, small;
        bool tells_totals, is_large, is_preallocated;
    } rows[] = {
        {"half of the peak", 50 * MIB, 50 * MIB, true, true, false},
        {"a fifth", 20 * MIB, 80 * MIB, true, false, false},
        {"the driver's one block", 70 * GIB, 2 * GIB, false, false, true},
        {"the driver's many", 5 * GIB, 4 * GIB, false, false, false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;
        track_id track = begin(&run);
        int64_t part = rows[i].small / 4, level = 0;

        for (int64_t k = 0; k < 5; k++) {
            level += k == 0 ? rows[i].large : part;
            event(&run, track, 10 + k, "MemoryAllocation", k == 0 ? rows[i].large : part,
                  rows[i].tells_totals ? level : -1, -1, -1);
        }
        run_finish(&run);
        CHECK(rows[i].what,
              (run_finding(&run, "memory-large-allocation") != NULL) == rows[i].is_large);
        CHECK(rows[i].what,
              (run_finding(&run, "memory-preallocated") != NULL) == rows[i].is_preallocated);
        run_end(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_limit),
        cmocka_unit_test(fragmentation),
        cmocka_unit_test(growth),
        cmocka_unit_test(one_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
