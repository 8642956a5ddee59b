/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps an indexing process from harming others: limits, and a last word when the file it has
 * mapped shrinks under it. */
#ifndef JVIEWD_INDEX_INDEX_GUARD_H
#define JVIEWD_INDEX_INDEX_GUARD_H

#include "base/bytes.h"
#include "base/error.h"

/* Limits of memory, descriptors and output for a file of this size, of time for the bytes of it
 * that are there and no hole; no core dumps. With `of_server` the process also ends with its
 * parent. */
MUST_CHECK enum status guard_process(uint64_t file_bytes, uint64_t data_bytes, bool of_server,
                                     struct error *err);
/* From here on the process reads a stranger's bytes: it is in a sandbox, and writes below
 * `directory` alone. */
MUST_CHECK enum status guard_confine(const char *directory, struct error *err);
/* Once a file, before any is read. SIGBUS inside its pages means that it was cut: says so and exits
 * with EXIT_IO. */
void guard_map(struct bytes file);

#endif
