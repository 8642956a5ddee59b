/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and compares the token, launch codes and cookies, and decides who may ask. */
#include "serve/access/auth.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "serve/access/gate.h"

enum { LAUNCH_CODES = 16 };

struct auth {
    enum auth_mode mode;
    int port;
    char token[AUTH_SECRET_SIZE], session[AUTH_SECRET_SIZE];
    char path[4096]; /* of the token file; "" none */
    pthread_mutex_t mutex;
    struct {
        char code[AUTH_SECRET_SIZE]; /* "" used or never given */
        int64_t given_ns;
    } codes[LAUNCH_CODES]; /* a ring */
    unsigned next;
};

static enum status secret_make(char ret[AUTH_SECRET_SIZE], struct error *err)
{
    uint8_t bytes[(AUTH_SECRET_SIZE - 1) / 2];

    for (size_t have = 0; have < sizeof bytes;) {
        ssize_t got = getrandom(bytes + have, sizeof bytes - have, 0);

        if (got < 0 && errno != EINTR)
            return fail(err, ERR_IO, "no random bytes: %s", strerror(errno));
        have += got > 0 ? (size_t)got : 0;
    }
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
    return OK;
}

static bool secret_equal(const char *secret, struct str given)
{
    unsigned difference = given.count != AUTH_SECRET_SIZE - 1;

    for (size_t i = 0; i < AUTH_SECRET_SIZE - 1; i++) {
        unsigned char c = given.count == 0 ? 0 : (unsigned char)given.at[i % given.count];
        difference |= (unsigned)((unsigned char)secret[i] ^ c);
    }
    return difference == 0;
}

/* A directory that is ours alone, so that nobody else can have put a file there. */
static enum status private_dir(const char *dir, struct error *err)
{
    struct stat info;

    TRY(directory_make(dir, err));
    if (lstat(dir, &info) != 0)
        return fail(err, ERR_IO, "%s: %s", dir, strerror(errno));
    if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & 077) != 0)
        return fail(err, ERR_PERMISSION,
                    "%s must be your directory with mode 0700: the access token is stored there",
                    dir);
    return OK;
}

/* The first of the session's directory, the cache and /tmp that can be had: a container's root may
 * be read-only but for the cache. */
static enum status runtime_dir(const struct auth_place *place, char *ret, size_t size,
                               struct error *err)
{
    const char *session = getenv("XDG_RUNTIME_DIR");
    const char *cache = place->cache == NULL ? "" : place->cache;

    if (place->dir != NULL && place->dir[0] != '\0') {
        snprintf(ret, size, "%s", place->dir);
        return private_dir(ret, err);
    }
    if (session != NULL && session[0] == '/') {
        snprintf(ret, size, "%s/jviewd", session);
        if (private_dir(ret, err) == OK)
            return OK;
    }
    if (cache[0] != '\0') {
        snprintf(ret, size, "%s/run", cache);
        if (private_dir(ret, err) == OK)
            return OK;
    }
    snprintf(ret, size, "/tmp/jviewd-%u", (unsigned)geteuid());
    return private_dir(ret, err);
}

static enum status token_file_make(struct auth *auth, const struct auth_place *place,
                                   struct error *err)
{
    char below[3900];
    struct file_out out;

    TRY(runtime_dir(place, below, sizeof below, err));
    snprintf(auth->path, sizeof auth->path, "%s/token-%d", below, auth->port);
    enum status status = file_out_open(&out, auth->path, err);
    if (status != OK) {
        auth->path[0] = '\0';
        return status;
    }
    status = file_write_all(out.fd, auth->token, AUTH_SECRET_SIZE - 1, 0, err);
    if (status != OK) {
        file_out_abandon(&out);
        return status;
    }
    return file_out_commit(&out, err);
}

static enum status auth_fill(struct auth *auth, const struct auth_place *place, struct error *err)
{
    TRY(secret_make(auth->token, err));
    TRY(secret_make(auth->session, err));
    return token_file_make(auth, place, err);
}

enum status auth_create(enum auth_mode mode, const struct auth_place *place, int port,
                        struct auth **ret, struct error *err)
{
    struct auth *auth = memory_resize(NULL, 1, sizeof *auth);

