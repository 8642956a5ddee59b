/* SPDX-License-Identifier: Apache-2.0 */
/* Whose keys requests to S3 are signed with, in the order of AWS's own programs:
 *
 *   AWS_ACCESS_KEY_ID    AWS_ROLE_ARN with a token of the cluster    the profile of ~/.aws
 *   the container's      the machine's (IMDSv2)                      nobody
 */
#include "remote/remote_parts.h"

struct profile_reading {
    struct str wanted, session; /* of single sign-on: a section of its own */
    struct aws_profile *profile;
};

/* What stands first holds: the file of credentials is read before that of settings. */
static void take_value(void *data, const struct ini_value *value)
{
    struct profile_reading *reading = data;
    struct aws_profile *profile = reading->profile;
    const struct {
        const char *name;
        struct str *at;
    } members[] = {
        {"aws_access_key_id", &profile->key},
        {"aws_secret_access_key", &profile->secret},
        {"aws_session_token", &profile->token},
        {"region", &profile->region},
        {"endpoint_url", &profile->endpoint},
        {"role_arn", &profile->role},
        {"source_profile", &profile->source},
        {"role_session_name", &profile->session},
        {"web_identity_token_file", &profile->token_file},
        {"credential_process", &profile->process},
        {"sso_session", &profile->sso},
        {"sso_start_url", &profile->sso},
        {"sso_region", &profile->sso_region},
        {"sso_account_id", &profile->account},
        {"sso_role_name", &profile->sso_role},
        {"addressing_style", &profile->addressing},
        {"ca_bundle", &profile->ca_bundle},
    };

    if (reading->session.count > 0 && str_equal(value->section, reading->session) &&
        str_equal(value->name, STR("sso_region")) && profile->sso_region.count == 0)
        profile->sso_region = value->value;
    if (!str_equal(value->section, reading->wanted))
        return;
    profile->is_there = true;
    for (size_t i = 0; i < COUNT(members); i++)
        if (members[i].at->count == 0 && str_equal(value->name, str_of(members[i].name)))
            *members[i].at = value->value;
}

static void read_profile_file(const char *variable, const char *usual, struct arena *arena,
                              struct profile_reading *reading)
{
    struct str path = environment(variable);
    struct bytes bytes;

    if (path.count == 0)
        path = home_file(usual, arena);
    if (path.count > 0 && secret_file(path, arena, &bytes, &(struct error){0}) == OK)
        ini_read(bytes, take_value, reading);
}

void aws_profile_read(struct str name, struct arena *arena, struct aws_profile *ret)
{
    struct profile_reading reading = {name, STR(""), ret};
    const struct str none = STR("");

    *ret = (struct aws_profile){none, none, none, none, none, none, none, none, none,
                                none, none, none, none, none, none, none, none, false};
    ret->name = name;
    read_profile_file("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials", arena, &reading);
    read_profile_file("AWS_CONFIG_FILE", ".aws/config", arena, &reading);
    if (ret->sso.count == 0 || ret->sso_region.count > 0)
        return;
    reading.session = str_format(arena, "sso-session %.*s", STR_ARG(ret->sso));
    read_profile_file("AWS_CONFIG_FILE", ".aws/config", arena, &reading);
}

struct str aws_profile_name(void)
{
    struct str name = environment("AWS_PROFILE");

    if (name.count == 0)
        name = environment("AWS_DEFAULT_PROFILE");
    return name.count > 0 ? name : STR("default");
}

static void tell_key(struct credentials *ret, struct str from)
{
    ret->who = str_format(ret->arena, "the access key %.*s", STR_ARG(ret->key.id));
    ret->from = from;
}

static enum status from_environment(struct credentials *ret, bool *ret_found, struct error *err)
{
    struct str id = environment("AWS_ACCESS_KEY_ID"), secret = environment("AWS_SECRET_ACCESS_KEY");

    *ret_found = id.count > 0 || secret.count > 0;
    if (!*ret_found)
        return OK;
    if (id.count == 0 || secret.count == 0)
        return fail(
            err, ERR_INVALID,
            "only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set: set both or neither");
    ret->key = (struct sigv4_key){id, secret, environment("AWS_SESSION_TOKEN")};
    tell_key(ret, STR("AWS_ACCESS_KEY_ID in the environment"));
    return OK;
}

static enum status from_profile(struct remote *remote, const struct aws_profile *profile,
                                unsigned depth, struct credentials *ret, bool *ret_found,
                                struct error *err);

