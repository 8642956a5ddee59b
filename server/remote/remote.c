/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a place, lists it, says who asks. */
#include "remote/remote.h"

#include <stdlib.h>

#include "remote/remote_parts.h"

enum { PAGE_OBJECTS = 1000 };

static const struct provider *provider_of(const struct address *address)
{
    static const struct {
        const char *scheme;
        const struct provider *provider;
    } all[] = {{"s3", &provider_s3},
               {"gs", &provider_gcs},
               {"az", &provider_azure},
               {"https", &provider_web},
               {"http", &provider_web}};

    for (size_t i = 0; i < COUNT(all); i++)
        if (str_equal(address->scheme, str_of(all[i].scheme)))
            return all[i].provider == &provider_gcs && google_has_keys() ? &provider_gcs_keys
                                                                         : all[i].provider;
    return NULL;
}

static enum status trust(struct remote *remote, struct error *err)
{
    TRY(wire_open(&remote->wire, err));
    const char *file = getenv("CURL_CA_BUNDLE");

    if (file == NULL || file[0] == '\0')
        file = getenv("SSL_CERT_FILE");
    wire_trust(remote->wire, file);
    return OK;
}

enum status remote_open(struct str place, struct remote **ret, struct error *err)
{
    struct remote *remote = memory_zeroed(1, sizeof *remote);

    remote->arena = arena_create();
    pthread_mutex_init(&remote->lock, NULL);
    remote->name = remote_place(place, remote->arena);
    enum status status = OK;

    if (!address_read(place, remote->arena, &remote->address))
        status = fail(err, ERR_INVALID,
                      "this is not an address such as gs://bucket/path, s3://bucket/path, "
                      "az://container/path or https://host/file, without a password in it");
    if (status == OK) {
        remote->provider = provider_of(&remote->address);
        status = trust(remote, err);
    }
    if (status == OK)
        status = remote->provider->begin(remote, err);
    if (status != OK) {
        /* An address that is not understood may hold a password: it is not repeated. */
        error_context(err, "%.*s: ",
                      STR_ARG(remote->name.count > 0 ? remote->name : STR("the given address")));
        remote_close(remote);
        return status;
    }
    *ret = remote;
    return OK;
}

void remote_close(struct remote *remote)
{
    if (remote == NULL)
        return;
    wire_close(remote->wire);
    if (remote->has_credentials)
        arena_destroy(remote->credentials.arena);
    pthread_mutex_destroy(&remote->lock);
    free(remote->target);
    arena_destroy(remote->arena);
    free(remote);
}

struct str remote_name(const struct remote *remote)
{
    return remote->name;
}

void remote_cancel(struct remote *remote)
{
    wire_cancel(remote->wire);
}

uint64_t remote_requests(const struct remote *remote)
{
    return wire_requests(remote->wire);
}

struct str remote_object_name(const struct remote *remote, const struct remote_object *object,
                              struct arena *arena)
{
    return object->is_place
               ? remote->name
               : str_format(arena, "%.*s/%.*s", STR_ARG(remote->name), STR_ARG(object->path));
}

static enum status list_page(struct remote *remote, struct str prefix, struct str next,
                             unsigned count, struct arena *arena, struct page *ret,
                             struct error *err)
{
    struct ask ask = {.method = "GET",
                      .key = STR(""),
                      .version = STR(""),
                      .query = remote->provider->list_query(prefix, next, count, arena)};
    struct wire_said said;
    enum status status = remote_ask(remote, &ask, NULL, NULL, &said, err);

    if (status == OK) {
        struct str body = text_str(&said.body);

        status = remote->provider->read_list((struct bytes){(const uint8_t *)body.at, body.count},
                                             arena, ret, err);
        if (status != OK)
            error_context(err, "%.*s: ", STR_ARG(remote->name));
    }
    wire_said_free(&said);
    return status;
}

struct listing {
    struct remote *remote;
    struct str prefix; /* with its slash */
    size_t shown_at;   /* paths are told from there on */
    remote_take *take;
    void *data;
    uint64_t count;
    bool goes_on;
};

/* A store that ignores the prefix is not believed. */
static void take_page(struct listing *listing, const struct page *page)
{
    for (uint32_t i = 0; listing->goes_on && i < page->count; i++) {
        struct remote_object object = page->at[i];

        if (!str_starts(object.path, listing->prefix))
            continue;
        object.path = str_skip(object.path, listing->shown_at);
        listing->count++;
        if (object.path.count > 0 && object.path.at[object.path.count - 1] != '/')
            listing->goes_on = listing->take(listing->data, &object);
    }
}

static enum status list_below(struct listing *listing, struct error *err)
{
    struct arena *arenas[2] = {arena_create(), arena_create()};
    struct str next = STR("");
    enum status status = OK;

    for (unsigned turn = 0;; turn = !turn) { /* `next` is of the page before */
        struct page page;

        arena_reset(arenas[turn]);
        status = list_page(listing->remote, listing->prefix, next, PAGE_OBJECTS, arenas[turn],
                           &page, err);
        if (status != OK)
            break;
        take_page(listing, &page);
        if (page.next.count == 0 || !listing->goes_on)
            break;
        if (str_equal(page.next, next)) {
            status =
                fail(err, ERR_FORMAT, "%.*s: the list never ends", STR_ARG(listing->remote->name));
            break;
        }
        next = page.next;
    }
    arena_destroy(arenas[0]);
    arena_destroy(arenas[1]);
    return status;
}

