/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the sandbox. */
#ifndef JVIEWD_BASE_SANDBOX_SANDBOX_PARTS_H
#define JVIEWD_BASE_SANDBOX_SANDBOX_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* A sanitizer's runtime looks for leaks by a process that traces this one, and names what it found
 * by files of /proc and /usr: builds that have one keep their system calls, and are given these. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANDBOX_SANITIZED true
#else
#define SANDBOX_SANITIZED false
#endif

enum { PLACE_READ = 1, PLACE_WRITE = 2, PLACE_RUN = 4 };

struct place {
    const char *path;
    unsigned rights;
    bool is_optional; /* it may be missing */
};

/* sandbox_files.c. *ret: whether the kernel has it. */
MUST_CHECK enum status sandbox_files(const struct place *places, size_t count, bool *ret,
                                     struct error *err);

enum calls { CALLS_DECODER, CALLS_UNPACKER, CALLS_QUERY, CALLS_FINALIZER };

/* sandbox_calls.c */
MUST_CHECK enum status sandbox_calls(enum calls calls, bool *ret, struct error *err);

#endif
