/* SPDX-License-Identifier: Apache-2.0 */
/* Which spans of a host the program marked itself, and which its runtime did.
 *
 *   nsys     every NVTX range: what lies on a track named NVTX
 *   Kineto   cat "user_annotation"; else nothing
 *   others   by name and thread: XLA, JAX, TSL and TensorFlow have names of their own for what they
 *            do, in C++ with "::", with a mark in front, or one of a list; their pools have threads
 *            of their own; a span inside of a compilation is the compiler's. What is left is the
 *            program's.
 *
 * The last rule errs where a runtime has a new name: such a span is shown as the program's until
 * the list knows it. ANNOTATION_NAMES_VERSION tells which list answered.
 */
#ifndef JVIEWD_ANALYSE_DEVICE_ANNOTATION_NAMES_H
#define JVIEWD_ANALYSE_DEVICE_ANNOTATION_NAMES_H

#include "trace/trace.h"

enum { ANNOTATION_NAMES_VERSION = 2 };

/* A driver's or runtime library's call: cudaLaunchKernel, cuMemcpyAsync, hipModuleLaunchKernel. */
bool is_api_name(struct str name);
bool is_annotation_name(struct str name);
/* A thread that only a runtime runs on. */
bool is_runtime_thread(struct str name);

#endif
