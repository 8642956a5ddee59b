/* SPDX-License-Identifier: Apache-2.0 */
/* Subscribes to libcupti, enables the kinds of activity that were asked for, and flushes them to
 * the writer. Facts: CUPTI's documentation, versions 12 and 13. */
#include "inject/cupti/cupti.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "inject/cupti/cupti_flush.h"
#include "inject/cupti/cupti_nodes.h"
#include "inject/cupti/cupti_pool.h"
#include "inject/cupti/cupti_say.h"
#include "inject/process/recorder.h"
#include "inject/process/recording_switch.h"
#include "inject/spool/ticks.h"

enum {
    VERSION_MIN = 18,       /* CUDA 12.0 and 12.1: their records have these prefixes */
    VERSION_NEW = 130000,   /* from here on versions are spelt out */
    VERSION_KNOWN = 130100, /* layouts below it were checked against headers */
    CALLS_MAX = 2048,       /* numbers of calls that are asked for their names */
    DEVICE_BUFFERS_MAX = 32,
    LAST_FLUSH_MS = 2000, /* of the time that the process has for its end */
    LOOK_MS = 20
};

static const char not_recorded[] = "CUDA activity is not recorded";

static struct cupti library;
static _Atomic bool is_on;

const struct cupti *cupti_library(void)
{
    return atomic_load_explicit(&is_on, memory_order_acquire) ? &library : NULL;
}

static uint32_t cupti_version(void)
{
    uint32_t version = 0;

    return library.version(&version) == CUPTI_OK ? version : 0;
}

void cupti_forget(void)
{
    atomic_store(&is_on, false);
}

static void request(uint8_t **ret, size_t *ret_size, size_t *ret_records_max)
{
    *ret_records_max = 0; /* as many as fit */
    *ret_size = 0;
    *ret = recorder_is_awake() ? pool_take(ret_size) : NULL;
}

static void complete(void *context, uint32_t stream, uint8_t *at, size_t size, size_t valid)
{
    (void)context;
    (void)stream;
    (void)size;
    if (at != NULL && pool_give(at, valid))
        recorder_wake();
}

/* Of calls only those are watched that turn the switch: behind the one that opens it, in front of
 * the one that closes. */
static void on_call(const struct cupti_call_site *site)
{
    if (site->function == NULL)
        return;
    if (site->site == CUPTI_SITE_EXIT && strstr(site->function, "ProfilerStart") != NULL)
        switch_turn_by_call(true);
    if (site->site == CUPTI_SITE_ENTER && strstr(site->function, "ProfilerStop") != NULL)
        switch_turn_by_call(false);
}

/* What CUPTI complains of meanwhile; that another one asked for it is what a program of two
 * profilers, as the JAX profiler below us, does. A mere warning tells of nothing that is
 * missing. */
static void on_state(uint32_t number, const struct cupti_state *state)
{
    if (state->result == CUPTI_TAKEN)
        cupti_say("Another profiler in the program wants CUPTI, which jview-collect uses: it gets "
                  "no CUDA activity (" ENV_CUPTI "=off leaves CUPTI to it; CUPTI error %d).",
                  state->result);
    else if (number != CUPTI_STATE_WARNING)
        cupti_say("CUPTI says: %.300s (CUPTI error %d).",
                  state->message != NULL ? state->message : "nothing more", state->result);
}

/* Of old ones that do not tell it nothing is missed. */
static void watch_state(void *subscriber)
{
    for (uint32_t state = CUPTI_STATE_FATAL; state <= CUPTI_STATE_WARNING; state++)
        if (library.enable_callback != NULL)
            library.enable_callback(1, subscriber, CUPTI_DOMAIN_STATE, state);
}

/* A subscriber is what makes CUPTI ours. */
static void on_callback(void *data, int domain, uint32_t number, const void *about)
{
    (void)data;
    if (domain == CUPTI_DOMAIN_STATE)
        on_state(number, about);
    else if (domain == CUPTI_DOMAIN_RESOURCE)
        cupti_nodes_callback(&library, number, about);
    else
        on_call(about);
}

static int watch_calls(void *subscriber, int domain)
{
    int result = CUPTI_OK;

    for (uint32_t call = 1; call < CALLS_MAX && result == CUPTI_OK; call++) {
        const char *name = NULL;
        if (library.callback_name(domain, call, &name) == CUPTI_OK && name != NULL &&
            (strstr(name, "ProfilerStart") != NULL || strstr(name, "ProfilerStop") != NULL))
            result = library.enable_callback(1, subscriber, domain, call);
    }
    return result;
}

static bool watch_switch(void *subscriber)
{
    int result = library.enable_callback == NULL ? CUPTI_NOT_SUPPORTED
                                                 : watch_calls(subscriber, CUPTI_DOMAIN_DRIVER);

    if (result == CUPTI_OK)
        result = watch_calls(subscriber, CUPTI_DOMAIN_RUNTIME);
    if (result != CUPTI_OK)
        cupti_say_result(&library, "cudaProfilerStart and cudaProfilerStop are not seen", result,
                         "");
    return result == CUPTI_OK;
}

