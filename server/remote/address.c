/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a place, taken apart and written in one way. */
#include "remote/digest_parts.h"
#include "remote/remote_parts.h"

static const struct {
    const char *prefix, *scheme;
} schemes[] = {
    {"gs://", "gs"},   {"s3://", "s3"},    {"s3a://", "s3"},    {"az://", "az"},
    {"abfs://", "az"}, {"abfss://", "az"}, {"http://", "http"}, {"https://", "https"},
};

static struct str without_slashes(struct str text)
{
    while (text.count > 0 && text.at[0] == '/')
        text = str_skip(text, 1);
    while (text.count > 0 && text.at[text.count - 1] == '/')
        text.count--;
    return text;
}

/* Letters, digits, "-", "_", "." and, of a host, ":" and brackets. */
static bool is_name(struct str text, bool is_host)
{
    for (size_t i = 0; i < text.count; i++) {
        char letter = ascii_lower(text.at[i]);

        if (!((letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') ||
              letter == '-' || letter == '.' || letter == '_' ||
              (is_host && (letter == ':' || letter == '[' || letter == ']'))))
            return false;
    }
    return text.count > 0 && text.count < 256 && text.at[0] != '.' && text.at[0] != '-';
}

static bool has_control(struct str text)
{
    for (size_t i = 0; i < text.count; i++)
        if ((unsigned char)text.at[i] < ' ' || text.at[i] == 127)
            return true;
    return false;
}

static size_t scheme_of(struct str text, size_t *ret_count)
{
    for (size_t i = 0; i < COUNT(schemes); i++) {
        struct str prefix = str_of(schemes[i].prefix);

        *ret_count = prefix.count;
        if (text.count >= prefix.count &&
            str_equal_fold((struct str){text.at, prefix.count}, prefix))
            return i;
    }
    return COUNT(schemes);
}

bool remote_is_place(struct str text)
{
    size_t count;

    return scheme_of(text, &count) < COUNT(schemes);
}

/* "container@account.blob.core.windows.net" */
static void split_account(struct address *address)
{
    const char *at = memchr(address->bucket.at, '@', address->bucket.count);

    if (at == NULL)
        return;
    address->host = str_skip(address->bucket, (size_t)(at - address->bucket.at) + 1);
    address->bucket.count = (size_t)(at - address->bucket.at);
    const char *dot = memchr(address->host.at, '.', address->host.count);

    address->account = (struct str){
        address->host.at, dot == NULL ? address->host.count : (size_t)(dot - address->host.at)};
}

static bool is_web(const struct address *address)
{
    return str_starts(address->scheme, STR("http"));
}

bool address_read(struct str text, struct arena *arena, struct address *ret)
{
    size_t skipped, scheme = scheme_of(text, &skipped);

    *ret = (struct address){.account = STR(""), .host = STR(""), .query = STR("")};
    if (scheme == COUNT(schemes) || has_control(text))
        return false;
    struct str rest = str_copy(arena, str_skip(text, skipped));

    ret->scheme = str_of(schemes[scheme].scheme);
    if (is_web(ret)) {
        size_t end = 0;

        while (end < rest.count && rest.at[end] != '?' && rest.at[end] != '#')
            end++;
        ret->query = str_skip(rest, end);
        if (ret->query.count > 0 && ret->query.at[0] == '#')
            ret->query = STR("");
        rest.count = end;
    }
    const char *slash = memchr(rest.at, '/', rest.count);

    ret->bucket = (struct str){rest.at, slash == NULL ? rest.count : (size_t)(slash - rest.at)};
    ret->prefix = without_slashes(str_skip(rest, ret->bucket.count));
    if (str_equal(ret->scheme, STR("az")))
        split_account(ret);
    return is_name(ret->bucket, is_web(ret)) &&
           (ret->host.count == 0 || is_name(ret->host, true)) &&
           (!is_web(ret) || ret->prefix.count > 0);
}

static struct str name_of(const struct address *address, struct arena *arena)
{
    return str_format(arena, "%.*s://%.*s%s%.*s%s%.*s", STR_ARG(address->scheme),
                      STR_ARG(address->bucket), address->host.count > 0 ? "@" : "",
                      STR_ARG(address->host), address->prefix.count > 0 ? "/" : "",
                      STR_ARG(address->prefix));
}

struct str remote_place(struct str text, struct arena *arena)
{
    struct address address;

    return address_read(text, arena, &address) ? name_of(&address, arena) : STR("");
}
