/* SPDX-License-Identifier: Apache-2.0 */
/* A client of one unary gRPC call by nghttp2. Facts: gRPC over HTTP/2, and RFC 9113. */
#include "capture/grpc.h"

#include <ctype.h>
#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/connect.h"

enum {
    PREFIX_BYTES = 5, /* of a message: compressed or not, length */
    WINDOW_MAX = INT32_MAX,
    PIECE_BYTES = 32 << 10,
    LOOK_MS = 200,
    NO_STATUS = -1,
    NUMBER_DIGITS_MAX = 6,
    /* codes of gRPC that mean something here */
    GRPC_ALREADY_EXISTS = 6,
    GRPC_UNIMPLEMENTED = 12,
    GRPC_UNAVAILABLE = 14,
};

const char *grpc_library(void)
{
    return nghttp2_version(0)->version_str;
}

struct talk { /* one call under way */
    const struct grpc_call *call;
    struct error *err;
    nghttp2_session *session;
    int fd;
    size_t sent; /* of prefix and message */
    uint8_t prefix[PREFIX_BYTES];
    size_t prefix_count; /* of the reply's, so far */
    uint64_t left;       /* of the reply's message */
    int http_status, grpc_status;
    char grpc_message[256];
    bool ended;
    int64_t heard_ns; /* when the last bytes of the reply came */
};

/* The body: our prefix, then the message. */
static ssize_t read_body(nghttp2_session *session, int32_t stream, uint8_t *at, size_t size,
                         uint32_t *flags, nghttp2_data_source *source, void *data)
{
    struct talk *talk = data;
    const struct bytes message = talk->call->message;
    const uint8_t prefix[PREFIX_BYTES] = {0, (uint8_t)(message.count >> 24),
                                          (uint8_t)(message.count >> 16),
                                          (uint8_t)(message.count >> 8), (uint8_t)message.count};
    size_t count = 0;

    (void)session, (void)stream, (void)source;
    for (; count < size && talk->sent < PREFIX_BYTES + message.count; talk->sent++)
        at[count++] =
            talk->sent < PREFIX_BYTES ? prefix[talk->sent] : message.at[talk->sent - PREFIX_BYTES];
    if (talk->sent == PREFIX_BYTES + message.count)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)count;
}

/* NO_STATUS for what is no number. */
static int number_of(const uint8_t *at, size_t count)
{
    int number = 0;

    for (size_t i = 0; i < count; i++) {
        if (!isdigit(at[i]) || i == NUMBER_DIGITS_MAX)
            return NO_STATUS;
        number = number * 10 + at[i] - '0';
    }
    return count > 0 ? number : NO_STATUS;
}

/* A message of gRPC: what is neither visible nor a space stands as %XX. Here a sign of control is a
 * blank: the message goes to terminals. */
static void decode_message(const uint8_t *at, size_t count, char ret[256])
{
    static const char digits[] = "0123456789abcdef";
    size_t made = 0;

    for (size_t i = 0; i < count && made + 1 < 256; i++) {
        const char *high = i + 2 < count ? strchr(digits, tolower(at[i + 1])) : NULL;
        const char *low = i + 2 < count ? strchr(digits, tolower(at[i + 2])) : NULL;

        uint8_t byte = at[i];
        if (byte == '%' && high != NULL && low != NULL && *high != '\0' && *low != '\0') {
            byte = (uint8_t)((high - digits) << 4 | (low - digits));
            i += 2;
        }
        ret[made++] = byte < ' ' || byte == 0x7f ? ' ' : (char)byte;
    }
    ret[made] = '\0';
}

static bool is_named(const uint8_t *at, size_t count, const char *name)
{
    return count == strlen(name) && memcmp(at, name, count) == 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_count, const uint8_t *value, size_t value_count, uint8_t flags,
                     void *data)
{
    struct talk *talk = data;

    (void)session, (void)frame, (void)flags;
    if (is_named(name, name_count, ":status"))
        talk->http_status = number_of(value, value_count);
    else if (is_named(name, name_count, "grpc-status"))
        talk->grpc_status = number_of(value, value_count);
    else if (is_named(name, name_count, "grpc-message"))
        decode_message(value, value_count, talk->grpc_message);
    return 0;
}