static int subscribe(char holder[CUPTI_HOLDER_BYTES], void **ret)
{
    struct cupti_subscriber subscriber = {.size = sizeof subscriber,
                                          .name = "jview-collect",
                                          .holder = holder,
                                          .holder_size = CUPTI_HOLDER_BYTES};

    if (library.subscribe_by_name != NULL)
        return library.subscribe_by_name(ret, on_callback, NULL, &subscriber);
    return library.subscribe(ret, on_callback, NULL);
}

static void set_attribute(int attribute, void *value, size_t size, const char *what)
{
    int result = library.set_attribute != NULL ? library.set_attribute(attribute, &size, value) : 0;

    if (result != CUPTI_OK)
        cupti_say_result(&library, what, result, "");
}

static void set_attributes(void)
{
    size_t limit = DEVICE_BUFFERS_MAX;
    uint8_t no = 0, yes = 1;

    set_attribute(CUPTI_ATTRIBUTE_DEVICE_POOL_LIMIT, &limit, sizeof limit,
                  "CUPTI's memory on the GPU is not limited");
    set_attribute(CUPTI_ATTRIBUTE_ZEROED_BUFFERS, &yes, sizeof yes,
                  "CUPTI clears its buffers on the program's threads");
    if (cupti_version() >= VERSION_NEW) /* with many threads they would take the whole pool */
        set_attribute(CUPTI_ATTRIBUTE_PER_THREAD_BUFFERS, &no, sizeof no,
                      "Each thread takes buffers of its own");
}

/* Where CUPTI has no room on the GPU, half of what it may take there might fit: asked for once. */
static bool take_half(int result)
{
    static bool is_half;
    size_t limit = DEVICE_BUFFERS_MAX / 2;

    if ((result != CUPTI_NO_MEMORY && result != CUPTI_LIMIT) || is_half)
        return false;
    is_half = true;
    set_attribute(CUPTI_ATTRIBUTE_DEVICE_POOL_LIMIT, &limit, sizeof limit,
                  "CUPTI's memory on the GPU is not limited");
    return true;
}

static int try_enable(int kind)
{
    int result = library.enable(kind);

    return take_half(result) ? library.enable(kind) : result;
}

static bool enable(int kind, const char *what)
{
    int result = try_enable(kind);

    if (result != CUPTI_OK)
        cupti_say_result(&library, what, result, "");
    return result == CUPTI_OK;
}

/* Those that do or wait for work; the many that only ask for something cost more than they tell. */
static bool is_chosen(const char *name)
{
    static const char *const parts[] = {
        "Launch",     "Memcpy",   "Memset",     "Synchronize", "MemAlloc",        "MemFree",
        "cudaMalloc", "cudaFree", "ModuleLoad", "LibraryLoad", "GraphInstantiate"};

    for (size_t part = 0; part < sizeof parts / sizeof parts[0]; part++)
        if (strstr(name, parts[part]) != NULL)
            return true;
    return false;
}

static void enable_calls(int domain, int kind, int (*enable_call)(uint32_t, uint8_t),
                         const char *what)
{
    const char *name;
    int result = CUPTI_OK;

    if (enable_call == NULL) {
        enable(kind, what);
        return;
    }
    for (uint32_t call = 1; call < CALLS_MAX && result == CUPTI_OK; call++) {
        name = NULL;
        if (library.callback_name(domain, call, &name) == CUPTI_OK && name != NULL &&
            is_chosen(name))
            result = enable_call(call, 1);
    }
    if (result != CUPTI_OK)
        cupti_say_result(&library, what, result, "");
}

/* Kernels come first: that the driver is too old for this CUPTI is told to the caller alone. */
static int enable_all(const struct control_asked *asked)
{
    if (asked->has_whole_graphs != 0)
        enable(CUPTI_GRAPH_TRACE, "Graphs are recorded by their nodes");
    int first = try_enable(CUPTI_CONCURRENT_KERNEL);
    if (first == CUPTI_NOT_INITIALIZED)
        return first;
    if (first != CUPTI_OK)
        cupti_say_result(&library, "Kernels are not recorded", first, "");
    bool has_work = enable(CUPTI_MEMCPY, "Copies are not recorded") || first == CUPTI_OK;
    enable(CUPTI_DEVICE, "The GPUs are not described");
    enable(CUPTI_OVERHEAD, "What CUPTI itself costs is not recorded");
    enable(CUPTI_MEMCPY_PEER, "Copies between GPUs are not recorded");
    has_work |= enable(CUPTI_MEMSET, "Memory sets are not recorded");
    if (has_work) {
        enable_calls(CUPTI_DOMAIN_DRIVER, CUPTI_DRIVER, library.enable_driver_call,
                     "Calls of the CUDA driver are not recorded");
        enable_calls(CUPTI_DOMAIN_RUNTIME, CUPTI_RUNTIME, library.enable_runtime_call,
                     "Calls of the CUDA runtime are not recorded");
    }
    return has_work ? CUPTI_OK : CUPTI_NOT_SUPPORTED;
}

