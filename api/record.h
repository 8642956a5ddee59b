/* SPDX-License-Identifier: Apache-2.0 */
/* The collector's record stream, a spool (*.jvs): what libjview-collector.so appends while a
 * program runs, and what jviewd opens: finished, cut off anywhere, or still growing.
 *
 *   spool_head                    64 bytes, once
 *   spool_frame | payload | check  any number; a frame is whole or it is not there
 *
 * Little-endian. A payload is one zstd frame of raw_bytes bytes; a check is the XXH3 (64 bits) of
 * all bytes of its head or frame in front of it. A frame that does not check is skipped by looking
 * for the next SPOOL_FRAME_MAGIC; `sequence` tells how many were lost.
 *
 * Payload of
 *   SPOOL_TEXT         first id, count, then count times: length, bytes (UTF-8 or raw)
 *   SPOOL_STACK_TEXT   the same; their ids are their own
 *   SPOOL_ABOUT        the same with id 0: a key and its value in turn; "host", "program", "ticks",
 *                      "version" (of the collector), "env NAME" of the few variables that say how
 *                      the program was set up
 *   any other          count, columns, then each column in turn: count numbers, each the
 *                      difference to the one before it in its column (the first: to 0)
 *
 * Numbers are varints; those of columns are zigzag. A reader that knows fewer columns than it finds
 * passes over the rest; one that knows more reads 0. Texts have ids from 1 on, in order; 0 is none.
 *
 * Two clocks: `ticks` is what a thread reads in a few nanoseconds (the processor's counter, or
 * CLOCK_MONOTONIC: "tsc" or "monotonic" in SPOOL_ABOUT); SPOOL_CLOCK ties it to CLOCK_REALTIME.
 * Times in `ns` are CLOCK_REALTIME, as CUPTI gives them.
 */
#ifndef JVIEWD_API_RECORD_H
#define JVIEWD_API_RECORD_H

#include <stdint.h>

#define SPOOL_MAGIC "JVSPOOL1"
#define SPOOL_FRAME_MAGIC UINT32_C(0x46564a1e) /* "\x1eJVF" */
#define SPOOL_SUFFIX ".jvs"

enum {
    SPOOL_VERSION = 1,
    SPOOL_RAW_MAX = 16 << 20,   /* bytes of a payload, unpacked */
    SPOOL_RECORDS_MAX = 1 << 16 /* of one frame */
};

struct spool_head {
    char magic[8];
    uint32_t version, process;
    int64_t realtime_ns, monotonic_ns; /* when it was opened */
    uint64_t process_start; /* in ticks of the boot, from /proc: tells reused ids apart */
    uint8_t boot[16];       /* id of the boot */
    uint64_t check;
};

struct spool_frame {
    uint32_t magic;
    uint16_t type, zero; /* enum spool_type */
    uint32_t raw_bytes, packed_bytes;
    uint64_t sequence; /* from 0 */
    uint32_t records, zero2;
};

enum spool_type {
    SPOOL_ABOUT = 1,
    SPOOL_TEXT,
    SPOOL_CLOCK,  /* the clocks, read together */
    SPOOL_RANGE,  /* an NVTX range or mark, complete */
    SPOOL_OPEN,   /* one that was open at the last look: columns of SPOOL_RANGE, end = that look */
    SPOOL_THREAD, /* a thread's name */
    SPOOL_CATEGORY, /* a category's name */
    SPOOL_SWITCH,   /* recording began or ended */
    SPOOL_LOSS,     /* what was not recorded, and why */
    SPOOL_END,      /* the process came to its end: no columns */
    SPOOL_KERNEL,   /* CUDA activity, times in ns: a kernel */
    SPOOL_COPY,
    SPOOL_SET,
    SPOOL_CALL,       /* a call of the CUDA runtime or driver */
    SPOOL_LOG,        /* a sentence on what could not be recorded */
    SPOOL_DEVICE,     /* what is known of a GPU */
    SPOOL_COUNTER,    /* a figure of the machine, of the process or of a GPU */
    SPOOL_OVERHEAD,   /* what CUPTI and the driver took for themselves */
    SPOOL_SAMPLER,    /* how threads were looked at */
    SPOOL_STACK_TEXT, /* functions, files and libraries of stacks; names of threads */
    SPOOL_STACK,      /* calls, each behind the one that it was called from */
    SPOOL_SAMPLE,     /* where a thread was at a look */
    SPOOL_TASK,       /* a thread, as the system calls it */
    SPOOL_NODE,       /* a node of a CUDA graph was made, or copied from another */
    SPOOL_GRAPH,      /* CUDA activity: a graph that ran as a whole */
    SPOOL_STREAM,     /* a stream's name */
    SPOOL_TYPE_COUNT,
};

