/* SPDX-License-Identifier: Apache-2.0 */
/* From an instruction of a code object to its line: co_linetable.
 *
 *   3.10    pairs: bytes of code, difference of lines (-128: no line)
 *   3.11    entries: 1 kind:4 (units of code - 1):3, then what the kind has, bytes without the top
 *           bit; kind 15: no line; 13, 14: a difference as a signed varint of 6 bits a byte; 10 to
 *           12: a difference of kind - 10; all others: the same line
 *
 * The forms are those of CPython's Objects/lnotab_notes.txt and Objects/locations.md.
 */
#ifndef JVIEWD_LAUNCH_PY_LINES_H
#define JVIEWD_LAUNCH_PY_LINES_H

#include "base/bytes.h"

/* The line of the instruction at that byte of the code; 0: it has none. */
uint32_t py_line(uint32_t version, struct bytes table, int64_t first_line, uint64_t at);

#endif
