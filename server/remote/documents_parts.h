/* SPDX-License-Identifier: Apache-2.0 */
/* What stores and their authorities answer with, read: lists, errors, keys and tokens. Pure
 * functions of bytes that anybody may have sent: sizes are bounded, what is missing is an
 * error. */
#ifndef JVIEWD_REMOTE_DOCUMENTS_PARTS_H
#define JVIEWD_REMOTE_DOCUMENTS_PARTS_H

#include "remote/remote.h"
#include "remote/sigv4_parts.h"

struct page {                 /* of a list; texts are of the arena */
    struct remote_object *at; /* paths are whole names of objects here */
    uint32_t count, capacity;
    struct str next; /* what the next page is asked with; "" it was the last */
};

/* ListBucketResult of S3, version 2 (or 1, whose next page is asked by the last name). */
MUST_CHECK enum status document_s3_list(struct bytes bytes, struct arena *arena, struct page *ret,
                                        struct error *err);
/* EnumerationResults of Azure. */
MUST_CHECK enum status document_azure_list(struct bytes bytes, struct arena *arena,
                                           struct page *ret, struct error *err);
/* "storage#objects" of Google. */
MUST_CHECK enum status document_google_list(struct bytes bytes, struct arena *arena,
                                            struct page *ret, struct error *err);

/* What S3 calls an object whose parts come: InitiateMultipartUploadResult. */
MUST_CHECK enum status document_upload(struct bytes bytes, struct arena *arena, struct str *ret,
                                       struct error *err);

struct store_error { /* "" what it does not say */
    struct str code, message, region;
};
/* An error document in XML or JSON, or none of both. */
void document_error(struct bytes bytes, struct arena *arena, struct store_error *ret);

struct token {
    struct str text;
    int64_t ends_s; /* Unix time */
};
/* {"access_token": ..., "expires_in": 3599}; Azure's "expires_in" may be text. */
MUST_CHECK enum status document_token(struct bytes bytes, int64_t now_s, struct arena *arena,
                                      struct token *ret, struct error *err);
/* Keys of AWS for a time: JSON of containers and machines, XML of its token service. */
MUST_CHECK enum status document_keys_json(struct bytes bytes, struct arena *arena,
                                          struct sigv4_key *ret, int64_t *ret_ends_s,
                                          struct error *err);
/* {"roleCredentials": {...}} of its single sign-on. */
MUST_CHECK enum status document_keys_sso(struct bytes bytes, struct arena *arena,
                                         struct sigv4_key *ret, int64_t *ret_ends_s,
                                         struct error *err);
MUST_CHECK enum status document_keys_xml(struct bytes bytes, struct arena *arena,
                                         struct sigv4_key *ret, int64_t *ret_ends_s,
                                         struct error *err);

struct google_file { /* a file of credentials; "" what it does not hold */
    struct str type; /* service_account, authorized_user, external_account, ... */
    struct str email, key, token_uri, key_id;     /* service_account */
    struct str client_id, client_secret, refresh; /* authorized_user */
    struct str audience, subject_type, subject_file, subject_field, impersonation_url;
};
MUST_CHECK enum status document_google_file(struct bytes bytes, struct arena *arena,
                                            struct google_file *ret, struct error *err);
/* A text member of a JSON object; "" it has none. */
struct str document_member(struct bytes bytes, const char *name, struct arena *arena);

/* "2013-05-24T00:00:00.000Z", "Fri, 24 May 2013 00:00:00 GMT" -> ns since 1970; false: neither. */
bool time_read(struct str text, int64_t *ret_ns);

/* A file of AWS's: [profile] and name = value. Texts are of the bytes. */
struct ini_value {
    struct str section, name, value;
};
typedef void ini_take(void *data, const struct ini_value *value);
void ini_read(struct bytes bytes, ini_take *take, void *data);

#endif
