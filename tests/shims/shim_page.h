/* SPDX-License-Identifier: Apache-2.0 */
/* The page that a test shares with every process it starts under a shim: the file that $SHIM_PAGE
 * names, mapped before main() and so before any sandbox. Fields are written by the test, except
 * `count` and those of what failed. tests/shims/shims.py knows their places.
 *
 *   count      0    calls of the chosen kinds so far, over all processes
 *   fail_at    8    the call that fails, from 1; 0: none
 *   kinds     16    bits of enum shim_kind
 *   way       20    enum shim_way
 *   fired     24    it was reached
 *   process   28    by that one
 *   what      32    the function
 *   where    112    the object that called, and the offset in it
 */
#ifndef JVIEWD_TESTS_SHIM_PAGE_H
#define JVIEWD_TESTS_SHIM_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

enum { SHIM_PAGE_BYTES = 4096 };

enum shim_kind {
    SHIM_ALLOC = 1,
    SHIM_OPEN = 2,
    SHIM_READ = 4,
    SHIM_WRITE = 8,
    SHIM_SYNC = 16,
    SHIM_NAME = 32, /* rename, link, unlink, mkdir, ... */
    SHIM_MAP = 64,
    SHIM_SIZE = 128,
    SHIM_STAT = 256,
    SHIM_START = 512,  /* a process, a thread */
    SHIM_OTHER = 1024, /* pipes, sockets, locks, signals, time */
};

enum shim_way {
    SHIM_FAILS = 0,
    SHIM_IS_SHORT = 1,       /* half of it is read or written */
    SHIM_IS_INTERRUPTED = 2, /* EINTR */
    SHIM_FAILS_ON = 3,       /* this one and all that follow */
    SHIM_IS_STALE = 4,       /* ESTALE, as of a file server that was started anew */
};

struct shim_page {
    _Atomic uint64_t count;
    uint64_t fail_at;
    uint32_t kinds, way;
    _Atomic uint32_t fired;
    int32_t process;
    char what[80], where[200];
};

#endif
