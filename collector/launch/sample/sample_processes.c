/* SPDX-License-Identifier: Apache-2.0 */
/* Walks /proc/PID/task/TID/children, and reads the times and names of tasks. */
#include "launch/sample/sample_processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TASKS_MAX = 4096 };

bool process_is_ours(pid_t process)
{
    char path[64];
    struct stat about;

    snprintf(path, sizeof path, "/proc/%ld", (long)process);
    return stat(path, &about) == 0 && about.st_uid == geteuid();
}

static uint32_t add_children(pid_t process, const char *task, pid_t *ret, uint32_t count,
                             uint32_t most)
{
    char path[320];
    long child;

    snprintf(path, sizeof path, "/proc/%ld/task/%s/children", (long)process, task);
    FILE *file = fopen(path, "re");
    while (file != NULL && count < most && fscanf(file, "%ld", &child) == 1)
        if (child > 0 && process_is_ours((pid_t)child))
            ret[count++] = (pid_t)child;
    if (file != NULL)
        fclose(file);
    return count;
}

/* A child is listed with the thread that made it. */
uint32_t processes_below(pid_t process, pid_t *ret, uint32_t most)
{
    uint32_t count = 0;

    if (most > 0 && process_is_ours(process))
        ret[count++] = process;
    for (uint32_t next = 0; next < count; next++) {
        char path[64];
        int tasks = 0;

        snprintf(path, sizeof path, "/proc/%ld/task", (long)ret[next]);
        DIR *open = opendir(path);
        for (struct dirent *entry;
             open != NULL && tasks < TASKS_MAX && (entry = readdir(open)) != NULL; tasks++)
            if (entry->d_name[0] != '.')
                count = add_children(ret[next], entry->d_name, ret, count, most);
        if (open != NULL)
            closedir(open);
    }
    return count;
}

bool task_cpu_ns(pid_t process, int64_t task, int *fd, int64_t *ret)
{
    char text[96];
    ssize_t count;

    if (*fd < 0) {
        snprintf(text, sizeof text, "/proc/%ld/task/%" PRId64 "/schedstat", (long)process, task);
        *fd = open(text, O_RDONLY | O_CLOEXEC);
    }
    count = *fd >= 0 ? pread(*fd, text, sizeof text - 1, 0) : -1;
    if (count <= 0)
        return false;
    text[count] = '\0';
    *ret = strtoll(text, NULL, 10);
    return true;
}

bool task_name(pid_t process, int64_t task, char ret[32])
{
    char path[96];

    snprintf(path, sizeof path, "/proc/%ld/task/%" PRId64 "/comm", (long)process, task);
    FILE *file = fopen(path, "re");
    bool is_told = file != NULL && fgets(ret, 32, file) != NULL;
    if (file != NULL)
        fclose(file);
    if (is_told)
        ret[strcspn(ret, "\n")] = '\0';
    return is_told && ret[0] != '\0';
}