static enum status from_role(struct remote *remote, const struct aws_profile *profile,
                             unsigned depth, struct credentials *ret, struct error *err)
{
    struct aws_profile source;
    struct credentials lender = {.arena = ret->arena, .ends_s = INT64_MAX};
    bool found = false;

    if (profile->token_file.count > 0)
        return aws_web_identity(remote, profile->role, profile->token_file, profile->session, ret,
                                err);
    aws_profile_read(profile->source, ret->arena, &source);
    if (profile->source.count == 0 || depth > 3)
        return fail(err, ERR_UNSUPPORTED,
                    "the profile \"%.*s\" has a role but no source_profile: set one, or run `eval "
                    "\"$(aws configure export-credentials --format env)\"` first",
                    STR_ARG(profile->name));
    if (str_equal(profile->source, profile->name) && source.key.count > 0)
        lender.key = (struct sigv4_key){source.key, source.secret, source.token};
    else
        TRY(from_profile(remote, &source, depth + 1, &lender, &found, err));
    if (lender.key.id.count == 0)
        return fail(err, ERR_NOT_FOUND, "the source_profile \"%.*s\" contains no key",
                    STR_ARG(profile->source));
    return aws_assume_role(remote, profile->role, profile->session, &lender.key, ret, err);
}

static enum status from_profile(struct remote *remote, const struct aws_profile *profile,
                                unsigned depth, struct credentials *ret, bool *ret_found,
                                struct error *err)
{
    *ret_found = profile->role.count > 0 || profile->key.count > 0;
    if (profile->role.count > 0) {
        TRY(from_role(remote, profile, depth, ret, err));
        ret->from =
            str_format(ret->arena, "the profile \"%.*s\" of ~/.aws", STR_ARG(profile->name));
        return OK;
    }
    if (profile->key.count > 0) {
        if (profile->secret.count == 0)
            return fail(err, ERR_INVALID,
                        "the profile \"%.*s\" has aws_access_key_id but no aws_secret_access_key",
                        STR_ARG(profile->name));
        ret->key = (struct sigv4_key){profile->key, profile->secret, profile->token};
        tell_key(ret,
                 str_format(ret->arena, "the profile \"%.*s\" of ~/.aws", STR_ARG(profile->name)));
        return OK;
    }
    *ret_found = profile->sso.count > 0;
    if (profile->sso.count > 0) {
        TRY(aws_sso(remote, profile, ret, err));
        ret->from = str_format(ret->arena, "the single sign-on of the profile \"%.*s\" of ~/.aws",
                               STR_ARG(profile->name));
        return OK;
    }
    if (profile->process.count > 0)
        return fail(
            err, ERR_UNSUPPORTED,
            "the profile \"%.*s\" gets its keys by credential_process, which only AWS's own "
            "program "
            "supports: run `eval \"$(aws configure export-credentials --profile %.*s --format "
            "env)\"` first",
            STR_ARG(profile->name), STR_ARG(profile->name));
    return OK;
}

static enum status from_files(struct remote *remote, struct credentials *ret, bool *ret_found,
                              struct error *err)
{
    struct aws_profile profile;
    bool is_named = environment("AWS_PROFILE").count > 0;

    aws_profile_read(aws_profile_name(), ret->arena, &profile);
    if (is_named && !profile.is_there)
        return fail(err, ERR_NOT_FOUND,
                    "the profile \"%.*s\" of AWS_PROFILE is neither in ~/.aws/credentials nor in "
                    "~/.aws/config",
                    STR_ARG(profile.name));
    return from_profile(remote, &profile, 0, ret, ret_found, err);
}

/* Of the container, of the machine. ERR_NOT_FOUND is no failure: there are none. */
static enum status from_around(struct remote *remote, struct credentials *ret, bool *ret_found,
                               struct error *err)
{
    struct error why = {0};
    enum status status = aws_container(remote, ret, &why);

    if (status == ERR_NOT_FOUND) {
        why = (struct error){0};
        status = aws_machine(remote, ret, &why);
    }
    *ret_found = status == OK;
    if (status == ERR_NOT_FOUND || status == OK)
        return OK;
    return fail(err, status, "%s", why.message);
}

enum status aws_find(struct remote *remote, struct credentials *ret, struct error *err)
{
    struct str role = environment("AWS_ROLE_ARN");
    struct str token_file = environment("AWS_WEB_IDENTITY_TOKEN_FILE");
    bool found = false;

    ret->who = ret->from = ret->passed = STR("");
    ret->is_nobody = str_equal(environment("AWS_SKIP_SIGNATURE"), STR("true"));
    if (ret->is_nobody) {
        ret->who = STR("nobody (anonymous)");
        ret->from = STR("AWS_SKIP_SIGNATURE in the environment");
        ret->passed = ret->from;
        return OK;
    }
    TRY(from_environment(ret, &found, err));
    if (!found && role.count > 0 && token_file.count > 0) {
        found = true;
        TRY(aws_web_identity(remote, role, token_file, environment("AWS_ROLE_SESSION_NAME"), ret,
                             err));
    }
    if (!found)
        TRY(from_files(remote, ret, &found, err));
    if (!found)
        TRY(from_around(remote, ret, &found, err));
    if (found)
        return OK;
    credentials_none(ret, STR("there are no credentials"),
                     str_format(ret->arena,
                                "AWS_ACCESS_KEY_ID, AWS_WEB_IDENTITY_TOKEN_FILE, the profile "
                                "\"%.*s\" of ~/.aws, the container, this machine's role",
                                STR_ARG(aws_profile_name())));
    return OK;
}
