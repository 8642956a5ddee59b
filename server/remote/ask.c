/* SPDX-License-Identifier: Apache-2.0 */
/* One question to a place: credentials, signature, another try, and the sentence of a refusal. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "remote/digest_parts.h"
#include "remote/remote_parts.h"

enum {
    TRIES_MAX = 6,
    PAUSE_MS = 200,      /* twice as long each time, */
    PAUSE_MAX_MS = 8000, /* up to this, with chance */
    AFTER_MAX_S = 30,
    RENEW_S = 120, /* before a key ends */
    AGAIN_S = 300, /* nobody may become somebody */
    SECRET_BYTES_MAX = 1 << 20,
    STEP_MS = 50,
    FRESH_S = 10,
    ABSENT_S = 20, /* so long somebody is looked for who is not there */
};

struct str environment(const char *name)
{
    return str_of(getenv(name));
}

void credentials_none(struct credentials *ret, struct str from, struct str passed)
{
    ret->is_nobody = true;
    ret->who = STR("nobody (anonymous)");
    ret->from = from;
    ret->passed = passed;
}

struct str home_file(const char *name, struct arena *arena)
{
    struct str home = environment("HOME");

    return home.count == 0 ? STR("") : str_format(arena, "%.*s/%s", STR_ARG(home), name);
}

enum status secret_file(struct str path, struct arena *arena, struct bytes *ret, struct error *err)
{
    return file_read(str_c(arena, path), arena, SECRET_BYTES_MAX, ret, err);
}

struct str query_put(struct str query, const char *name, struct str value, struct arena *arena)
{
    return str_format(arena, "%.*s%s%s=%.*s", STR_ARG(query), query.count > 0 ? "&" : "", name,
                      STR_ARG(percent_encoded(value, false, arena)));
}

int64_t remote_now_s(const struct remote *remote)
{
    return clock_unix_ns() / 1000000000 + remote->skew_s;
}

bool remote_pause(struct remote *remote, unsigned attempt, const struct wire_said *said)
{
    uint64_t after_s, most_ms = PAUSE_MAX_MS;
    uint64_t pause_ms = (uint64_t)PAUSE_MS << (attempt > 6 ? 6 : attempt);

    if (pause_ms > most_ms)
        pause_ms = most_ms;
    pause_ms = pause_ms / 2 + (uint64_t)(clock_monotonic_ns() / 1000) % (pause_ms / 2 + 1);
    if (said != NULL && str_to_u64(wire_said_header(said, "retry-after"), &after_s) &&
        after_s <= AFTER_MAX_S && after_s * 1000 > pause_ms)
        pause_ms = after_s * 1000;
    for (uint64_t waited = 0; waited < pause_ms; waited += STEP_MS) {
        if (wire_is_cancelled(remote->wire))
            return false;
        usleep(STEP_MS * 1000);
    }
    return !wire_is_cancelled(remote->wire);
}

static void copy_credentials(const struct credentials *from, struct arena *arena,
                             struct credentials *ret)
{
    struct str *const texts[] = {&ret->key.id,     &ret->key.secret,  &ret->key.token,
                                 &ret->token.text, &ret->account_key, &ret->sas,
                                 &ret->who,        &ret->from,        &ret->passed};

    *ret = *from;
    ret->arena = NULL;
    for (size_t i = 0; i < COUNT(texts); i++)
        *texts[i] = texts[i]->count > 0 ? str_copy(arena, *texts[i]) : STR("");
}

static void forget_credentials(struct remote *remote)
{
    if (remote->has_credentials)
        arena_destroy(remote->credentials.arena);
    remote->has_credentials = false;
}

/* Lock held. */
static enum status find_credentials(struct remote *remote, struct error *err)
{
    struct credentials found = {.arena = arena_create(), .ends_s = INT64_MAX};

    enum status status = remote->provider->find(remote, &found, err);
    if (status != OK) {
        arena_destroy(found.arena);
        return status;
    }
    if (found.is_nobody)
        found.ends_s = remote_now_s(remote) + RENEW_S + AGAIN_S;
    found.found_s = remote_now_s(remote);
    forget_credentials(remote);
    remote->credentials = found;
    remote->has_credentials = true;
    return OK;
}

enum status remote_credentials(struct remote *remote, struct arena *arena, struct credentials *ret,
                               struct error *err)
{
    enum status status = OK;

