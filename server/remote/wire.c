/* SPDX-License-Identifier: Apache-2.0 */
/* One HTTP request: options of libcurl, the answer's headers and bytes, why there is none. */
#include "remote/wire_parts.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "remote/library_parts.h"

enum { HANDLES_MAX = 16, CONNECT_S = 10, QUIET_S = 30, NEAR_MS = 2000, LAST_S = 10 };

struct wire {
    const struct library *library;
    pthread_mutex_t lock;
    CURL *idle[HANDLES_MAX]; /* with their connections */
    unsigned idle_count;
    char *ca_file;
    atomic_bool cancelled;
    _Atomic uint64_t requests;
};

struct exchange {
    struct wire *wire;
    CURL *curl;
    const struct wire_ask *ask;
    struct wire_said *said;
    bool refused, is_full, was_private, proxy_refuses;
    char why[CURL_ERROR_SIZE];
};

enum status wire_open(struct wire **ret, struct error *err)
{
    const struct library *library;

    TRY(library_load(&library, err));
    *ret = memory_zeroed(1, sizeof **ret);
    (*ret)->library = library;
    pthread_mutex_init(&(*ret)->lock, NULL);
    return OK;
}

void wire_close(struct wire *wire)
{
    if (wire == NULL)
        return;
    while (wire->idle_count > 0)
        wire->library->curl_easy_cleanup(wire->idle[--wire->idle_count]);
    pthread_mutex_destroy(&wire->lock);
    free(wire->ca_file);
    free(wire);
}

void wire_cancel(struct wire *wire)
{
    atomic_store(&wire->cancelled, true);
}

bool wire_is_cancelled(const struct wire *wire)
{
    return atomic_load(&wire->cancelled);
}

uint64_t wire_requests(const struct wire *wire)
{
    return atomic_load(&wire->requests);
}

void wire_trust(struct wire *wire, const char *ca_file)
{
    if (ca_file == NULL || ca_file[0] == '\0')
        return;
    free(wire->ca_file);
    wire->ca_file = strdup(ca_file);
}

void wire_header(struct wire_ask *ask, struct str header)
{
    if (ask->header_count < WIRE_ASK_HEADERS_MAX)
        ask->headers[ask->header_count++] = header;
}

struct str wire_said_header(const struct wire_said *said, const char *name)
{
    struct str rest = text_str(&said->headers), wanted = str_of(name);

    while (rest.count > 0) {
        const char *end = memchr(rest.at, '\n', rest.count);
        size_t count = end == NULL ? rest.count : (size_t)(end - rest.at);
        struct str line = {rest.at, count};

        rest = str_skip(rest, end == NULL ? count : count + 1);
        if (line.count <= wanted.count || line.at[wanted.count] != ':' ||
            !str_equal_fold((struct str){line.at, wanted.count}, wanted))
            continue;
        line = str_skip(line, wanted.count + 1);
        while (line.count > 0 && (line.at[0] == ' ' || line.at[0] == '\t'))
            line = str_skip(line, 1);
        while (line.count > 0 && (unsigned char)line.at[line.count - 1] <= ' ')
            line.count--;
        return line;
    }
    return STR("");
}

void wire_said_free(struct wire_said *said)
{
    text_free(&said->headers);
    text_free(&said->body);
}

/* Of the last answer alone: one of a proxy, or "100 Continue", may stand before it. */
static size_t take_header(char *at, size_t size, size_t count, void *data)
{
    struct exchange *exchange = data;
    struct text *headers = &exchange->said->headers;

    if (size * count > 5 && memcmp(at, "HTTP/", 5) == 0)
        headers->count = 0;
    if (headers->count + size * count <= WIRE_HEADERS_MAX)
        text_put(headers, at, size * count);
    return size * count;
}

