/* SPDX-License-Identifier: Apache-2.0 */
/* Which times can be believed.
 *
 * A clock that was not read leaves 0 (CUPTI's way), or years. File time counts from the first event
 * and the capture ends with the last, so that one such time would move all others out of sight.
 *
 *   events   e e e e ... e e        the first START_EVENTS with a time wait: most of them lie
 *            |<-- wait --->|        together, without a gap of an hour, and tell the hull
 *   hull           [------]         +- an hour: what comes later and lies in it widens it
 *   doubt    0               9e15   what lies elsewhere waits, as text, until the end: a few
 *                                   are strays, and set aside; many are taken after all
 *
 * Ends are believed: a slice may last for hours. What lies beyond the 53 days that can be shown is
 * set aside in any case (trace_json_slices.c).
 */
#include <stdlib.h>

#include "base/sort.h"
#include "decode/chrome/trace_json.h"

enum { START_EVENTS = 64, WAITING_BYTES_MAX = 1 << 20, STRAYS_ONE_OF = 20 };

static const int64_t hour_us = INT64_C(3600000000);

static bool is_less(const int64_t *a, const int64_t *b)
{
    return *a < *b;
}

SORT_DEFINE(sort_times, int64_t, is_less)

static bool is_far(int64_t from_us, int64_t to_us, int64_t gap_us)
{
    int64_t gap;

    return __builtin_sub_overflow(to_us, from_us, &gap) || gap > gap_us;
}

static bool is_end(char phase)
{
    return phase == 'E' || phase == 'e' || phase == 'F';
}

static bool is_in_hull(const struct times *times, int64_t at_us)
{
    return at_us < times->first_us
               ? !is_far(at_us, times->first_us, hour_us)
               : at_us <= times->last_us || !is_far(times->last_us, at_us, hour_us);
}

static void widen(struct times *times, int64_t at_us)
{
    times->first_us = at_us < times->first_us ? at_us : times->first_us;
    times->last_us = at_us > times->last_us ? at_us : times->last_us;
    times->taken++;
}

static void keep_text(struct times *times, struct str text, int64_t at_us)
{
    if (times->waiting_count == times->waiting_capacity) {
        times->waiting_capacity = times->waiting_capacity == 0 ? 64 : times->waiting_capacity * 2;
        times->waiting =
            memory_resize(times->waiting, times->waiting_capacity, sizeof *times->waiting);
    }
    times->waiting[times->waiting_count++] =
        (struct waiting_event){.at_us = at_us, .from = times->texts.count, .count = text.count};
    text_put(&times->texts, text.at, text.count);
}

static void take_text(struct trace_json *json, struct str text)
{
    char *room;
    struct json again = json_over(text, &room);

    if (!sink_failed(json->sink) && event_read(json, &again))
        trace_json_take(json);
    free(room);
}

/* What waits, in the order of the file: all, or what lies in the hull. */
static void take_waiting(struct trace_json *json, bool all)
{
    struct times *times = &json->times;
    struct text texts = times->texts;
    struct waiting_event *waiting = times->waiting;
    uint32_t count = times->waiting_count;

    *times = (struct times){.settled = true,
                            .believes = times->believes,
                            .taken = times->taken,
                            .first_us = times->first_us,
                            .last_us = times->last_us};
    for (uint32_t i = 0; i < count; i++) {
        struct str text = {texts.at + waiting[i].from, waiting[i].count};

        if (!all && !is_in_hull(times, waiting[i].at_us)) {
            keep_text(times, text, waiting[i].at_us);
            continue;
        }
        if (!all)
            widen(times, waiting[i].at_us);
        take_text(json, text);
    }
    free(waiting);
    text_free(&texts);
}

/* The run of times, none an hour from the next, that has the most; of equals the later, for what
 * was not read is 0. */
static void find_hull(struct times *times)
{
    int64_t at_us[START_EVENTS * 2];
    uint32_t count = 0, most = 0;

    for (uint32_t i = 0; i < times->waiting_count && count < COUNT(at_us); i++)
        at_us[count++] = times->waiting[i].at_us;
    sort_times(at_us, count);
    for (uint32_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && !is_far(at_us[to - 1], at_us[to], hour_us); to++) {
        }
        if (to - from >= most) {
            most = to - from;
            times->first_us = at_us[from];
            times->last_us = at_us[to - 1];
        }
    }
}

void times_settle(struct trace_json *json)
{
    if (json->times.settled)
        return;
    find_hull(&json->times);
    take_waiting(json, false);
}

bool times_wait(struct trace_json *json, struct str text)
{
    struct times *times = &json->times;
    const struct event *event = &json->event;
    int64_t at_us = event->time.whole;

    if (!event->has_time || event->phase == 'M' || times->believes)
        return false;
    if (times->settled && is_in_hull(times, at_us)) {
        widen(times, at_us);
        return false;
    }
    if (times->settled && is_end(event->phase))
        return false;
    keep_text(times, text, at_us);
    times->told += !times->settled && at_us != 0;
    if (!times->settled &&
        (times->told >= START_EVENTS || times->waiting_count >= START_EVENTS * 2 ||
         times->texts.count > WAITING_BYTES_MAX))
        times_settle(json);
    if (times->texts.count > WAITING_BYTES_MAX) { /* too many to be strays */
        times->believes = true;
        take_waiting(json, true);
    }
    return true;
}

/* Farther from all others than those lie apart. */
static bool are_strays(const struct times *times)
{
    int64_t span_us;

    if (times->waiting_count == 0 || times->taken / STRAYS_ONE_OF < times->waiting_count)
        return false;
    if (__builtin_sub_overflow(times->last_us, times->first_us, &span_us))
        return false;
    for (uint32_t i = 0; i < times->waiting_count; i++) {
        int64_t at_us = times->waiting[i].at_us;

        if (at_us < times->first_us ? !is_far(at_us, times->first_us, span_us)
                                    : !is_far(times->last_us, at_us, span_us))
            return false;
    }
    return true;
}

void times_finish(struct trace_json *json)
{
    struct times *times = &json->times;

    times_settle(json);
    if (are_strays(times))
        json->odd.strays += times->waiting_count;
    else
        take_waiting(json, true);
}

void times_free(struct times *times)
{
    free(times->waiting);
    text_free(&times->texts);
}
