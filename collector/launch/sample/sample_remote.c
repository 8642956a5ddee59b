/* SPDX-License-Identifier: Apache-2.0 */
/* Reads another process by process_vm_readv, a page at a time, and keeps the pages for one look. */
#include "launch/sample/sample_remote.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

void remote_begin(struct remote *remote, pid_t process)
{
    remote->process = process;
    remote->failure = 0;
    for (int kind = 0; kind < REMOTE_KINDS; kind++)
        memset(remote->pages[kind].at, 0, sizeof remote->pages[kind].at);
}

void remote_forget(struct remote *remote)
{
    memset(remote->pages[REMOTE_STACK].at, 0, sizeof remote->pages[REMOTE_STACK].at);
}

bool remote_read_through(struct remote *remote, uint64_t address, void *ret, size_t count)
{
    struct iovec here = {.iov_base = ret, .iov_len = count};
    struct iovec there = {.iov_base = (void *)(uintptr_t)address, .iov_len = count};

    remote->reads++;
    ssize_t got = process_vm_readv(remote->process, &here, 1, &there, 1, 0);
    if (got == (ssize_t)count)
        return true;
    remote->failure = got < 0 ? errno : EFAULT;
    return false;
}

static const uint8_t *page_at(struct remote *remote, enum remote_kind kind, uint64_t address)
{
    struct remote_pages *pages = &remote->pages[kind];
    uint64_t slot = (address / REMOTE_PAGE * UINT64_C(0x9e3779b97f4a7c15)) >> 57;

    _Static_assert(REMOTE_PAGES == 1 << (64 - 57), "the hash's upper bits are a slot");
    if (pages->at[slot] == address)
        return pages->bytes[slot];
    pages->at[slot] = 0;
    if (!remote_read_through(remote, address, pages->bytes[slot], REMOTE_PAGE))
        return NULL;
    pages->at[slot] = address;
    return pages->bytes[slot];
}

bool remote_read(struct remote *remote, enum remote_kind kind, uint64_t address, void *ret,
                 size_t count)
{
    uint8_t *to = ret;

    if (address < REMOTE_PAGE || address > INT64_MAX - count) {
        remote->failure = EFAULT;
        return false;
    }
    while (count > 0) {
        uint64_t inside = address % REMOTE_PAGE;
        size_t take = count < REMOTE_PAGE - inside ? count : (size_t)(REMOTE_PAGE - inside);
        const uint8_t *page = page_at(remote, kind, address - inside);

        if (page == NULL)
            return false;
        memcpy(to, page + inside, take);
        to += take;
        address += take;
        count -= take;
    }
    return true;
}

uint64_t remote_number(const uint8_t *at, size_t count)
{
    uint64_t number = 0;

    memcpy(&number, at, count); /* little-endian, as all that is sampled */
    return number;
}