static size_t take_body(char *at, size_t size, size_t count, void *data)
{
    struct exchange *exchange = data;
    struct wire_said *said = exchange->said;
    size_t bytes = size * count;

    if (said->status == 0)
        exchange->wire->library->curl_easy_getinfo(exchange->curl, CURLINFO_RESPONSE_CODE,
                                                   &said->status);
    if (exchange->ask->take != NULL && (said->status == 200 || said->status == 206)) {
        exchange->refused = !exchange->ask->take(exchange->ask->data, said,
                                                 (struct bytes){(const uint8_t *)at, bytes});
        return exchange->refused ? 0 : bytes;
    }
    exchange->is_full = said->body.count + bytes > WIRE_BODY_MAX;
    if (exchange->is_full)
        return 0;
    text_put(&said->body, at, bytes);
    return bytes;
}

static int look_whether_to_go_on(void *data, curl_off_t total, curl_off_t now, curl_off_t up,
                                 curl_off_t up_now)
{
    const struct exchange *exchange = data;
    (void)total;
    (void)now;
    (void)up;
    (void)up_now;

    return wire_is_cancelled(exchange->wire) && !exchange->ask->is_last;
}

static bool is_private_4(uint32_t address)
{
    return address >> 24 == 127 || address >> 24 == 10 || address >> 24 == 0 ||
           address >> 20 == 0xac1 || address >> 16 == 0xc0a8 || address >> 16 == 0xa9fe ||
           address >> 22 == 0x191;
}

static bool is_private(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in four;

        memcpy(&four, address, sizeof four);
        return is_private_4(ntohl(four.sin_addr.s_addr));
    }
    struct sockaddr_in6 six;
    uint32_t tail;

    memcpy(&six, address, sizeof six);
    memcpy(&tail, &six.sin6_addr.s6_addr[12], sizeof tail);
    return address->sa_family != AF_INET6 || IN6_IS_ADDR_LOOPBACK(&six.sin6_addr) ||
           IN6_IS_ADDR_LINKLOCAL(&six.sin6_addr) || IN6_IS_ADDR_SITELOCAL(&six.sin6_addr) ||
           IN6_IS_ADDR_UNSPECIFIED(&six.sin6_addr) || (six.sin6_addr.s6_addr[0] & 0xfe) == 0xfc ||
           (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr) && is_private_4(ntohl(tail)));
}

/* Where machines keep their metadata. */
static bool is_link_local(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in four;

        memcpy(&four, address, sizeof four);
        return ntohl(four.sin_addr.s_addr) >> 16 == 0xa9fe;
    }
    struct sockaddr_in6 six;

    memcpy(&six, address, sizeof six);
    return IN6_IS_ADDR_LINKLOCAL(&six.sin6_addr) || six.sin6_addr.s6_addr[0] == 0xfd;
}

static curl_socket_t open_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct exchange *exchange = data;
    (void)purpose;

    bool near = is_private(&address->addr);

    if ((exchange->ask->refuses_private && near) ||
        (exchange->ask->refuses_local && is_link_local(&address->addr))) {
        exchange->was_private = true;
        return CURL_SOCKET_BAD;
    }
    exchange->said->is_private = near;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static CURL *take_handle(struct wire *wire)
{
    CURL *ret = NULL;

    pthread_mutex_lock(&wire->lock);
    if (wire->idle_count > 0)
        ret = wire->idle[--wire->idle_count];
    pthread_mutex_unlock(&wire->lock);
    return ret != NULL ? ret : wire->library->curl_easy_init();
}

static void give_handle(struct wire *wire, CURL *curl)
{
    wire->library->curl_easy_reset(curl);
    pthread_mutex_lock(&wire->lock);
    bool kept = wire->idle_count < HANDLES_MAX;
    if (kept)
        wire->idle[wire->idle_count++] = curl;
    pthread_mutex_unlock(&wire->lock);
    if (!kept)
        wire->library->curl_easy_cleanup(curl);
}

