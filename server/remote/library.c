/* SPDX-License-Identifier: Apache-2.0 */
/* Loads libcurl and libcrypto once a process. */
#include "remote/library_parts.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "remote/remote.h"

static struct library loaded;
static struct error trouble;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *open_first(const char *const names[], size_t count)
{
    void *ret = NULL;

    for (size_t i = 0; ret == NULL && i < count; i++)
        ret = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return ret;
}

/* A function's address by way of a copy: ISO C knows no cast from the one to the other. */
static bool find(void *library, const char *name, void *ret, size_t size)
{
    void *at = dlsym(library, name);

    memcpy(ret, &at, size);
    return at != NULL;
}

static void load(void)
{
    static const char *const curl_names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
    static const char *const crypto_names[] = {"libcrypto.so.3", "libcrypto.so.1.1"};
    void *curl = open_first(curl_names, COUNT(curl_names));
    void *crypto = open_first(crypto_names, COUNT(crypto_names));
    bool whole = curl != NULL && crypto != NULL;

#define FIND_CURL(name) whole = whole && find(curl, #name, &loaded.name, sizeof loaded.name);
#define FIND_CRYPTO(name) whole = whole && find(crypto, #name, &loaded.name, sizeof loaded.name);
    CURL_CALLS(FIND_CURL)
    CRYPTO_CALLS(FIND_CRYPTO)
    if (!whole)
        fail(&trouble, ERR_UNSUPPORTED,
             "buckets and web addresses need %s, which is not installed (Debian, Ubuntu: apt "
             "install libcurl4; Fedora: dnf install libcurl)",
             crypto == NULL ? "OpenSSL's libcrypto" : "libcurl");
    else if (loaded.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        fail(&trouble, ERR_UNSUPPORTED, "libcurl cannot be initialised");
}

enum status library_load(const struct library **ret, struct error *err)
{
    pthread_once(&once, load);
    if (trouble.code != OK)
        return fail(err, trouble.code, "%s", trouble.message);
    *ret = &loaded;
    return OK;
}

const char *remote_libraries(void)
{
    const struct library *library;

    return library_load(&library, &(struct error){0}) == OK ? library->curl_version() : "";
}
