/* SPDX-License-Identifier: Apache-2.0 */
/* What signatures are made of: SHA-256, HMAC, RSA, Base64, hex and percent signs. */
#ifndef JVIEWD_REMOTE_DIGEST_PARTS_H
#define JVIEWD_REMOTE_DIGEST_PARTS_H

#include "base/bytes.h"
#include "base/error.h"

enum { DIGEST_BYTES = 32 };

struct digest {
    uint8_t at[DIGEST_BYTES];
};

struct bytes bytes_of(struct str text);
MUST_CHECK enum status digest_sha256(struct bytes bytes, struct digest *ret, struct error *err);
/* The name of a file, and no signature. */
MUST_CHECK enum status digest_sha1_hex(struct bytes bytes, struct arena *arena, struct str *ret,
                                       struct error *err);
MUST_CHECK enum status digest_hmac(struct bytes key, struct bytes bytes, struct digest *ret,
                                   struct error *err);
/* RS256 by a private key in PEM. */
MUST_CHECK enum status digest_rsa(struct str pem, struct bytes bytes, struct arena *arena,
                                  struct bytes *ret, struct error *err);

struct str hex_of(struct bytes bytes, struct arena *arena);
struct str base64_of(struct bytes bytes, struct arena *arena);
struct str base64url_of(struct bytes bytes, struct arena *arena); /* without padding */
/* False: it is no Base64. */
bool base64_read(struct str text, struct arena *arena, struct bytes *ret);
/* RFC 3986: all but letters, digits and "-._~" is encoded; with `keep_slash` "/" stays, too. */
struct str percent_encoded(struct str text, bool keep_slash, struct arena *arena);
/* As lists with encoding-type=url say names: "+" is a space. */
struct str percent_decoded(struct str text, struct arena *arena);

#endif