/* The columns of each. A thread is its id in the system (gettid); names, domains are texts. */
enum { CLOCK_TICKS, CLOCK_REALTIME_NS, CLOCK_MONOTONIC_NS, CLOCK_COLUMNS };
enum {
    RANGE_THREAD,
    RANGE_START,
    RANGE_END,
    RANGE_DOMAIN,
    RANGE_NAME,
    RANGE_CATEGORY,
    RANGE_COLOR, /* ARGB, 0 none */
    RANGE_FORM,
    RANGE_PAYLOAD_KIND,
    RANGE_PAYLOAD,
    RANGE_END_THREAD, /* of FORM_FREE: who ended it */
    RANGE_COLUMNS
};
enum { THREAD_ID, THREAD_NAME, THREAD_COLUMNS };
enum { CATEGORY_DOMAIN, CATEGORY_NUMBER, CATEGORY_NAME, CATEGORY_COLUMNS };
enum { SWITCH_AT, SWITCH_IS_OPEN, SWITCH_CAPTURE, SWITCH_COLUMNS };
enum { LOSS_CAUSE, LOSS_COUNT, LOSS_FIRST, LOSS_LAST, LOSS_COLUMNS };
enum { /* the first columns of KERNEL, COPY, SET */
       WORK_START,
       WORK_END, /* both 0 where CUPTI had no time for it */
       WORK_DEVICE,
       WORK_CONTEXT,
       WORK_STREAM,
       WORK_CORRELATION, /* the call with the same number started it */
       WORK_NODE,        /* of a CUDA graph; 0 none */
       WORK_GRAPH,
       WORK_COLUMNS
};
enum {
    KERNEL_NAME = WORK_COLUMNS,
    KERNEL_GRID,                         /* x y z */
    KERNEL_BLOCK = KERNEL_GRID + 3,      /* x y z */
    KERNEL_REGISTERS = KERNEL_BLOCK + 3, /* of a thread */
    KERNEL_STATIC_SHARED,                /* bytes */
    KERNEL_DYNAMIC_SHARED,
    KERNEL_LOCAL_PER_THREAD,
    KERNEL_COLUMNS
};
enum {
    COPY_BYTES = WORK_COLUMNS,
    COPY_KIND, /* as CUPTI numbers them, also kinds of memory */
    COPY_FROM_MEMORY,
    COPY_TO_MEMORY,
    COPY_FROM_DEVICE, /* of a copy between devices, else -1 */
    COPY_TO_DEVICE,
    COPY_COLUMNS
};
enum { SET_BYTES = WORK_COLUMNS, SET_VALUE, SET_MEMORY, SET_COLUMNS };
enum {
    CALL_START,
    CALL_END,
    CALL_THREAD,
    CALL_CORRELATION,
    CALL_NAME,
    CALL_NUMBER, /* CUPTI's, of the runtime's or of the driver's calls */
    CALL_IS_DRIVER,
    CALL_RESULT, /* 0: it did what it was asked */
    CALL_COLUMNS
};
enum {
    OVERHEAD_START,
    OVERHEAD_END,
    OVERHEAD_KIND,   /* as CUPTI numbers them */
    OVERHEAD_THREAD, /* 0: of none */
    OVERHEAD_COLUMNS
};
enum { LOG_AT, LOG_TEXT, LOG_IS_INFO /* else it is a warning */, LOG_COLUMNS };
enum {
    DEVICE_SOURCE, /* enum spool_source */
    DEVICE_NUMBER, /* as that source counts */
    DEVICE_NAME,
    DEVICE_UUID, /* "GPU-466e1a2b-...": joins the sources */
    DEVICE_MEMORY_BYTES,
    DEVICE_MULTIPROCESSORS, /* this and the next: 0 unknown */
    DEVICE_CLOCK_KHZ,       /* of the processors, at most */
    DEVICE_BANDWIDTH_KB,    /* of the memory, a second */
    DEVICE_MAJOR,           /* compute capability */
    DEVICE_MINOR,
    DEVICE_COLUMNS
};
enum {
    COUNTER_AT_NS, /* CLOCK_MONOTONIC */
    COUNTER_WHAT,  /* enum spool_figure */
    COUNTER_PLACE, /* of a GPU's: its DEVICE_NUMBER of SOURCE_NVML */
    COUNTER_VALUE,
    COUNTER_COLUMNS
};
enum { SAMPLER_KIND /* enum spool_sampler */, SAMPLER_HZ, SAMPLER_COLUMNS };
enum {
    STACK_ID,
    STACK_CALLER,   /* a smaller id; 0: none, the outermost call */
    STACK_FUNCTION, /* this, the next and the last: of SPOOL_STACK_TEXT; 0 unknown */
    STACK_FILE,
    STACK_LINE, /* 0 unknown */
    STACK_MODULE,
    STACK_COLUMNS
};
enum {
    SAMPLE_AT_NS, /* CLOCK_MONOTONIC */
    SAMPLE_THREAD,
    SAMPLE_STACK,   /* of the innermost call; 0 unknown */
    SAMPLE_KIND,    /* enum spool_sampler */
    SAMPLE_TIME_NS, /* the time it stands for: since the look before */
    SAMPLE_CPU_NS,  /* of SAMPLER_PYTHON: what the thread ran since; -1 unknown */
    SAMPLE_COLUMNS
};
enum { TASK_THREAD, TASK_NAME /* of SPOOL_STACK_TEXT */, TASK_COLUMNS };
enum {
    NODE_ID,
    NODE_FROM,   /* the node that it was copied from, 0 none */
    NODE_THREAD, /* who made it */
    NODE_AT,
    NODE_STACK, /* a text: the ranges open there then, outermost first, each three ids of texts,
                   "domain.name.fields", with a space between */
    NODE_COLUMNS
};
enum { STREAM_NUMBER, STREAM_NAME, STREAM_COLUMNS };
enum { SPOOL_COLUMNS_MAX = 48 };

