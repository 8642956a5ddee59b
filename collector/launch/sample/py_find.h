/* SPDX-License-Identifier: Apache-2.0 */
/* The Python in a process: linked into its program, or a libpython. */
#ifndef JVIEWD_LAUNCH_PY_FIND_H
#define JVIEWD_LAUNCH_PY_FIND_H

#include <sys/types.h>

#include "launch/sample/py_layout.h"
#include "launch/sample/sample_remote.h"

enum py_found {
    PY_NONE,       /* no Python there, or not yet */
    PY_FOUND,      /* it is known */
    PY_UNREADABLE, /* it is there; its memory is not to be read: remote->failure */
    PY_UNKNOWN, /* of a version that is not known: ret->layout.version, 0 where it does not say */
};

struct python {
    struct py_layout layout;
    uint64_t runtime, code_type; /* addresses */
};

enum py_found py_find(pid_t process, struct remote *remote, struct python *ret);

#endif
