/* SPDX-License-Identifier: Apache-2.0 */
/* Finds libcupti: the one that the program has mapped, else one that the loader finds, else one
 * of an installed toolkit. */
#include "inject/cupti/cupti_library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};

static struct {
    void *at;
    size_t name; /* of names; beyond them: it is the only one */
} loaded;

static void *find_mapped(void)
{
    void *found = NULL;

    for (size_t name = 0; name < COUNT_OF(names) && found == NULL; name++)
        found = dlopen(names[name], RTLD_NOW | RTLD_NOLOAD);
    return found;
}

/* Where toolkits are installed. */
static void *find_installed(const char *name)
{
    static const char *const below[] = {"lib64", "extras/CUPTI/lib64", "lib"};
    const char *const homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    char path[4096];
    void *found = NULL;

    for (size_t home = 0; home < COUNT_OF(homes); home++)
        for (size_t at = 0; homes[home] != NULL && at < COUNT_OF(below) && found == NULL; at++)
            if (snprintf(path, sizeof path, "%s/%s/%s", homes[home], below[at], name) <
                (int)sizeof path)
                found = dlopen(path, RTLD_NOW);
    return found;
}

/* From that name on: each where the loader looks, then where toolkits are. */
static void *find_from(size_t first)
{
    void *found = NULL;

    for (size_t place = 0; place < 2; place++)
        for (size_t name = first; name < COUNT_OF(names) && found == NULL; name++) {
            found = place == 0 ? dlopen(names[name], RTLD_NOW) : find_installed(names[name]);
            loaded.name = name;
        }
    return found;
}

static void *find_library(void)
{
    const char *said = getenv(ENV_CUPTI);
    void *found = find_mapped();

    loaded.name = COUNT_OF(names);
    if (found == NULL && said != NULL && said[0] == '/')
        return dlopen(said, RTLD_NOW);
    return found != NULL ? found : find_from(0);
}

struct wanted {
    const char *name;
    size_t at;
    bool is_needed;
};
#define NEEDED(name, field)                                                                        \
    {                                                                                              \
        (name), offsetof(struct cupti, field), true                                                \
    }
#define USED(name, field)                                                                          \
    {                                                                                              \
        (name), offsetof(struct cupti, field), false                                               \
    }

static const struct wanted wanted[] = {
    NEEDED("cuptiGetVersion", version),
    NEEDED("cuptiSubscribe", subscribe),
    NEEDED("cuptiActivityRegisterCallbacks", register_buffers),
    NEEDED("cuptiActivityEnable", enable),
    NEEDED("cuptiActivityGetNextRecord", next_record),
    NEEDED("cuptiActivityFlushAll", flush_all),
    NEEDED("cuptiActivityGetNumDroppedRecords", dropped),
    NEEDED("cuptiGetCallbackName", callback_name),
    USED("cuptiSubscribe_v2", subscribe_by_name),
    USED("cuptiUnsubscribe", unsubscribe),
    USED("cuptiEnableCallback", enable_callback),
    USED("cuptiActivitySetAttribute", set_attribute),
    USED("cuptiSetThreadIdType", set_thread_id_type),
    USED("cuptiActivityEnableDriverApi", enable_driver_call),
    USED("cuptiActivityEnableRuntimeApi", enable_runtime_call),
    USED("cuptiGetResultString", result_text),
    USED("cuptiGetGraphNodeId", node_id),
    USED("cuptiGetStreamIdEx", stream_id),
};

static bool take_symbols(struct cupti *ret, const char **ret_missing)
{
    for (size_t index = 0; index < COUNT_OF(wanted); index++) {
        void *symbol = dlsym(loaded.at, wanted[index].name);
        if (symbol == NULL && wanted[index].is_needed) {
            *ret_missing = wanted[index].name;
            return false;
        }
        memcpy((char *)ret + wanted[index].at, &symbol, sizeof symbol);
    }
    return true;
}

bool cupti_find(struct cupti *ret, const char **ret_missing)
{
    *ret_missing = "libcupti";
    loaded.at = find_library();
    return loaded.at != NULL && take_symbols(ret, ret_missing);
}

const char *cupti_path(void)
{
    struct link_map *map;

    return dlinfo(loaded.at, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : "";
}

static int take_other(struct dl_phdr_info *mapped, size_t size, void *ret)
{
    const char *slash = strrchr(mapped->dlpi_name, '/');
    const char *name = slash != NULL ? slash + 1 : mapped->dlpi_name;

    (void)size;
    if (strncmp(name, names[COUNT_OF(names) - 1], strlen(names[COUNT_OF(names) - 1])) != 0 ||
        strcmp(mapped->dlpi_name, cupti_path()) == 0)
        return 0;
    *(const char **)ret = mapped->dlpi_name;
    return 1;
}

const char *cupti_other_path(void)
{
    const char *other = NULL;

    dl_iterate_phdr(take_other, (void *)&other);
    return other;
}

bool cupti_find_older(struct cupti *ret)
{
    struct cupti older = {0};
    const char *missing;
    void *before = loaded.at;

    if (loaded.name + 1 >= COUNT_OF(names))
        return false;
    void *found = find_from(loaded.name + 1);
    if (found == NULL || found == before)
        return false;
    loaded.at = found;
    if (!take_symbols(&older, &missing))
        return false;
    *ret = older;
    dlclose(before);
    return true;
}
