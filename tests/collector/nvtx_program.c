/* SPDX-License-Identifier: Apache-2.0 */
/* A program that tells NVTX ranges, with an NVTX of its own: nvtx_client.h.
 *
 *   nvtx_program MODE [COUNT]
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nvtx_client.h"

enum { THREADS = 64 };

static void step(void *train, int64_t number)
{
    struct nvtx_event event = {.version = 3,
                               .size = sizeof event,
                               .category = 7,
                               .color_type = NVTX_COLOR_ARGB,
                               .color = 0xff112233,
                               .payload_type = NVTX_PAYLOAD_INT64,
                               .payload.i64 = number,
                               .message_type = NVTX_MESSAGE_TEXT,
                               .message.text = "step"};

    push_event(train, &event);
    push("load");
    usleep(200);
    pop();
    push("compute");
    pop();
    pop_of(train);
}

static void steps(long count)
{
    void *train = domain("train");

    for (long number = 0; number < count; number++)
        step(train, number);
}

static void *thread_steps(void *data)
{
    steps(*(long *)data);
    return NULL;
}

static void threads(long count)
{
    pthread_t all[THREADS];

    for (int index = 0; index < THREADS; index++)
        pthread_create(&all[index], NULL, thread_steps, &count);
    for (int index = 0; index < THREADS; index++)
        pthread_join(all[index], NULL);
}

static void *end_elsewhere(void *data)
{
    if (core[NVTX_END] != NULL)
        ((void (*)(uint64_t))core[NVTX_END])(*(uint64_t *)data);
    return NULL;
}

/* Every other call once; a wide text, a registered one, names, an end on another thread. */
static void others(void)
{
    void *io = domain("io");
    struct nvtx_event event = {.version = 3,
                               .size = sizeof event,
                               .payload_type = NVTX_PAYLOAD_FLOAT,
                               .payload.f32 = 1.5f,
                               .message_type = NVTX_MESSAGE_STRING};
    pthread_t other;

    ((void (*)(uint32_t, const char *))core[NVTX_NAME_THREAD])((uint32_t)getpid(), "loop");
    ((void (*)(const void *, uint32_t, const char *))core2[NVTX_DOMAIN_NAME_CATEGORY])(io, 3,
                                                                                       "disk");
    uint64_t id = ((uint64_t(*)(const wchar_t *))core[NVTX_START_WIDE])(L"na\u00efve \U0001f600");
    pthread_create(&other, NULL, end_elsewhere, &id);
    pthread_join(other, NULL);
    event.message.string =
        ((void *(*)(const void *, const char *))core2[NVTX_DOMAIN_STRING])(io, "registered");
    event.category = 3;
    ((void (*)(const void *, const struct nvtx_event *))core2[NVTX_DOMAIN_MARK_EX])(io, &event);
    pop(); /* nothing is open */
    end_elsewhere(&id);
}

/* As the payload extension's header does: slots that the library fills, schemas, events with
 * them. */
