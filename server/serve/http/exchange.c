/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one request through gate, auth and routes, and sends its reply, whole or as a stream. */
#include "serve/http/exchange.h"
#include "serve/access/auth.h"
#include "serve/kept/reply_cache.h"

#include "base/log.h"
#include "serve/answer/handle.h"
#include "serve/answer/route_table.h"
#include "serve/dispatch/dispatch.h"
#include "serve/http/http_head.h"
#include "serve/http/outflow.h"

enum {
    ONE_WRITE_BYTES_MAX = 65536, /* head and body together up to here */
    PLACE_SIZE = 4096,
};

static bool send_bytes(struct exchange *exchange, const void *at, size_t count)
{
    const struct connection *to = &exchange->connection;

    if (count > 0 && to->write(to->data, at, count) != (int)count) {
        exchange->close = true;
        return false;
    }
    atomic_fetch_add(&exchange->server->bytes_sent, count);
    return true;
}

static void send_whole(struct exchange *exchange)
{
    struct reply *reply = &exchange->reply;
    struct bytes body = reply_bytes(reply);
    struct text out = {0};
    size_t length = exchange->head_only ? 0 : body.count;

    http_head(&out, reply,
              (struct head_options){.body_bytes = (int64_t)body.count,
                                    .close = exchange->close,
                                    .cors = exchange->verdict.cors});
    bool together = length > 0 && length <= ONE_WRITE_BYTES_MAX;
    if (together)
        text_put(&out, (const char *)body.at, length);
    if (send_bytes(exchange, out.at, out.count) && !together) {
        /* Writes count in int. */
        for (size_t done = 0; done < length;) {
            size_t piece = length - done < (1u << 30) ? length - done : 1u << 30;

            if (!send_bytes(exchange, body.at + done, piece))
                break;
            done += piece;
        }
    }
    text_free(&out);
}

/* One chunk, framed, in one write. */
static enum status write_piece(void *to, struct bytes piece, struct error *err)
{
    struct exchange *exchange = to;
    struct text out = {0};

    if (piece.count == 0)
        return OK;
    if (!exchange->version_10)
        text_putf(&out, "%zx\r\n", piece.count);
    text_put(&out, (const char *)piece.at, piece.count);
    if (!exchange->version_10)
        text_put(&out, "\r\n", 2);
    bool sent = send_bytes(exchange, out.at, out.count);
    text_free(&out);
    return sent ? OK : fail(err, ERR_CANCELLED, "the client disconnected");
}

/* A body that fails half way ends without its last chunk: no client takes it for whole. */
static void end_stream(struct exchange *exchange, enum status status, const char *message)
{
    const struct reply *reply = &exchange->reply;

    if (status != OK)
        exchange->close = true;
    else if (!exchange->version_10 && !send_bytes(exchange, "0\r\n\r\n", 5))
        status = ERR_CANCELLED;
    if (status == OK && reply->stream_sent != NULL)
        reply->stream_sent(reply->stream_data);
    if (status != OK && status != ERR_CANCELLED)
        log_warning("%.*s ended early: %s", STR_ARG(exchange->request.path), message);
}

static void run_stream(struct exchange *exchange)
{
    struct reply *reply = &exchange->reply;
    struct error err = {0};
    enum status status = reply_stream(reply, write_piece, exchange, &err);

    end_stream(exchange, status, err.message);
}

struct making { /* a stream on a pool thread */
    const struct reply *reply;
    struct outflow *outflow;
    struct error err;
};

static void make_stream(void *data)
{
    struct making *making = data;

    outflow_end(making->outflow,
                reply_stream(making->reply, outflow_put, making->outflow, &making->err));
}

/* Where what waits for a client may lie; NULL: nowhere. */
static const char *waiting_place(struct exchange *exchange)
{
    char *dir = arena_alloc(exchange->arena, PLACE_SIZE, 1);
    struct error ignored = {0};

    return exchange->services->cache != NULL &&
                   cache_temporary_dir(exchange->services->cache, dir, &ignored) == OK
               ? dir
               : NULL;
}

/* Made on a pool thread at its own speed, sent on this one at the client's. */
static void run_made_stream(struct exchange *exchange)
{
    static struct outflow_room room = {.bytes_max = OUTFLOW_ROOM_BYTES};
    struct making making = {.reply = &exchange->reply,
                            .outflow = outflow_create(waiting_place(exchange), &room)};
    struct error err = {0};

    if (!pool_submit(exchange->server->heavy, make_stream, &making))
        outflow_end(making.outflow, ERR_CANCELLED);
    enum status status = outflow_send(making.outflow, write_piece, exchange, &err);
    outflow_destroy(making.outflow);
    end_stream(exchange, status, making.err.code != OK ? making.err.message : err.message);
}

