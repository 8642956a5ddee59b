/* SPDX-License-Identifier: Apache-2.0 */
/* JSON of stores and authorities, by Jansson: Google's lists, tokens, keys, credentials. */
#include <jansson.h>

#include "remote/documents_parts.h"

enum { OBJECTS_MAX = 10000 };

static json_t *load(struct bytes bytes, struct error *err)
{
    json_error_t why;
    json_t *ret = json_loadb((const char *)bytes.at, bytes.count, 0, &why);

    if (ret == NULL)
        fail(err, ERR_FORMAT, "the answer is not valid JSON: byte %d is unexpected", why.position);
    else if (!json_is_object(ret)) {
        json_decref(ret);
        ret = NULL;
        fail(err, ERR_FORMAT, "the answer is not a JSON object");
    }
    return ret;
}

static struct str member(const json_t *object, const char *name, struct arena *arena)
{
    const json_t *value = json_object_get(object, name);

    if (!json_is_string(value))
        return STR("");
    return str_copy(arena, (struct str){json_string_value(value), json_string_length(value)});
}

/* A number, or a text that is one: Google writes 64 bits as text. */
static bool number(const json_t *object, const char *name, int64_t *ret)
{
    const json_t *value = json_object_get(object, name);

    if (json_is_integer(value)) {
        *ret = json_integer_value(value);
        return true;
    }
    return json_is_string(value) && str_to_i64(str_of(json_string_value(value)), ret);
}

static bool take_object(const json_t *item, struct arena *arena, struct remote_object *ret)
{
    int64_t bytes, generation;
    struct str updated = member(item, "updated", arena);

    *ret = (struct remote_object){.path = member(item, "name", arena),
                                  .version = member(item, "etag", arena)};
    if (ret->path.count == 0 || !number(item, "size", &bytes) || bytes < 0)
        return false;
    ret->bytes = (uint64_t)bytes;
    if (number(item, "generation", &generation))
        ret->version = str_format(arena, "%lld", (long long)generation);
    (void)time_read(updated, &ret->modified_ns);
    return true;
}

enum status document_google_list(struct bytes bytes, struct arena *arena, struct page *ret,
                                 struct error *err)
{
    json_t *object = load(bytes, err);

    *ret = (struct page){.next = STR("")};
    if (object == NULL)
        return ERR_FORMAT;
    const json_t *items = json_object_get(object, "items");
    size_t count = json_array_size(items);
    enum status status = OK;

    if (count > OBJECTS_MAX || (items != NULL && !json_is_array(items)))
        status =
            fail(err, ERR_FORMAT, "the answer is not a list of at most %d objects", OBJECTS_MAX);
    ret->at = arena_array(arena, struct remote_object, count + 1);
    for (size_t i = 0; status == OK && i < count; i++)
        ret->count += take_object(json_array_get(items, i), arena, &ret->at[ret->count]);
    ret->next = member(object, "nextPageToken", arena);
    json_decref(object);
    return status;
}

struct str document_member(struct bytes bytes, const char *name, struct arena *arena)
{
    json_t *object = load(bytes, &(struct error){0});
    const json_t *within = json_object_get(object, "error");
    struct str ret = member(object, name, arena);

    if (ret.count == 0 && json_is_object(within))
        ret = member(within, name, arena);
    if (ret.count == 0 && strcmp(name, "message") == 0)
        ret = member(object, "error_description", arena);
    if (ret.count > 300)
        ret.count = 300;
    json_decref(object);
    return ret;
}

enum status document_token(struct bytes bytes, int64_t now_s, struct arena *arena,
                           struct token *ret, struct error *err)
{
    json_t *object = load(bytes, err);
    int64_t seconds = 0, ends_ns = 0;

    if (object == NULL)
        return ERR_FORMAT;
    *ret = (struct token){.text = member(object, "access_token", arena)};
    if (ret->text.count == 0)
        ret->text = member(object, "accessToken", arena);
    bool has_time = number(object, "expires_in", &seconds) && seconds > 0 && seconds < 1 << 28;

    if (!has_time && time_read(member(object, "expireTime", arena), &ends_ns))
        seconds = ends_ns / 1000000000 - now_s;
    else if (!has_time)
        seconds = 300;
    ret->ends_s = now_s + seconds;
    json_decref(object);
    return ret->text.count > 0 ? OK : fail(err, ERR_FORMAT, "the answer holds no access token");
}

enum status document_keys_json(struct bytes bytes, struct arena *arena, struct sigv4_key *ret,
                               int64_t *ret_ends_s, struct error *err)
{
    json_t *object = load(bytes, err);
    int64_t ends_ns;

    if (object == NULL)
        return ERR_FORMAT;
    *ret = (struct sigv4_key){.id = member(object, "AccessKeyId", arena),
                              .secret = member(object, "SecretAccessKey", arena),
                              .token = member(object, "Token", arena)};
    if (ret->token.count == 0)
        ret->token = member(object, "SessionToken", arena);
    *ret_ends_s =
        time_read(member(object, "Expiration", arena), &ends_ns) ? ends_ns / 1000000000 : INT64_MAX;
    json_decref(object);
    return ret->id.count > 0 && ret->secret.count > 0
               ? OK
               : fail(err, ERR_FORMAT, "the answer holds no key");
}

/* Of workload identity: where the token of the other party is read from. */
static void take_source(const json_t *source, struct arena *arena, struct google_file *ret)
{
    const json_t *format = json_object_get(source, "format");

    ret->subject_file = member(source, "file", arena);
    if (str_equal(member(format, "type", arena), STR("json")))
        ret->subject_field = member(format, "subject_token_field_name", arena);
}

enum status document_keys_sso(struct bytes bytes, struct arena *arena, struct sigv4_key *ret,
                              int64_t *ret_ends_s, struct error *err)
{
    json_t *object = load(bytes, err);
    int64_t ends_ms = 0;

    if (object == NULL)
        return ERR_FORMAT;
    const json_t *keys = json_object_get(object, "roleCredentials");

    *ret = (struct sigv4_key){member(keys, "accessKeyId", arena),
                              member(keys, "secretAccessKey", arena),
                              member(keys, "sessionToken", arena)};
    bool whole = ret->id.count > 0 && ret->secret.count > 0 && number(keys, "expiration", &ends_ms);

    json_decref(object);
    *ret_ends_s = ends_ms / 1000;
    return whole ? OK : fail(err, ERR_FORMAT, "the single sign-on answers without a key");
}

enum status document_google_file(struct bytes bytes, struct arena *arena, struct google_file *ret,
                                 struct error *err)
{
    json_t *object = load(bytes, err);

    if (object == NULL)
        return ERR_FORMAT;
    *ret = (struct google_file){
        .type = member(object, "type", arena),
        .email = member(object, "client_email", arena),
        .key = member(object, "private_key", arena),
        .key_id = member(object, "private_key_id", arena),
        .token_uri = member(object, "token_uri", arena),
        .client_id = member(object, "client_id", arena),
        .client_secret = member(object, "client_secret", arena),
        .refresh = member(object, "refresh_token", arena),
        .audience = member(object, "audience", arena),
        .subject_type = member(object, "subject_token_type", arena),
        .impersonation_url = member(object, "service_account_impersonation_url", arena),
        .subject_file = STR(""),
        .subject_field = STR(""),
    };
    if (ret->token_uri.count == 0)
        ret->token_uri = member(object, "token_url", arena);
    take_source(json_object_get(object, "credential_source"), arena, ret);
    json_decref(object);
    return ret->type.count > 0 ? OK : fail(err, ERR_FORMAT, "it has no \"type\"");
}
