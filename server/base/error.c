/* SPDX-License-Identifier: Apache-2.0 */
/* Sets a failure once, and cuts its message at a whole character. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A message that was cut may end inside a UTF-8 sequence: step back to its start. */
static void trim_utf8(char *message)
{
    size_t count = strlen(message);
    size_t start = count;

    while (start > 0 && count - start < 3 && ((unsigned char)message[start - 1] & 0xC0) == 0x80)
        start--;
    if (start == 0)
        return;

    unsigned char lead = (unsigned char)message[start - 1];
    size_t want = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;

    if (want > 1 && count - (start - 1) < want)
        message[start - 1] = '\0';
}

enum status error_set(struct error *err, enum status code, const char *file, int line,
                      const char *format, ...)
{
    if (err == NULL)
        return code;
    if (err->code != OK)
        return err->code;

    va_list args;

    err->code = code;
    err->file = file;
    err->line = line;
    va_start(args, format);
    if (vsnprintf(err->message, sizeof(err->message), format, args) <= 0)
        strcpy(err->message, status_word(code));
    va_end(args);
    trim_utf8(err->message);
    return code;
}

void error_context(struct error *err, const char *format, ...)
{
    if (err == NULL || err->code == OK)
        return;

    char told[sizeof(err->message)];
    va_list args;

    memcpy(told, err->message, sizeof(told));
    va_start(args, format);
    int count = vsnprintf(err->message, sizeof(err->message), format, args);
    va_end(args);

    size_t used = count < 0                              ? 0
                  : (size_t)count < sizeof(err->message) ? (size_t)count
                                                         : sizeof(err->message) - 1;
    snprintf(err->message + used, sizeof(err->message) - used, "%s", told);
    trim_utf8(err->message);
}

const char *status_word(enum status code)
{
    static const char *const words[] = {
        [OK] = "ok",
        [ERR_IO] = "io",
        [ERR_PERMISSION] = "permission",
        [ERR_FORMAT] = "format",
        [ERR_TRUNCATED] = "truncated",
        [ERR_UNSUPPORTED] = "unsupported",
        [ERR_LIMIT] = "limit",
        [ERR_NOT_FOUND] = "not-found",
        [ERR_AMBIGUOUS] = "ambiguous",
        [ERR_INVALID] = "invalid",
        [ERR_CONFLICT] = "conflict",
        [ERR_NOT_READY] = "not-ready",
        [ERR_CANCELLED] = "cancelled",
        [ERR_BUSY] = "busy",
    };

    return (unsigned)code < sizeof(words) / sizeof(words[0]) ? words[code] : "unknown";
}
