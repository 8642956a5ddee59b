/* SPDX-License-Identifier: Apache-2.0 */
/* Who may ask what: every mode, route and credential; codes, cookies, token files. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "serve/access/auth.h"
#include "serve/answer/request.h"
#include "serve/dispatch/dispatch.h"
#include "serve/route.h"
#include "serve/routes.h"

#define MINUTE_NS (INT64_C(60) * 1000000000)

/* Mode x route x credential: the whole rule. */
static void matrix(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        enum auth_mode mode;
        enum credential credential;
        int open, reads, writes; /* routes: health, a GET, a POST or DELETE */
    } rows[] = {
        {"none, nobody", AUTH_NONE, CREDENTIAL_NONE, 0, 0, 0},
        {"none, wrong", AUTH_NONE, CREDENTIAL_WRONG, 0, 0, 0},
        {"token, nobody", AUTH_TOKEN, CREDENTIAL_NONE, 0, 401, 401},
        {"token, wrong", AUTH_TOKEN, CREDENTIAL_WRONG, 0, 401, 401},
        {"token, cookie", AUTH_TOKEN, CREDENTIAL_COOKIE, 0, 0, 403},
        {"token, cookie, CSRF", AUTH_TOKEN, CREDENTIAL_COOKIE_CSRF, 0, 0, 0},
        {"token, bearer", AUTH_TOKEN, CREDENTIAL_BEARER, 0, 0, 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        for (uint32_t k = 0; k < routes.count; k++) {
            const struct route *route = routes.items[k];
            int want = route->open                         ? rows[i].open
                       : strcmp(route->method, "GET") == 0 ? rows[i].reads
                                                           : rows[i].writes;
            char what[160];

            snprintf(what, sizeof what, "%s: %s %s", rows[i].what, route->method, route->path);
            CHECK_INT(what, auth_decide(rows[i].mode, route, rows[i].credential), want);
        }
    }
}

/* What answers without a token is written down here: a new open route is a decision. */
static void open_routes(void **state)
{
    (void)state;
    static const char *const open[] = {"/healthz", "/readyz", "/launch/*"};
    uint32_t count = 0;

    for (uint32_t k = 0; k < routes.count; k++) {
        if (!routes.items[k]->open)
            continue;
        CHECK(routes.items[k]->path, count < COUNT(open));
        CHECK_STR("open", str_of(routes.items[k]->path), open[count++]);
    }
    CHECK_INT("as many", count, COUNT(open));
}

struct fixture {
    char dir[64], token[AUTH_SECRET_SIZE], code[AUTH_SECRET_SIZE];
    struct auth *auth;
    struct arena *arena;
    struct str cookie; /* name=value */
};

static const char *token_path(const struct fixture *fixture)
{
    return str_format(fixture->arena, "%s/token-8080", fixture->dir).at;
}

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct error err = {0};
    struct bytes token;

    strcpy(fixture->dir, "/tmp/jviewd-auth-XXXXXX");
    CHECK("directory", mkdtemp(fixture->dir) != NULL);
    fixture->arena = arena_create();
    struct auth_place place = {.dir = fixture->dir};
    CHECK_OK("create", auth_create(AUTH_TOKEN, &place, 8080, &fixture->auth, &err), &err);
    CHECK_OK("token", file_read(token_path(fixture), fixture->arena, 64, &token, &err), &err);
    memcpy(fixture->token, token.at, token.count);
    struct str cookie = auth_cookie(fixture->auth, fixture->arena);
    cookie.count = strcspn(cookie.at, ";");
    fixture->cookie = cookie;
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    auth_destroy(fixture->auth);
    CHECK_INT("the token file is gone with the server", rmdir(fixture->dir), 0);
    arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

