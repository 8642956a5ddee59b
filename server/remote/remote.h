/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles on other machines: objects of a bucket, and one file behind https.
 *
 *   gs://bucket/prefix              Google Cloud Storage, by its JSON interface
 *   s3://bucket/prefix              S3, and every store that speaks it (AWS_ENDPOINT_URL)
 *   az://container/prefix           Azure Blob Storage; abfs[s]://container@account.host/prefix
 *   https://host/run.xplane.pb      one file
 *
 * A place is only ever one that a person named: flag, configuration or operand; no request of the
 * server makes one. Every provider's credentials are looked for in its own order, are kept in
 * memory alone, and go to that provider's hosts alone (or to the endpoint that was given): a
 * redirect elsewhere is refused. libcurl and libcrypto are loaded when the first place is opened,
 * so a program that no place is named to knows no network.
 *
 * A version of an object is its ETag or generation. What is read is of that version, whatever
 * happens to the object meanwhile (If-Match): else it is ERR_CONFLICT.
 *
 * Any thread may use a place; calls block, and end early when `cancelled` says so.
 */
#ifndef JVIEWD_REMOTE_REMOTE_H
#define JVIEWD_REMOTE_REMOTE_H

#include "base/bytes.h"
#include "base/error.h"

/* Does the text begin as a place does? */
bool remote_is_place(struct str text);
/* The one spelling of a place: scheme in lower case, no slash at the end, no query; "" where the
 * text is no place. Two spellings of one place are the same run. */
struct str remote_place(struct str text, struct arena *arena);

struct remote;
/* No request is made. ERR_INVALID: the text is no place; ERR_UNSUPPORTED: this system lacks a
 * library that it takes. */
MUST_CHECK enum status remote_open(struct str place, struct remote **ret, struct error *err);
void remote_close(struct remote *remote); /* takes NULL */
/* As remote_place says it; no secret is in it. */
struct str remote_name(const struct remote *remote);
/* Ends what is under way and all that follows. */
void remote_cancel(struct remote *remote);
/* Requests that were made so far: of lists, of bytes and of credentials. */
uint64_t remote_requests(const struct remote *remote);

struct remote_object {
    struct str path; /* below the place, without a slash at its ends */
    uint64_t bytes;
    int64_t modified_ns;
    struct str version; /* ETag or generation, as the store says it; "" it says none */
    bool is_place;      /* it is what the place names, and no part of it */
};

/* False: no more, please. The texts are the caller's until it returns. */
typedef bool remote_take(void *data, const struct remote_object *object);
/* Every object below the place, by path, page by page: 1,000 of them cost one request. Of a place
 * that is one object, that one, with its name for a path, and *ret_is_file true. */
MUST_CHECK enum status remote_list(struct remote *remote, remote_take *take, void *data,
                                   bool *ret_is_file, struct error *err);

/* "s3://bucket/run/h.xplane.pb": the same, whatever place above it was named. */
struct str remote_object_name(const struct remote *remote, const struct remote_object *object,
                              struct arena *arena);

/* Those below a path of it ("": all), with their paths below the place; none is no failure. */
MUST_CHECK enum status remote_list_below(struct remote *remote, struct str path, remote_take *take,
                                         void *data, struct error *err);
/* Those whose path below the place begins so, in the middle of a name or not. */
MUST_CHECK enum status remote_list_beginning(struct remote *remote, struct str beginning,
                                             remote_take *take, void *data, struct error *err);

struct remote_progress {
    void (*tell)(void *data, uint64_t done, uint64_t total); /* from any thread; may be NULL */
    void *data;
};
/* The object's bytes into an open file, in ranges of 8 MiB, eight at a time. ERR_CONFLICT: it is
 * not of that version any more. */
MUST_CHECK enum status remote_fetch(struct remote *remote, const struct remote_object *object,
                                    int fd, struct remote_progress progress, struct error *err);

/* Nothing can be written there: a web address. */
bool remote_is_read_only(const struct remote *remote);
/* The file's bytes as the object of that path below the place ("": the place itself): all of them
 * or none. A large file goes in parts of 8 MiB, four at a time; where that breaks, what the store
 * has of it is given up there, too. ERR_CONFLICT: with is_new, there is such an object. */
MUST_CHECK enum status remote_put(struct remote *remote, struct str path, int fd, uint64_t bytes,
                                  bool is_new, struct remote_progress progress, struct error *err);
/* OK: it is gone. ERR_CONFLICT: it is not of that version any more, and stays. */
MUST_CHECK enum status remote_remove(struct remote *remote, const struct remote_object *object,
                                     struct error *err);

struct remote_identity { /* who asks, for people: no secret is in it */
    struct str who;      /* "the access key AKIA...", "nobody (anonymous)" */
    struct str from;     /* "the profile \"team\" of ~/.aws/credentials" */
    struct str endpoint; /* "https://s3.eu-west-1.amazonaws.com" */
    struct str passed;   /* what else was looked at and had none; "" nothing */
};
/* Finds credentials as the first request would. */
MUST_CHECK enum status remote_identity(struct remote *remote, struct arena *arena,
                                       struct remote_identity *ret, struct error *err);

const char *remote_xml_library(void); /* the version of expat */
/* "libcurl 7.88.1, OpenSSL 3.0.19"; "" where they cannot be loaded. */
const char *remote_libraries(void);

#endif