/* CUPTI's buffers must be ours before a kind is enabled, and its attributes set before them. */
static int take_activity(const struct control_asked *asked)
{
    set_attributes();
    if (library.set_thread_id_type == NULL ||
        library.set_thread_id_type(CUPTI_THREAD_ID_SYSTEM) != CUPTI_OK)
        cupti_say("Calls are shown on threads with numbers other than the system's: CUPTI refused "
                  "the setting.");
    int result = library.register_buffers(request, complete);
    if (result != CUPTI_OK && result != CUPTI_NOT_INITIALIZED)
        cupti_say_result(&library, not_recorded, result, "");
    return result == CUPTI_OK ? enable_all(asked) : result;
}

static int take_cupti(const struct control_asked *asked)
{
    char holder[CUPTI_HOLDER_BYTES] = "";
    void *subscriber = NULL;
    int result = subscribe(holder, &subscriber);

    holder[sizeof holder - 1] = '\0';
    if (result == CUPTI_NOT_INITIALIZED)
        return result;
    if (result != CUPTI_OK) {
        cupti_say_result(&library, not_recorded, result, holder);
        return result;
    }
    watch_state(subscriber);
    bool is_watched = switch_has_calls() && watch_switch(subscriber);
    if (asked->no_activity != 0)
        return is_watched ? CUPTI_OK : CUPTI_NOT_SUPPORTED;
    result = take_activity(asked);
    if (result == CUPTI_OK && asked->has_whole_graphs == 0)
        cupti_nodes_watch(&library, subscriber);
    else if (result != CUPTI_OK && library.unsubscribe != NULL && !is_watched)
        library.unsubscribe(subscriber);
    return result;
}

static bool is_known_version(uint32_t version)
{
    if (version < VERSION_MIN)
        cupti_say("CUDA activity is not recorded: libcupti has version %u, and CUDA 12.0 is the "
                  "oldest supported.",
                  version);
    if (version >= VERSION_KNOWN)
        cupti_say("libcupti %u is newer than the tested versions: kernels and copies are read with "
                  "the layouts of CUDA 13.0.",
                  version);
    return version >= VERSION_MIN;
}

/* A driver that is older than libcupti takes the one of its own time, where that is there too. */
static int take_any(const struct control_asked *asked)
{
    int result = take_cupti(asked);

    while (result == CUPTI_NOT_INITIALIZED) {
        uint32_t refused = cupti_version();
        if (!cupti_find_older(&library))
            break;
        cupti_say("libcupti %u is used, because the driver is older than libcupti %u.",
                  cupti_version(), refused);
        result = is_known_version(cupti_version()) ? take_cupti(asked) : CUPTI_NOT_SUPPORTED;
    }
    if (result == CUPTI_NOT_INITIALIZED)
        cupti_say_result(&library, not_recorded, result, "");
    return result;
}

void cupti_start(const struct control_asked *asked)
{
    const char *missing, *said = getenv(ENV_CUPTI);

    if (said != NULL && strcmp(said, "off") == 0)
        return;
    if (!cupti_find(&library, &missing)) {
        cupti_say("CUDA activity is not recorded: %s was not found; the directory of libcupti in "
                  "LD_LIBRARY_PATH, or its path in " ENV_CUPTI ", helps.",
                  missing);
        return;
    }
    if (!is_known_version(cupti_version()))
        return;
    const char *other = cupti_other_path();

    if (other != NULL)
        cupti_say("The program loads two libcuptis: %.200s is used, and activity of %.200s is not "
                  "recorded.",
                  cupti_path(), other);
    if (!pool_open())
        cupti_say("CUDA activity is not recorded: no memory for its buffers.");
    else if (take_any(asked) != CUPTI_OK)
        return;
    else if (cupti_flush_open(library.flush_all))
        atomic_store_explicit(&is_on, true, memory_order_release);
    else
        cupti_say("CUDA activity is not recorded: no thread to ask for it.");
}

void cupti_flush(void)
{
    if (cupti_library() != NULL)
        cupti_flush_ask(false);
}

void cupti_flush_whole(void (*meanwhile)(void))
{
    int64_t until_ns = clock_ns(CLOCK_MONOTONIC) + (int64_t)LAST_FLUSH_MS * 1000000;

    if (cupti_library() == NULL)
        return;
    cupti_flush_ask(true);
    while (!cupti_flush_wait(LOOK_MS)) {
        meanwhile();
        if (clock_ns(CLOCK_MONOTONIC) < until_ns)
            continue;
        cupti_say("CUPTI did not deliver its last records within %d s: they are missing.",
                  LAST_FLUSH_MS / 1000);
        return;
    }
}
