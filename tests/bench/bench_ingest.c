/* SPDX-License-Identifier: Apache-2.0 */
/* How fast an XPlane becomes a segment, against a bare walk of the same bytes.
 *
 *   bench_ingest [--rounds 5] [--threads 1] [--dir /dev/shm] FILE | cpu:EVENTS | gpu:EVENTS
 *   bench_ingest --make FILE cpu:EVENTS | gpu:EVENTS         only writes what would be measured
 *
 * CPU time, best of the rounds, walk and ingest in turn. The walk decodes every
 * event with all its stats and stores nothing; it is the ceiling of any reader.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "bench/made_xspace.h"
#include "decode/decode.h"
#include "store/segment.h"

struct walk {
    uint64_t events, stats, sum;
};

/* Bounds are checked, but for varints that run into the end: those yield 0. */
static inline uint64_t varint(const uint8_t **at, const uint8_t *end)
{
    uint64_t value = 0;

    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    return 0;
}

/* The value of the next field; for bytes the span. False at the end. */
static inline bool next_field(const uint8_t **at, const uint8_t *end, uint32_t *ret_number,
                              uint64_t *ret_value, const uint8_t **ret_bytes)
{
    if (*at >= end)
        return false;
    uint64_t tag = varint(at, end);
    *ret_number = (uint32_t)(tag >> 3);
    switch (tag & 7) {
    case 0:
        *ret_value = varint(at, end);
        return true;
    case 2:
        *ret_value = varint(at, end);
        *ret_bytes = *at;
        if (*ret_value > (uint64_t)(end - *at))
            return false;
        *at += *ret_value;
        return true;
    case 1:
    case 5: {
        size_t size = (tag & 7) == 1 ? 8 : 4;
        if ((size_t)(end - *at) < size)
            return false;
        *ret_value = 0;
        memcpy(ret_value, *at, size);
        *at += size;
        return true;
    }
    default:
        return false;
    }
}

static void walk_stat(const uint8_t *at, const uint8_t *end, struct walk *walk)
{
    uint32_t number;
    uint64_t value;
    const uint8_t *bytes = NULL;

    while (next_field(&at, end, &number, &value, &bytes))
        walk->sum += value * number;
    walk->stats++;
}

static void walk_event(const uint8_t *at, const uint8_t *end, struct walk *walk)
{
    uint32_t number;
    uint64_t value;
    const uint8_t *bytes = NULL;

    while (next_field(&at, end, &number, &value, &bytes)) {
        if (number == 4)
            walk_stat(bytes, bytes + value, walk);
        else
            walk->sum += value * number;
    }
    walk->events++;
}

static void walk_nested(const uint8_t *at, const uint8_t *end, uint32_t wanted, int depth,
                        struct walk *walk)
{
    uint32_t number;
    uint64_t value;
    const uint8_t *bytes = NULL;

    while (next_field(&at, end, &number, &value, &bytes)) {
        if (number != wanted)
            continue;
        if (depth == 2)
            walk_event(bytes, bytes + value, walk);
        else
            walk_nested(bytes, bytes + value, depth == 0 ? 3 : 4, depth + 1, walk);
    }
}

static double cpu_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double wall_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double system_ms(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_stime.tv_sec * 1e3 + (double)usage.ru_stime.tv_usec / 1e3;
}

static enum status ingest(struct bytes bytes, const char *path, const char *dir, int threads,
                          struct error *err)
{
    const struct sink_hooks hooks = {.two_threads = threads > 1};
    struct arena *arena = arena_create();
    struct input input;
    struct segment_writer *writer = NULL;
    enum status status = input_open(STR("bench.xplane.pb"), bytes, dir, arena, &input, err);

    if (status == OK)
        status = segment_writer_open(path, &writer, err);
    if (status == OK) {
        struct sink *sink =
            sink_create(segment_writer_out(writer), &budget_default, hooks, dir, err);
        status = decode_xspace.decode(&input, sink, err);
        if (status == OK)
            status = sink_finish(sink, err);
        sink_destroy(sink);
        input_close(&input);
    }
    if (status == OK)
        status = segment_writer_commit(writer, "00000000000000000000000000000000", err);
    segment_writer_abandon(writer);
    arena_destroy(arena);
    return status;
}

