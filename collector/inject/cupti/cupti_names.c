/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the names that CUPTI points at, demangles those of kernels, and keeps each by its
 * address. */
#include "inject/cupti/cupti_names.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "inject/cupti/cupti.h"
#include "inject/process/texts.h"

enum { SLOT_BITS = 12, NAMES_SLOTS = 1 << SLOT_BITS, CALLS_MAX = 1 << 11, PAGE_BYTES = 1 << 12 };

/* The text there, read so that a place that is none costs the name and not the program: records of
 * a library that is newer than ours may hold something else. */
static size_t read_text(const char *name, char ret[TEXT_BYTES_MAX])
{
    size_t first = PAGE_BYTES - (uintptr_t)name % PAGE_BYTES;
    struct iovec to = {.iov_base = ret, .iov_len = TEXT_BYTES_MAX};
    struct iovec from[] = {
        {.iov_base = (char *)(uintptr_t)name, .iov_len = first},
        {.iov_base = (char *)(uintptr_t)name + first, .iov_len = TEXT_BYTES_MAX - first}};
    ssize_t count = process_vm_readv(getpid(), &to, 1, from, 2, 0);

    return count > 0 ? strnlen(ret, (size_t)count) : 0;
}

typedef char *demangler(const char *name, char *room, size_t *size, int *status);

/* That of the C++ runtime: the one that the program has mapped, else the system's. */
static demangler *find_demangler(void)
{
    static const char library[] = "libstdc++.so.6";
    void *mapped = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    void *found = mapped != NULL ? mapped : dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    void *symbol = found != NULL ? dlsym(found, "__cxa_demangle") : NULL;
    demangler *ret;

    memcpy(&ret, &symbol, sizeof ret);
    return ret;
}

/* As the source has it, and as XLA's own profiler and nsys name kernels; what is no name of C++, or
 * finds no room, as it is. */
static uint32_t source_name(uint32_t id, const char *name, size_t count)
{
    static char copy[TEXT_BYTES_MAX + 1];
    static demangler *demangle;
    static bool is_sought;
    int status = 0;

    if (count < 3 || memcmp(name, "_Z", 2) != 0)
        return id;
    if (!is_sought)
        demangle = find_demangler();
    is_sought = true;
    memcpy(copy, name, count);
    copy[count] = '\0';
    char *shown = demangle != NULL ? demangle(copy, NULL, NULL, &status) : NULL;
    uint32_t source = shown != NULL ? text_id(shown, strlen(shown)) : 0;
    free(shown);
    return source != 0 ? source : id;
}

/* CUPTI keeps a name at its place as long as the module is loaded, and may put another there later:
 * what is remembered of a place is held against what stands there. */
uint32_t cupti_name(const char *name)
{
    static struct {
        const char *at;
        uint32_t id, shown;
    } known[NAMES_SLOTS];
    static char read[TEXT_BYTES_MAX];
    /* All bits count: short names lie beside one another, and each miss costs a call of the
     * system. */
    size_t slot = (uint64_t)(uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SLOT_BITS),
           count;
    const char *text;

    if (name == NULL)
        return 0;
    if (known[slot].at == name && text_at(known[slot].id, &text, &count) &&
        strnlen(name, TEXT_BYTES_MAX) == count && memcmp(text, name, count) == 0)
        return known[slot].shown;
    count = read_text(name, read);
    if (count == 0)
        return 0;
    uint32_t id = text_id(read, count);
    if (id == 0) /* texts are full: nothing to remember it by */
        return 0;
    known[slot].at = name;
    known[slot].id = id;
    known[slot].shown = source_name(id, read, count);
    return known[slot].shown;
}

uint32_t cupti_call_name(uint32_t kind, uint32_t call)
{
    static uint32_t known[2][CALLS_MAX];
    int domain = kind == CUPTI_DRIVER ? CUPTI_DOMAIN_DRIVER : CUPTI_DOMAIN_RUNTIME;
    const char *name = NULL;

    if (call >= CALLS_MAX)
        return 0;
    uint32_t *id = &known[kind == CUPTI_DRIVER][call];
    if (*id == 0 && cupti_library()->callback_name(domain, call, &name) == CUPTI_OK && name != NULL)
        *id = text_id(name, strnlen(name, TEXT_BYTES_MAX));
    return *id;
}
