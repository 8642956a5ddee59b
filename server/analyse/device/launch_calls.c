/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that launched ops, each op's once, and then each call once. */
#include "analyse/device/launch_calls.h"

#include <stdlib.h>

#include "base/sort.h"

static bool is_before(const slice_id *a, const slice_id *b)
{
    return *a < *b;
}

SORT_DEFINE(sort_calls, slice_id, is_before)

void launch_calls_add(struct launch_calls *calls, slice_id call)
{
    if (call == NO_SLICE) {
        calls->unknown++;
        return;
    }
    if (calls->count == calls->capacity) {
        calls->capacity = calls->capacity == 0 ? 1024 : calls->capacity * 2;
        calls->calls = memory_resize(calls->calls, calls->capacity, sizeof *calls->calls);
    }
    calls->calls[calls->count++] = call;
}

enum { RUNS_MAX = 64 };

/* Where runs that ascend end; 0: there are more than RUNS_MAX. */
static uint32_t find_runs(const struct launch_calls *calls, uint32_t ends[RUNS_MAX])
{
    uint32_t count = 0;

    for (uint32_t i = 1; i <= calls->count; i++) {
        if (i < calls->count && calls->calls[i - 1] <= calls->calls[i])
            continue;
        if (count == RUNS_MAX)
            return 0;
        ends[count++] = i;
    }
    return count;
}

static void merge(const slice_id *from, uint32_t left, uint32_t middle, uint32_t right,
                  slice_id *to)
{
    uint32_t a = left, b = middle;

    for (uint32_t i = left; i < right; i++)
        to[i] = b == right || (a < middle && from[a] <= from[b]) ? from[a++] : from[b++];
}

/* Each stream's ops were launched in their order: a few runs to merge, and runs of runs. */
static void merge_runs(struct launch_calls *calls, uint32_t ends[RUNS_MAX], uint32_t count)
{
    slice_id *other = memory_resize(NULL, calls->count, sizeof *other);

    calls->capacity = calls->count; /* of either array */
    while (count > 1) {
        uint32_t left = 0, merged = 0;
        slice_id *swap = calls->calls;

        for (uint32_t run = 0; run < count; run += 2) {
            uint32_t middle = ends[run], right = run + 1 < count ? ends[run + 1] : middle;

            merge(calls->calls, left, middle, right, other);
            ends[merged++] = left = right;
        }
        count = merged;
        calls->calls = other;
        other = swap;
    }
    free(other);
}

void launch_calls_sort(struct launch_calls *calls)
{
    uint32_t ends[RUNS_MAX], count = find_runs(calls, ends);

    if (count > 1)
        merge_runs(calls, ends, count);
    else if (count == 0 && calls->count > 1)
        sort_calls(calls->calls, calls->count);
}

uint32_t launch_calls_run(const struct launch_calls *calls, uint32_t at)
{
    uint32_t end = at;

    while (end < calls->count && calls->calls[end] == calls->calls[at])
        end++;
    return end - at;
}

uint64_t launch_calls_count(const struct launch_calls *calls)
{
    uint64_t count = calls->unknown;

    for (uint32_t at = 0; at < calls->count; at += launch_calls_run(calls, at))
        count++;
    return count;
}

void launch_calls_free(struct launch_calls *calls)
{
    free(calls->calls);
    *calls = (struct launch_calls){0};
}
