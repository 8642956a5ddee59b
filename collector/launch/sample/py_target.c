/* SPDX-License-Identifier: Apache-2.0 */
/* One Python that is looked at: opened, swept thread by thread, closed; says what forbids it. */
#include "launch/sample/py_target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "inject/spool/frame.h"
#include "launch/sample/sample_processes.h"

static const int64_t SEARCH_FIRST_NS = 50000000, SEARCH_MAX_NS = 2000000000;

void target_open(struct py_target *target, pid_t process)
{
    *target = (struct py_target){
        .process = process, .start = process_start(process), .search_step_ns = SEARCH_FIRST_NS};
}

bool target_is_alive(const struct py_target *target)
{
    return target->start != 0 && process_start(target->process) == target->start;
}

static int yama(void)
{
    FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    int scope = 0;

    if (file != NULL && fscanf(file, "%d", &scope) != 1)
        scope = 0;
    if (file != NULL)
        fclose(file);
    return scope;
}

/* What forbids it, and what would allow it. */
static void explain(pid_t process, int failure, char why[WHY_BYTES])
{
    int scope = yama();

    if (failure == ENOSYS)
        snprintf(why, WHY_BYTES,
                 "Python stacks of process %ld are not read: this system has no process_vm_readv "
                 "(CONFIG_CROSS_MEMORY_ATTACH)",
                 (long)process);
    else if (scope >= 2)
        snprintf(why, WHY_BYTES,
                 "Python stacks of process %ld are not read: kernel.yama.ptrace_scope is %d, which "
                 "denies a parent access to its child.\n  sysctl kernel.yama.ptrace_scope=1%s",
                 (long)process, scope,
                 scope == 2 ? ", or run jview-collect with CAP_SYS_PTRACE" : " (after a reboot)");
    else
        snprintf(why, WHY_BYTES,
                 "Python stacks of process %ld are not read: process_vm_readv says \"%s\". A "
                 "container's seccomp profile\n"
                 "  may forbid it (docker run --cap-add SYS_PTRACE, or --security-opt "
                 "seccomp=unconfined), or the program is of another user, or has more rights",
                 (long)process, strerror(failure));
}

static void told_unknown(const struct py_target *target, char why[WHY_BYTES])
{
    uint32_t version = target->reader.python.layout.version;

    if (version == 0)
        snprintf(why, WHY_BYTES, "Python stacks of process %ld are not read: it is older than 3.10",
                 (long)target->process);
    else
        snprintf(why, WHY_BYTES,
                 "Python stacks of process %ld are not read: it is Python %u.%u, and 3.10 to 3.14 "
                 "are supported",
                 (long)target->process, version >> 8 & 0xff, version & 0xff);
}

static void begin_log(struct py_target *target, struct remote *remote, uint32_t hz,
                      char why[WHY_BYTES])
{
    struct py_reader *reader = &target->reader;

    reader->remote = remote;
    reader->log = sample_log_of(target->process);
    if (reader->log == NULL) {
        if (errno != ESRCH)
            snprintf(why, WHY_BYTES, "samples of process %ld cannot be stored: %s",
                     (long)target->process, strerror(errno));
        return;
    }
    sample_log_sampler(reader->log, SAMPLER_PYTHON, hz);
    target->is_known = true;
    target->samples_before = target->samples;
    target->looked_ns = 0;
}

void target_search(struct py_target *target, struct remote *remote, uint32_t hz, int64_t now_ns,
                   char why[WHY_BYTES])
{
    if (target->is_known || now_ns < target->next_search_ns)
        return;
    switch (py_find(target->process, remote, &target->reader.python)) {
    case PY_FOUND:
        begin_log(target, remote, hz, why);
        break;
    case PY_UNREADABLE:
        if (remote->failure != ESRCH && target_is_alive(target))
            explain(target->process, remote->failure, why);
        break;
    case PY_UNKNOWN:
        told_unknown(target, why);
        break;
    case PY_NONE:
        break;
    }
    target->next_search_ns = now_ns + target->search_step_ns;
    if (target->search_step_ns < SEARCH_MAX_NS)
        target->search_step_ns *= 2;
}

