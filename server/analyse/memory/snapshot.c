/* SPDX-License-Identifier: Apache-2.0 */
/* Which snapshots a run has, in order, and which type of sample is meant. */
#include "analyse/memory/snapshot.h"

#include <stdlib.h>

/* Digits by the number they make: memory_9 stands before memory_10. */
static int compare_natural(struct str a, struct str b)
{
    size_t i = 0, j = 0;

    while (i < a.count && j < b.count) {
        bool digit_a = a.at[i] >= '0' && a.at[i] <= '9', digit_b = b.at[j] >= '0' && b.at[j] <= '9';

        if (!digit_a || !digit_b) {
            if (a.at[i] != b.at[j])
                return (unsigned char)a.at[i] < (unsigned char)b.at[j] ? -1 : 1;
            i++;
            j++;
            continue;
        }
        while (i < a.count && a.at[i] == '0')
            i++;
        while (j < b.count && b.at[j] == '0')
            j++;

        size_t from_a = i, from_b = j;

        while (i < a.count && a.at[i] >= '0' && a.at[i] <= '9')
            i++;
        while (j < b.count && b.at[j] >= '0' && b.at[j] <= '9')
            j++;
        if (i - from_a != j - from_b)
            return i - from_a < j - from_b ? -1 : 1;

        int order = memcmp(a.at + from_a, b.at + from_b, i - from_a);

        if (order != 0)
            return order;
    }
    return (i < a.count) - (j < b.count);
}

static int by_name(const void *left, const void *right)
{
    const struct host_trace *a = *(const struct host_trace *const *)left;
    const struct host_trace *b = *(const struct host_trace *const *)right;
    int order = compare_natural(a->name, b->name);

    return order != 0 ? order : str_compare(a->name, b->name);
}

static int by_time(const void *left, const void *right)
{
    const struct host_trace *a = *(const struct host_trace *const *)left;
    const struct host_trace *b = *(const struct host_trace *const *)right;

    if (a->trace->epoch_ns != b->trace->epoch_ns)
        return a->trace->epoch_ns < b->trace->epoch_ns ? -1 : 1;
    return by_name(left, right);
}

static void add_snapshot(struct snapshots *snapshots, const struct host_trace **items,
                         const struct host_trace *host)
{
    if (host->trace->sample_type_count == 0)
        return;
    items[snapshots->count++] = host;
    snapshots->by_time &= host->trace->has_epoch;
}

void snapshots_of(const struct run_traces *run, struct arena *arena, struct snapshots *ret)
{
    const struct host_trace **items = arena_array(arena, const struct host_trace *,
                                                  (size_t)run->other_count + run->host_count + 1);

    *ret = (struct snapshots){.items = items, .by_time = true};
    for (uint32_t i = 0; i < run->other_count; i++)
        add_snapshot(ret, items, &run->others[i]);
    /* PyTorch's are both: what was held when they were taken, and how it came to that. */
    for (uint32_t i = 0; i < run->host_count; i++)
        if (str_equal(str_of(run->hosts[i].trace->format), STR("torch-snapshot")))
            add_snapshot(ret, items, &run->hosts[i]);
    qsort(items, ret->count, sizeof(*items), ret->by_time ? by_time : by_name);
}

enum status snapshot_find(const struct snapshots *snapshots, struct str name,
                          const struct host_trace **ret, struct error *err)
{
    const struct host_trace *ending = NULL;

    if (snapshots->count == 0)
        return fail(err, ERR_NOT_FOUND, "the run holds no snapshots");
    *ret = snapshots->items[snapshots->count - 1];
    if (name.count == 0)
        return OK;
    for (uint32_t i = 0; i < snapshots->count; i++) {
        *ret = snapshots->items[i];
        if (str_equal((*ret)->name, name))
            return OK;
        if (str_ends((*ret)->name, name))
            ending = *ret;
    }
    *ret = ending;
    if (ending != NULL)
        return OK;
    return fail(err, ERR_NOT_FOUND,
                "the run has no snapshot \"%.*s\"; it has %u, from \"%.*s\" to \"%.*s\"",
                STR_ARG(name), snapshots->count, STR_ARG(snapshots->items[0]->name),
                STR_ARG(snapshots->items[snapshots->count - 1]->name));
}

static struct str preferred_type(const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->property_count; i++) {
        const struct property *property = &trace->properties[i];

        if (property->track == NO_TRACK && property->arg.type == ARG_STRING &&
            str_equal(trace_name(trace, property->arg.key), STR("default_sample_type")))
            return trace_name(trace, (name_id)property->arg.bits);
    }
    return STR("");
}

static bool last_type(const struct trace *trace, struct str name, struct str unit, uint32_t *ret)
{
    for (uint32_t i = trace->sample_type_count; i-- > 0;) {
        const struct sample_type *type = &trace->sample_types[i];

        *ret = i;
        if ((name.count == 0 || str_equal(trace_name(trace, type->name), name)) &&
            (unit.count == 0 || str_equal(trace_name(trace, type->unit), unit)))
            return true;
    }
    return false;
}

bool sample_type_find(const struct trace *trace, struct str name, struct str unit, uint32_t *ret)
{
    if (name.count > 0 || unit.count > 0)
        return last_type(trace, name, unit, ret);

    struct str preferred = preferred_type(trace);

    if (preferred.count > 0 && last_type(trace, preferred, unit, ret))
        return true;
    return last_type(trace, name, STR("bytes"), ret) || last_type(trace, name, unit, ret);
}

int64_t sample_type_total(const struct trace *trace, uint32_t type)
{
    uint64_t total = 0; /* a file may make it wrap; nothing stands on it but itself */

    for (uint64_t i = 0; i < trace->stack_sample_count; i++)
        total += (uint64_t)trace->sample_values[i * trace->sample_type_count + type];
    return (int64_t)total;
}

int64_t unit_ps(struct str unit)
{
    static const struct {
        const char *word;
        int64_t ps;
    } units[] = {
        {"nanoseconds", 1000},
        {"ns", 1000},
        {"microseconds", 1000000},
        {"us", 1000000},
        {"milliseconds", 1000000000},
        {"ms", 1000000000},
        {"seconds", INT64_C(1000000000000)},
        {"s", INT64_C(1000000000000)},
        {"picoseconds", 1},
        {"ps", 1},
    };

    for (size_t i = 0; i < COUNT(units); i++) {
        if (str_equal(unit, str_of(units[i].word)))
            return units[i].ps;
    }
    return 0;
}
