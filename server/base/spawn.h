/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of their own: this program, started again, and others. */
#ifndef JVIEWD_BASE_SPAWN_H
#define JVIEWD_BASE_SPAWN_H

#include <stddef.h>
#include <sys/types.h>

struct spawn_end { /* a descriptor of ours, and which it is there */
    int fd, as;
};

/* 0, or errno. All else that is close-on-exec is closed there; signals are as at birth, and what a
 * terminal sends us is not for it. Keys of stores and proxies are not in its environment. */
int spawn_self(char *const argv[], const struct spawn_end *ends, size_t count, pid_t *ret);
/* The same of another program: a path, or a word that is looked for on the PATH. */
int spawn_program(const char *program, char *const argv[], const struct spawn_end *ends,
                  size_t count, pid_t *ret);

#endif
