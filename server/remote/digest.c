/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes and signatures by libcrypto; encodings of text. */
#include "remote/digest_parts.h"

#include <ctype.h>

#include "remote/library_parts.h"

struct bytes bytes_of(struct str text)
{
    return (struct bytes){(const uint8_t *)text.at, text.count};
}

enum status digest_sha256(struct bytes bytes, struct digest *ret, struct error *err)
{
    const struct library *library;

    TRY(library_load(&library, err));
    if (library->EVP_Digest(bytes.at, bytes.count, ret->at, NULL, library->EVP_sha256(), NULL) != 1)
        return fail(err, ERR_UNSUPPORTED, "libcrypto makes no SHA-256");
    return OK;
}

enum status digest_sha1_hex(struct bytes bytes, struct arena *arena, struct str *ret,
                            struct error *err)
{
    const struct library *library;
    uint8_t digest[20];

    TRY(library_load(&library, err));
    if (library->EVP_Digest(bytes.at, bytes.count, digest, NULL, library->EVP_sha1(), NULL) != 1)
        return fail(err, ERR_UNSUPPORTED, "libcrypto makes no SHA-1");
    *ret = hex_of((struct bytes){digest, sizeof digest}, arena);
    return OK;
}

enum status digest_hmac(struct bytes key, struct bytes bytes, struct digest *ret, struct error *err)
{
    const struct library *library;

    TRY(library_load(&library, err));
    if (library->HMAC(library->EVP_sha256(), key.count == 0 ? (const void *)"" : key.at,
                      (int)key.count, bytes.at, bytes.count, ret->at, NULL) == NULL)
        return fail(err, ERR_UNSUPPORTED, "libcrypto makes no HMAC");
    return OK;
}

static enum status sign(const struct library *library, EVP_PKEY *key, EVP_MD_CTX *context,
                        struct bytes bytes, struct arena *arena, struct bytes *ret,
                        struct error *err)
{
    size_t size = 0;

    if (library->EVP_DigestSignInit(context, NULL, library->EVP_sha256(), NULL, key) != 1 ||
        library->EVP_DigestSign(context, NULL, &size, bytes.at, bytes.count) != 1)
        return fail(err, ERR_INVALID, "signing with the private key failed");
    uint8_t *at = arena_alloc(arena, size + 1, 1);

    if (library->EVP_DigestSign(context, at, &size, bytes.at, bytes.count) != 1)
        return fail(err, ERR_INVALID, "signing with the private key failed");
    *ret = (struct bytes){at, size};
    return OK;
}

enum status digest_rsa(struct str pem, struct bytes bytes, struct arena *arena, struct bytes *ret,
                       struct error *err)
{
    const struct library *library;

    TRY(library_load(&library, err));
    BIO *bio = library->BIO_new_mem_buf(pem.at, (int)pem.count);
    EVP_PKEY *key = bio == NULL ? NULL : library->PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);

    library->BIO_free(bio);
    if (key == NULL)
        return fail(err, ERR_INVALID, "its private key is not in PEM format");
    EVP_MD_CTX *context = library->EVP_MD_CTX_new();
    enum status status = sign(library, key, context, bytes, arena, ret, err);

    library->EVP_MD_CTX_free(context);
    library->EVP_PKEY_free(key);
    return status;
}

struct str hex_of(struct bytes bytes, struct arena *arena)
{
    static const char digits[] = "0123456789abcdef";
    char *ret = arena_alloc(arena, 2 * bytes.count + 1, 1);

    for (size_t i = 0; i < bytes.count; i++) {
        ret[2 * i] = digits[bytes.at[i] >> 4];
        ret[2 * i + 1] = digits[bytes.at[i] & 15];
    }
    return (struct str){ret, 2 * bytes.count};
}

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

struct str base64_of(struct bytes bytes, struct arena *arena)
{
    char *ret = arena_alloc(arena, (bytes.count + 2) / 3 * 4 + 1, 1);
    size_t count = 0;

    for (size_t i = 0; i < bytes.count; i += 3) {
        size_t left = bytes.count - i;
        uint32_t three = (uint32_t)bytes.at[i] << 16 |
                         (left > 1 ? (uint32_t)bytes.at[i + 1] << 8 : 0) |
                         (left > 2 ? bytes.at[i + 2] : 0);

        ret[count++] = letters[three >> 18];
        ret[count++] = letters[three >> 12 & 63];
        ret[count++] = left > 1 ? letters[three >> 6 & 63] : '=';
        ret[count++] = left > 2 ? letters[three & 63] : '=';
    }
    return (struct str){ret, count};
}

struct str base64url_of(struct bytes bytes, struct arena *arena)
{
    struct str ret = base64_of(bytes, arena);
    char *at = (char *)(uintptr_t)ret.at;

    while (ret.count > 0 && ret.at[ret.count - 1] == '=')
        ret.count--;
    for (size_t i = 0; i < ret.count; i++)
        at[i] = at[i] == '+' ? '-' : at[i] == '/' ? '_' : at[i];
    return ret;
}

bool base64_read(struct str text, struct arena *arena, struct bytes *ret)
{
    uint8_t *at = arena_alloc(arena, text.count + 1, 1);
    size_t count = 0;
    uint32_t held = 0;
    unsigned bits = 0;

    while (text.count > 0 && text.at[text.count - 1] == '=')
        text.count--;
    for (size_t i = 0; i < text.count; i++) {
        const char *found = text.at[i] == '\0' ? NULL : strchr(letters, text.at[i]);

        if (found == NULL)
            return false;
        held = (held << 6 | (uint32_t)(found - letters)) & 0xfff;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            at[count++] = (uint8_t)(held >> bits);
        }
    }
    *ret = (struct bytes){at, count};
    return true;
}

struct str percent_encoded(struct str text, bool keep_slash, struct arena *arena)
{
    static const char digits[] = "0123456789ABCDEF";
    char *ret = arena_alloc(arena, 3 * text.count + 1, 1);
    size_t count = 0;

    for (size_t i = 0; i < text.count; i++) {
        unsigned char byte = (unsigned char)text.at[i];

        if ((byte < 128 && isalnum(byte)) || (byte != '\0' && strchr("-._~", byte) != NULL) ||
            (keep_slash && byte == '/')) {
            ret[count++] = (char)byte;
            continue;
        }
        ret[count++] = '%';
        ret[count++] = digits[byte >> 4];
        ret[count++] = digits[byte & 15];
    }
    return (struct str){ret, count};
}

static int digit_of(char letter)
{
    letter = ascii_lower(letter);
    return letter >= '0' && letter <= '9'   ? letter - '0'
           : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10
                                            : -1;
}

struct str percent_decoded(struct str text, struct arena *arena)
{
    char *ret = arena_alloc(arena, text.count + 1, 1);
    size_t count = 0;

    for (size_t i = 0; i < text.count; i++) {
        int high = i + 2 < text.count && text.at[i] == '%' ? digit_of(text.at[i + 1]) : -1;
        int low = high < 0 ? -1 : digit_of(text.at[i + 2]);

        if (low >= 0) {
            ret[count++] = (char)(high << 4 | low);
            i += 2;
        } else {
            ret[count++] = text.at[i] == '+' ? ' ' : text.at[i];
        }
    }
    return (struct str){ret, count};
}