/* The reply's first bytes say how long it is; the rest is handed on. */
static enum status take_body(struct talk *talk, struct bytes piece)
{
    while (piece.count > 0 && talk->prefix_count < PREFIX_BYTES) {
        talk->prefix[talk->prefix_count++] = *piece.at++;
        piece.count--;
        if (talk->prefix_count < PREFIX_BYTES)
            continue;
        if (talk->prefix[0] != 0)
            return fail(talk->err, ERR_UNSUPPORTED,
                        "the reply is compressed, although that was not requested");
        for (int i = 1; i < PREFIX_BYTES; i++)
            talk->left = talk->left << 8 | talk->prefix[i];
    }
    if (piece.count > talk->left)
        return fail(talk->err, ERR_FORMAT, "the reply is longer than it said");
    talk->left -= piece.count;
    talk->heard_ns = clock_monotonic_ns();
    return piece.count > 0 ? talk->call->take(talk->call->data, piece, talk->err) : OK;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *at,
                   size_t count, void *data)
{
    struct talk *talk = data;

    (void)session, (void)flags, (void)stream;
    if (talk->http_status != 200) {
        talk->ended = true; /* a page of somebody else's */
        return 0;
    }
    return take_body(talk, (struct bytes){at, count}) == OK ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t code, void *data)
{
    struct talk *talk = data;

    (void)session, (void)stream, (void)code;
    talk->ended = true;
    return 0;
}

static enum status say_broken(const struct talk *talk, const char *what)
{
    return fail(talk->err, ERR_IO, "the connection to %s:%s %s", talk->call->host, talk->call->port,
                what);
}

static enum status open_session(struct talk *talk)
{
    nghttp2_session_callbacks *callbacks;
    const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW_MAX},
                                               {NGHTTP2_SETTINGS_ENABLE_PUSH, 0}};

    if (nghttp2_session_callbacks_new(&callbacks) != 0)
        return fail(talk->err, ERR_LIMIT, "no memory for a connection");
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    int code = nghttp2_session_client_new(&talk->session, callbacks, talk);
    nghttp2_session_callbacks_del(callbacks);
    if (code != 0 || nghttp2_submit_settings(talk->session, NGHTTP2_FLAG_NONE, settings, 2) != 0 ||
        nghttp2_session_set_local_window_size(talk->session, NGHTTP2_FLAG_NONE, 0, WINDOW_MAX) != 0)
        return fail(talk->err, ERR_LIMIT, "no memory for a connection");
    return OK;
}

static nghttp2_nv header_of(const char *name, const char *value)
{
    return (nghttp2_nv){.name = (uint8_t *)(uintptr_t)name,
                        .value = (uint8_t *)(uintptr_t)value,
                        .namelen = strlen(name),
                        .valuelen = strlen(value)};
}

static enum status submit(struct talk *talk)
{
    char authority[300];
    nghttp2_data_provider body = {.read_callback = read_body};

    snprintf(authority, sizeof authority, "%s:%s", talk->call->host, talk->call->port);
    const nghttp2_nv headers[] = {
        header_of(":method", "POST"),
        header_of(":scheme", "http"),
        header_of(":path", talk->call->path),
        header_of(":authority", authority),
        header_of("te", "trailers"),
        header_of("content-type", "application/grpc"),
        header_of("user-agent", "jviewd/" JVIEWD_VERSION),
    };
    size_t count = sizeof headers / sizeof *headers;
    return nghttp2_submit_request(talk->session, NULL, headers, count, &body, NULL) >= 0
               ? OK
               : fail(talk->err, ERR_LIMIT, "no memory for a request");
}

static enum status send_pending(struct talk *talk)
{
    const uint8_t *at;
    ssize_t count;

