/* SPDX-License-Identifier: Apache-2.0 */
/* What the launcher and the processes it watches share: a page of memory, see control_memory.h.
 *
 * Found by the session's directory, since children close the descriptors they inherit. What is
 * asked for stands before the program starts; the switch is turned by the launcher, by
 * `jview-collect ctl`, and by the range of a capture; a process writes the counters, which only
 * ever grow. The launcher holds a lock (flock) on the directory's file as long as it lives.
 */
#ifndef JVIEWD_COLLECTOR_CONTROL_H
#define JVIEWD_COLLECTOR_CONTROL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTROL_FILE "control"
#define CONTROL_MAGIC UINT32_C(0x4c54434a) /* "JCTL" */

/* By these a process learns what it is part of. */
#define ENV_SESSION "JVIEW_SESSION" /* the session's directory: set by the launcher */
#define ENV_OUT "JVIEW_OUT"         /* without a launcher: the profile directory */

enum {
    CONTROL_VERSION = 6,
    CAPTURE_NAME_MAX = 128, /* with its NUL, as the next two */
    DOMAINS_MAX = 1024,
    SEEN_NAME_MAX = 64,
    SEEN_MAX = 10,
    COMPLAINT_MAX = 512,
    SAMPLES_MAX = 4096, /* seconds of them: whoever reads comes several times a second */
    GPUS_MAX = 32,
    GPU_TEXT_MAX = 96,
    WRITERS_MAX = 256
};

enum capture_range {                 /* what turns it on */
                     CAPTURE_NONE,   /* the start; --delay */
                     CAPTURE_NVTX,   /* a range of that name */
                     CAPTURE_STEPS,  /* the so-manieth of them */
                     CAPTURE_SIGNAL, /* SIGUSR2 to the launcher */
                     CAPTURE_CUDA,   /* cuProfilerStart to cuProfilerStop */
};

struct control_asked {
    uint32_t range;                 /* enum capture_range */
    uint32_t captures_max;          /* 0: any number */
    uint32_t first_step, last_step; /* from 1; of CAPTURE_STEPS */
    char name[CAPTURE_NAME_MAX];    /* of the range */
    char domain[CAPTURE_NAME_MAX];  /* of it; "" any */
    char domains[DOMAINS_MAX];      /* "a,b": those to record, or those not to; "" all */
    uint32_t excludes_domains;
    uint32_t no_ranges, no_activity; /* nothing of NVTX, of CUDA is asked for */
    uint32_t has_whole_graphs;       /* graphs of CUDA, not their nodes */
    uint32_t flush_ms;               /* a frame at least that often; 0: the usual */
    uint64_t spool_bytes_max;        /* of each process; 0: the disk's */
    uint32_t system_hz;              /* looks at the machine's figures a second; 0: none */
};

struct control_gpu { /* as NVML knows it */
    char name[GPU_TEXT_MAX], uuid[GPU_TEXT_MAX];
    uint64_t memory_bytes;
};

/* The launcher writes what it sees of the machine round and round; each process takes from it. */
struct control_system {
    _Atomic uint32_t is_told; /* gpus, gpu_count and note stand */
    uint32_t gpu_count;
    struct control_gpu gpus[GPUS_MAX];
    char note[COMPLAINT_MAX];      /* why there are no GPUs; "" none */
    _Atomic uint64_t sample_count; /* ever */
    struct control_sample {
        _Atomic int64_t at_ns; /* CLOCK_MONOTONIC */
        _Atomic uint32_t what, place;
        _Atomic int64_t value;
    } samples[SAMPLES_MAX];
};

struct control_writer { /* a process that records, while it lives */
    _Atomic int32_t process;
    _Atomic uint32_t is_done; /* it saw is_ending, and all is written */
};

struct control {
    uint32_t magic, version;
    int32_t launcher, child; /* processes */
    int32_t memory_fd, zero; /* the launcher's */
    int64_t token;           /* of this session */
    struct control_asked asked;
    _Atomic uint32_t is_on;     /* 1: what happens is recorded */
    _Atomic uint32_t capture;   /* how many times it was turned on */
    _Atomic uint32_t flush;     /* grows: write all that is there now */
    _Atomic uint32_t loaded;    /* processes that loaded the library */
    _Atomic uint32_t processes; /* of them those that recorded something */
    _Atomic uint32_t seen_count;
    _Atomic uint64_t records, lost, bytes;
    char seen[SEEN_MAX][SEEN_NAME_MAX]; /* names of ranges that did not turn it on */
    _Atomic uint64_t activity;          /* records of CUDA */
    _Atomic uint32_t complaint_state;   /* 0, 1 while it is written, 2 when it stands */
    char complaint[COMPLAINT_MAX];      /* what the first process with one could not record */
    struct control_system system;
    _Atomic uint32_t is_ending; /* a signal comes: write all that is there, then say so */
    struct control_writer writers[WRITERS_MAX];
};

/* The first one stands. */
static inline void control_complain(struct control *control, const char *text)
{
    uint32_t none = 0;

    if (!atomic_compare_exchange_strong(&control->complaint_state, &none, 1))
        return;
    for (size_t at = 0; at + 1 < COMPLAINT_MAX && text[at] != '\0'; at++)
        control->complaint[at] = text[at];
    atomic_store(&control->complaint_state, 2);
}

/* The process's own place, also behind an exec; NULL where all are taken: nobody waits for it. */
static inline struct control_writer *control_join(struct control *control, int32_t process)
{
    struct control_writer *writers = control->writers;

    for (int32_t pass = 0; pass < 2; pass++)
        for (size_t at = 0; at < WRITERS_MAX; at++) {
            int32_t wanted = pass == 0 ? process : 0;
            if (!atomic_compare_exchange_strong(&writers[at].process, &wanted, process))
                continue;
            atomic_store(&writers[at].is_done, 0);
            return &writers[at];
        }
    return NULL;
}

/* False where it stood so already. */
static inline bool control_turn(struct control *control, bool opens)
{
    uint32_t before = !opens;

    if (!atomic_compare_exchange_strong(&control->is_on, &before, opens))
        return false;
    if (opens)
        atomic_fetch_add(&control->capture, 1);
    return true;
}

#endif
