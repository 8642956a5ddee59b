/* SPDX-License-Identifier: Apache-2.0 */
/* What may be had, what is kept in reserve, and what an allocation does that is refused.
 *
 *   /proc/self/cgroup   0::/a/b         -> /sys/fs/cgroup/a/b/memory.max
 *                       4:memory:/a/b   -> /sys/fs/cgroup/memory/a/b/memory.limit_in_bytes
 *
 * and of each group above.
 */
#include "base/memory.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    RESERVE_BYTES = 24 << 20,
    WAIT_MS = 10000,
    LOOK_MS = 20,
    FEW_ARENAS = 2,
    ARENAS_MAX = 16,
    CORES_AN_ARENA = 4,
    LARGE_BYTES = 128 << 10,
    PATH_SIZE = 4096,
    LIMIT_SHARE = 8, /* so near its limit a process has reached it: not all it has is known */
};

#define FEW_BYTES (UINT64_C(8) << 30) /* addresses, below which pools of 64 MiB each are many */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *reserve;
static atomic_bool prepared, is_short;

#define SAID_REFUSED "jviewd: out of memory: "
#define SAID_TOO_MUCH "jviewd: more memory than this process may have: "

static void take_reserve(void)
{
    pthread_mutex_lock(&lock);
    if (reserve == NULL)
        reserve = malloc(RESERVE_BYTES);
    atomic_store(&is_short, reserve == NULL);
    pthread_mutex_unlock(&lock);
}

void memory_give_back(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
    if (atomic_load(&is_short))
        take_reserve();
}

/* Who asks may be the only one there is: nothing else would take it. */
bool memory_is_short(void)
{
    if (atomic_load(&is_short))
        take_reserve();
    return atomic_load(&is_short);
}

/* UINT64_MAX where the file says "max", or is not there. */
static uint64_t number_in(const char *path)
{
    FILE *file = fopen(path, "re");
    unsigned long long number = 0;
    bool told = file != NULL && fscanf(file, "%llu", &number) == 1;

    if (file != NULL)
        fclose(file);
    return told ? number : UINT64_MAX;
}

/* The least of a group and of those above it. */
static uint64_t limit_upward(const char *mount, char *group, const char *file)
{
    char path[PATH_SIZE + 64];
    uint64_t least = UINT64_MAX;

    for (char *end = group + strlen(group);; *end = '\0') {
        snprintf(path, sizeof path, "%s%s/%s", mount, group, file);
        uint64_t limit = number_in(path);

        least = limit < least ? limit : least;
        if (end == group)
            return least;
        while (end > group && *--end != '/')
            ;
    }
}

/* A machine may have both, and memory in either. */
static uint64_t group_limit(void)
{
    char line[PATH_SIZE];
    uint64_t least = UINT64_MAX;
    FILE *file = fopen("/proc/self/cgroup", "re");

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *controllers = strchr(line, ':'), *group = strrchr(line, ':');
        uint64_t limit = UINT64_MAX;

        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "0::", 3) == 0)
            limit = limit_upward("/sys/fs/cgroup", line + 3, "memory.max");
        else if (group != controllers && strncmp(controllers, ":memory:", 8) == 0)
            limit = limit_upward("/sys/fs/cgroup/memory", controllers + 8, "memory.limit_in_bytes");
        least = limit < least ? limit : least;
    }
    if (file != NULL)
        fclose(file);
    return least;
}

static uint64_t address_limit(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur
                                                                                : UINT64_MAX;
}

uint64_t memory_limit(const char **ret_rule)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    uint64_t least = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : UINT64_MAX;
    uint64_t group = group_limit(), addresses = address_limit();

    *ret_rule = "the machine's memory";
    if (group < least) {
        least = group;
        *ret_rule = "the memory of its control group";
    }
    if (addresses < least) {
        least = addresses;
        *ret_rule = "its limit of addresses (ulimit -v)";
    }
    return least;
}

void memory_prepare(void)
{
#ifdef __GLIBC__
    if (address_limit() < FEW_BYTES)
        mallopt(M_ARENA_MAX, FEW_ARENAS);
#endif
    take_reserve();
    atomic_store(&prepared, true);
}

