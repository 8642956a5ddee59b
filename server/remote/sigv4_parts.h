/* SPDX-License-Identifier: Apache-2.0 */
/* AWS's Signature Version 4, in the header Authorization.
 *
 *   canonical request   method, path, query, headers, hash of the body       -> SHA-256
 *   string to sign      algorithm, time, day/region/service/aws4_request, that hash
 *   key                 HMAC over HMAC: secret, day, region, service, "aws4_request"
 *
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
#ifndef JVIEWD_REMOTE_SIGV4_PARTS_H
#define JVIEWD_REMOTE_SIGV4_PARTS_H

#include "remote/wire_parts.h"

struct sigv4_key {
    struct str id, secret, token; /* token "": a key that does not end */
};

struct sigv4_ask {
    const char *method;
    struct str host;  /* as the header Host says it: with the port where it is not the usual */
    struct str path;  /* percent-encoded, from the first slash on */
    struct str query; /* "a=1&b=2": names and values percent-encoded, in the order of names */
    struct str region, service;
    struct bytes body;
    const struct str *headers; /* further ones to be signed: "range: bytes=0-9", in lower case */
    uint32_t header_count;
    int64_t time_s; /* Unix time */
};

/* Adds Authorization, x-amz-date, x-amz-content-sha256, x-amz-security-token and the further
 * headers to the request. */
MUST_CHECK enum status sigv4_sign(const struct sigv4_ask *ask, const struct sigv4_key *key,
                                  struct arena *arena, struct wire_ask *ret, struct error *err);

#endif
