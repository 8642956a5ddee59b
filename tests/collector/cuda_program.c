/* SPDX-License-Identifier: Apache-2.0 */
/* A program that uses CUDA: initialises it, then launches from several threads.
 *
 * usage: cuda_program THREADS LAUNCHES [sleep MILLISECONDS | kill | profile TIMES | xla STEPS |
 *                                       graph TIMES | burst RANGES | second | two] [stay]
 *
 * stay, behind the others' words: goes on until it is ended.
 * profile: so often 5 launches more outside of cuProfilerStart and Stop, and 20 between them.
 * xla: so often a module of jit_step, of which matmul.1 launches 3 and add.3, within while.2, 2;
 * one launch stands outside.
 * graph: builds nodes 1 and 2 within fusion.1, 3 within add.2 and 4 in no op, and copies them as 11
 * to 14; 0.3 s later launches the copies so often, within command_buffer.9.
 * second: asks for CUPTI itself, as a profiler in the program would; says what it was told.
 * two: has two libcuptis mapped before it initialises CUDA.
 * burst: tells so many of XLA's ranges, and the nanoseconds of CPU that each took. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nvtx_client.h"

enum { THREADS_MAX = 64 };

static void (*launch)(int thread, long number);
static long launches;

static void *launch_all(void *data)
{
    for (long number = 0; number < launches; number++)
        launch(*(int *)data, number);
    return NULL;
}

static void launch_some(long count)
{
    for (long number = 0; number < count; number++)
        launch(0, number);
    usleep(20000);
}

static void profile(void *cuda, long times)
{
    int (*begin)(void) = NULL, (*end)(void) = NULL;

    *(void **)&begin = dlsym(cuda, "cuProfilerStart");
    *(void **)&end = dlsym(cuda, "cuProfilerStop");
    for (long time = 0; time < times; time++) {
        launch_some(5);
        begin();
        for (long number = 0; number < 20; number++)
            launch(0, number);
        end();
        usleep(20000);
    }
    launch_some(5);
}

static void push_named(void *in, const char *name)
{
    struct nvtx_event event = {.version = 3,
                               .size = sizeof event,
                               .message_type = NVTX_MESSAGE_TEXT,
                               .message.text = name};

    push_event(in, &event);
}

static void run_steps(long count)
{
    void *tsl = attach() ? domain("TSL") : NULL;

    for (long step = 0, number = 0; step < count; step++) {
        push_named(tsl, "XlaModule:#hlo_module=jit_step,program_id=3#");
        push_named(tsl, "Thunk:#hlo_op=matmul.1#");
        for (int one = 0; one < 3; one++)
            launch(0, number++);
        pop_of(tsl);
        push_named(tsl, "Thunk:#hlo_op=while.2#");
        push_named(tsl, "Thunk:#hlo_op=add.3#");
        for (int one = 0; one < 2; one++)
            launch(0, number++);
        pop_of(tsl);
        pop_of(tsl);
        pop_of(tsl);
        launch(0, number++);
    }
}

static void run_graph(void *cuda, long times)
{
    void *tsl = attach() ? domain("TSL") : NULL;
    void (*node)(uint64_t, uint64_t) = NULL, (*graph)(uint64_t, uint64_t) = NULL;

    *(void **)&node = dlsym(cuda, "fake_cuda_node");
    *(void **)&graph = dlsym(cuda, "fake_cuda_graph");
    name_stream((void *)7, "compute");
    push_named(tsl, "XlaModule:#hlo_module=jit_step,program_id=3#");
    push_named(tsl, "Thunk:#hlo_op=fusion.1#");
    node(1, 0);
    node(2, 0);
    pop_of(tsl);
    push_named(tsl, "Thunk:#hlo_op=add.2#");
    node(3, 0);
    pop_of(tsl);
    pop_of(tsl);
    node(4, 0);
    for (uint64_t number = 1; number <= 4; number++)
        node(10 + number, number);
    usleep(300000); /* where recording begins late, it has begun by now */
    for (long time = 0; time < times; time++) {
        push_named(tsl, "XlaModule:#hlo_module=jit_step,program_id=3#");
        push_named(tsl, "Thunk:#hlo_op=command_buffer.9#");
        graph(11, 4);
        usleep(1000); /* they are over by now */
        pop_of(tsl);
        pop_of(tsl);
    }
}

static void burst(long count)
{
    void *tsl = attach() ? domain("TSL") : NULL;
    struct timespec from, to;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    for (long number = 0; number < count; number++) {
        push_named(tsl, "Thunk:#hlo_op=matmul.1#");
        pop_of(tsl);
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    printf("%.2f\n",
           ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) /
               (double)count);
}

static void second(void)
{
    void *cupti = dlopen("libcupti.so.13", RTLD_NOW), *subscriber = NULL;
    int (*subscribe)(void **, void *, void *) = NULL;

    *(void **)&subscribe = cupti != NULL ? dlsym(cupti, "cuptiSubscribe") : NULL;
    printf("%d ", subscribe != NULL ? subscribe(&subscriber, NULL, NULL) : -1);
    launch_some(10);
}

int main(int argc, char **argv)
{
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    int (*init)(unsigned) = NULL, numbers[THREADS_MAX];
    int count = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t threads[THREADS_MAX];

    if (cuda == NULL || count > THREADS_MAX)
        return 2;
    launches = argc > 2 ? atol(argv[2]) : 1;
    *(void **)&init = dlsym(cuda, "cuInit");
    *(void **)&launch = dlsym(cuda, "fake_cuda_launch");
    if (argc > 3 && strcmp(argv[3], "two") == 0 &&
        (dlopen("libcupti.so.12", RTLD_NOW) == NULL || dlopen("libcupti.so.13", RTLD_NOW) == NULL))
        return 2;
    if (init == NULL || launch == NULL || init(0) != 0)
        return 2;
    for (int index = 0; index < count; index++) {
        numbers[index] = index;
        pthread_create(&threads[index], NULL, launch_all, &numbers[index]);
    }
    for (int index = 0; index < count; index++)
        pthread_join(threads[index], NULL);
    if (argc > 4 && strcmp(argv[3], "sleep") == 0)
        usleep((useconds_t)atol(argv[4]) * 1000);
    if (argc > 4 && strcmp(argv[3], "profile") == 0)
        profile(cuda, atol(argv[4]));
    if (argc > 4 && strcmp(argv[3], "xla") == 0)
        run_steps(atol(argv[4]));
    if (argc > 4 && strcmp(argv[3], "graph") == 0)
        run_graph(cuda, atol(argv[4]));
    if (argc > 4 && strcmp(argv[3], "burst") == 0)
        burst(atol(argv[4]));
    if (argc > 3 && strcmp(argv[3], "second") == 0)
        second();
    if (argc > 3 && strcmp(argv[3], "kill") == 0) {
        usleep(1500000); /* a flush and a frame */
        raise(SIGKILL);
    }
    if (strcmp(argv[argc - 1], "stay") == 0)
        sleep(100);
    puts("done");
    return 0;
}
