/* SPDX-License-Identifier: Apache-2.0 */
/* Slices by name against a plain list. */
#include "trace/names/by_name.h"

#include <stdlib.h>

#include "made_trace.h"
#include "trace/names/quantile.h"
#include "trace/writers.h"

struct listed { /* one slice, as read back from its row */
    slice_id id;
    row_id row;
    name_id name;
    int64_t dur_ps, self_ps;
    bool derived;
};

/* All slices, ordered by (name, row, time). */
static int by_name_then_id(const void *one, const void *other)
{
    const struct listed *a = one, *b = other;

    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    return a->id < b->id ? -1 : 1;
}

static struct listed *list_all(const struct made *made)
{
    struct listed *all = calloc(made->trace.slice_count + 1, sizeof(*all));

    for (slice_id id = 0; id < made->trace.slice_count; id++) {
        struct slice slice = trace_slice(&made->trace, id);

        all[id] = (struct listed){.id = id,
                                  .row = slice.row,
                                  .name = slice.name,
                                  .dur_ps = slice.dur_ps,
                                  .self_ps = slice.self_ps,
                                  .derived = (slice.flags & SLICE_DERIVED) != 0};
    }
    qsort(all, made->trace.slice_count, sizeof(*all), by_name_then_id);
    return all;
}

static int by_value(const void *one, const void *other)
{
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;

    return (a > b) - (a < b);
}

static void check_near(const char *what, int64_t got, int64_t want, bool approximate)
{
    int64_t off = got > want ? got - want : want - got;

    if (approximate ? off > want / 100 : off != 0)
        CHECK_INT(what, got, want);
}

/* The slices [all, all + count) of one name against what the trace says. */
static void check_name(const char *what, const struct made *made, const struct listed *all,
                       uint32_t count)
{
    const struct name_stats *stats = trace_stats_of(&made->trace, all->name);
    int64_t *durations = calloc(count, sizeof(*durations)), total = 0, self = 0;
    uint32_t own = 0, at = 0, run_count;

    for (uint32_t i = 0; i < count; i++) {
        if (all[i].derived)
            continue;
        durations[own++] = all[i].dur_ps;
        total += all[i].dur_ps;
        self += all[i].self_ps;
    }
    qsort(durations, own, sizeof(*durations), by_value);
    CHECK(what, stats != NULL);
    CHECK_INT(what, stats->count, own);
    CHECK_INT(what, stats->total_ps, total);
    CHECK_INT(what, stats->self_ps, self);
    if (own > 0) {
        CHECK_INT(what, stats->min_ps, durations[0]);
        CHECK_INT(what, stats->max_ps, durations[own - 1]);
        CHECK_INT(what, stats->quantiles_approximate,
                  own > 65536 && durations[0] != durations[own - 1]);
        check_near(what, stats->p50_ps, durations[(own + 1) / 2 - 1], stats->quantiles_approximate);
        check_near(what, stats->p95_ps, durations[((uint64_t)own * 95 + 99) / 100 - 1],
                   stats->quantiles_approximate);
    }

    const struct name_run *runs = trace_name_runs(&made->trace, all->name, &run_count);

    for (uint32_t i = 0; i < run_count; i++) {
        const slice_id *ids = trace_name_slices(&made->trace, &runs[i]);

        CHECK_INT(what, runs[i].name, all->name);
        CHECK(what, i == 0 || runs[i].row > runs[i - 1].row);
        for (uint32_t j = 0; j < runs[i].count; j++, at++) {
            CHECK(what, at < count);
            CHECK_INT(what, runs[i].row, all[at].row);
            CHECK_INT(what, ids[j], all[at].id);
        }
    }
    CHECK_INT(what, at, count);
    free(durations);
}

static void check_all(const char *what, const struct made *made)
{
    struct listed *all = list_all(made);
    uint64_t count = made->trace.slice_count;
    uint32_t names = 0;
    const struct name_stats *stats;

    for (uint64_t first = 0, end; first < count; first = end, names++) {
        for (end = first; end < count && all[end].name == all[first].name;)
            end++;
        check_name(what, made, &all[first], (uint32_t)(end - first));
    }
    CHECK_INT(what, trace_name_stats(&made->trace, &stats), names);
    free(all);
}

static const char *const words[] = {"alpha", "beta", "gamma", "delta", "a", "b", "c", "d"};

static void random_traces(void **state)
{
    (void)state;
    const struct {
        const char *what;
        uint32_t track_count, slice_count, name_count;
    } rows[] = {
        {"no slices", 1, 0, 1},
        {"one slice", 1, 1, 1},
        {"one name", 2, 5000, 1},
        {"eight names", 6, 30000, 8},
        {"more tracks than slices", 9, 5, 8},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct dice dice = {.state = i};
        struct made made;

        made_begin(&made);
        sink_name(made.sink, STR("a text that is no slice's name"));
        for (uint32_t track = 0; track < rows[i].track_count; track++)
            made_track(&made, "track", NO_TRACK, TRACK_THREAD, ROLE_HOST, track % 3 == 2);
        for (uint32_t j = 0; j < rows[i].slice_count; j++)
            made_slice(&made, (track_id)dice_below(&dice, rows[i].track_count),
                       (int64_t)j * 10 - 300,
                       (int64_t)(dice_below(&dice, 40) * dice_below(&dice, 40)),
                       words[dice_below(&dice, rows[i].name_count)], KIND_OTHER);
        made_finish(&made);
        check_all(rows[i].what, &made);
        made_end(&made);
    }
}

