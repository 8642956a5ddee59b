/* SPDX-License-Identifier: Apache-2.0 */
/* Calls handlers and streams inside of a guard. A handler reads maps with no lock and no turn of
 * others held: what it left when a page was lost is its own, in the request's arena or lost with
 * the page. */
#include "serve/answer/handle.h"

#include "base/lost.h"

struct handling {
    struct request *req;
    struct reply *reply;
    struct error *err;
    enum status status;
};

static void handle(void *data)
{
    struct handling *handling = data;

    handling->status =
        request_route(handling->req)->handle(handling->req, handling->reply, handling->err);
}

static enum status lost(struct error *err)
{
    *err = (struct error){0};
    return fail(err, ERR_IO, "part of the index disappeared while it was read");
}

enum status reply_handle(struct request *req, struct reply *reply, struct error *err)
{
    struct handling handling = {.req = req, .reply = reply, .err = err};

    return lost_guard(handle, &handling) ? handling.status : lost(err);
}

struct streaming {
    const struct reply *reply;
    enum status (*put)(void *to, struct bytes, struct error *);
    void *to;
    struct error *err;
    enum status status;
};

static void stream(void *data)
{
    struct streaming *streaming = data;
    const struct reply *reply = streaming->reply;

    streaming->status =
        reply->stream(reply->stream_data, streaming->put, streaming->to, streaming->err);
}

enum status reply_stream(const struct reply *reply,
                         enum status (*put)(void *to, struct bytes, struct error *), void *to,
                         struct error *err)
{
    struct streaming streaming = {.reply = reply, .put = put, .to = to, .err = err};

    return lost_guard(stream, &streaming) ? streaming.status : lost(err);
}
