/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a request's target, Host, Origin, Sec-Fetch-Site and CSRF header. Facts: the Fetch
 * standard and RFC 9110. */
#include "serve/access/gate.h"

#include "serve/answer/header.h"

static uint32_t header_count(const struct wire *wire, struct str name, struct str *ret)
{
    uint32_t count = 0;

    *ret = STR("");
    for (uint32_t i = 0; i < wire->header_count; i++) {
        if (!str_equal_fold(wire->headers[i].name, name))
            continue;
        *ret = wire->headers[i].value;
        count++;
    }
    return count;
}

bool address_is_loopback(struct str address)
{
    return str_equal_fold(address, STR("localhost")) || str_equal(address, STR("::1")) ||
           str_equal(address, STR("[::1]")) || str_starts(address, STR("127."));
}

/* Refuses; the first refusal stands. */
static bool refuse(struct verdict *verdict, int status, const char *type, struct str detail)
{
    if (verdict->status == 0) {
        verdict->status = status;
        verdict->type = type;
        verdict->detail = detail;
    }
    return false;
}

static bool check_headers(const struct wire *wire, struct verdict *verdict)
{
    if (wire->header_count >= GATE_HEADERS_MAX)
        return refuse(verdict, 431, "too-large", STR("A request may have at most 63 headers."));
    for (uint32_t i = 0; i < wire->header_count; i++) {
        struct str value = wire->headers[i].value;

        if (!header_is_token(wire->headers[i].name))
            return refuse(verdict, 400, "bad-request", STR("The name of a header is not a token."));
        for (size_t k = 0; k < value.count; k++) {
            uint8_t c = (uint8_t)value.at[k];

            if ((c < ' ' && c != '\t') || c == 127)
                return refuse(verdict, 400, "bad-request",
                              STR("The value of a header contains a control character."));
        }
    }
    return true;
}

/* Host without its port; "" when the port is no number. Brackets stay. */
static struct str host_name(struct str host)
{
    const char *colon = host.count == 0 ? NULL : memrchr(host.at, ':', host.count);
    const char *bracket = host.count == 0 ? NULL : memrchr(host.at, ']', host.count);
    uint64_t port;

    if (colon == NULL || (bracket != NULL && bracket > colon))
        return host;
    struct str after = str_skip(host, (size_t)(colon - host.at) + 1);
    if (!str_to_u64(after, &port) || port == 0 || port > 65535)
        return STR("");
    return (struct str){.at = host.at, .count = (size_t)(colon - host.at)};
}

/* "https://name:port/below" -> "https://name:port". */
static struct str url_origin(struct str url)
{
    const char *after = url.count == 0 ? NULL : memmem(url.at, url.count, "://", 3);

    if (after == NULL)
        return STR("");
    struct str rest = str_skip(url, (size_t)(after - url.at) + 3);
    const char *slash = rest.count == 0 ? NULL : memchr(rest.at, '/', rest.count);
    return slash == NULL ? url : (struct str){.at = url.at, .count = (size_t)(slash - url.at)};
}

static struct str url_host(struct str url)
{
    struct str origin = url_origin(url);
    const char *after = origin.count == 0 ? NULL : memmem(origin.at, origin.count, "://", 3);

    return after == NULL ? STR("") : str_skip(origin, (size_t)(after - origin.at) + 3);
}

static bool name_is_ours(const struct gate *gate, struct str name)
{
    const struct str always[] = {STR("localhost"), STR("127.0.0.1"), STR("[::1]")};

    for (size_t i = 0; i < COUNT(always); i++) {
        if (str_equal_fold(name, always[i]))
            return true;
    }
    for (uint32_t i = 0; i < gate->allowed_count; i++) {
        if (str_equal_fold(name, gate->allowed[i]))
            return true;
    }
    /* The wildcard address is nobody's name. */
    bool wildcard = str_equal(gate->bind, STR("0.0.0.0")) || str_equal(gate->bind, STR("::"));
    if (!wildcard && str_equal_fold(name, gate->bind))
        return true;
    return gate->public_url.count > 0 &&
           str_equal_fold(name, host_name(url_host(gate->public_url)));
}

static bool check_host(const struct gate *gate, const struct wire *wire, struct verdict *verdict)
{
    struct str host;
    uint32_t count = header_count(wire, STR("host"), &host);

    if (count != 1)
        return refuse(verdict, 403, "wrong-host",
                      STR("A request must have exactly one Host header."));
    struct str name = host_name(host);
    if (name.count == 0 || !name_is_ours(gate, name))
        return refuse(verdict, 403, "wrong-host",
                      STR("The name in Host is not this server's. If you reach it by that name, "
                          "start it with --allowed-host NAME."));
    return true;
}

static bool origin_is_ours(const struct gate *gate, struct str origin, struct str host)
{
    struct str scheme = STR("http://");

    if (str_starts(origin, scheme) && str_equal_fold(str_skip(origin, scheme.count), host))
        return true;
    return gate->public_url.count > 0 && str_equal_fold(origin, url_origin(gate->public_url));
}

static bool is_perfetto_path(struct str path)
{
    return str_starts(path, STR("/perfetto/"));
}