/* Setting the size stops glibc from raising it to that of each piece that is freed. */
void memory_prepare_threads(void)
{
#ifdef __GLIBC__
    long arenas = sysconf(_SC_NPROCESSORS_ONLN) / CORES_AN_ARENA;

    if (arenas < FEW_ARENAS || address_limit() < FEW_BYTES)
        arenas = FEW_ARENAS;
    mallopt(M_ARENA_MAX, arenas < ARENAS_MAX ? (int)arenas : ARENAS_MAX);
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
#endif
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TUNABLES "GLIBC_TUNABLES"
#define NO_THREAD_CACHES "glibc.malloc.tcache_count=0"

static void set_tunables(const char *value)
{
    if (value == NULL || value[0] == '\0')
        unsetenv(TUNABLES);
    else
        setenv(TUNABLES, value, 1);
}

/* What was set for this process is not for those that it starts. */
static void take_back_tunables(const char *set)
{
    char value[PATH_SIZE];
    size_t count = strlen(set), own = sizeof NO_THREAD_CACHES - 1;

    if (count >= sizeof value || count < own || strcmp(set + count - own, NO_THREAD_CACHES) != 0)
        return;
    memcpy(value, set, count - own);
    value[count > own ? count - own - 1 : 0] = '\0';
    set_tunables(value);
}

void memory_restart(char *const *argv)
{
    const char *set = getenv(TUNABLES);
    char path[PATH_SIZE], before[PATH_SIZE], value[PATH_SIZE];
    ssize_t count = readlink("/proc/self/exe", path, sizeof path);

    if (set != NULL && strstr(set, "glibc.malloc.tcache_count=") != NULL) {
        take_back_tunables(set);
        return;
    }
    if (count <= 0 || (size_t)count >= sizeof path ||
        snprintf(before, sizeof before, "%s", set != NULL ? set : "") >= (int)sizeof before ||
        snprintf(value, sizeof value, "%s%s%s", before, before[0] != '\0' ? ":" : "",
                 NO_THREAD_CACHES) >= (int)sizeof value)
        return;
    path[count] = '\0';
    set_tunables(value);
    execv(path, argv);
    set_tunables(before);
}
#else
void memory_restart(char *const *argv)
{
    (void)argv;
}
#endif

/* The reserve once, then patience: who computes beside this one ends, and gives back. */
static void make_room(unsigned tries)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};

    pthread_mutex_lock(&lock);
    bool had = reserve != NULL;
    free(reserve);
    reserve = NULL;
    atomic_store(&is_short, true);
    pthread_mutex_unlock(&lock);
    if (!had || tries > 0)
        nanosleep(&pause, NULL);
}

bool memory_try_again(unsigned tries)
{
    if (!atomic_load(&prepared) || tries >= WAIT_MS / LOOK_MS)
        return false;
    make_room(tries);
    return true;
}

void *memory_malloc(size_t bytes)
{
    void *memory = malloc(bytes);

    for (unsigned i = 0; memory == NULL && memory_try_again(i); i++)
        memory = malloc(bytes);
    return memory;
}

void *memory_calloc(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    for (unsigned i = 0; memory == NULL && memory_try_again(i); i++)
        memory = calloc(count, size);
    return memory;
}

void *memory_realloc(void *memory, size_t bytes)
{
    void *larger = realloc(memory, bytes);

    for (unsigned i = 0; larger == NULL && memory_try_again(i); i++)
        larger = realloc(memory, bytes);
    return larger;
}

/* Near its own limit of memory: no other process ending would help. */
static bool is_at_limit(size_t wanted)
{
#ifdef __GLIBC__
    struct mallinfo2 held = mallinfo2();
    struct rlimit limit;

    return getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
           (wanted > limit.rlim_cur ||
            held.arena + held.hblkhd + wanted > limit.rlim_cur - limit.rlim_cur / LIMIT_SHARE);
#else
    (void)wanted;
    return false;
#endif
}

void memory_refused(size_t count, size_t size)
{
    size_t wanted;
    const char *said;

    if (__builtin_mul_overflow(count, size, &wanted))
        wanted = SIZE_MAX;
    said = is_at_limit(wanted) ? SAID_TOO_MUCH : SAID_REFUSED;
    if (wanted > 0)
        fprintf(stderr, "%sthe system cannot provide %zu x %zu bytes\n", said, count, size);
    else
        fprintf(stderr, "%sthe system cannot provide what a library requests\n", said);
    abort();
}

enum memory_refusal memory_refusal_of(struct str last_line)
{
    return str_starts(last_line, STR(SAID_REFUSED))    ? MEMORY_REFUSED
           : str_starts(last_line, STR(SAID_TOO_MUCH)) ? MEMORY_TOO_MUCH
                                                       : MEMORY_NOT_REFUSED;
}
