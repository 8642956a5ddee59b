/* SPDX-License-Identifier: Apache-2.0 */
/* Starts this program again by /proc/self/exe, or another one. */
#include "base/spawn.h"

#include <signal.h>
#include <spawn.h>

extern char **environ;

int spawn_program(const char *program, char *const argv[], const struct spawn_end *ends,
                  size_t count, pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;

    posix_spawn_file_actions_init(&actions);
    for (size_t i = 0; i < count; i++)
        posix_spawn_file_actions_adddup2(&actions, ends[i].fd, ends[i].as);
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETPGROUP);
    int error = posix_spawnp(ret, program, &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

int spawn_self(char *const argv[], const struct spawn_end *ends, size_t count, pid_t *ret)
{
    return spawn_program("/proc/self/exe", argv, ends, count, ret);
}