/* A profile file's bytes as they are, which the handler reads and bounds. */
static bool is_upload_path(struct str path)
{
    return str_equal(path, STR(GATE_UPLOAD_PATH));
}

bool gate_is_embedded(struct str path, struct str query)
{
    if (!str_equal(path, STR("/")))
        return false;
    while (query.count > 0) {
        const char *end = memchr(query.at, '&', query.count);
        struct str one = {.at = query.at,
                          .count = end == NULL ? query.count : (size_t)(end - query.at)};

        if (str_equal(one, STR("embed=1")))
            return true;
        query = str_skip(query, one.count + 1);
    }
    return false;
}

static bool check_origin(const struct gate *gate, const struct wire *wire, struct verdict *verdict)
{
    struct str origin, site, host;
    uint32_t origins = header_count(wire, STR("origin"), &origin);
    uint32_t sites = header_count(wire, STR("sec-fetch-site"), &site);

    header_count(wire, STR("host"), &host);
    if (origins > 1 || sites > 1)
        return refuse(verdict, 400, "bad-request",
                      STR("Origin and Sec-Fetch-Site may appear only once."));
    if (origins == 1 && gate->perfetto_cors && is_perfetto_path(verdict->path) &&
        str_equal(origin, STR(GATE_PERFETTO_ORIGIN))) {
        verdict->cors = true;
        return true;
    }
    if (origins == 1 && !origin_is_ours(gate, origin, host))
        return refuse(verdict, 403, "wrong-origin",
                      STR("Pages of other origins may not send requests to this server."));
    if (sites == 0 || str_equal(site, STR("same-origin")) || str_equal(site, STR("none")))
        return true;

    /* A link on another page may lead here, as long as a page is what it opens. */
    struct str mode, destination;
    header_count(wire, STR("sec-fetch-mode"), &mode);
    header_count(wire, STR("sec-fetch-dest"), &destination);
    bool page = str_equal(verdict->path, STR("/")) || str_starts(verdict->path, STR("/l/")) ||
                str_starts(verdict->path, STR("/launch/"));
    if (page && str_equal(wire->method, STR("GET")) && str_equal(mode, STR("navigate")) &&
        str_equal(destination, STR("document")))
        return true;
    /* The browser shows it where frame-ancestors names the page around it, and nowhere else. */
    if (gate->embeds && gate_is_embedded(verdict->path, verdict->query) &&
        str_equal(wire->method, STR("GET")) && str_equal(mode, STR("navigate")) &&
        str_equal(destination, STR("iframe")))
        return true;
    return refuse(verdict, 403, "cross-site",
                  STR("Other sites may only link to pages of this server."));
}

