/* SPDX-License-Identifier: Apache-2.0 */
/* Text that streams out: gathered to pieces of 64 KiB, sticky after a failure. */
#ifndef JVIEWD_EXPORT_TEXT_OUT_H
#define JVIEWD_EXPORT_TEXT_OUT_H

#include "base/pack/pack.h"

enum { TEXT_OUT_BYTES = 64 << 10 };

struct text_out {
    pack_write *write;
    void *to;
    struct error *err;
    bool failed;
    size_t count;
    char *at; /* TEXT_OUT_BYTES */
};

void text_out_open(struct text_out *out, pack_write *write, void *to, struct error *err);
/* Writes what is left and frees. */
MUST_CHECK enum status text_out_close(struct text_out *out);

void text_out_put(struct text_out *out, struct str text);
void text_out_int(struct text_out *out, int64_t value);
void text_out_uint(struct text_out *out, uint64_t value);
/* The shortest text that reads back as the same double; null where JSON has none. */
void text_out_double(struct text_out *out, double value);
/* In quotes; what is no UTF-8 becomes U+FFFD. */
void text_out_json(struct text_out *out, struct str text);
/* Whole nanoseconds as JSON microseconds: 12.345. */
void text_out_micros(struct text_out *out, int64_t ns);

#define text_out_puts(out, literal) text_out_put((out), STR(literal))

/* Is the text one whole JSON value? Args hold what stood in somebody's file. */
bool text_is_json(struct str text);

#endif
