/* SPDX-License-Identifier: Apache-2.0 */
/* The flags by which the library's threads know that they are to record, and the writer's bell. */
#include "inject/process/recorder.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NAP_MS = 50 };

static _Atomic bool is_running;
static _Atomic uint32_t bell, is_stopping, switch_off;
_Atomic uint32_t *recorder_switch_word = &switch_off;

bool recorder_is_awake(void)
{
    return atomic_load_explicit(&is_running, memory_order_acquire) &&
           atomic_load_explicit(&is_stopping, memory_order_relaxed) == 0;
}

void recorder_wake(void)
{
    if (atomic_exchange(&bell, 1) == 0)
        syscall(SYS_futex, &bell, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void recorder_begin(void)
{
    atomic_store_explicit(&is_running, true, memory_order_release);
}

void recorder_nap(void)
{
    static const struct timespec at_most = {.tv_nsec = NAP_MS * 1000000};

    if (atomic_load(&bell) == 0)
        syscall(SYS_futex, &bell, FUTEX_WAIT_PRIVATE, 0, &at_most, NULL, 0);
    atomic_store(&bell, 0);
}

bool recorder_is_ending(void)
{
    return atomic_load(&is_stopping) != 0;
}

bool recorder_end(void)
{
    if (!atomic_exchange(&is_running, false))
        return false;
    atomic_store(&is_stopping, 1);
    recorder_wake();
    return true;
}

void recorder_forget(void)
{
    atomic_store(&is_running, false);
}