static bool check_body(const struct wire *wire, struct verdict *verdict)
{
    struct str length, encoding, type;
    uint32_t lengths = header_count(wire, STR("content-length"), &length);
    uint32_t encodings = header_count(wire, STR("transfer-encoding"), &encoding);
    bool post = str_equal(wire->method, STR("POST"));
    uint64_t bytes = 0;

    if (lengths + encodings > 1)
        return refuse(verdict, 400, "bad-request",
                      STR("A request with a body needs exactly one Content-Length or "
                          "Transfer-Encoding header."));
    if (encodings == 1 && !str_equal_fold(encoding, STR("chunked")))
        return refuse(verdict, 400, "bad-request",
                      STR("The only Transfer-Encoding supported is chunked."));
    for (size_t i = 0; i < length.count; i++) {
        if (length.at[i] < '0' || length.at[i] > '9')
            return refuse(verdict, 400, "bad-request",
                          STR("Content-Length must be a whole number."));
    }
    if (lengths == 1 && !str_to_u64(length, &bytes))
        return refuse(verdict, 400, "bad-request", STR("Content-Length must be a whole number."));
    if (!post && (encodings == 1 || bytes > 0))
        return refuse(verdict, 400, "bad-request", STR("Only POST may have a body."));
    bool file = post && is_upload_path(verdict->path);
    if (bytes > (file ? (uint64_t)INT64_MAX : GATE_BODY_BYTES_MAX))
        return refuse(verdict, 413, "too-large", STR("A body may have at most 1 MiB."));
    verdict->body_bytes = encodings == 1 ? -1 : (int64_t)bytes;
    if (!post)
        return true;

    uint32_t types = header_count(wire, STR("content-type"), &type);
    const char *semicolon = type.count == 0 ? NULL : memchr(type.at, ';', type.count);
    if (semicolon != NULL)
        type.count = (size_t)(semicolon - type.at);
    while (type.count > 0 && type.at[type.count - 1] == ' ')
        type.count--;
    if (types != 1 ||
        !str_equal_fold(type, file ? STR("application/octet-stream") : STR("application/json")))
        return refuse(verdict, 415, "unsupported-type",
                      file ? STR("A file must be sent as application/octet-stream.")
                           : STR("The body of a POST must be application/json."));
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = ascii_lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Segments that are empty, "." or ".." mean another path to some other reader. */
static bool path_is_canonical(struct str path)
{
    size_t from = 1;

    for (size_t i = 1; i <= path.count; i++) {
        if (i < path.count && path.at[i] != '/')
            continue;
        size_t length = i - from;
        bool last = i == path.count;
        if ((length == 0 && !last) || (length == 1 && path.at[from] == '.') ||
            (length == 2 && path.at[from] == '.' && path.at[from + 1] == '.'))
            return false;
        from = i + 1;
    }
    return true;
}

/* Percent-decodes; false for what must not be encoded: controls, slashes, dots, or what is no
 * escape at all. */
static bool path_decode(struct str raw, struct arena *arena, struct str *ret)
{
    char *to = arena_alloc(arena, raw.count + 1, 1);
    size_t count = 0;

    for (size_t i = 0; i < raw.count; i++) {
        uint8_t c = (uint8_t)raw.at[i];

        if (c == '%') {
            bool whole = raw.count - i > 2;
            int high = whole ? hex_digit(raw.at[i + 1]) : -1;
            int low = whole ? hex_digit(raw.at[i + 2]) : -1;

            if (high < 0 || low < 0)
                return false;
            c = (uint8_t)(high * 16 + low);
            i += 2;
            if (c < ' ' || c == 127 || c == '/' || c == '\\' || c == '.' || c == '%')
                return false;
        } else if (c <= ' ' || c >= 127 || strchr("\\\"<>^`{|}#", c) != NULL) {
            return false;
        }
        to[count++] = (char)c;
    }
    *ret = (struct str){.at = to, .count = count};
    return true;
}

/* The query stays raw, but must be printable ASCII and of bounded size. */
static bool check_query(struct str query, struct verdict *verdict)
{
    uint32_t params = query.count > 0;

    for (size_t i = 0; i < query.count; i++) {
        uint8_t c = (uint8_t)query.at[i];

        if (c <= ' ' || c >= 127 || c == '#')
            return refuse(verdict, 400, "bad-request",
                          STR("A query string must be ASCII; encode other bytes as %XX."));
        params += c == '&';
    }
    if (params > GATE_PARAMS_MAX)
        return refuse(verdict, 400, "bad-request", STR("A query may have at most 64 parameters."));
    verdict->query = query;
    return true;
}

/* Below the base path, whether the proxy in front kept it or took it off. */
static struct str path_below(const struct gate *gate, struct str path, bool *ret_to_directory)
{
    if (gate->base_path.count > 0 && str_starts(path, gate->base_path)) {
        struct str rest = str_skip(path, gate->base_path.count);

        *ret_to_directory = rest.count == 0;
        if (rest.count == 0)
            return STR("/");
        if (rest.at[0] == '/')
            return rest;
    }
    return path;
}

static bool check_target(const struct gate *gate, const struct wire *wire, struct arena *arena,
                         struct verdict *verdict)
{
    struct str target = wire->target, path;

    if (target.count > GATE_TARGET_BYTES_MAX)
        return refuse(verdict, 414, "too-large", STR("An address may have at most 8 KiB."));
    if (target.count == 0 || target.at[0] != '/')
        return refuse(verdict, 400, "bad-request",
                      STR("The address of a request must begin with a slash."));
    const char *mark = memchr(target.at, '?', target.count);
    struct str raw =
        mark == NULL ? target : (struct str){.at = target.at, .count = (size_t)(mark - target.at)};
    if (!path_decode(raw, arena, &path) || !path_is_canonical(path))
        return refuse(
            verdict, 400, "bad-request",
            STR("The path is not canonical: no empty or dot segments, no encoded slashes, "
                "dots or control characters."));
    if (!check_query(mark == NULL ? STR("") : str_skip(target, raw.count + 1), verdict))
        return false;
    verdict->path = path_below(gate, path, &verdict->to_directory);
    return true;
}

static bool check_method(const struct gate *gate, const struct wire *wire, struct verdict *verdict)
{
    if (str_equal(wire->method, STR("GET")) || str_equal(wire->method, STR("HEAD")) ||
        str_equal(wire->method, STR("POST")) || str_equal(wire->method, STR("DELETE")))
        return true;
    if (str_equal(wire->method, STR("OPTIONS")) && gate->perfetto_cors &&
        is_perfetto_path(verdict->path)) {
        verdict->preflight = true;
        return true;
    }
    return refuse(verdict, 405, "method-not-allowed", STR(GATE_METHODS));
}

void gate_check(const struct gate *gate, const struct wire *wire, struct arena *arena,
                struct verdict *ret)
{
    *ret = (struct verdict){.path = STR("/")};
    if (!str_equal(wire->version, STR("1.1")) && !str_equal(wire->version, STR("1.0"))) {
        refuse(ret, 505, "bad-request", STR("This server speaks HTTP/1.0 and HTTP/1.1."));
        return;
    }
    if (!check_headers(wire, ret) || !check_target(gate, wire, arena, ret) ||
        !check_host(gate, wire, ret) || !check_method(gate, wire, ret) ||
        !check_origin(gate, wire, ret))
        return;
    if (check_body(wire, ret) && ret->preflight && !ret->cors)
        refuse(ret, 403, "wrong-origin",
               STR("Pages of other origins may not send requests to this server."));
}
