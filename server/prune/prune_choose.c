/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the runs that go: by age, then the oldest until the size fits. */
#include "prune/prune.h"

bool prune_size(struct str text, uint64_t *ret)
{
    static const char units[] = "KMGT";
    const char *unit = text.count > 1 ? memchr(units, text.at[text.count - 1], 4) : NULL;
    unsigned shift = unit == NULL ? 0 : 10 * (unsigned)(unit - units + 1);

    if (unit != NULL)
        text.count--;
    if (!str_to_u64(text, ret) || *ret > UINT64_MAX >> shift)
        return false;
    *ret <<= shift;
    return true;
}

static uint64_t total_of(const struct prune_run *runs, uint32_t count)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < count; i++)
        total += runs[i].bytes;
    return total;
}

/* Oldest first, until what is left fits. */
static void choose_by_size(struct prune_run *runs, uint32_t count, uint64_t size)
{
    uint64_t left = total_of(runs, count);

    for (uint32_t i = count; i-- > 0;) {
        if (runs[i].kept != NULL)
            continue;
        if (left <= size)
            runs[i].kept = "it fits";
        else
            left -= runs[i].bytes;
    }
}

void prune_choose(struct prune_run *runs, uint32_t count, const struct prune_wish *wish,
                  int64_t now_ns)
{
    bool asked = wish->has_keep || wish->age_ns > 0 || wish->has_size;

    for (uint32_t i = 0; i < count; i++) {
        struct prune_run *run = &runs[i];

        if (run->kept != NULL)
            continue;
        if (!asked)
            run->kept = "no limit was given";
        else if (wish->has_keep && i < wish->keep)
            run->kept = "among the newest";
        else if (wish->age_ns > 0 && run->modified_ns > now_ns - wish->age_ns)
            run->kept = "not that old";
    }
    if (wish->has_size)
        choose_by_size(runs, count, wish->size);
}
