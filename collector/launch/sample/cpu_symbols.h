/* SPDX-License-Identifier: Apache-2.0 */
/* Which function an address of a process belongs to: by what its files' mappings were when the
 * kernel told them, and by the symbols of these files.
 *
 *   process 466   7f1200000000-7f1200400000  offset 0x2000  /usr/lib/libm.so.6
 *   libm.so.6     0x9d0 sin  0xa40 cos ...
 *
 * All that comes from the kernel's ring and from files is bounded, and none of it is believed.
 */
#ifndef JVIEWD_LAUNCH_CPU_SYMBOLS_H
#define JVIEWD_LAUNCH_CPU_SYMBOLS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"

struct cpu_map {
    uint64_t from, count, offset;
};

void symbols_mapped(pid_t process, struct cpu_map map, const char *path);
void symbols_forked(pid_t process, pid_t parent);
void symbols_became(pid_t process); /* another program, by exec */

struct symbol_at {
    struct str function, file; /* demangled; the file's last name; "" unknown */
};
/* Valid until the end of symbols_free. */
struct symbol_at symbols_find(pid_t process, uint64_t address);
void symbols_free(void);

#endif
