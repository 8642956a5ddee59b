/* SPDX-License-Identifier: Apache-2.0 */
/* The words for direction, memory and waiting in names and args of transfers. Facts: profiles of
 * XLA, CUPTI and PyTorch. */
#include "analyse/comm/transfer_words.h"

static bool contains_any(struct str text, const char *const *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (str_contains_fold(text, str_of(parts[i])))
            return true;
    }
    return false;
}

static bool starts_with_any(struct str text, const char *const *prefixes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (str_starts(text, str_of(prefixes[i])))
            return true;
    }
    return false;
}

enum transfer_tier transfer_tier_of(struct str name, bool on_device)
{
    static const char *const device[] = {"memcpy", "copydevicetodevice", "copyhosttodevice",
                                         "copydevicetohost", "rocclr_copybuffer"};
    static const char *const dispatches[] = {"H2D Dispatch",
                                             "D2H Dispatch",
                                             "PCIe/Memcpy Dispatch",
                                             "tpu::System::Transfer",
                                             "TransferToDevice",
                                             "TransferFromDevice",
                                             "TransferLiteralToDevice",
                                             "TransferLiteralFromDevice",
                                             "TransferToInfeed",
                                             "TransferFromOutfeed"};
    static const char *const calls[] = {"TfrtTpuClient::BufferFromHostBuffer",
                                        "TfrtCpuClient::BufferFromHostBuffer",
                                        "PjRtStreamExecutorClient::BufferFromHostBuffer",
                                        "PjRtCpuClient::BufferFromHostBuffer",
                                        "PjRtStreamExecutorClient::LinearizeHostBufferInto",
                                        "EagerCopyToDevice",
                                        "TfrtTpuBuffer::ToLiteral",
                                        "TfrtCpuBuffer::ToLiteral",
                                        "PjRtStreamExecutorBuffer::ToLiteral"};

    if (on_device) {
        if (str_starts(name, STR("async-copy")) || str_starts(name, STR("copy-start")))
            return TIER_ASYNC;
        return contains_any(name, device, COUNT(device)) && !str_contains_fold(name, STR("memset"))
                   ? TIER_DEVICE
                   : TIER_NONE;
    }
    if (str_contains(name, STR("=>"))) /* stages of a transfer that stands beside them */
        return TIER_NONE;
    if (starts_with_any(name, dispatches, COUNT(dispatches)))
        return TIER_DISPATCH;
    return starts_with_any(name, calls, COUNT(calls)) ? TIER_CALL : TIER_NONE;
}

enum transfer_direction transfer_direction_of(struct str name)
{
    static const struct {
        const char *word;
        enum transfer_direction direction;
    } words[] = {
        {"htod", DIRECTION_H2D},
        {"h2d", DIRECTION_H2D},
        {"hosttodevice", DIRECTION_H2D},
        {"host-to-device", DIRECTION_H2D},
        {"todevice", DIRECTION_H2D},
        {"toinfeed", DIRECTION_H2D},
        {"fromhostbuffer", DIRECTION_H2D},
        {"hostbufferinto", DIRECTION_H2D},
        {"dtoh", DIRECTION_D2H},
        {"d2h", DIRECTION_D2H},
        {"devicetohost", DIRECTION_D2H},
        {"device-to-host", DIRECTION_D2H},
        {"fromdevice", DIRECTION_D2H},
        {"fromoutfeed", DIRECTION_D2H},
        {"toliteral", DIRECTION_D2H},
        {"pcie/memcpy", DIRECTION_D2H},
        {"ptop", DIRECTION_P2P},
        {"p2p", DIRECTION_P2P},
        {"peer", DIRECTION_P2P},
        {"dtod", DIRECTION_D2D},
        {"d2d", DIRECTION_D2D},
        {"devicetodevice", DIRECTION_D2D},
        {"device-to-device", DIRECTION_D2D},
        {"htoh", DIRECTION_HOST},
        {"h2h", DIRECTION_HOST},
        {"host-to-host", DIRECTION_HOST},
    };

    /* "DeviceToDevice" holds "ToDevice": between devices first. */
    for (size_t i = COUNT(words); i-- > 0;) {
        if (str_contains_fold(name, str_of(words[i].word)))
            return words[i].direction;
    }
    return DIRECTION_UNKNOWN;
}