static void send_stream(struct exchange *exchange)
{
    struct reply *reply = &exchange->reply;
    struct text out = {0};

    exchange->close = exchange->close || exchange->version_10;
    http_head(&out, reply,
              (struct head_options){.body_bytes = exchange->version_10 ? -2 : -1,
                                    .close = exchange->close,
                                    .cors = exchange->verdict.cors});
    bool sent = send_bytes(exchange, out.at, out.count);
    text_free(&out);
    if (!sent || exchange->head_only)
        return;
    if (reply->stream_sleeps || reply->stream_copies)
        run_stream(exchange);
    else
        run_made_stream(exchange);
}

static void send_reply(struct exchange *exchange)
{
    struct server *server = exchange->server;
    struct reply *reply = &exchange->reply;
    bool sleeps = reply->stream != NULL && reply->stream_sleeps && !exchange->head_only;

    if (sleeps && atomic_fetch_add(&server->event_streams, 1) >= EVENT_STREAMS_MAX) {
        atomic_fetch_sub(&server->event_streams, 1);
        sleeps = false;
        reply_problem(reply, 503, "busy",
                      STR("32 event streams are open, the maximum; use /api/runs instead."));
        reply_header(reply, STR("Retry-After"), STR("10"));
    }
    atomic_fetch_add(&server->replies[reply->status / 100 % 6], 1);
    if (reply->status >= 500 && reply->status != 503)
        log_error("%.*s %.*s: %.*s", STR_ARG(exchange->request.method),
                  STR_ARG(exchange->request.path), (int)reply->body.count, reply->body.at);
    if (reply->stream != NULL)
        send_stream(exchange);
    else
        send_whole(exchange);
    if (sleeps)
        atomic_fetch_sub(&server->event_streams, 1);
}

static void refuse(struct exchange *exchange, int status, const char *type, struct str detail)
{
    atomic_fetch_add(&exchange->server->refused, 1);
    exchange->close = true;
    reply_problem(&exchange->reply, status, type, detail);
}

static void try_once(void *data)
{
    struct exchange *exchange = data;

    exchange->answered = serve_try(&exchange->request, &exchange->reply);
    if (exchange->answered)
        reply_encode(&exchange->request, &exchange->reply);
}

/* The client is told to begin when somebody begins to read. */
static int read_coming(void *data, void *at, size_t count)
{
    struct exchange *exchange = data;
    const struct connection *from = &exchange->connection;

    if (!exchange->began &&
        str_equal_fold(request_header(&exchange->request, STR("expect")), STR("100-continue")))
        send_bytes(exchange, "HTTP/1.1 100 Continue\r\n\r\n", 25);
    exchange->began = true;
    return from->read(from->data, at, count);
}

/* The route's handler reads the body; what it leaves over ends the connection. */
static void take_file(struct exchange *exchange)
{
    struct coming coming = {
        .data = exchange, .read = read_coming, .bytes = exchange->verdict.body_bytes};

    exchange->request.coming = &coming;
    try_once(exchange);
    exchange->request.coming = NULL;
    exchange->close |= exchange->reply.status >= 300;
}

/* Reads the whole body; false when it is too long, cut short, or the client is too slow. */
static bool read_body(struct exchange *exchange)
{
    const struct connection *from = &exchange->connection;
    int64_t announced = exchange->verdict.body_bytes;
    size_t capacity = announced < 0 ? GATE_BODY_BYTES_MAX + 1 : (size_t)announced;
    char *body = announced == 0 ? NULL : arena_alloc(exchange->arena, capacity + 1, 1);
    size_t count = 0;

    while (count < capacity && announced != 0) {
        int got = from->read(from->data, body + count, capacity - count);

        if (got <= 0)
            break;
        count += (size_t)got;
    }
    if (count > GATE_BODY_BYTES_MAX) {
        refuse(exchange, 413, "too-large", STR("A body may have at most 1 MiB."));
        return false;
    }
    if (announced > 0 && count != (size_t)announced) {
        refuse(exchange, 400, "bad-request", STR("The body is shorter than its Content-Length."));
        return false;
    }
    exchange->request.body = (struct bytes){.at = (const uint8_t *)body, .count = count};
    return true;
}

static bool may_ask(struct exchange *exchange, const struct route *route)
{
    struct auth *auth = atomic_load(&exchange->server->auth);
    struct request *req = &exchange->request;
    enum credential credential = auth_credential(auth, req->headers, req->header_count);
    int status = auth_decide(auth_mode(auth), route, credential);

    if (status == 0)
        return true;
    exchange->wrong_token = credential == CREDENTIAL_WRONG;
    refuse(exchange, status, status == 401 ? "unauthorized" : "csrf",
           status == 401
               ? STR("This server requires its access token. Open the link that it printed, or one "
                     "from `jviewd open`; programs send Authorization: Bearer TOKEN.")
               : STR("A POST or DELETE from a browser carries the header X-Jviewd-CSRF: 1."));
    if (status == 401)
        reply_header(&exchange->reply, STR("WWW-Authenticate"), STR("Bearer realm=\"jviewd\""));
    return false;
}

