/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a place: its address, its provider, whose credentials it asks by.
 *
 *   remote.c      list and identity        fetch.c     ranges into a file
 *   put.c         a file into an object      *_put.c      its parts, as each provider takes them
 *   ask.c         one question: signed, asked, tried again, its refusal told
 *   s3.c + aws*.c     gcs.c + google.c     azure*.c    web.c         the providers
 */
#ifndef JVIEWD_REMOTE_REMOTE_PARTS_H
#define JVIEWD_REMOTE_REMOTE_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "remote/documents_parts.h"
#include "remote/remote.h"
#include "remote/sigv4_parts.h"
#include "remote/wire_parts.h"

struct address {              /* texts are of the place's arena */
    struct str scheme;        /* "s3", "gs", "az", "https", "http" */
    struct str bucket;        /* of Azure: the container; of https: the host with its port */
    struct str prefix;        /* without slashes at its ends; "" the whole bucket */
    struct str account, host; /* of abfs://container@account.host/; "" not said */
    struct str query;         /* of https, with its "?": perhaps a secret; "" none */
};
/* False: the text is no place. */
bool address_read(struct str text, struct arena *arena, struct address *ret);

struct credentials { /* texts are of `arena` */
    struct arena *arena;
    bool is_nobody;         /* requests are not signed */
    struct sigv4_key key;   /* of S3 */
    struct token token;     /* bearer; "" none */
    struct str account_key; /* Azure: in Base64 */
    struct str sas;         /* Azure: a query, without "?" */
    int64_t ends_s;         /* Unix time; INT64_MAX: never */
    int64_t found_s;
    struct str who, from, passed;
};

struct ask { /* of a place, in no provider's words */
    const char *method;
    struct str key;   /* of an object; "" of the bucket */
    struct str query; /* encoded, sorted by name; "" none */
    bool has_range;
    uint64_t start, count;
    struct str version; /* only this one; "" any */
    struct bytes body;
    bool is_new;            /* only where there is no such object */
    bool is_last;           /* goes although all is cancelled */
    struct str session;     /* Google's address for the parts of one object; NULL: none */
    uint64_t session_bytes; /* of all of them */
};

struct remote;
struct put { /* one object on its way; texts are of the arena */
    struct remote *remote;
    struct arena *arena;
    struct str key;
    const uint8_t *at; /* all of its bytes */
    uint64_t total, part_bytes;
    uint32_t part_count;
    bool is_new;
    struct str begun; /* what the store calls it */
    struct str *tags; /* of each part, as the store said */
};

struct put_way { /* how a provider takes an object in parts */
    bool is_in_order;
    enum status (*begin)(struct put *put, struct error *err);
    enum status (*part)(struct put *put, uint32_t index, struct arena *arena, struct error *err);
    enum status (*end)(struct put *put, struct error *err);
    void (*give_up)(struct put *put); /* NULL: the store forgets parts by itself */
};
extern const struct put_way put_way_s3, put_way_gcs, put_way_azure;
/* The bytes of a part; its start in *ret_start. */
struct bytes put_part_bytes(const struct put *put, uint32_t index, uint64_t *ret_start);

struct provider {
    const char *title; /* "Amazon S3", for sentences */
    /* Which host is asked; no request is made. */
    enum status (*begin)(struct remote *remote, struct error *err);
    /* Credentials, wherever they are; `ret->arena` is there already. */
    enum status (*find)(struct remote *remote, struct credentials *ret, struct error *err);
    /* The request, signed. */
    enum status (*prepare)(struct remote *remote, const struct ask *ask,
                           const struct credentials *credentials, struct arena *arena,
                           struct wire_ask *ret, struct error *err);
    /* The query of a page of a list. */
    struct str (*list_query)(struct str prefix, struct str next, unsigned count,
                             struct arena *arena);
    enum status (*read_list)(struct bytes bytes, struct arena *arena, struct page *ret,
                             struct error *err);
    /* The answer sends us to another region or host of the same provider: true when that was
     * taken up, and asking again makes sense. May be NULL. */
    bool (*moved)(struct remote *remote, const struct wire_said *said);
    const char *version_header; /* says an object's version; NULL: "etag" */
    /* What a person without rights may do: a command. */
    const char *remedy;
    const char *write_remedy;      /* the same, where it was to write */
    const struct put_way *put_way; /* NULL: nothing is written there */
    /* The query of an object that is written whole; NULL: none. */
    struct str (*put_query)(const struct put *put, struct arena *arena);
    const char *put_method; /* "PUT" */
    bool removes_any;       /* what is removed is of any version: it is looked at before */
};
extern const struct provider provider_s3, provider_gcs, provider_gcs_keys, provider_azure,
    provider_web;

