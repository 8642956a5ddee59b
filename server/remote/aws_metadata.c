/* SPDX-License-Identifier: Apache-2.0 */
/* Keys that a container or a machine of AWS has by itself. */
#include "remote/digest_parts.h"
#include "remote/remote_parts.h"

#define MACHINE "http://169.254.169.254"
#define CONTAINER "http://169.254.170.2"

/* A token may go to the machine itself, to the two addresses of AWS's agents, or over TLS. */
static bool may_be_told(struct str url)
{
    static const char *const near[] = {"http://localhost",      "http://127.0.0.1",
                                       "http://[::1]",          "http://169.254.170.2",
                                       "http://169.254.170.23", "http://[fd00:ec2::23]"};

    if (str_starts(url, STR("https://")))
        return true;
    for (size_t i = 0; i < COUNT(near); i++) {
        struct str begin = str_of(near[i]);

        if (str_starts(url, begin) &&
            (url.count == begin.count || url.at[begin.count] == ':' || url.at[begin.count] == '/'))
            return true;
    }
    return false;
}

static enum status read_token(struct arena *arena, struct str *ret, struct error *err)
{
    struct str path = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
    struct bytes bytes;

    *ret = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN");
    if (path.count == 0)
        return OK;
    TRY(secret_file(path, arena, &bytes, err));
    *ret = (struct str){(const char *)bytes.at, bytes.count};
    while (ret->count > 0 && (unsigned char)ret->at[ret->count - 1] <= ' ')
        ret->count--;
    return OK;
}

enum status aws_container(struct remote *remote, struct credentials *ret, struct error *err)
{
    struct str relative = environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    struct str url = environment("AWS_CONTAINER_CREDENTIALS_FULL_URI"), token;
    struct bytes body;

    if (relative.count > 0)
        url = str_format(ret->arena, CONTAINER "%.*s", STR_ARG(relative));
    if (url.count == 0)
        return fail(err, ERR_NOT_FOUND, "this is not an AWS container");
    if (!may_be_told(url))
        return fail(err, ERR_PERMISSION,
                    "AWS_CONTAINER_CREDENTIALS_FULL_URI is neither on this machine nor https: it "
                    "is not used");
    struct wire_ask ask = {.method = "GET", .url = url, .is_near = true};

    TRY(read_token(ret->arena, &token, err));
    if (token.count > 0)
        wire_header(&ask, str_format(ret->arena, "Authorization: %.*s", STR_ARG(token)));
    TRY(remote_authority(remote, &ask, "the container's credentials", ret->arena, &body, err));
    TRY(document_keys_json(body, ret->arena, &ret->key, &ret->ends_s, err));
    ret->who = str_format(ret->arena, "the temporary access key %.*s", STR_ARG(ret->key.id));
    ret->from = STR("this container's role");
    return OK;
}

static enum status ask_machine(struct remote *remote, struct str base, const char *method,
                               struct str path, struct str header, struct arena *arena,
                               struct bytes *ret, struct error *err)
{
    struct wire_ask ask = {.method = method,
                           .url =
                               str_format(arena, "%.*s/latest/%.*s", STR_ARG(base), STR_ARG(path)),
                           .is_near = true};

    wire_header(&ask, header);
    return remote_authority(remote, &ask, "this machine's metadata", arena, ret, err);
}

/* The first line. */
static struct str line_of(struct bytes bytes)
{
    size_t count = 0;

    while (count < bytes.count && bytes.at[count] > ' ')
        count++;
    return (struct str){(const char *)bytes.at, count};
}

enum status aws_machine(struct remote *remote, struct credentials *ret, struct error *err)
{
    static const char roles[] = "meta-data/iam/security-credentials/";
    struct str base = environment("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    struct error absent = {0};
    struct bytes body;

    if (str_equal_fold(environment("AWS_EC2_METADATA_DISABLED"), STR("true")))
        return fail(err, ERR_NOT_FOUND, "this machine's metadata is not used");
    if (base.count == 0)
        base = STR(MACHINE);
    while (base.at[base.count - 1] == '/')
        base.count--;
    if (ask_machine(remote, base, "PUT", STR("api/token"),
                    STR("X-aws-ec2-metadata-token-ttl-seconds: 21600"), ret->arena, &body,
                    &absent) != OK)
        return fail(err, ERR_NOT_FOUND, "this is not an AWS machine: %s", absent.message);
    struct str header =
        str_format(ret->arena, "X-aws-ec2-metadata-token: %.*s", STR_ARG(line_of(body)));

    TRY(ask_machine(remote, base, "GET", str_of(roles), header, ret->arena, &body, err));
    struct str role = line_of(body);

    TRY(ask_machine(remote, base, "GET", str_format(ret->arena, "%s%.*s", roles, STR_ARG(role)),
                    header, ret->arena, &body, err));
    TRY(document_keys_json(body, ret->arena, &ret->key, &ret->ends_s, err));
    ret->who = str_format(ret->arena, "the role %.*s", STR_ARG(role));
    ret->from = STR("this machine (EC2's metadata)");
    return OK;
}
