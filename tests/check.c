/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the row and the values of a check that failed. */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>

void check_failed(const char *file, int line, const char *what, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_error("%s: ", what);
    vprint_error(format, args);
    print_error("\n");
    va_end(args);
    _fail(file, line);
}

void check_int(const char *file, int line, const char *what, int64_t got, int64_t want)
{
    if (got != want)
        check_failed(file, line, what, "got %" PRId64 ", want %" PRId64, got, want);
}

void check_str(const char *file, int line, const char *what, struct str got, const char *want)
{
    if (!str_equal(got, str_of(want)))
        check_failed(file, line, what, "got \"%.*s\", want \"%s\"", STR_ARG(got), want);
}

void check_has(const char *file, int line, const char *what, const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        check_failed(file, line, what, "\"%s\" does not say \"%s\"", text, part);
}

void check_ok(const char *file, int line, const char *what, enum status status,
              const struct error *err)
{
    if (status != OK)
        check_failed(file, line, what, "%s: %s", status_word(status),
                     err != NULL ? err->message : "");
}