    *auth = (struct auth){.mode = mode, .port = port};
    pthread_mutex_init(&auth->mutex, NULL);
    enum status status = mode == AUTH_NONE ? OK : auth_fill(auth, place, err);
    if (status != OK) {
        auth_destroy(auth);
        return status;
    }
    *ret = auth;
    return OK;
}

void auth_destroy(struct auth *auth)
{
    if (auth == NULL)
        return;
    if (auth->path[0] != '\0')
        unlink(auth->path);
    pthread_mutex_destroy(&auth->mutex);
    explicit_bzero(auth, sizeof *auth);
    free(auth);
}

enum auth_mode auth_mode(const struct auth *auth)
{
    return auth->mode;
}

void auth_launch(struct auth *auth, char ret[AUTH_SECRET_SIZE])
{
    char code[AUTH_SECRET_SIZE] = "";

    if (secret_make(code, NULL) != OK)
        abort();
    pthread_mutex_lock(&auth->mutex);
    unsigned at = auth->next++ % LAUNCH_CODES;
    memcpy(auth->codes[at].code, code, sizeof code);
    auth->codes[at].given_ns = clock_monotonic_ns();
    pthread_mutex_unlock(&auth->mutex);
    memcpy(ret, code, sizeof code);
}

bool auth_redeem(struct auth *auth, struct str code, int64_t now_ns)
{
    bool found = false;

    pthread_mutex_lock(&auth->mutex);
    for (unsigned i = 0; i < LAUNCH_CODES; i++) {
        char *known = auth->codes[i].code;

        if (known[0] != '\0' && now_ns - auth->codes[i].given_ns >= AUTH_LAUNCH_NS)
            explicit_bzero(known, AUTH_SECRET_SIZE);
        if (known[0] != '\0' && secret_equal(known, code)) {
            explicit_bzero(known, AUTH_SECRET_SIZE);
            found = true;
        }
    }
    pthread_mutex_unlock(&auth->mutex);
    return found;
}

struct str auth_cookie(const struct auth *auth, struct arena *arena)
{
    return str_format(arena, "jviewd_%d=%s; HttpOnly; SameSite=Strict; Path=/", auth->port,
                      auth->session);
}

/* The value of our cookie among "a=b; c=d"; cookies know no ports, so the name does. */
static struct str cookie_get(const struct auth *auth, struct str cookies)
{
    char name[32];

    snprintf(name, sizeof name, "jviewd_%d=", auth->port);
    while (cookies.count > 0) {
        const char *semicolon = memchr(cookies.at, ';', cookies.count);
        size_t length = semicolon == NULL ? cookies.count : (size_t)(semicolon - cookies.at);
        struct str one = {.at = cookies.at, .count = length};

        while (one.count > 0 && one.at[0] == ' ')
            one = str_skip(one, 1);
        if (str_starts(one, str_of(name)))
            return str_skip(one, strlen(name));
        cookies = str_skip(cookies, length + 1);
    }
    return STR("");
}

enum credential auth_credential(const struct auth *auth, const struct header *headers,
                                uint32_t count)
{
    struct str bearer = header_get(headers, count, STR("authorization"));
    struct str csrf = header_get(headers, count, STR("x-jviewd-csrf"));
    struct str cookie = cookie_get(auth, header_get(headers, count, STR("cookie")));
    const struct str prefix = STR("Bearer ");

    if (auth->mode == AUTH_NONE)
        return CREDENTIAL_NONE;
    if (bearer.count > 0)
        return bearer.count > prefix.count &&
                       str_equal_fold((struct str){.at = bearer.at, .count = prefix.count},
                                      prefix) &&
                       secret_equal(auth->token, str_skip(bearer, prefix.count))
                   ? CREDENTIAL_BEARER
                   : CREDENTIAL_WRONG;
    if (cookie.count == 0)
        return CREDENTIAL_NONE;
    if (!secret_equal(auth->session, cookie))
        return CREDENTIAL_WRONG;
    return csrf.count > 0 ? CREDENTIAL_COOKIE_CSRF : CREDENTIAL_COOKIE;
}

int auth_decide(enum auth_mode mode, const struct route *route, enum credential credential)
{
    bool changes = strcmp(route->method, "GET") != 0;

    if (mode == AUTH_NONE || route->open || credential == CREDENTIAL_BEARER ||
        credential == CREDENTIAL_COOKIE_CSRF)
        return 0;
    if (credential == CREDENTIAL_COOKIE)
        return changes ? 403 : 0;
    return 401;
}