static void payloads(void)
{
    static intptr_t slots[64];
    struct nvtx_segment segment = {.slot_count = 64, .slots = slots};
    struct nvtx_extension extension = {.size = sizeof extension,
                                       .module = NVTX_EXTENSION_PAYLOAD,
                                       .segment_count = 1,
                                       .segments = &segment};
    void *library = dlopen(getenv("NVTX_INJECTION64_PATH"), RTLD_NOW | RTLD_NOLOAD);
    int (*extend)(struct nvtx_extension *) = NULL;
    uint64_t (*add_schema)(const void *, const struct nvtx_schema *);
    uint64_t (*add_enum)(const void *, const struct nvtx_enum *);
    int (*push_payload)(const void *, const struct nvtx_payload *, size_t);

    *(void **)&extend = dlsym(library, "InitializeInjectionNvtxExtension");
    if (!extend(&extension))
        exit(2);
    memcpy(&add_schema, &slots[NVTX_SLOT_SCHEMA], sizeof add_schema);
    memcpy(&add_enum, &slots[NVTX_SLOT_ENUM], sizeof add_enum);
    memcpy(&push_payload, &slots[NVTX_SLOT_PUSH], sizeof push_payload);

    void *nccl = domain("NCCL");
    static const struct nvtx_enum_entry ops[] = {{"Sum", 0, 0}, {"Max", 3, 0}};
    const struct nvtx_enum op = {.fields = NVTX_ENUM_HAS_ENTRIES | NVTX_ENUM_HAS_COUNT |
                                           NVTX_ENUM_HAS_SIZE | NVTX_ENUM_HAS_ID,
                                 .entries = ops,
                                 .entry_count = 2,
                                 .size = 4,
                                 .id = NVTX_SCHEMA_STATIC + 9};
    add_enum(nccl, &op);
    struct all_reduce { /* none of its offsets is told: they follow alignment */
        uint64_t comm;
        size_t bytes;
        uint32_t op;
        int8_t root;
        float scale;
        const char *tag;
        const void *name;
        char host[8];
        struct nvtx_payload *unknown;
    } given = {0xabcdef, 1 << 20, 3, -2, 0.5f, "ring", NULL, "node7", NULL};
    static const struct nvtx_schema_entry entries[] = {
        {.type = NVTX_TYPE_UINT64, .name = "NCCL communicator ID"},
        {.type = NVTX_TYPE_SIZE, .name = "Message size [bytes]"},
        {.type = NVTX_SCHEMA_STATIC + 9, .name = "Reduction operation"},
        {.type = NVTX_TYPE_INT8, .name = "root"},
        {.type = NVTX_TYPE_FLOAT, .name = "scale"},
        {.type = NVTX_TYPE_CSTRING, .name = "tag"},
        {.type = NVTX_TYPE_REGISTERED, .name = "comm name"},
        {.type = NVTX_TYPE_CHAR, .name = "host", .flags = NVTX_ENTRY_ARRAY_FIXED, .detail = 8},
        {.type = NVTX_TYPE_UINT64, .name = "pointer", .flags = NVTX_ENTRY_POINTER},
        {.type = NVTX_TYPE_UINT64, .name = "beyond", .offset = 1 << 20},
        {.type = 999, .name = "of no type"},
    };
    const struct nvtx_schema schema = {.fields = NVTX_SCHEMA_HAS_NAME | NVTX_SCHEMA_HAS_ENTRIES |
                                                 NVTX_SCHEMA_HAS_COUNT,
                                       .name = "ncclAllReduce",
                                       .entries = entries,
                                       .entry_count = sizeof entries / sizeof entries[0]};
    given.name = ((void *(*)(const void *, const char *))core2[NVTX_DOMAIN_STRING])(nccl, "world");
    struct nvtx_payload payload = {add_schema(nccl, &schema), sizeof given, &given};
    struct nvtx_event event = {.version = 3,
                               .size = sizeof event,
                               .payload_type = NVTX_PAYLOAD_SCHEMA,
                               .reserved = 1,
                               .payload.schemas = &payload,
                               .message_type = NVTX_MESSAGE_TEXT,
                               .message.text = "ncclBroadcast"};

    push_payload(nccl, &payload, 1);
    pop_of(nccl);
    push_event(nccl, &event);
    pop_of(nccl);
    payload.size = 12; /* cut within the second field */
    event.message.text = "ncclCut";
    push_event(nccl, &event);
    pop_of(nccl);
    payload.schema = 12345; /* of none */
    event.message.text = "TSL:Thunk:#hlo_op=fusion.3,hlo_module=jit_f,program_id=7#";
    push_event(nccl, &event);
    pop_of(nccl);
}

/* As fast as one thread can. Tells what a pair costs it: nanoseconds of its CPU time. */
static void burst(long count)
{
    struct timespec begin, end;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    for (long number = 0; number < count; number++) {
        push("burst");
        pop();
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    printf("%.2f\n",
           ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
               (double)count);
}

static pthread_barrier_t all_here;

static void *stand_in_crowd(void *unused)
{
    push("in the crowd");
    pthread_barrier_wait(&all_here);
    pop();
    pthread_barrier_wait(&all_here);
    return unused;
}

/* So many threads at once, each with one range. */
static void crowd(long count)
{
    pthread_t *all = calloc((size_t)count, sizeof *all);
    pthread_attr_t small;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 18);
    pthread_barrier_init(&all_here, NULL, (unsigned)count);
    for (long index = 0; index < count; index++)
        if (pthread_create(&all[index], &small, stand_in_crowd, NULL) != 0)
            exit(77);
    for (long index = 0; index < count; index++)
        pthread_join(all[index], NULL);
    free(all);
}

static void *push_until_cancelled(void *data)
{
    int before;

    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
    for (;;) {
        push("cancelled");
        pop();
    }
    return data;
}

