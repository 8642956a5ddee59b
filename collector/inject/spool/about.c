/* SPDX-License-Identifier: Apache-2.0 */
/* What a spool tells of its process: program, host and the named variables of the environment,
 * from /proc and from environ. */
#include "inject/spool/about.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "inject/spool/frame.h"
#include "inject/spool/ticks.h"

extern char **environ;

enum { VALUE_BYTES_MAX = 4096, PAIRS_MAX = 60 };

/* What says how the program was set up, and never a secret: a prefix ends in '*'. */
static const char *const told[] = {
    "XLA_FLAGS",
    "XLA_PYTHON_CLIENT_*",
    "JAX_COMPILATION_CACHE_DIR",
    "JAX_PLATFORMS",
    "JAX_PROCESS_*",
    "CUDA_VISIBLE_DEVICES",
    "RANK",
    "LOCAL_RANK",
    "WORLD_SIZE",
    "SLURM_PROCID",
    "SLURM_LOCALID",
    "SLURM_NTASKS",
    "SLURM_JOB_ID",
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "PMI_RANK",
    "NCCL_ALGO",
    "NCCL_PROTO",
    "NCCL_P2P_DISABLE",
    "NCCL_IB_DISABLE",
};

struct pairs {
    uint8_t *at;
    size_t used;
    uint64_t count;
};

static void put_text(struct pairs *pairs, const char *text, size_t count)
{
    if (count > VALUE_BYTES_MAX)
        count = VALUE_BYTES_MAX;
    pairs->used += varint_put(pairs->at + pairs->used, count);
    memcpy(pairs->at + pairs->used, text, count);
    pairs->used += count;
}

static void put_pair(struct pairs *pairs, const char *key, const char *value, size_t count)
{
    put_text(pairs, key, strlen(key));
    put_text(pairs, value, count);
    pairs->count++;
}

static bool is_told(const char *variable, size_t length)
{
    for (size_t index = 0; index < sizeof told / sizeof told[0]; index++) {
        size_t count = strlen(told[index]);
        bool is_prefix = told[index][count - 1] == '*';
        if (is_prefix ? strncmp(variable, told[index], count - 1) == 0
                      : length == count && strncmp(variable, told[index], count) == 0)
            return true;
    }
    return false;
}

static void put_program(struct pairs *pairs, pid_t process)
{
    char link[64], path[VALUE_BYTES_MAX];
    snprintf(link, sizeof link, "/proc/%ld/exe", (long)process);
    ssize_t count = readlink(link, path, sizeof path);
    const char *name = count > 0 ? memrchr(path, '/', (size_t)count) : NULL;

    if (name != NULL)
        put_pair(pairs, "program", name + 1, (size_t)(path + count - name - 1));
}

static void put_environment(struct pairs *pairs)
{
    char key[128] = "env ";

    for (char **variable = environ; variable != NULL && *variable != NULL; variable++) {
        size_t length = strcspn(*variable, "=");
        if (length > sizeof key - 5 || pairs->count == PAIRS_MAX || !is_told(*variable, length) ||
            (*variable)[length] != '=' || pairs->used > ABOUT_BYTES_MAX - 2 * VALUE_BYTES_MAX)
            continue;
        memcpy(key + 4, *variable, length);
        key[4 + length] = '\0';
        put_pair(pairs, key, *variable + length + 1, strlen(*variable + length + 1));
    }
}

size_t about_put_of(uint8_t ret[ABOUT_BYTES_MAX], pid_t process)
{
    enum { FRONT = 2 }; /* id 0, and a count that fits a byte */
    struct pairs pairs = {.at = ret, .used = FRONT};
    const char *ticks = ticks_are_tsc ? "tsc" : "monotonic";
    char host[256] = "";

    gethostname(host, sizeof host - 1);
    put_pair(&pairs, "host", host, strlen(host));
    put_program(&pairs, process);
    put_pair(&pairs, "ticks", ticks, strlen(ticks));
    put_pair(&pairs, "version", JVIEWD_VERSION, strlen(JVIEWD_VERSION));
    put_environment(&pairs);
    ret[0] = 0;
    varint_put(ret + 1, 2 * pairs.count);
    return pairs.used;
}

size_t about_put(uint8_t ret[ABOUT_BYTES_MAX])
{
    return about_put_of(ret, getpid());
}
