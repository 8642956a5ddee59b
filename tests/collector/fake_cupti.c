/* SPDX-License-Identifier: Apache-2.0 */
/* A CUPTI without a GPU, from the public facts in cupti_abi.h. A launch makes, with its number:
 *
 *   a kernel     "matmul", "softmax", "add" in turn, of 1,000 + 10 * (number % 7) ns, and its call
 *   a copy       every fourth: 4,096 bytes to the device in 500 ns
 *   a set        every eighth: 64 bytes in 100 ns
 *   devices      once: 0 and 1, which NVML counts the other way round
 *   overhead     every 16th: 50 ns of a flush
 *   calls        cuLaunchKernel, and cuCtxGetCurrent, which nobody should ask for
 *
 *   graphs       nodes whose handle is their number; a launch of some makes kernels of 1,000 ns
 *                with their numbers, one call for all, or with whole graphs one record of it
 *
 *   FAKE_CUPTI_FAIL=FUNCTION=CODE,...   makes a function fail; cuptiActivityEnable:10 one of a kind
 *   FAKE_CUPTI_VERSION, _DROPS          what it answers
 *   FAKE_CUPTI_ZERO, _INVERT, _ASTRAY=N every N'th kernel has no times, the end first, a name that
 *                                       points nowhere
 *   FAKE_CUPTI_MANGLED=1                kernels are called as a C++ compiler calls them
 *   FAKE_CUPTI_NOISE=1                  times, sizes and streams without rule, for speed and size
 *   FAKE_CUPTI_LATE=NS                  work begins so long behind its call, on the real clock
 *   FAKE_CUPTI_TIGHT=1                  kernels need a pool on the GPU of no more than 16 buffers
 *   FAKE_CUPTI_HANG=N                   the N'th flush, and those behind it, never come back
 *   FAKE_CUPTI_SLOW=MS                  each flush takes so long before it gives anything
 *   FAKE_CUPTI_WARNS=1                  it warns of something
 *   FAKE_CUPTI_NO_NAMES=1               without cuptiSubscribe_v2's name of the holder
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "inject/cupti/cupti_abi.h"

#define EXPORTED __attribute__((visibility("default")))

#ifdef FAKE_IS_OLDER /* the same, as libcupti.so.12 */
#define FAKE_PREFIX "FAKE_CUPTI_12"
#define FAKE_VERSION 22
#else
#define FAKE_PREFIX "FAKE_CUPTI"
#define FAKE_VERSION 130001
#endif

enum {
    CALL_CTX_GET_CURRENT = 304,
    CALL_LAUNCH_KERNEL = 307,
    CALL_PROFILER_START = 310,
    CALL_PROFILER_STOP = 311,
    CALLS_MAX = 1024
};

