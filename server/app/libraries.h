/* SPDX-License-Identifier: Apache-2.0 */
/* The libraries that this program runs with: which versions, and what is known against one.
 *
 *   SQLite 3.40.1      as the library says of itself while it runs
 *   ISA-L 2.30.0       as its headers said at the build, where it says nothing
 */
#ifndef JVIEWD_APP_LIBRARIES_H
#define JVIEWD_APP_LIBRARIES_H

#include <stdbool.h>
#include <stdint.h>

struct library {
    const char *name, *version;
};

/* What they are refused by the system is tried again, as ours is. Before any of them is used. */
void libraries_prepare(void);

extern const uint32_t library_count;
struct library library_at(uint32_t index);
/* Why this version is no good; NULL: nothing is known against it. */
const char *library_fault(struct library library);

#endif
