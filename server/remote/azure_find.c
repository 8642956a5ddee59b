/* SPDX-License-Identifier: Apache-2.0 */
/* Whose account it is, and by what it is asked:
 *
 *   AZURE_STORAGE_CONNECTION_STRING    AZURE_STORAGE_KEY    AZURE_STORAGE_SAS_TOKEN
 *   AZURE_CLIENT_ID with a secret or a token of the cluster    this machine's identity    nobody
 */
#include "remote/azure_parts.h"
#include "remote/digest_parts.h"

#define SUFFIX "core.windows.net"
#define RESOURCE "https://storage.azure.com/"

/* Of Azure's emulators, the same everywhere and no secret. */
#define EMULATOR_NAME "devstoreaccount1"
#define EMULATOR_KEY                                                                               \
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
#define EMULATOR_ENDPOINT "http://127.0.0.1:10000/devstoreaccount1"

/* The value of NAME in "NAME=value;NAME=value"; values hold "=". */
static struct str part_of(struct str text, const char *name)
{
    struct str wanted = str_of(name);

    while (text.count > 0) {
        const char *end = memchr(text.at, ';', text.count);
        size_t count = end == NULL ? text.count : (size_t)(end - text.at);

        if (count > wanted.count && text.at[wanted.count] == '=' &&
            str_equal_fold((struct str){text.at, wanted.count}, wanted))
            return (struct str){text.at + wanted.count + 1, count - wanted.count - 1};
        text = str_skip(text, end == NULL ? count : count + 1);
    }
    return STR("");
}

static struct str first_of(struct str a, struct str b)
{
    return a.count > 0 ? a : b;
}

static void read_connection(struct str text, struct arena *arena, struct azure_account *ret)
{
    struct str protocol = first_of(part_of(text, "DefaultEndpointsProtocol"), STR("https"));
    struct str suffix = first_of(part_of(text, "EndpointSuffix"), STR(SUFFIX));

    ret->name = part_of(text, "AccountName");
    ret->key = part_of(text, "AccountKey");
    ret->sas = part_of(text, "SharedAccessSignature");
    ret->endpoint = part_of(text, "BlobEndpoint");
    ret->from = STR("AZURE_STORAGE_CONNECTION_STRING in the environment");
    if (str_equal_fold(part_of(text, "UseDevelopmentStorage"), STR("true"))) {
        ret->name = STR(EMULATOR_NAME);
        ret->key = STR(EMULATOR_KEY);
        ret->endpoint = STR(EMULATOR_ENDPOINT);
    }
    if (ret->endpoint.count == 0 && ret->name.count > 0)
        ret->endpoint = str_format(arena, "%.*s://%.*s.blob.%.*s", STR_ARG(protocol),
                                   STR_ARG(ret->name), STR_ARG(suffix));
}

static void read_variables(const struct address *address, struct arena *arena,
                           struct azure_account *ret)
{
    struct str host = address->host;

    ret->name = first_of(address->account, first_of(environment("AZURE_STORAGE_ACCOUNT"),
                                                    environment("AZURE_STORAGE_ACCOUNT_NAME")));
    ret->key = first_of(environment("AZURE_STORAGE_KEY"), environment("AZURE_STORAGE_ACCOUNT_KEY"));
    ret->sas = environment("AZURE_STORAGE_SAS_TOKEN");
    ret->from = ret->key.count > 0   ? STR("AZURE_STORAGE_KEY in the environment")
                : ret->sas.count > 0 ? STR("AZURE_STORAGE_SAS_TOKEN in the environment")
                                     : STR("");
    const char *dfs = memmem(host.at, host.count, ".dfs.", 5);

    if (dfs != NULL) /* the same account answers as blob storage */
        ret->endpoint = str_format(arena, "https://%.*s.blob.%.*s", (int)(dfs - host.at), host.at,
                                   STR_ARG(str_skip(host, (size_t)(dfs - host.at) + 5)));
    else if (memchr(host.at, '.', host.count) != NULL)
        ret->endpoint = str_format(arena, "https://%.*s", STR_ARG(host));
    else if (ret->name.count > 0)
        ret->endpoint = str_format(arena, "https://%.*s.blob." SUFFIX, STR_ARG(ret->name));
}

/* Keys go to a store of Azure, or to what the connection string names. */
static bool is_of_azure(struct str endpoint)
{
    static const char *const suffixes[] = {".core.windows.net", ".core.chinacloudapi.cn",
                                           ".core.usgovcloudapi.net", ".storage.azure.net"};

    for (size_t i = 0; i < COUNT(suffixes); i++)
        if (str_ends(endpoint, str_of(suffixes[i])))
            return true;
    return false;
}

enum status azure_account_read(const struct address *address, struct arena *arena,
                               struct azure_account *ret, struct error *err)
{
    struct str connection = environment("AZURE_STORAGE_CONNECTION_STRING");
    const struct str none = STR("");

    *ret = (struct azure_account){none, none, none, none, none};
    if (connection.count > 0)
        read_connection(connection, arena, ret);
    bool is_other = address->account.count > 0 && !str_equal(address->account, ret->name);

