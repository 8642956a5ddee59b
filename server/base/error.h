/* SPDX-License-Identifier: Apache-2.0 */
/* Failures, told once.
 *
 * A function that can fail returns `enum status` and takes `struct error *err` last. The first
 * failure stays; later ones are echoes. `fail` creates a failure and returns its code, so that
 * `return fail(err, ERR_FORMAT, "...")` reads as it should; `TRY` hands one up.
 *
 * Messages say what was found and where, in the user's words; whoever knows the file or the
 * object around it puts that in front with `error_context`.
 */
#ifndef JVIEWD_BASE_ERROR_H
#define JVIEWD_BASE_ERROR_H

#include <stdbool.h>

enum status {
    OK = 0,
    ERR_IO,          /* the system refused */
    ERR_PERMISSION,  /* the system refused this user */
    ERR_FORMAT,      /* bytes that break their format's rules */
    ERR_TRUNCATED,   /* bytes that end too early */
    ERR_UNSUPPORTED, /* known, and not read */
    ERR_LIMIT,       /* more than a budget allows */
    ERR_NOT_FOUND,   /* no such run, track, slice, file */
    ERR_AMBIGUOUS,   /* a name that means two things */
    ERR_INVALID,     /* a caller's argument: a bad request */
    ERR_CONFLICT,    /* changed meanwhile: a file replaced while read, an address in use */
    ERR_NOT_READY,   /* not indexed yet: ask again */
    ERR_CANCELLED,
    ERR_BUSY, /* not now: what it takes, others have */
};

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(at, first) __attribute__((format(printf, at, first)))

struct error {
    enum status code;
    const char *file; /* where in our source; a literal */
    int line;
    char message[480]; /* UTF-8, one sentence, never empty once code is set */
};

/* Sets the failure unless one is there already; returns err->code. `err` may be NULL. */
enum status error_set(struct error *err, enum status code, const char *file, int line,
                      const char *format, ...) PRINTF_LIKE(5, 6);
/* Puts text in front of the message of a failure; does nothing when there is none. */
void error_context(struct error *err, const char *format, ...) PRINTF_LIKE(2, 3);
/* "io", "format", ...: the word that stands in JSON. */
const char *status_word(enum status code);

#define fail(err, code, ...) error_set(err, code, __FILE__, __LINE__, __VA_ARGS__)
#define TRY(call)                                                                                  \
    do {                                                                                           \
        enum status try_status_ = (call);                                                          \
        if (try_status_ != OK)                                                                     \
            return try_status_;                                                                    \
    } while (0)

#endif
