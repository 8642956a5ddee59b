/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and stops CivetWeb and the front before it, and hands each request to the exchange. */
#include "serve/http/http.h"
#include "serve/kept/reply_cache.h"

#include <civetweb.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "serve/answer/reply.h"
#include "serve/http/doorway.h"
#include "serve/http/exchange.h"
#include "serve/http/front.h"
#include "serve/http/http_head.h"
#include "serve/http/port.h"
#include "serve/http/wake.h"
#include "serve/prepare/prepare.h"
#include "serve/sql/sql_process.h"

enum {
    WAITERS = WAITING_MAX + 16, /* and requests that others work for: queries of SQL, agents */
    QUEUE_LENGTH = 256,
    DRAIN_MS_MAX = 5000,
    PLACE_SIZE = 4096,
};

struct http {
    struct mg_context *context;
    struct doorway doorway; /* to `context` */
    struct front *front;
    const struct services *services;
    struct gate gate;
    struct server server;
    struct arena *arena; /* of the gate's texts */
    struct prepare *prepare;
    int port;
};

/* A request on its thread. */
struct answering {
    struct mg_connection *conn;
    struct front *front;
    unsigned ticket;
    struct exchange exchange;
};

/* The front put the ticket first, and has seen that CivetWeb read every header. */
static struct wire read_wire(const struct mg_connection *conn, struct arena *arena,
                             unsigned *ret_ticket)
{
    const struct mg_request_info *info = mg_get_request_info(conn);
    uint32_t count = info->num_headers > 0 ? (uint32_t)info->num_headers - 1 : 0;
    struct header *headers = arena_array(arena, struct header, count);

    *ret_ticket = info->num_headers > 0 ? (unsigned)atoi(info->http_headers[0].value) : 0;
    for (uint32_t i = 0; i < count; i++)
        headers[i] = (struct header){.name = str_of(info->http_headers[i + 1].name),
                                     .value = str_of(info->http_headers[i + 1].value)};
    /* decode_url is off: what stands here is what came, less the question mark. */
    struct str target = str_of(info->request_uri);
    if (info->query_string != NULL)
        target = str_format(arena, "%s?%s", info->request_uri, info->query_string);
    return (struct wire){.method = str_of(info->request_method),
                         .target = target,
                         .version = str_of(info->http_version),
                         .headers = headers,
                         .header_count = count};
}

static int read_from(void *data, void *at, size_t count)
{
    struct answering *answering = data;

    return mg_read(answering->conn, at, count);
}

static int write_to(void *data, const void *at, size_t count)
{
    struct answering *answering = data;

    if (front_client_gone(answering->front, answering->ticket))
        return -1;
    if (answering->exchange.wrong_token)
        front_wrong_token(answering->front, answering->ticket);
    return mg_write(answering->conn, at, count);
}

static int begin_request(struct mg_connection *conn)
{
    struct http *http = mg_get_user_data(mg_get_context(conn));
    struct answering answering = {.conn = conn, .front = http->front};
    struct exchange *exchange = &answering.exchange;

    *exchange =
        (struct exchange){.connection = {.data = &answering, .read = read_from, .write = write_to},
                          .server = &http->server,
                          .services = http->services,
                          .gate = &http->gate,
                          .arena = mg_get_thread_pointer(conn)};
    struct wire wire = read_wire(conn, exchange->arena, &answering.ticket);

    atomic_fetch_add(&http->server.in_flight, 1);
    exchange_run(exchange, &wire);
    mg_disable_connection_keep_alive(conn); /* the client's is the front's */
    front_answered(http->front, answering.ticket, !exchange->close);
    int status = exchange->reply.status;
    reply_free(&exchange->reply);
    arena_reset_small(exchange->arena);
    if (exchange->computed)
        memory_give_back();
    atomic_fetch_sub(&http->server.in_flight, 1);
    return status;
}

/* What CivetWeb refuses by itself, with 400: methods that it does not know. All else that is no
 * request was refused by the front. */
