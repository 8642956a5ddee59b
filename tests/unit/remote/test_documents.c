/* SPDX-License-Identifier: Apache-2.0 */
/* Lists, errors, keys and tokens as the providers' own pages show them, every beginning of each,
 * and what no store would write. */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

#include "remote/digest_parts.h"
#include "remote/documents_parts.h"

static const char s3_list[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
    "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>quotes</Name>"
    "<Prefix>run/</Prefix><NextContinuationToken>1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM="
    "</NextContinuationToken><KeyCount>2</KeyCount><MaxKeys>2</MaxKeys><EncodingType>url"
    "</EncodingType><IsTruncated>true</IsTruncated>"
    "<Contents><Key>run/a+b%2Bc%25/%C3%BC.pb</Key><LastModified>2009-10-12T17:50:30.250Z"
    "</LastModified><ETag>&quot;fba9dede5f27731c9771645a39863328&quot;</ETag><Size>434234</Size>"
    "<StorageClass>STANDARD</StorageClass></Contents>"
    "<Contents><Key>run/dir/</Key><Size>0</Size></Contents>"
    "<Contents><Key>run/no-size</Key></Contents></ListBucketResult>";

static const char azure_list[] =
    "\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"utf-8\"?>"
    "<EnumerationResults ServiceEndpoint=\"https://a.blob.core.windows.net/\" ContainerName=\"c\">"
    "<Blobs><Blob><Name>run/x &amp; y.pb</Name><Properties><Last-Modified>Mon, 27 Jul 2009 "
    "12:28:53 GMT</Last-Modified><Etag>0x8CBFF45D8A29A19</Etag><Content-Length>100</Content-Length>"
    "</Properties></Blob><Blob><Name>run/d</Name><Properties><ResourceType>directory"
    "</ResourceType><Content-Length>0</Content-Length></Properties></Blob></Blobs>"
    "<NextMarker>2!80!MDAw</NextMarker></EnumerationResults>";

static const char google_list[] =
    "{\"kind\":\"storage#objects\",\"nextPageToken\":\"CgNydW4=\",\"items\":[{\"name\":\"run/"
    "a.pb\","
    "\"size\":\"17\",\"updated\":\"2023-03-01T10:20:30.123Z\",\"generation\":\"1677666030123456\"},"
    "{\"name\":\"run/b\",\"size\":\"-1\"},{\"size\":\"1\"},7]}";

typedef enum status read_list(struct bytes bytes, struct arena *arena, struct page *ret,
                              struct error *err);

static const struct {
    const char *what, *text;
    read_list *read;
    const char *path, *version, *next;
    uint64_t bytes;
    uint32_t count;
    int64_t modified_ns;
} lists[] = {
    {"S3", s3_list, document_s3_list, "run/a b+c%/\xc3\xbc.pb",
     "\"fba9dede5f27731c9771645a39863328\"",
     "1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=", 434234, 2, INT64_C(1255369830250000000)},
    {"Azure", azure_list, document_azure_list, "run/x & y.pb", "0x8CBFF45D8A29A19", "2!80!MDAw",
     100, 1, INT64_C(1248697733000000000)},
    {"Google", google_list, document_google_list, "run/a.pb", "1677666030123456", "CgNydW4=", 17, 1,
     INT64_C(1677666030123000000)},
};

static void lists_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(lists); i++) {
        struct arena *arena = arena_create();
        struct page page;
        struct error err = {0};

        CHECK_OK(lists[i].what, lists[i].read(bytes_of(str_of(lists[i].text)), arena, &page, &err),
                 &err);
        CHECK_INT(lists[i].what, page.count, lists[i].count);
        CHECK_STR(lists[i].what, page.at[0].path, lists[i].path);
        CHECK_STR(lists[i].what, page.at[0].version, lists[i].version);
        CHECK_STR(lists[i].what, page.next, lists[i].next);
        CHECK_INT(lists[i].what, page.at[0].bytes, lists[i].bytes);
        CHECK_INT(lists[i].what, page.at[0].modified_ns, lists[i].modified_ns);
        arena_destroy(arena);
    }
}

