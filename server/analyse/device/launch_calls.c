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

void launch_calls_sort(struct launch_calls *calls)
{
    if (calls->count > 1)
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
