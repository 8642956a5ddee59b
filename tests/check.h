/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that name their row, on top of cmocka. A test is a table and a loop; `what` is the row's
 * first column, the name one reads when it breaks. */
#ifndef JVIEWD_TESTS_CHECK_H
#define JVIEWD_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#undef fail /* cmocka's; ours creates an error. Include this header before any of ours. */

#include "base/bytes.h"
#include "base/error.h"

#define CHECK(what, condition)                                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            check_failed(__FILE__, __LINE__, (what), "%s", #condition);                            \
    } while (0)
#define CHECK_INT(what, got, want)                                                                 \
    check_int(__FILE__, __LINE__, (what), (int64_t)(got), (int64_t)(want))
#define CHECK_STR(what, got, want) check_str(__FILE__, __LINE__, (what), (got), (want))
/* Text contains a part: for messages. */
#define CHECK_HAS(what, text, part) check_has(__FILE__, __LINE__, (what), (text), (part))
#define CHECK_OK(what, status, err) check_ok(__FILE__, __LINE__, (what), (status), (err))

void check_failed(const char *file, int line, const char *what, const char *format, ...)
    PRINTF_LIKE(4, 5);
void check_int(const char *file, int line, const char *what, int64_t got, int64_t want);
void check_str(const char *file, int line, const char *what, struct str got, const char *want);
void check_has(const char *file, int line, const char *what, const char *text, const char *part);
void check_ok(const char *file, int line, const char *what, enum status status,
              const struct error *err);

#endif