static void wait_once(void *data)
{
    serve_wait(&((struct exchange *)data)->request);
}

/* Each that waits keeps a thread, for as long as it asked for: beyond so many, the next is told at
 * once to ask again. */
static void wait_or_not(struct exchange *exchange)
{
    struct server *server = exchange->server;

    if (atomic_fetch_add(&server->waiting, 1) < WAITING_MAX)
        pool_run(server->waiters, wait_once, exchange);
    else
        serve_wait_not(&exchange->request);
    atomic_fetch_sub(&server->waiting, 1);
}

/* On the pool that the route belongs to, waiting elsewhere. */
static void compute(struct exchange *exchange, const struct route *route)
{
    struct server *server = exchange->server;
    struct pool *pool = route->apart   ? server->waiters
                        : route->heavy ? server->heavy
                                       : server->work;

    for (;;) { /* runs that it asks for are waited for */
        exchange->computed |= pool == server->heavy;
        pool_run(pool, try_once, exchange);
        if (exchange->answered)
            return;
        wait_or_not(exchange);
    }
}

/* What the path takes, beside a method that nothing takes. */
static void allow_methods(struct exchange *exchange)
{
    struct request *req = &exchange->request;
    struct str allow = STR("");

    route_find(req->services->routes, req->method, req->path, &allow, req->arena);
    reply_header(&exchange->reply, STR("Allow"),
                 allow.count > 0 ? allow : STR("GET, HEAD, POST, DELETE"));
}

static void answer(struct exchange *exchange)
{
    struct reply_cache *kept = exchange->server->replies_kept;
    struct request *req = &exchange->request;
    struct str allow;
    const struct route *route =
        route_find(req->services->routes, req->method, req->path, &allow, req->arena);
    const struct route unknown = {.method = "GET", .path = ""};

    if (!may_ask(exchange, route == NULL ? &unknown : route))
        return;
    if (route != NULL && route->takes_file) {
        take_file(exchange);
        return;
    }
    if (!read_body(exchange))
        return;
    if (route == NULL || route->light) {
        try_once(exchange);
        return;
    }
    bool keeps = kept != NULL && route_takes_run(route) && strcmp(route->method, "GET") == 0;
    uint64_t generation = catalog_generation(exchange->services->catalog);
    if (keeps && reply_cache_get(kept, req, generation, &exchange->reply))
        return;
    compute(exchange, route);
    if (keeps)
        reply_cache_put(kept, req, generation, &exchange->reply);
}

static void preflight(struct exchange *exchange)
{
    struct reply *reply = &exchange->reply;

    reply->status = 204;
    reply_header(reply, STR("Access-Control-Allow-Methods"), STR("GET"));
    reply_header(reply, STR("Access-Control-Allow-Private-Network"), STR("true"));
    reply_header(reply, STR("Access-Control-Max-Age"), STR("600"));
}

static void decide(struct exchange *exchange, const struct wire *wire)
{
    struct server *server = exchange->server;
    struct verdict *verdict = &exchange->verdict;

    exchange->head_only = str_equal(wire->method, STR("HEAD"));
    exchange->version_10 = str_equal(wire->version, STR("1.0"));
    exchange->close =
        exchange->version_10 ||
        str_equal_fold(header_get(wire->headers, wire->header_count, STR("connection")),
                       STR("close"));
    gate_check(exchange->gate, wire, exchange->arena, verdict);
    exchange->request = (struct request){.method = wire->method,
                                         .path = verdict->path,
                                         .query = verdict->query,
                                         .headers = wire->headers,
                                         .header_count = wire->header_count,
                                         .arena = exchange->arena,
                                         .services = exchange->services,
                                         .server = server};
    if (verdict->status != 0) {
        refuse(exchange, verdict->status, verdict->type, verdict->detail);
        if (verdict->status == 405)
            allow_methods(exchange);
    } else if (atomic_load(&server->stopping) || atomic_load(&server->auth) == NULL) {
        refuse(exchange, 503, "stopping", STR("The server is starting or stopping; try again."));
        reply_header(&exchange->reply, STR("Retry-After"), STR("1"));
    } else if (verdict->preflight) {
        preflight(exchange);
    } else if (verdict->to_directory) {
        exchange->reply.status = 308;
        reply_header(&exchange->reply, STR("Location"),
                     str_format(exchange->arena, "%.*s/", STR_ARG(exchange->gate->base_path)));
    } else {
        answer(exchange);
    }
}

void exchange_run(struct exchange *exchange, const struct wire *wire)
{
    decide(exchange, wire);
    send_reply(exchange);
}
