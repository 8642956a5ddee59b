/* SPDX-License-Identifier: Apache-2.0 */
/* Where CPython keeps what a sampler needs, version by version.
 *
 *   _PyRuntime -> interpreter -> thread -> frame -> code: name, file, first line, line table
 *                    | next        | next    | previous
 *
 * From 3.13 on the runtime begins with this table itself (_Py_DebugOffsets). Those of 3.10 to 3.12
 * were taken from these versions' own headers, by offsetof; they did not change within a minor
 * version. Nothing that is found by them is believed: a code object must have the type of code.
 */
#ifndef JVIEWD_LAUNCH_PY_LAYOUT_H
#define JVIEWD_LAUNCH_PY_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

#define PY_ABSENT UINT32_MAX
enum { PY_DEBUG_BYTES = 1024, PY_FRAME_MAX = 256, PY_CODE_MAX = 512 };

struct py_layout {
    uint32_t version; /* 0x030c: 3.12 */
    uint32_t runtime_interpreters;
    uint32_t interpreter_next, interpreter_threads;
    uint32_t thread_next, thread_interpreter, thread_id; /* thread_id: pthread_self() */
    uint32_t thread_native_id;                           /* gettid(); absent in 3.10 */
    uint32_t thread_frame, cframe_frame; /* the latter: of what thread_frame points to, or absent */
    uint32_t frame_previous, frame_code, frame_at; /* frame_at: the instruction */
    uint32_t frame_owner;                          /* absent in 3.10 */
    uint32_t owner_no_code; /* owners from here on stand for calls out of C */
    uint32_t code_file, code_name, code_first_line, code_lines, code_bytes;
    uint32_t object_type;
    uint32_t bytes_size, bytes_at;
    uint32_t text_state, text_length;
    uint32_t text_ascii, text_other; /* where the characters are: all ASCII, or not */
};

/* By the number that Py_Version holds, 0x030c01f0; NULL: none of ours. */
const struct py_layout *py_layout_of(uint32_t hex_version);
/* From the first bytes of the runtime; false where they are no table, or of an unknown version. */
bool py_layout_read(struct bytes runtime, struct py_layout *ret);

#endif
