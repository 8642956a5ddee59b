/* A CUDA driver without a GPU: loads the library that CUDA_INJECTION64_PATH names as the real one
 * does, and hands what is launched to the fake CUPTI. */
#include <dlfcn.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

static void (*launch)(int thread, long number);

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
    if (cupti != NULL)
        *(void **)&launch = dlsym(cupti, "fake_cupti_launch");
    return 0;
}

/* The number'th launch of a thread: what it does is fake_cupti.c's to tell. */
EXPORTED void fake_cuda_launch(int thread, long number);
void fake_cuda_launch(int thread, long number)
{
    if (launch != NULL)
        launch(thread, number);
}