struct remote {
    struct arena *arena;
    struct address address;
    struct str name; /* as remote_place says it */
    const struct provider *provider;
    struct wire *wire;
    pthread_mutex_t lock; /* of all below */
    struct credentials credentials;
    bool has_credentials;
    char endpoint[512]; /* "https://s3.eu-west-1.amazonaws.com": no slash at the end */
    char region[64];
    bool is_path_style, is_given; /* the endpoint was */
    int64_t skew_s;               /* of the store's clock against ours */
    char *target;                 /* of https: where redirects led; NULL: not asked yet */
    bool target_is_other, target_is_public, has_ranges;
};

/* ask.c. A copy of the credentials in the arena, found or renewed where that is due. */
MUST_CHECK enum status remote_credentials(struct remote *remote, struct arena *arena,
                                          struct credentials *ret, struct error *err);
/* Asks until there is an answer; of 200 and 206 the body goes to `take`, where that is not NULL.
 * Failures: ERR_NOT_FOUND, ERR_PERMISSION, ERR_CONFLICT (another version), ERR_IO, ERR_CANCELLED;
 * the sentence has the place and the remedy. */
typedef bool ask_take(void *data, const struct wire_said *said, struct bytes part);
/* wire_said.was_repeated: not the first try was answered. */
MUST_CHECK enum status remote_ask(struct remote *remote, const struct ask *ask, ask_take *take,
                                  void *data, struct wire_said *ret, struct error *err);
/* Once: the transfer that broke is told in *ret_again, and is not tried again here. */
MUST_CHECK enum status remote_ask_once(struct remote *remote, const struct ask *ask, ask_take *take,
                                       void *data, struct wire_said *ret, bool *ret_again,
                                       struct error *err);
/* Before the next try; false: cancelled. `said` may be NULL. */
bool remote_pause(struct remote *remote, unsigned attempt, const struct wire_said *said);
/* An authority of credentials: the body of its 200 in `ret`, which is text of the arena. */
MUST_CHECK enum status remote_authority(struct remote *remote, const struct wire_ask *ask,
                                        const char *what, struct arena *arena, struct bytes *ret,
                                        struct error *err);
int64_t remote_now_s(const struct remote *remote);
/* "a&b" = "%26"...: one value of a query or a form. */
struct str query_put(struct str query, const char *name, struct str value, struct arena *arena);
/* An environment variable; "" it is not set. */
struct str environment(const char *name);
/* Requests go without credentials; from, passed: as in remote_identity. */
void credentials_none(struct credentials *ret, struct str from, struct str passed);
/* A file of the home directory: "~/.aws/credentials". */
struct str home_file(const char *name, struct arena *arena);
/* As a user's file of credentials: at most 1 MiB. */
MUST_CHECK enum status secret_file(struct str path, struct arena *arena, struct bytes *ret,
                                   struct error *err);

/* aws.c */
struct aws_profile { /* of both files; "" not said */
    struct str name, key, secret, token, region, endpoint, role, source, token_file, process, sso,
        addressing, ca_bundle, session;
    struct str sso_region, account, sso_role; /* `sso`: its session's name, or its start URL */
    bool is_there;
};
void aws_profile_read(struct str name, struct arena *arena, struct aws_profile *ret);
struct str aws_profile_name(void);
enum status aws_find(struct remote *remote, struct credentials *ret, struct error *err);
/* aws_roles.c, aws_metadata.c: ERR_NOT_FOUND where this machine has none. */
enum status aws_web_identity(struct remote *remote, struct str role, struct str token_file,
                             struct str session, struct credentials *ret, struct error *err);
enum status aws_assume_role(struct remote *remote, struct str role, struct str session,
                            const struct sigv4_key *source, struct credentials *ret,
                            struct error *err);
/* aws_sso.c */
enum status aws_sso(struct remote *remote, const struct aws_profile *profile,
                    struct credentials *ret, struct error *err);
enum status aws_container(struct remote *remote, struct credentials *ret, struct error *err);
enum status aws_machine(struct remote *remote, struct credentials *ret, struct error *err);
/* web.c: the file, after its redirects. */
MUST_CHECK enum status web_look(struct remote *remote, struct remote_object *ret,
                                struct arena *arena, struct error *err);
/* gcs.c: where Google is asked. */
MUST_CHECK enum status gcs_begin(struct remote *remote, struct error *err);
/* google.c: HMAC keys are in the environment, and nothing that stands before them. They sign as S3
 * does, for Google's XML interface, which is S3's. */
bool google_has_keys(void);
enum status google_find_keys(struct remote *remote, struct credentials *ret, struct error *err);
/* gcs_put.c */
struct str gcs_put_query(const struct put *put, struct arena *arena);
/* google.c, azure_find.c */
/* The claim of a service account, signed: a JSON web token. */
MUST_CHECK enum status google_claim(const struct google_file *file, int64_t now_s,
                                    struct arena *arena, struct str *ret, struct error *err);
enum status google_find(struct remote *remote, struct credentials *ret, struct error *err);
enum status azure_find(struct remote *remote, struct credentials *ret, struct error *err);

#endif