    pthread_mutex_lock(&remote->lock);
    bool due =
        !remote->has_credentials || (remote->credentials.ends_s != INT64_MAX &&
                                     remote->credentials.ends_s - RENEW_S < remote_now_s(remote));
    if (due)
        status = find_credentials(remote, err);
    if (status == OK)
        copy_credentials(&remote->credentials, arena, ret);
    pthread_mutex_unlock(&remote->lock);
    if (status != OK)
        error_context(err, "%.*s: ", STR_ARG(remote->name));
    return status;
}

static bool is_passing(long status)
{
    return status == 429 || status == 500 || status == 502 || status == 503 || status == 504 ||
           status == 408;
}

enum status remote_authority(struct remote *remote, const struct wire_ask *ask, const char *what,
                             struct arena *arena, struct bytes *ret, struct error *err)
{
    struct wire_said said;
    struct error why = {0};
    enum status status;

    for (unsigned attempt = 0;; attempt++) {
        why = (struct error){0};
        status = wire_exchange(remote->wire, ask, &said, &why);
        bool again = (status == OK ? is_passing(said.status) : said.was_cut) && attempt < 3 &&
                     !(ask->is_near && status != OK);
        if (!again || !remote_pause(remote, attempt, &said))
            break;
        wire_said_free(&said);
    }
    if (status == OK && said.status == 200) {
        struct str text = str_copy(arena, text_str(&said.body));
        *ret = bytes_of(text);
    } else if (status == OK) {
        struct store_error told;

        document_error(bytes_of(text_str(&said.body)), arena, &told);
        status =
            fail(err, said.status == 404 ? ERR_NOT_FOUND : ERR_PERMISSION,
                 "%s answers %ld%s%.*s%s%.*s", what, said.status, told.code.count > 0 ? " " : "",
                 STR_ARG(told.code), told.message.count > 0 ? ": " : "", STR_ARG(told.message));
    } else {
        status = fail(err, said.is_absent ? ERR_NOT_FOUND : status, "%s: %s", what, why.message);
    }
    wire_said_free(&said);
    return status;
}

/* The clock of the store, where ours is wrong by more than a few seconds. */
static bool take_skew(struct remote *remote, const struct wire_said *said, struct str code)
{
    int64_t theirs_ns;

    if ((!str_equal(code, STR("RequestTimeTooSkewed")) &&
         !str_equal(code, STR("AuthenticationFailed"))) ||
        !time_read(wire_said_header(said, "date"), &theirs_ns))
        return false;
    int64_t skew_s = theirs_ns / 1000000000 - clock_unix_ns() / 1000000000;

    pthread_mutex_lock(&remote->lock);
    bool is_news = llabs(skew_s - remote->skew_s) > 60;
    if (is_news)
        remote->skew_s = skew_s;
    pthread_mutex_unlock(&remote->lock);
    return is_news;
}

/* Keys for a time that ended early are found anew, once for all that asked with them; those that
 * were just found are no better. */
static bool take_refusal(struct remote *remote, const struct credentials *used)
{
    if (used->is_nobody || used->ends_s == INT64_MAX ||
        remote_now_s(remote) - used->found_s < FRESH_S)
        return false;
    pthread_mutex_lock(&remote->lock);
    if (remote->has_credentials && remote->credentials.found_s == used->found_s)
        forget_credentials(remote);
    pthread_mutex_unlock(&remote->lock);
    return true;
}

static const char *of_whom(const struct credentials *used, struct arena *arena)
{
    if (used->is_nobody)
        return str_format(arena, "anonymous access, because no credentials were found (%.*s)",
                          STR_ARG(used->passed))
            .at;
    return str_format(arena, "%.*s (%.*s)", STR_ARG(used->who), STR_ARG(used->from)).at;
}

static bool is_writing(const struct ask *ask)
{
    return strcmp(ask->method, "GET") != 0 && strcmp(ask->method, "HEAD") != 0;
}

static enum status tell_refusal(const struct remote *remote, const struct ask *ask,
                                const struct credentials *used, const struct wire_said *said,
                                const struct store_error *told, struct arena *arena,
                                struct error *err)
{
    struct str code =
        told->code.count > 0 ? str_format(arena, " %.*s", STR_ARG(told->code)) : STR("");

