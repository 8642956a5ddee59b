/* SPDX-License-Identifier: Apache-2.0 */
/* Large arrays for one piece of work, which the system may write to disk.
 *
 *   < 1 MiB    on the heap
 *   >= 1 MiB   [ header | elements ... ]   a shared mapping of an unlinked temporary file of its
 *                                          own, moved and lengthened where it grows
 *
 * What grows with a file's events would otherwise be private memory, which the system cannot take
 * back while the work lasts; pages of a file it can. The owner frees all arrays at once; one may
 * leave early.
 *
 * A file's blocks are allotted before they are mapped, so that a full disk is no SIGBUS. Where the
 * system refuses a file or room in it, this array and all that grow after it stand in memory: the
 * work is as right there as in a file, and a process bounds its private memory by a limit. The
 * owner may tell why: `scratch_refusal`. As with an arena, a process out of memory ends.
 *
 * The file of an array that left is kept for the next one that fits. Threads may share a scratch,
 * each with its own arrays.
 */
#ifndef JVIEWD_BASE_SCRATCH_H
#define JVIEWD_BASE_SCRATCH_H

#include <stddef.h>

enum { SCRATCH_FILE_BYTES_MIN = 1 << 20 };

struct scratch;

/* Files are made in `dir`, which is borrowed; NULL means $TMPDIR or /tmp. */
struct scratch *scratch_create(const char *dir);
void scratch_destroy(struct scratch *scratch); /* takes NULL */

/* The array with room for `count` elements, perhaps elsewhere; NULL makes a new one. What is new in
 * it is zeroed. It never becomes smaller; count * size is checked. */
void *scratch_resize(struct scratch *scratch, void *array, size_t count, size_t size);
#define scratch_array(scratch, type, count)                                                        \
    ((type *)scratch_resize(scratch, NULL, count, sizeof(type)))
void scratch_free(struct scratch *scratch, void *array); /* takes NULL */

size_t scratch_file_bytes(const struct scratch *scratch); /* that stand in files now */
/* The errno of what made arrays stand in memory that should stand in files; else 0. */
int scratch_refusal(const struct scratch *scratch);

#endif