/* Threads come in the order of the look before, mostly. */
static struct task *task_of(struct py_target *target, int64_t id)
{
    for (uint32_t step = 0; step < target->task_count; step++) {
        uint32_t index = (target->hint + step) % target->task_count;

        if (target->tasks[index].id == id) {
            target->hint = index + 1;
            return &target->tasks[index];
        }
    }
    if (target->task_count == TARGET_TASKS_MAX)
        return NULL;
    if (target->task_count == target->task_capacity) {
        target->task_capacity = target->task_capacity == 0 ? 16 : 2 * target->task_capacity;
        target->tasks = memory_resize(target->tasks, target->task_capacity, sizeof *target->tasks);
    }
    char name[32];
    if (task_name(target->process, id, name))
        sample_log_task(target->reader.log, id, name);
    target->tasks[target->task_count] = (struct task){.id = id, .cpu_ns = -1, .fd = -1};
    return &target->tasks[target->task_count++];
}

/* What it ran since the look before; -1 unknown. */
static int64_t cpu_since(struct py_target *target, struct task *task)
{
    int64_t before = task->cpu_ns, now;
    bool had_file = task->fd >= 0;

    task->cpu_ns = task_cpu_ns(target->process, task->id, &task->fd, &now) ? now : -1;
    if (!had_file && task->fd >= 0 && target->fd_count == TARGET_FDS_MAX) {
        close(task->fd);
        task->fd = -1;
    } else if (!had_file && task->fd >= 0)
        target->fd_count++;
    return before >= 0 && task->cpu_ns >= before ? task->cpu_ns - before : -1;
}

static void take_thread(void *data, const struct py_thread *thread)
{
    struct py_target *target = data;
    struct task *task = task_of(target, thread->id);

    if (task == NULL) {
        sample_log_lost(target->reader.log, LOST_THREADS, 1);
        return;
    }
    int64_t cpu_ns = cpu_since(target, task);
    task->is_seen = true;
    if (thread->stack == 0) /* in none of Python's functions: begins, or ends */
        return;
    target->samples++;
    sample_log_put(
        target->reader.log,
        &(struct sample_row){.at_ns = target->now_ns,
                             .thread = thread->id,
                             .stack = thread->stack,
                             .kind = SAMPLER_PYTHON,
                             .time_ns = target->span_ns,
                             .cpu_ns = cpu_ns < target->span_ns ? cpu_ns : target->span_ns});
}

static void drop_task(struct py_target *target, uint32_t index)
{
    if (target->tasks[index].fd >= 0) {
        close(target->tasks[index].fd);
        target->fd_count--;
    }
    memmove(target->tasks + index, target->tasks + index + 1,
            (--target->task_count - index) * sizeof *target->tasks);
}

static void sweep(struct py_target *target)
{
    for (uint32_t index = target->task_count; index-- > 0;) {
        if (!target->tasks[index].is_seen)
            drop_task(target, index);
        else
            target->tasks[index].is_seen = false;
    }
}

/* A program that becomes another by exec has its Python elsewhere, or none. */
void target_look(struct py_target *target, struct remote *remote, int64_t now_ns, int64_t step_ns)
{
    uint64_t torn = 0;

    remote_begin(remote, target->process);
    target->hint = 0;
    target->now_ns = now_ns;
    target->span_ns = target->looked_ns != 0 ? now_ns - target->looked_ns : step_ns;
    target->looked_ns = now_ns;
    if (!py_stacks(&target->reader, take_thread, target, &torn)) {
        target->is_known = false;
        if (target->samples > target->samples_before)
            target->search_step_ns = SEARCH_FIRST_NS;
        target->next_search_ns = now_ns + target->search_step_ns;
        return;
    }
    sample_log_lost(target->reader.log, LOST_TORN, torn);
    if (torn == 0)
        sweep(target);
}

void target_close(struct py_target *target)
{
    while (target->task_count > 0)
        drop_task(target, target->task_count - 1);
    py_codes_free(&target->reader.codes);
    free(target->tasks);
    target->tasks = NULL;
}
