/* SPDX-License-Identifier: Apache-2.0 */
/* What a process may still do that reads other people's bytes: nothing but that.
 *
 *   files       Landlock: what it was given, with the rights given; no TCP, no signals to others
 *   calls       seccomp: system calls of a list; any other one ends the process by SIGSYS
 *   namespaces  users and a network of its own, which has no way out
 *
 * What is open already stays open. Each is entered for the rest of a process's life, while it has
 * one thread. What the kernel lacks, or whoever started us forbids, is left out and the others
 * hold: `jviewd doctor` says which. A fault of ours is a failure.
 */
#ifndef JVIEWD_BASE_SANDBOX_SANDBOX_H
#define JVIEWD_BASE_SANDBOX_SANDBOX_H

#include <stddef.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/error.h"

/* Whoever decodes a file that is open: writes, and reads what it has written, in `directory`. It
 * has threads, and starts no process. */
MUST_CHECK enum status sandbox_decoder(const char *directory, struct error *err);

/* Whoever unpacks an archive that is mapped: makes directories in `directory` as well. */
MUST_CHECK enum status sandbox_unpacker(const char *directory, struct error *err);

/* Whoever runs queries of SQL, before it was told anything; then it may open files below these
 * directories, and write none. */
MUST_CHECK enum status sandbox_query(struct error *err);
MUST_CHECK enum status sandbox_query_files(const char *const *directories, size_t count,
                                           struct error *err);

/* Whoever starts `program` on files below `reads`, to write below `writes`: that program may run,
 * its decoders are confined once more. What is not on the list is refused, and ends nobody. */
struct sandbox_finalizer {
    const char *program;
    const char *const *reads; /* those that are not there are left out */
    size_t read_count;
    const char *writes;
};
MUST_CHECK enum status sandbox_finalizer(const struct sandbox_finalizer *finalizer,
                                         struct error *err);

enum { SANDBOX_FILES = 1, SANDBOX_CALLS = 2, SANDBOX_NAMESPACES = 4 };
/* Which of them hold here, by a process that enters a decoder's. */
unsigned sandbox_parts(void);

const char *sandbox_library(void); /* "2.5.4" */
/* Which system call ended a process by SIGSYS, of what it said last: "socket"; "" it did not say.*/
struct str sandbox_told(struct str words, struct arena *arena);

#endif
