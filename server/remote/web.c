/* SPDX-License-Identifier: Apache-2.0 */
/* One file behind https, as a person named it. Nothing of ours is sent along, so redirects are
 * followed: five at most, from https to https alone, and never from a public host into a private
 * network. */
#include <stdio.h>
#include <stdlib.h>

#include "remote/remote_parts.h"

enum { REDIRECTS_MAX = 5 };

static enum status begin(struct remote *remote, struct error *err)
{
    const struct address *address = &remote->address;
    (void)err;

    snprintf(remote->endpoint, sizeof remote->endpoint, "%.*s://%.*s", STR_ARG(address->scheme),
             STR_ARG(address->bucket));
    return OK;
}

static enum status find(struct remote *remote, struct credentials *ret, struct error *err)
{
    (void)remote;
    (void)err;
    credentials_none(ret, STR("a file on a web server is read without credentials"),
                     STR("a file on a web server is read without credentials"));
    return OK;
}

/* As it was given: names are not encoded again. */
static struct str given_url(const struct remote *remote, struct arena *arena)
{
    const struct address *address = &remote->address;

    return str_format(arena, "%.*s://%.*s/%.*s%.*s", STR_ARG(address->scheme),
                      STR_ARG(address->bucket), STR_ARG(address->prefix), STR_ARG(address->query));
}

static enum status prepare(struct remote *remote, const struct ask *ask,
                           const struct credentials *credentials, struct arena *arena,
                           struct wire_ask *ret, struct error *err)
{
    (void)credentials;
    (void)err;
    pthread_mutex_lock(&remote->lock);
    ret->url =
        remote->target != NULL ? str_copy(arena, str_of(remote->target)) : given_url(remote, arena);
    ret->refuses_private = remote->target_is_public;
    ret->refuses_local = remote->target_is_other;
    pthread_mutex_unlock(&remote->lock);
    if (ask->has_range)
        wire_header(ret, str_format(arena, "Range: bytes=%llu-%llu", (unsigned long long)ask->start,
                                    (unsigned long long)(ask->start + ask->count - 1)));
    if (ask->version.count > 0 && !str_starts(ask->version, STR("W/")))
        wire_header(ret, str_format(arena, "If-Match: %.*s", STR_ARG(ask->version)));
    return OK;
}

static struct str host_of(struct str url)
{
    const char *at = memmem(url.at, url.count, "://", 3);
    struct str rest = at == NULL ? url : str_skip(url, (size_t)(at - url.at) + 3);
    size_t count = 0;

    while (count < rest.count && strchr("/?#", rest.at[count]) == NULL)
        count++;
    return (struct str){rest.at, count};
}

/* "/other" and "https://host/other"; "" what is followed by nobody. */
static struct str next_url(struct str now, struct str location, struct arena *arena)
{
    bool is_safe = str_starts(now, STR("https://"));

    if (location.count > 8000)
        return STR("");
    if (str_starts(location, STR("/")) && !str_starts(location, STR("//"))) {
        struct str host = host_of(now);

        return str_format(arena, "%.*s%.*s", (int)(host.at + host.count - now.at), now.at,
                          STR_ARG(location));
    }
    if (str_starts(location, STR("https://")) || (!is_safe && str_starts(location, STR("http://"))))
        return location;
    return STR("");
}

static bool nothing(void *data, const struct wire_said *said, struct bytes part)
{
    (void)data;
    (void)said;
    (void)part;
    return false; /* the headers are enough */
}

/* Where the file is, after so many redirects. */
static enum status follow(struct remote *remote, struct wire_said *ret, struct arena *arena,
                          struct error *err)
{
    struct str url = given_url(remote, arena);
    const struct str first = host_of(url);
    bool is_public = false;

    for (unsigned i = 0; i <= REDIRECTS_MAX; i++) {
        struct wire_ask ask = {.method = "GET", .url = url, .take = nothing};

        ask.refuses_local = !str_equal(host_of(url), first);
        ask.refuses_private = ask.refuses_local && is_public;
        wire_header(&ask, STR("Range: bytes=0-0"));
        TRY(wire_exchange(remote->wire, &ask, ret, err));
        if (ret->status < 300 || ret->status > 399) {
            pthread_mutex_lock(&remote->lock);
            free(remote->target);
            remote->target = strdup(str_c(arena, url));
            remote->target_is_other = ask.refuses_local;
            remote->target_is_public = ask.refuses_private;
            pthread_mutex_unlock(&remote->lock);
            return OK;
        }
        is_public = is_public || !ret->is_private;
        url = next_url(url, str_copy(arena, wire_said_header(ret, "location")), arena);
        if (url.count == 0)
            return fail(err, ERR_PERMISSION,
                        "it redirects to an address that is not https, which is not followed");
        wire_said_free(ret);
        *ret = (struct wire_said){0};
    }
    return fail(err, ERR_IO, "it redirects more than %d times", REDIRECTS_MAX);
}

static bool total_of(const struct wire_said *said, uint64_t *ret)
{
    struct str range = wire_said_header(said, "content-range");
    const char *slash = memchr(range.at == NULL ? "" : range.at, '/', range.count);

    if (said->status == 206)
        return slash != NULL && str_to_u64(str_skip(range, (size_t)(slash - range.at) + 1), ret);
    return str_to_u64(wire_said_header(said, "content-length"), ret);
}

static enum status take_look(struct remote *remote, const struct wire_said *said,
                             struct remote_object *ret, struct arena *arena, struct error *err)
{
    if (said->status == 404 || said->status == 410)
        return fail(err, ERR_NOT_FOUND, "there is no such file (%ld)", said->status);
    if (said->status == 401 || said->status == 403)
        return fail(err, ERR_PERMISSION,
                    "it is not public (%ld): download it with a program that has access, such as "
                    "curl -O, and open the file",
                    said->status);
    if (said->status != 200 && said->status != 206)
        return fail(err, ERR_IO, "the server answers %ld", said->status);
    *ret = (struct remote_object){.version = str_copy(arena, wire_said_header(said, "etag"))};
    if (!total_of(said, &ret->bytes))
        return fail(err, ERR_UNSUPPORTED,
                    "the server does not state the size of the file: download it with curl -O, and "
                    "open the file");
    (void)time_read(wire_said_header(said, "last-modified"), &ret->modified_ns);
    if (ret->version.count == 0)
        ret->version = str_copy(arena, wire_said_header(said, "last-modified"));
    remote->has_ranges = said->status == 206;
    return OK;
}

enum status web_look(struct remote *remote, struct remote_object *ret, struct arena *arena,
                     struct error *err)
{
    struct wire_said said = {0};
    enum status status = follow(remote, &said, arena, err);

    if (status == OK)
        status = take_look(remote, &said, ret, arena, err);
    wire_said_free(&said);
    if (status != OK)
        error_context(err, "%.*s: ", STR_ARG(remote->name));
    return status;
}

const struct provider provider_web = {
    .title = "the server",
    .begin = begin,
    .find = find,
    .prepare = prepare,
    .remedy = "download it with a program that has access, such as curl -O, and open the file",
};
