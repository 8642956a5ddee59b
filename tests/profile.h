/* SPDX-License-Identifier: Apache-2.0 */
/* What make_profile's files share: lines, events made from (seed, line, index), and a way out. */
#ifndef JVIEWD_TESTS_PROFILE_H
#define JVIEWD_TESTS_PROFILE_H

#include "base/pack/pack.h"

#define STEP_PS INT64_C(50000000000)

enum { STEP_EVENTS = 2000, OP_NAMES = 96, FRAME_NAMES = 64, LINES_MAX = 256, BUFFER = 1 << 20 };

enum stat_id {
    STAT_NONE,
    STAT_CORRELATION,
    STAT_HLO_OP,
    STAT_HLO_MODULE,
    STAT_PROGRAM,
    STAT_RUN,
    STAT_DETAILS,
    STAT_OCCUPANCY,
    STAT_TF_OP,
    STAT_DEVICE,
    STAT_STEP,
    STAT_CATEGORY,
    STAT_FLOPS,
    STAT_BYTES,
    STAT_START,
    STAT_COUNT,
};

enum pattern { KERNELS, COPIES, LAUNCHES, FRAMES, STEPS, MODULES, OPS, CPU_OPS };

enum name_range {
    NAME_OPS = 1,
    NAME_ENDS = 200,
    NAME_COPY = 400,
    NAME_LAUNCH,
    NAME_STEP,
    NAME_MODULE,
    NAME_FRAMES = 500,
    NAME_COUNT = 600
};

struct line {
    const char *plane;
    char name[64];
    int64_t id;
    enum pattern pattern;
    int device;
    unsigned weight;
    uint64_t count, per_step;
    uint64_t body_bytes; /* of its XLine */
    int64_t sum_ps, top_ps, start_ps, end_ps;
    uint64_t names[NAME_COUNT];
    int64_t name_ps[NAME_COUNT];
};

struct profile {
    const char *shape;
    uint64_t events, seed;
    int devices;
    char planes[128][32];
    unsigned plane_count;
    struct line *lines;
    unsigned line_count;
};

struct stat_value {
    enum stat_id stat;
    bool is_ref; /* text by reference */
    uint64_t value;
};

struct made {
    unsigned name;
    int64_t start_ps, dur_ps;
    bool outermost;
    struct stat_value stats[8];
    unsigned stat_count;
};

struct out {
    int fd;
    struct gzip_out *gzip;
    bool counting;
    uint64_t count;
    size_t filled;
    uint8_t *buffer;
};

_Noreturn void die(const char *what);

/* profile_event.c */
const char *stat_name(enum stat_id stat);
/* The name of an event; `room` may hold it. */
const char *text_of(unsigned name, char room[160]);
/* What a text stat of an op says. */
const char *detail_of(enum stat_id stat, unsigned op, char room[160]);
struct made make_event(const struct profile *profile, const struct line *line, uint64_t index);

/* make_profile.c: into the file, or only counted. */
void put(struct out *out, const void *at, size_t count);

void put_xspace(struct out *out, struct profile *profile); /* profile_xplane.c */
void put_json(struct out *out, struct profile *profile);   /* profile_json.c */

#endif
