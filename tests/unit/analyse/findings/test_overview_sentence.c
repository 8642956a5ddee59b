/* SPDX-License-Identifier: Apache-2.0 */
/* The sentence at the top of the overview, for every set of figures that may be missing. */
#include <stdio.h>

#include "analyse/findings/overview.h"
#include "check.h"

static const struct device_busy one_device = {.busy_ps = 71};
static const struct table ops = {.by = {"op", 2}, .of = {"device", 6}};
static const struct table kernels = {.by = {"kernel", 6}, .of = {"device", 6}};
static const struct table names = {.by = {"name", 4}, .of = {"host", 4}};

enum { MS = 1000000000 };

static struct overview steps(void)
{
    struct overview ret = {.confidence = TRUST_HIGH,
                           .step_count = 12,
                           .warmup_count = 1,
                           .counted = 11,
                           .median_ps = INT64_C(54100000000),
                           .stdev_ps = 800000000,
                           .max_ps = INT64_C(60) * MS,
                           .time_total_ps = 1000,
                           .ops = &ops};

    ret.time.kinds_ps[KIND_COMPUTE] = 610;
    ret.time.kinds_ps[KIND_INPUT] = 220;
    ret.time.kinds_ps[KIND_COMMUNICATION] = 94;
    ret.time.kinds_ps[KIND_COPY] = 31;
    ret.time.kinds_ps[KIND_IDLE] = 45;
    return ret;
}

static void check(const char *what, const struct overview *overview, const char *want)
{
    struct arena *arena = arena_create();

    CHECK_STR(what, overview_sentence(overview, arena), want);
    arena_destroy(arena);
}

