/* SPDX-License-Identifier: Apache-2.0 */
/* Reads decimal texts as picoseconds, integers or doubles without loss. */
#include <errno.h>
#include <stdlib.h>

#include "decode/json/json_number.h"

enum { PS_PER_US = 1000000, EXPONENT_MAX = 400 };

struct decimal { /* digits * 10^exponent; later digits than fit are cut, `more` tells that */
    bool negative, is_integer, more;
    uint64_t digits;
    int exponent;
};

__extension__ typedef unsigned __int128 wide;

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static const char *read_exponent(const char *at, const char *end, struct decimal *decimal)
{
    bool negative = at < end && *at == '-';
    int exponent = 0;
    const char *start;

    if (at < end && (*at == '-' || *at == '+'))
        at++;
    for (start = at; at < end && is_digit(*at); at++)
        if (exponent < 100000)
            exponent = exponent * 10 + (*at - '0');
    decimal->exponent += negative ? -exponent : exponent;
    return at > start ? at : NULL;
}

/* Up to 19 digits fit 64 bits for sure; a 20th only when the value still does. */
static void add_digit(struct decimal *decimal, unsigned digit, bool fraction)
{
    bool fits = decimal->digits < UINT64_MAX / 10 ||
                (decimal->digits == UINT64_MAX / 10 && digit <= UINT64_MAX % 10);

    if (fits && !decimal->more) {
        decimal->digits = decimal->digits * 10 + digit;
        decimal->exponent -= fraction;
        return;
    }
    decimal->more = true;
    decimal->exponent += !fraction;
}

static bool read_decimal(struct str text, struct decimal *ret)
{
    const char *at = text.at, *end = text.at + text.count;
    const char *start;

    *ret = (struct decimal){.is_integer = true};
    if (at < end && *at == '-') {
        ret->negative = true;
        at++;
    }
    for (start = at; at < end && is_digit(*at); at++)
        add_digit(ret, (unsigned)(*at - '0'), false);
    if (at == start)
        return false;
    if (at < end && *at == '.') {
        ret->is_integer = false;
        for (start = ++at; at < end && is_digit(*at); at++)
            add_digit(ret, (unsigned)(*at - '0'), true);
        if (at == start)
            return false;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        ret->is_integer = false;
        at = read_exponent(at + 1, end, ret);
    }
    return at == end;
}

/* digits * 10^(exponent + 6), rounded to the nearest: picoseconds. */
static bool to_ps(const struct decimal *decimal, wide *ret)
{
    wide value = decimal->digits;
    int exponent = decimal->exponent + 6;

    if (value == 0) {
        *ret = 0;
        return true;
    }
    if (exponent > 18 || exponent < -EXPONENT_MAX)
        return exponent < 0;
    for (; exponent > 0; exponent--)
        value *= 10;
    for (; exponent < -1 && value != 0; exponent++)
        value /= 10;
    if (exponent == -1)
        value = (value + 5) / 10;
    *ret = value;
    return true;
}

/* Nearly every time is digits, perhaps a point, and at most six more digits. */
static bool read_plain(struct str text, struct micros *ret)
{
    const char *at = text.at, *end = text.at + text.count;
    uint64_t whole = 0;
    int32_t ps = 0, scale = PS_PER_US / 10;

    for (; at < end && is_digit(*at); at++)
        whole = whole * 10 + (unsigned)(*at - '0');
    if (at == text.at || at - text.at > 18)
        return false;
    if (at < end && *at == '.') {
        if (end - at > 7 || end - at < 2)
            return false;
        for (at++; at < end && is_digit(*at); at++, scale /= 10)
            ps += (*at - '0') * scale;
    }
    *ret = (struct micros){.whole = (int64_t)whole, .ps = ps};
    return at == end;
}

bool micros_read(struct str text, struct micros *ret)
{
    struct decimal decimal;
    wide ps = 0;

    if (read_plain(text, ret))
        return true;
    if (!read_decimal(text, &decimal) || !to_ps(&decimal, &ps))
        return false;
    wide whole = ps / PS_PER_US;
    int32_t rest = (int32_t)(ps % PS_PER_US);

    if (whole > INT64_MAX / 2)
        return false;
    *ret = (struct micros){.whole = (int64_t)whole, .ps = rest};
    if (decimal.negative) {
        ret->whole = -ret->whole - (rest > 0);
        ret->ps = rest > 0 ? PS_PER_US - rest : 0;
    }
    return true;
}

bool micros_since(struct micros time, int64_t base, int64_t *ret)
{
    int64_t whole, ps;
    bool late = time.whole > base;

    if (__builtin_sub_overflow(time.whole, base, &whole) ||
        __builtin_mul_overflow(whole, (int64_t)PS_PER_US, &ps) ||
        __builtin_add_overflow(ps, (int64_t)time.ps, &ps) || ps > TIME_PS_MAX ||
        ps < -TIME_PS_MAX) {
        *ret = late ? TIME_PS_MAX : -TIME_PS_MAX;
        return false;
    }
    *ret = ps;
    return true;
}

static uint64_t double_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Exact where digits and power of ten are doubles themselves; else the library, which rounds
 * right. */
static double read_double(struct str text, const struct decimal *decimal)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    int exponent = decimal->exponent;

    if (!decimal->more && decimal->digits <= UINT64_C(1) << 53 && exponent >= -22 &&
        exponent <= 22) {
        double value = (double)decimal->digits;

        value = exponent < 0 ? value / powers[-exponent] : value * powers[exponent];
        return decimal->negative ? -value : value;
    }
    char copy[512];
    size_t count = text.count < sizeof copy ? text.count : sizeof copy - 1;

    memcpy(copy, text.at, count);
    copy[count] = '\0';
    return strtod(copy, NULL);
}

bool number_read(struct str text, struct arg *ret)
{
    struct decimal decimal;

    if (!read_decimal(text, &decimal))
        return false;
    if (decimal.is_integer && !decimal.more && !decimal.negative) {
        ret->type = decimal.digits <= INT64_MAX ? ARG_INT64 : ARG_UINT64;
        ret->bits = decimal.digits;
    } else if (decimal.is_integer && !decimal.more && decimal.digits > 0 &&
               decimal.digits <= UINT64_C(1) << 63) {
        ret->type = ARG_INT64;
        ret->bits = 0 - decimal.digits;
    } else {
        ret->type = ARG_DOUBLE;
        ret->bits = double_bits(read_double(text, &decimal));
    }
    return true;
}

double number_double(struct arg number)
{
    double value;

    switch (number.type) {
    case ARG_INT64:
        return (double)(int64_t)number.bits;
    case ARG_UINT64:
    case ARG_DIGITS:
        return (double)number.bits;
    default:
        memcpy(&value, &number.bits, sizeof value);
        return value;
    }
}

bool digits_read(struct str text, uint64_t *ret)
{
    bool is_padded = text.count > 1 && text.at[0] == '0';

    return text.count <= 20 && !is_padded && str_to_u64(text, ret);
}
