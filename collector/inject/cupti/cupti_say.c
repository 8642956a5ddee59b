/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the sentences about what CUPTI refused, until the writer puts them into the spool. */
#include "inject/cupti/cupti_say.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { SENTENCES_MAX = 16, SENTENCE_BYTES = 512 };

static struct {
    pthread_mutex_t lock;
    _Atomic uint32_t count;
    char texts[SENTENCES_MAX][SENTENCE_BYTES];
} said = {.lock = PTHREAD_MUTEX_INITIALIZER};

void cupti_say(const char *format, ...)
{
    char text[SENTENCE_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&said.lock);
    uint32_t count = atomic_load(&said.count), at = 0;
    while (at < count && strcmp(said.texts[at], text) != 0)
        at++;
    if (at == count && count < SENTENCES_MAX) {
        memcpy(said.texts[count], text, sizeof text);
        atomic_store_explicit(&said.count, count + 1, memory_order_release);
    }
    pthread_mutex_unlock(&said.lock);
}

const char *cupti_said(uint32_t index)
{
    return index < atomic_load_explicit(&said.count, memory_order_acquire) ? said.texts[index]
                                                                           : NULL;
}

static const char *reason_of(int result)
{
    switch (result) {
    case CUPTI_UNKNOWN:
        return "there is no usable CUDA driver";
    case CUPTI_NOT_INITIALIZED:
        return "the driver is older than this libcupti: a libcupti of the driver's CUDA version, "
               "or "
               "an older one, is needed (" ENV_CUPTI " names its path)";
    case CUPTI_NOT_PRIVILEGED:
    case CUPTI_VIRTUAL_GPU_NOT_PRIVILEGED:
        return "the driver lets only administrators profile: set "
               "\"options nvidia NVreg_RestrictProfilingToAdminUsers=0\" in /etc/modprobe.d, or "
               "give the container --cap-add SYS_ADMIN";
    case CUPTI_TAKEN:
        return "another profiler uses CUPTI in this process, and only one can";
    case CUPTI_LEGACY_PROFILER:
        return "an older profiler (nvprof's interface) is in use in this process";
    case CUPTI_INVALID_KIND:
    case CUPTI_NOT_SUPPORTED:
        return "this libcupti does not support it";
    case CUPTI_VIRTUAL_GPU:
        return "this virtual GPU does not support it";
    case CUPTI_CONFIDENTIAL:
        return "confidential computing does not allow it";
    case CUPTI_MINING_GPU:
        return "a mining GPU does not support it";
    case CUPTI_MIG:
        return "a MIG instance does not support it";
    case CUPTI_SLI:
        return "GPUs joined by SLI do not support it";
    case CUPTI_WSL:
        return "WSL does not support it";
    case CUPTI_NO_MEMORY:
    case CUPTI_LIMIT:
        return "CUPTI ran out of memory";
    default:
        return NULL;
    }
}

void cupti_say_result(const struct cupti *cupti, const char *what, int result, const char *holder)
{
    const char *reason = reason_of(result), *text = NULL;

    if (reason == NULL && cupti->result_text != NULL && cupti->result_text(result, &text) == 0)
        reason = text;
    if (reason == NULL)
        reason = "CUPTI gives no reason";
    if (holder[0] != '\0')
        cupti_say("%s: %s (held by %s; CUPTI error %d).", what, reason, holder, result);
    else
        cupti_say("%s: %s (CUPTI error %d).", what, reason, result);
}