static void credentials(void **state)
{
    struct fixture *fixture = *state;
    struct arena *arena = fixture->arena;
    char changed[AUTH_SECRET_SIZE];

    memcpy(changed, fixture->token, sizeof changed);
    changed[63] = changed[63] == '0' ? '1' : '0';
    const struct {
        const char *what;
        struct header headers[2];
        enum credential want;
    } rows[] = {
        {"nothing", {{STR("Accept"), STR("a")}}, CREDENTIAL_NONE},
        {"bearer",
         {{STR("Authorization"), str_format(arena, "Bearer %s", fixture->token)}},
         CREDENTIAL_BEARER},
        {"bearer in small letters",
         {{STR("authorization"), str_format(arena, "bearer %s", fixture->token)}},
         CREDENTIAL_BEARER},
        {"one digit off",
         {{STR("Authorization"), str_format(arena, "Bearer %s", changed)}},
         CREDENTIAL_WRONG},
        {"cut",
         {{STR("Authorization"), str_format(arena, "Bearer %.63s", fixture->token)}},
         CREDENTIAL_WRONG},
        {"longer",
         {{STR("Authorization"), str_format(arena, "Bearer %s0", fixture->token)}},
         CREDENTIAL_WRONG},
        {"empty", {{STR("Authorization"), STR("Bearer ")}}, CREDENTIAL_WRONG},
        {"basic", {{STR("Authorization"), STR("Basic YTpi")}}, CREDENTIAL_WRONG},
        {"cookie", {{STR("Cookie"), fixture->cookie}}, CREDENTIAL_COOKIE},
        {"cookie among others",
         {{STR("Cookie"), str_format(arena, "a=b; %.*s; c=d", STR_ARG(fixture->cookie))}},
         CREDENTIAL_COOKIE},
        {"cookie and CSRF",
         {{STR("Cookie"), fixture->cookie}, {STR("X-Jviewd-CSRF"), STR("1")}},
         CREDENTIAL_COOKIE_CSRF},
        {"CSRF alone", {{STR("X-Jviewd-CSRF"), STR("1")}}, CREDENTIAL_NONE},
        {"the token as cookie",
         {{STR("Cookie"), str_format(arena, "jviewd_8080=%s", fixture->token)}},
         CREDENTIAL_WRONG},
        {"another server's cookie",
         {{STR("Cookie"), str_format(arena, "jviewd_8081=%s", fixture->token)}},
         CREDENTIAL_NONE},
        {"wrong bearer, right cookie",
         {{STR("Authorization"), STR("Bearer a")}, {STR("Cookie"), fixture->cookie}},
         CREDENTIAL_WRONG},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_INT(rows[i].what, auth_credential(fixture->auth, rows[i].headers, 2), rows[i].want);
}

static void codes(void **state)
{
    struct fixture *fixture = *state;
    char first[AUTH_SECRET_SIZE], second[AUTH_SECRET_SIZE], next[AUTH_SECRET_SIZE];
    const int64_t now = clock_monotonic_ns();

    auth_launch(fixture->auth, first);
    auth_launch(fixture->auth, second);
    CHECK("differ", strcmp(first, second) != 0);
    CHECK("unknown", !auth_redeem(fixture->auth, STR("0"), now));
    CHECK("empty", !auth_redeem(fixture->auth, STR(""), now));
    CHECK("token is no code", !auth_redeem(fixture->auth, str_of(fixture->token), now));
    CHECK("second", auth_redeem(fixture->auth, str_of(second), now));
    CHECK("once", !auth_redeem(fixture->auth, str_of(second), now));
    for (int i = 0; i < 16; i++)
        auth_launch(fixture->auth, next);
    CHECK("the oldest is forgotten", !auth_redeem(fixture->auth, str_of(first), now));
    CHECK("the newest is not", auth_redeem(fixture->auth, str_of(next), now));
    auth_launch(fixture->auth, first);
    auth_launch(fixture->auth, second);
    CHECK("nine minutes later", auth_redeem(fixture->auth, str_of(first), now + 9 * MINUTE_NS));
    CHECK("eleven", !auth_redeem(fixture->auth, str_of(second), now + 11 * MINUTE_NS));
}

static void token_file(void **state)
{
    struct fixture *fixture = *state;
    struct stat info;

    CHECK_INT("file", stat(token_path(fixture), &info), 0);
    CHECK_INT("only its owner reads it", info.st_mode & 0777, 0600);
    CHECK_INT("64 digits", strspn(fixture->token, "0123456789abcdef"), 64);
}

static void a_directory_of_others(void **state)
{
    (void)state;
    char dir[] = "/tmp/jviewd-auth-XXXXXX";
    struct error err = {0};
    struct auth *auth = NULL;

    CHECK("directory", mkdtemp(dir) != NULL && chmod(dir, 0755) == 0);
    struct auth_place place = {.dir = dir};
    CHECK_INT("open to others", auth_create(AUTH_TOKEN, &place, 8080, &auth, &err), ERR_PERMISSION);
    CHECK_HAS("says so", err.message, "must be your directory");
    rmdir(dir);
}

/* The session's directory is not there and cannot be made: the token lies below the cache. */
static void below_the_cache(void **state)
{
    (void)state;
    char dir[] = "/tmp/jviewd-auth-XXXXXX", path[64];
    struct error err = {0};
    struct auth *auth = NULL;

    CHECK("directory", mkdtemp(dir) != NULL);
    CHECK("no session", setenv("XDG_RUNTIME_DIR", "/proc/none", 1) == 0);
    struct auth_place place = {.cache = dir};
    CHECK_OK("create", auth_create(AUTH_TOKEN, &place, 8081, &auth, &err), &err);
    snprintf(path, sizeof path, "%s/run/token-8081", dir);
    CHECK("token", access(path, R_OK) == 0);
    auth_destroy(auth);
    CHECK("gone", access(path, R_OK) != 0);
    snprintf(path, sizeof path, "%s/run", dir);
    rmdir(path);
    rmdir(dir);
    unsetenv("XDG_RUNTIME_DIR");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrix),
        cmocka_unit_test(open_routes),
        cmocka_unit_test_setup_teardown(credentials, setup, teardown),
        cmocka_unit_test_setup_teardown(codes, setup, teardown),
        cmocka_unit_test_setup_teardown(token_file, setup, teardown),
        cmocka_unit_test(a_directory_of_others),
        cmocka_unit_test(below_the_cache),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
