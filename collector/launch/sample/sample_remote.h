/* SPDX-License-Identifier: Apache-2.0 */
/* Another process's memory, read while it runs: whatever is there, also where it changes meanwhile
 * or is gone. Whoever reads believes nothing of it.
 *
 * Pages are kept for the length of a look, so that what lies together is read together: those of a
 * thread's stack until remote_forget, those of code, which hardly changes, until remote_begin.
 */
#ifndef JVIEWD_LAUNCH_SAMPLE_REMOTE_H
#define JVIEWD_LAUNCH_SAMPLE_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { REMOTE_PAGE = 4096, REMOTE_PAGES = 128 };
enum remote_kind { REMOTE_STACK, REMOTE_CODE, REMOTE_KINDS };

struct remote {
    pid_t process;
    int failure; /* errno of the last read that failed; 0: none did */
    uint64_t reads;
    struct remote_pages {
        uint64_t at[REMOTE_PAGES]; /* address of a page; 0: none */
        uint8_t bytes[REMOTE_PAGES][REMOTE_PAGE];
    } pages[REMOTE_KINDS];
};

void remote_begin(struct remote *remote, pid_t process);
void remote_forget(struct remote *remote); /* of stacks */
/* All of it or false. */
bool remote_read(struct remote *remote, enum remote_kind kind, uint64_t address, void *ret,
                 size_t count);
/* Past the pages: for what is long, or read once. */
bool remote_read_through(struct remote *remote, uint64_t address, void *ret, size_t count);

static inline bool remote_word(struct remote *remote, enum remote_kind kind, uint64_t address,
                               uint64_t *ret)
{
    return remote_read(remote, kind, address, ret, sizeof *ret);
}

/* A whole number of `count` bytes at an offset of what was read. */
uint64_t remote_number(const uint8_t *at, size_t count);

#endif