enum host_memory host_memory_of(struct str text)
{
    if (str_contains_fold(text, STR("pageable")))
        return MEMORY_PAGEABLE;
    if (str_contains_fold(text, STR("pinned")))
        return MEMORY_PINNED;
    return str_contains_fold(text, STR("managed")) || str_contains_fold(text, STR("unified"))
               ? MEMORY_MANAGED
               : MEMORY_UNKNOWN;
}

struct memcpy_details memcpy_details_of(struct str text)
{
    struct memcpy_details ret = {.bytes = -1, .destination = -1};

    while (text.count > 0) {
        const char *space = memchr(text.at, ' ', text.count);
        size_t count = space != NULL ? (size_t)(space - text.at) : text.count;
        struct str token = {text.at, count};
        const char *colon = count > 0 ? memchr(token.at, ':', count) : NULL;
        int64_t number;

        text = str_skip(text, space != NULL ? count + 1 : count);
        if (colon == NULL)
            continue;

        struct str key = {token.at, (size_t)(colon - token.at)};
        struct str value = str_skip(token, key.count + 1);
        bool is_number = str_to_i64(value, &number) && number >= 0;

        if (is_number && (str_equal(key, STR("size")) || str_equal(key, STR("num_bytes"))))
            ret.bytes = number;
        else if (is_number && str_equal(key, STR("dest")))
            ret.destination = number;
        else if (is_number && str_equal(key, STR("async")))
            ret.has_async = true, ret.async = number != 0;
        else if (str_equal(key, STR("kind_src")))
            ret.kind_from = value;
        else if (str_equal(key, STR("kind_dst")))
            ret.kind_to = value;
    }
    return ret;
}

/* The first part of the list that begins at `text`; parts are parted by commas outside of
 * brackets. */
static struct str take_part(struct str *text)
{
    size_t count = 0;
    int depth = 0;

    while (count < text->count &&
           (depth > 0 || (text->at[count] != ',' && text->at[count] != ')'))) {
        char letter = text->at[count++];

        depth += letter == '(' || letter == '[' || letter == '{';
        depth -= letter == ')' || letter == ']' || letter == '}';
    }

    struct str part = {text->at, count};

    *text = str_skip(*text, count < text->count ? count + 1 : count);
    return part;
}

enum transfer_direction offload_direction_of(struct str shapes)
{
    if (!str_starts(shapes, STR("(")))
        return DIRECTION_UNKNOWN;

    struct str rest = str_skip(shapes, 1);
    bool to_host = str_contains(take_part(&rest), STR("S(5)"));

    if (rest.count == 0)
        return DIRECTION_UNKNOWN;

    bool from_host = str_contains(take_part(&rest), STR("S(5)"));

    if (to_host && from_host)
        return DIRECTION_HOST;
    return to_host ? DIRECTION_D2H : from_host ? DIRECTION_H2D : DIRECTION_D2D;
}

bool transfer_call_waits(struct str name)
{
    return str_contains_fold(name, STR("memcpy")) && !str_contains_fold(name, STR("async")) &&
           (str_starts(name, STR("cuda")) || str_starts(name, STR("hip")) ||
            str_starts(name, STR("cuMem")));
}

bool is_transfer_machinery(struct str name)
{
    static const char *const words[] = {"PjRt",          "Tfrt",   "BufferSequencing",
                                        "ExecutorState", "xla::",  "tpu::",
                                        "Memcpy",        "memcpy", "ThreadPool"};
    static const char *const frames[] = {"$pxla.py",  "$api.py",         "$dispatch.py",
                                         "$array.py", "$profiler.py",    "$contextlib.py",
                                         "$core.py",  "$tree_util.py",   "$<",
                                         "$numpy ",   "$builtins ",      "$literals.py",
                                         "$pjit.py",  "$traceback_util", "$array_creation.py"};

    for (size_t i = 0; i < COUNT(words); i++) {
        if (str_contains(name, str_of(words[i])))
            return true;
    }
    return starts_with_any(name, frames, COUNT(frames)) || str_equal(name, STR("shard_args"));
}