enum spool_form { FORM_NESTED, FORM_FREE, FORM_MARK }; /* push and pop; start and end; an instant */
enum spool_sampler { SAMPLER_PYTHON, SAMPLER_CPU, SAMPLERS }; /* Python's stacks; the processor's */
enum spool_source { SOURCE_CUDA, SOURCE_NVML };
enum spool_figure {                    /* and its unit */
                    FIGURE_CPU,        /* of the machine, all processors: a thousandth of 1 % */
                    FIGURE_MEMORY,     /* bytes in use */
                    FIGURE_DISK_READ,  /* bytes a second */
                    FIGURE_DISK_WRITE, /* the same */
                    FIGURE_OWN_CPU,    /* of the process; one processor: 100,000 */
                    FIGURE_OWN_MEMORY, /* resident bytes */
                    FIGURE_OWN_READ,   /* from disks: bytes a second */
                    FIGURE_OWN_WRITE,  /* the same */
                    FIGURE_GPU_CLOCK,  /* of the multiprocessors: MHz */
                    FIGURE_GPU_MEMORY_CLOCK, /* MHz */
                    FIGURE_GPU_POWER,        /* mW */
                    FIGURE_GPU_TEMPERATURE,  /* degrees Celsius */
                    FIGURE_GPU_MEMORY,       /* bytes in use */
                    FIGURE_GPU_BUSY,         /* %, of the time since the look before */
                    FIGURE_GPU_THROTTLE,     /* bits of NVML's reasons */
                    FIGURES,
};
enum spool_payload { PAYLOAD_NONE, PAYLOAD_UINT64, PAYLOAD_INT64, PAYLOAD_DOUBLE, PAYLOAD_FIELDS };
/* PAYLOAD_FIELDS: a text of fields with \x1f between them, each a letter for its type (i, u, d: a
 * number; s: a text), its key, "=" and its value. */
enum spool_cause { /* of a loss; count and first..last say how many, and when (ticks) */
                   LOST_RING_FULL,  /* the writer did not keep up with a thread */
                   LOST_TEXTS_FULL, /* more texts than the table holds: their ranges stand without a
                                       name */
                   LOST_TOO_DEEP,   /* more open ranges on a thread than are kept */
                   LOST_NO_PUSH,    /* a pop, or an end, of a range that was not open */
                   LOST_DISK,       /* the disk was full, or refused */
                   LOST_THREADS,    /* more threads than are kept */
                   LOST_LIMIT,      /* the spool was as large as was asked for at most */
                   LOST_POOL,       /* records of CUDA activity: all buffers were full */
                   LOST_CUPTI,      /* records that CUPTI dropped */
                   LOST_PAYLOADS,   /* more different ones than are kept */
                   LOST_TORN,       /* Python stacks that changed while they were read */
                   LOST_LATE,       /* looks at threads that came too late, so were left out */
                   LOST_STACKS,     /* more different stacks than are kept: cut to callers */
                   LOST_SAMPLES,    /* samples that the system dropped */
                   LOST_PROCESSORS, /* processors on which nothing was sampled */
                   LOST_CAUSES,
};

#endif
