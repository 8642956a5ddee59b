/* SPDX-License-Identifier: Apache-2.0 */
/* A process whose Python stacks are looked at. */
#ifndef JVIEWD_LAUNCH_PY_TARGET_H
#define JVIEWD_LAUNCH_PY_TARGET_H

#include "launch/sample/py_stack.h"

enum { TARGET_TASKS_MAX = 4096, TARGET_FDS_MAX = 128, WHY_BYTES = 512 };

struct py_target {
    pid_t process;
    uint64_t start; /* tells it from another of the same number */
    struct py_reader reader;
    bool is_known; /* its Python was found */
    int64_t next_search_ns, search_step_ns;
    int64_t looked_ns; /* 0: begin anew */
    struct task {
        int64_t id, cpu_ns; /* cpu_ns: -1 unknown */
        int fd;
        bool is_seen;
    } * tasks;
    uint32_t task_count, task_capacity, hint, fd_count;
    int64_t now_ns, span_ns;          /* of the look at hand */
    uint64_t samples, samples_before; /* ever; when its Python was found */
};

void target_open(struct py_target *target, pid_t process);
/* Looks for its Python, now and then; where it cannot be read, says why. */
void target_search(struct py_target *target, struct remote *remote, uint32_t hz, int64_t now_ns,
                   char why[WHY_BYTES]);
void target_look(struct py_target *target, struct remote *remote, int64_t now_ns, int64_t step_ns);
bool target_is_alive(const struct py_target *target);
void target_close(struct py_target *target);

#endif