static void names_that_are_not_there(void **state)
{
    (void)state;
    struct made made;
    name_id text;
    uint32_t count = 7;

    made_begin(&made);
    text = sink_name(made.sink, STR("only a text"));
    made_track(&made, "track", NO_TRACK, TRACK_THREAD, ROLE_HOST, false);
    made_slice(&made, 0, 0, 1, "slice", KIND_OTHER);
    made_finish(&made);
    CHECK("a text has no totals", trace_stats_of(&made.trace, text) == NULL);
    CHECK("a text has no runs", trace_name_runs(&made.trace, text, &count) == NULL);
    CHECK_INT("none", count, 0);
    CHECK("nor has what is no name", trace_stats_of(&made.trace, 12345) == NULL);
    made_end(&made);
}

/* Names above 65,536 slices have a histogram; below, all durations of more than one pass. */
static void many_slices(void **state)
{
    (void)state;
    enum { EXACT_NAMES = 66, EACH = 65536, BIG = 70000 };
    struct made made;
    struct dice dice = {.state = 5};
    int64_t at = 0;

    made_begin(&made);
    made_track(&made, "track", NO_TRACK, TRACK_STREAM, ROLE_OPS, false);
    name_id big = sink_name(made.sink, STR("big")), even = sink_name(made.sink, STR("even"));
    name_id names[EXACT_NAMES];

    for (uint32_t i = 0; i < EXACT_NAMES; i++) {
        char name[16];

        snprintf(name, sizeof(name), "n%u", i);
        names[i] = sink_name(made.sink, str_of(name));
    }
    for (uint32_t i = 0; i < EACH; i++)
        for (uint32_t j = 0; j < EXACT_NAMES; j++, at += 1000)
            sink_slice(made.sink, (struct sink_slice){.start_ps = at,
                                                      .dur_ps = 1 + (i * 7919 + j) % EACH % 999,
                                                      .name = names[j]});
    for (uint32_t i = 0; i < BIG; i++, at += 1000000) {
        int64_t dur_ps = 1 + (int64_t)(dice_below(&dice, 900) * dice_below(&dice, 900));

        sink_slice(made.sink, (struct sink_slice){.start_ps = at, .dur_ps = dur_ps, .name = big});
        sink_slice(made.sink,
                   (struct sink_slice){.start_ps = at + 900000, .dur_ps = 77, .name = even});
    }
    made_finish(&made);
    check_all("many", &made);
    CHECK("a histogram says so", trace_stats_of(&made.trace, big)->quantiles_approximate);
    CHECK_INT("equal ones are exact", trace_stats_of(&made.trace, even)->p95_ps, 77);
    made_end(&made);
}

static void quantiles_of_any_input(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 300; round++) {
        struct dice dice = {.state = round};
        uint32_t count = 1 + (uint32_t)dice_below(&dice, 500);
        uint64_t end = UINT64_C(1) << dice_below(&dice, 62);
        int64_t values[500], sorted[500];

        for (uint32_t i = 0; i < count; i++)
            values[i] = sorted[i] = round % 4 == 0 ? (int64_t)i : (int64_t)dice_below(&dice, end);
        qsort(sorted, count, sizeof(*sorted), by_value);
        for (uint32_t percent = 1; percent <= 100; percent += 9)
            CHECK_INT("nearest rank", quantile_select(values, count, percent),
                      sorted[(count * percent + 99) / 100 - 1]);
    }
}

static void buckets_are_narrow(void **state)
{
    (void)state;
    uint32_t *buckets = calloc(QUANTILE_BUCKETS, sizeof(*buckets));
    uint32_t before = 0;

    for (int64_t dur = 0; dur >= 0 && dur < INT64_MAX / 2; dur += 1 + dur / 37) {
        uint32_t bucket = quantile_bucket(dur);

        CHECK("within the histogram", bucket < QUANTILE_BUCKETS);
        CHECK("in order", bucket >= before);
        before = bucket;
        buckets[bucket] = 1;
        check_near("the middle", quantile_of_buckets(buckets, 1, 50), dur, true);
        buckets[bucket] = 0;
    }
    CHECK("the greatest", quantile_bucket(INT64_MAX) < QUANTILE_BUCKETS);
    free(buckets);
}

static void damage_is_refused(void **state)
{
    (void)state;
    struct made made;

    made_begin(&made);
    made_track(&made, "track", NO_TRACK, TRACK_THREAD, ROLE_HOST, false);
    for (int i = 0; i < 4; i++)
        made_slice(&made, 0, i * 10, 5, words[i], KIND_OTHER);
    made_finish(&made);

    const struct name_stats *read;
    uint32_t count = trace_name_stats(&made.trace, &read);
    struct name_stats *stats = (struct name_stats *)(uintptr_t)read;
    const struct {
        const char *what;
        uint32_t *at, value;
    } rows[] = {
        {"a name beyond the last", &stats[3].name, 9999},
        {"names not in order", &stats[1].name, 0},
        {"no runs", &stats[0].run_count, 0},
        {"a gap between runs", &stats[2].first_run, 3},
    };

    CHECK_INT("names", count, 4);
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint32_t kept = *rows[i].at;

        *rows[i].at = rows[i].value;
        made.err.code = OK;
        CHECK_INT(rows[i].what, by_name_open(&made.trace, made.arena, &made.err), ERR_FORMAT);
        *rows[i].at = kept;
    }
    made_end(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_traces),      cmocka_unit_test(names_that_are_not_there),
        cmocka_unit_test(many_slices),        cmocka_unit_test(quantiles_of_any_input),
        cmocka_unit_test(buckets_are_narrow), cmocka_unit_test(damage_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
