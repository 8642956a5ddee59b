/* SPDX-License-Identifier: Apache-2.0 */
/* What a host's thread is doing, told by kind and name of its innermost slices.
 *
 * A name says what it is called; a table of names, as trace/kind.c for kinds, says what that means
 * for a device that has nothing to do. "load_data" and what sleeps inside it is input; a thread
 * that sleeps or waits inside nothing that has a meaning of its own is waiting.
 */
#ifndef JVIEWD_ANALYSE_DEVICE_HOST_DOING_H
#define JVIEWD_ANALYSE_DEVICE_HOST_DOING_H

#include "trace/trace.h"

enum { HOST_DOING_VERSION = 3 }; /* of the table of names */

enum host_doing { /* what comes first in this order has a meaning for what is inside of it */
                  DOING_COMPUTE,       /* computes, on a host that has no devices */
                  DOING_COMMUNICATION, /* communicates, likewise */
                  DOING_INPUT,         /* loads data */
                  DOING_COMPILE,       /* compiles */
                  DOING_TRANSFER,      /* hands memory to a device, or takes it */
                  DOING_DISPATCH,      /* launches programs and kernels */
                  DOING_PYTHON,        /* runs Python */
                  DOING_OTHER,         /* anything else that is recorded */
                  DOING_WAIT,          /* sleeps, or waits for a device or a lock */
                  DOING_NOTHING,       /* nothing was recorded */
                  DOING_COUNT,
};

/* The order of telling where slices lie inside each other: what a kind says holds for the nameless
 * work inside it. */
enum host_doing doing_inside(enum host_doing outer, enum host_doing inner);
enum host_doing doing_of(enum kind kind, struct str name);
bool is_python_call(struct str name);          /* a frame of Python, as JAX or PyTorch names it */
enum kind doing_kind(enum host_doing doing);   /* which share of a step it is */
const char *doing_word(enum host_doing doing); /* "input", ... "nothing recorded" */

#endif
