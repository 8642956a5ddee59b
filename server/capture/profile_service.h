/* SPDX-License-Identifier: Apache-2.0 */
/* The profiler server of a JAX or TensorFlow program: one recording, received as an XSpace.
 *
 *   ProfileRequest    1 duration_ms  4 options  9 emit_xspace
 *   ProfileOptions    1 include_dataset_ops  2 host, 3 device, 4 python tracer level
 *                     5 version (1)  7 enable_hlo_proto  9 duration_ms
 *   ProfileResponse   7 empty_trace  8 XSpace
 *
 * The server waits for the options' duration, not for the request's; both are set. The XSpace is
 * written to a descriptor as it comes. Source: tsl/profiler/protobuf/profiler_service.proto and
 * profiler_options.proto of openxla/xla, and what JAX 0.10's server answers.
 */
#ifndef JVIEWD_CAPTURE_PROFILE_SERVICE_H
#define JVIEWD_CAPTURE_PROFILE_SERVICE_H

#include "base/bytes.h"
#include "base/error.h"

struct profile_wish {
    const char *host, *port;
    bool public_only; /* as in capture/connect.h */
    int64_t duration_ms;
    int host_level, device_level, python_level; /* of tracing; 0 none */
};

struct profile_sink {
    int fd; /* where the XSpace goes */
    void *data;
    void (*came)(void *data, uint64_t bytes); /* of the XSpace, so far */
    bool (*go_on)(void *data);
};

/* ERR_NOT_FOUND also where the trace was empty; then and on success nothing is left to be had. */
MUST_CHECK enum status profile_record(const struct profile_wish *wish,
                                      const struct profile_sink *sink, struct error *err);

/* The reply's reading, piece by piece as they come; its own for tests. */
struct profile_reply {
    const struct profile_sink *sink;
    uint64_t tag, length; /* of the field at hand */
    unsigned shift;       /* bits of the varint that is being read */
    enum { READING_TAG, READING_NUMBER, READING_LENGTH, READING_BYTES } reading;
    uint64_t written;
    bool empty_trace;
};
MUST_CHECK enum status profile_reply_take(void *reply, struct bytes piece, struct error *err);

#endif
