/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA driver without a GPU: loads the library that CUDA_INJECTION64_PATH names as the real one
 * does, and hands what is launched to the fake CUPTI. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

static void (*launch)(int thread, long number);
static void (*profiler)(int starts);
static void (*node)(uint64_t number, uint64_t original);
static void (*graph)(uint64_t first, uint64_t count);

EXPORTED int cuInit(unsigned flags);
int cuInit(unsigned flags)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *library = path != NULL ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
    int (*begin)(void) = NULL;

    (void)flags;
    if (library != NULL)
        *(void **)&begin = dlsym(library, "InitializeInjection");
    if (begin != NULL)
        begin();
    void *cupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
    if (cupti == NULL)
        cupti = dlopen("libcupti.so.12", RTLD_NOW | RTLD_NOLOAD);
    if (cupti == NULL)
        return 0;
    *(void **)&launch = dlsym(cupti, "fake_cupti_launch");
    *(void **)&profiler = dlsym(cupti, "fake_cupti_profiler");
    *(void **)&node = dlsym(cupti, "fake_cupti_node");
    *(void **)&graph = dlsym(cupti, "fake_cupti_graph");
    return 0;
}

static int turn(int starts)
{
    if (profiler != NULL)
        profiler(starts);
    return 0;
}

EXPORTED int cuProfilerStart(void);
int cuProfilerStart(void)
{
    return turn(1);
}

EXPORTED int cuProfilerStop(void);
int cuProfilerStop(void)
{
    return turn(0);
}

/* The number'th launch of a thread: what it does is fake_cupti.c's to tell. */
EXPORTED void fake_cuda_launch(int thread, long number);
void fake_cuda_launch(int thread, long number)
{
    if (launch != NULL)
        launch(thread, number);
}

EXPORTED void fake_cuda_node(uint64_t number, uint64_t original);
void fake_cuda_node(uint64_t number, uint64_t original)
{
    if (node != NULL)
        node(number, original);
}

EXPORTED void fake_cuda_graph(uint64_t first, uint64_t count);
void fake_cuda_graph(uint64_t first, uint64_t count)
{
    if (graph != NULL)
        graph(first, count);
}