static void with_steps(void **state)
{
    (void)state;
    struct overview overview = steps();

    check("three shares, largest first", &overview,
          "A step takes 54.1 ms (± 800 µs; 11 steps, 1 warm-up excluded). 61 % is compute, 22 % "
          "waits for input, 9.4 % is exposed communication.");
    overview.most = (struct most_of_time){.known = true, .count = 12, .of = 412};
    overview.time.hidden_ps = 120;
    overview.time.wait_ps = 80;
    check("what is beneath, and what only waits", &overview,
          "A step takes 54.1 ms (± 800 µs; 11 steps, 1 warm-up excluded). 61 % is compute, 22 % "
          "waits for input, 9.4 % is exposed communication. Another 12 % of communication overlaps "
          "with other work. For 8.0 % of it devices only wait for copies or collectives. 12 of 412 "
          "ops account for 80 % of device time.");
    overview = steps();
    overview.efficiency = (struct overview_efficiency){
        .has_mfu = true, .mfu = 0.41, .peak = STR("bf16"), .is_least = true};
    check("MFU, of which not all is known", &overview,
          "A step takes 54.1 ms (± 800 µs; 11 steps, 1 warm-up excluded). 61 % is compute, 22 % "
          "waits for input, 9.4 % is exposed communication. MFU is at least 41 % of the bf16 "
          "peak.");
    overview.efficiency.is_least = false;
    overview.efficiency.has_roof_share = true;
    overview.efficiency.roof_share = 0.62;
    check("MFU and the roofline", &overview,
          "A step takes 54.1 ms (± 800 µs; 11 steps, 1 warm-up excluded). 61 % is compute, 22 % "
          "waits for input, 9.4 % is exposed communication. MFU is 41 % of the bf16 peak; while "
          "ops run they reach 62 % of their roofline.");
    overview = steps();
    overview.apart = STR("jit_evaluate");
    overview.apart_count = 2;
    overview.apart_ps = INT64_C(168) * MS;
    check("what the loop calls after some", &overview,
          "A step takes 54.1 ms (± 800 µs; 11 steps, 1 warm-up excluded). After 2 of them "
          "jit_evaluate takes 168 ms, which is not counted. 61 % is compute, 22 % waits for input, "
          "9.4 % is exposed communication.");
    static const struct {
        uint32_t every;
        const char *word;
    } ordinals[] = {{2, "2nd"}, {5, "5th"}, {11, "11th"}, {23, "23rd"}, {101, "101st"}};
    for (size_t i = 0; i < COUNT(ordinals); i++) {
        char want[512];

        overview.apart_every = ordinals[i].every;
        snprintf(want, sizeof want,
                 "A step takes 54.1 ms (± 800 µs; 11 steps, 1 warm-up excluded). After every %s "
                 "step jit_evaluate takes 168 ms, which is not counted. 61 %% is compute, 22 %% "
                 "waits for input, 9.4 %% is exposed communication.",
                 ordinals[i].word);
        check("... regularly", &overview, want);
    }
    overview.apart_count = overview.apart_every = 0;
    overview.mean_ps = INT64_C(54) * MS;
    overview.beside = STR("jit_evaluate");
    overview.beside_ps = INT64_C(12) * MS;
    overview.confidence = TRUST_MEDIUM;
    check("... beside the steps' own work", &overview,
          "A step takes 54.1 ms (± 800 µs; 11 inferred steps, 1 warm-up excluded). The mean "
          "contains 12 ms of jit_evaluate, which no step called. 61 % is compute, 22 % waits for "
          "input, 9.4 % is exposed communication.");
    overview.beside_ps = MS;
    check("... too short for a word", &overview,
          "A step takes 54.1 ms (± 800 µs; 11 inferred steps, 1 warm-up excluded). 61 % is "
          "compute, 22 % waits for input, 9.4 % is exposed communication.");
    overview.beside_ps = INT64_C(2) * MS;
    check("... more than steps are said to be near to", &overview,
          "A step takes 54.1 ms (± 800 µs; 11 inferred steps, 1 warm-up excluded). The mean "
          "contains 2 ms of jit_evaluate, which no step called. 61 % is compute, 22 % waits for "
          "input, 9.4 % is exposed communication.");
    overview = steps();
    overview.max_ps = INT64_C(2300) * MS;
    overview.confidence = TRUST_LOW;
    check("one far longer than the others, and not sure", &overview,
          "A step takes 54.1 ms (median of 11 guessed steps, 1 warm-up excluded; the longest 2.30 "
          "s). Of the time of all 11 steps 61 % is compute, 22 % waits for input, 9.4 % is exposed "
          "communication.");
    overview.time_total_ps = 0;
    check("... of whose time nothing is known", &overview,
          "A step takes 54.1 ms (median of 11 guessed steps, 1 warm-up excluded; the longest 2.30 "
          "s).");
    overview = steps();
    overview.time_rule = STEP_TIME_WORK;
    overview.mean_ps = INT64_C(54600) * 1000 * 1000;
    check("from work to work: the mean, and the median by its name", &overview,
          "A step takes 54.6 ms (± 800 µs; mean of 11 steps, 1 warm-up excluded; median 54.1 ms). "
          "61 % is compute, 22 % waits for input, 9.4 % is exposed communication.");
    overview.mean_ps = overview.median_ps;
    check("... which need no names where they read alike", &overview,
          "A step takes 54.1 ms (± 800 µs; 11 steps, 1 warm-up excluded). 61 % is compute, 22 % "
          "waits for input, 9.4 % is exposed communication.");
    overview.mean_ps = INT64_C(9996) * 1000 * 1000;
    overview.median_ps = overview.max_ps = INT64_C(10) * MS;
    check("... in another form, too", &overview,
          "A step takes 10.0 ms (± 800 µs; 11 steps, 1 warm-up excluded). 61 % is compute, 22 % "
          "waits for input, 9.4 % is exposed communication.");
    overview = steps();
    overview.counted = 10;
    overview.cut_count = 1;
    check("one that the end cuts", &overview,
          "A step takes 54.1 ms (± 800 µs; 10 steps, 1 warm-up and 1 cut off by the end of the "
          "recording excluded). 61 % is compute, 22 % waits for input, 9.4 % is exposed "
          "communication.");
    overview = steps();
    overview.step_count = overview.counted = 12;
    overview.warmup_count = 0;
    overview.step_hosts = 2;
    overview.even_hosts = true;
    check(
        "of several hosts a step is one on each", &overview,
        "A step takes 54.1 ms (± 800 µs; 6 steps on each of 2 hosts). 61 % is compute, 22 % waits "
        "for input, 9.4 % is exposed communication.");
    overview.even_hosts = false;
    check("... where one has more of them all are told", &overview,
          "A step takes 54.1 ms (± 800 µs; 12 steps of 2 hosts). 61 % is compute, 22 % waits for "
          "input, 9.4 % is exposed communication.");
    overview = (struct overview){.confidence = TRUST_MEDIUM,
                                 .step_count = 1,
                                 .counted = 1,
                                 .median_ps = MS,
                                 .max_ps = MS,
                                 .ops = &ops};
    check("one, of which nothing is known", &overview, "A step takes 1 ms (1 inferred step).");
}

