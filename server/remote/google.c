/* SPDX-License-Identifier: Apache-2.0 */
/* A token of Google, in the order of its own libraries (application default credentials):
 *
 *   GOOGLE_APPLICATION_CREDENTIALS    gcloud's file    this machine's metadata    nobody
 *
 * Before gcloud's file, HMAC keys are taken: GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY.
 *
 * A file is of a service account (a claim signed with its key), of a user (a token that renews),
 * or of another party whose token Google takes (workload identity).
 * https://google.aip.dev/auth
 */
#include <stdio.h>

#include "remote/digest_parts.h"
#include "remote/remote_parts.h"

#define SCOPE "https://www.googleapis.com/auth/devstorage.read_write"
#define TOKEN_URI "https://oauth2.googleapis.com/token"
#define STS_URI "https://sts.googleapis.com/v1/token"

enum { CLAIM_S = 3600 };

/* Keys go to Google alone, or to this machine: a file that somebody else wrote may name any
 * address. */
static enum status check_uri(struct str uri, struct error *err)
{
    const char *at = memmem(uri.at, uri.count, "://", 3);
    struct str host = at == NULL ? STR("") : str_skip(uri, (size_t)(at - uri.at) + 3);
    size_t count = 0;

    while (count < host.count && host.at[count] != '/' && host.at[count] != '?')
        count++;
    host.count = count;
    if (str_starts(uri, STR("https://")) &&
        (str_equal(host, STR("googleapis.com")) || str_ends(host, STR(".googleapis.com")) ||
         str_equal(host, STR("accounts.google.com"))))
        return OK;
    if (str_starts(host, STR("localhost:")) || str_starts(host, STR("127.0.0.1:")))
        return OK;
    return fail(err, ERR_PERMISSION,
                "its token address %.*s does not belong to Google: the key is not sent there",
                STR_ARG(host));
}

static enum status ask_token(struct remote *remote, struct str uri, struct str form,
                             struct credentials *ret, struct error *err)
{
    struct wire_ask ask = {.method = "POST", .url = uri, .body = bytes_of(form)};
    struct bytes body;

    TRY(check_uri(uri, err));
    wire_header(&ask, STR("Content-Type: application/x-www-form-urlencoded"));
    TRY(remote_authority(remote, &ask, "Google's token service", ret->arena, &body, err));
    TRY(document_token(body, remote_now_s(remote), ret->arena, &ret->token, err));
    ret->ends_s = ret->token.ends_s;
    return OK;
}

enum status google_claim(const struct google_file *file, int64_t now_s, struct arena *arena,
                         struct str *ret, struct error *err)
{
    struct str head = str_format(arena, "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"%.*s\"}",
                                 STR_ARG(file->key_id));
    struct str uri = file->token_uri.count > 0 ? file->token_uri : STR(TOKEN_URI);
    struct str claim = str_format(
        arena,
        "{\"iss\":\"%.*s\",\"scope\":\"" SCOPE "\",\"aud\":\"%.*s\",\"iat\":%lld,\"exp\":%lld}",
        STR_ARG(file->email), STR_ARG(uri), (long long)now_s, (long long)(now_s + CLAIM_S));
    struct str text = str_format(arena, "%.*s.%.*s", STR_ARG(base64url_of(bytes_of(head), arena)),
                                 STR_ARG(base64url_of(bytes_of(claim), arena)));
    struct bytes signature;

    TRY(digest_rsa(file->key, bytes_of(text), arena, &signature, err));
    *ret = str_format(arena, "%.*s.%.*s", STR_ARG(text), STR_ARG(base64url_of(signature, arena)));
    return OK;
}

/* What stands in a claim as it is may hold no quote. */
static bool is_plain(struct str text)
{
    for (size_t i = 0; i < text.count; i++)
        if ((unsigned char)text.at[i] < ' ' || text.at[i] == '"' || text.at[i] == '\\')
            return false;
    return true;
}

static enum status of_service_account(struct remote *remote, const struct google_file *file,
                                      struct credentials *ret, struct error *err)
{
    struct str claim, uri = file->token_uri.count > 0 ? file->token_uri : STR(TOKEN_URI);

