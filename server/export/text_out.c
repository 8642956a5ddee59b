/* SPDX-License-Identifier: Apache-2.0 */
/* Gathers output in a buffer, and writes numbers and JSON texts into it. */
#include "export/text_out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void text_out_open(struct text_out *out, pack_write *write, void *to, struct error *err)
{
    *out = (struct text_out){.write = write, .to = to, .err = err};
    out->at = memory_resize(NULL, TEXT_OUT_BYTES, 1);
}

static void flush(struct text_out *out)
{
    struct bytes piece = {.at = (const uint8_t *)out->at, .count = out->count};

    if (!out->failed && piece.count > 0)
        out->failed = out->write(out->to, piece, out->err) != OK;
    out->count = 0;
}

enum status text_out_close(struct text_out *out)
{
    flush(out);
    free(out->at);
    out->at = NULL;
    if (!out->failed)
        return OK;
    return fail(out->err, ERR_IO, "the client disconnected");
}

void text_out_put(struct text_out *out, struct str text)
{
    while (text.count > 0) {
        size_t room = TEXT_OUT_BYTES - out->count;
        size_t take = text.count < room ? text.count : room;

        memcpy(out->at + out->count, text.at, take);
        out->count += take;
        text = str_skip(text, take);
        if (out->count == TEXT_OUT_BYTES)
            flush(out);
    }
}

void text_out_uint(struct text_out *out, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    text_out_put(out, (struct str){digits + at, sizeof digits - at});
}

void text_out_int(struct text_out *out, int64_t value)
{
    if (value < 0)
        text_out_puts(out, "-");
    text_out_uint(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void text_out_double(struct text_out *out, double value)
{
    char text[40];
    int count = 0;

    if (!isfinite(value)) {
        text_out_puts(out, "null");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        count = snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    text_out_put(out, (struct str){text, (size_t)count});
}

/* Bytes of the UTF-8 character at `at`; 0 where there is none. */
static size_t character_size(const unsigned char *at, size_t count)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t size = at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    uint32_t code = at[0] & (0x7fu >> size);

    if (at[0] < 0xc2 || at[0] > 0xf4 || size > count)
        return 0;
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3f);
    }
    bool surrogate = code >= 0xd800 && code <= 0xdfff;

    return code >= least[size] && code <= 0x10ffff && !surrogate ? size : 0;
}

static void put_control(struct text_out *out, unsigned char byte)
{
    char text[8];
    int count = snprintf(text, sizeof text, "\\u%04x", byte);

    text_out_put(out, (struct str){text, (size_t)count});
}

void text_out_json(struct text_out *out, struct str text)
{
    const unsigned char *at = (const unsigned char *)text.at;
    size_t plain = 0, i = 0;

    text_out_puts(out, "\"");
    while (i < text.count) {
        bool escaped = at[i] == '"' || at[i] == '\\' || at[i] < 0x20 || at[i] == 0x7f;
        size_t size = escaped ? 0 : at[i] < 0x80 ? 1 : character_size(at + i, text.count - i);

        if (size > 0) {
            i += size;
            continue;
        }
        text_out_put(out, (struct str){text.at + plain, i - plain});
        if (at[i] == '"' || at[i] == '\\') {
            char pair[2] = {'\\', (char)at[i]};

            text_out_put(out, (struct str){pair, 2});
        } else if (escaped) {
            put_control(out, at[i]);
        } else {
            text_out_puts(out, "\xef\xbf\xbd");
        }
        plain = ++i;
    }
    text_out_put(out, str_skip(text, plain));
    text_out_puts(out, "\"");
}

void text_out_micros(struct text_out *out, int64_t ns)
{
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns, rest = size % 1000;
    char fraction[] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
                       (char)('0' + rest % 10)};

    if (ns < 0)
        text_out_puts(out, "-");
    text_out_uint(out, size / 1000);
    if (rest > 0)
        text_out_put(out, (struct str){fraction, sizeof fraction});
}