static void set_method(const struct exchange *exchange)
{
    const struct library *library = exchange->wire->library;
    const struct wire_ask *ask = exchange->ask;

    if (strcmp(ask->method, "HEAD") == 0)
        library->curl_easy_setopt(exchange->curl, CURLOPT_NOBODY, 1L);
    else if (strcmp(ask->method, "GET") != 0) {
        bool has_body = strcmp(ask->method, "DELETE") != 0; /* else libcurl names a type for it */

        if (has_body) {
            library->curl_easy_setopt(exchange->curl, CURLOPT_POSTFIELDS, ask->body.at);
            library->curl_easy_setopt(exchange->curl, CURLOPT_POSTFIELDSIZE_LARGE,
                                      (curl_off_t)ask->body.count);
        }
        library->curl_easy_setopt(exchange->curl, CURLOPT_CUSTOMREQUEST, ask->method);
    }
}

static void set_limits(const struct exchange *exchange)
{
    const struct library *library = exchange->wire->library;
    CURL *curl = exchange->curl;

    if (library->curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https") != CURLE_OK)
        library->curl_easy_setopt(curl, (CURLoption)181, 3L); /* CURLOPT_PROTOCOLS, before 7.85 */
    library->curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    library->curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L); /* it is signed as it is */
    library->curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    library->curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
    library->curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    library->curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)QUIET_S);
    if (exchange->ask->is_near) {
        library->curl_easy_setopt(curl, CURLOPT_PROXY, "");
        library->curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)NEAR_MS);
    }
    if (exchange->ask->is_last)
        library->curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)LAST_S);
    if (exchange->wire->ca_file != NULL)
        library->curl_easy_setopt(curl, CURLOPT_CAINFO, exchange->wire->ca_file);
}

static void set_listeners(struct exchange *exchange)
{
    const struct library *library = exchange->wire->library;
    CURL *curl = exchange->curl;

    library->curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    library->curl_easy_setopt(curl, CURLOPT_HEADERDATA, exchange);
    library->curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    library->curl_easy_setopt(curl, CURLOPT_WRITEDATA, exchange);
    library->curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_whether_to_go_on);
    library->curl_easy_setopt(curl, CURLOPT_XFERINFODATA, exchange);
    library->curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    library->curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    library->curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, exchange);
    library->curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, exchange->why);
}

/* A token with a line break in it would begin a header of its own. */
static bool is_one_line(struct str text)
{
    for (size_t i = 0; i < text.count; i++)
        if ((unsigned char)text.at[i] < ' ' || text.at[i] == 127)
            return false;
    return true;
}

static enum status check_lines(const struct wire_ask *ask, struct error *err)
{
    bool good = is_one_line(ask->url);

    for (uint32_t i = 0; i < ask->header_count; i++)
        good = good && is_one_line(ask->headers[i]);
    return good
               ? OK
               : fail(
                     err, ERR_INVALID,
                     "a key, a token or a name contains a line break or another control character");
}

/* "https://host:9000/a?b" -> "host:9000": what may be said of where a request went. */
static struct str host_of(struct str url)
{
    const char *at = memmem(url.at, url.count, "://", 3);
    struct str rest = at == NULL ? url : str_skip(url, (size_t)(at - url.at) + 3);
    size_t count = 0;

    while (count < rest.count && rest.at[count] != '/' && rest.at[count] != '?')
        count++;
    return (struct str){rest.at, count};
}

/* Who should know the host's name does not answer. */
static bool is_unnamed(const struct exchange *exchange, CURLcode code)
{
    return code == CURLE_OPERATION_TIMEDOUT &&
           str_starts(str_of(exchange->why), STR("Resolving timed out"));
}

static enum status tell_failure(const struct exchange *exchange, CURLcode code, struct error *err)
{
    struct str host = host_of(exchange->ask->url);
    const char *why = exchange->why[0] != '\0' ? exchange->why
                                               : exchange->wire->library->curl_easy_strerror(code);

