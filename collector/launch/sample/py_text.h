/* SPDX-License-Identifier: Apache-2.0 */
/* A str of another process's Python, as UTF-8. */
#ifndef JVIEWD_LAUNCH_PY_TEXT_H
#define JVIEWD_LAUNCH_PY_TEXT_H

#include "launch/sample/py_layout.h"
#include "launch/sample/sample_remote.h"

enum { PY_TEXT_MAX = 512, PY_TEXT_BYTES = 4 * PY_TEXT_MAX };

/* How many bytes it took; 0 where there is no text. Of a long one the end: of a path it tells
 * most. */
size_t py_text(struct remote *remote, const struct py_layout *layout, uint64_t address,
               char ret[PY_TEXT_BYTES]);

#endif