static void without_steps(void **state)
{
    (void)state;
    struct overview overview = {.duration_ps = 100,
                                .devices = &one_device,
                                .device_count = 1,
                                .time_total_ps = 100,
                                .most = {.known = true, .count = 1, .of = 9, .first = STR("gemm")},
                                .ops = &kernels};

    overview.time.kinds_ps[KIND_COMPUTE] = 71;
    overview.time.kinds_ps[KIND_IDLE] = 29;
    overview.time.doing_ps[DOING_WAIT] = 29;
    check("a device", &overview,
          "No steps were found. The capture lasts 100 ps; the device is busy 71 % of it. 71 % is "
          "compute, 29 % is idle while the host waits. One of 9 kernels and copies, gemm, accounts "
          "for "
          "80 % of "
          "device "
          "time.");
    overview.ops = &names;
    overview.device_count = 0;
    overview.time.doing_ps[DOING_WAIT] = 0;
    check("names of a host are no work", &overview,
          "No steps were found. The capture lasts 100 ps. 71 % is compute, 29 % is idle.");
    overview.time.doing_ps[DOING_NOTHING] = 29;
    check("what a host without devices did not record is not idle", &overview,
          "No steps were found. The capture lasts 100 ps. 71 % is compute, 29 % has nothing "
          "recorded.");
    overview.thread = STR("main");
    overview.other_threads = 3;
    check("on one of its threads", &overview,
          "No steps were found. The capture lasts 100 ps. 71 % is compute, 29 % has nothing "
          "recorded on its thread. That thread is main; 3 other threads recorded something in the "
          "same time.");
    overview.device_count = 1;
    overview.thread = STR("");
    overview.other_threads = 1;
    check("on one of each host", &overview,
          "No steps were found. The capture lasts 100 ps; the device is busy 71 % of it. 71 % is "
          "compute, 29 % is idle while the host's thread recorded nothing. One thread of each host "
          "is examined; 1 other thread recorded something in the same time.");
    overview.profiler_ps = 50;
    overview.devices = &one_device;
    overview.other_threads = 0;
    overview.time_total_ps = 150;
    overview.duration_ps = 200;
    overview.time.kinds_ps[KIND_IDLE] = 79;
    overview.time.doing_ps[DOING_NOTHING] = 0;
    check("all shares are of what the profiler left", &overview,
          "No steps were found. The capture lasts 200 ps, of which the profiler's own start and "
          "stop take 50 ps; the device is busy 47 % of the rest. Of the rest 53 % is idle, 47 % is "
          "compute.");
    overview = (struct overview){.ops = &names};
    check("nothing at all", &overview,
          "No steps were found: the profile holds no event that takes time.");
}

/* Owners stand once, whatever devices and lines they have. */
static void of_memory(void **state)
{
    (void)state;
    static const struct host_trace host = {.name = {"memory.prof", 11}};
    const struct overview overview = {
        .ops = &names,
        .has_snapshot = true,
        .snapshot = {.snapshot = &host, .total = 48 << 20},
        .owners = {{STR("weights"), 32 << 20}, {STR("cache"), 16 << 20}},
        .owner_count = 2};

    check("a snapshot alone", &overview,
          "No timeline: this is a memory snapshot, memory.prof, which holds 48 MiB: 32 MiB of "
          "weights, 16 MiB of cache.");
}

/* A kernel's name of a page, cut between letters. */
static void long_names(void **state)
{
    (void)state;
    char name[301];
    struct overview overview = {.ops = &ops,
                                .most = {.known = true, .count = 1, .of = 2, .first = {name, 300}}};

    for (size_t i = 0; i < 300; i += 3)
        memcpy(name + i, "€", 3);

    struct arena *arena = arena_create();
    struct str got = overview_sentence(&overview, arena);

    CHECK("short", got.count < 200);
    CHECK("whole letters", str_utf8(arena, got).at == got.at);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(with_steps),
                                       cmocka_unit_test(without_steps), cmocka_unit_test(of_memory),
                                       cmocka_unit_test(long_names)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
