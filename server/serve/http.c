#include "serve/http.h"

#include <arpa/inet.h>
#include <civetweb.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "serve/gate.h"
#include "serve/http_head.h"
#include "serve/reply.h"
#include "serve/server.h"

enum {
    HTTP_THREADS = 256,
    WAITERS = 32,
    QUEUE_LENGTH = 256,
    ONE_WRITE_BYTES_MAX = 65536, /* head and body together up to here */
    DRAIN_MS_MAX = 5000,
};

struct http {
    struct mg_context *context;
    const struct services *services;
    struct gate gate;
    struct server server;
    struct arena *arena; /* of the gate's texts */
    int port;
};

struct exchange { /* one request and its reply */
    struct http *http;
    struct mg_connection *conn;
    struct arena *arena;
    struct verdict verdict;
    struct request request;
    struct reply reply;
    bool head_only, close, version_10, answered;
};

static bool send_bytes(struct exchange *exchange, const void *at, size_t count)
{
    if (count > 0 && mg_write(exchange->conn, at, count) != (int)count) {
        exchange->close = true;
        return false;
    }
    atomic_fetch_add(&exchange->http->server.bytes_sent, count);
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
        /* mg_write counts in int. */
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
    return sent ? OK : fail(err, ERR_CANCELLED, "the client has gone");
}

static void run_stream(void *data)
{
    struct exchange *exchange = data;
    struct reply *reply = &exchange->reply;
    struct error err = {0};
    enum status status = reply->stream(reply->stream_data, write_piece, exchange, &err);

    /* A body that fails half way ends without its last chunk: no client takes it for whole. */
    if (status != OK)
        exchange->close = true;
    else if (!exchange->version_10)
        send_bytes(exchange, "0\r\n\r\n", 5);
    if (status != OK && status != ERR_CANCELLED)
        log_warning("%.*s ended early: %s", STR_ARG(exchange->request.path), err.message);
}

static void send_stream(struct exchange *exchange)
{
    struct server *server = &exchange->http->server;
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
    if (!reply->stream_sleeps) {
        pool_run(server->heavy, run_stream, exchange);
        return;
    }
    run_stream(exchange);
}

