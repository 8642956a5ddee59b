/* SPDX-License-Identifier: Apache-2.0 */
/* Decimal texts, exactly. */
#ifndef JVIEWD_DECODE_JSON_JSON_NUMBER_H
#define JVIEWD_DECODE_JSON_JSON_NUMBER_H

#include "base/bytes.h"
#include "trace/trace.h"

/* A time in microseconds as JSON spells it. Unix times in picoseconds do not fit 64 bits, so the
 * whole microseconds stay apart. */
struct micros {
    int64_t whole; /* rounded down */
    int32_t ps;    /* 0 ... 999,999 more */
};

/* False when the text is no number or does not fit. Digits below a picosecond are rounded to the
 * nearest: exporters print doubles with 17 digits. */
bool micros_read(struct str text, struct micros *ret);
/* (time - base) in ps; false, and the nearer bound, beyond +-TIME_PS_MAX. */
bool micros_since(struct micros time, int64_t base, int64_t *ret);

/* A number as an arg without a key: int64, else uint64, else double. False for other texts. */
bool number_read(struct str text, struct arg *ret);
double number_double(struct arg number);
/* Digits only, no leading zero, below 2^64. */
bool digits_read(struct str text, uint64_t *ret);

#endif