/* None is whole, none breaks anything. */
static void beginnings(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(lists); i++)
        for (size_t count = 0; count < strlen(lists[i].text); count++) {
            struct arena *arena = arena_create();
            struct page page;
            struct error err = {0};
            char *exact = memory_resize(NULL, count + 1, 1);

            memcpy(exact, lists[i].text, count);
            CHECK_INT(
                lists[i].what,
                lists[i].read((struct bytes){(const uint8_t *)exact, count}, arena, &page, &err),
                ERR_FORMAT);
            free(exact);
            arena_destroy(arena);
        }
}

static void what_no_store_writes(void **state)
{
    (void)state;
    static const struct {
        const char *what, *text, *part;
        read_list *read;
    } rows[] = {
        {"entities", "<!DOCTYPE a [<!ENTITY x \"y\">]><ListBucketResult>&x;</ListBucketResult>",
         "document type", document_s3_list},
        {"a page of a proxy", "<html><body>Please log in</body></html>", "not a list",
         document_s3_list},
        {"deep", "<a><a><a><a><a><a><a><a><a><a><a><a><a><a>", "too deep", document_s3_list},
        {"it goes on, and not where",
         "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>", "not where",
         document_s3_list},
        {"items that are no list", "{\"items\":{\"a\":1}}", "not a list", document_google_list},
        {"a list of JSON", "[]", "not a JSON object", document_google_list},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct page page;
        struct error err = {0};

        CHECK_INT(rows[i].what, rows[i].read(bytes_of(str_of(rows[i].text)), arena, &page, &err),
                  ERR_FORMAT);
        CHECK_HAS(rows[i].what, err.message, rows[i].part);
        arena_destroy(arena);
    }
}

static void errors(void **state)
{
    (void)state;
    static const struct {
        const char *what, *text, *code, *message, *region;
    } rows[] = {
        {"S3",
         "<Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message>"
         "<RequestId>4442587FB7D0A2F9</RequestId></Error>",
         "NoSuchBucket", "The specified bucket does not exist", ""},
        {"another region",
         "<Error><Code>AuthorizationHeaderMalformed</Code><Message>x</Message><Region>eu-west-1"
         "</Region></Error>",
         "AuthorizationHeaderMalformed", "x", "eu-west-1"},
        {"Google", "{\"error\":{\"code\":403,\"message\":\"no access\"}}", "", "no access", ""},
        {"OAuth", "{\"error\":\"invalid_grant\",\"error_description\":\"expired\"}",
         "invalid_grant", "expired", ""},
        {"a terminal's commands", "{\"error\":{\"message\":\"a\\u001b[31m\\nb\"}}", "", "a [31m b",
         ""},
        {"nothing", "", "", "", ""},
        {"no XML", "Forbidden", "", "", ""},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct store_error told;

        document_error(bytes_of(str_of(rows[i].text)), arena, &told);
        CHECK_STR(rows[i].what, told.code, rows[i].code);
        CHECK_STR(rows[i].what, told.message, rows[i].message);
        CHECK_STR(rows[i].what, told.region, rows[i].region);
        arena_destroy(arena);
    }
}

