/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of TensorFlow's ProfilerService, written and read in pieces. Facts:
 * tsl/profiler/protobuf/profiler_service.proto. */
#include "capture/profile_service.h"

#include <inttypes.h>

#include "base/file.h"
#include "base/protobuf_out.h"
#include "capture/grpc.h"

enum {
    REQUEST_DURATION_MS = 1,
    REQUEST_OPTIONS = 4,
    REQUEST_EMIT_XSPACE = 9,
    OPTIONS_DATASET_OPS = 1,
    OPTIONS_HOST_LEVEL = 2,
    OPTIONS_DEVICE_LEVEL = 3,
    OPTIONS_PYTHON_LEVEL = 4,
    OPTIONS_VERSION = 5,
    OPTIONS_HLO_PROTO = 7,
    OPTIONS_DURATION_MS = 9,
    RESPONSE_EMPTY_TRACE = 7,
    RESPONSE_XSPACE = 8,
    WIRE_VARINT = 0,
    WIRE_BYTES = 2,
    VARINT_BITS_MAX = 63,
    /* After the recording a server collects from its devices, which takes minutes on large ones. */
    QUIET_MS = 15 * 60 * 1000,
};

static void put_request(struct text *text, const struct profile_wish *wish)
{
    struct text options = {0};

    pb_put_number(&options, OPTIONS_VERSION, 1);
    pb_put_number(&options, OPTIONS_DATASET_OPS, 0);
    pb_put_number(&options, OPTIONS_HOST_LEVEL, (uint64_t)wish->host_level);
    pb_put_number(&options, OPTIONS_DEVICE_LEVEL, (uint64_t)wish->device_level);
    pb_put_number(&options, OPTIONS_PYTHON_LEVEL, (uint64_t)wish->python_level);
    pb_put_number(&options, OPTIONS_HLO_PROTO, 1);
    pb_put_number(&options, OPTIONS_DURATION_MS, (uint64_t)wish->duration_ms);
    pb_put_number(text, REQUEST_DURATION_MS, (uint64_t)wish->duration_ms);
    pb_put_message(text, REQUEST_OPTIONS, &options);
    pb_put_number(text, REQUEST_EMIT_XSPACE, 1);
    text_free(&options);
}

/* A varint that may be spread over pieces; true once *number is whole. */
static bool varint_take(struct profile_reply *reply, struct bytes *piece, uint64_t *number,
                        struct error *err)
{
    while (piece->count > 0) {
        uint8_t byte = *piece->at++;

        piece->count--;
        if (reply->shift > VARINT_BITS_MAX) {
            (void)fail(err, ERR_FORMAT, "the reply holds a number of more than 64 bits");
            return false;
        }
        *number |= (uint64_t)(byte & 0x7f) << reply->shift;
        reply->shift += 7;
        if (byte < 0x80) {
            reply->shift = 0;
            return true;
        }
    }
    return false;
}

static enum status bytes_take(struct profile_reply *reply, struct bytes *piece, struct error *err)
{
    size_t count = piece->count < reply->length ? piece->count : (size_t)reply->length;

    if (reply->tag >> 3 == RESPONSE_XSPACE) {
        TRY(file_write_all(reply->sink->fd, piece->at, count, reply->written, err));
        reply->written += count;
        reply->sink->came(reply->sink->data, reply->written);
    }
    piece->at += count;
    piece->count -= count;
    reply->length -= count;
    if (reply->length == 0)
        reply->reading = READING_TAG;
    return OK;
}

/* The field's number is known: what stands behind it? */
static enum status begin_field(struct profile_reply *reply, struct error *err)
{
    unsigned wire = reply->tag & 7;

    reply->length = 0;
    if (wire != WIRE_VARINT && wire != WIRE_BYTES)
        return fail(err, ERR_FORMAT,
                    "the reply is not a ProfileResponse: field %" PRIu64 ", wire %u",
                    reply->tag >> 3, wire);
    reply->reading = wire == WIRE_VARINT ? READING_NUMBER : READING_LENGTH;
    return OK;
}

enum status profile_reply_take(void *data, struct bytes piece, struct error *err)
{
    struct profile_reply *reply = data;

    while (piece.count > 0) {
        if (reply->reading == READING_BYTES) {
            TRY(bytes_take(reply, &piece, err));
            continue;
        }
        if (reply->reading == READING_TAG && reply->shift == 0)
            reply->tag = 0;
        uint64_t *number = reply->reading == READING_TAG ? &reply->tag : &reply->length;
        if (!varint_take(reply, &piece, number, err)) {
            if (err->code != OK)
                return err->code;
            continue;
        }
        if (reply->reading == READING_TAG) {
            TRY(begin_field(reply, err));
        } else if (reply->reading == READING_LENGTH) {
            reply->reading = reply->length > 0 ? READING_BYTES : READING_TAG;
        } else {
            reply->empty_trace |= reply->tag >> 3 == RESPONSE_EMPTY_TRACE && reply->length != 0;
            reply->reading = READING_TAG;
        }
    }
    return OK;
}

static bool go_on(void *data)
{
    const struct profile_reply *reply = data;

    return reply->sink->go_on(reply->sink->data);
}

enum status profile_record(const struct profile_wish *wish, const struct profile_sink *sink,
                           struct error *err)
{
    struct text request = {0};
    struct profile_reply reply = {.sink = sink};

    put_request(&request, wish);
    const struct grpc_call call = {
        .host = wish->host,
        .port = wish->port,
        .public_only = wish->public_only,
        .path = "/tensorflow.ProfilerService/Profile",
        .message = {(const uint8_t *)request.at, request.count},
        .quiet_ms = wish->duration_ms + QUIET_MS,
        .data = &reply,
        .take = profile_reply_take,
        .go_on = go_on,
    };
    enum status status = grpc_unary(&call, err);
    text_free(&request);
    if (status != OK)
        return status;
    if (reply.reading != READING_TAG || reply.shift != 0)
        return fail(err, ERR_TRUNCATED, "the reply ends inside a field");
    if (reply.written == 0)
        return fail(err, ERR_NOT_FOUND,
                    reply.empty_trace
                        ? "the recording is empty: nothing ran during it"
                        : "the profiler server is too old: it does not return recordings");
    return OK;
}
