/* SPDX-License-Identifier: Apache-2.0 */
/* The table of names that tells what a host's thread does, by whole or part of a slice's name. */
#include "analyse/device/host_doing.h"

/* What the names of a host's slices mean, where their kind says no more than "host". The first row
 * that fits decides. A word that begins with '^' begins the name, '~' ends it, '=' is it; else the
 * name contains it. Python's frames are told by their last word, for "$threading.py:355 wait" waits
 * and "$threading.py:1012 run" holds all that a thread does. */
static const struct {
    enum host_doing doing;
    const char *words; /* separated by '|' */
} rules[] = {
    {DOING_WAIT,
     "wait for completion|~ sleep|~ acquire|~ wait|~ select|~ poll|~ join|~ "
     "_wait_for_tstate_lock|block_until_ready|try_to_block|"
     "BlockHostUntilReady|BlockUntilReady|^Await|^Wait|Rendezvous|StreamSynchronize|"
     "DeviceSynchronize|EventSynchronize|CtxSynchronize|=select|=poll|=ppoll|=sleep|=usleep|"
     "=nanosleep|=clock_nanosleep|=sem_wait|=sem_timedwait|=epoll_wait|^pthread_cond_|=futex"},
    {DOING_TRANSFER,
     "host_to_device|device_to_host|HostToDevice|DeviceToHost|~device_put|~ device_get|DevicePut|"
     "np.asarray(jax.Array)|~ copy_to_host|h2d_transfer|d2h_transfer"},
    {DOING_DISPATCH,
     "PjitFunction|Execute|LaunchKernel|GraphLaunch|ModuleLaunch|ParseArguments|Dispatch|"
     "^cudaLaunch|^cuLaunch|^hipLaunch|Executable|Enqueue|~ shard_args|~ pjit_call"},
    {DOING_COMMUNICATION, "^gloo:|^c10d::|^nccl:|^mpi:|^MPI_"},
    {DOING_COMPUTE, "^aten::|^oneDNN|^mkldnn"},
    {DOING_PYTHON, "^$"},
};

static bool fits_word(struct str name, struct str word)
{
    struct str rest = str_skip(word, 1);

    switch (word.at[0]) {
    case '^':
        return str_starts(name, rest);
    case '~':
        return str_ends(name, rest);
    case '=':
        return str_equal(name, rest);
    default:
        return str_contains(name, word);
    }
}

static bool fits(struct str name, const char *words)
{
    while (*words != '\0') {
        size_t count = strcspn(words, "|");

        if (fits_word(name, (struct str){.at = words, .count = count}))
            return true;
        words += count + (words[count] == '|');
    }
    return false;
}

enum host_doing doing_of(enum kind kind, struct str name)
{
    switch (kind) {
    case KIND_INPUT:
        return DOING_INPUT;
    case KIND_COMPILE:
        return DOING_COMPILE;
    case KIND_COPY:
        return DOING_TRANSFER;
    case KIND_COMPUTE:
        return DOING_COMPUTE;
    case KIND_COMMUNICATION:
        return DOING_COMMUNICATION;
    default:
        break;
    }
    for (size_t i = 0; i < COUNT(rules); i++) {
        if (fits(name, rules[i].words))
            return rules[i].doing;
    }
    return DOING_OTHER;
}

/* "$array.py:268 sharding", "$builtins isinstance"; "torch/nn/functional.py(12): relu". */
bool is_python_call(struct str name)
{
    return str_starts(name, STR("$")) || str_contains(name, STR(".py("));
}

static bool has_meaning(enum host_doing doing)
{
    return doing <= DOING_TRANSFER;
}

enum host_doing doing_inside(enum host_doing outer, enum host_doing inner)
{
    if (has_meaning(inner))
        return inner;
    if (has_meaning(outer) || outer == DOING_WAIT || inner == DOING_OTHER)
        return outer;
    return inner;
}

enum kind doing_kind(enum host_doing doing)
{
    static const enum kind kinds[DOING_COUNT] = {
        [DOING_COMPUTE] = KIND_COMPUTE, [DOING_COMMUNICATION] = KIND_COMMUNICATION,
        [DOING_INPUT] = KIND_INPUT,     [DOING_COMPILE] = KIND_COMPILE,
        [DOING_TRANSFER] = KIND_COPY,   [DOING_DISPATCH] = KIND_HOST,
        [DOING_PYTHON] = KIND_HOST,     [DOING_OTHER] = KIND_HOST,
        [DOING_WAIT] = KIND_IDLE,       [DOING_NOTHING] = KIND_IDLE,
    };

    return kinds[doing];
}

const char *doing_word(enum host_doing doing)
{
    static const char *const words[DOING_COUNT] = {
        [DOING_COMPUTE] = "compute",   [DOING_COMMUNICATION] = "communication",
        [DOING_INPUT] = "input",       [DOING_COMPILE] = "compile",
        [DOING_TRANSFER] = "transfer", [DOING_DISPATCH] = "dispatch",
        [DOING_PYTHON] = "python",     [DOING_OTHER] = "host code",
        [DOING_WAIT] = "waiting",      [DOING_NOTHING] = "nothing recorded",
    };

    return words[doing];
}
