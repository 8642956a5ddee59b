/* SPDX-License-Identifier: Apache-2.0 */
/* libcurl and libcrypto, loaded when the first place is opened.
 *
 * libcurl brings two dozen libraries with it. Were they linked, each indexing process would load
 * them, and a system without them could not start a program that reads a local directory.
 */
#ifndef JVIEWD_REMOTE_LIBRARY_PARTS_H
#define JVIEWD_REMOTE_LIBRARY_PARTS_H

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>

#include "base/error.h"

#define CURL_CALLS(X)                                                                              \
    X(curl_global_init)                                                                            \
    X(curl_version)                                                                                \
    X(curl_easy_init)                                                                              \
    X(curl_easy_reset)                                                                             \
    X(curl_easy_setopt)                                                                            \
    X(curl_easy_perform)                                                                           \
    X(curl_easy_getinfo)                                                                           \
    X(curl_easy_cleanup)                                                                           \
    X(curl_easy_strerror)                                                                          \
    X(curl_slist_append)                                                                           \
    X(curl_slist_free_all)

#define CRYPTO_CALLS(X)                                                                            \
    X(EVP_sha1)                                                                                    \
    X(EVP_sha256)                                                                                  \
    X(EVP_Digest)                                                                                  \
    X(HMAC)                                                                                        \
    X(BIO_new_mem_buf)                                                                             \
    X(BIO_free)                                                                                    \
    X(PEM_read_bio_PrivateKey)                                                                     \
    X(EVP_PKEY_free)                                                                               \
    X(EVP_MD_CTX_new)                                                                              \
    X(EVP_MD_CTX_free)                                                                             \
    X(EVP_DigestSignInit)                                                                          \
    X(EVP_DigestSign)

#define MEMBER(name) __typeof__(&name) name;
struct library {
    CURL_CALLS(MEMBER)
    CRYPTO_CALLS(MEMBER)
};
#undef MEMBER

/* ERR_UNSUPPORTED says which is missing and what brings it. */
MUST_CHECK enum status library_load(const struct library **ret, struct error *err);

#endif
