/* SPDX-License-Identifier: Apache-2.0 */
/* The stacks of a Python's threads, read from outside while they run.
 *
 * A thread runs on while its stack is read: what is no chain of code objects then is read again, at
 * most PY_TRIES times, and dropped. Chains and lists that never end have a limit.
 */
#ifndef JVIEWD_LAUNCH_PY_STACK_H
#define JVIEWD_LAUNCH_PY_STACK_H

#include "decode/id_map.h"
#include "launch/sample/py_find.h"
#include "launch/sample/sample_log.h"

enum { PY_TRIES = 3, PY_DEPTH_MAX = 1024 };

struct py_codes {           /* what is known of code objects */
    struct id_map index_of; /* by address */
    struct py_code *at;
    uint32_t count, capacity;
    struct id_map lines; /* of (code, instruction) */
};

struct py_reader {
    struct python python;
    struct remote *remote;
    struct sample_log *log;
    struct py_codes codes;
    uint32_t frames[PY_DEPTH_MAX][2]; /* code, line; innermost first */
};

struct py_thread {
    int64_t id;     /* in the system */
    uint32_t stack; /* 0: it is in no Python function */
};

/* Calls `take` for each thread whose stack could be read; how many could not. False where the
 * interpreter itself could not be read: it is gone, or its program is another now. */
typedef void py_take(void *data, const struct py_thread *thread);
bool py_stacks(struct py_reader *reader, py_take *take, void *data, uint64_t *ret_torn);
void py_codes_free(struct py_codes *codes);

#endif
