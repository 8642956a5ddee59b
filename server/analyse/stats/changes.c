/* SPDX-License-Identifier: Apache-2.0 */
/* Change points of a series by optimal partitioning of ranks (Jackson and others 2005). */
#include "analyse/stats/changes.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/stats/stats.h"
#include "analyse/stats/welch.h"
#include "base/arena.h"

enum { SEGMENT_LEAST = 3 };
#define DEVIATIONS 1.4826     /* of a normal value, from the median deviation */
#define JUMP_BY_CHANCE 0.0002 /* of one place; the split is the best of all places */
#define ALIKE_UNSURE 1.0      /* deviations of a measured correlation that it may be larger */
#define MOST_ALIKE 0.95

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
    int64_t *sorted = arena_array(arena, int64_t, (size_t)end - first);
    struct level ret = {.first = first, .end = end};

    memcpy(sorted, values + first, (end - first) * sizeof *sorted);
    ret.median = median_of(sorted, end - first);
    for (uint32_t i = first; i < end; i++)
        sorted[i - first] = clamped(fabs((double)values[i] - (double)ret.median));
    double noise = 2 * DEVIATIONS * (double)median_of(sorted, end - first);
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

/* The values as numbers, a stray one no further than three deviations from its level's median: it
 * shall neither make a jump nor hide one. */
static void pull_near(const int64_t *values, const struct level *levels, uint32_t count,
                      int64_t *room, double *ret)
{
    uint32_t all = levels[count - 1].end;

    for (uint32_t level = 0; level < count; level++)
        for (uint32_t i = levels[level].first; i < levels[level].end; i++) {
            ret[i] = (double)values[i] - (double)levels[level].median;
            room[i] = clamped(fabs(ret[i]));
        }
    double most = 3 * DEVIATIONS * (double)median_of(room, all);
    for (uint32_t level = 0; level < count; level++)
        for (uint32_t i = levels[level].first; i < levels[level].end; i++) {
            if (most > 0)
                ret[i] = fmax(-most, fmin(most, ret[i]));
            ret[i] += (double)levels[level].median;
        }
}

/* What is left of the values beside the means of their levels. */
struct rest {
    double products, squares; /* of neighbours of one level; of all */
    uint32_t levels, count;
};

static double mean_of(const double *near, const struct level *level)
{
    double sum = 0;

    for (uint32_t i = level->first; i < level->end; i++)
        sum += near[i];
    return sum / (level->end - level->first);
}

static void add_rest(const double *near, const struct level *level, struct rest *ret)
{
    double mean = mean_of(near, level);

    for (uint32_t i = level->first; i < level->end; i++) {
        ret->squares += (near[i] - mean) * (near[i] - mean);
        if (i > level->first)
            ret->products += (near[i] - mean) * (near[i - 1] - mean);
    }
    ret->levels++;
    ret->count += level->end - level->first;
}

/* How much more a level's mean varies than that of values that do not follow each other: of the
 * largest correlation of neighbours that the series may well have. Means that were fitted take
 * about (1 + 3 r) levels / count off of what is measured. */
static double widening_of(const struct rest *rest)
{
    double count = rest->count, fitted = rest->levels / count;
    double measured = rest->squares > 0 ? rest->products / rest->squares : 0;
    double r = (measured + fitted) / (1 - fmin(0.5, 3 * fitted)) + ALIKE_UNSURE / sqrt(count);

    r = fmax(0, fmin(MOST_ALIKE, r));
    return (1 + r) / (1 - r);
}

/* Student's t of the means of two levels, as a normal deviation is rare. */
static double apart(const double *near, const struct level *left, const struct level *right,
                    double widening)
{
    double a = left->end - left->first, b = right->end - right->first;
    struct rest rest = {0};

    add_rest(near, left, &rest);
    add_rest(near, right, &rest);
    double difference = fabs(mean_of(near, left) - mean_of(near, right));
    double deviation = sqrt(rest.squares / (a + b - 2) * (1 / a + 1 / b) * widening);
    return deviation > 0 ? difference / deviation : difference > 0 ? INFINITY : 0;
}

/* Joins the two that differ least, until all differ by more than chance and drift bring about. */
static uint32_t join_alike(const int64_t *values, struct level *levels, uint32_t count,
                           struct arena *arena)
{
    uint32_t all = levels[count - 1].end;
    int64_t *room = arena_array(arena, int64_t, all);
    double *near = arena_array(arena, double, all);

    while (count > 1) {
        struct rest rest = {0};
        uint32_t least_at = 0;
        double least = INFINITY;

        pull_near(values, levels, count, room, near);
        for (uint32_t i = 0; i < count; i++)
            add_rest(near, &levels[i], &rest);
        double widening = widening_of(&rest);

        for (uint32_t i = 1; i < count; i++) {
            double freedom = levels[i].end - levels[i - 1].first - 2;
            double sure = apart(near, &levels[i - 1], &levels[i], widening) /
                          student_beyond(JUMP_BY_CHANCE, freedom);

            if (sure < least) {
                least = sure;
                least_at = i;
            }
        }
        if (least > 1)
            break;
        levels[least_at - 1] =
            level_of(values, levels[least_at - 1].first, levels[least_at].end, arena);
        count--;
        memmove(&levels[least_at], &levels[least_at + 1], (count - least_at) * sizeof *levels);
    }
    return count;
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
    return join_alike(values, *ret, segments, arena);
}
