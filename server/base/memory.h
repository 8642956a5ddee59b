/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the process as a whole. */
#ifndef JVIEWD_BASE_MEMORY_H
#define JVIEWD_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* What was freed goes back to the system: left alone, an allocator keeps it for the thread that
 * freed it. */
void memory_give_back(void);

/* How many bytes this process may have: the least of the machine's, of its control group's and of
 * its limit of addresses. `ret_rule` says which, in words. */
uint64_t memory_limit(const char **ret_rule);

/* For a server: it keeps a reserve, and takes few pools of addresses where addresses are limited.
 * From then on an allocation that the system refuses has the reserve, and waits for others to free
 * theirs; after 10 s the process ends. */
void memory_prepare(void);
/* For a server, first of all: glibc keeps pieces for each thread that freed them, until that thread
 * ends, and is told not to in the environment alone. So the program starts once more, with that; it
 * returns in the second, and where there can be none. */
void memory_restart(char *const *argv);
/* For hundreds of threads that live as long as the process: they share few pools, and what is
 * large is the system's again once it is freed. Before any of them starts. */
void memory_prepare_threads(void);
/* Is the reserve gone, and cannot be had anew? Then nothing large is begun. */
bool memory_is_short(void);

/* A library was refused memory, so many times before: true, after a pause, as long as the wait
 * lasts. */
bool memory_try_again(unsigned tries);
/* As malloc, calloc and realloc: NULL after the wait. */
void *memory_malloc(size_t bytes);
void *memory_calloc(size_t count, size_t size);
void *memory_realloc(void *memory, size_t bytes);

/* The end of a process that was refused `count` x `size` bytes, or what a library needs (0):
 * SIGABRT, with a last line on stderr by which whoever started it knows why. */
_Noreturn void memory_refused(size_t count, size_t size);
enum memory_refusal {
    MEMORY_NOT_REFUSED, /* it ended for another reason */
    MEMORY_REFUSED,     /* the system had none: that may pass */
    MEMORY_TOO_MUCH,    /* it needed more than it may have (RLIMIT_DATA) */
};
/* What a process that ended by SIGABRT said last. */
enum memory_refusal memory_refusal_of(struct str last_line);

#endif
