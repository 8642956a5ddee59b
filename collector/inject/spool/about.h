/* SPDX-License-Identifier: Apache-2.0 */
/* What is told once of a process: the payload of SPOOL_ABOUT. Of its arguments nothing, of its
 * environment only what is named here: both may hold what is nobody's business. */
#ifndef JVIEWD_INJECT_ABOUT_H
#define JVIEWD_INJECT_ABOUT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { ABOUT_BYTES_MAX = 1 << 17 };

size_t about_put(uint8_t ret[ABOUT_BYTES_MAX]); /* how many bytes it took */
/* Of another process; the environment is our own: a launcher's is what the program got. */
size_t about_put_of(uint8_t ret[ABOUT_BYTES_MAX], pid_t process);

#endif
