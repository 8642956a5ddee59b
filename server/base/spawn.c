/* SPDX-License-Identifier: Apache-2.0 */
/* Starts this program again by /proc/self/exe, or another one. */
#include "base/spawn.h"

#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

extern char **environ;

/* What a program of ours that reads strangers' bytes has no use for: keys of stores. */
static bool is_secret(const char *variable)
{
    static const char *const prefixes[] = {"AWS_",        "AZURE_",       "GOOGLE_",
                                           "HTTP_PROXY=", "HTTPS_PROXY=", "ALL_PROXY=",
                                           "http_proxy=", "https_proxy=", "all_proxy="};

    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(variable, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* The environment without those; freed by the caller. */
static char **plain_environment(void)
{
    size_t count = 0, kept = 0;

    while (environ[count] != NULL)
        count++;
    char **ret = memory_resize(NULL, count + 1, sizeof *ret);

    for (size_t i = 0; i < count; i++)
        if (!is_secret(environ[i]))
            ret[kept++] = environ[i];
    ret[kept] = NULL;
    return ret;
}

static int spawn_with(const char *program, char *const argv[], char *const environment[],
                      const struct spawn_end *ends, size_t count, pid_t *ret)
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
    int error = posix_spawnp(ret, program, &actions, &attributes, argv, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

int spawn_program(const char *program, char *const argv[], const struct spawn_end *ends,
                  size_t count, pid_t *ret)
{
    return spawn_with(program, argv, environ, ends, count, ret);
}

int spawn_self(char *const argv[], const struct spawn_end *ends, size_t count, pid_t *ret)
{
    char **plain = plain_environment();
    int error = spawn_with("/proc/self/exe", argv, plain, ends, count, ret);

    free(plain);
    return error;
}