static void take_file(struct listing *listing, const struct remote_object *found)
{
    struct remote_object object = *found;

    object.path = path_base(listing->remote->address.prefix);
    object.is_place = true;
    listing->take(listing->data, &object);
    listing->count++;
}

/* The first object whose name begins so is the one of that name, where there is such. */
static enum status list_file(struct listing *listing, bool *ret_is_file, struct error *err)
{
    struct arena *arena = arena_create();
    struct str prefix = listing->remote->address.prefix;
    struct page page;
    enum status status = list_page(listing->remote, prefix, STR(""), 1, arena, &page, err);

    *ret_is_file = status == OK && page.count > 0 && str_equal(page.at[0].path, prefix);
    if (*ret_is_file)
        take_file(listing, &page.at[0]);
    arena_destroy(arena);
    return status;
}

/* Who may not list may yet know a name: what its headers say. */
static enum status look_at_file(struct listing *listing, bool *ret_is_file)
{
    struct remote *remote = listing->remote;
    struct ask ask = {
        .method = "HEAD", .key = remote->address.prefix, .version = STR(""), .query = STR("")};
    struct wire_said said;
    struct remote_object object = {0};

    *ret_is_file = remote_ask(remote, &ask, NULL, NULL, &said, &(struct error){0}) == OK &&
                   str_to_u64(wire_said_header(&said, "content-length"), &object.bytes);
    if (*ret_is_file) {
        object.version = wire_said_header(&said, "etag");
        (void)time_read(wire_said_header(&said, "last-modified"), &object.modified_ns);
        take_file(listing, &object);
    }
    wire_said_free(&said);
    return *ret_is_file ? OK : ERR_PERMISSION;
}

static enum status list_web(struct listing *listing, bool *ret_is_file, struct error *err)
{
    struct arena *arena = arena_create();
    struct remote_object object;
    enum status status = web_look(listing->remote, &object, arena, err);

    *ret_is_file = status == OK;
    if (status == OK)
        take_file(listing, &object);
    arena_destroy(arena);
    return status;
}

enum status remote_list(struct remote *remote, remote_take *take, void *data, bool *ret_is_file,
                        struct error *err)
{
    struct arena *arena = arena_create();
    struct str prefix = remote->address.prefix;
    struct listing listing = {
        .remote = remote, .take = take, .data = data, .goes_on = true, .prefix = STR("")};
    struct error why = {0};

    *ret_is_file = false;
    if (prefix.count > 0)
        listing.prefix = str_format(arena, "%.*s/", STR_ARG(prefix));
    listing.shown_at = listing.prefix.count;
    enum status status = remote->provider == &provider_web ? list_web(&listing, ret_is_file, &why)
                                                           : list_below(&listing, &why);

    if (status == OK && listing.count == 0 && prefix.count > 0)
        status = list_file(&listing, ret_is_file, &why);
    if (status == ERR_PERMISSION && prefix.count > 0 && remote->provider != &provider_web &&
        look_at_file(&listing, ret_is_file) == OK)
        status = OK;
    if (status == OK && listing.count == 0)
        status = fail(&why, ERR_NOT_FOUND, "%.*s: nothing exists there", STR_ARG(remote->name));
    arena_destroy(arena);
    return status == OK ? OK : fail(err, status, "%s", why.message);
}

enum status remote_list_beginning(struct remote *remote, struct str beginning, remote_take *take,
                                  void *data, struct error *err)
{
    struct arena *arena = arena_create();
    struct str prefix = remote->address.prefix;
    struct str root = prefix.count > 0 ? str_format(arena, "%.*s/", STR_ARG(prefix)) : STR("");
    struct listing listing = {.remote = remote,
                              .take = take,
                              .data = data,
                              .goes_on = true,
                              .shown_at = root.count,
                              .prefix =
                                  str_format(arena, "%.*s%.*s", STR_ARG(root), STR_ARG(beginning))};
    enum status status = list_below(&listing, err);

    arena_destroy(arena);
    return status;
}

enum status remote_list_below(struct remote *remote, struct str path, remote_take *take, void *data,
                              struct error *err)
{
    struct arena *arena = arena_create();
    struct str below = path.count > 0 ? str_format(arena, "%.*s/", STR_ARG(path)) : STR("");
    enum status status = remote_list_beginning(remote, below, take, data, err);

    arena_destroy(arena);
    return status;
}

enum status remote_identity(struct remote *remote, struct arena *arena, struct remote_identity *ret,
                            struct error *err)
{
    struct credentials credentials;

    TRY(remote_credentials(remote, arena, &credentials, err));
    pthread_mutex_lock(&remote->lock);
    *ret = (struct remote_identity){.who = credentials.who,
                                    .from = credentials.from,
                                    .passed = credentials.passed,
                                    .endpoint = str_copy(arena, str_of(remote->endpoint))};
    pthread_mutex_unlock(&remote->lock);
    return OK;
}
