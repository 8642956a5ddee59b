/* Starts and stops CivetWeb, and hands each connection to the exchange. */
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
#include "serve/http/exchange.h"
#include "serve/http/http_head.h"
#include "serve/http/wake.h"
#include "serve/prepare/prepare.h"
#include "serve/sql/sql_process.h"

enum {
    HTTP_THREADS = 256,
    WAITERS = 32,
    QUEUE_LENGTH = 256,
    DRAIN_MS_MAX = 5000,
};

struct http {
    struct mg_context *context;
    const struct services *services;
    struct gate gate;
    struct server server;
    struct arena *arena; /* of the gate's texts */
    struct prepare *prepare;
    char address[64];
    int port;
};

/* CivetWeb forgives spaces before the colon; others would not see that header at all. It writes
 * NUL over them and over the colon, so a second NUL tells: such a name keeps one, and is no
 * token. */
static struct str header_name(const struct mg_header *header)
{
    size_t count = strlen(header->name);
    bool spaced =
        header->value - header->name > (ptrdiff_t)count + 1 && header->name[count + 1] == '\0';

    return (struct str){.at = header->name, .count = count + spaced};
}

static struct wire read_wire(const struct mg_connection *conn, struct arena *arena)
{
    const struct mg_request_info *info = mg_get_request_info(conn);
    uint32_t count = (uint32_t)info->num_headers;
    struct header *headers = arena_array(arena, struct header, count);

    for (uint32_t i = 0; i < count; i++)
        headers[i] = (struct header){.name = header_name(&info->http_headers[i]),
                                     .value = str_of(info->http_headers[i].value)};
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

static int read_from(void *conn, void *at, size_t count)
{
    return mg_read(conn, at, count);
}

static int write_to(void *conn, const void *at, size_t count)
{
    return mg_write(conn, at, count);
}

static int begin_request(struct mg_connection *conn)
{
    struct http *http = mg_get_user_data(mg_get_context(conn));
    struct exchange exchange = {.connection = {.data = conn, .read = read_from, .write = write_to},
                                .server = &http->server,
                                .services = http->services,
                                .gate = &http->gate,
                                .arena = mg_get_thread_pointer(conn)};
    struct wire wire = read_wire(conn, exchange.arena);

    atomic_fetch_add(&http->server.in_flight, 1);
    exchange_run(&exchange, &wire);
    if (exchange.close)
        mg_disable_connection_keep_alive(conn);
    int status = exchange.reply.status;
    reply_free(&exchange.reply);
    arena_reset(exchange.arena);
    if (exchange.computed)
        memory_give_back();
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

    TRY(port_probe(address, port, err));
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
    snprintf(http->address, sizeof http->address, "%s", address);
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
    if (http->context != NULL) {
        struct wake *wake = wake_begin(http->address, http->port);
        mg_stop(http->context);
        wake_end(wake);
    }
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
