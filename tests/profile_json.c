/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as the Chrome JSON that JAX exports: integers of stats as quoted digits. */
#include "profile.h"

#include <inttypes.h>
#include <stdio.h>

static void puts_to(struct out *out, const char *text)
{
    put(out, text, strlen(text));
}

static void put_decimal(struct out *out, uint64_t value, unsigned digits_min)
{
    char digits[20];
    unsigned at = sizeof digits;

    do
        digits[--at] = (char)('0' + value % 10);
    while ((value /= 10) != 0 || sizeof digits - at < digits_min);
    put(out, digits + at, sizeof digits - at);
}

static void put_micros(struct out *out, int64_t ps)
{
    put_decimal(out, (uint64_t)ps / 1000000, 1);
    puts_to(out, ".");
    put_decimal(out, (uint64_t)ps % 1000000, 6);
}

static void put_json_event(struct out *out, unsigned pid, const struct line *line,
                           const struct made *made)
{
    char room[160];

    puts_to(out, "{\"ph\":\"X\",\"pid\":");
    put_decimal(out, pid, 1);
    puts_to(out, ",\"tid\":");
    put_decimal(out, (uint64_t)line->id, 1);
    puts_to(out, ",\"ts\":");
    put_micros(out, made->start_ps);
    puts_to(out, ",\"dur\":");
    put_micros(out, made->dur_ps);
    puts_to(out, ",\"name\":\"");
    puts_to(out, text_of(made->name, room));
    puts_to(out, made->stat_count > 0 ? "\",\"args\":{" : "\"");
    for (unsigned i = 0; i < made->stat_count; i++) {
        const struct stat_value *value = &made->stats[i];

        puts_to(out, i > 0 ? ",\"" : "\"");
        puts_to(out, stat_name(value->stat));
        puts_to(out, "\":\"");
        if (value->is_ref)
            puts_to(out, detail_of(value->stat, (unsigned)value->value, room));
        else
            put_decimal(out, value->value, 1);
        puts_to(out, "\"");
    }
    puts_to(out, made->stat_count > 0 ? "}},\n" : "},\n");
}

static void put_json_name(struct out *out, const char *what, unsigned pid, int64_t tid,
                          const char *name)
{
    char text[256];

    snprintf(text, sizeof text,
             "{\"ph\":\"M\",\"pid\":%u,\"tid\":%" PRId64
             ",\"name\":\"%s\",\"args\":{\"name\":\"%s\"}},\n",
             pid, tid, what, name);
    puts_to(out, text);
}

static unsigned pid_of(const struct profile *profile, const struct line *line)
{
    unsigned plane = 0;

    while (profile->planes[plane] != line->plane)
        plane++;
    return plane + 1;
}

void put_json(struct out *out, struct profile *profile)
{
    puts_to(out, "{\"displayTimeUnit\":\"ns\",\"metadata\":{\"highres-ticks\":true},"
                 "\"traceEvents\":[\n");
    for (unsigned plane = 0; plane < profile->plane_count; plane++)
        put_json_name(out, "process_name", plane + 1, 0, profile->planes[plane]);
    for (unsigned i = 0; i < profile->line_count; i++)
        put_json_name(out, "thread_name", pid_of(profile, &profile->lines[i]), profile->lines[i].id,
                      profile->lines[i].name);
    for (unsigned i = 0; i < profile->line_count; i++) {
        const struct line *line = &profile->lines[i];
        unsigned pid = pid_of(profile, line);

        for (uint64_t index = 0; index < line->count; index++) {
            struct made made = make_event(profile, line, index);

            put_json_event(out, pid, line, &made);
        }
    }
    puts_to(out, "{}]}\n");
}