    while ((count = nghttp2_session_mem_send(talk->session, &at)) > 0) {
        for (ssize_t sent = 0; sent < count;) {
            ssize_t now = send(talk->fd, at + sent, (size_t)(count - sent), MSG_NOSIGNAL);
            struct pollfd room = {.fd = talk->fd, .events = POLLOUT};

            if (now >= 0)
                sent += now;
            else if (errno == EAGAIN && !talk->call->go_on(talk->call->data))
                return fail(talk->err, ERR_CANCELLED, "it was told to end");
            else if (errno == EAGAIN)
                poll(&room, 1, LOOK_MS);
            else if (errno != EINTR)
                return say_broken(talk, strerror(errno));
        }
    }
    return count == 0 ? OK : say_broken(talk, nghttp2_strerror((int)count));
}

static enum status receive(struct talk *talk)
{
    uint8_t bytes[PIECE_BYTES];
    ssize_t count = recv(talk->fd, bytes, sizeof bytes, 0);

    if (count < 0)
        return errno == EAGAIN || errno == EINTR ? OK : say_broken(talk, strerror(errno));
    if (count == 0)
        return say_broken(talk, talk->http_status == 0
                                    ? "was closed before any reply: is it a profiler server?"
                                    : "was closed by the server");
    ssize_t used = nghttp2_session_mem_recv(talk->session, bytes, (size_t)count);
    if (used < 0 && talk->err->code == OK)
        return fail(talk->err, ERR_UNSUPPORTED, "the server at %s:%s does not speak gRPC: %s",
                    talk->call->host, talk->call->port, nghttp2_strerror((int)used));
    return talk->err->code;
}

static enum status converse(struct talk *talk)
{
    while (!talk->ended) {
        TRY(send_pending(talk));
        struct pollfd wait = {.fd = talk->fd, .events = POLLIN};
        int ready = poll(&wait, 1, LOOK_MS);

        if (!talk->call->go_on(talk->call->data))
            return fail(talk->err, ERR_CANCELLED, "it was told to end");
        if (ready > 0)
            TRY(receive(talk));
        if (clock_monotonic_ns() - talk->heard_ns > talk->call->quiet_ms * 1000000)
            return say_broken(talk, "is silent");
    }
    return OK;
}

/* What the trailers say. */
static enum status judge(const struct talk *talk)
{
    const char *message = talk->grpc_message[0] != '\0' ? talk->grpc_message : "no reason given";

    if (talk->http_status != 200 || talk->grpc_status == NO_STATUS)
        return fail(talk->err, ERR_UNSUPPORTED, "the server at %s:%s does not speak gRPC",
                    talk->call->host, talk->call->port);
    if (talk->grpc_status == GRPC_UNIMPLEMENTED)
        return fail(talk->err, ERR_UNSUPPORTED, "the server at %s:%s has no %s", talk->call->host,
                    talk->call->port, talk->call->path);
    /* XLA answers this as an internal error. */
    if (talk->grpc_status == GRPC_ALREADY_EXISTS || strstr(message, "session active") != NULL)
        return fail(talk->err, ERR_CONFLICT, "another recording is in progress there (%s)",
                    message);
    if (talk->grpc_status == GRPC_UNAVAILABLE)
        return fail(talk->err, ERR_CONFLICT, "it is not available now (%s)", message);
    if (talk->grpc_status != 0)
        return fail(talk->err, ERR_IO, "the other side failed: %s (gRPC status %d)", message,
                    talk->grpc_status);
    if (talk->left > 0 || talk->prefix_count < PREFIX_BYTES)
        return say_broken(talk, "ended before the reply did");
    return OK;
}

enum status grpc_unary(const struct grpc_call *call, struct error *err)
{
    struct error own = {0};
    struct talk talk = {.call = call,
                        .err = &own,
                        .fd = -1,
                        .grpc_status = NO_STATUS,
                        .heard_ns = clock_monotonic_ns()};

    const struct connect_wish wish = {.host = call->host,
                                      .port = call->port,
                                      .public_only = call->public_only,
                                      .go_on = call->go_on,
                                      .data = call->data};
    enum status status = connect_to(&wish, &talk.fd, &own);
    if (status == OK)
        status = open_session(&talk);
    if (status == OK)
        status = submit(&talk);
    if (status == OK)
        status = converse(&talk);
    if (status == OK)
        status = judge(&talk);
    nghttp2_session_del(talk.session);
    if (talk.fd >= 0)
        close(talk.fd);
    return status == OK ? OK : fail(err, status, "%s", own.message);
}
