/* SPDX-License-Identifier: Apache-2.0 */
/* A line is one write, so that lines of several threads never mix. */
#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static _Atomic enum log_level shown = LOG_INFO;

void log_set_level(enum log_level level)
{
    shown = level;
}

/* Control characters of foreign texts must not steer the operator's terminal. */
static void tame(char *at, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if ((unsigned char)at[i] < 0x20 || at[i] == 0x7F)
            at[i] = '?';
    }
}

void log_line(enum log_level level, const char *format, ...)
{
    static const char *const words[] = {"error", "warning", "info", "debug"};
    char line[2048];
    struct tm utc;
    time_t now = time(NULL);

    if (level > shown)
        return;
    gmtime_r(&now, &utc);

    size_t used = strftime(line, sizeof(line), "%Y-%m-%dT%H:%M:%SZ ", &utc);
    int put = snprintf(line + used, sizeof(line) - used, "%s: ", words[level]);

    if (put < 0)
        return;
    used += (size_t)put;

    va_list args;

    va_start(args, format);
    put = vsnprintf(line + used, sizeof(line) - used, format, args);
    va_end(args);
    if (put < 0)
        return;

    size_t told = (size_t)put < sizeof(line) - used - 1 ? (size_t)put : sizeof(line) - used - 2;

    tame(line + used, told);
    used += told;
    line[used++] = '\n';
    if (write(STDERR_FILENO, line, used) < 0)
        return; /* nobody listens; there is nowhere else to say so */
}
