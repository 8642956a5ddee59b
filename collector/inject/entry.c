/* SPDX-License-Identifier: Apache-2.0 */
/* The library's doors: functions that others look up by name. Whatever fails behind them, the
 * program goes on as if we were not there. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "inject/cupti/cupti.h"
#include "inject/nvtx/nvtx.h"
#include "inject/process/recorder.h"
#include "inject/writer/writer.h"

#define EXPORTED __attribute__((visibility("default")))

enum { EXIT_BUDGET_MS = 3000 };

EXPORTED extern const char jview_collector_version[];
const char jview_collector_version[] = JVIEWD_VERSION;

static void at_program_end(void)
{
    writer_stop(EXIT_BUDGET_MS);
}

static void start_once(void)
{
    writer_start();
    if (!recorder_is_awake())
        return;
    pthread_atfork(NULL, NULL, writer_forget);
    atexit(at_program_end);
}

static void start_cupti(void)
{
    cupti_start(writer_asked());
}

/* A program that has more rights than its user writes nothing where that user says. */
static bool start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (getauxval(AT_SECURE) != 0)
        return false;
    pthread_once(&once, start_once);
    return recorder_is_awake();
}

/* Called by the CUDA driver when the program initialises it; whatever it answers, CUDA goes on. */
EXPORTED extern int InitializeInjection(void);
int InitializeInjection(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (start())
        pthread_once(&once, start_cupti);
    return 1;
}

/* Called by each library of the program that uses NVTX; 0 leaves its calls empty. */
EXPORTED int InitializeInjectionNvtx2(nvtx_get_table *get_table);
int InitializeInjectionNvtx2(nvtx_get_table *get_table)
{
    return start() && get_table != NULL && nvtx_attach(get_table);
}

/* Called by each library that uses an extension of NVTX. */
EXPORTED int InitializeInjectionNvtxExtension(struct nvtx_extension *extension);
int InitializeInjectionNvtxExtension(struct nvtx_extension *extension)
{
    return start() && extension != NULL && nvtx_extend(extension);
}
