/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds times, sizes, rates and counts to three digits with a unit. */
#include "base/human.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

/* Three significant digits of a value below 1,000 or so. */
static struct human with_unit(double value, const char *unit)
{
    struct human ret;
    double size = fabs(value);
    int decimals = size >= 99.95 || size == floor(size) ? 0 : size >= 9.995 ? 1 : 2;

    snprintf(ret.text, sizeof ret.text, "%.*f %s", decimals, value, unit);
    return ret;
}

struct human human_ps(int64_t ps)
{
    static const struct {
        double ps;
        const char *unit;
    } units[] = {{1e12, "s"}, {1e9, "ms"}, {1e6, "µs"}, {1e3, "ns"}};
    double size = fabs((double)ps);
    struct human ret;

    if (ps == INT64_MAX)
        return (struct human){"over 106 days"};
    if (size >= 60e12) {
        bool in_hours = size >= 3600e12;
        int64_t count = llround(size / (in_hours ? 60e12 : 1e12)); /* minutes, or seconds */

        snprintf(ret.text, sizeof ret.text, "%s%" PRId64 " %s %02" PRId64 " %s", ps < 0 ? "-" : "",
                 count / 60, in_hours ? "h" : "min", count % 60, in_hours ? "min" : "s");
        return ret;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (size >= units[i].ps * 0.9995)
            return with_unit((double)ps / units[i].ps, units[i].unit);
    }
    return with_unit((double)ps, "ps");
}

struct human human_share(double share)
{
    double percent = share * 100;
    struct human ret;

    bool is_near_all = percent >= 99.5 && percent < 99.95;

    if (percent > 0 && percent < 0.1)
        snprintf(ret.text, sizeof ret.text, "<0.1 %%");
    else if (percent >= 99.95 && percent < 100 - 1e-9) /* what is not all does not read so */
        snprintf(ret.text, sizeof ret.text, ">99.9 %%");
    else
        snprintf(ret.text, sizeof ret.text, "%.*f %%",
                 percent == 0 || (percent >= 9.95 && !is_near_all) ? 0 : 1, percent);
    return ret;
}

struct human human_bytes(uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;

    for (; value >= 1023.5 && unit + 1 < sizeof units / sizeof units[0]; unit++)
        value /= 1024;
    return with_unit(value, units[unit]);
}

struct human human_count(uint64_t count)
{
    struct human ret;

    if (count >= 1000000000)
        return with_unit((double)count / 1e9, "G");
    if (count >= 1000000)
        return with_unit((double)count / 1e6, "M");
    if (count >= 1000)
        snprintf(ret.text, sizeof ret.text, "%" PRIu64 " %03" PRIu64, count / 1000, count % 1000);
    else
        snprintf(ret.text, sizeof ret.text, "%" PRIu64, count);
    return ret;
}
