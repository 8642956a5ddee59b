/* Change points of a series by optimal partitioning of ranks (Jackson and others 2005). */
#include "analyse/stats/changes.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/stats/rank_shift.h"
#include "analyse/stats/stats.h"
#include "base/arena.h"

enum { SEGMENT_LEAST = 3 };
#define JUMP_CONFIDENCE 0.99

struct series { /* sums[i]: of the first i ranks */
    double *sums, *squares;
    uint32_t count;
};

struct placed {
    int64_t value;
    uint32_t at;
};

static int by_value(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;

    return x->value < y->value ? -1 : x->value > y->value;
}

/* About the middle one, so that sums stay small; equal values share theirs. */
static double *ranks_of(const int64_t *values, uint32_t count, struct arena *arena)
{
    struct placed *placed = arena_array(arena, struct placed, count);
    double *ranks = arena_array(arena, double, count);

    for (uint32_t i = 0; i < count; i++)
        placed[i] = (struct placed){values[i], i};
    qsort(placed, count, sizeof *placed, by_value);
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && placed[end].value == placed[first].value;)
            end++;
        for (uint32_t i = first; i < end; i++)
            ranks[placed[i].at] = ((double)first + end - 1) / 2 - ((double)count - 1) / 2;
    }
    return ranks;
}

static struct series series_of(const double *ranks, uint32_t count, struct arena *arena)
{
    struct series ret = {.sums = arena_array(arena, double, (size_t)count + 1),
                         .squares = arena_array(arena, double, (size_t)count + 1),
                         .count = count};

    for (uint32_t i = 0; i < count; i++) {
        ret.sums[i + 1] = ret.sums[i] + ranks[i];
        ret.squares[i + 1] = ret.squares[i] + ranks[i] * ranks[i];
    }
    return ret;
}

/* What the ranks of [first, end) differ from their mean. */
static double cost_of(const struct series *series, uint32_t first, uint32_t end)
{
    double sum = series->sums[end] - series->sums[first];

    return series->squares[end] - series->squares[first] - sum * sum / (end - first);
}

/* before[end]: where the last segment of the cheapest split of the first `end` values begins. */
static uint32_t *split(const struct series *series, double penalty, struct arena *arena)
{
    uint32_t count = series->count;
    uint32_t *before = arena_array(arena, uint32_t, (size_t)count + 1);
    double *costs = arena_array(arena, double, (size_t)count + 1);

    costs[0] = -penalty;
    for (uint32_t end = 1; end <= count; end++) {
        costs[end] = INFINITY;
        for (uint32_t begin = 0; begin + SEGMENT_LEAST <= end; begin++) {
            double cost = costs[begin] + cost_of(series, begin, end) + penalty;

            if (cost < costs[end]) {
                costs[end] = cost;
                before[end] = begin;
            }
        }
    }
    return before;
}

static int64_t clamped(double value)
{
    return value >= 9.2e18 ? INT64_MAX : value <= -9.2e18 ? INT64_MIN : (int64_t)llround(value);
}

static struct level level_of(const int64_t *values, uint32_t first, uint32_t end,
                             struct arena *arena)
{
    const double two_deviations = 2 * 1.4826; /* of a normal's median deviation */
    int64_t *sorted = arena_array(arena, int64_t, (size_t)end - first);
    struct level ret = {.first = first, .end = end};

    memcpy(sorted, values + first, (end - first) * sizeof *sorted);
    ret.median = median_of(sorted, end - first);
    for (uint32_t i = first; i < end; i++)
        sorted[i - first] = clamped(fabs((double)values[i] - (double)ret.median));
    double noise = two_deviations * (double)median_of(sorted, end - first);
    ret.low = clamped((double)ret.median - noise);
    ret.high = clamped((double)ret.median + noise);
    return ret;
}

/* Ranks stretch the larger of two segments, so that a split may be off by a few: it is moved to
 * where the fewest values lie on the other one's side of the middle between both medians. */
static void settle(const int64_t *values, struct level *left, struct level *right,
                   struct arena *arena)
{
    double middle = ((double)left->median + (double)right->median) / 2;
    bool rises = right->median > left->median;
    int64_t wrong = 0, least = 0;
    uint32_t best = left->end, least_at = left->first + SEGMENT_LEAST;

    /* From the first place that is allowed on: what a value changes by joining the left. */
    for (uint32_t at = least_at; at + SEGMENT_LEAST <= right->end; at++) {
        if (at > least_at)
            wrong += ((double)values[at - 1] > middle) == rises ? 1 : -1;
        if (at == least_at || wrong < least) {
            least = wrong;
            best = at;
        }
    }
    *left = level_of(values, left->first, best, arena);
    *right = level_of(values, best, right->end, arena);
}

/* Do they differ by more than runs differ among themselves, and than neighbours that are alike may
 * drift? By the gate's own interval, of ranks. */
static bool is_jump(const int64_t *ranks, const struct level *left, const struct level *right)
{
    const int64_t *a = ranks + left->first, *b = ranks + right->first;
    uint32_t a_count = left->end - left->first, b_count = right->end - right->first;
    double widening = rank_shift_widening(a, a_count, b, b_count);
    struct rank_shift shift = rank_shift_of(a, a_count, b, b_count, JUMP_CONFIDENCE, widening);

    return shift.bounded && (shift.low > 0 || shift.high < 0);
}

/* Levels that do not differ are one; how many are left. */
static uint32_t join_alike(const int64_t *values, const double *ranks, struct level *levels,
                           uint32_t count, struct arena *arena)
{
    uint32_t left = count > 0, all = count > 0 ? levels[count - 1].end : 0;
    int64_t *whole = arena_array(arena, int64_t, all);

    for (uint32_t i = 0; i < all; i++)
        whole[i] = (int64_t)(2 * ranks[i]); /* equal values share a half */

    for (uint32_t i = 1; i < count; i++) {
        if (is_jump(whole, &levels[left - 1], &levels[i]))
            levels[left++] = levels[i];
        else
            levels[left - 1] = level_of(values, levels[left - 1].first, levels[i].end, arena);
    }
    return left;
}

uint32_t changes_find(const int64_t *values, uint32_t count, struct arena *arena,
                      struct level **ret)
{
    uint32_t segments = 0;

    *ret = arena_array(arena, struct level, (size_t)count + 1);
    if (count == 0)
        return 0;
    const double *ranks = ranks_of(values, count, arena);
    struct series series = series_of(ranks, count, arena);
    double variance = cost_of(&series, 0, count) / count;
    /* Too few to split, or nothing to split by. */
    if (count < 2 * SEGMENT_LEAST || variance <= 0) {
        (*ret)[0] = level_of(values, 0, count, arena);
        return 1;
    }
    uint32_t *before = split(&series, 3 * log(count) * variance, arena);
    for (uint32_t end = count; end > 0; end = before[end])
        segments++;
    uint32_t at = segments;
    for (uint32_t end = count; end > 0; end = before[end])
        (*ret)[--at] = level_of(values, before[end], end, arena);
    for (uint32_t i = 1; i < segments; i++)
        settle(values, &(*ret)[i - 1], &(*ret)[i], arena);
    return join_alike(values, ranks, *ret, segments, arena);
}
