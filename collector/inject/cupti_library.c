#include "inject/cupti_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};

static void *find_mapped(void)
{
    void *found = NULL;

    for (size_t name = 0; name < COUNT_OF(names) && found == NULL; name++)
        found = dlopen(names[name], RTLD_NOW | RTLD_NOLOAD);
    return found;
}

static void *find_in(const char *directory)
{
    char path[4096];
    void *found = NULL;

    for (size_t name = 0; name < COUNT_OF(names) && found == NULL; name++)
        if (snprintf(path, sizeof path, "%s/%s", directory, names[name]) < (int)sizeof path)
            found = dlopen(path, RTLD_NOW);
    return found;
}

/* Where toolkits are installed. */
static void *find_installed(void)
{
    static const char *const below[] = {"lib64", "extras/CUPTI/lib64", "lib"};
    const char *const homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    char path[4096];
    void *found = NULL;

    for (size_t home = 0; home < COUNT_OF(homes); home++)
        for (size_t at = 0; homes[home] != NULL && at < COUNT_OF(below) && found == NULL; at++)
            if (snprintf(path, sizeof path, "%s/%s", homes[home], below[at]) < (int)sizeof path)
                found = find_in(path);
    return found;
}

static void *find_library(void)
{
    const char *said = getenv(ENV_CUPTI);
    void *found = find_mapped();

    if (found == NULL && said != NULL && said[0] == '/')
        return dlopen(said, RTLD_NOW);
    for (size_t name = 0; name < COUNT_OF(names) && found == NULL; name++)
        found = dlopen(names[name], RTLD_NOW);
    return found != NULL ? found : find_installed();
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
};

bool cupti_find(struct cupti *ret, const char **ret_missing)
{
    void *library = find_library();

    *ret_missing = "libcupti";
    if (library == NULL)
        return false;
    for (size_t index = 0; index < COUNT_OF(wanted); index++) {
        void *symbol = dlsym(library, wanted[index].name);
        if (symbol == NULL && wanted[index].is_needed) {
            *ret_missing = wanted[index].name;
            return false;
        }
        memcpy((char *)ret + wanted[index].at, &symbol, sizeof symbol);
    }
    return true;
}
