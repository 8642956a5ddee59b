/* SPDX-License-Identifier: Apache-2.0 */
/* Times, and files of profiles as AWS's programs keep them. */
#include <stdio.h>
#include <time.h>

#include "remote/documents_parts.h"

static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

/* The digits at *at, exactly so many. */
static bool digits(struct str text, size_t *at, unsigned count, int *ret)
{
    *ret = 0;
    for (unsigned i = 0; i < count; i++, (*at)++) {
        if (*at >= text.count || text.at[*at] < '0' || text.at[*at] > '9')
            return false;
        *ret = *ret * 10 + text.at[*at] - '0';
    }
    return true;
}

static bool letter(struct str text, size_t *at, char wanted)
{
    return *at < text.count && text.at[(*at)++] == wanted;
}

static bool clock_parts(struct str text, size_t *at, struct tm *ret)
{
    return digits(text, at, 2, &ret->tm_hour) && letter(text, at, ':') &&
           digits(text, at, 2, &ret->tm_min) && letter(text, at, ':') &&
           digits(text, at, 2, &ret->tm_sec);
}

static bool iso_parts(struct str text, size_t *at, struct tm *ret)
{
    bool good = digits(text, at, 4, &ret->tm_year) && letter(text, at, '-') &&
                digits(text, at, 2, &ret->tm_mon) && letter(text, at, '-') &&
                digits(text, at, 2, &ret->tm_mday) && letter(text, at, 'T') &&
                clock_parts(text, at, ret);

    ret->tm_year -= 1900;
    ret->tm_mon -= 1;
    return good;
}

/* "Fri, 24 May 2013 00:00:00 GMT" */
static bool http_parts(struct str text, struct tm *ret)
{
    size_t at = 5, month = 0;

    if (text.count < 25 || text.at[3] != ',' || !digits(text, &at, 2, &ret->tm_mday) ||
        !letter(text, &at, ' '))
        return false;
    while (month < COUNT(months) && memcmp(text.at + at, months[month], 3) != 0)
        month++;
    at += 3;
    ret->tm_mon = (int)month;
    bool good = month < COUNT(months) && letter(text, &at, ' ') &&
                digits(text, &at, 4, &ret->tm_year) && letter(text, &at, ' ') &&
                clock_parts(text, &at, ret);

    ret->tm_year -= 1900;
    return good;
}

static bool is_sane(const struct tm *parts)
{
    return parts->tm_year >= 70 && parts->tm_year <= 290 && parts->tm_mon >= 0 &&
           parts->tm_mon < 12 && parts->tm_mday >= 1 && parts->tm_mday <= 31 &&
           parts->tm_hour < 24 && parts->tm_min < 60 && parts->tm_sec <= 60;
}

bool time_read(struct str text, int64_t *ret_ns)
{
    struct tm parts = {0};
    size_t at = 0;
    int64_t nanoseconds = 0, unit = 100000000;

    if (text.count > 0 && text.at[0] >= 'A') {
        if (!http_parts(text, &parts) || !is_sane(&parts))
            return false;
    } else {
        if (!iso_parts(text, &at, &parts) || !is_sane(&parts))
            return false;
        if (at < text.count && text.at[at] == '.')
            for (at++; at < text.count && text.at[at] >= '0' && text.at[at] <= '9'; at++) {
                nanoseconds += unit * (text.at[at] - '0');
                unit /= 10;
            }
    }
    *ret_ns = (int64_t)timegm(&parts) * 1000000000 + nanoseconds;
    return true;
}

static struct str trimmed(struct str text)
{
    while (text.count > 0 && (unsigned char)text.at[0] <= ' ')
        text = str_skip(text, 1);
    while (text.count > 0 && (unsigned char)text.at[text.count - 1] <= ' ')
        text.count--;
    return text;
}

static struct str until(struct str text, char stop)
{
    const char *at = memchr(text.at, stop, text.count);

    return (struct str){text.at, at == NULL ? text.count : (size_t)(at - text.at)};
}

/* "[profile team]" and "[team]" are "team". */
static struct str section_of(struct str line)
{
    struct str name = trimmed(until(str_skip(line, 1), ']'));

    if (str_starts(name, STR("profile ")) || str_starts(name, STR("profile\t")))
        name = trimmed(str_skip(name, 8));
    return name;
}

void ini_read(struct bytes bytes, ini_take *take, void *data)
{
    struct str rest = {(const char *)bytes.at, bytes.count}, section = STR("");

    while (rest.count > 0) {
        struct str whole = until(rest, '\n'), line = trimmed(whole), name = until(line, '=');

        rest = str_skip(rest, whole.count < rest.count ? whole.count + 1 : whole.count);
        if (line.count == 0 || line.at[0] == '#' || line.at[0] == ';')
            continue;
        if (line.at[0] == '[') {
            section = section_of(line);
            continue;
        }
        if (name.count == line.count)
            continue;
        struct ini_value value = {section, trimmed(name), trimmed(str_skip(line, name.count + 1))};

        take(data, &value);
    }
}