    if (file->email.count == 0 || file->key.count == 0 || !is_plain(file->email) ||
        !is_plain(file->key_id) || !is_plain(uri))
        return fail(err, ERR_FORMAT, "it contains no client_email or no private_key");
    TRY(google_claim(file, remote_now_s(remote), ret->arena, &claim, err));
    struct str form = query_put(STR(""), "grant_type",
                                STR("urn:ietf:params:oauth:grant-type:jwt-bearer"), ret->arena);

    ret->who = str_format(ret->arena, "the service account %.*s", STR_ARG(file->email));
    return ask_token(remote, uri, query_put(form, "assertion", claim, ret->arena), ret, err);
}

static enum status of_user(struct remote *remote, const struct google_file *file,
                           struct credentials *ret, struct error *err)
{
    struct str form = query_put(STR(""), "client_id", file->client_id, ret->arena);

    if (file->refresh.count == 0)
        return fail(err, ERR_FORMAT,
                    "it contains no refresh_token: run `gcloud auth application-default login`");
    form = query_put(form, "client_secret", file->client_secret, ret->arena);
    form = query_put(form, "grant_type", STR("refresh_token"), ret->arena);
    form = query_put(form, "refresh_token", file->refresh, ret->arena);
    ret->who = STR("the user of gcloud");
    return ask_token(remote, file->token_uri.count > 0 ? file->token_uri : STR(TOKEN_URI), form,
                     ret, err);
}

static enum status subject_token(const struct google_file *file, struct arena *arena,
                                 struct str *ret, struct error *err)
{
    struct bytes bytes;

    if (file->subject_file.count == 0)
        return fail(err, ERR_UNSUPPORTED,
                    "its credential_source is not a file: others (url, executable, aws) are not "
                    "supported; use `gcloud auth application-default login`");
    TRY(secret_file(file->subject_file, arena, &bytes, err));
    *ret = (struct str){(const char *)bytes.at, bytes.count};
    if (file->subject_field.count > 0)
        *ret = document_member(bytes, str_c(arena, file->subject_field), arena);
    while (ret->count > 0 && (unsigned char)ret->at[ret->count - 1] <= ' ')
        ret->count--;
    return OK;
}

static enum status impersonate(struct remote *remote, const struct google_file *file,
                               struct credentials *ret, struct error *err)
{
    struct wire_ask ask = {.method = "POST",
                           .url = file->impersonation_url,
                           .body = BYTES("{\"scope\":[\"" SCOPE "\"]}")};
    struct bytes body;

    TRY(check_uri(ask.url, err));
    wire_header(&ask, STR("Content-Type: application/json"));
    wire_header(&ask,
                str_format(ret->arena, "Authorization: Bearer %.*s", STR_ARG(ret->token.text)));
    TRY(remote_authority(remote, &ask, "Google's impersonation", ret->arena, &body, err));
    TRY(document_token(body, remote_now_s(remote), ret->arena, &ret->token, err));
    ret->ends_s = ret->token.ends_s;
    return OK;
}

static enum status of_other_party(struct remote *remote, const struct google_file *file,
                                  struct credentials *ret, struct error *err)
{
    struct arena *arena = ret->arena;
    struct str token, form = query_put(STR(""), "audience", file->audience, arena);
    struct str scope = file->impersonation_url.count > 0
                           ? STR("https://www.googleapis.com/auth/cloud-platform")
                           : STR(SCOPE);

    TRY(subject_token(file, arena, &token, err));
    form = query_put(form, "grant_type", STR("urn:ietf:params:oauth:grant-type:token-exchange"),
                     arena);
    form = query_put(form, "requested_token_type",
                     STR("urn:ietf:params:oauth:token-type:access_token"), arena);
    form = query_put(form, "scope", scope, arena);
    form = query_put(form, "subject_token", token, arena);
    form = query_put(form, "subject_token_type", file->subject_type, arena);
    ret->who = STR("workload identity");
    TRY(ask_token(remote, file->token_uri.count > 0 ? file->token_uri : STR(STS_URI), form, ret,
                  err));
    return file->impersonation_url.count > 0 ? impersonate(remote, file, ret, err) : OK;
}