/* Threads that end wherever they are, within our calls too; those behind them are recorded. */
static void cancelled(long count)
{
    pthread_t thread;

    for (long number = 0; number < count; number++) {
        if (pthread_create(&thread, NULL, push_until_cancelled, NULL) != 0)
            exit(77);
        usleep(200 + (useconds_t)(number * 37 % 1000));
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    steps(count);
}

/* Steps, each with its time written to a file that outlives us: for who kills us. */
static void counted(const char *path)
{
    enum { COUNTED_MAX = 1 << 16 };
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    struct timespec now;

    if (fd < 0 || ftruncate(fd, COUNTED_MAX * 8) != 0)
        exit(2);
    int64_t *times = mmap(NULL, COUNTED_MAX * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    for (long number = 0; number < COUNTED_MAX; number++) {
        push("counted");
        usleep(100);
        pop();
        clock_gettime(CLOCK_MONOTONIC, &now);
        times[number] = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    }
}

/* Each with a text of its own. */
static void distinct(long count)
{
    char name[32];

    for (long number = 0; number < count; number++) {
        snprintf(name, sizeof name, "number %ld", number);
        push(name);
        pop();
    }
}

static void push_in(void *in, const char *name)
{
    struct nvtx_event event = {.version = 3,
                               .size = sizeof event,
                               .message_type = NVTX_MESSAGE_TEXT,
                               .message.text = name};

    push_event(in, &event);
}

/* Texts lie beside one another: none ends where the next begins. */
static void domains(long count)
{
    void *nccl = domain("NCCL"), *other = domain("NCCLtwo");

    for (long number = 0; number < count; number++) {
        push_in(nccl, "of NCCL");
        push_in(other, "of another");
        pop_of(other);
        pop_of(nccl);
    }
}

/* Ranges around the one that opens the capture, in it and behind it. */
static void around(long count)
{
    for (long number = 0; number < 20000; number++) { /* until names are no longer looked at */
        push("before");
        pop();
    }
    push("around");
    for (long number = 0; number < count; number++) {
        push("between");
        push("open");
        push("within");
        pop();
        pop();
        push("after");
        pop();
        pop();
    }
    pop();
    pop(); /* of nothing */
}

static void forks(void)
{
    steps(2);
    pid_t pid = fork();
    if (pid == 0) {
        steps(50); /* the child has no writer: nothing is recorded, nothing hangs */
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    steps(2);
}

static int run(const char *mode, long count)
{
    if (strcmp(mode, "steps") == 0)
        steps(count);
    else if (strcmp(mode, "threads") == 0)
        threads(count);
    else if (strcmp(mode, "cancelled") == 0)
        cancelled(count);
    else if (strcmp(mode, "others") == 0)
        others();
    else if (strcmp(mode, "exec") == 0) {
        char *again[] = {"nvtx_program", "steps", "5", NULL};
        steps(count);
        usleep(600000); /* a frame */
        execv("/proc/self/exe", again);
    } else if (strcmp(mode, "burst") == 0)
        burst(count);
    else if (strcmp(mode, "crowd") == 0)
        crowd(count);
    else if (strcmp(mode, "distinct") == 0)
        distinct(count);
    else if (strcmp(mode, "domains") == 0)
        domains(count);
    else if (strcmp(mode, "around") == 0)
        around(count);
    else if (strcmp(mode, "payloads") == 0)
        payloads();
    else if (strcmp(mode, "forks") == 0)
        forks();
    else if (strcmp(mode, "deep") == 0) {
        for (long depth = 0; depth < count; depth++)
            push("deeper");
        for (long depth = 0; depth < count; depth++)
            pop();
    } else if (strcmp(mode, "abort") == 0 || strcmp(mode, "kill") == 0 ||
               strcmp(mode, "_exit") == 0) {
        steps(10);
        push("never ends");
        if (core[NVTX_START] != NULL)
            ((uint64_t(*)(const char *))core[NVTX_START])("never ended");
        usleep(1600000); /* two looks at what is open */
        if (strcmp(mode, "_exit") == 0)
            _exit(3);
        raise(strcmp(mode, "abort") == 0 ? SIGABRT : SIGKILL);
    } else if (strcmp(mode, "code") == 0)
        return (int)count;
    else
        return 2;
    return 0;
}

int main(int argc, char **argv)
{
    int is_attached = attach();

    printf("%s\n", is_attached ? "attached" : "alone");
    fflush(stdout);
    if (argc > 2 && strcmp(argv[1], "counted") == 0) {
        counted(argv[2]);
        return 0;
    }
    return run(argc > 1 ? argv[1] : "steps", argc > 2 ? atol(argv[2]) : 1);
}