static void send_reply(struct exchange *exchange)
{
    struct server *server = &exchange->http->server;
    struct reply *reply = &exchange->reply;
    bool sleeps = reply->stream != NULL && reply->stream_sleeps && !exchange->head_only;

    if (sleeps && atomic_fetch_add(&server->event_streams, 1) >= EVENT_STREAMS_MAX) {
        atomic_fetch_sub(&server->event_streams, 1);
        sleeps = false;
        reply_problem(reply, 503, "busy",
                      STR("32 event streams are open, which is the most; ask /api/runs instead."));
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
    if (exchange->close)
        mg_disable_connection_keep_alive(exchange->conn);
}

static void refuse(struct exchange *exchange, int status, const char *type, struct str detail)
{
    atomic_fetch_add(&exchange->http->server.refused, 1);
    exchange->close = true;
    reply_problem(&exchange->reply, status, type, detail);
}

/* Reads the whole body; false when it is too long, cut short, or the client is too slow. */
static bool read_body(struct exchange *exchange)
{
    int64_t announced = exchange->verdict.body_bytes;
    size_t capacity = announced < 0 ? GATE_BODY_BYTES_MAX + 1 : (size_t)announced;
    char *body = announced == 0 ? NULL : arena_alloc(exchange->arena, capacity + 1, 1);
    size_t count = 0;

    if (str_equal_fold(request_header(&exchange->request, STR("expect")), STR("100-continue")) &&
        announced != 0)
        send_bytes(exchange, "HTTP/1.1 100 Continue\r\n\r\n", 25);
    while (count < capacity && announced != 0) {
        int got = mg_read(exchange->conn, body + count, capacity - count);

        if (got <= 0)
            break;
        count += (size_t)got;
    }
    if (count > GATE_BODY_BYTES_MAX) {
        refuse(exchange, 413, "too-large", STR("A body holds at most 1 MiB."));
        return false;
    }
    if (announced > 0 && count != (size_t)announced) {
        refuse(exchange, 400, "bad-request", STR("The body ends before its announced length."));
        return false;
    }
    exchange->request.body = (struct bytes){.at = (const uint8_t *)body, .count = count};
    return true;
}

static bool may_ask(struct exchange *exchange, const struct route *route)
{
    struct auth *auth = atomic_load(&exchange->http->server.auth);
    struct request *req = &exchange->request;
    enum credential credential = auth_credential(auth, req->headers, req->header_count);
    int status = auth_decide(auth_mode(auth), route, credential);

    if (status == 0)
        return true;
    refuse(exchange, status, status == 401 ? "unauthorized" : "csrf",
           status == 401
               ? STR("This server asks for its token. Open the link that it printed, or one that "
                     "`jviewd open` makes; programs send Authorization: Bearer TOKEN.")
               : STR("A POST from a browser carries the header X-Jviewd-CSRF: 1."));
    if (status == 401)
        reply_header(&exchange->reply, STR("WWW-Authenticate"), STR("Bearer realm=\"jviewd\""));
    return false;
}

static void try_once(void *data)
{
    struct exchange *exchange = data;

    exchange->answered = serve_try(&exchange->request, &exchange->reply);
    if (exchange->answered)
        reply_encode(&exchange->request, &exchange->reply);
}

static void wait_once(void *data)
{
    serve_wait(&((struct exchange *)data)->request);
}

static void answer(struct exchange *exchange)
{
    struct server *server = &exchange->http->server;
    struct request *req = &exchange->request;
    struct str allow;
    const struct route *route = route_find(req->method, req->path, &allow, req->arena);
    const struct route unknown = {.method = "GET", .path = ""};

    if (!may_ask(exchange, route == NULL ? &unknown : route) || !read_body(exchange))
        return;
    if (route == NULL || route->light) {
        try_once(exchange);
        return;
    }
    struct pool *pool = route->heavy ? server->heavy : server->work;
    pool_run(pool, try_once, exchange);
    if (exchange->answered)
        return;
    pool_run(server->waiters, wait_once, exchange);
    pool_run(pool, try_once, exchange);
}

static void preflight(struct exchange *exchange)
{
    struct reply *reply = &exchange->reply;

    reply->status = 204;
    reply_header(reply, STR("Access-Control-Allow-Methods"), STR("GET"));
    reply_header(reply, STR("Access-Control-Allow-Private-Network"), STR("true"));
    reply_header(reply, STR("Access-Control-Max-Age"), STR("600"));
}

/* CivetWeb forgives spaces before the colon; others would not see that header at all. It writes
 * NUL over them and over the colon, so a second NUL tells: such a name keeps one, and is no token.
 */
static struct str header_name(const struct mg_header *header)
{
    size_t count = strlen(header->name);
    bool spaced =
        header->value - header->name > (ptrdiff_t)count + 1 && header->name[count + 1] == '\0';

    return (struct str){.at = header->name, .count = count + spaced};
}

static struct wire read_wire(struct exchange *exchange)
{
    const struct mg_request_info *info = mg_get_request_info(exchange->conn);
    uint32_t count = (uint32_t)info->num_headers;
    struct header *headers = arena_array(exchange->arena, struct header, count);

    for (uint32_t i = 0; i < count; i++)
        headers[i] = (struct header){.name = header_name(&info->http_headers[i]),
                                     .value = str_of(info->http_headers[i].value)};
    /* decode_url is off: what stands here is what came, less the question mark. */
    struct str target = str_of(info->request_uri);
    if (info->query_string != NULL)
        target = str_format(exchange->arena, "%s?%s", info->request_uri, info->query_string);
    return (struct wire){.method = str_of(info->request_method),
                         .target = target,
                         .version = str_of(info->http_version),
                         .headers = headers,
                         .header_count = count};
}

static void handle(struct exchange *exchange)
{
    struct http *http = exchange->http;
    struct wire wire = read_wire(exchange);
    struct verdict *verdict = &exchange->verdict;

    exchange->head_only = str_equal(wire.method, STR("HEAD"));
    exchange->version_10 = str_equal(wire.version, STR("1.0"));
    exchange->close = exchange->version_10 ||
                      str_equal_fold(header_get(wire.headers, wire.header_count, STR("connection")),
                                     STR("close"));
    gate_check(&http->gate, &wire, exchange->arena, verdict);
    exchange->request = (struct request){.method = wire.method,
                                         .path = verdict->path,
                                         .query = verdict->query,
                                         .headers = wire.headers,
                                         .header_count = wire.header_count,
                                         .arena = exchange->arena,
                                         .services = http->services,
                                         .server = &http->server};
    if (verdict->status != 0) {
        refuse(exchange, verdict->status, verdict->type, verdict->detail);
    } else if (atomic_load(&http->server.stopping) || atomic_load(&http->server.auth) == NULL) {
        refuse(exchange, 503, "stopping", STR("The server is starting or stopping; ask again."));
        reply_header(&exchange->reply, STR("Retry-After"), STR("1"));
    } else if (verdict->preflight) {
        preflight(exchange);
    } else if (verdict->to_directory) {
        exchange->reply.status = 308;
        reply_header(&exchange->reply, STR("Location"),
                     str_format(exchange->arena, "%.*s/", STR_ARG(http->gate.base_path)));
    } else {
        answer(exchange);
    }
}

static int begin_request(struct mg_connection *conn)
{
    struct http *http = mg_get_user_data(mg_get_context(conn));
    struct exchange exchange = {.http = http, .conn = conn, .arena = mg_get_thread_pointer(conn)};

    atomic_fetch_add(&http->server.in_flight, 1);
    handle(&exchange);
    send_reply(&exchange);
    int status = exchange.reply.status;
    reply_free(&exchange.reply);
    arena_reset(exchange.arena);
    atomic_fetch_sub(&http->server.in_flight, 1);
    return status;
}

/* What CivetWeb refuses by itself: heads it cannot parse, or that come too slowly. */
static int http_error(struct mg_connection *conn, int status, const char *message)
{
    struct http *http = mg_get_user_data(mg_get_context(conn));
    struct reply reply = {0};
    struct text out = {0};

    (void)message;
    reply_problem(&reply, status, "bad-request", STR("This is not a request that can be read."));
    http_head(&out, &reply,
              (struct head_options){.body_bytes = (int64_t)reply.body.count, .close = true});
    text_put(&out, reply.body.at, reply.body.count);
    mg_write(conn, out.at, out.count);
    mg_disable_connection_keep_alive(conn);
    atomic_fetch_add(&http->server.refused, 1);
    atomic_fetch_add(&http->server.replies[status / 100 % 6], 1);
    text_free(&out);
    reply_free(&reply);
    return 0;
}

static int log_message(const struct mg_connection *conn, const char *message)
{
    (void)conn;
    log_debug("http: %s", message);
    return 1;
}

static void *thread_begins(const struct mg_context *context, int kind)
{
    (void)context;
    return kind == 1 ? arena_create() : NULL;
}

static void thread_ends(const struct mg_context *context, int kind, void *arena)
{
    (void)context;
    (void)kind;
    arena_destroy(arena);
}

/* Says before CivetWeb is asked whether the port can be had, and why not. */
static enum status probe(const char *address, int port, struct error *err)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int on = 1;

    if (inet_pton(AF_INET, address, &at.sin_addr) != 1)
        return fail(err, ERR_INVALID,
                    "\"%s\" is no IPv4 address to listen on; IPv6 needs a proxy in front", address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return fail(err, ERR_IO, "no socket: %s", strerror(errno));
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    int failure = bind(fd, (struct sockaddr *)&at, sizeof at) == 0 ? 0 : errno;
    close(fd);
    if (failure == EADDRINUSE) {
        char holder[128];

        port_holder(port, holder);
        return fail(err, ERR_CONFLICT,
                    "port %d is in use by %s; choose another with --port N or --port auto", port,
                    holder);
    }
    if (failure != 0)
        return fail(err, failure == EACCES ? ERR_PERMISSION : ERR_IO, "%s:%d: %s", address, port,
                    strerror(failure));
    return OK;
}

static enum status listen_on(struct http *http, const char *address, int port, struct error *err)
{
    static const struct mg_callbacks callbacks = {
        .begin_request = begin_request,
        .http_error = http_error,
        .log_message = log_message,
        .init_thread = thread_begins,
        .exit_thread = thread_ends,
    };
    char ports[64], threads[16], text[256] = "";
    const char *options[] = {"listening_ports",
                             ports,
                             "num_threads",
                             threads,
                             "enable_keep_alive",
                             "yes",
                             "keep_alive_timeout_ms",
                             "500",
                             "request_timeout_ms",
                             "30000",
                             "tcp_nodelay",
                             "1",
                             "connection_queue",
                             "256",
                             "listen_backlog",
                             "512",
                             "decode_url",
                             "no",
                             "decode_query_string",
                             "no",
                             "enable_auth_domain_check",
                             "no",
                             "enable_directory_listing",
                             "no",
                             "index_files",
                             "",
                             "cgi_pattern",
                             "",
                             "ssi_pattern",
                             "",
                             "access_control_allow_origin",
                             "",
                             "access_control_allow_methods",
                             "",
                             "access_control_allow_headers",
                             "",
                             NULL};

    TRY(probe(address, port, err));
    snprintf(ports, sizeof ports, "%s:%d", address, port);
    snprintf(threads, sizeof threads, "%d", HTTP_THREADS);
    struct mg_init_data init = {
        .callbacks = &callbacks, .user_data = http, .configuration_options = options};
    unsigned code = 0;
    struct mg_error_data failure = {.code = &code, .text = text, .text_buffer_size = sizeof text};
    http->context = mg_start2(&init, &failure);
    if (http->context == NULL)
        return fail(err, ERR_CONFLICT, "%s cannot be listened on: %s", ports, text);

    struct mg_server_port got[4];
    if (mg_get_server_ports(http->context, 4, got) < 1)
        return fail(err, ERR_IO, "%s: no port was opened", ports);
    http->port = got[0].port;
    return OK;
}

static enum status listen_somewhere(struct http *http, const struct http_options *options,
                                    struct error *err)
{
    const char *address = strcmp(options->bind, "localhost") == 0 ? "127.0.0.1" : options->bind;
    unsigned tries = options->port_tries > 1 && options->port > 0 ? options->port_tries : 1;

    for (unsigned i = 0;; i++) {
        struct error one = {0};
        int port = options->port + (int)i;
        enum status status = listen_on(http, address, port, &one);

        if (status != ERR_CONFLICT || i + 1 >= tries || port >= 65535)
            return status == OK ? OK : fail(err, status, "%s", one.message);
    }
}

static enum status check_options(const struct http_options *options, struct error *err)
{
    if (!address_is_loopback(str_of(options->bind)) && options->auth != AUTH_TOKEN)
        return fail(err, ERR_INVALID,
                    "%s can be reached by others: that needs --auth token. To reach this machine "
                    "from yours, `ssh -L 8080:localhost:8080` needs nothing",
                    options->bind);
    if (options->port < 0 || options->port > 65535)
        return fail(err, ERR_INVALID, "port %d: ports go from 0 to 65535", options->port);
    return OK;
}

static struct http *http_create(const struct http_options *options, const struct services *services)
{
    struct http *http = memory_resize(NULL, 1, sizeof *http);
    struct arena *arena = arena_create();
    struct str *allowed = arena_array(arena, struct str, options->allowed_host_count);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    for (uint32_t i = 0; i < options->allowed_host_count; i++)
        allowed[i] = str_copy(arena, options->allowed_hosts[i]);
    *http = (struct http){.services = services, .arena = arena};
    http->gate = (struct gate){
        .bind = str_copy(arena, str_of(options->bind)),
        .allowed = allowed,
        .allowed_count = options->allowed_host_count,
        .public_url = str_copy(arena, str_of(options->public_url)),
        .base_path = str_copy(arena, str_of(services->base_path)),
        .perfetto_cors = services->perfetto_cors,
    };
    http->server.started_ns = clock_monotonic_ns();
    http->server.work = pool_create(cores > 2 ? 2 * (unsigned)cores : 4, QUEUE_LENGTH);
    http->server.heavy = pool_create(cores > 2 ? (unsigned)cores : 2, QUEUE_LENGTH);
    http->server.waiters = pool_create(WAITERS, QUEUE_LENGTH);
    return http;
}

enum status http_start(const struct http_options *options, const struct services *services,
                       struct http **ret, struct error *err)
{
    struct auth *auth = NULL;

    TRY(check_options(options, err));
    mg_init_library(0);
    struct http *http = http_create(options, services);
    enum status status = listen_somewhere(http, options, err);
    if (status == OK)
        status = auth_create(options->auth, options->runtime_dir, http->port, &auth, err);
    if (status != OK) {
        http_stop(http);
        return status;
    }
    atomic_store(&http->server.auth, auth);
    *ret = http;
    return OK;
}

/* What is in flight is answered; whoever comes now is told to come again. */
static void drain(struct http *http)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    int64_t until_ns = clock_monotonic_ns() + DRAIN_MS_MAX * INT64_C(1000000);

    atomic_store(&http->server.stopping, true);
    while (atomic_load(&http->server.in_flight) > 0 && clock_monotonic_ns() < until_ns)
        nanosleep(&pause, NULL);
}

void http_stop(struct http *http)
{
    if (http == NULL)
        return;
    drain(http);
    if (http->context != NULL)
        mg_stop(http->context);
    pool_destroy(http->server.work);
    pool_destroy(http->server.heavy);
    pool_destroy(http->server.waiters);
    auth_destroy(atomic_load(&http->server.auth));
    arena_destroy(http->arena);
    free(http);
    mg_exit_library();
}

int http_port(const struct http *http)
{
    return http->port;
}

void http_launch_path(struct http *http, char ret[128])
{
    struct auth *auth = atomic_load(&http->server.auth);
    char code[AUTH_SECRET_SIZE];

    ret[0] = '\0';
    if (auth_mode(auth) != AUTH_TOKEN)
        return;
    auth_launch(auth, code);
    snprintf(ret, 128, "launch/%s", code);
}

const char *http_token_path(const struct http *http)
{
    return auth_token_path(atomic_load(&http->server.auth));
}