static struct bytes bytes_of(const char *what)
{
    struct error err = {0};
    struct file_stamp stamp;
    struct file_map map = {0};
    int fd;

    if (strncmp(what, "cpu:", 4) == 0 || strncmp(what, "gpu:", 4) == 0)
        return made_xspace(what[0] == 'c' ? MADE_CPU : MADE_GPU,
                           (uint32_t)strtoul(what + 4, NULL, 10));
    if (file_open(what, &fd, &stamp, &err) != OK ||
        file_map(fd, (size_t)stamp.size, &map, &err) != OK) {
        fprintf(stderr, "bench_ingest: %s\n", err.message);
        exit(1);
    }
    return map.bytes; /* mapped until the end */
}

static double less(double a, double b)
{
    return a < b ? a : b;
}

static int run(struct bytes bytes, int rounds, int threads, const char *dir)
{
    char path[4096];
    double walk_best = 1e18, ingest_best = 1e18, system_best = 1e18, wall_best = 1e18;
    struct walk walk = {0};
    struct stat made = {0};

    snprintf(path, sizeof(path), "%s/bench-%d.seg", dir, (int)getpid());
    for (int round = 0; round < rounds; round++) {
        struct error err = {0};
        double start = cpu_ms();

        walk = (struct walk){0};
        walk_nested(bytes.at, bytes.at + bytes.count, 1, 0, &walk);
        double walked = cpu_ms() - start;
        double system_start = system_ms(), wall_start = wall_ms();
        start = cpu_ms();
        if (ingest(bytes, path, dir, threads, &err) != OK) {
            fprintf(stderr, "bench_ingest: %s\n", err.message);
            return 1;
        }
        ingest_best = less(ingest_best, cpu_ms() - start);
        wall_best = less(wall_best, wall_ms() - wall_start);
        system_best = less(system_best, system_ms() - system_start);
        walk_best = less(walk_best, walked);
        stat(path, &made);
        unlink(path);
    }

    struct rusage usage;
    double events = (double)(walk.events ? walk.events : 1);
    getrusage(RUSAGE_SELF, &usage);
    printf("%llu events, %llu stats, %zu bytes (sum %llx)\n", (unsigned long long)walk.events,
           (unsigned long long)walk.stats, bytes.count, (unsigned long long)walk.sum);
    printf("walk    %8.1f ms  %6.1f ns an event\n", walk_best, walk_best * 1e6 / events);
    printf("ingest  %8.1f ms  %6.1f ns an event, %.1f %% of the walk's speed\n", ingest_best,
           ingest_best * 1e6 / events, 100 * walk_best / ingest_best);
    printf("        %8.1f ms of it in the kernel, %.1f ms by the clock\n", system_best, wall_best);
    printf("segment %8.1f MB  %6.1f B an event\n", (double)made.st_size / 1e6,
           (double)made.st_size / events);
    printf("peak    %8.1f MB, the input of %.1f MB within\n", (double)usage.ru_maxrss / 1e3,
           (double)bytes.count / 1e6);
    return 0;
}

static int make(struct bytes bytes, const char *path)
{
    FILE *file = fopen(path, "w");

    if (!file || fwrite(bytes.at, 1, bytes.count, file) != bytes.count || fclose(file) != 0) {
        perror(path);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int rounds = 5, threads = 1;
    const char *dir = "/dev/shm", *what = NULL, *made = NULL;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc)
            rounds = atoi(argv[++i]);
        else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc)
            threads = atoi(argv[++i]);
        else if (strcmp(argv[i], "--dir") == 0 && i + 1 < argc)
            dir = argv[++i];
        else if (strcmp(argv[i], "--make") == 0 && i + 1 < argc)
            made = argv[++i];
        else
            what = argv[i];
    }
    if (!what) {
        fprintf(stderr, "usage: bench_ingest [--rounds N] [--dir DIR] FILE | cpu:N | gpu:N\n");
        return 2;
    }
    struct bytes bytes = bytes_of(what);
    return made ? make(bytes, made) : run(bytes, rounds, threads, dir);
}
