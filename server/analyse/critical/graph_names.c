/* SPDX-License-Identifier: Apache-2.0 */
/* What the names of slices mean for who waits for whom, found out at the first slice of each. */
#include "analyse/critical/graph_parts.h"

/* Waits that the device ends, by what they are called; others may be for a lock or a queue. Reading
 * an array's value is one, whatever else it does. */
static const char *const syncs[] = {"block_until_ready",
                                    "BlockHostUntilReady",
                                    "BlockUntilReady",
                                    "try_to_block",
                                    "StreamSynchronize",
                                    "DeviceSynchronize",
                                    "EventSynchronize",
                                    "CtxSynchronize",
                                    "Await",
                                    "wait for completion",
                                    "np.asarray(jax.Array)",
                                    "DeviceToHost",
                                    "ToLiteral",
                                    "device_get",
                                    "copy_to_host"};
/* Methods of jax.Array, as Python's frames name them. */
static const char *const readers[] = {" _value",   " __array__", " __float__", " __int__",
                                      " __bool__", " __index__", " tolist",    " item"};

static bool is_sync(struct str name)
{
    for (size_t i = 0; i < COUNT(syncs); i++) {
        if (str_contains(name, str_of(syncs[i])))
            return true;
    }
    for (size_t i = 0; str_starts(name, STR("$array.py:")) && i < COUNT(readers); i++) {
        if (str_ends(name, str_of(readers[i])))
            return true;
    }
    return false;
}

/* A queue's: who asks it waits for who fills it. */
static bool is_queue(struct str name)
{
    static const char *const queues[] = {"queue", "Queue", "GetNext", "IteratorGetNext"};

    for (size_t i = 0; i < COUNT(queues); i++) {
        if (str_contains(name, str_of(queues[i])))
            return true;
    }
    return false;
}

static uint8_t class_of_text(struct str name)
{
    enum host_doing doing = doing_of(KIND_HOST, name);
    bool waits = doing == DOING_OTHER && is_queue(name);
    uint8_t class = (uint8_t)(NAME_KNOWN + (waits ? DOING_WAIT : doing));

    if (str_starts(name, STR("end: ")))
        class |= NAME_END;
    if (str_ends(name, STR("sleep")))
        class |= NAME_SLEEP;
    return is_sync(name) ? class | NAME_SYNC : class;
}

/* Threads that find it out at once write the same. */
uint8_t name_class_of(struct maker_host *host, enum kind kind, name_id name)
{
    uint8_t class = host->names[name];

    if (class == 0)
        class = host->names[name] = class_of_text(trace_name(host->host->trace, name));
    if (kind == KIND_HOST || kind == KIND_OTHER)
        return class;

    enum host_doing doing = doing_of(kind, STR(""));

    if (host->has_devices && doing <= DOING_COMMUNICATION)
        doing = DOING_OTHER;
    return (uint8_t)((class & ~15u) | doing);
}