static enum status use_file(struct remote *remote, struct str path, struct bytes bytes,
                            struct credentials *ret, struct error *err)
{
    struct google_file file;
    enum status status = document_google_file(bytes, ret->arena, &file, err);

    if (status == OK && str_equal(file.type, STR("service_account")))
        status = of_service_account(remote, &file, ret, err);
    else if (status == OK && str_equal(file.type, STR("authorized_user")))
        status = of_user(remote, &file, ret, err);
    else if (status == OK && str_equal(file.type, STR("external_account")))
        status = of_other_party(remote, &file, ret, err);
    else if (status == OK)
        status = fail(err, ERR_UNSUPPORTED,
                      "credentials of type \"%.*s\" are not supported; service_account, "
                      "authorized_user and external_account are",
                      STR_ARG(file.type));
    if (status != OK)
        error_context(err, "%.*s: ", STR_ARG(path));
    ret->from = path;
    return status;
}

/* GCE_METADATA_HOST is what Google's libraries go by. */
static enum status of_machine(struct remote *remote, struct credentials *ret, struct error *err)
{
    struct str host = environment("GCE_METADATA_HOST");
    struct wire_ask ask = {.method = "GET", .is_near = true};
    struct bytes body;

    if (host.count == 0)
        host = STR("metadata.google.internal");
    ask.url = str_format(ret->arena,
                         "http://%.*s/computeMetadata/v1/instance/service-accounts/default/token",
                         STR_ARG(host));
    wire_header(&ask, STR("Metadata-Flavor: Google"));
    TRY(remote_authority(remote, &ask, "this machine's metadata", ret->arena, &body, err));
    TRY(document_token(body, remote_now_s(remote), ret->arena, &ret->token, err));
    ret->ends_s = ret->token.ends_s;
    ret->who = STR("the service account of this machine");
    ret->from = STR("the metadata server of Google Cloud");
    return OK;
}

static struct str usual_file(struct arena *arena)
{
    struct str place = environment("CLOUDSDK_CONFIG");

    return place.count > 0
               ? str_format(arena, "%.*s/application_default_credentials.json", STR_ARG(place))
               : home_file(".config/gcloud/application_default_credentials.json", arena);
}

bool google_has_keys(void)
{
    return environment("GOOGLE_APPLICATION_CREDENTIALS").count == 0 &&
           (environment("GS_ACCESS_KEY_ID").count > 0 ||
            environment("GS_SECRET_ACCESS_KEY").count > 0);
}

enum status google_find_keys(struct remote *remote, struct credentials *ret, struct error *err)
{
    struct str id = environment("GS_ACCESS_KEY_ID"), secret = environment("GS_SECRET_ACCESS_KEY");
    (void)remote;

    if (id.count == 0 || secret.count == 0)
        return fail(
            err, ERR_INVALID,
            "only one of GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY is set: set both or neither");
    ret->key = (struct sigv4_key){id, secret, STR("")};
    ret->who = str_format(ret->arena, "the HMAC key %.*s", STR_ARG(id));
    ret->from = STR("GS_ACCESS_KEY_ID in the environment");
    ret->passed = STR("");
    return OK;
}

enum status google_find(struct remote *remote, struct credentials *ret, struct error *err)
{
    struct str path = environment("GOOGLE_APPLICATION_CREDENTIALS");
    struct error absent = {0};
    struct bytes bytes;

    ret->who = ret->from = ret->passed = STR("");
    if (path.count > 0) {
        TRY(secret_file(path, ret->arena, &bytes, err));
        return use_file(remote, path, bytes, ret, err);
    }
    path = usual_file(ret->arena);
    if (path.count > 0 && secret_file(path, ret->arena, &bytes, &(struct error){0}) == OK)
        return use_file(remote, path, bytes, ret, err);
    enum status status = of_machine(remote, ret, &absent);

    if (status == OK)
        return OK;
    if (status != ERR_NOT_FOUND && status != ERR_IO)
        return fail(err, status, "%s", absent.message);
    credentials_none(ret, STR("there are no credentials"),
                     STR("GOOGLE_APPLICATION_CREDENTIALS, gcloud's file, this machine's metadata"));
    return OK;
}