    if (wire_is_cancelled(exchange->wire) && !exchange->ask->is_last)
        return fail(err, ERR_CANCELLED, "the program ends");
    if (exchange->was_private)
        return fail(
            err, ERR_PERMISSION,
            "a redirect leads to %.*s, an address in a private network, which is not followed",
            STR_ARG(host));
    if (exchange->is_full)
        return fail(err, ERR_LIMIT, "%.*s answers with more than %d MiB", STR_ARG(host),
                    WIRE_BODY_MAX >> 20);
    if (exchange->proxy_refuses)
        return fail(
            err, ERR_PERMISSION,
            "the proxy requires a password (407): set https_proxy=http://USER:PASSWORD@HOST");
    if (code == CURLE_COULDNT_RESOLVE_HOST || is_unnamed(exchange, code))
        return fail(err, ERR_IO,
                    "the host name %.*s cannot be resolved: check the network, or https_proxy",
                    STR_ARG(host));
    if (code == CURLE_COULDNT_RESOLVE_PROXY)
        return fail(err, ERR_IO, "the proxy's host name cannot be resolved: check https_proxy");
    if (code == CURLE_COULDNT_CONNECT || code == CURLE_OPERATION_TIMEDOUT)
        return fail(err, ERR_IO, "%.*s does not answer (%s)", STR_ARG(host), why);
    if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE)
        return fail(err, ERR_PERMISSION,
                    "the certificate of %.*s is not trusted (%s): name a file of trusted "
                    "certificates with CURL_CA_BUNDLE or AWS_CA_BUNDLE",
                    STR_ARG(host), why);
    return fail(err, ERR_IO, "%.*s: %s", STR_ARG(host), why);
}

static enum status perform(struct exchange *exchange, struct curl_slist *headers, struct error *err)
{
    const struct library *library = exchange->wire->library;
    struct arena *arena = arena_create();

    library->curl_easy_setopt(exchange->curl, CURLOPT_URL, str_c(arena, exchange->ask->url));
    library->curl_easy_setopt(exchange->curl, CURLOPT_HTTPHEADER, headers);
    set_limits(exchange);
    set_listeners(exchange);
    set_method(exchange);
    atomic_fetch_add(&exchange->wire->requests, 1);
    CURLcode code = library->curl_easy_perform(exchange->curl);
    long status = 0, tunnel = 0;

    library->curl_easy_getinfo(exchange->curl, CURLINFO_RESPONSE_CODE, &status);
    library->curl_easy_getinfo(exchange->curl, CURLINFO_HTTP_CONNECTCODE, &tunnel);
    exchange->proxy_refuses = tunnel == 407;
    exchange->said->status = status;
    arena_destroy(arena);
    if (code == CURLE_OK || exchange->refused)
        return OK;
    exchange->said->is_absent = code == CURLE_COULDNT_RESOLVE_HOST ||
                                code == CURLE_COULDNT_CONNECT || is_unnamed(exchange, code);
    exchange->said->was_cut = !exchange->was_private && !exchange->is_full &&
                              !exchange->proxy_refuses && code != CURLE_PEER_FAILED_VERIFICATION &&
                              code != CURLE_SSL_CACERT_BADFILE;
    return tell_failure(exchange, code, err);
}

enum status wire_exchange(struct wire *wire, const struct wire_ask *ask, struct wire_said *ret,
                          struct error *err)
{
    struct exchange exchange = {.wire = wire, .ask = ask, .said = ret};
    struct curl_slist *headers = NULL;

    *ret = (struct wire_said){0};
    if (wire_is_cancelled(wire) && !ask->is_last)
        return fail(err, ERR_CANCELLED, "the program ends");
    TRY(check_lines(ask, err));
    exchange.curl = take_handle(wire);
    if (exchange.curl == NULL)
        return fail(err, ERR_LIMIT, "libcurl is out of memory");
    struct arena *arena = arena_create();

    for (uint32_t i = 0; i < ask->header_count; i++)
        headers = wire->library->curl_slist_append(headers, str_c(arena, ask->headers[i]));
    headers = wire->library->curl_slist_append(headers, "Expect:");
    arena_destroy(arena);
    enum status status = perform(&exchange, headers, err);
    wire->library->curl_slist_free_all(headers);
    give_handle(wire, exchange.curl);
    return status;
}
