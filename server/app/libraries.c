/* SPDX-License-Identifier: Apache-2.0 */
/* Asks each linked library for its version, and names a known fault of one. */
#include "app/libraries.h"

#include <gnu/libc-version.h>
#include <jansson.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/pack/archive.h"
#include "base/pack/pack.h"
#include "base/sandbox/sandbox.h"
#include "capture/grpc.h"
#include "remote/remote.h"
#include "serve/http/http.h"
#include "store/catalog.h"

static const struct {
    const char *name;
    const char *(*version)(void);
} table[] = {
    {"CivetWeb", http_library},      {"SQLite", catalog_library},  {"Jansson", jansson_version_str},
    {"expat", remote_xml_library},   {"nghttp2", grpc_library},    {"libzstd", pack_zstd_library},
    {"ISA-L", pack_gzip_library},    {"liblzma", pack_xz_library}, {"libzip", archive_library},
    {"Snappy", pack_snappy_library}, {"xxHash", hash_library},     {"libseccomp", sandbox_library},
    {"glibc", gnu_get_libc_version},
};
const uint32_t library_count = sizeof table / sizeof table[0];

void libraries_prepare(void)
{
    json_set_alloc_funcs(memory_malloc, free); /* it loses, unsaid, what it is refused */
}

static const struct {
    const char *name, *from, *until; /* versions, both of them bad */
    const char *text;
} faults[] = {
    {"liblzma", "5.6.0", "5.6.1", "contains a back door (CVE-2024-3094): replace it at once"},
    {"CivetWeb", "1.14", "1.16",
     "overruns its memory where it redirects to a directory (CVE-2025-55763); jviewd has it serve "
     "no directory"},
    {"SQLite", "3.7.0", "3.51.2",
     "may damage a database that two connections write at once (sqlite.org/wal.html#walresetbug); "
     "jviewd has one writer: let no other program write its databases"},
};

/* Below 0 where a is older. Numbers between dots; what is no number ends the comparison. */
static int compare(const char *a, const char *b)
{
    for (;;) {
        char *a_end, *b_end;
        unsigned long one = strtoul(a, &a_end, 10), other = strtoul(b, &b_end, 10);

        if (one != other)
            return one < other ? -1 : 1;
        if (*a_end != '.' && *b_end != '.')
            return 0;
        a = *a_end == '.' ? a_end + 1 : "0";
        b = *b_end == '.' ? b_end + 1 : "0";
    }
}

struct library library_at(uint32_t index)
{
    return (struct library){.name = table[index].name, .version = table[index].version()};
}

const char *library_fault(struct library library)
{
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        if (strcmp(library.name, faults[i].name) == 0 &&
            compare(library.version, faults[i].from) >= 0 &&
            compare(library.version, faults[i].until) <= 0)
            return faults[i].text;
    }
    return NULL;
}
