/* SPDX-License-Identifier: Apache-2.0 */
/* What CUPTI and its users tell each other: numbers and layouts of its public headers, in our
 * words.
 *
 * Records of a kind only grow at their tail from CUDA 12.0 to 13.0, so that each is read by the
 * prefix that is written here; the next one is where CUPTI says, never where a size ends.
 */
#ifndef JVIEWD_INJECT_CUPTI_ABI_H
#define JVIEWD_INJECT_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

enum cupti_result {
    CUPTI_OK = 0,
    CUPTI_NO_MEMORY = 8,
    CUPTI_LIMIT = 12,
    CUPTI_NOT_INITIALIZED = 15,
    CUPTI_INVALID_KIND = 21,
    CUPTI_NOT_SUPPORTED = 27,
    CUPTI_VIRTUAL_GPU = 33,
    CUPTI_NOT_PRIVILEGED = 35,
    CUPTI_LEGACY_PROFILER = 38,
    CUPTI_TAKEN = 39, /* another subscriber */
    CUPTI_VIRTUAL_GPU_NOT_PRIVILEGED = 40,
    CUPTI_CONFIDENTIAL = 41,
    CUPTI_MINING_GPU = 42,
    CUPTI_MIG = 43,
    CUPTI_SLI = 44,
    CUPTI_WSL = 45,
    CUPTI_UNKNOWN = 999, /* also: no usable driver */
};

enum cupti_kind {
    CUPTI_MEMCPY = 1,
    CUPTI_MEMSET = 2,
    CUPTI_DRIVER = 4,
    CUPTI_RUNTIME = 5,
    CUPTI_DEVICE = 8,
    CUPTI_CONCURRENT_KERNEL = 10,
    CUPTI_OVERHEAD = 17,
    CUPTI_MEMCPY_PEER = 22,
    CUPTI_GRAPH_TRACE = 51, /* instead of the nodes of graphs */
};

enum { CUPTI_OBJECT_THREAD = 2 };
enum {
    CUPTI_DOMAIN_DRIVER = 1,
    CUPTI_DOMAIN_RUNTIME = 2,
    CUPTI_DOMAIN_RESOURCE = 3,
    CUPTI_DOMAIN_STATE = 6
};
enum { CUPTI_STATE_FATAL = 1, CUPTI_STATE_ERROR, CUPTI_STATE_WARNING }; /* of the last one */
enum { CUPTI_NODE_CREATED = 13, CUPTI_NODE_CLONED = 20 }; /* of CUPTI_DOMAIN_RESOURCE */
enum { CUPTI_SITE_ENTER, CUPTI_SITE_EXIT };
enum { CUPTI_THREAD_ID_SYSTEM = 1 };
enum { CUPTI_FLUSH_FORCED = 1 };
enum { /* attributes; each a size_t, but for the last one: a byte */
       CUPTI_ATTRIBUTE_DEVICE_POOL_LIMIT = 2,
       CUPTI_ATTRIBUTE_ZEROED_BUFFERS = 5,
       CUPTI_ATTRIBUTE_PER_THREAD_BUFFERS = 9,
};
enum { CUPTI_HOLDER_BYTES = 64 };

struct cupti_subscriber { /* what cuptiSubscribe_v2 takes */
    size_t size;
    const char *name;
    char *holder; /* of CUPTI_HOLDER_BYTES */
    size_t holder_size;
};

struct cupti_call_site { /* what a callback of the two domains of calls is given */
    int site;
    const char *function;
};

struct cupti_state { /* what one of states is given */
    int result;
    const char *message; /* may be NULL */
};

struct cupti_resource { /* what one of resources is given */
    void *context, *stream;
    const void *about; /* of nodes: struct cupti_node */
};

struct cupti_node {
    void *graph, *original_graph;
    void *node, *original; /* the latter of a clone */
    int type;
};

struct cupti_record {
    uint32_t kind;
};