    if (said->status == 412 && ask->is_new)
        return fail(err, ERR_CONFLICT, "%.*s: there is an object %.*s already; it was not replaced",
                    STR_ARG(remote->name), STR_ARG(ask->key));
    if (said->status == 412 || said->status == 416)
        return fail(err, ERR_CONFLICT, "%.*s: the object was replaced while it was read",
                    STR_ARG(remote->name));
    if (said->status == 404 && ask->key.count > 0 && !is_writing(ask))
        return fail(err, ERR_NOT_FOUND, "%.*s: the object %.*s no longer exists",
                    STR_ARG(remote->name), STR_ARG(ask->key));
    if (said->status == 404)
        return fail(err, ERR_NOT_FOUND,
                    "%.*s: there is no bucket \"%.*s\" at %s (%ld%.*s): check its name, and the "
                    "endpoint",
                    STR_ARG(remote->name), STR_ARG(remote->address.bucket), remote->endpoint,
                    said->status, STR_ARG(code));
    if (said->status == 401 || said->status == 403)
        return fail(err, ERR_PERMISSION, "%.*s: %s refuses %s (%ld%.*s): %s", STR_ARG(remote->name),
                    remote->provider->title, of_whom(used, arena), said->status, STR_ARG(code),
                    is_writing(ask) ? remote->provider->write_remedy : remote->provider->remedy);
    if (said->status == 407)
        return fail(
            err, ERR_PERMISSION,
            "%.*s: the proxy requires a password (407): set https_proxy=http://USER:PASSWORD@HOST",
            STR_ARG(remote->name));
    if (said->status >= 300 && said->status < 400)
        return fail(err, ERR_IO,
                    "%.*s: %s redirects to another host (%ld%.*s), and credentials are not sent "
                    "there: set the region (AWS_REGION) or the endpoint (AWS_ENDPOINT_URL)",
                    STR_ARG(remote->name), remote->endpoint, said->status, STR_ARG(code));
    return fail(err, ERR_IO, "%.*s: %s answers %ld%.*s%s%.*s", STR_ARG(remote->name),
                remote->endpoint, said->status, STR_ARG(code), told->message.count > 0 ? ": " : "",
                STR_ARG(told->message));
}

/* An answer that is none of the good ones. */
static enum status judge(struct remote *remote, const struct ask *ask,
                         const struct credentials *used, const struct wire_said *said,
                         bool *ret_again, struct error *err)
{
    struct arena *arena = arena_create();
    struct store_error told;

    document_error(bytes_of(text_str(&said->body)), arena, &told);
    *ret_again = is_passing(said->status) ||
                 (remote->provider->moved != NULL && remote->provider->moved(remote, said)) ||
                 ((said->status == 401 || said->status == 403 || said->status == 400) &&
                  (take_skew(remote, said, told.code) || take_refusal(remote, used)));
    enum status status = tell_refusal(remote, ask, used, said, &told, arena, err);

    arena_destroy(arena);
    return status;
}

enum status remote_ask_once(struct remote *remote, const struct ask *ask, ask_take *take,
                            void *data, struct wire_said *ret, bool *ret_again, struct error *err)
{
    struct arena *arena = arena_create();
    struct wire_ask wire = {.method = ask->method, .take = take, .data = data};
    struct credentials credentials;
    enum status status = remote_credentials(remote, arena, &credentials, err);

    *ret = (struct wire_said){0};
    *ret_again = false;
    if (status == OK)
        status = remote->provider->prepare(remote, ask, &credentials, arena, &wire, err);
    if (status == OK) {
        wire.method = ask->method;
        wire.is_last = ask->is_last;
        status = wire_exchange(remote->wire, &wire, ret, err);
        *ret_again = status != OK && ret->was_cut;
        if (status != OK)
            error_context(err, "%.*s: ", STR_ARG(remote->name));
        else if ((ret->status < 200 || ret->status > 299) &&
                 !(ret->status == 308 && ask->session.count > 0))
            status = judge(remote, ask, &credentials, ret, ret_again, err);
    }
    arena_destroy(arena);
    return status;
}

enum status remote_ask(struct remote *remote, const struct ask *ask, ask_take *take, void *data,
                       struct wire_said *ret, struct error *err)
{
    struct error why = {0};
    enum status status;
    int64_t begin_ns = clock_monotonic_ns();

    for (unsigned attempt = 0;; attempt++) {
        bool again;

        why = (struct error){0};
        status = remote_ask_once(remote, ask, take, data, ret, &again, &why);
        ret->was_repeated = attempt > 0;
        if (status == OK || !again || attempt + 1 >= TRIES_MAX ||
            (ret->is_absent && clock_monotonic_ns() - begin_ns > ABSENT_S * INT64_C(1000000000)))
            break;
        bool goes_on = remote_pause(remote, attempt, ret);
        wire_said_free(ret);
        *ret = (struct wire_said){0};
        if (!goes_on)
            break;
    }
    return status == OK ? OK : fail(err, status, "%s", why.message);
}