    if (connection.count == 0 || is_other) {
        *ret = (struct azure_account){none, none, none, none, none};
        read_variables(address, arena, ret);
        if (ret->endpoint.count > 0 && !is_of_azure(ret->endpoint))
            return fail(err, ERR_INVALID, "%.*s is not an Azure storage host",
                        STR_ARG(ret->endpoint));
    }
    while (ret->endpoint.count > 0 && ret->endpoint.at[ret->endpoint.count - 1] == '/')
        ret->endpoint.count--;
    while (ret->sas.count > 0 && ret->sas.at[0] == '?')
        ret->sas = str_skip(ret->sas, 1);
    if (ret->endpoint.count == 0 ||
        (!str_starts(ret->endpoint, STR("https://")) && !str_starts(ret->endpoint, STR("http://"))))
        return fail(err, ERR_INVALID,
                    "no storage account is given: set AZURE_STORAGE_ACCOUNT or "
                    "AZURE_STORAGE_CONNECTION_STRING, or write "
                    "abfs://CONTAINER@ACCOUNT.dfs.core.windows.net/PATH");
    return OK;
}

static enum status ask_token(struct remote *remote, const struct wire_ask *ask, const char *what,
                             struct credentials *ret, struct error *err)
{
    struct bytes body;

    TRY(remote_authority(remote, ask, what, ret->arena, &body, err));
    TRY(document_token(body, remote_now_s(remote), ret->arena, &ret->token, err));
    ret->ends_s = ret->token.ends_s;
    return OK;
}

/* A program of its own in Entra: by a secret, or by a token of the cluster. */
static enum status of_client(struct remote *remote, struct str tenant, struct str client,
                             struct str secret, struct str token_file, struct credentials *ret,
                             struct error *err)
{
    struct str authority =
        first_of(environment("AZURE_AUTHORITY_HOST"), STR("https://login.microsoftonline.com"));
    struct str form = query_put(STR(""), "client_id", client, ret->arena);
    struct bytes token;

    while (authority.count > 0 && authority.at[authority.count - 1] == '/')
        authority.count--;
    if (!str_starts(authority, STR("https://")))
        return fail(err, ERR_INVALID, "AZURE_AUTHORITY_HOST is not an https address");
    if (secret.count > 0) {
        form = query_put(form, "client_secret", secret, ret->arena);
    } else {
        TRY(secret_file(token_file, ret->arena, &token, err));
        form = query_put(form, "client_assertion",
                         (struct str){(const char *)token.at, token.count}, ret->arena);
        form = query_put(form, "client_assertion_type",
                         STR("urn:ietf:params:oauth:client-assertion-type:jwt-bearer"), ret->arena);
    }
    form = query_put(form, "grant_type", STR("client_credentials"), ret->arena);
    form = query_put(form, "scope", STR(RESOURCE ".default"), ret->arena);
    const struct wire_ask ask = {
        .method = "POST",
        .url = str_format(ret->arena, "%.*s/%.*s/oauth2/v2.0/token", STR_ARG(authority),
                          STR_ARG(percent_encoded(tenant, false, ret->arena))),
        .body = bytes_of(form)};

    ret->who = str_format(ret->arena, "the application %.*s", STR_ARG(client));
    ret->from = secret.count > 0 ? STR("AZURE_CLIENT_SECRET in the environment")
                                 : STR("AZURE_FEDERATED_TOKEN_FILE");
    return ask_token(remote, &ask, "Azure's token service", ret, err);
}

static enum status of_machine(struct remote *remote, struct credentials *ret, struct error *err)
{
    struct str client = environment("AZURE_CLIENT_ID");
    struct str query =
        query_put(STR("api-version=2018-02-01"), "resource", STR(RESOURCE), ret->arena);
    struct wire_ask ask = {.method = "GET", .is_near = true};

    if (client.count > 0)
        query = query_put(query, "client_id", client, ret->arena);
    ask.url = str_format(ret->arena, "http://169.254.169.254/metadata/identity/oauth2/token?%.*s",
                         STR_ARG(query));
    wire_header(&ask, STR("Metadata: true"));
    ret->who = STR("the identity of this machine");
    ret->from = STR("Azure's metadata");
    return ask_token(remote, &ask, "this machine's metadata", ret, err);
}

static enum status of_others(struct remote *remote, struct credentials *ret, struct error *err)
{
    struct str tenant = environment("AZURE_TENANT_ID"), client = environment("AZURE_CLIENT_ID");
    struct str secret = environment("AZURE_CLIENT_SECRET");
    struct str token_file = environment("AZURE_FEDERATED_TOKEN_FILE");
    struct error absent = {0};

    if (tenant.count > 0 && client.count > 0 && (secret.count > 0 || token_file.count > 0))
        return of_client(remote, tenant, client, secret, token_file, ret, err);
    enum status status = of_machine(remote, ret, &absent);

    if (status == OK)
        return OK;
    if (status != ERR_NOT_FOUND && status != ERR_IO)
        return fail(err, status, "%s", absent.message);
    credentials_none(ret, STR("there are no credentials"),
                     STR("AZURE_STORAGE_CONNECTION_STRING, AZURE_STORAGE_KEY, "
                         "AZURE_STORAGE_SAS_TOKEN, AZURE_CLIENT_ID, this machine's identity"));
    return OK;
}

enum status azure_find(struct remote *remote, struct credentials *ret, struct error *err)
{
    struct azure_account account;

    TRY(azure_account_read(&remote->address, ret->arena, &account, err));
    ret->who = ret->from = ret->passed = STR("");
    if (account.key.count > 0) {
        ret->account_key = account.key;
        ret->who = str_format(ret->arena, "the key of the account %.*s", STR_ARG(account.name));
        ret->from = account.from;
        return OK;
    }
    if (account.sas.count > 0) {
        ret->sas = account.sas;
        ret->who = STR("a shared access signature");
        ret->from = account.from;
        return OK;
    }
    return of_others(remote, ret, err);
}