static int http_error(struct mg_connection *conn, int status, const char *message)
{
    struct http *http = mg_get_user_data(mg_get_context(conn));
    struct reply reply = {0};
    struct text out = {0};

    (void)message;
    if (status == 400) {
        status = 405;
        reply_problem(&reply, status, "method-not-allowed", STR(GATE_METHODS));
        reply_header(&reply, STR("Allow"), STR("GET, HEAD, POST, DELETE"));
    } else {
        reply_problem(&reply, status, "bad-request", STR("This is not a valid HTTP request."));
    }
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

/* On a port of loopback that the front's doorway takes over at once. */
static enum status start_civetweb(struct http *http, struct error *err)
{
    static const struct mg_callbacks callbacks = {
        .begin_request = begin_request,
        .http_error = http_error,
        .log_message = log_message,
        .init_thread = thread_begins,
        .exit_thread = thread_ends,
    };
    char threads[16], text[256] = "";
    const char *options[] = {"listening_ports",
                             "127.0.0.1:0",
                             "num_threads",
                             threads,
                             "enable_keep_alive",
                             "no",
                             "request_timeout_ms",
                             "30000",
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

    snprintf(threads, sizeof threads, "%d", FRONT_THREADS);
    struct mg_init_data init = {
        .callbacks = &callbacks, .user_data = http, .configuration_options = options};
    unsigned code = 0;
    struct mg_error_data failure = {.code = &code, .text = text, .text_buffer_size = sizeof text};
    http->context = mg_start2(&init, &failure);
    if (http->context == NULL)
        return fail(err, ERR_IO, "CivetWeb cannot be started: %s", text);

    struct mg_server_port got[4];
    if (mg_get_server_ports(http->context, 4, got) < 1)
        return fail(err, ERR_IO, "CivetWeb opened no port");
    char dir[PLACE_SIZE] = "";
    struct error ignored = {0};
    bool has_place = http->services->cache != NULL &&
                     cache_temporary_dir(http->services->cache, dir, &ignored) == OK;
    return doorway_open(&http->doorway, has_place ? dir : NULL, got[0].port, err);
}

static enum status listen_somewhere(struct http *http, const struct http_options *options,
                                    int *ret_fd, struct error *err)
{
    const char *address = strcmp(options->bind, "localhost") == 0 ? "127.0.0.1" : options->bind;
    unsigned tries = options->port_tries > 1 && options->port > 0 ? options->port_tries : 1;

    for (unsigned i = 0;; i++) {
        struct error one = {0};
        int port = options->port + (int)i;
        enum status status = port_listen(address, port, ret_fd, &http->port, &one);

        if (status != ERR_CONFLICT || i + 1 >= tries || port >= 65535)
            return status == OK ? OK : fail(err, status, "%s", one.message);
    }
}

static enum status check_options(const struct http_options *options, struct error *err)
{
    if (!address_is_loopback(str_of(options->bind)) && options->auth != AUTH_TOKEN)
        return fail(err, ERR_INVALID,
                    "other machines can reach %s: add --auth token. To reach this machine from "
                    "yours, `ssh -L 8080:localhost:8080` needs no further setup",
                    options->bind);
    if (options->port < 0 || options->port > 65535)
        return fail(err, ERR_INVALID, "port %d is invalid: ports are 0 to 65535", options->port);
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
    *http = (struct http){.services = services, .arena = arena, .doorway = {.place = -1}};
    http->gate = (struct gate){
        .bind = str_copy(arena, str_of(options->bind)),
        .allowed = allowed,
        .allowed_count = options->allowed_host_count,
        .public_url = str_copy(arena, str_of(options->public_url)),
        .base_path = str_copy(arena, str_of(services->base_path)),
        .perfetto_cors = services->perfetto_cors,
        .embeds = services->embed_origin_count > 0,
    };
    http->server.started_ns = clock_monotonic_ns();
    http->server.work = pool_create(cores > 2 ? 2 * (unsigned)cores : 4, QUEUE_LENGTH);
    http->server.heavy = pool_create(cores > 2 ? (unsigned)cores : 2, QUEUE_LENGTH);
    if (services->catalog != NULL && catalog_writable(services->catalog))
        http->server.replies_kept = reply_cache_create();
    http->server.waiters = pool_create(WAITERS, QUEUE_LENGTH);
    return http;
}

static enum status open_door(struct http *http, const struct http_options *options,
                             struct error *err)
{
    struct auth *auth = NULL;
    int listener;

    TRY(listen_somewhere(http, options, &listener, err));
    http->front = front_create(listener, &http->doorway, &http->server, http->gate.base_path);
    TRY(start_civetweb(http, err));
    struct auth_place place = {
        .dir = options->runtime_dir,
        .cache = http->services->cache == NULL ? NULL : cache_dir(http->services->cache)};
    TRY(auth_create(options->auth, &place, http->port, &auth, err));
    atomic_store(&http->server.auth, auth);
    return front_run(http->front, err);
}

enum status http_start(const struct http_options *options, const struct services *services,
                       struct http **ret, struct error *err)
{
    TRY(check_options(options, err));
    mg_init_library(0);
    struct http *http = http_create(options, services);
    enum status status = open_door(http, options, err);
    if (status != OK) {
        http_stop(http);
        return status;
    }
    if (services->catalog != NULL && services->cache != NULL)
        http->prepare = prepare_start(services, &http->server);
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
    prepare_stop(http->prepare);
    if (http->front != NULL)
        front_stop(http->front);
    if (http->context != NULL) {
        struct wake *wake = wake_begin(&http->doorway);
        mg_stop(http->context);
        wake_end(wake);
    }
    front_destroy(http->front);
    doorway_close(&http->doorway);
    pool_destroy(http->server.work);
    pool_destroy(http->server.heavy);
    pool_destroy(http->server.waiters);
    sql_process_keep_none();
    reply_cache_destroy(http->server.replies_kept);
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

const char *http_library(void)
{
    return mg_version();
}
