/* SPDX-License-Identifier: Apache-2.0 */
/* `jviewd collect`: finds jview-collect beside this program, and becomes it. */
#include "app/collect.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_CANNOT_START = 127 }; /* as jview-collect says it of its own program */

int collect_main(int argc, char **argv)
{
    static char own[4096], path[4200];
    static char name[] = "jview-collect";
    ssize_t count = readlink("/proc/self/exe", own, sizeof own - 1);
    const char *slash = count > 0 ? strrchr(own, '/') : NULL;

    (void)argc;
    snprintf(path, sizeof path, "%.*s/%s", slash != NULL ? (int)(slash - own) : 1,
             slash != NULL ? own : ".", name);
    argv[0] = name;
    execv(path, argv);
    fprintf(stderr,
            "jviewd: cannot run %s: %s. It is built with jviewd and must be installed beside it, "
            "with libjview-collector.so beside it or in ../lib/jviewd.\n",
            path, strerror(errno));
    return EXIT_CANNOT_START;
}
