/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of AWS's single sign-on, by the token that `aws sso login` left:
 *
 *   ~/.aws/sso/cache/<SHA-1 of the session's name, or of the start URL>.json      the token
 *   GET https://portal.sso.REGION.amazonaws.com/federation/credentials            keys for a role
 *
 * The token is not renewed here: that is what the command is for, which a browser belongs to.
 */
#include "remote/digest_parts.h"
#include "remote/remote_parts.h"

static enum status log_in(const struct aws_profile *profile, const char *why, struct error *err)
{
    return fail(err, ERR_PERMISSION,
                "the single sign-on of the profile \"%.*s\" %s: run `aws sso login --profile %.*s`",
                STR_ARG(profile->name), why, STR_ARG(profile->name));
}

/* Only a region's name becomes part of a host. */
static bool is_region(struct str region)
{
    for (size_t i = 0; i < region.count; i++)
        if (!((region.at[i] >= 'a' && region.at[i] <= 'z') || region.at[i] == '-' ||
              (region.at[i] >= '0' && region.at[i] <= '9')))
            return false;
    return region.count > 0 && region.count < 64;
}

static enum status read_token(struct remote *remote, const struct aws_profile *profile,
                              struct arena *arena, struct str *ret, struct error *err)
{
    struct str hash;
    struct bytes bytes;
    int64_t ends_ns = 0;

    TRY(digest_sha1_hex(bytes_of(profile->sso), arena, &hash, err));
    struct str path =
        home_file(str_format(arena, ".aws/sso/cache/%.*s.json", STR_ARG(hash)).at, arena);

    if (path.count == 0 || secret_file(path, arena, &bytes, &(struct error){0}) != OK)
        return log_in(profile, "was not done on this machine", err);
    *ret = document_member(bytes, "accessToken", arena);
    if (ret->count == 0 || !time_read(document_member(bytes, "expiresAt", arena), &ends_ns))
        return log_in(profile, "left a file without a token", err);
    return ends_ns / 1000000000 > remote_now_s(remote) ? OK : log_in(profile, "has expired", err);
}

/* AWS_ENDPOINT_URL_SSO is what AWS's own programs go by. */
static struct str url_of(const struct aws_profile *profile, struct arena *arena)
{
    struct str base = environment("AWS_ENDPOINT_URL_SSO");
    struct str query = query_put(STR(""), "account_id", profile->account, arena);

    while (base.count > 0 && base.at[base.count - 1] == '/')
        base.count--;
    if (base.count == 0)
        base = str_format(arena, "https://portal.sso.%.*s.amazonaws.com%s",
                          STR_ARG(profile->sso_region),
                          str_starts(profile->sso_region, STR("cn-")) ? ".cn" : "");
    return str_format(arena, "%.*s/federation/credentials?%.*s", STR_ARG(base),
                      STR_ARG(query_put(query, "role_name", profile->sso_role, arena)));
}

enum status aws_sso(struct remote *remote, const struct aws_profile *profile,
                    struct credentials *ret, struct error *err)
{
    struct wire_ask ask = {.method = "GET"};
    struct error why = {0};
    struct bytes body;
    struct str token = STR("");

    if (profile->account.count == 0 || profile->sso_role.count == 0 ||
        !is_region(profile->sso_region))
        return fail(err, ERR_INVALID,
                    "the profile \"%.*s\" has single sign-on, but not sso_account_id, "
                    "sso_role_name and sso_region: run `aws configure sso`",
                    STR_ARG(profile->name));
    TRY(read_token(remote, profile, ret->arena, &token, err));
    ask.url = url_of(profile, ret->arena);
    wire_header(&ask, str_format(ret->arena, "x-amz-sso_bearer_token: %.*s", STR_ARG(token)));
    enum status status =
        remote_authority(remote, &ask, "AWS's single sign-on", ret->arena, &body, &why);
    if (status == ERR_PERMISSION)
        return log_in(profile, "is refused", err);
    if (status != OK)
        return fail(err, status, "%s", why.message);
    TRY(document_keys_sso(body, ret->arena, &ret->key, &ret->ends_s, err));
    ret->who = str_format(ret->arena, "the role %.*s of the account %.*s",
                          STR_ARG(profile->sso_role), STR_ARG(profile->account));
    return OK;
}
