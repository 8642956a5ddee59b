#include "inject/cupti_names.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "inject/cupti.h"
#include "inject/texts.h"

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

/* CUPTI keeps a name at its place as long as the module is loaded, and may put another there later:
 * what is remembered of a place is held against what stands there. */
uint32_t cupti_name(const char *name)
{
    static struct {
        const char *at;
        uint32_t id;
    } known[NAMES_SLOTS];
    static char read[TEXT_BYTES_MAX];
    /* All bits count: short names lie beside one another, and each miss costs a call of the system.
     */
    size_t slot = (uint64_t)(uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SLOT_BITS),
           count;
    const char *text;

    if (name == NULL)
        return 0;
    if (known[slot].at == name && text_at(known[slot].id, &text, &count) &&
        strnlen(name, TEXT_BYTES_MAX) == count && memcmp(text, name, count) == 0)
        return known[slot].id;
    count = read_text(name, read);
    if (count == 0)
        return 0;
    known[slot].at = name;
    known[slot].id = text_id(read, count);
    return known[slot].id;
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
