/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures against those that AWS publishes
 * (docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html), and against those that
 * botocore 1.3x makes of names that no page of AWS shows. */
#include "check.h"

#include "remote/digest_parts.h"
#include "remote/sigv4_parts.h"

static const struct sigv4_key key = {
    .id = {"AKIAIOSFODNN7EXAMPLE", 20},
    .secret = {"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", 40},
    .token = {"", 0},
};

enum { TIME_S = 1369353600 }; /* 20130524T000000Z */

static struct str signature_of(const struct wire_ask *ask)
{
    for (uint32_t i = 0; i < ask->header_count; i++) {
        const char *at = memmem(ask->headers[i].at, ask->headers[i].count, "Signature=", 10);

        if (at != NULL && str_starts(ask->headers[i], STR("Authorization:")))
            return str_skip(ask->headers[i], (size_t)(at - ask->headers[i].at) + 10);
    }
    return STR("");
}

static void published(void **state)
{
    (void)state;
    static const struct {
        const char *what, *method, *path, *query;
        struct str headers[2];
        uint32_t header_count;
        struct bytes body;
        const char *signature;
    } rows[] = {
        {"GET object",
         "GET",
         "/test.txt",
         "",
         {{"range:bytes=0-9", 15}},
         1,
         {NULL, 0},
         "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
        {"PUT object",
         "PUT",
         "/test%24file.text",
         "",
         {{"date:Fri, 24 May 2013 00:00:00 GMT", 34},
          {"x-amz-storage-class:REDUCED_REDUNDANCY", 38}},
         2,
         {(const uint8_t *)"Welcome to Amazon S3.", 21},
         "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
        {"GET lifecycle",
         "GET",
         "/",
         "lifecycle=",
         {{"", 0}},
         0,
         {NULL, 0},
         "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
        {"list",
         "GET",
         "/",
         "max-keys=2&prefix=J",
         {{"", 0}},
         0,
         {NULL, 0},
         "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct wire_ask ask = {.method = rows[i].method};
        struct error err = {0};
        const struct sigv4_ask request = {.method = rows[i].method,
                                          .host = STR("examplebucket.s3.amazonaws.com"),
                                          .path = str_of(rows[i].path),
                                          .query = str_of(rows[i].query),
                                          .region = STR("us-east-1"),
                                          .service = STR("s3"),
                                          .body = rows[i].body,
                                          .headers = rows[i].headers,
                                          .header_count = rows[i].header_count,
                                          .time_s = TIME_S};

        CHECK_OK(rows[i].what, sigv4_sign(&request, &key, arena, &ask, &err), &err);
        CHECK_STR(rows[i].what, signature_of(&ask), rows[i].signature);
        arena_destroy(arena);
    }
}

/* As names are written: encoding them is part of what is tested. */
static void odd_names(void **state)
{
    (void)state;
    static const struct {
        const char *what, *path, *names[5], *values[5], *token, *signature;
    } rows[] = {
        {"a key with everything",
         "/a b/c+d%e/\xc3\xbc~'()!*,;=@.pb",
         {NULL},
         {NULL},
         "",
         "b2268586e9568a2d34afe0dcf63233c6749640e48e4746c18078297eef14033a"},
        {"a list of five parameters",
         "/",
         {"continuation-token", "encoding-type", "list-type", "max-keys", "prefix"},
         {"1/+=abc&d", "url", "2", "1000", "a b+c%/\xc3\xbc/"},
         "",
         "8459c75367981c0cb11d747480a06a6974075d6f896087fdc742ab1da14ea79f"},
        {"empty and double parts stay",
         "/run//x/../y",
         {NULL},
         {NULL},
         "",
         "f809a4632a4e0bffe4aab48d2ab2821cf3bee8a8031a7897052c6b185c3671a3"},
        {"a key for a time, an empty value",
         "/k",
         {"prefix"},
         {""},
         "to/ken+==",
         "cf3e7cf19c799b1b5636f4e9cb3e8a535cfda3429cba30243065f9351128ea44"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct wire_ask ask = {.method = "GET"};
        struct sigv4_key by = key;
        struct error err = {0};
        struct str query = STR("");

        by.token = str_of(rows[i].token);
        for (size_t k = 0; k < 5 && rows[i].names[k] != NULL; k++) {
            struct str value = percent_encoded(str_of(rows[i].values[k]), false, arena);

            query = str_format(arena, "%.*s%s%s=%.*s", STR_ARG(query), k > 0 ? "&" : "",
                               rows[i].names[k], STR_ARG(value));
        }
        const struct sigv4_ask request = {.method = "GET",
                                          .host = STR("examplebucket.s3.amazonaws.com"),
                                          .path =
                                              percent_encoded(str_of(rows[i].path), true, arena),
                                          .query = query,
                                          .region = STR("us-east-1"),
                                          .service = STR("s3"),
                                          .time_s = TIME_S};

        CHECK_OK(rows[i].what, sigv4_sign(&request, &by, arena, &ask, &err), &err);
        CHECK_STR(rows[i].what, signature_of(&ask), rows[i].signature);
        arena_destroy(arena);
    }
}

static void base64_goes_and_comes(void **state)
{
    (void)state;
    static const struct { /* RFC 4648 */
        const char *plain, *coded;
    } rows[] = {{"", ""},
                {"f", "Zg=="},
                {"fo", "Zm8="},
                {"foo", "Zm9v"},
                {"foob", "Zm9vYg=="},
                {"fooba", "Zm9vYmE="},
                {"foobar", "Zm9vYmFy"}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct bytes back = {0};

        CHECK_STR(rows[i].plain, base64_of(bytes_of(str_of(rows[i].plain)), arena), rows[i].coded);
        CHECK(rows[i].plain, base64_read(str_of(rows[i].coded), arena, &back));
        CHECK_STR(rows[i].plain, ((struct str){(const char *)back.at, back.count}), rows[i].plain);
        arena_destroy(arena);
    }
    struct arena *arena = arena_create();
    struct bytes back;

    CHECK("no Base64", !base64_read(STR("a?b="), arena, &back));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published),
        cmocka_unit_test(odd_names),
        cmocka_unit_test(base64_goes_and_comes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