struct cupti_kernel {
    uint32_t kind;
    uint8_t cache_config, shared_config;
    uint16_t registers;
    uint32_t partitioned, partitioned_executed;
    uint64_t start, end, completed;
    uint32_t device, context, stream;
    int32_t grid[3], block[3];
    int32_t static_shared, dynamic_shared;
    uint32_t local_per_thread, local_total, correlation;
    int64_t grid_id;
    const char *name;
    uint64_t reserved, queued, submitted;
    uint8_t launch_type, is_carveout_requested, carveout, executed_carveout;
    uint32_t shared_executed;
    uint64_t graph_node;
    uint32_t shared_limit, graph;
};

struct cupti_memcpy {
    uint32_t kind;
    uint8_t copy_kind, from_kind, to_kind, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
    uint32_t runtime_correlation, padding;
    uint64_t reserved, graph_node;
    uint32_t graph;
};

struct cupti_memcpy_peer {
    uint32_t kind;
    uint8_t copy_kind, from_kind, to_kind, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream;
    uint32_t from_device, from_context, to_device, to_context, correlation;
    uint64_t reserved, graph_node;
    uint32_t graph;
};

struct cupti_memset {
    uint32_t kind, value;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
    uint16_t flags, memory_kind;
    uint32_t padding;
    uint64_t reserved, graph_node;
    uint32_t graph;
};

struct cupti_graph_trace {
    uint32_t kind, correlation;
    uint64_t start, end;
    uint32_t device, graph, context, stream;
};

struct cupti_call {
    uint32_t kind, call;
    uint64_t start, end;
    uint32_t process, thread, correlation, result;
};

struct cupti_device { /* one of each GPU that the program sees */
    uint32_t kind, flags;
    uint64_t bandwidth_kb, memory_bytes; /* the former a second */
    uint32_t constant_bytes, cache_bytes, warp_threads, clock_khz, copy_engines, multiprocessors;
    uint32_t most[14]; /* warps, blocks, registers, ... of what */
    uint32_t major, minor, id, has_ecc;
    uint8_t uuid[16];
    const char *name;
};

struct cupti_overhead {
    uint32_t kind, what;
    uint32_t object; /* CUPTI_OBJECT_THREAD: process and thread are its */
    uint32_t process, thread, unused;
    uint64_t start, end;
};

#define CUPTI_AT(type, field, at)                                                                  \
    _Static_assert(offsetof(struct type, field) == (at), "as in the public header")
CUPTI_AT(cupti_kernel, start, 16);
CUPTI_AT(cupti_kernel, device, 40);
CUPTI_AT(cupti_kernel, grid, 52);
CUPTI_AT(cupti_kernel, block, 64);
CUPTI_AT(cupti_kernel, correlation, 92);
CUPTI_AT(cupti_kernel, name, 104);
CUPTI_AT(cupti_kernel, graph_node, 144);
CUPTI_AT(cupti_kernel, graph, 156);
CUPTI_AT(cupti_memcpy, correlation, 44);
CUPTI_AT(cupti_memcpy, graph_node, 64);
CUPTI_AT(cupti_memcpy, graph, 72);
CUPTI_AT(cupti_memcpy_peer, from_device, 44);
CUPTI_AT(cupti_memcpy_peer, to_device, 52);
CUPTI_AT(cupti_memcpy_peer, correlation, 60);
CUPTI_AT(cupti_memcpy_peer, graph_node, 72);
CUPTI_AT(cupti_memset, correlation, 44);
CUPTI_AT(cupti_memset, memory_kind, 50);
CUPTI_AT(cupti_memset, graph_node, 64);
CUPTI_AT(cupti_graph_trace, stream, 36);
CUPTI_AT(cupti_node, original, 24);
CUPTI_AT(cupti_call, correlation, 32);
CUPTI_AT(cupti_device, major, 104);
CUPTI_AT(cupti_device, uuid, 120);
CUPTI_AT(cupti_device, name, 136);
CUPTI_AT(cupti_overhead, start, 24);
#undef CUPTI_AT

typedef void cupti_request(uint8_t **ret, size_t *ret_size, size_t *ret_records_max);
typedef void cupti_complete(void *context, uint32_t stream, uint8_t *at, size_t size, size_t valid);
typedef void cupti_callback(void *data, int domain, uint32_t call, const void *about);

#endif
