/* SPDX-License-Identifier: Apache-2.0 */
/* An NVTX for test programs: it loads what NVTX_INJECTION64_PATH names and calls through the places
 * that the library filled, as the public headers do. */
#ifndef JVIEWD_TESTS_NVTX_CLIENT_H
#define JVIEWD_TESTS_NVTX_CLIENT_H

#include <dlfcn.h>
#include <stdlib.h>

#include "inject/nvtx/nvtx_abi.h"

enum { PLACES = 16 };

static nvtx_function *core[PLACES], *core2[PLACES], *cuda_core[PLACES];
static nvtx_function **core_places[PLACES], **core2_places[PLACES], **cuda_places[PLACES];

static inline int give_module(int module, nvtx_function ****ret_places, unsigned *ret_count)
{
    *ret_places = module == NVTX_MODULE_CORE    ? core_places
                  : module == NVTX_MODULE_CORE2 ? core2_places
                  : module == NVTX_MODULE_CUDA  ? cuda_places
                                                : NULL;
    *ret_count = PLACES;
    return *ret_places != NULL;
}

static inline const void *give_table(uint32_t id)
{
    static const struct nvtx_callbacks callbacks = {.size = sizeof callbacks,
                                                    .module = give_module};

    return id == NVTX_TABLE_CALLBACKS ? &callbacks : NULL;
}

/* 0 where no tool is there: all calls are empty then. */
static inline int attach(void)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *library = path != NULL ? dlopen(path, RTLD_NOW) : NULL;
    int (*init)(nvtx_get_table *) = NULL;

    for (int place = 0; place < PLACES; place++) {
        core_places[place] = &core[place];
        core2_places[place] = &core2[place];
        cuda_places[place] = &cuda_core[place];
    }
    if (library != NULL)
        *(void **)&init = dlsym(library, "InitializeInjectionNvtx2");
    return init != NULL && init(give_table);
}

static inline void push(const char *name)
{
    if (core[NVTX_PUSH] != NULL)
        ((int (*)(const char *))core[NVTX_PUSH])(name);
}

static inline int pop(void)
{
    return core[NVTX_POP] != NULL ? ((int (*)(void))core[NVTX_POP])() : 0;
}

static inline void *domain(const char *name)
{
    return core2[NVTX_DOMAIN_CREATE] != NULL
               ? ((void *(*)(const char *))core2[NVTX_DOMAIN_CREATE])(name)
               : NULL;
}

static inline void push_event(void *in, const struct nvtx_event *event)
{
    if (core2[NVTX_DOMAIN_PUSH_EX] != NULL)
        ((int (*)(void *, const struct nvtx_event *))core2[NVTX_DOMAIN_PUSH_EX])(in, event);
}

static inline void name_stream(void *stream, const char *name)
{
    if (cuda_core[NVTX_CUDA_NAME_STREAM] != NULL)
        ((void (*)(void *, const char *))cuda_core[NVTX_CUDA_NAME_STREAM])(stream, name);
}

static inline void pop_of(void *in)
{
    if (core2[NVTX_DOMAIN_POP] != NULL)
        ((int (*)(void *))core2[NVTX_DOMAIN_POP])(in);
}

#endif
