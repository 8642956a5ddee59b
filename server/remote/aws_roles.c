/* SPDX-License-Identifier: Apache-2.0 */
/* Keys for a time from AWS's token service: for a token of the cluster (IRSA), or other keys. */
#include "remote/digest_parts.h"
#include "remote/remote_parts.h"

enum { DURATION_S = 3600 };

struct service {
    struct str url, host, path;
};

/* AWS_ENDPOINT_URL_STS, AWS_ENDPOINT_URL, or the region's. */
static struct service find_service(const struct remote *remote, struct arena *arena)
{
    struct str given = environment("AWS_ENDPOINT_URL_STS");
    bool is_chinese = str_starts(str_of(remote->region), STR("cn-"));

    if (given.count == 0)
        given = environment("AWS_ENDPOINT_URL");
    if (given.count == 0)
        given = str_format(arena, "https://sts.%s.amazonaws.com%s", remote->region,
                           is_chinese ? ".cn" : "");
    while (given.count > 0 && given.at[given.count - 1] == '/')
        given.count--;
    const char *colon = memmem(given.at, given.count, "://", 3);
    struct str host = colon == NULL ? given : str_skip(given, (size_t)(colon - given.at) + 3);
    const char *slash = memchr(host.at, '/', host.count);
    struct str path = slash == NULL ? STR("/") : str_skip(host, (size_t)(slash - host.at));

    if (slash != NULL)
        host.count = (size_t)(slash - host.at);
    return (struct service){
        .url = str_format(arena, "%.*s%s", STR_ARG(given), slash == NULL ? "/" : ""),
        .host = host,
        .path = path};
}

static struct str form_of(const char *action, struct str role, struct str session, struct str token,
                          struct arena *arena)
{
    struct str form = query_put(STR(""), "Action", str_of(action), arena);

    form = query_put(form, "Version", STR("2011-06-15"), arena);
    form = query_put(form, "RoleArn", role, arena);
    form = query_put(form, "RoleSessionName", session.count > 0 ? session : STR("jviewd"), arena);
    form = query_put(form, "DurationSeconds", str_format(arena, "%d", DURATION_S), arena);
    return token.count > 0 ? query_put(form, "WebIdentityToken", token, arena) : form;
}

static enum status take_answer(struct remote *remote, const struct wire_ask *ask, struct str role,
                               struct credentials *ret, struct error *err)
{
    struct bytes body;

    TRY(remote_authority(remote, ask, "AWS's token service", ret->arena, &body, err));
    TRY(document_keys_xml(body, ret->arena, &ret->key, &ret->ends_s, err));
    ret->who = str_format(ret->arena, "the role %.*s", STR_ARG(role));
    return OK;
}

enum status aws_web_identity(struct remote *remote, struct str role, struct str token_file,
                             struct str session, struct credentials *ret, struct error *err)
{
    struct service service = find_service(remote, ret->arena);
    struct wire_ask ask = {.method = "POST", .url = service.url};
    struct bytes token;

    TRY(secret_file(token_file, ret->arena, &token, err));
    struct str text = {(const char *)token.at, token.count};

    while (text.count > 0 && (unsigned char)text.at[text.count - 1] <= ' ')
        text.count--;
    ask.body = bytes_of(form_of("AssumeRoleWithWebIdentity", role, session, text, ret->arena));
    TRY(take_answer(remote, &ask, role, ret, err));
    ret->from = str_format(ret->arena, "the token in %.*s", STR_ARG(token_file));
    return OK;
}

enum status aws_assume_role(struct remote *remote, struct str role, struct str session,
                            const struct sigv4_key *source, struct credentials *ret,
                            struct error *err)
{
    struct service service = find_service(remote, ret->arena);
    struct wire_ask ask = {.method = "POST", .url = service.url};
    const struct str type = STR("content-type:application/x-www-form-urlencoded");

    ask.body = bytes_of(form_of("AssumeRole", role, session, STR(""), ret->arena));
    const struct sigv4_ask signature = {.method = "POST",
                                        .host = service.host,
                                        .path = service.path,
                                        .query = STR(""),
                                        .region = str_of(remote->region),
                                        .service = STR("sts"),
                                        .body = ask.body,
                                        .headers = &type,
                                        .header_count = 1,
                                        .time_s = remote_now_s(remote)};

    TRY(sigv4_sign(&signature, source, ret->arena, &ask, err));
    return take_answer(remote, &ask, role, ret, err);
}