static struct {
    pthread_mutex_t lock;
    cupti_request *request;
    cupti_complete *complete;
    cupti_callback *callback;
    uint8_t *buffer;
    size_t size, used;
    int64_t base_ns;
    size_t pool_limit;
    uint32_t correlation;
    uint64_t dropped;
    uint8_t kinds[64], driver_calls[CALLS_MAX], watched[CALLS_MAX], watched_nodes[64];
    uint8_t watched_state, is_taken;
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

static long number_of(const char *name, long otherwise)
{
    const char *text = getenv(name);

    return text != NULL ? atol(text) : otherwise;
}

/* What FAKE_CUPTI_FAIL says of a function; the older library has a word of its own. */
static int failure_of(const char *function)
{
    const char *text = getenv(FAKE_PREFIX "_FAIL"), *found = text;
    size_t count = strlen(function);

    while (found != NULL && (found = strstr(found, function)) != NULL) {
        if ((found == text || found[-1] == ',') && found[count] == '=')
            return atoi(found + count + 1);
        found += count;
    }
    return 0;
}

/* How long a record is: the library's version says it, not its reader. */
static size_t size_of(uint32_t kind)
{
    static _Atomic int known; /* 1 new, 2 old: the environment is slow to ask */
    if (known == 0)
        known = 1 + (number_of(FAKE_PREFIX "_VERSION", FAKE_VERSION) < 130000);
    int is_old = known == 2;

    switch (kind) {
    case CUPTI_CONCURRENT_KERNEL:
        return is_old ? 208 : 216;
    case CUPTI_MEMCPY:
        return is_old ? 88 : 96;
    case CUPTI_MEMSET:
        return 88;
    case CUPTI_OVERHEAD:
        return is_old ? 48 : 56;
    case CUPTI_DEVICE:
        return is_old ? 176 : 184;
    default:
        return sizeof(struct cupti_call);
    }
}

static void complete_buffer(void)
{
    if (fake.buffer != NULL)
        fake.complete(NULL, 0, fake.buffer, fake.size, fake.used);
    fake.buffer = NULL;
}

static void put(const void *record, size_t known)
{
    uint32_t kind;
    size_t records_max;

    memcpy(&kind, record, sizeof kind);
    if (!fake.kinds[kind] && kind != CUPTI_DRIVER)
        return;
    if (fake.buffer != NULL && fake.size - fake.used < size_of(kind))
        complete_buffer();
    if (fake.buffer == NULL) {
        fake.request(&fake.buffer, &fake.size, &records_max);
        fake.used = 0;
    }
    if (fake.buffer == NULL) {
        fake.dropped++;
        return;
    }
    memcpy(fake.buffer + fake.used, record, known < size_of(kind) ? known : size_of(kind));
    fake.used += size_of(kind);
}

static void put_call(uint32_t call, uint32_t correlation, uint64_t start)
{
    struct cupti_call record = {.kind = CUPTI_DRIVER,
                                .call = call,
                                .start = start,
                                .end = start + 200,
                                .process = (uint32_t)getpid(),
                                .thread = (uint32_t)syscall(SYS_gettid),
                                .correlation = correlation};

    if (fake.driver_calls[call] || fake.kinds[CUPTI_DRIVER])
        put(&record, sizeof record);
}

static void put_kernel(int thread, long number, uint32_t correlation, uint64_t start)
{
    static const char *const names[] = {
        "matmul", "softmax", "add", "_Z6matmulIfEvPT_i", "_Z7softmaxPfi", "_ZN3ops3addEPfS0_"};
    long first = number_of("FAKE_CUPTI_MANGLED", 0) != 0 ? 3 : 0;
    long zero = number_of("FAKE_CUPTI_ZERO", 0), invert = number_of("FAKE_CUPTI_INVERT", 0),
         astray = number_of("FAKE_CUPTI_ASTRAY", 0);
    struct cupti_kernel record = {.kind = CUPTI_CONCURRENT_KERNEL,
                                  .registers = 32,
                                  .start = start + 300,
                                  .end = start + 1300 + 10 * (uint64_t)(number % 7),
                                  .device = (uint32_t)thread % 2,
                                  .context = 1,
                                  .stream = 7 + (uint32_t)thread,
                                  .grid = {8, 4, 2},
                                  .block = {128, 2, 1},
                                  .static_shared = 1024,
                                  .dynamic_shared = 2048,
                                  .local_per_thread = 16,
                                  .correlation = correlation,
                                  .name = names[first + number % 3]};

    if (number_of("FAKE_CUPTI_NOISE", 0) != 0) {
        uint64_t noise = ((uint64_t)number * 31 + (uint64_t)thread) * UINT64_C(0x9e3779b97f4a7c15);
        noise = (noise ^ noise >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
        noise = (noise ^ noise >> 32) * UINT64_C(0x94d049bb133111eb);
        record.start += noise >> 54;
        record.end = record.start + 900 + (noise >> 40 & 0x3fff);
        record.grid[0] = 1 + (int32_t)(noise >> 32 & 0xff);
        record.stream += (uint32_t)(noise >> 20 & 3);
    }
    if (zero > 0 && number % zero == 0)
        record.start = record.end = 0;
    if (invert > 0 && number % invert == 0)
        record.end = record.start - 1;
    if (astray > 0 && number % astray == 0)
        record.name = (const char *)(uintptr_t)0x10;
    put(&record, sizeof record);
}

static void put_others(int thread, long number, uint32_t correlation, uint64_t start)
{
    struct cupti_memcpy copy = {.kind = CUPTI_MEMCPY,
                                .copy_kind = 1,
                                .from_kind = 2,
                                .to_kind = 3,
                                .bytes = 4096,
                                .start = start + 2000,
                                .end = start + 2500,
                                .device = (uint32_t)thread % 2,
                                .context = 1,
                                .stream = 7 + (uint32_t)thread,
                                .correlation = correlation};
    struct cupti_memset set = {.kind = CUPTI_MEMSET,
                               .bytes = 64,
                               .start = start + 2600,
                               .end = start + 2700,
                               .device = (uint32_t)thread % 2,
                               .context = 1,
                               .stream = 7 + (uint32_t)thread,
                               .correlation = correlation,
                               .memory_kind = 3};

    struct cupti_overhead overhead = {.kind = CUPTI_OVERHEAD,
                                      .what = 1 << 16,
                                      .object = CUPTI_OBJECT_THREAD,
                                      .process = (uint32_t)getpid(),
                                      .thread = (uint32_t)syscall(SYS_gettid),
                                      .start = start + 2800,
                                      .end = start + 2850};

    if (number % 16 == 0)
        put(&overhead, sizeof overhead);
    if (number % 4 == 0)
        put(&copy, sizeof copy);
    if (number % 8 == 0)
        put(&set, sizeof set);
}

static void put_devices(void)
{
    for (uint32_t id = 0; id < 2; id++) {
        struct cupti_device device = {.kind = CUPTI_DEVICE,
                                      .bandwidth_kb = 3000000000,
                                      .memory_bytes = UINT64_C(80) << 30,
                                      .clock_khz = 1980000,
                                      .multiprocessors = 132,
                                      .major = 9,
                                      .id = id,
                                      .uuid = {[3] = (uint8_t)(1 - id)},
                                      .name = "Made Up 9000"};
        put(&device, sizeof device);
    }
}

EXPORTED void fake_cupti_launch(int thread, long number);
void fake_cupti_launch(int thread, long number)
{
    long late = number_of("FAKE_CUPTI_LATE", -1);
    struct timespec now;

    pthread_mutex_lock(&fake.lock);
    clock_gettime(CLOCK_REALTIME, &now);
    if (fake.base_ns == 0)
        fake.base_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    if (fake.request != NULL && fake.correlation == 0)
        put_devices();
    if (fake.request != NULL) {
        uint64_t start = (uint64_t)fake.base_ns + (uint64_t)number * 3000;
        uint32_t correlation = ++fake.correlation;
        if (late >= 0)
            start = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
        put_call(CALL_CTX_GET_CURRENT, 0, start - 250);
        put_call(CALL_LAUNCH_KERNEL, correlation, start);
        start += late > 0 ? (uint64_t)late : 0;
        put_kernel(thread, number, correlation, start);
        put_others(thread, number, correlation, start);
    }
    pthread_mutex_unlock(&fake.lock);
}

/* A node is made, or copied where `original` is one. */
EXPORTED void fake_cupti_node(uint64_t number, uint64_t original);
void fake_cupti_node(uint64_t number, uint64_t original)
{
    uint32_t what = original != 0 ? CUPTI_NODE_CLONED : CUPTI_NODE_CREATED;
    struct cupti_node node = {.node = (void *)(uintptr_t)number,
                              .original = (void *)(uintptr_t)original};
    struct cupti_resource resource = {.about = &node};

    if (fake.watched_nodes[what])
        fake.callback(NULL, CUPTI_DOMAIN_RESOURCE, what, &resource);
}

/* Nodes first .. first + count - 1, one behind the other, by one call. */
EXPORTED void fake_cupti_graph(uint64_t first, uint64_t count);
void fake_cupti_graph(uint64_t first, uint64_t count)
{
    struct timespec now;

    pthread_mutex_lock(&fake.lock);
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t start = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    uint32_t correlation = ++fake.correlation;
    put_call(CALL_LAUNCH_KERNEL, correlation, start);
    struct cupti_graph_trace whole = {.kind = CUPTI_GRAPH_TRACE,
                                      .correlation = correlation,
                                      .start = start + 300,
                                      .end = start + 300 + 1000 * count,
                                      .graph = 5,
                                      .context = 1,
                                      .stream = 7};
    if (fake.kinds[CUPTI_GRAPH_TRACE])
        put(&whole, sizeof whole);
    for (uint64_t node = 0; node < count && !fake.kinds[CUPTI_GRAPH_TRACE]; node++) {
        struct cupti_kernel kernel = {.kind = CUPTI_CONCURRENT_KERNEL,
                                      .start = start + 300 + 1000 * node,
                                      .end = start + 1300 + 1000 * node,
                                      .context = 1,
                                      .stream = 7,
                                      .grid = {1, 1, 1},
                                      .block = {32, 1, 1},
                                      .correlation = correlation,
                                      .name = "of_graph",
                                      .graph_node = first + node,
                                      .graph = 5};
        put(&kernel, sizeof kernel);
    }
    pthread_mutex_unlock(&fake.lock);
}

#define FAKE(name, ...)                                                                            \
    EXPORTED int name(__VA_ARGS__);                                                                \
    int name(__VA_ARGS__)

FAKE(cuptiGetVersion, uint32_t *ret)
{
    *ret = (uint32_t)number_of(FAKE_PREFIX "_VERSION", FAKE_VERSION);
    return failure_of("cuptiGetVersion");
}

FAKE(cuptiSubscribe, void **ret, cupti_callback *callback, void *data)
{
    int result = failure_of("cuptiSubscribe");

    (void)data;
    if (fake.is_taken) { /* one at a time: whoever has it is told, where it wants to be */
        struct cupti_state state = {.result = CUPTI_TAKEN, .message = "made up"};
        if (fake.watched_state)
            fake.callback(NULL, CUPTI_DOMAIN_STATE, CUPTI_STATE_ERROR, &state);
        return CUPTI_TAKEN;
    }
    fake.callback = callback;
    fake.is_taken = result == CUPTI_OK;
    *ret = &fake;
    return result;
}

FAKE(cuptiSubscribe_v2, void **ret, cupti_callback *callback, void *data,
     struct cupti_subscriber *subscriber)
{
    int result = cuptiSubscribe(ret, callback, data);

    if (result == CUPTI_TAKEN && getenv("FAKE_CUPTI_NO_NAMES") == NULL)
        snprintf(subscriber->holder, subscriber->holder_size, "CUPTI for another tool");
    return result;
}

FAKE(cuptiEnableCallback, uint32_t on, void *subscriber, int domain, uint32_t call)
{
    if (subscriber == &fake && domain == CUPTI_DOMAIN_STATE) {
        fake.watched_state = (uint8_t)on;
        return CUPTI_OK;
    }
    if (subscriber == &fake && domain == CUPTI_DOMAIN_RESOURCE && call < 64) {
        fake.watched_nodes[call] = (uint8_t)on;
        return failure_of("cuptiEnableCallback:3");
    }
    if (subscriber != &fake || domain != CUPTI_DOMAIN_DRIVER || call >= CALLS_MAX)
        return 1;
    fake.watched[call] = (uint8_t)on;
    return failure_of("cuptiEnableCallback");
}

EXPORTED void fake_cupti_profiler(int starts);
void fake_cupti_profiler(int starts)
{
    uint32_t call = starts ? CALL_PROFILER_START : CALL_PROFILER_STOP;
    struct cupti_call_site site = {.function = starts ? "cuProfilerStart" : "cuProfilerStop"};

    for (site.site = CUPTI_SITE_ENTER; site.site <= CUPTI_SITE_EXIT; site.site++)
        if (fake.watched[call])
            fake.callback(NULL, CUPTI_DOMAIN_DRIVER, call, &site);
}

FAKE(cuptiUnsubscribe, void *subscriber)
{
    fake.is_taken = 0;
    return subscriber == &fake ? CUPTI_OK : 19;
}

FAKE(cuptiActivityRegisterCallbacks, cupti_request *request, cupti_complete *complete)
{
    fake.request = request;
    fake.complete = complete;
    struct cupti_state state = {.result = 1, .message = "made up"};
    if (fake.watched_state && getenv("FAKE_CUPTI_WARNS") != NULL)
        fake.callback(NULL, CUPTI_DOMAIN_STATE, CUPTI_STATE_WARNING, &state);
    return failure_of("cuptiActivityRegisterCallbacks");
}

FAKE(cuptiActivityEnable, int kind)
{
    char one[64];

    snprintf(one, sizeof one, "cuptiActivityEnable:%d", kind);
    int result = failure_of(one) != 0 ? failure_of(one) : failure_of("cuptiActivityEnable");
    if (kind == CUPTI_CONCURRENT_KERNEL && getenv("FAKE_CUPTI_TIGHT") != NULL &&
        fake.pool_limit > 16)
        result = CUPTI_NO_MEMORY;
    fake.kinds[kind] = result == CUPTI_OK;
    return result;
}

FAKE(cuptiActivityEnableDriverApi, uint32_t call, uint8_t on)
{
    int result = failure_of("cuptiActivityEnableDriverApi");

    if (result == CUPTI_OK && call < CALLS_MAX)
        fake.driver_calls[call] = on;
    return result;
}

FAKE(cuptiActivityEnableRuntimeApi, uint32_t call, uint8_t on)
{
    (void)call;
    (void)on;
    return failure_of("cuptiActivityEnableRuntimeApi");
}

FAKE(cuptiActivitySetAttribute, int attribute, size_t *size, const void *value)
{
    if (attribute == CUPTI_ATTRIBUTE_DEVICE_POOL_LIMIT)
        memcpy(&fake.pool_limit, value, *size);
    return failure_of("cuptiActivitySetAttribute");
}

FAKE(cuptiSetThreadIdType, int type)
{
    return type == CUPTI_THREAD_ID_SYSTEM ? failure_of("cuptiSetThreadIdType") : 1;
}

FAKE(cuptiActivityGetNextRecord, uint8_t *buffer, size_t valid, struct cupti_record **at)
{
    uint8_t *next = *at == NULL ? buffer : (uint8_t *)*at + size_of((*at)->kind);

    if (next >= buffer + valid)
        return CUPTI_LIMIT;
    *at = (struct cupti_record *)(void *)next;
    return CUPTI_OK;
}

FAKE(cuptiActivityFlushAll, uint32_t flags)
{
    static _Atomic long flushes;
    long hang = number_of("FAKE_CUPTI_HANG", 0);

    (void)flags;
    while (hang > 0 && flushes + 1 >= hang)
        sleep(1);
    flushes++;
    usleep((useconds_t)number_of("FAKE_CUPTI_SLOW", 0) * 1000);
    pthread_mutex_lock(&fake.lock);
    complete_buffer();
    pthread_mutex_unlock(&fake.lock);
    return failure_of("cuptiActivityFlushAll");
}

FAKE(cuptiActivityGetNumDroppedRecords, void *context, uint32_t stream, size_t *ret)
{
    static long told;

    (void)context;
    (void)stream;
    pthread_mutex_lock(&fake.lock);
    *ret = fake.dropped + (size_t)(number_of("FAKE_CUPTI_DROPS", 0) - told);
    told = number_of("FAKE_CUPTI_DROPS", 0);
    fake.dropped = 0;
    pthread_mutex_unlock(&fake.lock);
    return CUPTI_OK;
}

FAKE(cuptiGetGraphNodeId, void *node, uint64_t *ret)
{
    *ret = (uintptr_t)node;
    return failure_of("cuptiGetGraphNodeId");
}

FAKE(cuptiGetStreamIdEx, void *context, void *stream, uint8_t is_per_thread, uint32_t *ret)
{
    *ret = (uint32_t)(uintptr_t)stream;
    return context == NULL && is_per_thread == 0 ? failure_of("cuptiGetStreamIdEx") : 1;
}

FAKE(cuptiGetCallbackName, int domain, uint32_t call, const char **ret)
{
    *ret = domain != CUPTI_DOMAIN_DRIVER  ? NULL
           : call == CALL_LAUNCH_KERNEL   ? "cuLaunchKernel"
           : call == CALL_CTX_GET_CURRENT ? "cuCtxGetCurrent"
           : call == CALL_PROFILER_START  ? "cuProfilerStart"
           : call == CALL_PROFILER_STOP   ? "cuProfilerStop"
                                          : NULL;
    return *ret != NULL ? CUPTI_OK : 1;
}

FAKE(cuptiGetResultString, int result, const char **ret)
{
    (void)result;
    *ret = "CUPTI_ERROR_OF_A_TEST";
    return CUPTI_OK;
}