static void keys_and_tokens(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct sigv4_key key;
    struct token token;
    struct error err = {0};
    int64_t ends_s = 0;

    CHECK_OK("of a machine",
             document_keys_json(
                 bytes_of(STR("{\"Code\":\"Success\",\"AccessKeyId\":\"ASIA\",\"SecretAccessKey\":"
                              "\"s\",\"Token\":\"t\",\"Expiration\":\"2017-05-17T15:09:54Z\"}")),
                 arena, &key, &ends_s, &err),
             &err);
    CHECK_STR("of a machine", key.token, "t");
    CHECK_INT("of a machine", ends_s, 1495033794);
    CHECK_OK("of the token service",
             document_keys_xml(
                 bytes_of(STR("<AssumeRoleWithWebIdentityResponse xmlns=\"https://sts\">"
                              "<AssumeRoleWithWebIdentityResult><Credentials><SessionToken>T"
                              "</SessionToken><SecretAccessKey>S</SecretAccessKey><Expiration>"
                              "2014-10-24T23:00:23Z</Expiration><AccessKeyId>ASgeIAIOSFODNN7"
                              "</AccessKeyId></Credentials></AssumeRoleWithWebIdentityResult>"
                              "</AssumeRoleWithWebIdentityResponse>")),
                 arena, &key, &ends_s, &err),
             &err);
    CHECK_STR("of the token service", key.id, "ASgeIAIOSFODNN7");
    CHECK_INT("of the token service", ends_s, 1414191623);
    CHECK_OK("a token",
             document_token(bytes_of(STR("{\"access_token\":\"ya29\",\"expires_in\":\"3599\"}")),
                            1000, arena, &token, &err),
             &err);
    CHECK_INT("a token", token.ends_s, 4599);
    CHECK_INT("no token", document_token(bytes_of(STR("{}")), 0, arena, &token, &err), ERR_FORMAT);
    arena_destroy(arena);
}

struct seen {
    char text[400];
    size_t count;
};

static void see(void *data, const struct ini_value *value)
{
    struct seen *seen = data;

    seen->count += (size_t)snprintf(seen->text + seen->count, sizeof seen->text - seen->count,
                                    "%.*s.%.*s=%.*s|", STR_ARG(value->section),
                                    STR_ARG(value->name), STR_ARG(value->value));
}

static void profiles(void **state)
{
    (void)state;
    struct seen seen = {0};

    ini_read(bytes_of(STR("# c\n[default]\r\nregion = eu-west-1\r\n\n[profile team]\n"
                          "aws_secret_access_key = a/b+c=d==\ns3 =\n  addressing_style = path\n"
                          "; c\nno value\n[ team2 ]\nx=")),
             see, &seen);
    CHECK_STR("file", str_of(seen.text),
              "default.region=eu-west-1|team.aws_secret_access_key=a/b+c=d==|team.s3=|"
              "team.addressing_style=path|team2.x=|");
}

static void times(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool good;
        int64_t ns;
    } rows[] = {
        {"1970-01-01T00:00:00Z", true, 0},
        {"2009-10-12T17:50:30.250Z", true, INT64_C(1255369830250000000)},
        {"Fri, 24 May 2013 00:00:00 GMT", true, INT64_C(1369353600000000000)},
        {"", false, 0},
        {"2013-13-01T00:00:00Z", false, 0},
        {"2013-1", false, 0},
        {"Fri, 24 Mai 2013 00:00:00 GMT", false, 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t ns = 0;

        CHECK_INT(rows[i].text, time_read(str_of(rows[i].text), &ns), rows[i].good);
        CHECK_INT(rows[i].text, rows[i].good ? ns : 0, rows[i].ns);
    }
}

static void places(void **state)
{
    (void)state;
    static const struct {
        const char *text, *place;
    } rows[] = {
        {"s3://bucket", "s3://bucket"},
        {"S3://bucket/a/b//", "s3://bucket/a/b"},
        {"s3a://bucket/x", "s3://bucket/x"},
        {"gs://bucket/run 17", "gs://bucket/run 17"},
        {"abfss://c@account.dfs.core.windows.net/p", "az://c@account.dfs.core.windows.net/p"},
        {"https://host:8443/a/b.pb?X-Amz-Signature=secret", "https://host:8443/a/b.pb"},
        {"https://user:password@host/a", ""},
        {"https://host", ""},
        {"s3://", ""},
        {"s3:///a", ""},
        {"s3://b@c/x", ""},
        {"file:///etc/passwd", ""},
        {"runs/s3", ""},
        {"s3://b/\na", ""},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();

        CHECK_STR(rows[i].text, remote_place(str_of(rows[i].text), arena), rows[i].place);
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_read),
        cmocka_unit_test(beginnings),
        cmocka_unit_test(what_no_store_writes),
        cmocka_unit_test(errors),
        cmocka_unit_test(keys_and_tokens),
        cmocka_unit_test(profiles),
        cmocka_unit_test(times),
        cmocka_unit_test(places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
